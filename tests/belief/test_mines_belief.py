"""Beliefs of Mines: counts and marginals against lists of all layouts, draws by chi-square, the Belief protocol."""

import itertools
import random
from collections import Counter
from math import comb

import numpy as np
import pytest
from scipy import stats

from trickformer import _core, games, players
from trickformer.audit import views as audit
from trickformer.base import Event, TrickformerError, UnknownNameError, View
from trickformer.belief import sampler
from trickformer.belief.samplers.mines import DOMAINS, METHODS, MinesBelief, pack, to_ints, unpack

CORE = _core.mines


def position(game, seed, most=512):
    """What random opening of at most so many cells without a mine shows, up to a random point."""
    rng = random.Random(seed)
    state = game.deal(seed, 0)
    if game.spiel.late:
        state.apply_action(rng.randrange(game.cells))
    while state.is_chance_node():
        state.apply_action(game.chance(state, seed, 0))
    safe = [c for c in state.legal_actions() if c not in state.laying]
    for cell in rng.sample(safe, min(most, rng.randrange(len(safe)))):
        state.apply_action(cell)
    return state


def listed(game, events):
    """Every layout that explains what was seen, ascending, by looking at all of them."""
    first = events[0].action if events else None
    room = game.board.allowed_cells(first) if events else range(game.cells)
    found = []
    for layout in itertools.combinations(room, game.mines):
        mines = set(layout)
        if all(e.action not in mines and len(mines & set(game.board.around(e.action))) == e.seen[0] for e in events):
            found.append(sum(1 << c for c in layout))
    return sorted(found)


def words(layouts):
    """Layouts of a board of one word, as the core has them."""
    return np.array(layouts, dtype=np.uint64)


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
        counter, layouts = CORE.Counter(game.board, seen(game, view)), words(listed(game, view.events))
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec",
    [
        "mines(rows=9,cols=9,mines=3)",
        "mines(rows=5,cols=13,mines=3,first_move=any)",
        "mines(rows=12,cols=11,mines=2,first_move=safe)",
        "mines(rows=10,cols=26,mines=2)",
    ],
)
def test_counts_of_several_words_are_those_of_all_layouts(spec):
    """Few mines, so that all layouts can be listed."""
    game = games.load(spec)
    for seed in range(4):
        view = game.view(position(game, seed, most=8), 0)
        counter, layouts = CORE.Counter(game.board, seen(game, view)), listed(game, view.events)
        assert counter.layouts == len(layouts), seed
        found = counter.all(10**6)
        assert to_ints(found) == layouts, seed
        assert (pack(unpack(found, game.cells), game.cells) == found).all()
        assert CORE.is_consistent(game.board, seen(game, view), found).all()
        marginals = [sum(layout >> cell & 1 for layout in layouts) for cell in range(game.cells)]
        assert to_ints(counter.mines()) == marginals, seed


@pytest.mark.parametrize(("cols", "mines"), [(9, 14), (10, 30), (16, 40), (32, 60), (60, 99)])
def test_counts_of_several_words_follow_from_those_of_one_word(cols, mines):
    """Numbers in the first seven columns know the first eight alone. With j mines in the others there are as many
    layouts as the board of 8x8 has with j mines less, times the number of ways to lay j mines there."""
    possible = 0
    for seed in range(8):
        rng, others = random.Random(seed), 8 * (cols - 8)
        held = rng.randint(8, 16)
        laid = set(rng.sample(range(64), held))
        opened = rng.sample([c for c in range(64) if c not in laid and c % 8 < 7], rng.randint(5, 35))
        small = CORE.Board(8, 8, held, 0)
        shown = [len(laid & set(small.around(cell))) for cell in opened]
        total, marginals, outside = 0, [0] * 64, 0
        for j in range(max(0, mines - 63), min(mines, others + 1)):
            board = CORE.Board(8, 8, mines - j, 0)
            counter = CORE.Counter(board, CORE.Observation(board, opened, shown))
            total += comb(others, j) * counter.layouts
            outside += comb(others - 1, j - 1) * counter.layouts if j else 0
            for cell, n in enumerate(counter.mines().tolist()):
                marginals[cell] += comb(others, j) * n
        board = CORE.Board(8, cols, mines, 0)
        observation = CORE.Observation(board, [cell // 8 * cols + cell % 8 for cell in opened], shown)
        counter = CORE.Counter(board, observation)
        assert counter.layouts == total, seed
        possible += total > 0
        found = to_ints(counter.mines())
        assert [found[cell // 8 * cols + cell % 8] for cell in range(64)] == marginals, seed
        assert {found[row * cols + col] for row in range(8) for col in range(8, cols)} == {outside}, seed
    assert possible > 2


@pytest.mark.parametrize(
    ("rows", "cols", "mines"), [(9, 9, 10), (16, 16, 40), (16, 30, 99), (30, 16, 99), (22, 23, 250)]
)
def test_counts_on_the_largest_boards_add_up(rows, cols, mines):
    """Empty boards are binomial; over all that a cell may show, the layouts of a position add up; a board and its
    mirror image at the diagonal have the same counts."""
    empty = CORE.Board(rows, cols, mines, 0)
    assert CORE.Counter(empty, CORE.Observation(empty, [], [])).layouts == comb(rows * cols, mines)
    game = games.load(f"mines(rows={rows},cols={cols},mines={mines},first_move=any)")
    turned = CORE.Board(cols, rows, mines, 0)
    for seed in range(4):
        view = game.view(position(game, seed), 0)
        cells, shown = [e.action for e in view.events], [e.seen[0] for e in view.events]
        counter = CORE.Counter(game.board, CORE.Observation(game.board, cells, shown))
        marginals = to_ints(counter.mines())
        assert sum(marginals) == mines * counter.layouts, seed
        cell = next(c for c in range(rows * cols) if c not in cells)
        parts = [
            CORE.Counter(game.board, CORE.Observation(game.board, [*cells, cell], [*shown, k])).layouts
            for k in range(10)
        ]
        assert sum(parts) == counter.layouts and parts[9] == marginals[cell], seed
        image = CORE.Counter(turned, CORE.Observation(turned, [c % cols * rows + c // cols for c in cells], shown))
        assert image.layouts == counter.layouts, seed
        assert to_ints(image.mines()) == [marginals[c % rows * cols + c // rows] for c in range(rows * cols)], seed


def test_exact_draws_on_a_large_board_have_the_marginals_that_are_counted():
    game = games.load("mines(rows=16,cols=16,mines=40)")
    for seed in range(3):
        view = game.view(position(game, seed, most=60), 0)
        observation, draws = seen(game, view), 4000
        counter = CORE.Counter(game.board, observation)
        drawn = CORE.sample(game.board, observation, METHODS.index("exact"), 0, 0, seed, draws)
        assert CORE.is_consistent(game.board, observation, drawn).all()
        assert (
            drawn.tolist() == CORE.sample(game.board, observation, METHODS.index("exact"), 0, 0, seed, draws).tolist()
        )
        p = np.array([n / counter.layouts for n in to_ints(counter.mines())])
        off = unpack(drawn, game.cells).mean(axis=0) - p
        error = np.sqrt(p * (1 - p) / draws)
        assert (off[error == 0] == 0).all()
        assert (np.abs(off[error > 0]) < 4.5 * error[error > 0]).all(), seed


def test_a_position_that_is_too_large_to_be_counted():
    """Exact draws are refused in one line; a walk does without the count."""
    rng, side = random.Random(1), 22
    board = CORE.Board(side, side, 145, 0)
    laid = set(rng.sample(range(side * side), 145))
    cells = [c for c in range(side * side) if c not in laid and c // side % 2 == c % side % 2 == 0]
    shown = [len(laid & set(board.around(cell))) for cell in cells]
    observation = CORE.Observation(board, cells, shown)
    with pytest.raises(RuntimeError, match="too many partial layouts"):
        CORE.Counter(board, observation)
    with pytest.raises(RuntimeError, match="too many partial layouts"):
        CORE.sample(board, observation, METHODS.index("exact"), 0, 0, 1, 1)
    game = games.load(f"mines(rows={side},cols={side},mines=145,first_move=any)")
    rest = tuple(c for c in range(side * side) if c not in cells)
    view = View(0, tuple(Event(0, cell, (number,)) for cell, number in zip(cells, shown)), rest)
    with pytest.raises(TrickformerError, match=r"22x22 with 145 .* counted; use the player bsr_uct:belief=inherited"):
        MinesBelief(game).reset(view)
    with pytest.raises(TrickformerError, match="22x22 with 145 mines is too large for belief=exact") as fault:
        players.make("bsr_uct", game).act([view], [np.random.default_rng(1)], [{}])
    assert "\n" not in str(fault.value)
    belief = MinesBelief(game, "metropolis", trials=10)
    belief.reset(view)
    assert belief.sample(2, np.random.default_rng(1)).hidden.shape == (2, 145)
    with pytest.raises(TrickformerError, match="too large to be counted"):
        belief.count()
    assert players.make("bsr_uct:belief=inherited,simulations=5", game).act([view], [np.random.default_rng(1)], [{}])


def test_layouts_of_another_number_of_words_are_refused():
    for rows, cols, wrong in ((8, 8, np.zeros((1, 2), np.uint64)), (9, 9, np.zeros(1, np.uint64))):
        board = CORE.Board(rows, cols, 5, 0)
        with pytest.raises(ValueError, match="layouts of this board must be uint64"):
            CORE.is_consistent(board, CORE.Observation(board, [], []), wrong)
    small, large = CORE.Board(8, 8, 5, 0), CORE.Board(9, 9, 5, 0)
    with pytest.raises(ValueError, match="of another board"):
        CORE.Counter(small, CORE.Observation(large, [0], [0]))


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
@pytest.mark.parametrize(
    "spec", ["mines(rows=3,cols=4,mines=3,first_move=safe)", "mines(rows=5,cols=13,mines=2,first_move=safe)"]
)
def test_draws_have_the_exact_distribution(spec, method, domain):
    """Chi-square over all layouts at small positions; walks are long enough for these."""
    game = games.load(spec)
    seeds, most, steps = (12, 1500, 3000) if game.cells < 64 else (6, 400, 9000)
    smallest = []
    for seed in range(seeds):
        view = game.view(position(game, seed, most=10), 0)
        layouts = listed(game, view.events)
        draws = 40 * len(layouts)
        trials = 0 if method == "rejection" else steps
        how = METHODS.index(method), DOMAINS.index(domain), trials
        drawn = to_ints(CORE.sample(game.board, seen(game, view), *how, seed, min(draws, most)))
        counted = Counter(drawn)
        assert counted.keys() <= set(layouts), seed
        if 1 < len(layouts) <= 150:
            counts = [counted[x] for x in layouts]
            smallest.append(stats.chisquare(counts).pvalue)
    assert 2 * len(smallest) >= seeds
    assert min(smallest) * len(smallest) > 0.001, smallest


def test_a_walk_that_is_too_short_ends_anywhere():
    """Without a step the first layout is the prior's; each step makes it likelier that it explains what was seen."""
    game = games.load("mines")
    view = game.view(position(game, 6), 0)
    observation = seen(game, view)
    layouts = words(listed(game, view.events))
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


@pytest.mark.parametrize(
    "spec",
    [
        "mines",
        "mines(rows=6,cols=5,mines=7,first_move=safe)",
        "mines(first_move=any)",
        "mines(rows=9,cols=9,mines=10)",
    ],
)
def test_the_audit_passes(spec):
    report = audit.command(audit.Audit(game=spec, deals=30, seed=1))
    assert report.good, str(report)
    assert set(report.checks) == {
        "view: blind to exchanged cards",
        "view: extends earlier ones",
        "view: has the legal actions",
        "outcomes: list contains the scores of a hand",
        "worlds: replay legally",
        "worlds: give the same view",
        "worlds: vary",
        "worlds: the true deal is possible",
    }
