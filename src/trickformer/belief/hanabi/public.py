"""Exact worlds of the public belief, without listing pairs of hands.

What seat 0 does speaks of the hand of seat 1 alone (`exact`), so the belief of hands a and b is

    P(a, b | seen)  ~  ways(a, b) L1(a) L0(b).

ways(a, b) is at most ways(a) ways(b): cards that one hand takes the other cannot. So a is drawn by ways(a) L1(a), b by
ways(b) L0(b), and the pair is accepted with probability ways(a, b) / (ways(a) ways(b)). Where the hands of a seat are
too many to list, some are drawn, slot by slot from the cards left and allowed. Each weighs the product of what was left
to choose from, which makes it as likely as the deal does, times the likelihood of the others' moves."""

from __future__ import annotations

import numpy as np

from trickformer.belief.hanabi.exact import HandFilter, MoveLikelihood, held_of, log_ways
from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables
from trickformer.belief.samplers import resample

_PIECE = 4_096  # hands, or pairs, looked at together


class PublicWorlds:
    """One game of two scripted players, or of decision rules, in the form fosg or hmm; draws worlds like an estimator
    (`estimators.Writer`).

    limit: hands of a seat that are listed at most; tries: draws of a hand, or of pairs, for a sample where they are
    more; enough: hands among them that explain what was seen, after which no more are drawn."""

    def __init__(self, process: HanabiProcess, limit: int = 20_000, tries: int = 50_000, enough: int = 500):
        if process.rules.players != 2 or process.form is Form.POMDP:
            raise ValueError("the public belief of two players")
        self._process, self._tries, self._enough = process, tries, enough
        self._filters = [HandFilter(process, seat, limit) for seat in (0, 1)]

    def begin(self, x: Tables) -> None:
        """The first position. x: 1 table; no hidden card is read, here and below."""
        self._x = x
        for each in self._filters:
            each.begin(x)

    def observe(
        self,
        before: Tables,
        control: np.ndarray | None,
        actions: np.ndarray,
        after: Tables,
        said: MoveLikelihood | None = None,
    ) -> None:
        """A move, as an estimator takes it; or one that said this of the other's hand (`HandFilter.observe`)."""
        self._x = after
        for each in self._filters:
            each.observe(before, control, int(actions[0]), after, said)

    def enumerate_hands(self, seat: int) -> np.ndarray | None:
        """int8 [m, hand]: every hand of a seat that explains what was seen; None where there are too many."""
        hands = self._filters[seat].hands()
        return None if hands is None else hands.hidden

    def counts(self) -> np.ndarray:
        """int64 [K]: cards that nobody has seen played or discarded."""
        return self._filters[0].counts(self._x)

    def write(self, n: int, seed: int) -> np.ndarray:
        """int8 [1, k, slots]: n worlds; fewer where too few pairs were accepted, none where no hand that was drawn
        explains what was seen."""
        rng = np.random.default_rng(seed)
        counts, kinds = self.counts(), self._process.rules.kinds
        lists = [self.hand_weights(seat, rng) for seat in (0, 1)]
        found, size = np.empty((0, self._process.slots), dtype=np.int8), _PIECE
        if not all(len(weight) for _, weight in lists):
            return found[None]
        held = [held_of(hands, kinds) for hands, _ in lists]
        alone = [log_ways(h, counts) for h in held]
        for _ in range(max(1, self._tries * 16 // size)):
            a, b = (rng.permutation(resample(weight, size, rng)) for _, weight in lists)
            accepted = log_ways(held[0][a] + held[1][b], counts) - alone[0][a] - alone[1][b]
            keep = np.log(rng.random(size)) < accepted
            pairs = np.concatenate([lists[0][0][a[keep]], lists[1][0][b[keep]]], axis=1)
            found = np.concatenate([found, pairs])
            if len(found) >= n:
                break
        return found[None, :n]

    def hand_weights(self, seat: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Hands of a seat, int8 [m, hand], and the logarithms of their weights, float64 [m], up to a constant; those of
        the other seat's hand are not in them."""
        own, counts = self._filters[seat], self.counts()
        if (listed := own.hands()) is not None:
            ways = log_ways(held_of(listed.hidden, len(counts)), counts)
            good = np.isfinite(ways)
            return listed.hidden[good], (listed.log_likelihood + ways)[good]
        possible, drawn, weights = self._x.possible()[0, seat], [], []
        for _ in range(-(-self._tries // _PIECE)):
            hands, weight = _sample_hands(possible, counts, _PIECE, rng)
            hands, which = np.unique(hands, axis=0, return_inverse=True)
            total = np.bincount(which.ravel(), weight, len(hands))
            hands, total = hands[total > 0], total[total > 0]
            judged = own.filter_hands(hands, np.log(total))
            drawn.append(judged.hidden)
            weights.append(judged.log_likelihood)
            if sum(map(len, drawn)) >= self._enough:
                break
        return np.concatenate(drawn), np.concatenate(weights)


def _sample_hands(
    possible: np.ndarray, counts: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Hands, int8 [n, hand], drawn slot by slot, and their weights, float64 [n], under which they are as likely as the
    deal has them; 0 where no card was left for a slot. possible: bool [hand, K]; counts: [K]."""
    hands, weight = np.full((n, len(possible)), -1, dtype=np.int8), np.ones(n)
    left = np.repeat(counts[None].astype(np.float64), n, axis=0)
    for slot, kinds in enumerate(possible):
        if not kinds.any():
            continue
        cumulative = (left * kinds).cumsum(axis=1)
        total = cumulative[:, -1]
        at = rng.random(n) * total
        card = np.minimum((cumulative <= at[:, None]).sum(axis=1), len(counts) - 1)
        hands[:, slot] = card
        weight *= total
        left[np.arange(n), card] = np.maximum(left[np.arange(n), card] - 1, 0)
    return hands, weight
