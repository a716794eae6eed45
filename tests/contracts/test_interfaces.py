"""The abstract base classes of trickformer.base: a class that lacks a method cannot be constructed."""

from __future__ import annotations

import numpy as np
import pytest

from trickformer import games, tokenizers
from trickformer.base import (
    Belief,
    Decision,
    FastGame,
    Game,
    Player,
    Policy,
    Tokenizer,
    Tracker,
    TrickformerError,
    Worlds,
)
from trickformer.selfplay import generate

METHODS = {
    Belief: {"reset", "sample", "log_prob"},
    FastGame: {"encode", "outcomes", "labels", "tables"},
    Game: {"view"},
    Player: {"act"},
    Policy: {"probs"},
    Tokenizer: {"encode", "decode", "token", "action", "tracker"},
    Tracker: {"copy", "my_turn", "legal", "possible", "push", "terminal", "is_legal", "outcome"},
    Worlds: {"state"},
}


@pytest.mark.parametrize("interface", METHODS, ids=lambda kind: kind.__name__)
def test_a_class_that_lacks_a_method_cannot_be_constructed(interface):
    methods = {name: lambda self, *_: None for name in METHODS[interface]}
    type("Whole", (interface,), methods)()
    for name in methods:
        rest = {other: method for other, method in methods.items() if other != name}
        with pytest.raises(TypeError, match=rf"abstract method '?{name}\b"):
            type("Lacking", (interface,), rest)()


class First(Player):
    def act(self, views, rng, memo):
        return [Decision(view.legal[0]) for view in views]


def test_the_defaults_of_a_player():
    player = First()
    assert player.batch is None and not player.needs_state and not player.caveats
    assert not player.memo_is_copyable and not player.has_likelihood
    assert player.end([], (), []) is None and player.look([], []) is None
    with pytest.raises(TrickformerError, match=r"^First does not report how likely"):
        player.log_likelihood([], 0.1)


def test_a_game_has_no_fast_form_by_default(installed):
    game = games.load("oh_hell")
    assert game.fast() is None and tokenizers.fast(game) is None
    assert isinstance(tokenizers.bulk(game), tokenizers.StateGame)
    with pytest.raises(ValueError, match="no symmetric colours to permute"):
        tokenizers.bulk(game).augment(np.zeros((1, 2), np.int16), np.random.default_rng(1))


def test_a_game_may_have_a_fast_form_of_its_own(installed, monkeypatch):
    game = games.load("oh_hell")
    own = tokenizers.StateGame(game, tokenizers.make(game))
    monkeypatch.setattr(type(game), "fast", lambda self: own)
    assert tokenizers.fast(game) is tokenizers.bulk(game) is own
    data = generate.cast_hands(game, ["random"], 1, 0, 2, labels=generate.Labels(1.0, 1))
    assert len(data.tokens) == 2 and len(data.labels) > 0  # the rest of the generic form is as it was


@pytest.mark.parametrize("name", tokenizers.NAMES)
def test_trackers_of_the_core_are_trackers(name):
    assert isinstance(tokenizers.make(games.load(name)).tracker(np.empty(0, np.int32)), Tracker)
