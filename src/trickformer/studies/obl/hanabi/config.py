"""What can be set of off-belief learning on Hanabi. Imports neither torch nor OpenSpiel."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

# `paper`: Table 2 of "Off-Belief Learning" and what Appendix B tells beside it. `small`: the defaults, for one core.
PRESETS: dict[str, dict[str, Any]] = {
    "small": {},
    "paper": {
        "model": "lstm",
        "hidden": 512,
        "layers": 3,
        "tables": 6_400,
        "worlds": 1,
        "batch": 128,
        "burn_in": 10_000,
        "buffer": 100_000,
        "steps": 1_000_000,
        "target_every": 2_500,
        "learning_rate": 6.25e-5,
        "priority_exponent": 0.9,
        "priority_weight": 0.6,
        "fall": 1.0,
        "averaging": 0.0,
        "exploration": 0.1,
        "exploration_power": 7.0,
    },
}


class OffBeliefTraining(BaseModel):
    """Training of one network, by games of its own or games on record."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str = Field("hanabi", description="Hanabi, with options as of OpenSpiel, such as 'hanabi(colors=2)'")
    preset: Literal["small", "paper"] = Field("small", description="small: one core; paper: Table 2, for a GPU")
    method: Literal["obl", "iql", "vdn", "klevel", "clone"] = Field(
        "obl",
        description="off-belief learning; self-play, by independent Q-learning or value decomposition; k-level "
        "reasoning, by independent Q-learning beside the level below; or a clone bot, which imitates games on record",
    )
    other_play: bool = Field(
        False, description="in self-play each seat of a game has names of its own for the colours: Other-Play"
    )
    sad: bool = Field(
        False,
        description="in self-play all seats also see the greedy action of whoever explored: simplified action decoder",
    )
    hide_last_action: bool = Field(False, description="in self-play the network does not see the last move")
    colour_bonus: float = Field(
        0.0,
        ge=0,
        le=1_000,
        allow_inf_nan=False,
        description="in self-play what naming a colour pays beside, in points, in the first half of the steps",
    )
    auxiliary: float = Field(
        0.0,
        ge=0,
        le=1_000,
        allow_inf_nan=False,
        description="in self-play the weight of the auxiliary task, to say which own cards can be played or were",
    )
    games_of: str | None = Field(
        None,
        description="a clone bot imitates `buffer` games of this scripted player with itself: partner:style=STYLE",
    )
    shuffle_colours: bool = Field(
        False, description="a clone bot sees each game under other names of the colours whenever it learns from it"
    )
    level: int = Field(
        1,
        ge=1,
        le=1_000,
        description="1 stands on nothing, N on level N - 1: its past in off-belief learning, the others in klevel",
    )
    below: Path | None = Field(None, description="above level 1: folder of a run of the level below")
    warm: bool = Field(True, description="above level 1: begin with the weights of the level below")
    slip: float = Field(
        0.0, ge=0, le=1, description="share of uniformly random moves that the level below is taken to make beside"
    )
    belief: Literal["learned", "exact"] = Field(
        "learned", description="above level 1: by a network, or by listing all own hands where these are few"
    )
    belief_hidden: int = Field(128, ge=8, le=65_536, description="units of a layer of the belief network")
    belief_layers: int = Field(2, ge=1, le=64, description="of its encoder")
    belief_games: int = Field(32, ge=1, le=1_000_000, description="games of a gradient step of it, each new")
    belief_steps: int = Field(3_000, ge=1, le=1_000_000_000, description="its gradient steps")
    belief_rate: float = Field(4e-3, gt=0, allow_inf_nan=False, description="its learning rate at the start")
    model: Literal["mlp", "lstm"] = Field("mlp", description="layers on the observation, or the public LSTM")
    v0: bool = Field(True, description="observations hold V0 beliefs, not only the kinds that hints leave possible")
    odds: bool = Field(False, description="how likely cards fit the fireworks, counted from the observation, beside it")
    hidden: int = Field(128, ge=4, le=65_536, description="units of a layer")
    layers: int = Field(2, ge=1, le=64, description="of what reads the observation")
    tables: int = Field(128, ge=1, le=1_000_000, description="games that are played in step")
    worlds: int = Field(
        4, ge=1, le=1_000, description="imagined hands that a target of off-belief learning is the mean of"
    )
    tries: bool = Field(
        False, description="off-belief learning also imagines an action drawn at random at every turn, for its value"
    )
    batch: int = Field(64, ge=1, le=1_000_000, description="games of a gradient step")
    reuse: float = Field(
        4.0, gt=0, le=1_000, allow_inf_nan=False, description="how often a game is learned from, on the average"
    )
    burn_in: int = Field(500, ge=1, le=10_000_000, description="games before the first gradient step")
    buffer: int = Field(2_048, ge=1, le=10_000_000, description="games that are kept to learn from")
    steps: int = Field(8_000, ge=1, le=1_000_000_000, description="gradient steps")
    n_step: int | None = Field(
        None, ge=1, le=100, description="moves of a target; default: 1 in off-belief learning, else 3"
    )
    temperature: float = Field(
        0.0,
        ge=0,
        le=100,
        allow_inf_nan=False,
        description="of the softmax over actions by which seats go on, in points; 0: the best action",
    )
    discount: float = Field(0.999, gt=0, le=1, description="of a move")
    learning_rate: float = Field(3e-3, gt=0, allow_inf_nan=False, description="of Adam at the start")
    fall: float = Field(0.02, gt=0, le=1, description="share of it that is left at the end, along a cosine")
    averaging: float = Field(
        0.999, ge=0, lt=1, description="share of itself that the mean of the weights, which is saved, keeps at a step"
    )
    adam_epsilon: float = Field(1.5e-5, gt=0, allow_inf_nan=False, description="of Adam")
    clip: float = Field(5.0, gt=0, allow_inf_nan=False, description="largest norm of a gradient")
    priority_exponent: float = Field(
        0.0, ge=0, le=10, description="of a game's error in how often it is drawn; 0: all games alike"
    )
    priority_weight: float = Field(1.0, ge=0, le=1, description="how far weights undo that")
    target_every: int = Field(100, ge=1, le=1_000_000_000, description="gradient steps between two target networks")
    explorations: int = Field(80, ge=1, le=10_000, description="kinds of seats by their share of random moves")
    exploration: float = Field(0.1, ge=0, le=1, description="share of random moves of the first kind")
    exploration_power: float = Field(
        7.0, ge=0, le=100, allow_inf_nan=False, description="the last kind's share is the first's to 1 + this power"
    )
    save_every: int = Field(500, ge=1, le=1_000_000_000, description="gradient steps between two states on disk")
    evaluate_every: int = Field(500, ge=1, le=1_000_000_000, description="gradient steps between two evaluations")
    games: int = Field(1_000, ge=2, le=100_000_000, description="games of an evaluation, without random moves")
    seed: int = Field(0, ge=0, lt=2**62, description="of the games, the draws and the first weights")
    threads: int = Field(1, ge=1, le=1_024, description="of torch")
    device: str = Field("cpu", description="of the networks, as torch names it")
    out: Path = Field(Path("out/obl"), description="folder of the run")

    @model_validator(mode="before")
    @classmethod
    def _as_the_preset(cls, values: Any) -> Any:
        """What was given over what the preset has."""
        return PRESETS.get(str(values.get("preset")), {}) | values if isinstance(values, dict) else values

    @model_validator(mode="after")
    def _check_method(self) -> Self:
        if self.method in ("iql", "vdn", "clone") and self.level > 1:
            raise ValueError(f"level = {self.level}: {self.method} has no levels")
        for name in ("other_play", "sad", "hide_last_action", "colour_bonus", "auxiliary"):
            if getattr(self, name) and self.method not in ("iql", "vdn"):
                raise ValueError(f"{name} is for self-play; give --method iql or vdn")
        if self.method == "clone" and self.games_of is None:
            raise ValueError("whose games are imitated? Give --games-of, such as partner:style=smart")
        for name in ("games_of", "shuffle_colours"):
            if getattr(self, name) and self.method != "clone":
                raise ValueError(f"{name} is for a clone bot; give --method clone")
        if self.sad and self.hide_last_action:
            raise ValueError("sad shows more of the last action, and hide_last_action nothing; give one of them")
        if self.level > 1 and self.below is None:
            raise ValueError(f"level = {self.level}: give the folder of level {self.level - 1} with --below")
        if self.level == 1 and self.below is not None:
            raise ValueError("below: there is nothing below level 1; give --level 2 or more")
        return self

    @model_validator(mode="after")
    def _one_move(self) -> Self:
        if self.method == "obl" and self.moves != 1:
            raise ValueError(f"n_step = {self.n_step}: a target of off-belief learning is one move; leave it out")
        return self

    @property
    def last(self) -> Literal["seen", "greedy", "hidden"]:
        """What the network reads of the last move (models/hanabi_values.py)."""
        return "greedy" if self.sad else "hidden" if self.hide_last_action else "seen"

    @property
    def moves(self) -> int:
        """Moves of a target."""
        return self.n_step or (1 if self.method == "obl" else 3)
