"""Paths in configs. A run stores absolute paths, and finds them again if its folder has moved."""

from __future__ import annotations

import os
from pathlib import Path


def absolute(text: str) -> str:
    """Make a path absolute.

    Args:
        text: A path, or another text.

    Returns:
        The absolute path; the text itself if no file or folder of that name exists.
    """
    return str(Path(text).absolute()) if text and Path(text).exists() else text


def relocate(text: str, begun: Path, now: Path) -> str:
    """Find a path of a run whose folder has moved.

    Args:
        text: Path in the config of the run.
        begun: Absolute folder in which the run began.
        now: Current folder of the run.

    Returns:
        The path at the same place relative to the run's folder, if `text` is an absolute path that no longer exists and
        that place does; otherwise `text`.
    """
    path = Path(text)
    if not path.is_absolute() or path.exists():
        return text
    there = Path(os.path.normpath(now.absolute() / os.path.relpath(path, begun)))
    return str(there) if there.exists() else text
