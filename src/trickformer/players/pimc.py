"""perfect-information Monte Carlo (Algorithm 2 of the GO-MCTS paper), by UCT, solvers or random playouts

Worlds are drawn uniformly, or by a learned belief: where a belief head says that the cards lie, on top of what the
rules say (trickformer.belief.heads). Hearts values them by UCT (search/hearts/pimc.py). Skat solves them, weights
uniform ones by what was bid and declared unless told not to, and bids as another player does, so that card play can be
compared under the same bidding (search/skat/pimc.py). The Crew asks of worlds whether the mission can still succeed
(search/crew/pimc.py). Any other game is played out at random in each world (search/playouts.py). An option that a game
does not have is refused at its table."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Game, Player, TrickformerError

UNIFORM = "uniform"  # the name of the belief that only counts
_DEFAULTS: dict[str, dict[str, Any]] = {  # of the games that have a search of their own
    "hearts": {"worlds": 50, "belief": UNIFORM, "runs": 2000, "c": 0.4, "eval": "uct", "playout": "light"},
    "skat": {"worlds": 50, "belief": UNIFORM, "weighted": None, "bidding": "rules"},
    "crew": {"worlds": 20, "belief": UNIFORM, "nodes": 2000},
}
_OTHERS: dict[str, Any] = {"worlds": 20, "runs": 1}


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    worlds: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="worlds sampled for a decision; 50 if not given in Hearts and Skat, else 20",
    )
    belief: str | None = Field(
        default=None,
        min_length=1,
        description="how worlds are drawn: uniform, a shipped checkpoint with a belief head such as hearts-small, or a "
        "file or folder with one; uniform if not given",
    )
    runs: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Hearts: simulations in each world; 2000 if not given. Games without a search of their own: "
        "playouts of each action in each world; 1 if not given",
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
        default=None,
        description="Skat: weight worlds by what the others bid and declared; if not given, true of uniform worlds",
    )
    bidding: Literal["rules", "kermit"] | None = Field(
        default=None, description="Skat: whose bids, discards and declarations are made; rules if not given"
    )
    nodes: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000_000,
        description="The Crew: cards tried in a world after an action; where they do not decide, it counts as half a "
        "win; 2000 if not given",
    )


def make(options: Options, game: Game) -> Player:
    """Raises TrickformerError for an option of another game, and what trickformer.belief.sampler and
    trickformer.belief.heads.load raise."""
    chosen = dict(_DEFAULTS.get(game.name, _OTHERS))
    for key, value in options:
        if value is None:
            continue
        if key not in chosen:
            known = [name for name, own in _DEFAULTS.items() if key in own]
            others = " and ".join(known + ["games without a search of their own"] * (key in _OTHERS))
            raise TrickformerError(f"player 'pimc' has the option {key!r} in {others} only, not in {game.name}")
        chosen[key] = value
    named, log_odds = chosen.pop("belief", UNIFORM), None
    if named != UNIFORM:
        from trickformer.belief import heads

        log_odds = heads.load(named, game)
    from trickformer.belief import sampler

    belief: Any = sampler(game, log_odds)  # of the games named below, that of their own module
    if game.name not in _DEFAULTS:
        from trickformer.search.playouts import Rollouts

        return Rollouts(game, belief, **chosen)
    if game.name == "hearts":
        from trickformer.search.hearts.pimc import HeartsSearch

        light, uct = chosen.pop("playout") == "light", chosen.pop("eval") == "uct"
        return HeartsSearch(belief, uct=uct, light=light, **chosen)
    if game.name == "crew":
        from trickformer.search.crew.pimc import CrewSearch

        return CrewSearch(belief, **chosen)
    from trickformer.search.skat.pimc import PASSING, SkatSearch

    if chosen["weighted"] is None:  # what was bid and declared is among what a head has read
        chosen["weighted"] = named == UNIFORM
    return SkatSearch(game, belief, passing=PASSING, **chosen)
