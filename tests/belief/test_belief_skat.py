"""The worlds of Skat: legal, equal views, reproducible, blind to the deal, exactly counted and exactly uniform."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from itertools import chain, combinations

import numpy as np
import pytest
from scipy.stats import chisquare
from support import skat_oracle as oracle
from support.skat_games import ACTION, games_of
from support.worlds import seat_view

from trickformer import _core, games
from trickformer.base import PUBLIC, Event
from trickformer.belief import sampler
from trickformer.belief.samplers.skat import SkatBelief
from trickformer.games.skat import CARDS, NUM_CARDS, evaluation

P_MIN = 1e-6  # of a chi-square test; seeds are fixed, so that a test passes always or never
FACTORIAL = math.factorial


@pytest.fixture(scope="module")
def skat():
    return games.load("skat")


@pytest.fixture
def belief(skat):
    return sampler(skat)


def row_of(world):
    """A world of the twin's as a row of `hidden`; discards that the viewer does not know of are not made in it."""
    dealt = [world.seen[p][1:11] for p in range(3)]
    row = [next((p for p in range(3) if card in dealt[p]), 3) for card in CARDS]
    return (*row, *[*(ACTION[c] for c in world.laid), -1, -1][:2])


def world_of(row, twin, viewer):
    """The twin's game that a row of `hidden` stands for, led to where the viewer stands; None if it cannot be."""
    places = [{card for card, seat in zip(CARDS, row) if seat == p} for p in range(4)]
    if [len(cards) for cards in places] != [10, 10, 10, 2]:
        return None
    away = [CARDS[c] for c in row[NUM_CARDS:] if c >= 0]
    said = oracle.sayings(twin.seen[viewer])
    plays = [c for _, c in twin.played]
    world = oracle.replayed(places[:3], sorted(places[3], key=oracle.DECK.index), said, away, plays)
    return world if world is not None and world.seen[viewer] == twin.seen[viewer] else None


def assignment(row, soloist):
    """Who holds what, discards made: a frozen set for each seat and the skat."""
    places = [{card for card in range(NUM_CARDS) if row[card] == p} for p in range(4)]
    away = {c for c in row[NUM_CARDS:] if c >= 0}
    if away:
        places[soloist] = (places[soloist] | places[3]) - away
        places[3] = away
    return tuple(frozenset(p) for p in places)


# --------------------------------------------------------------------------------------- legal, and equal views


@pytest.mark.slow
def test_worlds_replay_legally_and_look_the_same(skat, belief):
    """Sampled at decisions of all stages and at the end, for every seat; through OpenSpiel and through the twin."""
    rng, stages = random.Random(1), Counter()
    for where, twin, state in games_of(skat, range(500, 506)):
        if rng.random() > (0.12 if twin.stage in ("auction", "play") and twin.result is None else 0.6):
            continue
        for viewer in range(3):
            view = skat.view(state, viewer)
            belief.reset(view)
            worlds = belief.sample(3, np.random.default_rng(1))
            assert worlds.hidden.dtype == np.int16 and worlds.hidden.shape == (3, 34)
            assert worlds.feasible.all() and not worlds.log_weight.any()
            for i in range(3):
                replay = skat.spiel.new_initial_state()
                for action in worlds.history(i):
                    assert action in replay.legal_actions(), f"{where}, seat {viewer}: {worlds.history(i)}"
                    replay.apply_action(action)
                assert skat.view(replay, viewer) == view, f"{where}, seat {viewer}"
                assert skat.view(worlds.state(i), viewer) == view
                assert world_of(worlds.hidden[i].tolist(), twin, viewer) is not None, f"{where}, seat {viewer}"
            truth = belief.truth(state)
            assert np.isfinite(belief.log_prob(truth)).all(), f"{where}, seat {viewer}"
            known = twin.soloist == viewer or twin.stage == "play"
            assert truth.hidden[0].tolist() == [
                *row_of(twin)[:NUM_CARDS],
                *(row_of(twin)[NUM_CARDS:] if known else (-1, -1)),
            ]
            assert skat.view(truth.state(0), viewer) == view
            stages[twin.stage, twin.hand, viewer == twin.soloist, twin.result is not None] += 1
    assert {stage for stage, *_ in stages} == {"auction", "pick-up", "discard", "declare", "announce", "play"}
    for hand in (False, True):
        for soloist in (False, True):
            assert stages["play", hand, soloist, False] > 10


def test_reproducible_and_blind_to_the_true_deal(skat, belief):
    checked = 0
    for seed in range(600, 606):
        for policy in ("modest", "hand"):
            rng = random.Random(seed)
            for where, twin, state in games_of(skat, [seed], [policy]):
                if rng.random() > 0.15 or twin.result is not None:
                    continue
                viewer = rng.randrange(3)
                view = skat.view(state, viewer)
                belief.reset(view)
                worlds = belief.sample(40, np.random.default_rng(seed))
                again = belief.sample(40, np.random.default_rng(seed))
                np.testing.assert_array_equal(worlds.hidden, again.hidden)
                twin_state = worlds.state(0)
                belief.reset(skat.view(twin_state, viewer))
                blind = belief.sample(40, np.random.default_rng(seed))
                np.testing.assert_array_equal(blind.hidden, worlds.hidden, err_msg=where)
                if belief.count() > 1000:
                    assert twin_state.history() != state.history()
                    assert (belief.sample(40, np.random.default_rng(seed + 1)).hidden != worlds.hidden).any()
                checked += 1
    assert checked > 30


# ------------------------------------------------------------------------------------------- exact, and uniform


def check_uniform(belief, view, rows, seed, where):
    """Sampled rows against all rows that there are."""
    belief.reset(view)
    assert belief.count() == len(set(rows)) == len(rows), where
    cells = dict.fromkeys(rows, 0)
    worlds = belief.sample(30 * len(rows), np.random.default_rng(seed))
    for row in worlds.hidden.tolist():
        assert tuple(row) in cells, f"impossible world; {where}"
        cells[tuple(row)] += 1
    if len(rows) > 1:
        assert chisquare(list(cells.values())).pvalue > P_MIN, where
    np.testing.assert_allclose(belief.log_prob(worlds), -math.log(len(rows)))


def endings(skat, policies, seeds, most):
    """Decisions with at most `most` cards still to be played, with a viewer each."""
    rng = random.Random(9)
    for where, twin, state in games_of(skat, seeds, policies):
        if twin.stage == "play" and twin.result is None and 30 - len(twin.played) <= most and rng.random() < 0.5:
            viewer = rng.randrange(3)
            yield f"{where}, seat {viewer} after {twin.seen[viewer]}", twin, state, viewer


def kind_of(twin, viewer):
    ouvert = twin.kind == "null-ouvert" or twin.level == "ouvert"
    return viewer == twin.soloist, twin.hand, ouvert


@pytest.mark.slow
def test_uniform_over_all_histories_of_an_ending(skat, belief):
    """Every deal, every pick-up and both orders of the discards, where these are few enough; every kind of view."""
    met: Counter = Counter()
    nulls = endings(skat, ["null"], range(760, 960), 5)  # few of them last so long
    for where, twin, state, viewer in chain(endings(skat, oracle.POLICIES, range(700, 740), 5), nulls):
        kind = kind_of(twin, viewer)
        hidden = viewer != twin.soloist and not twin.hand
        if met[kind] >= (3 if hidden else 12):
            continue
        rows = [row_of(w) for w in oracle.explaining(twin, viewer, every=False)]
        if hidden:
            if not 1 <= len(rows) <= 6:
                continue
            rows = [row_of(w) for w in oracle.explaining(twin, viewer, every=True)]
            assert len(rows) % 132 == 0
        check_uniform(belief, skat.view(state, viewer), rows, met.total(), where)
        met[kind] += len(rows) > 1
    assert len(met) == 8 and min(met.values()) >= 1, met


def test_uniform_over_the_assignments_of_longer_endings(skat, belief):
    """Up to three cards a hand: the cards by place; and of hidden pick-ups and discards all 132, pooled."""
    pooled, met, sizes = np.zeros(132), Counter(), []
    pairs = {pair: i for i, pair in enumerate(combinations(range(12), 2))}
    for where, twin, state, viewer in endings(skat, ("modest", "strong", "weak", "hand"), range(800, 830), 8):
        kind = kind_of(twin, viewer)
        if met[kind] >= 6:
            continue
        met[kind] += 1
        every = [assignment(row_of(w), twin.soloist) for w in oracle.explaining(twin, viewer, every=False)]
        hidden = viewer != twin.soloist and not twin.hand
        belief.reset(skat.view(state, viewer))
        assert belief.count() == len(set(every)) * (132 if hidden else 1), where
        worlds = belief.sample(30 * len(every), np.random.default_rng(len(sizes)))
        cells = Counter(assignment(row, twin.soloist) for row in worlds.hidden.tolist())
        assert set(cells) <= set(every), where
        if len(every) > 1:
            assert chisquare([cells[a] for a in every]).pvalue > P_MIN, where
        sizes.append(len(every))
        for row in worlds.hidden.tolist() if hidden else ():
            twelve = [c for c in range(NUM_CARDS) if row[c] in (twin.soloist, 3)]
            pair = tuple(i for i, c in enumerate(twelve) if row[c] == 3)
            pooled[2 * pairs[pair] + (row[NUM_CARDS] > row[NUM_CARDS + 1])] += 1
    assert max(sizes) > 200 and len(sizes) > 25
    assert pooled.sum() > 2000
    assert chisquare(pooled).pvalue > P_MIN


def multinomial(*sizes):
    return FACTORIAL(sum(sizes)) // math.prod(map(FACTORIAL, sizes))


def test_counts_before_the_first_card(skat, belief):
    """By formula: the unseen cards among the other places, times 66 pick-ups and two orders once these are hidden."""
    met = set()
    for where, twin, state in games_of(skat, range(10), ("modest", "hand", "null")):
        if twin.played:
            continue
        for viewer in range(3):
            view = skat.view(state, viewer)
            belief.reset(view)
            own, took = twin.soloist == viewer, "pick-up" in twin.seen[viewer]
            shown = twin.stage == "play" and (twin.kind == "null-ouvert" or twin.level == "ouvert")
            if own and took:
                expected = multinomial(10, 10)
            elif shown and not own:
                expected = multinomial(10, 2) * (132 if took else 1)
            else:
                expected = multinomial(10, 10, 2) * (132 if took and twin.stage == "play" else 1)
            assert belief.count() == expected, f"{where}, seat {viewer}"
            worlds = belief.sample(5, np.random.default_rng(0))
            np.testing.assert_allclose(belief.log_prob(worlds), -math.log(expected))
            met.add((twin.stage, own, took, shown))
    assert {stage for stage, *_ in met} == {"auction", "pick-up", "discard", "declare", "announce", "play"}


@pytest.mark.parametrize("taker", [False, True])
def test_cards_that_nothing_is_known_of_lie_anywhere_alike(skat, belief, taker):
    """In the auction and after it: how often each unseen card lies with each seat and in the skat; discards too."""
    n = 20_000
    for _, twin, state in games_of(skat, [3], ["modest"]):
        if twin.played or twin.stage not in ("auction", "play"):
            continue
        viewer = twin.soloist if taker and twin.soloist >= 0 else (twin.soloist + 1) % 3
        view = skat.view(state, viewer)
        belief.reset(view)
        worlds = belief.sample(n, np.random.default_rng(3))
        others = [p for p in range(3) if p != viewer]
        known = {c for e in view.events for c in (*e.seen, e.action)}
        skat_size = 0 if viewer == twin.soloist and "pick-up" in twin.seen[viewer] else 2
        for card in sorted(set(range(NUM_CARDS)) - known):
            counts = np.bincount(worlds.hidden[:, card], minlength=4)
            assert counts[viewer] == 0
            expected = dict.fromkeys(others, 10) | {3: skat_size}
            where = [p for p, size in expected.items() if size]
            total = sum(expected.values())
            assert chisquare(counts[where], [n * expected[p] / total for p in where]).pvalue > P_MIN, card
        if twin.stage == "play" and viewer != twin.soloist:
            assert twin.hand or (worlds.hidden[:, NUM_CARDS:] >= 0).all()
            counts = np.bincount(worlds.hidden[:, NUM_CARDS], minlength=NUM_CARDS)
            unseen = sorted(set(range(NUM_CARDS)) - known)
            assert counts[unseen].sum() == n
            assert chisquare(counts[unseen]).pvalue > P_MIN


def test_log_prob_is_minus_infinity_off_the_support(skat, belief):
    """Two cards exchanged, or a discard replaced, in sampled worlds: refused exactly where the twin refuses."""
    rng = np.random.default_rng(1)
    refused = accepted = 0
    for where, twin, state, viewer in endings(skat, oracle.POLICIES, range(900, 912), 24):
        belief.reset(skat.view(state, viewer))
        worlds = belief.sample(3, rng)
        hidden = worlds.hidden.copy()
        for row in hidden:
            if row[NUM_CARDS] >= 0 and rng.random() < 0.4:
                row[NUM_CARDS + rng.integers(2)] = rng.integers(NUM_CARDS)
            else:
                a, b = rng.integers(NUM_CARDS, size=2)
                row[[a, b]] = row[[b, a]]
        found = np.isfinite(belief.log_prob(replace(worlds, hidden=hidden)))
        for row, good in zip(hidden.tolist(), found):
            world = world_of(row, twin, viewer) if len(set(row[NUM_CARDS:])) == 2 or row[-1] < 0 else None
            same = world is not None and (viewer != twin.soloist or world.laid == twin.laid)
            assert same == good, f"{where}: {row}"
            refused += not good
            accepted += bool(good)
    assert refused > 200 and accepted > 50


def test_rows_that_are_no_world_explain_nothing(skat, belief):
    state = skat.deal(1, 1)
    belief.reset(skat.view(state, 0))
    worlds = belief.sample(4, np.random.default_rng(0))
    hidden = worlds.hidden.copy()
    hidden[0, :NUM_CARDS] = 0
    hidden[1, 5] = 7
    hidden[2, NUM_CARDS] = 3  # nobody has laid anything away yet
    assert np.isfinite(belief.log_prob(replace(worlds, hidden=hidden))).tolist() == [False, False, False, True]


def test_impossible_views_are_refused(skat, belief):
    state = skat.deal(6, 2)
    for action in map(ACTION.get, ("18", "pass", "pass", "hand", "clubs", "plain")):
        state.apply_action(action)
    view = skat.view(state, 2)
    with pytest.raises(ValueError, match="needs a view"):
        sampler(skat).sample(1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="needs a view"):
        sampler(skat).count()
    with pytest.raises(ValueError, match="public"):
        belief.reset(skat.view(state, PUBLIC))
    own = view.events[0].seen
    with pytest.raises(ValueError, match="no deal explains"):
        belief.reset(replace(view, events=(*view.events, Event(0, own[0]))))  # the own card, played by another
    with pytest.raises(ValueError, match="no deal explains"):
        belief.reset(replace(view, events=(replace(view.events[0], seen=own[::-1]), *view.events[1:])))
    with pytest.raises(ValueError, match="no deal explains"):
        belief.reset(replace(view, events=(view.events[0], Event(1, ACTION["hold"]))))
    with pytest.raises(ValueError):
        belief.reset(replace(view, events=(replace(view.events[0], seen=own[:9]),)))
    state.apply_action(state.legal_actions()[0])
    belief.reset(skat.view(state, 2))
    assert belief.count() < multinomial(10, 10, 2)


# ------------------------------------------------------------------------------------------- weighted by the bids


def test_worlds_are_weighted_by_what_the_others_said(skat):
    """In an auction the weight is the product of how likely each says what it said with its ten cards; at play what
    was declared and laid away comes to it, and the true deal is likelier than the mean of uniform ones."""
    search, model, gain = _core.skat_search, _core.skat_search.BidModel(), []
    history = _core.skat.mixed_games(True, 31, 0, 40, 0.0)[0]
    belief = SkatBelief(skat)
    for row in history:
        state = skat.spiel.new_initial_state()
        for action in row[row != 255].tolist():
            state.apply_action(action)
            if len(state.history()) not in (NUM_CARDS + 2, NUM_CARDS + 14) or state.is_terminal():
                continue
            viewer = state.current_player()
            view = skat.view(state, viewer)
            belief.reset(view)
            worlds, seen = belief.sample(40, np.random.default_rng(0)), seat_view(skat, view)
            weights = search.log_weight(belief.sampler_of(view), evaluation(), model, True, worlds.hidden)
            assert np.isfinite(weights).all()
            if len(state.history()) == NUM_CARDS + 2:
                for hidden, found in zip(worlds.hidden, weights):
                    expected = 0.0
                    for p, (accepted, refused) in enumerate(search.bid_ranges(seen)):
                        ten = np.flatnonzero(hidden[:NUM_CARDS] == p).tolist()
                        if p != viewer:
                            expected += math.log(
                                search.bid_chance(evaluation(), model, accepted, refused, ten, p, True)
                            )
                    assert found == pytest.approx(expected)
            elif np.ptp(weights) > 0:
                true = belief.truth(state)
                own = search.log_weight(belief.sampler_of(view), evaluation(), model, True, true.hidden)[0]
                gain.append(own - np.log(np.mean(np.exp(weights))))
    assert len(gain) > 20 and np.mean(gain) > 0.1
    off = belief.truth(state)
    off.hidden[0, [0, 1]] = 9
    assert search.log_weight(belief.sampler_of(view), evaluation(), model, True, off.hidden)[0] == -np.inf
