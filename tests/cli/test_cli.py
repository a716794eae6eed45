"""The command line: what it prints, what it refuses, what it does not import."""

import json
import os
import subprocess
import sys
from typing import Literal

import pytest
import typer
from pydantic import BaseModel, ConfigDict, Field

import trickformer
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
    assert "    bot=uniform_random  Bot's name in OpenSpiel" in out
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
        "time a decision",
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
    assert "random (2)" in out and "against" not in out


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
    code, out_json, _ = command("tournament", "--out", out, "--resume", "--json")
    assert code == 0, "a run continues with its own options"
    assert json.loads(out_json) == json.loads((out / "result.json").read_text())
    code, _, err = command("tournament", "--seed", 5, "--out", out, "--resume")
    assert code == 2 and "holds a run with --seed 4, not --seed 5" in err


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
        (["tournament", "hearts", "--a", "random"], "players are missing"),
        (["tournament", "hearts", "--players", "random", "--deals", "3"], "--players has one spec; give 2 or more"),
        (
            ["tournament", "hearts", "--players", "random", "random", "--a", "random"],
            "--players replaces --a and --b",
        ),
        (["tournament", "--a", "random", "--b", "random"], "GAME is missing"),
        ([*MATCH[:-1], "0"], "--deals 0"),
        ([*MATCH[:-1], "many"], "--deals must be a whole number"),
        ([*MATCH, "--seed", "-1"], "--seed -1"),
        ([*MATCH, "--colour", "red"], "--colour"),
        ([*MATCH, "--resume"], "--resume needs the --out"),
        (["tournament", "--resume", "--out", "nothing"], "no config.toml; give GAME and other options to begin one"),
        (["belief", "train", "--resume", "--out", "nothing"], "no config.toml; leave out --resume to begin one"),
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
        ("sede = 1", "unknown config key 'sede'; choose from: a, b, bound, clock, deals"),
        ("seed = [", "cannot read the config"),
    ],
)
def test_a_bad_config_file(tmp_path, text, says):
    file = tmp_path / "c.toml"
    file.write_text(text)
    with pytest.raises(TrickformerError, match=says):
        config.load(Tournament, file, {})


def test_lists_take_several_words():
    program = typer.main.get_command(cli.app)

    def spread(*arguments):
        return cli.spread(program, list(arguments))

    match = spread("tournament", "hearts", "--players", "a:x=1", "b", "--deals", "3", "--players", "c")
    players = ["--players", "a:x=1", "--players", "b"]
    assert match == ["tournament", "hearts", *players, "--deals", "3", "--players", "c"]
    assert spread("train", "--seed", "-1") == ["train", "--seed", "-1"]
    assert spread("train", "--guests", "a", "b") == ["train", "--guests", "a", "--guests", "b"]
    joined = spread("mines", "table", "--seconds", "0.1", "0.2", "--games", "3", "--beliefs", "exact", "rejection,old")
    assert joined == ["mines", "table", "--seconds", "0.1,0.2", "--games", "3", "--beliefs", "exact,rejection,old"]
    assert spread("mines", "table", "--seconds", "--games", "3") == ["mines", "table", "--seconds", "--games", "3"]
    assert spread("belief", "evaluate", "--others") == ["belief", "evaluate", "--others"]  # typer says what is missing
    assert spread("records", "show", "f", "--seat", "0", "1")[3:] == ["--seat", "0", "--seat", "1"]


def test_faults_of_values_are_plain_words():
    class Sample(BaseModel):
        model_config = ConfigDict(extra="forbid")
        count: int = Field(1, ge=1, lt=9)
        share: float = Field(0.5, gt=0, le=1, allow_inf_nan=False)
        kind: Literal["a", "b"] = "a"
        text: str = Field("x", min_length=1)
        dtype: str = Field("bfloat16", pattern="^(bfloat16|float32)$")
        on: bool = False
        many: list[int] = Field([1], min_length=1)

    wrong = {
        "count": [("0", "must be 1 or more"), ("9", "must be less than 9"), ("x", "must be a whole number")],
        "share": [(0, "must be more than 0.0"), (2, "must be 1.0 or less"), ("nan", "must be a finite number")],
        "kind": [("c", "must be 'a' or 'b'")],
        "text": [("", "must not be empty"), (3, "must be text")],
        "dtype": [("int8", "must be bfloat16 or float32")],
        "on": [("maybe", "must be true or false")],
        "many": [([], "must have 1 values at least"), (3, "must be a list")],
    }
    for name, cases in wrong.items():
        for value, says in cases:
            with pytest.raises(TrickformerError) as caught:
                config.validate(Sample, {name: value})
            assert str(caught.value) == f"{name}={value!r} {says}"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--version"], f"trickformer {trickformer.__version__}"),
        (["-h"], "Usage: trickformer"),
        (["tournament", "-h"], "Usage: trickformer tournament"),
        (["games"], "trickformer_skat(scores=seeger)"),
        (["checkpoints"], "hearts-small"),
        (["players"], "gomcts"),
    ],
)
def test_what_is_there(command, arguments, says):
    code, out, err = command(*arguments)
    assert code == 0 and says in out and not err


def test_lists_as_json(command):
    games_found = json.loads(command("games", "--json")[1])["games"]
    mines = next(row for row in games_found if row["name"] == "mines")
    assert (mines["seats"], mines["checkpoint"]) == (1, None)
    shipped = json.loads(command("checkpoints", "--json")[1])["checkpoints"]
    assert all(len(row["sha256"]) == 64 and row["bytes"] > 1000 for row in shipped)
    takers = {row["name"]: row["players"] for row in shipped}
    assert takers["hanabi-obl-1"] == ["obl", "rl_search"]
    assert all("checkpoint" in players.options_of(player).model_fields for names in takers.values() for player in names)
    everyone = json.loads(command("players", "--json")[1])["players"]
    assert {player["name"] for player in everyone} >= set(players.NAMES)
    (one,) = json.loads(command("players", "gomcts", "--game", "skat", "--json")[1])["players"]
    assert one["options"]["checkpoint"]["default"] == "skat-small" and one["options"]["runs"]["default"] == 100


def test_an_error_has_a_traceback_on_request(command):
    code, _, err = command("--debug", "tournament", "chess", "--a", "random", "--b", "random")
    assert code == 2 and "Traceback" in err and err.splitlines()[-1].startswith("error: unknown game 'chess'")


def test_every_command_has_an_example():
    def commands(group, before):
        for name, child in group.commands.items():
            words = [*before, name]
            yield from commands(child, words) if hasattr(child, "commands") else [(words, child)]

    for names, each in commands(typer.main.get_command(cli.app), []):
        assert (each.epilog or "").startswith(f"Example: trickformer {' '.join(names)}"), names


def test_the_shell_completes_commands():
    import subprocess
    import sys

    environment = os.environ | {
        "_TRICKFORMER_COMPLETE": "complete_bash",
        "COMP_WORDS": "trickformer tour",
        "COMP_CWORD": "1",
    }
    program = "from trickformer.cli import main; main()"
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert found.stdout.split() == ["tournament"]


def test_the_players_of_a_game(command):
    code, out, _ = command("players", "--game", "mines")
    names = [line.split()[0] for line in out.splitlines()[1:] if line and not line.startswith(" ")]
    assert code == 0 and {"bsr_uct", "optimal", "random"} <= set(names) and not {"rules", "kermit"} & set(names)
    rows = json.loads(command("players", "--game", "mines", "--json")[1])["players"]
    faults = {row["name"]: row.get("fault") for row in rows}
    assert "no model plays mines" in faults["argmax"] and faults["optimal"] is None and "rules" not in faults
    code, _, err = command("players", "rules", "--game", "mines")
    assert (code, err) == (2, "error: player 'rules' plays hearts, skat, crew only, not mines\n")
