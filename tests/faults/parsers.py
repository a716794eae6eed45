"""All that reads what a stranger may have written: good input, changed at random, is read or refused in one line."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from tests.faults.readers import all_targets
from tests.faults.report import Part
from tests.faults.target import Target, find_fault
from trickformer.base import TrickformerError
from trickformer.plumbing.progress import progress

# What is put into texts: numbers at the ends of types, brackets, other alphabets, bytes that are no text.
PIECES = [
    b"-1", b"0", b"9" * 30, b"1e999", b"nan", b"-inf", b"null", b"true", b"[]", b"{}", b"[" * 5_000, b'"', b"'", b"\\",
    b"\n", b"\0", b"\xff", b"\xc3\x28", "\u202e\u00e4\U0001f0a1".encode(), b"a" * 5_000, b"2147483648", b"-9" * 20,
    b"=", b",", b":", b"(", b")", b"..", b"/etc/passwd", b"%s%n", b"1_0",
]  # fmt: skip


def changed(data: bytes, rng: random.Random) -> bytes:
    """One to four changes: a byte, a stretch repeated, taken out or moved, the end cut off, a piece put in or over."""
    for _ in range(rng.randint(1, 4)):
        at, n = rng.randrange(len(data) + 1), min(len(data), rng.choice((1, 2, 8, 64)))
        how = rng.randrange(7)
        if how == 0 and data:
            at = rng.randrange(len(data))
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif how == 1:
            data = data[:at] + data[at : at + n] + data[at:]
        elif how == 2:
            data = data[:at] + data[at + n :]
        elif how == 3:
            data = data[:at]
        elif how == 4:
            data = data[:at] + rng.choice(PIECES) + data[at:]
        elif how == 5:
            data = data[:at] + rng.choice(PIECES) + data[at + n :]
        else:
            other = rng.randrange(len(data) + 1)
            data = data[:at] + data[other : other + n] + data[at:]
    return data


def fuzz(inputs: Path, number: int, seed: int) -> list[Part]:
    """`number` inputs, as many of each reader. inputs: where the unbroken runs lie."""
    parts = []
    with tempfile.TemporaryDirectory() as scratch:
        targets = all_targets(inputs, Path(scratch))
        with progress("inputs", "inputs", 0, number) as advance:
            for target in targets:
                part = Part("an input changed at random", target.name)
                for good in target.good:  # else the changes are to what is refused for something else
                    part.check(_reads(target, good), f"{target.name} refuses {good[:80]!r}")
                for k in range(-(-number // len(targets))):
                    rng = random.Random(f"{seed} {target.name} {k}")
                    data = changed(rng.choice(target.good), rng)
                    failure = find_fault(target, data)
                    if failure:
                        part.check(False, f"{target.name}, input {k} of seed {seed}: {failure}")
                    part.case()
                    advance(1)
                parts.append(part)
    return parts


def _reads(target: Target, good: bytes) -> bool:
    try:
        target.read(good)
    except (TrickformerError, *target.raises):
        return False
    return True
