"""ArgmaxVal*: best value among likely actions

`preset=paper` is the player of the GO-MCTS paper (equations 2 and 3): the threshold of its section 9.3, and values V of
the value head after each action. Other options override it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from trickformer.base import Game
from trickformer.gomcts.options import Preset, paper_games, paper_settings
from trickformer.models.player import ModelOptions
from trickformer.plumbing.options import PerGame

if TYPE_CHECKING:
    from trickformer.models.argmax import ArgmaxPlayer
    from trickformer.models.backend import Backend


def _threshold(options: Options, game: Game) -> float:
    settings = paper_settings(game) if options.preset == "paper" else game.search
    return settings.least_argmax_probability


def _action_values(options: Options, game: Game) -> bool:
    from trickformer.checkpoints import abilities

    return options.preset is None and abilities(options.checkpoint_of(game))[1]


class Options(ModelOptions):
    preset: Preset | None = Field(
        None, description="paper: ArgmaxVal* with the GO-MCTS paper's settings (default: the game's)."
    )
    threshold: Annotated[float | None, PerGame(_threshold)] = Field(
        None,
        ge=0,
        le=1,
        description="Choose only actions with at least this share of the legal policy (default: the game's).",
    )
    action_values: Annotated[bool | None, PerGame(_action_values)] = Field(
        None, description="Compare actions by Q(s, a), not by V after the action (default: if the model has Q)."
    )


def presets() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the values that each preset sets, by preset and game."""
    thresholds = {game.name: paper_settings(game).least_argmax_probability for game in paper_games()}
    return {"paper": {name: {"threshold": x, "action_values": False} for name, x in thresholds.items()}}


def make(options: Options, game: Game, backend: Backend | None = None) -> ArgmaxPlayer:
    """Make the player.

    Args:
        options: Options of the player.
        game: The game.
        backend: Backend of another player with the same checkpoint, to share it.

    Raises:
        TrickformerError: The preset has no settings for this game; the checkpoint is missing, damaged or of another
            game; or `action_values` is set and the model has none.
    """
    from trickformer.models.argmax import ArgmaxPlayer

    threshold = _threshold(options, game) if options.threshold is None else options.threshold
    use_q = False if options.preset == "paper" and options.action_values is None else options.action_values
    return ArgmaxPlayer(options, game, threshold, backend, use_q)
