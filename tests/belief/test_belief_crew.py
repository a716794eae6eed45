"""The worlds of The Crew: legal, equal views, reproducible, blind to the deal, exactly counted and exactly uniform."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare
from support.crew_histories import explaining, lasting, playout
from support.worlds import seat_view

from trickformer import games
from trickformer.base import PUBLIC, Event
from trickformer.belief import sampler
from trickformer.games.crew import COLOUR_CARDS, COMMANDERS_CARD, HIGHEST, NUM_CARDS, PASS, PLAY, RADIO, RADIO_CARD

P_MIN = 1e-6  # of a chi-square test; seeds are fixed, so that a test passes always or never
ROCKET = COLOUR_CARDS  # the first of them


def replay(game, actions, where):
    state = game.spiel.new_initial_state()
    for action in actions:
        assert action in state.legal_actions(), where
        state.apply_action(action)
    return state


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["crew", "crew(distress=left)", "crew(mission=12)", "crew(mission=46,distress=right)"])
def test_worlds_replay_legally_and_look_the_same(spec):
    """Sampled at decisions of all kinds and at the end, for every seat; the states that the core makes are equal."""
    game = games.load(spec)
    belief, rng, met = sampler(game), random.Random(1), Counter()
    for index in range(12):
        for state in playout(game, rng, index):
            if rng.random() > 0.2 and not (state.is_terminal() or state.core.phase == RADIO_CARD):
                continue
            viewer = rng.randrange(4)
            view = game.view(state, viewer)
            where = f"{spec}, seat {viewer}, history {state.history()}"
            belief.reset(view)
            worlds = belief.sample(3, np.random.default_rng(index))
            assert worlds.hidden.dtype == np.int16 and worlds.hidden.shape == (3, 48)
            assert worlds.feasible.all() and not worlds.log_weight.any()
            twins = belief.sampler_of(view).states(worlds.hidden)
            for i, twin in enumerate(twins):
                world = replay(game, worlds.history(i), where)
                assert game.view(world, viewer) == view, where
                for name in (
                    "passed_cards",
                    "drawn_cards",
                    "plays",
                    "tasks",
                    "messages",
                    "phase",
                    "result",
                    "commander",
                ):
                    assert getattr(twin, name) == getattr(world.core, name), f"{name}: {where}"
                assert [twin.hand(p) for p in range(4)] == [world.core.hand(p) for p in range(4)], where
                assert twin.legal_actions() == world.core.legal_actions(), where
            truth = belief.truth(state)
            assert np.isfinite(belief.log_prob(truth)).all(), where
            assert game.view(truth.state(0), viewer) == view
            met[state.core.phase] += 1
    expected = {RADIO, RADIO_CARD, PLAY} | ({PASS} if "distress" in spec else set())
    assert expected <= set(met), met


def test_reproducible_and_blind_to_the_true_deal():
    checked = 0
    for spec in ("crew", "crew(distress=right)", "crew(mission=12)"):
        game, rng = games.load(spec), random.Random(spec)
        belief = sampler(game)
        for index in range(10):
            for state in playout(game, rng, index):
                if rng.random() > 0.15 or state.is_terminal():
                    continue
                viewer = rng.randrange(4)
                belief.reset(game.view(state, viewer))
                worlds = belief.sample(20, np.random.default_rng(index))
                np.testing.assert_array_equal(belief.sample(20, np.random.default_rng(index)).hidden, worlds.hidden)
                twin = worlds.state(0)
                belief.reset(game.view(twin, viewer))
                blind = belief.sample(20, np.random.default_rng(index))
                np.testing.assert_array_equal(blind.hidden, worlds.hidden, err_msg=f"{spec}, {state.history()}")
                if belief.count() > 1000:
                    assert twin.history() != state.history()
                    assert (belief.sample(20, np.random.default_rng(index + 1)).hidden != worlds.hidden).any()
                checked += 1
    assert checked > 60


# ------------------------------------------------------------------------------------------- exact, and uniform


def endings(game, seed, most, wanted, silence=0.85):
    """Decisions with at most `most` cards in others' hands, with a viewer each: `wanted` of each of three kinds,
    before which another has announced a message, has spoken, and others."""
    rng, found, index = random.Random(seed), Counter(), 0
    while found["announced"] < wanted or found["spoken"] < wanted or found["other"] < wanted:
        for state in playout(game, rng, index, silence):
            core, viewer = state.core, rng.randrange(4)
            unseen = sum(len(core.hand(p)) for p in range(4) if p != viewer)
            if state.is_terminal() or unseen > most:
                continue
            announced = core.phase == RADIO_CARD and core.current_player() != viewer
            spoken = any(m for p, m in enumerate(core.messages) if p != viewer)
            kind = "announced" if announced else "spoken" if spoken else "other"
            if found[kind] < wanted and (announced or rng.random() < 0.3):
                found[kind] += 1
                yield state, viewer, f"mission {state.mission.id}, seat {viewer}, history {state.history()}"
        index += 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mission", "distress", "most", "wanted"),
    [(1, "off", 8, 8), (3, "off", 8, 5), (1, "left", 4, 4), (3, "right", 4, 3), (2, "off", 4, 4), (4, "off", 4, 3)],
)
def test_uniform_over_all_histories_of_an_ending(tmp_path, mission, distress, most, wanted):
    game = lasting(tmp_path, mission, distress)
    belief, labels, several = sampler(game), Counter(), 0
    for number, (state, viewer, where) in enumerate(endings(game, 7, most, wanted)):
        rows = [row for row, _ in explaining(state, viewer)]
        assert len(set(rows)) == len(rows)
        view = game.view(state, viewer)
        belief.reset(view)
        assert belief.count() == len(rows), where
        labels.update(m[0] for p, m in enumerate(state.core.messages) if m and p != viewer)
        several += len(rows) > 1
        cells = dict.fromkeys(rows, 0)
        worlds = belief.sample(min(10 * len(rows), 20_000), np.random.default_rng(number))
        for row in worlds.hidden.tolist():
            assert tuple(row) in cells, f"impossible world; {where}"
            cells[tuple(row)] += 1
        np.testing.assert_allclose(belief.log_prob(worlds), -math.log(len(rows)))
        assert belief.sampler_of(view).is_consistent(np.array(rows, dtype=np.int16)).all(), where
        if 1 < len(rows) <= 2000:
            assert chisquare(list(cells.values())).pvalue > P_MIN, where
    assert several > wanted
    assert len(labels) == (1 if mission in (3, 4) else 3), labels


def multinomial(*sizes):
    return math.factorial(sum(sizes)) // math.prod(map(math.factorial, sizes))


def test_counts_before_the_first_card_by_formula():
    """The unseen cards in three hands; of each that has passed a card on, one of those that are no rockets."""
    met: Counter = Counter()
    for spec in ("crew(mission=1)", "crew(mission=1,distress=left)"):
        game = games.load(spec)
        belief, rng = sampler(game), random.Random(4)
        for index in range(8):
            for state in playout(game, rng, index, silence=1):
                core = state.core
                if core.plays:
                    break
                for viewer in range(4):
                    belief.reset(game.view(state, viewer))
                    others = [(viewer + i) % 4 for i in (1, 2, 3)]
                    dealt = belief.truth(state).hidden[0, :NUM_CARDS] == viewer
                    commander = [int(p == core.commander) for p in others]
                    # The card that the own right neighbour has passed on.
                    received = [int(bool(core.distress) and core.phase > PASS and p == others[2]) for p in others]
                    rockets = int((~dealt[ROCKET:COMMANDERS_CARD]).sum())
                    expected = count_by_rockets(commander, received, rockets, passes_open(core, viewer, others))
                    assert belief.count() == expected, f"{spec}, seat {viewer}, {state.history()}"
                    met[core.phase] += 1
    assert met[PASS] > 50 and met[RADIO] > 50


def passes_open(core, viewer, others):
    """By other seat: whether it has passed a card that the viewer does not know."""
    if not core.distress or core.phase < PASS:
        return [False] * 3
    if core.phase == PASS:
        return [(p - core.commander) % 4 < core.step for p in others]
    return [(p + core.distress) % 4 != viewer for p in others]


def count_by_rockets(commander, received, rockets, choices):
    """Deals and passes, summed over who was dealt how many of the unknown rockets."""
    total = 0
    for a in range(rockets + 1):
        for b in range(rockets - a + 1):
            split = (a, b, rockets - a - b)
            plain = [10 - k - r - x for k, r, x in zip(commander, received, split)]
            ways = multinomial(*split) * multinomial(*plain)
            for open_, k, x in zip(choices, commander, split):
                ways *= 10 - k - x if open_ else 1
            total += ways
    return total


def test_rows_that_are_no_world_explain_nothing():
    game = games.load("crew(mission=12)")
    belief, rng = sampler(game), random.Random(2)
    refused = kept = 0
    for index in range(40):
        for state in playout(game, rng, index):
            if state.is_terminal() or rng.random() < 0.6:
                continue
            viewer = rng.randrange(4)
            view = game.view(state, viewer)
            belief.reset(view)
            worlds = belief.sample(4, np.random.default_rng(index))
            hidden = worlds.hidden.copy()
            for row in hidden:
                a, b = rng.sample(range(NUM_CARDS), 2)
                row[[a, b]] = row[[b, a]]
                if row[-1] >= 0 and rng.random() < 0.5:
                    row[-rng.randrange(1, 5)] = rng.randrange(NUM_CARDS)
            found = np.isfinite(belief.log_prob(replace(worlds, hidden=hidden)))
            for i, good in enumerate(found):
                twin = replace(worlds, hidden=hidden)
                try:
                    same = game.view(twin.state(i), viewer) == view
                except Exception:
                    same = False
                assert same == good, f"seat {viewer}, history {state.history()}, row {hidden[i].tolist()}"
                refused += not good
                kept += bool(good)
            bad = worlds.hidden.copy()
            bad[0, 3], bad[1, :NUM_CARDS], bad[2, 40] = 7, viewer, 5
            assert np.isfinite(belief.log_prob(replace(worlds, hidden=bad))).tolist() == [False, False, False, True]
            with pytest.raises(ValueError, match="does not explain"):
                belief.sampler_of(view).states(bad)
    assert refused > 100 and kept > 50


def test_impossible_views_are_refused():
    game = games.load("crew(mission=9)")
    belief, state = sampler(game), game.deal(6, 2)
    while state.core.phase != PLAY:
        state.apply_action(state.legal_actions()[-1])
    player = state.current_player()
    viewer = (player + 1) % 4
    view = game.view(state, viewer)
    with pytest.raises(ValueError, match="needs a view"):
        belief.sample(1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="needs a view"):
        belief.count()
    with pytest.raises(ValueError, match="public"):
        belief.reset(game.view(state, PUBLIC))
    own = view.events[2].seen
    for events in (
        (*view.events, Event(player, own[0])),  # the own card, played by another
        (*view.events[:2], replace(view.events[2], seen=own[::-1]), *view.events[3:]),
        (*view.events[:3], Event(player, HIGHEST), *view.events[3:]),
    ):
        with pytest.raises(ValueError, match="no deal explains"):
            belief.reset(replace(view, events=events))
    with pytest.raises(ValueError, match="stops within the deal or another event"):
        belief.reset(replace(view, events=(*view.events[:2], replace(view.events[2], seen=own[:9]))))
    belief.reset(view)
    before = belief.count()
    state.apply_action(state.legal_actions()[0])
    belief.reset(game.view(state, viewer))
    assert belief.count() < before
    assert seat_view(game, game.view(state, viewer)) is not None
