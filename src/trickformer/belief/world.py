"""One sampled world per seat, which is updated by the seat's view and replaced when it is no longer consistent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trickformer.base import Belief, Game, Memo, View

if TYPE_CHECKING:
    from trickformer.base import State


def update_world(game: Game, belief: Belief, view: View, rng: np.random.Generator, memo: Memo) -> tuple[State, bool]:
    """Return a state that the viewer cannot distinguish from the true one.

    The function applies the actions since its last call to the state that it returned then. It samples a new world from
    the belief if an action is illegal in that state, if something hidden has happened since, such as a discard, or if
    the state's view differs from `view`. `rng` is used only to sample.

    Args:
        game: The game.
        belief: Belief that worlds are sampled from.
        view: View of the seat.
        rng: Source of all randomness.
        memo: The seat's memo, which stores the state. The caller must not change the state.

    Returns:
        The state, and whether it was newly sampled.

    Raises:
        ValueError: No world explains the view, or the sampled world does not.
        TrickformerError: The belief gave up.
    """
    state, n_events = memo.get("world", (None, 0))
    is_new = state is None or not _advance(game, state, view, n_events)
    if is_new:
        belief.reset(view)
        state = belief.sample(1, rng).state(0)
    memo["world"] = state, len(view.events)
    return state, is_new


def _advance(game: Game, state: State, view: View, n_events: int) -> bool:
    """Apply the actions of all events but the first `n_events`; return whether the state then has the view."""
    for event in view.events[n_events:]:
        if event.action is None:  # it reveals the effect of an earlier action
            continue
        if state.current_player() != event.actor or event.action not in state.legal_actions():
            return False
        state.apply_action(event.action)
    if view.legal and state.current_player() != view.viewer:  # the view lacks an event, such as another seat's discard
        return False
    return game.view(state, view.viewer) == view
