"""The command line: what it prints, what it refuses, what it does not import."""

import json
import subprocess
import sys

import pytest

from trickformer import cli, games, players
from trickformer.base import TrickformerError
from trickformer.plumbing import config
from trickformer.tournaments.plan import Tournament

MATCH = ["tournament", "hearts", "--a", "random", "--b", "random", "--deals", "1"]


@pytest.mark.parametrize("code", ["import trickformer", "import sys; sys.argv[1:] = ['--help']; HELP"])
def test_nothing_heavy_is_imported_for_help(code):
    code = code.replace("HELP", "from trickformer.cli import main\ntry: main()\nexcept SystemExit: pass")
    look = "\nimport sys; print([m for m in ('torch', 'pyspiel', 'transformers', 'ray') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code + look], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_listing_players_does_not_import_torch():
    code = "import sys; sys.argv[1:] = ['players']\nfrom trickformer.cli import main\ntry: main()\n"
    code += "except SystemExit: pass\nprint([m for m in ('torch', 'transformers') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_players_are_listed_with_options_and_defaults(command):
    code, out, _ = command("players")
    assert code == 0
    lines = out.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    assert any(line.split()[:2] == ["random", "any"] for line in lines)
    code, out, _ = command("players", "spiel")
    assert code == 0
    assert "    bot=uniform_random  name under which" in out
    code, out, _ = command("players", "rollout", "--game", "hanabi")
    assert code == 0
    assert "    belief=uniform" in out


@pytest.mark.parametrize(
    ("spec", "game", "values"),
    [
        ("gomcts:checkpoint=skat-small,c=0.5", "skat", {"runs": 100, "steps": 5, "c": 0.5, "action_values": False}),
        ("gomcts:checkpoint=hearts-small", "hearts", {"runs": 400, "steps": 1, "legal": True, "action_values": True}),
        ("rollout:prior=argmax:checkpoint=hanabi-small", "hanabi", {"runs": 400, "margin": 3.0, "belief": "weighted"}),
        ("rollout", "skat", {"worlds": 12, "belief": "uniform"}),
    ],
)
def test_resolved_options_have_the_defaults_of_the_game(spec, game, values):
    found = players.resolve_options(spec, games.load(game))
    assert {key: found[key] for key in values} == values
    assert ("worlds" in found) == (spec == "rollout")


def test_json_is_one_object_and_all_of_standard_output(command):
    code, out, err = command(*MATCH, "--json")
    assert code == 0
    assert json.loads(out)["rows"]["All"]["difference"] == 0
    assert "14 of 14 tables" in err


def test_a_table_in_the_form_of_table_2(command):
    code, out, _ = command(*MATCH[:-1], "2", "--seed", "1")
    assert code == 0
    assert out.startswith("hearts: 2 deals, seed 1; score a hand, lower is better")
    for word in (
        "All",
        "3A/1B",
        "2A/2B",
        "1A/3B",
        "A − B",
        "95% interval",
        "p (Wilcoxon)",
        "a turn in batches of",
    ):
        assert word in out


def test_many_players_as_typed(command):
    typed = ["--players", "random", "spiel:state=true", "random", "--deals", "1", "--json"]
    code, out, _ = command("tournament", "hearts", *typed)
    assert code == 0
    found = json.loads(out)
    assert found["players"] == ["random", "spiel:state=true", "random"]
    assert len(found["matches"]) == 3
    code, out, _ = command("tournament", "hearts", *typed[:-1])
    assert "Rating" in out
    assert "P2 − P3" in out


def test_a_config_file_with_overrides_and_the_report_command(command, tmp_path):
    file, out = tmp_path / "match.toml", tmp_path / "run"
    file.write_text('game = "hearts"\na = "random"\nb = "random"\ndeals = 1\nseed = 9\n')
    code, shown, _ = command("tournament", "--config", file, "--seed", 4, "--out", out)
    assert code == 0
    assert "seed 4" in shown
    code, again, _ = command("report", out)
    assert (code, again) == (0, shown)
    resolved = config.load(Tournament, out / "config.toml", {})
    assert (resolved.seed, resolved.deals, resolved.b) == (4, 1, "random")
    code, out_json, _ = command("tournament", "--config", out / "config.toml", "--out", out, "--resume", "--json")
    assert code == 0
    assert json.loads(out_json) == json.loads((out / "result.json").read_text())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["tournament", "harts", "--a", "random", "--b", "random"],
            "unknown game 'harts'; choose from: crew, hanabi, hearts",
        ),
        (["tournament", "hearts", "--a", "randm", "--b", "random"], "unknown player 'randm'; choose from"),
        (["tournament", "hearts", "--a", "spiel:bt=1", "--b", "random"], "'bt'; choose from: bot, state"),
        (
            ["tournament", "hearts(moon=True)", "--a", "random", "--b", "random"],
            "unknown option of hearts 'moon'",
        ),
        (["tournament", "hearts(", "--a", "random", "--b", "random"], "'hearts(' is no game string"),
        (["tournament", "hearts", "--a", "random"], "who plays?"),
        (["tournament", "hearts", "--players", "random", "--deals", "3"], "at least 2"),
        (
            ["tournament", "hearts", "--players", "random", "random", "--a", "random"],
            "either a and b, or players",
        ),
        (["tournament", "--a", "random", "--b", "random"], "game is missing"),
        ([*MATCH[:-1], "0"], "deals=0"),
        ([*MATCH[:-1], "many"], "'--deals'"),
        ([*MATCH, "--seed", "-1"], "seed=-1"),
        ([*MATCH, "--colour", "red"], "--colour"),
        ([*MATCH, "--resume"], "--resume needs the --out"),
        ([*MATCH, "--config", "missing.toml"], "cannot read the config missing.toml"),
        (["tournamet"], "tournamet"),
        (["report", "nowhere"], "nowhere holds no run"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(command, monkeypatch, tmp_path, arguments, says):
    monkeypatch.chdir(tmp_path)
    if arguments[0] == "tournament":
        arguments = [*arguments, "--out", "run"] if "--resume" not in arguments else arguments
    code, out, err = command(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert says in err
    assert list(tmp_path.iterdir()) == []


def test_an_out_that_cannot_be_made_is_one_line(command, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = command(*MATCH, "--out", tmp_path / "file" / "run")
    assert code == 2
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sede = 1", "unknown config key 'sede'; choose from: a, b, clock, deals"),
        ("seed = [", "cannot read the config"),
    ],
)
def test_a_bad_config_file(tmp_path, text, says):
    file = tmp_path / "c.toml"
    file.write_text(text)
    with pytest.raises(TrickformerError, match=says):
        config.load(Tournament, file, {})


def test_variadic_options_are_spread():
    spread = cli._spread(["t", "hearts", "--players", "a:x=1", "b", "--deals", "3", "--players", "c"])
    assert spread == ["t", "hearts", "--players", "a:x=1", "--players", "b", "--deals", "3", "--players", "c"]
    assert cli._spread(["t", "--seed", "-1"]) == ["t", "--seed", "-1"]
    joined = cli._spread(["t", "--seconds", "0.1", "0.2", "--games", "3", "--beliefs", "exact", "rejection,inherited"])
    assert joined == ["t", "--seconds", "0.1,0.2", "--games", "3", "--beliefs", "exact,rejection,inherited"]
    assert cli._spread(["t", "--seconds", "--games", "3"]) == ["t", "--seconds", "--games", "3"]
    lists = [f"--{name}" for name in ("bootstrap", "guests", "player")]
    several = cli._spread(["t", *(word for flag in lists for word in (flag, "a", "b"))])
    assert several == ["t", *(word for flag in lists for word in (flag, "a", flag, "b"))]
    for bare in (["t", "--others"], ["t", "--others", "--games", "5"]):  # typer says what is missing
        assert cli._spread(bare) == bare
