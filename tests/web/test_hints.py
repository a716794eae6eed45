"""Hints: which actions deserve a thought, by how much the best leads, and that they depend on no hidden card."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from trickformer import games
from trickformer.base import Decision, Thought, World
from trickformer.web.cast import DecisionRequest
from trickformer.web.hints import find_hint, find_loss
from trickformer.web.inside import Inside

LEGAL = (3, 5, 7, 9)


def _worlds(*values):
    return Thought(worlds=tuple(World((), dict(zip(LEGAL, row))) for row in values))


def test_worlds_give_the_candidates_within_two_errors():
    """The differences to the best are 1 and 3 (mean 2, error 1), 1 and 1.2 (error 0.1), and 0."""
    thought = _worlds((10.0, 9.0, 9.0, 10.0), (4.0, 1.0, 2.8, 4.0))
    values = {3: 7.0, 5: 5.0, 7: 5.9, 9: 7.0}
    hint = find_hint(Decision(3, visits=dict.fromkeys(LEGAL, 1), thought=thought), values, LEGAL)
    assert (hint.best, hint.candidates, hint.basis) == (3, (3, 5, 9), "error")
    assert (hint.rival, hint.lead, hint.error) == (9, 0.0, 0.0)
    hint = find_hint(Decision(3, thought=thought), values, (3, 5, 7))
    assert (hint.candidates, hint.rival) == ((3, 5), 7)
    assert hint.lead == pytest.approx(1.1) and hint.error == pytest.approx(0.1)


def test_a_loss_is_the_difference_of_two_values():
    """The differences in the worlds are 1 and 3; the value may come from other worlds."""
    decision = Decision(3, thought=_worlds((10.0, 9.0, 9.0, 10.0), (4.0, 1.0, 2.8, 4.0)))
    assert find_loss(decision, {3: 7.0, 5: 4.5}, 5) == (2.5, pytest.approx(1.0))
    assert find_loss(decision, {3: 7.0, 5: 9.5}, 5)[0] == -2.5
    assert find_loss(decision, {3: 7.0, 5: 4.5}, 3) == (0.0, 0.0)
    assert find_loss(decision, {3: 7.0}, 5) == find_loss(decision, {5: 7.0}, 5) == (None, None)
    assert find_loss(Decision(3), {3: 7.0, 5: 4.5}, 5) == (2.5, None)


def test_one_world_has_no_error():
    hint = find_hint(Decision(3, thought=_worlds((4.0, 1.0, 2.0, 3.0))), {3: 4.0, 5: 1.0, 7: 2.0, 9: 3.0}, LEGAL)
    assert (hint.candidates, hint.basis, hint.rival, hint.lead, hint.error) == ((3, 7, 9), "value", 9, 1.0, None)


@pytest.mark.parametrize(
    "visits, candidates",
    [((50, 30, 15, 5), (3, 5, 7)), ((70, 25, 5, 0), (3, 5)), ((97, 1, 1, 1), (3,)), ((25, 25, 25, 25), (3, 5, 7))],
)
def test_the_most_visited_actions_are_candidates(visits, candidates):
    """At most three, each with a tenth of the visits."""
    hint = find_hint(Decision(3, visits=dict(zip(LEGAL, visits))), {3: 1.0, 5: 1.5}, LEGAL)
    assert (hint.candidates, hint.basis) == (candidates, "visits")
    assert (hint.rival, hint.lead, hint.error) == (5, -0.5, None)  # a search may prefer visits to values


def test_the_action_of_the_source_is_always_a_candidate():
    policy = Thought(policy=dict(zip(LEGAL, (0.02, 0.5, 0.4, 0.08))))
    hint = find_hint(Decision(3, thought=policy), {}, LEGAL)
    assert (hint.best, hint.candidates, hint.basis) == (3, (3, 5, 7), "policy")
    assert hint.rival is hint.lead is None


def test_a_source_without_numbers_compares_nothing():
    hint = find_hint(Decision(5), {5: 1.0}, LEGAL)
    assert (hint.candidates, hint.basis, hint.rival, hint.lead) == ((5,), None, None, None)


def _request(state):
    return DecisionRequest("", 3, 1, state.current_player(), 5, tuple(map(int, state.history())))


def _positions(game, seed):
    """States with a choice, of a hand in which all play at random."""
    rng, state = np.random.default_rng(seed), game.deal(seed, 0)
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(game.chance(state, seed, 0))
            continue
        if len(state.legal_actions()) > 1:
            yield state.clone()
        state.apply_action(int(rng.choice(state.legal_actions())))


@pytest.mark.parametrize(
    "spec, name",
    [("hearts", "hearts-small"), ("skat", "skat-small"), ("crew(mission=9)", "crew-small"), ("hanabi", "hanabi-small")],
)
def test_exchanged_hidden_cards_do_not_change_a_hint(spec, name):
    """Of no source, in deals that look the same to the seat."""
    game, rng, exchanged = games.load(spec), np.random.default_rng(4), 0
    specs = {
        "pimc": "pimc:worlds=4,runs=20" if spec == "hearts" else "pimc:worlds=4",
        "model": f"argmax:checkpoint={name}",
        "search": f"gomcts:checkpoint={name},runs=20",
    }
    inside = Inside(str(game.spiel), specs, None, 20)
    for state in list(_positions(game, 6))[:20:4]:
        viewer = state.current_player()
        twin = game.exchange(state, game.view(state, viewer), rng)
        if twin is None or twin.history() == state.history() or game.view(twin, viewer) != game.view(state, viewer):
            continue
        exchanged += 1
        for panel in specs:
            hints = [json.dumps(getattr(inside, panel)(_request(deal))["hint"]) for deal in (state, twin)]
            assert hints[0] == hints[1], panel
    assert exchanged > 1


def test_a_panel_gives_the_hint_in_the_unit_of_the_game(hearts):
    """The lead and its error agree with the values that the panel shows."""
    inside = Inside(str(hearts.spiel), {"pimc": "pimc:worlds=6,runs=100"}, None, 20)
    for state in list(_positions(hearts, 6))[::9]:
        panel_data = inside.pimc(_request(state))
        hint, rows = panel_data["hint"], {row["action"]: row for row in panel_data["rows"]}
        order = [row["action"] for row in panel_data["rows"]]
        best, rival = (order.index(hint[name]) for name in ("best", "rival"))
        gaps = [world["values"][best] - world["values"][rival] for world in panel_data["worlds"]]
        assert hint["lead"] == pytest.approx(rows[hint["best"]]["value"] - rows[hint["rival"]]["value"])
        assert hint["error"] == pytest.approx(np.std(gaps, ddof=1) / math.sqrt(len(gaps)), abs=1e-9)
        assert hint["best"] == panel_data["best"] and hint["best"] in hint["candidates"]


def test_a_forced_action_has_no_hint(hearts):
    inside = Inside(str(hearts.spiel), {"pimc": "pimc:worlds=2,runs=20"}, None, 20)
    state = hearts.deal(6, 0)
    while state.is_chance_node() or len(state.legal_actions()) > 1:
        state.apply_action(hearts.chance(state, 6, 0) if state.is_chance_node() else state.legal_actions()[0])
    panel_data = inside.pimc(_request(state))
    assert "hint" not in panel_data and panel_data["note"].endswith("is legal")
