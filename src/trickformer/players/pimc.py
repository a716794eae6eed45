"""perfect-information Monte Carlo (Algorithm 2 of the GO-MCTS paper): Hearts by UCT, Skat and The Crew by solvers

Hearts draws worlds uniformly (players/_hearts_pimc.py). Skat weights them by what was bid and declared unless told not
to, solves them, and bids as another player does, so that card play can be compared under the same bidding
(players/_skat.py). The Crew asks of uniform worlds whether the mission can still succeed (players/_crew.py). An option
that a game does not have is refused at its table."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Game, Player, TrickformerError

_DEFAULTS = {
    "hearts": {"worlds": 50, "runs": 2000, "c": 0.4, "eval": "uct", "playout": "light"},
    "skat": {"worlds": 50, "weighted": True, "bidding": "rules"},
    "crew": {"worlds": 20, "nodes": 2000},
}


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    worlds: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="worlds sampled for a decision; 50 if not given, of The Crew 20",
    )
    runs: int | None = Field(
        default=None, ge=1, le=1_000_000, description="Hearts: simulations in each world; 2000 if not given"
    )
    c: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="Hearts: exploration constant of UCT, in units of v(o); 0.4 if not given",
    )
    eval: Literal["uct", "rollout"] | None = Field(
        default=None, description="Hearts: how a world's actions are valued; uct if not given"
    )
    playout: Literal["light", "random"] | None = Field(
        default=None,
        description="Hearts: moves beyond the tree, random or light (a quick script, an eighth by chance; the default)",
    )
    weighted: bool | None = Field(
        default=None, description="Skat: weight worlds by what the others bid and declared; true if not given"
    )
    bidding: Literal["rules", "kermit"] | None = Field(
        default=None, description="Skat: whose bids, discards and declarations are made; rules if not given"
    )
    nodes: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000_000,
        description="The Crew: cards tried to solve a world after an action, else half solved; 2000 if not given",
    )


def make(options: Options, game: Game) -> Player:
    """Raises TrickformerError for a game without a core that searches it, and for an option of another game."""
    if game.name not in _DEFAULTS:
        raise TrickformerError(f"player 'pimc' plays {', '.join(_DEFAULTS)} only, not {game.name}")
    chosen: dict[str, Any] = dict(_DEFAULTS[game.name])
    for key, value in options:
        if value is None:
            continue
        if key not in chosen:
            others = " and ".join(name for name, own in _DEFAULTS.items() if key in own)
            raise TrickformerError(f"player 'pimc' has the option {key!r} in {others} only, not in {game.name}")
        chosen[key] = value
    if game.name == "hearts":
        from trickformer.players._hearts_pimc import HeartsSearch

        light, uct = chosen.pop("playout") == "light", chosen.pop("eval") == "uct"
        return HeartsSearch(game, uct=uct, light=light, **chosen)
    if game.name == "crew":
        from trickformer.players._crew import CrewSearch

        return CrewSearch(game, **chosen)
    from trickformer.players._skat import PASSING, SkatSearch

    return SkatSearch(game, passing=PASSING, **chosen)
