"""`kermit` and `pimc` at a Skat table: evaluation, expectimax, bid model, weighted worlds, cards by solved worlds."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from support.records import comparable
from support.skat_games import cards
from support.worlds import seat_view

from trickformer import _core, games, players
from trickformer.base import TrickformerError, decision_rng
from trickformer.belief import sampler, weighted_belief
from trickformer.belief.samplers.skat import SkatBelief
from trickformer.games.skat import CALLS, HOLD, PASS, PICK_UP, PLAY_HAND, evaluation
from trickformer.search.skat.positions import SkatPositions
from trickformer.studies.skat import evaluation as learning
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play

S = _core.skat_search
BASE = (9, 10, 11, 12, 24)
NULLS = {(5, False): 23, (5, True): 35, (6, False): 46, (6, True): 59}
SPECS = ("kermit:worlds=4", "pimc:worlds=4", "pimc:worlds=4,weighted=false,bidding=kermit")
NULL = 5


def random_evaluation(seed: int):
    rng = np.random.default_rng(seed)
    weights = rng.normal(0, 0.7, (9, learning.ENTRIES)).astype(np.float32)
    calibration = np.stack([rng.normal(0, 0.5, 8), rng.uniform(0.5, 1.5, 8)], axis=1).astype(np.float32)
    weights[:, -1] = 0
    return S.Evaluation(weights, calibration), weights, calibration


def games_at_play(spec: str, n: int, tricks: int, seed: int = 5):
    """States of games by `spec` in which a seat has a choice of cards, after `tricks` tricks or more."""
    game, found, index = games.load("skat"), [], 0
    player = players.make(spec, game)
    while len(found) < n:
        state, memo, number = game.deal(seed, index), [{}, {}, {}], 0
        index += 1
        while not state.is_terminal():
            seat = state.current_player()
            view = game.view(state, seat)
            at_play = state.core.phase == 5 and len(view.legal) > 1
            if at_play and len(state.core.hand(seat)) <= 10 - tricks:
                found.append((game, state.clone(), seat))
                break
            rng = decision_rng(seed, index, seat, number)
            state.apply_action(player.act([view], [rng], [memo[seat]])[0].action)
            number += 1
    return found


def matadors(declaration: int, held: set[int]) -> int:
    order = [31, 23, 15, 7] + ([8 * declaration + r for r in range(6, -1, -1)] if declaration < 4 else [])
    same = list(itertools.takewhile(lambda c: (c in held) == (order[0] in held), order))
    return len(same)


def worth(declaration: int, hand: bool, held: set[int]) -> int:
    if declaration >= NULL:
        return NULLS[declaration, hand]
    return BASE[declaration] * (matadors(declaration, held) + 1 + hand)


def expected(p: float, declaration: int, value: int, bid: int) -> float | None:
    """Seeger-Fabian, own less the mean of the others'; None: not to be declared."""
    if value < bid:
        return None if declaration >= NULL else -2 * -(-bid // BASE[declaration]) * BASE[declaration] - 90
    return p * (value + 50) - (1 - p) * (2 * value + 90)


def chance(weights, calibration, known: int, declaration: int, ten, laid: int, seat: int) -> float:
    family = 0 if declaration < 4 else 1 if declaration == 4 else 2
    logit = weights[3 * known + family, S.features(known, declaration, ten, laid, seat)].astype(float).sum()
    shift, scale = calibration[4 * (known == 1) + max(0, declaration - 3)]
    return 1 / (1 + np.exp(-(shift + scale * logit)))


def test_no_view_is_no_view():
    for core in (_core.skat, _core.crew):
        with pytest.raises(ValueError, match="not on turn"):
            core.rules_player([None])


def test_an_evaluation_adds_up_the_entries_of_a_hand():
    rng = np.random.default_rng(0)
    e, weights, calibration = random_evaluation(1)
    for _ in range(300):
        known, declaration, seat, laid = (int(rng.integers(n)) for n in (2, 7, 3, 23))
        ten = sorted(rng.permutation(32)[:10].tolist())
        family = 0 if declaration < 4 else 1 if declaration == 4 else 2
        entries = S.features(known, declaration, ten, laid, seat)
        total = weights[3 * known + family, entries].astype(float).sum()
        assert e.logit(known, declaration, ten, laid, seat) == pytest.approx(total)
        assert e.chance(known, declaration, ten, laid, seat) == pytest.approx(
            chance(weights, calibration, known, declaration, ten, laid, seat)
        )


def test_expectimax_equals_a_plain_one():
    e, _, _ = random_evaluation(3)
    rng = np.random.default_rng(3)
    ten, seat, bids = sorted(rng.permutation(32)[:10].tolist()), 1, (18, 24, 36, 48, 59, 60, 120)
    prospects = S.Prospects(e, ten, seat)
    by_hand = [e.chance(1, d, ten, 0, seat) for d in range(7)]
    up, hands, chances = {b: [] for b in bids}, {b: [] for b in bids}, []
    for skat in itertools.combinations([c for c in range(32) if c not in ten], 2):
        twelve = sorted([*ten, *skat])
        best = [(0.0, None)] * 7
        for laid in itertools.combinations(twelve, 2):
            kept = [c for c in twelve if c not in laid]
            points = sum((0, 0, 0, 3, 4, 10, 11, 2)[c % 8] for c in laid)
            for d in range(7):
                best[d] = max(best[d], (e.chance(0, d, kept, points, seat), laid))
        chances.append([p for p, _ in best])
        value = {hand: [worth(d, hand, set(twelve)) for d in range(7)] for hand in (False, True)}
        for b in bids:
            scores = [expected(best[d][0], d, value[False][d], b) for d in range(7)]
            up[b].append(max(x for x in scores if x is not None))
            hands[b].append([expected(by_hand[d], d, value[True][d], b) for d in range(7)])
            if len(up[b]) % 40 == 1:
                declaration, laid, p, score = S.best_offer(e, twelve, b, seat)
                assert score == pytest.approx(up[b][-1])
                assert (p, tuple(laid)) == (pytest.approx(best[declaration][0]), best[declaration][1])
    assert [prospects.mean_chance(d) for d in range(7)] == pytest.approx(np.mean(chances, axis=0), abs=1e-5)
    for b in bids:
        assert prospects.picking_up(b) == pytest.approx(np.mean(up[b]), abs=1e-3)
        legal = {d: np.mean([row[d] for row in hands[b]]) for d in range(7) if hands[b][0][d] is not None}
        declaration, score = prospects.by_hand(b)
        assert score == pytest.approx(max(legal.values()), abs=1e-3)
        assert score == pytest.approx(legal[declaration], abs=1e-3)
    falling = [prospects.picking_up(b) for b in CALLS]
    assert all(a >= b for a, b in itertools.pairwise(falling))


def test_bids_go_up_to_what_a_pass_is_worth():
    """Call by call up to the last bid whose expectation is above `passing`; alone in forehand above 0."""
    game, e = games.load("skat"), evaluation()
    for index in range(12):
        state = game.deal(2, index)
        ten = state.core.hand(1)
        for passing in (-60.0, -15.0, 40.0):
            prospects = S.Prospects(e, ten, 1)
            limit = max(
                (b for b in CALLS if prospects.picking_up(b) > passing or prospects.by_hand(b)[1] > passing), default=0
            )
            player, now, memo, said = players.make(f"kermit:passing={passing}", game), state.clone(), {}, 0
            while now.current_player() in (0, 1) and now.core.phase == 0:
                if now.current_player() == 1:
                    view = game.view(now, 1)
                    action = player.act([view], [np.random.default_rng(0)], [memo])[0].action
                    if action == 95:
                        break
                    said = CALLS[action - 32]
                    now.apply_action(action)
                else:
                    now.apply_action(96)
            assert said == limit


def test_what_is_said_sums_to_one_and_better_hands_go_further():
    e, model = evaluation(), S.BidModel()
    good, bad = cards("CJ SJ HJ CA CT CK C9 SA ST H7"), cards("CA CK SQ SK HT HK H9 DQ DT D9")
    for ten, seat in ((good, 0), (bad, 1), (cards("CJ DJ HA HT H9 H7 S8 SK D9 C9"), 2)):
        ends = [S.bid_chance(e, model, k, k + 1, ten, seat) for k in range(-1, 63)]
        assert sum(ends) == pytest.approx(1)
        assert min(ends) > 0
        goes = [S.bid_chance(e, model, k, 63, ten, seat) for k in range(-1, 63)]
        assert goes[0] == pytest.approx(1)
        assert all(a >= b for a, b in itertools.pairwise(goes))
    for k in (0, 3, 8):
        assert S.bid_chance(e, model, k, 63, good, 0) > 2 * S.bid_chance(e, model, k, 63, bad, 0)


def test_what_each_seat_said_is_read_from_the_auction():
    """Middlehand calls 18 and 20, forehand holds both, middlehand passes at 22; rearhand calls 33, forehand passes."""
    game = games.load("skat")
    state = game.deal(0, 0)
    for action in (32, 96, 33, 96, 95, 32 + CALLS.index(33), 95):
        state.apply_action(action)
    at = CALLS.index
    assert S.bid_ranges(seat_view(game, game.view(state, 2))) == [(at(20), at(33)), (at(20), at(22)), (at(33), 63)]


def test_all_that_a_soloist_can_do_with_his_cards_sums_to_one():
    """Every declaration by hand, and of twelve cards every two laid away with every declaration: how likely each looks
    to a defender, beyond what was said in the auction."""
    e, model, game = evaluation(), S.BidModel(), games.load("skat")
    belief = SkatBelief(game)

    def weight(state) -> float:
        view = game.view(state, (soloist + 1) % 3)
        belief.reset(view)
        return float(np.exp(S.log_weight(belief.sampler_of(view), e, model, True, belief.truth(state).hidden)[0]))

    for index, auction in enumerate(((32, HOLD, PASS, PASS), (32, PASS, PASS), (PASS, 32, PASS))):
        start = after(game.deal(31, index), *auction)
        soloist, chances = start.current_player(), []
        twelve = after(start, PICK_UP)
        laid = itertools.combinations(twelve.legal_actions(), 2)
        for state in (after(start, PLAY_HAND), *(after(twelve, *two) for two in laid)):
            chances += [weight(after(state, declared)) for declared in state.legal_actions()]
        assert len(chances) > 66 * 6
        assert sum(chances) == pytest.approx(weight(start)), f"deal {index} of seed 31"


def after(state, *actions: int):
    state = state.clone()
    for action in actions:
        state.apply_action(action)
    return state


def test_weighted_worlds_are_reproducible_and_follow_the_weights():
    """A soloist's view late in a game has few worlds: the mean of their weights against exact ones."""
    e, model, compared = evaluation(), S.BidModel(), 0
    for game, state, seat in games_at_play("kermit:worlds=1", 40, 7):
        if seat != state.core.soloist:
            continue
        deals = _core.skat.DealSampler(seat_view(game, game.view(state, seat)))
        every, _, likely, uniform, _ = S.draw_worlds(deals, e, model, True, 4000, 0, 1)
        assert uniform == pytest.approx(4000)
        if not 4 <= len(every) == deals.assignments <= 20 or likely.max() < 2 * likely.min():
            continue
        exact = {row.tobytes(): p for row, p in zip(every, likely / likely.sum())}
        drawn = S.draw_worlds(deals, e, model, True, 2000, 8, 7)
        again = S.draw_worlds(deals, e, model, True, 2000, 8, 7)
        assert all(np.array_equal(a, b) for a, b in zip(drawn, again))
        found = {row.tobytes(): w for row, w in zip(*drawn[:2])}
        assert sum(found.values()) == pytest.approx(1)
        assert drawn[3] == pytest.approx(16_000 * likely.mean() ** 2 / np.mean(likely**2), rel=0.1)
        # 16,000 uniform draws: the weight of a world errs by its share's binomial error, and the resampling's 1 / 2000.
        for key, p in exact.items():
            assert found[key] == pytest.approx(p, rel=6 * (len(exact) / 16_000) ** 0.5)
        compared += 1
        if compared == 3:
            return
    pytest.fail("no such view")


def best_play(state, soloist: int):
    """The state in which a game ends if the soloist goes for the most, and the others for his least, all cards open."""
    if state.is_terminal():
        return state
    ends = [best_play(state.child(action), soloist) for action in state.legal_actions()]
    best = max if state.current_player() == soloist else min
    return best(ends, key=lambda end: end.returns()[soloist])


@pytest.mark.parametrize("tail", [0, 2])
def test_games_played_on_in_worlds_are_those_of_the_scripted_player(tail):
    """From worlds weighted by what was said, an OpenSpiel state each, by the player `rules`; of defenders too, to whom
    what the soloist laid away is hidden. The last tricks by every line."""
    rng, sides = np.random.default_rng(2), set()
    for game, state, seat in games_at_play("kermit:worlds=1", 8, 6):
        view, unit = game.view(state, seat), game.worth[0]
        belief, script = weighted_belief(game), players.make("rules", game)
        drawn = SkatPositions(SkatBelief(game), True, True).worlds(view, 5, rng)
        legal = np.array(view.legal)
        found = S.play(drawn.sampler, True, drawn.hidden, drawn.actions, legal, tail, S.Solver())
        belief.reset(view)
        worlds = replace(belief.sample(5, rng), hidden=drawn.hidden)
        assert not np.isneginf(belief.log_prob(worlds)).any()
        for i, row in enumerate(found):
            for action, points in zip(view.legal, row, strict=True):
                there = worlds.state(i).child(action)
                while not there.is_terminal():
                    left = [len(there.core.hand(p)) for p in range(3)]
                    if max(left) == min(left) <= tail:
                        there = best_play(there, state.core.soloist)
                        break
                    on_turn = game.view(there, there.current_player())
                    there.apply_action(script.act([on_turn], [rng], [{}])[0].action)
                outcome = game.outcomes.of(game.scores(there), seat)
                assert points == pytest.approx(unit * game.outcomes.values[outcome, 0], abs=1e-4)
        sides.add(seat == state.core.soloist)
    assert sides == {True, False}


def test_games_are_played_on_from_the_view_alone():
    game, state, seat = next(iter(games_at_play("kermit:worlds=1", 4, 6)))
    view = game.view(state, seat)
    drawn = SkatPositions(SkatBelief(game), False, True).worlds(view, 3, np.random.default_rng(0))
    on, legal = partial(S.play, drawn.sampler, True, open=0, solver=S.Solver()), np.array(view.legal)
    assert on(hidden=drawn.hidden, course=drawn.actions, actions=legal).shape == (3, len(legal))
    with pytest.raises(ValueError, match="does not lead to the view"):
        on(hidden=drawn.hidden, course=drawn.actions[:-1], actions=legal)
    course = drawn.actions.copy()
    course[7] += 1  # a higher bid, after which the rest is still legal
    with pytest.raises(ValueError, match="does not lead to the view"):
        on(hidden=drawn.hidden, course=course, actions=legal)
    with pytest.raises(ValueError, match="is not legal"):
        on(hidden=drawn.hidden, course=drawn.actions, actions=np.array([PASS]))
    with pytest.raises(ValueError, match="does not explain the view"):
        on(hidden=np.roll(drawn.hidden, 1, axis=1), course=drawn.actions, actions=legal)
    with pytest.raises(ValueError, match=r"int16 \[n, 34\]"):
        on(hidden=drawn.hidden[:, 1:], course=drawn.actions, actions=legal)


def test_a_defender_believes_in_a_strong_soloist():
    e = evaluation()
    better = 0
    seen = [(g, s, seat) for g, s, seat in games_at_play("kermit:worlds=1", 25, 0) if seat != s.core.soloist]
    seen = [x for x in seen if x[1].core.kind < 5]
    for game, state, seat in seen:
        deals = _core.skat.DealSampler(seat_view(game, game.view(state, seat)))
        jacks = []
        for oversample in (0, 32):
            held, weight, _, _, _ = S.draw_worlds(deals, e, S.BidModel(), True, 100, oversample, 3)
            mine = held == state.core.soloist
            jacks.append(float(weight @ (3 * mine[:, 7::8].sum(1) + mine[:, 6::8].sum(1))))
        better += jacks[1] > jacks[0]
    assert len(seen) >= 6
    assert better >= 0.9 * len(seen)


def test_pimc_in_the_last_tricks_is_the_mean_of_exact_solutions():
    """The core's worlds of the same seed, each solved by looking at every line of play."""
    e, kinds = evaluation(), set()
    for game, state, seat in games_at_play("kermit:worlds=1", 25, 7, seed=8):
        core = state.core
        deals = _core.skat.DealSampler(seat_view(game, game.view(state, seat)))
        found = S.pimc(deals, e, 30, 4, S.BidModel(), True, 11, S.Solver())
        held, weight, _, effective, _ = S.draw_worlds(deals, e, S.BidModel(), True, 30, 4, 11)
        assert (found.worlds, found.effective) == (len(held), pytest.approx(effective))
        values = np.zeros(32)
        in_trick = (30 - sum(len(core.hand(p)) for p in range(3))) % 3
        begun = state.history()[-in_trick:] if in_trick else []
        for row, w in zip(held, weight):
            hands = [[sum(1 << c for c in range(32) if row[c] == p) for p in range(3)]]
            skat = [c for c in range(32) if row[c] == 3]
            points = core.soloists_points + sum((0, 0, 0, 3, 4, 10, 11, 2)[c % 8] for c in skat)
            moves = _core.skat_solver.minimax_moves(
                _core.skat_solver.Positions(
                    np.array([core.kind], np.int8),
                    np.array([core.soloist], np.int8),
                    np.array(hands, np.uint32),
                    np.array([[*begun, -1, -1][:2]], np.int8),
                    np.array([core.leader], np.int8),
                    np.array([[points, 0]], np.int16),
                ),
                core.kind == NULL,
            )[0]
            played = plays_of(state, core.soloist)
            own = [*[c for c in range(32) if row[c] == core.soloist], *played, *skat]
            for card in np.flatnonzero(moves >= 0):
                reached = int(moves[card])
                if core.kind == NULL:
                    result = (0, int(reached > 0))
                else:
                    result = (reached, 10 if reached == 120 else 0 if reached == 0 else 5)
                settled = _core.skat.settle(
                    kind=core.kind,
                    hand=core.is_hand,
                    level=core.level,
                    bid=core.bid,
                    soloist=core.soloist,
                    soloists_cards=own,
                    points=result[0],
                    tricks=result[1],
                )
                score = settled.value + 50 if settled.won else settled.value - 90
                score += 0 if core.kind == NULL else 0.1 * (reached - 61)
                values[card] += w * score * (1 if seat == core.soloist else -0.5)
        assert found.values == pytest.approx(values.tolist(), abs=1e-6)
        legal = game.view(state, seat).legal
        assert values[found.card] >= max(values[c] for c in legal) - 0.25
        kinds.add((core.kind == NULL, seat == core.soloist))
    assert len(kinds) >= 3


def plays_of(state, seat: int) -> list[int]:
    """The cards that a seat has played."""
    total = 30 - sum(len(state.core.hand(p)) for p in range(3))
    return [s.action for s in state.full_history()[-total:] if s.player == seat] if total else []


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_contract_at_a_skat_table(spec):
    """Legal, reproducible, and independent of who shares the call: `play` itself checks legality."""
    game = games.load("skat")
    hands = [Hand(d, (0, 1, 0) if d % 2 else (1, 0, 0)) for d in range(4)]
    casts = [[players.make(spec, game), players.make("random", game)] for _ in range(2)]
    together = list(play(game, casts[0], hands, 5, 4))
    alone = list(play(game, casts[1], hands, 5, 1))
    assert comparable(together) == comparable(alone)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_a_decision_is_a_function_of_the_view_and_its_generator(spec):
    game, rnd = games.load("skat"), random.Random(1)
    player, belief, seeds_matter = players.make(spec, game), sampler(game), 0
    for index in range(5):
        state, memo, number = game.deal(9, index), [{}, {}, {}], 0
        while not state.is_terminal():
            seat = state.current_player()
            view = game.view(state, seat)
            decision = player.act([view], [np.random.default_rng(number)], [memo[seat]])[0]
            assert decision.action in view.legal
            if rnd.random() < 0.25:
                belief.reset(view)
                twin = game.view(belief.sample(1, np.random.default_rng(number)).state(0), seat)
                fresh = players.make(spec, game)
                assert fresh.act([twin], [np.random.default_rng(number)], [{}])[0] == decision
                other = fresh.act([view], [np.random.default_rng(number + 1000)], [{}])[0]
                seeds_matter += other.value != decision.value
                assert state.core.phase == 5 or other == decision  # what is said draws nothing
            state.apply_action(decision.action)
            number += 1
    assert seeds_matter


def test_values_are_in_units_of_v():
    """Near the end of a game that is decided, the value is that of its outcome, but for the worth of card points."""
    game, checked = games.load("skat"), 0
    player = players.make("kermit:worlds=60", game)
    values = dict(zip(game.outcomes.labels, game.outcomes.values[:, 0]))
    for _, state, seat in games_at_play("kermit:worlds=1", 12, 8, seed=3):
        memo, first = [{}, {}, {}], None
        while not state.is_terminal():
            at = state.current_player()
            decision = player.act([game.view(state, at)], [np.random.default_rng(0)], [memo[at]])[0]
            first = decision.value if first is None else first
            state.apply_action(decision.action)
        scores = game.scores(state)
        truth = float(values[tuple(scores[(seat + k) % 3] for k in range(3))])
        checked += abs(truth - first) < 0.08
    assert checked >= 9


def test_pimc_bids_as_it_is_told():
    game = games.load("skat")
    for bidding, spec in (("rules", "rules"), ("kermit", "kermit:passing=-15")):
        pimc, other = players.make(f"pimc:worlds=2,bidding={bidding}", game), players.make(spec, game)
        for index in range(8):
            state = game.deal(4, index)
            memo = [{}, {}, {}]
            while not state.is_terminal() and state.core.phase != 5:
                seat = state.current_player()
                view, rng = [game.view(state, seat)], [np.random.default_rng(0)]
                action = pimc.act(view, rng, [memo[seat]])[0].action
                assert action == other.act(view, rng, [{}])[0].action
                state.apply_action(action)


def test_kermit_beats_a_random_player_by_far():
    game = games.load("skat")
    cast = [players.make("kermit:worlds=6", game), players.make("random", game)]
    hands = [Hand(deal, seating) for deal in range(3) for seating in game.seatings(2)]
    margin = []
    for record in play(game, cast, hands, 1, 18):
        ours = [s for s, kind in zip(record.scores, record.seating) if kind == 0]
        theirs = [s for s, kind in zip(record.scores, record.seating) if kind == 1]
        margin.append(np.mean(ours) - np.mean(theirs))
    assert np.mean(margin) > 60


@pytest.mark.parametrize(
    ("spec", "game", "says"),
    [
        ("kermit", "hearts", "'kermit' plays skat only, not hearts"),
        ("pimc:weighted=true", "hearts", "weighted=true is for skat"),
        ("pimc:eval=rollout,c=1", "hearts", "c=1.0 is for eval=uct"),
        ("pimc:bidding=rules", "hearts", "bidding=rules is for skat"),
        ("pimc:runs=3", "skat", "runs=3 is for hearts and games"),
        ("pimc:playout=light", "skat", "playout=light is for hearts"),
    ],
)
def test_options_of_another_game_are_refused(spec, game, says):
    with pytest.raises(TrickformerError, match=says) as caught:
        players.make(spec, games.load(game))
    assert "\n" not in str(caught.value)


def test_searches_refuse_what_they_cannot_value():
    game = games.load("skat")
    state = game.deal(0, 0)
    view = seat_view(game, game.view(state, 1))
    deals = _core.skat.DealSampler(view)
    with pytest.raises(ValueError, match="no card to play"):
        S.pimc(deals, evaluation(), 3, 0, S.BidModel(), True, 0, S.Solver())
    with pytest.raises(ValueError, match="temperatures"):
        S.BidModel(bid=0)
    with pytest.raises(ValueError, match="weights"):
        S.Evaluation(np.zeros((9, 10), np.float32), learning.IDENTITY)


@pytest.mark.parametrize("spec", ["kermit:worlds=20", "pimc:worlds=20"])
def test_explained_worlds_are_independent_draws(spec):
    """Standard errors of their values assume that. A few worlds of great weight could otherwise fill one draw."""
    game = games.load("skat")
    player = players.make(spec, game)
    different = []
    for deal in range(6):
        state = game.deal(77, deal)
        memos: list[dict] = [{}, {}, {}]
        while not state.is_terminal():
            seat = state.current_player()
            view = game.view(state, seat)
            rng = np.random.default_rng(deal)
            at_trick = state.core.soloist not in (-1, seat) and game.trick(state) == 3 and len(view.legal) > 1
            if at_trick:
                memos[seat]["explain"] = True
            (decision,) = player.act([view], [rng], [memos[seat]])
            if at_trick:
                different.append(len({world.cards for world in decision.thought.worlds}))
                break
            state.apply_action(decision.action)
    assert len(different) >= 3
    assert np.mean(different) >= 15, different
