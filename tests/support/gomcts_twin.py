"""Twin of the search in plain Python: Algorithm 3 of the GO-MCTS paper, function by function, without batches.

Tests compare the core with it, and the benchmark measures against it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from trickformer.base import Tokenizer, Tracker
from trickformer.gomcts.options import SearchOptions

MASK = (1 << 64) - 1


def mix(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


class SplitMix:
    """The core's random numbers (Steele, Lea & Flood 2014), so that both sample the same tokens."""

    def __init__(self, seed: int, stream: int):
        self.state = mix(seed) ^ mix((mix(stream) + 0x9E3779B97F4A7C15) & MASK)

    def uniform(self) -> float:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        return (mix(self.state) >> 11) * 2.0**-53


@dataclass
class Twin:
    """Algorithm 3, function by function, over tuples of tokens."""

    tokenizer: Tokenizer
    # Maps a sequence to logits [V], values [players], own first, and action values [V] if an option needs them.
    model: Callable
    outcome_values: np.ndarray
    options: SearchOptions
    seed: int
    tree: dict = field(default_factory=dict)
    illegal: int = 0

    def run(self, root: tuple[int, ...]) -> dict[int, list]:
        for run in range(self.options.runs):
            self.rng = SplitMix(self.seed, run)
            h = root
            while not self.over(h):
                if not self.tracker(h).my_turn():
                    h = (*h, self.sample(h))
                elif h in self.tree:
                    h = (*h, self.select(h))
                else:
                    if self.tracker(h).legal().any():
                        self.expand(h)
                    h = self.rollout(h)
                    break
            self.backup(h, root)
        return self.tree[root]

    def tracker(self, h) -> Tracker:
        return self.tokenizer.tracker(np.array(h))

    def over(self, h) -> bool:
        tracker = self.tracker(h)
        return tracker.terminal()

    def sample(self, h) -> int:
        logits = self.model(h)[0].astype(np.float64)
        allowed = self.tracker(h).possible() if self.options.legal else np.ones(len(logits), dtype=bool)
        if self.options.legal and allowed.sum() == 1:
            return int(allowed.argmax())
        weights = np.where(allowed, np.exp((logits - logits[allowed].max()) * (1 / self.options.temperature)), 0.0)
        left = self.rng.uniform() * sum(weights.tolist())
        for token in np.flatnonzero(weights):
            left -= weights[token]
            if left < 0:
                break
        return int(token)

    def select(self, h) -> int:
        children = self.tree[h]
        total = sum(visits for _, visits in children.values())
        best, best_score = None, -math.inf
        for action, (value, visits) in children.items():
            score = value / visits + self.options.c * math.sqrt(math.log(total) / visits)
            if score > best_score:
                best, best_score = action, score
        return best

    def likely_actions(self, h) -> list[int]:
        legal = np.flatnonzero(self.tracker(h).legal())
        logits = self.model(h)[0].astype(np.float64)[legal]
        policy = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
        actions = [int(a) for a, p in zip(legal, policy) if p > self.options.threshold]
        return actions or [int(legal[policy.argmax()])]

    def expand(self, h) -> None:
        actions = self.likely_actions(h)
        if self.options.action_values:
            self.tree[h] = {a: [float(self.model(h)[2][a]), 1] for a in actions}
        else:
            self.tree[h] = {a: [float(self.model((*h, a))[1][0]), 1] for a in actions}

    def rollout(self, h):
        steps = self.options.steps
        while steps > 0 and not self.over(h):
            tracker = self.tracker(h)
            if self.options.rollout_action_values and tracker.my_turn() and tracker.legal().any():
                action_values = self.model(h)[2]
                h = (*h, max(self.likely_actions(h), key=lambda action: action_values[action]))
            else:
                h = (*h, self.sample(h))
            if self.tracker(h).my_turn():
                steps -= 1
        return h

    def backup(self, h, root) -> None:
        tracker = self.tracker(h)
        legal = True
        if self.over(h):
            legal = tracker.is_legal()
            value = float(self.outcome_values[tracker.outcome(), 0]) if legal else 0.0
        elif self.options.leaf_action_values and tracker.my_turn():
            value = max((float(self.model(h)[2][a]) for a in np.flatnonzero(tracker.legal())), default=0.0)
        else:
            value = float(self.model(h)[1][0])
        self.illegal += not legal
        while len(h) > len(root):
            h, action = h[:-1], h[-1]
            if h in self.tree and action in self.tree[h]:
                child = self.tree[h][action]
                if legal:
                    child[0] += value
                    child[1] += 1
                else:
                    child[0] -= self.options.mu
