"""Options of off-belief learning. This module imports neither torch nor OpenSpiel."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from trickformer.plumbing.config import changed_fields


class ExactStudy(BaseModel):
    """Options of exact off-belief learning on a game that can be listed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str = Field(description="Game to solve: toy, or a small one such as 'hanabi(colors=1,ranks=2,hand_size=2)'.")
    levels: int = Field(
        3,
        ge=1,
        le=1_000,
        description="Number of levels of off-belief learning, cognitive hierarchy and k-level reasoning.",
    )
    temperature: float = Field(
        0.01,
        ge=0,
        le=1_000,
        allow_inf_nan=False,
        description="Temperature of the softmax, in points (0 needs --levels 1 --starts 0).",
    )
    policy: Literal["uniform", "grounded"] = Field(
        "uniform", description="Weight of a past move at level 1: 1 / legal moves (uniform) or always 1 (grounded)."
    )
    target: Literal["histories", "beliefs"] = Field(
        "histories",
        description="Value of a later turn: histories (equation 2 of the OBL paper) or beliefs (equation 4).",
    )
    checkpoint: Path | None = Field(
        None, description="Hanabi checkpoint of `trickformer obl train`, whose policy is evaluated too."
    )
    tau: float = Field(
        1.5, gt=0, le=100, allow_inf_nan=False, description="Mean level of the others in the cognitive hierarchy."
    )
    starts: int = Field(
        4, ge=0, le=1_000, description="Number of self-play runs: alternating best responses from random policies."
    )
    seed: int = Field(0, ge=0, lt=2**62, description="Seed of the random policies of --starts.")
    limit: int = Field(
        1_000_000, ge=2, le=100_000_000, description="Largest number of nodes of a game, about a kilobyte each."
    )

    @model_validator(mode="after")
    def _check_seed(self, info: ValidationInfo) -> Self:
        if not self.starts and "seed" in changed_fields(self, info):
            raise ValueError("--seed is for the random policies of --starts, and --starts is 0; leave out --seed")
        return self


class Toy(BaseModel):
    """Options of Figure 2 of "Off-Belief Learning": the toy game, learned by each method in independent runs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    runs: int = Field(10, ge=2, le=100, description="Number of independent runs of each method.")
    games: int = Field(100_000, ge=1, le=100_000_000, description="Number of games from which a run learns a policy.")
    levels: int = Field(10, ge=1, le=100, description="Highest level. The report has levels 1, 2 and this one.")
    temperature: float = Field(
        0.01, gt=0, le=1_000, allow_inf_nan=False, description="Temperature of the softmax over actions, in points."
    )
    least: float = Field(
        0, ge=0, lt=1, description="Lower bound of the learning rate 1/n of a value (0: plain mean of all targets)."
    )
    epsilon: float = Field(0.1, ge=0, le=1, description="Share of random actions in self-play.")
    tau: float = Field(
        1.5, gt=0, le=100, allow_inf_nan=False, description="Mean level of the others in the cognitive hierarchy."
    )
    seed: int = Field(0, ge=0, lt=2**62, description="Seed of the games and of the initial values.")
    out: Path | None = Field(None, description="Folder for the figure and the report.")
