"""Paths in configs: absolute once a run begins, and found again when its folder has moved."""

from __future__ import annotations

import os
from pathlib import Path


def absolute(text: str) -> str:
    """Make a path absolute; what is no path of a file or folder here stays as it is."""
    return str(Path(text).absolute()) if text and Path(text).exists() else text


def relocate(text: str, begun: Path, now: Path) -> str:
    """Find a path of a run whose folder has moved.

    Args:
        text: Path as the run has it.
        begun: Absolute folder in which the run began.
        now: Folder in which it is now.

    Returns:
        The path at the same place relative to the run's folder, if the given one is absolute and gone and there is
        something there; otherwise the given one.
    """
    path = Path(text)
    if not path.is_absolute() or path.exists():
        return text
    there = Path(os.path.normpath(now.absolute() / os.path.relpath(path, begun)))
    return str(there) if there.exists() else text
