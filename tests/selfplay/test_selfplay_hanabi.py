"""Self-play on Hanabi: hands of random players, of players asked one by one, and of models."""

from __future__ import annotations

import numpy as np
import pytest

from trickformer import games, tokenizers
from trickformer.models.backend import load_backend
from trickformer.selfplay import generate
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.generate import Roles


def check(game, data):
    """Every sequence is legal and ends as it says. -> the seats met"""
    tokenizer = tokenizers.make(game)
    assert data.tokens.shape == (len(data), tokenizer.n_positions)
    for row, outcome in zip(data.tokens.astype(np.int32), data.outcomes):
        tokens = row[: int(np.argmax(row == tokenizer.eos)) + 1]
        tokenizer.decode(tokens)  # raises on a game that no deal explains
        assert tokenizer.tracker(tokens).outcome() == outcome
    return set((data.tokens[:, 0] - tokenizer.codec.seat).tolist())


@pytest.mark.parametrize("spec", ["hanabi", "hanabi(players=3,max_life_tokens=12)"])
def test_random_games(spec):
    game = games.load(spec)
    data = generate.cast_hands(game, ["random"], 7, 0, 48)
    assert check(game, data) == set(range(game.players))
    assert np.array_equal(generate.cast_hands(game, ["random"], 7, 30, 18).tokens, data.tokens[30:])
    if game.players == 3:
        assert len(set(data.outcomes.tolist())) > 3, "with so many lives random players pile some cards"


def test_games_of_models(tiny_checkpoint_of):
    game = games.load("hanabi")
    backends = [load_backend(tiny_checkpoint_of("hanabi"), game.outcomes.values)]
    seats, kept = np.zeros((16, 2), dtype=int), np.ones((16, 2), dtype=bool)
    greedy = np.arange(32).reshape(16, 2) % 3 == 0
    data, scores = generate.model_hands(game, backends, Roles(seats, greedy, kept), seed=3, first=5)
    assert scores.shape == (16, 2) and (scores[:, 0] == scores[:, 1]).all()
    assert check(game, data) == {0, 1}
    assert data.outcomes.tolist() == scores.ravel().tolist()
    again, _ = generate.model_hands(game, backends, Roles(seats, greedy, kept), seed=3, first=5)
    assert np.array_equal(again.tokens, data.tokens)


@pytest.mark.parametrize("preset", ["paper", "small", "tiny"])
def test_every_preset_knows_the_game(preset):
    config = SelfPlay(game="hanabi", preset=preset)
    assert config.roles == "all" and config.seats_kept <= games.load(config.game).players
