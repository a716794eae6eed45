"""Observation sequences. One module a game, named like the game; each exports `make(game) -> Tokenizer`. A game of
another package brings its tokenizer along (`Game.tokenizer`)."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np

from trickformer.base import Game, Tables, Tokenizer, TrickformerError
from trickformer.tokenizers._states import StateCodec, StateTables

NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def find(game: Game) -> Tokenizer | None:
    """The tokenizer of a game: that of the module of its name here, or the one it brings along. None where no model
    plays it."""
    if game.name in NAMES:
        return importlib.import_module(f"{__name__}.{game.name}").make(game)
    return game.tokenizer()


def make(game: Game) -> Tokenizer:
    """The same. Raises TrickformerError for a game that has none."""
    tokenizer = find(game)
    if tokenizer is None:
        raise TrickformerError(
            f"no model plays {game.name}: it has no tokenizer; docs/add-a-game.md says how to write one"
        )
    return tokenizer


def tables(game: Game, tokenizer: Tokenizer, seed: int, first: int, n: int) -> Tables:
    """Hands `first` .. `first` + n of the series `seed` in step: the tokenizer's own, or else states of OpenSpiel."""
    own = tokenizer.tables(seed, first, n)
    return StateTables(game, tokenizer, seed, first, n) if own is None else own


def codec(game: Game, tokenizer: Tokenizer) -> Any:
    """What tells of whole hands: the core's part of the game, or a StateCodec."""
    return StateCodec(game, tokenizer) if tokenizer.codec is None else tokenizer.codec


def follow(tokenizer: Tokenizer, tokens: np.ndarray, possible: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """What the tracker says along sequences: the features float32 [n, T, F] after each token and, if `possible`, the
    tokens that some deal allows next, bool [n, T, V] ([0, T, V] otherwise). Both are 0 from the end token on.

    tokens: integers [n, T], filled up with the end token."""
    from trickformer import _core

    lengths = (tokens != tokenizer.eos).sum(axis=1).astype(np.int32)
    start = tokenizer.tracker(np.empty(0, np.int32))
    return _core.follow(start, np.ascontiguousarray(tokens, np.int16), lengths, possible)


def features_of(tokenizer: Tokenizer, tokens: np.ndarray) -> np.ndarray:
    """The features after each token of one sequence: integers [T] -> float32 [T, F]."""
    return follow(tokenizer, tokens[None])[0][0]
