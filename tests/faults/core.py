"""Random calls of all that the core exports, most of them wrong: `python -m tests.faults.core --calls 20000 --seed 1`.

Targets are read off the module, so that a new binding is among them by itself. Arguments begin good (an example, a call
that went well before, or what the types say) and get a fault or two. Calls run in child processes, some thousands in
each. Reported are a process that a signal ends, a call that takes too long, and an exception that no caller expects.
The exit code is 1 where there is any; the same seed makes the same calls."""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.faults import core_examples, core_values
from tests.faults.core_signatures import ROOT, Target, classes, targets

CHECKOUT = Path(__file__).resolve().parents[2]
CHUNK = 4000  # calls of one process
LIMIT = 30  # seconds of one call
THREADS = 4
EXPECTED = (ValueError, TypeError, IndexError, OverflowError)
SAID = {
    RuntimeError: ("too many", "another thread is using"),
    MemoryError: ("exceed this machine's memory",),
    AttributeError: ("has no attribute",),  # of what was given as a tracker
}


@dataclass
class Report:
    """What the calls came to. faults: what was found wrong, a line each, with the seed that shows it again."""

    calls: Counter[str] = field(default_factory=Counter)  # by target
    good: Counter[str] = field(default_factory=Counter)  # those that returned
    faults: list[str] = field(default_factory=list)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, (list, tuple)) and len(value) > 12:
        return f"{len(value)} items"
    text = repr(value)
    return text if len(text) < 80 else text[:77] + "..."


class Caller:
    """The calls of one child process."""

    def __init__(self, seed: str) -> None:
        self.rng = random.Random(seed)
        self.targets = targets()
        self.examples, self.pool = core_examples.make(self.rng)
        self.kinds = {bound: kind for kind, bound in classes().items()}
        self.went_well: dict[str, list[tuple[Any, ...]]] = defaultdict(list)

    def arguments(self, target: Target) -> tuple[Any, ...] | None:
        """Arguments, mostly good ones. None where there is no object to be had."""
        rng = self.rng
        try:
            if target.name in self.examples and rng.random() < 0.7:
                return rng.choice(self.examples[target.name])()
            if self.went_well[target.name] and rng.random() < 0.4:
                return rng.choice(self.went_well[target.name])
            rows = rng.randrange(4)
            return tuple(core_values.value(rng, p.type, p.name, self.pool, rows) for p in target.parameters)
        except (KeyError, IndexError, ValueError):
            return None

    def spoil(self, target: Target, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        found = list(arguments)
        for _ in range(self.rng.choice((0, 1, 1, 1, 2)) if found else 0):
            at = self.rng.randrange(len(found))
            found[at] = core_values.spoiled(self.rng, found[at], target.parameters[at].name, self.pool)
        return tuple(found)

    def keep(self, result: Any) -> None:
        """Objects that calls return stand in the pool for other calls."""
        kind = self.kinds.get(type(result))
        if kind is None:
            return
        found = self.pool[kind]
        if len(found) < 60:
            found.append(result)
        else:
            found[self.rng.randrange(len(found))] = result

    def invoke(self, target: Target, arguments: tuple[Any, ...]) -> Any:
        by_place = [a for a, p in zip(arguments, target.parameters) if not p.keyword]
        by_name = {p.name: a for a, p in zip(arguments, target.parameters) if p.keyword}
        return target.call(*by_place, **by_name)


def _fault(error: BaseException) -> str | None:
    """What is wrong with an exception, or None."""
    if isinstance(error, EXPECTED):
        return None
    said = next((words for kind, words in SAID.items() if isinstance(error, kind)), ())
    return None if any(word in str(error) for word in said) else f"{type(error).__name__}: {error}"


def _child(seed: int, chunk: int, calls: int, folder: Path) -> None:
    """Makes the calls of a chunk. The note says which one is under way, the log what came of those before."""
    warnings.simplefilter("ignore")  # nanobind's own, of objects that were never constructed
    if "LD_PRELOAD" not in os.environ:  # sanitizers need more
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    caller = Caller(f"{seed}-{chunk}")
    names = sorted(caller.targets)
    weights = [1 if len(caller.targets[name].parameters) < 2 else 4 for name in names]  # most faults are of arguments
    note = os.open(folder / "note", os.O_CREAT | os.O_RDWR)
    with (folder / "log").open("w", buffering=1 << 16) as log:
        for i in range(calls):
            target = caller.targets[caller.rng.choices(names, weights)[0]]
            arguments = caller.arguments(target)
            if arguments is None:
                continue
            arguments = caller.spoil(target, arguments)
            threads = THREADS if caller.rng.random() < 0.004 else 1
            text = f"call {i}{' on threads' * (threads > 1)}: {target.name}({', '.join(map(_short, arguments))})"
            os.pwrite(note, text.encode("utf-8", "replace")[:2000].ljust(2000), 0)
            signal.setitimer(signal.ITIMER_REAL, LIMIT)
            outcome = _made(caller, target, arguments, threads)
            signal.setitimer(signal.ITIMER_REAL, 0)
            log.write(
                json.dumps([target.name, outcome is True, None if outcome in (True, None) else f"{outcome}; {text}"])
            )
            log.write("\n")
    os._exit(0)  # objects that a call has broken would break the end of the interpreter, not a call


def _made(caller: Caller, target: Target, arguments: tuple[Any, ...], threads: int) -> bool | str | None:
    """True: it returned; None: it raised what one expects; else what is wrong."""
    if threads > 1:
        found: list[str | None] = []

        def call() -> None:
            try:
                caller.invoke(target, arguments)
            except BaseException as error:
                found.append(_fault(error))

        pool = [threading.Thread(target=call) for _ in range(threads)]
        for thread in pool:
            thread.start()
        for thread in pool:
            thread.join()
        return next((fault for fault in found if fault), None)
    try:
        result = caller.invoke(target, arguments)
    except BaseException as error:
        return _fault(error)
    caller.keep(result)
    if len(caller.went_well[target.name]) < 5:
        caller.went_well[target.name].append(arguments)
    return True


def _run_chunk(seed: int, chunk: int, calls: int, report: Report) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [
            sys.executable,
            "-m",
            "tests.faults.core",
            "--child",
            str(chunk),
            "--calls",
            str(calls),
            "--seed",
            str(seed),
        ]
        paths = os.pathsep.join(filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")]))
        with (folder / "err").open("w") as errors:
            done = subprocess.run(
                [*command, "--folder", name], stderr=errors, stdout=errors, env=os.environ | {"PYTHONPATH": paths}
            )
        log = folder / "log"
        for line in log.read_text().splitlines() if log.exists() else ():
            try:
                target, good, fault = json.loads(line)
            except ValueError:  # the process ended in the midst of it
                continue
            report.calls[target] += 1
            report.good[target] += good
            if fault:
                report.faults.append(f"seed {seed}, chunk {chunk}: {fault}")
        if done.returncode:
            how = "took too long" if done.returncode == -signal.SIGALRM else f"ended the process ({done.returncode})"
            note = (folder / "note").read_text(errors="replace").strip() if (folder / "note").exists() else "no call"
            said = (folder / "err").read_text(errors="replace")
            told = [
                line.strip() for line in said.splitlines() if "ERROR" in line or "runtime error" in line or "#" in line
            ]
            report.faults.append(
                f"seed {seed}, chunk {chunk}: {how}: {note}\n" + "\n".join(told[:12] or said.splitlines()[-5:])
            )


def fuzz(calls: int, seed: int, first: int = 0, chunk: int = CHUNK, show: bool = False) -> Report:
    """Makes so many random calls, from chunk `first` of the seed on, in child processes of `chunk` calls each. A chunk
    ends with the call that ends its process."""
    report = Report()
    for number in range(first, first + -(-calls // chunk)):
        before, start = len(report.faults), time.monotonic()
        _run_chunk(seed, number, min(chunk, calls - (number - first) * chunk), report)
        if show:
            made = report.calls.total()
            print(f"chunk {number}: {made} calls so far, {time.monotonic() - start:.0f} s", flush=True)
            for fault in report.faults[before:]:
                print(fault, flush=True)
    return report


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="chunk to begin with, to see a fault again")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        _child(options.seed, options.child, options.calls, options.folder)
    report = fuzz(options.calls, options.seed, options.first, show=True)
    print(f"{'calls':>8} {'returned':>9}  of")
    for name in sorted(targets()):
        print(f"{report.calls[name]:8} {report.good[name]:9}  {name}")
    never = [name for name in targets() if not report.good[name]]
    made, good = report.calls.total(), report.good.total()
    print(f"{made} calls, {good} returned, {len(report.faults)} faults; seed {options.seed}")
    print(f"never returned: {', '.join(never) or 'none'} (of {ROOT})")
    sys.exit(bool(report.faults))


if __name__ == "__main__":
    _main()
