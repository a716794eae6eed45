"""One typed flat config a command: a pydantic model, a TOML file, and `--key value` on the command line.

A config model has extra="forbid" and a one-line description a field. Imports neither OpenSpiel nor torch.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticUndefined

from trickformer.base import TrickformerError, UnknownNameError
from trickformer.plumbing.text import from_toml

M = TypeVar("M", bound=BaseModel)

# The form of the specs in a run folder, as run.json names it. Before there was a number, `gomcts` searched worlds in
# some games.
SPECS = 2

# Fields that say where a command writes and what it connects to: the command line alone decides them.
MACHINE = ("out", "ray", "host", "port")

# Options of commands beside those of their config.
File = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="TOML file with any of these options")]
Resume = Annotated[bool, typer.Option("--resume", help="go on with the run in --out: what is there is not done again")]
Json = Annotated[bool, typer.Option("--json", help="print one JSON object")]


def load(model: type[M], file: Path | None, given: Mapping[str, Any]) -> M:
    """The config of a command: a TOML file, overridden by what was given; None counts as not given.

    The file may be a stranger's, so it decides nothing of MACHINE. Raises UnknownNameError on a key that does not
    exist, TrickformerError on an unreadable file, a bad or missing value, or a file that decides what it may not."""
    values = _values(file) if file is not None else {}
    typed = {k: v for k, v in given.items() if v is not None}
    for key in MACHINE:
        if key in values and key not in typed:
            raise TrickformerError(f"{file} sets {key} = {values[key]!r}, which a file may not decide; give --{key}")
    context = {"filed": values.keys() - typed.keys(), "old": file is not None and has_old_specs(file.parent)}
    return validate(model, values | typed, context)


def read(model: type[M], file: Path, more: Mapping[str, Any] | None = None) -> M:
    """The config that a run folder holds, and `more`; what it says of MACHINE is left out. Raises as `load`."""
    kept = {k: v for k, v in _values(file).items() if k not in MACHINE}
    if strange := kept.keys() - model.model_fields.keys():
        raise TrickformerError(f"{file} is of a run of another command: it has the key {min(strange)!r}")
    return validate(model, kept | dict(more or {}), {"old": has_old_specs(file.parent)})


def has_old_specs(folder: Path) -> bool:
    """Whether a version of trickformer that wrote specs otherwise has made a run folder: its run.json has no SPECS."""
    try:
        return "specs" not in json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return False


def _values(file: Path) -> dict[str, Any]:
    try:
        return from_toml(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise TrickformerError(f"cannot read the config {file}: {str(e).splitlines()[0]}") from None


def validate(model: type[M], values: Mapping[str, Any], context: Mapping[str, Any] | None = None) -> M:
    """An instance of `model`; raises UnknownNameError or TrickformerError, one line each. context: for its validators;
    `filed`, the fields that a file decides."""
    for key in values:
        if key not in model.model_fields:
            raise UnknownNameError("config key", key, tuple(model.model_fields))
    try:
        return model.model_validate(values, context=context)
    except ValidationError as e:
        fault = e.errors()[0]
        key = ".".join(map(str, fault["loc"]))
        if fault["type"] == "missing":
            message = f"{key} is missing: {model.model_fields[key].description}"
        else:
            said = fault["msg"].removeprefix("Value error, ").partition("\n")[0]
            message = f"{key}={fault['input']!r}: {said}" if key else said
        raise TrickformerError(message) from None


def dump(config: BaseModel) -> str:
    """The resolved config as TOML that `read` reads back; fields that are None are left out, and those of MACHINE."""
    fields = config.model_dump(mode="json", exclude_none=True, exclude=set(MACHINE))
    return "".join(f"{k} = {json.dumps(v, ensure_ascii=False)}\n" for k, v in fields.items())


def _path(text: str) -> Path:
    """A path that was typed; an empty one would be the current folder, which nobody means."""
    if not text:
        raise typer.BadParameter("a path is not empty")
    return Path(text)


def options(
    model: type[BaseModel], positional: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a typer command one option a field of `model`, None where it was not typed.

    The command takes the fields as keyword arguments (`**given`); its other parameters, which must be
    keyword-only, stay its own. Field `positional` becomes an argument."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [p for p in own if p.kind is not p.VAR_KEYWORD]
        made = []
        for name, field in model.model_fields.items():
            default = None if field.default is PydanticUndefined else field.default
            text = (field.description or "") + (f" (default: {default})" if default not in (None, []) else "")
            kind = field.annotation
            if name == positional:
                annotation = Annotated[kind | None, typer.Argument(help=text, metavar=name.upper(), show_default=False)]  # type: ignore[operator]
            else:
                word = name.replace("_", "-")
                flag = f"--{word}/--no-{word}" if kind is bool else f"--{word}"
                typed: Any = {"parser": _path, "metavar": "<path>"} if kind == Path | None else {}
                annotation = Annotated[kind | None, typer.Option(flag, help=text, show_default=False, **typed)]  # type: ignore[operator]
            made.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation))
        command.__signature__ = inspect.Signature(made + parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in made + parameters}
        return command

    return decorate
