"""Policies of networks of `trickformer obl`, in the form that the Markov systems of Hanabi use (process.py)."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator

import numpy as np
import torch

from trickformer import _core
from trickformer.models.hanabi_values import HanabiCheckpoint, action_values, best, probabilities

CHUNK = 2048  # number of tables evaluated at once, so that memory is enough for tens of thousands of worlds


class NetworkPolicy:
    """Policy of a network without an LSTM. It reads the observation of the seat on turn, like the player `obl`.

    The last digits of torch's sums depend on the number of tables, so the network computes in double precision, on the
    CPU. The action at a table can then depend on the other tables only in a near tie, below 1e-12: of the two best
    values at temperature 0, otherwise of the random number and a sum of probabilities. Single precision is faster, for
    games of which only the mean score matters.
    """

    def __init__(self, trained: HanabiCheckpoint, temperature: float, dtype: torch.dtype = torch.float64):
        """Copy the network.

        Args:
            trained: The network. The outputs of an imitation are logits, which serve like values.
            temperature: Temperature of the softmax over its outputs; 0 for the best action.
            dtype: Precision of the computation.

        Raises:
            ValueError: The network has an LSTM, so its policy depends on earlier observations too.
        """
        if trained.model.sizes.recurrent:
            raise ValueError("the network has an LSTM, so its moves depend on more than the table")
        self.rules = trained.rules
        self._v0 = trained.v0
        self._temperature = temperature
        self._dtype = dtype
        self._model = copy.deepcopy(trained.model).to("cpu", dtype)

    @property
    def identity(self) -> str:
        """SHA-256 of all that determines the moves: weights, form of the observations and temperature."""
        state = hashlib.sha256(f"{self._v0} {self._model.sizes.last} {self._temperature!r}".encode())
        for name, weights in sorted(self._model.state_dict().items()):
            state.update(f"{name} {tuple(weights.shape)}".encode())
            state.update(weights.numpy().tobytes())
        return state.hexdigest()

    def probabilities(self, x: _core.hanabi.Tables) -> np.ndarray:
        """Compute the probabilities of the actions of the seat on turn.

        Args:
            x: n tables.

        Returns:
            float64 [n, actions]; zeros if a game is over.
        """
        chunks = [probabilities(q, legal, self._temperature).double().numpy() for q, legal in self._values(x)]
        return np.concatenate([np.zeros((0, self.rules.actions)), *chunks])

    def choose(self, x: _core.hanabi.Tables, seed: int, numbers: np.ndarray) -> np.ndarray:
        """Choose an action at each table. The draw depends on the seed, the table's number and how many moves it had.

        Args:
            x: n tables.
            seed: Seed of all randomness.
            numbers: int64 [n], numbers of the tables.

        Returns:
            int64 [n]; -1 if a game is over.
        """
        if self._temperature:
            cumulative = self.probabilities(x).cumsum(axis=1)
            total = cumulative[:, -1:]
            cumulative /= np.where(total > 0, total, 1)
            actions = (cumulative > _draw_uniform(x, seed, numbers)[:, None]).argmax(axis=1)
        else:
            chunks = [best(q, legal).numpy() for q, legal in self._values(x)]
            actions = np.concatenate([np.zeros(0, dtype=np.int64), *chunks])
        return np.where(x.over(), -1, actions)

    def values(self, x: _core.hanabi.Tables) -> np.ndarray:
        """Compute the network's own estimate of the points that the team still gains, discounted as in its training.

        Args:
            x: n tables.

        Returns:
            float64 [n]: mean of the action values of the seat on turn under the policy; 0 if a game is over. The values
            of a network trained by imitation have no meaning.
        """
        chunks = [
            (probabilities(q, legal, self._temperature) * q).sum(1).double().numpy() for q, legal in self._values(x)
        ]
        return np.concatenate([np.zeros(0), *chunks])

    def _values(self, x: _core.hanabi.Tables) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Yield the network's outputs and the legal actions, [k, actions] each, for chunks of the tables in order."""
        for first in range(0, len(x), CHUNK):
            part = x.take(np.arange(first, min(first + CHUNK, len(x)))) if len(x) > CHUNK else x
            observations = torch.from_numpy(part.observe(None, self._v0)).to(self._dtype)
            legal = torch.from_numpy(part.legal() & ~part.over()[:, None])
            with torch.no_grad():
                yield action_values(self._model, observations, legal), legal


def _draw_uniform(x: _core.hanabi.Tables, seed: int, numbers: np.ndarray) -> np.ndarray:
    """Draw from [0, 1) for each table: entry `numbers[i]` of the stream of the seed and the count of moves so far."""
    moves = np.array([x[i].moves for i in range(len(x))], dtype=np.int64)
    draws = np.empty(len(x))
    for move in np.unique(moves).tolist():
        rows = np.flatnonzero(moves == move)
        first, last = int(numbers[rows].min()), int(numbers[rows].max())
        stream = np.random.Generator(np.random.PCG64([seed, move]).advance(first))
        draws[rows] = stream.random(last - first + 1)[numbers[rows] - first]
    return draws
