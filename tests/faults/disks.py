"""Disks that are full or may not be written: refused in one line; given room, the run goes on and ends as it should."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.faults import runs
from tests.faults.report import Part
from trickformer.plumbing.progress import progress

ROOM = "256m"


def disks(whole: runs.Whole, inputs: Path, sizes: int) -> list[Part]:
    """Each run on disks of `sizes` sizes, in even steps up to what it needs, and on one that turned read-only."""
    full = Part("a full disk, then room and --resume", f"{len(whole)} commands, {sizes} sizes")
    fixed = Part("a read-only folder", f"{len(whole)} commands, new and gone on with")
    if os.geteuid():
        full.skipped = fixed.skipped = "only root mounts a disk"
        return [full, fixed]
    disk = inputs / "disk"
    disk.mkdir()
    with progress("disks", "runs", 0, len(whole) * (sizes + 1)) as advance:
        for name, (unbroken, _) in whole.items():
            needed = sum(path.stat().st_size for path in unbroken.rglob("*") if path.is_file()) // 1024
            for k in range(sizes):
                _mount(disk, f"{max(4, needed * k // sizes // 4 * 4)}k")
                try:
                    _fill(full, f"{name} on {max(4, needed * k // sizes // 4 * 4)} KiB", name, disk, inputs, unbroken)
                finally:
                    subprocess.run(["umount", str(disk)], check=True)
                advance(1)
            _mount(disk, ROOM)
            try:
                _read_only(fixed, name, disk, inputs, unbroken)
            finally:
                subprocess.run(["umount", str(disk)], check=True)
            advance(1)
    return [full, fixed]


def _mount(disk: Path, size: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)], check=True)


def _remount(disk: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", str(disk)], check=True)


def _fill(part: Part, where: str, name: str, disk: Path, inputs: Path, unbroken: Path) -> None:
    words = runs.words(name, disk / "run", inputs)
    ended = runs.run(words)
    part.case()
    part.check(ended.refused or ended.code == 0, f"{where}: {ended.code}, {ended.last}")
    _remount(disk, f"size={ROOM}")
    if (disk / "run/config.toml").exists():
        words.append("--resume")
    ended = runs.run(words)
    good = ended.code == 0 and runs.result(disk / "run") == runs.result(unbroken)
    part.check(good, f"{where}, given room: {ended.code}, {ended.last}")


def _read_only(part: Part, name: str, disk: Path, inputs: Path, unbroken: Path) -> None:
    words = runs.words(name, disk / "run", inputs)
    (disk / "run").mkdir()
    _remount(disk, "ro")
    for what in ("new", "gone on with"):
        ended = runs.run([*words, "--resume"] if what != "new" else words)
        part.case()
        part.check(ended.refused, f"{name}, {what}, read-only: {ended.code}, {ended.last}")
        _remount(disk, "rw")
        shutil.rmtree(disk / "run")
        shutil.copytree(unbroken, disk / "run")
        for path in [*(disk / "run").glob("model-*"), *(disk / "run").glob("*.jsonl"), *(disk / "run").glob("*.npz")]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        _remount(disk, "ro")
    _remount(disk, "rw")
