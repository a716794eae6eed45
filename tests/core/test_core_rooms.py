"""The rooms of cpp/ depend on each other in one direction, and no game on another."""

from __future__ import annotations

import re
from pathlib import Path

CORE = Path(__file__).parents[2] / "cpp"
GAMES = {"hearts", "skat", "crew", "hanabi", "mines"}
BELOW = {"core": set(), "nn": {"core"}, "search": {"core", "nn"}} | {game: {"core", "nn"} for game in GAMES}
BELOW["python"] = set(BELOW)


def test_rooms_include_what_is_below_them() -> None:
    assert {path.name for path in CORE.iterdir()} == set(BELOW)
    for path in CORE.glob("*/*"):
        room, text = path.parent.name, path.read_text()
        for name in re.findall(r'^#include "(.*)"', text, re.MULTILINE):
            assert (CORE / name).is_file(), f"{path.name} includes {name}, which is not named from cpp/"
            assert name.split("/")[0] in BELOW[room] | {room}, f"{room}/{path.name} includes {name}"
        assert "nanobind" not in text or room == "python", f"{room}/{path.name} knows nanobind"
