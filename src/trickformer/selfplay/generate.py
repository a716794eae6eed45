"""Hands for training (GO-MCTS paper, sections 5.2 and 6.1): uniformly random, of named players, or among models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trickformer import _core
from trickformer.base import Player
from trickformer.games.hearts import PLAYERS, Hearts
from trickformer.models.decide import argmax_val, draw, legal_policy
from trickformer.models.engine import Engine
from trickformer.selfplay.data import Sequences
from trickformer.tokenizers import hearts as tokens_of_hearts


@dataclass(frozen=True, slots=True)
class Roles:
    """Who plays, and whose sequences are kept, in n hands."""

    model: np.ndarray  # int [n, 4], the model in each seat
    greedy: np.ndarray  # bool [n, 4], plays ArgmaxVal*; the others sample their policy
    kept: np.ndarray  # bool [n, 4]


def kept_seats(first: int, n: int, count: int) -> np.ndarray:
    """`count` seats of each of the hands `first` .. `first` + n: bool [n, 4], the same number in every row.

    Hearts' pass direction runs with the hand's number mod 4, so the first seat moves on after each four hands."""
    offset = np.arange(first, first + n) // PLAYERS % PLAYERS
    return (np.arange(PLAYERS) - offset[:, None]) % PLAYERS < count


def random_hands(game: Hearts, seed: int, first: int, n: int, seats: int = 1) -> Sequences:
    """What `seats` of the four see of each of the hands `first` .. `first` + n of a series of random ones."""
    table = tokens_of_hearts.make(game).table
    history, scores = _core.hearts.random_hands(_core.hearts.Rules(**game.rules), seed, first, n)
    hand, seat = np.nonzero(kept_seats(first, n, seats))
    seat = seat.astype(np.uint8)
    return Sequences(_core.hearts.encode(history[hand], seat), table.outcomes(scores[hand], seat))


def player_hands(game: Hearts, cast: Sequence[Player], seed: int, first: int, n: int, seats: int = 1) -> Sequences:
    """The same of hands of players, each seat's drawn uniformly from `cast` for the whole hand."""
    from trickformer.tournaments.play import play
    from trickformer.tournaments.schedule import Hand

    tokenizer = tokens_of_hearts.make(game)
    drawn = np.random.default_rng([seed, first]).integers(len(cast), size=(n, PLAYERS))
    hands = [Hand(first + i, tuple(row)) for i, row in enumerate(drawn.tolist())]
    ended = {record.deal: record for record in play(game, cast, hands, seed, n)}
    tokens, outcomes = [], []
    for hand, seat in zip(*np.nonzero(kept_seats(first, n, seats))):
        record = ended[first + hand]
        state = game.spiel.new_initial_state()
        for action in record.history:
            state.apply_action(action)
        row = np.full(tokenizer.n_positions, tokenizer.eos)
        seen = tokenizer.encode(game.view(state, int(seat)))
        row[: len(seen)] = seen
        tokens.append(row)
        outcomes.append(game.outcomes.labels.index(tuple(np.roll(record.scores, -seat).tolist())))
    return Sequences(np.array(tokens), np.array(outcomes))


def model_hands(
    game: Hearts, engines: Sequence[Engine], roles: Roles, seed: int, first: int, threshold: float = 0.05
) -> tuple[Sequences, np.ndarray]:
    """Play one hand a row of `roles`, all in step.

    engines: one for each model. seed, first: hands `first` .. of a series are dealt. threshold: of ArgmaxVal*.
    Returns the sequences of the kept seats, row by row, and scores int8 [n, 4]."""
    seats, greedy, n = roles.model, roles.greedy, len(roles.model)
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
        legal = tables.legal()
        cards = legal.argmax(axis=1).astype(np.int32)  # where a single one is legal, no model need be asked
        choice = legal.sum(axis=1) > 1
        for model, engine in enumerate(engines):
            at = live[seats[live, turn[live]] == model]
            uniforms = rng.random(len(at))
            at, uniforms = at[choice[at]], uniforms[choice[at]]
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
            chosen = draw(legal_policy(logits, legal[at]), uniforms)
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
    kept = tokens.reshape(n * PLAYERS, -1)[roles.kept.reshape(-1)]
    return Sequences(kept, tables.outcomes()[roles.kept]), tables.scores()
