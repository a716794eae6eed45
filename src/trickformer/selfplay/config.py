"""What a run of self-play is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from trickformer.base import game_name

# What a small model needs to learn from little data; docs/results/recipe.md says what for.
_LITTLE: dict[str, Any] = {
    "structured": True,
    "facts": True,
    "masked": True,
    "value_classes": True,
    "seats_kept": 4,
    "noise": 0.03,
    "action_weight": 100.0,
    "policy_weight": 2.0,
    "muon": 0.02,
    "bootstrap_learning_rate": 3e-3,
    "dropout": 0.0,
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
        "bootstrap": ["random", *["rules"] * 7],
        "bootstrap_hands": 60_000,
        "label_share": 0.5,
        "label_playouts": 8,
        "iterations": 20,
        "sequences": 60_000,
        "anchor": 0.25,
        "roles": "all",
        "batch_size": 192,
        "learning_rate": 1.5e-3,
        "match_deals": 40,
    },
    "tiny": _LITTLE
    | {
        "bootstrap": ["random", *["rules"] * 7],
        "bootstrap_hands": 3_000,
        "label_share": 0.5,
        "label_playouts": 4,
        "iterations": 2,
        "sequences": 2_000,
        "roles": "all",
        "batch_size": 32,
        "learning_rate": 2e-3,
        "tables": 500,
        "held_out": 200,
        "match_deals": 10,
    },
}


# What another game has otherwise. Skat's is section 6.2: random and scripted players to begin with, twenty iterations,
# a pool of at most ten.
_SKAT: dict[str, Any] = {"bucket": 32}
_LITTLE_SKAT = _SKAT | {"seats_kept": 3, "noise": 0.1, "label_playouts": 2}
# Section 6.3: everybody plays the newest model, and first games are played until enough have succeeded. A sequence a
# game is kept, as in the other games; the paper does not say how many it kept.
_CREW: dict[str, Any] = {"roles": "all", "bucket": 32}
_LITTLE_CREW = _CREW | {"noise": 0.05, "label_worlds": True, "label_share": 0.25, "match_deals": 500}
# A team as in The Crew, of partners who spend few lives: a random one teaches nothing about hints.
_HANABI: dict[str, Any] = {
    "roles": "all",
    "bootstrap": ["partner"],
    "anchor": 0.5,
    "bucket": 32,
    "seats_kept": 2,
    "baseline": "partner",
}
_LITTLE_HANABI = _HANABI | {"noise": 0.02, "label_share": 0.08, "label_playouts": 4}
_LITTLE_HEARTS: dict[str, Any] = {"label_worlds": True, "quick": True, "label_playouts": 3}
GAMES: dict[str, dict[str, dict[str, Any]]] = {
    "hearts": {
        # Six iterations by the quick network, which is then full; GO-MCTS is a better judge, and a slower one.
        "small": _LITTLE_HEARTS | {"bootstrap_hands": 25_000, "search_share": 0.2, "search_from": 7},
        "tiny": _LITTLE_HEARTS,
    },
    "skat": {
        "paper": _SKAT | {"bootstrap": ["random", "rules"], "pool": 10, "iterations": 20},
        "small": _LITTLE_SKAT | {"match_deals": 50},
        "tiny": _LITTLE_SKAT,
    },
    "crew": {
        "paper": _CREW | {"bootstrap_hands": 10_000_000, "sequences": 2_000_000, "tries": 2_000},
        "small": _LITTLE_CREW | {"seats_kept": 2},
        "tiny": _LITTLE_CREW | {"match_deals": 100},
    },
    "hanabi": {"paper": _HANABI, "small": _LITTLE_HANABI, "tiny": _LITTLE_HANABI},
}


class Config(BaseModel):
    """A run of population self-play. What is not given is as the preset has it (SCHEDULES, GAMES)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str = Field(description="game string of OpenSpiel, such as hearts")
    preset: str = Field("small", description="size of the model, and the schedule: paper, small or tiny")
    seed: int = Field(0, ge=0, lt=2**62, description="deals, roles, weights and batches follow from it")
    iterations: int = Field(3, ge=0, description="self-play iterations after model 0")

    start: str | None = Field(
        None, description="checkpoint that model 0 goes on from, a name or a folder; its size is kept"
    )
    bootstrap: list[str] = Field(["random"], min_length=1, description="who plays the hands that model 0 learns from")
    bootstrap_hands: int = Field(
        400_000, ge=0, description="hands that model 0 learns from; 0: it is the checkpoint that it starts from"
    )
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
    action_weight: float = Field(0.0, ge=0, description="weight of the action values' loss; 0: no action values")
    label_share: float = Field(
        0.0, ge=0, le=1, description="share of own decisions whose legal actions get a value each"
    )
    label_playouts: int = Field(8, ge=1, description="playouts of each labelled action")
    label_worlds: bool = Field(
        False,
        description="playouts begin in deals that explain what the seat saw, not in the deal as it was (hearts, crew)",
    )
    quick: bool = Field(
        False, description="from iteration 1 on a quick network, learned beside the model, plays the playouts (hearts)"
    )
    quick_window: int = Field(4, ge=1, description="newest iterations whose labels the quick network goes on learning")
    search_share: float = Field(
        0.0, ge=0, le=1, description="share of ArgmaxVal*'s decisions that GO-MCTS makes and labels; 0: none"
    )
    search_from: int = Field(
        1, ge=1, description="first iteration with searches, which then give all labels and leave no anchor"
    )
    search_runs: int = Field(50, ge=1, description="simulations of such a search; the rest is the paper's")
    noise: float = Field(0.0, ge=0, lt=1, description="share of moves that are random")
    dropout: float = Field(0.05, ge=0, lt=1, description="of embeddings and residuals")
    structured: bool = Field(False, description="embeddings start alike for alike tokens")
    facts: bool = Field(False, description="what the tokens so far say as numbers, an input of the model")
    masked: bool = Field(False, description="the policy is over the tokens that some deal allows next")
    value_classes: bool = Field(False, description="the value head tells outcomes apart by the own value alone")
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
        if not self.bootstrap_hands and not self.start:
            raise ValueError("bootstrap_hands is 0: there must be a checkpoint to start from")
        least = self.bootstrap_hands * self.seats_kept or self.sequences
        if self.batch_size > min(least, self.sequences):
            raise ValueError("batch_size is larger than bootstrap_hands or sequences: there would be no training step")
        return self

    @model_validator(mode="after")
    def _labels_are_learned(self) -> Self:
        if bool(self.action_weight) != bool(self.label_share):
            raise ValueError("action_weight and label_share go together: give both, or neither")
        if self.quick and game_name(self.game) != "hearts":
            raise ValueError("quick is for hearts: other games label by script")
        if self.label_worlds and game_name(self.game) not in ("hearts", "crew"):
            raise ValueError("label_worlds is for hearts and crew: other games label from the deal as it was")
        if self.search_share and not self.action_weight:
            raise ValueError("search_share needs action values: give action_weight")
        if self.quick and not self.label_share:
            raise ValueError("quick needs labels: give label_share")
        return self

    @model_validator(mode="after")
    def _of_random_players(self) -> Self:
        if self.tries > 1 and (game_name(self.game) != "crew" or self.bootstrap != ["random"]):
            raise ValueError("tries is for the random players of crew")
        return self

    def searches(self, iteration: int) -> bool:
        """Whether GO-MCTS makes and labels decisions of an iteration's hands."""
        return self.search_share > 0 and iteration >= self.search_from

    @property
    def folder(self) -> Path:
        return self.out or Path("out") / f"{game_name(self.game)}-{self.preset}"


# What neither weights nor matches depend on, and a resumed run may change.
FREE = frozenset({"workers", "ray", "peak_tflops", "stop_after", "out", "save_every"})
