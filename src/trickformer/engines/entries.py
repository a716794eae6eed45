"""Entries of engines.toml, which give engines short names for a command line, such as `--b mybot`.

    [mybot]
    command = "/home/me/mybot --level {level}"
    timeout = 60.0

    [mybot.options]
    level = 3

A name in braces in the command is an option of the player, as in `mybot:level=5`; `[mybot.options]` holds its default.
The file is in the user's configuration folder, or at the path in the environment variable TRICKFORMER_ENGINES.
"""

from __future__ import annotations

import os
import string
from abc import ABC, abstractmethod
from functools import lru_cache
from pathlib import Path
from typing import Self

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, model_validator

from trickformer.base import TrickformerError
from trickformer.plumbing import config, paths
from trickformer.plumbing.text import from_toml, read_text

RESERVED = ("processes", "timeout")  # options of every engine


class Entry(BaseModel):
    """One engine of engines.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: str = Field(
        min_length=1, description="Shell command that starts the engine. {name} stands for an option's value."
    )
    about: str = Field("", description="Description in one line (default: none).")
    processes: int = Field(1, ge=1, le=1_024, description="Number of processes that play in parallel (default: 1).")
    timeout: float = Field(
        60.0,
        gt=0,
        allow_inf_nan=False,
        description="Seconds of silence that count as a fault (default: 60).",
    )
    options: dict[str, bool | int | float | str] = Field(
        {}, description="Default of each option (default: no options)."
    )
    safe: list[str] = Field([], description="Options that the config file of a run may set (default: none).")

    @model_validator(mode="after")
    def _braces_are_options(self) -> Self:
        try:
            fields = [(name, rest) for _, name, *rest in string.Formatter().parse(self.command) if name is not None]
        except ValueError as e:
            raise ValueError(f"command: {e}; write {{{{ or }}}} for a literal brace") from None
        if formatted := [name for name, rest in fields if any(rest)]:
            raise ValueError(f"the placeholder {formatted[0]!r} in the command has a format; write {{{formatted[0]}}}")
        placeholders = {name for name, _ in fields}
        for name in self.options:
            if not name.isidentifier() or name.startswith("_") or name in RESERVED or hasattr(Program, name):
                raise ValueError(f"an option cannot have the name {name!r}; choose another")
        if unknown := sorted(set(self.safe) - set(self.options)):
            raise ValueError(f"the key `safe` lists {unknown[0]!r}, but the options are {sorted(self.options)}")
        if placeholders != set(self.options):
            names = sorted(placeholders)
            raise ValueError(
                f"the placeholders in the command are {names}, but the options are {sorted(self.options)}; use each"
            )
        return self


class Program(BaseModel, ABC):
    """Options of a player that is an external program. Subclasses add at least `processes` and `timeout`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    _logs: Path | None = None

    @property
    @abstractmethod
    def command(self) -> list[str]:
        """Program and arguments of the command that starts the engine.

        Raises:
            TrickformerError: The command is empty or cannot be split into words.
        """

    @property
    def files(self) -> dict[str, Path]:
        """Files that occur in the command, by their spelling there."""
        return {word: Path(word) for word in self.command if paths.is_file(word)}

    @property
    def logs(self) -> Path | None:
        """Folder for the program's standard error; None for a temporary file."""
        return self._logs

    def with_logs(self, folder: Path) -> Self:
        """Copy the options with a folder for the program's standard error.

        Args:
            folder: The folder, which may be missing.
        """
        options = self.model_copy()
        options._logs = folder
        return options


def path() -> Path:
    """Return the path of engines.toml, which may be missing."""
    variable = os.environ.get("TRICKFORMER_ENGINES")
    return Path(variable) if variable else platformdirs.user_config_path("trickformer") / "engines.toml"


def read() -> dict[str, Entry]:
    """Read the engines of engines.toml by name; none if there is no file.

    Raises:
        TrickformerError: The file cannot be read or is broken.
    """
    file = path()
    try:
        return _read_cached(file, file.stat().st_mtime_ns)
    except FileNotFoundError:
        return {}
    except OSError as e:
        raise TrickformerError(f"cannot read {file}: {e.strerror}") from None


@lru_cache(maxsize=1)
def _read_cached(file: Path, _modified_ns: int) -> dict[str, Entry]:  # a new time of modification misses the cache
    return parse_file(file)


def parse_file(file: Path) -> dict[str, Entry]:
    """Parse a file of engines.

    Args:
        file: The file, such as `path()`.

    Returns:
        The engines by name.

    Raises:
        OSError: The file cannot be read.
        TrickformerError: The file is not TOML, or an entry is invalid.
    """
    try:
        tables = from_toml(read_text(file))
    except ValueError as e:
        raise TrickformerError(f"cannot read {file}: {str(e).splitlines()[0]}") from None
    entries: dict[str, Entry] = {}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise TrickformerError(f"{file}: {name} is outside of a table; put it below a line [NAME]")
        try:
            entries[name] = config.validate(Entry, table)
        except TrickformerError as e:
            raise TrickformerError(f"{file}, [{name}]: {e}") from None
    return entries
