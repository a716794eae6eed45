"""What can be set of the check of an engine."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Conformance(BaseModel):
    """A check of an engine."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: str = Field(description="its name in engines.toml, or engine:cmd=PROGRAM")
    game: str | None = Field(None, description="game string of OpenSpiel; default: the first that it says it plays")
    deals: int = Field(10, ge=1, le=1_000_000, description="hands, in each of which it takes one seat")
    seed: int = Field(0, ge=0, lt=2**63, description="of the hands and of its decisions")
