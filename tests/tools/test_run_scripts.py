"""Every script in runs/ calls commands that exist, with options that they have.

The scripts run for hours. Here they run in an empty folder, with stubs instead of `trickformer` and `python`. The stubs
log their arguments, and `trickformer` makes the files that later steps need. The command line's own parser then reads
the logged commands.
"""

from __future__ import annotations

import argparse
import os
import runpy
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from support.commands import check_command

ROOT = Path(__file__).resolve().parents[2]
RUNS = ROOT / "runs"

STUB = r"""#!/bin/sh
{ printf '%s\037' "${0##*/}" "$@"; printf '\036'; } >>"$LOG"
while [ $# -gt 0 ]; do
  if [ "$1" = --out ]; then mkdir -p "$2/model-1"; : >"$2/belief.safetensors"; fi
  shift
done
"""
ENGINES = """
[xinxin-engine]
command = "xinxin {runs} {worlds}"
[xinxin-engine.options]
runs = 1
worlds = 1
[xskat]
command = "xskat"
[jskat]
command = "jskat"
"""

STEPS = {
    "hearts": "raw masked features values more expert guests",
    "skat": "raw masked features script roles values more expert guests",
    "crew": "raw masked features script bootstrap values more expert guests",
}
NETWORK = "obl:checkpoint=hanabi-obl-1"

# The main uses of each script, as variables and words. All uses of a script run in one folder, one after the other.
USES = {
    "belief-heads.sh": [""],
    "belief.sh": [
        *(
            f"{use} {form}"
            for use in ("train", "table", "counting", "alpha", "long")
            for form in ("hmm", "fosg", "pomdp")
        ),
        "train hmm 256 4000",
        "transformer",
        "ablation loss hmm --alpha 0.1",
        f"PLAYERS={NETWORK} train hmm",
        f"PLAYERS={NETWORK} table fosg",
    ],
    "crew-random.sh": [""],
    "crew-results.sh": [""],
    "differential.sh": [""],
    "engines.sh": ["", "hearts", "skat"],
    "gpu.sh": ["pack 3.12 transformers", "step --threads 2"],
    "hanabi-curve.sh": ["", "DEALS=20"],
    "hanabi-results.sh": [""],
    "hearts-results.sh": [""],
    "ladder.sh": [
        *(f"{game} train {steps}" for game, steps in STEPS.items()),
        *(f"DEALS=5 GAMES=2 {game} match {steps}" for game, steps in STEPS.items()),
    ],
    "mines.sh": [""],
    "obl-full.sh": ["", "LEVEL=2 SEEDS=1 STEPS=1000", "LEVEL=4 BELOW=hanabi-obl", "OUT=out/x --hidden 64"],
    "obl-study.sh": [
        "",
        "METHODS=obl1 BOTS= --model lstm",
        "METHODS=klevel2 BOTS=",
        "HANABI=hanabi(players=3,colors=2) OUT=out/three SEEDS=0",
    ],
    "obl-train.sh": [""],
    "obl.sh": [""],
    "search.sh": [
        *(f"train {form}" for form in ("hmm", "pomdp 5-card-2-hint")),
        *(f"single {belief}" for belief in ("exact", "counting", "seq2seq", "bft 7-card-4-hint")),
        "multi 200",
        *(f"crew {seats}" for seats in ("one", "all")),
        *(f"public {belief}" for belief in ("exact", "seq2seq", "bft 7-card-4-hint")),
        *(f"rl {use}" for use in ("one", "both", "both 5-card-2-hint seq2seq")),
        "figure public",
        f"BLUEPRINT={NETWORK} train hmm",
        f"BLUEPRINT={NETWORK} OPTIONS=steps=30,worlds=300 rl both",
    ],
    "skat-evaluation.sh": [""],
    "skat-results.sh": [""],
    "skat-rules.sh": ["", "runs/skat-rules.sh"],
    "small.sh": ["hearts", "skat 3", "crew", "hanabi"],
}


class ParsedOptions(Exception):
    """Raised after a program has parsed its options, before it runs."""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder with the files of runs/, an environment of stubs, and engines.toml."""
    (tmp_path / "runs").mkdir()
    for file in filter(Path.is_file, RUNS.iterdir()):
        shutil.copy(file, tmp_path / "runs")
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    for name in ("trickformer", "python", "python3"):
        stub = tmp_path / "venv" / "bin" / name
        stub.write_text(STUB)
        stub.chmod(0o755)
    for game in ("hearts", "skat"):
        (tmp_path / "src" / "trickformer" / "checkpoints" / f"{game}-small").mkdir(parents=True)
    (tmp_path / "out" / "wheels").mkdir(parents=True)
    (tmp_path / "engines.toml").write_text(ENGINES)
    monkeypatch.setenv("TRICKFORMER_ENGINES", str(tmp_path / "engines.toml"))
    return tmp_path


def run_script(checkout: Path, script: str, use: str) -> list[list[str]]:
    """Run a script with the stubs, and return the commands that it called."""
    variables, words = {}, use.split()
    while words and words[0].partition("=")[0].isupper():
        name, _, variables[name] = words.pop(0).partition("=")
    stubs, log = checkout / "venv", checkout / "log"
    log.write_text("")
    place = {"PATH": f"{stubs / 'bin'}{os.pathsep}{os.environ['PATH']}", "VENV": str(stubs), "LOG": str(log)}
    result = subprocess.run(
        ["bash", checkout / "runs" / script, *words],
        env=place | variables,
        cwd=checkout,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, (use, result.stderr)
    commands = [line.split("\037")[:-1] for line in log.read_text().split("\036")[:-1]]
    assert commands, use
    return commands


def check_program(words: list[str], monkeypatch) -> None:
    """Check the arguments of Python: a module or a file of runs/ that exists, with options that it has."""
    if words[0] in ("-", "-c") or words[:2] == ["-m", "pip"]:  # tests/tools/test_benchmarks.py reads the sources of `-`
        return
    if words[:2] == ["-m", "trickformer"]:
        check_command(shlex.join(words[1:]))
        return
    is_module, words = words[0] == "-m", words[words[0] == "-m" :]
    if not is_module and "argparse" not in (ROOT / words[0]).read_text():
        return
    parse = argparse.ArgumentParser.parse_args

    def parse_and_stop(self, *arguments):
        parse(self, *arguments)
        raise ParsedOptions

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_and_stop)
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(ParsedOptions), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # runpy's, if another test has imported the module
        if is_module:
            runpy.run_module(words[0], run_name="__main__")
        else:
            runpy.run_path(str(ROOT / words[0]), run_name="__main__")


def test_all_scripts_are_checked():
    assert set(USES) == {path.name for path in RUNS.glob("*.sh")}


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("script", USES)
def test_commands_of_a_script_exist(script, checkout, monkeypatch):
    commands = [command for use in USES[script] for command in run_script(checkout, script, use)]
    for program, *words in {tuple(command): None for command in commands}:
        if program == "trickformer":
            check_command(shlex.join([program, *words]))
        else:
            with monkeypatch.context() as patch:
                check_program(words, patch)
