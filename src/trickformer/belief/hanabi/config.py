"""What can be set of training and of evaluating beliefs of Hanabi. Imports neither torch nor OpenSpiel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from trickformer.plumbing.options import Applies

Form: TypeAlias = Literal["hmm", "pomdp", "fosg"]
Variant: TypeAlias = Literal["5-card-8-hint", "5-card-2-hint", "7-card-4-hint"]
VARIANTS: dict[str, dict[str, int]] = {  # of two-player Hanabi, as parameters of the core's rules
    "5-card-8-hint": {},
    "5-card-2-hint": {"hints": 2},
    "7-card-4-hint": {"hand": 7, "hints": 4},
}
SCRIPTED = ("simple", "holmes", "smart", "iggi", "piers", "flawed")
# `small`: the LSTMs and tables of docs/results/belief.md, but for --bf16. `paper`: that of the BFT paper (4.1, A.2.2,
# A.2.3), where it is silent that of the published training of beliefs that it refers to (off-belief-learning: 1,000
# batches an epoch, all positions, Adam at a fixed rate), tuning as training does; and games in step that leave room for
# as many worlds as so many steps want. Its games were of R2D2's players, drawn from a replay buffer; here no game comes
# twice.
_PAPER: dict[str, Any] = {"learning_rate": 1e-3, "fall": 1.0, "clip": 50.0}
_OFFLINE: dict[str, Any] = {"hidden": 512, "games": 128, "targets": 80, "steps": 400_000} | _PAPER
_ONLINE: dict[str, Any] = {"games": 300, "steps": 10_000, "batch": 128, "part": "encoder", "stack": 4} | _PAPER
PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "training": {"small": {}, "paper": _OFFLINE},
    "evaluation": {"small": {}, "paper": _ONLINE},
}
Preset: TypeAlias = Literal["small", "paper"]
ESTIMATORS = ("v0", "counting", "v1", "bb", "v2", "particles", "rejection", "seq2seq", "transformer", "bft", "exact")


class BeliefTraining(BaseModel):
    """Training of one belief network."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: Preset = Field(
        "small", description="small, or as the BFT paper trains: 512 units, 400 epochs of 1,000 steps"
    )
    form: Form = Field("hmm", description="whose policies are fixed and what is seen: hmm, pomdp or fosg")
    seat: int = Field(0, ge=0, le=1, description="in a pomdp, the one that sees and is not fixed")
    variant: Variant = Field("5-card-8-hint", description="of two-player Hanabi")
    players: list[str] = Field(["smart", "smart"], description="the fixed policies, one a seat")
    model: Literal["lstm", "transformer"] = Field(
        "lstm", description="the encoder: an LSTM on observations, or GPT-2 on the tokenizer's sequences"
    )
    hidden: int = Field(128, ge=8, le=65_536, description="units of a layer")
    layers: int = Field(2, ge=1, le=1_024, description="of the encoder")
    heads: int = Field(
        4, ge=1, le=1_024, description="of attention in a layer of the transformer; they divide its units"
    )
    games: int = Field(32, ge=1, le=1_000_000_000, description="games of a gradient step")
    targets: int = Field(12, ge=1, le=10_000, description="positions of a game that are learned, drawn at random")
    steps: int = Field(3000, ge=1, le=1_000_000_000, description="gradient steps")
    learning_rate: float = Field(4e-3, gt=0, allow_inf_nan=False, description="of Adam at the start")
    fall: float = Field(0.1, ge=0, le=1, description="share of it that the rate falls to, along a cosine")
    clip: float = Field(1.0, gt=0, description="norm that gradients are clipped to")
    seed: int = Field(0, ge=0, lt=2**63, description="of the games and the first weights; evaluations have another")
    threads: int = Field(1, ge=1, le=1_024, description="of torch")
    device: str = Field("cpu", description="of the network, as torch names it")
    save_every: int = Field(500, ge=1, le=1_000_000_000, description="gradient steps between two states on disk")
    out: Path = Field(Path("out/belief"), description="folder of the run")

    @model_validator(mode="before")
    @classmethod
    def _as_the_preset(cls, values: Any) -> Any:
        return _preset("training", values)

    @field_validator("players")
    @classmethod
    def _check_players(cls, names: list[str]) -> list[str]:
        return _among(names, SCRIPTED, "scripted player")

    @model_validator(mode="after")
    def _check_heads(self) -> Self:
        if self.model == "transformer" and self.hidden % self.heads:
            raise ValueError(f"hidden = {self.hidden} is not a multiple of heads = {self.heads}")
        return self


_TUNED = Applies("belief=bft", lambda options, _: options.fine_tunes)


class FineTuningOptions(BaseModel, ABC):
    """Settings of the fine-tuning of bft at each position."""

    steps: Annotated[int, _TUNED] = Field(
        100, ge=0, le=1_000_000_000, description="bft: gradient steps at each position (default: 100)."
    )
    batch: Annotated[int, _TUNED] = Field(
        32, ge=1, le=100_000, description="bft: worlds in a gradient step (default: 32)."
    )
    learning_rate: Annotated[float, _TUNED] = Field(
        4e-3, gt=0, allow_inf_nan=False, description="bft: learning rate of the first gradient step (default: 0.004)."
    )
    fall: Annotated[float, _TUNED] = Field(
        0.05, ge=0, le=1, description="bft: share of the learning rate at the last step, linear (default: 0.05)."
    )
    clip: Annotated[float | None, _TUNED] = Field(
        None, gt=0, description="bft: largest norm of the gradient of each game (default: none)."
    )
    part: Annotated[Literal["encoder", "full"], _TUNED] = Field(
        "full", description="bft: part of the network that is tuned (default: full)."
    )
    bf16: Annotated[bool, _TUNED] = Field(
        False, description="bft: multiply in bfloat16, for CPUs that have it (default: false)."
    )

    @property
    @abstractmethod
    def fine_tunes(self) -> bool:
        """True if a belief is bft, the only one that is tuned."""


class Evaluation(FineTuningOptions):
    """An evaluation of beliefs on two-player Hanabi."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: Preset = Field(
        "small", description="small, or as the BFT paper: 300 games, 10,000 steps of the encoder, as it was trained"
    )
    form: Form = Field("hmm", description="whose policies are fixed and what is seen: hmm, pomdp or fosg")
    seat: int = Field(0, ge=0, le=1, description="in a pomdp, the one that sees and is not fixed")
    variant: Variant = Field("5-card-8-hint", description="of two-player Hanabi")
    players: list[str] = Field(["smart", "smart"], description="the fixed policies, one a seat")
    others: list[str] = Field(
        ["smart", "holmes", "simple", "piers", "iggi"],
        description="drawn among at each step by a seat that is not fixed",
    )
    estimators: list[str] = Field(
        ["v0", "counting", "v1", "seq2seq", "bft", "exact"], description=f"any of {', '.join(ESTIMATORS)}"
    )
    checkpoint: Path | None = Field(
        None, description="for seq2seq and bft: a network of `trickformer belief train --model lstm`"
    )
    transformer: Path | None = Field(
        None, description="for transformer: a network of `trickformer belief train --model transformer`"
    )
    games: int = Field(100, ge=1, le=1_000_000_000, description="games of the series")
    seed: int = Field(1, ge=0, lt=2**63, description="of the games, the draws and the estimators; not that of training")
    stack: int = Field(20, ge=1, le=10_000, description="games that are played, and fine-tuned, in step")
    worlds: int | None = Field(
        None,
        ge=1,
        le=10_000_000,
        description="worlds drawn for the gradient steps of a position; default: batch for each step up to 100, "
        "and for three steps in ten beyond 333",
    )
    alpha: float = Field(0.01, ge=0, le=1, description="share of V1 in v2")
    samples: int = Field(16, ge=1, le=100_000, description="draws of the other slots for a likelihood of bb and v2")
    particles: int = Field(2000, ge=1, le=10_000_000, description="worlds a game of particles and rejection")
    limit: int = Field(20_000, ge=1, le=100_000_000, description="hands that the exact belief lists at most")
    pairs: int = Field(400_000, ge=1, le=100_000_000, description="pairs of hands that the exact belief lists at most")
    threads: int = Field(1, ge=1, le=1_024, description="of torch")
    device: str = Field("cpu", description="of the networks, as torch names it")
    out: Path | None = Field(None, description="folder for records, report and plot")

    @property
    def fine_tunes(self) -> bool:
        return "bft" in self.estimators

    @model_validator(mode="before")
    @classmethod
    def _as_the_preset(cls, values: Any) -> Any:
        return _preset("evaluation", values)

    @field_validator("players", "others")
    @classmethod
    def _check_players(cls, names: list[str]) -> list[str]:
        return _among(names, SCRIPTED, "scripted player")

    @field_validator("estimators")
    @classmethod
    def _check_estimators(cls, given: list[str]) -> list[str]:
        names = _among(given, ESTIMATORS, "estimator")
        if len(set(names)) < len(names):
            raise ValueError("an estimator is named twice")
        return names

    @model_validator(mode="after")
    def _check_checkpoints(self) -> Self:
        if self.checkpoint is not None and not {"seq2seq", "bft"} & set(self.estimators):
            raise ValueError("checkpoint is for the estimators seq2seq and bft; neither is named")
        if self.transformer is not None and "transformer" not in self.estimators:
            raise ValueError("transformer is for the estimator transformer, which is not named")
        return self


def _preset(command: str, values: Any) -> Any:
    """What was given over what the preset has."""
    return PRESETS[command].get(str(values.get("preset")), {}) | values if isinstance(values, dict) else values


def _among(given: list[str], known: Sequence[str], what: str) -> list[str]:
    """Names, which commas may part as well."""
    names = [name for text in given for name in text.split(",")]
    if not names:
        raise ValueError(f"there is no {what}; choose from: {', '.join(known)}")
    for name in names:
        if name not in known:
            raise ValueError(f"no {what} {name!r}; choose from: {', '.join(known)}")
    return names
