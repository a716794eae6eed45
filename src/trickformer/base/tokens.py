"""What one seat saw, as tokens: the tokenizer of a game and its trackers."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from trickformer.base.views import Event, View


class Tracker(ABC):
    """The simulator of GO-MCTS: it knows one seat's observations and never the deal.

    The core's are in C++; trickformer.tokenizers registers them. A tracker in Python derives from this class and is
    slower; it is searched and followed alike."""

    @abstractmethod
    def copy(self) -> Tracker:
        """Another tracker at the same place; what is pushed to one does not change the other."""

    @abstractmethod
    def my_turn(self) -> bool: ...

    @abstractmethod
    def legal(self) -> np.ndarray:
        """Own legal tokens, bool [V]; all False where it is not the own turn."""

    @abstractmethod
    def possible(self) -> np.ndarray:
        """Tokens that some deal allows next, bool [V]; a single True is forced and needs no sampling."""

    @abstractmethod
    def push(self, token: int) -> None:
        """Append a token. An impossible one marks the history illegal; it goes on by position to an end."""

    @abstractmethod
    def terminal(self) -> bool: ...

    @abstractmethod
    def is_legal(self) -> bool:
        """Whether some deal explains the history so far."""

    @abstractmethod
    def outcome(self) -> int | None:
        """Index of the outcome, told from the own seat, at the end; None where no deal explains the history.

        Raises ValueError before the end."""

    def features(self) -> np.ndarray:
        """What the tokens so far say, as numbers: float32 [n_features], of the order of 1. An input of the model; a
        function of the tokens alone, so that no hidden card is in it. By default what may come next, and whether it is
        the own turn: [V + 1]."""
        return np.append(self.possible(), self.my_turn()).astype(np.float32)


class Tokenizer(ABC):
    """What one seat saw <-> token ids. One own action is one token."""

    vocab: tuple[str, ...]
    n_positions: int  # the longest legal sequence, eos included
    eos: int

    @abstractmethod
    def encode(self, view: View) -> np.ndarray:
        """int32 [T]; eos is there once the game has ended."""

    @abstractmethod
    def decode(self, tokens: np.ndarray) -> tuple[Event, ...]:
        """The events of a view; raises ValueError on tokens that no view encodes to."""

    @abstractmethod
    def token(self, action: int) -> int: ...

    @abstractmethod
    def action(self, token: int) -> int: ...

    @abstractmethod
    def tracker(self, tokens: np.ndarray) -> Tracker: ...

    n_features: int  # length of its trackers' features
    features_version: str  # another name whenever a number's meaning changes: models of another are refused

    def initial_embeddings(self) -> tuple[np.ndarray, np.ndarray]:
        """What makes tokens and positions alike: float32 [V, F] and [n_positions, G], entries of the order of 1. By
        default no token is like another, and positions are waves."""
        place = np.arange(self.n_positions)[:, None] * 2 * np.pi / 2.0 ** np.arange(1, 9)
        waves = np.concatenate([np.sin(place), np.cos(place)], axis=1) / 2
        return np.eye(len(self.vocab), dtype=np.float32), waves.astype(np.float32)
