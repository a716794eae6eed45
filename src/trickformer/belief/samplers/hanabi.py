"""Exact beliefs over the own hand in Hanabi.

HanabiBelief counts: a hand is as likely as the deals that contain it (cpp/hanabi/worlds.hpp). ExplainedBelief also
conditions on the partners' moves, and assumes that all partners are the same scripted player. It filters all possible
hands or, if there are too many, a sample of them (Lerer et al. 2020, section 4.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from trickformer import _core
from trickformer.base import Belief, View, Worlds
from trickformer.belief.samplers._resampling import resample
from trickformer.belief.samplers._uniform import ExactBelief, UniformWorlds
from trickformer.games.hanabi import Hanabi, split_history
from trickformer.tokenizers.hanabi import HanabiTokenizer


class HanabiWorlds(UniformWorlds):
    """Worlds of a game of Hanabi. `hidden`, int16 [n, hand], are the own cards, the oldest first.

    -1 stands for a missing card of a smaller hand. The order of the deck is not part of a world: all orders of the
    remaining cards are equally likely.
    """

    def history(self, i: int) -> list[int]:
        assert isinstance(self.game, Hanabi)
        rules, own = self.game.rules, self.view.viewer
        dealt = [list(event.seen) for event in self.view.events if event.action is None]
        moves = [(event.actor, event.action, event.seen) for event in self.view.events if event.action is not None]
        # `cards` are all own cards in the order of drawing, and `hand` are the indices of those in the hand now. The
        # view shows the cards that have left the hand, and the world has the others.
        hand, cards = list(range(rules.hand)), [-1] * rules.hand
        for actor, action, seen in moves:
            if actor == own and action < 2 * rules.hand:  # a play or discard
                cards[hand.pop(action % rules.hand)] = seen[0]
                hand.append(len(cards))
                cards.append(-1)  # stays -1 if the deck was empty
        for index, card in zip(hand, self.hidden[i].tolist()):
            cards[index] = card
        dealt.insert(0, cards[: rules.hand])
        actions = [card for p in range(rules.players) for card in dealt[(p - own) % rules.players]]
        drawn = iter(cards[rules.hand :])
        for actor, action, _ in moves:
            actions.append(action)
            if actor == own and action < 2 * rules.hand and (card := next(drawn)) >= 0:
                actions.append(card)
        return actions


class HanabiBelief(ExactBelief[HanabiWorlds]):
    """Uniform distribution over the orders of the unseen cards.

    The probability of a hand is proportional to the number of ways to draw it. `log_prob` is the probability of the
    kinds in the hand; copies of a card are not distinguished.
    """

    worlds = HanabiWorlds

    def __init__(self, game: Hanabi):
        super().__init__(game)
        self._tokenizer = HanabiTokenizer(game)

    def _make_sampler(self, view: View) -> _core.hanabi.HandSampler:
        return _core.hanabi.HandSampler(self._tokenizer.codec, self._tokenizer.encode(view))

    def _hidden_part(self, actions: list[int], sampler: _core.hanabi.HandSampler) -> np.ndarray:
        _, view = self._require_sampler_and_view()
        state = self._game.spiel.new_initial_state()
        for action in actions:
            state.apply_action(action)
        assert isinstance(self._game, Hanabi)
        cards = self._game.hand(state, view.viewer)
        return np.array(cards + [-1] * (self._game.rules.hand - len(cards)), dtype=np.int16)

    def count(self) -> int:
        """Count exactly the ways to draw the own cards from the unseen ones. Copies of a card count as different.

        Raises:
            ValueError: `reset` was not called before.
        """
        sampler, _ = self._require_sampler_and_view()
        return sampler.count

    def tables(self) -> list[_core.hanabi.Tables]:
        """Return one table after the deal and one after each move, in an arbitrary consistent world.

        Estimators that read no hidden card follow a game by these tables.

        Raises:
            ValueError: `reset` was not called before.
        """
        assert isinstance(self._game, Hanabi)
        world = self.sample(1, np.random.default_rng(0))
        one = np.zeros(1, dtype=np.int64)
        return [table.take(one) for table in positions(self._game, world.history(0))]

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        sampler, _ = self._require_sampler_and_view()
        with np.errstate(divide="ignore"):
            return np.log(sampler.ways(worlds.hidden)) - np.log(self.count())


class NoConsistentHandError(ValueError):
    """No possible hand, or no hand of a sample, is consistent with the others' moves."""


class ExplainedBelief(Belief):
    """Probability of a hand in the deal, times the probability of the moves of the others, who see the hand.

    Views must end at an own turn. `reset` and `sample` raise NoConsistentHandError if the others' moves rule out every
    hand, or every drawn hand. `sample` uses systematic resampling and shuffles the result, so worlds have equal weight.
    If there are too many hands to list, `log_prob` is exact up to a constant of the view.
    """

    consistent = True

    def __init__(self, game: Hanabi, style: str, listed: int = 20_000, tries: int = 50_000, slip: float = 0.0):
        """Make the belief of a game.

        Args:
            game: Hanabi.
            style: Scripted player that the others are assumed to be, a name of `_core.hanabi.BOTS`.
            listed: Largest number of hands that are listed. If there are more, hands are drawn uniformly and filtered
                by the others' moves.
            tries: Largest number of draws for a sample.
            slip: Share of the others' moves that are assumed to be random. If it is positive, no hand is ruled out, so
                all `tries` draws are weighted instead of filtered.
        """
        self._game = game
        self._bot = _core.hanabi.BOTS.index(style)
        self._slip = slip
        self._listed, self._tries = listed, tries
        self._tokenizer, self._uniform = HanabiTokenizer(game), HanabiBelief(game)
        self._view: View | None = None

    def reset(self, view: View) -> None:
        self._view = None
        self._decision = _core.hanabi.Decision(self._tokenizer.codec, self._tokenizer.encode(view), self._bot)
        consistent_hands = self._decision.consistent_hands(self._listed, n=0, tries=0, seed=0, slip=self._slip)
        self._hands, self._weights = consistent_hands[:2]
        self._is_listed = consistent_hands[2]
        if self._is_listed and not len(self._weights):
            raise NoConsistentHandError("no hand explains the others' moves")
        self._view = view

    def sample(self, n: int, rng: np.random.Generator) -> HanabiWorlds:
        view, seed = self._require_view(), int(rng.integers(2**63))
        hands, weights = self._hands, self._weights
        if not self._is_listed:
            n_hands = self._tries if self._slip else n
            hands, weights = self._decision.consistent_hands(
                most=0, n=n_hands, tries=self._tries, seed=seed, slip=self._slip
            )[:2]  # most=0: list no hands, only draw
            if not len(weights):
                raise NoConsistentHandError(f"none of {self._tries:,} hands explains the others' moves")
        hidden = hands[rng.permutation(resample(np.log(weights), n, rng))]
        return HanabiWorlds(hidden, np.zeros(n), np.ones(n, dtype=bool), view, self._game)

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        view = self._require_view()
        self._uniform.reset(view)
        log_probs = self._uniform.log_prob(worlds)
        possible = np.isfinite(log_probs)
        with np.errstate(divide="ignore"):
            log_probs[possible] += np.log(self._decision.chances(worlds.hidden[possible], self._slip))
        total = self._weights.sum() / self._uniform.count() if self._is_listed else 1.0
        return log_probs - np.log(total)

    def _require_view(self) -> View:
        if self._view is None:
            raise ValueError("a belief needs a view first; call reset")
        return self._view


def weighted_belief(game: Hanabi) -> ExplainedBelief:
    """Return the belief that weights worlds by the others' moves. It assumes `smart` players with 30% random moves.

    Args:
        game: Hanabi.
    """
    return ExplainedBelief(game, "smart", listed=1_000, tries=1_000, slip=0.3)


def make(game: Hanabi) -> HanabiBelief:
    """Return the uniform belief.

    Args:
        game: Hanabi.
    """
    return HanabiBelief(game)


def replay(game: Hanabi, history: Sequence[int]) -> _core.hanabi.Tables:
    """Return a table after a history. The order of the remaining deck is arbitrary.

    Args:
        game: Hanabi.
        history: OpenSpiel actions, chance included.
    """
    *_, last = positions(game, history)
    return last


def positions(game: Hanabi, history: Sequence[int]) -> Iterator[_core.hanabi.Tables]:
    """Yield the table after the deal and after each move. All of them are one object, which changes between yields.

    Args:
        game: Hanabi.
        history: OpenSpiel actions, chance included.
    """
    state, moves = split_history(game.rules, history)
    table = _core.hanabi.Tables(game.rules, 0, 0, 1)
    table[0] = state
    yield table
    for action in moves:
        table.step(np.array([action]))
        yield table
