"""Skat with open cards: results against every line of play, recorded games against the solver's plain answers."""

from __future__ import annotations

import copy
from dataclasses import replace
from io import StringIO
from itertools import islice

import numpy as np
import pytest
from rich.console import Console
from support.play import shared_file
from support.review import dealt
from support.skat_records import fixture_games, random_records

from trickformer import _core, games
from trickformer.games.skat import ACTIONS, CARDS, PLAYING, POINTS
from trickformer.records import files
from trickformer.records.skat.record import SkatRecord, contract
from trickformer.records.skat.replay import replay
from trickformer.review import analyst, skat
from trickformer.review.hand import of_record
from trickformer.review.text import print_review

SEEGER = True
NULL = 5


def score(core, seat=None):
    """Own less the mean of the others' scores, of the soloist unless a seat is given."""
    result = core.result()
    scores, seat = result.scores(SEEGER), result.soloist if seat is None else seat
    return scores[seat] - (sum(scores) - scores[seat]) / 2


def by_every_line(core):
    """What the soloist's margin comes to by every line of play."""
    if core.is_terminal():
        return score(core)
    values = []
    for card in core.legal_actions():
        after = copy.copy(core)
        after.apply_action(card)
        values.append(by_every_line(after))
    return (max if core.current_player() == core.soloist else min)(values)


def endings(seed, n, left, wanted=lambda core, done: True):
    """Cores and OpenSpiel states of random games when `left` cards are still to be played, of those that are wanted."""
    histories, _ = _core.skat.random_games(seeger=True, seed=seed, first=0, n=n)
    for history in histories.tolist():
        actions = [action for action in history if action != 255]
        core = _core.skat.State(np.array(actions[:32], dtype=np.uint8))
        for action in actions[32:-left]:
            core.apply_action(action)
        done = (30 - left) // 3
        if core.phase != PLAYING or not wanted(core, done):
            continue
        state = games.load("skat").spiel.new_initial_state()
        for action in actions[:-left]:
            state.apply_action(action)
        if len(state.plays) == 30 - left:
            yield core, state


def assert_by_every_line(core, state, hint):
    for card, (result, _) in skat.solve_cards(state).items():
        after = copy.copy(core)
        after.apply_action(card)
        scores = result.scores(SEEGER)
        found = scores[core.soloist] - (sum(scores) - scores[core.soloist]) / 2
        assert found == by_every_line(after), f"{hint}, {CARDS[card]} in\n{state}"


@pytest.mark.parametrize("left", [1, 2, 4, 6, 8, 9])
def test_results_are_those_of_every_line_of_play(left):
    seed = 40 + left
    tried = 0
    for core, state in islice(endings(seed, 1500, left), 60):
        assert_by_every_line(core, state, f"seed {seed}")
        tried += 1
    assert tried == 60


@pytest.mark.slow
@pytest.mark.parametrize("side", ["all", "none"])
def test_the_first_and_the_tenth_trick_count(side):
    """Games in which the soloist has all tricks so far, or none: schwarz either way is still open."""

    def wanted(core, done):
        return core.kind != NULL and core.soloists_tricks == (done if side == "all" else 0)

    seed, flags = 7, set()
    for core, state in islice(endings(seed, 40_000, 9, wanted), 25):
        assert_by_every_line(core, state, f"seed {seed}")
        flags |= {result.schwarz for result, _ in skat.solve_cards(state).values()}
    assert flags == {False, True}


def test_card_points_are_those_of_every_line():
    def points(core):
        if core.is_terminal():
            return core.result().points
        values = [points(after) for after in (played(core, card) for card in core.legal_actions())]
        return (max if core.current_player() == core.soloist else min)(values)

    def played(core, card):
        after = copy.copy(core)
        after.apply_action(card)
        return after

    for core, state in islice(endings(3, 1500, 6, lambda core, _: core.kind != NULL and core.level < 2), 40):
        assert {c: p for c, (_, p) in skat.solve_cards(state).items()} == {
            c: points(played(core, c)) for c in core.legal_actions()
        }


def plainly_won(found, plays):
    """Whether the soloist of a replayed record reaches 61 points, or takes no trick in a null, after so many cards of
    the play, if the cards lie open: asked of the solver with positions made from the record alone."""
    record, kind = found.record, found.state.kind
    moves = [move[2:] for move in record.moves if move[2:] in CARDS]
    held = [set(record.deck[10 * p : 10 * p + 10]) for p in range(3)]
    laid = moves[:2] if "pick-up" in {move[2:] for move in record.moves} else []
    if laid:
        held[found.soloist] = (held[found.soloist] | set(record.deck[30:])) - set(laid)
    skat_points = sum(POINTS[card[1]] for card in laid or record.deck[30:])
    cards = moves[len(laid) :][:plays]
    tricks = found.tricks[: plays // 3]
    leader = tricks[-1].winner if tricks else 0
    if kind == NULL and any(trick.winner == found.soloist for trick in tricks):
        return False
    own = skat_points + sum(trick.points for trick in tricks if trick.winner == found.soloist)
    against = sum(trick.points for trick in tricks if trick.winner != found.soloist)
    for hand in held:
        hand -= set(cards)
    if not any(held):
        return own >= 61 if kind != NULL else True
    trick = [CARDS.index(card) for card in cards[len(tricks) * 3 :]]
    position = _core.skat_solver.Positions(
        np.array([kind], np.int8),
        np.array([found.soloist], np.int8),
        np.array([[sum(1 << CARDS.index(c) for c in hand) for hand in held]], np.uint32),
        np.array([(*trick, -1, -1)[:2]], np.int8),
        np.array([leader], np.int8),
        np.array([(own, against)], np.int16),
    )
    return bool(_core.skat_solver.at_least(position, 61)[0][0])


def assert_named(record):
    """That the decision which lost a game is the one after which open cards say no, and that the line won it."""
    hand, found = of_record(record), replay(record)
    (answer,) = analyst.review(hand, "solver").answers
    played = [turn for turn, _ in hand.turns() if turn.trick is not None]
    course = [plainly_won(found, i) for i in range(len(played) + 1)]
    assert [point.winnable for point in answer.course] == course
    assert answer.winnable == course[0] and answer.won is False
    losing = next((i for i in reversed(range(len(played))) if course[i] and not course[i + 1]), None)
    assert (answer.losing_step is None) == (losing is None)
    if losing is None:
        return None
    turn = played[losing]
    assert (answer.losing_step.number, answer.losing_step.trick) == (turn.number, losing // 3 + 1)
    assert (answer.losing_step.seat, answer.losing_step.words) == (turn.seat, ACTIONS[turn.action])
    state = next(state for each, state in hand.turns() if each.number == turn.number)
    follow = [card for line in answer.line for card in line.split(": ")[1].split(", ")[0].split(" ")]
    for play in follow[len(state.trick) :]:
        seat, card = play.split(":")
        assert int(seat) == state.current_player()
        state.apply_action(CARDS.index(card))
    assert state.is_terminal() and state.result.won
    return answer.losing_step


def simple(record):
    """Whether 61 points win, or no trick: nothing was announced, and the bid was covered without schneider."""
    found = replay(record)
    if found.state.level or found.overbid_null is not None or record.contract is None:
        return False
    result = found.state.result()
    return not (result.overbid or result.schneider or result.schwarz)


@pytest.mark.slow
def test_where_recorded_games_were_lost():
    """Twenty lost games of XSkat's computers: the trick that lost each of those that were winnable."""
    path = shared_file("skat", "xskat_games.log")
    lost = (r for r in files.read(path) if (r.result or "").startswith("lost") and simple(r))
    named = [assert_named(record) for record in islice(lost, 20)]
    assert len(named) == 20 and sum(losing is not None for losing in named) >= 5


def test_where_random_games_were_lost():
    lost = (r for r, _ in random_records(seed=11, n=4000) if simple(r))
    tried = 0
    for record in lost:
        result = replay(record).state.result()
        if result.won:
            continue
        assert_named(record)
        tried += 1
        if tried == 6:
            return
    raise AssertionError("too few games")


def test_the_servers_games():
    """Of twelve games, one was lost that the defenders had given back: the soloist then keeps clubs jack too long."""
    path = shared_file("skat", "iss_games.sgf")
    answers = [analyst.review(of_record(record), "solver").answers for record in files.read(path)]
    losing = {number: told[0].losing_step for number, told in enumerate(answers, 1) if told and told[0].losing_step}
    assert list(losing) == [10]
    assert (losing[10].trick, losing[10].seat, losing[10].words) == (9, 2, "CK")
    assert not answers[4]  # a defender left before a card was played


def test_fixtures_are_looked_at_as_far_as_they_went():
    for number, record in enumerate(fixture_games(), 1):
        hand, found = of_record(record), replay(record)
        actions = sum(move[2:] in ACTIONS for move in record.moves)
        turns = list(hand.turns())
        assert [turn.number for turn, _ in turns] == [*range(1, len(turns) + 1)]
        if found.overbid_null is None:
            assert len(turns) == actions, f"game {number}"
            assert [ACTIONS[turn.action] for turn, _ in turns] == [m[2:] for m in record.moves if m[2:] in ACTIONS]
        if not turns:
            continue
        told = analyst.review(hand, "solver")
        assert any("broken off" in note for note in told.notes) == (not hand.end().is_terminal())
        for answer in told.answers:
            assert answer.won is (None if found.soloist < 0 else "win" in (record.result or ""))


@pytest.mark.slow
def test_a_game_that_was_given_up():
    """Before one of its cards, by a soloist that had not lost it yet, or had."""
    told = set()
    for deal in range(4):
        hand = dealt("skat", "rules", seed=2, deal=deal)
        whole = analyst.review(hand, "solver")
        for point in whole.answers[0].course[4:-1:9] if whole.answers else ():
            turn, _ = hand.at(point.number)
            review = analyst.review(replace(hand, history=hand.history[: turn.at], won=False), "solver")
            (answer,) = review.answers
            assert answer.won is False and answer.course[-1].winnable == point.winnable
            assert answer.losing_step is None or not point.winnable
            console = Console(file=StringIO(), width=200)
            print_review(review, console)
            assert ("given up while it could still be won" in console.file.getvalue()) == point.winnable
            told.add(point.winnable)
    assert told == {False, True}


def test_a_null_that_was_worth_too_little_is_lost_whatever_is_played():
    (record,) = (r for r in fixture_games() if replay(r).overbid_null is not None)
    hand = of_record(record)
    (answer,) = analyst.review(hand, "solver").answers
    assert (answer.won, answer.winnable, answer.losing_step, answer.line) == (False, False, None, ())
    assert hand.n_substituted and "lost whatever is played" in hand.notes[0]


def test_an_auction_that_is_not_on_record_is_not_rated():
    record, _ = next((r, s) for r, s in random_records(seed=5, n=50) if r.contract and " 18" in r.moves[0])
    soloist = replay(record).soloist
    end = next(i for i, move in enumerate(record.moves) if move[2:] in ("pick-up", "hand"))
    moves, bid = record.moves[end:], replay(record).bid
    told = SkatRecord(
        source="xskat", names=record.names, deck=record.deck, bid=bid, moves=moves, contract=contract(list(moves))
    )
    turns = list(of_record(told).turns())
    assert [f"{turn.seat} {ACTIONS[turn.action]}" for turn, _ in turns] == list(moves)
    assert turns[0][0].number == 1 and turns[0][0].seat == soloist
    same = analyst.review(of_record(record), "solver")
    other = analyst.review(of_record(told), "solver")
    assert [r.actions for r in other.ratings] == [r.actions for r in same.ratings[end:]]
    assert "the auction is not on record" in other.notes[0] and same.notes != other.notes
