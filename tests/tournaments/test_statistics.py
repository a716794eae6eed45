"""The statistics against values computed another way."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from trickformer import games
from trickformer.tournaments import statistics
from trickformer.tournaments.rate import rate

HEARTS = np.array(games.load("hearts").seatings(2))
SKAT = np.array([s for s in itertools.product((0, 1), repeat=3) if 0 < sum(s) < 3])


def scores(seed, kinds, deals=7):
    return np.random.default_rng(seed).integers(-26, 27, size=(deals, *kinds.shape)).astype(float)


@pytest.mark.parametrize("kinds", [HEARTS, SKAT])
def test_rows_by_plain_loops(kinds):
    table = scores(1, kinds)
    rows = {r.label: r for r in statistics.match(table, kinds, 0)}
    seats = kinds.shape[1]
    assert list(rows) == ["All"] + [f"{n}A/{seats - n}B" for n in range(seats - 1, 0, -1)]
    for label, row in rows.items():
        deals, means = [], []
        for deal in table:
            parts = []
            for seating, by_seat in zip(kinds, deal):
                a = [s for s, k in zip(by_seat, seating) if k == 0]
                b = [s for s, k in zip(by_seat, seating) if k == 1]
                if label in ("All", f"{len(a)}A/{len(b)}B"):
                    parts.append((math.fsum(a) / len(a), math.fsum(b) / len(b)))
            deals.append(math.fsum(a - b for a, b in parts) / len(parts))
            means += parts
        assert row.deals == pytest.approx(deals)
        assert row.difference == pytest.approx(math.fsum(deals) / len(deals))
        assert row.a == pytest.approx(math.fsum(a for a, _ in means) / len(means))
        assert row.b == pytest.approx(math.fsum(b for _, b in means) / len(means))


def test_all_weighs_seatings_as_table_2_of_the_paper():
    """Its columns 3A/1B, 2A/2B, 1A/3B have 4, 6 and 4 of the 14 seatings: -1.05, -0.98, -0.79 give -0.95."""
    part = {1: -1.05, 2: -0.98, 3: -0.79}  # by number of B's
    table = np.array([[[part[sum(s)] * (k == 0) for k in s] for s in HEARTS]])
    assert round(statistics.match(table, HEARTS, 0)[0].difference, 2) == -0.95


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), kinds=st.sampled_from([HEARTS, SKAT]), shift=st.integers(-50, 50))
def test_exchanging_the_players_negates(seed, kinds, shift):
    table = scores(seed, kinds)
    ours = {r.label: r for r in statistics.match(table, kinds, 1)}
    theirs = {r.label: r for r in statistics.match(table + shift, 1 - kinds, 1)}
    for label, row in ours.items():
        if label != "All":
            label = "/".join(n + k for n, k in zip([p[0] for p in reversed(label.split("/"))], "AB"))
        other = theirs[label]
        assert other.difference == pytest.approx(-row.difference, abs=1e-9)
        assert other.a == pytest.approx(row.b + shift)
        assert other.p == pytest.approx(row.p)
        assert row.ci95[0] <= row.difference <= row.ci95[1]
        width = row.ci95[1] - row.ci95[0]
        assert [-x for x in reversed(other.ci95)] == pytest.approx(row.ci95, abs=0.02 * width + 1e-9)


@settings(max_examples=40, deadline=None)
@given(hnp.arrays(float, st.integers(4, 9), elements=st.integers(-1000, 1000).map(float), unique=True))
def test_p_is_the_share_of_sign_patterns(deals):
    """Exact Wilcoxon by enumeration, where no two differences tie and none is zero."""
    if len({abs(d) for d in deals} | {0.0}) <= len(deals):
        return
    ranks = stats.rankdata(np.abs(deals))
    total = len(deals) * (len(deals) + 1) / 2
    seen = min(ranks[deals > 0].sum(), total - ranks[deals > 0].sum())
    sums = [np.dot(ranks, signs) for signs in itertools.product((0, 1), repeat=len(deals))]
    extreme = np.mean([min(s, total - s) <= seen for s in sums])
    assert statistics.p_value(deals) == pytest.approx(extreme)


def test_no_difference_at_all():
    zero = np.zeros(5)
    assert statistics.p_value(zero) == 1.0
    assert statistics.interval(zero, 0) == (0.0, 0.0)
    assert statistics.deals_to_resolve(zero) is None


def test_small_and_degenerate_samples():
    assert statistics.interval(np.array([3.0]), 0) is None
    assert statistics.deals_to_resolve(np.array([3.0])) is None
    assert statistics.p_value(np.array([3.0])) == 1.0
    assert statistics.interval(np.full(6, -2.5), 0) == (-2.5, -2.5)
    assert statistics.deals_to_resolve(np.full(6, -2.5)) == 2
    for deals in ([0.0, 1.0], [0.0] * 9 + [7.0], [1.0, 1.0, 1.0, -4.0]):
        low, high = statistics.interval(np.array(deals), 0)
        assert min(deals) <= low <= np.mean(deals) <= high <= max(deals)
        assert 0 < statistics.p_value(np.array(deals)) <= 1


def test_the_interval_is_the_normal_one_for_many_deals():
    deals = np.random.default_rng(3).normal(-0.9, 4, size=2000)
    half = 1.96 * deals.std(ddof=1) / len(deals) ** 0.5
    low, high = statistics.interval(deals, 0)
    assert low == pytest.approx(deals.mean() - half, abs=0.05 * half)
    assert high == pytest.approx(deals.mean() + half, abs=0.05 * half)
    assert statistics.interval(deals, 0) == (low, high)


def test_deals_to_resolve_by_simulation():
    rng = np.random.default_rng(5)
    needed = statistics.deals_to_resolve(np.array([0.5 - 3, 0.5 + 3] * 500))
    found = rng.normal(0.5, 3, size=(4000, needed))
    clear = np.abs(found.mean(axis=1)) > 1.96 * found.std(axis=1, ddof=1) / needed**0.5
    assert clear.mean() == pytest.approx(0.8, abs=0.03)


def test_extrapolation():
    """The paper's: 0.95 of 4.97 is 19.1 in a game to 100."""

    def row(a, b):
        return statistics.Row("All", a, b, a - b, None, 1.0, np.zeros(1))

    assert statistics.extrapolate(row(4.02, 4.97), 100) == pytest.approx(-19.1, abs=0.05)
    assert statistics.extrapolate(row(-3.0, 0.0), 100) is None


def test_a_seating_with_one_player_only_is_refused():
    with pytest.raises(ValueError, match="both players"):
        statistics.match(np.zeros((1, 1, 4)), np.zeros((1, 4), dtype=int), 0)


@pytest.mark.parametrize("higher", [True, False])
def test_ratings_by_least_squares(higher):
    n, deals = 4, 30
    noise = np.random.default_rng(7).normal(size=(n, n, deals))
    differences = noise - noise.transpose(1, 0, 2)
    ratings = rate(differences, higher, 0)
    pairs = list(itertools.combinations(range(n), 2))
    design = np.zeros((len(pairs) + 1, n))
    for k, (i, j) in enumerate(pairs):
        design[k, i], design[k, j] = 1, -1
    design[-1] = 1  # sum zero
    target = [differences[i, j].mean() * (1 if higher else -1) for i, j in pairs] + [0]
    expected = np.linalg.lstsq(design, np.array(target), rcond=None)[0]
    assert {r.player: r.rating for r in ratings} == pytest.approx(dict(enumerate(expected)))
    assert [r.rating for r in ratings] == sorted((r.rating for r in ratings), reverse=True)
    assert all(r.ci95[0] <= r.rating <= r.ci95[1] for r in ratings)
