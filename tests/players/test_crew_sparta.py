"""`sparta` at The Crew: missions are played on as states of OpenSpiel are, values are those of all worlds, hidden cards
change nothing, and more missions succeed than by `rules`."""

from collections import Counter

import numpy as np
import pytest
from support.play import decisions
from support.records import comparable
from support.worlds import seat_view

from trickformer import _core, games, players
from trickformer.base import TrickformerError
from trickformer.belief import sampler
from trickformer.belief.samplers.crew import mission_and_actions
from trickformer.games.crew import RADIO
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play

CORE = _core.crew
QUICK = "sparta:worlds=20,threshold=0,multi=true"


def turns(game, seed, deals):
    """States of `rules` at every decision that is one."""
    rules = players.make("rules", game)
    for index in range(deals):
        for state, view in decisions(game, seed, index):
            if len(view.legal) > 1:
                yield state, view
            state.apply_action(rules.act([view], [], [])[0].action)


def slow_result(game, world, action, rules):
    """1 or 0 where a world is played on by `rules`; None where chance has its say."""
    state = world.clone()
    state.apply_action(action)
    while not state.is_terminal():
        if state.is_chance_node():
            return None
        view = game.view(state, state.current_player())
        state.apply_action(rules.act([view], [], [])[0].action)
    return game.scores(state)[0]


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["crew", "crew(mission=12)", "crew(distress=left)"])
def test_missions_played_on_are_those_of_openspiel(spec):
    game, rng, compared = games.load(spec), np.random.default_rng(3), [0, 0]
    rules, belief = players.make("rules", game), sampler(game)
    for number, (_, view) in enumerate(turns(game, 4, 12)):
        if number % 9:
            continue
        belief.reset(view)
        worlds, deals = belief.sample(2, rng), belief.sampler_of(view)
        actions = rng.permutation(view.legal)[:4]
        found = deals.play(worlds.hidden, actions, number)
        assert (found == deals.play(worlds.hidden, actions, number, threads=3)).all()
        for i in range(2):
            for action, result in zip(actions.tolist(), found[i].tolist()):
                slow = slow_result(game, worlds.state(i), action, rules)
                if slow is not None:
                    assert result == slow, (spec, number, i, action)
                    compared[result] += 1
    assert min(compared) > 20, compared


def as_rules(game, world, seat, rules):
    """Whether all but a seat did what `rules` does with what they saw."""
    state = game.spiel.new_initial_state()
    for step in world.full_history():
        if step.player not in (-1, seat):
            (decision,) = rules.act([game.view(state, step.player)], [], [])
            if decision.action != step.action:
                return False
        state.apply_action(step.action)
    return True


def path_of(view):
    return np.array(mission_and_actions(view)[1:], dtype=np.int64)


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "deals"), [("crew", 6), ("crew(mission=12)", 14), ("crew(distress=left)", 6)])
def test_explained_worlds_are_those_in_which_rules_does_what_was_done(spec, deals):
    """All of them where they are few, each as often as any other; a part of them where they are many."""
    game, listed, some = games.load(spec), 0, [0, 0]
    rules, belief = players.make("rules", game), sampler(game)
    for number, (_, view) in enumerate(turns(game, 8, deals)):
        belief.reset(view)
        core, path = belief.sampler_of(view), path_of(view)
        if core.count <= 40 and spec == "crew":
            worlds = belief.sample(1_000, np.random.default_rng(number))
            hidden, first = np.unique(worlds.hidden, axis=0, return_index=True)
            assert len(hidden) == core.count
            good = [as_rules(game, worlds.state(int(i)), view.viewer, rules) for i in first]
            counts = Counter(row.tobytes() for row in core.sample_consistent(path, 1_000, 100_000, number))
            assert counts.keys() == {row.tobytes() for row in hidden[good]}, (spec, number)
            p, n = 1 / sum(good), 1_000
            assert all(abs(k / n - p) < 5 * (p * (1 - p) / n) ** 0.5 + 1e-9 for k in counts.values()), (spec, number)
            listed += 1
        elif number % 8 == 3:
            worlds = belief.sample(4, np.random.default_rng(number))
            for seed in range(4):  # one draw, kept or not
                worlds.hidden[seed] = core.sample(seed, 1)[0]
                slow = as_rules(game, worlds.state(seed), view.viewer, rules)
                assert len(core.sample_consistent(path, 1, 1, seed)) == slow, (spec, number, seed)
                some[slow] += 1
            worlds.hidden[:1] = core.sample_consistent(path, 1, 1_000_000, number)
            assert as_rules(game, worlds.state(0), view.viewer, rules), (spec, number)
    assert min(some) > 2 and (listed > 2 or spec != "crew"), (listed, some)


@pytest.mark.slow
def test_values_over_all_worlds_are_those_of_brute_force():
    game, looked, deviated = games.load("crew(mission=9)"), 0, 0
    sparta, rules = (
        players.make("sparta:worlds=4000,threshold=0,ucb=false,multi=true", game),
        players.make("rules", game),
    )
    for state, view in turns(game, 3, 7):
        deals = CORE.DealSampler(seat_view(game, view))
        if deals.count > 24:
            continue
        belief = sampler(game)
        belief.reset(view)
        worlds = belief.sample(2_000, np.random.default_rng(1))
        _, first = np.unique(worlds.hidden, axis=0, return_index=True)
        assert len(first) == deals.count
        exact = {a: np.mean([slow_result(game, worlds.state(int(i)), a, rules) for i in first]) for a in view.legal}
        (decision,) = sparta.act([view], [np.random.default_rng(looked)], [{}])
        assert decision.values == pytest.approx(exact, abs=0.06), state
        blueprint = rules.act([view], [], [])[0].action
        assert exact[decision.action] >= max(exact.values()) - 0.06
        assert decision.gain == pytest.approx(exact[decision.action] - exact[blueprint], abs=0.06)
        looked += 1
        deviated += decision.gain > 0.1
    assert looked > 8 and deviated > 0, (looked, deviated)


@pytest.mark.parametrize("spec", [QUICK, "sparta:worlds=20,threshold=0,belief=exact,tries=2000,assess=20"])
def test_hidden_cards_change_nothing_and_threads_neither(spec):
    game, rng, exchanged = games.load("crew"), np.random.default_rng(6), 0
    sparta, threaded = players.make(spec, game), players.make(spec + ",threads=4", game)
    belief = sampler(game)
    for number, (_, view) in enumerate(turns(game, 7, 5)):
        if number % 6:
            continue
        belief.reset(view)
        twin = game.view(belief.sample(1, rng).state(0), view.viewer)
        answers = [
            player.act([seen], [np.random.default_rng(number)], [{}])[0]
            for player, seen in ((sparta, view), (sparta, twin), (threaded, view))
        ]
        assert answers[0] == answers[1] == answers[2], number
        exchanged += 1
    assert exchanged > 10


def test_contract_at_a_crew_table():
    """Legal, reproducible, and independent of who shares the call; all phases are searched, messages too."""
    game = games.load("crew")
    hands = [Hand(d, (d % 2,) * 4) for d in range(8)]
    casts = [[players.make("sparta:worlds=5,multi=true,assess=5", game), players.make("random", game)] for _ in "ab"]
    together, alone = (list(play(game, cast, hands, 5, tables)) for cast, tables in zip(casts, (8, 1)))
    assert comparable(together) == comparable(alone)
    assert any(record.gains is not None for record in together)


def test_one_seat_searches_and_the_others_play_rules():
    game, spoken = games.load("crew(mission=4)"), 0
    sparta, rules = players.make("sparta:seat=2,worlds=40,threshold=0", game), players.make("rules", game)
    for number, (state, view) in enumerate(turns(game, 2, 6)):
        (decision,) = sparta.act([view], [np.random.default_rng(number)], [{}])
        if view.viewer != 2:
            assert decision == rules.act([view], [], [])[0]
        else:
            assert decision.visits is not None and decision.gain is not None
            spoken += state.core.phase == RADIO
    assert spoken > 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "more", "deals", "errors"), [(26, "15,multi=true", 24, 2), (41, "40,belief=exact,tries=4000", 20, 0)]
)
def test_it_succeeds_more_often_than_rules(number, more, deals, errors):
    game = games.load(f"crew(mission={number})")
    cast = [players.make("rules", game), players.make(f"sparta:worlds={more}", game)]
    hands = [Hand(deal, (kind,) * 4) for deal in range(deals) for kind in (0, 1)]
    won = np.zeros((deals, 2))
    for record in play(game, cast, hands, 1, 1):
        won[record.deal, record.seating[0]] = record.scores[0]
    gain = won[:, 1] - won[:, 0]
    assert gain.mean() > errors * gain.std() / deals**0.5, won.mean(axis=0)


def test_where_nothing_explains_the_others_it_plays_rules():
    game, unexplained = games.load("crew(mission=4)"), 0
    sparta, rules = players.make("sparta:worlds=20,belief=exact,tries=300", game), players.make("rules", game)
    for deal in range(4):
        rng = np.random.default_rng(deal)
        for state, view in decisions(game, 3, deal):
            (decision,) = sparta.act([view], [np.random.default_rng(1)], [{}])
            if view.viewer == 0 and len(view.legal) > 1 and decision.gain is None:
                assert decision == rules.act([view], [], [])[0]
                unexplained += 1
            state.apply_action(int(rng.choice(view.legal)))
    assert unexplained > 3


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("sparta:belief=bft", "belief=bft is for hanabi"),
        ("sparta:belief=exact,multi=true", "belief=exact needs multi=false"),
        ("sparta:listed=3", "listed=3 is for hanabi"),
        ("sparta:steps=3", "steps=3 is for belief=bft"),
        ("sparta:seat=4", "there is no seat 4: seats are 0 to 3"),
        ("sparta:blueprint=pimc", "its blueprint in crew is rules, not 'pimc'"),
    ],
)
def test_what_does_not_fit_is_refused(spec, says):
    with pytest.raises(TrickformerError, match=says) as caught:
        players.make(spec, games.load("crew"))
    assert "\n" not in str(caught.value)


def test_the_core_refuses_worlds_and_actions_that_are_none():
    game = games.load("crew(mission=4)")
    _, view = next(turns(game, 1, 1))
    deals = CORE.DealSampler(seat_view(game, view))
    hidden = deals.sample(1, 2)
    with pytest.raises(ValueError, match="world 0 does not explain the view"):
        deals.play(np.zeros_like(hidden), np.array(view.legal[:1]), 0)
    with pytest.raises(ValueError, match="action 99 is not legal in its position"):
        deals.play(hidden, np.array([99]), 0)
    path = path_of(view)
    _, later = next(turn for turn in turns(game, 1, 1) if turn[1].viewer == view.viewer and len(path_of(turn[1])) > 20)
    plays = path_of(later)
    for other in set(range(36)) - {int(plays[-1])}:  # another card in place of the last play
        with pytest.raises(ValueError, match="course is not consistent"):
            wrong = np.append(plays[:-1], other)
            CORE.DealSampler(seat_view(game, later)).sample_consistent(wrong, 1, 1, 0)
    for wrong in (path[:-1], np.full_like(path, 63), np.append(path, 0)):
        with pytest.raises(ValueError, match="course is not consistent"):
            deals.sample_consistent(wrong, 1, 1, 0)
    other = (view.viewer + 1) % 4
    state = game.deal(1, 0)
    assert state.current_player() != other
    with pytest.raises(ValueError, match="not on turn"):
        CORE.DealSampler(seat_view(game, game.view(state, other))).play(hidden, np.array([0]), 0)
