"""Play in imagined worlds, from which off-belief learning takes its targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch

from trickformer import _core
from trickformer.models.hanabi_values import ActionValues, expected_value, sample_actions
from trickformer.studies.obl.hanabi import beliefs
from trickformer.studies.obl.hanabi.config import OffBeliefTraining

Memories: TypeAlias = Sequence[torch.Tensor]  # LSTM states of the online and the target network


@dataclass(frozen=True, slots=True)
class Imagination:
    """Player of imagined worlds for one move of the actors."""

    config: OffBeliefTraining
    online: ActionValues  # network that plays
    target: ActionValues  # network that evaluates positions
    rng: np.random.Generator  # generator of the actions, at a temperature above 0

    def evaluate(
        self, worlds: _core.hanabi.Tables, seats: np.ndarray, actions: np.ndarray, memories: Memories
    ) -> np.ndarray:
        """Make an action in each of k imagined worlds and compute its target for the seat that imagines the world.

        A target is the reward plus the discounted value of the next position. If the seat is on turn next, this is the
        expected value of its action by double Q-learning. If the seat has just moved, it is the value of waiting.
        Otherwise the network plays on until one or the other.

        Args:
            worlds: The k worlds; changed in place.
            seats: int64 [k], the seat that imagines each world, as an index of the memories.
            actions: int64 [k].
            memories: LSTM states of the online and the target network for all seats of some tables, in the order of
                tables, then of seats, float32 [tables * players, ...]; see `ActionValues.memory`.

        Returns:
            float32 [k], in points.
        """
        viewers = seats % worlds.rules.players
        has_moved, before = worlds.current() == viewers, worlds.scores()
        worlds.step(actions)
        rewards = (worlds.scores() - before).astype(np.float32)
        goes_on = ~has_moved & (worlds.current() != viewers) & ~worlds.over()  # only with three seats or more
        if not goes_on.any():
            return rewards + self.config.discount * self._bootstrap(worlds, seats, memories)
        values = np.zeros_like(rewards)
        for rows, evaluate in ((np.flatnonzero(~goes_on), self._bootstrap), (np.flatnonzero(goes_on), self._play_on)):
            values[rows] = evaluate(worlds.take(rows), seats[rows], memories)
        return rewards + self.config.discount * values

    def _bootstrap(self, worlds: _core.hanabi.Tables, seats: np.ndarray, memories: Memories) -> np.ndarray:
        """Compute the value of each world to its seat: of its turn, else of waiting, and 0 if the game is over."""
        viewers = (seats % worlds.rules.players).astype(np.int8)
        seen = to_device(self.online, worlds.observe(viewers, self.config.v0))
        is_own_turn, networks = worlds.current() == viewers, (self.online, self.target)
        contexts = [network.contexts(seen[None], memory[seats])[0][0] for network, memory in zip(networks, memories)]
        legal = to_device(self.online, worlds.legal() & is_own_turn[:, None])
        q, waiting = self.target(seen, contexts[1], legal)
        turns = to_device(self.online, np.flatnonzero(is_own_turn))
        online_q, _ = self.online(seen[turns], contexts[0][turns], legal[turns])
        expected = expected_value(q[turns], online_q, legal[turns], self.config.temperature)
        return waiting.index_copy(0, turns, expected).cpu().numpy() * ~worlds.over()

    def _play_on(self, worlds: _core.hanabi.Tables, seats: np.ndarray, memories: Memories) -> np.ndarray:
        """Choose an action in each world by the online network, and evaluate it; as `evaluate`."""
        players, k = worlds.rules.players, len(worlds)
        context = torch.ones(k, 1, device=self.online.worth.weight.device)
        if self.online.sizes.recurrent:
            # The games are no longer those of the tables, so the seats of each world have memories of their own.
            table, first_seats = torch.from_numpy(seats // players), np.arange(k) * players
            seen = to_device(self.online, beliefs.observe_all_seats(worlds, self.config.v0))[None]
            contexts, memories = zip(
                *(
                    network.contexts(seen, memory.unflatten(0, (-1, players))[table].flatten(0, 1))
                    for network, memory in zip((self.online, self.target), memories)
                )
            )
            context = contexts[0][0, first_seats + worlds.current()]
            seats = first_seats + seats % players
        legal = to_device(self.online, worlds.legal())
        q, _ = self.online(to_device(self.online, worlds.observe(None, self.config.v0)), context, legal)
        actions = sample_actions(q, legal, self.config.temperature, self.rng).cpu().numpy()
        return self.evaluate(worlds, seats, actions, memories)


def to_device(network: ActionValues, array: np.ndarray) -> torch.Tensor:
    """Move an array to the device of a network.

    Args:
        network: The network.
        array: Any array.
    """
    return torch.from_numpy(array).to(network.worth.weight.device)
