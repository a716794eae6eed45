"""player that a Python function makes: native:MODULE:FUNCTION

The spec is short for native:make=MODULE:FUNCTION. The function takes the game and returns a trickformer.base.Player.
The module is found in the current folder or on PYTHONPATH. For a pyspiel.Bot there is the player `spiel`.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, ClassVar
from weakref import WeakValueDictionary

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


# Player objects that were passed to `register_all`, by generated name, as long as somebody else needs them.
_REGISTERED: WeakValueDictionary[str, Player] = WeakValueDictionary()
_HERE = "this_process"  # stands for the module in the specs of these players
_PREFIX = f"native:make={_HERE}:"
# Members of a class that are not its code, or that Python adds.
_UNREAD = ("__module__", "__doc__", "__dict__", "__weakref__", "__firstlineno__", "__static_attributes__")


def register_all(players: Sequence[Any]) -> list[str | None]:
    """Register the player objects of a tournament and return their specs.

    A player that was made from a spec has this one. Other specs are valid in this process only (`is_registered`).
    Such a spec names the class and has a digest of its code and of the object's settings, so that a run can only be
    continued with an equal object.

    Args:
        players: Player objects, and specs or None, which are returned unchanged.

    Raises:
        TrickformerError: One of them is neither a spec nor a Player.
    """
    specs: list[str | None] = []
    named: dict[str, Player] = {}
    for player in players:
        if player is None or isinstance(player, str):
            specs.append(player)
            continue
        if not isinstance(player, Player):
            what = f"the class {player.__name__}; pass an object of it" if isinstance(player, type) else repr(player)
            raise TrickformerError(f"a player must be a spec or a trickformer.base.Player, not {what}")
        if player.made_from is not None:
            specs.append(player.made_from)
            continue
        kind = f"{type(player).__name__}-{_digest(player)}"
        registered = (name for name, other in _REGISTERED.items() if other is player)
        name = next(registered, None) or kind
        number = 1
        while named.setdefault(name, player) is not player:  # another object that is equal
            number += 1
            name = f"{kind}-{number}"
        specs.append(_PREFIX + name)
    _REGISTERED.update(named)
    return specs


def is_registered(spec: str | None) -> bool:
    """Return whether a spec is valid in this process only.

    Args:
        spec: A spec that `register_all` returned.
    """
    return spec is not None and spec.startswith(_PREFIX)


def _digest(player: Player) -> str:
    """Return a digest of the code of a player's class and of the object's settings."""
    parts: list[object] = []
    for cls in type(player).__mro__:
        if cls.__module__ not in ("builtins", "abc") and not cls.__module__.startswith("trickformer."):
            parts += [cls.__qualname__, *(_content(value) for name, value in vars(cls).items() if name not in _UNREAD)]
    return hashlib.sha256(repr([parts, _content(vars(player))]).encode()).hexdigest()[:8]


def _content(value: Any) -> object:
    """Return a value's content if it is code, a number, a text, an array or a collection of them, else its type."""
    if isinstance(value, staticmethod | classmethod):
        return _content(value.__func__)
    if isinstance(value, property):
        return [_content(each) for each in (value.fget, value.fset)]
    if isinstance(value, FunctionType):
        return _source(value)
    if isinstance(value, str | bytes | int | float | None):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, list | tuple):
        return [_content(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted(repr(_content(each)) for each in value)
    if isinstance(value, dict):
        return sorted((repr(_content(key)), repr(_content(each))) for key, each in value.items())
    if isinstance(value, BaseModel):
        return type(value).__qualname__, _content(value.model_dump())
    return type(value).__qualname__


def _source(function: FunctionType) -> object:
    try:
        return inspect.getsource(function)
    except OSError:  # typed at Python's prompt
        code = function.__code__
        return code.co_code, code.co_names, [each for each in code.co_consts if not isinstance(each, CodeType)]


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
            raise TrickformerError(
                f"{who} is a Python object of another process; pass an object to trickformer.tournament, without "
                "workers, or name a function: native:MODULE:FUNCTION"
            )
        return NativePlayer(_REGISTERED[name], who)
    factory = foreign.function(who, options.make)
    with foreign.wrap_errors(who):
        player = factory(game)
    if not isinstance(player, Player):
        raise TrickformerError(f"{who}: its function returned {type(player).__name__}, not a trickformer.base.Player")
    return NativePlayer(player, who)
