"""Options of off-belief learning on Hanabi. This module imports neither torch nor OpenSpiel."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from trickformer.plumbing.config import changed_fields, typed_option
from trickformer.plumbing.help_pages import Panels

# `paper` has the values of Table 2 and Appendix B of "Off-Belief Learning". The belief network trains with Table 2's
# optimizer, as section B.2 implies. If the paper gives no value, the preset has the value of the published scripts
# (facebookresearch/off-belief-learning at ce8e4fd, pyhanabi/scripts). These are the sizes of both networks, their
# gradient steps (1,500 and 500 epochs of 1,000 batches) and 80 targets of a game for the belief.
# tests/contracts/test_paper_presets.py lists every value. `small` has the defaults, for small games of Hanabi on one
# core. `full` learns most per core-hour on full Hanabi (docs/results/obl.md). It is how hanabi-obl-1 was trained.
PRESETS: dict[str, dict[str, Any]] = {
    "small": {},
    "full": {
        "hidden": 256,
        "odds": True,
        "worlds": 2,
        "batch": 16,
        "learning_rate": 1.5e-3,
        "target_every": 20,
        "buffer": 256,
        "bf16": True,
        "steps": 100_000,
        "evaluate_every": 5_000,
        "games": 500,
    },
    "paper": {
        "model": "lstm",
        "hidden": 512,
        "layers": 3,
        "tables": 6_400,
        "worlds": 1,
        "batch": 128,
        "burn_in": 10_000,
        "buffer": 100_000,
        "steps": 1_500_000,
        "target_every": 2_500,
        "learning_rate": 6.25e-5,
        "priority_exponent": 0.9,
        "priority_weight": 0.6,
        "fall": 1.0,
        "averaging": 0.0,
        "exploration": 0.1,
        "exploration_power": 7.0,
        "belief_hidden": 512,
        "belief_layers": 2,
        "belief_games": 128,
        "belief_targets": 80,
        "belief_steps": 500_000,
        "belief_rate": 6.25e-5,
        "belief_adam_epsilon": 1.5e-5,
        "belief_fall": 1.0,
        "belief_clip": 5.0,
    },
}
_BELIEF_NETWORK = (
    "belief_hidden belief_layers belief_games belief_targets belief_steps belief_rate belief_adam_epsilon belief_fall "
    "belief_clip"
)
# Options that only some methods read: a description of the methods, their names, and the options.
_READ_BY_METHOD = (
    ("self-play", ("iql", "vdn"), "other_play sad hide_last_action colour_bonus auxiliary"),
    ("imitation", ("clone",), "games_of shuffle_colours"),
    ("off-belief learning", ("obl",), f"worlds tries belief {_BELIEF_NETWORK}"),
    ("methods with levels", ("obl", "klevel"), "below warm slip"),
    (
        "methods that play their own games",
        ("obl", "iql", "vdn", "klevel"),
        "tables explorations exploration exploration_power burn_in reuse n_step discount priority_exponent "
        "priority_weight target_every",
    ),
)
# Options that a file may not set without effect either. Files of earlier versions may set the others.
_REFUSED_IN_FILES = "other_play sad hide_last_action colour_bonus auxiliary games_of shuffle_colours below"
_READ_ABOVE_LEVEL_1 = f"below warm slip belief {_BELIEF_NETWORK}"


class OffBeliefTraining(BaseModel):
    """Options of the training of one network, by its own games or by games of a scripted player."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    # Panel of the help page -> its options on --help, and its further options on --help-all.
    PANELS: ClassVar[Panels] = {
        "Run": ("preset method level below seed steps out config resume", "save_every evaluate_every games"),
        "Method": (
            "games_of other_play",
            "warm slip sad hide_last_action colour_bonus auxiliary shuffle_colours worlds tries",
        ),
        "Belief": (
            "belief",
            "belief_hidden belief_layers belief_games belief_steps belief_rate belief_targets "
            "belief_adam_epsilon belief_fall belief_clip",
        ),
        "Network": ("model", "hidden layers v0 odds"),
        "Games": ("tables", "explorations exploration exploration_power burn_in buffer reuse"),
        "Learning": (
            "batch learning_rate",
            "n_step temperature discount fall averaging adam_epsilon clip priority_exponent priority_weight "
            "target_every",
        ),
        "Machine": ("threads device", "bf16"),
    }

    game: str = Field("hanabi", description="Hanabi with OpenSpiel's options, such as 'hanabi(colors=2)'.")
    preset: Literal["small", "full", "paper"] = Field(
        "small",
        description="Defaults: small (small games), full (full Hanabi on one core) or paper (for a GPU).",
    )
    method: Literal["obl", "iql", "vdn", "klevel", "clone"] = Field(
        "obl",
        description="obl: off-belief learning. iql, vdn: self-play. klevel: k-levels. clone: imitation.",
    )
    other_play: bool = Field(
        False, description="Other-Play in self-play: each seat sees the colours renamed at random."
    )
    sad: bool = Field(
        False,
        description="Simplified action decoder (SAD) in self-play: seats also see the greedy action.",
    )
    hide_last_action: bool = Field(False, description="Hide the last move from the network in self-play.")
    colour_bonus: float = Field(
        0.0,
        ge=0,
        le=1_000,
        allow_inf_nan=False,
        description="Self-play: bonus of a colour hint in points, in the first half of the steps.",
    )
    auxiliary: float = Field(
        0.0,
        ge=0,
        le=1_000,
        allow_inf_nan=False,
        description="Self-play: weight of the loss that classes own cards: playable, already played, neither.",
    )
    games_of: str | None = Field(
        None,
        description="Method clone: scripted player to imitate, partner:style=STYLE.",
    )
    shuffle_colours: bool = Field(False, description="Method clone: rename the colours of each game at random.")
    level: int = Field(
        1,
        ge=1,
        le=1_000,
        description="Level of off-belief learning or k-level reasoning, which uses the level below it.",
    )
    below: Path | None = Field(None, description="Level below, required above level 1: run folder or shipped network.")
    warm: bool = Field(True, description="Above level 1: start from the weights of the level below.")
    # The exact belief assumes these random moves. In klevel and in the games of the learned belief, they are played.
    slip: float = Field(
        0.0, ge=0, le=1, description="Share of random moves of the level below: assumed by --belief exact, else played."
    )
    belief: Literal["learned", "exact"] = Field(
        "learned", description="Method obl above level 1: belief, learned by a network or exact by listing own hands."
    )
    belief_hidden: int = Field(128, ge=8, le=65_536, description="Units of a layer of the belief network.")
    belief_layers: int = Field(2, ge=1, le=64, description="Layers of the belief network's encoder.")
    belief_games: int = Field(32, ge=1, le=1_000_000, description="New games in a gradient step of the belief network.")
    belief_targets: int = Field(
        12, ge=1, le=10_000, description="Random positions of each game in a gradient step of the belief network."
    )
    belief_steps: int = Field(3_000, ge=1, le=1_000_000_000, description="Gradient steps of the belief network.")
    belief_rate: float = Field(4e-3, gt=0, le=1_000, description="Initial learning rate of the belief network.")
    belief_adam_epsilon: float = Field(
        1e-8, gt=0, allow_inf_nan=False, description="Epsilon of Adam for the belief network."
    )
    belief_fall: float = Field(
        0.1, ge=0, le=1, description="Final share of the belief network's learning rate, along a cosine."
    )
    belief_clip: float = Field(
        1.0, gt=0, allow_inf_nan=False, description="Largest norm of a gradient of the belief network."
    )
    model: Literal["mlp", "lstm"] = Field(
        "mlp", description="Network: mlp reads the current observation, lstm also the public part of earlier ones."
    )
    v0: bool = Field(
        True, description="Observe odds of each card by counting (V0), not only the kinds that hints allow."
    )
    odds: bool = Field(
        False, description="Also observe, by counting, the odds that a card is playable and that its kind was played."
    )
    hidden: int = Field(128, ge=4, le=65_536, description="Number of units in a layer.")
    layers: int = Field(
        2, ge=1, le=64, description="Number of layers that read the observation, besides the 2 of an LSTM."
    )
    tables: int = Field(128, ge=1, le=1_000_000, description="Number of games in parallel.")
    worlds: int = Field(4, ge=1, le=1_000, description="Method obl: imagined hands that a target averages.")
    tries: bool = Field(False, description="Method obl: also learn a target for a random action that is not played.")
    batch: int = Field(64, ge=1, le=1_000_000, description="Number of games in a gradient step.")
    reuse: float = Field(
        4.0, gt=0, le=1_000, allow_inf_nan=False, description="Mean number of gradient steps that a game takes part in."
    )
    burn_in: int = Field(500, ge=1, le=10_000_000, description="Number of games played before the first gradient step.")
    buffer: int = Field(2_048, ge=1, le=10_000_000, description="Capacity of the replay buffer in games.")
    steps: int = Field(8_000, ge=1, le=1_000_000_000, description="Number of gradient steps.")
    n_step: int | None = Field(
        None, ge=1, le=100, description="Number of moves of an n-step target (default: 1 with method obl, else 3)."
    )
    temperature: float = Field(
        0.0,
        ge=0,
        le=100,
        allow_inf_nan=False,
        description="Temperature of the softmax over actions, in points. 0 takes the best action.",
    )
    discount: float = Field(0.999, gt=0, le=1, description="Discount factor per move.")
    learning_rate: float = Field(3e-3, gt=0, le=1_000, description="Initial learning rate of Adam.")
    fall: float = Field(0.02, gt=0, le=1, description="Final share of the learning rate, reached along a cosine.")
    averaging: float = Field(
        0.999, ge=0, lt=1, description="Decay of the exponential moving average of the weights, which is saved."
    )
    adam_epsilon: float = Field(1.5e-5, gt=0, allow_inf_nan=False, description="Epsilon of Adam.")
    clip: float = Field(5.0, gt=0, allow_inf_nan=False, description="Largest norm of a gradient.")
    priority_exponent: float = Field(
        0.0, ge=0, le=10, description="Exponent of prioritized replay. 0 draws games uniformly."
    )
    priority_weight: float = Field(
        1.0, ge=0, le=1, description="Exponent of the importance weights of prioritized replay."
    )
    target_every: int = Field(100, ge=1, le=1_000_000_000, description="Gradient steps between two target networks.")
    explorations: int = Field(
        80, ge=1, le=10_000, description="Number of different exploration rates. Each seat draws one for a game."
    )
    exploration: float = Field(0.1, ge=0, le=1, description="Largest exploration rate, a share of random moves.")
    exploration_power: float = Field(
        7.0,
        ge=0,
        le=100,
        allow_inf_nan=False,
        description="The smallest exploration rate is the largest rate to the power 1 + this.",
    )
    save_every: int = Field(500, ge=1, le=1_000_000_000, description="Gradient steps between two saved states.")
    evaluate_every: int = Field(500, ge=1, le=1_000_000_000, description="Gradient steps between two evaluations.")
    games: int = Field(
        1_000, ge=2, le=100_000_000, description="Number of games in an evaluation, without random moves."
    )
    seed: int = Field(0, ge=0, lt=2**62, description="Seed of the games, the draws and the initial weights.")
    threads: int = Field(1, ge=1, le=1_024, description="Number of PyTorch threads.")
    bf16: bool = Field(False, description="Whether layers that read observations use bfloat16 if the device can.")
    device: str = Field("cpu", description="PyTorch device of the networks.")
    out: Path = Field(Path("out/obl"), description="Folder of the run.")

    @model_validator(mode="before")
    @classmethod
    def _fill_in_preset(cls, values: Any) -> Any:
        """Fill in the preset's values for the options that are not set."""
        return PRESETS.get(str(values.get("preset")), {}) | values if isinstance(values, dict) else values

    @model_validator(mode="after")
    def _check_method(self, info: ValidationInfo) -> Self:
        changed_names = changed_fields(self, info, PRESETS[self.preset], _REFUSED_IN_FILES.split())
        changed = {name: typed_option(name, getattr(self, name)) for name in changed_names}
        if self.method in ("iql", "vdn", "clone") and self.level > 1:
            raise ValueError(f"--level {self.level}: method {self.method} has no levels; leave out --level")
        for description, methods, names in _READ_BY_METHOD:
            for name in names.split():
                if name in changed and self.method not in methods:
                    raise ValueError(f"{changed[name]} is for {description}; give --method {' or '.join(methods)}")
        if self.method == "clone" and self.games_of is None:
            raise ValueError("--method clone needs a player to imitate; give --games-of, such as partner:style=smart")
        if self.sad and self.hide_last_action:
            raise ValueError("--sad and --hide-last-action contradict each other; give one of them")
        if self.level > 1 and self.below is None:
            raise ValueError(
                f"--level {self.level} needs the level below it; give the folder of level {self.level - 1} with --below"
            )
        for name in _READ_ABOVE_LEVEL_1.split():
            if name in changed and self.level == 1:
                raise ValueError(f"{changed[name]}: there is nothing below level 1; give --level 2 or more")
        for name in _BELIEF_NETWORK.split():
            if name in changed and self.belief == "exact":
                raise ValueError(f"{changed[name]} is for a belief network; give --belief learned")
        if "priority_weight" in changed and not self.priority_exponent:
            raise ValueError(f"{changed['priority_weight']} is for prioritized replay; give a --priority-exponent")
        return self

    @model_validator(mode="after")
    def _check_moves(self) -> Self:
        if self.method == "obl" and self.moves != 1:
            raise ValueError(
                f"--n-step {self.n_step}: targets of off-belief learning have one length; leave out --n-step"
            )
        return self

    @property
    def last(self) -> Literal["seen", "greedy", "hidden"]:
        """The network's input about the last move (models/hanabi_values.py)."""
        return "greedy" if self.sad else "hidden" if self.hide_last_action else "seen"

    @property
    def moves(self) -> int:
        """Number of moves of a target."""
        return self.n_step or (1 if self.method == "obl" else 3)
