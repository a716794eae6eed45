"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from trickformer.base import TrickformerError

_NO_ROOM = 1 << 16  # free bytes below which a disk counts as full


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Raise TrickformerError if the disk refuses what the block writes at `path`."""
    try:
        yield
    except OSError as e:
        raise TrickformerError(f"cannot write {path}: {e.strerror}") from None
    except Exception as e:  # torch and safetensors may have removed their own file
        disk = os.statvfs(path.parent)
        if disk.f_bavail * disk.f_frsize >= _NO_ROOM and os.strerror(errno.ENOSPC) not in str(e):
            raise
        raise TrickformerError(f"cannot write {path}: the disk is full") from None


@contextmanager
def whole(path: Path) -> Generator[Path]:
    """Yield the path of a draft that replaces `path` at the end of the block, whole or not at all.

    Raises TrickformerError if the disk refuses."""
    draft = path.with_name(f".{path.name}.part")
    try:
        with writing(path):
            yield draft
            draft.replace(path)
    finally:
        with suppress(OSError):  # the error of the write is the one to report
            draft.unlink(missing_ok=True)


def replace(path: Path, text: str) -> None:
    """Write a small file whole or not at all. Raises TrickformerError if the disk refuses."""
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8")
