"""Help pages: length, width, effective defaults, examples, and the rules of help texts."""

from __future__ import annotations

import re

import pytest

from trickformer.audit.views import Audit
from trickformer.engines.config import Conformance
from trickformer.plumbing import help_pages
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.head_config import HeadTraining
from trickformer.tournaments.plan import Tournament
from trickformer.web.config import Play, PuzzleSettings, ViewSettings

COMMANDS = [
    (["train"], SelfPlay),
    (["tournament"], Tournament),
    (["play"], Play),
    (["view"], ViewSettings),
    (["puzzle"], PuzzleSettings),
    (["audit"], Audit),
    (["engines", "check"], Conformance),
    (["belief", "head"], HeadTraining),
]


@pytest.fixture
def page(command, monkeypatch):
    """A function that returns a help page, 80 columns wide, as one line per option."""
    monkeypatch.setenv("COLUMNS", "80")

    def of(*words: str) -> str:
        code, out, _ = command(*words)
        assert code == 0 and max(map(len, out.splitlines())) <= 80 and "…" not in out
        return re.sub(r"\s+", " ", re.sub(r"│\n│\s{3,}", " ", out).replace("│", ""))

    return of


def flags(page: str) -> set[str]:
    return set(re.findall(r"(?<= )--[a-z0-9\[\]-]+(?= [A-Z])", page))


@pytest.mark.parametrize(("words", "model"), COMMANDS)
def test_help_texts_are_short_sentences(page, words, model):
    for name, field in model.model_fields.items():
        text = field.description
        assert text[0].isupper() and text.endswith(".") and len(text) <= 90 and ";" not in text, name
    assert f"Example: trickformer {' '.join(words)} " in page(*words, "--help")


@pytest.mark.parametrize(("words", "model"), COMMANDS)
def test_every_option_has_one_panel(page, words, model):
    panels = help_pages.panels_of(model)
    placed = " ".join(f"{everyday} {rest}" for everyday, rest in panels.values()).split()
    assert len(placed) == len(set(placed))
    own = {"config", "resume", "as_json"}
    positional = next(iter(model.model_fields))
    assert not panels or set(placed) - own == model.model_fields.keys() - {positional}


def test_the_page_of_train_is_short_and_the_other_one_complete(page):
    short, complete = flags(page("train", "--help")), flags(page("train", "--help-all"))
    assert len(short) <= 16 and {"--preset", "--seed", "--help-all", "--resume"} <= short < complete
    names = [name.replace("_", "-") for name in SelfPlay.model_fields if name != "game"]
    assert all(f"--{name}" in complete or f"--[no-]{name}" in complete for name in names)
    assert not complete & {"--told", "--quick", "--[no-]told", "--[no-]quick", "--facts", "--quick-window"}


@pytest.mark.slow
def test_train_shows_the_defaults_of_the_game_and_the_preset(page):
    tiny = page("train", "hearts", "--preset", "tiny", "--help")
    assert "Defaults: preset tiny in hearts." in tiny and "(default: 3,000)" in tiny and "out/hearts-tiny" in tiny
    assert page("train", "--help", "--preset", "tiny", "hearts") == tiny
    assert "Defaults: preset small in hearts. Others:" in page("train", "--help")
    skat = page("train", "skat", "--preset", "paper", "--help-all")
    assert "(default: random rules)" in skat and "--[no-]rollout-network" in skat
    assert "from iteration 1 on (default: none)." in skat
    assert "(default: rules pimc:eval=uct,runs=20,worlds=20)" in page("train", "hearts", "--help-all")


@pytest.mark.parametrize(("wrong", "says"), [(["harts"], "unknown game 'harts'"), (["--preset", "huge"], "'huge'")])
def test_help_for_an_unknown_game_or_preset_is_refused(command, wrong, says):
    code, _, error = command("train", *wrong, "--help")
    assert code == 2 and says in error
