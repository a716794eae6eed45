"""What every run folder has in common: small files written whole, and a note of what made it."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import subprocess
from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel

import trickformer
from trickformer import config as configs
from trickformer.base import TrickformerError

CONFIG, ABOUT = "config.toml", "run.json"  # files of a run
_PACKAGES = ("open_spiel", "numpy", "scipy", "torch", "transformers")


class Interrupted(TrickformerError):
    """Ctrl-C. The message says how to go on."""

    exit_code = 130


@contextmanager
def whole(path: Path) -> Generator[Path]:
    """Where to write a file that takes the place of `path` at the end of the block: it is there whole or not at all.
    Raises TrickformerError where the disk does not take it."""
    draft = path.with_name(f".{path.name}.part")
    try:
        yield draft
        draft.replace(path)
    except OSError as e:
        raise TrickformerError(f"cannot write {path}: {e.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)


def replace(path: Path, text: str) -> None:
    """Writes a small file whole or not at all. Raises TrickformerError where the disk does not take it."""
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8")


def build() -> dict[str, Any]:
    """The versions of what plays, and the git commit where the package stands in a checkout (or is run
    from one), with `-dirty` where tracked files differ from it."""
    found: dict[str, Any] = {"trickformer": trickformer.__version__, "commit": _commit()}
    found["python"] = platform.python_version()
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


class Lines:
    """An append-only file of JSON lines, each written whole or not at all; locked, for two runs must not share one.

    `known` is what it held, a torn last line cut off. Raises TrickformerError where another process is writing the
    file, a line of it is none, or the disk refuses."""

    def __init__(self, path: Path):
        self._path = path
        try:
            self._file = path.open("a+b", buffering=0)
        except OSError as e:
            raise TrickformerError(f"cannot write {path}: {e.strerror}") from None
        try:
            self.known = self._read()
        except TrickformerError:
            self._file.close()  # with its lock
            raise

    def _read(self) -> list[Any]:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise TrickformerError(f"another run is writing {self._path}") from None
        self._file.seek(0)
        data = self._file.read()
        whole = data[: data.rfind(b"\n") + 1]
        try:
            known = [json.loads(line) for line in whole.splitlines()]
        except ValueError:
            raise TrickformerError(f"{self._path} is broken; choose another --out") from None
        self._length = len(whole)
        self._file.truncate(self._length)
        return known

    def append(self, record: Any) -> None:
        """One line in one write."""
        line = json.dumps(record).encode() + b"\n"
        try:
            written, reason = os.write(self._file.fileno(), line), "the disk is full"
        except OSError as e:
            written, reason = 0, str(e.strerror)
        if written < len(line):
            self._file.truncate(self._length)
            raise TrickformerError(f"cannot write {self._path}: {reason}")
        self._length += written

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def must_resume(out: Path, resume: bool) -> None:
    """Raises TrickformerError unless the run that a folder holds was to be continued."""
    if not resume:
        raise TrickformerError(f"{out} already holds a run; continue it with --resume, or choose another --out")


def must_be_same(out: Path, known: object, config: object, fields: Iterable[str]) -> None:
    """Raises TrickformerError where the config of the run that a folder holds differs in one of these fields."""
    for name in fields:
        old, new = getattr(known, name), getattr(config, name)
        if old != new:
            raise TrickformerError(f"{out} holds a run with {name} = {old}, not {new}; choose another --out")


def create(out: Path) -> None:
    """Makes the folder of a run, if it is not there. Raises TrickformerError."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise TrickformerError(f"cannot make the folder {out}: {e.strerror}") from None


@contextmanager
def only_one(out: Path) -> Generator[None]:
    """Makes the folder of a run, and holds it. Raises TrickformerError where another process does."""
    create(out)
    held = os.open(out, os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise TrickformerError(f"another run is writing {out}") from None
        yield
    finally:
        os.close(held)


def builds(about: Path) -> list[dict[str, Any]]:
    """Every build that a run.json names, if it is there, and this one. Raises TrickformerError where it is broken."""
    this = build()
    if not about.exists():
        return [this]
    try:
        before = list(json.loads(about.read_text(encoding="utf-8"))["builds"])
    except (OSError, ValueError, KeyError, TypeError):
        raise TrickformerError(f"{about} is broken") from None
    return before if this in before else [*before, this]


def begin(out: Path, config: BaseModel, resume: bool, free: Collection[str], records: str) -> Lines:
    """Makes the folder of a run, or takes up one that is there: its config.toml, run.json with every build that had
    part, and the file `records`, which holds it for this process.

    free: fields in which a run that goes on may differ. Raises TrickformerError, before anything is written, where
    `must_resume`, `must_be_same` or Lines do."""
    held = out / records
    if held.exists() and held.stat().st_size and not (out / CONFIG).exists():
        raise TrickformerError(f"{out} holds {records}, but no {CONFIG} that says of what; choose another --out")
    had_part = _may_begin(out, config, resume, free)
    create(out)
    lines = Lines(held)
    _describe(out, config, had_part)
    return lines


@contextmanager
def begun(out: Path, config: BaseModel, resume: bool, free: Collection[str]) -> Generator[None]:
    """The same for a run without records; the folder is this process's until the block ends."""
    had_part = _may_begin(out, config, resume, free)
    with only_one(out):
        _describe(out, config, had_part)
        yield


def _may_begin(out: Path, config: BaseModel, resume: bool, free: Collection[str]) -> list[dict[str, Any]]:
    """Every build that has had part, this one included."""
    file = out / CONFIG
    if file.exists():
        must_resume(out, resume)
        fixed = (name for name in type(config).model_fields if name not in free)
        must_be_same(out, configs.load(type(config), file, {}), config, fixed)
    return builds(out / ABOUT)


def _describe(out: Path, config: BaseModel, had_part: list[dict[str, Any]]) -> None:
    replace(out / ABOUT, json.dumps({"builds": had_part}, indent=2) + "\n")
    replace(out / CONFIG, configs.dump(config.model_copy(update={"out": None})))


def _commit() -> str | None:
    for folder in (Path(__file__).parent, Path.cwd()):
        git = ["git", "-C", str(folder)]
        try:
            root = subprocess.run([*git, "rev-parse", "--show-toplevel", "HEAD"], capture_output=True, text=True)
            if root.returncode:
                continue
            top, commit = root.stdout.split("\n")[:2]
            if not (Path(top) / "src/trickformer/base.py").exists():
                continue
            status = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True)
            return commit + ("-dirty" if status.stdout.strip() else "")
        except (OSError, ValueError, subprocess.SubprocessError):
            continue
    return None
