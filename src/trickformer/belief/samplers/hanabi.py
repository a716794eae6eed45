"""Hanabi: distributions over the own hand.

HanabiBelief counts: a hand is as likely as the deal makes it (cpp/hanabi/worlds.hpp). ExplainedBelief also uses the
moves of partners who play one scripted player. It filters all possible hands, or, if these are too many, a sample of
them (Lerer et al. 2020, section 4.1).
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
    """Hidden parts of a game of Hanabi.

    hidden int16 [n, hand]: the own cards, the oldest first; -1 for a missing card of a smaller hand. The order of the
    deck is no part of a state: every order of the cards that remain is equally likely.
    """

    def history(self, i: int) -> list[int]:
        assert isinstance(self.game, Hanabi)
        rules, own = self.game.rules, self.view.viewer
        dealt = [list(event.seen) for event in self.view.events if event.action is None]
        moves = [(event.actor, event.action, event.seen) for event in self.view.events if event.action is not None]
        # Own cards in the order in which they came. Cards that left the hand are known, the others come from the world.
        hand, cards = list(range(rules.hand)), [-1] * rules.hand
        for actor, action, seen in moves:
            if actor == own and action < 2 * rules.hand:
                cards[hand.pop(action % rules.hand)] = seen[0]
                hand.append(len(cards))
                cards.append(-1)  # stays -1 if the deck was empty
        for at, card in zip(hand, self.hidden[i].tolist()):
            cards[at] = card
        dealt.insert(0, cards[: rules.hand])
        actions = [card for p in range(rules.players) for card in dealt[(p - own) % rules.players]]
        drawn = iter(cards[rules.hand :])
        for actor, action, _ in moves:
            actions.append(action)
            if actor == own and action < 2 * rules.hand and (card := next(drawn)) >= 0:
                actions.append(card)
        return actions


class HanabiBelief(ExactBelief[HanabiWorlds]):
    """Uniform distribution over the orders of the deck.

    A hand is as likely as the number of ways to take it from the unseen cards. `log_prob` does not tell copies of a
    card apart.
    """

    worlds = HanabiWorlds

    def __init__(self, game: Hanabi):
        super().__init__(game)
        self._tokenizer = HanabiTokenizer(game)

    def _sampler(self, view: View) -> _core.hanabi.HandSampler:
        return _core.hanabi.HandSampler(self._tokenizer.codec, self._tokenizer.encode(view))

    def _hidden_part(self, actions: list[int], deals: _core.hanabi.HandSampler) -> np.ndarray:
        _, view = self._require_deals_and_view()
        state = self._game.spiel.new_initial_state()
        for action in actions:
            state.apply_action(action)
        assert isinstance(self._game, Hanabi)
        cards = self._game.hand(state, view.viewer)
        return np.array(cards + [-1] * (self._game.rules.hand - len(cards)), dtype=np.int16)

    def count(self) -> int:
        """Count exactly the ways to take the own cards from the unseen ones, copies told apart.

        Raises:
            ValueError: `reset` was not called before.
        """
        deals, _ = self._require_deals_and_view()
        return deals.count

    def tables(self) -> list[_core.hanabi.Tables]:
        """Return one table after the deal and after each move, in some world that explains the view.

        It is for estimators that read no hidden card.

        Raises:
            ValueError: `reset` was not called before.
        """
        assert isinstance(self._game, Hanabi)
        world = self.sample(1, np.random.default_rng(0))
        one = np.zeros(1, dtype=np.int64)
        return [table.take(one) for table in positions(self._game, world.history(0))]

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        deals, _ = self._require_deals_and_view()
        with np.errstate(divide="ignore"):
            return np.log(deals.ways(worlds.hidden)) - np.log(self.count())


class NoConsistentHandError(ValueError):
    """No hand, or no hand of a sample, explains the others' moves."""


class ExplainedBelief(Belief):
    """Probability of a hand in the deal, times the probability of the moves of the others, who saw it.

    Views must end at an own turn. `reset` and `sample` raise NoConsistentHandError if the others' moves rule out every
    hand, or every drawn hand. Worlds have equal weight: they come from systematic resampling, in random order, so a
    sample of listed hands holds each hand about as often as its weight demands. If the hands are not listed, `log_prob`
    is exact up to a constant of the view.
    """

    consistent = True

    def __init__(self, game: Hanabi, style: str, listed: int = 20_000, tries: int = 50_000, slip: float = 0.0):
        """Make the belief of a game.

        Args:
            game: Hanabi.
            style: Scripted player of the others, a name of `_core.hanabi.BOTS`.
            listed: Largest number of hands that are all listed. If the rules allow more, uniform draws are kept or
                dropped by the others' moves.
            tries: Largest number of draws for a sample.
            slip: Share of the others' moves that is taken to be random. If it is positive, no hand is ruled out, and
                of more than `listed` hands a sample weights `tries` draws.
        """
        self._game = game
        self._bot = _core.hanabi.BOTS.index(style)
        self._slip = slip
        self._listed, self._tries = listed, tries
        self._codec, self._uniform = HanabiTokenizer(game), HanabiBelief(game)
        self._view: View | None = None

    def reset(self, view: View) -> None:
        self._view = None
        self._decision = _core.hanabi.Decision(self._codec.codec, self._codec.encode(view), self._bot)
        consistent_hands = self._decision.consistent_hands(self._listed, n=0, tries=0, seed=0, slip=self._slip)
        self._hands, self._weights = consistent_hands[:2]
        self._all = consistent_hands[2]
        if self._all and not len(self._weights):
            raise NoConsistentHandError("no hand explains the others' moves")
        self._view = view

    def sample(self, n: int, rng: np.random.Generator) -> HanabiWorlds:
        view, seed = self._require_view(), int(rng.integers(2**63))
        hands, weights = self._hands, self._weights
        if not self._all:
            most = self._tries if self._slip else n
            hands, weights = self._decision.consistent_hands(0, most, self._tries, seed, self._slip)[:2]
            if not len(weights):
                raise NoConsistentHandError(f"none of {self._tries:,} hands explains the others' moves")
        hidden = hands[rng.permutation(resample(np.log(weights), n, rng))]
        return HanabiWorlds(hidden, np.zeros(n), np.ones(n, dtype=bool), view, self._game)

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        view = self._require_view()
        self._uniform.reset(view)
        log_probs = self._uniform.log_prob(worlds)
        good = np.isfinite(log_probs)
        with np.errstate(divide="ignore"):
            log_probs[good] += np.log(self._decision.chances(worlds.hidden[good], self._slip))
        total = self._weights.sum() / self._uniform.count() if self._all else 1.0
        return log_probs - np.log(total)

    def _require_view(self) -> View:
        if self._view is None:
            raise ValueError("a belief needs a view first; call reset")
        return self._view


def weighted_belief(game: Hanabi) -> ExplainedBelief:
    """Return the belief that weights worlds by the others' moves, as if they were nearly those of `smart`.

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
    """Yield a table after the deal and after each move. It is one object, which the next step changes.

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
