"""SPARTA: search on top of a scripted blueprint

A scripted player finishes games from worlds that explain the view.

The algorithm is SPARTA (Lerer, Hu, Foerster & Brown, "Improving Policies via Search in Cooperative Partially Observable
Games", 2020). All seats play a blueprint. A seat that searches deviates from it if another action gains more than a
threshold.

In Hanabi one seat searches. Its belief over its hand uses the others' actions as evidence. The belief is exact, or a
network estimates it, with or without fine-tuning (Sokota et al., "A Fine-Tuning Approach to Belief State Modeling",
2022). With an exact belief and enough worlds, the search is never worse than the blueprint. With `multi`, both seats of
a two-player game search, and each infers from the other's searched moves what its own hand may be
(search/hanabi/multi.py).

In The Crew worlds are by default uniform over all deals that are consistent with the view. They do not use the others'
actions as evidence, so all seats may search. If only one seat searches, belief=exact restricts the worlds to those in
which the blueprint takes the others' actions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, Field

from trickformer.base import Belief, Game, TrickformerError
from trickformer.plumbing.options import Applies, PerGame, refuse_unread
from trickformer.search.options import NetworkBeliefOptions, RaceOptions

if TYPE_CHECKING:
    from trickformer.games.hanabi import Hanabi
    from trickformer.search.hanabi.beliefs import Maker
    from trickformer.search.sparta import BlueprintSearchPlayer, Positions


GAMES = ("hanabi", "crew")


_MULTI = Applies(
    "multi=true in hanabi",
    lambda options, game: options.multi and (game is None or not _is_crew(game)),
    ("multi", True),
)


def _is_crew(game: Game) -> bool:
    from trickformer.games.crew import Crew

    return isinstance(game, Crew)


class _Search(BaseModel):
    blueprint: Annotated[str | None, PerGame(lambda _, game: "rules" if _is_crew(game) else "partner:style=smart")] = (
        Field(
            None,
            min_length=1,
            description="Script of all seats (default: partner:style=smart in Hanabi, rules in The Crew).",
        )
    )
    seat: Annotated[int, Applies("multi=false", lambda options, _: not options.multi)] = Field(
        0, ge=0, le=4, description="Seat that searches, while the others play the blueprint (default: 0)."
    )
    multi: bool = Field(
        False, description="Whether all seats search. In Hanabi each repeats the partner's searches (default: false)."
    )
    range_max: Annotated[int, _MULTI] = Field(
        200,
        ge=0,
        le=1_000_000,
        description="Hanabi, multi=true: no search if the partner may hold more hands than this (default: 200).",
    )
    seed: Annotated[int, _MULTI] = Field(
        0,
        ge=0,
        lt=2**63,
        description="Hanabi, multi=true: seed of the worlds, which both seats draw alike (default: 0).",
    )
    worlds: int = Field(1_000, ge=1, le=1_000_000, description="Worlds in which actions are tried (default: 1,000).")
    belief: Annotated[
        Literal["exact", "counting", "seq2seq", "bft"] | None,
        PerGame(lambda _, game: "counting" if _is_crew(game) else "exact"),
    ] = Field(
        None, description="Worlds: exact, counting (ignores moves), seq2seq, bft (default: exact, The Crew counting)."
    )


class Options(NetworkBeliefOptions, RaceOptions, _Search):
    pass


def make(options: Options, game: Game) -> BlueprintSearchPlayer:
    """Make a player that searches on a blueprint.

    Args:
        options: Options of the player.
        game: The game.

    Raises:
        TrickformerError: The game has no such seat or option, the blueprint is no scripted player of it, or the
            network does not fit.
    """
    refuse_unread("sparta", options, game)
    if options.seat >= game.players:
        raise TrickformerError(f"player 'sparta': there is no seat {options.seat}: seats are 0 to {game.players - 1}")
    from trickformer.search.sparta import BlueprintSearchPlayer

    return BlueprintSearchPlayer(options, _crew(options, game) if _is_crew(game) else _hanabi(options, game))


def _crew(options: Options, game: Game) -> Positions:
    from trickformer import players
    from trickformer.belief.samplers.crew import CrewBelief
    from trickformer.games.crew import Crew
    from trickformer.search.crew.positions import CrewPositions

    assert isinstance(game, Crew)
    if options.belief not in (None, "counting", "exact"):
        raise TrickformerError(f"player 'sparta': belief={options.belief} is for hanabi, not crew")
    if options.multi and options.belief == "exact":
        raise TrickformerError("player 'sparta': belief=exact needs multi=false in crew; leave out multi")
    if options.blueprint is not None and players.parse(options.blueprint)[0] != "rules":
        raise TrickformerError(f"player 'sparta': its blueprint in crew is rules, not {options.blueprint!r}")
    assess_tries = None if options.multi else options.tries
    tries = assess_tries if options.belief == "exact" else None
    seat = None if options.multi else options.seat
    return CrewPositions(CrewBelief(game), seat, tries, assess_tries, options.threads)


def _hanabi(options: Options, game: Game) -> Positions:
    from trickformer.belief.samplers.hanabi import ExplainedBelief
    from trickformer.games.hanabi import Hanabi
    from trickformer.players.partner import style_of
    from trickformer.search.hanabi.positions import HanabiPositions

    assert isinstance(game, Hanabi)
    style = style_of("player 'sparta': its blueprint", options.blueprint or "partner:style=smart")
    if options.multi:
        from trickformer.search.hanabi.multi import MultiPositions

        if game.players != 2:
            raise TrickformerError(f"player 'sparta': multi=true needs two players, not {game.players}; leave it out")
        if options.belief not in (None, "exact"):
            raise TrickformerError("player 'sparta': multi=true needs belief=exact; leave out belief")
        return MultiPositions(game, style, options.worlds, options, options.range_max, options.seed)
    make_exact = partial(ExplainedBelief, game, style, options.listed, options.tries)
    belief = _belief_maker(options, game, style, make_exact)
    return HanabiPositions(game, style, options.seat, belief, make_exact(), options.threads)


def _belief_maker(options: Options, game: Hanabi, style: str, make_exact: Callable[[], Belief]) -> Maker:
    name = options.belief or "exact"
    if name in ("seq2seq", "bft"):
        from trickformer.search.hanabi.beliefs import make_network_belief  # imports torch
        from trickformer.search.hanabi.blueprint import ScriptedBlueprint

        blueprint = ScriptedBlueprint(game, style)
        return make_network_belief(name, game, blueprint, options.seat, options, options.checkpoint, options.device)
    from trickformer.belief import sampler

    return lambda _: make_exact() if name == "exact" else sampler(game)
