"""The commands that make run folders, each as a run of seconds, and what tells whether two run folders are equal.

Commands run in forks of this process, which has imported what they import: a second less for each."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import pkgutil
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import trickformer
from tests.support.records import TIMING
from trickformer.studies.belief import evaluation

LIMIT = 300  # seconds after which a command hangs

_TINY = (
    "--preset tiny --seed 3 --bootstrap random --bootstrap-hands 40 --sequences 40 --iterations 1 --held-out 8 "
    "--match-deals 2 --batch-size 16 --save-every 2 --tables 8"
)
# Options of each run but its folder; one stands behind those whose models it takes. Two have workers, one learns
# labels, one keeps a stack of games.
RUNS = {
    "tournament": "tournament hearts --a rules --b random --deals 40 --seed 3",
    "tournament-workers": "tournament skat --a kermit:worlds=1 --b rules --deals 12 --seed 3 --workers 2",
    "train": f"train hearts {_TINY} --label-share 0.5 --label-playouts 1",
    "train-workers": f"train crew {_TINY} --window 2 --workers 2",
    "belief-train": "belief train --hidden 8 --games 4 --steps 12 --save-every 2 --seed 3",
    "belief-evaluate": "belief evaluate --estimators v0 --estimators v1 --estimators bft --checkpoint {network} "
    "--games 6 --stack 3 --steps 2 --worlds 8 --batch 4 --seed 4",
    "belief-head": "belief head hearts --checkpoint {checkpoint} --players random --hidden 8 --hands 4 --steps 12 "
    "--held-out 8 --save-every 2 --seed 3",
    "crew-evaluate": "crew evaluate --missions 1-4 --games 10 --player rules --player random --seed 3",
    "mines-table": "mines table --board 4x4 --mines 3 --beliefs exact,rejection --simulations 20 --games 6 --seed 3",
    "mines-agree": "mines agree --board 4x4 --mines 3 --positions 4 --draws 50 --seed 3",
    "obl-train": "obl train hanabi(colors=2,ranks=2,hand_size=2) --hidden 8 --tables 8 --batch 4 --burn-in 8 "
    "--buffer 32 --games 8 --evaluate-every 10 --steps 40 --save-every 4 --seed 3",
    "obl-train-2": "obl train hanabi(colors=2,ranks=2,hand_size=2) --level 2 --below {level} --hidden 8 --tables 8 "
    "--batch 4 --burn-in 8 --buffer 32 --games 8 --evaluate-every 10 --steps 20 --belief-hidden 8 --belief-games 4 "
    "--belief-steps 20 --save-every 4 --seed 3",
    "skat-learn": "skat learn --first 40 --second 40 --third 40 --hand 40 --seed 3",
}
# Runs of RUNS whose results other runs take -> folder of the result.
INPUTS = {"train": "checkpoint", "belief-train": "network", "obl-train": "level"}


@dataclass(frozen=True)
class CommandResult:
    """Exit code and standard error of a command."""

    code: int  # exit code, or the signal that ended it below 0
    said: str  # its standard error, where lines of progress stand too

    @property
    def refused(self) -> bool:
        """Whether bad input was told in one line, the last, with exit code 2."""
        lines = [line for line in self.said.splitlines() if line.startswith("error: ")]
        return self.code == 2 and len(lines) == 1 and self.said.rstrip().endswith(lines[0])

    @property
    def last(self) -> str:
        """The last line."""
        return (self.said.rstrip().splitlines() or ["nothing was said"])[-1]


class Command:
    """A command that is running, in a session of its own."""

    def __init__(self, words: list[str], prepare: Callable[[], object] = lambda: None):
        """Start it.

        Args:
            words: Its command line, without the program.
            prepare: Called in the process before the command begins.
        """
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the command runs
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._child(words, prepare)

    def _child(self, words: list[str], prepare: Callable[[], object]) -> None:
        code = 70
        try:
            os.setsid()
            os.dup2(self._said.fileno(), 2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            sys.stderr = os.fdopen(2, "w", closefd=False)
            sys.stdout = os.fdopen(1, "w", closefd=False)
            sys.argv = ["trickformer", *words]
            prepare()
            from trickformer.cli import main

            main()
        except SystemExit as e:
            code = e.code if isinstance(e.code, int) else 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            with suppress(OSError):
                sys.stderr.flush()
            os._exit(code)

    @property
    def has_ended(self) -> bool:
        """Whether it has ended; `wait` returns how."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def kill(self, after: float) -> bool:
        """SIGKILL after some seconds, if it still runs then. Returns whether it did."""
        deadline = time.monotonic() + after
        while time.monotonic() < deadline:
            if self.has_ended:
                return False
            time.sleep(0.002)
        os.kill(self.pid, signal.SIGKILL)
        return True

    def wait(self, limit: float = LIMIT) -> CommandResult:
        """Its end. Raises TimeoutError where it takes longer than `limit` seconds, and kills it."""
        deadline = time.monotonic() + limit
        while not self.has_ended:
            if time.monotonic() > deadline:
                os.killpg(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                raise TimeoutError
            time.sleep(0.005)
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self._said.seek(0)
        return CommandResult(code, self._said.read().decode(errors="replace"))

    def leaves(self, within: float) -> bool:
        """Whether, after its end, a process of its session still runs after some seconds."""
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            try:
                os.killpg(self.pid, 0)
            except ProcessLookupError:
                return False
            time.sleep(0.01)
        return True


def warm() -> None:
    """Imports what commands import when they run, once for all of them."""
    for module in pkgutil.walk_packages(trickformer.__path__, "trickformer."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in ("matplotlib.backends.backend_agg", "torch.utils.tensorboard", "transformers"):
        importlib.import_module(name)
    evaluation.KEEP_EVERY = 0.0  # a stack of games is kept after every move, not every minute


def run(words: list[str], limit: float = LIMIT) -> CommandResult:
    """Runs a command to its end. Raises TimeoutError."""
    return Command(words).wait(limit)


def words(name: str, out: Path, inputs: Path) -> list[str]:
    """The command of a run. inputs: a folder with `INPUTS`, which some runs need."""
    text = RUNS[name].format(**{folder: inputs / folder for folder in INPUTS.values()})
    return [*text.split(), "--out", str(out)]


Whole: TypeAlias = dict[str, tuple[Path, float]]  # by name, a run's folder and how many seconds it took


def unbroken(names: list[str], inputs: Path) -> Whole:
    """Runs that nothing disturbs, and the inputs that some of them need."""
    warm()
    found: Whole = {}
    for name in names:
        out, begun = inputs / name, time.monotonic()
        ended = run(words(name, out, inputs))
        if ended.code:
            raise RuntimeError(f"{name}: {ended.last}")
        found[name] = out, time.monotonic() - begun
        if name in INPUTS:
            shutil.copytree(out / "model-0" if name == "train" else out, inputs / INPUTS[name])
    return found


def result(out: Path, without: Path | None = None) -> dict[str, str]:
    """Digests of what a run has found: models, data and records, without times. without: a file that does not count,
    but for the records, all of which a resumed run reads."""
    found = {}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if (path == without and name != "records.jsonl") or name.startswith("state/") or path.name == "state.npz":
            continue
        if path.suffix in (".safetensors", ".bin"):
            found[name] = hashlib.blake2b(path.read_bytes()).hexdigest()
        elif path.name == "records.jsonl":
            found[name] = hashlib.blake2b("\n".join(sorted(records(path))).encode()).hexdigest()
    return found


def records(path: Path) -> list[str]:
    """Read the lines of a file of records, without what depends on the clock.

    Args:
        path: A file of JSON lines.
    """
    return [json.dumps(_timeless(json.loads(line))) for line in path.read_text().splitlines()]


def _timeless(record: Any) -> Any:
    """The same without what depends on the clock."""
    if isinstance(record, list):
        return [_timeless(part) for part in record]
    if isinstance(record, dict):
        return {key: _timeless(part) for key, part in record.items() if key not in TIMING}
    return record
