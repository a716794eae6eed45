"""Whole hands of a game in bulk, for training. The core or another package implements them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


class Tables(Protocol):
    """Many hands that are played in lockstep."""

    @property
    def tokens(self) -> np.ndarray:
        """Tokens that each seat has seen, int32 [n, players, n_positions], padded with the end token.

        `step` changes the array in place.
        """
        ...

    @property
    def lengths(self) -> np.ndarray:
        """Number of those tokens, the end token included, int32 [n, players]. `step` changes the array in place."""
        ...

    def current(self) -> np.ndarray:
        """Return the seat on turn, int8 [n]; -1 at the end."""
        ...

    def legal(self) -> np.ndarray:
        """Return the legal tokens of the seat on turn, bool [n, V]; all False at the end."""
        ...

    def step(self, tables: np.ndarray, actions: np.ndarray) -> None:
        """Apply one decision at each of some tables.

        Args:
            tables: int32 [k], indices of tables.
            actions: int32 [k], the token chosen at each.

        Raises:
            IndexError: A table does not exist.
            ValueError: A token is no legal action.
        """
        ...

    def outcomes(self) -> np.ndarray:
        """Return the index of each hand's outcome from each seat, int32 [n, players]. All hands must be over."""
        ...

    def scores(self) -> np.ndarray:
        """Return the scores, integers [n, players]. All hands must be over."""
        ...

    def history(self) -> np.ndarray:
        """Return the actions so far, chance included, integers [n, H], padded with a number that is no action."""
        ...


class FastGame(ABC):
    """Bulk functions of one game under one tokenizer.

    Derive from it, or from trickformer.tokenizers.StateGame to replace a part of the generic form. A history is a row
    of integers in the game's own form, as `Tables.history` and `core_hands` return it."""

    labels_by_network: bool = False  # `labels` accepts a network that plays the playouts
    labels_in_worlds: bool = False  # `labels` accepts worlds=True
    retries: bool = False  # `core_hands` accepts tries above 1
    augments: bool = False  # `augment` is given

    @abstractmethod
    def encode(self, history: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Encode what a seat saw of each hand.

        Args:
            history: Integers [n, H].
            seats: uint8 [n], the seat in each hand.

        Returns:
            Tokens int16 [n, T], padded with the end token.
        """

    @abstractmethod
    def outcomes(self, scores: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Look up the outcome of each hand for a seat.

        Args:
            scores: Integers [n, players].
            seats: uint8 [n], the seat in each hand.

        Returns:
            int32 [n], indices of outcomes.
        """

    @abstractmethod
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
        """Value the legal actions of a share of a seat's decisions by playouts.

        Args:
            history: Integers [n, H], as of `encode`.
            seats: uint8 [n], the seat in each hand.
            seed: Seed of all randomness, together with `streams`.
            streams: uint64 [n], a number for each hand.
            playouts: Playouts of each action.
            share: Share of the decisions.
            net: Network that plays the playouts; None: a script of the game, or random moves.
            worlds: Whether each playout starts in another deal that explains what the seat saw.

        Returns:
            The number of labels of each hand, int32 [n], and, hand by hand, the position before the decision (int16),
            the action's token (int16) and its value (float32, v(o) of the seat).

        Raises:
            ValueError: The game does not support `net` or `worlds`.
        """

    @abstractmethod
    def tables(self, seed: int, first: int, n: int) -> Tables:
        """Deal hands `first` .. `first` + n of a series, to be played in lockstep.

        Args:
            seed: The series, that of `Game.deal`.
            first: First hand.
            n: Number of hands.
        """

    def core_hands(
        self, cast: Sequence[str], seed: int, first: int, n: int, tries: int = 1, noise: float = 0.0
    ) -> BulkHands | None:
        """Play hands of a series of the core's own, which are not the deals of `Game.deal`.

        Args:
            cast: Specs of players; each seat's player is drawn from them.
            seed: The series.
            first: First hand.
            n: Number of hands.
            tries: Deals tried for every second hand until the team succeeds; 1 in games without success.
            noise: Share of scripted players' moves that are random.

        Returns:
            The hands; None if the core does not have all of these players, as by default.
        """
        return None

    def augment(self, tokens: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Permute things that the rules treat alike, such as colours.

        Args:
            tokens: Integers [n, T], filled up with the end token.
            rng: Draws each row's permutation uniformly.

        Returns:
            Other, equally likely games, integers [n, T], and the new number of each token, int64 [n, V].

        Raises:
            ValueError: The game has nothing to permute; see `augments`.
        """
        raise ValueError("this game has nothing to permute")


@dataclass(frozen=True, slots=True)
class BulkHands:
    """Whole hands and the form that reads them."""

    game: FastGame
    history: np.ndarray  # integers [n, H], in the form's own histories
    scores: np.ndarray  # integers [n, players]

    def encode_hands(self, hand: np.ndarray, seat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Encode what a seat saw of each hand, and look up how the hand ended for it.

        Args:
            hand: Integers [k], rows of `history`.
            seat: Integers [k].

        Returns:
            Tokens int16 [k, T], and outcomes int32 [k].
        """
        seats = seat.astype(np.uint8)
        return self.game.encode(self.history[hand], seats), self.game.outcomes(self.scores[hand], seats)
