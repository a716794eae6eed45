"""Hours of everything at once, with kills: `python -m tests.faults.soak --hours 4 --out out/soak`.

Four lanes work side by side in one folder:

    commands   commands of `runs.RUNS` in turn, killed at random and resumed; each ends as the undisturbed run did
    engines    tournaments with an engine whose processes are killed; each has the hands of the undisturbed one
    table      a table in the browser at which a page plays hand after hand, its server killed every few minutes;
               all its records replay by the rules
    match      one tournament against `trickformer serve`, which nobody disturbs

Meanwhile the memory, descriptors and threads of the table's server, the match and its engine are measured, and the size
of the folder. A soak that was stopped continues if it is started again with the same folder: hours add up. The exit
code is 1 if a lane has failed or a process has grown.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from tests.faults import engines, runs
from tests.faults.kills import ends_alike
from tests.support.served import heard, page, served
from trickformer.tournaments.run import RECORDS

EVENTS, SAMPLES = "events.jsonl", "samples.jsonl"
COMMANDS = ["tournament", "tournament-workers", "train", "belief-train", "crew-evaluate", "obl-train", "skat-learn"]
INTERVAL = 15.0  # seconds between samples
NOTED = 120.0  # seconds after which the time of the soak is put on file
WARM = 240.0  # seconds of a process's life that do not count: caches fill
LONG = 900.0  # seconds of life after that from which a growth is judged
MOST_GROWTH = {"memory": 32.0, "descriptors": 8.0, "threads": 4.0}  # an hour; memory in MB


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tests.faults.soak", description=__doc__)
    options.add_argument("--hours", type=float, default=4.0, help="hours in all, those of earlier starts included")
    options.add_argument("--out", type=Path, default=Path("out/soak"), help="folder of the soak")
    options.add_argument("--seed", type=int, default=1, help="seed of what is killed, and when")
    settings = options.parse_args()
    out: Path = settings.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    before = sum(event["seconds"] for event in _read(out / EVENTS) if event["lane"] == "soak")
    seconds = 3600 * settings.hours - before
    if seconds > 0:
        _soak(out, seconds, settings.seed + round(before))
    print(report(out))
    sys.exit(bool(faults(out)))


def _soak(out: Path, seconds: float, seed: int) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    context, noted = multiprocessing.get_context("spawn"), time.monotonic()
    lanes = [context.Process(target=_run_lane, args=(name, out, seconds, seed)) for name in LANES]
    for lane in lanes:
        lane.start()
    try:
        while any(lane.is_alive() for lane in lanes):
            _sample(out)
            time.sleep(INTERVAL)
            if time.monotonic() - noted > NOTED:  # not at the end alone, which a kill takes away
                _note(out / EVENTS, lane="soak", seconds=time.monotonic() - noted)
                noted = time.monotonic()
    finally:
        for lane in lanes:
            lane.terminate()
        for lane in lanes:
            lane.join()
        _note(out / EVENTS, lane="soak", seconds=time.monotonic() - noted)


def _run_lane(name: str, out: Path, seconds: float, seed: int) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    end = time.monotonic() + seconds
    try:
        LANES[name](out, end, random.Random(f"{seed} {name}"))
    except Exception as e:
        _note(out / EVENTS, lane=name, fault=f"{type(e).__name__}: {e}")
    finally:
        for pid in _children(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _commands(out: Path, end: float, rng: random.Random) -> None:
    inputs = out / "inputs"
    shutil.rmtree(inputs, ignore_errors=True)
    inputs.mkdir()
    undisturbed = runs.unbroken(COMMANDS, inputs)
    while time.monotonic() < end:
        name, folder = rng.choice(COMMANDS), inputs / "killed"
        expected, duration = undisturbed[name]
        kills = 0
        for _ in range(rng.randint(1, 4)):
            words = runs.words(name, folder, inputs)
            command = runs.Command([*words, "--resume"] if (folder / "config.toml").exists() else words)
            killed = command.kill(rng.uniform(0, duration))
            result = command.wait(1800)
            kills += killed
            if not killed and result.code:
                _note(out / EVENTS, lane="commands", fault=f"{name}: {result.last}")
        equal = ends_alike(name, folder, inputs, expected)
        shutil.rmtree(folder, ignore_errors=True)
        _note(out / EVENTS, lane="commands", command=name, kills=kills)
        if not equal:
            _note(out / EVENTS, lane="commands", fault=f"{name} differs from the undisturbed run after {kills} kills")


def _engines(out: Path, end: float, rng: random.Random) -> None:
    while time.monotonic() < end:
        folder = out / "engine-runs"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        part = engines.kills(folder, 20, rng.randrange(1 << 20), pause=3.0)
        _note(out / EVENTS, lane="engines", kills=part.cases)
        for fault in part.failures:
            _note(out / EVENTS, lane="engines", fault=fault)


def _table(out: Path, end: float, rng: random.Random) -> None:
    folder = out / "table"
    words = ["hearts", "--opponents", "rules", "--seed", "4", "--out", str(folder)]
    while time.monotonic() < end:
        resume = ["--resume"] if (folder / "config.toml").exists() else []
        hands, stop = 0, min(end, time.monotonic() + rng.uniform(1500, 2100))
        with (out / "table.err").open("a") as errors, served(*words, *resume, err=errors) as (address, process):
            _watch(out, "table", process.pid)
            while time.monotonic() < stop:
                with page(address) as socket:  # a new page for each hand
                    hands += _play_hand(socket, rng)
            process.send_signal(signal.SIGKILL)
        _note(out / EVENTS, lane="table", hands=hands, kills=1)
        check = [sys.executable, "-m", "trickformer", "records", "check", str(folder / "records.jsonl")]
        checked = subprocess.run(check, capture_output=True, text=True)
        if checked.returncode or " 0 differ, 0 damaged" not in checked.stdout:
            _note(out / EVENTS, lane="table", fault=checked.stdout.strip() or checked.stderr.strip())


def _play_hand(socket: Any, rng: random.Random) -> int:
    """Play at a table's page until a hand is over, and begin the next. Returns 1."""
    while True:
        table = heard(socket, "table")
        if table["turn"] is None:
            socket.send(json.dumps({"do": "next"}))
            return 1
        if table["turn"] == table["me"]:
            action = rng.choice([choice["action"] for choice in _choices(table["scene"])])
            socket.send(json.dumps({"do": "act", "seat": table["me"], "action": action, "ply": table["ply"]}))


def _choices(scene: dict[str, Any]) -> Iterator[dict[str, Any]]:
    cards = [card for part in (*scene.get("seats", []), *scene.get("piles", [])) for card in part.get("cards", [])]
    yield from (x for x in (*cards, *scene.get("choices", [])) if x.get("action") is not None)


def _match(out: Path, end: float, rng: random.Random) -> None:
    folder, alone = out / "match", out / "alone"
    with (out / "match.err").open("a") as errors:
        process = _start_match(folder, 20_000, errors)
        _watch(out, "match", process.pid)
        while time.monotonic() < end and process.poll() is None:
            time.sleep(1)
        if process.poll():
            _note(out / EVENTS, lane="match", fault=f"it ended with exit code {process.returncode}")
        process.terminate()  # a process that a script started in the background ignores SIGINT
        process.wait()
        records = set(runs.records(folder / RECORDS))
        _note(out / EVENTS, lane="match", hands=len(records))
        shutil.rmtree(alone, ignore_errors=True)
        _start_match(alone, 30, errors).wait()
        if missing := set(runs.records(alone / RECORDS)) - records:
            _note(
                out / EVENTS, lane="match", fault=f"{len(missing)} records of 30 deals differ from an undisturbed run"
            )


def _start_match(folder: Path, deals: int, errors: IO[str]) -> subprocess.Popen[bytes]:
    # Without the path of this environment, a later start from another one may continue the match.
    engine = 'engine:cmd="trickformer serve rules --game hearts"'
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    words = ["tournament", "hearts", "--a", engine, "--b", "argmax", "--deals", str(deals), "--seed", "5"]
    words += ["--out", str(folder), *(["--resume"] if (folder / "config.toml").exists() else [])]
    command = [sys.executable, "-m", "trickformer", *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=environment)


LANES: dict[str, Callable[[Path, float, random.Random], None]] = {
    "commands": _commands,
    "engines": _engines,
    "table": _table,
    "match": _match,
}


def _watch(out: Path, name: str, pid: int) -> None:
    """Let the process be measured from now on."""
    (out / f"{name}.pid").write_text(str(pid))


def _sample(out: Path) -> None:
    """Measure the watched processes and the engine of the match, and the folder."""
    watched = {path.stem: int(path.read_text() or 0) for path in out.glob("*.pid")}
    for name, pid in watched.items():
        _sample_process(out, name, pid)
        if name == "match":
            for child in _children(pid):
                if b"serve" in _command(child) and b"_supervise" not in _command(child):
                    _sample_process(out, "engine", child)
    files = [Path(folder, name) for folder, _, names in os.walk(out) for name in names]  # folders may vanish meanwhile
    size = sum(_size(path) for path in files)
    known = sum(_size(path) for path in files if ".jsonl" in path.name and path.parent.parent == out)
    _note(out / SAMPLES, name="folder", pid=0, megabytes=size / 1e6, records=known / 1e6)


def _size(path: Path) -> int:
    """Return the size of a file in bytes, 0 if it has vanished."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _children(pid: int) -> list[int]:
    """List the descendants of a process."""
    try:
        direct = [int(c) for t in Path(f"/proc/{pid}/task").iterdir() for c in (t / "children").read_text().split()]
    except OSError:
        return []
    return direct + [grandchild for child in direct for grandchild in _children(child)]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _sample_process(out: Path, name: str, pid: int) -> None:
    try:
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        descriptors = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except (OSError, ValueError):
        return
    if "VmRSS" in status:
        memory, threads = int(status["VmRSS"].split()[0]) / 1e3, int(status["Threads"])
        _note(out / SAMPLES, name=name, pid=pid, memory=memory, descriptors=descriptors, threads=threads)


def _note(path: Path, **entry: Any) -> None:
    with path.open("a") as file:
        file.write(json.dumps({"time": time.time(), **entry}) + "\n")


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def growth(out: Path) -> dict[str, dict[str, float]]:
    """Compute the largest growth an hour of each watched process, over its lives that were long enough.

    Args:
        out: Folder of the soak.
    """
    lives: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for sample in _read(out / SAMPLES):
        if sample["pid"]:
            lives[sample["name"], sample["pid"]].append(sample)
    largest: dict[str, dict[str, float]] = {}
    for (name, _), samples in lives.items():
        late = [s for s in samples if s["time"] - samples[0]["time"] >= WARM]
        if not late or late[-1]["time"] - late[0]["time"] < LONG:
            continue
        hours = np.array([s["time"] for s in late]) / 3600
        for what in MOST_GROWTH:
            slope = float(np.polyfit(hours - hours[0], [s[what] for s in late], 1)[0])
            own = largest.setdefault(name, {})
            own[what] = max(own.get(what, -np.inf), slope)
    return largest


def faults(out: Path) -> list[str]:
    """List what went wrong.

    Args:
        out: Folder of the soak.
    """
    listed = [f"{event['lane']}: {event['fault']}" for event in _read(out / EVENTS) if "fault" in event]
    for name, own in growth(out).items():
        for what, slope in own.items():
            if slope > MOST_GROWTH[what]:
                listed.append(f"{name}: {what} grows by {slope:.1f} an hour, at most {MOST_GROWTH[what]:g} is good")
    return listed


def report(out: Path) -> str:
    """Describe a soak in Markdown: what each lane has done, how the processes have grown, and what went wrong.

    Args:
        out: Folder of the soak.
    """
    events = _read(out / EVENTS)
    hours = sum(event["seconds"] for event in events if event["lane"] == "soak") / 3600
    lines = [f"{hours:.2f} hours", "", "| lane | rounds | kills | hands |", "| --- | ---: | ---: | ---: |"]
    for lane in LANES:
        own = [event for event in events if event["lane"] == lane and "fault" not in event]
        kills, hands = (sum(event.get(key, 0) for event in own) for key in ("kills", "hands"))
        lines.append(f"| {lane} | {len(own):,} | {kills:,} | {hands:,} |")
    lines += ["", "| process | memory, MB an hour | descriptors an hour | threads an hour |"]
    lines += ["| --- | ---: | ---: | ---: |"]
    for name, own in growth(out).items():
        lines.append(f"| {name} | {own['memory']:+.1f} | {own['descriptors']:+.2f} | {own['threads']:+.2f} |")
    folder = [s for s in _read(out / SAMPLES) if s["name"] == "folder"]
    if folder:
        others = [s["megabytes"] - s["records"] for s in folder]
        lines += ["", f"Folder without records: {min(others):.1f} to {max(others):.1f} MB."]
    return "\n".join([*lines, "", *(f"- {fault}" for fault in faults(out))])


if __name__ == "__main__":
    main()
