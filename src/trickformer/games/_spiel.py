"""What the games share in dealing with OpenSpiel: options of a game string, and an observer that has text only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyspiel

from trickformer.base import PUBLIC, TrickformerError, UnknownNameError


def options(spec: str, game: str, known: Sequence[str]) -> dict[str, Any]:
    """The options of a game string. Raises TrickformerError on one that cannot be read, or an option not known."""
    try:
        given = pyspiel.game_parameters_from_string(spec)
    except pyspiel.SpielError as e:
        raise TrickformerError(f"game {spec!r}: {str(e).splitlines()[0]}") from None
    given.pop("name")
    for option in given:
        if option not in known:
            raise UnknownNameError(f"option of {game}", option, known)
    return given


class Observer:
    """What a seat knows, as text; it fills no tensor. text(state, viewer) is the game's."""

    def __init__(self, text: Callable[[Any, int], str], kind: pyspiel.IIGObservationType | None, params: Any):
        if params:
            raise ValueError(f"observation parameters are not supported: {params}")
        self.tensor = None
        self.dict: dict[str, Any] = {}
        asked = kind if kind is not None else pyspiel.IIGObservationType(perfect_recall=False)
        self._text, self._private = text, asked.private_info != pyspiel.PrivateInfoType.NONE

    def set_from(self, state: Any, player: int) -> None:
        """There is no tensor to fill."""

    def string_from(self, state: Any, player: int) -> str:
        """All that `player` knows; where no private information is asked for, what everybody knows."""
        return self._text(state, player if self._private else PUBLIC)
