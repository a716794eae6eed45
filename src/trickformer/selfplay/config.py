"""Config of a self-play run, and the schedules behind its presets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from trickformer import checkpoints, players
from trickformer.base import FastGame, Game, TrickformerError, UnknownNameError, game_name
from trickformer.plumbing.config import changed_fields, current_names, typed_option, validate_game
from trickformer.plumbing.help_pages import Panels

# Settings of small models that learn from little data; docs/results/recipe.md gives the reasons.
_LITTLE_DATA: dict[str, Any] = {
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

# Settings of a preset besides the model's size. `paper` follows section 6.1 and Table 6 of the GO-MCTS paper, which
# does not give the batch size. The others take hours or minutes on a laptop. A game may override them (`schedule`).
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
    # The paper's method on a laptop. Only the size of the model, the amount of data, the batch size, the learning rates
    # and the optimizer differ. Muon reaches the loss of AdamW, the paper's optimizer, from a quarter of the sequences.
    "paper-small": {
        "bootstrap_hands": 100_000,
        "seats_kept": 4,
        "iterations": 10,
        "sequences": 40_000,
        "epochs": 3,
        "bootstrap_epochs": 3,
        "batch_size": 64,
        "muon": 0.02,
        "bootstrap_learning_rate": 3e-3,
        "learning_rate": 1.5e-3,
        "match_deals": 40,
    },
    "small": _LITTLE_DATA
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
    "tiny": _LITTLE_DATA
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
    """Return the settings of a preset in a game; for an unknown preset only those that the game sets for it.

    In `small` and `tiny` a bootstrap seat plays at random with probability 1/8, else like the baseline. A preset keeps
    the sequences of at most as many seats as the game has.

    Args:
        game: The game.
        preset: Name of the preset.
    """
    settings: dict[str, Any] = {"baseline": game.baseline} | SCHEDULES.get(preset, {})
    if "seats_kept" in settings:
        settings["seats_kept"] = min(settings["seats_kept"], game.players)
    if preset in ("small", "tiny"):
        settings["bootstrap"] = ["random", *([] if game.baseline == "random" else [game.baseline] * 7)]
    return settings | current_names(SelfPlay, game.training.get(preset, {}))


def effective_defaults(words: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """Collect the defaults for a command line, for its help page.

    Args:
        words: Words of the command line by option (default: `game` hearts, `preset` small).

    Returns:
        A sentence that names the game and the preset, and the defaults by field.

    Raises:
        TrickformerError: The game or the preset is unknown.
    """
    from trickformer import games

    spec, preset = words.get("game", "hearts"), words.get("preset", "small")
    _require_preset(preset)
    note = f"Defaults: preset {preset} in {game_name(spec)}."
    if "game" not in words:
        note += " Others: trickformer train GAME --help."
    folder = Path("out") / f"{game_name(spec)}-{preset}"
    return note, {"preset": preset, "out": folder} | schedule(games.load(spec), preset)


def _require_preset(name: str) -> None:
    if name not in SCHEDULES:
        raise UnknownNameError("preset", name, tuple(SCHEDULES))


class SelfPlay(BaseModel):
    """Config of a run of population self-play.

    The preset and the game set the defaults (`schedule`). The constructor loads the game, so it raises the errors of
    `games.load`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    FORMER_NAMES: ClassVar[dict[str, str]] = {
        "told": "expert_iteration",
        "quick": "rollout_network",
        "quick_window": "rollout_network_window",
        "facts": "features",
    }
    PANELS: ClassVar[Panels] = {
        "Run": ("preset seed iterations stop_after out config resume", "save_every"),
        "Data": (
            "bootstrap_hands sequences",
            "bootstrap tries held_out seats_kept anchor roles guests guest_share pool pool_newest threshold noise",
        ),
        "Targets": (
            "",
            "label_share label_playouts label_worlds expert_iteration rollout_network rollout_network_window "
            "search_share search_from search_runs",
        ),
        "Model": ("start", "structured features script_features masked value_classes"),
        "Learning": (
            "batch_size learning_rate",
            "bootstrap_learning_rate epochs bootstrap_epochs window muon policy_weight action_weight dropout bucket "
            "augment value_positions",
        ),
        "Matches": ("", "baseline match_deals"),
        "Machine": ("workers threads", "ray tables rounded bf16 peak_tflops"),
    }

    game: str = Field(description="Game of `trickformer games`, such as hearts.")
    preset: str = Field(
        "small", description="Size of the model and schedule of the run: paper, paper-small, small or tiny."
    )
    seed: int = Field(
        0, ge=0, lt=2**62, description="Seed of the deals, the players of the seats, the weights and the batches."
    )
    iterations: int = Field(3, ge=0, le=1_000_000, description="Number of self-play iterations after model 0.")

    start: str | None = Field(
        None,
        min_length=1,
        description="Checkpoint that model 0 starts from, by name or folder. It sets the model's size.",
    )
    bootstrap: list[str] = Field(
        ["random"],
        min_length=1,
        description="Specs of the players whose hands train model 0, drawn for each seat. Repeats add weight.",
    )
    bootstrap_hands: int = Field(
        400_000,
        ge=0,
        le=100_000_000,
        description="Number of hands that model 0 learns from. 0: model 0 is the --start checkpoint.",
    )
    tries: int = Field(
        1,
        ge=1,
        le=1_000_000,
        description="The Crew, --bootstrap random: most deals for every second hand, dealt until it is won.",
    )
    sequences: int = Field(
        60_000, ge=4, le=100_000_000, description="Number of new sequences that each iteration learns from."
    )
    held_out: int = Field(
        1_000, ge=1, le=100_000_000, description="Number of further sequences of each iteration that measure the model."
    )
    seats_kept: int = Field(
        1, ge=1, le=100, description="Number of seats of a hand whose sequences become training data, with --roles all."
    )
    anchor: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Share of later iterations' hands that --bootstrap players play, without search labels.",
    )
    roles: Literal["one", "all"] = Field(
        "one",
        description="Seats that play ArgmaxVal* from iteration 2 on: all, or one (others sample a policy).",
    )
    guests: list[str] = Field(
        [], description="Specs of players for seats with discarded sequences, from iteration 1 on."
    )
    guest_share: float = Field(
        0.5, gt=0, le=1, description="Share that --guests take of the seats with discarded sequences."
    )
    pool: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="With --roles one: number of newest models that play the other seats. 0 means all models.",
    )
    pool_newest: bool = Field(True, description="Whether the newest model is in the --pool.")
    threshold: float = Field(
        0.05,
        ge=0,
        le=1,
        description="ArgmaxVal* takes only actions with at least this share of the legal policy.",
    )
    tables: int = Field(1_000, ge=1, le=100_000, description="Number of hands played in lockstep.")
    rounded: bool = Field(True, description="Whether hands are played with bfloat16 activations if the CPU has them.")

    epochs: int = Field(1, ge=1, le=1_000_000, description="Number of passes over the data of each iteration.")
    bootstrap_epochs: int = Field(1, ge=1, le=1_000_000, description="Number of passes over the bootstrap data.")
    window: int = Field(
        1, ge=1, le=1_000_000, description="Number of newest iterations whose data a model learns from."
    )
    batch_size: int = Field(
        32, ge=1, le=1_000_000, description="Number of sequences in a training step, over all devices."
    )
    bootstrap_learning_rate: float = Field(1e-3, gt=0, le=1_000, description="Peak learning rate of model 0.")
    learning_rate: float = Field(5e-4, gt=0, le=1_000, description="Peak learning rate of models 1, 2, ....")
    muon: float = Field(
        0.0,
        ge=0,
        le=1_000,
        description="Peak rate of Muon for model 0. Later models scale it like the learning rate. 0: none.",
    )
    policy_weight: float = Field(
        9.0,
        gt=0,
        allow_inf_nan=False,
        description="Policy loss weight. Progress shows the weighted losses, divided by 1 + this.",
    )
    action_weight: float = Field(
        0.0,
        ge=0,
        allow_inf_nan=False,
        description="Loss weight of action values. At 0 the model predicts none, and --label-share must be 0.",
    )
    label_share: float = Field(
        0.0, ge=0, le=1, description="Share of the kept seats' decisions whose legal actions get value labels."
    )
    label_playouts: int = Field(8, ge=1, le=100_000, description="Number of playouts for the label of an action.")
    label_worlds: bool = Field(
        False, description="Whether playouts in Hearts, Skat and The Crew start from sampled worlds."
    )
    expert_iteration: bool = Field(
        False, description="Whether bootstrap hands are labelled by the searches that play them, such as sparta."
    )
    rollout_network: bool = Field(
        False, description="Hearts: whether a small rollout network plays the labels' playouts from iteration 1 on."
    )
    rollout_network_window: int = Field(
        4, ge=1, le=1_000_000, description="Number of newest iterations whose labels the rollout network learns."
    )
    search_share: float = Field(
        0.0, ge=0, le=1, description="Share of ArgmaxVal* decisions in which GO-MCTS acts. Its values are the labels."
    )
    search_from: int = Field(
        1,
        ge=1,
        le=1_000_000,
        description="With --search-share above 0: first iteration in which GO-MCTS acts and labels.",
    )
    search_runs: int = Field(50, ge=1, le=1_000_000, description="Number of GO-MCTS simulations for a decision.")
    noise: float = Field(0.0, ge=0, lt=1, description="Share of moves that are random.")
    dropout: float = Field(0.05, ge=0, lt=1, description="Dropout rate of embeddings and residuals.")
    structured: bool = Field(
        False, description="Whether the embeddings of similar tokens start out similar in a new model."
    )
    features: bool = Field(False, description="Whether a new model also reads features computed from a seat's tokens.")
    script_features: bool = Field(
        True, description="Whether a new model's features include the scripted player's action and ratings."
    )
    masked: bool = Field(False, description="Whether a new model's policy covers possible next tokens only.")
    value_classes: bool = Field(
        False, description="Whether a new model's value head predicts its seat's value, not all seats' scores."
    )
    bucket: int = Field(
        1, ge=1, le=10_000, description="Number of batches whose sequences are sorted by length, to save padding."
    )
    augment: bool = Field(
        False, description="Whether training permutes symmetric colours of The Crew and Hanabi at random."
    )
    value_positions: int = Field(
        0, ge=0, le=10_000, description="Number of positions of a sequence in the value loss. 0 means all."
    )
    bf16: bool = Field(True, description="Whether training computes in bfloat16 if the device can.")
    threads: int = Field(1, ge=1, le=1_024, description="Number of PyTorch threads.")
    save_every: int = Field(
        500, ge=1, le=1_000_000_000, description="Number of training steps between two saved states."
    )

    baseline: str = Field("random", description="Spec of the player that each iteration's ArgmaxVal* meets in a match.")
    match_deals: int = Field(
        20,
        ge=0,
        le=1_000_000,
        description="Number of deals in each match: with the model before and with --baseline. 0: no matches.",
    )

    workers: int = Field(
        1, ge=1, le=1_024, description="Number of processes that play hands. With two or more, models run on the CPU."
    )
    ray: str | None = Field(
        None, description="Address of a Ray cluster that plays hands: auto or HOST:PORT (default: no cluster)."
    )
    peak_tflops: float | None = Field(None, gt=0, description="Peak TFLOPS of the device, to report its utilization.")
    stop_after: float | None = Field(
        None, gt=0, description="Time in minutes after which the run stops, for --resume to continue."
    )
    out: Path | None = Field(None, description="Run folder.")

    _check_specs = field_validator("bootstrap", "guests", "baseline")(players.validate_specs)
    _check_game_string = field_validator("game")(validate_game)

    @model_validator(mode="before")
    @classmethod
    def _schedule(cls, values: Any) -> Any:
        if isinstance(values, dict) and isinstance(spec := values.get("game"), str):
            from trickformer import games

            values = schedule(games.load(spec), str(values.get("preset", "small"))) | values
        return values

    @model_validator(mode="after")
    def _refuse_options_without_effect(self, info: ValidationInfo) -> Self:
        from trickformer import games

        changed = changed_fields(self, info, schedule(games.load(self.game), self.preset))
        for names, is_read, otherwise in _READ_IF:
            for name in names.split():
                if name in changed and not is_read(self):
                    typed = typed_option(name, getattr(self, name))
                    raise ValueError(f"{typed} has no effect {otherwise}; leave it out")
        return self

    @model_validator(mode="after")
    def _check_batch_size(self) -> Self:
        if not self.bootstrap_hands and not self.start:
            raise ValueError("--bootstrap-hands 0 needs --start CHECKPOINT")
        bootstrap_sequences = self.bootstrap_hands * self.seats_kept or self.sequences
        if self.batch_size > min(bootstrap_sequences, self.sequences):
            raise ValueError(
                "--batch-size is larger than the bootstrap sequences or --sequences, so no batch is full; lower it"
            )
        return self

    @model_validator(mode="after")
    def _check_labels(self) -> Self:
        if self.expert_iteration and not self.action_weight:
            raise ValueError("--expert-iteration needs a model with action values; give --action-weight above 0")
        if bool(self.action_weight) != bool(self.label_share or self.expert_iteration):
            remedy = "give --action-weight 0 too" if self.action_weight else "give --label-share 0 too"
            raise ValueError(f"--action-weight and --label-share must be both 0 or both above 0; {remedy}")
        if self.rollout_network and not self.label_share:
            raise ValueError("--rollout-network needs labels; give --label-share above 0, or --no-rollout-network")
        if self.search_share and not self.action_weight:
            raise ValueError("--search-share needs a model with action values; give --action-weight above 0")
        return self

    @model_validator(mode="after")
    def _check_game(self) -> Self:
        from trickformer import games, tokenizers

        game = games.load(self.game)
        if self.guests and self.roles == "all" and self.seats_kept == game.players:
            raise ValueError("--guests get no seats, because all seats yield training data; lower --seats-kept")
        fast = tokenizers.fast(game) or FastGame  # the class attributes are those of a game without a fast form
        if self.rollout_network and not fast.labels_by_network:
            raise ValueError(f"in {self.game} scripted players play the labels' playouts; leave out --rollout-network")
        if self.label_worlds and not fast.labels_in_worlds:
            raise ValueError(f"in {self.game} labels come from the actual deal; leave out --label-worlds")
        if not self.script_features and not self.features:
            raise ValueError("--no-script-features needs a model that reads features; give --features too")
        if not self.script_features and not tokenizers.make(game).script_features:
            raise ValueError(f"in {self.game} no feature is a scripted player's; leave out --no-script-features")
        if self.augment and not fast.augments:
            raise ValueError(f"{self.game} has no symmetric colours to permute; leave out --augment")
        if self.tries > 1 and (not fast.retries or self.bootstrap != ["random"]):
            raise ValueError("--tries above 1 is for The Crew with --bootstrap random; leave out --tries")
        return self

    def searches(self, iteration: int) -> bool:
        """Return whether GO-MCTS makes and labels decisions in an iteration's hands.

        Args:
            iteration: The iteration.
        """
        return self.search_share > 0 and iteration >= self.search_from

    @property
    def folder(self) -> Path:
        """Run folder."""
        return self.out or Path("out") / f"{game_name(self.game)}-{self.preset}"


# Options that a run reads under a condition alone: their names, the condition, and how a message names its opposite.
_READ_IF: tuple[tuple[str, Callable[[SelfPlay], object], str], ...] = (
    ("pool pool_newest", lambda c: c.roles == "one", "with --roles all"),
    ("guest_share", lambda c: c.guests, "without --guests"),
    ("label_playouts", lambda c: c.label_share, "with --label-share 0"),
    ("label_worlds", lambda c: c.label_share or not c.label_worlds, "with --label-share 0"),
    ("rollout_network_window", lambda c: c.rollout_network, "without --rollout-network"),
    ("search_from search_runs", lambda c: c.search_share, "with --search-share 0"),
    ("anchor", lambda c: not c.expert_iteration, "with --expert-iteration"),
    ("structured", lambda c: not c.start or not c.structured, "with --start, which has embeddings already"),
)


def check_names(config: SelfPlay) -> None:
    """Check the preset, the seats, the checkpoint and the players of a run, without an import of torch.

    Args:
        config: Config of the run.

    Raises:
        TrickformerError: A name is unknown, there are too few seats, or a player cannot play the game.
    """
    from trickformer import games

    game = games.load(config.game)
    if config.seats_kept > game.players:
        raise TrickformerError(
            f"--seats-kept is {config.seats_kept}, but {game.name} has {game.players} seats; lower it"
        )
    _require_preset(config.preset)
    if config.start:
        checkpoints.find(config.start)
    for spec in [*config.bootstrap, config.baseline]:
        players.make(spec, game)
    for spec in config.guests:
        if players.make(spec, game).needs_state:
            raise TrickformerError(f"guest {spec} reads hidden cards; use a guest that plays by its view")


# Fields that a resumed run may change, because neither weights nor matches depend on their values.
FREE = frozenset({"iterations", "workers", "ray", "peak_tflops", "stop_after", "out", "save_every"})
