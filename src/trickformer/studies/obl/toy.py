"""The toy game of "Off-Belief Learning" (section 5): a talk that costs nothing, and one that says something.

Alice sees a pet, a cat or a dog. She switches a light on or off, or bails out for 1, or removes a barrier for 5 so that
Bob sees the pet. Bob guesses the pet, which gives 10 or takes 10, or bails out for 0.5. Both are paid the same."""

from __future__ import annotations

from typing import Any

import pyspiel

from trickformer import openspiel
from trickformer.base import PUBLIC

NAME = "trickformer_toy"
PETS = ("cat", "dog")  # what chance decides; the first guesses of Bob
ON, OFF, BAIL, BARRIER = range(4)  # what Alice does
ALICE = ("light on", "light off", "bail", "remove the barrier")
BOB = ("guess cat", "guess dog", "bail")
_BAILED, _UNSURE, _GUESS, _COST = 1.0, 0.5, 10.0, 5.0

_TYPE = openspiel.game_type(NAME, "Toy communication", 2, {}, pyspiel.GameType.Utility.IDENTICAL)


class ToyGame(pyspiel.Game):
    """`trickformer_toy`. It has no parameters."""

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
        """An observer that has strings only."""
        return openspiel.Observer(_text, iig_obs_type, params)


class ToyState(pyspiel.State):
    """A game: the pet, what Alice did, what Bob did, each None before."""

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
        """Either pet, equally likely."""
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
        """The same for both; zero before the end."""
        if not self.is_terminal():
            return [0.0, 0.0]
        if self.alice == BAIL:
            return [_BAILED, _BAILED]
        said = _UNSURE if self.bob == len(PETS) else _GUESS if self.bob == self.pet else -_GUESS
        return [said - _COST * (self.alice == BARRIER)] * 2

    def __str__(self) -> str:
        said = [names[a] for names, a in ((PETS, self.pet), (ALICE, self.alice), (BOB, self.bob)) if a is not None]
        return ", ".join(said)


def _text(state: Any, viewer: int) -> str:
    """The pet, where the viewer sees it, and what Alice did."""
    seen = viewer == 0 or state.alice == BARRIER  # Alice sees the pet, and everybody behind no barrier
    words = [PETS[state.pet]] if seen and state.pet is not None else []
    if state.alice is not None:
        words.append(ALICE[state.alice])
    if state.bob is not None and viewer in (0, 1, PUBLIC):
        words.append(BOB[state.bob])
    return ", ".join(words)


pyspiel.register_game(_TYPE, ToyGame)
