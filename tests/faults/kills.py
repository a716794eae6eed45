"""SIGKILL at any moment: the run goes on from its folder, and ends as one that nothing disturbed."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from tests.faults import runs
from tests.faults.report import Part
from trickformer.plumbing.progress import progress


def kills(whole: runs.Whole, inputs: Path, number: int, seed: int) -> Part:
    """`number` kills, spread over the runs; a folder is killed up to four times before it may end."""
    part, rng, names = Part("kill -9, then --resume", f"{len(whole)} commands"), random.Random(seed), list(whole)
    with progress("kills", "kills", 0, number) as advance:
        turn = 0
        while part.cases < number:
            name = names[turn % len(names)]
            out, (unbroken, seconds) = inputs / "killed", whole[name]
            for _ in range(rng.randint(1, 4)):
                where = f"{name}, seed {seed}, after {part.cases} kills"
                words = runs.words(name, out, inputs)
                command = runs.Command([*words, "--resume"] if (out / "config.toml").exists() else words)
                killed = command.kill(rng.uniform(0, seconds))
                ended = command.wait()
                part.check(not command.leaves(10), f"{where}: a worker outlived its parent by 10 s")
                if not killed:
                    part.check(ended.code == 0, f"{where}: {ended.last}")
                    break
                part.case()
                advance(1)
            part.check(ends_alike(name, out, inputs, unbroken), f"{name}, seed {seed}: differs from an unbroken run")
            shutil.rmtree(out, ignore_errors=True)
            turn += 1
    return part


def ends_alike(name: str, out: Path, inputs: Path, unbroken: Path) -> bool:
    """Let a run come to its end, and compare it with the undisturbed run.

    Args:
        name: Name of the run.
        out: Its folder.
        inputs: Folder with the inputs of runs.
        unbroken: Folder of the undisturbed run.
    """
    words = runs.words(name, out, inputs)
    ended = runs.run([*words, "--resume"] if (out / "config.toml").exists() else words)
    return ended.code == 0 and runs.result(out) == runs.result(unbroken)
