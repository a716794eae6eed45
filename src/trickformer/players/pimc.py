"""perfect-information Monte Carlo

The search is algorithm 2 of the GO-MCTS paper. Worlds are sampled uniformly, or by the odds of a belief head
(trickformer.belief.heads). How actions are evaluated in a world depends on the game:

- Hearts: by UCT or playouts (search/hearts/pimc.py).
- Skat: by a solver (search/skat/pimc.py). If `weighted` is true, uniform worlds are weighted by the others' bids and
  declarations. Another player bids, so that card play can be compared under equal bidding.
- The Crew: by a solver that decides whether the mission can still succeed (search/crew/pimc.py).
- Any other game: by random playouts (search/playouts.py).

`make` refuses options that the game does not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from trickformer import checkpoints
from trickformer.base import Game, Player, TrickformerError
from trickformer.plumbing.options import Applies, NamesFile, PerGame, in_games, refuse_unread, resolved_options

if TYPE_CHECKING:
    from trickformer.base import LogOdds

UNIFORM = "uniform"  # name of the belief that samples worlds uniformly
_HEARTS = in_games("hearts")
_UCT = Applies("eval=uct", lambda options, _: options.eval != "rollout", ("eval", "uct"))
_SKAT = in_games("skat")
_CREW = in_games("crew")
_RUNS = Applies(
    "hearts and games without a search of their own",
    lambda _, game: game is None or "runs" in _search_of(game).DEFAULTS,
)


def _search_of(game: Game) -> Any:
    """Return the module with the PIMC search of a game: the game's own, or the general one."""
    from trickformer import search
    from trickformer.search import playouts

    return search.part(game.name, "pimc") or playouts


def _of_search(name: str) -> PerGame:
    """Return an annotation for an option whose default is in the `DEFAULTS` of the game's search."""
    return PerGame(lambda _, game: _search_of(game).DEFAULTS[name])


def _known_beliefs() -> tuple[str, ...]:
    return (UNIFORM, *checkpoints.names())


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    worlds: Annotated[int | None, _of_search("worlds")] = Field(
        None, ge=1, le=1_000_000, description="Worlds sampled per decision (default: the game's)."
    )
    belief: Annotated[str | None, PerGame(lambda *_: UNIFORM), NamesFile(_known_beliefs)] = Field(
        None,
        min_length=1,
        description="Worlds: uniform, or by a belief head, named by checkpoint or folder (default: uniform).",
    )
    runs: Annotated[int | None, _RUNS, _of_search("runs")] = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Per world: simulations in Hearts, elsewhere playouts of each action (default: the game's).",
    )
    c: Annotated[float | None, _HEARTS, _UCT, _of_search("c")] = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="Hearts: exploration constant of UCT, in units of 26 points (default: 0.4).",
    )
    eval: Annotated[Literal["uct", "rollout"] | None, _HEARTS, _of_search("eval")] = Field(
        None, description="Hearts: value of an action in a world: uct, or rollout, the mean playout (default: uct)."
    )
    playout: Annotated[Literal["light", "random"] | None, _HEARTS, _of_search("playout")] = Field(
        None, description="Hearts: playouts: random, or light, a script with 1/8 random moves (default: light)."
    )
    weighted: Annotated[bool | None, _SKAT, PerGame(lambda options, _: options.belief in (None, UNIFORM))] = Field(
        None, description="Skat: also weight worlds by bids and declarations (default: true if belief=uniform)."
    )
    bidding: Annotated[Literal["rules", "kermit"] | None, _SKAT, _of_search("bidding")] = Field(
        None, description="Skat: player that bids, discards and declares: rules or kermit (default: rules)."
    )
    nodes: Annotated[int | None, _CREW, _of_search("nodes")] = Field(
        None,
        ge=1,
        le=1_000_000_000,
        description="The Crew: solver's node limit per action. Unsolved actions count 0.5 (default: 2,000).",
    )


def make(options: Options, game: Game) -> Player:
    """Make a PIMC player.

    Args:
        options: Options of the player.
        game: The game.

    Raises:
        TrickformerError: An option is for another game, or the belief cannot be loaded or does not fit.
    """
    from trickformer.belief import sampler

    refuse_unread("pimc", options, game)
    settings = resolved_options(options, game)
    belief = sampler(game, _log_odds(settings.pop("belief"), game))
    return _search_of(game).make(game, belief, settings)


def _log_odds(name: str, game: Game) -> LogOdds | None:
    """Load a belief head; None for the uniform belief."""
    if name == UNIFORM:
        return None
    from trickformer.belief import heads, sampler
    from trickformer.belief.samplers import CardBelief

    if not isinstance(sampler(game), CardBelief):
        raise TrickformerError(f"player 'pimc': the worlds of {game.name} take no belief head; leave out belief")
    return heads.load(name, game)
