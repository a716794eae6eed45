"""The features of The Crew against plain Python, and wherever they come from alike."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.crew_known import SIZES, Course, split
from support.play import random_playout

from trickformer import _core, games, tokenizers
from trickformer.games.crew import (
    APPOINT,
    APPOINT_LAST,
    ASK,
    DRAFT,
    NAME,
    PASS,
    PLAY,
    RADIO,
    RADIO_CARD,
    TILE_FROM,
    TILE_TO,
)
from trickformer.selfplay.generate import cast_hands

pytestmark = pytest.mark.slow

CORE = _core.crew


@pytest.mark.parametrize(("distress", "step"), [("off", 1), ("left", 2), ("right", 5)])
def test_features_are_those_of_the_rules(distress, step):
    """Every mission, by scripted and by random players, at every decision; of each a seat. Some missions show how
    cards pass."""
    stages, rng = set(), random.Random(1)
    for mission in games.load("crew").missions:
        if mission % step and mission not in (11, 23):
            continue
        game = games.load(f"crew(mission={mission},distress={distress})")
        tokenizer = tokenizers.make(game)
        assert tokenizer.n_features == sum(SIZES.values())
        (row,) = CORE.mixed_games(tokenizer.codec, mission, 0, 1, 0.1, 0.2)[0]
        rows = tokenizer.codec.encode(np.repeat(row[None], 4, axis=0), np.arange(4, dtype=np.uint8))
        features, possible = tokenizers.follow(tokenizer, rows, True)
        course = Course(game, row[row != 255])
        for _ in course.walk():
            seat = rng.randrange(4)
            at = len(tokenizer.encode(game.view(course.state, seat))) - 1
            found = split(features[seat, at - course.state.is_terminal()])
            where = f"mission {mission}, seat {seat}, token {at}"
            if course.state.is_terminal():
                won = course.state.returns()[0] > 0
                assert found["result"].tolist() == [won, not won] and found["stage"][12] == 1, where
                continue
            stages.add(course.state.core.phase)
            names = [tokenizer.vocab[token] for token in np.flatnonzero(possible[seat, at])]
            for name, value in course.expected(seat, names).items():
                np.testing.assert_allclose(found[name], value, rtol=1e-5, err_msg=f"{name}: {where}")
    assert stages == {TILE_FROM, TILE_TO, NAME, DRAFT, ASK, APPOINT, APPOINT_LAST, RADIO, RADIO_CARD, PLAY} | (
        {PASS} if distress != "off" else set()
    )


def test_features_are_the_same_step_by_step_and_blind_to_hidden_cards():
    """From whole sequences, a tracker and many seats in step; and of states that a seat cannot tell apart."""
    game, rng = games.load("crew"), random.Random(4)
    tokenizer = tokenizers.make(game)
    data = cast_hands(game, ["rules", "random"], 3, 0, 40, 2)
    tokens = np.asarray(data.tokens)
    features, _ = tokenizers.follow(tokenizer, tokens)
    lengths = (tokens != tokenizer.eos).sum(axis=1)
    seats = _core.Seats(tokenizer.tracker([]), len(tokens))
    for i, row in enumerate(tokens):
        tracker, told = tokenizer.tracker([]), 0
        while told < lengths[i]:
            n = min(rng.randrange(1, 9), lengths[i] - told)
            pushed = seats.push(np.array([i], np.int32), row[told : told + n].astype(np.int32), np.array([n], np.int32))
            for j in range(n):
                tracker.push(int(row[told + j]))
                assert np.array_equal(tracker.features(), features[i, told + j])
            assert np.array_equal(pushed, features[i, told : told + n])
            told += n
        assert not features[i, told:].any()
    twins = 0
    for index in range(60):
        for state in random_playout(game.deal(5, index), rng):
            viewer = rng.randrange(4)
            if rng.random() < 0.85 or state.is_chance_node():
                continue
            view = game.view(state, viewer)
            twin = game.exchange(state, view, np.random.default_rng(index))
            if twin is None:
                continue
            one, other = (tokenizer.tracker(tokenizer.encode(game.view(s, viewer))).features() for s in (state, twin))
            assert np.array_equal(one, other)
            twins += 1
    assert twins > 50
