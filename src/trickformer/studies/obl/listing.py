"""Which game is listed, and by what its information states are named."""

from __future__ import annotations

import pyspiel

from trickformer import games
from trickformer.base import TrickformerError, UnknownNameError, game_name
from trickformer.plumbing import plugins
from trickformer.studies.obl import toy
from trickformer.studies.obl.tree import Tree, grow


def load_tree(spec: str, limit: int) -> Tree:
    """The tree of a game string: `toy`, a game of ours, whose information states are views, or one of OpenSpiel that
    has information states. Raises TrickformerError on a string that names none, and as `grow` does."""
    name = game_name(spec)
    if name != game_name(toy.NAME) and name in (*games.NAMES, *plugins.names(plugins.GAMES)):
        game = games.load(spec)
        return grow(game.spiel.new_initial_state(), game.view, limit)
    spiel = _load_spiel_game(spec, name)
    kind = spiel.get_type()
    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise TrickformerError(
            f"in {name} seats act at the same time; write turn_based_simultaneous_game(game={spec}()) to order them"
        )
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise TrickformerError(f"{name} does not say how likely each event of chance is")
    if not kind.provides_information_state_string:
        raise TrickformerError(f"OpenSpiel's {name} has no information states")
    return grow(spiel.new_initial_state(), lambda state, seat: state.information_state_string(seat), limit)


def _load_spiel_game(spec: str, name: str) -> pyspiel.Game:
    """A game of OpenSpiel. What can be looked at before is: its own words of what is wrong are many."""
    known = {kind.short_name: kind for kind in pyspiel.registered_games()}
    called = toy.NAME if name == "toy" else name
    if called not in known:
        raise UnknownNameError("game", name, ("toy", *games.NAMES, "any small game of OpenSpiel, such as tiny_hanabi"))
    try:
        given = pyspiel.game_parameters_from_string(spec)
        options = tuple(known[called].parameter_specification)
        for option in given.keys() - {"name", *options}:
            raise UnknownNameError(f"option of {name}", option, options or ("none, it has no options",))
        return pyspiel.load_game(called, {key: value for key, value in given.items() if key != "name"})
    except pyspiel.SpielError as e:  # which it has told on standard error too
        raise TrickformerError(f"game {spec!r}: {str(e).splitlines()[0]}") from None
