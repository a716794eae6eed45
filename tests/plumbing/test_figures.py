"""Figures of reports: nothing that explains them is cut off, and their axes say what is better."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from trickformer import games
from trickformer.plumbing import figures
from trickformer.plumbing.tables import break_name
from trickformer.selfplay import evaluate
from trickformer.selfplay.config import SelfPlay
from trickformer.studies.crew import plot as crew_plot
from trickformer.tournaments import gains, plot, run
from trickformer.tournaments.plan import Tournament
from trickformer.tournaments.results import TournamentResults

LONG = "rollout:prior=argmax:checkpoint=/srv/models/hearts/a-long-name-of-run/model-9,policy=rules,worlds=40,margin=1.5"


@pytest.fixture
def drawn(monkeypatch):
    """Figures that were saved."""
    kept, savefig = [], Figure.savefig

    def keep(figure, *given, **options):
        savefig(figure, *given, **options)
        kept.append(figure)

    monkeypatch.setattr(Figure, "savefig", keep)
    return kept


def must_fit(figure):
    """Everything written outside the axes lies within the figure."""
    renderer, page = figure.canvas.get_renderer(), figure.bbox
    parts = figure.findobj(Legend)
    for axes in figure.axes:
        low, high = axes.get_ylim()
        ticks = [tick for tick in axes.get_yticklabels() if low <= tick.get_position()[1] <= high]
        parts += [axes.xaxis.label, axes.yaxis.label, axes.title, *ticks]
    if figure._suptitle is not None:
        parts.append(figure._suptitle)
    for part in parts:
        if not part.get_visible() or (hasattr(part, "get_text") and not part.get_text()):
            continue
        box = part.get_window_extent(renderer)
        assert box.x0 >= -1 and box.x1 <= page.width + 1, part
        assert box.y0 >= -1 and box.y1 <= page.height + 1, part


def mission(number, players):
    each = [{"rate": 0.5, "ci95": [0.2, 0.8]} for _ in range(players)]
    return {"mission": number, "players": each, "random": 3, "ceiling": {"won": 5, "open": 1}}


@pytest.mark.slow
@pytest.mark.parametrize("missions", [1, 7, 50])
@pytest.mark.parametrize("specs", [["rules"], ["rules", LONG], [LONG, LONG.replace("40", "80")]])
def test_success_by_mission(missions, specs, drawn, tmp_path):
    result = {
        "games": 10,
        "random_games": 100,
        "players": [{"spec": spec} for spec in specs],
        "missions": [mission(i + 1, len(specs)) for i in range(missions)],
    }
    crew_plot.players(result, tmp_path / "missions.png")
    (figure,) = drawn
    must_fit(figure)
    assert "share of 10 games won (higher is better)" in figure.axes[0].get_ylabel()
    spacing = np.diff(figure.axes[0].transData.transform([(0, 0), (1, 0)])[:, 0])[0] / figure.dpi
    assert 0.15 < spacing < 0.3, "inches from mission to mission, however many there are"


@pytest.mark.parametrize("count", [1, 24])
def test_success_by_iteration(count, drawn, tmp_path):
    players = [{"spec": "argmax", "rate": 0.3, "ci95": [0.2, 0.4]} for _ in range(count)]
    result = {"games": 10, "players": players, "missions": [mission(i, count) for i in range(1, 4)]}
    crew_plot.iterations(result, tmp_path / "missions.png")
    (figure,) = drawn
    must_fit(figure)
    assert [text.get_text() for text in figure.findobj(Legend)[0].get_texts()] == [str(i) for i in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("given", [{"a": "rules", "b": "random"}, {"players": ["rules", "random", "random"]}])
@pytest.mark.parametrize("deals", [1, 4])
def test_differences_of_a_tournament(given, deals, drawn, tmp_path):
    found = run.tournament(Tournament.model_validate({"game": "hearts", "deals": deals} | given))
    names = [LONG, LONG.replace("40", "80"), LONG]
    found.typed[:] = names[: len(found.typed)]
    plot.plot(TournamentResults(found), tmp_path / "plot.png")
    (figure,) = drawn
    must_fit(figure)
    for axes in figure.axes:
        assert "points a hand (left" in axes.get_xlabel() and "better" in axes.get_xlabel()


def test_gains_by_move(drawn, tmp_path):
    point = {"move": 0, "said": {"mean": 0.2, "se": 0.1}, "exact": {"mean": 0.1, "se": None}}
    every = [{"by_move": [point, point | {"move": 6}]}, None]
    gains.plot(every, [f"A ({LONG})", "B (rules)"], tmp_path / "gains.png")
    must_fit(drawn[0])
    assert "higher is better" in drawn[0].axes[0].get_ylabel()


def test_the_learning_curve(drawn, tmp_path):
    config = SelfPlay.model_validate({"game": "hearts", "preset": "tiny", "baseline": "rules"})
    entry = {"difference": -1.0, "low": -2.0, "high": 0.0, "deals": 9}
    matches = {"previous": [entry | {"iteration": 1}], "baseline": [entry | {"iteration": 1}]}
    evaluate.curve(games.load("hearts"), config.model_copy(update={"baseline": LONG}), matches, tmp_path)
    (figure,) = drawn
    must_fit(figure)
    assert "the model is better below 0" in figure.axes[0].get_ylabel()


def test_settings_and_backend_of_the_caller_stay(tmp_path):
    """A notebook has its own, and a figure here neither follows nor changes them."""
    with matplotlib.rc_context({"font.size": 31.0, "text.parse_math": True}):
        before = dict(matplotlib.rcParams)
        with figures.drawing(style={"axes.titlesize": 7.0}) as (figure, axes):
            assert axes.set_title("from $a to $b").get_fontsize() == 7 and not axes.title.get_parse_math()
            assert axes.set_xlabel("deals").get_fontsize() == 10
            figures.save(figure, tmp_path / "plot.png")
        with pytest.raises(ZeroDivisionError), figures.drawing():
            _ = 1 / 0
        assert dict(matplotlib.rcParams) == before


def test_a_style_of_the_caller_does_not_change_a_figure_of_a_tournament(tmp_path):
    """Not when it is saved either: ticks are made, fonts looked up and colours filled in only then."""
    found = TournamentResults(run.tournament(Tournament(game="hearts", a="rules", b="random", deals=4)))
    plot.plot(found, tmp_path / "plain.png")
    settings = {"savefig.facecolor": "red", "savefig.bbox": "tight", "font.size": 40, "xtick.labelsize": 30}
    with matplotlib.rc_context(settings):
        plot.plot(found, tmp_path / "styled.png")
    assert (tmp_path / "styled.png").read_bytes() == (tmp_path / "plain.png").read_bytes()


@pytest.mark.parametrize("width", [5, 20, 60])
def test_names_are_broken_at_their_marks(width):
    lines = break_name(LONG, width).split("\n")
    assert "".join(lines) == LONG and max(map(len, lines)) <= width
    assert break_name("rules", width) == "rules"
    assert break_name("a:b=1,c=22222222", 8) == "a:b=1,\nc=222222\n22"
