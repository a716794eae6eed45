"""What is said of a disk that is full, whoever writes."""

from __future__ import annotations

import os

import pytest

from trickformer.base import TrickformerError
from trickformer.plumbing import files


def test_no_room_is_told_in_one_line(tmp_path, monkeypatch):
    """By an OSError, by another error that says so, and by another error while there is no room."""
    for error in (
        OSError(28, "No space left on device"),
        RuntimeError("I/O error: No space left on device (os error 28)"),
    ):
        with pytest.raises(TrickformerError, match=r"^cannot write .*model: .*"), files.writing(tmp_path / "model"):
            raise error
    with pytest.raises(RuntimeError, match="a fault"), files.writing(tmp_path / "model"):
        raise RuntimeError("a fault")
    known = os.statvfs(tmp_path)
    full = os.statvfs_result([*known[:4], 0, *known[5:]])
    monkeypatch.setattr(os, "statvfs", lambda path: full)
    with pytest.raises(TrickformerError, match=r"model: the disk is full$"), files.writing(tmp_path / "model"):
        raise RuntimeError("unexpected pos 56064 vs 55956")
