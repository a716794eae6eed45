"""Kermit-like player: learned bids, solved worlds

It bids by a learned evaluation and plays by PIMC on worlds weighted by the bids.

After Buro, Long, Furtak & Sturtevant, "Improving State Evaluation, Inference, and Search in Trick-Based Card Games"
(2009): bids, the cards laid away and the declaration follow an expectimax over the skats on an evaluation of hands by
tables, learned here (cpp/skat/bidding.hpp, cpp/skat/evaluation.hpp); cards are played by solving worlds
weighted by what was bid, laid away and declared (cpp/skat/pimc.hpp, cpp/skat/inference.hpp).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Game, TrickformerError

if TYPE_CHECKING:
    from trickformer.search.skat.pimc import SkatSearch


GAMES = ("skat",)


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    worlds: int = Field(default=160, ge=1, le=100_000, description="worlds solved for a card")
    weighted: bool = Field(default=True, description="weight worlds by what the others bid and declared")
    passing: float = Field(
        default=-15,
        allow_inf_nan=False,
        description="what a pass is worth in the scores of the table, own less the mean of the others'",
    )


def make(options: Options, game: Game) -> SkatSearch:
    """Raises TrickformerError for a game other than Skat."""
    if game.name != "skat":
        raise TrickformerError(f"player 'kermit' plays skat only, not {game.name}")
    from trickformer.belief.samplers.skat import SkatBelief
    from trickformer.search.skat.pimc import SkatSearch

    return SkatSearch(
        game,
        SkatBelief(game),
        worlds=options.worlds,
        weighted=options.weighted,
        bidding="kermit",
        passing=options.passing,
    )
