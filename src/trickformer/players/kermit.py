"""Kermit-like: learned bidding, solved worlds

It bids by a learned evaluation and plays by PIMC on worlds weighted by the bids.

The design follows Buro, Long, Furtak & Sturtevant, "Improving State Evaluation, Inference, and Search in Trick-Based
Card Games" (2009). An expectimax over the possible skats chooses bids, discards and the declaration. Its evaluation of
hands is a set of tables that this project learned (cpp/skat/bidding.hpp, cpp/skat/evaluation.hpp). Card play solves
worlds that are weighted by the others' bids, discards and declarations (cpp/skat/pimc.hpp, cpp/skat/inference.hpp).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Game

if TYPE_CHECKING:
    from trickformer.search.skat.pimc import SkatSearch


GAMES = ("skat",)


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    worlds: int = Field(
        default=160, ge=1, le=100_000, description="Number of worlds solved to choose a card (default: 160)."
    )
    weighted: bool = Field(
        default=True, description="Weight worlds by the others' bids and declarations (default: true)."
    )
    passing: float = Field(
        default=-15,
        allow_inf_nan=False,
        description="Worth of a pass, own score minus the others' mean. Better hands bid (default: -15).",
    )


def make(options: Options, game: Game) -> SkatSearch:
    """Make the player.

    Args:
        options: Options of the player.
        game: The game.
    """
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
