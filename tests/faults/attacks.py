"""Folders of strangers and two runs in one folder: links, missing checksums, a run that is late for its lock."""

from __future__ import annotations

import os
import random
import select
import shutil
import time
from pathlib import Path

from tests.faults import runs
from tests.faults.report import Part
from tests.support.attacks import pause_before_lock, plant_link, shorten_sums
from trickformer.plumbing import digests
from trickformer.plumbing.progress import progress

REPORTED = ("tournament", "train")  # commands whose folders `report` reads
NEW = (".report.md.0123456789abcdef.part", "report.md", "plot.png", "best")  # names that a run may write later


def links(whole: runs.Whole, inputs: Path, share: float, seed: int) -> Part:
    """Put symbolic links where files and folders of a run are, or may come to be.

    Args:
        whole: Runs that nothing disturbed.
        inputs: Folder of these.
        share: Share of all pairs of a name and a command.
        seed: Of the choice.
    """
    part = Part("a symbolic link in a run folder", f"report and --resume, folders of {len(whole)} commands")
    cases: list[tuple[str, Path, bool]] = []
    for name, (unbroken, _) in whole.items():
        entries = {*(path.relative_to(unbroken) for path in unbroken.rglob("*")), *map(Path, NEW)}
        cases += [(name, entry, False) for entry in sorted(entries)]
        cases += [(name, entry, True) for entry in sorted(entries) if name in REPORTED]
    chosen = random.Random(seed).sample(cases, max(len(REPORTED) * len(whole), round(share * len(cases))))
    out, home = inputs / "linked", inputs / "home"
    with progress("links", "links", 0, len(chosen)) as advance:
        for name, entry, reports in chosen:
            shutil.copytree(whole[name][0], out)
            is_folder = (out / entry).is_dir()
            (home / "folder").mkdir(parents=True)
            (home / "file").write_text("mine")
            (home / "folder/file").write_text("mine too")
            if is_folder:
                shutil.rmtree(out / entry)
            plant_link(out / entry, home / ("folder" if is_folder else "file"))
            words = ["report", str(out)] if reports else [*runs.words(name, out, inputs), "--resume"]
            ended = runs.run(words)
            where = f"{name}, {words[0]}, {entry} is a link"
            part.check(ended.refused and "symbolic link" in ended.last, f"{where}: {ended.code}, {ended.last}")
            same = sorted(p.read_text() for p in home.rglob("file")) == ["mine", "mine too"]
            part.check(same and len(list(home.rglob("*"))) == 3, f"{where}: files of the user have changed")
            part.case()
            advance(1)
            shutil.rmtree(out)
            shutil.rmtree(home)
    return part


def short_sums(whole: runs.Whole, inputs: Path, seed: int) -> Part:
    """Take away checksums of lines: all, all but one, half of them, the end of the last."""
    part = Part("missing checksums, then --resume", f"folders of {len(whole)} commands")
    cases = [(name, file) for name, (unbroken, _) in whole.items() for file in sorted(unbroken.glob("*.sums"))]
    out, rng = inputs / "short", random.Random(seed)
    with progress("checksums", "runs", 0, 4 * len(cases)) as advance:
        for name, file in cases:
            size = file.stat().st_size
            torn = rng.randrange(1, digests.LINE_DIGEST_SIZE)
            for left in (0, digests.LINE_DIGEST_SIZE, size // 2, size - torn):
                shutil.copytree(whole[name][0], out)
                shorten_sums(out / file.name.removesuffix(".sums"), left)
                ended = runs.run([*runs.words(name, out, inputs), "--resume"])
                good = ended.code == 0 and runs.result(out) == runs.result(whole[name][0])
                part.check(good, f"{name}, {left} bytes of {file.name}: {ended.code}, {ended.last}")
                part.case()
                advance(1)
                shutil.rmtree(out)
    return part


def lock_races(whole: runs.Whole, inputs: Path) -> Part:
    """Let a second run check the folder while it is empty, and lock it when the first has begun, ended or died."""
    part = Part("two runs in one folder, one late for its lock", f"{len(whole)} commands")
    with progress("locks", "races", 0, 3 * len(whole)) as advance:
        for name, (unbroken, seconds) in whole.items():
            for first_is in ("running", "finished", "killed"):
                _race(part, name, first_is, inputs, unbroken, seconds)
                advance(1)
    return part


def _race(part: Part, name: str, first_is: str, inputs: Path, unbroken: Path, seconds: float) -> None:
    out = inputs / "raced"
    words, where = runs.words(name, out, inputs), f"{name}, the first is {first_is}"
    waiting, go = os.pipe(), os.pipe()

    def pause() -> None:
        os.write(waiting[1], b".")
        os.read(go[0], 1)

    late_lock = pause_before_lock(pause)
    second = runs.Command(words, prepare=late_lock.__enter__)
    if not select.select([waiting[0]], [], [], runs.LIMIT)[0]:
        second.kill(0)
        raise TimeoutError(f"{where}: the second does not lock its folder")
    first = runs.Command(words)
    if first_is == "killed":
        first.kill(seconds * 0.7)
    elif first_is == "running":
        while not (out / "config.toml").exists() and not first.has_ended:
            time.sleep(0.005)
    ended = first.wait() if first_is != "running" else None
    begun = (out / "config.toml").exists()
    os.write(go[1], b".")
    late = second.wait()
    ended = ended or first.wait()
    for descriptor in (*waiting, *go):
        os.close(descriptor)
    if first_is != "killed":
        part.check(ended.code == 0, f"{where}: {ended.code}, {ended.last}")
    if begun:
        part.check(late.refused, f"{where}: the second is not refused: {late.code}, {late.last}")
    if first_is == "killed":
        ended = runs.run([*words, "--resume"] if begun else words)
    part.check(runs.result(out) == runs.result(unbroken), f"{where}: another result, {ended.last}")
    part.case()
    shutil.rmtree(out)
