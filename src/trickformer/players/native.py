"""player that a Python function makes: native:MODULE:FUNCTION

The spec is short for native:make=MODULE:FUNCTION. The function takes the game and returns a trickformer.base.Player.
The module is found in the current folder or on PYTHONPATH. For a pyspiel.Bot there is the player `spiel`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Decision, Game, Memo, Player, TrickformerError, View
from trickformer.plumbing import foreign


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    make: str = Field("", description="Required: MODULE:FUNCTION that takes the game and returns a Player.")

    starts_program: ClassVar[bool] = True  # the import runs the module's code

    @property
    def files(self) -> dict[str, Path]:
        """File of the module, if it has one."""
        return foreign.module_file(self.make)


class NativePlayer(Player):
    """Wrapper of a player from a module. It reduces exceptions of the player to one line with file and line number."""

    def __init__(self, player: Player, who: str):
        self._player, self._who = player, who
        self.wrapped = player
        self.batch, self.needs_state = player.batch, player.needs_state
        self.caveats = player.caveats
        self.memo_is_copyable, self.has_likelihood = player.memo_is_copyable, player.has_likelihood

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        with foreign.wrap_errors(self._who):
            return self._player.act(views, rng, memo)

    def end(self, views: Sequence[View], scores: tuple[int, ...], memo: Sequence[Memo]) -> None:
        with foreign.wrap_errors(self._who):
            self._player.end(views, scores, memo)

    def look(self, views: Sequence[View], memo: Sequence[Memo]) -> None:
        with foreign.wrap_errors(self._who):
            self._player.look(views, memo)

    def log_likelihood(self, views: Sequence[View], slip: float) -> np.ndarray:
        with foreign.wrap_errors(self._who):
            return self._player.log_likelihood(views, slip)


_REGISTERED: dict[str, Player] = {}  # player objects that were passed to `register`, by generated name
_HERE = "this_process"  # stands for the module in the specs of these players


def register(player: str | Player | None) -> str | None:
    """Register a player object and return its spec, which is valid in this process only.

    Args:
        player: The player; a spec or None is returned unchanged.
    """
    if player is None or isinstance(player, str):
        return player
    name = next((name for name, registered in _REGISTERED.items() if registered is player), None)
    if name is None:
        name = f"{type(player).__name__}{len(_REGISTERED) + 1}"
        _REGISTERED[name] = player
    return f"native:make={_HERE}:{name}"


def make(options: Options, game: Game) -> Player:
    """Make the player of a module.

    Args:
        options: Options of the player.
        game: The game.

    Raises:
        TrickformerError: There is no such module or function, it fails, or it returns no Player.
    """
    if not all(options.make.partition(":")):
        raise TrickformerError("player 'native': write native:MODULE:FUNCTION, such as native:mybot:make")
    who = f"player {options.make!r}"
    module, name = options.make.split(":", 1)
    if module == _HERE:
        if name not in _REGISTERED:
            raise TrickformerError(f"{who} is a Python object that ended with its process; pass the object again")
        return NativePlayer(_REGISTERED[name], who)
    factory = foreign.function(who, options.make)
    with foreign.wrap_errors(who):
        player = factory(game)
    if not isinstance(player, Player):
        raise TrickformerError(f"{who}: its function returned {type(player).__name__}, not a trickformer.base.Player")
    return NativePlayer(player, who)
