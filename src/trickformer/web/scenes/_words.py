"""Scenes of games without a module: the game's own words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trickformer.base import Game
from trickformer.web.scenes._scene import OPEN, Choice, LogEntry, Scene, Seat

if TYPE_CHECKING:
    from trickformer.base import State


def show(game: Game, state: State, seen_by: int, viewer: int, you: int | None) -> Scene:
    """Make the scene of a state in words, with a list of the legal actions.

    Args:
        game: The game.
        state: State whose cards are dealt.
        seen_by: Seat, or OPEN for a description of the whole state.
        viewer: Seat whose knowledge is described if `seen_by` is a seat.
        you: Seat that the reader plays and the words call "you", or None.
    """
    choices = tuple(Choice(action=a, words=game.words(a)) for a in state.legal_actions() if state.current_player() >= 0)
    on_turn = state.current_player() == seen_by
    return Scene(
        ask="choose" if on_turn and you is not None else "",
        seats=tuple(Seat(seat=p) for p in range(game.players)),
        choices=choices if on_turn else (),
        text=game.describe(state) if seen_by == OPEN else _describe_information_state(game, state, viewer),
    )


def log(game: Game, state: State, viewer: int, you: int | None) -> tuple[LogEntry, ...]:
    """List the actions that a seat has seen in the game's words.

    Args:
        game: The game.
        state: State whose cards are dealt.
        viewer: Seat, or OPEN for all actions.
        you: Seat that the reader plays and the words call "you", or None.
    """
    if viewer == OPEN:
        events = [(step.player, step.action) for step in state.full_history() if step.player >= 0]
    else:
        events = [(event.actor, event.action) for event in game.view(state, viewer).events if event.actor >= 0]
    return tuple(LogEntry(seat=actor, words=game.words(action)) for actor, action in events if action is not None)


def _describe_information_state(game: Game, state: State, viewer: int) -> str:
    """Describe the knowledge of a seat in the words of OpenSpiel, or as a list of events if there are none."""
    kind = state.get_game().get_type()
    if kind.provides_information_state_string:
        return state.information_state_string(viewer)
    if kind.provides_observation_string:
        return state.observation_string(viewer)
    lines = []
    for event in game.view(state, viewer).events:
        who = f"seat {event.actor}: " if event.actor >= 0 else ""
        what = game.words(event.action) if event.action is not None and event.actor >= 0 else ""
        seen = " ".join(map(game.words, event.seen))
        lines.append(who + ", ".join(filter(None, (what, seen))))
    return "\n".join(lines)
