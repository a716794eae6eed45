"""Paths in configs. A run stores absolute paths, and finds them again if its folder has moved."""

from __future__ import annotations

import os
from pathlib import Path


def is_file(text: str) -> bool:
    """Return whether a text is the path of a file.

    Args:
        text: A path, or another text.
    """
    path = Path(text)
    return _exists(path) and path.is_file()


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # longer than the name of a file may be
        return False


def absolute(text: str) -> str:
    """Make a path absolute.

    Args:
        text: A path, or another text.

    Returns:
        The absolute path; the text itself if no file or folder of that name exists.
    """
    return str(Path(text).absolute()) if text and _exists(Path(text)) else text


def relocate(text: str, old_folder: Path, new_folder: Path) -> str:
    """Find a path in a run's config again after the run folder has moved.

    Args:
        text: Path in the config of the run.
        old_folder: Absolute folder in which the run began.
        new_folder: Current folder of the run.

    Returns:
        `text` itself if it is relative or still exists. Otherwise the path that lies relative to the new folder as
        `text` lay relative to the old one, if it exists; else `text`.
    """
    path = Path(text)
    if not path.is_absolute() or _exists(path):
        return text
    moved = Path(os.path.normpath(new_folder.absolute() / os.path.relpath(path, old_folder)))
    return str(moved) if _exists(moved) else text
