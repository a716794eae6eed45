"""Evaluation of beliefs: cross entropy per card, all estimators on the same games, which no network has trained on.

The loss of a game is the mean of -log b(card) over its positions and their hidden cards, in nats. An estimator that
predicts a hand card by card conditions each card on the cards before it. Means and standard errors treat each game as
one sample.

belief/hanabi/process.py defines the forms hmm, pomdp and fosg, and the control. If a seat has no fixed policy in a
form, a scripted player is drawn at random for each of its moves. No network has trained on such games. The games may
also come from a file, such as a tournament in which one seat searches. Fine-tuning and the exact belief read the
control; networks do not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
from pydantic import BaseModel, Field, TypeAdapter

from trickformer.base import TrickformerError
from trickformer.belief.hanabi import estimators, networks
from trickformer.belief.hanabi.config import Evaluation
from trickformer.belief.hanabi.estimators import Estimator
from trickformer.belief.hanabi.finetune import tuning
from trickformer.belief.hanabi.learned import Seq2Seq
from trickformer.belief.hanabi.particles import Particles
from trickformer.belief.hanabi.transformer import Transformer
from trickformer.models.torch_backend import usable
from trickformer.plumbing import digests
from trickformer.plumbing.folder import RunFolder, resumable
from trickformer.plumbing.lines import JsonLines
from trickformer.plumbing.progress import Advance, progress
from trickformer.plumbing.text import from_json
from trickformer.plumbing.training import prepare_training
from trickformer.records import files as record_files
from trickformer.studies.belief import recorded
from trickformer.studies.belief.stack import BINS, Stack, load, save
from trickformer.studies.belief.system import digests_of_players, process_of, resolve_paths

RECORDS, STACK = "records.jsonl", "stack.npz"
KEEP_EVERY = 60.0  # seconds between two saves of a stack; tests of interruptions set it to 0
_Count: TypeAlias = Annotated[int, Field(ge=0)]
_Loss: TypeAlias = Annotated[float | None, Field(ge=0)]  # None: the true hand was excluded; JSON has no infinity
_Bins: TypeAlias = Annotated[list[float], Field(min_length=BINS, max_length=BINS)]


class _EstimatorRecord(BaseModel):
    loss: _Loss
    cards: _Count
    missing: _Count
    loss_where_exact: _Loss
    seconds: Annotated[float, Field(ge=0)]


class _FirstEstimatorRecord(_EstimatorRecord):
    """Record in the first game of a stack, which also holds what belongs to the whole stack."""

    bins: Annotated[list[_Bins], Field(min_length=3, max_length=3)]
    notes: dict[str, Any]


class _GameRecord(BaseModel):
    """Record of a game, as `Stack.records` yields it."""

    game: _Count
    positions: Annotated[int, Field(ge=1)]
    exact_cards: _Count
    estimators: dict[str, _EstimatorRecord]


_RECORDS = TypeAdapter(Annotated[list[_GameRecord], Field(min_length=1)])
_FIRST = TypeAdapter(dict[str, _FirstEstimatorRecord])


def play(
    config: Evaluation,
    first: int,
    advance: Advance | None = None,
    file: Path | None = None,
    shared: dict[str, Any] | None = None,
) -> Iterator[dict[str, Any]]:
    """Play one stack of games and yield their records.

    The records depend only on the config and on the number of the first game.

    Args:
        config: Games, estimators and their options.
        first: Number of the first game of the stack.
        advance: Progress callback, called once a move, because a stack may take an hour.
        file: File that keeps the unfinished stack; a stack in it is continued.
        shared: Result of `_load_components`; loaded here by default.

    Yields:
        One record a game.

    Raises:
        TrickformerError: If the stack in `file` is broken.
    """
    prepare_training(config.threads)
    shared = _load_components(config) if shared is None else shared
    stack = load(file, shared) if file is not None and file.exists() else None
    if stack is None or stack.first != first:
        n = len(_stack_games(config, first))
        cast = _make_estimators(config, shared, first)
        stack = Stack(config, shared["process"], cast, first, n, shared.get("recorded"))
    last_save = time.monotonic()
    for move in stack.moves():
        if advance:
            advance(0, f"games {first} to {first + len(stack) - 1} at move {move}")
        if file is not None and time.monotonic() - last_save >= KEEP_EVERY:
            save(stack, shared, file)
            last_save = time.monotonic()
    yield from stack.records()


def _stack_games(config: Evaluation, first: int) -> range:
    """Return the numbers of the games in the stack that begins with game `first`."""
    return range(first, min(first + config.stack, config.games))


def _load_components(config: Evaluation) -> dict[str, Any]:
    """Load the objects that all stacks share, by name: config, system, recorded games, networks of the estimators."""
    shared: dict[str, Any] = {"config": config, "process": process_of(config)}
    if config.games_from is not None:
        shared["recorded"] = recorded.load(config)
    if {"seq2seq", "bft"} & set(config.estimators):
        shared["network"] = _load_lstm(config)
    if "transformer" in config.estimators:
        shared["transformer"] = _load_transformer(config)
    return shared


def _make_estimators(config: Evaluation, shared: dict[str, Any], first: int) -> dict[str, Estimator]:
    """Make the estimators of the config, by name, for the stack that begins with game `first`."""
    process = shared["process"]
    seed = int(np.random.SeedSequence([config.seed, first]).generate_state(1)[0])
    factories: dict[str, Any] = {
        "v0": lambda: estimators.V0(process),
        "counting": lambda: estimators.CountingEstimator(process),
        "v1": lambda: estimators.V1(process),
        "bb": lambda: estimators.V2(process, 0.0, config.samples, seed),
        "v2": lambda: estimators.V2(process, config.alpha, config.samples, seed),
        "particles": lambda: Particles(process, config.particles, seed),
        "rejection": lambda: Particles(process, config.particles, seed, rejection=True),
        "seq2seq": lambda: estimators.Recurrent(process, shared["network"]),
        "transformer": lambda: estimators.TransformerEstimator(process, shared["transformer"]),
        "bft": lambda: estimators.BFT(process, shared["network"], tuning(config, config.worlds), seed),
        "exact": lambda: estimators.ExactEstimator(process, config.limit, config.pairs),
    }
    return {name: factories[name]() for name in config.estimators}


def _load_lstm(config: Evaluation) -> Seq2Seq:
    """Load the LSTM of the config. Raises TrickformerError if there is none, or if it was trained on another system."""
    if config.checkpoint is None:
        raise TrickformerError(
            "seq2seq and bft need a network; give --checkpoint DIR, a run folder of `trickformer belief train`, or "
            "other --estimators"
        )
    model = _load_network(config, config.checkpoint)
    if not isinstance(model, Seq2Seq):
        raise TrickformerError(
            f"{config.checkpoint} is a transformer, but seq2seq and bft need an LSTM; give it as --transformer to the "
            "estimator transformer"
        )
    return model


def _load_transformer(config: Evaluation) -> Transformer:
    """Load the transformer of the config, with the same errors as `_load_lstm`."""
    if config.transformer is None:
        raise TrickformerError(
            "transformer needs a network: --transformer FILE, made by `trickformer belief train --model transformer`"
        )
    model = _load_network(config, config.transformer)
    if not isinstance(model, Transformer):
        raise TrickformerError(f"{config.transformer} is an LSTM; give it as --checkpoint to seq2seq and bft")
    return model


def _load_network(config: Evaluation, file: Path) -> networks.BeliefNetwork:
    model, trained = networks.trained_for(file, config.form, config.variant, config.seat)
    if config.games_from is None and trained.seed == config.seed:
        raise TrickformerError(f"{file} was trained on the games of seed {config.seed}; choose another --seed")
    return model.to(usable(config.device))


def command(config: Evaluation, resume: bool) -> list[dict[str, Any]]:
    """Return the records of all games; play the missing ones, stack by stack, and keep them in the run folder.

    Args:
        config: Games, estimators and the run folder, if there is one.
        resume: Whether to continue the run in the folder.

    Returns:
        One record a game, by number.

    Raises:
        TrickformerError: If the input is bad; nothing is written then.
        Interruption: On Ctrl-C.
    """
    usable(config.device)
    shared = _load_components(config)
    stacks: dict[int, list[dict[str, Any]]] = {}
    with _open_records(config, resume) as lines:
        if lines:
            stacks |= {stack[0]["game"]: stack for stack in lines.stored}

        def count_games() -> int:
            return sum(map(len, stacks.values()))

        with (
            resumable("belief evaluate", config, progress=lambda: f"after {count_games()} of {config.games} games"),
            progress("belief evaluate", "games", count_games(), config.games) as advance,
        ):
            for first in range(0, config.games, config.stack):
                if first in stacks:
                    continue
                file = config.out / STACK if config.out else None
                stacks[first] = list(play(config, first, advance, file, shared))
                if lines:
                    lines.append(stacks[first])
                if file is not None:
                    file.unlink(missing_ok=True)
                advance(len(stacks[first]))
    return [record for first in sorted(stacks) for record in stacks[first]]


@contextmanager
def _open_records(config: Evaluation, resume: bool) -> Generator[JsonLines | None]:
    """Open the file of records in the run folder, a line for each stack; None without a folder."""
    folder = RunFolder.optional(config.out, resume)
    if folder is None:
        yield None
        return

    def parse(_: int, line: bytes) -> list[dict[str, Any]]:
        stack = from_json(line, finite=False)
        records = _RECORDS.validate_python(stack)  # pydantic's error is a ValueError
        first, games = records[0].game, [record.game for record in records]
        if first % config.stack or games != list(_stack_games(config, first)):
            raise ValueError("the line is no stack of games of this run")
        if any(record.estimators.keys() != set(config.estimators) for record in records):
            raise ValueError("the line has other estimators than this run")
        _FIRST.validate_python(stack[0]["estimators"])
        for record in stack:
            for entry in record["estimators"].values():
                for key in ("loss", "loss_where_exact"):
                    if entry[key] is None:
                        entry[key] = math.inf
        return stack

    network_paths = [path for path in (config.checkpoint, config.transformer) if path is not None]
    paths = {str(path): networks.file_of(path) for path in network_paths}
    if config.games_from is not None:
        paths[str(config.games_from)] = record_files.place(config.games_from)
    files = digests.sha256(paths) | digests_of_players(config)
    with folder.records(
        RECORDS,
        config,
        resume=resume,
        free=("out",),
        parse=parse,
        resolve=resolve_paths,
        about={"files": files},
    ) as opened:
        yield opened
