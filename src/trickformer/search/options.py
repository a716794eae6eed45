"""Options of players that search in worlds of a belief."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Game
from trickformer.belief.hanabi.config import FineTuningOptions
from trickformer.plumbing.options import Applies, in_games

_HANABI_ONLY = in_games("hanabi")
_NETWORK = Applies(
    "belief=seq2seq and belief=bft in hanabi",
    lambda options, game: options.belief in ("seq2seq", "bft") and (game is None or game.name == "hanabi"),
    ("belief", "bft"),
)


def _has_exact_belief(options: BeliefOptions, game: Game | None) -> bool:
    """True if a player samples from an exact belief, to search or to assess gains. In The Crew always True."""
    in_crew = game is not None and game.name == "crew"  # its runs of version 0.2 have `tries` with any belief
    return in_crew or options.assess > 0 or getattr(options, "belief", None) in (None, "exact")


_EXACT = Applies("belief=exact or assess > 0", _has_exact_belief)


class BeliefOptions(BaseModel):
    """Options of searches on a blueprint: threshold, limits of exact beliefs, threads, and assessment of gains."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: float = Field(
        0.05, ge=0, le=25, description="Points by which an action must beat the blueprint's (default: 0.05)."
    )
    listed: Annotated[int, _HANABI_ONLY, _EXACT] = Field(
        20_000,
        ge=0,
        le=1_000_000,
        description="Exact beliefs: largest number of hands to list. More are sampled (default: 20,000).",
    )
    tries: Annotated[int, _EXACT] = Field(
        50_000,
        ge=1,
        le=10_000_000,
        description="Exact beliefs: worlds to draw at most for fitting ones, in batches (default: 50,000).",
    )
    threads: int = Field(
        1, ge=1, le=1_024, description="Threads that play games. Results do not depend on it (default: 1)."
    )
    assess: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="Extra exact worlds that estimate the action's lead again, for the report (default: 0).",
    )


class NetworkBeliefOptions(FineTuningOptions):
    """Network of a learned belief in Hanabi. A player's options derive from this class and add the field `belief`."""

    checkpoint: Annotated[Path | None, _NETWORK] = Field(
        None, description="Needed by seq2seq and bft: run folder of `trickformer belief train`, or its weights."
    )
    device: Annotated[str, _NETWORK] = Field("cpu", description="seq2seq, bft: torch device (default: cpu).")

    @property
    def fine_tunes(self) -> bool:
        return getattr(self, "belief", None) == "bft"


class RaceOptions(BeliefOptions):
    """Settings of the race that compares candidate actions (search/race.py)."""

    ucb: bool = Field(True, description="Stop trying actions that are clearly worse (default: true).")
