"""Who a page may choose: by their place on these lists. What a page says never names a file or a program."""

from __future__ import annotations

from collections.abc import Iterable

from trickformer import checkpoints, players, tokenizers
from trickformer.base import Game, TrickformerError
from trickformer.models.player import ModelOptions
from trickformer.review import analyst, solver
from trickformer.search import part


def list_players(game: Game, named: Iterable[str]) -> tuple[str, ...]:
    """Those `named`, as the command line has them, and the players of this package with their defaults."""
    found = list(dict.fromkeys(named))
    for name in players.NAMES if game.players > 1 else ():
        if not any(who.partition(":")[0] == name for who in found) and (spec := _default(game, name)):
            found.append(spec)
    return tuple(found)


def short(who: str) -> str:
    """A player as people read it; names that are no specs, such as those of others' records, as they are."""
    try:
        return players.short(who)
    except TrickformerError:
        return who


def analysts(game: Game, first: str | None, named: Iterable[str]) -> tuple[str, ...]:
    """Who may rate decisions of a game: `first`, if there is one, the solver, those `named`, and the players of this
    package that say what actions are worth."""
    known = [analyst.SOLVER] if solver.has_solver(game) else []
    specs = list(filter(None, (_default(game, name) for name in analyst.valuing(game))))
    if part(game.name, "positions") and shipped_for(game):
        specs.append("rollout:prior=argmax")
    return tuple(dict.fromkeys([*([first] if first else []), *known, *named, *specs]))


def _default(game: Game, name: str) -> str | None:
    """A player with its defaults; None where it names another program or bot, or cannot play the game."""
    options = players.options_of(name)
    if name in ("engine", "spiel"):
        return None
    if issubclass(options, ModelOptions):  # nothing is loaded yet
        return name if shipped_for(game) else None
    try:
        players.make(name, game)
    except TrickformerError:  # of another game
        return None
    return name


def shipped_for(game: Game) -> str | None:
    """The shipped checkpoint that plays a game, by these rules; None if there is none."""
    tokenizer = tokenizers.find(game)
    if tokenizer is None:
        return None
    try:
        name = checkpoints.of_game(game)
        checkpoints.check(checkpoints.find(name), game, tokenizer)
    except TrickformerError:
        return None
    return name
