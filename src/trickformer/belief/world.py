"""Sampled worlds that are kept as long as they explain what their seat sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trickformer.base import Belief, Game, Memo, View

if TYPE_CHECKING:
    from trickformer.base import State


def update_world(game: Game, belief: Belief, view: View, rng: np.random.Generator, memo: Memo) -> tuple[State, bool]:
    """Return a state that the viewer cannot distinguish from the true one.

    The state of the last call takes the actions since then, as long as they are legal in it and lead to the view.
    Otherwise, or if something hidden has happened, such as a discard, a new world is sampled from the belief. Only then
    is `rng` used.

    Args:
        game: The game.
        belief: Belief that worlds are sampled from.
        view: View of the seat.
        rng: Source of all randomness.
        memo: The seat's memo, which keeps the state. The caller must not change the state.

    Returns:
        The state, and whether it is another than at the last call with this memo.

    Raises:
        ValueError: No world explains the view, or the sampled world does not.
        TrickformerError: The belief gave up.
    """
    state, seen = memo.get("world", (None, 0))
    anew = state is None or not _goes_on(game, state, view, seen)
    if anew:
        belief.reset(view)
        state = belief.sample(1, rng).state(0)
    memo["world"] = state, len(view.events)
    return state, anew


def _goes_on(game: Game, state: State, view: View, seen: int) -> bool:
    """Apply the actions of all events but the first `seen`; return whether this leads to the view."""
    for event in view.events[seen:]:
        if event.action is None:  # follows from an earlier action
            continue
        if state.current_player() != event.actor or event.action not in state.legal_actions():
            return False
        state.apply_action(event.action)
    if view.legal and state.current_player() != view.viewer:  # a chance event follows that the view does not show
        return False
    return game.view(state, view.viewer) == view
