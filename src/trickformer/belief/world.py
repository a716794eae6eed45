"""A sampled world that is kept for as long as it explains what its seat sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trickformer.base import Belief, Game, Memo, View

if TYPE_CHECKING:
    from trickformer.base import State


def update_world(game: Game, belief: Belief, view: View, rng: np.random.Generator, memo: Memo) -> tuple[State, bool]:
    """A state that `view.viewer` cannot tell from the true one, and whether it is another than at the last call with
    this memo.

    It is the state of the last call with the actions since then, as long as they are legal in it and lead to the view.
    Where they do not, or something has happened that the view does not tell, such as cards laid away, a world is
    sampled from the belief; rng is drawn from only then. The memo goes on with the state: leave it as it is.

    Raises what the belief raises where it finds no world."""
    state, seen = memo.get("world", (None, 0))
    anew = state is None or not _goes_on(game, state, view, seen)
    if anew:
        belief.reset(view)
        state = belief.sample(1, rng).state(0)
    memo["world"] = state, len(view.events)
    return state, anew


def _goes_on(game: Game, state: State, view: View, seen: int) -> bool:
    """Takes the actions of all events but the first `seen`; whether this leads to the view."""
    for event in view.events[seen:]:
        if event.action is None:  # an action before it has shown this
            continue
        if state.current_player() != event.actor or event.action not in state.legal_actions():
            return False
        state.apply_action(event.action)
    if view.legal and state.current_player() != view.viewer:  # chance is to do something that the view does not tell
        return False
    return game.view(state, view.viewer) == view
