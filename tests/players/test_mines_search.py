"""BSR-UCT and the optimal player of Mines: right where the answer is known, reproducible, legal; budgets hold."""

import time

import numpy as np
import pytest
from support.records import comparable

from trickformer import _core, games, players
from trickformer.base import TrickformerError, decision_rng
from trickformer.belief.samplers.mines import METHODS
from trickformer.players import specs
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play

CORE = _core.mines
HOW = {"domain": 0, "seconds": 0.0, "c": 0.5, "widening": 0.0}


def figure_2():
    """Three unknown cells in the left column, one of them a mine: opening the middle one opens 1 cell on average, by
    one of the others 4/3 (Figure 2, left). In the middle column the outer cells are mines, as the right one tells."""
    board = CORE.Board(3, 3, 3, 0)
    return board, CORE.Observation(board, [2, 4, 5, 8], [1, 3, 2, 1])


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_search_sees_more_than_the_next_move(method):
    board, observation = figure_2()
    assert [CORE.Solver(board, 100, 100).open(observation, cell) for cell in (0, 3, 6)] == [(3, 4), (3, 3), (3, 4)]
    for seed in range(3):
        found = CORE.search(board, observation, method=METHODS.index(method), simulations=4000, seed=seed, **HOW)
        assert found.cell in (0, 6), seed
        assert abs(6 * found.value - 4 - 4 / 3) < 0.2, seed
        middle = 6 * found.values[3] - 4
        assert abs(middle - 1) < 0.25, (seed, middle)
        assert sum(found.visits) == found.simulations == 4000
        assert found.visits[1] + found.visits[7] < 800  # certain mines
        assert (found.inconsistent == 0) == (method in ("exact", "rejection"))


def test_values_converge_to_the_optimum():
    """More simulations come nearer to the best play's value, from below; widening leaves actions out."""
    game = games.load("mines")
    start = CORE.Observation(game.board, [], [])
    for method in ("rejection", "exact"):
        few, many = (
            CORE.search(game.board, start, method=METHODS.index(method), simulations=n, seed=1, **HOW)
            for n in (2_000, 40_000)
        )
        assert many.cell in (5, 6, 9, 10)
        assert few.value + 0.05 < many.value <= 1
    plain = CORE.search(game.board, start, method=3, simulations=300, seed=1, **HOW)
    wide = CORE.search(game.board, start, method=3, simulations=300, seed=1, **HOW | {"widening": 0.25})
    assert np.count_nonzero(plain.visits) == 16 > np.count_nonzero(wide.visits) == 5  # 300 ** 0.25 is above 4


def test_exact_and_rejection_lead_to_the_same_values():
    """One exact draw a simulation has the law of one at every step."""
    board = CORE.Board(3, 3, 3, 0)
    observation = CORE.Observation(board, [0], [1])
    values = {}
    for method in ("exact", "rejection"):
        how = HOW | {"method": METHODS.index(method), "c": 3.0}
        runs = [CORE.search(board, observation, simulations=400, seed=seed, **how) for seed in range(400)]
        values[method] = np.array([[r.values[c] for c in range(1, 9)] for r in runs])
    gap = values["exact"].mean(axis=0) - values["rejection"].mean(axis=0)
    error = np.sqrt(sum(v.var(axis=0) for v in values.values()) / 400)
    assert (np.abs(gap) < 4 * error).all(), gap / error


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["mines", "mines(rows=3,cols=5,mines=4,first_move=safe)", "mines(first_move=any)"])
@pytest.mark.parametrize("belief", METHODS)
def test_contract_at_a_table(spec, belief):
    """Legal, reproducible, and independent of who shares the call: `play` itself checks legality."""
    game = games.load(spec)
    cast = [f"bsr_uct:belief={belief},simulations=60", "optimal", "random"]
    hands = [Hand(deal, (kind,)) for deal in range(4) for kind in range(3)]
    together, alone = (list(play(game, [players.make(s, game) for s in cast], hands, 5, n)) for n in (12, 1))
    assert comparable(together) == comparable(alone)
    searched = [r for r in together if r.seating == (0,)]
    assert all(0 <= r.illegal[0] <= r.searched[0] for r in searched)
    assert sum(r.searched[0] for r in searched) >= 4 * 60
    assert belief not in ("exact", "rejection") or not any(r.illegal[0] for r in searched)


@pytest.mark.parametrize("spec", ["mines(rows=9,cols=9,mines=10)", "mines(rows=16,cols=30,mines=99)"])
def test_players_at_a_large_board(spec):
    """BSR-UCT draws exactly unless told otherwise; the optimal player refuses in one line."""
    game = games.load(spec)
    cast = ["bsr_uct:simulations=400", "bsr_uct:simulations=30,belief=inherited", "random"]
    cast += ["pimc:worlds=2,runs=1"] if game.cells < 100 else []
    defaults = {"c": 4 / game.safe, "widening": 0.5, "simulations": 400, "seconds": 0}
    options = specs.resolve_options(cast[0], game)
    assert options.pop("belief") == "exact" and "domain" not in options  # which an exact draw does not read
    assert options == pytest.approx(defaults, abs=1e-4)
    hands = [Hand(deal, (kind,)) for deal in range(2) for kind in range(len(cast))]
    together, alone = (list(play(game, [players.make(s, game) for s in cast], hands, 5, n)) for n in (8, 1))
    assert comparable(together) == comparable(alone)
    for record in together:
        assert 0 <= record.scores[0] <= game.safe
        assert record.seating != (0,) or record.illegal == (0,)
    player, view = players.make("optimal", game), game.view(game.deal(1, 0), 0)
    with pytest.raises(TrickformerError, match="is too large: too many layouts") as fault:
        player.act([view], [decision_rng(1, 0, 0, 0)], [{}])
    assert "\n" not in str(fault.value)


def test_the_search_opens_what_is_safe_on_a_large_board():
    """A lone number 0 leaves its neighbours safe; a 3 in the corner makes them mines."""
    board = CORE.Board(16, 30, 99, 0)
    observation = CORE.Observation(board, [5 * 30 + 5, 0], [0, 3])
    how = HOW | {"c": 0.02}
    found = CORE.search(board, observation, method=METHODS.index("exact"), simulations=20_000, seed=1, **how)
    safe, mines = board.around(5 * 30 + 5), board.around(0)
    assert found.cell in safe
    assert len(found.visits) == len(found.values) == 480
    assert {found.values[cell] for cell in mines} == {2 / 381}  # two cells are open, and no more will be
    assert min(found.visits[cell] for cell in safe) > max(found.visits[cell] for cell in mines)


def test_the_optimal_player_wins_the_papers_board():
    game = games.load("mines")
    records = list(play(game, [players.make("optimal", game)], [Hand(i, (0,)) for i in range(60)], 1, 10))
    assert all(r.scores == (10,) for r in records)


def test_a_clock_ends_a_search():
    """Also where rejection finds nothing: the move is then any legal one."""
    game = games.load("mines(rows=8,cols=8,mines=30,first_move=any)")
    state = game.deal(1, 0)
    for cell in [c for c in range(64) if c not in state.laying][:30]:
        state.apply_action(cell)
    view = game.view(state, 0)
    player = players.make("bsr_uct:seconds=0.05,simulations=20000000", game)
    start = time.perf_counter()
    decision = player.act([view], [decision_rng(1, 0, 0, 0)], [{}])[0]
    assert time.perf_counter() - start < 10  # generous, for machines are shared
    assert decision.action in view.legal
    assert decision.value is None
    assert decision.visits == {}


@pytest.mark.parametrize("spec", ["bsr_uct", "optimal"])
def test_other_games_are_refused(spec):
    with pytest.raises(TrickformerError, match=f"player '{spec}' plays mines only, not skat"):
        players.make(spec, games.load("skat"))


def test_nothing_is_searched_once_the_game_is_over():
    board, _ = figure_2()
    for cells, shown in (([0], [9]), ([0, 1, 2, 3, 4, 5], [0, 0, 0, 2, 3, 2])):
        with pytest.raises(ValueError, match="over"):
            CORE.search(board, CORE.Observation(board, cells, shown), method=0, simulations=1, seed=0, **HOW)
