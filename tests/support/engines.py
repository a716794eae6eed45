"""Programs that play, well and badly: `python engines.py KIND`. Run by itself, without the package's environment."""

import importlib.util
import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

# Leaves the engine's group and session, and its parent, as a daemon does.
DAEMON = "import os, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); time.sleep(1000)  # {}"
LIBRARY = Path(__file__).parents[2] / "src/trickformer/engine.py"
KINDS = (
    "good",
    "slow",
    "crash",
    "kill",
    "hang",
    "lie",
    "slip",
    "flood",
    "endless",
    "babble",
    "count",
    "early",
    "deals",
    "stubborn",
    "stray",
    "old",
    "refuse",
)


def command(kind, *more):
    """The words that start one, quoted for a spec."""
    return " ".join([sys.executable, "-S", __file__, kind, *map(str, more)])


def spec(kind, *more, **options):
    """A player's spec."""
    rest = "".join(f",{k}={v}" for k, v in options.items())
    return f'engine:cmd="{command(kind, *more)}"{rest}'


def running(mark):
    """Return the ids of the processes whose command line holds a mark, and whether each is a supervisor."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = path.read_bytes().decode(errors="replace")
            found |= {int(path.parent.name): "_supervise" in line} if mark in line else {}
    return found


def gone(mark, seconds=10.0):
    """Wait until no process has the mark. Return whether that was so in time."""
    end = time.monotonic() + seconds
    while running(mark) and time.monotonic() < end:
        time.sleep(0.05)
    return not running(mark)


def _library():
    found = importlib.util.spec_from_file_location("engine", LIBRARY)
    module = importlib.util.module_from_spec(found)
    sys.modules["engine"] = module  # as a dataclass wants it
    found.loader.exec_module(module)
    return module


def main(kind, *more):
    answers = sys.stdout
    decisions = 0
    if kind == "crash":  # at random, but alike in each run: a file counts how often it has been started
        with Path(more[1]).open("a+") as started:
            started.write("x")
            chance = random.Random(started.tell())

    def say(text):
        answers.write(text)
        answers.flush()

    def act(turn):
        nonlocal decisions
        decisions += 1
        choice = random.Random(turn.seed).choice(turn.legal)
        if kind == "crash" and chance.random() < float(more[0]):
            print("all is lost", file=sys.stderr, flush=True)
            os._exit(3)
        if kind == "kill" and decisions == int(more[0]):
            with Path(more[1]).open("a") as counted:
                counted.write("x")
            os.kill(os.getpid(), 9)
        if kind == "slow":
            time.sleep(0.005)
        if kind == "hang":
            time.sleep(1_000)
        if kind == "lie":
            return max(turn.legal) + 1_000
        if kind == "slip" and decisions % 5 == 0:
            return max(turn.legal) + 1_000
        if kind == "flood":
            say("x" * (1 << 22))
        if kind == "endless":
            while True:
                say('{"type":"action","table":12345,"action":0}\n')
        if kind == "babble":
            say("I think that I shall play\n")
        if kind == "count":
            say(f'{{"type":"action","table":0,"action":{choice},"visits":{{"many":1}}}}\n')
        if kind == "deals":
            print(turn.seat, *(e["action"] for e in turn.events), file=sys.stderr, flush=True)
        return choice

    if kind == "early":
        os._exit(7)
    if kind == "stubborn":  # it does not go by itself, and neither does its child
        subprocess.Popen([sys.executable, "-S", "-c", f"import time; time.sleep(1000)  # {more[0]}"])
        library = _library()
        try:
            library.run(act, name=kind, seeds=True)
        finally:
            time.sleep(1_000)
    if kind == "stray":
        for _ in range(3):
            subprocess.run([sys.executable, "-S", "-c", DAEMON.format(more[0])])
    if kind in ("old", "refuse"):
        sys.stdin.readline()
        protocol = 1 if kind == "refuse" else 99
        say(f'{{"type":"hello","protocol":{protocol},"name":"x","games":["*"]}}\n')
        while sys.stdin.readline():
            say('{"type":"error","text":"no jacks\\u001b[2J, please"}\n')
    _library().run(act, name=kind, version="1", games=["hearts", "skat"], seeds=kind != "kill", deals=kind == "deals")


if __name__ == "__main__":
    main(*sys.argv[1:])
