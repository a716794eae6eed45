"""Values of cards in sampled worlds of Skat, by the solver, to explain what PIMC sees."""

from __future__ import annotations

from typing import Any

from trickformer import _core
from trickformer.base import World, Worlds
from trickformer.games import _skat_open
from trickformer.games.skat import NULL, PLAYERS, TRICKS

WORLDS = 20  # number of worlds to solve


def evaluate_worlds(worlds: Worlds, n: int, legal: tuple[int, ...], seeger: bool) -> tuple[World, ...]:
    """Solve worlds with open cards.

    Args:
        worlds: Worlds during card play.
        n: Number of worlds to solve, the first ones.
        legal: Legal cards.
        seeger: Whether scores are tournament points (extended Seeger-Fabian).

    Returns:
        The worlds, with v(o) of the game after each legal card.
    """
    solved = []
    for i in range(n):
        state: Any = worlds.state(i)
        core, me = state.core, state.current_player()
        values, _ = _core.skat_solver.moves_exact(_skat_open.position(state))
        ends = {card: _compute_result(state, int(values[0, card])) for card in legal}
        worth = {card: _skat_open.margin(result, me, seeger) / 100 for card, result in ends.items()}
        solved.append(World((*(tuple(core.hand(p)) for p in range(PLAYERS)), tuple(core.skat)), worth))
    return tuple(solved)


def _compute_result(state: Any, points: int) -> _core.skat.Result:
    """Return the result if the soloist ends with these card points.

    All 120 points or none count as schwarz, as in cpp/skat/pimc.hpp.
    """
    core = state.core
    if core.kind == NULL:  # points: 1 without a trick from here on
        return _skat_open.settle_game(state, 0, core.soloists_tricks + (points == 0))
    return _skat_open.settle_game(state, points, {_skat_open.ALL: TRICKS, 0: 0}.get(points, TRICKS // 2))
