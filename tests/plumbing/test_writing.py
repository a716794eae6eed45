"""Messages of a full disk, whoever writes, and folders that outlast a power cut."""

from __future__ import annotations

import os

import pytest

from tests.faults.powercut import Cut, Recorder
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


def test_folders_outlast_a_power_cut(tmp_path, monkeypatch):
    """Even if the disk keeps nothing that was not flushed."""
    now, log = tmp_path / "now", tmp_path / "log"
    now.mkdir()
    log.mkdir()
    monkeypatch.setattr(os, "fsync", Recorder(log).fsync)
    files.make_folder(now / "a/b")
    draft = now / "a/b/.model.part"
    (draft / "inner").mkdir(parents=True)
    (draft / "weights").write_bytes(b"1234")
    (draft / "inner/more").write_bytes(b"567")
    (now / "a/b/model").mkdir()
    (now / "a/b/model/old").touch()
    files.replace_folder(draft, now / "a/b/model")
    (now / "a/b/forgotten").write_bytes(b"8")
    Cut(log, None).rebuild(now, tmp_path / "disk")
    found = {str(path.relative_to(tmp_path / "disk")) for path in (tmp_path / "disk").rglob("*")}
    assert found == {"a", "a/b", "a/b/model", "a/b/model/weights", "a/b/model/inner", "a/b/model/inner/more"}
    assert (tmp_path / "disk/a/b/model/weights").read_bytes() == b"1234"
    assert (tmp_path / "disk/a/b/model/inner/more").read_bytes() == b"567"
