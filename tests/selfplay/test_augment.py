"""Sequences with colours exchanged: they are what the seats of a game with exchanged colours see."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from support.learning import cpu_accelerator
from support.play import random_playout

from trickformer import games, tokenizers
from trickformer.games.crew import NUM_CARDS
from trickformer.models import presets
from trickformer.models.gpt2 import GPT2PolicyValueModel
from trickformer.selfplay import data as stored
from trickformer.selfplay import generate
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.train import FitOptions, Objective, decisions, fit


class Chosen:
    """A generator that draws what it is told."""

    def __init__(self, number: int):
        self.number = number

    def integers(self, high: int, size: int) -> np.ndarray:
        return np.full(size, self.number % high)


def cards_of(game, tokenizer) -> tuple[int, int]:
    """The token of card 0, and how many chance actions of a game are cards."""
    return (0, NUM_CARDS) if game.name == "crew" else (tokenizer.codec.card, tokenizer.rules.kinds)


def exchanged(game, tokenizer, state, permutation):
    """The same game with other cards and actions, step by step."""
    first, cards = cards_of(game, tokenizer)
    other = game.spiel.new_initial_state()
    for i, step in enumerate(state.full_history()):
        mission = game.name == "crew" and i == 0
        if step.player < 0 and not mission:
            assert step.action < cards
            other.apply_action(int(permutation[first + step.action]) - first)
        else:
            other.apply_action(step.action if mission else int(permutation[step.action]))
    return other


@pytest.mark.parametrize("spec", ["crew", "crew(distress=left)", "crew(mission=12)", "hanabi", "hanabi(players=4)"])
def test_what_seats_of_the_exchanged_game_see(spec):
    game = games.load(spec)
    tokenizer, fast = tokenizers.make(game), tokenizers.fast(game)
    for seed in range(12):
        rng = random.Random(seed)
        *_, state = random_playout(game.deal(rng.randrange(2**30), seed), rng)
        for viewer in range(game.players):
            tokens = tokenizer.encode(game.view(state, viewer))[None]
            found, permutation = fast.augment(tokens, Chosen(rng.randrange(1, 1_000)))
            other = exchanged(game, tokenizer, state, permutation[0])
            assert other.is_terminal() and other.returns() == state.returns(), f"seed {seed}"
            seen = tokenizer.encode(game.view(other, viewer))
            np.testing.assert_array_equal(found[0], seen, err_msg=f"seed {seed}, seat {viewer}")


@pytest.mark.parametrize(("spec", "kinds"), [("crew", 24), ("hanabi(players=2)", 120), ("hanabi(colors=3)", 6)])
def test_every_exchange_is_drawn(spec, kinds):
    game = games.load(spec)
    tokenizer, fast = tokenizers.make(game), tokenizers.fast(game)
    tokens = np.full((2_000, tokenizer.n_positions), tokenizer.eos)
    _, permutation = fast.augment(tokens, np.random.default_rng(1))
    assert (np.sort(permutation, axis=1) == np.arange(len(tokenizer.vocab))).all()
    assert len(np.unique(permutation, axis=0)) == kinds


def test_the_mission_of_the_pink_cards_keeps_its_colours():
    game = games.load("crew(mission=46)")
    tokenizer, fast = tokenizers.make(game), tokenizers.fast(game)
    *_, state = random_playout(game.deal(0, 0), random.Random(0))
    tokens = tokenizer.encode(game.view(state, 1))[None]
    found, permutation = fast.augment(tokens, np.random.default_rng(3))
    np.testing.assert_array_equal(found, tokens)
    np.testing.assert_array_equal(permutation[0], np.arange(len(tokenizer.vocab)))


def test_labels_follow_their_actions():
    game = games.load("crew")
    tokenizer, fast = tokenizers.make(game), tokenizers.fast(game)
    data = generate.cast_hands(game, ["rules"], 5, 0, 20, 2, labels=generate.Labels(0.5, 1))
    other = stored.augment_sequences(data, fast, np.random.default_rng(8))
    assert (other.tokens != data.tokens).any()
    row, position, value, _ = decisions(data, len(tokenizer.vocab))
    row2, position2, value2, labelled2 = decisions(other, len(tokenizer.vocab))
    np.testing.assert_array_equal((row, position), (row2, position2))
    _, permutation = fast.augment(data.tokens, np.random.default_rng(8))
    back = np.take_along_axis(value2, permutation[row], axis=1)
    np.testing.assert_array_equal(back, value)
    # What is labelled can be played: the tracker of the new sequence says so.
    for i in range(0, len(row), 7):
        tracker = tokenizer.tracker(other.tokens[row[i], : position[i] + 1])
        assert (labelled2[i] == tracker.legal()).all()


@pytest.mark.slow
def test_a_fit_on_exchanged_sequences_goes_on_at_the_same_step(tmp_path):
    game = games.load("hanabi")
    tokenizer, fast = tokenizers.make(game), tokenizers.fast(game)
    accelerator = cpu_accelerator()
    data = generate.cast_hands(game, ["partner"], 5, 0, 32, 2, labels=generate.Labels(0.2, 1))

    def run(folder: str, stop_at: int = -1, augment: bool = True) -> dict[str, torch.Tensor]:
        torch.manual_seed(0)
        sizes = len(tokenizer.vocab), tokenizer.n_positions, len(game.outcomes.labels), tokenizer.eos
        model = GPT2PolicyValueModel(presets.config("tiny", *sizes, tokenizer.n_features, True, True))
        options = FitOptions(
            epochs=2, batch_size=16, action_weight=10.0, warmup_steps=2, augment=fast if augment else None
        )
        steps = iter(range(100))
        stop = lambda: next(steps) == stop_at  # noqa: E731
        fixed = data, tokenizer, game.outcomes.classes, 4, accelerator, tmp_path / folder
        fit(Objective(model, options), *fixed, stop=stop)
        return model.state_dict()

    whole, plain = run("whole"), run("plain", augment=False)
    run("broken", stop_at=3)
    again = run("broken")
    assert all(torch.equal(whole[name], again[name]) for name in whole)
    assert not all(torch.equal(whole[name], plain[name]) for name in whole)


def test_a_game_in_which_nothing_is_alike_is_refused():
    with pytest.raises(ValidationError, match="no symmetric colours to permute"):
        SelfPlay(game="hearts", preset="tiny", augment=True)
