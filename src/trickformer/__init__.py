"""trickformer: play, train, search and compare players of card games of imperfect information."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trickformer.api import (
        Player,
        Result,
        TrickformerError,
        decide,
        load_data,
        load_game,
        load_model,
        load_result,
        make_player,
        tournament,
        train,
    )

__version__ = version("trickformer")

__all__ = [
    "Player",
    "Result",
    "TrickformerError",
    "decide",
    "load_data",
    "load_game",
    "load_model",
    "load_result",
    "make_player",
    "tournament",
    "train",
]


def __dir__() -> list[str]:
    """List the public names, for completion at a prompt."""
    return ["__version__", *__all__]


def __getattr__(name: str) -> Any:
    """Load the functions of `trickformer.api` when they are needed: they import OpenSpiel and torch."""
    if name in __all__:
        from trickformer import api

        return getattr(api, name)
    raise AttributeError(f"module 'trickformer' has no attribute {name!r}")
