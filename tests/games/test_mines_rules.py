"""Mines: the rules against a plain twin, chance, views, OpenSpiel's tools, optimal values against a slow recursion."""

import itertools
import pickle
import random
from collections import Counter
from copy import deepcopy
from fractions import Fraction
from functools import partial

import numpy as np
import pyspiel
import pytest

from trickformer import _core, games
from trickformer.base import PUBLIC, TrickformerError, View
from trickformer.belief.samplers.mines import unpack
from trickformer.games.mines import FIRST_MOVES, MINE, replay_moves
from trickformer.players.optimal import action_value

BOARDS = [(1, 1, 1), (3, 1, 1), (3, 3, 2), (4, 4, 6), (2, 5, 3), (7, 7, 11), (8, 8, 20), (1, 64, 9), (64, 1, 30)]
WIDE = [(9, 9, 10), (5, 13, 20), (8, 16, 30), (16, 16, 40), (16, 30, 99), (30, 16, 99), (2, 256, 200), (1, 512, 100)]


def around(rows, cols, cell):
    """The neighbours of a cell, from the rules as they are told."""
    r, c = divmod(cell, cols)
    near = [(r + i, c + j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    return {i * cols + j for i, j in near if 0 <= i < rows and 0 <= j < cols}


def allowed(rows, cols, first, rule):
    """Where mines may lie."""
    free = {"any": set(), "safe": {first}, "no-neighbours": {first} | around(rows, cols, first)}[rule]
    return set(range(rows * cols)) - free


def playable(rule):
    """The boards on which every first move leaves room for the mines."""
    for rows, cols, mines in BOARDS + WIDE:
        cells = rows * cols
        if min([cells - 1, *(len(allowed(rows, cols, first, rule)) for first in range(cells))]) >= mines:
            yield rows, cols, mines


@pytest.mark.parametrize("rule", FIRST_MOVES)
def test_games_are_those_of_a_plain_twin(rule):
    rng = random.Random(1)
    for rows, cols, mines in playable(rule):
        game = games.load(f"mines(rows={rows},cols={cols},mines={mines},first_move={rule})")
        for index in range(12):
            state, opened, laid = game.deal(3, index), [], None
            while not state.is_terminal():
                if state.is_chance_node():
                    state.apply_action(game.chance(state, index, 0))
                    continue
                view = game.view(state, 0)
                assert view.legal == tuple(sorted(set(range(rows * cols)) - set(opened)))
                opened.append(rng.choice(view.legal))
                state.apply_action(opened[-1])
            laid = set(state.laying)
            assert len(laid) == mines
            assert laid <= allowed(rows, cols, opened[0], rule)
            score = len(opened) - (opened[-1] in laid)
            assert score == len(opened) - 1 or score == rows * cols - mines
            assert game.scores(state) == (score,)
            assert state.returns() == [score / (rows * cols - mines)]
            events = game.view(state, 0).events
            shown = [MINE if cell in laid else len(laid & around(rows, cols, cell)) for cell in opened]
            assert [(e.action, *e.seen) for e in events] == list(zip(opened, shown))
            assert game.view(state, PUBLIC).events == events
            assert replay_moves(game, opened, sorted(laid)).history() == state.history()


@pytest.mark.parametrize(("rows", "cols", "mines"), WIDE)
def test_every_number_of_a_board_of_several_words(rows, cols, mines):
    """Neighbours, cells that the rule allows, and what all cells without a mine show, to the end of the game."""
    rng, cells = random.Random(rows), rows * cols
    for rule in FIRST_MOVES:
        board = _core.mines.Board(rows, cols, mines, FIRST_MOVES.index(rule))
        for cell in range(cells):
            assert board.around(cell) == sorted(around(rows, cols, cell))
            assert board.allowed_cells(cell) == sorted(allowed(rows, cols, cell, rule))
        state, first = _core.mines.State(board), rng.randrange(cells)
        room = sorted(allowed(rows, cols, first, rule) - {first})
        laid = set(rng.sample(room, mines))
        if rule != "any":
            state.open(first)
        state.lay(rng.sample(sorted(laid), mines))
        assert state.layout == sorted(laid) and state.is_laid
        order = [cell for cell in rng.sample(range(cells), cells) if cell not in laid and cell != first]
        for cell in order if rule != "any" else [first, *order]:
            assert not state.over
            state.open(cell)
        numbers = [(cell, len(laid & around(rows, cols, cell))) for cell in [first, *order]]
        assert state.over and state.opened_cells == numbers and state.unopened_cells == sorted(laid)
        for copied in (pickle.loads(pickle.dumps(state)), deepcopy(state)):
            assert copied.opened_cells == numbers
        observation = _core.mines.Observation(board, *map(list, zip(*numbers)))
        assert _core.mines.Counter(board, observation).layouts == 1


@pytest.mark.parametrize("rule", FIRST_MOVES)
def test_chance_is_uniform_over_layouts(rule):
    """The product of the probabilities along each way to lay the mines is that of one layout among all."""
    game = games.load(f"mines(rows=4,cols=3,mines=3,first_move={rule})")
    state = game.spiel.new_initial_state()
    if rule != "any":
        state.apply_action(4)
    found = {}

    def walk(state, probability):
        if not state.is_chance_node():
            found[tuple(state.laying)] = probability
            return
        for action, p in state.chance_outcomes():
            walk(state.child(action), probability * p)

    walk(state, 1.0)
    room = allowed(4, 3, 4, rule)
    assert set(found) == set(itertools.combinations(sorted(room), 3))
    assert np.allclose(list(found.values()), 1 / len(found))


def test_boards_follow_from_the_seed_and_are_alike():
    """The mines of a seed are the first cells of one order that the rule leaves, whatever is opened first."""
    for rule in FIRST_MOVES:
        game = games.load(f"mines(rows=7,cols=7,mines=5,first_move={rule})")
        layouts = {}
        for first in range(49):
            state = game.deal(5, 2)
            state.apply_action(first)
            while state.is_chance_node():
                state.apply_action(game.chance(state, 5, 2))
            layouts[first] = frozenset(state.laying)
        usual = Counter(layouts.values()).most_common(1)[0][0]
        for first, layout in layouts.items():
            away = usual - allowed(7, 7, first, rule)
            assert len(usual - layout) == len(away), (rule, first)
        assert (len(set(layouts.values())) == 1) == (rule == "any")
    game = games.load("mines(first_move=any)")
    counts = Counter(c for i in range(2000) for c in game.deal(1, i).laying)
    assert sum((counts[c] - 750) ** 2 / 750 for c in range(16)) < 38  # all cells alike; chi-square, p = 0.001


def test_states_copy_pickle_and_refuse_nonsense():
    game = games.load("mines")
    state = game.deal(1, 1)
    state.apply_action(5)
    with pytest.raises(ValueError, match="all mines are laid"):
        game.view(state, 0)
    while state.is_chance_node():
        state.apply_action(game.chance(state, 1, 0))
    twin = state.clone()
    twin.apply_action(twin.legal_actions()[0])
    assert len(state.core.opened_cells) == 1 < len(twin.core.opened_cells)
    for copied in (pickle.loads(pickle.dumps(state.core)), deepcopy(state.core)):
        assert copied.opened_cells == state.core.opened_cells
    with pytest.raises(ValueError, match="only at its end"):
        game.scores(state)
    for fault in (lambda c: c.open(5), lambda c: c.lay([0]), lambda c: c.open(16)):
        with pytest.raises((ValueError, IndexError)):
            fault(state.core)
    for cells, shown in (([1, 1], [0, 0]), ([1], [10]), ([1, 2], [9, 0]), ([1], [])):
        with pytest.raises(ValueError, match=r"twice|must show|one number"):
            _core.mines.Observation(game.board, cells, shown)


@pytest.mark.parametrize("rule", FIRST_MOVES)
def test_mines_that_spare_the_first_cell_are_laid_once_it_is_open(rule):
    state = _core.mines.State(board := _core.mines.Board(4, 4, 2, FIRST_MOVES.index(rule)))
    if rule == "any":
        state.lay([0, 1])
        state.open(0)
        assert state.over
        return
    with pytest.raises(ValueError, match="not in that cell"):
        state.lay([0, 1])
    state.open(0)
    with pytest.raises(ValueError, match="that the rule of the first move allows"):
        state.lay([0, 15])
    state.lay(board.allowed_cells(0)[-2:])
    assert state.opened_cells == [(0, 0)]


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("mines(mines=8)", "room for 1 to 7 mines"),
        ("mines(mines=16,first_move=any)", "room for 1 to 15"),
        ("mines(rows=27,cols=19)", "1 to 512 cells"),
        ("mines(rows=0)", "1 to 512 cells"),
        ("mines(rows=9,cols=9,mines=73)", "room for 1 to 72"),
        ("mines(rows=2.5)", "whole number"),
        ("mines(first_move=never)", "any, safe, no-neighbours"),
        ("mines(size=3)", "option of mines 'size'; choose from: cascade, cols"),
    ],
)
def test_bad_boards_are_one_line(spec, says):
    with pytest.raises(TrickformerError, match=says) as fault:
        games.load(spec)
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize("rule", FIRST_MOVES)
def test_openspiels_random_simulations(rule):
    game = pyspiel.load_game(f"trickformer_mines(rows=4,cols=4,mines=5,first_move={rule})")
    pyspiel.random_sim_test(game, num_sims=5, serialize=True, verbose=False)
    state = game.new_initial_state()
    assert state.information_state_string(0) if rule != "any" else state.is_chance_node()


# ------------------------------------------------------------------------------------------------ optimal values


def best(layouts, closed, near, mines):
    """The expected number of cells that are still opened, by trying every closed cell; `near` gives neighbours."""
    if len(closed) == mines:
        return Fraction(0)
    found = []
    for cell in closed:
        value = Fraction(0)
        parts = {}
        for layout in layouts:
            if cell not in layout:
                parts.setdefault(len(layout & near(cell)), []).append(layout)
        for part in parts.values():
            value += Fraction(len(part), len(layouts)) * (1 + best(part, closed - {cell}, near, mines))
        found.append(value)
    return max(found)


@pytest.mark.parametrize("rule", FIRST_MOVES)
@pytest.mark.parametrize(("rows", "cols", "mines"), [(3, 1, 1), (2, 3, 2), (1, 6, 2), (3, 3, 5), (3, 3, 6), (4, 2, 3)])
def test_the_optimal_value_is_that_of_a_slow_recursion(rows, cols, mines, rule):
    try:
        game = games.load(f"mines(rows={rows},cols={cols},mines={mines},first_move={rule})")
    except TrickformerError:
        return
    solver = _core.mines.Solver(game.board, 10**6, 10**6)
    for first in range(rows * cols):
        room = sorted(allowed(rows, cols, first, rule))
        layouts = [frozenset(x) for x in itertools.combinations(room, mines)]
        slow = Fraction(0)
        parts = {}
        for layout in layouts:
            if first not in layout:
                parts.setdefault(len(layout & around(rows, cols, first)), []).append(layout)
        for part in parts.values():
            closed = frozenset(range(rows * cols)) - {first}
            slow += Fraction(len(part), len(layouts)) * (1 + best(part, closed, partial(around, rows, cols), mines))
        count, total = solver.open(_core.mines.Observation(game.board, [], []), first)
        assert (count, Fraction(total, count)) == (len(layouts), slow), first


def test_optimal_values_near_the_end_of_a_large_board():
    """The same recursion, from positions in which seven cells of a corner are left, three of them mines."""
    rng, compared = random.Random(4), 0
    for rows, cols in [(9, 9), (8, 16), (16, 16), (16, 30)] * 60:
        corner = [row * cols + col for row in range(rows - 3, rows) for col in range(cols - 4, cols)]
        closed = rng.sample(corner, 7)
        board, laid = _core.mines.Board(rows, cols, 3, 0), set(closed[:3])
        opened = [cell for cell in range(rows * cols) if cell not in closed]
        observation = _core.mines.Observation(board, opened, [len(laid & around(rows, cols, cell)) for cell in opened])
        counter = _core.mines.Counter(board, observation)
        if counter.layouts == 1:
            continue
        layouts = [frozenset(np.flatnonzero(row).tolist()) for row in unpack(counter.all(35), rows * cols)]
        solver = _core.mines.Solver(board, 10**5, 10**5)
        found = [solver.open(observation, cell) for cell in sorted(closed)]
        slow = best(layouts, frozenset(closed), partial(around, rows, cols), 3)
        assert max(Fraction(total, count) for count, total in found) == slow, (rows, cols, closed)
        compared += 1
    assert compared > 20


def test_the_values_of_the_papers_board():
    """The paper: with no mine around the first move, 4x4 with 6 mines is won from the central square only."""
    game = games.load("mines")
    solver = _core.mines.Solver(game.board, 10**6, 10**6)
    start = View(0, (), tuple(range(16)))
    values = [action_value(game, solver, start, cell) / 10 for cell in (5, 1, 0)]
    assert values[0] == 1
    assert [round(v, 4) for v in values[1:]] == [0.9162, 0.8198]


def test_a_board_that_is_too_large_is_one_line():
    game = games.load("mines(rows=8,cols=8,mines=10,first_move=safe)")
    with pytest.raises(TrickformerError, match="8x8 with 10 mines is too large: too many layouts"):
        action_value(game, _core.mines.Solver(game.board, 1000, 1000), View(0, (), ()), 0)
    game = games.load("mines(rows=9,cols=9,mines=10)")
    with pytest.raises(TrickformerError, match=r"9x9 with 10 mines is too large: too many layouts: 5\.36e\+11"):
        action_value(game, _core.mines.Solver(game.board, 1000, 1000), View(0, (), ()), 40)
    game = games.load("mines(first_move=any)")
    with pytest.raises(TrickformerError, match="too many positions: more than 1000"):
        action_value(game, _core.mines.Solver(game.board, 1000, 10**5), View(0, (), ()), 0)
