"""What games share in dealing with OpenSpiel: options of a game string, the type of a new game, states with the core's
rules, random playouts, and an observer that has text only."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pyspiel

from trickformer.base import PUBLIC, TrickformerError, UnknownNameError

if TYPE_CHECKING:
    from trickformer.base import Game, State

MOST = 2**31 - 1  # a number in a game string
# Stand for what would end a value: such as the name of a file may hold them.
_HIDDEN = {",": "\x1f", "(": "\x02", ")": "\x03"}


def options(spec: str, game: str, known: Sequence[str]) -> dict[str, Any]:
    """The options of a game string. A comma ends a value only where an option follows, a bracket only at the end: the
    name of a file may hold them. Raises TrickformerError on a string that cannot be read, or an option not known."""
    for number in re.findall(r"(?<=[=(,-])\d+(?=[,)])", spec):  # OpenSpiel says it in words of its own, and twice
        if int(number[:20]) > MOST:
            raise TrickformerError(f"game {spec!r}: numbers are {MOST} at most")
    name, bracket, inner = spec.partition("(")
    inner = re.sub(r",(?!\w+=)|\(|\)(?!$)", lambda sign: _HIDDEN[sign[0]], inner)
    try:
        given = pyspiel.game_parameters_from_string(name + bracket + inner)
    except pyspiel.SpielError as e:
        raise TrickformerError(f"game {spec!r}: {_restore_signs(str(e).splitlines()[0])}") from None
    if given.pop("name") != name:
        raise UnknownNameError(f"option of {game}", "name", known)
    for option in given:
        if option not in known:
            raise UnknownNameError(f"option of {game}", option, known)
    return {key: _restore_signs(value) if isinstance(value, str) else value for key, value in given.items()}


def _restore_signs(text: str) -> str:
    for sign, stand_in in _HIDDEN.items():
        text = text.replace(stand_in, sign)
    return text


def game_type(
    short_name: str,
    long_name: str,
    players: int | tuple[int, int],
    parameters: dict[str, Any],
    utility: pyspiel.GameType.Utility = pyspiel.GameType.Utility.GENERAL_SUM,
) -> pyspiel.GameType:
    """The type of a game of our own: chance deals, seats act in turn, a score at the end, text for what a seat knows.

    players: how many, or the least and the most. parameters: with their defaults."""
    least, most = (players, players) if isinstance(players, int) else players
    return pyspiel.GameType(
        short_name=short_name,
        long_name=long_name,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=utility,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=most,
        min_num_players=least,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=False,
        parameter_specification=parameters,
    )


class CardState(pyspiel.State):
    """Chance deals a deck of cards; from then on there is `core`, a state of the core's rules."""

    def __init__(self, game: pyspiel.Game):
        super().__init__(game)
        self.deck: list[int] = []
        self.core: Any = None

    def current_player(self) -> int:
        return pyspiel.PlayerId.CHANCE if self.core is None else self.core.current_player()

    def is_terminal(self) -> bool:
        return self.core is not None and self.core.is_terminal()

    def _legal_actions(self, player: int) -> list[int]:
        return self.core.legal_actions() if self.core is not None else []


def trick_lines(plays: Sequence[tuple[int, str]], players: int, leader: int, notes: Sequence[str] = ()) -> list[str]:
    """Tricks for people to read, a line each: `trick 1: 2:CA 0:C7 1:CK, won by seat 2`.

    plays: the seat and the card of each play, in order. leader: who leads the next trick, or has led the one that is
    not over. notes: more to say of each whole trick, if there is."""
    lines = []
    for number, start in enumerate(range(0, len(plays), players)):
        line = f"trick {number + 1}: " + " ".join(f"{seat}:{card}" for seat, card in plays[start : start + players])
        if start + players <= len(plays):
            winner = plays[start + players][0] if start + players < len(plays) else leader
            line += f", won by seat {winner}" + (f", {notes[number]}" if notes else "")
        lines.append(line)
    return lines


def score_line(scores: Sequence[int]) -> str:
    """`scores 0 13 13 0`, by seat."""
    return "scores " + " ".join(map(str, scores))


def playout(game: Game, state: State, seat: int, draw: random.Random) -> float:
    """Plays on uniformly at random from `state`, which it changes, to the end: v(o) of it, the part of `seat`."""
    while not state.is_terminal():
        if state.is_chance_node():
            actions, probs = zip(*state.chance_outcomes())
            state.apply_action(draw.choices(actions, probs)[0])
        else:
            state.apply_action(draw.choice(state.legal_actions()))
    return float(game.outcomes.values[game.outcomes.of(game.scores(state), seat), 0])


class Observer:
    """What a seat knows, as text; it fills no tensor. text(state, viewer) is the game's."""

    def __init__(self, text: Callable[[Any, int], str], kind: pyspiel.IIGObservationType | None, params: Any):
        if params:
            raise ValueError(f"observation parameters are not supported: {params}")
        self.tensor = None
        self.dict: dict[str, Any] = {}
        asked = kind if kind is not None else pyspiel.IIGObservationType(perfect_recall=False)
        self._text, self._private = text, asked.private_info != pyspiel.PrivateInfoType.NONE

    def set_from(self, state: Any, player: int) -> None:
        """There is no tensor to fill."""

    def string_from(self, state: Any, player: int) -> str:
        """All that `player` knows; where no private information is asked for, what everybody knows."""
        return self._text(state, player if self._private else PUBLIC)
