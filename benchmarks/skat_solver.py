"""The perfect-information Skat solver on one thread, on deals that somebody would play.

Rows: cards tried a second; ms a position at the first lead and after five tricks for "does the soloist make 61", for
the same after each card on turn, and for the exact points. The baseline is a plain zero-window search with a table of
whole positions and nothing else (cpp/skat_solver_plain.hpp) on the same positions; it knows no null, and finds the
exact points by bisection. Every figure is the thread's CPU time.
"""

from __future__ import annotations

import itertools
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks import Row, arguments, emit, measure
from trickformer import _core

solver = _core.skat_solver
DEALS, QUICK_DEALS, SEED, WIN, FIVE, MS = 300, 30, 1, 61, 5, 1e3
SLOW, QUICK_SLOW = 40, 4  # games for which the baseline also answers for every card and for the exact points
GRAND, NULL = 4, 5
POINTS = (0, 0, 0, 3, 4, 10, 11, 2)
NULL_ORDER = (0, 1, 2, 5, 6, 3, 7, 4)


@dataclass(slots=True)
class Deal:
    """A position of a declared game; cards as everywhere, the trick as played."""

    kind: int
    soloist: int
    hands: list[list[int]]
    points: list[int]  # of the soloist, of the defenders
    leader: int = 0
    trick: list[int] = field(default_factory=list)

    def play(self, card: int) -> Deal:
        """The position after a legal card."""
        seat = (self.leader + len(self.trick)) % 3
        hands = [[c for c in hand if p != seat or c != card] for p, hand in enumerate(self.hands)]
        trick, points, leader = [*self.trick, card], list(self.points), self.leader
        if len(trick) == 3:
            led = self.suit(trick[0])
            best = max(range(3), key=lambda i: self.force(trick[i], led))
            leader = (leader + best) % 3
            points[leader != self.soloist] += sum(POINTS[c % 8] for c in trick)
            trick = []
        return Deal(self.kind, self.soloist, hands, points, leader, trick)

    def suit(self, card: int) -> int:
        trump = self.kind != NULL and (card % 8 == 7 or card // 8 == self.kind)
        return 4 if trump else card // 8

    def force(self, card: int, led: int) -> int:
        suit = self.suit(card)
        if suit == 4:
            return 200 + card // 8 if card % 8 == 7 else 100 + card % 8
        return 1 + (NULL_ORDER[card % 8] if self.kind == NULL else card % 8) if suit == led else 0


def main() -> None:
    options = arguments(__doc__ or "")
    deals = declared(QUICK_DEALS if options.quick else DEALS, SEED)
    emit(rows(deals, QUICK_SLOW if options.quick else SLOW), options.json)


def rows(deals: list[Deal], slow: int) -> list[Row]:
    """Every figure on these deals; the baseline gives its slow answers for the first `slow` games with trumps."""
    games = [d for d in deals if d.kind != NULL]
    few = games[:slow]
    endings = after(games, FIVE)
    every, later = positions(deals), positions(endings)
    solver.at_least(positions(few[:1]))  # the table's memory is there

    singles = [positions([d]) for d in deals]
    start = [cpu(lambda p=p: solver.at_least(p, WIN)) for p in singles]
    answers = solver.at_least(positions(games), WIN)
    ours = dict(zip(map(id, deals), start))
    plain, plain_nodes = [], 0
    for d in games:
        p = positions([d])
        begin = time.thread_time()
        _, nodes = solver.plain_at_least(p, WIN)
        plain.append(time.thread_time() - begin)
        plain_nodes += int(nodes[0])
    mine = [ours[id(d)] for d in games]
    rate = int(answers[1].sum()) / sum(mine)

    def mean(ask: Callable[[], object], n: int) -> float:
        return cpu(ask) / n

    tried = positions(few)
    return [
        Row("nodes", rate, plain_nodes / sum(plain), "nodes/s"),
        Row("start 61 mean", MS * statistics.mean(start), None, "ms"),
        Row("start 61 median", MS * statistics.median(start), None, "ms"),
        Row("start 61 mean, no nulls", MS * statistics.mean(mine), MS * statistics.mean(plain), "ms"),
        Row("start 61 median, no nulls", MS * statistics.median(mine), MS * statistics.median(plain), "ms"),
        Row("start all-moves mean", MS * mean(lambda: solver.moves_at_least(every, WIN), len(deals)), None, "ms"),
        Row(
            f"start all-moves mean, {len(few)} games",
            MS * mean(lambda: solver.moves_at_least(tried, WIN), len(few)),
            MS * mean(lambda: [solver.plain_at_least(positions(children(d)), WIN) for d in few], len(few)),
            "ms",
        ),
        Row("start exact mean", MS * mean(lambda: solver.exact(every), len(deals)), None, "ms"),
        Row(
            f"start exact mean, {len(few)} games",
            MS * mean(lambda: solver.exact(tried), len(few)),
            MS * mean(lambda: [bisect(d) for d in few], len(few)),
            "ms",
        ),
        Row(
            "after 5 tricks 61 mean",
            MS * measure(lambda: mean(lambda: solver.at_least(later, WIN), len(games)), 5)[0],
            MS * mean(lambda: solver.plain_at_least(later, WIN), len(games)),
            "ms",
        ),
        Row(
            "after 5 tricks exact mean",
            MS * measure(lambda: mean(lambda: solver.exact(later), len(games)), 5)[0],
            MS * mean(lambda: [bisect(d) for d in endings], len(games)),
            "ms",
        ),
    ]


def cpu(run: Callable[[], object]) -> float:
    """CPU seconds of this thread for one call."""
    begin = time.thread_time()
    run()
    return time.thread_time() - begin


def bisect(deal: Deal) -> int:
    """The soloist's points at the end, by the baseline."""
    at, low, high = positions([deal]), deal.points[0], 120 - deal.points[1]
    while low < high:
        middle = (low + high + 1) // 2
        if solver.plain_at_least(at, middle)[0][0]:
            low = middle
        else:
            high = middle - 1
    return low


def positions(deals: list[Deal]) -> Any:
    """The solver's view of a batch."""
    return solver.Positions(
        np.array([d.kind for d in deals], np.int8),
        np.array([d.soloist for d in deals], np.int8),
        np.array([[sum(1 << c for c in hand) for hand in d.hands] for d in deals], np.uint32),
        np.array([[*d.trick, -1, -1][:2] for d in deals], np.int8),
        np.array([d.leader for d in deals], np.int8),
        np.array([d.points for d in deals], np.int16),
    )


def children(deal: Deal) -> list[Deal]:
    """The positions after each legal card."""
    hand = deal.hands[(deal.leader + len(deal.trick)) % 3]
    same = [c for c in hand if deal.trick and deal.suit(c) == deal.suit(deal.trick[0])]
    return [deal.play(c) for c in same or hand]


def after(deals: list[Deal], tricks: int) -> list[Deal]:
    """The deals after some tricks; who is on turn plays at random among the cards that keep a won game won."""
    rng = random.Random(SEED)
    for _ in range(3 * tricks):
        kept, _ = solver.moves_at_least(positions(deals), WIN)
        played = []
        for deal, row in zip(deals, kept):
            mine = (deal.leader + len(deal.trick)) % 3 == deal.soloist
            good = np.flatnonzero(row == int(mine))
            played.append(deal.play(int(rng.choice(good if good.size else np.flatnonzero(row >= 0)))))
        deals = played
    return deals


# ---- deals: a stand-in for a player who bids ----


def declared(n: int, seed: int) -> list[Deal]:
    """n deals that somebody plays, forehand leading: the seat, the game and the discard of the strongest hand."""
    out = []
    rng = random.Random(seed)
    while len(out) < n:
        deck = list(range(32))
        rng.shuffle(deck)
        best: tuple[Any, ...] = (0.0,)
        for seat, kind in itertools.product(range(3), range(6)):
            twelve = deck[10 * seat : 10 * seat + 10] + deck[30:]
            loose = [c for c in twelve if kind == NULL or (c // 8 != kind and c % 8 != 7)]
            for pair in itertools.combinations(loose, 2):
                ten = [c for c in twelve if c not in pair]
                value = strength(ten, kind, seat == 0)
                value += 0.04 * sum(POINTS[c % 8] for c in pair) * (kind != NULL)
                if value > best[0]:
                    best = (value, kind, seat, ten, pair)
        if len(best) > 1:
            _, kind, seat, ten, pair = best
            hands = [ten if p == seat else deck[10 * p : 10 * p + 10] for p in range(3)]
            out.append(Deal(kind, seat, hands, [sum(POINTS[c % 8] for c in pair), 0]))
    return out


def strength(cards: list[int], kind: int, leads: bool) -> float:
    """How good a soloist's ten cards are, 0 and above for a game that is declared; four in five of these are won."""
    suits = [[c % 8 for c in cards if c // 8 == s and (kind == NULL or c % 8 != 7)] for s in range(4)]
    if kind == NULL:
        value = 2.2
        for suit in suits:
            gaps = [max(0, r - 2 * i) for i, r in enumerate(sorted(NULL_ORDER[r] for r in suit))]
            value -= (gaps[0] + 0.7 * sum(gaps[1:]) if gaps else 0) * (0.5 if len(suit) > 3 else 1)
        return value
    jacks = [c // 8 for c in cards if c % 8 == 7]
    value = 0.3 * leads + sum(0.45 + 0.12 * jack for jack in jacks)
    for s, suit in enumerate(suits):
        ace, ten = 6 in suit, 5 in suit
        if s == kind:
            value += len(suit) + 0.4 * ace + 0.3 * ten
            continue
        value += 1.1 * ace + (0.8 if ace else 0.35 * (len(suit) > 1)) * ten + 0.35 * (not suit)
        value -= 0.15 * max(0, len(suit) - 2) * (not ace)
        value += 0.35 * max(0, len(suit) - 2) * (ace and kind == GRAND)
    return value + (1.8 * len(jacks) + 0.4 * (3 in jacks) - 6.0 if kind == GRAND else len(jacks) - 7.9)


if __name__ == "__main__":
    main()
