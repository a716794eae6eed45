"""Tokenizer interface: one seat's observations as tokens, and the trackers that follow them."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from trickformer.base.views import Event, View


class Tracker(ABC):
    """Simulator of GO-MCTS: it follows one seat's observations and never holds the deal.

    The core's trackers are in C++; trickformer.tokenizers registers them as subclasses. A tracker in Python derives
    from this class. It is slower, but serves in the same places.
    """

    @abstractmethod
    def copy(self) -> Tracker:
        """Return an independent tracker at the same place."""

    @abstractmethod
    def my_turn(self) -> bool: ...

    @abstractmethod
    def legal(self) -> np.ndarray:
        """Return the own legal tokens, bool [V]; all False if the seat is not on turn."""

    @abstractmethod
    def possible(self) -> np.ndarray:
        """Return the tokens that some deal allows next, bool [V]; a single True is forced and needs no sampling."""

    @abstractmethod
    def push(self, token: int) -> None:
        """Append a token.

        An impossible token marks the history illegal. The tracker then continues by position until the sequence ends.

        Args:
            token: Token id.
        """

    @abstractmethod
    def terminal(self) -> bool: ...

    @abstractmethod
    def is_legal(self) -> bool:
        """Return whether some deal explains the history so far."""

    @abstractmethod
    def outcome(self) -> int | None:
        """Return the index of the outcome, seen from the own seat; None if no deal explains the history.

        Raises:
            ValueError: The game is not over.
        """

    def features(self) -> np.ndarray:
        """Return the tracker's features, float32 [n_features], of the order of 1.

        They are an input of the model. They depend on the tokens alone, so they hold no hidden card. By default they
        are `possible()` and whether the seat is on turn: [V + 1].
        """
        return np.append(self.possible(), self.my_turn()).astype(np.float32)


class Tokenizer(ABC):
    """Translation between one seat's view and token ids. One own action is one token."""

    vocab: tuple[str, ...]
    n_positions: int  # the longest legal sequence, eos included
    eos: int

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

    def initial_embeddings(self) -> tuple[np.ndarray, np.ndarray]:
        """Return traits of tokens and positions, from which a new model starts, so that related tokens begin alike.

        By default no token resembles another, and positions are waves.

        Returns:
            For tokens float32 [V, F], for positions float32 [n_positions, G], entries of the order of 1.
        """
        place = np.arange(self.n_positions)[:, None] * 2 * np.pi / 2.0 ** np.arange(1, 9)
        waves = np.concatenate([np.sin(place), np.cos(place)], axis=1) / 2
        return np.eye(len(self.vocab), dtype=np.float32), waves.astype(np.float32)
