"""What a run of self-play is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Config(BaseModel):
    """A run of population self-play."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str = Field(description="game string of OpenSpiel, such as hearts")
    preset: str = Field("small", description="size of the model")
    seed: int = Field(0, ge=0, lt=2**62, description="deals, roles, weights and batches follow from it")
    random_hands: int = Field(400_000, ge=1, description="hands that model 0 is trained on")
    iterations: int = Field(3, ge=0, description="self-play iterations after model 0")
    sequences: int = Field(60_000, ge=4, description="sequences that an iteration learns from")
    tables: int = Field(1_000, ge=1, description="hands played in step")
    threshold: float = Field(0.05, ge=0, le=1, description="of ArgmaxVal*")
    policy_weight: float = Field(9.0, gt=0, description="weight of the policy loss; that of the value loss is 1")
    dropout: float = Field(0.05, ge=0, lt=1, description="of embeddings and residuals")
    structured: bool = Field(False, description="embeddings start alike for alike tokens")
    batch_size: int = Field(32, ge=1, description="sequences a training step")
    random_learning_rate: float = Field(1e-3, gt=0, description="peak for model 0")
    learning_rate: float = Field(5e-4, gt=0, description="peak of later iterations")
    epochs: int = Field(1, ge=1, description="passes over an iteration's data; model 0 makes one")
    value_positions: int = Field(16, ge=1, description="positions a sequence that the value loss is taken at")
    threads: int = Field(1, ge=1, description="of torch while training")
    out: Path | None = Field(None, description="folder of the run; default: out/GAME-PRESET")

    @model_validator(mode="after")
    def _one_step(self) -> Self:
        if self.batch_size > min(self.random_hands, self.sequences):
            raise ValueError("batch_size is larger than random_hands or sequences: there would be no training step")
        return self

    @property
    def folder(self) -> Path:
        return self.out or Path("out") / f"{self.game.partition('(')[0]}-{self.preset}"
