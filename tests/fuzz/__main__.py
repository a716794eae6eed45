"""Coverage-guided fuzzing of every reader: `python -m tests.fuzz --seconds 60`, or of some, by --target.

The readers are those of tests/faults/readers.py. An input must end in a value or in TrickformerError, within 5 seconds
and 4 GiB. Needs atheris (`pip install atheris`), which brings libFuzzer. Corpora and finds are kept in build/fuzz, so
that the next run begins where the last one ended. The exit code is 1 if anything was found."""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.statistics import Outcome, read_statistics, row, table

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build/fuzz"
RUNS = ["tournament", "train", "belief-train", "belief-head", "skat-learn"]  # whose folders are inputs
INSTRUMENTED = ["trickformer", "tomllib", "zipfile"]
GRACE = 60.0  # seconds beyond the time of a target, for the input that is being read


def main() -> None:
    """Fuzz the targets that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="Seconds for each target (default: 60).")
    parser.add_argument("--target", nargs="+", default=[], help="Names of targets, or parts of names (default: all).")
    parser.add_argument("--list", action="store_true", help="Print the names of all targets.")
    parser.add_argument("--seed", type=int, default=1, help="Seed of libFuzzer (default: 1).")
    options = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        parser.exit(2, "error: atheris is not installed; run `pip install atheris`\n")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as scratch:
        targets = _load_targets(Path(scratch), instrumented=not options.list)
        if options.list:
            print("\n".join(target.name for target in targets))
            return
        chosen = [t for t in targets if not options.target or any(part in t.name for part in options.target)]
        if not chosen:
            parser.exit(2, f"error: no target is named {' or '.join(options.target)}; --list prints the names\n")
        outcomes = []
        for target in chosen:
            outcomes.append(_run(target, options.seconds, options.seed))
            print(row(outcomes[-1]), file=sys.stderr, flush=True)
    print(table(outcomes))
    sys.exit(any(outcome.finds for outcome in outcomes))


def _load_targets(scratch: Path, instrumented: bool) -> list:
    """Import the readers, so that libFuzzer sees their edges, and make their inputs if there are none yet."""
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED if instrumented else [], enable_loader_override=False):
        from tests.faults import runs
        from tests.faults.readers import all_targets
    inputs = FOLDER / "inputs"
    if not (inputs / RUNS[-1] / "config.toml").exists():
        inputs.mkdir(parents=True, exist_ok=True)
        runs.unbroken(RUNS, inputs)
    return all_targets(inputs, scratch)


def _run(target, seconds: int, seed: int) -> Outcome:
    """Fuzz one target in a fork of this process, which has imported the readers."""
    from tests.fuzz.target import fuzz

    folder = FOLDER / "corpus" / Outcome(target.name).folder
    finds = FOLDER / "finds" / folder.name
    finds.mkdir(parents=True, exist_ok=True)
    known, outcome = set(finds.iterdir()), Outcome(target.name)
    with tempfile.TemporaryFile("w+", errors="replace") as printed:
        sys.stdout.flush()
        sys.stderr.flush()
        if (pid := os.fork()) == 0:
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
            fuzz(target, folder, finds, seconds, seed)
        deadline = time.monotonic() + seconds + GRACE
        while not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)
                break
            time.sleep(0.05)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        printed.seek(0)
        text = printed.read()
    read_statistics(text, outcome)
    found = sorted(path for path in finds.iterdir() if path not in known)
    outcome.finds += [path.read_text() for path in found if path.suffix == ".txt"]
    if code == -signal.SIGKILL:
        outcome.finds.append(f"hangs: no end {GRACE:.0f} s after its time")
    elif code:
        outcome.finds.append(f"ended with code {code}: {(text.rstrip().splitlines() or ['no output'])[-1]}")
    return outcome


if __name__ == "__main__":
    main()
