"""Toy game of "Off-Belief Learning" (section 5): a free signal without a given meaning, and a costly informative one.

Alice sees a pet, a cat or a dog. She switches a light on or off, bails out for 1 point, or removes a barrier for 5
points so that Bob sees the pet. Bob guesses the pet, which wins or loses 10 points, or bails out for 0.5 points. Both
get the same payoff.
"""

from __future__ import annotations

from typing import Any

import pyspiel

from trickformer import openspiel
from trickformer.base import PUBLIC

NAME = "trickformer_toy"
PETS = ("cat", "dog")  # outcomes of chance; Bob's first actions guess them in this order
ON = 0  # actions of Alice
OFF = 1
BAIL = 2
BARRIER = 3
ALICE = ("light on", "light off", "bail", "remove the barrier")
BOB = ("guess cat", "guess dog", "bail")
_ALICE_BAILS, _BOB_BAILS = 1.0, 0.5  # points for bailing out
_GUESS, _COST = 10.0, 5.0  # points won or lost by a guess; cost of the barrier
RULES = (
    "Toy game: Alice sees a cat or a dog. She switches a light on or off, bails out for "
    f"{_ALICE_BAILS:g} point, or removes a barrier for {_COST:g} points so that Bob sees the pet. Bob guesses the pet, "
    f"which wins or loses {_GUESS:g} points, or bails out for {_BOB_BAILS:g}. Both get the same points."
)

_TYPE = openspiel.game_type(NAME, "Toy communication", 2, {}, pyspiel.GameType.Utility.IDENTICAL)


class ToyGame(pyspiel.Game):
    """Game `trickformer_toy`, without parameters."""

    def __init__(self, params: dict[str, Any] | None = None):
        info = pyspiel.GameInfo(
            num_distinct_actions=len(ALICE),
            max_chance_outcomes=len(PETS),
            num_players=2,
            min_utility=-_GUESS - _COST,
            max_utility=_GUESS,
            max_game_length=2,
        )
        super().__init__(_TYPE, info, params or {})

    def new_initial_state(self) -> ToyState:
        return ToyState(self)

    def max_chance_nodes_in_history(self) -> int:
        return 1

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> openspiel.Observer:
        return openspiel.Observer(_text, iig_obs_type, params)


class ToyState(pyspiel.State):
    """State of a game: the pet, Alice's action, Bob's action, each None before it is known."""

    def __init__(self, game: pyspiel.Game):
        super().__init__(game)
        self.pet: int | None = None
        self.alice: int | None = None
        self.bob: int | None = None

    def current_player(self) -> int:
        if self.is_terminal():
            return pyspiel.PlayerId.TERMINAL
        return pyspiel.PlayerId.CHANCE if self.pet is None else int(self.alice is not None)

    def is_terminal(self) -> bool:
        return self.alice == BAIL or self.bob is not None

    def _legal_actions(self, player: int) -> list[int]:
        return list(range(len(BOB if player else ALICE)))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return both pets, equally likely."""
        return [(pet, 1 / len(PETS)) for pet in range(len(PETS))]

    def _apply_action(self, action: int) -> None:
        if self.pet is None:
            self.pet = action
        elif self.alice is None:
            self.alice = action
        else:
            self.bob = action

    def _action_to_string(self, player: int, action: int) -> str:
        return (PETS if player == pyspiel.PlayerId.CHANCE else BOB if player else ALICE)[action]

    def returns(self) -> list[float]:
        """Return the points of both seats, which are equal; zero before the end."""
        if not self.is_terminal():
            return [0.0, 0.0]
        if self.alice == BAIL:
            return [_ALICE_BAILS, _ALICE_BAILS]
        points = _BOB_BAILS if self.bob == len(PETS) else _GUESS if self.bob == self.pet else -_GUESS
        return [points - _COST * (self.alice == BARRIER)] * 2

    def __str__(self) -> str:
        words = [names[a] for names, a in ((PETS, self.pet), (ALICE, self.alice), (BOB, self.bob)) if a is not None]
        return ", ".join(words)


def _text(state: Any, viewer: int) -> str:
    """Describe a state to a viewer: the pet, if it is visible, and the actions."""
    is_visible = viewer == 0 or state.alice == BARRIER  # Alice sees the pet; without the barrier everybody does
    words = [PETS[state.pet]] if is_visible and state.pet is not None else []
    if state.alice is not None:
        words.append(ALICE[state.alice])
    if state.bob is not None and viewer in (0, 1, PUBLIC):
        words.append(BOB[state.bob])
    return ", ".join(words)


pyspiel.register_game(_TYPE, ToyGame)
