"""What a run of self-play is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from trickformer import players
from trickformer.base import Game, game_name

# What a small model needs to learn from little data; docs/results/recipe.md says what for.
_LITTLE: dict[str, Any] = {
    "structured": True,
    "features": True,
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
# which leaves the batch open; the others are for a laptop, hours and minutes. A game differs from them (`schedule`).
SCHEDULES: dict[str, dict[str, Any]] = {
    "paper": {
        "bootstrap_hands": 4_000_000,
        "iterations": 10,
        "sequences": 500_000,
        "epochs": 3,
        "bootstrap_epochs": 3,
        "batch_size": 256,
        "bootstrap_learning_rate": 1e-4,
        "learning_rate": 1e-4,
        "held_out": 5_000,
        "match_deals": 100,
    },
    # The learner of the paper on a laptop: raw tokens, all outcomes, AdamW, three epochs, its roles and pool.
    # Only the size of the model, the amount of data, the batch and the learning rate differ.
    "paper-small": {
        "bootstrap_hands": 100_000,
        "seats_kept": 4,
        "iterations": 10,
        "sequences": 40_000,
        "epochs": 3,
        "bootstrap_epochs": 3,
        "batch_size": 64,
        "bootstrap_learning_rate": 1e-3,
        "learning_rate": 5e-4,
        "match_deals": 40,
    },
    "small": _LITTLE
    | {
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


def schedule(game: Game, preset: str) -> dict[str, Any]:
    """What a preset's name stands for in a game; of an unknown preset, what the game alone says.

    In `small` and `tiny` the first hands are the baseline player's, of every eighth seat random; no more seats are kept
    than there are."""
    found: dict[str, Any] = {"baseline": game.baseline} | SCHEDULES.get(preset, {})
    if "seats_kept" in found:
        found["seats_kept"] = min(found["seats_kept"], game.players)
    if preset in ("small", "tiny"):
        found["bootstrap"] = ["random", *([] if game.baseline == "random" else [game.baseline] * 7)]
    return found | dict(game.training.get(preset, {}))


class SelfPlay(BaseModel):
    """A run of population self-play. What is not given is as the preset has it in the game (`schedule`). Making one
    loads the game, and raises what that does."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str = Field(description="game string of OpenSpiel, such as hearts")
    preset: str = Field("small", description="size of the model, and the schedule: paper, paper-small, small or tiny")
    seed: int = Field(0, ge=0, lt=2**62, description="deals, roles, weights and batches follow from it")
    iterations: int = Field(3, ge=0, le=1_000_000, description="self-play iterations after model 0")

    start: str | None = Field(
        None, description="checkpoint that model 0 goes on from, a name or a folder; its size is kept"
    )
    bootstrap: list[str] = Field(["random"], min_length=1, description="who plays the hands that model 0 learns from")
    bootstrap_hands: int = Field(
        400_000,
        ge=0,
        le=100_000_000,
        description="hands that model 0 learns from; 0: it is the checkpoint that it starts from",
    )
    tries: int = Field(
        1, ge=1, le=1_000_000, description="of every second bootstrap hand, deals tried until the team succeeds (crew)"
    )
    sequences: int = Field(60_000, ge=4, le=100_000_000, description="sequences that an iteration learns from")
    held_out: int = Field(
        1_000, ge=1, le=100_000_000, description="further sequences that only measure what was learned"
    )
    seats_kept: int = Field(1, ge=1, le=100, description="sequences kept of a bootstrap or all-ArgmaxVal* hand")
    anchor: float = Field(
        0.0, ge=0, lt=1, description="share of later hands that the bootstrap's players play too; none where told"
    )
    roles: Literal["one", "all"] = Field("one", description="who plays ArgmaxVal* from iteration 2 on")
    guests: list[str] = Field(
        [], description="players who take seats that are not kept, from iteration 1 on, each drawn uniformly"
    )
    guest_share: float = Field(0.5, gt=0, le=1, description="share of these seats that they take, if there are any")
    pool: int = Field(
        0, ge=0, le=1_000_000, description="imitators are drawn from this many newest models; 0: from all"
    )
    pool_newest: bool = Field(True, description="the newest model is among the imitators too")
    threshold: float = Field(0.05, ge=0, le=1, description="of ArgmaxVal*")
    tables: int = Field(1_000, ge=1, le=100_000, description="hands played in step")
    rounded: bool = Field(True, description="hands are played with activations in bfloat16 where the CPU can: faster")

    epochs: int = Field(1, ge=1, le=1_000_000, description="passes over an iteration's data")
    bootstrap_epochs: int = Field(1, ge=1, le=1_000_000, description="the same of model 0")
    window: int = Field(1, ge=1, le=1_000_000, description="newest iterations whose data a model learns from")
    batch_size: int = Field(32, ge=1, le=1_000_000, description="sequences a training step, over all devices")
    bootstrap_learning_rate: float = Field(1e-3, gt=0, allow_inf_nan=False, description="peak for model 0")
    learning_rate: float = Field(5e-4, gt=0, allow_inf_nan=False, description="peak of later iterations")
    muon: float = Field(
        0.0,
        ge=0,
        allow_inf_nan=False,
        description="peak of Muon, which then learns the matrices of the blocks; 0: AdamW",
    )
    policy_weight: float = Field(
        9.0, gt=0, allow_inf_nan=False, description="weight of the policy loss; that of the value loss is 1"
    )
    action_weight: float = Field(
        0.0, ge=0, allow_inf_nan=False, description="weight of the action values' loss; 0: no action values"
    )
    label_share: float = Field(
        0.0, ge=0, le=1, description="share of own decisions whose legal actions get a value each"
    )
    label_playouts: int = Field(8, ge=1, le=100_000, description="playouts of each labelled action")
    label_worlds: bool = Field(
        False,
        description="from deals that explain what the seat saw, not from the deal as it was (hearts, skat, crew)",
    )
    told: bool = Field(
        False,
        description="the bootstrap's hands are labelled with what searches of their players brought, not by playouts; "
        "by players that tell visits and values of actions, such as gomcts and sparta",
    )
    quick: bool = Field(
        False, description="from iteration 1 on a quick network, learned beside the model, plays the playouts (hearts)"
    )
    quick_window: int = Field(
        4, ge=1, le=1_000_000, description="newest iterations whose labels the quick network goes on learning"
    )
    search_share: float = Field(
        0.0, ge=0, le=1, description="share of ArgmaxVal*'s decisions that GO-MCTS makes and labels; 0: none"
    )
    search_from: int = Field(
        1,
        ge=1,
        le=1_000_000,
        description="first iteration with searches, which then give all labels and leave no anchor",
    )
    search_runs: int = Field(
        50, ge=1, le=1_000_000, description="simulations of such a search, by model; the rest is as the game has it"
    )
    noise: float = Field(0.0, ge=0, lt=1, description="share of moves that are random")
    dropout: float = Field(0.05, ge=0, lt=1, description="of embeddings and residuals")
    structured: bool = Field(False, description="embeddings start alike for alike tokens, in a model from nothing")
    features: bool = Field(False, description="what the tokens so far say as numbers, an input of the model")
    masked: bool = Field(False, description="the policy is over the tokens that some deal allows next")
    value_classes: bool = Field(False, description="the value head tells outcomes apart by the own value alone")
    bucket: int = Field(
        1, ge=1, le=10_000, description="batches whose sequences are shared out by length: less padding"
    )
    augment: bool = Field(
        False, description="sequences are learned with what is alike by the rules exchanged at random (crew, hanabi)"
    )
    value_positions: int = Field(0, ge=0, le=10_000, description="positions that the value loss is taken at; 0: all")
    bf16: bool = Field(True, description="forward passes of training in bfloat16")
    threads: int = Field(1, ge=1, le=1_024, description="of torch while training")
    save_every: int = Field(500, ge=1, le=1_000_000_000, description="training steps between two states on disk")

    baseline: str = Field(
        "random", description="player that every iteration's ArgmaxVal* meets; as the game has it if not given"
    )
    match_deals: int = Field(20, ge=0, le=1_000_000, description="deals of an iteration's two matches; 0: none")

    workers: int = Field(1, ge=1, le=1_024, description="processes that play; the hands do not depend on it")
    ray: str | None = Field(None, description="Ray cluster that plays hands and matches: auto on a node, or HOST:PORT")
    peak_tflops: float | None = Field(None, gt=0, description="of the device: utilization is reported against it")
    stop_after: float | None = Field(None, gt=0, description="minutes after which the run stops, to be resumed")
    out: Path | None = Field(None, description="folder of the run; default: out/GAME-PRESET")

    _typed = field_validator("bootstrap", "guests", "baseline")(players.reject_program_specs)

    @model_validator(mode="before")
    @classmethod
    def _schedule(cls, values: Any) -> Any:
        if isinstance(values, dict) and isinstance(spec := values.get("game"), str):
            from trickformer import games

            values = schedule(games.load(spec), str(values.get("preset", "small"))) | values
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
        if self.told and not self.action_weight:
            raise ValueError("told needs action values: give action_weight")
        if bool(self.action_weight) != bool(self.label_share or self.told):
            raise ValueError("action_weight and label_share go together: give both, or neither")
        if self.quick and not self.label_share:
            raise ValueError("quick needs labels: give label_share")
        if self.search_share and not self.action_weight:
            raise ValueError("search_share needs action values: give action_weight")
        return self

    @model_validator(mode="after")
    def _within_what_the_game_allows(self) -> Self:
        from trickformer import games, tokenizers

        game = games.load(self.game)
        if self.guests and self.roles == "all" and self.seats_kept == game.players:
            raise ValueError("guests take seats that are not kept: lower seats_kept")
        tokenizer = tokenizers.find(game)
        able = tokenizer.abilities if tokenizer is not None else frozenset()
        if self.quick and "quick" not in able:
            raise ValueError(f"{self.game} is labelled by script; leave out quick")
        if self.label_worlds and "worlds" not in able:
            raise ValueError(f"{self.game} is labelled from the deal as it was; leave out label_worlds")
        if self.augment and "augment" not in able:
            raise ValueError(f"in {self.game} nothing is known to be alike; leave out augment")
        if self.tries > 1 and ("tries" not in able or self.bootstrap != ["random"]):
            raise ValueError("tries is for random players of a game that a team wins or loses, such as crew")
        return self

    def searches(self, iteration: int) -> bool:
        """Whether GO-MCTS makes and labels decisions of an iteration's hands."""
        return self.search_share > 0 and iteration >= self.search_from

    @property
    def folder(self) -> Path:
        return self.out or Path("out") / f"{game_name(self.game)}-{self.preset}"


# What neither weights nor matches depend on, and a resumed run may change.
FREE = frozenset({"iterations", "workers", "ray", "peak_tflops", "stop_after", "out", "save_every"})
