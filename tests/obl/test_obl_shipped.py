"""The shipped network of off-belief learning: whole, described, and as good as its card says."""

from __future__ import annotations

from trickformer import checkpoints
from trickformer.models.hanabi_values import load
from trickformer.studies.obl.hanabi.play import scores

NAME = "hanabi-obl-1"


def test_whole_and_described():
    folder = checkpoints.find(NAME)
    trained = load(folder)
    assert trained.about["method"] == "obl" and trained.about["level"] == 1
    assert (folder / "model.safetensors").stat().st_size < 16 * 2**20
    card = (folder / "README.md").read_text()
    assert "docs/results/obl.md" in card and f"{trained.about['step']:,} of" in card


def test_plays_with_itself_as_its_card_says():
    """Not how well exactly, which a tournament measures: the mean of 100 games is off by some 0.25 points."""
    found = scores([load(checkpoints.find(NAME))] * 2, 20261123, 0, 100)
    assert found.mean() > 15
