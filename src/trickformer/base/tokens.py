"""Interfaces of tokenizers, which encode one seat's observations, and of trackers, which follow the tokens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from trickformer.base.views import Event, View


def position_waves(n: int) -> np.ndarray:
    """Return sines and cosines of positions for eight wavelengths from 2 to 256 tokens, float32 [n, 16].

    They are initial embeddings for sequences in which the distance of two tokens matters more than their positions: a
    shift is the same linear map of the waves everywhere.

    Args:
        n: Number of positions.
    """
    angle = np.arange(n)[:, None] * 2 * np.pi / 2.0 ** np.arange(1, 9)
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1).astype(np.float32) / 2


class Tracker(ABC):
    """Inference from the rules and one seat's tokens: whose turn it is, what may come next, the result.

    A tracker never reads the others' hidden cards. GO-MCTS simulates games by trackers. The trackers of this package's
    games are in the C++ core, and trickformer.tokenizers registers them as subclasses. A tracker in Python derives from
    this class; it is slower, but can be used everywhere. V is the size of the vocabulary.
    """

    @abstractmethod
    def copy(self) -> Tracker:
        """Return an independent copy."""

    @abstractmethod
    def my_turn(self) -> bool: ...

    @abstractmethod
    def legal(self) -> np.ndarray:
        """Return the own legal tokens, bool [V]; all False if the seat is not on turn."""

    @abstractmethod
    def possible(self) -> np.ndarray:
        """Return the tokens that may come next, bool [V]. A single True is certain, so it needs no sampling."""

    @abstractmethod
    def push(self, token: int) -> None:
        """Append a token.

        An impossible token makes the history illegal, and `push` must not raise. From then on `is_legal()` is False,
        and the tracker still accepts tokens. `terminal()` becomes True after at most `n_positions` tokens, and
        `outcome()` is then None. The results of all other methods are unspecified.

        Args:
            token: Token id.
        """

    @abstractmethod
    def terminal(self) -> bool: ...

    @abstractmethod
    def is_legal(self) -> bool:
        """Return whether some deal is consistent with the tokens so far."""

    @abstractmethod
    def outcome(self) -> int | None:
        """Return the index of the outcome from the own seat; None if no deal is consistent with the tokens.

        Raises:
            ValueError: The game is not over.
        """

    def features(self) -> np.ndarray:
        """Return inputs of the model that follow from the tokens, float32 [n_features], magnitudes of about 1.

        By default they are `possible()` and whether the seat is on turn: [V + 1].
        """
        return np.append(self.possible(), self.my_turn()).astype(np.float32)


class Tokenizer(ABC):
    """Translation between one seat's view and token ids. Each action of the seat is one token."""

    vocab: tuple[str, ...]  # name of each token, by id
    n_positions: int  # length of the longest legal sequence, end token included
    eos: int  # id of the end token

    @abstractmethod
    def encode(self, view: View) -> np.ndarray:
        """Encode a view.

        Args:
            view: View of a seat.

        Returns:
            Tokens int32 [T]; the last is `eos` once the game has ended.
        """

    @abstractmethod
    def decode(self, tokens: np.ndarray) -> tuple[Event, ...]:
        """Return the events of the view that tokens encode.

        Args:
            tokens: Integers [T].

        Raises:
            ValueError: No view encodes to these tokens.
        """

    @abstractmethod
    def token(self, action: int) -> int: ...

    @abstractmethod
    def action(self, token: int) -> int: ...

    @abstractmethod
    def tracker(self, tokens: np.ndarray) -> Tracker: ...

    n_features: int  # length of its trackers' features
    features_version: str  # changes whenever the meaning of a feature changes; models of another version are refused
    # Indices of the features that hold the actions and ratings of the game's scripted player.
    script_features: Sequence[int] = ()

    def initial_embeddings(self) -> tuple[np.ndarray, np.ndarray]:
        """Return vectors of tokens and positions, from which a new model's embeddings start.

        Tokens with similar vectors get similar embeddings. By default no two tokens are similar: each has a one-hot
        vector. A position has sines and cosines with periods of 2 to 256 positions.

        Returns:
            For tokens float32 [V, F], for positions float32 [n_positions, G], magnitudes of about 1.
        """
        return np.eye(len(self.vocab), dtype=np.float32), position_waves(self.n_positions)
