"""Attacks on run folders, for tests/cli/test_attacks.py and for `python -m tests.faults`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from trickformer.plumbing import digests
from trickformer.plumbing.folder import RunFolder


def plant_link(link: Path, victim: Path) -> None:
    """Replace a file of a run folder, which may be missing, by a symbolic link to a file of the user."""
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(victim)


def shorten_sums(records: Path, left: int) -> None:
    """Cut the checksums of a file of records to their first `left` bytes."""
    sums = digests.sums_file(records)
    sums.write_bytes(sums.read_bytes()[:left])


@contextmanager
def pause_before_lock(pause: Callable[[], object]) -> Iterator[None]:
    """Call a function whenever a run has checked its folder and is about to lock it."""
    lock = RunFolder.lock

    def late(self: RunFolder):
        pause()
        return lock(self)

    RunFolder.lock = late
    try:
        yield
    finally:
        RunFolder.lock = lock
