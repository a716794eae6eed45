"""Interfaces to deal, play and encode many hands at once, for training. The C++ core implements most of them.

In shapes, n counts hands, V is the size of the vocabulary, T the length of a token sequence and H that of a history.
"""

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

        n_positions is the longest sequence that the tokenizer produces. `step` changes the array in place.
        """
        ...

    @property
    def lengths(self) -> np.ndarray:
        """Length of each sequence in `tokens`, end token included, int32 [n, players]. `step` changes it in place."""
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
        """Return the index of each hand's outcome as each seat sees it, int32 [n, players]. All hands must be over."""
        ...

    def scores(self) -> np.ndarray:
        """Return the scores by seat, integers [n, players]. All hands must be over."""
        ...

    def history(self) -> np.ndarray:
        """Return the actions so far, chance included, integers [n, H], padded with a number that is no action."""
        ...


class FastGame(ABC):
    """Bulk functions of one game under one tokenizer.

    trickformer.tokenizers.StateGame implements them for any game by OpenSpiel states. Derive from StateGame to replace
    some of its functions by faster ones, or from this class to write all of them. A history is a row of integers whose
    meaning the game defines; `Tables.history` and `core_hands` return histories."""

    labels_by_network: bool = False  # True: `labels` accepts a network that plays the playouts
    labels_in_worlds: bool = False  # True: `labels` accepts worlds=True
    retries: bool = False  # True: `core_hands` accepts tries above 1
    augments: bool = False  # True: `augment` is implemented

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
        """Look up the index in `Game.outcomes` of each hand's result, as one seat sees it.

        Args:
            scores: Integers [n, players].
            seats: uint8 [n], the seat in each hand.

        Returns:
            int32 [n].
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
        """Estimate action values by playouts, at randomly chosen decisions of one seat in each hand.

        Args:
            history: Integers [n, H].
            seats: uint8 [n], the seat in each hand.
            seed: Seed of all randomness, together with `streams`.
            streams: uint64 [n], a number that distinguishes the hand's random draws.
            playouts: Playouts of each legal action.
            share: Share of the seat's decisions that get labels, from 0 to 1.
            net: Network that plays the playouts; None: a script of the game, or random moves.
            worlds: Whether each playout starts in a freshly sampled deal that explains what the seat saw.

        Returns:
            The number of labels of each hand, int32 [n]. Then three arrays with one entry per label, hand by hand: the
            position of the last token before the decision (int16), the action's token (int16) and the action's value
            (float32, v(o) of the seat).

        Raises:
            ValueError: The game does not support `net` or `worlds`.
        """

    @abstractmethod
    def tables(self, seed: int, first: int, n: int) -> Tables:
        """Deal n hands of a series from number `first` on, to be played in lockstep.

        Args:
            seed: The series, as in `Game.deal`.
            first: Number of the first hand in the series.
            n: Number of hands.
        """

    def core_hands(
        self, cast: Sequence[str], seed: int, first: int, n: int, tries: int = 1, noise: float = 0.0
    ) -> BulkHands | None:
        """Play whole hands in the core, which deals them itself; they differ from the deals of `Game.deal`.

        Args:
            cast: Specs of players; each seat's player is drawn from them at random.
            seed: The series.
            first: Number of the first hand in the series.
            n: Number of hands.
            tries: In a cooperative game, number of deals that every second hand may use until the team succeeds. So
                hands of weak players also contain successes. 1 if the game lacks `retries`.
            noise: Share of scripted players' moves that are random.

        Returns:
            The hands; None if the core lacks one of these players. The default returns None.
        """
        return None

    def augment(self, tokens: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Augment training data: permute things that the rules treat alike, such as colours.

        Args:
            tokens: Integers [n, T], padded with the end token.
            rng: Draws each row's permutation uniformly.

        Returns:
            The permuted games, integers [n, T], which are as likely as the originals, and for each row the token that
            replaces each token, int64 [n, V].

        Raises:
            ValueError: The game has no symmetric colours to permute; see `augments`.
        """
        raise ValueError("this game has no symmetric colours to permute; check `augments` first")


@dataclass(frozen=True, slots=True)
class BulkHands:
    """Histories and scores of finished hands, and the game that can encode them."""

    game: FastGame
    history: np.ndarray  # integers [n, H]; `game` defines their meaning
    scores: np.ndarray  # integers [n, players]

    def encode_hands(self, hand: np.ndarray, seat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Encode what a seat saw of each hand, and look up how the hand ended for it.

        Args:
            hand: Integers [k], rows of `history`.
            seat: Integers [k], the seat in each of these hands.

        Returns:
            Tokens int16 [k, T], and indices of outcomes, int32 [k].
        """
        seats = seat.astype(np.uint8)
        return self.game.encode(self.history[hand], seats), self.game.outcomes(self.scores[hand], seats)
