"""Functions outside the package, imported by name. Their exceptions become errors of one line."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from trickformer.base import TrickformerError


@contextmanager
def wrap_errors(name: str) -> Generator[None]:
    """Turn any exception of a block into a TrickformerError.

    Args:
        name: Name of the code, which begins the message. Exception, file and line follow.

    Raises:
        TrickformerError: The block raised an exception.
    """
    try:
        yield
    except TrickformerError:
        raise
    except Exception as e:
        raise TrickformerError(f"{name} failed: {describe(e)}") from e


def describe(error: BaseException) -> str:
    """Describe an exception in one line.

    Args:
        error: The exception.

    Returns:
        Class and message of the exception, and the file and line that raised it.
    """
    text = f"{type(error).__name__}: {error}".splitlines()[0].rstrip(": ")
    places = [f"{at.filename}, line {at.lineno}" for at in traceback.extract_tb(error.__traceback__) if at.line]
    return f"{text} in {places[-1]}" if places else text


@contextmanager
def _current_folder() -> Generator[None]:
    """Let the block import modules of the current folder."""
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def function(who: str, name: str) -> Callable[..., Any]:
    """Import a function. Its module may be in the current folder.

    Args:
        who: Beginning of error messages, such as the player that needs the function.
        name: Name of the form `package.module:function`.

    Raises:
        TrickformerError: The module cannot be imported, or it has no such function.
    """
    path, attribute = name.split(":", 1)
    try:
        with _current_folder():
            module = importlib.import_module(path)
    except (Exception, SystemExit) as e:  # a foreign module may raise anything
        raise TrickformerError(f"{who}: cannot import {path!r} ({describe(e)}); is it on PYTHONPATH?") from e
    value = getattr(module, attribute, None)
    if not callable(value):
        raise TrickformerError(f"{who}: module {path} has no function {attribute!r}")
    return value


def module_file(name: str) -> dict[str, Path]:
    """Find the file of a function's module.

    Args:
        name: Name of the form `package.module:function`.

    Returns:
        The file by the module's name; empty if the module has none.
    """
    try:
        with _current_folder():
            spec = find_spec(name.partition(":")[0])
    except (ImportError, ValueError):
        return {}
    return {spec.name: Path(spec.origin)} if spec and spec.has_location and spec.origin else {}
