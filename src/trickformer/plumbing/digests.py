"""Checksums: of the files in a folder, in the form of `b2sum`, so that `b2sum -c B2SUMS` checks them too; and of each
line of a file that grows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from trickformer.base import TrickformerError

FILE = "B2SUMS"
LINE = 17  # bytes of a line's checksum, its end among them
_PIECE = 1 << 20  # bytes read at a time


def of(path: Path, size: int | None = None) -> hashlib.blake2b:
    """BLAKE2b of a file, or of its first `size` bytes. Raises OSError."""
    found, left = hashlib.blake2b(), path.stat().st_size if size is None else size
    with path.open("rb") as file:
        while left > 0 and (piece := file.read(min(left, _PIECE))):
            found.update(piece)
            left -= len(piece)
    return found


def write(folder: Path) -> None:
    """Notes the checksums of all files below a folder. Raises OSError."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != FILE)
    lines = [f"{of(path).hexdigest()}  {path.relative_to(folder).as_posix()}\n" for path in files]
    (folder / FILE).write_text("".join(lines), encoding="utf-8")


def check(folder: Path) -> None:
    """Raises TrickformerError naming the first file that is not what was noted of it. A folder without a note, such as
    a checkpoint of somebody else's, passes."""
    note = folder / FILE
    if not note.is_file():
        return
    try:
        lines = [line.split("  ", 1) for line in note.read_text(encoding="utf-8").splitlines()]
        known = {name: digest for digest, name in lines}
    except (OSError, ValueError):
        raise TrickformerError(f"{note} is damaged") from None
    for name, digest in known.items():
        path = folder / name
        try:
            same = not Path(name).is_absolute() and ".." not in Path(name).parts and of(path).hexdigest() == digest
        except OSError:
            same = False
        if not same:
            raise TrickformerError(f"{path} is damaged: its checksum is not the one in {FILE}")


def sha256(files: Mapping[str, Path]) -> dict[str, str]:
    """SHA-256 of files, by their names. Raises OSError."""
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in sorted(files.items())}


def must_be_same(
    out: Path, known: Mapping[str, str], files: Mapping[str, str], relocate: Callable[[str], str] = str
) -> None:
    """Compare the files that a run was begun with to those of now.

    Args:
        out: Folder of the run, for the message.
        known: Digests of then by name.
        files: Digests of now by name.
        relocate: Today's name of a file.

    Raises:
        TrickformerError: One is missing or has another digest.
    """
    for name, digest in known.items():
        if files.get(name, files.get(relocate(name))) != digest:
            raise TrickformerError(f"{out} was begun with another {name}; choose another --out")


def lines(path: Path) -> Path:
    """Where the checksums of a file's lines stand, one a line."""
    return path.with_name(path.name + ".sums")


def of_line(line: bytes) -> bytes:
    """What stands there for a line, both with their ends."""
    return hashlib.blake2b(line, digest_size=LINE // 2).hexdigest().encode() + b"\n"
