"""Figures of the results pages: they stand on their pages, and the tables are those that the generator makes."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
FILE = ROOT / "tools" / "results_table.py"
CHECKPOINTS = ROOT / "src" / "trickformer" / "checkpoints"

pytestmark = pytest.mark.skipif(not RESULTS.is_dir(), reason="a source distribution has no docs/results")


def _load_tool():
    """Import the generator from its file; tools/ is not a package."""
    spec = importlib.util.spec_from_file_location("results_table", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # `dataclass` looks the module up
    spec.loader.exec_module(module)
    return module


tool = _load_tool()

SMALL = """
[models.m]
commit = "1234567"
script_opinion = true
[figures.a]
game = "Skat"
player = "`rollout`"
question = "`rollout` - `rules`"
value = "+1.00"
interval = "[+0.50, +1.50]"
sample = "10 deals"
model = "m"
command = "runs/x.sh"
seed = 1
date = "2026-11-26"
commit = "1234567"
page = "skat.md"
controls = ["b"]
[figures.b]
game = "Skat"
player = "`sparta`, no model"
score = "24.17"
value = "+0.90"
interval = "± 0.10"
kind = "standard error"
sample = "10 deals"
command = "runs/x.sh"
seed = 1
date = "2026-11-26"
commit = "1234567"
page = "skat.md"
[[readme]]
game = "Skat"
measure = "points"
search = {figure = "a"}
without_model = {figure = "b"}
model_alone = {text = "not measured"}
script = {text = "none"}
"""


def _figures():
    if not RESULTS.is_dir():
        return []
    figures = tool.read_results((ROOT / tool.FIGURES).read_text("utf-8")).figures
    return [pytest.param(figure, id=name) for name, figure in figures.items()]


def _words(text):
    """Return a text without emphasis and line breaks."""
    return " ".join(text.replace("**", "").split())


@pytest.mark.parametrize("figure", _figures())
def test_a_figure_stands_on_its_page(figure):
    """The page has the value with its interval, the sample's size, the date and the commit, each literally."""
    page = _words((RESULTS / figure.page).read_text("utf-8"))
    for literal in (figure.literal, figure.score, figure.date, re.match(r"[\d,]+", figure.sample)[0]):
        assert literal in page
    date.fromisoformat(figure.date)
    assert figure.commit == "not recorded" or (re.fullmatch("[0-9a-f]{7}", figure.commit) and figure.commit in page)
    assert bool(figure.interval) == (figure.kind != "all games alike")


@pytest.mark.parametrize("figure", _figures())
def test_the_script_of_a_figure_exists(figure):
    """Commands of trickformer itself are tested with those of the pages (tests/cli/test_documented_commands.py)."""
    words = iter(shlex.split(figure.command))
    program = next(word for word in words if not re.match("[A-Z]+=", word))  # after variables of the environment
    assert program == "trickformer" or (program.startswith("runs/") and (ROOT / program).is_file())


def test_the_models_are_shipped_and_their_cards_tell_of_the_features():
    models = tool.read_results((ROOT / tool.FIGURES).read_text("utf-8")).models
    assert set(models) == {path.parent.name for path in CHECKPOINTS.glob("*/config.json")}
    for name, model in models.items():
        card = (CHECKPOINTS / name / "README.md").read_text("utf-8")
        assert ("The features contain the scripted player's opinion" in card) == model.script_opinion
        assert model.commit in (RESULTS / "archive.md").read_text("utf-8")


def test_the_tables_of_the_pages_are_those_of_the_figures(capsys):
    assert tool.main(["--check"]) == 0, capsys.readouterr().out


def _pages():
    return [pytest.param(path, id=path.stem) for path in sorted(RESULTS.glob("*.md"))]


@pytest.mark.parametrize("path", _pages())
def test_a_page_opens_with_a_table_and_three_sentences(path):
    """A busy reader can stop at `Details`; the sentences are short."""
    opening, heading, _ = path.read_text("utf-8").partition("\n## Details\n")
    assert heading and "\n## " not in opening
    opening = opening.replace(f"{tool.BEGIN}\n", "").replace(f"{tool.END}\n", "")
    title, table, after = re.split(r"((?:^\|.*\n)+)", opening, flags=re.MULTILINE)
    assert re.fullmatch(r"# .+\n\n", title) and table.count("\n") > 2
    sentences = re.split(r"(?<=[.])\s+(?=[A-Z`\d\[])", " ".join(after.split()))
    assert 1 <= len(sentences) <= 3
    assert sum(len(sentence.split()) for sentence in sentences) <= 20 * len(sentences)


def test_the_generator_makes_both_tables():
    results = tool.read_results(SMALL)
    row = "| Skat | `rollout` - `rules` | `m` * | +1.00 [+0.50, +1.50] | 10 deals |"
    control = " `sparta`, no model: 24.17 (+0.90 ± 0.10) (standard error) | 2026-11-26 | [skat](skat.md) |\n"
    assert tool.make_index_table(results).splitlines(keepends=True)[2:] == [row + control]
    row = "| [Skat](docs/results/skat.md) | points | `rollout`: +1.00 [+0.50, +1.50] |"
    control = " `sparta`: 24.17 (+0.90 ± 0.10) (standard error) | not measured | none |\n"
    assert tool.make_readme_table(results).splitlines(keepends=True)[2:] == [row + control]


@pytest.fixture
def tree(tmp_path):
    """A repository with the small figures and an index whose table is empty."""
    (tmp_path / "docs" / "results").mkdir(parents=True)
    (tmp_path / tool.FIGURES).write_text(SMALL, "utf-8")
    (tmp_path / tool.INDEX).write_text(f"# Results\n\n{tool.BEGIN}\n{tool.END}\n", "utf-8")
    (tmp_path / tool.README).write_text("# trickformer\n", "utf-8")
    return tmp_path


def test_check_detects_a_stale_page_and_writing_mends_it(tree, capsys):
    assert tool.main(["--check"], tree) == 1
    assert capsys.readouterr().out == "docs/results/index.md: run python tools/results_table.py\n"
    assert tool.main([], tree) == 0 and tool.main(["--check"], tree) == 0
    assert (tree / tool.README).read_text("utf-8") == "# trickformer\n"
    (tree / tool.README).write_text(f"{tool.BEGIN}\n| old |\n{tool.END}\nMore.\n", "utf-8")
    assert tool.main(["--check"], tree) == 1 and tool.main([], tree) == 0 and tool.main(["--check"], tree) == 0
    assert (tree / tool.README).read_text("utf-8").endswith(f"| none |\n{tool.END}\nMore.\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[models.m]", "[models.m", "not valid TOML"),
        ("[models.m]", "[model.m]", "needs the tables models, figures and readme"),
        ('value = "+1.00"', "", "a: missing 1 required keyword-only argument: 'value'"),
        ('value = "+1.00"', "value = 1.0", "a: value is no str"),
        ("seed = 1", 'seed = "1"', "a: seed is no int"),
        ('sample = "10 deals"', 'samples = "10 deals"', "a has an unknown field 'samples'"),
        ('model = "m"', 'model = "n"', "there is no model 'n'"),
        ('controls = ["b"]', 'controls = ["c"]', "there is no figure 'c'"),
        ('controls = ["b"]', "", "a has no control"),
        ('search = {figure = "a"}', 'search = {figure = "c"}', "a cell is a text or an existing figure"),
        ('search = {figure = "a"}', 'search = {text = "a"}', "`search` needs a figure"),
    ],
)
def test_bad_figures_give_one_line(tree, capsys, old, new, message):
    (tree / tool.FIGURES).write_text(SMALL.replace(old, new, 1), "utf-8")
    assert tool.main(["--check"], tree) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: docs/results/figures.toml: ") and message in error and error.count("\n") == 1


@pytest.mark.parametrize("text", ["# Results\n", f"{tool.BEGIN}\n", f"{tool.END}\n{tool.BEGIN}\n"])
def test_an_index_without_markers_gives_one_line(tree, capsys, text):
    (tree / tool.INDEX).write_text(text, "utf-8")
    assert tool.main([], tree) == 2
    assert capsys.readouterr().err.startswith("error: a page needs one line")
