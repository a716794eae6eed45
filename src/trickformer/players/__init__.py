"""Everything that can sit at a table. One module a player, found by its file name.

A package of its own adds a player by an entry point in the group `trickformer.players` (docs/add-a-game.md).

A player module exports `Options`, a pydantic model with extra="forbid" whose fields all have a default and
a one-line description, and `make(options, game) -> Player`. The first line of its docstring describes it.
Modules with a leading underscore are helpers. Heavy imports stand inside `make`, so that listing the
players loads none of them.

A player is named by a spec: `name`, or `name:key=value,key=value`; a value with commas stands in double quotes, as
JSON has them. The randomness that a table hands to a player comes from `base.decision_rng`.
"""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError, ValidationInfo

from trickformer import checkpoints
from trickformer.base import Decision, Game, Player, TrickformerError, UnknownNameError, View
from trickformer.engines import entries
from trickformer.plumbing import plugins
from trickformer.plumbing.digests import sha256
from trickformer.plumbing.folder import ABOUT, RESULT
from trickformer.plumbing.text import from_json

NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


Specs = TypeVar("Specs", str, list[str], str | None, list[str] | None)

_ITEM = re.compile(r'\s*([^\s=,"]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^,]*?)\s*(?:,|$)')


def names() -> tuple[str, ...]:
    """The players of this package, then those of installed ones, then the engines of engines.toml."""
    more = (*plugins.names(plugins.PLAYERS), *entries.read())
    return (*NAMES, *(name for name in dict.fromkeys(more) if name not in NAMES))


def module(name: str) -> ModuleType:
    """The module of a player. Raises UnknownNameError, and TrickformerError for an installed one that cannot be
    imported."""
    if name in NAMES:
        return importlib.import_module(f"{__name__}.{name}")
    found = plugins.module(plugins.PLAYERS, name) if name else None
    if found is None and (entry := entries.read().get(name)):
        from trickformer.players import engine

        found = engine.make_player_module(name, entry)
    if found is None:
        raise UnknownNameError("player", name, names())
    return found


def options_of(name: str) -> type[BaseModel]:
    """The options model of a player. Raises UnknownNameError."""
    return module(name).Options


def describe(name: str) -> str:
    """One line on what a player does; raises UnknownNameError."""
    return (module(name).__doc__ or "").strip().partition("\n")[0]


def parse(spec: str) -> tuple[str, BaseModel]:
    """The name and the options of a spec.

    Raises UnknownNameError for a player or option that does not exist, TrickformerError for anything else
    that is wrong with the spec."""
    name, _, rest = spec.strip().partition(":")
    model = options_of(name)
    given: dict[str, str] = {}
    for key, value in _items(spec, rest):
        if key not in model.model_fields:
            if not model.model_fields:
                raise TrickformerError(f"player {name!r} has no options; {key!r} was given")
            raise UnknownNameError(f"option of player {name!r}:", key, tuple(model.model_fields))
        if key in given:
            raise TrickformerError(f"player {spec!r}: option {key!r} is given twice")
        given[key] = value
    optional = {k for k, field in model.model_fields.items() if field.default is None}
    try:
        return name, model.model_validate({k: None if k in optional and v == "none" else v for k, v in given.items()})
    except ValidationError as e:
        fault = e.errors()[0]
        key = ".".join(map(str, fault["loc"])) or "options"
        raise TrickformerError(
            f"player {name!r}: {key}={fault.get('input')}: {fault['msg'].partition(chr(10))[0]}"
        ) from None


def _items(spec: str, rest: str) -> Iterator[tuple[str, str]]:
    """The keys and values of `key=value,key="va,lue"`. Raises TrickformerError."""
    at = 0
    while at < len(rest):
        found = _ITEM.match(rest, at)
        if not found:
            item = rest[at:].partition(",")[0].strip()
            raise TrickformerError(f"player {spec!r}: write options as key=value, not {item!r}")
        key, value = found.groups()
        if value.startswith('"'):
            try:
                value = from_json(value)
            except ValueError:
                raise TrickformerError(f"player {spec!r}: {value} is no text in double quotes") from None
        yield key, value
        at = found.end()


def resolve(spec: str) -> str:
    """The canonical spec: every option in the order of the model; options that are None are left out.

    parse(resolve(spec)) == parse(spec). Raises what `parse` raises."""
    name, options = parse(spec)
    items = [f"{k}={text(v)}" for k, v in options.model_dump(mode="json").items() if v is not None]
    return name + (":" + ",".join(items) if items else "")


def short(spec: str) -> str:
    """The spec without the options that are as they would be anyway: parse(short(spec)) == parse(spec). Raises what
    `parse` raises."""
    name, options = parse(spec)
    given = options.model_dump(mode="json", exclude_defaults=True)
    items = [f"{k}={'none' if v is None else text(v)}" for k, v in given.items()]
    return name + (":" + ",".join(items) if items else "")


def files(spec: str) -> dict[str, Path]:
    """What the options of a spec have players read: every file by the name that it goes by there, those of shipped
    checkpoints too. Raises what `parse` raises."""
    options = parse(spec)[1]
    found: dict[str, Path] = dict(getattr(options, "files", {}))
    values = options.model_dump(mode="json")
    for option, field in type(options).model_fields.items():
        value = values[option]
        # One of a few words is no file, though a folder may have the word for its name.
        if not isinstance(value, str) or not value or _one_of_words(field.annotation):
            continue
        path = checkpoints.find(value) if value in checkpoints.names() else Path(value)
        kept = sorted(filter(_is_read, path.iterdir())) if path.is_dir() else [path]
        found |= {f"{value}/{p.name}" if path.is_dir() else value: p for p in kept if p.is_file()}
    return found


def _is_read(path: Path) -> bool:
    """Whether a file of a checkpoint's folder is part of it, and not a word of the run that made it."""
    return path.suffix in (".json", ".safetensors") and path.name not in (ABOUT, RESULT)


def digests(game: Game, specs: Iterable[str]) -> dict[str, str]:
    """SHA-256 of every file that players and the rules of their game are read from, by its name. Raises what `parse`
    raises."""
    found = {name: path for spec in specs for name, path in files(spec).items()}
    if own := game.spiel.get_parameters().get("file"):
        found[own] = Path(own)
    return sha256(found)


def _one_of_words(annotation: Any) -> bool:
    return get_origin(annotation) is Literal or any(map(_one_of_words, get_args(annotation)))


def make(spec: str, game: Game, logs: Path | None = None) -> Player:
    """Make a new player for a game.

    Args:
        spec: The player's spec.
        game: The game.
        logs: Folder for the standard error of a player that is a program; None for a temporary file.

    Raises:
        TrickformerError: `parse` raises it, or the player cannot play this game.
    """
    name, options = parse(spec)
    if logs is not None and isinstance(options, entries.Program):
        options = options.with_logs(logs)
    return module(name).make(options, game)


def validate_decisions(
    player: Player, views: Sequence[View], decisions: Any, where: Callable[[int], str] = lambda _: ""
) -> list[Decision]:
    """What a player answered, where it is what base.Player promises. Raises TrickformerError where it is not one
    decision a view, of a legal action, and where values are not of legal actions or not finite.

    where: what the message says of a view's place, by its index."""
    name = type(player).__name__
    if not isinstance(decisions, Sequence) or len(decisions) != len(views):
        many = len(decisions) if isinstance(decisions, Sequence) else type(decisions).__name__
        raise TrickformerError(f"{name} gave {many} decisions for {len(views)} views")
    for i, (view, decision) in enumerate(zip(views, decisions)):
        if not isinstance(decision, Decision):
            raise TrickformerError(f"{name} gave {decision!r}{where(i)}, which is no Decision")
        values = decision.values or {}
        if decision.action not in view.legal:
            raise TrickformerError(
                f"{name} chose the illegal action {decision.action}{where(i)}; legal: {list(view.legal)}"
            )
        if wrong := {*values, *(decision.visits or ())}.difference(view.legal):
            raise TrickformerError(f"{name} says what the illegal action {min(wrong)} is worth{where(i)}")
        for value in (decision.value, *values.values()):
            if value is not None and not math.isfinite(value):
                raise TrickformerError(f"{name} says that an action is worth {value}{where(i)}")
    return list(decisions)


def text(value: Any) -> str:
    """An option's value as a spec writes it."""
    said = str(value).lower() if isinstance(value, bool) else str(value)
    return json.dumps(said, ensure_ascii=False) if set(said) & set(',"') or said != said.strip() else said


def starts_program(spec: str) -> bool:
    """Whether the spec itself says which program to start, or which module to import: what nobody but the user may
    decide. An engine of engines.toml was named by the user. False for what is no spec."""
    try:
        options = parse(spec)[1]
    except TrickformerError:
        return False
    return bool(getattr(options, "starts_program", False))


def to_type(config: BaseModel) -> list[str]:
    """The options of a config that a file may not decide, as words of the command line: specs that start programs."""
    words: list[str] = []
    for name in type(config).model_fields:
        value = getattr(config, name)
        specs = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        if any(isinstance(spec, str) and starts_program(spec) for spec in specs):
            words += [word for spec in specs for word in (f"--{name.replace('_', '-')}", spec)]
    return words


def reject_program_specs(specs: Specs, info: ValidationInfo) -> Specs:
    """A validator of fields that hold specs: one that starts a program is not taken from a file, which may be a
    stranger's (`plumbing.config.load`)."""
    if info.context and info.field_name in info.context["filed"]:
        for spec in [specs] if isinstance(specs, str) else specs or ():
            if starts_program(spec):
                raise ValueError(f"{spec!r} starts a program, which a file may not decide; give it on the command line")
    return specs
