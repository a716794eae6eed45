"""Folders and configs of strangers, and two runs in one folder: writing elsewhere, running code, losing records."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading

import pytest
from support.attacks import pause_before_lock, plant_link, shorten_sums

from trickformer.base import TrickformerError
from trickformer.engines import entries
from trickformer.engines.config import Conformance
from trickformer.players import user_only
from trickformer.plumbing import config as configs
from trickformer.plumbing import digests
from trickformer.plumbing.files import remove_drafts, whole
from trickformer.plumbing.lines import JsonLines, read_lines
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.head_config import HeadTraining
from trickformer.studies.crew.plan import CrewEvaluation
from trickformer.studies.crossplay.plan import CrossPlay
from trickformer.tournaments import run
from trickformer.tournaments.plan import Tournament
from trickformer.web.config import Play

MATCH = {"game": "hearts", "a": "random", "b": "rules", "deals": 3, "seed": 1}


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A run folder of nobody's malice."""
    out = tmp_path_factory.mktemp("honest") / "base"
    run.tournament(Tournament(**MATCH, out=out))
    return out


@pytest.fixture
def stranger(honest, tmp_path):
    """A copy of it, to be tampered with, and a file of the user's."""
    victim = tmp_path / "home" / "bashrc"
    victim.parent.mkdir()
    victim.write_text("mine\n")
    return shutil.copytree(honest, tmp_path / "stranger"), victim


@pytest.mark.parametrize("name", [".report.md.part", "report.md", "result.json", "plot.png", "run.json", "sub/deep"])
@pytest.mark.parametrize(
    "words", [["report", "{}"], ["tournament", "--config", "{}/config.toml", "--out", "{}", "--resume"]]
)
def test_nothing_is_written_through_a_link(stranger, command, name, words):
    folder, victim = stranger
    link = folder / name
    plant_link(link, victim)
    code, _, err = command(*(word.format(folder) for word in words))
    assert code == 2 and victim.read_text() == "mine\n"
    assert err == f"error: {link} is a symbolic link inside a run folder; replace it by a copy\n"


def test_a_config_is_not_read_through_a_link(stranger, command):
    folder, victim = stranger
    link = folder / "config.toml"
    plant_link(link, victim)
    code, _, err = command("tournament", "hearts", "--out", str(folder), "--resume")
    assert (code, err) == (2, f"error: {link} is a symbolic link inside a run folder; replace it by a copy\n")


def test_records_are_not_opened_through_a_link(tmp_path):
    victim = tmp_path / "mine"
    victim.write_text("mine")
    (tmp_path / "records.jsonl").symlink_to(victim)
    with pytest.raises(TrickformerError, match="symbolic link; replace it by a regular file"):
        JsonLines(tmp_path / "records.jsonl")
    assert victim.read_text() == "mine"
    (tmp_path / "folder").mkdir()
    with pytest.raises(TrickformerError):
        JsonLines(tmp_path / "folder")


def test_the_folder_itself_may_be_a_link(honest, tmp_path, command):
    copy = shutil.copytree(honest, tmp_path / "copy")
    (tmp_path / "link").symlink_to(copy)
    assert command("report", str(tmp_path / "link"))[0] == 0


def test_a_draft_is_new_and_of_a_name_that_nobody_knows(tmp_path):
    names = set()
    for _ in range(3):
        with whole(tmp_path / "report.md") as draft:
            assert draft.stat().st_size == 0 and not draft.is_symlink()
            names.add(draft.name)
            draft.write_text("x")
    assert len(names) == 3 and [p.name for p in tmp_path.iterdir()] == ["report.md"]
    (tmp_path / ".report.md.0123456789abcdef.part").touch()  # of a killed run
    (tmp_path / ".mine.part").touch()
    remove_drafts(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".mine.part", "report.md"]


def test_training_does_not_delete_through_a_link(tmp_path, command):
    words = ["train", "hearts", "--preset", "tiny", "--bootstrap-hands", "64", "--sequences", "64", "--iterations", "0"]
    out, home = tmp_path / "run", tmp_path / "home"
    (home / "keep").mkdir(parents=True)
    (out / "state").mkdir(parents=True)
    (out / "run.json").write_text("{}")  # as in a folder of a stranger's run
    (out / "state" / "0").symlink_to(home)
    code, _, err = command(*words, "--out", str(out))
    assert code == 2 and "symbolic link inside a run folder" in err and (home / "keep").is_dir()


SPEC_FIELDS = [
    (Tournament, MATCH, "a"),
    (Tournament, MATCH, "b"),
    (Tournament, {"game": "hearts"}, "players"),
    (CrossPlay, {}, "players"),
    (CrewEvaluation, {}, "player"),
    (SelfPlay, {"game": "hearts"}, "bootstrap"),
    (SelfPlay, {"game": "hearts"}, "guests"),
    (SelfPlay, {"game": "hearts"}, "baseline"),
    (HeadTraining, {"game": "hearts", "checkpoint": "hearts-small"}, "players"),
    (Conformance, {}, "engine"),
    (Play, {"game": "hearts"}, "opponents"),
]


@pytest.mark.parametrize(("model", "rest", "field"), SPEC_FIELDS, ids=[f"{m.__name__}-{f}" for m, _, f in SPEC_FIELDS])
@pytest.mark.parametrize(
    "spec", ['engine:cmd="touch owned"', "native:evil:make", "spiel:bot=evil:make", "mybot:level=7"]
)
def test_a_config_starts_no_program(model, rest, field, spec, tmp_path, monkeypatch):
    engines = tmp_path / "engines.toml"
    engines.write_text('[mybot]\ncommand = "sh -c {level}"\n[mybot.options]\nlevel = 3\n')
    monkeypatch.setenv("TRICKFORMER_ENGINES", str(engines))
    many = "list" in str(model.model_fields[field].annotation)
    file = tmp_path / "config.toml"
    typed = {field: [spec, spec] if many else spec}
    file.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in (rest | typed).items()))
    with pytest.raises(TrickformerError, match="stored options may not do"):
        configs.load(model, file, {})
    assert configs.load(model, None, rest | typed)


def test_an_entry_says_which_options_a_file_may_set(tmp_path, monkeypatch):
    engines = tmp_path / "engines.toml"
    engines.write_text(
        '[mybot]\ncommand = "mybot {level} {shell}"\nsafe = ["level"]\n[mybot.options]\nlevel = 3\nshell = "ls"\n'
    )
    monkeypatch.setenv("TRICKFORMER_ENGINES", str(engines))
    assert user_only("mybot") is None and user_only("mybot:level=9") is None and user_only("mybot:timeout=3") is None
    assert "shell" in user_only("mybot:shell=rm")
    assert "shell" in user_only('rollout:policy="mybot:shell=rm"')
    engines.write_text('[mybot]\ncommand = "mybot"\nsafe = ["level"]\n')
    with pytest.raises(TrickformerError, match="lists 'level', but the options are"):
        entries.read()


def _records(folder):
    return (folder / "records.jsonl").read_bytes()


@pytest.mark.parametrize("left", [0, 1, 5])
def test_lines_without_a_checksum_are_kept(honest, tmp_path, left, command):
    folder = shutil.copytree(honest, tmp_path / "copy")
    shorten_sums(folder / "records.jsonl", left * digests.LINE_DIGEST_SIZE)
    assert len(run.load(folder).records) == len(run.load(honest).records) > 5
    code, _, _ = command("tournament", "--config", folder / "config.toml", "--out", folder, "--resume")
    assert code == 0 and _records(folder) == _records(honest)
    assert (folder / "records.jsonl.sums").read_bytes() == (honest / "records.jsonl.sums").read_bytes()


def test_what_is_not_counted_is_named(honest, tmp_path, capfd):
    path = shutil.copytree(honest, tmp_path / "copy") / "records.jsonl"
    whole_file = path.read_bytes()
    path.write_bytes(whole_file[:-5])
    assert len(read_lines(path)[0]) == whole_file.count(b"\n") - 1
    assert "has lost 1 line at its end" in capfd.readouterr().err
    path.write_bytes(whole_file + b'{"torn')
    assert len(read_lines(path)[0]) == whole_file.count(b"\n")
    assert "the last line is cut off" in capfd.readouterr().err


def test_more_than_a_power_cut_explains_is_refused(tmp_path):
    path = tmp_path / "lines.jsonl"
    with JsonLines(path) as lines:
        for n in range(400):
            lines.append({"n": n})
    path.write_bytes(b"")
    with pytest.raises(TrickformerError, match="lacks 400 lines"):
        read_lines(path)
    path.write_bytes(b'{"n": 0}\n{"n":\n{"n": 2}\n')
    (tmp_path / "lines.jsonl.sums").unlink()
    with pytest.raises(TrickformerError, match="broken"):
        read_lines(path)


def test_the_config_is_checked_again_under_the_lock(tmp_path):
    """The second run is stopped between its check and its lock, until the first has begun."""
    out, waiting, go = tmp_path / "run", threading.Event(), threading.Event()
    failures = []

    def late():
        if threading.current_thread() is second:
            waiting.set()
            go.wait()

    def play():
        try:
            run.tournament(Tournament(**MATCH | {"a": "rules", "b": "random"}, out=out))
        except TrickformerError as e:
            failures.append(str(e))

    second = threading.Thread(target=play)
    with pause_before_lock(late):
        second.start()
        waiting.wait()
        first = run.tournament(Tournament(**MATCH, out=out))
        go.set()
        second.join()
    assert failures and "already holds a run" in failures[0]
    assert run.load(out).records == first.records and run.load(out).typed == ["random", "rules"]


def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch):
    def fails(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("trickformer.plumbing.lines.fcntl.flock", fails)
    with pytest.raises(TrickformerError, match=r"cannot be locked \(Operation not supported\)"):
        JsonLines(tmp_path / "lines.jsonl")


ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m`<script>"


def _poison(value):
    """Escapes in every text of an object but the keys and what must be as it is."""
    if isinstance(value, dict):
        return {k: v if k in ("rules", "format", "kind", "source") else _poison(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_poison(v) for v in value]
    return value + ESCAPES if isinstance(value, str) else value


def test_names_of_strangers_do_not_steer_the_terminal(honest, tmp_path, command):
    folder = shutil.copytree(honest, tmp_path / "copy")
    about = json.loads((folder / "run.json").read_text())
    about |= {"players": [f"random{ESCAPES}", f"rules\n{ESCAPES}"], "caveats": [[ESCAPES], [ESCAPES]]}
    about["builds"] = [{"trickformer": ESCAPES}]
    (folder / "run.json").write_text(json.dumps(about))
    target = tmp_path / "games.jsonl"
    assert command("records", "convert", str(honest / "records.jsonl"), str(target))[0] == 0
    first = json.loads(target.read_text().splitlines()[0])
    named = first | {"names": [name + ESCAPES for name in first["names"]], "tags": {"event": ESCAPES}}
    target.write_text("\n".join(map(json.dumps, (named, _poison(first)))) + "\n")
    for words in (
        ["report", folder],
        ["records", "show", target, "--game", 1],
        ["records", "check", target],
        ["records", "worst", folder],
        ["records", "show", folder, "--game", 1],
        ["tournament", f"hearts{ESCAPES}", "--a", "random", "--b", f"x{ESCAPES}"],
    ):
        _, out, err = command(*words)
        foreign = [c for c in out + err if not c.isprintable() and c != "\n"]
        assert not foreign, (words, foreign)
    report = (folder / "report.md").read_text()
    assert "\x1b" not in report and "\n<script>" not in report and "rules &lt;script>" not in report.splitlines()


class _Gone:
    """A standard error that nobody reads."""

    encoding = "utf-8"

    def write(self, text):
        raise BrokenPipeError(32, "Broken pipe")

    flush = write

    def isatty(self):
        return False


@pytest.mark.parametrize("tty", [False, True])
def test_a_run_does_not_end_because_nobody_reads_its_progress(tmp_path, monkeypatch, tty):
    gone = _Gone()
    gone.isatty = lambda: tty
    gone.flush = lambda: gone.write("")
    monkeypatch.setattr("sys.stderr", gone)
    assert len(run.tournament(Tournament(**MATCH, out=tmp_path / "run")).records) == 42


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_output_that_cannot_be_encoded_is_no_error(tmp_path, encoding):
    program = [sys.executable, "-c", "from trickformer.cli import main; main()"]
    out = tmp_path / "a $x$ {"
    words = ["tournament", "hearts", "--a", "random", "--b", "rules", "--deals", "1", "--out", str(out)]
    done = subprocess.run([*program, *words], env=os.environ | {"PYTHONIOENCODING": encoding}, capture_output=True)
    assert done.returncode == 0 and b"Traceback" not in done.stderr
    assert (out / "plot.png").stat().st_size > 5_000


@pytest.mark.slow
def test_a_reader_that_is_gone_is_no_traceback(honest):
    script = f"{sys.executable} -c 'from trickformer.cli import main; main()' report {honest} | head -c 1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


def test_figures_do_not_obey_the_current_folder(tmp_path):
    (tmp_path / "matplotlibrc").write_text("figure.dpi: 1\nbackend: module://owned\nfont.size: 99\n")
    code = (
        "from trickformer.plumbing.figures import drawing\n"
        "with drawing() as (figure, axes): print(axes.title.get_fontsize(), figure.dpi, type(figure.canvas).__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == ["12.0", "100.0", "FigureCanvasAgg"], done.stderr
