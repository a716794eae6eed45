"""perfect-information Monte Carlo (Algorithm 2 of the GO-MCTS paper): Hearts by UCT, Skat by solving worlds

Hearts draws worlds uniformly (players/_hearts_pimc.py). Skat weights them by what was bid and declared unless told not
to, solves them, and bids as another player does, so that card play can be compared under the same bidding
(players/_skat.py). An option that only one of the games has is refused at the other's table."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Game, Player, TrickformerError

_DEFAULTS = {
    "hearts": {"runs": 2000, "c": 0.4, "eval": "uct", "playout": "light"},
    "skat": {"weighted": True, "bidding": "rules"},
}


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    worlds: int = Field(default=50, ge=1, le=1_000_000, description="worlds sampled for a decision")
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


def make(options: Options, game: Game) -> Player:
    """Raises TrickformerError for a game without a core that searches it, and for an option of the other game."""
    if game.name not in _DEFAULTS:
        raise TrickformerError(f"player 'pimc' plays {' and '.join(_DEFAULTS)} only, not {game.name}")
    chosen = dict(_DEFAULTS[game.name])
    for other, own in _DEFAULTS.items():
        for key in own:
            value = getattr(options, key)
            if value is not None and other != game.name:
                raise TrickformerError(f"player 'pimc' has the option {key!r} in {other} only, not in {game.name}")
            if value is not None:
                chosen[key] = value
    if game.name == "hearts":
        from trickformer.players._hearts_pimc import HeartsSearch

        light, uct = chosen.pop("playout") == "light", chosen.pop("eval") == "uct"
        return HeartsSearch(game, worlds=options.worlds, uct=uct, light=light, **chosen)
    from trickformer.players._skat import PASSING, SkatSearch

    return SkatSearch(game, worlds=options.worlds, passing=PASSING, **chosen)
