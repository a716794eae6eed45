"""One typed flat config a command: a pydantic model, a TOML file, and `--key value` on the command line.

A config model has extra="forbid" and a one-line description a field. Imports neither OpenSpiel nor torch.
"""

from __future__ import annotations

import inspect
import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticUndefined

from trickformer.base import TrickformerError, UnknownNameError

M = TypeVar("M", bound=BaseModel)

# Options of commands beside those of their config.
File = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="TOML file with any of these options")]
Resume = Annotated[bool, typer.Option("--resume", help="go on with the run in --out: what is there is not done again")]
Json = Annotated[bool, typer.Option("--json", help="print one JSON object")]


def load(model: type[M], file: Path | None, given: Mapping[str, Any]) -> M:
    """The config of a TOML file, overridden by what was given; None counts as not given.

    Raises UnknownNameError on a key that does not exist, TrickformerError on an unreadable file or a bad
    or missing value."""
    values: dict[str, Any] = {}
    if file is not None:
        try:
            values = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as e:
            raise TrickformerError(f"cannot read the config {file}: {str(e).splitlines()[0]}") from None
    return validate(model, values | {k: v for k, v in given.items() if v is not None})


def validate(model: type[M], values: Mapping[str, Any]) -> M:
    """An instance of `model`; raises UnknownNameError or TrickformerError, one line each."""
    for key in values:
        if key not in model.model_fields:
            raise UnknownNameError("config key", key, tuple(model.model_fields))
    try:
        return model.model_validate(values)
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
    """The resolved config as TOML that `load` reads back; fields that are None are left out."""
    fields = config.model_dump(mode="json", exclude_none=True)
    return "".join(f"{k} = {json.dumps(v, ensure_ascii=False)}\n" for k, v in fields.items())


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
                flag = "--" + name.replace("_", "-")
                annotation = Annotated[kind | None, typer.Option(flag, help=text, show_default=False)]  # type: ignore[operator]
            made.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation))
        command.__signature__ = inspect.Signature(made + parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in made + parameters}
        return command

    return decorate
