"""Loading of a game tree by a game string, and the names of its information states."""

from __future__ import annotations

import pyspiel

from trickformer import games
from trickformer.base import TrickformerError, UnknownNameError, game_name
from trickformer.plumbing import plugins
from trickformer.studies.obl import toy
from trickformer.studies.obl.tree import Tree, grow


def load_tree(spec: str, limit: int) -> Tree:
    """List the tree of a game.

    Args:
        spec: `toy`, or a game string of this package or of OpenSpiel. An information state of a game of this package is
            named by the seat's view, one of another game by OpenSpiel's information state string.
        limit: Largest number of nodes.

    Raises:
        UnknownNameError: If there is no such game or option.
        TrickformerError: If the game cannot be listed; see `tree.grow`.
    """
    name = game_name(spec)
    if name != game_name(toy.NAME) and name in (*games.NAMES, *plugins.names(plugins.GAMES)):
        game = games.load(spec)
        return grow(game.spiel.new_initial_state(), game.view, limit)
    spiel = _load_spiel_game(spec, name)
    game_type = spiel.get_type()
    if game_type.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise TrickformerError(
            f"in {name} seats act at the same time; write turn_based_simultaneous_game(game={spec}()) to order them"
        )
    if game_type.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise TrickformerError(f"{name} does not list the probabilities of its chance events; choose another game")
    if not game_type.provides_information_state_string:
        raise TrickformerError(f"OpenSpiel's {name} has no information states; choose another game")
    return grow(spiel.new_initial_state(), lambda state, seat: state.information_state_string(seat), limit)


def _load_spiel_game(spec: str, name: str) -> pyspiel.Game:
    """Load a game of OpenSpiel. Names and options are checked first, because OpenSpiel's own messages are long."""
    game_types = {game_type.short_name: game_type for game_type in pyspiel.registered_games()}
    spiel_name = toy.NAME if name == "toy" else name
    if spiel_name not in game_types:
        raise UnknownNameError("game", name, ("toy", *games.NAMES, "any small game of OpenSpiel, such as tiny_hanabi"))
    try:
        parameters = pyspiel.game_parameters_from_string(spec)
        options = tuple(game_types[spiel_name].parameter_specification)
        for option in parameters.keys() - {"name", *options}:
            raise UnknownNameError(f"option of {name}", option, options or ("none, it has no options",))
        return pyspiel.load_game(spiel_name, {key: value for key, value in parameters.items() if key != "name"})
    except pyspiel.SpielError as e:  # OpenSpiel has already printed the message on standard error
        raise TrickformerError(f"game {spec!r}: {str(e).splitlines()[0]}") from None
