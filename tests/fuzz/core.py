"""Coverage-guided fuzzing of the C++ core under AddressSanitizer and UBSan: `python -m tests.fuzz.core --seconds 60`.

The readers of bytes from files are in core.cpp. Needs clang with libFuzzer, named by CXX (default: clang++). Objects,
corpora and finds are kept in build/fuzz. The exit code is 1 if anything was found."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.fuzz.statistics import Outcome, read_statistics, row, table
from trickformer import games, tokenizers

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build/fuzz"
HARNESS = ROOT / "tests/fuzz/core.cpp"
ROOMS = ("core", "hearts", "skat", "crew", "hanabi")
SANITIZERS = "address,undefined"
FLAGS = ["-std=c++20", "-O1", "-g1", "-ffp-contract=off", "-fno-omit-frame-pointer", "-w", f"-I{ROOT / 'cpp'}"]
FLAGS += [f"-fsanitize={SANITIZERS},fuzzer-no-link", "-fno-sanitize-recover=all", "-D_GLIBCXX_ASSERTIONS"]
WIDE = ["-march=x86-64-v3", "-DTRICKFORMER_ISA=v3"]  # as in CMakeLists.txt
MEMORY, LIMIT = 2_048, 5  # MiB and seconds of an input


def main() -> None:
    """Fuzz the readers that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.core", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="Seconds for each reader (default: 60).")
    parser.add_argument("--target", nargs="+", default=[], help="Names of readers, or parts of names (default: all).")
    parser.add_argument("--seed", type=int, default=1, help="Seed of libFuzzer (default: 1).")
    options = parser.parse_args()
    compiler = os.environ.get("CXX", "clang++")
    if shutil.which(compiler) is None:
        parser.exit(2, f"error: there is no {compiler}; install clang, or name it in CXX\n")
    names = re.findall(r'^    \{"(.+?)",', HARNESS.read_text(), re.MULTILINE)
    chosen = [name for name in names if not options.target or any(part in name for part in options.target)]
    program, outcomes = build(compiler), []
    for name in chosen:
        outcomes.append(_run(program, name, options.seconds, options.seed))
        print(row(outcomes[-1]), file=sys.stderr, flush=True)
    print(table(outcomes))
    sys.exit(any(outcome.finds for outcome in outcomes))


def build(compiler: str) -> Path:
    """Compile what has changed, and link the fuzzer. Returns its path. Raises CalledProcessError."""
    objects = FOLDER / "core"
    objects.mkdir(parents=True, exist_ok=True)
    newest = max(path.stat().st_mtime for path in (ROOT / "cpp").rglob("*.[hi][pn][pl]"))
    linked: list[str] = []
    for source in [HARNESS, *(path for room in ROOMS for path in sorted((ROOT / "cpp" / room).glob("*.cpp")))]:
        # The baseline's objects come first: of an inline function that both define, the linker keeps the first.
        for kind, flags in (("", []), *([("v3-", WIDE)] if source.stem.endswith("_isa") else [])):
            target = objects / f"{kind}{source.parent.name}-{source.stem}.o"
            if not target.exists() or target.stat().st_mtime < max(newest, source.stat().st_mtime):
                subprocess.run([compiler, *FLAGS, *flags, "-c", str(source), "-o", str(target)], check=True)
            linked.append(str(target))
    linked.sort(key=lambda name: Path(name).name.startswith("v3-"))
    program = FOLDER / "core-fuzzer"
    subprocess.run([compiler, f"-fsanitize={SANITIZERS},fuzzer", *linked, "-lpthread", "-o", str(program)], check=True)
    return program


def seeds(name: str) -> list[bytes]:
    """Make valid inputs of a reader from random games, in the layout that core.cpp reads.

    Args:
        name: Name of the reader.

    Returns:
        The inputs; none for tables, which core.cpp deals itself.
    """
    kind, _, title = name.partition(" of ")
    if kind == "tables":
        return []
    game = games.load({"The Crew": "crew(mission=1)"}.get(title, title.lower()))
    hands = tokenizers.fast(game).core_hands(["random"] * game.players, 1, 0, 8, 1, 0.0)
    begin = b"\0" if title == "Hanabi" else b""  # two players
    if kind == "histories":
        return [begin + bytes([i % game.players]) + row.tobytes() for i, row in enumerate(hands.history)]
    seats = np.arange(8, dtype=np.uint8) % game.players
    return [begin + row.astype(np.uint8).tobytes() for row in tokenizers.make(game).codec.encode(hands.history, seats)]


def _run(program: Path, name: str, seconds: int, seed: int) -> Outcome:
    """Fuzz one reader. libFuzzer ends at its first find."""
    outcome = Outcome(name)
    corpus, finds = FOLDER / "corpus" / outcome.folder, FOLDER / "finds" / outcome.folder
    for folder in (corpus, finds):
        folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(seeds(name)):
        (corpus / f"seed-{number}").write_bytes(data)
    words = [f"-max_total_time={seconds}", f"-seed={seed}", f"-timeout={LIMIT}", f"-rss_limit_mb={MEMORY}"]
    words += ["-max_len=512", "-print_final_stats=1", f"-artifact_prefix={finds}/", str(corpus)]
    environment = os.environ | {"TRICKFORMER_TARGET": name, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([str(program), *words], env=environment, capture_output=True, text=True, errors="replace")
    read_statistics(done.stderr, outcome)
    if done.returncode:
        faults = [line for line in done.stderr.splitlines() if "ERROR" in line or "runtime error" in line]
        outcome.finds.append(f"{(faults or done.stderr.splitlines() or ['no output'])[0]}; inputs are in {finds}")
    return outcome


if __name__ == "__main__":
    main()
