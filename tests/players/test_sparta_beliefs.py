"""SPARTA on learned beliefs: what a network says is what is searched; wrong networks are one line."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from support.hanabi_turns import turns

from trickformer import games, players
from trickformer.base import TrickformerError
from trickformer.belief.hanabi import estimators
from trickformer.belief.hanabi import networks as files
from trickformer.belief.hanabi.config import BeliefTraining
from trickformer.belief.hanabi.seat import EstimatedBelief
from trickformer.belief.samplers.hanabi import ExplainedBelief
from trickformer.players.sparta import Options
from trickformer.search.hanabi.positions import HanabiPositions
from trickformer.search.sparta import BlueprintSearchPlayer

TINY = games.load("hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=2,max_life_tokens=2)")
QUICK = {"seq2seq": "worlds=60", "bft": "worlds=60,steps=2,batch=8"}


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    """Fresh networks, by what they say that they were trained on."""
    folder, made = tmp_path_factory.mktemp("networks"), {}
    for name, given in {
        "fits": {},
        "public": {"form": "hmm"},
        "seat": {"seat": 1},
        "players": {"players": ["smart", "holmes"]},
        "variant": {"variant": "5-card-2-hint"},
        "transformer": {"model": "transformer", "heads": 2},
    }.items():
        config, made[name] = (
            BeliefTraining(form="pomdp", hidden=8).model_copy(update=given),
            folder / f"{name}.safetensors",
        )
        files.save(files.network_of(config), config, config.players, made[name])
    return made


def test_with_the_exact_estimator_search_is_that_on_the_filter():
    """Two ways to the same belief: hands filtered in the core, and the estimator followed move by move."""
    exact = partial(ExplainedBelief, TINY, "smart")

    def estimated(_):
        make = partial(estimators.ExactHandEstimator, limit=10**5, tries=10**5)
        return EstimatedBelief(TINY, ["smart", "smart"], make)

    options, looked = Options(worlds=3_000, threshold=0, ucb=False), 0
    one, two = (
        BlueprintSearchPlayer(options, HanabiPositions(TINY, "smart", 0, belief, exact()))
        for belief in (lambda _: exact(), estimated)
    )
    memo: dict = {}
    for number, (_, view) in enumerate(turns(TINY, "smart", 51, deals=6)):
        if view.viewer or len(view.legal) < 2:
            continue
        (a,), (b,) = (
            p.act([view], [np.random.default_rng(number)], [m]) for p, m in ((one, {}), (two, memo))
        )  # one memo for all games: a belief that the view does not go on from begins anew
        assert a.value is not None and b.value is not None
        assert abs(a.value - b.value) * TINY.rules.kinds < 0.1, number
        assert b.illegal == 0 and b.searched == 3_000
        looked += 1
    assert looked > 10


@pytest.mark.slow
@pytest.mark.parametrize("belief", ["seq2seq", "bft"])
def test_hidden_cards_change_nothing(belief, networks):
    """And a player that meets a position in the middle of a game decides as one that has followed it, but for what bft
    draws on the way."""
    game, exchanged, searched = games.load("hanabi"), 0, 0
    sparta = players.make(f'sparta:{QUICK[belief]},belief={belief},checkpoint="{networks["fits"]}"', game)
    memo: dict = {}
    for number, (state, view) in enumerate(turns(game, "smart", 8, deals=1)):
        twin = game.exchange(state, view, np.random.default_rng(number))
        if twin is None or number % 5:
            continue
        (one,), (two,) = (sparta.act([game.view(s, 0)], [np.random.default_rng(number)], [{}]) for s in (state, twin))
        assert one == two, number
        (going_on,) = sparta.act([view], [np.random.default_rng(number)], [memo])
        assert belief == "bft" or going_on == one, number
        searched += one.searched
        assert one.illegal < one.searched or len(view.legal) == 1
        exchanged += 1
    assert exchanged > 2 and searched >= 60 * exchanged - 60


@pytest.mark.parametrize(
    ("game", "spec", "says"),
    [
        ("hanabi", "belief=seq2seq", "need checkpoint=DIR"),
        ("hanabi", "belief=seq2seq,checkpoint={public}", "trained for hmm on 5-card-8-hint, not for pomdp"),
        ("hanabi", "belief=bft,checkpoint={seat}", "trained for seat 1, not for seat 0"),
        ("hanabi", "belief=bft,checkpoint={players}", "trained on smart and holmes, not on the blueprint smart"),
        ("hanabi", "belief=bft,checkpoint={fits},blueprint=partner:style=piers", "not on the blueprint piers"),
        ("hanabi", "belief=seq2seq,checkpoint={variant}", "on 5-card-2-hint, not for pomdp on 5-card-8-hint"),
        ("hanabi", "belief=seq2seq,checkpoint={transformer}", "is a transformer"),
        ("hanabi", "belief=seq2seq,checkpoint=nowhere", "nowhere is no belief network"),
        ("hanabi", "checkpoint={fits}", "is for belief=seq2seq and belief=bft"),
        ("hanabi(players=3)", "belief=seq2seq,checkpoint={fits}", "of two players, not for hanabi"),
    ],
)
def test_networks_that_do_not_fit_are_refused(game, spec, says, networks):
    spec = spec.format(**{name: f'"{path}"' for name, path in networks.items()})
    with pytest.raises(TrickformerError, match=says) as caught:
        players.make(f"sparta:{spec}", games.load(game))
    assert "\n" not in str(caught.value)
