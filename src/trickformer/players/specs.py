"""Player specs: `name`, or `name:key=value,key=value`. A value with commas is in double quotes, as in JSON."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError, ValidationInfo

from trickformer import checkpoints
from trickformer.base import Game, Player, TrickformerError, UnknownNameError, game_name
from trickformer.engines import entries
from trickformer.engines.process import split_command
from trickformer.players.registry import NAMES, games_of, module, options_of
from trickformer.plumbing import paths, words
from trickformer.plumbing.digests import sha256
from trickformer.plumbing.folder import ABOUT, RESULT
from trickformer.plumbing.options import NamesFile, conditional_options, resolved_options, unread_defaults
from trickformer.plumbing.text import from_json

Specs = TypeVar("Specs", str, list[str], str | None, list[str] | None)

# Up to version 0.2, `gomcts` could also search sampled worlds. That search is now `rollout` with a prior.
_WORLD_GAMES = ("skat", "crew", "hanabi")  # games in which gomcts searched worlds by default
_MODEL_OPTIONS = ("checkpoint", "dtype", "device")  # options of gomcts that are now options of the prior
_WORLD_OPTIONS = ("playing", "weighted", "margin")  # options of gomcts that only the search of worlds had
_ROLLOUT_OPTIONS = ("runs", "threshold", "margin")  # options of the search of worlds that rollout has too

_ITEM = re.compile(r'\s*([^\s=,"]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^,]*?)\s*(?:,|$)')


def parse(spec: str) -> tuple[str, BaseModel]:
    """Parse a spec.

    Args:
        spec: The spec.

    Returns:
        The player's name and its options.

    Raises:
        UnknownNameError: The player or an option does not exist.
        TrickformerError: Anything else is wrong with the spec.
    """
    name, items = _read(spec)
    model = options_of(name)
    for key in items:
        if key not in model.model_fields:
            if not model.model_fields:
                raise TrickformerError(f"player {name!r} has no options; {key!r} was given")
            raise UnknownNameError(f"option of player {name!r}:", key, tuple(model.model_fields))
    optional = {k for k, field in model.model_fields.items() if field.default is None}
    try:
        return name, model.model_validate({k: None if k in optional and v == "none" else v for k, v in items.items()})
    except ValidationError as e:
        fault = e.errors()[0]
        key = ".".join(map(str, fault["loc"])) or "options"
        raise TrickformerError(words.explain(f"player {name!r}: {key}={fault.get('input')}", fault)) from None


def _read(spec: str, old: bool = False, game: str | None = None) -> tuple[str, dict[str, str]]:
    """Parse a spec and rename what an earlier version called differently; see `translate` for `old` and `game`."""
    name, rest = _split(spec)
    if name == "native" and re.fullmatch(r"[\w.]+:\w+", rest):
        rest = f"make={rest}"
    elif name == "native" and rest and not _ITEM.match(rest):
        raise TrickformerError(f"player {spec!r}: write native:MODULE:FUNCTION, such as native:mybot:make")
    items: dict[str, str] = {}
    for key, value in _items(spec, rest):
        if key in items:
            raise TrickformerError(f"player {spec!r}: option {key!r} is given twice")
        items[key] = value
    return _translate(name, items, old, game)


def _split(spec: str) -> tuple[str, str]:
    """Split a spec into the player's name and the text of its options."""
    name, *rest = spec.strip().split(":", 1)
    return name, "".join(rest)


def _write(name: str, items: Mapping[str, Any]) -> str:
    return name + (":" + ",".join(f"{key}={text(value)}" for key, value in items.items()) if items else "")


def translate(spec: str, old: bool, game: str | None) -> str:
    """Rewrite a spec of an earlier version.

    Args:
        spec: The spec in a file.
        old: Whether version 0.2 or an earlier one wrote it.
        game: Game string of the game that it was written for, if known.

    Returns:
        The canonical present spec; the same text if nothing has to be changed.
    """
    name, items = _read(spec, old, game)
    for key in {"policy", "prior"} & items.keys() if name == "rollout" else ():
        items[key] = translate(items[key], old, game)
    old_name, rest = _split(spec)
    is_same = (name, items) == (old_name, dict(_items(spec, rest)))
    return spec if is_same else resolve(_write(name, items))


def _translate(name: str, items: dict[str, str], old: bool, game: str | None) -> tuple[str, dict[str, str]]:
    """Rename the player and options of a spec of an earlier version, which a file holds or a user still types."""
    options = dict(items)
    if old and name == "rollout" and "prior" not in options and "threshold" in options:
        options["min_gain"] = options.pop("threshold")
    if name != "gomcts":
        return name, options
    options = {key: value for key, value in options.items() if value != "none"}
    imagine = options.pop("imagine", None)
    if imagine is None and not any(key in options for key in _WORLD_OPTIONS):
        searches_worlds = old and game is not None and game_name(game) in _WORLD_GAMES
    elif imagine in (None, "worlds", "model"):
        searches_worlds = imagine != "model"
    else:
        raise TrickformerError(
            f"player 'gomcts': imagine={imagine} is unknown; leave out imagine, or use rollout with prior=..."
        )
    if options.pop("early", "false") != "false":
        raise _removed_option_error("early=true", "leave it out")
    root = options.pop("root", None)
    if imagine == "model" and options.get("legal") == "true":
        options.pop("mu", None)  # earlier versions accepted it here without effect
    if not searches_worlds:
        if root not in (None, "uct"):
            raise _removed_option_error(f"root={root}", "use rollout with prior=...")
        if removed := [key for key in _WORLD_OPTIONS if key in options]:
            raise _removed_option_error(f"{removed[0]}={options[removed[0]]}", "use rollout with prior=...")
        return name, options
    if root not in (None, "halving"):
        raise _removed_option_error(f"root={root}", "use rollout with prior=...")
    if (playing := options.pop("playing", "script")) != "script":
        raise _removed_option_error(f"playing={playing}", "use rollout with prior=... and policy=...")
    prior = _write("argmax", {key: options.pop(key) for key in _MODEL_OPTIONS if key in options})
    rollout = {"prior": prior}
    if "weighted" in options:
        rollout["belief"] = "weighted" if options.pop("weighted") == "true" else "uniform"
    rollout |= {key: options.pop(key) for key in _ROLLOUT_OPTIONS if key in options}
    if options:
        key = min(options)
        raise _removed_option_error(f"{key}={options[key]}", "leave it out")
    return "rollout", rollout


def _removed_option_error(setting: str, remedy: str) -> TrickformerError:
    return TrickformerError(f"player 'gomcts': {setting} no longer exists; {remedy}")


def _items(spec: str, rest: str) -> Iterator[tuple[str, str]]:
    """Yield the keys and values of `key=value,key="va,lue"`.

    Raises:
        TrickformerError: The text has another form.
    """
    at = 0
    while at < len(rest):
        match = _ITEM.match(rest, at)
        if not match:
            item = rest[at:].partition(",")[0].strip()
            raise TrickformerError(f"player {spec!r}: write options as key=value, not {item!r}")
        key, value = match.groups()
        if value.startswith('"'):
            try:
                value = from_json(value)
            except ValueError:
                raise TrickformerError(f"player {spec!r}: {value!r} is no text in double quotes") from None
        yield key, value
        at = match.end()


def resolve(spec: str, game: Game | None = None) -> str:
    """Write a spec with all options that its player reads, in the order of its options model.

    Args:
        spec: The spec.
        game: Game whose defaults are filled in; paths then become absolute. None: options whose default depends on the
            game are left out unless they are set.

    Raises:
        TrickformerError: `parse` raises it, or no checkpoint is shipped for the game.
    """
    name, options = parse(spec)
    if game is not None:
        options = options.model_copy(update=resolved_options(options, game))
        parts = {key: resolve(getattr(options, key), game) for key in getattr(options, "parts", ())}
        options = _with_paths(options.model_copy(update=parts), paths.absolute)
    return _write(name, options.model_dump(mode="json", exclude_none=True, exclude=unread_defaults(options, game)))


def _with_paths(options: BaseModel, change: Callable[[str], str]) -> BaseModel:
    """Return a copy of options in which all paths are changed by a function."""
    new = dict[str, Any]()
    for name, field in type(options).model_fields.items():
        value = getattr(options, name)
        if isinstance(value, Path):
            new[name] = Path(change(str(value)))
        elif name == "cmd" and isinstance(options, entries.Program) and value:
            first, *rest = split_command(value)
            # Of the arguments, a word such as a game's name is no path, even if a folder of this name exists.
            arguments = [change(word) if "/" in word or paths.is_file(word) else word for word in rest]
            new[name] = shlex.join([change(first) if "/" in first else first, *arguments])
        elif isinstance(value, str) and any(
            isinstance(mark, NamesFile) and value not in mark.words() for mark in field.metadata
        ):
            new[name] = change(value)
    return options.model_copy(update=new)


def relocate(spec: str, change: Callable[[str], str]) -> str:
    """Change the paths in a spec. A spec that `parse` refuses is returned unchanged.

    Args:
        spec: The spec.
        change: Maps a path to the new path.
    """
    try:
        name, options = parse(spec)
    except TrickformerError:
        return spec
    parts = {key: relocate(part, change) for key, part in getattr(options, "parts", {}).items()}
    changed = _with_paths(options.model_copy(update=parts), change)
    return spec if changed == options else resolve(_write(name, changed.model_dump(mode="json", exclude_none=True)))


def resolve_options(spec: str, game: Game) -> dict[str, Any]:
    """Return the options of a player that apply in a game, as JSON values by name; None for an option without a value.

    Args:
        spec: The player's spec.
        game: The game.

    Raises:
        TrickformerError: As `resolve`.
    """
    return _values(parse(resolve(spec, game))[1], game)


def _values(options: BaseModel, game: Game) -> dict[str, Any]:
    return _to_json(options.model_dump(mode="json", include=set(resolved_options(options, game))))


def _to_json(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: str(x) if isinstance(x, float) and not math.isfinite(x) else x for key, x in values.items()}


def possible_options(spec: str, game: Game) -> dict[str, Any]:
    """Return the options as `resolve_options` does, and those that the player reads only after another setting.

    Args:
        spec: The player's spec.
        game: The game.

    Raises:
        TrickformerError: As `resolve`.
    """
    options = parse(resolve(spec, game))[1]
    values = _values(options, game) | _to_json(conditional_options(options, game))
    return {name: values[name] for name in type(options).model_fields if name in values}


def short(spec: str) -> str:
    """Write a spec without options that have their default value, so that parse(short(spec)) == parse(spec).

    Args:
        spec: The spec.

    Raises:
        TrickformerError: As `parse`.
    """
    name, options = parse(spec)
    changed = options.model_dump(mode="json", exclude_defaults=True)
    return _write(name, {key: "none" if value is None else value for key, value in changed.items()})


def make(spec: str, game: Game, logs: Path | None = None) -> Player:
    """Make a new player for a game.

    Args:
        spec: The player's spec.
        game: The game.
        logs: Folder for the standard error of a player that is a program; None: a temporary file.

    Raises:
        TrickformerError: `parse` raises it, or the player cannot play this game.
    """
    name, options = parse(spec)
    check_game(name, game)
    if logs is not None and isinstance(options, entries.Program):
        options = options.with_logs(logs)
    player = module(name).make(options, game)
    player.made_from = spec
    return player


def check_game(name: str, game: Game) -> None:
    """Refuse a game that a player does not play.

    Args:
        name: Name of the player.
        game: The game.

    Raises:
        UnknownNameError: There is no player of this name.
        TrickformerError: The player does not play the game.
    """
    games = games_of(name)
    if games is not None and game.name not in games:
        raise TrickformerError(f"player {name!r} plays {', '.join(games)} only, not {game.name}")


def files(spec: str) -> dict[str, Path]:
    """Find the files that a player reads because of its options, including those of checkpoints and of its parts.

    Args:
        spec: The spec.

    Returns:
        Path of each file by name: NAME/FILE for a file of a checkpoint, else the path as the spec writes it.

    Raises:
        TrickformerError: As `parse`.
    """
    options = parse(spec)[1]
    paths_by_name: dict[str, Path] = dict(getattr(options, "files", {}))
    for part in getattr(options, "parts", {}).values():
        paths_by_name |= files(part)
    values = options.model_dump(mode="json")
    for option, field in type(options).model_fields.items():
        value = values[option]
        marks = [mark for mark in field.metadata if isinstance(mark, NamesFile)]
        if not value or not (marks or isinstance(getattr(options, option), Path)):
            continue
        path = checkpoints.locate(value)
        candidates = sorted(filter(_is_checkpoint_file, path.iterdir())) if path.is_dir() else [path]
        is_direct = value in checkpoints.names() or path == Path(value)
        name = value if is_direct else str(path)  # a run folder refers to the folder of its best model
        paths_by_name |= {f"{name}/{p.name}" if path.is_dir() else value: p for p in candidates if p.is_file()}
    return paths_by_name


def _is_checkpoint_file(path: Path) -> bool:
    """Return whether a file in a checkpoint's folder is part of the checkpoint, and not of the run that made it."""
    return path.suffix in (".json", ".safetensors") and path.name not in (ABOUT, RESULT)


def digests(game: Game, specs: Iterable[str]) -> dict[str, str]:
    """Hash all files that the players read, and the file with the rules of the game if it has one.

    Args:
        game: The game.
        specs: Specs of the players.

    Returns:
        SHA-256 by the file's name.

    Raises:
        TrickformerError: As `resolve`.
    """
    paths_by_name = {name: path for spec in specs for name, path in files(resolve(spec, game)).items()}
    if rules_file := game.spiel.get_parameters().get("file"):
        paths_by_name[rules_file] = Path(rules_file)
    return sha256(paths_by_name)


def text(value: Any) -> str:
    """Format the value of an option for a spec, in quotes if necessary.

    Args:
        value: The value.
    """
    plain = str(value).lower() if isinstance(value, bool) else str(value)
    return json.dumps(plain, ensure_ascii=False) if set(plain) & set(',"') or plain != plain.strip() else plain


def starts_program(spec: str) -> bool:
    """Return whether a spec names a program to start or a module to import, which only the user may choose.

    Args:
        spec: The spec. The result is False for an engine of engines.toml, which the user has approved there, and for a
            text that is no spec.
    """
    try:
        options = parse(spec)[1]
    except TrickformerError:
        return False
    return bool(getattr(options, "starts_program", False))


def user_only(spec: str) -> str | None:
    """Describe what a spec does that only the user may request, on the command line.

    One such thing is to start a program. Another is to set an option of an engine of engines.toml, unless its entry
    lists the option as safe: options become words of the engine's command, which may be a shell.

    Args:
        spec: The spec.

    Returns:
        The end of a sentence, such as "runs code of its own"; None if the spec may also come from a file.
    """
    try:
        name, options = parse(spec)
    except TrickformerError:
        return None
    if getattr(options, "starts_program", False):
        return "runs code of its own"
    if effect := next(filter(None, map(user_only, getattr(options, "parts", {}).values())), None):
        return effect
    entry = None if name in NAMES else entries.read().get(name)
    changed = options.model_dump(exclude_defaults=True).keys()
    unsafe = sorted(changed & entry.options.keys() - set(entry.safe)) if entry else []
    return f"sets {unsafe[0]}, which is not among the engine's safe options" if unsafe else None


def to_type(config: BaseModel) -> list[str]:
    """List the options of a config that the user has to type again, because a file may not set them (`user_only`).

    Args:
        config: A config whose fields may contain specs.

    Returns:
        Words of a command line, such as `["--a", "engine:cmd=x"]`.
    """
    command_words: list[str] = []
    for name in type(config).model_fields:
        value = getattr(config, name)
        specs = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        if any(isinstance(spec, str) and user_only(spec) for spec in specs):
            command_words += [word for spec in specs for word in (f"--{name.replace('_', '-')}", spec)]
    return command_words


def _translate_stored(spec: str, game: str | None) -> str:
    """Translate a spec in a run folder of an earlier version.

    A spec with settings that no longer exist is returned unchanged. So the run can still be reported, and `parse`
    refuses the spec only if it is to be played.
    """
    try:
        return translate(spec, True, game)
    except TrickformerError:
        return spec


def validate_specs_of(game: str | None) -> Callable[[Specs, ValidationInfo], Specs]:
    """Make a pydantic validator for fields with specs of players.

    If a config file sets the field, the validator refuses specs to which `user_only` applies, because the file may come
    from somebody else (context entry `filed`, see `plumbing.config.validate`). It also translates specs in run folders
    of earlier versions, and changes their paths if the folder has moved.

    Args:
        game: Game of the players; None for the game that the config names.
    """

    def validate(specs: Specs, info: ValidationInfo) -> Specs:
        context, many = info.context or {}, [specs] if isinstance(specs, str) else specs or []
        if info.field_name and info.field_name in context.get("filed", ()):
            for spec in many:
                if what := user_only(spec):
                    again = f"--{info.field_name.replace('_', '-')} {shlex.quote(spec)}"
                    raise ValueError(
                        f"{spec!r} {what}, which stored options may not do; give it on the command line: {again}"
                    )
        if context.get("old"):
            many = [_translate_stored(spec, game or info.data.get("game")) for spec in many]
        if change := context.get("relocate"):
            many = [relocate(spec, change) for spec in many]
        return specs if specs is None else many[0] if isinstance(specs, str) else many  # type: ignore[return-value]

    return validate


validate_specs = validate_specs_of(None)
