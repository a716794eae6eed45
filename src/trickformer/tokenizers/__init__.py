"""Tokenizers, which turn one seat's view into a sequence of tokens, and fast forms of games.

The fast form of a game, a `FastGame`, deals, plays and encodes many hands at once, usually in C++. A game without one
is played through states of OpenSpiel, by `StateGame`.

Each game has a module of its name that exports `make(game) -> Tokenizer` and `fast(game) -> FastGame`. Games of other
packages have both as methods (`Game.tokenizer`, `Game.fast`).
"""

from __future__ import annotations

import importlib
import pkgutil

import numpy as np

from trickformer.base import FastGame, Game, Tokenizer, TrickformerError
from trickformer.tokenizers._states import NONE, StateGame, StateTables, histories

__all__ = [
    "NAMES",
    "NONE",
    "StateGame",
    "StateTables",
    "fast",
    "features_of",
    "find",
    "follow",
    "histories",
    "make",
]

NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def find(game: Game) -> Tokenizer | None:
    """Return the tokenizer of a game, from the module of its name or from the game itself.

    Args:
        game: The game.

    Returns:
        The tokenizer; None if the game has none, so that no model plays it.
    """
    if game.name in NAMES:
        return importlib.import_module(f"{__name__}.{game.name}").make(game)
    return game.tokenizer()


def make(game: Game) -> Tokenizer:
    """Return the tokenizer of a game.

    Args:
        game: The game.

    Raises:
        TrickformerError: The game has no tokenizer.
    """
    tokenizer = find(game)
    if tokenizer is None:
        raise TrickformerError(
            f"no model plays {game.name}: it has no tokenizer; docs/add-a-game-model.md shows how to write one"
        )
    return tokenizer


def fast(game: Game) -> FastGame | None:
    """Return the fast form of a game, from the module of its name or from the game itself; None if it has none.

    Args:
        game: The game.
    """
    if game.name in NAMES:
        return importlib.import_module(f"{__name__}.{game.name}").fast(game)
    return game.fast()


def bulk(game: Game) -> FastGame:
    """Return the fast form of a game, or else a `StateGame`, which plays states of OpenSpiel.

    Args:
        game: The game.

    Raises:
        TrickformerError: The game has no tokenizer.
    """
    return fast(game) or StateGame(game, make(game))


def follow(tokenizer: Tokenizer, tokens: np.ndarray, possible: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Compute the tracker's features, and the possible next tokens, after each token of sequences.

    Args:
        tokenizer: Tokenizer of the sequences.
        tokens: Integers [n, T], padded with the end token.
        possible: Whether to compute the possible next tokens.

    Returns:
        The features after each token, float32 [n, T, F], and the tokens that some deal allows next: bool [n, T, V], or
        the empty array bool [0, T, V] if `possible` is false. Both are 0 from the end token on.
    """
    from trickformer import _core

    lengths = (tokens != tokenizer.eos).sum(axis=1).astype(np.int32)
    start = tokenizer.tracker(np.empty(0, np.int32))
    return _core.follow(start, np.ascontiguousarray(tokens, np.int16), lengths, possible)


def features_of(tokenizer: Tokenizer, tokens: np.ndarray) -> np.ndarray:
    """Return the features after each token of one sequence, float32 [T, F].

    Args:
        tokenizer: Tokenizer of the sequence.
        tokens: Integers [T].
    """
    return follow(tokenizer, tokens[None])[0][0]
