"""Observation sequences. One module a game, named like the game; each exports `make(game) -> Tokenizer`."""

from __future__ import annotations

import importlib
import pkgutil

import numpy as np

from trickformer.base import Game, Tokenizer, UnknownNameError

NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def make(game: Game) -> Tokenizer:
    """The tokenizer of a game. Raises UnknownNameError for a game that has none."""
    if game.name not in NAMES:
        raise UnknownNameError("tokenizer", game.name, NAMES)
    return importlib.import_module(f"{__name__}.{game.name}").make(game)


def follow(tokenizer: Tokenizer, tokens: np.ndarray, possible: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """What the tracker says along sequences: the facts float32 [n, T, F] after each token and, if `possible`, the
    tokens that some deal allows next, bool [n, T, V] ([0, T, V] otherwise). Both are 0 from the end token on.

    tokens: integers [n, T], filled up with the end token."""
    from trickformer import _core

    start = tokenizer.tracker(np.empty(0, np.int32))
    lengths = (tokens != tokenizer.eos).sum(axis=1).astype(np.int32)
    if isinstance(start, _core.Tracker):
        return _core.follow(start, np.ascontiguousarray(tokens, np.int16), lengths, possible)
    n, length = tokens.shape
    facts = np.zeros((n, length, tokenizer.n_facts), np.float32)
    allowed = np.zeros((n if possible else 0, length, len(tokenizer.vocab)), bool)
    for i in range(n):
        tracker = start.copy()
        for t in range(lengths[i]):
            tracker.push(int(tokens[i, t]))
            facts[i, t] = tracker.facts()
            if possible:
                allowed[i, t] = tracker.possible()
    return facts, allowed


def facts_of(tokenizer: Tokenizer, tokens: np.ndarray) -> np.ndarray:
    """The facts after each token of one sequence: integers [T] -> float32 [T, F]."""
    return follow(tokenizer, tokens[None])[0][0]
