"""How much what was said tells of hidden cards."""

from __future__ import annotations

import numpy as np
import pytest

from trickformer import _core, games
from trickformer.base import Decision, Player, TrickformerError
from trickformer.games.skat import PASS
from trickformer.studies.skat import inference
from trickformer.studies.skat.config import Inference


class Passing(Player):
    def act(self, views, rng, memo):
        return [Decision(PASS if PASS in view.legal else view.legal[0]) for view in views]


def test_the_model_tells_of_the_cards_and_one_of_blind_choices_nothing():
    game, config = games.load("skat"), Inference(deals=12, worlds=50)
    found = np.array(list(inference.measure_information(game, "rules", _core.skat_search.BidModel(), config)))
    assert found.shape == (12, 2)
    assert found[:, 0].mean() > 2
    blind = np.array(list(inference.measure_information(game, "rules", _core.skat_search.BidModel(floor=1), config)))
    np.testing.assert_allclose(blind, 0, atol=1e-9)
    assert np.array_equal(
        found, list(inference.measure_information(game, "rules", _core.skat_search.BidModel(), config))
    )  # by the seed


def test_the_command_reports_each_player(command):
    sizes = ["--deals", 3, "--worlds", 10, "--seed", 5]
    code, out, err = command("skat", "inference", "--players", "rules", "kermit:worlds=1", *sizes)
    assert code == 0, err
    assert "rules" in out and "kermit" in out and "nan" not in out
    other = command("skat", "inference", "--players", "rules", *sizes, "--bid", 30, "--choice", 20, "--floor", 0.5)[1]
    rows = [next(line for line in text.splitlines() if "rules" in line) for text in (out, other)]
    assert rows[0] != rows[1]


def test_bidders_that_cannot_be_measured_are_refused(monkeypatch):
    monkeypatch.setattr(inference, "MOST_PASSED_IN", 3)
    monkeypatch.setattr(inference.players, "make", lambda spec, game: Passing())
    with pytest.raises(TrickformerError, match="quiet passed in 3 of 3 deals; choose one that bids more"):
        inference.command(Inference(deals=2, worlds=2, players=["quiet"]))
    monkeypatch.undo()
    with pytest.raises(TrickformerError, match="needs hidden cards"):
        inference.command(Inference(deals=2, worlds=2, players=["rules", "spiel:state=true"]))
