"""What a run of self-play is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from trickformer.base import game_name

# What a small model needs to learn from little data; docs/results/hearts-training.md says what for.
_LITTLE: dict[str, Any] = {
    "batch_size": 32,
    "policy_weight": 3.0,
    "facts_weight": 2.0,
    "dropout": 0.0,
    "structured": True,
    "tied_outcomes": True,
    "value_positions": 16,
}

# What a preset's name stands for besides the model's size. `paper` is section 6.1 and Table 6 of the GO-MCTS paper,
# which leaves the batch open; the others are for a laptop, hours and minutes.
SCHEDULES: dict[str, dict[str, Any]] = {
    "paper": {
        "bootstrap_hands": 4_000_000,
        "iterations": 10,
        "sequences": 500_000,
        "epochs": 3,
        "batch_size": 256,
        "bootstrap_learning_rate": 1e-4,
        "learning_rate": 1e-4,
        "held_out": 5_000,
        "match_deals": 100,
    },
    "small": _LITTLE
    | {
        "bootstrap_hands": 75_000,
        "seats_kept": 4,
        "iterations": 6,
        "sequences": 100_000,
        "epochs": 2,
        "pool": 3,
        "bootstrap_learning_rate": 1e-3,
        "learning_rate": 1e-3,
    },
    "tiny": _LITTLE
    | {
        "bootstrap_hands": 20_000,
        "iterations": 2,
        "sequences": 4_000,
        "bootstrap_learning_rate": 3e-3,
        "learning_rate": 2e-3,
        "tables": 500,
        "held_out": 200,
        "match_deals": 10,
    },
}


# What another game has otherwise. Skat's is section 6.2: random and scripted players to begin with, twenty iterations,
# a pool of at most ten.
_SKAT: dict[str, Any] = {"bootstrap": ["random", "rules"], "pool": 10, "bucket": 32}
# Three scripted seats to a random one, or nobody bids any more (docs/results/skat-training.md).
_LITTLE_SKAT = _SKAT | {"bootstrap": ["random", "rules", "rules", "rules"], "anchor": 0.3}
# Section 6.3: everybody plays the newest model, and first games are played until enough have succeeded. A sequence a
# game is kept, as in the other games; the paper does not say how many it kept.
_CREW: dict[str, Any] = {"roles": "all", "bucket": 32, "tries": 2_000}
# A team as in The Crew. Random players spend all lives in nearly every game, so that first games are mostly scripted
# ones'.
_HANABI: dict[str, Any] = {
    "roles": "all",
    "bootstrap": ["random", *["partner"] * 7],
    "anchor": 0.5,
    "bucket": 32,
    "seats_kept": 2,
    "baseline": "partner",
}
GAMES: dict[str, dict[str, dict[str, Any]]] = {
    "skat": {
        "paper": _SKAT | {"iterations": 20},
        "small": _LITTLE_SKAT
        | {"bootstrap_hands": 110_000, "seats_kept": 3, "iterations": 3, "pool": 3, "match_deals": 50},
        "tiny": _LITTLE_SKAT,
    },
    "crew": {
        "paper": _CREW | {"bootstrap_hands": 10_000_000, "sequences": 2_000_000},
        # Random games teach so small a model little in an hour (docs/results/crew-training.md): it begins with those
        # of scripted players, a random one among eight.
        "small": _CREW
        | {
            "tries": 1,
            "bootstrap": ["random", *["rules"] * 7],
            "anchor": 0.5,
            "bootstrap_hands": 480_000,
            "seats_kept": 2,
            "iterations": 4,
            "sequences": 120_000,
            "epochs": 1,
            "muon": 0.02,
            "policy_weight": 2.0,
            "facts_weight": 1.0,
            "bootstrap_learning_rate": 3e-3,
            "learning_rate": 2e-3,
            "match_deals": 1_000,
        },
        "tiny": _CREW | {"tries": 200, "match_deals": 100},
    },
    "hanabi": {"paper": _HANABI, "small": _HANABI, "tiny": _HANABI},
}


class Config(BaseModel):
    """A run of population self-play. What is not given is as the preset has it (SCHEDULES, GAMES)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str = Field(description="game string of OpenSpiel, such as hearts")
    preset: str = Field("small", description="size of the model, and the schedule: paper, small or tiny")
    seed: int = Field(0, ge=0, lt=2**62, description="deals, roles, weights and batches follow from it")
    iterations: int = Field(3, ge=0, description="self-play iterations after model 0")

    bootstrap: list[str] = Field(["random"], min_length=1, description="who plays the hands that model 0 learns from")
    bootstrap_hands: int = Field(400_000, ge=1, description="hands that model 0 learns from")
    tries: int = Field(
        1, ge=1, description="of every second bootstrap hand, deals tried until the team succeeds (crew)"
    )
    sequences: int = Field(60_000, ge=4, description="sequences that an iteration learns from")
    held_out: int = Field(1_000, ge=1, description="further sequences that only measure what was learned")
    seats_kept: int = Field(1, ge=1, le=4, description="sequences kept of a bootstrap or all-ArgmaxVal* hand")
    anchor: float = Field(0.0, ge=0, lt=1, description="share of later hands that the bootstrap's players play too")
    roles: Literal["one", "all"] = Field("one", description="who plays ArgmaxVal* from iteration 2 on")
    pool: int = Field(0, ge=0, description="imitators are drawn from this many newest models; 0: from all")
    pool_newest: bool = Field(True, description="the newest model is among the imitators too")
    threshold: float = Field(0.05, ge=0, le=1, description="of ArgmaxVal*")
    tables: int = Field(1_000, ge=1, description="hands played in step")
    rounded: bool = Field(True, description="hands are played with activations in bfloat16 where the CPU can: faster")

    epochs: int = Field(1, ge=1, description="passes over an iteration's data; model 0 makes one")
    batch_size: int = Field(32, ge=1, description="sequences a training step, over all devices")
    bootstrap_learning_rate: float = Field(1e-3, gt=0, description="peak for model 0")
    learning_rate: float = Field(5e-4, gt=0, description="peak of later iterations")
    muon: float = Field(0.0, ge=0, description="peak of Muon, which then learns the matrices of the blocks; 0: AdamW")
    policy_weight: float = Field(9.0, gt=0, description="weight of the policy loss; that of the value loss is 1")
    facts_weight: float = Field(
        0.0, ge=0, description="weight of learning who is to play next, and the game's other facts"
    )
    dropout: float = Field(0.05, ge=0, lt=1, description="of embeddings and residuals")
    structured: bool = Field(False, description="embeddings start alike for alike tokens")
    tied_outcomes: bool = Field(False, description="outcomes that share a score learn together")
    bucket: int = Field(1, ge=1, description="batches whose sequences are shared out by length: less padding")
    value_positions: int = Field(0, ge=0, description="positions that the value loss is taken at; 0: all")
    bf16: bool = Field(True, description="forward passes of training in bfloat16")
    threads: int = Field(1, ge=1, description="of torch while training")
    save_every: int = Field(500, ge=1, description="training steps between two states on disk")

    baseline: str = Field("rules", description="player that every iteration's ArgmaxVal* meets")
    match_deals: int = Field(20, ge=0, description="deals of an iteration's two matches; 0: none")

    workers: int = Field(1, ge=1, description="processes that play; the hands do not depend on it")
    ray: str | None = Field(None, description="Ray cluster that plays hands and matches: auto on a node, or HOST:PORT")
    peak_tflops: float | None = Field(None, gt=0, description="of the device: utilization is reported against it")
    stop_after: float | None = Field(None, gt=0, description="minutes after which the run stops, to be resumed")
    out: Path | None = Field(None, description="folder of the run; default: out/GAME-PRESET")

    @model_validator(mode="before")
    @classmethod
    def _schedule(cls, values: Any) -> Any:
        if isinstance(values, dict):
            preset, game = str(values.get("preset", "small")), game_name(str(values.get("game")))
            values = SCHEDULES.get(preset, {}) | GAMES.get(game, {}).get(preset, {}) | values
        return values

    @model_validator(mode="after")
    def _one_step(self) -> Self:
        if self.batch_size > min(self.bootstrap_hands * self.seats_kept, self.sequences):
            raise ValueError("batch_size is larger than bootstrap_hands or sequences: there would be no training step")
        return self

    @model_validator(mode="after")
    def _of_random_players(self) -> Self:
        if self.tries > 1 and (game_name(self.game) != "crew" or self.bootstrap != ["random"]):
            raise ValueError("tries is for the random players of crew")
        return self

    @property
    def folder(self) -> Path:
        return self.out or Path("out") / f"{game_name(self.game)}-{self.preset}"


# What neither weights nor matches depend on, and a resumed run may change.
FREE = frozenset({"workers", "ray", "peak_tflops", "stop_after", "out", "save_every"})
