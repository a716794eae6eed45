"""What SPARTA and GO-MCTS share of Hanabi: hands by a belief, decks, and games that the core plays on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from trickformer import _core
from trickformer.base import Belief, Game, Memo, View
from trickformer.belief.samplers.hanabi import NoConsistentHandError
from trickformer.games.hanabi import Hanabi
from trickformer.tokenizers.hanabi import HanabiTokenizer

if TYPE_CHECKING:
    from trickformer.search.hanabi.beliefs import Maker


class HanabiSampledWorlds:
    """Own hands, int16 [n, hand], with what they leave in the deck, shuffled."""

    def __init__(
        self, decision: _core.hanabi.Decision, hands: np.ndarray, searched: int, threads: int, rng: np.random.Generator
    ):
        self._decision, self._hands, self._threads = decision, hands, threads
        self.illegal, self.searched = max(0, searched - len(hands)), searched
        if len(hands):
            self._decks = decision.decks(hands, int(rng.integers(2**63)))

    def __len__(self) -> int:
        return len(self._hands)

    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        return self._decision.play(self._hands[rows], self._decks[rows], np.array(actions), seed, self._threads)


class HanabiPosition:
    """A decision of a seat whose others all play the blueprint."""

    def __init__(self, view: View, decision: _core.hanabi.Decision, rng: np.random.Generator, threads: int):
        self.legal, self.rng, self.searches = view.legal, rng, False
        self.blueprint = decision.blueprint(int(rng.integers(2**63)))
        self._view, self._decision, self._threads = view, decision, threads

    def believe(self, belief: Belief, exact: Belief) -> None:
        """By what it is searched."""
        self.searches, self._belief, self._exact = True, belief, exact

    def sample_worlds(self, n: int, rng: np.random.Generator) -> HanabiSampledWorlds:
        searched = 0 if self._belief.consistent else n
        return HanabiSampledWorlds(
            self._decision, hands(self._belief, self._view, n, rng), searched, self._threads, rng
        )

    def exact(self, n: int, rng: np.random.Generator) -> HanabiSampledWorlds:
        return HanabiSampledWorlds(self._decision, hands(self._exact, self._view, n, rng), 0, self._threads, rng)


class HanabiPositions:
    """Decisions of one seat, `seat`, which is searched, and of the others, which play the blueprint, `style`.

    belief: of that seat in a game. exact: what gains are judged by."""

    def __init__(self, game: Hanabi, style: str, seat: int, belief: Maker, exact: Belief, threads: int = 1):
        self._seat, self._belief, self._exact, self._threads = seat, belief, exact, threads
        self._tokenizer, self._bot = HanabiTokenizer(game), _core.hanabi.BOTS.index(style)
        self.unit, self.knows_better = float(game.rules.kinds), True

    def position(self, view: View, rng: np.random.Generator, memo: Memo) -> HanabiPosition:
        decision = _core.hanabi.Decision(self._tokenizer.codec, self._tokenizer.encode(view), self._bot)
        position = HanabiPosition(view, decision, rng, self._threads)
        if view.viewer == self._seat and len(view.legal) > 1:
            if "belief" not in memo:
                memo["belief"] = self._belief(rng)
            position.believe(memo["belief"], self._exact)
        return position


class HanabiScript:
    """Decisions of any seat, from which `smart` plays on."""

    def __init__(self, game: Hanabi, belief: Belief):
        self._tokenizer, self._bot, self._belief = HanabiTokenizer(game), _core.hanabi.BOTS.index("smart"), belief
        self.unit = float(game.rules.kinds)

    def can_evaluate(self, view: View) -> bool:
        return True

    def worlds(self, view: View, n: int, rng: np.random.Generator) -> HanabiSampledWorlds:
        decision = _core.hanabi.Decision(self._tokenizer.codec, self._tokenizer.encode(view), self._bot)
        return HanabiSampledWorlds(decision, hands(self._belief, view, n, rng), 0, 1, rng)


def hands(belief: Belief, view: View, n: int, rng: np.random.Generator) -> np.ndarray:
    """int16 [k, hand]: those of n worlds that explain the view; none where nothing explains what the others did."""
    try:
        belief.reset(view)
        worlds = belief.sample(n, rng)
    except NoConsistentHandError:
        return np.empty((0, 0), dtype=np.int16)
    return worlds.hidden[worlds.feasible]


def make(game: Game, belief: Belief) -> HanabiScript:
    """Decisions of any seat, from which `smart` plays on."""
    assert isinstance(game, Hanabi)
    return HanabiScript(game, belief)
