"""ArgmaxVal* by its definition (GO-MCTS paper, equations 2 and 3), row by row in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trickformer.models import decide

V = 9  # tokens


class Table:
    """A backend of one step: what is worth what after which token is a table. Notes which nodes are alive."""

    def __init__(self, values: np.ndarray, n_features: int = 0, has_action_values: bool = False):
        self.worth = values  # [n, V], coarse, so that there are ties
        self.n_features, self.has_action_values = n_features, has_action_values
        self.made: list[tuple[int, int]] = []
        self.alive: set[int] = set()

    def extend(self, parents, tokens, lengths=None, features=None):
        first = len(self.made)
        assert lengths is None
        if self.n_features:
            assert np.array_equal(features, features_of(parents, tokens))
        else:
            assert features is None
        self.made += [(int(p), int(t)) for p, t in zip(parents, tokens)]
        self.alive |= set(range(first, len(self.made)))
        return np.arange(first, len(self.made), dtype=np.int32)

    def values(self, nodes):
        own = np.array([self.worth[self.made[n]] for n in nodes], dtype=np.float32)
        return np.stack([own, -own, 0 * own], axis=1)

    def action_values(self, nodes):
        return self.worth[nodes].astype(np.float32)

    def release(self, nodes):
        self.alive -= {int(n) for n in nodes}


def features_of(rows, tokens):
    return np.stack([rows, tokens, np.ones(len(rows))], axis=1).astype(np.float32)


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
    backend = Table(worth)
    decided = decide.argmax_val(backend, np.arange(n, dtype=np.int32), logits, legal, threshold)
    expected = [by_definition(logits[i], legal[i], worth[i], threshold) for i in range(n)]
    assert decided.tokens.tolist() == expected
    assert np.array_equal(decided.values, worth[np.arange(n), expected].astype(np.float32))
    for may, row, looked, probs in zip(legal, worth, decided.token_values, decide.legal_policy(logits, legal)):
        candidates = np.flatnonzero(~np.isnan(looked))
        assert candidates.tolist() == (np.flatnonzero(may & (probs >= threshold)).tolist() or [int(probs.argmax())])
        assert np.array_equal(looked[candidates], row[candidates].astype(np.float32))
    # The chosen branches live on, and no other.
    assert [backend.made[node] for node in decided.nodes] == list(enumerate(expected))
    assert backend.alive == set(decided.nodes.tolist())

    # A model with features is told what is known behind each token; one with action values is fed nothing.
    knowing = Table(worth, n_features=3)
    same = decide.argmax_val(knowing, np.arange(n, dtype=np.int32), logits, legal, threshold, features_of)
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(same, decided, strict=True))
    assert knowing.made == backend.made
    without = decide.argmax_val(Table(worth), np.arange(n, dtype=np.int32), logits, legal, threshold, features_of)
    assert np.array_equal(without.tokens, decided.tokens)  # a model that takes no features is given none
    for n_features in (0, 3):
        acting = Table(worth, n_features, has_action_values=True)
        found = decide.argmax_val(acting, np.arange(n, dtype=np.int32), logits, legal, threshold, features_of)
        assert found.tokens.tolist() == expected
        assert np.array_equal(found.values, decided.values)
        assert found.nodes is None and not acting.made
        assert np.array_equal(found.token_values, np.where(legal, worth, np.nan).astype(np.float32), equal_nan=True)


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
