"""The shipped networks of off-belief learning: whole, described, and about as good as their cards say."""

from __future__ import annotations

import pytest

from trickformer import checkpoints
from trickformer.models.hanabi_values import load
from trickformer.studies.obl.hanabi.play import scores


@pytest.mark.parametrize(("name", "level"), [("hanabi-obl-1", 1), ("hanabi-obl-2", 2), ("hanabi-obl", 3)])
def test_whole_and_described(name, level):
    folder = checkpoints.find(name)
    trained = load(folder)
    assert trained.about["method"] == "obl" and trained.about["level"] == level
    assert (folder / "model.safetensors").stat().st_size < 16 * 2**20
    card = (folder / "README.md").read_text()
    assert "docs/results/obl.md" in card and f"{trained.about['step']:,} of" in card


@pytest.mark.parametrize(("name", "least"), [("hanabi-obl-1", 18), ("hanabi-obl-2", 19.5), ("hanabi-obl", 20)])
def test_plays_with_itself_as_its_card_says(name, least):
    """Not how well exactly, which a tournament measures: the mean of 100 games is off by some 0.25 points."""
    found = scores([load(checkpoints.find(name))] * 2, 20261123, 0, 100)
    assert found.mean() > least
