"""Hands for training: uniformly random ones, and hands among models (GO-MCTS paper, sections 5.2 and 6.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trickformer import _core
from trickformer.games.hearts import PLAYERS, Hearts
from trickformer.models.decide import argmax_val, sample
from trickformer.models.engine import Engine
from trickformer.selfplay.train import Sequences
from trickformer.tokenizers import hearts as tokens_of_hearts


def random_hands(game: Hearts, seed: int, n: int) -> Sequences:
    """One sequence of each of `n` uniformly random hands, seen from seat 0, 1, 2, 3, 0, ..."""
    table = tokens_of_hearts.make(game).table
    history, scores = _core.hearts.random_hands(_core.hearts.Rules(**game.rules), seed, 0, n)
    # Four hands in a row have the four pass directions: the seat moves on after each such group.
    seats = (np.arange(n) // 4 % PLAYERS).astype(np.uint8)
    return Sequences(_core.hearts.encode(history, seats), table.outcomes(scores, seats))


def model_hands(
    game: Hearts,
    engines: Sequence[Engine],
    seats: np.ndarray,
    greedy: np.ndarray,
    seed: int,
    first: int,
    threshold: float = 0.05,
) -> tuple[Sequences, np.ndarray]:
    """Play one hand a row of `seats`, all in step.

    engines: one for each model. seats: int [n, 4], the model in each seat. greedy: bool [n, 4], who plays
    ArgmaxVal* with this threshold; the others sample their policy. seed, first: hands `first` .. of a series
    are dealt. Returns the sequences of all greedy seats, and scores int8 [n, 4]."""
    n = len(seats)
    tables = _core.hearts.Tables(tokens_of_hearts.make(game).table, seed, first, n)
    rng = np.random.default_rng([seed, first])
    node = np.full((n, PLAYERS), -1, dtype=np.int32)  # the last node of each seat's sequence
    fed = np.zeros((n, PLAYERS), dtype=np.int32)  # how many of its tokens that node's engine has
    tokens, lengths = tables.tokens, tables.lengths
    every = np.arange(tokens.shape[2])
    while True:
        turn = tables.current().astype(np.int64)
        live = np.flatnonzero(turn >= 0)
        if not len(live):
            break
        legal, cards = tables.legal(), np.empty(n, dtype=np.int32)
        for model, engine in enumerate(engines):
            at = live[seats[live, turn[live]] == model]
            if not len(at):
                continue
            seat = turn[at]
            new = (every >= fed[at, seat][:, None]) & (every < lengths[at, seat][:, None])
            count = new.sum(axis=1).astype(np.int32)
            grown = np.flatnonzero(count)  # of a pass, the second card may follow on what is fed already
            nodes = engine.extend(node[at, seat][grown], tokens[at, seat][new], count[grown])
            node[at[grown], seat[grown]] = nodes[np.cumsum(count[grown]) - 1]
            fed[at, seat] += count
            logits = engine.policy(node[at, seat])
            chosen = sample(logits, legal[at], rng)
            best = np.flatnonzero(greedy[at, seat])
            if len(best):
                decided = argmax_val(engine, node[at, seat][best], logits[best], legal[at][best], threshold)
                chosen[best] = decided.tokens
                # The chosen branch is what the seat will see next: it need not be computed again.
                node[at[best], seat[best]] = decided.nodes
                fed[at[best], seat[best]] += 1
            cards[at] = chosen
        tables.step(live.astype(np.int32), cards[live])
    for engine in engines:
        engine.reset()
    kept = tokens.reshape(n * PLAYERS, -1)[greedy.reshape(-1)].astype(np.int16)
    return Sequences(kept, tables.outcomes()[greedy]), tables.scores()
