"""Every game has a golden playthrough, and plays it exactly."""

import difflib

import pytest
from support import playthrough

from trickformer import games


@pytest.mark.parametrize("name", games.NAMES)
def test_the_golden_playthrough_is_reproduced(name):
    golden = playthrough.path(name)
    assert golden.exists(), f"{name} has no golden playthrough: `python -m tests.support.playthrough {name}` writes it"
    known, now = golden.read_text(encoding="utf-8"), playthrough.text(name)
    difference = difflib.unified_diff(known.splitlines(), now.splitlines(), str(golden), "now", lineterm="")
    assert now == known, "\n".join(difference)


def test_no_playthrough_is_left_of_a_game_that_is_gone():
    assert {p.stem for p in playthrough.FOLDER.iterdir()} == set(games.NAMES)
