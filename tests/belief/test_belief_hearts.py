"""The deal sampler of Hearts: legal, equal views, reproducible, blind to the deal, exactly uniform."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pyspiel
import pytest
from scipy.stats import chisquare
from support.hearts_oracle import assignments, history, holders, unseen_cards
from support.play import RULE_OPTIONS

from trickformer.base import PUBLIC, Event, View
from trickformer.belief import sampler
from trickformer.belief.samplers import resample
from trickformer.games import hearts

C, D, H, S = range(4)
P_MIN = 1e-6  # of a chi-square test; seeds are fixed, so that a test passes always or never


def card(rank: str, suit: int) -> int:
    return "23456789TJQKA".index(rank) * 4 + suit


def game_of(number: int) -> hearts.Hearts:
    """The game under rule options number 0..255."""
    chosen = ",".join(f"{name}={bool(number >> i & 1)}" for i, name in enumerate(RULE_OPTIONS))
    return hearts.load(f"hearts({chosen})")


def played(game: hearts.Hearts, seed: int, cards_left: float, prefix: list[int] | None = None):
    """A random hand, from `prefix` on, until each seat holds `cards_left` cards (a quarter: one play)."""
    rnd = random.Random(seed)
    state = game.deal(seed, rnd.randrange(4)) if prefix is None else game.spiel.new_initial_state()
    for action in prefix or ():
        state.apply_action(action)
    plays = 0
    while True:
        plays = len(state.history()) - (65 if state.history()[0] else 53)
        if plays >= 52 - round(4 * cards_left):
            return state
        state.apply_action(rnd.choice(state.legal_actions()))


def check_uniform(game: hearts.Hearts, state, viewer: int, seed: int, least: int = 1) -> int:
    """Sampled assignments against all those that OpenSpiel accepts; returns their number."""
    view = game.view(state, viewer)
    belief = sampler(game)
    belief.reset(view)
    truth = sorted(assignments(game, state, viewer))
    where = f"seed {seed}, viewer {viewer}, rules {game.rules}, history {state.history()}"
    assert len(truth) >= least, where
    direction = view.events[0].action
    worlds = belief.sample(30 * len(truth), np.random.default_rng(seed))
    unseen = unseen_cards(game, state, viewer)
    cells = dict.fromkeys(truth, 0)
    for row in holders(worlds.hidden, direction)[:, unseen]:
        assert tuple(row) in cells, f"impossible world; {where}"
        cells[tuple(row)] += 1
    if len(truth) > 1:
        assert chisquare(list(cells.values())).pvalue > P_MIN, where
    passes = 6 * 1716**2 if direction else 1
    assert belief.count() == len(truth) * passes, where
    np.testing.assert_allclose(belief.log_prob(worlds), -math.log(len(truth) * passes))
    return len(truth)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_uniform_over_enumerated_endings_under_every_rule_option(block: int) -> None:
    sizes = []
    for number in range(block * 32, block * 32 + 32):
        game = game_of(number)
        state = played(game, seed=number, cards_left=1.5 + (number % 3) / 4)
        sizes.append(check_uniform(game, state, viewer=number % 4, seed=number))
    assert max(sizes) > 20, f"no ending of block {block} has hidden cards worth the name"


def deal_of(special: dict[int, list[int]], seed: int, direction: int = 0) -> list[int]:
    """A history of direction and deal in which the seats of `special` are dealt those cards among theirs."""
    rnd = random.Random(seed)
    rest = [c for c in range(52) if not any(c in cards for cards in special.values())]
    rnd.shuffle(rest)
    hands = [list(special.get(p, [])) for p in range(4)]
    for hand in hands:
        while len(hand) < 13:
            hand.append(rest.pop())
    return history(direction, hands, {}, [])


HEARTS = [card(r, H) for r in "23456789TJQKA"]
QS, AC, TWO = card("Q", S), card("A", C), card("2", C)


def lead(rnd: random.Random, game: hearts.Hearts, prefix: list[int], wanted: list[int]) -> list[int]:
    """Extends a history at random, but plays a card of `wanted` as soon as it is legal, in that order."""
    state = game.spiel.new_initial_state()
    for action in prefix:
        state.apply_action(action)
    wanted = list(wanted)
    while wanted:
        legal = state.legal_actions()
        first = [c for c in wanted if c in legal]
        others = [c for c in legal if c % 4 != H and c != QS] or legal
        action = first[0] if first else rnd.choice(others)
        wanted = [c for c in wanted if c != action]
        state.apply_action(action)
    return state.history()


CASES = {
    "hearts led before they are broken: only hearts are left": (
        {}, {1: [AC, *HEARTS[1:]], 0: [TWO]}, [AC, HEARTS[5]]
    ),
    "the queen may stay behind a heart led early": (
        {"can_lead_hearts_instead_of_qs": True}, {1: [AC, QS, *HEARTS[2:]], 0: [TWO]}, [AC, HEARTS[5]]
    ),
    "a heart led early where hearts need not be broken says nothing": (
        {"must_break_hearts": False}, {1: [AC, QS, *HEARTS[4:]], 0: [TWO]}, [AC, HEARTS[9]]
    ),
    "a heart on trick one: only point cards are left": (
        {}, {2: [QS, *HEARTS[1:]], 0: [TWO]}, [HEARTS[4]]
    ),
    "the queen on trick one: only point cards are left": (
        {}, {2: [QS, *HEARTS[1:]], 0: [TWO]}, [QS]
    ),
    "a heart on trick one where that is allowed says only that there is no club": (
        {"no_pts_on_first_trick": False},
        {2: [QS, *HEARTS[3:], card("2", D), card("3", D)], 0: [TWO]},
        [HEARTS[4]],
    ),
    "the first lead may be any club": (
        {"can_lead_any_club": True}, {0: [TWO, card("9", C), card("T", C)]}, [card("9", C)]
    ),
    "the queen breaks no hearts": (
        {"qs_breaks_hearts": False, "no_pts_on_first_trick": False},
        {1: [AC, *HEARTS[1:]], 0: [TWO], 3: [QS, card("A", D), card("K", D)]},
        [AC, HEARTS[7]],
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("viewer", range(4))
@pytest.mark.parametrize("name", CASES)
def test_uniform_where_a_play_implies_more_than_a_void(name: str, viewer: int) -> None:
    options, special, wanted = CASES[name]
    chosen = ",".join(f"{k}={v}" for k, v in {"pass_cards": False, **options}.items())
    game = hearts.load(f"hearts({chosen})")
    for seed in range(2):
        prefix = lead(random.Random(seed), game, deal_of(special, seed), wanted)
        state = played(game, seed, cards_left=2.25 + seed / 4, prefix=prefix)
        check_uniform(game, state, viewer, seed)


def steered(game: hearts.Hearts, prefix: list[int], plays: int, seed: int, rank_of) -> pyspiel.State:
    """`plays` cards after a deal without a pass: random among the legal cards for which rank_of(card, leading)
    is least."""
    rnd = random.Random(seed)
    state = game.spiel.new_initial_state()
    for action in prefix:
        state.apply_action(action)
    for i in range(plays):
        legal = state.legal_actions()
        least = min(rank_of(c, i % 4 == 0) for c in legal)
        state.apply_action(rnd.choice([c for c in legal if rank_of(c, i % 4 == 0) == least]))
    return state


@pytest.mark.slow
@pytest.mark.parametrize("kind", ("plain", "queen kept", "queen gone"))
def test_uniform_after_a_late_early_lead(kind: str) -> None:
    """All hearts are still out in trick ten when seat 1 leads one: no void that it showed says as much."""
    rules = {"plain": {}, "queen kept": {"can_lead_hearts_instead_of_qs": True}}
    options = {"pass_cards": False, **rules.get(kind, {"qs_breaks_hearts": False})}
    game = hearts.load(f"hearts({','.join(f'{k}={v}' for k, v in options.items())})")
    least, found = 9 if kind == "queen gone" else 1, 0
    for seed in range(400):
        own = [*HEARTS[:3], QS] if kind == "queen kept" else HEARTS[:4]
        special = {1: own, 0: HEARTS[4:7], 2: HEARTS[7:10], 3: HEARTS[10:]}
        if kind == "queen kept":
            special[0] = HEARTS[3:7]
        else:
            special[2] = [*special[2], QS]
        prefix = deal_of(special, seed)

        def rank_of(c: int, leading: bool) -> int:
            queen = -1 if kind == "queen gone" and not leading else 1
            return 2 if c % 4 == H else queen if c == QS else 0

        state = steered(game, prefix, 36, seed, rank_of)
        if state.current_player() != 1 or not any(c % 4 == H for c in state.legal_actions()):
            continue
        if kind == "queen gone" and QS not in state.history()[53:]:
            continue
        state.apply_action(min(c for c in state.legal_actions() if c % 4 == H))
        for _ in range(2):
            state.apply_action(min(state.legal_actions()))
        found += 1
        check_uniform(game, state, 0, seed, least)
        if found == 2:
            return
    pytest.fail("seat 1 never came to lead a heart")


def test_uniform_after_points_on_trick_one_without_voids() -> None:
    """Seat 2 plays a heart to trick one; no diamond or heart is led, so that no void shows where those are."""
    game = hearts.load("hearts(pass_cards=False)")
    found = 0
    for seed in range(3000):
        prefix = deal_of({2: [QS, *HEARTS[1:]], 0: [TWO]}, seed)
        state = steered(game, prefix, 42, seed, lambda c, leading: (c % 4 in (D, H)) == leading)
        plays = state.history()[53:]
        if any(c % 4 in (D, H) for c in plays[::4]) or not any(c % 4 == D for c in unseen_cards(game, state, 0)):
            continue
        check_uniform(game, state, 0, seed)
        found += 1
        if found == 3:
            return
    pytest.fail("diamonds or hearts were always led")


@pytest.mark.parametrize("direction", (1, 2, 3))
def test_a_passed_card_lies_with_its_receiver(direction: int) -> None:
    game = hearts.load("hearts")
    found = 0
    for seed in range(200):
        state = played(game, seed, cards_left=2 + (seed % 3) / 4)
        given = {s.action for s in state.full_history()[53:65] if s.player == seed % 4}
        hidden = given & set(unseen_cards(game, state, seed % 4))
        if state.history()[0] != direction or not hidden:
            continue
        check_uniform(game, state, seed % 4, seed)
        found += 1
        if found == 4:
            return
    pytest.fail("no ending with a passed card still out")


@pytest.mark.slow
@pytest.mark.parametrize("direction", (1, 2, 3))
def test_hidden_passes_are_uniform(direction: int) -> None:
    """What a seat received from a hidden pass is any ordered three of its 13 cards, whatever those are."""
    game = hearts.load("hearts")
    state = game.deal(5, direction)
    rnd = random.Random(direction)
    for _ in range(12 + 30):
        state.apply_action(rnd.choice(state.legal_actions()))
    belief, viewer = sampler(game), 2
    belief.reset(game.view(state, viewer))
    n = 200_000
    worlds = belief.sample(n, np.random.default_rng(direction))
    seats = holders(worlds.hidden, direction)
    order = np.argsort(seats, axis=1, kind="stable").reshape(n, 4, 13)
    received, hidden = [], 0
    for giver in range(4):
        receiver = (giver + direction) % 4
        passed = worlds.hidden[:, 52 + 3 * giver : 55 + 3 * giver]
        places = (passed[:, :, None] == order[:, receiver, None, :]).argmax(axis=2)  # 0..12, in order
        if viewer in (giver, receiver):
            assert len(np.unique(np.sort(passed, axis=1), axis=0)) == 1
            continue
        cell = places @ np.array([169, 13, 1])
        counts = np.bincount(cell, minlength=13**3)
        assert (counts > 0).sum() == 1716
        assert chisquare(counts[counts > 0]).pvalue > P_MIN
        received.append(places[:, 0])
        hidden += 1
    assert hidden == 2
    table = np.bincount(received[0] * 13 + received[1], minlength=169)
    assert chisquare(table).pvalue > P_MIN  # and independent of each other


def test_before_the_pass_is_over_the_others_cards_are_uniform() -> None:
    game = hearts.load("hearts")
    state = game.deal(3, 1)
    rnd = random.Random(3)
    for step in range(12):
        for viewer in range(4):
            view = game.view(state, viewer)
            belief = sampler(game)
            belief.reset(view)
            earlier = viewer if view.legal or any(e.actor == viewer for e in view.events) else 0
            assert belief.count() == math.factorial(39) // math.factorial(13) ** 3 * 1716**earlier
            worlds = belief.sample(3000, np.random.default_rng(step))
            assert belief.log_prob(worlds) == pytest.approx(-math.log(belief.count()))
            others = [c for c in range(52) if c not in view.events[1].seen]
            for c in others[:: 1 + step]:
                counts = np.bincount(worlds.hidden[:, c], minlength=4)
                assert counts[viewer] == 0
                assert chisquare(np.delete(counts, viewer)).pvalue > P_MIN, (step, viewer, c)
            for i in range(3):
                assert game.view(worlds.state(i), viewer) == view
        state.apply_action(rnd.choice(state.legal_actions()))


@pytest.mark.parametrize("number", range(0, 256, 17))
def test_worlds_replay_legally_and_look_the_same(number: int) -> None:
    game = game_of(number)
    rnd = random.Random(number)
    state = game.deal(number, number % 4)
    belief = sampler(game)
    while not state.is_terminal():
        for viewer in range(4) if rnd.random() < 0.2 else ():
            view = game.view(state, viewer)
            belief.reset(view)
            worlds = belief.sample(4, np.random.default_rng(number))
            assert worlds.hidden.dtype == np.int16 and worlds.hidden.shape == (4, 64)
            assert worlds.feasible.all() and not worlds.log_weight.any()
            for i in range(4):
                replay = game.spiel.new_initial_state()
                for action in worlds.history(i):
                    assert action in replay.legal_actions(), (number, viewer, worlds.history(i))
                    replay.apply_action(action)
                assert game.view(replay, viewer) == view, (number, viewer)
                assert game.view(worlds.state(i), viewer) == view
        state.apply_action(rnd.choice(state.legal_actions()))


def test_reproducible_and_blind_to_the_true_deal() -> None:
    game = hearts.load("hearts")
    for seed in range(8):
        state = played(game, seed, cards_left=random.Random(seed).choice([12, 9, 6, 3.25]))
        viewer = seed % 4
        belief = sampler(game)
        belief.reset(game.view(state, viewer))
        worlds = belief.sample(50, np.random.default_rng(seed))
        again = belief.sample(50, np.random.default_rng(seed))
        other = belief.sample(50, np.random.default_rng(seed + 1))
        np.testing.assert_array_equal(worlds.hidden, again.hidden)
        assert (worlds.hidden != other.hidden).any()
        twin = worlds.state(0)
        assert twin.history() != state.history()
        belief.reset(game.view(twin, viewer))
        np.testing.assert_array_equal(belief.sample(50, np.random.default_rng(seed)).hidden, worlds.hidden)


def test_support_holds_the_true_deal() -> None:
    game = hearts.load("hearts")
    for seed in range(30):
        state = played(game, seed, cards_left=random.Random(seed).uniform(1, 13))
        actions = state.history()
        hidden = np.full((1, 64), -1, dtype=np.int16)
        hidden[0, actions[1:53]] = np.arange(52) % 4
        if actions[0]:
            hidden[0, 52:] = actions[53:65]
        belief = sampler(game)
        belief.reset(game.view(state, seed % 4))
        worlds = replace(belief.sample(1, np.random.default_rng(0)), hidden=hidden)
        assert np.isfinite(belief.log_prob(worlds)).all(), seed
        assert worlds.history(0)[53:] == actions[53:]


def test_log_prob_is_minus_infinity_off_the_support() -> None:
    game = hearts.load("hearts")
    state = played(game, 4, cards_left=6)
    belief = sampler(game)
    belief.reset(game.view(state, 1))
    worlds = belief.sample(200, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    a, b = rng.integers(52, size=(2, 200))
    rows = np.arange(200)
    swapped = worlds.hidden.copy()
    swapped[rows, a], swapped[rows, b] = worlds.hidden[rows, b], worlds.hidden[rows, a]
    log_prob = belief.log_prob(replace(worlds, hidden=swapped))
    view = game.view(state, 1)
    for i in range(200):
        world = replace(worlds, hidden=swapped)
        try:
            same = game.view(world.state(i), 1) == view if legal(game, world.history(i)) else False
        except ValueError:
            same = False
        assert same == np.isfinite(log_prob[i]), (i, a[i], b[i])


def legal(game: hearts.Hearts, actions: list[int]) -> bool:
    state = game.spiel.new_initial_state()
    for action in actions:
        if action not in state.legal_actions():
            return False
        state.apply_action(action)
    return True


def test_impossible_views_are_refused() -> None:
    game = hearts.load("hearts")
    state = played(game, 6, cards_left=4)
    view = game.view(state, 0)
    belief = sampler(game)
    with pytest.raises(ValueError, match="needs a view"):
        belief.sample(1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="public view"):
        belief.reset(game.view(state, PUBLIC))
    with pytest.raises(ValueError, match="begins with"):
        belief.reset(View(0, view.events[1:], ()))
    last = view.events[-1]
    again = next(e.action for e in view.events[-8:] if e.action != last.action)
    with pytest.raises(ValueError, match="no deal lets"):
        belief.reset(replace(view, events=(*view.events[:-1], Event(last.actor, again))))
    short = replace(view.events[1], seen=view.events[1].seen[:12])
    with pytest.raises(ValueError, match="13 different"):
        belief.reset(replace(view, events=(view.events[0], short, *view.events[2:])))
    shown = next(i for i, e in enumerate(view.events) if i > 1 and e.seen == (TWO,))
    liar = Event((view.events[shown].actor + 1) % 4, None, (TWO,))
    with pytest.raises(ValueError, match=r"cannot hold the two of clubs|no deal lets"):
        belief.reset(replace(view, events=(*view.events[:shown], liar, *view.events[shown + 1 :])))


def test_resampling_follows_the_weights() -> None:
    rng = np.random.default_rng(0)
    picked = resample(np.log([0.1, 0.2, 0.7]), 1000, rng)
    assert np.abs(np.bincount(picked) - [100, 200, 700]).max() <= 1  # systematic: within one of the mean
    with pytest.raises(ValueError, match="no world"):
        resample(np.array([-np.inf, -np.inf]), 3, rng)
