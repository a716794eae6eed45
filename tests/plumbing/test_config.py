"""Configs of commands: former names of fields in files and on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
import typer
from pydantic import BaseModel, ConfigDict, Field
from typer.testing import CliRunner

from trickformer.base import TrickformerError
from trickformer.plumbing import config as configs
from trickformer.plumbing import folder
from trickformer.plumbing.help_pages import Panels


class Lamp(BaseModel):
    """Config of a made-up command."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    FORMER_NAMES: ClassVar[dict[str, str]] = {"bright": "dimmed", "lumen": "watts"}

    room: str = Field("hall", description="Name of the room.")
    dimmed: bool = Field(False, description="Whether the lamp is dimmed.")
    watts: int = Field(40, ge=1, le=100, description="Power in watts.")


class Lamps(Lamp):
    """Config with an option on the page of --help-all alone."""

    PANELS: ClassVar[Panels] = {"Light": ("dimmed", "watts")}


def _app(model: type[Lamp] = Lamp) -> typer.Typer:
    app = typer.Typer()

    @configs.command(app, model, positional="room", example="lamp hall")
    def lamp(**given: Any) -> None:
        print(configs.load(model, None, given))

    return app


def test_a_former_name_is_read_and_todays_is_written(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text("bright = true\nlumen = 9\n")
    for lamp in (configs.load(Lamp, file, {}), configs.read(Lamp, file)):
        assert lamp == Lamp(dimmed=True, watts=9)
        assert "dimmed = true" in configs.dump(lamp) and "bright" not in configs.dump(lamp)


def test_the_command_line_overrides_a_file_under_either_name(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text("lumen = 9\n")
    assert configs.load(Lamp, file, {"watts": 5}).watts == configs.load(Lamp, file, {"lumen": 5}).watts == 5
    file.write_text("watts = 9\n")
    assert configs.load(Lamp, file, {"lumen": 5}).watts == 5


@pytest.mark.parametrize("text", ["watts = 5\nlumen = 9\n", "lumen = 9\nwatts = 5\n"])
def test_both_names_are_refused(tmp_path: Path, text: str):
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(TrickformerError, match="lumen is the former name of watts"):
        configs.load(Lamp, file, {})


def test_a_run_of_an_earlier_version_can_be_resumed(tmp_path: Path):
    (tmp_path / folder.CONFIG).write_text('room = "hall"\nbright = true\nlumen = 40\n')
    folder.RunFolder(tmp_path).check(Lamp(dimmed=True), resume=True, free=())
    with pytest.raises(TrickformerError, match="holds a run with --dimmed, not --no-dimmed"):
        folder.RunFolder(tmp_path).check(Lamp(), resume=True, free=())


def test_former_flags_work_and_are_hidden(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    run = CliRunner().invoke
    assert "dimmed=True watts=7" in run(_app(), ["--bright", "--lumen", "7"]).output
    assert "dimmed=False" in run(_app(), ["--no-bright"]).output
    page = run(_app(), ["--help"]).output
    assert "--[no-]dimmed" in page and "Power in watts (default: 40)." in page and "Example: lamp hall" in page
    assert "bright" not in page and "lumen" not in page and "--help-all" not in page


def test_help_all_has_the_options_that_help_has_not(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    run = CliRunner().invoke
    assert "dimmed=True watts=40" in run(_app(Lamps), ["--dimmed"]).output
    short, complete = (run(_app(Lamps), [flag]).output for flag in ("--help", "--help-all"))
    assert "--[no-]dimmed" in short and "--help-all" in short and "--watts" not in short
    assert "--[no-]dimmed" in complete and "--watts" in complete
