"""Many hands as states of OpenSpiel, for any game with a tokenizer. Fast forms in the core are much faster."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from trickformer.base import FastGame, Game, Tokenizer, deal_seed

if TYPE_CHECKING:
    from trickformer.base import State

NONE = -1  # padding of a history


def histories(rows: list[list[int]]) -> np.ndarray:
    """Pad histories to one length.

    Args:
        rows: Actions of each history.

    Returns:
        int32 [n, H], where H is the length of the longest history, padded with NONE.
    """
    padded = np.full((len(rows), max(map(len, rows), default=0)), NONE, np.int32)
    for row, actions in zip(padded, rows):
        row[: len(actions)] = actions
    return padded


class StateTables:
    """Tables of n hands of a series from number `first` on, dealt by `Game.deal`. Implements `base.Tables`."""

    def __init__(self, game: Game, tokenizer: Tokenizer, seed: int, first: int, n: int):
        self._game, self._tokenizer = game, tokenizer
        self._seed, self._first = seed, first
        self._states = [game.deal(seed, first + i) for i in range(n)]
        self.tokens = np.full((n, game.players, tokenizer.n_positions), tokenizer.eos, np.int32)
        self.lengths = np.zeros((n, game.players), np.int32)
        self._update_tokens(range(n))

    def __len__(self) -> int:
        return len(self._states)

    def current(self) -> np.ndarray:
        return np.array([-1 if s.is_terminal() else s.current_player() for s in self._states], np.int8)

    def legal(self) -> np.ndarray:
        legal = np.zeros((len(self), len(self._tokenizer.vocab)), bool)
        for row, state in zip(legal, self._states):
            if not state.is_terminal():
                row[[self._tokenizer.token(a) for a in state.legal_actions()]] = True
        return legal

    def step(self, tables: np.ndarray, actions: np.ndarray) -> None:
        for i, token in zip(tables.tolist(), actions.tolist(), strict=True):
            if not 0 <= i < len(self):
                raise IndexError("table out of range")
            state, action = self._states[i], self._tokenizer.action(token)
            if state.is_terminal() or action not in state.legal_actions():
                raise ValueError(f"token {token} is no legal action at table {i}")
            state.apply_action(action)
            while state.is_chance_node():
                state.apply_action(self._game.chance(state, self._seed, self._first + i))
        self._update_tokens(tables.tolist())

    def outcomes(self) -> np.ndarray:
        seats = range(self._game.players)
        outcomes = [[self._game.outcomes.of(row, seat) for seat in seats] for row in self.scores().tolist()]
        return np.array(outcomes, np.int32)

    def scores(self) -> np.ndarray:
        return np.array([self._game.scores(state) for state in self._states], np.int32)

    def history(self) -> np.ndarray:
        return histories([state.history() for state in self._states])

    def _update_tokens(self, tables: Iterable[int]) -> None:
        for i in tables:
            for seat in range(self._game.players):
                tokens = self._tokenizer.encode(self._game.view(self._states[i], seat))
                self.tokens[i, seat, : len(tokens)] = tokens
                self.lengths[i, seat] = len(tokens)


class StateGame(FastGame):
    """Generic form of any game with a tokenizer: it plays states of OpenSpiel.

    Histories are int32 [n, H], padded with NONE. Labels are values of random playouts from the true deal.
    """

    def __init__(self, game: Game, tokenizer: Tokenizer):
        self._game, self._tokenizer = game, tokenizer

    def tables(self, seed: int, first: int, n: int) -> StateTables:
        return StateTables(self._game, self._tokenizer, seed, first, n)

    def encode(self, history: np.ndarray, seats: np.ndarray) -> np.ndarray:
        tokens = np.full((len(history), self._tokenizer.n_positions), self._tokenizer.eos, np.int16)
        for row, actions, seat in zip(tokens, history, seats.tolist()):
            *_, state = self._replay(actions)
            encoded = self._tokenizer.encode(self._game.view(state, seat))
            row[: len(encoded)] = encoded
        return tokens

    def outcomes(self, scores: np.ndarray, seats: np.ndarray) -> np.ndarray:
        outcomes = [self._game.outcomes.of(row, seat) for row, seat in zip(scores.tolist(), seats.tolist())]
        return np.array(outcomes, np.int32)

    def labels(
        self,
        history: np.ndarray,
        seats: np.ndarray,
        seed: int,
        streams: np.ndarray,
        playouts: int,
        share: float,
        net: Any = None,
        worlds: bool = False,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        from trickformer.openspiel import playout

        if net is not None or worlds:
            raise ValueError(
                "labels of this game cannot use a rollout network or sampled worlds; leave out net and worlds"
            )
        counts, labels = [], []
        for actions, seat, stream in zip(history, seats.tolist(), streams.tolist()):
            rng, n_before = random.Random(deal_seed(seed, stream)), len(labels)
            for state in self._replay(actions):
                if state.is_terminal() or state.current_player() != seat:
                    continue
                legal = state.legal_actions()
                if len(legal) == 1 or rng.random() >= share:
                    continue
                position = len(self._tokenizer.encode(self._game.view(state, seat))) - 1
                for action in legal:
                    values = [playout(self._game, state.child(action), seat, rng) for _ in range(playouts)]
                    labels.append((position, self._tokenizer.token(action), sum(values) / playouts))
            counts.append(len(labels) - n_before)
        columns = np.array(labels, np.float64).reshape(-1, 3).T
        position, token = columns[:2].astype(np.int16)
        return np.array(counts, np.int32), position, token, columns[2].astype(np.float32)

    def _replay(self, actions: np.ndarray) -> Iterator[State]:
        """Yield the state before each action of a hand, then the last state. All are the same object, which changes."""
        state = self._game.spiel.new_initial_state()
        for action in actions[actions != NONE].tolist():
            yield state
            state.apply_action(action)
        yield state
