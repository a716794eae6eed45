"""What every run folder has in common: small files written whole, and a note of what made it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
import shlex
import subprocess
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import metadata
from io import FileIO
from pathlib import Path
from typing import Any, Self, TypeAlias

from pydantic import BaseModel

import trickformer
from trickformer.base import TrickformerError
from trickformer.plumbing import config as configs
from trickformer.plumbing import digests
from trickformer.plumbing.text import json_object

CONFIG, ABOUT, RESULT = "config.toml", "run.json", "result.json"  # files of a run
_PACKAGES = ("open_spiel", "numpy", "scipy", "torch", "transformers")
_NO_ROOM = 1 << 16  # bytes left on a disk that is full
_SYNC_EVERY = 256  # lines between two fsyncs


class Interruption(TrickformerError):
    """Ctrl-C or SIGTERM. The message says how to go on."""


def to_go_on(command: str, config: BaseModel, out: Path, more: Sequence[str] = ()) -> str:
    """How to go on with a run that was interrupted, for the message. What the folder does not keep is named: the
    cluster, and the words of `more`."""
    ray = getattr(config, "ray", None)
    words = ["trickformer", *command.split(), "--config", str(out / CONFIG), "--out", str(out), "--resume", *more]
    return "go on with: " + shlex.join(words + (["--ray", ray] if ray else []))


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Raises TrickformerError where the disk does not take what the block writes at `path`."""
    try:
        yield
    except OSError as e:
        raise TrickformerError(f"cannot write {path}: {e.strerror}") from None
    except Exception as e:  # of torch and safetensors, which may have taken what they wrote away
        disk = os.statvfs(path.parent)
        if disk.f_bavail * disk.f_frsize >= _NO_ROOM and os.strerror(errno.ENOSPC) not in str(e):
            raise
        raise TrickformerError(f"cannot write {path}: the disk is full") from None


@contextmanager
def whole(path: Path) -> Generator[Path]:
    """Where to write a file that takes the place of `path` at the end of the block: it is there whole or not at all.
    Raises TrickformerError where the disk does not take it."""
    draft = path.with_name(f".{path.name}.part")
    try:
        with writing(path):
            yield draft
            draft.replace(path)
    finally:
        with suppress(OSError):  # that of the write is the one to tell
            draft.unlink(missing_ok=True)


def replace(path: Path, text: str) -> None:
    """Writes a small file whole or not at all. Raises TrickformerError where the disk does not take it."""
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8")


def build() -> dict[str, Any]:
    """The versions of what plays; and the git commit, where the package stands in a checkout, with `-dirty` where
    tracked files differ from it."""
    found: dict[str, Any] = {"trickformer": trickformer.__version__, "commit": _commit()}
    found["python"] = platform.python_version()
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


# What a line of a file is, from its number, counted from 1, and its bytes; ValueError where it is none.
Parse: TypeAlias = Callable[[int, bytes], Any]


def read_lines(path: Path, parse: Parse = lambda _, line: json_object(line)) -> tuple[list[Any], int]:
    """What the whole lines of a file are, and their length in bytes: a last line that a killed run left torn is none.
    A missing file has none. Where checksums of the lines stand beside it, a line without one is none either.

    Raises TrickformerError where the file cannot be read, a line is broken or is not the one that was written, and
    what `parse` raises of that kind."""
    try:
        lines = _whole_lines(path)
        if lines and digests.lines(path).exists():
            sums = _whole_lines(digests.lines(path))
            lines = lines[: len(sums)]
            for number, (line, known) in enumerate(zip(lines, sums), 1):
                if digests.of_line(line) != known:
                    raise TrickformerError(f"{path}, line {number}: damaged, for its checksum is another")
    except OSError as e:
        raise TrickformerError(f"cannot read {path}: {e.strerror}") from None
    try:
        return [parse(number, line[:-1]) for number, line in enumerate(lines, 1)], sum(map(len, lines))
    except ValueError:
        raise TrickformerError(f"{path} is broken; choose another --out") from None


def _whole_lines(path: Path) -> list[bytes]:
    """With their ends. Raises OSError where the file is there and cannot be read."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    return data[: data.rfind(b"\n") + 1].splitlines(keepends=True)


class Lines:
    """An append-only file of JSON lines, each written whole or not at all, and its checksum beside it; locked, for two
    runs must not share one.

    `known` is what it held, a torn last line cut off. Raises TrickformerError where another process is writing the
    file, the disk refuses, or as `read_lines` does; the file is then as it was."""

    def __init__(self, path: Path, parse: Parse = lambda _, line: json_object(line)):
        self._path, self._unsynced = path, 0
        self._file = self._open_and_lock(path)
        try:
            self.known, self._length = read_lines(path, parse)
            self._count = len(self.known)
            self._file.truncate(self._length)
            self._sums = self._open_checksums()
        except TrickformerError:
            self._file.close()  # with its lock
            raise

    def _open(self, path: Path) -> FileIO:
        try:
            return FileIO(path, "a+")
        except OSError as e:
            raise TrickformerError(f"cannot write {path}: {e.strerror}") from None

    def _open_and_lock(self, path: Path) -> FileIO:
        file = self._open(path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise TrickformerError(f"another run is writing {self._path}") from None
        return file

    def _open_checksums(self) -> FileIO:
        """The file of checksums, written anew where it has not one for each line."""
        sums = digests.lines(self._path)
        if not sums.exists() or sums.stat().st_size != self._count * digests.LINE:
            with whole(sums) as draft:
                draft.write_bytes(b"".join(map(digests.of_line, _whole_lines(self._path))))
        return self._open(sums)

    def append(self, record: Any) -> None:
        """One line in one write: what json.dumps or a pydantic model makes of it. Raises TrickformerError where the
        disk does not take it; the file then ends with the line before."""
        line = _line(record)
        try:
            written, reason = os.write(self._file.fileno(), line), "the disk is full"
            if written == len(line) and os.write(self._sums.fileno(), digests.of_line(line)) < digests.LINE:
                written = 0
        except OSError as e:
            written, reason = 0, str(e.strerror)
        if written < len(line):
            self._file.truncate(self._length)
            self._sums.truncate(self._count * digests.LINE)
            raise TrickformerError(f"cannot write {self._path}: {reason}")
        self._length += written
        self._count += 1
        self._unsynced += 1
        if self._unsynced >= _SYNC_EVERY:
            self._sync()

    def keep(self, records: Sequence[Any]) -> None:
        """Makes these all that the file holds, at once, and `known`. Raises TrickformerError where the disk does not
        take it."""
        with whole(self._path) as draft:
            draft.unlink(missing_ok=True)
            file = self._open_and_lock(draft)
            lines = b"".join(map(_line, records))
            if os.write(file.fileno(), lines) < len(lines):
                raise TrickformerError(f"cannot write {self._path}: the disk is full")
            digests.lines(self._path).unlink()  # a kill before they are written leaves lines without any
        self._file.close()
        self._file, self._length = file, len(lines)
        self._count, self.known = len(records), list(records)
        self._sums.close()
        self._sums = self._open_checksums()

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        os.fsync(self._sums.fileno())
        self._unsynced = 0

    def close(self) -> None:
        """Writes to the disk what the system still holds back, and gives up the lock."""
        self._sync()
        self._sums.close()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _line(record: Any) -> bytes:
    # No function of ours within the dump: pydantic would make another exception of a Ctrl-C there.
    text = record.model_dump_json(exclude_none=True) if isinstance(record, BaseModel) else json.dumps(record)
    return text.encode() + b"\n"


@contextmanager
def only_one(out: Path) -> Generator[None]:
    """Makes the folder of a run, and holds it. Raises TrickformerError where another process does."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise TrickformerError(f"cannot make the folder {out}: {e.strerror}") from None
    held = os.open(out, os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise TrickformerError(f"another run is writing {out}") from None
        yield
    finally:
        os.close(held)


def read_about(about: Path) -> dict[str, Any]:
    """What a run.json says; nothing where there is none. Raises TrickformerError where it is broken."""
    try:
        return json_object(about.read_text(encoding="utf-8")) if about.exists() else {}
    except (OSError, ValueError):
        raise TrickformerError(f"{about} is broken") from None


def builds(about: Path) -> list[dict[str, Any]]:
    """Every build that a run.json names, if it is there, and this one. Raises TrickformerError where it is broken."""
    this = build()
    if not (said := read_about(about)):
        return [this]
    try:
        before = [dict(b) for b in said["builds"]]
    except (ValueError, KeyError, TypeError):
        raise TrickformerError(f"{about} is broken") from None
    return before if this in before else [*before, this]


def may_begin(
    out: Path, config: BaseModel, resume: bool, free: Collection[str], files: Mapping[str, str] | None = None
) -> None:
    """Raises TrickformerError where the folder `out` holds a run that was not to be gone on with, one whose config
    differs in a field that is not `free` to, or one that has read another of the `files`: digests by name."""
    file = out / CONFIG
    if not file.exists():
        return
    if not resume:
        raise TrickformerError(f"{out} already holds a run; continue it with --resume, or choose another --out")
    known = configs.read(type(config), file)
    for name in type(config).model_fields:
        if name in free or name in configs.MACHINE:
            continue
        old, new = getattr(known, name), getattr(config, name)
        if old != new:
            raise TrickformerError(f"{out} holds a run with {name} = {old}, not {new}; choose another --out")
    if files is not None:
        digests.must_be_same(out, read_about(out / ABOUT).get("files", {}), files)


@contextmanager
def open_run(
    out: Path, config: BaseModel, resume: bool, free: Collection[str], files: Mapping[str, str] | None = None
) -> Generator[None]:
    """Makes the folder of a run, or takes up one that is there: its config.toml, and run.json with every build that had
    part. The folder is this process's until the block ends. The config's own `out` is not kept.

    free: fields in which a run that goes on may differ. files: digests of what the run reads, by name, for run.json.
    Raises TrickformerError, before anything is written, where `may_begin` does, another process holds the folder, or
    its run.json is broken."""
    may_begin(out, config, resume, free, files)
    had_part = builds(out / ABOUT)
    with only_one(out):
        _describe(out, config, {"files": files} if files else {}, had_part)
        yield


@contextmanager
def open_recorded_run(
    out: Path,
    config: BaseModel,
    resume: bool,
    free: Collection[str],
    records: str,
    parse: Parse = lambda _, line: json_object(line),
    about: Mapping[str, Any] | None = None,
) -> Generator[Lines]:
    """The same of a run with a file of records, which is read before anything is written.

    about: for run.json; `files` of `begun` among it. Raises TrickformerError as `begun` and Lines do, and where there
    are records but no config that says of what."""
    held = out / records
    if held.exists() and held.stat().st_size and not (out / CONFIG).exists():
        raise TrickformerError(f"{out} holds {records}, but no {CONFIG} that says of what; choose another --out")
    may_begin(out, config, resume, free, (about or {}).get("files", {}))
    had_part = builds(out / ABOUT)
    with only_one(out), Lines(held, parse) as lines:
        _describe(out, config, about or {}, had_part)
        yield lines


def _describe(out: Path, config: BaseModel, about: Mapping[str, Any], had_part: list[dict[str, Any]]) -> None:
    replace(out / ABOUT, json.dumps({**about, "builds": had_part}, indent=2) + "\n")
    replace(out / CONFIG, configs.dump(config))


def _commit() -> str | None:
    # Only of the checkout whose code is running: git obeys the configuration of the one that it is asked about.
    folder = Path(__file__).parent
    git = ["git", "-c", "core.fsmonitor=false", "-C", str(folder)]
    try:
        root = subprocess.run([*git, "rev-parse", "--show-toplevel", "HEAD"], capture_output=True, text=True)
        if root.returncode:
            return None
        top, commit = root.stdout.split("\n")[:2]
        if folder != Path(top) / "src/trickformer/plumbing":  # another project's, that holds an environment
            return None
        status = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True)
        return commit + ("-dirty" if status.stdout.strip() else "")
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
