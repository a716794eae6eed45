"""Files of named arrays in NumPy's format .npz. They may come from strangers."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from pathlib import Path

import numpy as np

from trickformer.base import TrickformerError
from trickformer.plumbing.files import whole

MOST_BYTES = 1 << 30  # of all arrays of a file together; a small compressed file could otherwise fill the memory

# Exceptions that NumPy raises on a damaged file, or on a file of another format.
DAMAGED = (
    OSError,
    ValueError,
    LookupError,
    EOFError,
    RuntimeError,
    ArithmeticError,
    SyntaxError,
    zipfile.BadZipFile,
    zlib.error,
    tokenize.TokenError,
)


def save(file: Path, **arrays: np.ndarray) -> None:
    """Write a file, whole or not at all.

    Args:
        file: File to write.
        **arrays: Arrays by name.

    Raises:
        TrickformerError: The arrays have more than MOST_BYTES together, or the file cannot be written.
    """
    if sum(array.nbytes for array in arrays.values()) > MOST_BYTES:
        raise TrickformerError(f"{file} would hold more than {MOST_BYTES >> 30} GiB, which could not be read again")
    with whole(file) as draft, draft.open("wb") as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]


def load(file: Path, *names: str) -> dict[str, np.ndarray]:
    """Read arrays of a file.

    Args:
        file: File that `save` has written.
        *names: Names of the arrays.

    Returns:
        The arrays by name.

    Raises:
        TrickformerError: The file lacks an array, is damaged or is too large.
    """
    try:
        with file.open("rb") as raw, zipfile.ZipFile(raw) as members:
            if sum(member.file_size for member in members.infolist()) > MOST_BYTES:
                raise TrickformerError(
                    f"{file} holds more than {MOST_BYTES >> 30} GiB, too much for a file of trickformer"
                )
        with file.open("rb") as raw, np.load(raw) as archive:
            return {name: archive[name] for name in names}
    except DAMAGED:
        raise TrickformerError(f"{file} is broken; restore it from a copy, or make it again") from None
    except MemoryError:  # the header of an array may claim any shape
        raise TrickformerError(
            f"{file} is broken or larger than the memory of this machine; restore it from a copy"
        ) from None
