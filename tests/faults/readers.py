"""Every reader of files and messages that strangers write, as targets of random changes and of the fuzzer."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from pydantic import BaseModel
from starlette.requests import HTTPConnection

from tests.faults.target import Scratch, Target
from tests.support import hanab_live
from tests.support.xskat_log import TYPES, xskat_log
from trickformer import checkpoints, games, players, tokenizers
from trickformer.audit.views import Audit
from trickformer.base import TrickformerError
from trickformer.belief import heads
from trickformer.belief.hanabi import networks
from trickformer.belief.hanabi.config import BeliefTraining, Evaluation
from trickformer.belief.learner import SNAPSHOTS, read_step_count
from trickformer.engines import entries
from trickformer.engines import messages as protocol
from trickformer.games import missions
from trickformer.models import hanabi_values
from trickformer.models.weights import read_weights
from trickformer.plumbing import arrays, digests, folder, lines, text
from trickformer.plumbing import config as configs
from trickformer.records import files, jsonl
from trickformer.records.check import check
from trickformer.records.skat import iss
from trickformer.records.skat.record import SkatRecord
from trickformer.records.skat.replay import replay
from trickformer.selfplay import data, log, rollout_network
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.head_config import HeadTraining
from trickformer.selfplay.results import TrainingResults
from trickformer.studies.crew.plan import CrewEvaluation
from trickformer.studies.crossplay.plan import CrossPlay
from trickformer.studies.skat import evaluation
from trickformer.studies.skat.config import Calibration, Inference, Learning
from trickformer.tournaments import deals, plan, record_file, run, schedule, store
from trickformer.web import messages, pages, server
from trickformer.web.config import Play
from trickformer.web.table import JOURNAL, open_table

FIXTURES = Path(__file__).parents[1] / "fixtures"
CONFIGS: tuple[type[BaseModel], ...] = (
    plan.Tournament, SelfPlay, HeadTraining, BeliefTraining, Evaluation, Learning, Calibration, Inference, Audit,
    CrewEvaluation, CrossPlay, Play,
)  # fmt: skip


def all_targets(inputs: Path, scratch: Path) -> list[Target]:
    """List every reader.

    Args:
        inputs: Folder of the runs tournament, train, belief-train, belief-head and skat-learn (runs.unbroken).
        scratch: Empty folder for their inputs.
    """
    place = Scratch(scratch)
    return [
        Target("JSON", [b'{"a": [1, -2.5e3, "b", null, {"c": true}]}'], text.from_json, (ValueError,)),
        Target("TOML", [b'a = [1, 2]\n[b]\nc = "d"\ne = 1979-05-27\n'], _toml, (ValueError,)),
        *_messages(),
        *_games(place),
        *_settings(place),
        *_models(inputs, place),
        *_run_folders(inputs, place, scratch),
    ]


def _messages() -> list[Target]:
    """What comes over a socket, a pipe or the command line."""
    page = [{"do": "act", "seat": 0, "action": 3, "ply": 60}, {"do": "look", "panels": ["model", "worlds"]}]
    page += [{"do": "match", "seats": [0, 1, 2, 1], "deal": 3}, {"do": "claim", "score": -3}, {"do": "undo"}]
    review = [{"do": "list"}, {"do": "open", "number": 1}, {"do": "rate", "number": 1, "analyst": 0}]
    review += [{"do": "try", "number": 1, "at": 2, "seats": [0], "action": 3, "n": 20}, {"do": "cancel"}]
    host = [{"type": "hello", "protocol": 1}, {"type": "new", "table": 1, "game": "skat", "seat": 0, "seed": 3}]
    event = {"seat": -1, "action": None, "words": "deal", "seen": [1, 2]}
    host += [{"type": "observe", "table": 1, "events": [event]}, {"type": "quit"}]
    host += [{"type": "act", "table": 1, "legal": [3], "words": ["x"], "seed": 3, "seconds": None}]
    host += [{"type": "end", "table": 1, "scores": [1, 2.5, 3]}]
    engine = [{"type": "hello", "protocol": 1, "name": "x", "games": ["*"], "seeds": "numpy"}]
    engine += [{"type": "action", "table": 0, "action": 3, "value": 0.5, "visits": {"3": 5}, "text": "y"}]
    engine += [{"type": "error", "text": "no"}]

    def good(of: list[dict[str, Any]]) -> list[bytes]:
        return [json.dumps(message).encode() for message in of]

    def decoded(read: Callable[[str], object]) -> Callable[[bytes], object]:
        return lambda found: read(found.decode(errors="replace"))

    wrong = (ValueError,)
    return [
        Target("messages of the page", good(page), decoded(messages.TABLE.validate_json), wrong),
        Target("messages of the review page", good(review), decoded(messages.REVIEW.validate_json), wrong),
        Target("requests of the page", REQUESTS, _request),
        Target("messages of an engine", good(engine), protocol.parse, wrong),
        Target("messages of a host", good(host), protocol.parse_host_message, wrong),
        Target("player specs", [s.encode() for s in SPECS], decoded(players.parse)),
        Target("game strings", [s.encode() for s in GAMES], decoded(games.load)),
    ]


def _request(found: bytes) -> bool:
    """The guard's answer to a request: its path and headers, a line each."""
    path, *headers = found.split(b"\n")
    guard = server.Guard({"token": pages.HOST}, "127.0.0.1", 8_000)
    named = [(name.lower(), value.strip()) for name, _, value in (line.partition(b":") for line in headers)]
    scope = {"type": "websocket" if path.endswith(b"socket") else "http", "headers": named, "path": "/"}
    token = path.strip(b"/").partition(b"/")[0].decode(errors="replace")
    return guard.rights(HTTPConnection(scope | {"path_params": {"token": token}})) is not None


def _games(place: Scratch) -> list[Target]:
    """Games on file."""
    skat = _records()
    ours = (FIXTURES / "v0_2_0" / "records").glob("*.jsonl")
    hanabi = [json.dumps(hanab_live.play(n, hanab_live.new_deck(n), hanab_live.chooser(n, 0.9))[0]) for n in (2, 4)]
    logs = [xskat_log(r, type=kind).encode("latin-1") for r in _loggable() for kind in TYPES]
    return [
        place.by_file("games of Skat, SGF", [iss.write(r, 1).encode() for r in skat], _checked, "games.sgf"),
        place.by_file("games of Skat, JSON lines", [jsonl.write(r, 1).encode() for r in skat], _checked, "games.jsonl"),
        place.by_file("games of Skat, logs of XSkat", logs, _checked, "xskat.log"),
        place.by_file("games of hanab.live", [game.encode() for game in hanabi], _checked, "game.json"),
        place.by_file("games of ours", [file.read_bytes() for file in sorted(ours)], _checked, "ours.jsonl"),
    ]


def _settings(place: Scratch) -> list[Target]:
    """Files that a person writes."""
    targets = [
        place.by_file("missions", [MISSIONS], lambda path: missions.read(str(path)), "missions.toml"),
        place.by_file("engines.toml", [ENGINES], _engines, "engines.toml"),
        place.by_file(
            "lists of deals", [b"1,5 # one\n7\n", b"0\n1\n"], lambda path: deals.read_deals(path, 3), "deals"
        ),
    ]
    for kind in CONFIGS:
        text_of = "".join(
            f"{name} = {json.dumps(field.get_default(call_default_factory=True), default=str)}\n"
            for name, field in kind.model_fields.items()
            if name not in configs.COMMAND_LINE_ONLY and not field.is_required() and field.default is not None
        )
        required = "".join(f'{name} = "hearts"\n' for name, field in kind.model_fields.items() if field.is_required())
        if kind is plan.Tournament:
            required += 'a = "rules"\nb = "random"\n'
        if kind is CrewEvaluation:
            required = 'player = ["random"]\n'
        if kind is CrossPlay:
            required = 'players = ["random", "rules"]\n'
        good = (required + text_of).encode()
        targets.append(place.by_file(f"a config of {kind.__name__}", [good], _config(kind), "config.toml"))
    return targets


def _models(inputs: Path, place: Scratch) -> list[Target]:
    """Weights and what describes them."""
    hearts = games.load("hearts")
    tokenizer = tokenizers.make(hearts)
    model, network, network_file = inputs / "train/model-0", inputs / "belief-train", "model.safetensors"
    weights = (model / network_file).read_bytes()
    length = int.from_bytes(weights[:8], "little")
    header, body = weights[8 : 8 + length], weights[8 + length :]

    def with_length(found: bytes) -> bytes:
        return len(found).to_bytes(8, "little") + found + body

    trained, rollout = FIXTURES / "v0_2_0/obl-train", inputs / "rollout.safetensors"
    torch.manual_seed(0)
    rollout_network.save(rollout_network.RolloutNetwork(8, 6, 4), rollout)
    return [
        place.in_folder("a model's config", model, "config.json", read_weights),
        place.in_folder("a model's stamp", model, "config.json", lambda p: checkpoints.check(p, hearts, tokenizer)),
        place.in_folder("a model's weights", model, network_file, read_weights),
        place.in_folder("the header of weights", model, network_file, read_weights, [header], with_length),
        place.by_file("a rollout network", [rollout.read_bytes()], rollout_network.read, rollout.name),
        place.in_folder("a belief network", network, network_file, lambda p: networks.load(p / network_file)),
        place.in_folder("a belief head", inputs / "belief-head", heads.FILE, lambda p: heads.load(str(p), hearts)),
        place.in_folder("a config of off-belief learning", trained, "config.json", hanabi_values.load),
        place.in_folder("weights of off-belief learning", trained, network_file, hanabi_values.load),
    ]


def _run_folders(inputs: Path, place: Scratch, scratch: Path) -> list[Target]:
    """Files of run folders."""
    match, trained, learned = inputs / "tournament", inputs / "train", inputs / "skat-learn"
    hearts = games.load("hearts")
    tokenizer = tokenizers.make(hearts)
    record = (match / "records.jsonl").read_bytes().splitlines()
    tournament = configs.read(plan.Tournament, match / folder.CONFIG)
    hands = {store.HandRecord.model_validate_json(line).hand for line in record}
    assert tournament.game == "hearts"

    def line(found: bytes) -> object:
        return record_file.RecordFile(match / "records.jsonl", schedule.Schedule(hands), 4).register_line(1, found)

    def weights(path: Path) -> object:
        return arrays.load(path / evaluation.WEIGHTS, "weights")

    few = b"".join(line + b"\n" for line in record[:20])
    sums = b"".join(digests.line_digest(line + b"\n") for line in record[:3])
    short, kept = scratch / "short", scratch / "kept"
    short.mkdir()
    (short / "records.jsonl").write_bytes(b"".join(line + b"\n" for line in record[:3]))
    digests.write(short)
    _make_snapshot(kept)
    tree = np.load(kept / "state.npz")["tree"].tobytes()
    array = _npy(np.arange(12, dtype=np.float32).reshape(3, 4))
    return [
        replace(
            place.in_folder("records of a tournament", match, "records.jsonl", lambda p: _checked(p / "records.jsonl")),
            good=[line + b"\n" for line in record[:20]],
        ),
        Target("lines of a tournament", record[:20], line),
        place.in_folder("a config of a run", match, folder.CONFIG, run.load),
        place.in_folder("run.json of a run", match, folder.ABOUT, run.load),
        place.in_folder("records of a run", match, "records.jsonl", run.load, [few]),
        place.in_folder(
            "checksums of lines", short, "records.jsonl.sums", lambda p: lines.read_lines(p / "records.jsonl"), [sums]
        ),
        place.in_folder("checksums of files", short, digests.SUMS_FILE, digests.check),
        place.in_folder("a run.json", match, folder.ABOUT, _builds),
        place.in_folder("a training's config", trained, folder.CONFIG, TrainingResults.load),
        place.in_folder("a training's log", trained, log.LOG, lambda p: TrainingResults.load(p).result()),
        place.in_folder("a manifest", trained / "data/0", "manifest.json", lambda p: data.load(p, hearts, tokenizer)),
        place.in_folder("a table's journal", FIXTURES / "v0_2_0/play", JOURNAL, _table, [JOURNEY]),
        place.in_folder("an evaluation of Skat", learned, evaluation.WEIGHTS, weights),
        place.in_folder("an array", learned, evaluation.WEIGHTS, weights, [array], lambda f: _npz("weights", f)),
        place.in_folder("a snapshot", kept, "state.npz", lambda p: _snapshot(p / "state.npz")),
        place.in_folder(
            "the tree of a snapshot",
            kept,
            "state.npz",
            lambda p: _snapshot(p / "state.npz"),
            [tree],
            _packed_tree(kept / "state.npz"),
        ),
        place.in_folder(
            "a learner's state", inputs / "belief-head", "state.npz", lambda p: read_step_count(p / "state.npz")
        ),
    ]


def _builds(place: Path) -> object:
    """The builds of a run, without a look at the checkout: git takes longer than all else."""
    with patch.object(folder, "build", dict):
        return folder.RunFolder(place).builds()


def _toml(found: bytes) -> dict[str, Any]:
    return text.from_toml(found.decode())


def _config(kind: type[BaseModel]) -> Callable[[Path], object]:
    return lambda path: configs.load(kind, path, {})


def _engines(path: Path) -> object:
    return entries.parse_file(path)  # the file of the user's settings is not to be touched


def _table(place: Path) -> object:
    """The table whose journal lies in a folder, without what an earlier table has written there."""
    for path in place.iterdir():
        if path.name != JOURNAL:
            path.unlink()
    settings = Play(game="hearts", opponents=["random"], seed=3, out=place)
    (place / folder.CONFIG).write_text(configs.dump(settings))
    with open_table(settings, True) as table:
        return table.hands


def _npy(array: np.ndarray) -> bytes:
    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


def _npz(name: str, array: bytes, others: dict[str, bytes] | None = None) -> bytes:
    """A file of arrays with right checksums, whatever the bytes of one of them are."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as packed:
        for key, content in {**(others or {}), f"{name}.npy": array}.items():
            packed.writestr(key, content)
    return held.getvalue()


def _packed_tree(file: Path) -> Callable[[bytes], bytes]:
    """Put a tree beside the arrays of a snapshot."""
    with zipfile.ZipFile(file) as packed:
        others = {name: packed.read(name) for name in packed.namelist() if name != "tree.npy"}
    return lambda found: _npz("tree", _npy(np.frombuffer(found, np.uint8)), others)


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
    here = FIXTURES / "skat"
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
ENGINES = b"""[mybot]
command = "/home/me/mybot --level {level}"
about = "a bot"
timeout = 10.0
safe = ["level"]

[mybot.options]
level = 3
"""
SPECS = [
    "rules", "kermit:worlds=4", "pimc:worlds=20,weighted=false", "argmax:checkpoint=skat-small,threshold=0.2",
    "gomcts:checkpoint=skat-small,runs=10,c=0.3", "ismcts:runs=100", "random",
    'rollout:prior="argmax:checkpoint=skat-small",worlds=20',
]  # fmt: skip
GAMES = [
    "hearts(jd_bonus=True)",
    "skat(scores=value)",
    "crew(mission=12)",
    "hanabi(players=3)",
    "mines(rows=4,cols=4,mines=3)",
]
REQUESTS = [
    b"/token/\nHost: 127.0.0.1:8000",
    b"/token/app.js\nHost: localhost:8000\nOrigin: http://localhost:8000",
    b"/token/socket\nHost: [::1]:8000\nOrigin: http://[::1]:8000",
]
JOURNEY = (
    b'{"do":"match","seats":["you","random","random","random"],"deal":0}\n'
    b'{"do":"deal","deal":1}\n{"do":"undo","left":0}\n'
)
