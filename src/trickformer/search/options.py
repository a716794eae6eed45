"""Options that searches on a belief share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from trickformer.belief.hanabi.config import FineTuningOptions
from trickformer.plumbing.options import Applies, in_games

_LISTED = in_games("hanabi")
_NETWORK = Applies("belief=seq2seq and belief=bft", lambda options, _: options.belief in ("seq2seq", "bft"))


class BeliefOptions(BaseModel):
    """Settings of exact beliefs, and the gain for which a search leaves its blueprint."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: float = Field(
        0.05, ge=0, le=25, description="Points by which an action must beat the blueprint's (default: 0.05)."
    )
    listed: Annotated[int, _LISTED] = Field(
        20_000, ge=0, le=1_000_000, description="Largest number of hands to list. More are sampled (default: 20,000)."
    )
    tries: int = Field(
        50_000, ge=1, le=10_000_000, description="Draws of unlisted hands, or of worlds in The Crew (default: 50,000)."
    )
    threads: int = Field(1, ge=1, le=1_024, description="Threads for games, without effect on results (default: 1).")


class NetworkBeliefOptions(FineTuningOptions):
    """The network of a learned belief in Hanabi. A player derives its options from this class and declares `belief`."""

    checkpoint: Annotated[Path | None, _NETWORK] = Field(
        None, description="seq2seq, bft: a network made by `trickformer belief train`."
    )
    device: Annotated[str, _NETWORK] = Field("cpu", description="seq2seq, bft: torch device (default: cpu).")

    @property
    def fine_tunes(self) -> bool:
        return getattr(self, "belief", None) == "bft"


class RaceOptions(BeliefOptions):
    """Settings of the comparison of candidates."""

    ucb: bool = Field(True, description="Stop trying actions that are surely worse (default: true).")
    assess: int = Field(
        0, ge=0, le=1_000_000, description="Exact worlds that re-estimate the gain of a decision (default: 0)."
    )
