"""Hands for training (GO-MCTS paper, sections 5.2 and 6.1): uniformly random, of named players, or among models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trickformer import players, tokenizers
from trickformer.base import Game
from trickformer.models.decide import argmax_val, draw, legal_policy
from trickformer.models.engine import Engine
from trickformer.selfplay.data import Sequences

if TYPE_CHECKING:
    from trickformer.tournaments.store import Record


@dataclass(frozen=True, slots=True)
class Roles:
    """Who plays, and whose sequences are kept, in n hands."""

    model: np.ndarray  # int [n, players], the model in each seat
    greedy: np.ndarray  # bool [n, players], plays ArgmaxVal*; the others sample their policy
    kept: np.ndarray  # bool [n, players]


def kept_seats(first: int, n: int, count: int, seats: int) -> np.ndarray:
    """`count` of `seats` seats of each of the hands `first` .. `first` + n: bool [n, seats], as many in every row.

    Hearts' pass direction runs with the hand's number, so the first seat moves on after as many hands as there are
    seats."""
    offset = np.arange(first, first + n) // seats % seats
    return (np.arange(seats) - offset[:, None]) % seats < count


def cast_hands(
    game: Game, cast: Sequence[str], seed: int, first: int, n: int, seats: int = 1, tries: int = 1
) -> Sequences:
    """What `seats` seats see of each of the hands `first` .. `first` + n of a series, each seat's player drawn
    uniformly from the specs `cast` for the whole hand. By the core, where it can play all of them.

    tries: of every second hand, as many deals are played until the team succeeds, in a game that knows success."""
    tokenizer = tokenizers.make(game)
    kept = kept_seats(first, n, seats, game.players)
    found = tokenizer.core_hands(cast, seed, first, n, tries)
    if found is not None:
        return Sequences(*found(*np.nonzero(kept)))
    return _player_hands(game, cast, seed, first, kept)


def played(game: Game, cast: Sequence[str], seed: int, first: int, n: int) -> list[Record]:
    """The hands `first` .. `first` + n of a series, each seat's player drawn uniformly from the specs `cast`.

    Raises what players.make raises."""
    from trickformer.tournaments.play import play
    from trickformer.tournaments.schedule import Hand

    drawn = np.random.default_rng([seed, first]).integers(len(cast), size=(n, game.players))
    hands = [Hand(first + i, tuple(row)) for i, row in enumerate(drawn.tolist())]
    made = [players.make(spec, game) for spec in cast]
    ended = {record.deal: record for record in play(game, made, hands, seed, n)}
    return [ended[first + i] for i in range(n)]


def _player_hands(game: Game, cast: Sequence[str], seed: int, first: int, kept: np.ndarray) -> Sequences:
    tokenizer = tokenizers.make(game)
    records = played(game, cast, seed, first, len(kept))
    tokens, outcomes = [], []
    for hand, seat in zip(*np.nonzero(kept)):
        record = records[hand]
        state = game.spiel.new_initial_state()
        for action in record.history:
            state.apply_action(action)
        row = np.full(tokenizer.n_positions, tokenizer.eos)
        seen = tokenizer.encode(game.view(state, int(seat)))
        row[: len(seen)] = seen
        tokens.append(row)
        outcomes.append(game.outcomes.index[tuple(np.roll(record.scores, -seat).tolist())])
    return Sequences(np.array(tokens), np.array(outcomes))


def model_hands(
    game: Game, engines: Sequence[Engine], roles: Roles, seed: int, first: int, threshold: float = 0.05
) -> tuple[Sequences, np.ndarray]:
    """Play one hand a row of `roles`, all in step.

    engines: one for each model. seed, first: hands `first` .. of a series are dealt. threshold: of ArgmaxVal*.
    Returns the sequences of the kept seats, row by row, and scores int [n, players]."""
    seats, greedy, n = roles.model, roles.greedy, len(roles.model)
    tables = tokenizers.make(game).tables(seed, first, n)
    rng = np.random.default_rng([seed, first])
    node = np.full(seats.shape, -1, dtype=np.int32)  # the last node of each seat's sequence
    fed = np.zeros(seats.shape, dtype=np.int32)  # how many of its tokens that node's engine has
    tokens, lengths = tables.tokens, tables.lengths
    every = np.arange(tokens.shape[2])
    while True:
        turn = tables.current().astype(np.int64)
        live = np.flatnonzero(turn >= 0)
        if not len(live):
            break
        legal = tables.legal()
        actions = legal.argmax(axis=1).astype(np.int32)  # where a single one is legal, no model need be asked
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
            actions[at] = chosen
        tables.step(live.astype(np.int32), actions[live])
    for engine in engines:
        engine.reset()
    return Sequences(tokens[roles.kept], tables.outcomes()[roles.kept]), tables.scores()
