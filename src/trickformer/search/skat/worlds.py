"""What each card is worth in sampled worlds of Skat, by the solver: for those who look at what PIMC sees."""

from __future__ import annotations

from typing import Any

from trickformer import _core
from trickformer.base import World, Worlds
from trickformer.games import _skat_open
from trickformer.games.skat import NULL, PLAYERS, TRICKS

WORLDS = 20  # that are solved


def evaluate_worlds(worlds: Worlds, n: int, legal: tuple[int, ...], seeger: bool) -> tuple[World, ...]:
    """The first n worlds, at the play, with v(o) of the game after each legal card under open best play."""
    found = []
    for i in range(n):
        state: Any = worlds.state(i)
        core, me = state.core, state.current_player()
        values, _ = _core.skat_solver.moves_exact(_skat_open.position(state))
        ends = {card: _compute_result(state, int(values[0, card])) for card in legal}
        worth = {card: _skat_open.margin(result, me, seeger) / 100 for card, result in ends.items()}
        found.append(World((*(tuple(core.hand(p)) for p in range(PLAYERS)), tuple(core.skat)), worth))
    return tuple(found)


def _compute_result(state: Any, points: int) -> _core.skat.Result:
    """The result where the soloist ends with these card points; schwarz is taken to mean all 120 or none of them, as
    in cpp/skat/pimc.hpp."""
    core = state.core
    if core.kind == NULL:  # points: 1 without a trick from here on
        return _skat_open.settle_game(state, 0, core.soloists_tricks + (points == 0))
    return _skat_open.settle_game(state, points, {_skat_open.ALL: TRICKS, 0: 0}.get(points, TRICKS // 2))
