"""Mines with the cascade: games, beliefs and optimal values against plain twins by flood fill; the search; records."""

import itertools
import pickle
import random
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from support.records import comparable

from trickformer import _core, games, players
from trickformer.audit import views
from trickformer.base import PUBLIC, Event, TrickformerError, View
from trickformer.belief.samplers.mines import METHODS, MinesBelief, observe, unpack
from trickformer.games.mines import FIRST_MOVES, MINE, opened_cells, replay_moves
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play

CORE = _core.mines
BOARDS = [(3, 1, 1), (4, 4, 2), (2, 5, 1), (7, 7, 5), (7, 7, 11), (1, 64, 9), (9, 9, 10), (16, 30, 30), (2, 256, 40)]


@cache
def around(rows, cols, cell):
    """The neighbours of a cell."""
    row, col = divmod(cell, cols)
    near = [(row + i, col + j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    return {i * cols + j for i, j in near if 0 <= i < rows and 0 <= j < cols}


def flood(rows, cols, mines, opened, cell):
    """The cells that a move opens, by recursion over the neighbours of cells without mines around them."""
    fresh, stack = set(), [cell]
    while stack:
        at = stack.pop()
        if at in fresh or at in opened:
            continue
        fresh.add(at)
        if at not in mines and not mines & around(rows, cols, at):
            stack += around(rows, cols, at)
    return fresh


def number(rows, cols, mines, cell):
    return MINE if cell in mines else len(mines & around(rows, cols, cell))


def load(rows, cols, mines, rule):
    """The game, or None if the rule of the first move leaves no room for the mines."""
    try:
        return games.load(f"mines(rows={rows},cols={cols},mines={mines},first_move={rule},cascade=True)")
    except TrickformerError:
        return None


def deal(game, seed, index):
    """A state at a decision; the first move is random if it lays the mines."""
    state = game.deal(seed, index)
    if game.spiel.late:
        state.apply_action(random.Random(seed + index).randrange(game.cells))
    while state.is_chance_node():
        state.apply_action(game.chance(state, seed, index))
    return state


@pytest.mark.parametrize("rule", FIRST_MOVES)
def test_games_are_those_of_a_flood_fill(rule):
    rng, long_cascades = random.Random(1), 0
    for rows, cols, mines in BOARDS:
        game = load(rows, cols, mines, rule)
        for index in range(10 if game else 0):
            state = deal(game, 5, index)
            laid, opened, moves = set(state.laying), {}, []
            while True:
                view = game.view(state, 0)
                for event in view.events[len(moves) :]:
                    fresh = flood(rows, cols, laid, opened.keys(), event.action)
                    shown = dict([(event.action, event.seen[0]), *zip(event.seen[1::2], event.seen[2::2])])
                    assert len(event.seen) == 2 * len(fresh) - 1, "a cell is named twice"
                    assert shown == {cell: number(rows, cols, laid, cell) for cell in fresh}
                    opened |= shown
                    moves.append(event.action)
                    long_cascades += len(fresh) > 9
                assert dict(opened_cells(view)) == opened
                assert game.view(state, PUBLIC).events == view.events
                if state.is_terminal():
                    break
                closed = set(range(rows * cols)) - opened.keys()
                assert view.legal == tuple(sorted(closed))
                state.apply_action(rng.choice(sorted(closed - laid) if rng.random() < 0.9 else sorted(closed)))
            hit = bool(laid & opened.keys())
            assert game.scores(state) == (len(opened) - hit,)
            assert hit or opened.keys() == set(range(rows * cols)) - laid
            assert replay_moves(game, moves, sorted(laid)).history() == state.history()
            assert pickle.loads(pickle.dumps(state.core)).opened_cells == state.core.opened_cells
    assert long_cascades > 10


def test_without_the_option_a_zero_opens_nothing():
    """Games with and without the cascade have the same layouts."""
    plain, cascade = games.load("mines(rows=4,cols=4,mines=2)"), games.load("mines(rows=4,cols=4,mines=2,cascade=True)")
    states = [deal(plain, 1, 1), deal(cascade, 1, 1)]
    assert states[0].laying == states[1].laying
    assert [len(state.core.opened_cells) for state in states] == [1, 11]
    assert str(plain.spiel) == "trickformer_mines(cols=4,first_move=no-neighbours,mines=2,rows=4)"
    assert str(cascade.spiel) == "trickformer_mines(cascade=True,cols=4,first_move=no-neighbours,mines=2,rows=4)"
    assert str(games.load("mines(cascade=False)").spiel) == str(games.load("mines").spiel)


def test_a_cascade_can_win_at_the_first_move():
    """The first number, and its cascade, come when the mines are laid."""
    state = CORE.State(CORE.Board(4, 4, 1, FIRST_MOVES.index("no-neighbours"), cascade=True))
    state.open(0)
    assert state.opened_cells == [(0, 0)]
    state.lay([15])
    assert state.over and len(state.opened_cells) == 15


@pytest.mark.parametrize("value", ["1", "yes", "0.5"])
def test_other_values_of_the_option_are_one_line(value):
    with pytest.raises(TrickformerError, match="cascade is True or False"):
        games.load(f"mines(cascade={value})")


def played(rows, cols, layout, moves):
    """Return the numbers that each move shows on a layout, by flood fill; None if a move opens an open cell."""
    opened, shown = set(), []
    for move in moves:
        if move in opened:
            return None
        fresh = flood(rows, cols, layout, opened, move)
        shown.append({cell: number(rows, cols, layout, cell) for cell in fresh})
        opened |= fresh
    return shown


@pytest.mark.parametrize("rule", FIRST_MOVES)
@pytest.mark.parametrize(("rows", "cols", "mines"), [(4, 4, 3), (3, 5, 2), (5, 5, 3)])
def test_the_belief_is_that_of_replaying_the_game_on_every_layout(rows, cols, mines, rule):
    """A layout is possible if the moves show the same on it, cascades included."""
    game, cells = load(rows, cols, mines, rule), rows * cols
    rng, cascades = random.Random(3), 0
    for index in range(30):
        state = deal(game, 2, index)
        for _ in range(rng.randrange(4)):
            if not state.is_terminal():
                state.apply_action(rng.choice([c for c in state.legal_actions() if c not in state.laying]))
        view = game.view(state, 0)
        moves = [event.action for event in view.events]
        free = set()
        if moves and rule != "any":
            free = {moves[0]} | (around(rows, cols, moves[0]) if rule == "no-neighbours" else set())
        room = sorted(set(range(cells)) - free)
        truth = played(rows, cols, set(state.laying), moves)
        cascades += any(len(shown) > 1 for shown in truth)
        possible = {x for x in itertools.combinations(room, mines) if played(rows, cols, set(x), moves) == truth}
        counter = CORE.Counter(game.board, observe(game, view))
        assert counter.layouts == len(possible)
        assert {tuple(np.flatnonzero(row).tolist()) for row in unpack(counter.all(10**5), cells)} == possible
        for method in METHODS:
            belief = MinesBelief(game, method, trials=300)
            belief.reset(view)
            worlds = belief.sample(20, np.random.default_rng(index))
            drawn = [tuple(row) for row in worlds.hidden[worlds.feasible].tolist()]
            assert set(drawn) <= possible
            assert worlds.feasible.all() or not belief.consistent
            assert all(game.view(worlds.state(i), 0) == view for i in np.flatnonzero(worlds.feasible)[:3])
    assert cascades > 3


@cache
def best(rows, cols, layouts, opened, safe):
    """The expected number of cells that are still opened, by trying every closed cell, with cascades."""
    if len(opened) == safe:
        return Fraction(0)
    return max(after(rows, cols, layouts, opened, safe, cell) for cell in set(range(rows * cols)) - opened)


def after(rows, cols, layouts, opened, safe, cell):
    value, parts = Fraction(0), {}
    for layout in layouts:
        if cell not in layout:
            fresh = flood(rows, cols, layout, opened, cell)
            parts.setdefault(frozenset((c, number(rows, cols, layout, c)) for c in fresh), []).append(layout)
    for shown, part in parts.items():
        now = opened | {c for c, _ in shown}
        value += Fraction(len(part), len(layouts)) * (len(shown) + best(rows, cols, frozenset(part), now, safe))
    return value


@pytest.mark.parametrize("rule", FIRST_MOVES)
@pytest.mark.parametrize(("rows", "cols", "mines"), [(1, 6, 2), (2, 4, 2), (3, 3, 2), (1, 8, 2)])
def test_the_optimal_value_is_that_of_a_recursion_with_cascades(rows, cols, mines, rule):
    """And it is the value without cascades."""
    game = load(rows, cols, mines, rule)
    if game is None:
        return
    boards = [CORE.Board(rows, cols, mines, FIRST_MOVES.index(rule), cascade=cascade) for cascade in (False, True)]
    solvers = [CORE.Solver(board, 10**6, 10**6) for board in boards]
    for first in range(rows * cols):
        room = game.board.allowed_cells(first)
        layouts = [frozenset(x) for x in itertools.combinations(room, mines)]
        slow = after(rows, cols, layouts, frozenset(), game.safe, first)
        for board, solver in zip(boards, solvers):
            count, total = solver.open(CORE.Observation(board, [], []), first)
            assert (count, Fraction(total, count)) == (len(layouts), slow), first


@pytest.mark.parametrize("method", ["rejection", "exact"])
@pytest.mark.parametrize("seed", range(3))
def test_the_search_converges_to_the_best_play_after_its_cell(method, seed):
    """It needs a node for each outcome of a cascade: 0 alone does not name the position. 1x8 with 2 mines."""
    game = games.load("mines(rows=1,cols=8,mines=2,first_move=safe,cascade=True)")
    start = CORE.Observation(game.board, [], [])
    solver = CORE.Solver(game.board, 10**6, 10**6)
    best_values = [total / count / game.safe for count, total in (solver.open(start, cell) for cell in range(8))]
    how = {"domain": 0, "seconds": 0.0, "c": 0.5, "widening": 0.0}
    found = CORE.search(game.board, start, method=METHODS.index(method), simulations=200_000, seed=seed, **how)
    assert abs(found.values[found.cell] - best_values[found.cell]) < 0.01
    assert all(n < 200 or v < b + 0.01 for n, v, b in zip(found.visits, found.values, best_values))


@pytest.mark.parametrize("method", ["metropolis", "inherited", "exact"])
def test_a_search_on_inconsistent_layouts_stays_on_the_board(method):
    """Walks that are too short draw layouts on which more cells than are safe would open."""
    game = games.load("mines(rows=8,cols=8,mines=5,cascade=True)")
    how = {"domain": 1, "seconds": 0.0, "c": 0.5, "widening": 0.0}
    inconsistent = 0
    for index in range(20):
        view = game.view(deal(game, 3, index), 0)
        if not view.legal:
            continue
        found = CORE.search(
            game.board, observe(game, view), method=METHODS.index(method), simulations=300, seed=index, **how
        )
        assert found.simulations == sum(found.visits) == 300
        assert found.cell in view.legal
        assert all(visits == 0 or 0 <= value <= 1 for visits, value in zip(found.visits, found.values))
        inconsistent += found.inconsistent
    assert (inconsistent > 0) == (method != "exact")


def test_games_of_all_players():
    """They do not depend on the games in parallel."""
    game = games.load("mines(rows=5,cols=5,mines=3,cascade=True)")
    cast = ["bsr_uct:simulations=60", "optimal", "random", "pimc:worlds=4,runs=1", "ismcts:runs=20"]
    hands = [Hand(deal, (kind,)) for deal in range(4) for kind in range(len(cast))]
    together, alone = (list(play(game, [players.make(s, game) for s in cast], hands, 5, n)) for n in (12, 1))
    assert comparable(together) == comparable(alone)
    for record in together:
        if record.seating == (1,):
            assert record.scores == (22,), "22 cells without a mine; the best play wins these boards"


def test_the_audit_passes():
    for spec in ("mines(cascade=True)", "mines(rows=6,cols=6,mines=4,first_move=any,cascade=True)"):
        report = views.command(views.Audit(game=spec, deals=20, seed=1))
        assert report.good, str(report)


def test_events_that_no_game_has_are_refused():
    game = games.load("mines(cascade=True)")
    for event in (Event(0, None, (0,)), Event(0, 5, ()), Event(0, 5, (0, 1))):
        with pytest.raises(ValueError, match="a cell and what it showed"):
            observe(game, View(0, (event,), ()))
