"""ArgmaxVal* by its definition (GO-MCTS paper, equations 2 and 3), row by row in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trickformer.models import decide

V = 9  # tokens


class Table:
    """An engine of one step: what is worth what after which token is a table. Notes which nodes are alive."""

    def __init__(self, values: np.ndarray):
        self.worth = values  # [n, V], coarse, so that there are ties
        self.made: list[tuple[int, int]] = []
        self.alive: set[int] = set()

    def extend(self, parents, tokens):
        first = len(self.made)
        self.made += [(int(p), int(t)) for p, t in zip(parents, tokens)]
        self.alive |= set(range(first, len(self.made)))
        return np.arange(first, len(self.made), dtype=np.int32)

    def values(self, nodes):
        own = np.array([self.worth[self.made[n]] for n in nodes], dtype=np.float32)
        return np.stack([own, -own, 0 * own], axis=1)

    def release(self, nodes):
        self.alive -= {int(n) for n in nodes}


def by_definition(logits: np.ndarray, legal: np.ndarray, worth: np.ndarray, threshold: float) -> int:
    """Equation 3, then equation 2, of one row."""
    total = sum(math.exp(float(logits[a])) for a in range(V) if legal[a])
    p = {a: math.exp(float(logits[a])) / total for a in range(V) if legal[a]}
    likely = [a for a in p if p[a] >= threshold] or [max(p, key=lambda a: p[a])]
    return max(likely, key=lambda a: (worth[a], -a))


@pytest.mark.parametrize("threshold", [0.0, 0.05, 0.3, 0.99])
def test_argmax_val_is_its_definition(threshold):
    rng = np.random.default_rng(7)
    n = 300
    logits = rng.normal(scale=2, size=(n, V)).astype(np.float32)
    legal = rng.random((n, V)) < 0.5
    legal[np.arange(n), rng.integers(V, size=n)] = True
    worth = rng.integers(-2, 3, size=(n, V)) / 4
    engine = Table(worth)
    decided = decide.argmax_val(engine, np.arange(n, dtype=np.int32), logits, legal, threshold)
    expected = [by_definition(logits[i], legal[i], worth[i], threshold) for i in range(n)]
    assert decided.tokens.tolist() == expected
    assert np.array_equal(decided.values, worth[np.arange(n), expected].astype(np.float32))
    # The chosen branches live on, and no other.
    assert [engine.made[node] for node in decided.nodes] == list(enumerate(expected))
    assert engine.alive == set(decided.nodes.tolist())


def test_draws_have_the_policys_frequencies():
    logits = np.array([0.5, -1.0, 2.0, 0.0], dtype=np.float32)
    legal = np.array([True, True, False, True])
    weights = [math.exp(x) if ok else 0.0 for x, ok in zip(logits.tolist(), legal.tolist())]
    n = 20_000
    probs = decide.legal_policy(np.tile(logits, (n, 1)), np.tile(legal, (n, 1)))
    assert probs[0] == pytest.approx(np.divide(weights, sum(weights)))
    drawn = decide.draw(probs, (np.arange(n) + 0.5) / n)
    counts = np.bincount(drawn, minlength=4)
    assert counts == pytest.approx(n * probs[0], abs=1)
    ends = decide.draw(probs[:2], np.array([0.0, np.nextafter(1.0, 0.0)]))
    assert ends.tolist() == [0, 3]
