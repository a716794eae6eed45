"""What can be set of training a belief head. Imports neither torch nor OpenSpiel."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from trickformer import players as known


class HeadTraining(BaseModel):
    """Training of one belief head."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str = Field(description="hearts, skat or crew, with rules if need be")
    checkpoint: str = Field(description="the trunk: a shipped checkpoint's name, or a folder with one")
    players: list[str] = Field(["rules"], description="who plays: specs, drawn for each seat and hand")
    hidden: int = Field(128, ge=1, le=65_536, description="rectified units between trunk and odds")
    hands: int = Field(16, ge=1, le=1_000_000, description="hands of a gradient step")
    positions: int = Field(12, ge=1, le=10_000, description="decisions of a hand that are learned, drawn at random")
    steps: int = Field(500, ge=1, le=1_000_000_000, description="gradient steps")
    learning_rate: float = Field(
        2e-3, gt=0, allow_inf_nan=False, description="of Adam at the start; it falls to a tenth along a cosine"
    )
    held_out: int = Field(
        400, ge=2, le=100_000_000, description="hands after those of training that the head is judged on"
    )
    seed: int = Field(1, ge=0, lt=2**63, description="of the hands and the first weights")
    threads: int = Field(1, ge=1, le=1_024, description="of torch")
    save_every: int = Field(100, ge=1, le=1_000_000_000, description="gradient steps between two states on disk")
    out: Path = Field(Path("out/belief-head"), description="folder of the run")

    _typed = field_validator("players")(known.reject_program_specs)
