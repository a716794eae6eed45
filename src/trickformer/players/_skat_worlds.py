"""What each card is worth in sampled worlds of Skat, by the solver: for those who look at what PIMC sees."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import World, Worlds
from trickformer.games.skat import NULL, NUM_CARDS, PLAYERS, POINTS, RANKS, TRICKS

WORLDS = 20  # that are solved


def valued(worlds: Worlds, n: int, legal: tuple[int, ...], seeger: bool) -> tuple[World, ...]:
    """The first n worlds, at the play, with v(o) of the game after each legal card under open best play."""
    found = []
    for i in range(n):
        state: Any = worlds.state(i)
        core, me = state.core, state.current_player()
        values, _ = _core.skat_solver.moves_exact(_position(core, state.trick))
        hands = [tuple(core.hand(p)) for p in range(PLAYERS)]
        cards = [c for c in range(NUM_CARDS) if c in core.skat or c in hands[core.soloist]]
        cards += [card for seat, card in state.plays if seat == core.soloist]
        worth = {card: _worth(core, cards, int(values[0, card]), me, seeger) for card in legal}
        found.append(World((*hands, tuple(core.skat)), worth))
    return tuple(found)


def _position(core: Any, trick: list[tuple[int, int]]) -> Any:
    lying = [card for _, card in trick]
    mine = core.soloists_points + _points(core.skat)
    left = _points([c for p in range(PLAYERS) for c in core.hand(p)] + lying)
    return _core.skat_solver.Positions(
        np.array([core.kind], np.int8),
        np.array([core.soloist], np.int8),
        np.array([[sum(1 << c for c in core.hand(p)) for p in range(PLAYERS)]], np.uint32),
        np.array([[*lying, -1, -1][:2]], np.int8),
        np.array([core.leader], np.int8),
        np.array([(mine, 120 - mine - left)], np.int16),
    )


def _points(cards: list[int]) -> int:
    return sum(POINTS[RANKS[card % len(RANKS)]] for card in cards)


def _worth(core: Any, cards: list[int], points: int, seat: int, seeger: bool) -> float:
    """v(o) for a seat, where the soloist of these cards ends with these card points; schwarz is taken to mean all 120
    or none of them, as in cpp/skat/pimc.hpp."""
    if core.kind == NULL:  # points: 1 without a trick from here on
        points, tricks = 0, core.soloists_tricks + (points == 0)
    else:
        tricks = {120: TRICKS, 0: 0}.get(points, TRICKS // 2)
    result = _core.skat.settle(
        kind=core.kind,
        hand=core.is_hand,
        level=core.level,
        bid=core.bid,
        soloist=core.soloist,
        soloists_cards=cards,
        points=points,
        tricks=tricks,
    )
    scores = result.scores(seeger)
    return (scores[seat] - (sum(scores) - scores[seat]) / (PLAYERS - 1)) / 100
