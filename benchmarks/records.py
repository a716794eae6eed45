"""Time and memory of `trickformer report` and `trickformer records show --game` on a run folder with a million hands.

The folder holds the hands of a tournament of `rules` against `random` in Hearts, repeated with other deal numbers,
with their checksums. Every command is a process of its own on one thread. Times are CPU time with the start of the
program; memory is the largest resident set.

- report: baseline: `json.loads` of every line, in a process that does nothing else.
- show: the last game; baseline: `trickformer --version`, the start of the program.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import Row, arguments, emit
from trickformer.plumbing import config as configs
from trickformer.plumbing import digests
from trickformer.plumbing.folder import CONFIG
from trickformer.tournaments.deals import RECORDS
from trickformer.tournaments.plan import Tournament
from trickformer.tournaments.run import tournament

HANDS, HANDS_QUICK = 1_000_000, 20_000
DEALS = 20  # deals of the tournament, whose records are repeated
# This small script starts the measured command, because the peak memory of a child starts at the memory of its parent.
_MEASURE = """
import json, resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""
_PARSE = """
import json, sys
for line in open(sys.argv[1], "rb"):
    json.loads(line)
"""


class Cost(NamedTuple):
    """Cost of a process."""

    seconds: float  # CPU time
    memory: float  # MB


def make(folder: Path, hands: int) -> int:
    """Make a run folder with at least `hands` hands, and return their number."""
    result = tournament(Tournament(game="hearts", a="rules", b="random", deals=DEALS, seed=1, out=folder))
    lines = [(record.deal, line) for record, line in zip(result.records, (folder / RECORDS).read_bytes().splitlines())]
    repeats = -(-hands // len(lines))
    path = folder / RECORDS
    with path.open("wb") as records, digests.sums_file(path).open("wb") as sums:
        for repeat in range(repeats):
            for deal, line in lines:
                old, new = (b'{"deal":%d,' % number for number in (deal, repeat * DEALS + deal))
                assert line.startswith(old)
                changed = new + line.removeprefix(old) + b"\n"
                records.write(changed)
                sums.write(digests.line_digest(changed))
    config = configs.dump(result.config.with_deals(repeats * DEALS))
    (folder / CONFIG).write_text(config, encoding="utf-8")
    return repeats * len(lines)


def cost(command: Sequence[str | Path]) -> Cost:
    """Measure a command."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    result = subprocess.run(
        [sys.executable, "-c", _MEASURE, *command],
        stdout=subprocess.PIPE,
        check=True,
        env=os.environ | one_thread,
    )
    seconds, kibibytes = json.loads(result.stdout)
    return Cost(seconds, kibibytes * 1024 / 1e6)


def compare(name: str, ours: Cost, baseline: Cost) -> list[Row]:
    """Return the rows of a command."""
    return [
        Row(name, ours.seconds, baseline.seconds, "s"),
        Row(f"{name}, memory", ours.memory, baseline.memory, "MB"),
    ]


def main() -> None:
    options = arguments(__doc__ or "")
    trickformer = [sys.executable, "-m", "trickformer"]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        hands = make(folder, HANDS_QUICK if options.quick else HANDS)
        parse_cost = cost([sys.executable, "-c", _PARSE, folder / RECORDS])
        rows = compare(f"report, {hands:,} hands", cost([*trickformer, "report", folder]), parse_cost)
        start_cost = cost([*trickformer, "--version"])
        show_cost = cost([*trickformer, "records", "show", folder, "--game", str(hands)])
        rows += compare(f"show --game {hands:,}", show_cost, start_cost)
    emit(rows, options.json)


if __name__ == "__main__":
    main()
