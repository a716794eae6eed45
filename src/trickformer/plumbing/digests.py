"""Checksums: of the files in a folder, in the form of `b2sum`, so that `b2sum -c B2SUMS` checks them too; and of each
line of a file that grows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from trickformer.base import TrickformerError
from trickformer.plumbing.text import read_text

FILE = "B2SUMS"
LINE = 17  # bytes of a line's checksum, its end among them
# SHA-256 of config.json of the shipped checkpoints, in version 0.2 and today. The file got a model type of its own,
# today's names of keys and the names of the outcomes. That changes nothing in a run.
REPLACED = {
    "crew-small": (
        "b156a27c2b5be00a42e8551251ad9e686fecbef7f2e3f6e02f4352af598929e9",
        "bef0e789156d65ce3d53c20d8cb1ee310bb23965b7f235677d5d04c07d42594c",
    ),
    "hanabi-small": (
        "ec57164b0f683c9bcf9d409525b1676dc9398f8e92e9926a127c045c9fe68f4d",
        "0349136cfdd5727059a0c04db129076b5987b3077816885ad72ef51e42bb716f",
    ),
    "hearts-small": (
        "018832422a3ed09cfb1336838a1286a0a06b65601005b4e7091adb4ace2a30f9",
        "83d7ebc179abada76f83f1ffb363f66b026daf679f81c9dff676cd3ee972b9c9",
    ),
    "skat-small": (
        "a1b84208885d5937cf96daef5eff43c45b05300ee28282cc0cdb793a2012749f",
        "cf2838223c030b87fe9141811b3c51db70958772d60c59d05321b1ec04c209e3",
    ),
}
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
        lines = [line.split("  ", 1) for line in read_text(note).splitlines()]
        known = {name: digest for digest, name in lines}
    except (OSError, ValueError):
        raise TrickformerError(f"{note} is damaged") from None
    for name, digest in known.items():
        path = folder / name
        try:
            same = not Path(name).is_absolute() and ".." not in Path(name).parts and of(path).hexdigest() == digest
        except (OSError, ValueError):  # a name may hold a null byte
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
        TrickformerError: One is missing or has another digest, which `REPLACED` does not allow.
    """
    for name, digest in known.items():
        found = files.get(name, files.get(relocate(name)))
        if found != digest and (digest, found) not in REPLACED.values():
            raise TrickformerError(f"{out} was begun with another {name}; choose another --out")


def lines(path: Path) -> Path:
    """Where the checksums of a file's lines stand, one a line."""
    return path.with_name(path.name + ".sums")


def of_line(line: bytes) -> bytes:
    """What stands there for a line, both with their ends."""
    return hashlib.blake2b(line, digest_size=LINE // 2).hexdigest().encode() + b"\n"
