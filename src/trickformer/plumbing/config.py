"""One typed flat config per command: a pydantic model, a TOML file, and `--key value` on the command line.

A config model has extra="forbid" and a description for each field. Its class variable `FORMER_NAMES` maps old names of
fields to the current ones: files and command lines may use both, and `dump` writes the current ones. `PREPARED` lists
fields that the command itself takes from the run that it continues. This module imports neither OpenSpiel nor torch.
"""

from __future__ import annotations

import inspect
import json
import math
import shlex
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError, ValidationInfo
from pydantic.fields import FieldInfo

from trickformer.base import TrickformerError, UnknownNameError, game_name, with_path
from trickformer.plumbing import help_pages, paths, words
from trickformer.plumbing.files import refuse_links
from trickformer.plumbing.text import from_toml, json_object, read_text

M = TypeVar("M", bound=BaseModel)


class ForeignRunError(TrickformerError):
    """A run folder belongs to another command."""


# Version of the players' specs, stored in run.json. Version 1 stored no number, and its `gomcts` was another search in
# some games.
SPECS_VERSION = 2

# Fields for the output folder and for network addresses. No file may set them.
COMMAND_LINE_ONLY = ("out", "ray", "host", "port")

FILE = "config.toml"  # the config of a run, in its folder

_positionals: set[tuple[type[BaseModel], str]] = set()  # fields that are positional arguments of a command

# Types of the options that commands have besides the fields of their config.
File = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="TOML file with any of these options but --out.")
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume", show_default=False, help="Continue the run in --out with its options, or begin it if there is none."
    ),
]
Json = Annotated[bool, typer.Option("--json", show_default=False, help="Print one JSON object.")]


def load(model: type[M], file: Path | None, arguments: Mapping[str, Any], resume: bool = False) -> M:
    """Make the config of a command from a TOML file and the command line.

    The file may come from a stranger, so it may not set the fields of COMMAND_LINE_ONLY.

    Args:
        model: Config of the command.
        file: TOML file; None if there is none.
        arguments: Fields that override the file; None stands for a missing one.
        resume: Whether a run is continued. Without a file, missing fields are then those of the run in
            `arguments["out"]`.

    Raises:
        UnknownNameError: A key does not exist.
        TrickformerError: The file cannot be read or sets a field of COMMAND_LINE_ONLY, or a value is bad or missing.
    """
    if file is None and resume and arguments.get("out") is not None and (arguments["out"] / FILE).is_file():
        file = Path(arguments["out"] / FILE)
        refuse_links(file.parent)  # before anything in the folder is read
        values = {k: v for k, v in _read_run_values(model, file).items() if k not in getattr(model, "PREPARED", ())}
        _require_same_game(file.parent, values.get("game"), arguments.get("game"))
    else:
        values = _read_values(model, file) if file is not None else {}
    typed = current_names(model, {k: v for k, v in arguments.items() if v is not None})
    for key in COMMAND_LINE_ONLY:
        if key in values and key not in typed:
            raise TrickformerError(f"{file} sets {key} = {values[key]!r}, which a file may not decide; give --{key}")
    if resume and not values:
        _require_run(model, typed)
    context = {"filed": values.keys() - typed.keys(), "typed": typed.keys()}
    return validate(model, values | typed, context | ({} if file is None else _context(file.parent)))


def _require_same_game(folder: Path, old: Any, new: Any) -> None:
    """Raise TrickformerError if a command line names another game than the run folder.

    This check comes before all others, because other options of the run may not fit the new game.
    """
    if isinstance(old, str) and new is not None and game_name(old) != game_name(new):
        raise different_option_error(folder, "game", old, new)


def different_option_error(folder: Path, name: str, old: Any, new: Any) -> TrickformerError:
    """Return the error for a run folder whose run has another value of an option.

    Args:
        folder: The run folder.
        name: Name of the field.
        old: Value of the run.
        new: Value that was given.
    """
    return TrickformerError(
        f"{folder} holds a run with {as_typed(name, old)}, not {as_typed(name, new)}; choose another --out"
    )


def _require_run(model: type[BaseModel], typed: Mapping[str, Any]) -> None:
    """Raise TrickformerError if a command line cannot begin a run, but there is no run that it could continue."""
    required = {name for name, field in model.model_fields.items() if field.is_required()}
    if required <= typed.keys() and not typed.keys() <= set(COMMAND_LINE_ONLY):
        return
    missing = [flag_of(model, name) for name in model.model_fields if name in required - typed.keys()]
    if (out := typed.get("out")) is not None:
        remedy = f"give {', '.join(missing)} and other options" if missing else "leave out --resume"
        raise TrickformerError(f"{out} holds no run to continue: there is no {FILE}; {remedy} to begin one")
    if model.model_fields["out"].default is None and missing:
        raise TrickformerError("--resume needs the --out of the run to continue")


def read(model: type[M], file: Path, more: Mapping[str, Any] | None = None) -> M:
    """Read the config in a run folder, without the fields of COMMAND_LINE_ONLY.

    Args:
        model: Config of the command.
        file: The folder's config.toml.
        more: Fields that override the file.

    Raises:
        UnknownNameError: A key of `more` does not exist.
        ForeignRunError: The file has a key of another command.
        TrickformerError: The file cannot be read, or a value is bad or missing.
    """
    values = _read_run_values(model, file) | dict(more or {})
    for name, field in model.model_fields.items():
        if field.is_required() and name not in values:
            raise TrickformerError(f"{file}: key {name!r} is missing; restore the file from a copy")
    return validate(model, values, _context(file.parent) | {"stored": values.keys() - (more or {}).keys()})


def _context(folder: Path) -> dict[str, Any]:
    """Return the context for the validators of a config in a run folder.

    `old` is true if run.json has no version of the specs, which are then in the form of version 1. `relocate` is a
    function that finds paths again if the folder has moved.
    """
    try:
        about = json_object(read_text(folder / "run.json"))
    except (OSError, ValueError, TypeError):
        return {}
    return {"old": "specs" not in about, "relocate": relocation(folder, about)}


def relocation(folder: Path, about: Mapping[str, Any]) -> Callable[[str], str] | None:
    """Return a function that finds paths again if a run folder has moved.

    Args:
        folder: The run folder.
        about: Contents of its run.json.

    Returns:
        The function; None if the folder has not moved, or if run.json does not hold its original path.
    """
    old_folder = about.get("folder")
    if not isinstance(old_folder, str) or Path(old_folder) == folder.absolute():
        return None
    return partial(paths.relocate, old_folder=Path(old_folder), new_folder=folder)


def _read_values(model: type[BaseModel], file: Path) -> dict[str, Any]:
    try:
        return current_names(model, from_toml(read_text(file)))
    except OSError as e:
        raise TrickformerError(f"cannot read the config {file}: {e.strerror}") from None
    except ValueError as e:
        raise TrickformerError(f"cannot read the config {file}: {str(e).splitlines()[0]}") from None


def _read_run_values(model: type[BaseModel], file: Path) -> dict[str, Any]:
    """Read the fields in a run folder's config. Raises ForeignRunError if it belongs to another command."""
    kept = {k: v for k, v in _read_values(model, file).items() if k not in COMMAND_LINE_ONLY}
    if foreign_keys := kept.keys() - model.model_fields.keys():
        raise ForeignRunError(f"{file} belongs to a run of another command: it has the key {min(foreign_keys)!r}")
    return kept


def former_names(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the current name of each field that had another name in an earlier version.

    Args:
        model: A config.
    """
    return getattr(model, "FORMER_NAMES", {})


def current_names(model: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """Replace former names of fields by current ones.

    Args:
        model: A config.
        values: Values by field, under either name.

    Raises:
        TrickformerError: A field occurs under both names.
    """
    former, renamed = former_names(model), dict[str, Any]()
    for key, value in values.items():
        name = former.get(key, key)
        if name in renamed:
            other = next(old for old in values if former.get(old) == name)
            raise TrickformerError(f"{other} is the former name of {name}; give {name} alone")
        renamed[name] = value
    return renamed


def validate(model: type[M], values: Mapping[str, Any], context: Mapping[str, Any] | None = None) -> M:
    """Make a config, with errors of one line.

    Args:
        model: Config to make.
        values: Values by field.
        context: Context for the validators of the config. Its entries `filed` and `typed` hold the fields that a file
            and the command line set, `stored` those that a run folder or a network holds.

    Raises:
        UnknownNameError: A key does not exist.
        TrickformerError: A value is bad or missing.
    """
    for key in values:
        if key not in model.model_fields:
            excluded = COMMAND_LINE_ONLY if key in (context or {}).get("filed", ()) else ()
            names = tuple(name for name in model.model_fields if name not in excluded)
            raise UnknownNameError("config key", key, names)
    try:
        return model.model_validate(values, context=context)
    except ValidationError as e:
        fault = e.errors()[0]
        name = str(next(iter(fault["loc"]), ""))
        typed = (context or {}).get("typed")
        flag = flag_of(model, name)
        if fault["type"] == "missing":
            message = f"{name if typed is None else flag} is missing: {model.model_fields[name].description}"
        elif typed is not None and name in typed:
            message = words.explain(f"{flag} {_as_typed(fault['input'])}", fault)
        else:
            key = ".".join(map(str, fault["loc"]))
            message = words.explain(f"{key}={fault['input']!r}" if key else "", fault)
        raise TrickformerError(message) from None


def changed_fields(
    config: BaseModel,
    info: ValidationInfo,
    preset: Mapping[str, Any] = MappingProxyType({}),
    in_files: Collection[str] = (),
) -> list[str]:
    """Return the fields that do not have their default, for validators that refuse an option without effect.

    Fields that a file sets do not count by default, because an earlier version accepted them.

    Args:
        config: The config.
        info: Validation with the context of the config.
        preset: Values of the config's preset, which are its defaults.
        in_files: Fields that count in files too.
    """
    context: Mapping[str, Any] = info.context or {}
    accepted = {*context.get("filed", ()), *context.get("stored", ())} - set(in_files)
    defaults = {name: field.default for name, field in type(config).model_fields.items()} | dict(preset)
    return [name for name, default in defaults.items() if getattr(config, name) != default and name not in accepted]


def _as_typed(value: Any) -> str:
    """Write a value as on a command line: items of a list with spaces between them."""
    return shlex.join(map(str, value)) if isinstance(value, list | tuple) else shlex.quote(str(value))


def validate_game(spec: str, info: ValidationInfo) -> str:
    """Validate a field that holds a game string. A path in it is found again if the run folder has moved.

    Args:
        spec: Game string of OpenSpiel.
        info: Validation with the context of the config.
    """
    relocate = (info.context or {}).get("relocate")
    return with_path(spec, relocate) if relocate else spec


def validate_path(text: str, info: ValidationInfo) -> str:
    """Validate a field that holds a path as text. The path is found again if the run folder has moved.

    Args:
        text: The path.
        info: Validation with the context of the config.
    """
    relocate = (info.context or {}).get("relocate")
    return relocate(text) if relocate else text


def dump(config: BaseModel) -> str:
    """Format a config as TOML for `read`.

    Args:
        config: Resolved config. Fields of COMMAND_LINE_ONLY and fields that are None are left out.
    """
    fields = config.model_dump(mode="json", exclude_none=True, exclude=set(COMMAND_LINE_ONLY))
    return "".join(f"{key} = {_to_toml(value)}\n" for key, value in fields.items())


def _to_toml(value: Any) -> str:
    """Format a text, a number, a truth value or a list of them.

    TOML differs from JSON in two points: it escapes the character DEL, and it has infinity.
    """
    if isinstance(value, list):
        return f"[{', '.join(map(_to_toml, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def command(
    app: typer.Typer,
    model: type[BaseModel],
    *,
    example: str,
    positional: str | None = None,
    name: str | None = None,
    defaults: help_pages.Defaults = help_pages.declared_defaults,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command whose options are the fields of a config (`options`), with help pages (`help_pages`).

    Args:
        app: Command group that gets the command.
        model: Config of the command.
        example: Command line that ends the help page.
        positional: Field that is a positional argument; None for no field.
        name: Name of the command; by default the name of the function.
        defaults: Function that returns the defaults of the help page.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        page = help_pages.command_class(model, defaults)
        return app.command(name, cls=page, epilog=f"Example: {example}")(options(model, positional)(function))

    return decorate


def options(
    model: type[BaseModel], positional: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a typer command an option for each field of a config, and hidden options for the former names.

    The command takes the fields as `**` keywords, with None for an option that was not typed. Its own parameters must
    be keyword-only.

    Args:
        model: Config of the command.
        positional: Field that becomes a positional argument.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        if positional is not None:
            _positionals.add((model, positional))
        own = inspect.signature(command, eval_str=True).parameters.values()
        fields = model.model_fields
        keyword = inspect.Parameter.KEYWORD_ONLY
        reads_file = any(p.name == "config" for p in own)
        parameters = [_parameter(name, field, reads_file, name == positional) for name, field in fields.items()]
        parameters += [p for p in own if p.kind is not p.VAR_KEYWORD]
        if help_pages.has_pages(model):
            parameters.append(inspect.Parameter("help_all", keyword, default=None, annotation=help_pages.HelpAll))
        parameters += [
            _parameter(old, fields[new], reads_file, hidden=True) for old, new in former_names(model).items()
        ]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        return command

    return decorate


def _parameter(
    name: str, field: FieldInfo, reads_file: bool, positional: bool = False, hidden: bool = False
) -> inspect.Parameter:
    text, kind = help_pages.help_text(field, field.default, reads_file), field.annotation
    if positional:
        annotation = Annotated[kind | None, typer.Argument(help=text, metavar=name.upper(), show_default=False)]  # type: ignore[operator]
    else:
        flag = f"{option(name)}/{option('no-' + name)}" if kind is bool else option(name)
        typed: Any = {"parser": _path, "metavar": "<path>"} if kind == Path | None else {}
        annotation = Annotated[kind | None, typer.Option(flag, help=text, hidden=hidden, show_default=False, **typed)]  # type: ignore[operator]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def option(name: str) -> str:
    """Return the option of a field, such as `--batch-size`.

    Args:
        name: Name of the field.
    """
    return "--" + name.replace("_", "-")


def flag_of(model: type[BaseModel], name: str) -> str:
    """Return a field as the help page of its command names it, such as GAME or `--batch-size`.

    Args:
        model: Config of the command.
        name: Name of the field.
    """
    return name.upper() if (model, name) in _positionals else option(name)


def typed_option(name: str, value: Any) -> str:
    """Return an option without its value: `--batch-size`, `--bf16`, or `--no-bf16` where a switch is off.

    Args:
        name: Name of the field.
        value: Its value.
    """
    return option(f"no_{name}" if value is False else name)


def as_typed(name: str, value: Any) -> str:
    """Return an option with its value, such as `--batch-size 32`.

    Args:
        name: Name of the field.
        value: Its value.
    """
    if value is None:
        return f"no {option(name)}"
    if isinstance(value, bool):
        return typed_option(name, value)
    return f"{option(name)} {' '.join(map(str, value)) if isinstance(value, list) else value}"


def _path(text: str) -> Path:
    """Parse a typed path. An empty one is refused, because it would stand for the current folder."""
    if not text:
        raise typer.BadParameter("the path is empty")
    return Path(text)
