"""Runs of many hands: their records stay in the file, and of each hand a few numbers are held."""

from __future__ import annotations

import shutil
import tracemalloc

import numpy as np
import pytest

from benchmarks.records import make
from trickformer.base import TrickformerError
from trickformer.plumbing import config as configs
from trickformer.plumbing.folder import CONFIG
from trickformer.tournaments import report, run
from trickformer.tournaments.columns import RecordColumns
from trickformer.tournaments.deals import DealName
from trickformer.tournaments.plan import Hand, Tournament
from trickformer.tournaments.record_file import RecordFile
from trickformer.tournaments.results import TournamentResults
from trickformer.tournaments.schedule import Schedule
from trickformer.tournaments.store import HandRecord

BYTES = 250  # a hand of four seats may cost at most; its parsed record alone has some 4,500


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders with 560 and with 5,600 hands."""
    found = {}
    for hands in (560, 5_600):
        out = tmp_path_factory.mktemp("large") / "run"
        assert make(out, hands) == hands
        found[hands] = out
    return found


def peak(use, *arguments):
    """Return the largest memory in bytes that a call holds."""
    tracemalloc.start()
    try:
        use(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def resume(folder):
    config = configs.read(Tournament, folder / CONFIG, {"out": folder})
    assert len(run.tournament(config, resume=True).records) > 500


def rewrite_report(folder):
    report.make_report(TournamentResults(run.load(folder))).text()


@pytest.mark.parametrize("use", [rewrite_report, resume])
def test_memory_grows_by_little_more_than_the_scores(use, folders):
    few, many = sorted(folders)
    use(folders[few])  # imports
    growth = peak(use, folders[many]) - peak(use, folders[few])
    assert growth < BYTES * (many - few)


def test_results_are_those_of_records_in_memory(folders):
    found = run.load(folders[560])
    held = run.TournamentRun(**{**vars(found), "records": list(found.records)})
    assert TournamentResults(found).result() == TournamentResults(held).result()
    assert TournamentResults(found).records == TournamentResults(held).records


def test_records_of_a_file(folders, tmp_path):
    folder = shutil.copytree(folders[560], tmp_path / "run")
    path = folder / "records.jsonl"
    expected = [HandRecord.model_validate_json(line) for line in path.read_bytes().splitlines()]
    records = run.load(folder).records
    assert isinstance(records, RecordFile)
    assert list(records) == expected and records == expected and expected == records
    assert records[17] == expected[17] and records[-1] == expected[-1] and records[5:9] == expected[5:9]
    assert records != expected[1:] and records != [*expected[1:], expected[0]]
    with pytest.raises(IndexError):
        records[560]
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(TrickformerError, match="was changed while it was read"):
        list(records)


def test_records_can_be_read_when_their_folder_is_gone(folders, tmp_path):
    folder = shutil.copytree(folders[560], tmp_path / "run")
    records, expected = run.load(folder).records, run.load(folders[560]).records
    shutil.rmtree(folder)
    assert records == expected


def test_only_a_torn_or_lost_line_is_left_out(folders, tmp_path, capfd):
    folder = shutil.copytree(folders[560], tmp_path / "run")
    path = folder / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    assert len(run.load(folder).records) == 559
    assert "has lost 1 line at its end" in capfd.readouterr().err
    resume(folder)
    assert path.read_bytes().count(b"\n") == 560


def record(number, seating=(0, 1), **fields):
    nothing = dict.fromkeys(("scores", "decisions", "illegal", "searched", "seconds", "calls"), (0, 0))
    return HandRecord(**{"deal": number, "seating": seating, "history": (), **nothing, **fields})


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("scores", [0, 0]),
        ("scores", [127, -128]),
        ("scores", [-32_768, 32_767, 40_000, -(2**31), 2**31, 2**53]),
        ("seconds", [0.1, 0.0000001, 1e-9, 214.7483647, 214.7483648, 1e300, 0.3333333]),
        ("seconds", [1 / 3, 2 / 3]),
        ("calls", [1.0, 0.0769231, 13.0, 1e308]),
    ],
)
def test_columns_hold_numbers_exactly(field, values):
    """Beside each other, in blocks of their own, and in any order."""
    numbers = [*values, *[0] * 9_000, *values, *[1] * 9_000, *values]
    columns = RecordColumns(Schedule(Hand(deal, (0, 1)) for deal in range(len(numbers))), 2)
    for deal, value in enumerate(numbers):
        columns.add(record(deal, **{field: (value, 0)}))
    for rows in (np.arange(len(numbers)), np.random.default_rng(1).permutation(len(numbers))):
        assert columns.take(field, rows)[:, 0].tolist() == [numbers[row] for row in rows]
        assert not columns.take(field, rows)[:, 1].any()
    if field == "scores":
        assert columns.take_packed(field, rows)[:, 0].tolist() == [numbers[row] for row in rows]


@pytest.mark.parametrize(
    "deals",
    [
        [DealName(0), DealName(1), DealName(2)],
        [DealName(0), DealName(1), DealName(1, 4), DealName(7)],
        [DealName(3), DealName(0, 0), DealName(1)],
        [DealName(2**40), DealName(0, 2**62)],
    ],
)
def test_a_schedule_numbers_its_hands(deals):
    hands = [Hand(deal.number, seating, deal.seed) for deal in deals for seating in ((0, 1), (1, 0), (1, 1))]
    del hands[-1]  # a plan need not have every seating of every deal
    schedule = Schedule(iter(hands))
    assert list(schedule) == hands and len(schedule) == len(hands)
    assert [schedule.find(hand.deal, hand.seating, hand.seed) for hand in hands] == list(range(len(hands)))
    assert [schedule.deal(row) for row in range(len(deals))] == deals
    assert schedule.grid[-1].tolist() == [len(hands) - 2, len(hands) - 1, -1]
    for deal, seating, seed in ((9, (0, 1), None), (-1, (0, 1), None), (0, (0, 1), 5), (0, (2, 2), None)):
        assert schedule.find(deal, seating, seed) == -1
    assert schedule.find(deals[-1].number, (1, 1), deals[-1].seed) == -1
