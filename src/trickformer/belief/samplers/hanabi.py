"""Hanabi: own hands that explain a seat's view, as likely as deals have them, by counting (cpp/hanabi/worlds.hpp); and
as likely as what partners did makes them who play one scripted player, by filtering all hands that there are, or, where
these are too many, by drawing (Lerer et al. 2020, section 4.1)."""

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

    hidden int16 [n, hand]: the own cards, the oldest first; -1 where the hand has fewer. The order of the deck is no
    part of a state: each order of what is then unseen is as likely as any other."""

    def history(self, i: int) -> list[int]:
        """World i as actions, those of chance included."""
        assert isinstance(self.game, Hanabi)
        rules, own = self.game.rules, self.view.viewer
        dealt = [list(event.seen) for event in self.view.events if event.action is None]
        moves = [(event.actor, event.action, event.seen) for event in self.view.events if event.action is not None]
        # Own cards in the order in which they came: those that left the hand are seen, the others are this world's.
        hand, cards = list(range(rules.hand)), [-1] * rules.hand
        for actor, action, seen in moves:
            if actor == own and action < 2 * rules.hand:
                cards[hand.pop(action % rules.hand)] = seen[0]
                hand.append(len(cards))
                cards.append(-1)  # stays so where there was nothing to draw
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
    """Uniform over the orders of the deck: a hand is as likely as there are ways to take it from the unseen cards."""

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
        """The exact number of ways to take the own cards from those unseen, copies told apart. Raises ValueError before
        any view."""
        deals, _ = self._require_deals_and_view()
        return deals.count

    def tables(self) -> list[_core.hanabi.Tables]:
        """One table after the deal and after each move, in some world that explains the view: for whoever reads no
        hidden card. Raises ValueError before any view."""
        assert isinstance(self._game, Hanabi)
        world = self.sample(1, np.random.default_rng(0))
        one = np.zeros(1, dtype=np.int64)
        return [table.take(one) for table in positions(self._game, world.history(0))]

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        """float64 [n], natural logarithm of the probability of a hand, by kinds; -inf for what does not explain the
        view."""
        deals, _ = self._require_deals_and_view()
        with np.errstate(divide="ignore"):
            return np.log(deals.ways(worlds.hidden)) - np.log(self.count())


class NoConsistentHandError(ValueError):
    """No hand, or none that was drawn, explains what the others did."""


class ExplainedBelief(Belief):
    """A hand is as likely as the deal has it, times what the others, who saw it, would have done as they did.

    style: what they play, a name of `_core.hanabi.BOTS`. listed: hands that the rules allow up to which each is looked
    at; of more, uniform draws are kept or dropped by the others' moves, at most `tries` for a sample. slip: share of
    the others' moves that may be any; then no hand is ruled out, and of more than `listed` hands a sample weighs
    `tries` draws."""

    consistent = True

    def __init__(self, game: Hanabi, style: str, listed: int = 20_000, tries: int = 50_000, slip: float = 0.0):
        self._game, self._bot, self._slip = game, _core.hanabi.BOTS.index(style), slip
        self._listed, self._tries = listed, tries
        self._codec, self._uniform = HanabiTokenizer(game), HanabiBelief(game)
        self._view: View | None = None

    def reset(self, view: View) -> None:
        """Condition on a view that ends at an own turn. Raises ValueError where no deal explains it, and Unexplained
        where the others' moves rule out every hand."""
        self._view = None
        self._decision = _core.hanabi.Decision(self._codec.codec, self._codec.encode(view), self._bot)
        self._hands, self._weights, self._all = self._decision.consistent_hands(self._listed, 0, 0, 0, self._slip)
        if self._all and not len(self._weights):
            raise NoConsistentHandError("no hand explains what the others did")
        self._view = view

    def sample(self, n: int, rng: np.random.Generator) -> HanabiWorlds:
        """n worlds, alike in weight: by systematic resampling, in random order, so that listed hands come as often as
        they should. Raises ValueError before any view, Unexplained where no draw explains the others' moves."""
        view, seed = self._require_view(), int(rng.integers(2**63))
        hands, weights = self._hands, self._weights
        if not self._all:
            most = self._tries if self._slip else n
            hands, weights, _ = self._decision.consistent_hands(0, most, self._tries, seed, self._slip)
            if not len(weights):
                raise NoConsistentHandError(f"none of {self._tries:,} hands explains what the others did")
        hidden = hands[rng.permutation(resample(np.log(weights), n, rng))]
        return HanabiWorlds(hidden, np.zeros(n), np.ones(n, dtype=bool), view, self._game)

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        """float64 [n]: the logarithm of the probability of a hand, up to a constant of the view where hands are not
        listed; -inf for what does not explain it. Raises ValueError before any view."""
        view = self._require_view()
        self._uniform.reset(view)
        found = self._uniform.log_prob(worlds)
        good = np.isfinite(found)
        with np.errstate(divide="ignore"):
            found[good] += np.log(self._decision.chances(worlds.hidden[good], self._slip))
        total = self._weights.sum() / self._uniform.count() if self._all else 1.0
        return found - np.log(total)

    def _require_view(self) -> View:
        if self._view is None:
            raise ValueError("a belief needs a view first; call reset")
        return self._view


def weighted_belief(game: Hanabi) -> ExplainedBelief:
    """The belief that counts what the others have done: nearly what `smart` does."""
    return ExplainedBelief(game, "smart", listed=1_000, tries=1_000, slip=0.3)


def make(game: Hanabi) -> HanabiBelief:
    """The uniform belief."""
    return HanabiBelief(game)


def replay(game: Hanabi, history: Sequence[int]) -> _core.hanabi.Tables:
    """One table at which these actions were taken, those of chance included. Cards still in the deck come in any
    order."""
    *_, last = positions(game, history)
    return last


def positions(game: Hanabi, history: Sequence[int]) -> Iterator[_core.hanabi.Tables]:
    """One table after the deal and after each move; the next step changes it."""
    state, moves = split_history(game.rules, history)
    table = _core.hanabi.Tables(game.rules, 0, 0, 1)
    table[0] = state
    yield table
    for action in moves:
        table.step(np.array([action]))
        yield table
