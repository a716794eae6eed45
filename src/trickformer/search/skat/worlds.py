"""Sampled worlds of Skat, and the values of cards in them, computed by the solver to explain decisions of PIMC."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import World, Worlds
from trickformer.games import _skat_open
from trickformer.games.skat import NULL, PLAYERS, TRICKS, evaluation

WORLDS = 20  # largest number of worlds in an explanation
OVERSAMPLE = 32  # if worlds are weighted: number of worlds drawn for each one that is used


class WorldWeights:
    """Weights of worlds by the others' bids, discards and declarations, or equal weights."""

    def __init__(self, weighted: bool, seeger: bool):
        """Load the evaluation of hands.

        Args:
            weighted: Whether worlds are weighted.
            seeger: Whether scores are tournament points (extended Seeger-Fabian).
        """
        self.oversample = OVERSAMPLE if weighted else 0
        self.evaluation, self.model = evaluation(), _core.skat_search.BidModel()
        self._seeger = seeger

    def draw(self, sampler: _core.skat.DealSampler, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw worlds in proportion to their weights.

        Args:
            sampler: Samples the worlds that are weighted.
            n: Number of worlds.
            rng: Source of all randomness.

        Returns:
            int16 [n, 34], rows of `SkatWorlds.hidden`.
        """
        seed = int(rng.integers(2**63))
        sample = _core.skat_search.draw_worlds(
            sampler, self.evaluation, self.model, self._seeger, n, self.oversample, seed
        )
        weight, hidden = sample[1], sample[4]
        # Systematic resampling: if all weights are equal, each world is chosen once.
        chosen = np.searchsorted(np.cumsum(weight), (np.arange(n) + rng.random()) / n).clip(max=len(hidden) - 1)
        return hidden[rng.permutation(chosen)]


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
        results = {card: _compute_result(state, int(values[0, card])) for card in legal}
        card_values = {card: _skat_open.margin(result, me, seeger) / 100 for card, result in results.items()}
        solved.append(World((*(tuple(core.hand(p)) for p in range(PLAYERS)), tuple(core.skat)), card_values))
    return tuple(solved)


def _compute_result(state: Any, points: int) -> _core.skat.Result:
    """Return the result of the game from the solver's value of a card for the soloist.

    In suit and grand games the value is the soloist's final card points. The solver does not count tricks, so all 120
    points or none are taken for schwarz, as in cpp/skat/pimc.hpp. In null games the value is 1 if the soloist takes no
    further trick, else 0.
    """
    core = state.core
    if core.kind == NULL:
        return _skat_open.settle_game(state, 0, core.soloists_tricks + (points == 0))
    return _skat_open.settle_game(state, points, {_skat_open.ALL: TRICKS, 0: 0}.get(points, TRICKS // 2))
