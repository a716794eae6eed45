"""OpenSpiel's xinxin bot of Hearts at the papers' setting, shown a sampled world that its seat cannot tell apart

It plays PIMC with UCT on worlds of its own (Sturtevant 2008). OpenSpiel's defaults are 50 runs and 20 worlds, so
the setting is always passed. It seeds itself: hands with it cannot be made again exactly."""

from __future__ import annotations

import pyspiel
from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Game, TrickformerError
from trickformer.players.spiel import Spiel


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    runs: int = Field(default=2000, ge=1, le=1_000_000, description="simulations in each world")
    worlds: int = Field(default=50, ge=1, le=1_000_000, description="worlds sampled for a decision")
    c: float = Field(default=0.4, ge=0, allow_inf_nan=False, description="exploration constant of UCT")


def make(options: Options, game: Game) -> Spiel:
    """Raises TrickformerError for another game, for a rule that the bot does not know, and where OpenSpiel was
    built without it."""
    if game.name != "hearts":
        raise TrickformerError(f"player 'xinxin' plays hearts only, not {game.name}")
    parameters = game.spiel.get_parameters()
    if parameters["can_lead_hearts_instead_of_qs"]:
        raise TrickformerError("player 'xinxin' does not know the rule can_lead_hearts_instead_of_qs")
    if not hasattr(pyspiel, "make_xinxin_bot"):
        raise TrickformerError(
            "this OpenSpiel was built without xinxin; in a checkout of OpenSpiel's source, run "
            "`export OPEN_SPIEL_BUILD_WITH_XINXIN=ON; ./install.sh; pip install .`"
        )
    from trickformer.belief import sampler

    return Spiel(
        game,
        lambda seat, seed: pyspiel.make_xinxin_bot(parameters, options.runs, options.c, options.worlds, False),
        sampler(game),
        "xinxin",
    )
