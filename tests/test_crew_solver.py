"""The Crew's solver against a search of every line of play, and its lines against the rules."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import numpy as np
import pytest

from trickformer import _core
from trickformer.games import _missions
from trickformer.games.crew import DRAW, PLAY, RADIO, SILENT

crew = _core.crew
MISSIONS = {page.id: page.mission() for page in _missions.read()}


def start(mission: Any, rng: np.random.Generator) -> Any:
    """A random deal with its tasks given away at random, before the first pass of communication."""
    state = crew.State(mission, rng.permutation(40).astype(np.uint8))
    while state.phase < RADIO:
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state


def go_on(state: Any, rng: np.random.Generator, plays: int) -> Any:
    """Plays and speaks at random until `plays` cards are played, or the mission is over."""
    while not state.is_terminal() and len(state.plays) < plays:
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state


def follow(state: Any, line: list[int], draws: Any) -> Any:
    """The state after these cards, and silence; `draws` as the solver has them."""
    state = copy.copy(state)
    for card in line:
        while state.phase != PLAY:
            cards = state.legal_actions()
            if state.phase == DRAW:
                state.apply_action(cards[int(draws[state.step] * len(cards))])
            else:
                state.apply_action(SILENT if state.phase == RADIO else cards[0])
        state.apply_action(card)
    return state


def ending(rng: np.random.Generator, mission: Any, plays: int) -> Any:
    """A random game of a mission that is not over after `plays` cards.

    Few random games come that far: they go along a line of the solver's at first, then at random."""
    solver = crew.Solver()
    while True:
        state, draws = start(mission, rng), rng.random(4)
        along = int(rng.integers(plays + 1))
        if solver.can_succeed(state, 2000, draws.tolist()):
            state = go_on(follow(state, solver.line[:along], draws), rng, plays)
            if not state.is_terminal():
                return state


@pytest.mark.parametrize("first", [1, 11, 21, 31, 41])
def test_endings_equal_every_line_of_play(first: int) -> None:
    rng = np.random.default_rng(first)
    solver = crew.Solver()
    seen: Counter[bool | None] = Counter()
    for i in range(600):
        number, plays = first + i % 10, int(rng.integers(22, 37))
        state = ending(rng, MISSIONS[number], plays)
        expected, _ = crew.plain_can_succeed(state, 20_000)
        found = solver.can_succeed(state, 10**8)
        seen[expected] += 1
        assert expected is None or found == expected, (first, i, number, plays)
        if found:
            assert follow(state, solver.line, None).result == 1, (first, i, number, plays)
    print(seen)
    assert min(seen[True], seen[False]) > 150, seen
