"""Bad input at the command line: one line that names the fault, exit code 2, nothing written."""

import json
import shutil
import struct
import subprocess
import sys

import pytest

from trickformer.plumbing import digests

MATCH = ["tournament", "hearts", "--b", "random", "--deals", "1", "--seed", "5"]
OTHER_RULES = ["tournament", "hearts(jd_bonus=True)", *MATCH[2:]]
CREW = ["crew", "evaluate", "--games", "1", "--missions", "1"]
TRAIN = ["train", "hearts", "--preset", "tiny", "--bootstrap-hands", "64", "--sequences", "64", "--iterations", "0"]


@pytest.fixture
def refused(command, monkeypatch, tmp_path):
    """Runs a command that must fail, from a folder of its own; gives its line on standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        before = contents(tmp_path)
        code, out, err = command(*arguments)
        assert contents(tmp_path) == before
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert err.startswith("error: ")
        return err

    return call


@pytest.fixture
def checkpoint(tiny_checkpoint, tmp_path):
    """A copy of the tiny checkpoint, to be damaged."""
    return shutil.copytree(tiny_checkpoint, tmp_path / "model")


def contents(folder):
    return {str(p): None if p.is_dir() else p.read_bytes() for p in folder.rglob("*")}


def edit(checkpoint, **values):
    file = checkpoint / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["tournament", "chess", *MATCH[2:], "--a", "random"], "unknown game 'chess'; choose from: "),
        (["tournament", "hearts(jack=True)", *MATCH[2:], "--a", "random"], "unknown option of hearts 'jack'"),
        (["tournament", "hearts(name=chess)", *MATCH[2:], "--a", "random"], "unknown option of hearts 'name'"),
        (
            ["tournament", "crew(mission=True)", *MATCH[2:], "--a", "random"],
            "option mission of crew is 0 (any) or one of",
        ),
        (["mines", "agree", "--board", "2x2", "--mines", "3", "--first-move", "any"], "has one safe cell"),
        (["tournament", "hearts(jd_bonus=3)", *MATCH[2:], "--a", "random"], "jd_bonus of hearts is True or False"),
        (["tournament", "hanabi(players=6)", *MATCH[2:], "--a", "random"], "2 to 5 players, up to 5 colours"),
        (
            ["tournament", "hanabi(seed=1)", *MATCH[2:], "--a", "random"],
            "unknown option of hanabi 'seed'; choose from: colors",
        ),
        (["train", "hanabi(players=5,hand_size=7)", "--preset", "tiny"], "need 276 tokens, and there may be 256"),
        ([*MATCH, "--a", "xyz"], "unknown player 'xyz'; choose from: "),
        ([*MATCH, "--a", "random:x=1"], "has no options"),
        ([*MATCH, "--a", "gomcts:rums=3"], "unknown option of player 'gomcts': 'rums'; choose from: "),
        ([*MATCH, "--a", "gomcts:runs=many"], "runs=many"),
        ([*MATCH, "--a", "gomcts:runs=0"], "runs=0"),
        ([*MATCH, "--a", "gomcts:runs=3000000000"], "runs=3000000000"),
        ([*MATCH, "--a", "gomcts:c=inf"], "c=inf"),
        ([*MATCH, "--a", "gomcts:action_values=perhaps"], "action_values=perhaps"),
        ([*MATCH, "--a", "pimc:worlds=3000000000"], "worlds=3000000000"),
        ([*TRAIN, "--out", "run", "--seed", "99999999999999999999"], "--seed "),
        ([*MATCH, "--a", "argmax:threshold"], "write options as key=value"),
        ([*MATCH, "--a", "argmax:threshold=2"], "threshold=2"),
        ([*MATCH, "--a", "argmax:checkpoint=nowhere"], "unknown checkpoint 'nowhere'; choose from: "),
        ([*MATCH, "--a", "pimc:eval=magic"], "eval=magic"),
        ([*MATCH, "--a", "pimc:belief=nowhere"], "unknown belief 'nowhere'; choose from: "),
        ([*MATCH, "--a", "pimc:belief="], "belief="),
        ([*CREW, "--player", "pimc:belief=hearts-small"], "was trained on hearts"),
        ([*CREW, "--player", "pimc:belief=crew-small"], "unknown belief 'crew-small'; choose from: "),
        (["belief", "head", "hanabi", "--checkpoint", "hearts-small"], "there are no belief heads of hanabi"),
        (["belief", "head", "skat", "--checkpoint", "hearts-small"], "was trained on hearts"),
        (["belief", "head", "hearts", "--checkpoint", "nowhere"], "unknown checkpoint 'nowhere'; choose from: "),
        (["belief", "head", "hearts"], "--checkpoint is missing"),
        (
            ["belief", "head", "hearts", "--checkpoint", "hearts-small", "--players", "xyz"],
            "unknown player 'xyz'; choose from: ",
        ),
        ([*CREW, "--player", "xyz"], "unknown player 'xyz'; choose from: "),
        ([*CREW, "--player", "kermit"], "plays skat only, not crew"),
        ([*CREW], "--player is missing: One player's spec"),
        ([*CREW, *(["--player", "random"] * 3)], "must have 2 values at most"),
        ([*CREW, "--player", "argmax:checkpoint=nowhere"], "unknown checkpoint 'nowhere'"),
        ([*CREW, "--player", "argmax:checkpoint=hearts-small"], "was trained on hearts"),
        ([*CREW[:4], "--player", "random", "--missions", "2-51"], "there is no mission 51; missions go from 1 to 50"),
        ([*CREW[:4], "--player", "random", "--missions", "3-1"], "--missions 3-1: '3-1' is no mission and no range"),
        ([*CREW[:4], "--player", "random", "--missions", "1,,2"], "write missions such as 1-10,20"),
        ([*CREW, "--player", "random", "--games", "0"], "--games 0 must be 1 or more"),
        (
            [*CREW, "--player", "random", "--distress", "up"],
            "--distress up: choose from off, left, right; see trickformer crew evaluate --help",
        ),
        ([*CREW, "--player", "random", "--file", "nowhere.toml"], "missions nowhere.toml: No such file"),
        ([*CREW, "--player", "random", "--file", "a,b(c)"], "missions a,b(c): No such file"),
        (["crew", "iterations", "--games", "1"], "--run is missing"),
        (["crew", "iterations", "--run", "nowhere"], "nowhere holds no model-0"),
        (["train", "chess"], "unknown game 'chess'"),
        (["train"], "GAME is missing"),
        ([*TRAIN, "--preset", "huge"], "unknown preset 'huge'; choose from: paper, paper-small, small, tiny"),
        ([*TRAIN, "--batch-size", "65"], "--batch-size"),
        ([*TRAIN, "--dropout", "1"], "--dropout 1.0 must be less than 1"),
        ([*TRAIN, "--epochs", "0"], "--epochs 0"),
        ([*TRAIN, "--optimizer", "sgd"], "there is no option --optimizer"),
    ],
)
def test_unknown_names_and_values(refused, arguments, says):
    assert says in refused(*arguments, "--out", "run")


def test_commands_that_write_no_folder(refused):
    says = refused("audit", "skat", "--deals", "1", "--sampler", "openspiel")
    assert "OpenSpiel has no sampler of this game" in says
    assert "nothing is open; leave --position out" in refused("mines", "exact", "--position", "..../..../..../....")


@pytest.mark.parametrize("arguments", [[*MATCH, "--a", "random"], TRAIN])
def test_an_empty_path_is_not_the_current_folder(refused, arguments):
    assert "--out: the path is empty" in refused(*arguments, "--out", "")


@pytest.mark.slow
def test_standard_error_of_a_process_is_that_line_and_no_more(tmp_path):
    """Nothing that is imported on the way has a word of its own."""
    arguments = [*TRAIN, "--preset", "huge", "--out", "run"]
    code = "from trickformer.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: unknown preset 'huge'; choose from: paper, paper-small, small, tiny\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "wrong", [["--preset", "huge"], ["--bootstrap", "ruls"], ["--start", "nowhere"], ["--guests", "kermit"]]
)
def test_names_of_a_training_are_checked_before_torch_is_imported(refused, monkeypatch, wrong):
    monkeypatch.setitem(sys.modules, "trickformer.selfplay.nfsp", None)  # an import of it fails
    monkeypatch.setitem(sys.modules, "accelerate", None)
    refused("train", "hearts", "--preset", "tiny", *wrong, "--out", "run")


@pytest.mark.slow
@pytest.mark.parametrize("player", ["argmax", "imitation", "gomcts"])
def test_a_truncated_checkpoint(refused, checkpoint, player):
    weights = checkpoint / "model.safetensors"
    whole = weights.read_bytes()
    for length in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        weights.write_bytes(whole[:length])
        assert "model.safetensors" in refused(*MATCH, "--a", f"{player}:checkpoint={checkpoint}", "--out", "run")
    weights.unlink()
    assert "model.safetensors" in refused(*MATCH, "--a", f"{player}:checkpoint={checkpoint}", "--out", "run")


@pytest.mark.parametrize(
    "header", [b"[]", b"{", b'{"a": 1}', b'{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}', b"\xff\xfe"]
)
def test_a_file_that_is_no_safetensors(refused, checkpoint, header):
    (checkpoint / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(64))
    assert "model.safetensors" in refused(*MATCH, "--a", f"argmax:checkpoint={checkpoint}", "--out", "run")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '"x"', "{}", "\udcff"])
def test_a_damaged_config_of_a_checkpoint(refused, checkpoint, text):
    (checkpoint / "config.json").write_text(text, encoding="utf-8", errors="surrogateescape")
    assert str(checkpoint) in refused(*MATCH, "--a", f"argmax:checkpoint={checkpoint}", "--out", "run")


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"trickformer": None}, "does not name the game"),
        ({"trickformer": "hearts"}, "does not name the game"),
        ({"trickformer": {}}, "was trained on"),
        ({"n_layer": 3}, "lacks tensor"),
        ({"n_layer": "2"}, "n_layer = '2'"),
        ({"n_head": 5}, "not a multiple of n_head"),
        ({"n_inner": 64}, "config.json asks for"),
        ({"n_inner": "wide"}, "n_inner = 'wide'"),
        ({"vocab_size": 60}, "config.json asks for"),
        ({"layer_norm_epsilon": "small"}, "layer_norm_epsilon = 'small'"),
        ({"activation_function": "relu"}, "activation_function"),
        ({"model_type": "llama"}, "model_type"),
    ],
)
def test_a_config_that_is_not_this_models(refused, checkpoint, values, says):
    edit(checkpoint, **values)
    assert says in refused(*MATCH, "--a", f"argmax:checkpoint={checkpoint}", "--out", "run")


def test_a_checkpoint_of_other_rules(refused, checkpoint):
    line = refused(*OTHER_RULES, "--a", f"argmax:checkpoint={checkpoint}", "--out", "run")
    assert "its outcomes differ" in line


def test_a_bad_checkpoint_ends_a_resume_too(refused, command, checkpoint):
    arguments = [*MATCH, "--a", f"argmax:checkpoint={checkpoint}", "--out", "run"]
    assert command(*arguments)[0] == 0
    weights = checkpoint / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    assert "truncated" in refused(*arguments, "--resume")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda data: data[: data.index(b"\n") // 2] + b"\n", "not a record of a hand"),
        (lambda data: b'{"hello": 1}\n' + data, "line 1: not a record of a hand"),
        (lambda data: b"\xff\xfe\n", "line 1: not a record of a hand"),
        (lambda data: data + data.splitlines(keepends=True)[0], "occurs twice"),
        (lambda data: data.replace(b'"deal":0', b'"deal":7', 1), "not part of the tournament"),
    ],
)
def test_a_damaged_or_foreign_record_file(refused, command, tmp_path, spoil, says):
    arguments = [*MATCH, "--a", "random", "--out", "run"]
    assert command(*arguments)[0] == 0
    records = tmp_path / "run" / "records.jsonl"
    records.write_bytes(spoil(records.read_bytes()))
    digests.sums_file(records).unlink()
    assert says in refused(*arguments, "--resume")
    assert says in refused("report", "run")


def test_an_evaluation_is_not_written_over(refused, command, tmp_path):
    arguments = [*CREW, "--player", "random", "--random-games", "0", "--out", "run"]
    assert command(*arguments)[0] == 0
    assert "already holds a run" in refused(*arguments)
    assert "holds a run with --games 1, not --games 2" in refused(*arguments, "--resume", "--games", "2")
    elsewhere = "run is not a run of `trickformer tournament` or `trickformer train`; its report is run/report.md"
    assert elsewhere in refused("report", "run")
    (tmp_path / "run" / "report.md").unlink()
    assert "`trickformer train`; it has no report" in refused("report", "run")
    assert "belongs to a run of another command" in refused(*TRAIN, "--out", "run", "--resume")
    assert "run of another command; choose another --out" in refused(*TRAIN, "--out", "run")
    records = tmp_path / "run" / "records.jsonl"
    records.write_bytes(records.read_bytes().replace(b'"deal":1,', b'"deal":2,'))
    digests.sums_file(records).unlink()
    assert "not part of the tournament" in refused(*arguments, "--resume")


def test_iterations_need_whole_models(crew_checkpoint, refused, tmp_path):
    for i in range(2):
        shutil.copytree(crew_checkpoint, tmp_path / "run" / f"model-{i}")
    weights = tmp_path / "run" / "model-1" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    assert "truncated" in refused("crew", "iterations", "--run", "run", "--games", "1", "--out", "out")


def test_a_run_folder_is_not_written_over(refused, command):
    arguments = [*MATCH, "--a", "random", "--out", "run"]
    assert command(*arguments)[0] == 0
    assert "already holds a run" in refused(*arguments)
    assert "holds a run with no --clock, not --clock 2.0" in refused(*arguments, "--resume", "--clock", "2")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["config.toml", "run.json"])
def test_a_damaged_run_folder(refused, command, tmp_path, name):
    arguments = [*MATCH, "--a", "random", "--out", "run"]
    assert command(*arguments)[0] == 0
    (tmp_path / "run" / name).write_bytes(b"\xff{")
    assert name in refused(*arguments, "--resume")
    assert name in refused("report", "run")


def test_training_refuses_a_folder_that_it_cannot_use(refused, tmp_path):
    (tmp_path / "file").write_text("")
    assert "cannot make the folder file" in refused(*TRAIN, "--out", "file")
    assert "cannot make the folder file/run" in refused(*TRAIN, "--out", "file/run")
    run = tmp_path / "run"
    run.mkdir()
    for text, says in ((b"seed = 1\n", "is missing"), (b"\xff", "config.toml"), (b'game = "hearts"\n', "preset")):
        (run / "config.toml").write_bytes(text)
        assert "run already holds a run; continue it with --resume" in refused(*TRAIN, "--out", "run")
        assert says in refused(*TRAIN, "--out", "run", "--resume")


@pytest.mark.slow
def test_training_goes_on_only_from_a_whole_model(refused, command, tmp_path):
    arguments = [*TRAIN, "--iterations", "1", "--match-deals", "0", "--out", "run"]
    assert command(*arguments)[0] == 0
    shutil.rmtree(tmp_path / "run" / "model-1")
    weights = tmp_path / "run" / "model-0" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    assert "model.safetensors is damaged" in refused(*arguments, "--resume")
