"""Arrays by name in a file, .npz."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np

from trickformer.base import TrickformerError
from trickformer.plumbing.files import whole

# What numpy raises on a file that is none, or of which a bit has changed.
DAMAGED = (OSError, ValueError, LookupError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


def save(file: Path, **arrays: np.ndarray) -> None:
    """Writes a file, whole or not at all. Raises TrickformerError where the disk refuses."""
    with whole(file) as draft, draft.open("wb") as held:
        np.savez_compressed(held, **arrays)  # type: ignore[arg-type]


def load(file: Path, *names: str) -> dict[str, np.ndarray]:
    """Arrays of a file by name. Raises TrickformerError where it is none of arrays, or has none of that name."""
    try:
        with file.open("rb") as raw, np.load(raw) as kept:
            return {name: kept[name] for name in names}
    except DAMAGED:
        raise TrickformerError(f"{file} is broken") from None
