"""Beliefs by odds of where cards lie: exact against all worlds, the uniform ones where odds are equal; heads that learn
them, read and refuse files, and stand behind pimc."""

from __future__ import annotations

import json
import math
import random
import shutil
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from scipy.stats import chisquare
from support.crew_histories import lasting
from support.crew_histories import playout as crew_playout
from support.hearts_oracle import holders

from trickformer import checkpoints, games, players, tokenizers
from trickformer.base import TrickformerError, UnknownNameError, deal_seed
from trickformer.belief import heads, sampler
from trickformer.belief.samplers import MAX_LOG_ODDS, PLACES
from trickformer.games.hearts import TWO_OF_CLUBS
from trickformer.games.skat import PICK_UP
from trickformer.models.backend import load_backend
from trickformer.plumbing import config as configs
from trickformer.selfplay import belief_heads
from trickformer.selfplay.head_config import HeadTraining

P_MIN = 1e-6  # of a chi-square test; seeds are fixed, so that a test passes always or never
GAMES = ("hearts", "skat", "crew")
MANY = 400  # worlds that an ending may have to be listed


def playout(game, rng: random.Random, index: int):
    """States of a uniformly random hand, at each decision."""
    if game.name == "crew":
        for state in crew_playout(game, rng, index, silence=0.8):
            if not state.is_terminal():
                yield state
        return
    state = game.deal(rng.randrange(2**30), index)
    while not state.is_terminal():
        yield state
        state = state.clone()
        state.apply_action(rng.choice(state.legal_actions()))


def odds_of(game, seed: int, scale: float = 1.5) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(scale=scale, size=(1, heads.cards(game), PLACES))
    return np.clip(drawn, -MAX_LOG_ODDS, MAX_LOG_ODDS)


def listed(game, view, seed: int) -> np.ndarray | None:
    """A world of every laying of the hidden cards (of The Crew: every world) that explains the view; None where they
    are many. Found by drawing until all that are counted have come up."""
    belief: Any = sampler(game)
    belief.reset(view)
    n = belief.count() // belief.histories()
    if n > MANY:
        return None
    worlds = belief.sample(40 * n, np.random.default_rng(seed))
    by = worlds.hidden if game.name == "crew" else belief.places(worlds)
    _, first = np.unique(by, axis=0, return_index=True)
    assert len(first) == n, f"{game.name}, seed {seed}, {view}"
    return worlds.hidden[first]


def product(odds: np.ndarray, places: np.ndarray) -> np.ndarray:
    """float64 [n]: the sum of the log odds of where the open cards lie."""
    every = np.broadcast_to(odds, (len(places), *odds.shape))
    at = np.take_along_axis(every, np.maximum(places, 0)[..., None].astype(np.int64), axis=-1)[..., 0]
    return np.where(places >= 0, at, 0).sum(axis=-1)


@pytest.fixture(scope="module", params=[*GAMES, "draw", "distress"])
def game(request, tmp_path_factory):
    """Those of The Crew are missions that last; in two, cards change hands unseen."""
    if request.param in ("hearts", "skat"):
        return games.load(request.param)
    mission, distress = {"crew": (1, "off"), "draw": (2, "off"), "distress": (1, "left")}[request.param]
    return lasting(tmp_path_factory.mktemp("missions"), mission, distress)


@pytest.mark.slow
def test_probabilities_marginals_and_draws_are_those_of_all_worlds(game):
    """Of small endings: the probability of a world is its product of odds over the sum of all of them."""
    rng, checked, many = random.Random(5), 0, 0
    for index in range(200):
        states = list(playout(game, rng, index))
        for state in states[-12:]:
            viewer = rng.randrange(game.players)
            view = game.view(state, viewer)
            try:
                worlds = listed(game, view, seed=index)
            except ValueError:  # a view in the middle of what is seen at once
                continue
            if worlds is None or len(worlds) < 2:
                continue
            where = f"hand {index}, seat {viewer}, history {state.history()}"
            odds = odds_of(game, seed=index)
            belief: Any = sampler(game, lambda views, odds=odds: np.repeat(odds, len(views), axis=0))
            belief.reset(view)
            deals = belief.sampler_of(view)
            places = deals.places(worlds)
            weight = np.exp(product(odds[0], places))
            expected = weight / weight.sum()
            log_p = deals.log_prob(worlds) + math.log(belief.histories())
            np.testing.assert_allclose(np.exp(log_p), expected, rtol=1e-9, err_msg=where)
            marginals = np.stack([((places == p) * expected[:, None]).sum(axis=0) for p in range(PLACES)], axis=1)
            np.testing.assert_allclose(belief.marginals(), marginals, atol=1e-12, err_msg=where)
            drawn = belief.sample(2000, np.random.default_rng(index))
            uniform: Any = sampler(game)
            uniform.reset(view)
            assert uniform.sampler_of(view).is_consistent(drawn.hidden).all(), where
            by, key = (drawn.hidden, worlds) if game.name == "crew" else (belief.places(drawn), places)
            cell = {row.tobytes(): i for i, row in enumerate(key)}
            counts = np.bincount([cell[row.tobytes()] for row in by], minlength=len(key))
            enough = 2000 * expected >= 5
            if (~enough).any():
                counts = np.append(counts[enough], counts[~enough].sum())
                expected = np.append(expected[enough], expected[~enough].sum())
            if len(counts) > 1:
                assert chisquare(counts, 2000 * expected).pvalue > P_MIN, where
            checked, many = checked + 1, many + (len(worlds) > 10)
            break
        if checked >= 8:
            break
    assert checked >= 8 and many >= 2, f"{game.name}: endings with hidden cards: {checked}, with many: {many}"


def test_equal_odds_are_the_uniform_belief(game):
    """All through hands, for every seat; worlds drawn by odds explain the view and look the same."""
    rng = random.Random(11)
    for index in range(3):
        for state in playout(game, rng, index):
            if rng.random() > 0.12:
                continue
            view = game.view(state, state.current_player())
            where = f"hand {index}, history {state.history()}"
            uniform: Any = sampler(game)
            uniform.reset(view)
            level = np.full((1, heads.cards(game), PLACES), 1.25)
            same: Any = sampler(game, lambda views, level=level: level)
            same.reset(view)
            worlds = uniform.sample(4, np.random.default_rng(index))
            np.testing.assert_allclose(same.log_prob(worlds), uniform.log_prob(worlds), rtol=1e-9, err_msg=where)
            np.testing.assert_allclose(same.log_prob(worlds), -math.log(uniform.count()), rtol=1e-9, err_msg=where)
            np.testing.assert_allclose(same.marginals(), uniform.marginals(), atol=1e-9, err_msg=where)
            extreme = odds_of(game, index, scale=20.0)  # most of them at the limit
            learned: Any = sampler(game, lambda views, odds=extreme: odds)
            learned.reset(view)
            drawn = learned.sample(4, np.random.default_rng(index))
            assert uniform.sampler_of(view).is_consistent(drawn.hidden).all(), where
            assert np.isfinite(learned.log_prob(drawn)).all(), where
            assert game.view(drawn.state(0), view.viewer) == view, where
            total, places = learned.marginals().sum(axis=1), learned.places(drawn)
            np.testing.assert_allclose(total, (places[0] >= 0).astype(float), atol=1e-9, err_msg=where)
            truth = learned.truth(state)
            assert np.isfinite(learned.log_prob(truth)).all(), where


def held_now(game, belief: Any, view, hidden: np.ndarray) -> np.ndarray:
    """int [n, cards]: the seat that holds each card now in each world, 3 the skat; -1 what was played."""
    if game.name == "hearts":
        led = any(e.seen == (TWO_OF_CLUBS,) for e in view.events[2:])
        return holders(hidden, view.events[0].action) if led else hidden[:, :52]
    if game.name == "crew":
        at = np.full((len(hidden), heads.cards(games.load("crew"))), -1)
        for row, state in zip(at, belief.sampler_of(view).states(hidden)):
            for p in range(4):
                row[list(state.hand(p))] = p
        return at
    at, laid = hidden[:, :32].astype(int), hidden[:, 32:]
    soloist = next((e.actor for e in view.events if e.action is not None and e.action == PICK_UP), -1)
    for row, cards in zip(at, laid):
        if (cards >= 0).all():
            row[row == 3] = soloist
            row[cards] = 3
    return at


def test_places_are_the_seats_after_the_own_one_and_the_skat(game):
    rng, seen = random.Random(3), 0
    for index in range(4):
        for state in playout(game, rng, index):
            if rng.random() > 0.1:
                continue
            viewer = state.current_player()
            view = game.view(state, viewer)
            belief: Any = sampler(game)
            belief.reset(view)
            worlds = belief.sample(3, np.random.default_rng(index))
            at = held_now(game, belief, view, worlds.hidden)
            skat = (at == 3) & (game.name == "skat")
            expected = np.where(skat, 2, (at - viewer) % game.players - 1)
            places = belief.places(worlds)
            open_ = places >= 0
            assert (places[open_] == expected[open_]).all(), f"hand {index}, history {state.history()}"
            seen += int(open_.sum())
    assert seen > 800


def test_odds_out_of_range_or_of_another_shape_are_refused():
    game = games.load("hearts")
    belief: Any = sampler(game)
    seat = belief.seat_view(game.view(game.deal(1, 0), 0))
    for bad in (np.full((52, 3), 8.5), np.full((52, 3), np.nan)):
        with pytest.raises(ValueError, match="log odds are out of range"):
            belief.sampler_class(seat, bad)
    with pytest.raises(ValueError, match=r"\[52, 3\]"):
        belief.sampler_class(seat, np.zeros((40, 3)))
    with pytest.raises(ValueError, match="does not explain"):
        belief.sampler_class(seat).places(np.zeros((1, 64), dtype=np.int16))


# ---- heads


@pytest.fixture(scope="module", params=GAMES)
def trained(request, tmp_path_factory):
    """The config and the result of a short training."""
    out = tmp_path_factory.mktemp("heads") / request.param
    config = learn(request.param, out)
    return config, belief_heads.command(config, resume=False)


def learn(name: str, out) -> HeadTraining:
    sizes: dict[str, Any] = {"hidden": 8, "hands": 2, "positions": 4, "steps": 4, "save_every": 2, "held_out": 3}
    return HeadTraining(game=name, checkpoint=f"{name}-small", out=out, **sizes)


def test_the_gradient_is_that_of_the_loss(trained):
    config, _ = trained
    game = games.load(config.game)
    batch = belief_heads.positions(game, config, 100, 2)
    deals = sampler(game).sampler_class
    rng = np.random.default_rng(7)
    odds = rng.normal(size=(len(batch), heads.cards(game), PLACES))
    way, step = rng.normal(size=odds.shape), 1e-5
    _, gradient = belief_heads.likelihood(deals, batch, odds)
    up, down = (belief_heads.likelihood(deals, batch, odds + s * step * way)[0] for s in (1, -1))
    np.testing.assert_allclose((gradient * way).sum(axis=(1, 2)), (up - down) / (2 * step), atol=1e-6)


@pytest.mark.slow
def test_a_training_that_was_stopped_ends_in_the_same_weights(trained, tmp_path):
    config, _ = trained
    again = config.model_copy(update={"out": tmp_path / "again"})
    again.out.mkdir()
    game = games.load(config.game)
    trunk = heads.trunk(config.checkpoint, game)
    steps = belief_heads.run(again, game, trunk)
    for _ in range(3):  # the state on disk is that of step 2
        next(steps)
    del steps
    assert [r["step"] for r in belief_heads.run(again, game, trunk)] == [3, 4]
    a, b = (heads.load(str(c.out), game) for c in (config, again))
    for name, w in a.weights.items():
        np.testing.assert_array_equal(b.weights[name], w)
    assert [json.loads(line)["step"] for line in (config.out / "log.jsonl").read_text().splitlines()] == [1, 2, 3, 4]
    with pytest.raises(TrickformerError, match="already holds a run"):
        belief_heads.command(config, resume=False)
    assert belief_heads.command(config, resume=True) == trained[1]


@pytest.mark.slow
def test_a_training_continues_from_any_folder(tmp_path, monkeypatch):
    """Its checkpoint was named by a relative path."""
    shutil.copytree(checkpoints.find("hearts-small"), tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    config = learn("hearts", tmp_path / "run").model_copy(update={"checkpoint": "model"})
    result = belief_heads.command(config, resume=False)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    again = configs.load(HeadTraining, tmp_path / "run" / "config.toml", {"out": tmp_path / "run"}, True)
    assert belief_heads.command(again, resume=True) == result


@pytest.mark.slow
def test_a_training_goes_on_with_the_model_that_it_began_with(trained, tmp_path):
    shutil.copytree(checkpoints.find(trained[0].checkpoint), tmp_path / "model")
    config = learn(trained[0].game, tmp_path / "run").model_copy(update={"checkpoint": str(tmp_path / "model")})
    result = belief_heads.command(config, resume=False)
    assert belief_heads.command(config, resume=True) == result
    weights = bytearray((tmp_path / "model" / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (tmp_path / "model" / "model.safetensors").write_bytes(weights)
    with pytest.raises(TrickformerError, match=f"begun with another {config.checkpoint};"):
        belief_heads.command(config, resume=True)


def test_the_figures_are_of_the_held_out_hands(trained):
    config, result = trained
    game = games.load(config.game)
    head = heads.load(result["file"], game)
    batch = belief_heads.positions(game, config, config.steps * config.hands, config.held_out)
    assert result["hands"] == config.held_out and result["positions"] == len(batch)
    by_hand = {}
    for position in batch:
        learned, uniform = sampler(game, head), sampler(game)
        for belief, at in ((uniform, 0), (learned, 1)):
            belief.reset(position.view)
            world = belief.sample(1, np.random.default_rng(0))
            world.hidden[:] = position.hidden
            nats = -belief.log_prob(world)[0] - math.log(belief.histories())
            by_hand.setdefault(position.hand, np.zeros(3))[at] += nats
        by_hand[position.hand][2] += (position.places >= 0).sum()
    ratio = np.array([x[:2] / x[2] for x in by_hand.values()])
    assert result["uniform"]["mean"] == pytest.approx(ratio[:, 0].mean())
    assert result["head"]["mean"] == pytest.approx(ratio[:, 1].mean())
    difference = ratio[:, 1] - ratio[:, 0]
    assert result["difference"]["se"] == pytest.approx(difference.std(ddof=1) / math.sqrt(len(difference)))


def test_a_head_says_what_was_trained_and_of_each_view_alone(trained):
    config, result = trained
    game = games.load(config.game)
    head = heads.load(result["file"], game)
    views = [p.view for p in belief_heads.positions(game, config, 50, 2)]
    said = head(views)
    for i, view in enumerate(views):
        np.testing.assert_array_equal(head([view])[0], said[i])
    network = belief_heads.HeadNetwork(head.trunk.backend.width, config.hidden, heads.cards(game))
    network.load_state_dict({name: torch.from_numpy(w) for name, w in head.weights.items()})
    with torch.no_grad():
        np.testing.assert_allclose(said, network(torch.from_numpy(head.trunk.states(views))).numpy(), atol=1e-4)
    assert head.trunk.backend.node_count == 0


def test_hidden_states_are_what_the_heads_of_the_model_read():
    game = games.load("hearts")
    folder = checkpoints.find("hearts-small")
    view = game.view(game.deal(3, 1), 2)
    found = []
    for kind in ("cpp", "torch"):
        backend = load_backend(folder, game.outcomes, dtype="float32", backend=kind)
        tokenizer = tokenizers.make(game)
        tokens = tokenizer.encode(view)
        features = tokenizers.follow(tokenizer, tokens[None])[0][0]
        nodes = backend.extend(np.array([-1], np.int32), tokens, np.array([len(tokens)], np.int32), features)
        found.append(backend.hidden_states(nodes))
        assert found[-1].shape == (len(tokens), backend.width) and found[-1].dtype == np.float32
        with pytest.raises(ValueError, match="not a live node"):
            backend.hidden_states(np.array([999_999], np.int32))
    np.testing.assert_allclose(*found, atol=1e-4)
    assert np.abs(found[0]).max() > 0.1


def test_files_that_are_no_head_are_refused(trained, tmp_path):
    config, result = trained
    game = games.load(config.game)
    other = games.load("skat" if config.game == "hearts" else "hearts")
    with pytest.raises(TrickformerError, match="was trained on"):
        heads.load(result["file"], other)
    with pytest.raises(UnknownNameError, match="unknown belief 'nowhere'"):
        heads.load("nowhere", game)
    with pytest.raises(TrickformerError, match="there are no belief heads of"):
        heads.trunk("hearts-small", games.load("hanabi"))
    file = tmp_path / heads.FILE
    file.write_bytes(b"nothing")
    with pytest.raises(TrickformerError, match="is no belief head"):
        heads.load(str(tmp_path), game)
    about = {"checkpoint": config.checkpoint, "weights": "0" * 64}
    save_file({"hidden.bias": torch.zeros(2)}, file, {heads.METADATA: json.dumps(about)})
    with pytest.raises(TrickformerError, match="other weights"):
        heads.load(str(file), game)
    about["weights"] = heads.trunk(config.checkpoint, game).digest
    save_file({"hidden.bias": torch.zeros(2)}, file, {heads.METADATA: json.dumps(about)})
    with pytest.raises(TrickformerError, match="tensors have other shapes"):
        heads.load(str(file), game)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hearts-small", "skat-small"])
def test_shipped_heads_are_small_described_and_no_worse_than_counting(name):
    assert name in heads.head_checkpoints()
    folder = checkpoints.find(name)
    assert (folder / heads.FILE).stat().st_size < 2**18
    assert "card-beliefs.md" in (folder / "README.md").read_text()
    game = games.load(json.loads((folder / "config.json").read_text())["trickformer"]["game"])
    config = learn(game.name, folder).model_copy(update={"positions": 12, "seed": 99})
    by_hand = belief_heads.judge(config, game, heads.load(name, game), 0, 40)
    found = belief_heads.summary(np.array(list(by_hand.values())))
    difference = found["difference"]
    assert difference["mean"] < (2 * difference["se"] if game.name == "hearts" else 0), found


# ---- pimc


def test_pimc_draws_its_worlds_by_the_head(trained, monkeypatch):
    """A head is asked for every view that is searched, and a batch is its views one by one."""
    config, result = trained
    game = games.load(config.game)
    small = {"hearts": "worlds=3,runs=30", "skat": "worlds=3", "crew": "worlds=3"}[game.name]
    asked = []
    head = heads.load(result["file"], game)
    monkeypatch.setattr(heads, "load", lambda *_: lambda views: asked.extend(views) or head(views))
    player: Any = players.make(f"pimc:{small},belief={config.out}", game)
    views = [p.view for p in belief_heads.positions(game, config, 70, 2)]
    rngs = lambda: [np.random.default_rng(i) for i in range(len(views))]  # noqa: E731
    together = player.act(views, rngs(), [{} for _ in views])
    alone = [player.act([v], [r], [{}])[0] for v, r in zip(views, rngs())]
    assert together == alone
    searched = [v for v, d in zip(views, together) if d.visits or (d.value is not None and len(v.legal) > 1)]
    assert searched and all(v in asked for v in searched)


def test_training_deals_are_not_those_of_matches_with_the_same_seed():
    game = games.load("skat")
    config = HeadTraining(game="skat", checkpoint="none", positions=1, seed=1)
    for position in belief_heads.positions(game, config, 0, 4):
        seats = [np.argsort(game.deal(s, position.hand).history()[:32]) // 10 for s in (1, deal_seed(1, 0))]
        assert [np.array_equal(position.hidden[0, :32], dealt) for dealt in seats] == [False, True]


@pytest.mark.parametrize("name", ["skat", "crew"])
def test_pimc_with_odds_that_know_sees_open_cards(name, monkeypatch):
    """Whatever its random numbers, it draws the world that is so, and its solver values that; with equal odds it does
    not."""
    game = games.load(name)
    config = HeadTraining(game=name, checkpoint="none", positions=3, seed=5)
    at = [p for p in belief_heads.positions(game, config, 0, 3) if len(p.view.legal) > 1]
    truth = {p.view: MAX_LOG_ODDS * (2.0 * (p.places[:, None] == np.arange(PLACES)) - 1) for p in at}
    views = list(truth)

    def values(belief: str) -> list[list[float | None]]:
        player: Any = players.make(f"pimc:worlds=4,belief={belief}", game)
        found = []
        for seed in range(3):
            rngs = [np.random.default_rng([seed, i]) for i in range(len(views))]
            found.append([d.value for d in player.act(views, rngs, [{} for _ in views])])
        return found

    monkeypatch.setattr(heads, "load", lambda *_: lambda asked: np.array([truth[view] for view in asked]))
    known = values("knowing")
    assert known[0] == known[1] == known[2]
    assert len({str(v) for v in values("uniform")}) > 1


def test_the_uniform_belief_has_a_name():
    game = games.load("hearts")
    view = game.view(game.deal(3, 1), 2)
    plain, named = (
        players.make(spec, game).act([view], [np.random.default_rng(4)], [{}])
        for spec in ("pimc:worlds=2,runs=10", "pimc:worlds=2,runs=10,belief=uniform")
    )
    assert plain == named


@pytest.mark.parametrize("name", ["hanabi", "mines"])
def test_games_without_worlds_by_odds_refuse_them(name):
    with pytest.raises(TrickformerError, match=f"{name} has no belief that a belief head can weight"):
        sampler(games.load(name), lambda views: np.zeros((len(views), 1, PLACES)))
