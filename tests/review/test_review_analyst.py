"""Ratings by players: losses and errors from what was said, who may be asked, units; and every player's values."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from support.review import dealt

from trickformer import games, players
from trickformer.base import Decision, Player, TrickformerError, UnknownNameError, decision_rng
from trickformer.players.optimal import action_value
from trickformer.review import analyst
from trickformer.review.hand import of_state
from trickformer.review.result import Review


class StubPlayer(Player):
    """Player that returns the decisions of a function: `says(view, rng)` is a Decision."""

    def __init__(self, says, batch=None):
        self.says, self.batch, self.sizes = says, batch, []

    def act(self, views, rng, memo):
        self.sizes.append(len(views))
        for each in memo:
            each["calls"] = each.get("calls", 0) + 1
        return [self.says(view, generator) for view, generator in zip(views, rng)]


def noisy(view, rng):
    """Values known by the action, with noise of standard deviation 10 in units of the game."""
    values = {a: (-a + 10 * rng.normal()) / 26 for a in view.legal}
    return Decision(view.legal[0], values=values)


def test_losses_and_errors_are_those_of_what_was_said():
    hand, repeats, seed = dealt("hearts"), 6, 3
    found = analyst.review(hand, "random", player=StubPlayer(noisy), repeats=repeats, seed=seed)
    assert [r.number for r in found.ratings] == [*range(1, len(found.ratings) + 1)]
    for rating, (turn, _) in zip(found.ratings, hand.turns(), strict=True):
        assert (rating.seat, rating.action, rating.at, rating.trick) == (turn.seat, turn.action, turn.at, turn.trick)
        assert rating.forced == (len(turn.legal) == 1)
        if rating.forced:
            assert rating.loss is None and rating.actions == ()
            continue
        said = []
        for time in range(repeats):
            rng = decision_rng(seed, time, turn.seat, turn.number)
            said.append([-a + 10 * rng.normal() for a in turn.legal])
        table = np.array(said)
        means = dict(zip(turn.legal, table.mean(axis=0)))
        best = max(means, key=means.__getitem__)
        lost = table[:, turn.legal.index(best)] - table[:, turn.legal.index(turn.action)]
        assert rating.best.action == best
        assert rating.loss == pytest.approx(lost.mean(), abs=1e-9)
        if best != turn.action:
            assert rating.error == pytest.approx(lost.std(ddof=1) / math.sqrt(repeats))
        for action in rating.actions:
            column = table[:, turn.legal.index(action.action)]
            assert action.value == pytest.approx(column.mean())
            assert action.error == pytest.approx(column.std(ddof=1) / math.sqrt(repeats))
            behind = table[:, turn.legal.index(best)] - column
            assert action.loss == pytest.approx(behind.mean(), abs=1e-9)
            if action.action == best:
                assert action.loss_error is None
            else:
                assert action.loss_error == pytest.approx(behind.std(ddof=1) / math.sqrt(repeats))
    sizes = [(r.loss, r.error) for r in found.mistakes]
    assert sizes == sorted(sizes, key=lambda each: -each[0]) and all(loss > 2 * error for loss, error in sizes)
    assert len(sizes) < sum(bool(r.loss) for r in found.ratings)  # chance alone makes no mistake


def test_curves_sum_up():
    """Result = what was promised at first - what own decisions cost + the rest; results are those of the game."""
    hand = dealt("hearts")
    found = analyst.review(hand, "random", player=StubPlayer(noisy), repeats=2)
    scores = hand.game.scores(hand.end())
    for curve in found.curves:
        (seat,) = curve.seats
        own = [r for r in found.ratings if r.seat == seat and r.actions]
        others = [score for p, score in enumerate(scores) if p != seat]
        assert curve.result == pytest.approx(sum(others) / 3 - scores[seat], abs=1e-4)
        assert curve.lost == pytest.approx(sum(r.loss for r in own))
        assert curve.result == pytest.approx(curve.points[0].value - curve.lost + curve.rest)
        assert [point.number for point in curve.points] == [r.number for r in own]
    assert [answer.whose for answer in found.answers] == [f"seat {p}" for p in range(4)]
    for answer, curve in zip(found.answers, found.curves):
        assert (answer.won, answer.winnable) == (curve.result > 0, curve.points[0].value > 0)
        assert answer.expected == curve.points[0].value and (answer.losing_step is None or not answer.won)


@pytest.mark.parametrize("batch", [None, 1, 3])
def test_calls_hold_no_more_than_a_player_makes_use_of(batch):
    hand = dealt("hearts")
    player = StubPlayer(noisy, batch)
    found = analyst.review(hand, "random", player=player, repeats=3)
    again = analyst.review(hand, "random", player=StubPlayer(noisy), repeats=3)
    assert found == again  # whatever shares a call
    assert max(player.sizes) <= (batch or 4 * 2)
    assert sum(player.sizes) == 3 * sum(not r.forced for r in found.ratings)


def test_what_is_the_same_each_time_has_no_error():
    found = analyst.review(
        dealt("hearts"),
        "random",
        player=StubPlayer(lambda view, _: Decision(view.legal[0], values={a: -a for a in view.legal})),
    )
    assert all(r.error is None and all(a.error is None for a in r.actions) for r in found.ratings)
    assert any(r.mistake for r in found.ratings)
    assert found.notes == ("the analyst reports the same values each time, so losses have no standard error",)


def test_visits_stand_in_where_there_are_no_values():
    def says(view, rng):
        return Decision(view.legal[-1], visits={view.legal[0]: 1, view.legal[-1]: 3})

    found = analyst.review(dealt("hearts"), "random", player=StubPlayer(says))
    assert found.unit == "share of visits" and not found.answers and all(c.result is None for c in found.curves)
    shares = {r.best.value for r in found.ratings if r.actions}
    assert shares == {0.75}
    unlooked = [r for r in found.ratings if r.actions and r.value is None]
    assert unlooked and all(r.loss is None and r.actions[-1].value is None for r in unlooked)
    assert any(f"not valued the action taken in {len(unlooked)} decisions" in note for note in found.notes)


def test_values_go_before_visits():
    def says(view, rng):
        some = dict.fromkeys(view.legal, 0.5) if len(view.legal) > 3 else None
        return Decision(view.legal[0], visits={view.legal[0]: 1}, values=some)

    found = analyst.review(dealt("hearts"), "random", player=StubPlayer(says))
    assert found.unit.startswith("points")
    assert {bool(r.actions) for r in found.ratings if not r.forced} == {True, False}


def test_only_the_seats_that_are_asked_for():
    hand = dealt("hearts")
    found = analyst.review(hand, "random", player=StubPlayer(noisy), seats=[2])
    assert {r.seat for r in found.ratings} == {2} and [c.seats for c in found.curves] == [(2,)]
    whole = analyst.review(hand, "random", player=StubPlayer(noisy))
    assert found.ratings == tuple(r for r in whole.ratings if r.seat == 2)
    assert found.answers == whole.answers[2:3]


@pytest.mark.parametrize(
    ("game", "spec", "says"),
    [
        ("hearts", "nobody", "unknown analyst 'nobody'; choose from: .*solver"),
        ("hearts", "solver", "the solver solves skat and crew, not hearts"),
        ("hearts", "rules", "gives no values"),
        ("hearts", "pimc:worlds=x", "worlds=x"),
        ("hearts", "pimc:sheep=1", "unknown option of player 'pimc'"),
        ("hearts", "optimal", "plays mines only"),
    ],
)
def test_who_cannot_be_asked(game, spec, says):
    with pytest.raises(TrickformerError, match=says) as error:
        analyst.review(dealt(game), spec)
    assert "\n" not in str(error.value)
    assert isinstance(error.value, UnknownNameError) == str(error.value).startswith("unknown")
    with pytest.raises(TrickformerError, match="there is no seat 7 in hearts"):
        analyst.review(dealt("hearts"), "pimc", seats=[1, 7])


def test_optimal_play_of_mines_is_rated_by_enumeration():
    hand = dealt("mines(rows=3,cols=4,mines=2)", seed=2)
    game = hand.game
    found = analyst.review(hand, "optimal")
    from trickformer import _core

    solver = _core.mines.Solver(game.board, 10**6, 10**6)
    for rating, (turn, state) in zip(found.ratings, hand.turns(), strict=True):
        view = game.view(state, 0)
        worth = {cell: len(view.events) + action_value(game, solver, view, cell) for cell in turn.legal}
        if rating.forced:
            continue
        assert rating.loss == pytest.approx(max(worth.values()) - worth[turn.action], abs=1e-9)
        assert {a.action: pytest.approx(a.value) for a in rating.actions} == worth
    assert found.unit == "cells" and found.curves[0].result == game.scores(hand.end())[0]


@pytest.mark.parametrize("name", [*games.NAMES, "skat(scores=value)", "hanabi(players=3,colors=3)"])
def test_worth_turns_values_into_points(name):
    """Of every outcome: own less the mean of the others', or the shared score."""
    game = games.load(name)
    factor, unit = game.worth
    labels = np.array(game.outcomes.labels, dtype=np.float64)
    own = labels[:, 0]
    if len(set(labels[-1])) > 1 or game.name == "hearts":
        own = (own - labels[:, 1:].mean(axis=1)) * (1 if game.higher_is_better else -1)
    assert np.allclose(game.outcomes.values[:, 0] * factor, own, atol=1e-4)
    assert unit.split()[0].rstrip(",") in ("points", "cells", "missions")


def test_tricks_are_counted_as_they_are_told():
    for name in ("hearts", "skat", "crew", "hanabi"):
        hand = dealt(name, "partner" if name == "hanabi" else "rules" if name == "skat" else "random", seed=9)
        for turn, state in hand.turns():
            lines = [line for line in hand.game.describe(state).splitlines() if line.startswith("trick ")]
            open_ = bool(lines) and "won by" not in lines[-1]
            if turn.trick is not None:
                assert turn.trick == len(lines) + (not open_), f"{name}, decision {turn.number}"
            else:
                assert not lines or name == "crew"


def test_players_of_models_say_what_each_action_is_worth(tiny_checkpoint_of, tiny_features_checkpoint_of):
    """What they took is worth what they say it is, and, of ArgmaxVal*, as much as any."""
    for folder in (tiny_checkpoint_of("hearts"), tiny_features_checkpoint_of("hearts")):
        for spec in (f"argmax:threshold=0,checkpoint={folder}", f"gomcts:runs=8,checkpoint={folder}"):
            assert_says_values("hearts", spec, best="argmax" in spec)


@pytest.mark.parametrize(
    ("game", "spec"),
    [
        ("hearts", "pimc:worlds=3,runs=20"),
        ("skat", "pimc:worlds=3"),
        ("skat", "kermit:worlds=3"),
        ("mines(rows=3,cols=4,mines=2)", "optimal"),
        ("mines(rows=3,cols=4,mines=2)", "bsr_uct:simulations=300"),
        ("hanabi(players=2,colors=2,ranks=2,hand_size=2)", "sparta:worlds=60"),
        ("crew(mission=3)", "sparta:worlds=10,multi=true"),
        ("mines(rows=3,cols=4,mines=2)", "pimc:worlds=4"),
    ],
)
def test_searches_say_what_each_action_is_worth(game, spec):
    cast = "partner:style=smart" if game.startswith("hanabi") else "rules" if game == "skat" else "random"
    assert_says_values(game, spec, best=False, cast=cast)


def assert_says_values(name, spec, best, cast="random"):
    hand = dealt(name, cast)
    game, player, told = hand.game, players.make(spec, hand.game), 0
    for turn, state in hand.turns():
        view, rng = game.view(state, turn.seat), decision_rng(0, 0, turn.seat, turn.number)
        (decision,) = player.act([view], [rng], [{}])
        if decision.values is None:
            assert len(turn.legal) == 1 or game.name in ("skat", "hanabi"), spec
            continue
        assert set(decision.values) <= set(turn.legal)
        assert decision.values[decision.action] == pytest.approx(decision.value, abs=1e-6), f"{spec}, {turn}"
        if best:
            assert decision.value == pytest.approx(max(decision.values.values()))
            assert set(decision.values) == set(turn.legal)
        told += 1
    assert told > 1, spec


def test_a_review_is_json_and_the_same_again():
    hand = dealt("skat", "rules", seed=4)
    found = analyst.review(hand, "pimc:worlds=4", repeats=2, seed=9)
    assert found == analyst.review(hand, "pimc:worlds=4", repeats=2, seed=9)
    assert found != analyst.review(hand, "pimc:worlds=4", repeats=2, seed=10)
    assert Review.model_validate_json(found.model_dump_json()) == found
    json.dumps(found.model_dump(mode="json"))
    assert found.answers == analyst.review(hand, "solver").answers


def test_a_hand_so_far():
    game = games.load("hearts")
    state = game.deal(3, 0)
    for _ in range(9):
        state.apply_action(state.legal_actions()[0])
    hand = of_state(game, state)
    found = analyst.review(hand, "random", player=StubPlayer(noisy))
    assert len(found.ratings) == 9 and all(c.result is None and c.rest is None for c in found.curves)
    assert all(answer.won is None for answer in found.answers)
    with pytest.raises(TrickformerError, match="has no decision to rate"):
        analyst.review(of_state(game, game.deal(3, 0)), "random")
    with pytest.raises(TrickformerError, match="decisions 1 to 9, and no decision 10"):
        hand.at(10)
