"""What strangers hand over is read and never obeyed, and what ends a command from outside ends all of it."""

from __future__ import annotations

import ast
import importlib
import json
import math
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
import time
import typing
from pathlib import Path

import annotated_types
import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

import trickformer
from trickformer import checkpoints
from trickformer.base import TrickformerError
from trickformer.belief.hanabi import networks
from trickformer.belief.hanabi.config import BeliefTraining
from trickformer.models import hanabi_values
from trickformer.models.weights import read_safetensors, read_weights
from trickformer.plumbing import config as configs
from trickformer.plumbing import text
from trickformer.plumbing.lines import JsonLines, read_lines
from trickformer.selfplay.config import SelfPlay
from trickformer.studies.crossplay.plan import CrossPlay
from trickformer.tournaments.plan import Tournament
from trickformer.web.config import Play

PROGRAM = [sys.executable, "-c", "from trickformer.cli import main; main()"]
DEEP = 100_000


@pytest.mark.parametrize(
    ("model", "key"),
    [
        (m, k)
        for m in (Tournament, CrossPlay, SelfPlay, BeliefTraining, Play)
        for k in configs.COMMAND_LINE_ONLY
        if k in m.model_fields
    ],
)
def test_a_file_does_not_say_where_to_write_or_what_to_connect_to(model, key, tmp_path):
    file = tmp_path / "config.toml"
    file.write_text(f'{key} = "127.0.0.1:1"\n')
    with pytest.raises(TrickformerError, match=f"which a file may not decide; give --{key}$"):
        configs.load(model, file, {})


def test_what_the_command_line_says_stands(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('game = "hearts"\na = "random"\nb = "rules"\nout = "elsewhere"\n')
    assert configs.load(Tournament, file, {"out": tmp_path / "here"}).out == tmp_path / "here"


def test_a_run_folder_keeps_nothing_of_the_machine(command, tmp_path):
    out = tmp_path / "run"
    assert command("tournament", "hearts", "--a", "random", "--b", "rules", "--deals", 1, "--out", out)[0] == 0
    assert not set(text.from_toml((out / "config.toml").read_text())) & set(configs.COMMAND_LINE_ONLY)


def test_git_is_not_asked_about_the_current_folder(tmp_path):
    """Its configuration may name a program that `git status` runs."""
    spy, ran = tmp_path / "spy.sh", tmp_path / "ran"
    spy.write_text(f"#!/bin/sh\ntouch {ran}\n")
    spy.chmod(0o755)
    home = tmp_path / "home"
    (home / "src/trickformer/plumbing").mkdir(parents=True)
    (home / "src/trickformer/base.py").write_text("")
    git = ["git", "-C", str(home), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["config", "core.fsmonitor", str(spy)]):
        subprocess.run([*git, *words], check=True)
    subprocess.run(["git", "-C", str(home), "status"], check=True, capture_output=True)
    assert ran.exists(), "the spy does not work"
    ran.unlink()
    asked = "from trickformer.plumbing import folder; print(folder.build()['trickformer'])"
    subprocess.run([sys.executable, "-c", asked], cwd=home, check=True, capture_output=True)
    assert not ran.exists()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_weights_that_are_no_numbers_are_refused(value, tiny_checkpoint, tmp_path):
    good = read_safetensors(tiny_checkpoint / "model.safetensors")
    for name in ("transformer.wte.weight", "val_head.weight", "transformer.h.0.attn.c_attn.bias"):
        bad = {n: t.copy() for n, t in good.items()}
        bad[name].flat[bad[name].size // 2] = value
        safetensors.numpy.save_file(bad, tmp_path / "model.safetensors")
        (tmp_path / "config.json").write_bytes((tiny_checkpoint / "config.json").read_bytes())
        with pytest.raises(TrickformerError, match=f"tensor {name} holds a weight that is infinite"):
            read_weights(tmp_path)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_nor_are_they_in_networks_of_hanabi(value, tmp_path):
    config = BeliefTraining(hidden=8)
    networks.save(networks.network_of(config), config, config.players, tmp_path / "belief.safetensors")
    shutil.copytree(checkpoints.find("hanabi-obl-1"), tmp_path / "obl")
    for file, load in (
        (tmp_path / "belief.safetensors", networks.load),
        (tmp_path / "obl" / hanabi_values.WEIGHTS, lambda file: hanabi_values.load(file.parent)),
    ):
        load(file)
        with safetensors.safe_open(file, "np") as held:
            metadata = held.metadata()
        tensors = safetensors.numpy.load_file(file)
        name = max(tensors, key=lambda name: tensors[name].size)
        tensors[name].flat[tensors[name].size // 2] = value
        safetensors.numpy.save_file(tensors, file, metadata)
        with pytest.raises(TrickformerError, match=f"tensor {name} holds a weight that is infinite"):
            load(file)


# A header of the format, with what no file of ours has.
HEADERS = [
    {"a": {"dtype": "F32", "shape": [2], "data_offsets": [-8, 0]}},
    {"a": {"dtype": "F32", "shape": [2], "data_offsets": [1 << 70, (1 << 70) + 8]}},
    {"a": {"dtype": "F32", "shape": [1] * 65, "data_offsets": [0, 4]}},
    {"a": {"dtype": "F32", "shape": [1 << 40, 1 << 40], "data_offsets": [0, 8]}},
    {"a": {"dtype": "F32", "shape": [-1, -2], "data_offsets": [0, 8]}},
    {"a": {"dtype": "F32", "shape": 2, "data_offsets": [0, 8]}},
    {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0]}},
    {"a": ["F32"]},
    [],
    1,
]
TEXTS = [json.dumps(header) for header in HEADERS]
TEXTS += ['{"a": {"dtype": "F32", "shape": [Infinity], "data_offsets": [0, 8]}}', "[" * DEEP, "{" + "9" * 5_000 + "}"]
TEXTS += ['{"a": {"dtype": "F32", "shape": [%s], "data_offsets": [0, 8]}}' % ("9" * 5_000)]


@pytest.mark.parametrize("header", TEXTS, ids=lambda header: header[:60])
def test_headers_of_no_file_of_ours(header, tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(np.uint64(len(header)).tobytes() + header.encode() + bytes(8))
    with pytest.raises(TrickformerError, match=r"safetensors file|is truncated"):
        read_safetensors(path)


@given(data=st.binary(max_size=200))
def test_any_bytes_as_a_safetensors_file(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "model.safetensors"
    path.write_bytes(data)
    try:
        assert isinstance(read_safetensors(path), dict)
    except TrickformerError as e:
        assert "\n" not in str(e)


def test_nothing_is_nested_too_deeply():
    for parse in (text.from_json, text.json_object, lambda t: text.from_toml("a = " + t)):
        for words in ("[" * DEEP, "[" * DEEP + "]" * DEEP, "9" * 5_000):
            with pytest.raises(ValueError):
                parse(words)


@pytest.mark.parametrize("line", ["1", '"text"', "[]", "null", "[" * DEEP])
def test_lines_that_are_no_records(line, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(TrickformerError, match="is broken; restore it from a copy"):
        read_lines(path)


UNSAFE_MODULES = {"pickle", "marshal", "shelve", "dill", "yaml"}
UNSAFE_CALLS = {"eval", "exec", "builtins.eval", "builtins.exec", "os.system", "os.popen"}
UNSAFE_KEYWORDS = {"shell", "allow_pickle"}


def _imported_names(tree):
    """Yield each imported module, and each name imported from one, as a dotted name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _unsafe(tree):
    """Yield what a module does that could run a file's contents."""
    yield from (n for n in _imported_names(tree) if n.partition(".")[0] in UNSAFE_MODULES or n in UNSAFE_CALLS)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name, keywords = ast.unparse(node.func), {k.arg: ast.unparse(k.value) for k in node.keywords}
            if name in UNSAFE_CALLS or (name == "torch.load" and keywords.get("weights_only") != "True"):
                yield name
            yield from (key for key in UNSAFE_KEYWORDS if keywords.get(key, "False") != "False")


def _trees(*folders):
    for folder in folders:
        for path in (Path(__file__).parents[2] / folder).rglob("*.py"):
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def test_no_module_runs_what_it_reads():
    assert not {str(path): found for path, tree in _trees("src", "examples") if (found := list(_unsafe(tree)))}


@pytest.mark.parametrize(
    "source",
    [
        "from pickle import loads",
        "import copy, pickle",
        "from os import system",
        "builtins.eval(x)",
        "exec(x)",
        "run(x, shell = True)",
        "np.load(x, allow_pickle=True)",
        "torch.load(x)",
        "import yaml",
    ],
)
def test_what_counts_as_unsafe(source):
    assert list(_unsafe(ast.parse(source)))


def test_only_one_module_reads_json_and_toml():
    """All others have what they read from it: what is wrong with a text is a ValueError there. engine.py stands alone:
    bots may copy it, and what they read is from us."""
    readers = {"json.load", "json.loads", "tomllib", "tomllib.load", "tomllib.loads"}
    found = {
        path.name
        for path, tree in _trees("src/trickformer")
        if readers & {*_imported_names(tree), *(ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call))}
    }
    assert found == {"text.py", "engine.py"}


LONG = "x" * 5_000
NAMES = [["tournament", LONG], ["report", LONG], ["tournament", b"\xff"]]
NAMES += [["tournament", "hearts", "--a", f"argmax:checkpoint={'y' * 300}"]]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", NAMES, ids=range(len(NAMES)))
def test_names_that_cannot_be(arguments, tmp_path):
    more = ["--b", "random", "--deals", "1"] if arguments[0] == "tournament" else []
    ended = subprocess.run([*PROGRAM, *arguments, *more], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert ended.returncode == 2 and len(ended.stderr.splitlines()) == 1, ended.stderr[-500:]
    assert ended.stderr.startswith("error: ") and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_sigterm_is_ctrl_c(tmp_path):
    out = tmp_path / "run"
    match = ["tournament", "hearts", "--a", "pimc:worlds=20", "--b", "rules", "--deals", "5000", "--out", str(out)]
    process = subprocess.Popen([*PROGRAM, *match], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    records = out / "records.jsonl"
    while not (records.exists() and records.stat().st_size):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "--resume" in said.splitlines()[-1] and "Traceback" not in said


def test_workers_end_with_their_parent(tmp_path):
    """Even where it is killed, and they have nothing to send for a while."""
    code = (
        "import os, time\n"
        "from pathlib import Path\n"
        "from trickformer.plumbing import parallel\n"
        "def work(job):\n"
        f"    (Path({str(tmp_path)!r}) / str(os.getpid())).write_text('')\n"
        "    time.sleep(600)\n"
        "    yield job\n"
        "if __name__ == '__main__':\n"
        "    list(parallel.stream(work, [1, 2], 2, None))\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    parent = subprocess.Popen([sys.executable, str(script)])
    while len(pids := [int(p.name) for p in tmp_path.iterdir() if p.name.isdigit()]) < 2:
        assert parent.poll() is None
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    until = time.monotonic() + 10  # two seconds, on a machine that does nothing else
    while alive := [pid for pid in pids if _runs(pid)]:
        assert time.monotonic() < until, alive
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


ABSURD = [
    ["tournament", "hearts", "--a", "random", "--b", "rules", "--deals", "1000000000"],
    ["tournament", "hearts", "--a", "random", "--b", "rules", "--deals", str(10**30)],
    ["tournament", "hearts", "--a", "random", "--b", "rules", "--workers", "100000"],
    ["crew", "evaluate", "--players", "rules", "--missions", "1", "--games", str(10**12)],
    ["train", "hearts", "--preset", "tiny", "--threads", "100000"],
    ["train", "hearts", "--preset", "tiny", "--learning-rate", "inf"],
    ["belief", "train", "--hidden", "10000000"],
    ["belief", "train", "--device", "meta"],
]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ABSURD, ids=lambda words: "-".join(words[:2] + words[-2:]))
def test_what_no_machine_could_do_is_refused_at_once(command, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    begun = time.monotonic()
    code, out, err = command(*arguments, "--out", "run")
    assert code == 2 and not out and len(err.splitlines()) == 1 and err.startswith("error: ")
    assert not list(tmp_path.iterdir())
    assert time.monotonic() - begun < 30  # five seconds, on a machine that does nothing else


def test_a_config_of_ten_million_layers_is_refused_at_once(tiny_checkpoint, tmp_path):
    for key in ("n_layer", "n_embd", "vocab_size"):
        config = json.loads((tiny_checkpoint / "config.json").read_text())
        (tmp_path / "config.json").write_text(json.dumps(config | {key: 10**7}))
        (tmp_path / "model.safetensors").write_bytes((tiny_checkpoint / "model.safetensors").read_bytes())
        with pytest.raises(TrickformerError, match=f"{key} = 10000000; it must be a positive number up to"):
            read_weights(tmp_path)


def test_no_number_of_a_config_or_a_player_is_without_a_bound():
    """What takes for ever is refused before it begins."""
    models = {
        model
        for module in pkgutil.walk_packages(trickformer.__path__, "trickformer.")
        if not module.name.endswith("__main__")
        for model in vars(importlib.import_module(module.name)).values()
        if isinstance(model, type) and issubclass(model, BaseModel)
    }
    numbers = [
        (model.__name__, name, any(isinstance(m, annotated_types.Le | annotated_types.Lt) for m in field.metadata))
        for model in models
        for name, field in model.model_fields.items()
        if field.description  # as options have, and records have not
        if int in (field.annotation, *typing.get_args(field.annotation))
    ]
    assert len(numbers) > 100
    assert [number for number in numbers if not number[2]] == []


def test_a_record_that_has_changed_is_found(tmp_path):
    """One bit of it, its checksum cut off, or all of them."""
    path, records = tmp_path / "records.jsonl", [{"score": n} for n in range(12)]
    with JsonLines(path) as lines:
        for record in records:
            lines.append(record)
    good = path.read_bytes()
    path.write_bytes(good.replace(b'"score": 7', b'"score": 5'))
    with pytest.raises(TrickformerError, match=r"records.jsonl, line 8: its checksum differs"):
        JsonLines(path)
    path.write_bytes(good)
    sums = tmp_path / "records.jsonl.sums"
    sums.write_bytes(sums.read_bytes()[:100])  # five whole ones: the other lines count, for they parse
    with JsonLines(path) as lines:
        assert lines.stored == records
    assert path.read_bytes() == good and read_lines(path)[0] == records
    sums.unlink()  # a run of an earlier version
    with JsonLines(path) as lines:
        assert lines.stored == records
        lines.replace_all(records[:3])
        lines.append(records[3])
    assert read_lines(path)[0] == records[:4]
