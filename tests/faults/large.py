"""Records of very many hands: `report` reads them in bounded memory and time."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.faults.report import Part
from trickformer.plumbing import digests

BYTES_PER_HAND = 1 << 10  # of memory, beyond that of a small report
SLACK = 64 << 20
SECONDS_PER_HAND = 1e-3  # of CPU
STARTUP = 60  # seconds of CPU


def large_report(match: Path, inputs: Path, hands: int) -> Part:
    """Report a tournament of `hands` hands, whose deals are copies of those of a small one.

    Args:
        match: Folder of a tournament.
        inputs: Folder for a new one.
        hands: Least number of hands.
    """
    part = Part("records of many hands, then report", f"{hands:,} hands")
    out = inputs / "large"
    made, deals = _multiply(match, out, hands)
    small, large = _report(match), _report(out)
    part.case()
    part.check(large.code == 0, f"{made:,} hands: {large.code}, {large.printed[-300:]}")
    most = small.memory + SLACK + made * BYTES_PER_HAND
    part.check(large.memory <= most, f"{made:,} hands: {large.memory >> 20:,} MiB, more than {most >> 20:,} MiB")
    limit = STARTUP + made * SECONDS_PER_HAND
    part.check(large.seconds <= limit, f"{made:,} hands: {large.seconds:.0f} s of CPU, more than {limit:.0f} s")
    if large.code == 0:
        found = json.loads(large.printed)["deals"] * (made // deals)
        part.check(found == made, f"{found:,} hands are reported, not {made:,}")
    shutil.rmtree(out)
    return part


@dataclass
class _Report:
    """A `report` that has ended: exit code, output, CPU seconds, peak memory in bytes."""

    code: int
    printed: str
    seconds: float
    memory: int


def _report(folder: Path) -> _Report:
    # The process prints its own peak: that of a child would hold its parent's memory at the fork.
    code = (
        "import resource, sys\nfrom trickformer.cli import main\ntry: main()\n"
        "finally:\n used = resource.getrusage(resource.RUSAGE_SELF)\n"
        " print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "report", str(folder), "--json"], capture_output=True, text=True, check=False
    )
    printed = done.stdout if done.returncode == 0 else done.stderr
    seconds, kilobytes = done.stderr.split()[-2:]
    return _Report(done.returncode, printed, float(seconds), int(kilobytes) << 10)


def _multiply(match: Path, out: Path, hands: int) -> tuple[int, int]:
    """Write the folder of a tournament with as many deals as are needed. Returns the numbers of hands and of deals."""
    shutil.copytree(match, out)
    deals: dict[int, list[str]] = {}
    for line in (match / "records.jsonl").read_text().splitlines():
        deals.setdefault(json.loads(line)["deal"], []).append(line)
    each = len(next(iter(deals.values())))
    number = -(-hands // each)
    with (out / "records.jsonl").open("wb") as records, (out / "records.jsonl.sums").open("wb") as sums:
        for deal in range(number):
            for line in deals[deal % len(deals)]:
                copy = re.sub(r'"deal":\d+', f'"deal":{deal}', line, count=1).encode() + b"\n"
                records.write(copy)
                sums.write(digests.line_digest(copy))
    config = out / "config.toml"
    config.write_text(re.sub(r"^deals = \d+", f"deals = {number}", config.read_text(), flags=re.MULTILINE))
    return number * each, number
