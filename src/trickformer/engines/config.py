"""Config of `trickformer engines check`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator

from trickformer import players


class Conformance(BaseModel):
    """A check of an engine."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: str = Field(description="Name of the engine in engines.toml, or engine:cmd=PROGRAM.")
    game: str | None = Field(
        None, description="Game string of OpenSpiel, by default the first game that the engine lists."
    )
    deals: int = Field(10, ge=1, le=1_000_000, description="Number of hands. The engine plays one seat of each.")
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the hands and of the engine's decisions.")

    _typed = field_validator("engine")(players.validate_specs)
