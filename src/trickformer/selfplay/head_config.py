"""Config of `trickformer belief head`. Imports neither torch nor OpenSpiel."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from trickformer.players import validate_specs
from trickformer.plumbing.config import validate_path


class HeadTraining(BaseModel):
    """Training of one belief head."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str = Field(description="Game string of Hearts, Skat or The Crew, such as skat.")
    checkpoint: str = Field(description="Checkpoint under the head, by name or folder. Its weights do not change.")
    players: list[str] = Field(
        ["rules"],
        min_length=1,
        description="Specs of the players whose hands are learned, drawn for each seat and hand.",
    )
    hidden: int = Field(128, ge=1, le=65_536, description="Number of hidden units of the head.")
    hands: int = Field(16, ge=1, le=1_000_000, description="Number of hands in a gradient step.")
    positions: int = Field(
        12, ge=1, le=10_000, description="Number of decisions of a hand that are learned, drawn at random."
    )
    steps: int = Field(500, ge=1, le=1_000_000_000, description="Number of gradient steps.")
    learning_rate: float = Field(
        2e-3,
        gt=0,
        le=1_000,
        description="Initial learning rate of Adam, which falls to a tenth along a cosine.",
    )
    held_out: int = Field(400, ge=2, le=100_000_000, description="Number of further hands that measure the head.")
    seed: int = Field(1, ge=0, lt=2**63, description="Seed of the hands and of the initial weights.")
    threads: int = Field(1, ge=1, le=1_024, description="Number of PyTorch threads.")
    save_every: int = Field(
        100, ge=1, le=1_000_000_000, description="Number of gradient steps between two saved states."
    )
    out: Path = Field(Path("out/belief-head"), description="Run folder.")

    _check_checkpoint = field_validator("checkpoint")(validate_path)
    _check_players = field_validator("players")(validate_specs)
