"""Early ends: games of Hanabi on hanab.live that end before the rules end them.

hanab.live ends a game when none of the remaining cards can be played. It also ends a game when its players want to,
when nobody moves, or when a player runs out of time; then the game scores 0.
"""

from __future__ import annotations

import re
from typing import Any

from trickformer.base import Game
from trickformer.games import hanabi

NOTHING_LEFT = "nothing-left"
IDLE = "idle"
VOTE = "vote"
# The name of these two begins with the seat, as in "1 terminates".
TERMINATES = "terminates"
TIMES_OUT = "times-out"
_SEAT_END = re.compile(rf"(\d) ({TERMINATES}|{TIMES_OUT})")
_DESCRIPTIONS = {
    NOTHING_LEFT: "no card that was left could be played",
    IDLE: "nobody moved any more",
    VOTE: "the players voted to end it",
    TERMINATES: "seat {} ended it",
    TIMES_OUT: "seat {} ran out of time",
}


def is_known(early_end: str) -> bool:
    """Test whether a text names an early end.

    Args:
        early_end: Text of a record, such as `vote` or `1 terminates`.
    """
    return early_end in (NOTHING_LEFT, IDLE, VOTE) or _SEAT_END.fullmatch(early_end) is not None


def describe(early_end: str) -> str:
    """Describe an early end in words, such as `seat 1 ended it`.

    Args:
        early_end: Name of a known early end.
    """
    seat = _SEAT_END.fullmatch(early_end)
    return _DESCRIPTIONS[seat[2]].format(seat[1]) if seat else _DESCRIPTIONS[early_end]


def scores(game: Game, state: Any, early_end: str) -> tuple[int, ...]:
    """Return the scores of a game of Hanabi that ended early.

    Args:
        game: Game of the record.
        state: State after the moves on record.
        early_end: Early end that the record names.

    Returns:
        The game's points for each seat if no card could be played, else zeros.
    """
    points = round(state.returns()[0]) if early_end == NOTHING_LEFT else 0
    return (points,) * game.players


def fault(game: Game, state: Any, early_end: str) -> str | None:
    """Describe why a record cannot have its early end; None if it can.

    Args:
        game: Game of the record.
        state: State after the moves on record, not terminal.
        early_end: Early end that the record names.
    """
    if not isinstance(game, hanabi.Hanabi):
        return f"{game.name} has no early end"
    seat = _SEAT_END.fullmatch(early_end)
    if seat and int(seat[1]) >= game.players:
        return f"there is no seat {seat[1]}"
    if early_end == NOTHING_LEFT and not is_nothing_left(game, state):
        return "the record ends although a card could still be played"
    return None


def is_nothing_left(game: hanabi.Hanabi, state: Any) -> bool:
    """Test whether no card can be played any more: each colour is complete, or all copies of its next card are gone.

    Args:
        game: Game of Hanabi.
        state: State of the game.
    """
    rules = game.rules
    core, moves = hanabi.split_history(rules, state.history())
    for move in moves:
        core.apply_action(move)
    next_kinds = [color * rules.ranks + height for color, height in enumerate(core.fireworks) if height < rules.ranks]
    return all(core.discards[kind] == rules.copies(kind) for kind in next_kinds)
