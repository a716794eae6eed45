"""Lists of the players and analysts that a page can choose.

A page chooses by place on the list, so that no message can name a file or a program.
"""

from __future__ import annotations

from collections.abc import Iterable

from trickformer import checkpoints, players, tokenizers
from trickformer.base import Game, TrickformerError
from trickformer.models.player import ModelOptions
from trickformer.review import analyst, solver
from trickformer.search import part


def list_players(game: Game, named: Iterable[str]) -> tuple[str, ...]:
    """List the players that a page can choose.

    Args:
        game: The game.
        named: Specs that come first, such as those of the command line.

    Returns:
        The named specs, and the players of this package with their defaults.
    """
    specs = list(dict.fromkeys(named))
    for name in players.NAMES if game.players > 1 else ():
        if not any(spec_or_name.partition(":")[0] == name for spec_or_name in specs) and (spec := _default(game, name)):
            specs.append(spec)
    return tuple(specs)


def short(spec_or_name: str) -> str:
    """Shorten a spec for display; names that are no specs stay as they are.

    Args:
        spec_or_name: Spec, or name of a player in a foreign record.
    """
    try:
        return players.short(spec_or_name)
    except TrickformerError:
        return spec_or_name


def analysts(game: Game, first: str | None, named: Iterable[str]) -> tuple[str, ...]:
    """List the analysts that can rate decisions of a game.

    Args:
        game: The game.
        first: Spec that comes first, or None.
        named: Further specs.

    Returns:
        `first`, the solver if the game has one, `named`, and the players of this package that report values.
    """
    solvers = [analyst.SOLVER] if solver.has_solver(game) else []
    specs = list(filter(None, (_default(game, name) for name in analyst.valuing(game))))
    # The core can finish these games from any position, so `rollout` is fast enough to rate decisions.
    if part(game.name, "positions") and shipped_for(game):
        specs.append("rollout:prior=argmax")
    return tuple(dict.fromkeys([*([first] if first else []), *solvers, *named, *specs]))


def _default(game: Game, name: str) -> str | None:
    """Return the spec of a player with its defaults; None for external programs and players of other games."""
    options = players.options_of(name)
    if name in ("engine", "spiel"):
        return None
    if issubclass(options, ModelOptions):  # a check without loading the model
        return name if shipped_for(game) else None
    try:
        players.make(name, game)
    except TrickformerError:  # a player of another game
        return None
    return name


def shipped_for(game: Game) -> str | None:
    """Name the shipped checkpoint that plays a game; None if there is none.

    Args:
        game: Game with its options.
    """
    tokenizer = tokenizers.find(game)
    if tokenizer is None:
        return None
    try:
        name = checkpoints.of_game(game)
        checkpoints.check(checkpoints.find(name), game, tokenizer)
    except TrickformerError:
        return None
    return name
