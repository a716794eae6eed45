"""Some seconds of random calls of the core: `python -m tests.faults.core` makes as many as one likes."""

from __future__ import annotations

import random

import pytest

from tests.faults import core, core_examples
from tests.faults.core_signatures import targets


@pytest.mark.slow
def test_random_calls_neither_crash_nor_hang_nor_surprise():
    report = core.fuzz(6000, seed=7, chunk=3000)
    assert not report.faults, "\n".join(report.faults)
    assert len(report.calls) > 0.9 * len(targets())


def test_examples_are_good_and_every_class_has_objects():
    """A new binding that is not reached is told here: give an example of it in faults/core_examples*.py."""
    rng = random.Random(3)
    examples, pool = core_examples.make(rng)
    found = targets()
    assert not set(examples) - set(found)
    caller = core.Caller("3")
    for name, makers in examples.items():
        returned = 0
        for _ in range(40):
            try:
                caller.invoke(found[name], makers[0]())
            except (ValueError, IndexError, RuntimeError):  # a random one may be out of place, or too large to solve
                continue
            returned += 1
            break
        assert returned, f"no example of {name} is good"
    types = {p.type.removesuffix(" | None") for t in found.values() for p in t.parameters}
    asked = {kind for kind in types if kind.startswith("trickformer._core")}
    made = {f"trickformer._core.{t.name}" for t in found.values()} | {t.returns for t in found.values()}
    assert not asked - set(pool) - made
