"""The forward algorithm against sums over whole paths, on tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from trickformer.belief.markov import Tabular, forward


def path_sums(start, transition, emission, ys, zs) -> list[np.ndarray]:
    """The belief after each emission by summing over every path of states."""
    found = []
    states = range(len(start))
    for t in range(len(ys)):
        total = np.zeros(len(start))
        for path in product(states, repeat=t + 1):
            p = start[path[0]] * emission[path[0], ys[0]]
            for s in range(t):
                p *= transition[zs[s], path[s], path[s + 1]] * emission[path[s + 1], ys[s + 1]]
            total[path[-1]] += p
        found.append(total / total.sum())
    return found


@pytest.mark.parametrize("seed", range(5))
def test_forward_equals_sums_over_paths(seed):
    rng = np.random.default_rng(seed)
    states, emissions, controls, steps = 3, 4, 2, 5
    start = rng.dirichlet(np.ones(states))
    transition = rng.dirichlet(np.ones(states), (controls, states))
    emission = rng.dirichlet(np.ones(emissions), states)
    ys, zs = rng.integers(emissions, size=steps).tolist(), rng.integers(controls, size=steps - 1).tolist()
    process = Tabular(start, transition, emission)
    for belief, exact in zip(forward(process, ys, zs), path_sums(start, transition, emission, ys, zs)):
        ours = np.zeros(states)
        for x, p in belief:
            ours[x] = p
        np.testing.assert_allclose(ours, exact, atol=1e-12, err_msg=f"seed {seed}")


def test_emissions_that_cannot_be():
    process = Tabular(np.array([1.0, 0.0]), np.eye(2)[None], np.eye(2))
    with pytest.raises(ValueError, match="emission 1 has probability 0"):
        list(forward(process, [0, 1], [0]))
    with pytest.raises(ValueError, match="one control between"):
        list(forward(process, [0, 1], []))
