"""Options of learning the evaluation of Skat hands. This module imports neither torch nor OpenSpiel."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from trickformer.players import validate_specs_of

LEARNED, CALIBRATED = Path("out/skat-evaluation"), Path("out/skat-calibration")

_ROUND = "Number of solved hands per contract in round {} of 3, chosen by {}."


def _hands(default: int, description: str) -> Any:
    return Field(default, ge=1, le=10_000_000, description=description)


class Learning(BaseModel):
    """Options of learning the evaluation of hands from deals that are solved with open cards."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = Field(20261121, ge=0, lt=2**62, description="Seed of the hands.")
    first: int = _hands(20_000, _ROUND.format(1, "rough built-in weights"))
    second: int = _hands(40_000, _ROUND.format(2, "the weights of round 1"))
    third: int = _hands(50_000, _ROUND.format(3, "the weights of round 2"))
    hand: int = _hands(20_000, "Number of solved hands per contract for the model of games without the skat.")
    prior: float = Field(
        1.0,
        gt=0,
        allow_inf_nan=False,
        description="Standard deviation of the Gaussian prior of a weight, in log odds.",
    )
    held_out: float = Field(0.1, gt=0, lt=1, description="Share of the hands that is held out to measure the log loss.")
    out: Path = Field(LEARNED, description="Folder of the run.")

    @model_validator(mode="after")
    def _check_held_out(self) -> Self:
        for n in (self.third, self.hand):
            self.learned_of(n)
        return self

    def learned_of(self, n: int) -> int:
        """Return how many of n hands the model learns from; the others are held out to measure the loss.

        Args:
            n: Number of hands.

        Raises:
            ValueError: If one of the two parts is empty.
        """
        count = n - round(self.held_out * n)
        if count in (0, n):
            raise ValueError(
                f"--held-out {self.held_out} of {n} hands leaves none to learn from or none to measure on; "
                "choose another share"
            )
        return count


class Calibration(BaseModel):
    """Options of calibrating an evaluation to results of play, and of the models before the skat."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    learned: Path = Field(LEARNED, description="Folder of a finished run of `trickformer skat learn`.")
    seed: int = Field(20261122, ge=0, lt=2**62, description="Seed of the games.")
    games: int = Field(200, ge=8, le=1_000_000_000, description="Games of each contract played with the skat.")
    hand_games: int = Field(100, ge=8, le=10_000_000, description="Games of each contract played without the skat.")
    worlds: int = Field(16, ge=1, le=10_000_000, description="Worlds that the players solve to choose a card.")
    before: int = Field(
        10_000,
        ge=1,
        le=10_000_000,
        description="Number of ten-card hands per contract that fit the model of bids without the skat.",
    )
    out: Path = Field(CALIBRATED, description="Folder of the run.")


class Inference(BaseModel):
    """Options of measuring the information in the auction. Temperatures are in points; None: the players' own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    players: list[str] = Field(
        ["rules", "kermit"],
        min_length=1,
        description="Specs of players to measure, each of which bids and declares in all seats.",
    )
    deals: int = Field(120, ge=2, le=10**6, description="Number of games, each measured at its first card.")
    worlds: int = Field(600, ge=1, le=100_000, description="Uniformly drawn worlds to compare each deal with.")
    seed: int = Field(77, ge=0, lt=2**62, description="Seed of the deals, the players and the worlds.")
    bid: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Temperature of the model of bids, in points (default: as in kermit).",
    )
    choice: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Temperature of the model of discards and declarations, in points (default: as in kermit).",
    )
    floor: float | None = Field(
        None,
        gt=0,
        le=1,
        description="Share of choices that the model takes as uniformly random (default: as in kermit).",
    )

    _check_players = field_validator("players")(validate_specs_of("skat"))
