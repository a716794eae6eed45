"""Checks of players' decisions."""

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
    """Check decisions against the contract of `Player.act`, and return them.

    Args:
        player: The player, for the messages.
        views: The views that the player decided.
        decisions: What `act` returned for them.
        where: Maps a view's index to words that an error message appends, such as " in deal 9".

    Returns:
        The decisions as a list.

    Raises:
        TrickformerError: There is not one Decision for each view, an action is illegal, or a value is not finite or
            belongs to an illegal action.
    """
    name = type(player).__name__
    if not isinstance(decisions, Sequence) or len(decisions) != len(views):
        count = len(decisions) if isinstance(decisions, Sequence) else type(decisions).__name__
        raise TrickformerError(f"{name} gave {count} decisions for {len(views)} views")
    for i, (view, decision) in enumerate(zip(views, decisions)):
        if not isinstance(decision, Decision):
            raise TrickformerError(f"{name} gave {decision!r}{where(i)}, which is no Decision")
        values = decision.values or {}
        if decision.action not in view.legal:
            raise TrickformerError(
                f"{name} chose the illegal action {decision.action}{where(i)}; legal: {list(view.legal)}"
            )
        if illegal := {*values, *(decision.visits or ())}.difference(view.legal):
            raise TrickformerError(
                f"{name} valued the illegal action {min(illegal)}{where(i)}; legal: {list(view.legal)}"
            )
        for value in (decision.value, *values.values()):
            if value is not None and not math.isfinite(value):
                raise TrickformerError(f"{name} gave the value {value}{where(i)}; values must be finite")
    return list(decisions)
