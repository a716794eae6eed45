"""Settings of training and evaluating beliefs of Hanabi. Imports neither torch nor OpenSpiel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from trickformer.plumbing.config import changed_fields, option
from trickformer.plumbing.options import Applies

Form: TypeAlias = Literal["hmm", "pomdp", "fosg"]
Variant: TypeAlias = Literal["5-card-8-hint", "5-card-2-hint", "7-card-4-hint"]
# Options of the game that the training and the evaluation share.
FormOption: TypeAlias = Annotated[
    Form,
    Field(description="Policies that are fixed: every seat's (hmm), all but that of --seat (pomdp), none (fosg)."),
]
SeatOption: TypeAlias = Annotated[int, Field(ge=0, le=1, description="Seat that estimates its hand in a pomdp.")]
VariantOption: TypeAlias = Annotated[
    Variant,
    Field(description="Variant of two-player Hanabi: 5-card-8-hint, 5-card-2-hint or 7-card-4-hint."),
]
VARIANTS: dict[str, dict[str, int]] = {  # variants of two-player Hanabi, as parameters of the core's rules
    "5-card-8-hint": {},
    "5-card-2-hint": {"hints": 2},
    "7-card-4-hint": {"hand": 7, "hints": 4},
}
SCRIPTED = ("simple", "holmes", "smart", "iggi", "piers", "flawed")
NETWORK = "obl"  # player whose specs name a network
# The preset `small` has the settings behind docs/results/belief.md, except --bf16. The preset `paper` has the settings
# of the BFT paper (sections 4.1, A.2.2, A.2.3). Settings that the paper omits are from the code that it cites, the
# repository off-belief-learning: 1,000 batches an epoch, all positions, Adam at a fixed rate. `stack` is small because
# memory must hold the worlds of 10,000 steps. The paper drew games of R2D2 players from a replay buffer. Here no game
# is used twice.
_PAPER: dict[str, Any] = {"learning_rate": 1e-3, "fall": 1.0, "clip": 50.0}
_PAPER_TRAINING: dict[str, Any] = {"hidden": 512, "games": 128, "targets": 80, "steps": 400_000} | _PAPER
_PAPER_EVALUATION: dict[str, Any] = {
    "games": 300,
    "steps": 10_000,
    "batch": 128,
    "part": "encoder",
    "stack": 4,
} | _PAPER
PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "training": {"small": {}, "paper": _PAPER_TRAINING},
    "evaluation": {"small": {}, "paper": _PAPER_EVALUATION},
}
Preset: TypeAlias = Literal["small", "paper"]
ESTIMATORS = ("v0", "counting", "v1", "bb", "v2", "particles", "rejection", "seq2seq", "transformer", "bft", "exact")


class BeliefTraining(BaseModel):
    """Training of one belief network."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: Preset = Field(
        "small", description="Defaults: small, or paper, as in the BFT paper (512 units, 400,000 steps)."
    )
    form: FormOption = "hmm"
    seat: SeatOption = 0
    variant: VariantOption = "5-card-8-hint"
    players: list[str] = Field(
        ["smart", "smart"],
        description="Script or network (obl:checkpoint=NAME) of each seat in the training games.",
    )
    model: Literal["lstm", "transformer"] = Field(
        "lstm", description="Encoder: lstm, on observations, or transformer (GPT-2), on the tokenizer's sequences."
    )
    hidden: int = Field(128, ge=8, le=65_536, description="Number of units in a layer.")
    layers: int = Field(2, ge=1, le=1_024, description="Number of layers of the encoder.")
    heads: int = Field(
        4, ge=1, le=1_024, description="Attention heads in a layer of the transformer. They divide its units."
    )
    games: int = Field(32, ge=1, le=1_000_000_000, description="Number of games in a gradient step.")
    targets: int = Field(12, ge=1, le=10_000, description="Number of random positions of each game in a gradient step.")
    steps: int = Field(3000, ge=1, le=1_000_000_000, description="Number of gradient steps.")
    learning_rate: float = Field(4e-3, gt=0, le=1_000, description="Learning rate of Adam at the start.")
    fall: float = Field(0.1, ge=0, le=1, description="Last learning rate as a share of the first, along a cosine.")
    clip: float = Field(
        1.0, gt=0, allow_inf_nan=False, description="Largest norm of a gradient. Longer ones are scaled down."
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the games and the first weights.")
    threads: int = Field(1, ge=1, le=1_024, description="Number of PyTorch threads.")
    device: str = Field("cpu", description="PyTorch device of the network.")
    save_every: int = Field(500, ge=1, le=1_000_000_000, description="Gradient steps between two saved states.")
    out: Path = Field(Path("out/belief"), description="Folder of the run.")

    @model_validator(mode="before")
    @classmethod
    def _as_the_preset(cls, values: Any) -> Any:
        return _preset("training", values)

    @field_validator("players")
    @classmethod
    def _check_players(cls, arguments: list[str]) -> list[str]:
        return _split_players(arguments)

    @model_validator(mode="after")
    def _check_heads(self) -> Self:
        if self.model == "transformer" and self.hidden % self.heads:
            raise ValueError(f"--hidden {self.hidden} is not a multiple of --heads {self.heads}; change one of them")
        return self

    @model_validator(mode="after")
    def _check_read(self, info: ValidationInfo) -> Self:
        changed = changed_fields(self, info, PRESETS["training"][self.preset])
        if "heads" in changed and self.model != "transformer":
            raise ValueError("--heads is for --model transformer; give that model, or leave out --heads")
        if "seat" in changed and self.form != "pomdp":
            raise ValueError(f"--seat is for --form pomdp, not {self.form}; give that form, or leave out --seat")
        return self


_TUNED = Applies(
    "belief=bft in hanabi",
    lambda options, game: options.fine_tunes and (game is None or game.name == "hanabi"),
    ("belief", "bft"),
)


class FineTuningOptions(BaseModel, ABC):
    """Settings of the belief bft, which fine-tunes a network at each position of a game."""

    steps: Annotated[int, _TUNED] = Field(
        100,
        ge=0,
        le=1_000_000_000,
        description="Belief fine-tuning (bft): gradient steps at each position (default: 100).",
    )
    batch: Annotated[int, _TUNED] = Field(
        32, ge=1, le=100_000, description="bft: worlds in a gradient step (default: 32)."
    )
    learning_rate: Annotated[float, _TUNED] = Field(
        4e-3, gt=0, le=1_000, description="bft: learning rate of the first gradient step (default: 0.004)."
    )
    fall: Annotated[float, _TUNED] = Field(
        0.05,
        ge=0,
        le=1,
        description="bft: share of the learning rate left after all steps, falling linearly (default: 0.05).",
    )
    clip: Annotated[float | None, _TUNED] = Field(
        None, gt=0, description="bft: largest norm of a gradient, to which longer ones are scaled (default: none)."
    )
    part: Annotated[Literal["encoder", "full"], _TUNED] = Field(
        "full", description="bft: part of the network that is tuned: encoder or full (default: full)."
    )
    bf16: Annotated[bool, _TUNED] = Field(
        False, description="bft: multiply in bfloat16, for CPUs that have it (default: false)."
    )

    @property
    @abstractmethod
    def fine_tunes(self) -> bool:
        """True if the belief bft is in use, the only one that is fine-tuned."""


# Options of the evaluation that only some estimators read.
_READ_BY_ESTIMATORS: dict[str, tuple[str, ...]] = {
    "checkpoint": ("seq2seq", "bft"),
    "transformer": ("transformer",),
    "worlds": ("bft",),
    "alpha": ("v2",),
    "samples": ("bb", "v2"),
    "particles": ("particles", "rejection"),
    "limit": ("exact",),
    "pairs": ("exact",),
} | dict.fromkeys(FineTuningOptions.model_fields, ("bft",))


class Evaluation(FineTuningOptions):
    """Evaluation of beliefs on two-player Hanabi."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: Preset = Field(
        "small", description="Defaults: small, or paper, as in the BFT paper (300 games, part encoder, 10,000 steps)."
    )
    form: FormOption = "hmm"
    seat: SeatOption = 0
    variant: VariantOption = "5-card-8-hint"
    players: list[str] = Field(
        ["smart", "smart"],
        description="Policy of each seat: simple, holmes, smart, iggi, piers, flawed or obl:checkpoint=NAME.",
    )
    others: list[str] = Field(
        ["smart", "holmes", "simple", "piers", "iggi"],
        description="Scripts that play --seat (pomdp) or all seats (fosg), one drawn for each move.",
    )
    estimators: list[str] = Field(
        ["v0", "counting", "v1", "seq2seq", "bft", "exact"], description=f"Any of {', '.join(ESTIMATORS)}."
    )
    checkpoint: Path | None = Field(
        None, description="seq2seq, bft: run folder of `belief train --model lstm`, or its model.safetensors."
    )
    transformer: Path | None = Field(
        None, description="transformer: run folder of `belief train --model transformer`, or its weights file."
    )
    games: int = Field(100, ge=1, le=1_000_000_000, description="Number of games.")
    games_from: Path | None = Field(
        None, description="Run folder or file of recorded games to use in hmm and pomdp (default: new games)."
    )
    played_by: str | None = Field(
        None, description="Only recorded games in which this player, such as sparta, has the seat --seat."
    )
    seed: int = Field(
        1, ge=0, lt=2**63, description="Seed of the games and of all draws. It must differ from the training's."
    )
    stack: int = Field(
        20,
        ge=1,
        le=10_000,
        description="Games played and fine-tuned in lockstep. In pomdp and fosg the games depend on it.",
    )
    worlds: int | None = Field(
        None,
        ge=1,
        le=10_000_000,
        description="bft: worlds drawn at each position (default: chosen by the number of steps).",
    )
    alpha: float = Field(0.01, ge=0, le=1, description="v2: share of v1 in its mixture with bb.")
    samples: int = Field(
        16, ge=1, le=100_000, description="bb, v2: number of hands drawn to estimate the likelihood of a move."
    )
    particles: int = Field(
        2000, ge=1, le=10_000_000, description="particles, rejection: number of worlds for each game."
    )
    limit: int = Field(20_000, ge=1, le=100_000_000, description="exact: largest number of possible hands to list.")
    pairs: int = Field(
        400_000, ge=1, le=100_000_000, description="exact: largest number of pairs of both seats' hands to list."
    )
    threads: int = Field(1, ge=1, le=1_024, description="Number of PyTorch threads.")
    device: str = Field("cpu", description="PyTorch device of the networks.")
    out: Path | None = Field(None, description="Folder for records, report and plot.")

    @property
    def fine_tunes(self) -> bool:
        return "bft" in self.estimators

    @model_validator(mode="before")
    @classmethod
    def _as_the_preset(cls, values: Any) -> Any:
        return _preset("evaluation", values)

    @field_validator("players")
    @classmethod
    def _check_players(cls, arguments: list[str]) -> list[str]:
        return _split_players(arguments)

    @field_validator("others")
    @classmethod
    def _check_others(cls, names: list[str]) -> list[str]:
        return _split_names(names, SCRIPTED, "scripted player")

    @field_validator("estimators")
    @classmethod
    def _check_estimators(cls, arguments: list[str]) -> list[str]:
        names = _split_names(arguments, ESTIMATORS, "estimator")
        if len(set(names)) < len(names):
            raise ValueError("an estimator is named twice; name each once")
        return names

    @model_validator(mode="after")
    def _check_estimators_options(self, info: ValidationInfo) -> Self:
        in_files = ("checkpoint", "transformer")  # files of earlier versions may set the others
        for name in changed_fields(self, info, PRESETS["evaluation"][self.preset], in_files):
            readers = _READ_BY_ESTIMATORS.get(name)
            if readers is not None and not set(readers) & set(self.estimators):
                which, remedy = ("estimators", "one") if len(readers) > 1 else ("estimator", "it")
                raise ValueError(
                    f"{option(name)} is for the {which} {' and '.join(readers)}; add {remedy} to --estimators"
                )
        return self

    @model_validator(mode="after")
    def _check_who_moves(self, info: ValidationInfo) -> Self:
        changed = changed_fields(self, info)
        if self.form == "fosg" and "players" in changed:
            raise ValueError("in form fosg the scripts of --others make all moves; leave out --players")
        if self.form == "hmm" and "others" in changed:
            raise ValueError("--others is for the forms pomdp and fosg; in form hmm --players make all moves")
        if self.games_from is not None and "others" in changed:
            raise ValueError("--others plays new games, not those of --games-from; leave out one of them")
        if self.form != "pomdp" and self.played_by is None and "seat" in changed:
            raise ValueError(f"--seat is for --form pomdp and --played-by; in form {self.form}, leave out --seat")
        if self.form == "pomdp" and "pairs" in changed:
            raise ValueError("--pairs is for the forms hmm and fosg, in which both hands are hidden; leave out --pairs")
        if self.form == "fosg" and self.games_from is not None:
            raise ValueError("--games-from is for the forms hmm and pomdp, because records do not hold fosg's controls")
        if self.played_by is not None and self.games_from is None:
            raise ValueError("--played-by selects games of --games-from; give that option too")
        return self


def _preset(command: str, values: Any) -> Any:
    """Add the settings of a preset, unless they are set explicitly."""
    return PRESETS[command].get(str(values.get("preset")), {}) | values if isinstance(values, dict) else values


def _split_players(arguments: list[str]) -> list[str]:
    """Split arguments into players as `_split_names` does, except the specs of networks, which may contain commas."""
    known = (*SCRIPTED, f"{NETWORK}:checkpoint=...")
    players: list[str] = []
    for text in arguments:
        if f",{NETWORK}:" in text:
            raise ValueError("give each network as an argument of its own, without commas between players")
        players += [text] if text.partition(":")[0] == NETWORK else _split_names([text], known, "player")
    return players or _split_names([], known, "player")


def _split_names(arguments: list[str], known: Sequence[str], what: str) -> list[str]:
    """Split arguments at commas into names; raise ValueError if a name is not in `known`. `what` is for messages."""
    names = [name for text in arguments for name in text.split(",")]
    if not names:
        raise ValueError(f"no {what} is named; choose from: {', '.join(known)}")
    for name in names:
        if name not in known:
            raise ValueError(f"no {what} {name!r}; choose from: {', '.join(known)}")
    return names
