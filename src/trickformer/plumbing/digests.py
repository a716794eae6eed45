"""BLAKE2b checksums of the files in a folder, and of each line of a file that grows.

The command `b2sum -c B2SUMS` of GNU coreutils checks a folder, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from trickformer.base import TrickformerError
from trickformer.plumbing.text import read_text

SUMS_FILE = "B2SUMS"
LINE_DIGEST_SIZE = 17  # bytes of a line's checksum with its line feed
# SHA-256 of config.json of the shipped checkpoints, in version 0.2 and now. Only the model type and the names of keys
# and outcomes have changed, so that a run of version 0.2 may continue with the current files.
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
_READ_SIZE = 1 << 20  # bytes read at a time


def file_digest(path: Path, size: int | None = None) -> hashlib.blake2b:
    """Compute the BLAKE2b digest of a file.

    Args:
        path: The file.
        size: Number of bytes from its beginning; by default all.

    Raises:
        OSError: The file cannot be read.
    """
    digest, left = hashlib.blake2b(), path.stat().st_size if size is None else size
    with path.open("rb") as file:
        while left > 0 and (piece := file.read(min(left, _READ_SIZE))):
            digest.update(piece)
            left -= len(piece)
    return digest


def write(folder: Path) -> None:
    """Write the checksums of all files below a folder into its file B2SUMS.

    Args:
        folder: The folder.

    Raises:
        OSError: A file cannot be read or written.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SUMS_FILE)
    lines = [f"{file_digest(path).hexdigest()}  {path.relative_to(folder).as_posix()}\n" for path in files]
    (folder / SUMS_FILE).write_text("".join(lines), encoding="utf-8")


def check(folder: Path) -> None:
    """Compare the files in a folder with its checksums.

    Args:
        folder: The folder. It passes if it has no file B2SUMS, as a checkpoint of another program.

    Raises:
        TrickformerError: A file is missing or damaged, or B2SUMS is. The message names it.
    """
    file = folder / SUMS_FILE
    if not file.is_file():
        return
    try:
        lines = [line.split("  ", 1) for line in read_text(file).splitlines()]
        expected = {name: digest for digest, name in lines}
    except (OSError, ValueError):
        raise TrickformerError(f"{file} is damaged; restore {folder} from a copy") from None
    for name, digest in expected.items():
        path = folder / name
        try:
            is_inside = not Path(name).is_absolute() and ".." not in Path(name).parts
            same = is_inside and file_digest(path).hexdigest() == digest
        except (OSError, ValueError):  # a name may hold a null byte
            same = False
        if not same:
            raise TrickformerError(
                f"{path} is damaged: its checksum is not the one in {SUMS_FILE}; restore {folder} from a copy"
            )


def sha256(files: Mapping[str, Path]) -> dict[str, str]:
    """Compute the SHA-256 digests of files.

    Args:
        files: Files by name.

    Returns:
        The hexadecimal digests by name.

    Raises:
        OSError: A file cannot be read.
    """
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in sorted(files.items())}


def must_be_same(
    out: Path, expected: Mapping[str, str], files: Mapping[str, str], relocate: Callable[[str], str] = str
) -> None:
    """Compare the files that a run has read with the current files.

    Args:
        out: Folder of the run, for the message.
        expected: Digests that the run has stored, by name of the file.
        files: Current digests by name.
        relocate: Function that turns a stored name into the current one, if the file has moved.

    Raises:
        TrickformerError: A file is missing, or its digest differs and `REPLACED` does not allow it.
    """
    for name, digest in expected.items():
        current = files.get(name, files.get(relocate(name)))
        if current != digest and (digest, current) not in REPLACED.values():
            raise TrickformerError(f"{out} was begun with another {name}; choose another --out")


def sums_file(path: Path) -> Path:
    """Return the path of the file that holds a checksum for each line of another file.

    Args:
        path: The other file.
    """
    return path.with_name(path.name + ".sums")


def line_digest(line: bytes) -> bytes:
    """Compute the checksum of a line.

    Args:
        line: The line with its line feed.

    Returns:
        The checksum with a line feed, LINE_DIGEST_SIZE bytes.
    """
    return hashlib.blake2b(line, digest_size=LINE_DIGEST_SIZE // 2).hexdigest().encode() + b"\n"
