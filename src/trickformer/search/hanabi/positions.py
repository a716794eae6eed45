"""Positions and worlds of Hanabi for SPARTA and rollouts.

A world is an own hand, sampled from a belief, and a shuffled deck. The core plays the games to the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from trickformer import _core
from trickformer.base import Belief, Game, Memo, View
from trickformer.belief.samplers.hanabi import NoConsistentHandError
from trickformer.games.hanabi import Hanabi
from trickformer.search.sparta import Position
from trickformer.tokenizers.hanabi import HanabiTokenizer

if TYPE_CHECKING:
    from trickformer.search.hanabi.beliefs import Maker


class HanabiSampledWorlds:
    """Sampled worlds: own hands, int16 [n, hand], each with a shuffled deck of the remaining cards."""

    def __init__(
        self, decision: _core.hanabi.Decision, hands: np.ndarray, samples: int, threads: int, rng: np.random.Generator
    ):
        """Shuffle a deck for each hand.

        Args:
            decision: The decision of the core.
            hands: Sampled hands that are consistent, int16 [n, hand].
            samples: Number of hands that were sampled, inconsistent ones included; 0 if the belief is consistent.
            threads: Number of threads for games.
            rng: Source of all randomness.
        """
        self._decision, self._hands = decision, hands
        self._threads = threads
        self.illegal, self.searched = max(0, samples - len(hands)), samples
        if len(hands):
            self._decks = decision.decks(hands, int(rng.integers(2**63)))

    def __len__(self) -> int:
        return len(self._hands)

    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        return self._decision.play(self._hands[rows], self._decks[rows], np.array(actions), seed, self._threads)


class HanabiPosition(Position):
    """A decision of a seat whose partners all play the blueprint."""

    def __init__(self, view: View, decision: _core.hanabi.Decision, rng: np.random.Generator, threads: int):
        self.legal, self.rng = view.legal, rng
        self.searches = False
        self.blueprint = decision.blueprint(int(rng.integers(2**63)))
        self._view, self._decision = view, decision
        self._threads = threads

    def set_beliefs(self, belief: Belief, exact: Belief) -> None:
        """Set the beliefs, so that the decision is searched.

        Args:
            belief: Belief whose worlds the search uses.
            exact: Belief whose worlds re-estimate gains.
        """
        self.searches = True
        self._belief, self._exact = belief, exact

    def sample_worlds(self, n: int, rng: np.random.Generator) -> HanabiSampledWorlds:
        samples = 0 if self._belief.consistent else n
        hands = _sample_hands(self._belief, self._view, n, rng)
        return HanabiSampledWorlds(self._decision, hands, samples, self._threads, rng)

    def exact(self, n: int, rng: np.random.Generator) -> HanabiSampledWorlds:
        hands = _sample_hands(self._exact, self._view, n, rng)
        return HanabiSampledWorlds(self._decision, hands, 0, self._threads, rng)


class HanabiPositions:
    """Positions of one seat that searches, and of its partners, which play the blueprint."""

    def __init__(self, game: Hanabi, style: str, seat: int, belief: Maker, exact: Belief, threads: int = 1):
        """Store the settings.

        Args:
            game: The game.
            style: Scripted player that is the blueprint, a name of `_core.hanabi.BOTS`.
            seat: Seat that searches.
            belief: Makes the belief that this seat searches on, once for each game.
            exact: Belief that re-estimates gains.
            threads: Number of threads for games.
        """
        self._seat, self._threads = seat, threads
        self._belief, self._exact = belief, exact
        self._tokenizer, self._bot = HanabiTokenizer(game), _core.hanabi.BOTS.index(style)
        self.unit, self.has_exact_belief = float(game.rules.kinds), True

    def position(self, view: View, rng: np.random.Generator, memo: Memo) -> HanabiPosition:
        decision = _core.hanabi.Decision(self._tokenizer.codec, self._tokenizer.encode(view), self._bot)
        position = HanabiPosition(view, decision, rng, self._threads)
        if view.viewer == self._seat and len(view.legal) > 1:
            if "belief" not in memo:
                memo["belief"] = self._belief(rng)
            position.set_beliefs(memo["belief"], self._exact)
        return position


class HanabiSimulator:
    """World simulator for rollouts (`base.WorldSimulator`). The scripted player `smart` finishes the games."""

    def __init__(self, game: Hanabi, belief: Belief):
        self._tokenizer, self._belief = HanabiTokenizer(game), belief
        self._bot = _core.hanabi.BOTS.index("smart")
        self.unit = float(game.rules.kinds)

    def can_evaluate(self, view: View) -> bool:
        return True

    def worlds(self, view: View, n: int, rng: np.random.Generator) -> HanabiSampledWorlds:
        decision = _core.hanabi.Decision(self._tokenizer.codec, self._tokenizer.encode(view), self._bot)
        return HanabiSampledWorlds(decision, _sample_hands(self._belief, view, n, rng), 0, 1, rng)


def _sample_hands(belief: Belief, view: View, n: int, rng: np.random.Generator) -> np.ndarray:
    """Sample n worlds and return the consistent own hands, int16 [k, hand]; none if no hand is consistent."""
    try:
        belief.reset(view)
        worlds = belief.sample(n, rng)
    except NoConsistentHandError:
        return np.empty((0, 0), dtype=np.int16)
    return worlds.hidden[worlds.feasible]


def make(game: Game, belief: Belief) -> HanabiSimulator:
    """Make the world simulator of Hanabi for rollouts.

    Args:
        game: The game.
        belief: Samples the worlds.
    """
    assert isinstance(game, Hanabi)
    return HanabiSimulator(game, belief)
