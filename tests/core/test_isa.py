"""TRICKFORMER_ISA: one variable for the whole core. What is built for several instruction sets is the same on each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trickformer import _core

PROGRAM = Path(__file__).parents[1] / "support" / "isa_digests.py"
VARIABLE = "TRICKFORMER_ISA"


def run(isa: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != VARIABLE} | ({VARIABLE: isa} if isa else {})
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_results_are_the_same_at_the_baseline_and_at_the_best() -> None:
    found = [run(isa, str(PROGRAM)) for isa in ("base", "")]
    assert [done.stderr for done in found] == ["", ""]
    base, best = (json.loads(done.stdout) for done in found)
    assert {part for part in base if base[part] != best[part]} == set()


@pytest.mark.parametrize("isa", ["base", "v3", "avx512", "avx512bf16", "amx"])
def test_the_variable_names_the_instruction_set(isa: str) -> None:
    done = run(isa, "-c", "from trickformer import _core; print(_core.isa())")
    if done.returncode:
        assert done.stderr.splitlines()[-1].startswith(
            f"ValueError: {VARIABLE}: this CPU has no instruction set '{isa}'"
        )
        assert isa != "base"
    else:
        assert done.stdout.strip() == isa


def test_a_name_that_is_none_is_one_line() -> None:
    done = run("mmx", "-m", "trickformer", "players")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {VARIABLE}: this CPU has no instruction set 'mmx'; choose from: base")
    assert done.stderr.count("\n") == 1
    done = run("mmx", "-c", "from trickformer import _core; _core.hearts.random_hands(_core.hearts.Rules(), 1, 0, 1)")
    assert done.stderr.splitlines()[-1].startswith(f"ValueError: {VARIABLE}: this CPU has no instruction set 'mmx'")


def test_a_wrong_name_is_an_error_in_threads_too() -> None:
    """The set is chosen at the first use, which may be in a thread of the core."""
    program = (
        "import numpy as np; from trickformer import _core; s = _core.skat_solver; n = 8;"
        "hands = np.tile(np.array([[224, 224 << 8, 224 << 16]], np.uint32), (n, 1));"
        "small = lambda value: np.full(n, value, np.int8);"
        "positions = s.Positions(small(4), small(0), hands, np.full((n, 2), -1, np.int8), small(0),"
        " np.tile(np.array([[30, 21]], np.int16), (n, 1)));"
        "print(s.exact(positions, 2)[0].tolist())"
    )
    good, wrong = run("base", "-c", program), run("mmx", "-c", program)
    assert good.returncode == 0, good.stderr
    assert wrong.returncode == 1
    assert wrong.stderr.splitlines()[-1].startswith(f"ValueError: {VARIABLE}: this CPU has no instruction set 'mmx'")


@pytest.mark.skipif(VARIABLE in os.environ, reason="the variable is set")
def test_without_the_variable_it_is_the_best_of_this_cpu() -> None:
    unrounded = "base", "v3", "avx512"
    runs = [isa for isa in unrounded if run(isa, "-c", "from trickformer import _core; _core.isa()").returncode == 0]
    assert _core.isa() == runs[-1]
