"""All that reads what a stranger may have written: good input, changed at random, is read or refused in one line."""

from __future__ import annotations

import json
import random
import signal
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import BaseModel

from tests.faults.report import Part
from tests.support.xskat_log import TYPES, xskat_log
from trickformer import games, players, tokenizers
from trickformer.audit.views import Audit
from trickformer.base import TrickformerError
from trickformer.belief import heads
from trickformer.belief.hanabi import networks
from trickformer.belief.hanabi.config import BeliefTraining, Evaluation
from trickformer.belief.learner import SNAPSHOTS
from trickformer.games import missions
from trickformer.models.weights import read_weights
from trickformer.plumbing import arrays, folder, text
from trickformer.plumbing import config as configs
from trickformer.plumbing.progress import progress
from trickformer.records import files, jsonl
from trickformer.records.check import check
from trickformer.records.skat import iss
from trickformer.records.skat.record import SkatRecord
from trickformer.records.skat.replay import replay
from trickformer.selfplay import data
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.head_config import HeadTraining
from trickformer.studies.skat import evaluation
from trickformer.studies.skat.config import Calibration, Inference, Learning
from trickformer.tournaments import plan, record_file, schedule, store

LIMIT = 5  # seconds for one input
CONFIGS: tuple[type[BaseModel], ...] = (
    plan.Tournament, SelfPlay, HeadTraining, BeliefTraining, Evaluation, Learning, Calibration, Inference, Audit,
)  # fmt: skip
# What is put into texts: numbers at the ends of types, brackets, other alphabets, bytes that are no text.
PIECES = [
    b"-1", b"0", b"9" * 30, b"1e999", b"nan", b"-inf", b"null", b"true", b"[]", b"{}", b"[" * 5_000, b'"', b"'", b"\\",
    b"\n", b"\0", b"\xff", b"\xc3\x28", "\u202e\u00e4\U0001f0a1".encode(), b"a" * 5_000, b"2147483648", b"-9" * 20,
    b"=", b",", b":", b"(", b")", b"..", b"/etc/passwd", b"%s%n", b"1_0",
]  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A reader: good inputs, how it reads one, and what it may raise beside TrickformerError."""

    name: str
    good: list[bytes]
    read: Callable[[bytes], object]
    raises: tuple[type[Exception], ...] = ()


def changed(data: bytes, rng: random.Random) -> bytes:
    """One to four changes: a byte, a stretch repeated, taken out or moved, the end cut off, a piece put in or over."""
    for _ in range(rng.randint(1, 4)):
        at, n = rng.randrange(len(data) + 1), min(len(data), rng.choice((1, 2, 8, 64)))
        how = rng.randrange(7)
        if how == 0 and data:
            at = rng.randrange(len(data))
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif how == 1:
            data = data[:at] + data[at : at + n] + data[at:]
        elif how == 2:
            data = data[:at] + data[at + n :]
        elif how == 3:
            data = data[:at]
        elif how == 4:
            data = data[:at] + rng.choice(PIECES) + data[at:]
        elif how == 5:
            data = data[:at] + rng.choice(PIECES) + data[at + n :]
        else:
            other = rng.randrange(len(data) + 1)
            data = data[:at] + data[other : other + n] + data[at:]
    return data


def fuzz(inputs: Path, number: int, seed: int) -> list[Part]:
    """`number` inputs, as many of each reader. inputs: where the unbroken runs lie."""
    parts = []
    _make_snapshot(inputs / "snapshot")
    with tempfile.TemporaryDirectory() as scratch:
        targets = all_targets(inputs, Path(scratch))
        with progress("inputs", "inputs", 0, number) as advance:
            for target in targets:
                part = Part("an input changed at random", target.name)
                for good in target.good:  # else the changes are to what is refused for something else
                    part.check(_reads(target, good), f"{target.name} refuses {good[:80]!r}")
                for k in range(-(-number // len(targets))):
                    rng = random.Random(f"{seed} {target.name} {k}")
                    found = changed(rng.choice(target.good), rng)
                    failure = _tried(target, found)
                    if failure:
                        part.check(False, f"{target.name}, input {k} of seed {seed}: {failure}")
                    part.case()
                    advance(1)
                parts.append(part)
    return parts


def _reads(target: Target, good: bytes) -> bool:
    try:
        target.read(good)
    except (TrickformerError, *target.raises):
        return False
    return True


class _Late(BaseException):
    """An input takes too long."""


def _late(*_: object) -> None:
    raise _Late


def _tried(target: Target, found: bytes) -> str | None:
    """What is wrong with how an input was read, in one line."""
    before = signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        target.read(found)
    except TrickformerError as e:
        if "\n" in str(e):
            return f"a message of several lines: {str(e)!r}"
    except target.raises:
        pass
    except _Late:
        return f"more than {LIMIT} s"
    except Exception as e:
        where = traceback.extract_tb(e.__traceback__)[-1]
        return f"{type(e).__name__}: {str(e)[:200]!r} ({Path(where.filename).name}:{where.lineno})"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return None


def all_targets(inputs: Path, scratch: Path) -> list[Target]:
    """Every reader."""

    def by_file(name: str, good: list[bytes], read: Callable[[Path], object], file: str) -> Target:
        def write(found: bytes) -> object:
            (scratch / file).write_bytes(found)
            return read(scratch / file)

        return Target(name, good, write)

    def in_folder(name: str, source: Path, file: str, read: Callable[[Path], object]) -> Target:
        """Reads a folder in which one file is changed; its checksums go, for they would refuse it first."""
        place = scratch / name.replace(" ", "-")
        place.mkdir()
        for path in source.iterdir():
            if path.is_file() and path.name != "B2SUMS":
                (place / path.name).write_bytes(path.read_bytes())

        def write(found: bytes) -> object:
            (place / file).write_bytes(found)
            return read(place)

        return Target(name, [(source / file).read_bytes()], write)

    hearts = games.load("hearts")
    tokenizer = tokenizers.make(hearts)
    model, network, network_file = inputs / "train/model-0", inputs / "belief-train", "model.safetensors"
    told = [iss.write(r, 1).encode() for r in _records()]
    kept = [jsonl.write(r, 1).encode() for r in _records()]
    logs = [xskat_log(r, type=kind).encode("latin-1") for r in _loggable() for kind in TYPES]
    record = (inputs / "tournament/records.jsonl").read_bytes().splitlines()
    tournament = configs.read(plan.Tournament, inputs / "tournament" / folder.CONFIG)
    hands = {store.HandRecord.model_validate_json(line).hand for line in record}
    assert tournament.game == "hearts"

    def line(found: bytes) -> object:
        return record_file.RecordFile(inputs / "tournament/records.jsonl", schedule.Schedule(hands), 4).parse(1, found)

    def weights(place: Path) -> object:
        return arrays.load(place / evaluation.WEIGHTS, "weights")

    def records(place: Path) -> None:
        _checked(place / "records.jsonl")

    targets = [
        Target("JSON", [b'{"a": [1, -2.5e3, "b", null, {"c": true}]}'], text.from_json, (ValueError,)),
        Target("TOML", [b'a = [1, 2]\n[b]\nc = "d"\ne = 1979-05-27\n'], _toml, (ValueError,)),
        by_file("games of Skat, SGF", told, _checked, "games.sgf"),
        by_file("games of Skat, JSON lines", kept, _checked, "games.jsonl"),
        by_file("games of Skat, logs of XSkat", logs, _checked, "xskat.log"),
        replace(
            in_folder("records of a tournament", inputs / "tournament", "records.jsonl", records),
            good=[line + b"\n" for line in record[:20]],
        ),
        by_file("missions", [MISSIONS], lambda path: missions.read(str(path)), "missions.toml"),
        Target("player specs", [s.encode() for s in SPECS], lambda s: players.parse(s.decode(errors="replace"))),
        Target("game strings", [s.encode() for s in GAMES], lambda s: games.load(s.decode(errors="replace"))),
        Target("lines of a tournament", record[:20], line),
        in_folder("a model's config", model, "config.json", read_weights),
        in_folder("a model's weights", model, "model.safetensors", read_weights),
        in_folder("a manifest", inputs / "train/data/0", "manifest.json", lambda p: data.load(p, hearts, tokenizer)),
        in_folder("a belief network", network, network_file, lambda p: networks.load(p / network_file)),
        in_folder("a belief head", inputs / "belief-head", heads.FILE, lambda p: heads.load(str(p), hearts)),
        in_folder("a snapshot", inputs / "snapshot", "state.npz", lambda p: _snapshot(p / "state.npz")),
        in_folder("an evaluation of Skat", inputs / "skat-learn", evaluation.WEIGHTS, weights),
        in_folder("a run.json", inputs / "tournament", folder.ABOUT, lambda p: folder.RunFolder(p).builds()),
    ]
    for kind in CONFIGS:
        text_of = "".join(
            f"{name} = {json.dumps(field.get_default(call_default_factory=True), default=str)}\n"
            for name, field in kind.model_fields.items()
            if name not in configs.MACHINE and not field.is_required() and field.default is not None
        )
        required = "".join(f'{name} = "hearts"\n' for name, field in kind.model_fields.items() if field.is_required())
        if kind is plan.Tournament:
            required += 'a = "rules"\nb = "random"\n'
        good = (required + text_of).encode()
        targets.append(by_file(f"a config of {kind.__name__}", [good], _config(kind), "config.toml"))
    return targets


def _toml(found: bytes) -> dict[str, Any]:
    return text.from_toml(found.decode())


def _config(kind: type[BaseModel]) -> Callable[[Path], object]:
    return lambda path: configs.load(kind, path, {})


def _snapshot(file: Path) -> object:
    try:
        return SNAPSHOTS.load(file, {})
    except ValueError as e:
        raise TrickformerError(str(e).splitlines()[0] if str(e) else "") from None


def _make_snapshot(place: Path) -> None:
    """A snapshot of what a learner keeps."""
    place.mkdir()
    held = {"step": 3, "mean": 0.5, "rng": np.random.default_rng(1), "weights": [torch.ones(2, 3)], "name": ("a", None)}
    SNAPSHOTS.save(place / "state.npz", held, {})


def _checked(path: Path) -> None:
    for number, game in enumerate(files.games(path), 1):
        if not isinstance(game, files.UnreadableGame):
            check(game, number)


def _records() -> list[SkatRecord]:
    here = Path(__file__).parents[1] / "fixtures/skat"
    return [r for path in sorted(here.iterdir()) for r in files.games(path) if isinstance(r, SkatRecord)][:20]


def _loggable() -> list[SkatRecord]:
    """Those that XSkat could have written: with every card, and played to the end."""
    return [r for r in _records() if not replay(r).fault and replay(r).state.is_terminal() and replay(r).soloist >= 0]


MISSIONS = b"""[[mission]]
id = 51
tasks = 4
tokens = ["1", ">", ">>", "omega"]
communication = "dead zone"

[[mission]]
id = 52
allocation = "member"
rules = ["sick_no_tricks"]
"""
SPECS = [
    "rules", "kermit:worlds=4", "pimc:worlds=20,weighted=false", "argmax:checkpoint=skat-small,threshold=0.2",
    "gomcts:checkpoint=skat-small,runs=10,c=0.3", "ismcts:runs=100", "random",
]  # fmt: skip
GAMES = [
    "hearts(jd_bonus=True)",
    "skat(scores=value)",
    "crew(mission=12)",
    "hanabi(players=3)",
    "mines(rows=4,cols=4,mines=3)",
]
