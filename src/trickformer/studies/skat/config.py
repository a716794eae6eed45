"""What can be set of learning the evaluation of Skat hands. Imports neither torch nor OpenSpiel."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from trickformer import players as known

LEARNED, CALIBRATED = Path("out/skat-evaluation"), Path("out/skat-calibration")


class Learning(BaseModel):
    """Learning what hands are worth from hands that are solved with open cards."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = Field(20261121, ge=0, lt=2**62, description="of the hands")
    first: int = Field(
        20_000, ge=1, le=10_000_000, description="hands solved for each model with the skat in the first round"
    )
    second: int = Field(40_000, ge=1, le=10_000_000, description="the same in the second round")
    third: int = Field(50_000, ge=1, le=10_000_000, description="the same in the third round")
    hand: int = Field(20_000, ge=1, le=10_000_000, description="hands solved for each model of hand games")
    prior: float = Field(
        1.0,
        gt=0,
        allow_inf_nan=False,
        description="standard deviation of a table's entry around 0, or what it leans on",
    )
    held_out: float = Field(0.1, gt=0, lt=1, description="share of the hands that is only measured on")
    out: Path = Field(LEARNED, description="folder of the run")

    @model_validator(mode="after")
    def _splits(self) -> Self:
        for n in (self.third, self.hand):
            self.learned_of(n)
        return self

    def learned_of(self, n: int) -> int:
        """How many of `n` hands are learned from; the others are measured on. Raises ValueError where one is none."""
        found = n - round(self.held_out * n)
        if found in (0, n):
            raise ValueError(
                f"held_out = {self.held_out} of {n} hands leaves none to learn from, or none to measure on"
            )
        return found


class Calibration(BaseModel):
    """Fitting what was learned to results of play, and the models before the skat to that."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    learned: Path = Field(LEARNED, description="folder of the `skat learn` that it goes on from")
    seed: int = Field(20261122, ge=0, lt=2**62, description="of the games")
    games: int = Field(200, ge=8, le=1_000_000_000, description="games of each contract after picking up")
    hand_games: int = Field(100, ge=8, le=10_000_000, description="games of each contract by hand")
    worlds: int = Field(16, ge=1, le=10_000_000, description="worlds that a card is solved in")
    before: int = Field(10_000, ge=1, le=10_000_000, description="hands for each model before the skat")
    out: Path = Field(CALIBRATED, description="folder of the run")


class Inference(BaseModel):
    """How much what the others have said tells of their cards. Temperatures in points; None: those of the players."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    players: list[str] = Field(["rules", "kermit"], min_length=1, description="who bids and declares, in every seat")
    deals: int = Field(120, ge=2, le=10**6, description="games looked into, each at its first card")
    worlds: int = Field(600, ge=1, le=100_000, description="worlds that the deal is compared with")
    seed: int = Field(77, ge=0, lt=2**62, description="of the deals, of the players and of the worlds")
    bid: float | None = Field(None, gt=0, allow_inf_nan=False, description="temperature of going on in the auction")
    choice: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="temperature of what is laid away and declared"
    )
    floor: float | None = Field(None, ge=0, le=1, description="share of choices that are taken to be made blindly")

    _typed = field_validator("players")(known.reject_program_specs)
