"""Power cuts: the run folder as a disk would have it that keeps only what was flushed, and then --resume.

The child process records each fsync: the contents of a file, or the names in a folder. It is then killed, and the
folder is built anew from these records. What was not flushed is lost, or in part there, as file systems leave it: a
file is as it was flushed last, or a part of what was appended follows, or zeros; a name is the old one or the new one.
This model is a superset of what ext4, XFS and Btrfs do after a cut, except that a page in the middle of appended data
is never lost alone."""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from tests.faults import runs
from tests.faults.report import Part
from trickformer.plumbing import lines
from trickformer.plumbing.progress import progress
from trickformer.plumbing.text import json_object

SETTINGS = ("config.toml", "run.json", "result.json")  # written whole or not at all
SECONDS, LINES = 5.0, 256  # of records that a cut may cost: docs/reliability.md


class Recorder:
    """Records what a process flushes.

    Attributes:
        log: Folder of the records: a file for each inode.
    """

    def __init__(self, log: Path) -> None:
        self.log = log
        self._held: list[int] = []

    def install(self) -> None:
        """Replace os.fsync, in the child process."""
        os.fsync = self.fsync

    def fsync(self, descriptor: int) -> None:
        """Record an open file or folder, as it is now."""
        about = os.fstat(descriptor)
        self._held.append(os.dup(descriptor))  # no new file gets the number of this one
        if stat.S_ISDIR(about.st_mode):
            with os.scandir(descriptor) as entries:
                content = json.dumps({entry.name: [entry.inode(), entry.is_dir()] for entry in entries}).encode()
        else:
            content = Path(f"/proc/self/fd/{descriptor}").read_bytes()
        draft = self.log / "draft"
        draft.write_bytes(content)
        draft.replace(self.log / str(about.st_ino))


class Cut:
    """A power cut that one folder goes through.

    Attributes:
        log: Records of `Recorder`.
        rng: Chooses what else of the last seconds reached the disk; None for nothing.
    """

    def __init__(self, log: Path, rng: random.Random | None) -> None:
        self.log, self._rng = log, rng
        self._memory: dict[tuple[int, bool], Path] = {}  # by number and whether it is a folder

    def rebuild(self, now: Path, out: Path) -> None:
        """Build the folder as the disk has it.

        Args:
            now: The folder as the killed process left it, in memory.
            out: New folder.
        """
        self._memory = {(path.stat().st_ino, path.is_dir()): path for path in (now, *now.rglob("*"))}
        self._folder(now.stat().st_ino, out)

    def _folder(self, inode: int, out: Path) -> None:
        """Build one folder, which may have no name in memory any more."""
        old: dict[str, list[int]] = json_object(self._flushed(inode) or b"{}")
        now = self._memory.get((inode, True))
        new = {path.name: [path.stat().st_ino, path.is_dir()] for path in now.iterdir()} if now else {}
        out.mkdir()
        for name in sorted(old.keys() | new.keys()):
            entry = new.get(name) if self._is_new(old.get(name), new.get(name)) else old.get(name)
            if entry is None:
                continue
            child, is_folder = entry
            if is_folder:
                self._folder(child, out / name)
            else:
                (out / name).write_bytes(self._content(child))

    def _is_new(self, old: list[int] | None, new: list[int] | None) -> bool:
        """Whether a change of a name reached the disk."""
        return old == new or (self._rng is not None and self._rng.random() < 0.5)

    def _flushed(self, inode: int) -> bytes:
        """What was recorded of a file or folder; empty if nothing was."""
        flushed = self.log / str(inode)
        return flushed.read_bytes() if flushed.exists() else b""

    def _content(self, inode: int) -> bytes:
        """What the disk has of a file, which may have no name in memory any more."""
        kept = self._flushed(inode)
        file = self._memory.get((inode, False))
        current = file.read_bytes() if file else None
        if self._rng is None or current is None or current == kept:
            return kept
        how = self._rng.randrange(4)
        if how == 0 or not current.startswith(kept):
            return kept
        if how == 1:
            return current
        end = self._rng.randint(len(kept), len(current))
        return current[:end] + (bytes(len(current) - end) if how == 2 else b"")


def power_cuts(whole: runs.Whole, inputs: Path, number: int, seed: int) -> Part:
    """Cut the power of `number` runs at random times, every second time in the worst way.

    Args:
        whole: Runs that nothing disturbed.
        inputs: Folder of these, and for new ones.
        number: How many.
        seed: Of the times, and of what reaches the disk.
    """
    part, rng, names = Part("a power cut, then --resume", f"{len(whole)} commands"), random.Random(seed), list(whole)
    with progress("power cuts", "cuts", 0, number) as advance:
        for k in range(number):
            name = names[k % len(names)]
            unbroken, seconds = whole[name]
            where = f"{name}, cut {k} of seed {seed}"
            base, log, disk = (inputs / f"cut-{place}" for place in ("memory", "log", "disk"))
            base.mkdir()
            log.mkdir()
            command = runs.Command(runs.words(name, base / "run", inputs), prepare=Recorder(log).install)
            command.kill(rng.uniform(0, 1.2 * seconds))
            command.wait()
            Cut(log, rng if k // len(names) % 2 else None).rebuild(base, disk)
            _check_loss(part, where, base / "run", disk / "run", log)
            out = disk / "run"
            for file in SETTINGS:
                with suppress(FileNotFoundError):
                    part.check((out / file).read_bytes().endswith(b"\n"), f"{where}: {file} is empty or torn")
            words = runs.words(name, out, inputs)
            ended = runs.run([*words, "--resume"] if (out / "config.toml").exists() else words)
            good = ended.code == 0 and runs.result(out) == runs.result(unbroken)
            part.check(good, f"{where}: {ended.code}, {ended.last if ended.code else 'another result'}")
            part.case()
            advance(1)
            for folder in (base, log, disk):
                shutil.rmtree(folder)
    return part


def _check_loss(part: Part, where: str, now: Path, disk: Path, log: Path) -> None:
    """Check that only records of the last seconds are lost, of files of lines that were flushed at all."""
    for path in now.glob("*.jsonl"):
        flushed = log / str(path.stat().st_ino)
        kept = (disk / path.name).read_bytes().count(b"\n") if (disk / path.name).exists() else 0
        lost = path.read_bytes().count(b"\n") - kept
        if lost <= 0:
            continue
        span = path.stat().st_mtime - flushed.stat().st_mtime if flushed.exists() else 0.0
        part.check(lost <= LINES and span <= SECONDS + 1, f"{where}: {lost} lines of {span:.1f} s are lost")


assert (lines.SYNC_SECONDS, lines.SYNC_EVERY) == (SECONDS, LINES), "docs/reliability.md promises otherwise"
