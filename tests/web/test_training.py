"""The page of a training: its curves and tables are those of the log, and each match opens as a tournament."""

from __future__ import annotations

import json
import math

import pytest
from support.browser import CHROMIUM, WIDTHS, faint, launched, opened, overlaps, rules_hold
from support.forked import served
from support.served import heard, page
from support.training import STEPS, training_entries, write_training

from trickformer.base import TrickformerError
from trickformer.selfplay import charts, report
from trickformer.selfplay.results import TrainingResults
from trickformer.tournaments import run
from trickformer.tournaments.plan import Tournament
from trickformer.web.config import ViewSettings
from trickformer.web.training import TrainingDesk, TrainingRooms


@pytest.fixture
def training(tmp_path):
    return write_training(tmp_path / "training", 2)


@pytest.fixture
def match(training):
    """A match of the training with its records."""
    out = training / "matches" / "1-baseline"
    run.tournament(Tournament(game="hearts", a="random", b="rules", deals=2, seed=3, out=out))
    return out


def _chart(told, title):
    (chart,) = [chart for chart in told["charts"] if chart["title"].startswith(title)]
    return chart


def test_the_curves_are_those_of_the_log(training):
    told = TrainingDesk(training).describe(None)
    json.dumps(told, allow_nan=False)
    policy = _chart(told, "Training loss: policy")
    (curve,), entries = policy["curves"], [e for e in training_entries(2) if e["stage"] == "learn"]
    assert len(curve["points"]) <= 500 and policy["marks"] == (STEPS,)
    size = -(-len(entries) // 500)
    for at, (step, value, *_) in enumerate(curve["points"]):
        piece = entries[at * size : (at + 1) * size]
        mean = sum(e["policy_loss"] for e in piece) / len(piece)
        assert step == piece[-1]["at"] + STEPS * piece[-1]["iteration"]
        assert value is None if math.isnan(mean) else math.isclose(value, mean)
    assert [point[1] for point in curve["points"]].count(None) in (1, 2)  # the last steps diverge
    success = _chart(told, "Success in self-play: mean score a hand, lower is better")
    assert [curve["points"] for curve in success["curves"]] == [
        ((0, 5.5, None, None), (1, 4.5, None, None)),
        ((0, 7.0, None, None), (1, 7.0, None, None)),
    ]
    matches = _chart(told, "Matches: points a hand, the model is better below 0")
    assert [(curve["label"], curve["points"]) for curve in matches["curves"]] == [
        ("against the previous iteration", ((1, -1.5, -2.5, -0.5),)),
        ("against rules", ((0, -0.5, None, None), (1, -1.5, -2.5, -0.5))),
    ]
    assert {chart["title"] for chart in told["charts"]} >= {"Probability of legal actions, held-out hands"}
    assert not any("Regret" in chart["title"] for chart in told["charts"])  # the log holds no number


def test_the_tables_are_those_of_the_report(training, match):
    told = TrainingDesk(training).describe(None)
    made = report.make_report(TrainingResults.load(training))
    assert [(s["title"], s["head"], s["rows"]) for s in told["sections"]] == [
        (title, list(head), [list(row) for row in rows]) for title, (head, rows) in made.tables
    ]
    assert told["notes"] == made.notes and told["heading"] == made.heading
    assert [(m["model"], m["opponent"], m["difference"], m["interval"], m["hands"]) for m in told["matches"]] == [
        ("model 0", "rules", "-0.50", "", None),
        ("model 1", "model 0", "-1.50", "[-2.50, -0.50]", None),
        ("model 1", "rules", "-1.50", "[-2.50, -0.50]", "1-baseline"),
    ]


def test_a_running_training_is_followed(tmp_path):
    desk = TrainingDesk(write_training(tmp_path / "training", 1))
    told = desk.describe(None)
    assert not told["over"] and desk.describe(told["known"]) == {"changed": False}
    write_training(tmp_path / "training", 2)
    told = desk.describe(told["known"])
    assert told["changed"] and told["over"] and len(told["matches"]) == 3
    (tmp_path / "training" / "log.jsonl").write_text("{}\n{torn}\n")
    with pytest.raises(TrickformerError, match="is broken"):
        desk.describe(told["known"])


def test_only_matches_of_the_training_have_a_room(training, match, tmp_path):
    rooms = TrainingRooms(ViewSettings(run=training))
    assert rooms.get("match-1-baseline") is rooms.get("match-1-baseline") is not None
    (training / "matches" / "2-baseline").symlink_to(match)
    for name in (
        "match-2-baseline",
        "match-0-baseline",
        "match-1-previous",
        "match-../../run",
        "match-1-baseline/x",
        "x",
    ):
        assert rooms.get(name) is None, name
    assert list(rooms) == ["training", "match-1-baseline"]


@pytest.mark.slow
def test_the_server_of_a_training(training, match):
    pytest.importorskip("starlette", reason="needs the extra web")
    closed = pytest.importorskip("websockets.exceptions", reason="needs the extra web")
    with served(str(training), command="view") as (address, process):
        with page(address, "training") as socket:
            socket.send('{"do":"list"}')
            assert "no message" in heard(socket, "error")["text"]
            socket.send('{"do":"describe"}')
            told = heard(socket, "training")
            assert told["matches"][2]["hands"] == "1-baseline" and "<img src=x>?" in told["notes"][1]
        with page(address, "match-1-baseline") as socket:
            socket.send('{"do":"list"}')
            assert heard(socket, "list")["count"] == 28
        with pytest.raises(closed.InvalidStatus), page(address, "match-0-baseline"):
            pass
        assert process.is_alive()


def test_bad_input_is_one_line(command, training):
    pytest.importorskip("starlette", reason="needs the extra web")
    code, _, err = command("view", training, "--analyse", "pimk", "--no-browser")
    assert code == 2 and err.startswith("error: unknown player 'pimk'") and err.count("\n") == 1
    (training / "log.jsonl").write_text("torn\n")
    code, _, err = command("view", training, "--no-browser")
    assert code == 2 and "log.jsonl is broken" in err and err.count("\n") == 1


# Labels of charts through which the axis runs.
_LABELS_ON_AXIS = """[...document.querySelectorAll("#charts .axis")].flatMap((axis) => {
  const line = axis.getBoundingClientRect();
  return [...axis.parentElement.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.top < line.top && line.top < box.bottom && line.left < box.right && box.left < line.right;
  }).map((text) => text.textContent);
})"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_the_page_of_a_training_leads_to_its_hands(training, match):
    for needed in ("starlette", "playwright", "axe_playwright_python"):
        pytest.importorskip(needed, reason=f"needs {needed}, of the extra dev")
    log = (training / "log.jsonl").read_text()
    (training / "log.jsonl").write_text("".join(log.splitlines(keepends=True)[: STEPS + 4]))
    with launched() as browser, served(str(training), command="view") as (address, _):
        window = opened(browser, address, shown="#charts svg")
        assert "follows the training" in window.inner_text("#played") and not window.locator("#rows a").count()
        (training / "log.jsonl").write_text(log)
        window.wait_for_selector("#played:text-is('The training is finished.')")
        assert window.locator("#charts figure").count() == len(charts.charts(TrainingResults.load(training)))
        assert "<img src=x>?" in window.inner_text("#remarks") and not window.locator("img").count()
        for width, height in WIDTHS:
            window.set_viewport_size({"width": width, "height": height})
            assert not overlaps(window), width
        assert window.locator("#charts .axis").count() and not window.evaluate(_LABELS_ON_AXIS)
        rules_hold(window)
        assert not faint(window)
        window.click("#rows a")
        window.wait_for_selector("#charts svg")
        assert "2 deals" in window.inner_text("#run-title")
        window.click("#rows a >> nth=0")
        window.wait_for_selector("#own .seat")
        window.click("#training")
        window.wait_for_selector("#matches-title")
        assert not window.faults
