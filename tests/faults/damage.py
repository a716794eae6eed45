"""Every file of every run folder, damaged in three ways: it is refused in one line, or the run ends as if undamaged."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.faults import runs
from tests.faults.report import Part
from trickformer.plumbing.progress import progress


def _flipped(data: bytes, rng: random.Random) -> bytes:
    """One bit of it changed."""
    at = rng.randrange(len(data)) if data else 0
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :] if data else b"\0"


def _cut(data: bytes, rng: random.Random) -> bytes:
    """Its beginning."""
    return data[: rng.randrange(len(data))] if data else b""


def _overwritten(data: bytes, rng: random.Random) -> bytes:
    """A stretch of it replaced by random bytes."""
    at, n = rng.randrange(len(data) + 1), rng.randint(1, 64)
    return data[:at] + rng.randbytes(n) + data[at + n :]


WAYS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "flipped": _flipped,
    "cut": _cut,
    "overwritten": _overwritten,
}


def damages(whole: runs.Whole, inputs: Path, share: float, seed: int) -> Part:
    """A share of all pairs of a file and a way: of folders that are complete, and of some that were killed midway."""
    part, rng = (
        Part("a file damaged, then --resume", f"folders of {len(whole)} commands, whole and killed"),
        random.Random(seed),
    )
    cases: list[tuple[str, Path, Path, str]] = []
    for name, (unbroken, seconds) in whole.items():
        half = inputs / f"{name} killed"
        command = runs.Command(runs.words(name, half, inputs))
        command.kill(seconds * rng.uniform(0.4, 0.8))
        command.wait()
        for folder in (unbroken, half):
            files = sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
            cases += [(name, folder, file, way) for file in files for way in WAYS]
    chosen = rng.sample(cases, round(share * len(cases)))
    out = inputs / "damaged"
    with progress("damaged files", "files", 0, len(chosen)) as advance:
        for name, folder, file, way in chosen:
            shutil.copytree(folder, out)
            data = (out / file).read_bytes()
            (out / file).write_bytes(WAYS[way](data, rng))
            where = f"{folder.name}: {file} {way}, seed {seed}"
            try:
                ended = runs.run([*runs.words(name, out, inputs), "--resume"])
                good = ended.refused or (
                    ended.code == 0 and _agree(runs.result(out, out / file), runs.result(whole[name][0]))
                )
                part.check(good, f"{where}: {ended.code}, {ended.last if ended.code else 'another result'}")
            except TimeoutError:
                part.check(False, f"{where}: hangs")
            part.case()
            shutil.rmtree(out)
            advance(1)
    return part


def _agree(found: dict[str, str], wanted: dict[str, str]) -> bool:
    """Whether all that was found is as wanted; the damaged file itself does not count."""
    return len(found) >= len(wanted) - 1 and all(wanted.get(name) == digest for name, digest in found.items())
