"""Beliefs of Mines: counts and marginals against lists of all layouts, draws by chi-square, the Belief protocol."""

import itertools
import random
from math import comb

import numpy as np
import pytest
from scipy import stats

from trickformer import _core, games
from trickformer.audit import views as audit
from trickformer.base import UnknownNameError
from trickformer.belief import sampler
from trickformer.belief.samplers.mines import DOMAINS, METHODS, MinesBelief

CORE = _core.mines


def position(game, seed):
    """What random opening of cells without a mine shows, up to a random point."""
    rng = random.Random(seed)
    state = game.deal(seed, 0)
    if game.spiel.late:
        state.apply_action(rng.randrange(game.cells))
    while state.is_chance_node():
        state.apply_action(game.chance(state, seed, 0))
    safe = [c for c in state.legal_actions() if c not in state.laying]
    for cell in rng.sample(safe, rng.randrange(len(safe))):
        state.apply_action(cell)
    return state


def listed(game, events):
    """Every layout that explains what was seen, ascending, by looking at all of them; uint64."""
    first = events[0].action if events else None
    room = game.board.allowed_cells(first) if events else range(game.cells)
    found = []
    for layout in itertools.combinations(room, game.mines):
        mines = set(layout)
        if all(e.action not in mines and len(mines & set(game.board.around(e.action))) == e.seen[0] for e in events):
            found.append(sum(1 << c for c in layout))
    return np.array(sorted(found), dtype=np.uint64)


def seen(game, view):
    return CORE.Observation(game.board, [e.action for e in view.events], [e.seen[0] for e in view.events])


@pytest.mark.parametrize(
    "spec", ["mines", "mines(rows=4,cols=5,mines=5,first_move=safe)", "mines(rows=3,cols=6,mines=6,first_move=any)"]
)
def test_counts_and_marginals_are_those_of_all_layouts(spec):
    game = games.load(spec)
    for seed in range(25):
        state = position(game, seed)
        view = game.view(state, 0)
        counter, layouts = CORE.Counter(game.board, seen(game, view)), listed(game, view.events)
        assert counter.layouts == len(layouts), seed
        assert (counter.all(10**6) == layouts).all(), seed
        marginals = [int((layouts >> np.uint64(c) & np.uint64(1)).sum()) for c in range(game.cells)]
        assert counter.mines()[: game.cells].tolist() == marginals, seed
        assert not counter.mines()[game.cells :].any()


def test_counts_on_large_boards():
    """An empty board has a binomial number of layouts, one number splits it in two; distant numbers are independent
    but for the mines left; and over all that a cell may show, the layouts add up."""
    for rows, cols, mines in [(8, 8, 32), (8, 8, 10), (7, 9, 20)]:
        board = CORE.Board(rows, cols, mines, 0)
        assert CORE.Counter(board, CORE.Observation(board, [], [])).layouts == comb(rows * cols, mines)
        one = CORE.Counter(board, CORE.Observation(board, [cols + 1], [3])).layouts
        assert one == comb(8, 3) * comb(rows * cols - 9, mines - 3)
    board = CORE.Board(8, 8, 20, 0)
    two = CORE.Counter(board, CORE.Observation(board, [9, 54], [3, 5]))
    assert two.layouts == comb(8, 3) * comb(8, 5) * comb(64 - 18, 12)
    assert int(two.mines().sum()) == 20 * two.layouts
    for seed in range(20):
        game = games.load("mines(rows=8,cols=8,mines=14,first_move=any)")
        view = game.view(position(game, seed), 0)
        cells, shown = [e.action for e in view.events], [e.seen[0] for e in view.events]
        counter = CORE.Counter(game.board, CORE.Observation(game.board, cells, shown))
        assert int(counter.mines().sum()) == 14 * counter.layouts, seed
        cell = next(c for c in range(64) if c not in cells)
        parts = [
            CORE.Counter(game.board, CORE.Observation(game.board, [*cells, cell], [*shown, k])).layouts
            for k in range(10)
        ]
        assert sum(parts) == counter.layouts, seed
        assert parts[9] == counter.mines()[cell], seed


def test_what_cannot_be_seen_has_no_layout():
    board = CORE.Board(3, 3, 2, 0)
    for cells, shown in (([4], [3]), ([0], [4]), ([0, 1], [0, 3]), ([0, 8, 4], [0, 0, 1])):
        observation = CORE.Observation(board, cells, shown)
        assert CORE.Counter(board, observation).layouts == 0
        with pytest.raises(ValueError, match="no layout"):
            CORE.sample(board, observation, 0, 0, 0, 1, 1)
    late = games.load("mines")
    assert CORE.Counter(late.board, CORE.Observation(late.board, [5], [1])).layouts == 0  # its number must be 0
    assert CORE.Counter(late.board, CORE.Observation(late.board, [5], [9])).layouts == 0


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("method", METHODS)
def test_draws_have_the_exact_distribution(method, domain):
    """Chi-square over all layouts at small positions; walks are long enough for these."""
    game = games.load("mines(rows=3,cols=4,mines=3,first_move=safe)")
    smallest = []
    for seed in range(12):
        view = game.view(position(game, seed), 0)
        layouts = listed(game, view.events)
        draws = 40 * len(layouts)
        how = METHODS.index(method), DOMAINS.index(domain), 0 if method == "rejection" else 3000
        drawn = CORE.sample(game.board, seen(game, view), *how, seed, min(draws, 1500))
        kinds, counts = np.unique(drawn, return_counts=True)
        assert set(kinds.tolist()) <= set(layouts.tolist()), seed
        if 1 < len(layouts) <= 150:
            counts = [int(counts[kinds == x].sum()) for x in layouts]
            smallest.append(stats.chisquare(counts).pvalue)
    assert len(smallest) > 5
    assert min(smallest) * len(smallest) > 0.001, smallest


def test_a_walk_that_is_too_short_ends_anywhere():
    """Without a step the first layout is the prior's; each step makes it likelier that it explains what was seen."""
    game = games.load("mines")
    view = game.view(position(game, 6), 0)
    observation = seen(game, view)
    layouts = listed(game, view.events)
    room = comb(len(game.board.allowed_cells(view.events[0].action)), game.mines)
    shares = []
    for trials in (0, 30, 1000):
        drawn = CORE.sample(game.board, observation, METHODS.index("metropolis"), 0, trials, 3, 4000)
        shares.append(float(np.isin(drawn, layouts).mean()))
    assert abs(shares[0] - len(layouts) / room) < 4 * (shares[0] / 4000) ** 0.5 + 0.002
    assert shares[0] < shares[1] < shares[2]
    lost = CORE.sample(game.board, observation, METHODS.index("rejection"), 1, 1, 3, 4000)  # one try each
    assert 0 < (lost == 0).mean() < 1


def test_a_draw_is_a_function_of_its_seed():
    game = games.load("mines(rows=7,cols=7,mines=11)")
    observation = seen(game, game.view(position(game, 2), 0))
    for method in range(1, 4):
        draws = [CORE.sample(game.board, observation, method, 0, 50, seed, 20).tolist() for seed in (1, 1, 2)]
        assert draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize("method", METHODS)
def test_the_belief_protocol(method):
    game = games.load("mines")
    belief = MinesBelief(game, method, trials=60)
    assert belief.consistent == (method in ("exact", "rejection"))
    with pytest.raises(ValueError, match="call reset"):
        belief.sample(1, np.random.default_rng(0))
    for seed in range(6):
        state = position(game, seed)
        view = game.view(state, 0)
        belief.reset(view)
        worlds = belief.sample(30, np.random.default_rng(seed))
        assert worlds.hidden.dtype == np.int16
        assert worlds.hidden.shape == (30, 6)
        assert np.isfinite(worlds.log_weight).tolist() == worlds.feasible.tolist()
        assert worlds.feasible.all() or not belief.consistent
        for i in np.flatnonzero(worlds.feasible):
            assert game.view(worlds.state(i), 0) == view
        for i in np.flatnonzero(~worlds.feasible)[:1]:
            with pytest.raises(ValueError, match="does not explain"):
                worlds.state(i)
        log_prob = belief.log_prob(worlds)
        assert np.allclose(log_prob[worlds.feasible], -np.log(belief.count()))
        assert np.isneginf(log_prob[~worlds.feasible]).all()
        assert np.isclose(belief.log_prob(belief.truth(state))[0], -np.log(belief.count()))
        again = belief.sample(30, np.random.default_rng(seed))
        assert (again.hidden == worlds.hidden).all()


def test_beliefs_before_and_after_the_mines_are_laid():
    """Nothing is hidden until the first move lays them; then the belief goes on, also to the end."""
    game = games.load("mines")
    state, belief = game.deal(3, 3), sampler(game)
    belief.reset(game.view(state, 0))
    worlds = belief.sample(2, np.random.default_rng(0))
    assert (worlds.hidden == -1).all()
    assert worlds.state(1).history() == []
    assert belief.count() == 1
    for action in (0, 1, 4, 5, 2, 6):
        if state.is_terminal():
            break
        state.apply_action(action)
        while state.is_chance_node():
            state.apply_action(game.chance(state, 3, 0))
        belief.reset(game.view(state, 0))
        world = belief.sample(1, np.random.default_rng(action)).state(0)
        assert game.view(world, 0) == game.view(state, 0)
    met = next(s for s in (played_to_a_mine(game, seed) for seed in range(20)) if s is not None)
    belief.reset(game.view(met, 0))
    assert game.view(belief.sample(1, np.random.default_rng(1)).state(0), 0) == game.view(met, 0)
    with pytest.raises(UnknownNameError, match="unknown method 'x'"):
        MinesBelief(game, "x")


def played_to_a_mine(game, seed):
    state = position(game, seed)
    state.apply_action(state.laying[0])
    return state if state.is_terminal() else None


@pytest.mark.parametrize("spec", ["mines", "mines(rows=6,cols=5,mines=7,first_move=safe)", "mines(first_move=any)"])
def test_the_audit_passes(spec):
    report = audit.command(audit.Audit(game=spec, deals=30, seed=1))
    assert report.good, str(report)
    assert set(report.checks) == {
        "view: blind to exchanged cards",
        "view: goes on from earlier ones",
        "view: has the legal actions",
        "outcomes: name the scores of a hand",
        "worlds: replay legally",
        "worlds: give the same view",
        "worlds: vary",
        "worlds: can be the true deal",
    }
