"""One target under libFuzzer.

A find does not end the process. The first input of each kind, and one line about it, are written to the folder of
finds; the kind is the exception and the line of source that raised it."""

from __future__ import annotations

import hashlib
import os
import random
import re
import resource
import sys
import warnings
from pathlib import Path
from typing import NoReturn

import atheris

from tests.faults.parsers import changed
from tests.faults.target import Target, find_fault

MEMORY = 4 << 30  # bytes that an input may take
MOST_BYTES = 1 << 16  # of an input, unless a valid one is larger


def fuzz(target: Target, corpus: Path, finds: Path, seconds: int, seed: int) -> NoReturn:
    """Fuzz a target and end the process.

    Half of the inputs come from libFuzzer. The other half are random changes of valid inputs and of the corpus, because
    readers in Rust and C show libFuzzer no edges.

    Args:
        target: The reader.
        corpus: Folder of inputs that reached something new.
        finds: Folder of inputs that went wrong.
        seconds: Wall seconds.
        seed: Seed of libFuzzer.
    """
    seeds = corpus.with_name(corpus.name + ".seeds")
    for folder in (corpus, seeds):
        folder.mkdir(parents=True, exist_ok=True)
    for data in target.good:
        (seeds / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    kinds: set[str] = set()

    def read(data: bytes) -> None:
        fault = find_fault(target, data)
        if fault is None:
            return
        where = re.search(r"\(\w+\.py:\d+\)$", fault)
        kind = fault.partition(":")[0] + (where[0] if where else "")
        if kind in kinds:
            return
        kinds.add(kind)
        name = hashlib.sha256(kind.encode()).hexdigest()[:12]
        (finds / name).write_bytes(data)
        (finds / f"{name}.txt").write_text(fault)

    def mutate(data: bytes, most: int, number: int) -> bytes:
        rng = random.Random(number)
        if rng.random() < 0.5:
            return atheris.Mutate(data, most)
        return changed(rng.choice(target.good) if rng.random() < 0.5 else data, rng)[:most]

    warnings.simplefilter("ignore")
    # Address space that is reserved and not used is not memory: torch alone reserves some GiB.
    resource.setrlimit(resource.RLIMIT_AS, (4 * MEMORY, 4 * MEMORY))
    longest = max(MOST_BYTES, max(map(len, target.good)) + 1_024)
    words = [f"-max_total_time={seconds}", f"-max_len={longest}", f"-seed={seed}", "-timeout=0"]
    words += [f"-rss_limit_mb={MEMORY >> 20}", "-print_final_stats=1", f"-artifact_prefix={finds}/stopped-"]
    atheris.Setup(["tests.fuzz", *words, str(corpus), str(seeds)], read, custom_mutator=mutate)
    sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - readers print; libFuzzer has a stream of its own
    atheris.Fuzz()
    os._exit(0)
