"""xinxin, the Hearts program in OpenSpiel

It is the opponent of the GO-MCTS paper: multi-player UCT in sampled worlds (Sturtevant, "An Analysis of UCT in
Multi-Player Games", 2008). It needs an OpenSpiel that was built with OPEN_SPIEL_BUILD_WITH_XINXIN=ON. OpenSpiel's own
defaults are 50 runs in 20 worlds; the defaults here are the paper's.

xinxin requires a whole deal as input, so it receives a sampled world that is consistent with the view of its seat
(players/spiel.py). Its search then samples worlds of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Game, TrickformerError

if TYPE_CHECKING:
    from trickformer.players.spiel import Spiel

GAMES = ("hearts",)


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    runs: int = Field(2_000, ge=1, le=1_000_000, description="Simulations in each world (default: 2,000).")
    worlds: int = Field(50, ge=1, le=10_000, description="Worlds sampled per decision (default: 50).")
    c: float = Field(0.4, ge=0, allow_inf_nan=False, description="Exploration constant of UCT (default: 0.4).")
    threads: bool = Field(False, description="Search worlds in parallel threads (default: false).")


def make(options: Options, game: Game) -> Spiel:
    """Make xinxin.

    Args:
        options: Options of the player.
        game: The game.

    Raises:
        TrickformerError: The rules are not xinxin's, or this OpenSpiel has no xinxin.
    """
    import pyspiel

    from trickformer.belief import sampler
    from trickformer.players.spiel import Spiel
    from trickformer.plumbing.foreign import wrap_errors

    if not hasattr(pyspiel, "make_xinxin_bot"):
        raise TrickformerError(
            "player 'xinxin': this OpenSpiel has none; build OpenSpiel with OPEN_SPIEL_BUILD_WITH_XINXIN=ON"
        )
    parameters = game.spiel.get_parameters()
    if parameters["can_lead_hearts_instead_of_qs"]:
        raise TrickformerError(
            "player 'xinxin': xinxin lacks the rule can_lead_hearts_instead_of_qs; leave the rule out"
        )

    def make_bot(seat: int, seed: int) -> pyspiel.Bot:
        return pyspiel.make_xinxin_bot(parameters, options.runs, options.c, options.worlds, options.threads)

    with wrap_errors("bot 'xinxin'"):
        make_bot(0, 0)
    player = Spiel(game, make_bot, sampler(game), "xinxin")
    player.caveats = ("does not follow seeds: a match against itself is not zero",)
    return player
