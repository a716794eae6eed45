"""What searches say they gain: kept in records, summed in results, plotted by move."""

import json
from typing import Any

import numpy as np
import pytest

from trickformer.base import TrickformerError
from trickformer.plumbing.report import REPORT
from trickformer.plumbing.tables import mean_and_error
from trickformer.tournaments import gains, report, run
from trickformer.tournaments.plan import Tournament
from trickformer.tournaments.record_file import RecordFile
from trickformer.tournaments.results import TournamentResults
from trickformer.tournaments.schedule import Schedule
from trickformer.tournaments.store import HandRecord

TINY = "hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=2,max_life_tokens=2)"


def records(*hands):
    """Hands of a pair of seats, each with its deal, who sits in the first seat and what that seat says it gains."""
    nothing: dict[str, Any] = dict.fromkeys(("decisions", "illegal", "searched", "seconds", "calls"), (0, 0))
    return [
        HandRecord(deal=deal, seating=(who, 1 - who), scores=(0, 0), history=(), gains=(tuple(said), ()), **nothing)
        for deal, who, said in hands
    ]


def test_sums_are_over_hands_and_excess_over_decisions_that_have_both():
    said = [[(0, 0.5, 0.25), (2, 0.0, 0.0), (9, 1.0, None)], [], [(1, 0.25, 0.5)]]
    (own, none) = gains.summarize_gains(records(*((deal, 0, claims) for deal, claims in enumerate(said))), 2)
    assert none is None and gains.summarize_gains(records((0, 0, [])), 2) == []
    assert (own["decisions"], own["deviations"], own["compared"]) == (4, 3, 3)
    assert own["said"]["mean"] == pytest.approx(1.75 / 3) and own["exact"]["mean"] == pytest.approx(0.75 / 3)
    assert own["excess"]["mean"] == pytest.approx((0.25 + 0 - 0.25) / 3)
    assert own["excess"]["se"] == pytest.approx(np.std([0.25, 0, -0.25], ddof=1) / 3**0.5)
    first, second = own["by_move"]
    assert (first["move"], first["said"]["mean"], first["exact"]["mean"]) == (0, 0.25, 0.25)
    assert (second["move"], second["said"]["mean"], second["exact"]["mean"]) == (6, 1.0, None)
    own = gains.summarize_gains(records((0, 0, [(0, 0.5, None)])), 1)[0]
    assert own.keys() == {"decisions", "deviations", "said", "by_move"}


def test_a_deal_with_all_its_seatings_is_one_sample():
    """Hands of one deal say the same here: their number adds nothing to what is known."""
    once = [(deal, 0, [(0, gain, gain / 2), (3, gain, None)]) for deal, gain in enumerate((0.5, 1.0, 0.0, 2.5))]
    (alone,) = gains.summarize_gains(records(*once), 1)
    (thrice,) = gains.summarize_gains(records(*once * 3), 1)
    for key in ("said", "exact", "excess"):
        assert thrice[key] == pytest.approx(alone[key])
    (one,), (three,) = alone["by_move"], thrice["by_move"]
    assert three["said"] == pytest.approx(one["said"]) and three["exact"] == pytest.approx(one["exact"])
    # Two decisions of each deal, alike: the error is that of four samples, not of eight.
    assert one["said"]["se"] == pytest.approx(np.std([0.5, 1.0, 0.0, 2.5], ddof=1) / 2)


def test_the_error_of_samples_of_unequal_size_is_that_of_resampled_deals():
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 7, size=300)
    samples = np.repeat(np.arange(300), sizes)
    values = rng.normal(size=300)[samples] + rng.normal(size=len(samples))
    sums, drawn = np.bincount(samples, values), rng.integers(300, size=(20_000, 300))
    resampled = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    assert mean_and_error(values, samples)["se"] == pytest.approx(resampled.std(), rel=0.03)
    assert mean_and_error(values, range(len(values))) == pytest.approx(mean_and_error(values))
    assert mean_and_error(values)["se"] == pytest.approx(values.std(ddof=1) / len(values) ** 0.5)


@pytest.mark.slow
def test_a_tournament_keeps_and_reports_what_a_search_says(tmp_path):
    spec = "sparta:worlds=100,threshold=0,assess=50"
    config = Tournament(game=TINY, a=spec, b="partner:style=smart", deals=12, out=tmp_path / "out")
    played = run.tournament(config)
    lines = (config.out / run.RECORDS).read_text().splitlines()
    assert sum('"gains"' in line for line in lines) == 12  # no word of it where nobody says so
    searched = [r for r in played.records if r.gains is not None]
    for r in searched:
        own, other = r.gains
        assert not other and [move for move, *_ in own] == sorted({move for move, *_ in own})
        assert all(move % 2 == 0 and said >= 0 for move, said, _ in own)  # seat 0 begins
    said = [claim for r in searched for claim in r.gains[0]]
    assert any(gain > 0 for _, gain, _ in said) and all(exact == 0 for _, gain, exact in said if gain == 0)
    again = run.load(config.out)
    assert again.records == played.records
    result = TournamentResults(again).result()
    (own, none) = result["gains"]
    assert none is None and own["decisions"] == len(said)
    assert own["said"]["mean"] == pytest.approx(sum(gain for _, gain, _ in said) / 12)
    report.write(TournamentResults(again), config.out)
    assert (config.out / report.GAINS).stat().st_size > 1000
    text = (config.out / REPORT).read_text()
    assert "A (sparta) chose otherwise than its blueprint" in text and f"]({report.GAINS})" in text
    assert json.loads((config.out / report.RESULT).read_text())["gains"][0] == own


def test_of_teams_gains_are_those_without_strangers():
    given = {"game": TINY, "a": "sparta:worlds=50,threshold=0", "b": "partner:style=iggi", "deals": 3}
    alone, mixed = (
        TournamentResults(run.tournament(Tournament(**given, mixed=mixed))).result() for mixed in (False, True)
    )
    assert mixed["gains"] == alone["gains"] and mixed["turns"]["a"] > alone["turns"]["a"]


def test_where_samples_are_not_exact_the_report_says_so():
    given = {"game": "crew(mission=3)", "b": "rules", "deals": 1}
    for spec, said in (
        ("sparta:worlds=9,multi=true,assess=5", True),
        ("sparta:worlds=9,assess=5", False),
        ("sparta:worlds=9,multi=true", False),
        ("rollout:worlds=2,assess=2", True),
    ):
        result = TournamentResults(run.tournament(Tournament(**given, a=spec))).result()
        assert ("which is not exact" in "".join(report.notes(result))) == said, spec


def test_gains_are_by_seat(tmp_path):
    config = Tournament(game=TINY, a="sparta:worlds=10", b="partner", deals=1, out=tmp_path / "out")
    (record,) = [r for r in run.tournament(config).records if r.gains is not None]
    assert record.gains is not None
    one = record.model_copy(update={"gains": record.gains[:1]})
    with pytest.raises(TrickformerError, match="not part of the tournament"):
        RecordFile(tmp_path, Schedule([record.hand]), 2).register_line(
            1, one.model_dump_json(exclude_none=True).encode()
        )
    line = record.model_dump_json(exclude_none=True).encode()
    good = RecordFile(tmp_path, Schedule([record.hand]), 2)
    good.register_line(1, line)
    assert len(good) == 1 and good.columns.has_gains
