"""Options of off-belief learning. This module imports neither torch nor OpenSpiel."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class ExactStudy(BaseModel):
    """Options of exact off-belief learning on a game that can be listed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str = Field(
        description="toy, a trickformer game such as 'hanabi(colors=1,ranks=2)', or a small OpenSpiel game"
    )
    levels: int = Field(3, ge=1, le=1_000, description="number of levels of off-belief learning and of the hierarchies")
    temperature: float = Field(
        0.01,
        ge=0,
        le=1_000,
        allow_inf_nan=False,
        description="temperature of the softmax, in points (0 needs --levels 1 --starts 0)",
    )
    policy: Literal["uniform", "grounded"] = Field(
        "uniform", description="past of level 1: uniform over legal actions, or the grounded belief"
    )
    target: Literal["histories", "beliefs"] = Field(
        "histories",
        description="value of a later turn: in the history (equation 2), or by the later belief (equation 4)",
    )
    checkpoint: Path | None = Field(
        None, description="checkpoint of `trickformer obl train` in hanabi, whose policy is evaluated too"
    )
    tau: float = Field(
        1.5, gt=0, le=100, allow_inf_nan=False, description="mean level of the others in the cognitive hierarchy"
    )
    starts: int = Field(
        4, ge=0, le=1_000, description="number of self-play runs by alternating best responses, from random policies"
    )
    seed: int = Field(0, ge=0, lt=2**62, description="seed of these random policies")
    limit: int = Field(
        1_000_000, ge=2, le=100_000_000, description="largest number of nodes of a game, about a kilobyte each"
    )


class Toy(BaseModel):
    """Options of Figure 2 of "Off-Belief Learning": the toy game, learned by each method in independent runs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    runs: int = Field(10, ge=2, le=100, description="independent runs of each method")
    games: int = Field(100_000, ge=1, le=100_000_000, description="games from which a run learns a policy")
    levels: int = Field(10, ge=1, le=100, description="highest level (the report has levels 1, 2 and this one)")
    temperature: float = Field(
        0.01, gt=0, le=1_000, allow_inf_nan=False, description="temperature of the softmax over actions, in points"
    )
    least: float = Field(0, ge=0, lt=1, description="least weight of a new target in a value (0 averages all targets)")
    epsilon: float = Field(0.1, ge=0, le=1, description="share of random actions in self-play")
    tau: float = Field(
        1.5, gt=0, le=100, allow_inf_nan=False, description="mean level of the others in the cognitive hierarchy"
    )
    seed: int = Field(0, ge=0, lt=2**62, description="seed of the games and of the initial values")
    out: Path | None = Field(None, description="folder for the figure and the report")
