"""How much what was said tells of hidden cards."""

from __future__ import annotations

import numpy as np

from trickformer import _core, games
from trickformer.studies.skat import inference
from trickformer.studies.skat.config import Inference


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
