"""What one seat saw, as tokens: the tokenizer of a game, its trackers, many hands in step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from trickformer.base.views import Event, View


class Tracker(Protocol):
    """The simulator of GO-MCTS: it knows one seat's observations and never the deal.

    The core's are in C++. One in Python derives from this class and is slower; it is searched and followed alike."""

    def copy(self) -> Tracker:
        """Another tracker at the same place; what is pushed to one does not change the other."""
        ...

    def my_turn(self) -> bool: ...

    def legal(self) -> np.ndarray:
        """Own legal tokens, bool [V]; all False where it is not the own turn."""
        ...

    def possible(self) -> np.ndarray:
        """Tokens that some deal allows next, bool [V]; a single True is forced and needs no sampling."""
        ...

    def push(self, token: int) -> None:
        """Append a token. An impossible one marks the history illegal; it goes on by position to an end."""
        ...

    def terminal(self) -> bool: ...

    def is_legal(self) -> bool:
        """Whether some deal explains the history so far."""
        ...

    def outcome(self) -> int | None:
        """Index of the outcome, told from the own seat, at the end; None where no deal explains the history.

        Raises ValueError before the end."""
        ...

    def features(self) -> np.ndarray:
        """What the tokens so far say, as numbers: float32 [n_features], of the order of 1. An input of the model; a
        function of the tokens alone, so that no hidden card is in it. By default what may come next, and whether it is
        the own turn: [V + 1]."""
        return np.append(self.possible(), self.my_turn()).astype(np.float32)


class Tables(Protocol):
    """Many hands in step."""

    @property
    def tokens(self) -> np.ndarray:
        """int32 [n, players, n_positions]: what each seat has seen, filled up with the end token. `step` changes it in
        place."""
        ...

    @property
    def lengths(self) -> np.ndarray:
        """int32 [n, players]: how many tokens that is, the end token included. `step` changes it in place."""
        ...

    def current(self) -> np.ndarray:
        """int8 [n]: the seat on turn, -1 at the end."""
        ...

    def legal(self) -> np.ndarray:
        """bool [n, V]: the legal tokens of the seat on turn; all False at the end."""
        ...

    def step(self, tables: np.ndarray, actions: np.ndarray) -> None:
        """One decision at each of some tables: int32 [k], and the tokens chosen, int32 [k]. Raises IndexError and
        ValueError on a table or token that is none."""
        ...

    def outcomes(self) -> np.ndarray:
        """int32 [n, players]: how each hand ended, told from each seat. All hands must be over."""
        ...

    def scores(self) -> np.ndarray:
        """Integers [n, players]: the scores. All hands must be over."""
        ...

    def history(self) -> np.ndarray:
        """Integers [n, H]: the actions so far, chance included, filled up with a number that is no action."""
        ...


# What the core's part of a game can do for training beyond what any game can: label actions by playouts of a quick
# network (`quick`), or from deals that explain what a seat saw (`worlds`); try deals until a team succeeds (`tries`);
# exchange what the rules take for alike (`augment`).
Ability: TypeAlias = Literal["quick", "worlds", "tries", "augment"]


class Tokenizer(Protocol):
    """What one seat saw <-> token ids. One own action is one token."""

    vocab: tuple[str, ...]
    n_positions: int  # the longest legal sequence, eos included
    eos: int

    def encode(self, view: View) -> np.ndarray:
        """int32 [T]; eos is there once the game has ended."""
        ...

    def decode(self, tokens: np.ndarray) -> tuple[Event, ...]:
        """The events of a view; raises ValueError on tokens that no view encodes to."""
        ...

    def token(self, action: int) -> int: ...
    def action(self, token: int) -> int: ...
    def tracker(self, tokens: np.ndarray) -> Tracker: ...

    n_features: int  # length of its trackers' features
    features_version: str  # another name whenever a number's meaning changes: models of another are refused

    # What training asks for. A game without a part in the core leaves all of it as it is.

    codec: Any = None  # the core's part of the game: whole hands as tokens (`encode`), results (`outcomes`), `labels`
    abilities: frozenset[Ability] = frozenset()

    def initial_embeddings(self) -> tuple[np.ndarray, np.ndarray]:
        """What makes tokens and positions alike: float32 [V, F] and [n_positions, G], entries of the order of 1. By
        default no token is like another, and positions are waves."""
        place = np.arange(self.n_positions)[:, None] * 2 * np.pi / 2.0 ** np.arange(1, 9)
        waves = np.concatenate([np.sin(place), np.cos(place)], axis=1) / 2
        return np.eye(len(self.vocab), dtype=np.float32), waves.astype(np.float32)

    def augment(self, tokens: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Other games that are as likely, where the rules take some things for alike, such as colours; by default
        nothing is alike. A tokenizer that knows of some has the ability `augment`.

        tokens: integers [n, T], filled up with the end token. Returns them, each with a permutation of the alike drawn
        uniformly, and what becomes of each token, int64 [n, V]."""
        return tokens, np.tile(np.arange(len(self.vocab)), (len(tokens), 1))

    def tables(self, seed: int, first: int, n: int) -> Tables | None:
        """Deals `first` .. `first` + n of the series `seed` in the core, those of `Game.deal`; None:
        trickformer.tokenizers.tables plays them as states of OpenSpiel."""
        return None

    def core_hands(self, cast: Sequence[str], seed: int, first: int, n: int, tries: int = 1, noise: float = 0.0) -> Any:
        """Hands `first` .. `first` + n of a series of the core's own by its players, tokenizers/_bulk.py's Hands; None
        where it does not know them all. The core shuffles these itself: they are not the deals of `Game.deal`.

        tries: of every second hand, deals tried until the team succeeds; 1 in games without success. noise: share of
        scripted players' moves that are random."""
        return None
