"""What can be set of off-belief learning. Imports neither torch nor OpenSpiel."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class ExactStudy(BaseModel):
    """The operator on a game that is listed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str = Field(
        description="toy, a game of ours such as 'hanabi(colors=1,ranks=2,hand_size=1)', or a small one of OpenSpiel"
    )
    levels: int = Field(3, ge=1, le=1_000, description="levels of off-belief learning and of the hierarchies beside it")
    temperature: float = Field(
        0.01,
        ge=0,
        le=1_000,
        allow_inf_nan=False,
        description="of the softmax over actions, in points; 0: the best actions, with --levels 1 --starts 0",
    )
    policy: Literal["uniform", "grounded"] = Field(
        "uniform", description="the past of level 1: uniform over legal actions, or the grounded belief"
    )
    target: Literal["histories", "beliefs"] = Field(
        "histories",
        description="what a later turn counts for: its worth in the history believed now (equation 2), or what the "
        "seat will believe of it then (equation 4), which a learner of action values tends to",
    )
    checkpoint: Path | None = Field(
        None, description="in hanabi: folder of a run of `trickformer obl train`, whose policy's worth is computed too"
    )
    tau: float = Field(
        1.5, gt=0, le=100, allow_inf_nan=False, description="mean level of the others in the cognitive hierarchy"
    )
    starts: int = Field(
        4, ge=0, le=1_000, description="runs of self-play by best responses in turn, from random policies"
    )
    seed: int = Field(0, ge=0, lt=2**62, description="of these random policies")
    limit: int = Field(1_000_000, ge=2, le=100_000_000, description="nodes that a game may have, about a kilobyte each")


class Toy(BaseModel):
    """Figure 2 of "Off-Belief Learning": methods learned in the toy game, each in independent runs that then play with
    one another."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    runs: int = Field(10, ge=2, le=100, description="independent runs of each method")
    games: int = Field(100_000, ge=1, le=100_000_000, description="games that a run learns a policy from")
    levels: int = Field(10, ge=1, le=100, description="the highest level; shown are 1, 2 and this one")
    temperature: float = Field(
        0.01, gt=0, le=1_000, allow_inf_nan=False, description="of the softmax over actions, in points"
    )
    least: float = Field(
        0, ge=0, lt=1, description="least share of a new target in a value; 0: the mean of all targets"
    )
    epsilon: float = Field(0.1, ge=0, le=1, description="share of random actions in self-play")
    tau: float = Field(
        1.5, gt=0, le=100, allow_inf_nan=False, description="mean level of the others in the cognitive hierarchy"
    )
    seed: int = Field(0, ge=0, lt=2**62, description="of the games and of the values that runs begin with")
    out: Path | None = Field(None, description="folder for the figure and the report")
