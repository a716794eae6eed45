"""Blueprints of searches in Hanabi: a scripted player or a network in all seats, on which a search improves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from trickformer import _core
from trickformer.base import View
from trickformer.belief.hanabi.process import Tables
from trickformer.belief.samplers.hanabi import HanabiBelief
from trickformer.games.hanabi import Hanabi
from trickformer.tokenizers.hanabi import HanabiTokenizer

if TYPE_CHECKING:
    from trickformer.belief.hanabi.policies import NetworkPolicy
    from trickformer.models.hanabi_values import HanabiCheckpoint


class Blueprint(ABC):
    """Policy that all seats play unless a search departs from it.

    Attributes:
        name: Name of a script, or resolved spec of a network.
        policy: The policy in the form that `HanabiProcess` takes.
    """

    def __init__(self, name: str, policy: str | NetworkPolicy):
        self.name, self.policy = name, policy

    @property
    def identity(self) -> str:
        """Text that tells the policy from others, as in `HanabiProcess.identities`."""
        return self.policy if isinstance(self.policy, str) else self.policy.identity

    @abstractmethod
    def act(self, view: View, seed: int) -> int:
        """Choose an action in a view.

        Args:
            view: View of the seat on turn.
            seed: Seed of the draw.
        """

    @abstractmethod
    def choose(self, x: Tables, seed: int) -> np.ndarray:
        """Choose the actions of the seats on turn. An action does not depend on the other tables.

        Args:
            x: n tables.
            seed: Seed of all randomness.

        Returns:
            int64 [n]; -1 if a game is over.
        """

    @abstractmethod
    def play_out(self, x: Tables, actions: np.ndarray, seed: int, threads: int) -> np.ndarray:
        """Play games to their ends: first the given actions, then the blueprint in all seats.

        Args:
            x: n tables; they are not changed.
            actions: int64 [n]; -1 if a game is over.
            seed: Seed of all randomness.
            threads: Number of threads. Networks use PyTorch's threads instead.

        Returns:
            Final scores, int8 [n].
        """


class ScriptedBlueprint(Blueprint):
    """Scripted player, a name of `_core.hanabi.BOTS`."""

    def __init__(self, game: Hanabi, style: str):
        super().__init__(style, style)
        self._bot, self._tokenizer = _core.hanabi.BOTS.index(style), HanabiTokenizer(game)

    def act(self, view: View, seed: int) -> int:
        return _core.hanabi.Decision(self._tokenizer.codec, self._tokenizer.encode(view), self._bot).blueprint(seed)

    def choose(self, x: Tables, seed: int) -> np.ndarray:
        return x.choose(np.full(len(x), self._bot, dtype=np.int8), seed)

    def play_out(self, x: Tables, actions: np.ndarray, seed: int, threads: int) -> np.ndarray:
        return x.play_out(actions, self._bot, seed, threads)


class NetworkBlueprint(Blueprint):
    """Network of `trickformer obl` without an LSTM, as the player `obl` plays it."""

    def __init__(self, game: Hanabi, name: str, trained: HanabiCheckpoint, temperature: float):
        """Make two copies of the network.

        One copy computes in double precision, so that all seats and beliefs compute the same actions. The other
        computes in single precision, plays games to their ends and estimates their values, of which only means matter.

        Args:
            game: The game.
            name: Resolved spec of the network's player.
            trained: The network.
            temperature: Temperature of the softmax over its outputs; 0 for the best action.

        Raises:
            ValueError: The network has an LSTM.
        """
        import torch  # takes seconds, and searches on scripts do without

        from trickformer.belief.hanabi.policies import NetworkPolicy

        self._exact = NetworkPolicy(trained, temperature)
        super().__init__(name, self._exact)
        self._fast = NetworkPolicy(trained, temperature, torch.float32)
        self.is_imitation = trained.is_imitation  # then it has no values
        self._uniform = HanabiBelief(game)

    def act(self, view: View, seed: int) -> int:
        self._uniform.reset(view)
        return int(self.choose(self._uniform.tables()[-1], seed)[0])

    def choose(self, x: Tables, seed: int) -> np.ndarray:
        return self._exact.choose(x, seed, np.arange(len(x)))

    def values(self, x: Tables) -> np.ndarray:
        """Compute the network's own estimate of the points that the team still gains, discounted as in its training.

        Args:
            x: n tables.

        Returns:
            float64 [n], in the seat on turn's view; 0 if a game is over.
        """
        return self._fast.values(x)

    def play_out(self, x: Tables, actions: np.ndarray, seed: int, threads: int) -> np.ndarray:
        final, live = x.scores().astype(np.int8), np.flatnonzero(~x.over())
        x, actions = x.take(live), actions[live]
        while len(live):
            x.step(actions)
            if (over := x.over()).any():
                final[live[over]] = x.scores()[over]
                x, live = x.take(np.flatnonzero(~over)), live[~over]
            actions = self._fast.choose(x, seed, live)
        return final
