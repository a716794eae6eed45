"""Self-play on The Crew: first games that are tried until some succeed, and games of models."""

from __future__ import annotations

import numpy as np
import pytest

from trickformer import games, tokenizers
from trickformer.models.backend import load_backend
from trickformer.selfplay import generate
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.generate import Roles


@pytest.fixture(scope="module")
def crew():
    return games.load("crew")


def check(game, data):
    """Every sequence is legal and ends as it says. -> the missions met"""
    tokenizer = tokenizers.make(game)
    assert data.tokens.shape == (len(data), tokenizer.n_positions)
    missions = set()
    for row, outcome in zip(data.tokens.astype(np.int32), data.outcomes):
        tokens = row[: int(np.argmax(row == tokenizer.eos)) + 1]
        missions.add(tokenizer.decode(tokens)[0].action)  # raises on a hand that no deal explains
        assert tokenizer.tracker(tokens).outcome() == outcome
    return missions


def test_first_games_are_tried_until_some_succeed(crew):
    plain = generate.cast_hands(crew, ["random"], 7, 0, 4_000)
    tried = generate.cast_hands(crew, ["random"], 7, 0, 4_000, tries=300)
    assert np.array_equal(tried.tokens[::2], plain.tokens[::2])
    assert tried.outcomes[1::2].mean() > 5 * plain.outcomes[1::2].mean()
    assert len(check(crew, tried[:200])) > 30
    # Of missions that random players hardly ever win there are successes only where they are looked for.
    tokenizer = tokenizers.make(crew)
    hard = [crew.missions[number].tokens for number in (6, 7, 8, 10, 29, 44, 46)]

    def found(data):
        told = (row.tolist() for row in data.tokens)
        hit = [any(row[: len(mission)] == mission for mission in hard) for row in told]
        return int(data.outcomes[hit].sum())

    assert found(tried) > 5 * max(1, found(plain))
    part = generate.cast_hands(crew, ["random"], 7, 1_001, 99, tries=300)
    assert np.array_equal(part.tokens, tried.tokens[1_001:1_100]), "a piece follows from its first hand alone"
    assert tokenizer.eos == tried.tokens.max()


def test_model_hands_of_the_crew(crew, tiny_checkpoint_of):
    backends = [load_backend(tiny_checkpoint_of("crew"), crew.outcomes.values)]
    seats, greedy = np.zeros((24, 4), dtype=int), np.ones((24, 4), dtype=bool)
    greedy[::2] = False
    kept = np.ones((24, 4), dtype=bool)
    data, scores = generate.model_hands(crew, backends, Roles(seats, greedy, kept), seed=3, first=5)
    assert scores.shape == (24, 4) and (scores == scores[:, :1]).all()
    assert len(check(crew, data)) > 5
    assert np.array_equal(data.outcomes, scores.ravel())
    again, _ = generate.model_hands(crew, backends, Roles(seats, greedy, kept), seed=3, first=5)
    assert np.array_equal(again.tokens, data.tokens)


def test_only_the_random_players_of_the_crew_are_tried():
    with pytest.raises(ValueError, match="--tries above 1 is for The Crew"):
        SelfPlay(game="hearts", preset="tiny", tries=2)
    with pytest.raises(ValueError, match="--tries above 1 is for The Crew"):
        SelfPlay(game="crew", preset="tiny", bootstrap=["rules"], tries=2)
    assert SelfPlay(game="crew", preset="paper").tries > 1
