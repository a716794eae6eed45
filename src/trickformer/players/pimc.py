"""perfect-information Monte Carlo

Algorithm 2 of the GO-MCTS paper, by UCT, solvers or random playouts.

Worlds are drawn uniformly, or by a learned belief: where a belief head says that the cards lie, on top of what the
rules say (trickformer.belief.heads). Hearts values them by UCT (search/hearts/pimc.py). Skat solves them, weights
uniform ones by what was bid and declared unless told not to, and bids as another player does, so that card play can be
compared under the same bidding (search/skat/pimc.py). The Crew asks of worlds whether the mission can still succeed
(search/crew/pimc.py). Any other game is played out at random in each world (search/playouts.py). An option that a game
does not have is refused at its table.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Game, Player, TrickformerError

UNIFORM = "uniform"  # the name of the belief that only counts


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
    from trickformer import search
    from trickformer.belief import sampler
    from trickformer.search import playouts

    own = search.part(game.name, "pimc") or playouts
    settings = dict(own.DEFAULTS)
    given = {key: value for key, value in options if value is not None and key != "belief"}
    for key in given:
        if key not in settings:
            modules = {name: search.part(name, "pimc") for name in search.NAMES}
            known = [name for name, module in modules.items() if module and key in module.DEFAULTS]
            others = " and ".join(known + ["games without a search of their own"] * (key in playouts.DEFAULTS))
            raise TrickformerError(f"player 'pimc' has the option {key!r} in {others} only, not in {game.name}")
    learned = options.belief is not None and options.belief != UNIFORM
    log_odds = None
    if learned:
        from trickformer.belief import heads
        from trickformer.belief.samplers import CardBelief

        if not isinstance(sampler(game), CardBelief):
            raise TrickformerError(f"player 'pimc': the worlds of {game.name} take no belief head; leave out belief")
        log_odds = heads.load(str(options.belief), game)
    belief = sampler(game, log_odds)
    return own.make(game, belief, settings | given, learned)
