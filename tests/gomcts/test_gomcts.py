"""The C++ search against a plain Python twin of Algorithm 3, and what its options promise."""

from __future__ import annotations

import functools
import math
import random
from itertools import pairwise

import numpy as np
import pytest
from support.gomcts_twin import Twin
from support.play import hearts_with, random_playout
from support.searches import FakeBackend, own_turns

from trickformer import games, players, tokenizers
from trickformer.base import TrickformerError
from trickformer.gomcts.options import SearchOptions
from trickformer.gomcts.search import SearchResult, search
from trickformer.models.backend import Prefix, advance, load_backend


@pytest.fixture(scope="module")
def tokenizer(hearts):
    return tokenizers.make(hearts)


def positions(hearts, n: int, seed: int = 3):
    """(state, view) at `n` own turns with a choice, passing and early and late plays among them."""
    rng, found = random.Random(seed), []
    while len(found) < n:
        states = [s for s in random_playout(hearts.deal(seed, rng.randrange(100)), rng) if not s.is_terminal()]
        state = rng.choice(states)
        view = hearts.view(state, state.current_player())
        if len(view.legal) > 1:
            found.append((state, view))
    return found


def run_search(tokenizer, hearts, view, options, seed, bias):
    backend = FakeBackend(tokenizer, bias)
    tokens = tokenizer.encode(view)
    root = backend.root(tokens)
    (result,) = search(backend, hearts.outcomes.values, [tokenizer.tracker(tokens)], np.array([root]), [seed], options)
    assert list(backend.sequences) == [root], "nodes were not given back"
    return result, backend


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1, 14])
def test_an_imagined_own_turn_without_a_legal_card(steps):
    """While passing, the model imagines that it is to lead a club and holds none; the twin is followed there too."""
    game = hearts_with(can_lead_any_club=True)
    tokenizer = tokenizers.make(game)
    clubless = 0
    for index in range(200):
        if clubless == 11:
            break
        view = game.view(game.deal(12, index), 0)
        clubs = [c for c in view.events[1].seen if c % 4 == 0]
        if len(clubs) > 1 or not view.legal or index % 4 == 0:
            continue
        clubless += 1
        options = SearchOptions(runs=40, steps=steps)
        result, backend = run_search(tokenizer, game, view, options, index, 0.0)
        children = Twin(tokenizer, backend.model, game.outcomes.values, options, index).run(
            tuple(int(t) for t in tokenizer.encode(view))
        )
        assert result.visits.tolist() == [visits for _, visits in children.values()], f"deal {index}"
    assert clubless > 10


@pytest.mark.slow
@pytest.mark.parametrize("bias", [0.0, 9.0])
@pytest.mark.parametrize(
    "options",
    [
        SearchOptions(runs=40),
        SearchOptions(runs=30, steps=14, mu=0.05),
        SearchOptions(runs=30, steps=14),
        SearchOptions(runs=30, steps=3, legal=True, threshold=0.2),
        SearchOptions(runs=25, steps=0, c=1.5, threshold=0.9),
    ],
    ids=lambda o: f"runs={o.runs},steps={o.steps},legal={o.legal}",
)
def test_visits_and_values_equal_the_twin(hearts, tokenizer, options, bias):
    illegal = 0
    for number, (_, view) in enumerate(positions(hearts, 6)):
        result, backend = run_search(tokenizer, hearts, view, options, number, bias)
        twin = Twin(tokenizer, backend.model, hearts.outcomes.values, options, number)
        children = twin.run(tuple(int(t) for t in tokenizer.encode(view)))
        assert result.tokens.tolist() == list(children), f"position {number}"
        assert result.visits.tolist() == [visits for _, visits in children.values()], f"position {number}"
        np.testing.assert_allclose(result.values, [value for value, _ in children.values()], rtol=1e-9, atol=1e-9)
        assert result.illegal == twin.illegal
        illegal += result.illegal
    if options.legal:
        assert illegal == 0
    elif options.steps == 14 and bias == 0.0:
        assert illegal > 100


class Noting:
    """A backend that remembers each node's sequence, and holds the features it is given equal to the tokenizer's."""

    def __init__(self, backend, tokenizer):
        self.backend, self.tokenizer = backend, tokenizer
        self.n_features = backend.n_features
        self.sequences = {-1: ()}
        self.values_asked = 0

    def extend(self, parents, tokens, lengths=None, features=None):
        before, sequences = list(parents), []
        if lengths is not None:  # one root
            sequences = [tuple(tokens[: i + 1].tolist()) for i in range(len(tokens))]
        else:
            sequences = [(*self.sequences[int(p)], int(t)) for p, t in zip(before, tokens)]
        for sequence, row in zip(sequences, features, strict=True):
            assert np.array_equal(row, self.tokenizer.tracker(np.array(sequence)).features())
        nodes = self.backend.extend(parents, tokens, lengths, features)
        self.sequences.update(zip(nodes.tolist(), sequences, strict=True))
        return nodes

    def policy(self, nodes):
        return self.backend.policy(nodes)

    def values(self, nodes):
        self.values_asked += len(nodes)
        return self.backend.values(nodes)

    def action_values(self, nodes):
        return self.backend.action_values(nodes)

    def release(self, nodes):
        self.backend.release(nodes)


def feed(backend, tokenizer, tokens):
    """The nodes of a sequence with its features; it may be one that no deal explains, end tokens amid it."""
    tracker, features = tokenizer.tracker([]), []
    for token in tokens.tolist():
        tracker.push(token)
        features.append(tracker.features())
    return backend.extend(np.array([-1], np.int32), tokens, np.array([len(tokens)], np.int32), np.array(features))


def asked_whole(backend, tokenizer):
    """sequence -> logits, values and action values of the backend, each sequence fed by itself from its start."""

    @functools.cache
    def model(sequence):
        nodes = feed(backend, tokenizer, np.array(sequence, np.int32))
        last = nodes[-1:]
        actions = backend.action_values(last)[0] if backend.has_action_values else None
        found = backend.policy(last)[0], backend.values(last)[0], actions
        backend.release(nodes)
        return found

    return model


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hearts", "skat", "crew", "hanabi"])
@pytest.mark.parametrize(
    "options",
    [
        SearchOptions(runs=20, steps=2, legal=True),
        SearchOptions(runs=20, steps=2, legal=True, action_values=True, leaf_action_values=True),
        SearchOptions(runs=20, steps=40, legal=True, action_values=True, threshold=0.02),
        SearchOptions(runs=20, steps=1, action_values=True, mu=0.05),
        SearchOptions(runs=20, steps=1, leaf_action_values=True),
        SearchOptions(runs=20, steps=0, leaf_action_values=True, threshold=0.02, legal=True),
        SearchOptions(runs=20, steps=3, rollout_action_values=True, threshold=0.03, temperature=0.5),
        SearchOptions(runs=20, steps=40, rollout_action_values=True, legal=True, temperature=2.0),
    ],
    ids=lambda o: (
        f"steps={o.steps},legal={o.legal},action_values={o.action_values},leaf_action_values={o.leaf_action_values}"
        f",rollout_action_values={o.rollout_action_values}"
    ),
)
def test_a_model_with_features_is_searched_as_the_twin_does(name, options, tiny_features_checkpoint_of):
    """On a tiny random model of float32, whose answers do not depend on how they are asked for."""
    game = games.load(name)
    tokenizer = tokenizers.make(game)
    folder = tiny_features_checkpoint_of(name)
    backend = load_backend(folder, game.outcomes, "float32")
    model = asked_whole(load_backend(folder, game.outcomes, "float32"), tokenizer)
    spread = 0
    for number, view in enumerate(own_turns(game, 3, 8)):
        tokens = tokenizer.encode(view)
        noting = Noting(backend, tokenizer)
        nodes = feed(noting, tokenizer, tokens)
        twin = Twin(tokenizer, model, game.outcomes.values, options, number)
        children = twin.run(tuple(tokens.tolist()))
        for asked in (noting, backend):  # through Python, and within the core
            trackers = [tokenizer.tracker(tokens)]
            (result,) = search(asked, game.outcomes.values, trackers, nodes[-1:], [number], options)
            assert backend.node_count == len(tokens), "nodes were not given back"
            assert result.tokens.tolist() == list(children), f"position {number}"
            assert result.visits.tolist() == [visits for _, visits in children.values()], f"position {number}"
            np.testing.assert_allclose(result.values, [value for value, _ in children.values()], rtol=1e-9, atol=1e-9)
            assert result.illegal == twin.illegal
            if options.legal:
                assert result.illegal == 0
        backend.release(nodes)
        if options.action_values and options.leaf_action_values:
            assert noting.values_asked == 0
        spread += len(children) > 1
    assert spread > 0


@pytest.mark.parametrize("name", ["hearts", "crew"])
def test_waves_of_a_model_with_features_are_legal(name, tiny_features_checkpoint_of):
    """To the end of the game, in waves, many searches at once: none depends on the others."""
    game = games.load(name)
    tokenizer = tokenizers.make(game)
    backend = load_backend(tiny_features_checkpoint_of(name), game.outcomes, "float32")
    options = SearchOptions(runs=30, steps=60, wave=7, legal=True, action_values=True, leaf_action_values=True)
    views = own_turns(game, 4, 3)
    tokens = [tokenizer.encode(view) for view in views]
    prefixes = [Prefix(backend, tokenizer.tracker(np.empty(0, np.int32))) for _ in views]
    roots = advance(prefixes, tokens)
    trackers = [tokenizer.tracker(t) for t in tokens]
    together = search(backend, game.outcomes.values, trackers, roots, [1, 2, 3, 4], options)
    for i, result in enumerate(together):
        (alone,) = search(backend, game.outcomes.values, trackers[i : i + 1], roots[i : i + 1], [i + 1], options)
        assert result.illegal == alone.illegal == 0
        assert result.tokens.tolist() == alone.tokens.tolist() and result.visits.tolist() == alone.visits.tolist()
        assert np.array_equal(result.values, alone.values)


@pytest.mark.parametrize(
    "options, says",
    [
        ("mu=0.5", "mu=0.5 is for legal=false; give legal=false, or leave out mu"),
        ("steps=0,rollout_action_values=true", "rollout_action_values=true is for steps > 0; leave out"),
    ],
)
def test_options_without_effect_are_refused(hearts, options, says):
    """The model of Hearts was trained with impossible tokens masked, so it imagines nothing that mu could punish."""
    with pytest.raises(TrickformerError, match=says):
        players.make(f"gomcts:{options}", hearts)


def test_a_recorded_default_without_effect_is_left_out(hearts):
    assert players.resolve("gomcts:mu=0.01", hearts) == players.resolve("gomcts", hearts)
    free = players.resolve("gomcts:mu=0.5,legal=false", hearts)
    assert "mu=0.5" in free and players.resolve(free, hearts) == free


def test_action_values_of_a_model_without_them_are_refused(hearts, tokenizer, tiny_features_checkpoint_of):
    backend = load_backend(tiny_features_checkpoint_of("hearts", False), hearts.outcomes, "float32")
    ((_, view),) = positions(hearts, 1)
    tokens = tokenizer.encode(view)
    nodes = feed(backend, tokenizer, tokens)
    for option in ("action_values", "leaf_action_values", "rollout_action_values"):
        options = SearchOptions(**{option: True})
        with pytest.raises(ValueError, match="action values"):
            search(backend, hearts.outcomes.values, [tokenizer.tracker(tokens)], nodes[-1:], [0], options)
    assert backend.node_count == len(tokens)


def test_the_move_is_the_highest_mean(hearts, tokenizer):
    for number, (_, view) in enumerate(positions(hearts, 10, seed=5)):
        result, _ = run_search(tokenizer, hearts, view, SearchOptions(runs=50), number, 9.0)
        means = result.values / result.visits
        assert result.best == means.argmax()
        assert result.value == means.max()
        assert result.token in view.legal


def test_squares_are_those_of_the_single_values(hearts, tokenizer):
    """A search of n simulations begins like one of n - 1, so that their difference is the value of the last one."""
    ((_, view),) = positions(hearts, 1, seed=6)
    searches = [run_search(tokenizer, hearts, view, SearchOptions(runs=n, mu=0.0), 1, 9.0)[0] for n in range(1, 41)]
    squares = searches[0].squares.copy()
    for before, after in pairwise(searches):
        squares += (after.values - before.values) ** 2
    np.testing.assert_allclose(searches[-1].squares, squares, rtol=1e-9)
    assert len(squares) > 1 and (searches[-1].squares > searches[0].squares).any()


def statistics(first, second):
    """A search result whose two actions, tokens 10 and 20, had these values."""
    values = [np.asarray(numbers, dtype=float) for numbers in (first, second)]
    return SearchResult(
        tokens=np.array([10, 20], dtype=np.int32),
        values=np.array([v.sum() for v in values]),
        squares=np.array([(v**2).sum() for v in values]),
        visits=np.array([len(v) for v in values], dtype=np.int32),
        illegal=0,
        searched=len(first) + len(second),
        best=int(np.mean(second) > np.mean(first)),
    )


def test_an_anchor_is_beaten_by_standard_errors():
    first, second = [0.0, 1.0, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0, 1.0]
    result = statistics(first, second)
    error = math.sqrt(np.var(first, ddof=1) / 4 + np.var(second, ddof=1) / 5)
    limit = (np.mean(second) - np.mean(first)) / error
    assert result.beats(10, limit - 1e-6) and not result.beats(10, limit + 1e-6)
    assert not result.beats(20, 0.0), "the best action does not beat itself"
    assert not result.beats(30, 0.0), "the search did not try it"
    assert not statistics([0.0], [1.0, 1.0]).beats(10, 0.0), "one value has no error"


def test_a_margin_keeps_the_action_of_argmax(hearts, tiny_features_checkpoint_of):
    """Unless the search's best action has a mean that is clearly higher."""
    checkpoint = tiny_features_checkpoint_of("hearts")
    gomcts, argmax = f"gomcts:checkpoint={checkpoint},runs=40", f"argmax:checkpoint={checkpoint}"
    views = [view for _, view in positions(hearts, 30, seed=7)]

    def actions(spec):
        generators = [np.random.default_rng(i) for i in range(len(views))]
        return [d.action for d in players.make(spec, hearts).act(views, generators, [{} for _ in views])]

    searched, anchors = actions(gomcts), actions(argmax)
    assert searched != anchors == actions(f"{gomcts},anchor_margin=1000")
    some = actions(f"{gomcts},anchor_margin=1")
    assert all(action in pair for action, *pair in zip(some, searched, anchors)) and some != anchors


def test_searches_that_share_passes_do_not_touch_each_other(hearts, tokenizer):
    views = [view for _, view in positions(hearts, 5, seed=8)]
    options = SearchOptions(runs=30, wave=4)
    alone = [run_search(tokenizer, hearts, view, options, i, 9.0) for i, view in enumerate(views)]
    backend = FakeBackend(tokenizer, 9.0)
    tokens = [tokenizer.encode(view) for view in views]
    roots = np.array([backend.root(t) for t in tokens])
    together = search(backend, hearts.outcomes.values, [tokenizer.tracker(t) for t in tokens], roots, range(5), options)
    for one, (other, _) in zip(together, alone):
        assert one.visits.tolist() == other.visits.tolist()
        assert one.values.tolist() == other.values.tolist()
    assert backend.calls < sum(e.calls for _, e in alone)


@pytest.mark.parametrize("wave", [2, 8, 64])
def test_waves_make_every_run_and_fewer_calls(hearts, tokenizer, wave):
    _, view = positions(hearts, 1, seed=2)[0]
    one, slow = run_search(tokenizer, hearts, view, SearchOptions(runs=60), 1, 9.0)
    many, fast = run_search(tokenizer, hearts, view, SearchOptions(runs=60, wave=wave), 1, 9.0)
    # One visit a child for its prediction; one a run for each that chose or sampled a child and was legal.
    assert len(many.tokens) + 60 - many.illegal >= many.visits.sum() >= len(many.tokens) + 59 - many.illegal
    assert one.tokens.tolist() == many.tokens.tolist()
    assert fast.calls < slow.calls


@pytest.mark.parametrize("wave", [3, 10, 40])
def test_virtual_loss_spreads_a_wave(hearts, tokenizer, wave):
    """Runs in flight are visits that each brought c less than the mean, worked out one by one.

    With steps = 0 nothing comes back before the whole wave has chosen. The first wave meets a root without children;
    the second chooses among them."""
    spread = 0
    for number, (_, view) in enumerate(positions(hearts, 8, seed=11)):
        options = SearchOptions(runs=2 * wave, wave=wave, steps=0, legal=True, threshold=0.0, c=0.3)
        result, backend = run_search(tokenizer, hearts, view, options, number, 9.0)
        tokens = tuple(int(t) for t in tokenizer.encode(view))
        means = [float(backend.model((*tokens, t))[1][0]) for t in result.tokens.tolist()]
        flying = [0] * len(means)
        for _ in range(wave):
            n = math.log(len(means) + sum(flying))
            scores = [
                (m + f * (m - options.c)) / (1 + f) + options.c * math.sqrt(n / (1 + f)) for m, f in zip(means, flying)
            ]
            flying[scores.index(max(scores))] += 1
        assert result.visits.tolist() == [1 + f for f in flying], f"position {number}"
        spread += sum(f > 0 for f in flying) > 1
    assert spread > 2


@pytest.mark.slow
def test_more_runs_find_the_better_action(hearts, tokenizer):
    """Where the model's value says nothing and games end soon, search alone must tell the actions apart."""

    class Blind(FakeBackend):
        def model(self, sequence):
            _logits, values = super().model(sequence)
            possible = self.tokenizer.tracker(np.array(sequence)).possible()
            return np.where(possible, 0, -50).astype(np.float32), values * 0

    rng, agreed, asked = random.Random(6), 0, 0
    for index in range(60):
        for state in random_playout(hearts.deal(4, index), rng):
            if len(state.history()) < 53 + (12 if index % 4 else 0) + 44 or state.is_terminal():
                continue
            view = hearts.view(state, state.current_player())
            if len(view.legal) < 2:
                continue
            backend, tokens = Blind(tokenizer, 0.0), tokenizer.encode(view)
            many = SearchOptions(runs=800, steps=20, legal=True, c=0.3)
            results = search(
                backend,
                hearts.outcomes.values,
                [tokenizer.tracker(tokens)] * 2,
                np.array([backend.root(tokens)] * 2),
                [1, 2],
                many,
            )
            margin = np.diff(np.sort(results[0].values / results[0].visits))[-1]
            if margin > 0.05:
                asked += 1
                agreed += results[0].token == results[1].token
            break
        if asked == 8:
            break
    assert asked == 8
    assert agreed == asked


def test_a_search_away_from_the_own_turn_is_refused(hearts, tokenizer):
    state = hearts.deal(1, 0)
    seat = (state.current_player() + 1) % 4
    tracker = tokenizer.tracker(tokenizer.encode(hearts.view(state, seat)))
    with pytest.raises(ValueError, match="own turn"):
        search(FakeBackend(tokenizer, 0.0), hearts.outcomes.values, [tracker], np.array([0]), [0], SearchOptions())
