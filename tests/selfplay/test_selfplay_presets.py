"""Presets of self-play: the papers' schedules, and those of a laptop."""

from __future__ import annotations

import pytest

from trickformer.base import TrickformerError
from trickformer.plumbing import config
from trickformer.selfplay import nfsp
from trickformer.selfplay.config import SelfPlay


def test_presets_are_schedules_that_options_override():
    paper = SelfPlay(game="hearts", preset="paper")
    assert (paper.bootstrap_hands, paper.iterations, paper.sequences, paper.epochs) == (4_000_000, 10, 500_000, 3)
    assert (paper.learning_rate, paper.policy_weight, paper.dropout) == (1e-4, 9.0, 0.05)
    assert (paper.structured, paper.features, paper.masked, paper.value_classes) == (False, False, False, False)
    assert (paper.value_positions, paper.label_share, paper.action_weight, paper.noise, paper.rollout_network) == (
        0,
        0,
        0,
        0,
        False,
    )
    small = SelfPlay(game="hearts")
    assert small.structured and small.features and small.masked and small.value_classes and small.rollout_network
    assert small.label_share > 0 and small.label_worlds and small.action_weight > 0 and small.noise > 0
    assert SelfPlay(game="hearts", preset="paper", iterations=2).iterations == 2
    assert config.load(SelfPlay, None, {"game": "hearts", "preset": "tiny"}).bootstrap_hands == 3_000


def test_skat_has_schedules_of_its_own():
    """Section 6.2 of the paper: random and scripted players first, twenty iterations, a pool of ten."""
    paper = SelfPlay(game="skat", preset="paper")
    assert (paper.bootstrap, paper.iterations, paper.pool) == (["random", "rules"], 20, 10)
    assert (paper.bootstrap_hands, paper.sequences, paper.epochs) == (4_000_000, 500_000, 3)
    assert SelfPlay(game="skat(scores=value)", preset="paper").pool == 10
    small = SelfPlay(game="skat")
    assert small.seats_kept == 3 and small.features and small.label_worlds and not small.rollout_network
    assert small.bootstrap.count("rules") == 7 * small.bootstrap.count("random") == 7
    hearts = SelfPlay(game="hearts")
    assert (hearts.bucket, small.bucket) == (1, 32) and hearts.seats_kept == 2


def test_more_seats_than_a_game_has_cannot_be_kept(tmp_path):
    with pytest.raises(TrickformerError, match="--seats-kept is 4, but skat has 3 seats"):
        nfsp.run(SelfPlay(game="skat", seats_kept=4, out=tmp_path / "x"))
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("game", ["hearts", "skat", "crew"])
def test_paper_small_is_the_papers_learner_without_departures(game: str):
    small, paper = SelfPlay(game=game, preset="paper-small"), SelfPlay(game=game, preset="paper")
    shared = (
        "epochs",
        "bootstrap_epochs",
        "roles",
        "pool",
        "pool_newest",
        "threshold",
        "bootstrap",
        "tries",
        "iterations",
    )
    assert {name: getattr(small, name) for name in shared} == {name: getattr(paper, name) for name in shared}
    departures = ("features", "masked", "value_classes", "structured", "augment", "label_worlds")
    assert not small.rollout_network and not small.expert_iteration
    assert not any(getattr(small, name) for name in departures)
    weights = small.action_weight, small.label_share, small.search_share, small.anchor, small.noise
    assert weights == (0, 0, 0, 0, 0) and small.guests == []
    assert small.epochs == small.bootstrap_epochs == 3


OLD = 'game = "hearts"\npreset = "small"\ntold = true\nquick = false\nquick_window = 7\nfacts = false\n'


def test_a_config_of_version_0_2_is_read(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text(OLD)
    settings = SelfPlay(game="hearts", expert_iteration=True, rollout_network=False, features=False)
    # Without effect here, so only a file may set it.
    settings = settings.model_copy(update={"rollout_network_window": 7})
    assert config.load(SelfPlay, file, {}) == config.read(SelfPlay, file) == settings
    written = config.dump(settings)
    assert "expert_iteration = true" in written and "told" not in written and "quick" not in written
    assert config.load(SelfPlay, file, {"quick": True}).rollout_network
    file.write_text(OLD + "features = true\n")
    with pytest.raises(TrickformerError, match="facts is the former name of features"):
        config.load(SelfPlay, file, {})
