"""What goes wrong outside, tried on purpose: `python -m tests.faults` in two minutes, `--full` for docs/reliability.md.

Exit code 1 where anything fails. A part, or several, is named by --only."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.faults.report import Part

NAMES = (
    "kills", "power", "engines", "damage", "links", "sums", "locks", "disks", "readers", "encodings", "web", "large",
    "parsers", "core",
)  # fmt: skip
# Of the quick form: every kind of file.
QUICK = ["tournament", "train", "belief-train", "belief-head", "crew-evaluate", "skat-learn"]


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    options.add_argument("--full", action="store_true", help="every command, and as many cases as the report has")
    options.add_argument("--seed", type=int, default=1, help="of what is tried, and when")
    options.add_argument("--only", nargs="+", choices=NAMES, help="these parts alone")
    given = options.parse_args()
    full, seed = given.full, given.seed
    # Not above: worker processes import this module.
    from tests.faults import attacks, damage, disks, engines, kills, large, parsers, powercut, runs, streams, web
    from tests.faults.report import table

    with tempfile.TemporaryDirectory(prefix="trickformer-faults-") as folder:
        inputs = Path(folder)
        whole = runs.unbroken(list(runs.RUNS) if full else QUICK, inputs)
        few = {name: whole[name] for name in ("belief-head", "crew-evaluate")}
        two = {name: whole[name] for name in ("tournament", "train")}
        some = whole if full else two
        parts: dict[str, Callable[[], list[Part]]] = {
            "kills": lambda: [kills.kills(whole, inputs, 120 if full else 6, seed)],
            "power": lambda: [powercut.power_cuts(whole, inputs, 480 if full else 12, seed)],
            "engines": lambda: [engines.kills(inputs, 500 if full else 20, seed)],
            "damage": lambda: [damage.damages(whole, inputs, 1 if full else 0.05, seed)],
            "links": lambda: [attacks.links(whole, inputs, 1 if full else 0.05, seed)],
            "sums": lambda: [attacks.short_sums(some, inputs, seed)],
            "locks": lambda: [attacks.lock_races(whole if full else few, inputs)],
            "disks": lambda: disks.disks(whole if full else few, inputs, 10 if full else 2),
            "readers": lambda: [streams.dead_readers(some, inputs)],
            "encodings": lambda: [streams.encodings(whole, inputs)],
            "web": lambda: [web.idle_connections(2_000 if full else 400)],
            "large": lambda: [large.large_report(whole["tournament"][0], inputs, 1_000_000 if full else 20_000)],
            "parsers": lambda: parsers.fuzz(inputs, 100_000 if full else 4_000, seed),
            "core": lambda: [calls(200_000 if full else 10_000, seed)],
        }
        found: list[Part] = []
        for name in given.only or parts:
            begun = time.monotonic()
            found += parts[name]()
            print(f"{name}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
    print(table(found))
    sys.exit(any(part.failures for part in found))


def calls(number: int, seed: int) -> Part:
    """Random calls of the core."""
    from tests.faults import core
    from tests.faults.report import Part

    report = core.fuzz(number, seed)
    part = Part("a random call of the core", f"{len(report.calls)} functions", report.calls.total())
    part.failures += report.faults
    return part


if __name__ == "__main__":
    main()
