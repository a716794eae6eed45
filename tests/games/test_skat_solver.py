"""The Skat solver against minimax over every line of play, against a plain search, and against itself."""

from __future__ import annotations

import numpy as np
import pytest

from trickformer import _core

solver = _core.skat_solver
NULL = 5
POINTS = np.array([0, 0, 0, 3, 4, 10, 11, 2])
# Kind, soloist, hands, trick, leader, points of the two sides.
Ending = tuple[int, int, list[list[int]], list[int], int, tuple[int, int]]


def suit_of(kind: int, card: int) -> int:
    """The suit that a card follows: 0 to 3, or 4 for trumps."""
    if kind != NULL and (card % 8 == 7 or card // 8 == kind):
        return 4
    return card // 8


def legal(kind: int, hand: list[int], trick: list[int]) -> list[int]:
    same = [c for c in hand if trick and suit_of(kind, c) == suit_of(kind, trick[0])]
    return same or list(hand)


def endings(n: int, cards: int, seed: int) -> list[Ending]:
    """n random positions of `cards` cards a hand, a third each between tricks and with one or two cards played."""
    rng = np.random.default_rng(seed)
    out: list[Ending] = []
    for i in range(n):
        kind, soloist, leader = i % 6, int(rng.integers(3)), int(rng.integers(3))
        deck = [int(c) for c in rng.permutation(32)]
        hands = [sorted(deck[cards * p : cards * (p + 1)]) for p in range(3)]
        trick: list[int] = []
        for k in range(int(rng.integers(3))):
            hand = hands[(leader + k) % 3]
            card = int(rng.choice(legal(kind, hand, trick)))
            hand.remove(card)
            trick.append(card)
        left = int(POINTS[[c % 8 for c in deck[3 * cards :]]].sum())
        mine = int(rng.integers(left + 1))
        out.append((kind, soloist, hands, trick, leader, (mine, left - mine)))
    return out


def positions(batch: list[Ending]) -> _core.skat_solver.Positions:
    bits = [[sum(1 << c for c in hand) for hand in e[2]] for e in batch]
    tricks = [(*e[3], -1, -1)[:2] for e in batch]
    return solver.Positions(
        np.array([e[0] for e in batch], np.int8),
        np.array([e[1] for e in batch], np.int8),
        np.array(bits, np.uint32).reshape(-1, 3),
        np.array(tricks, np.int8).reshape(-1, 2),
        np.array([e[4] for e in batch], np.int8),
        np.array([e[5] for e in batch], np.int16).reshape(-1, 2),
    )


def first_difference(a: np.ndarray, b: np.ndarray, batch: list[Ending], what: str) -> str:
    rows = np.flatnonzero((a != b).reshape(len(batch), -1).any(1))
    return "" if not rows.size else f"{what}: {batch[rows[0]]}: {a[rows[0]]} is not {b[rows[0]]} ({rows.size} endings)"


@pytest.mark.slow
@pytest.mark.parametrize(("cards", "n"), [(1, 600), (2, 1200), (3, 4200), (4, 3600), (5, 1800)])
def test_endings_equal_minimax(cards: int, n: int) -> None:
    seed = 100 + cards
    batch = endings(n, cards, seed)
    at = positions(batch)
    null = np.array([e[0] == NULL for e in batch])
    turn = np.array([(e[4] + len(e[3])) % 3 == e[1] for e in batch])

    def reduce(moves: np.ndarray) -> np.ndarray:
        return np.where(turn, np.where(moves < 0, -1, moves).max(1), np.where(moves < 0, 999, moves).min(1))

    points, tricks = solver.minimax_moves(at, tricks=False), solver.minimax_moves(at, tricks=True)
    illegal = points < 0
    expected = np.where(null[:, None], np.where(illegal, -1, points == 0), points)
    hint = f"seed {seed}, {cards} cards"
    moves, _ = solver.moves_exact(at)
    assert not (why := first_difference(moves, expected, batch, f"{hint}, moves_exact")), why
    value, _ = solver.exact(at)
    assert not (why := first_difference(value, reduce(expected), batch, f"{hint}, exact")), why

    thresholds = sorted({1, 31, 60, 61, 62, 90, 120, *np.random.default_rng(seed).integers(2, 120, 6).tolist()})
    for t in thresholds:
        reached = np.where(null[:, None], expected, np.where(illegal, -1, points >= t))
        moves, _ = solver.moves_at_least(at, t)
        assert not (why := first_difference(moves, reached, batch, f"{hint}, moves_at_least {t}")), why
        value, _ = solver.at_least(at, t)
        assert not (why := first_difference(value, reduce(reached), batch, f"{hint}, at_least {t}")), why
    for t in range(cards + 2):
        value, _ = solver.tricks_at_least(at, t)
        avoids = reduce(np.where(illegal, -1, tricks < t))  # what the soloist of a null wants
        taken = np.where(null, 1 - avoids, reduce(tricks) >= t)
        assert not (why := first_difference(value, taken, batch, f"{hint}, tricks_at_least {t}")), why


def by_hand(kind: int, soloist: int, hands: list[list[int]], trick: list[int], leader: int) -> int:
    """Points (null: tricks) that the soloist takes, in the plainest words; the twin's own rules are held to this."""
    if not any(hands) and not trick:
        return 0
    seat = (leader + len(trick)) % 3
    values = []
    for card in legal(kind, hands[seat], trick):
        rest = [[c for c in hand if c != card] for hand in hands]
        played = [*trick, card]
        if len(played) < 3:
            values.append(by_hand(kind, soloist, rest, played, leader))
            continue
        led = suit_of(kind, played[0])
        rank = [0, 1, 2, 5, 6, 3, 7, 4] if kind == NULL else [*range(7), 0]

        def force(c: int, led: int = led, rank: list[int] = rank) -> int:
            if kind != NULL and c % 8 == 7:
                return 100 + c // 8
            suit = suit_of(kind, c)
            return 50 + rank[c % 8] if suit == 4 else 10 + rank[c % 8] if suit == led else 0

        winner = (leader + max(range(3), key=lambda i: force(played[i]))) % 3
        gain = 1 if kind == NULL else int(POINTS[[c % 8 for c in played]].sum())
        values.append((gain if winner == soloist else 0) + by_hand(kind, soloist, rest, [], winner))
    return max(values) if (seat == soloist) != (kind == NULL) else min(values)


def test_minimax_equals_the_rules_told_plainly() -> None:
    batch = endings(240, 3, 7)
    moves = solver.minimax_moves(positions(batch), tricks=False)
    for (kind, soloist, hands, trick, leader, points), row in zip(batch, moves):
        seen = row[row >= 0]
        value = seen.max() if ((leader + len(trick)) % 3 == soloist) != (kind == NULL) else seen.min()
        expected = by_hand(kind, soloist, hands, trick, leader) + (points[0] if kind != NULL else 0)
        assert value == expected, (kind, soloist, hands, trick, leader, points)


def test_full_hands_agree_with_the_plain_search_and_with_themselves() -> None:
    seed = 11
    batch = [e for e in endings(48, 10, seed) if e[0] != NULL]
    at = positions(batch)
    exact, _ = solver.exact(at)
    hint = f"seed {seed}"
    for t in (31, 61, 90):
        value, _ = solver.at_least(at, t)
        assert not (why := first_difference(value, exact >= t, batch, f"{hint}, threshold {t}")), why
    for step in (0, 1):  # the value itself is reached, one point more is not
        for e, v in zip(batch[:12], exact[:12]):
            value, _ = solver.at_least(positions([e]), int(v) + step)
            assert value[0] == 1 - step, (hint, e)
    small = endings(120, 8, seed + 1)
    small = [e for e in small if e[0] != NULL]
    at = positions(small)
    for t in (45, 61, 75):
        value, _ = solver.at_least(at, t)
        plain, _ = solver.plain_at_least(at, t)
        assert not (why := first_difference(value, plain, small, f"seed {seed + 1}, threshold {t}")), why


def test_moves_and_value_agree_at_full_size() -> None:
    batch = endings(60, 10, 13)
    at = positions(batch)
    moves, _ = solver.moves_at_least(at, 61)
    value, _ = solver.at_least(at, 61)
    mine = np.array([(e[4] + len(e[3])) % 3 == e[1] for e in batch])
    best = np.where(mine, moves.max(1), np.where(moves < 0, 1, moves).min(1))
    assert not (why := first_difference(value, best, batch, "seed 13")), why
    schwarz, _ = solver.tricks_at_least(at, 10)
    all_points, _ = solver.at_least(at, 120)
    suits = np.array([e[0] != NULL and e[5][1] == 0 for e in batch])
    assert (all_points[suits] >= schwarz[suits]).all()


def test_results_and_nodes_do_not_depend_on_neighbours_or_threads() -> None:
    batch = endings(40, 7, 17)
    together = [solver.exact(positions(batch), threads=n) for n in (1, 3)]
    for a, b in zip(*together):
        assert (a == b).all()
    alone = [solver.exact(positions([e])) for e in batch]
    assert [int(v[0]) for v, _ in alone] == together[0][0].tolist()
    assert [int(n[0]) for _, n in alone] == together[0][1].tolist()
    assert solver.exact(positions([]))[0].shape == (0,)


def test_faulty_positions_are_refused() -> None:
    good = endings(1, 3, 1)[0]
    kind, soloist, hands, trick, leader, points = 0, 1, [[0, 1], [2, 3], [4, 5]], [], 0, (0, 0)
    assert len(positions([good])) == 1
    faulty: list[tuple[Ending, str]] = [
        ((6, soloist, hands, trick, leader, points), "kind"),
        ((kind, 3, hands, trick, leader, points), "seat"),
        ((kind, soloist, [[0, 1], [1, 3], [4, 5]], trick, leader, points), "occurs twice"),
        ((kind, soloist, [[0, 1], [2, 3], [4]], trick, leader, points), "sizes of the hands"),
        ((kind, soloist, [[], [], []], trick, leader, points), "1 to 10"),
        ((kind, soloist, hands, [6], leader, points), "sizes of the hands"),
        ((kind, soloist, hands, trick, leader, (121, 0)), "120"),
    ]
    for ending, word in faulty:
        with pytest.raises(ValueError, match=word):
            positions([ending])
