"""SPARTA: search on top of a scripted blueprint

A scripted player finishes games from worlds that explain the view.

SPARTA (Lerer, Hu, Foerster & Brown, "Improving Policies via Search in Cooperative Partially Observable Games", 2020).
All seats play a blueprint. So does one that searches, where no action promises more than the blueprint's own by more
than a threshold.

In Hanabi one seat searches. Its belief of its hand follows from what the others did: exactly, or by a network,
fine-tuned or not (Sokota et al., "A Fine-Tuning Approach to Belief State Modeling", 2022). With worlds enough of an
exact belief a search is never worse than the blueprint. With `multi`, both seats of two search, and each follows what
the other's searches say of its hand (search/hanabi/multi.py).

In The Crew worlds are uniform over all that explain what a seat saw. They say nothing of why the others did what they
did, so that all seats may search. Where one does, it may ask for those in which the others, by the blueprint, do what
they did (belief=exact).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from trickformer.base import Belief, Game, TrickformerError
from trickformer.belief.hanabi.config import FineTuningOptions
from trickformer.search.options import RaceOptions, must_be_asked

if TYPE_CHECKING:
    from trickformer.games.hanabi import Hanabi
    from trickformer.search.hanabi.beliefs import Maker
    from trickformer.search.sparta import BlueprintSearchPlayer, Positions


GAMES = ("hanabi", "crew")


class _Search(BaseModel):
    blueprint: str | None = Field(
        None, description="what all seats play, a scripted player; partner:style=smart, in The Crew rules, if not given"
    )
    seat: int = Field(0, ge=0, le=4, description="which seat searches; the others play the blueprint")
    multi: bool = Field(
        False,
        description="all seats search; in Hanabi, for two, each knows what the other's search says of its hand, in The "
        "Crew each searches as if the others did not",
    )
    range_max: int = Field(
        200,
        ge=0,
        le=1_000_000,
        description="Hanabi, multi: hands of the other seat up to which there is a search",
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Hanabi, multi: of the worlds, which both seats must draw alike")
    worlds: int = Field(1_000, ge=1, le=1_000_000, description="worlds that actions are tried in")
    belief: Literal["exact", "counting", "seq2seq", "bft"] | None = Field(
        None,
        description="worlds as likely as what the others did makes them, as the deal alone does, as a network says, or "
        "as one says that is fine-tuned at each step; exact if not given, in The Crew counting (exact: one seat)",
    )
    checkpoint: Path | None = Field(
        None, description="for seq2seq and bft: a network of `trickformer belief train --form pomdp`"
    )


class Options(FineTuningOptions, RaceOptions, _Search):
    pass


_CREW = frozenset({"blueprint", "seat", "multi", "worlds", "belief", "threshold", "ucb", "assess", "tries", "threads"})


def make(options: Options, game: Game) -> BlueprintSearchPlayer:
    """Raises TrickformerError for a game that is neither, a seat that it has not, a blueprint that is no scripted
    player of it, an option that it does not have, and a network that does not fit."""
    if game.name not in GAMES:
        raise TrickformerError(f"player 'sparta' plays hanabi and crew only, not {game.name}")
    if options.seat >= game.players:
        raise TrickformerError(f"player 'sparta': there is no seat {options.seat} among {game.players}")
    if options.multi and options.seat:
        raise TrickformerError(f"player 'sparta': with multi=true all seats search, not seat {options.seat}")
    from trickformer.search.sparta import BlueprintSearchPlayer

    return BlueprintSearchPlayer(options, _crew(options, game) if game.name == "crew" else _hanabi(options, game))


def _crew(options: Options, game: Game) -> Positions:
    from trickformer import players
    from trickformer.belief.samplers.crew import CrewBelief
    from trickformer.games.crew import Crew
    from trickformer.search.crew.positions import CrewPositions

    assert isinstance(game, Crew)
    if foreign := sorted(set(options.model_dump(exclude_defaults=True)) - _CREW):
        raise TrickformerError(f"player 'sparta' has the option {foreign[0]!r} in hanabi only, not in crew")
    if options.belief not in (None, "counting", "exact"):
        raise TrickformerError(f"player 'sparta' has belief={options.belief} in hanabi only, not in crew")
    if options.multi and options.belief == "exact":
        raise TrickformerError("player 'sparta' has belief=exact in crew for one seat only, not with multi=true")
    if options.blueprint is not None and players.parse(options.blueprint)[0] != "rules":
        raise TrickformerError(f"player 'sparta': its blueprint in crew is rules, not {options.blueprint!r}")
    exact = None if options.multi else options.tries
    drawn = exact if options.belief == "exact" else None
    return CrewPositions(CrewBelief(game), None if options.multi else options.seat, drawn, exact, options.threads)


def _hanabi(options: Options, game: Game) -> Positions:
    from trickformer.belief.samplers.hanabi import ExplainedBelief
    from trickformer.games.hanabi import Hanabi
    from trickformer.players.partner import style_of
    from trickformer.search.hanabi.positions import HanabiPositions

    assert isinstance(game, Hanabi)
    style = style_of("player 'sparta': its blueprint", options.blueprint or "partner:style=smart")
    must_be_asked("sparta", options, options.belief or "exact")
    if options.multi:
        from trickformer.search.hanabi.multi import MultiPositions

        if game.players != 2:
            raise TrickformerError(f"player 'sparta' has multi=true for two players, not {game.players}")
        if options.belief not in (None, "exact") or options.checkpoint is not None:
            raise TrickformerError("player 'sparta' has multi=true on the exact belief only")
        return MultiPositions(game, style, options.worlds, options, options.range_max, options.seed)
    if given := options.model_dump(include={"range_max", "seed"}, exclude_defaults=True):
        raise TrickformerError(f"player 'sparta' has the option {min(given)!r} with multi=true only")
    exact = partial(ExplainedBelief, game, style, options.listed, options.tries)
    belief = _beliefs(options, game, style, exact)
    return HanabiPositions(game, style, options.seat, belief, exact(), options.threads)


def _beliefs(options: Options, game: Hanabi, style: str, exact: Callable[[], Belief]) -> Maker:
    file, name = options.checkpoint, options.belief or "exact"
    if name in ("seq2seq", "bft"):
        from trickformer.search.hanabi.beliefs import make_network_belief  # which loads torch

        return make_network_belief(name, game, style, options.seat, options, file, options.device)
    if file is not None:
        raise TrickformerError(f"player 'sparta': checkpoint is for belief=seq2seq and bft, not {name}")
    from trickformer.belief import sampler

    return lambda _: exact() if name == "exact" else sampler(game)
