"""ArgmaxVal*: best value among likely actions"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from trickformer.base import Game
from trickformer.models.player import ModelOptions

if TYPE_CHECKING:
    from trickformer.models.argmax import ArgmaxPlayer


class Options(ModelOptions):
    threshold: float | None = Field(
        None, ge=0, le=1, description="Least legal-normalized probability of an action (default: the game's)."
    )


def make(options: Options, game: Game) -> ArgmaxPlayer:
    from trickformer.models.argmax import ArgmaxPlayer

    return ArgmaxPlayer(options, game, threshold=options.threshold)
