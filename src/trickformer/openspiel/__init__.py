"""Helpers that our games share when they are defined as OpenSpiel games.

They parse the options of a game string, describe a new game's type, wrap rules of the C++ core as states, play random
playouts, and observe states as text.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pyspiel

from trickformer.base import PUBLIC, TrickformerError, UnknownNameError

if TYPE_CHECKING:
    from trickformer.base import Game, State

MAX_NUMBER = 2**31 - 1  # largest number in a game string, because OpenSpiel parses it as a 32-bit int
# A file name in a game string may contain these characters, which OpenSpiel would take for the end of the value. They
# are replaced by control characters before OpenSpiel parses the string.
_STAND_INS = {",": "\x1f", "(": "\x02", ")": "\x03"}


def options(spec: str, game: str, known: Sequence[str]) -> dict[str, Any]:
    """Parse the options of a game string.

    A comma ends a value only if another option follows, and a bracket only at the end of the string, because file names
    may contain both.

    Args:
        spec: Game string.
        game: Name of the game, for messages.
        known: Names of the game's options.

    Returns:
        Value of each option.

    Raises:
        TrickformerError: The string cannot be read, or an option does not exist.
    """
    for number in re.findall(r"(?<==)-?(\d+)(?=,\w+=|\)$)", spec):  # OpenSpiel's own message is long and printed twice
        if int(number[:20]) > MAX_NUMBER:  # 20 digits suffice to compare, and int() rejects very long strings
            raise TrickformerError(f"game {spec!r}: numbers are {MAX_NUMBER} at most")
    name = spec.partition("(")[0]
    bracket, inner = spec[len(name) : len(name) + 1], spec[len(name) + 1 :]
    inner = re.sub(r",(?!\w+=)|\(|\)(?!$)", lambda match: _STAND_INS[match[0]], inner)
    try:
        values = pyspiel.game_parameters_from_string(name + bracket + inner)
    except pyspiel.SpielError as e:
        raise TrickformerError(f"game {spec!r}: {_restore_characters(str(e).splitlines()[0])}") from None
    if values.pop("name") != name:
        raise UnknownNameError(f"option of {game}", "name", known)
    for option in values:
        if option not in known:
            raise UnknownNameError(f"option of {game}", option, known)
    return {key: _restore_characters(value) if isinstance(value, str) else value for key, value in values.items()}


def _restore_characters(text: str) -> str:
    for character, stand_in in _STAND_INS.items():
        text = text.replace(stand_in, character)
    return text


def game_type(
    short_name: str,
    long_name: str,
    players: int | tuple[int, int],
    parameters: dict[str, Any],
    utility: pyspiel.GameType.Utility = pyspiel.GameType.Utility.GENERAL_SUM,
) -> pyspiel.GameType:
    """Return the OpenSpiel type of one of our games.

    Chance deals the cards, seats act in turn, returns come at the end, and information states are text only.

    Args:
        short_name: Name in game strings.
        long_name: Name for people.
        players: Number of players, or the smallest and the largest number.
        parameters: Default value of each option.
        utility: Relation between the players' returns.
    """
    min_players, max_players = (players, players) if isinstance(players, int) else players
    return pyspiel.GameType(
        short_name=short_name,
        long_name=long_name,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=utility,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=max_players,
        min_num_players=min_players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=False,
        parameter_specification=parameters,
    )


class CardState(pyspiel.State):
    """State of a game in which chance deals a deck of cards and the C++ core implements the rules after the deal."""

    def __init__(self, game: pyspiel.Game):
        super().__init__(game)
        self.deck: list[int] = []  # cards that chance has dealt so far
        self.core: Any = None  # the core's state; None during the deal

    def current_player(self) -> int:
        return pyspiel.PlayerId.CHANCE if self.core is None else self.core.current_player()

    def is_terminal(self) -> bool:
        return self.core is not None and self.core.is_terminal()

    def _legal_actions(self, player: int) -> list[int]:
        return self.core.legal_actions() if self.core is not None else []


def trick_lines(plays: Sequence[tuple[int, str]], players: int, leader: int, notes: Sequence[str] = ()) -> list[str]:
    """Return tricks for people to read, one line each: `trick 1: 2:CA 0:C7 1:CK, won by seat 2`.

    Args:
        plays: Seat and card of each play, in order.
        players: Number of players.
        leader: Seat that leads the next trick, or that led the unfinished one.
        notes: Remark on each complete trick; empty: no remarks.
    """
    lines = []
    for number, start in enumerate(range(0, len(plays), players)):
        line = f"trick {number + 1}: " + " ".join(f"{seat}:{card}" for seat, card in plays[start : start + players])
        if start + players <= len(plays):
            winner = plays[start + players][0] if start + players < len(plays) else leader
            line += f", won by seat {winner}" + (f", {notes[number]}" if notes else "")
        lines.append(line)
    return lines


def score_line(scores: Sequence[int]) -> str:
    """Return the scores as a line, such as `scores 0 13 13 0`.

    Args:
        scores: Scores by seat.
    """
    return "scores " + " ".join(map(str, scores))


def playout(game: Game, state: State, seat: int, rng: random.Random) -> float:
    """Play uniformly random actions to the end.

    Args:
        game: The game.
        state: A state that is not over. It is changed.
        seat: The seat whose value is returned.
        rng: Source of all randomness.

    Returns:
        v(o) of the outcome for the seat.
    """
    while not state.is_terminal():
        if state.is_chance_node():
            actions, probs = zip(*state.chance_outcomes())
            state.apply_action(rng.choices(actions, probs)[0])
        else:
            state.apply_action(rng.choice(state.legal_actions()))
    return float(game.outcomes.values[game.outcomes.of(game.scores(state), seat), 0])


class Observer:
    """OpenSpiel observer that describes a seat's information as text and provides no tensor."""

    def __init__(self, text: Callable[[Any, int], str], kind: pyspiel.IIGObservationType | None, params: Any):
        """Make an observer.

        Args:
            text: Maps a state and a viewer to the text that the viewer may see.
            kind: Type of observation; None: OpenSpiel's default, which includes private information.
            params: Must be empty, because no parameters are supported.

        Raises:
            ValueError: There are parameters.
        """
        if params:
            raise ValueError(f"observation parameters are not supported: {params}")
        self.tensor = None
        self.dict: dict[str, Any] = {}
        observation = kind if kind is not None else pyspiel.IIGObservationType(perfect_recall=False)
        self._text, self._private = text, observation.private_info != pyspiel.PrivateInfoType.NONE

    def set_from(self, state: Any, player: int) -> None:
        """Do nothing, because there is no tensor.

        Args:
            state: Ignored.
            player: Ignored.
        """

    def string_from(self, state: Any, player: int) -> str:
        """Return all that a player knows, or only public information if the observation type excludes private parts.

        Args:
            state: The state to observe.
            player: The seat.
        """
        return self._text(state, player if self._private else PUBLIC)
