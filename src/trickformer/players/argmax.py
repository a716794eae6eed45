"""ArgmaxVal*: best value among likely actions"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from trickformer.base import Game
from trickformer.models.player import ModelOptions
from trickformer.plumbing.options import PerGame

if TYPE_CHECKING:
    from trickformer.models.argmax import ArgmaxPlayer


class Options(ModelOptions):
    threshold: Annotated[float | None, PerGame(lambda _, game: game.search.least_argmax_probability)] = Field(
        None,
        ge=0,
        le=1,
        description="Least policy probability, among legal actions, of a choice (default: the game's).",
    )


def make(options: Options, game: Game) -> ArgmaxPlayer:
    from trickformer.models.argmax import ArgmaxPlayer

    return ArgmaxPlayer(options, game, threshold=options.threshold)
