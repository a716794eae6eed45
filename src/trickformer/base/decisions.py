"""Calls of players, and checks of their decisions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, get_args

from trickformer.base.errors import TrickformerError
from trickformer.base.players import Decision, FaultKind, Memo, Player
from trickformer.base.views import View

if TYPE_CHECKING:
    import numpy as np


def decide_in_batches(
    player: Player, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]
) -> list[Decision]:
    """Let a player decide views, at most `player.batch` in a call.

    Args:
        player: The player.
        views: Views of seats on turn.
        rng: One generator for each view.
        memo: One memo for each view.

    Returns:
        One decision for each view.

    Raises:
        TrickformerError: A decision breaks the contract of `Player.act`.
    """
    size = player.batch or max(1, len(views))
    decisions: list[Decision] = []
    for start in range(0, len(views), size):
        part = slice(start, start + size)
        decisions += validate_decisions(player, views[part], player.act(views[part], rng[part], memo[part]))
    return decisions


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
        TrickformerError: There is not one Decision for each view, an action is no integer or illegal, a value or gain
            is no finite number or belongs to an illegal action, or a count or a kind of fault is not valid.
    """
    name = type(player.wrapped or player).__name__
    if not isinstance(decisions, Sequence) or len(decisions) != len(views):
        amount = f"{len(decisions)} decisions" if isinstance(decisions, Sequence) else f"a {type(decisions).__name__}"
        raise TrickformerError(
            f"{name} gave {amount} for {len(views)} views; it must give a list of one Decision for each"
        )
    for i, (view, decision) in enumerate(zip(views, decisions)):
        if not isinstance(decision, Decision):
            raise TrickformerError(f"{name} gave {decision!r}{where(i)}, which is no Decision")
        values = decision.values or {}
        if not isinstance(decision.action, Integral):
            raise TrickformerError(f"{name} gave the action {decision.action!r}{where(i)}; actions are integers")
        if decision.action not in view.legal:
            raise TrickformerError(
                f"{name} chose the illegal action {decision.action}{where(i)}; legal: {list(view.legal)}"
            )
        if illegal := {*values, *(decision.visits or ())}.difference(view.legal):
            raise TrickformerError(
                f"{name} valued the illegal action {min(illegal)}{where(i)}; legal: {list(view.legal)}"
            )
        for value in (decision.value, decision.gain, decision.exact_gain, *values.values()):
            if value is not None and not (isinstance(value, Real) and math.isfinite(value)):
                raise TrickformerError(f"{name} gave the value {value!r}{where(i)}; values must be finite numbers")
        for count in (decision.illegal, decision.searched):
            if not isinstance(count, Integral) or count < 0:
                raise TrickformerError(f"{name} gave the count {count!r}{where(i)}; counts must be 0 or more")
        if unknown := [fault for fault in decision.faults if fault not in get_args(FaultKind)]:
            raise TrickformerError(f"{name} gave the fault {unknown[0]!r}{where(i)}; see trickformer.base.FaultKind")
    return list(decisions)
