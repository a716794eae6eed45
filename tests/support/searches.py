"""Inputs of searches in tests: a backend that is a function of the sequence, and views at own turns."""

from __future__ import annotations

import random

import numpy as np
from support.play import random_playout


class FakeBackend:
    """A backend whose answers are a fixed function of the sequence. `bias` is added to the logits of tokens that
    some deal allows: at 0 almost every history is illegal, at 9 few are."""

    n_features = 0

    def __init__(self, tokenizer, bias: float, seats: int = 4):
        self.tokenizer, self.bias, self.seats = tokenizer, bias, seats
        self.sequences: dict[int, tuple[int, ...]] = {}
        self.calls = self.next = 0

    def root(self, tokens) -> int:
        self.sequences[self.next] = tuple(int(t) for t in tokens)
        self.next += 1
        return self.next - 1

    def extend(self, parents, tokens, lengths=None, features=None):
        self.calls += 1
        return np.array([self.root((*self.sequences[int(p)], int(t))) for p, t in zip(parents, tokens)], dtype=np.int32)

    def model(self, sequence: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng([7, *sequence])
        logits = rng.normal(scale=1.5, size=len(self.tokenizer.vocab)).astype(np.float32)
        possible = self.tokenizer.tracker(np.array(sequence)).possible()
        return logits + np.float32(self.bias) * possible, rng.uniform(-0.5, 0.5, size=self.seats).astype(np.float32)

    def policy(self, nodes):
        rows = [self.model(self.sequences[int(n)])[0] for n in nodes]
        return np.array(rows, dtype=np.float32).reshape(len(nodes), len(self.tokenizer.vocab))

    def values(self, nodes):
        return np.array([self.model(self.sequences[int(n)])[1] for n in nodes], dtype=np.float32).reshape(
            -1, self.seats
        )

    def release(self, nodes):
        for node in nodes:
            del self.sequences[int(node)]


def own_turns(game, n, seed):
    """Views at own turns with a choice."""
    rng, found = random.Random(seed), []
    while len(found) < n:
        states = [s for s in random_playout(game.deal(seed, rng.randrange(100)), rng) if not s.is_terminal()]
        state = rng.choice(states)
        if not state.is_chance_node():
            view = game.view(state, state.current_player())
            found += [view] if len(view.legal) > 1 else []
    return found
