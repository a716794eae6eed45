"""What searches on a belief have in common in their options."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import TrickformerError
from trickformer.belief.hanabi.config import FineTuningOptions


class BeliefOptions(BaseModel):
    """How exact beliefs are made, and what is asked of a search before it leaves its blueprint."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: float = Field(
        0.05, ge=0, le=25, description="points by which a choice must promise more than the blueprint's"
    )
    listed: int = Field(
        20_000, ge=0, le=1_000_000, description="hands of a seat up to which all are looked at; of more some are drawn"
    )
    tries: int = Field(
        50_000,
        ge=1,
        le=10_000_000,
        description="hands, in The Crew worlds, that are drawn at most, where they are not listed",
    )
    threads: int = Field(1, ge=1, le=1_024, description="on which games are played on; decisions do not depend on it")
    device: str = Field("cpu", description="of the network, as torch names it")


class RaceOptions(BeliefOptions):
    """How candidates are compared."""

    ucb: bool = Field(True, description="what is surely worse is not tried to the end")
    assess: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="worlds of the exact belief in which the gain of a decision is judged anew; in The Crew, where all "
        "search, of the same belief",
    )


def must_be_asked(player: str, options: BaseModel, belief: str) -> None:
    """Raises TrickformerError where an option of a network, or of fine-tuning it, is given to a search in Hanabi whose
    belief has none."""
    wanted = dict.fromkeys(sorted(FineTuningOptions.model_fields), ("bft",)) | {"device": ("seq2seq", "bft")}
    given = options.model_dump(exclude_defaults=True)
    for name, beliefs in wanted.items():
        if name in given and belief not in beliefs:
            raise TrickformerError(f"player {player!r}: {name} is for belief={' and '.join(beliefs)}, not {belief}")
