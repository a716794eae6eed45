"""Checks of what players decide."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from trickformer.base.errors import TrickformerError
from trickformer.base.players import Decision, Player
from trickformer.base.views import View


def validate_decisions(
    player: Player, views: Sequence[View], decisions: Any, where: Callable[[int], str] = lambda _: ""
) -> list[Decision]:
    """Return a player's answer if it is as base.Player promises. Raises TrickformerError where it is not one
    decision a view, of a legal action, and where values are not of legal actions or not finite.

    where: what the message says of a view's place, by its index."""
    name = type(player).__name__
    if not isinstance(decisions, Sequence) or len(decisions) != len(views):
        many = len(decisions) if isinstance(decisions, Sequence) else type(decisions).__name__
        raise TrickformerError(f"{name} gave {many} decisions for {len(views)} views")
    for i, (view, decision) in enumerate(zip(views, decisions)):
        if not isinstance(decision, Decision):
            raise TrickformerError(f"{name} gave {decision!r}{where(i)}, which is no Decision")
        values = decision.values or {}
        if decision.action not in view.legal:
            raise TrickformerError(
                f"{name} chose the illegal action {decision.action}{where(i)}; legal: {list(view.legal)}"
            )
        if wrong := {*values, *(decision.visits or ())}.difference(view.legal):
            raise TrickformerError(f"{name} says what the illegal action {min(wrong)} is worth{where(i)}")
        for value in (decision.value, *values.values()):
            if value is not None and not math.isfinite(value):
                raise TrickformerError(f"{name} says that an action is worth {value}{where(i)}")
    return list(decisions)
