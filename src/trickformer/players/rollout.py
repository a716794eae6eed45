"""every action is tried by games that another player plays on, in worlds that explain what was seen; any game

The rollout algorithm (Tesauro & Galperin, "On-line Policy Improvement using Monte-Carlo Search", 1996) on hidden
information: nobody sees the cards of a world but those of the own hand, so that unlike PIMC it does not take others, or
its later self, for better informed than they are. The policy may be any player, such as `argmax` on a model. Each seat
searches as if the others did not. Worlds are uniform over all that explain what it saw, or weighted by what the others
did.

`sparta` is the same search on beliefs of its own, and far quicker where its blueprint is a scripted player of the
core."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Game, TrickformerError

if TYPE_CHECKING:
    from trickformer.belief.policy import Likely
    from trickformer.search.sparta import BlueprintSearchPlayer


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    policy: str | None = Field(
        None, description="the player that plays on, a spec (in double quotes if it has commas); the game's baseline"
    )
    worlds: int = Field(12, ge=1, le=1_000_000, description="worlds that actions are tried in, the same for all")
    belief: Literal["uniform", "weighted", "policy"] = Field(
        "uniform",
        description="worlds uniform over all that explain what was seen; weighted by what the others have said: Skat "
        "and Hanabi; or by how likely the policy makes what they did: a transformer's",
    )
    slip: float = Field(
        0.5, ge=0, le=1, description="belief=policy: share of the others' moves that the policy is not held to tell"
    )
    threshold: float = Field(
        0.0, ge=0, le=1_000, description="points by which a choice must promise more than the policy's"
    )
    ucb: bool = Field(True, description="what is surely worse is not tried to the end")
    assess: int = Field(0, ge=0, le=1_000_000, description="other worlds in which a decision's gain is judged anew")

    @property
    def starts_program(self) -> bool:
        from trickformer import players

        return self.policy is not None and players.starts_program(self.policy)

    @property
    def files(self) -> dict[str, Path]:
        """What the policy reads."""
        from trickformer import players

        return players.files(self.policy) if self.policy is not None else {}


def make(options: Options, game: Game) -> BlueprintSearchPlayer:
    """Raises TrickformerError for a policy that cannot play the game, looks at hidden cards or does not tell how likely
    actions are where that is asked for, and for a game without worlds, or without weights."""
    from trickformer import players
    from trickformer.belief import sampler, weighted_belief
    from trickformer.belief.policy import PolicyBelief
    from trickformer.search.sparta import BlueprintSearchPlayer
    from trickformer.search.states import StatePositions

    spec = options.policy or game.baseline
    policy = players.make(spec, game)
    if getattr(policy, "needs_state", False):
        raise TrickformerError(f"player 'rollout': its policy {spec!r} looks at hidden cards")
    if options.belief == "policy" and not hasattr(policy, "log_likelihood"):
        raise TrickformerError(f"player 'rollout': its policy {spec!r} does not say how likely an action is")
    if options.belief != "policy" and "slip" in options.model_dump(exclude_defaults=True):
        raise TrickformerError(f"player 'rollout': slip is for belief=policy, not {options.belief}")
    worlds = weighted_belief(game) if options.belief == "weighted" else sampler(game)
    if options.belief == "policy":
        worlds = PolicyBelief(game, worlds, cast("Likely", policy), options.slip)
    return BlueprintSearchPlayer(options, StatePositions(game, policy, worlds))
