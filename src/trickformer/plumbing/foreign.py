"""Code of other people: it is imported by name, and what it raises becomes one line."""

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
    """Raise TrickformerError for any exception of the block; its message has the name, the exception, file and line."""
    try:
        yield
    except TrickformerError:
        raise
    except Exception as e:
        raise TrickformerError(f"{name} failed: {describe(e)}") from e


def describe(error: BaseException) -> str:
    """Describe an exception in a line, with the place that raised it."""
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
    """Import the function `package.module:function`; the current folder counts as a place of modules.

    Raises:
        TrickformerError: There is none; the message begins with `who`.
    """
    path, attribute = name.split(":", 1)
    try:
        with _current_folder():
            module = importlib.import_module(path)
    except (Exception, SystemExit) as e:  # whatever a module of others does
        raise TrickformerError(f"{who}: cannot import {path!r} ({describe(e)}); is it on PYTHONPATH?") from e
    found = getattr(module, attribute, None)
    if not callable(found):
        raise TrickformerError(f"{who}: module {path} has no function {attribute!r}")
    return found


def module_file(name: str) -> dict[str, Path]:
    """Find the file of the module in `package.module:function`, by the module's name; empty if it has none."""
    try:
        with _current_folder():
            found = find_spec(name.partition(":")[0])
    except (ImportError, ValueError):
        return {}
    return {found.name: Path(found.origin)} if found and found.has_location and found.origin else {}
