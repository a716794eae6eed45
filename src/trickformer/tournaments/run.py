"""Runs a tournament: what is missing from the record file is played and appended to it."""

from __future__ import annotations

import json
import multiprocessing
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from trickformer import config as configs
from trickformer import games, players
from trickformer.base import Game, Player, TrickformerError
from trickformer.folder import Interrupted, build, replace
from trickformer.progress import progress
from trickformer.tournaments import schedule, store
from trickformer.tournaments.play import play
from trickformer.tournaments.schedule import Config, Hand
from trickformer.tournaments.store import Record

CONFIG, ABOUT, RECORDS = "config.toml", "run.json", "records.jsonl"


@dataclass(frozen=True)
class Run:
    """A tournament that has been played, or a part of it."""

    config: Config  # specs resolved
    typed: list[str]  # specs as they were typed
    sees_state: list[int]  # players that were shown hidden cards
    records: list[Record] = field(repr=False)
    builds: list[dict[str, Any]]  # what has played it: one unless a resumed run was upgraded in between

    @property
    def game(self) -> Game:
        """The rules; raises what `games.load` raises."""
        return games.load(self.config.game)


def _cast(game: Game, specs: list[str]) -> list[Player]:
    """A player for each spec; equal specs share one, for what a player knows of a hand is in its memo."""
    made = {spec: players.make(spec, game) for spec in dict.fromkeys(specs)}
    return [made[spec] for spec in specs]


def tournament(config: Config, resume: bool = False) -> Run:
    """Plays a tournament to its end. With `config.out` the records go there, and `resume` continues them.

    Raises UnknownNameError or TrickformerError on bad input, before anything is written, and Interrupted
    on Ctrl-C."""
    game = games.load(config.game)
    typed = config.specs
    specs = [players.resolve(spec) for spec in typed]
    config = _resolved(config, specs)
    if resume and config.out is None:
        raise TrickformerError("--resume needs the --out of the run to continue")
    cast = _cast(game, specs)
    sees_state = [i for i, p in enumerate(cast) if getattr(p, "needs_state", False)]
    hands = list(schedule.hands(game, len(specs), config.deals))
    run = Run(config, typed, sees_state, [], [build()])
    if config.out is None:
        _finish(run, game, cast, hands, None)
        return run
    folder = config.out
    records = folder / RECORDS  # the config is written before the first record
    if (folder / CONFIG).exists() or (records.exists() and records.stat().st_size):
        if not resume:
            raise TrickformerError(f"{folder} already holds a run; continue it with --resume, or choose another --out")
        known = load(folder, with_records=False)
        _same(known.config, config, folder)
        run.builds[:] = known.builds + [b for b in run.builds if b not in known.builds]
        run.typed[:] = known.typed
        store.read(records, set(hands), game.players)  # a corrupt file: before anything is written
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise TrickformerError(f"cannot make the folder {folder}: {e.strerror}") from None
    with store.Writer(records) as writer:
        run.records.extend(writer.resume(set(hands), game.players))
        about = {"players": typed, "sees_state": sees_state, "builds": run.builds}
        replace(folder / ABOUT, json.dumps(about, indent=2) + "\n")
        replace(folder / CONFIG, configs.dump(config.model_copy(update={"out": None})))
        _finish(run, game, cast, hands, writer)
    return run


def load(folder: Path, with_records: bool = True) -> Run:
    """The run that a folder holds. Raises TrickformerError where it holds none, or a broken one."""
    if not (folder / CONFIG).exists():
        raise TrickformerError(f"{folder} holds no run: there is no {CONFIG}")
    config = configs.load(Config, folder / CONFIG, {"out": folder})
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        run = Run(config, list(about["players"]), list(about["sees_state"]), [], list(about["builds"]))
    except (OSError, ValueError, KeyError, TypeError):
        raise TrickformerError(f"{folder / ABOUT} is missing or broken") from None
    if with_records:
        hands = set(schedule.hands(run.game, len(config.specs), config.deals))
        run.records.extend(store.read(folder / RECORDS, hands, run.game.players)[0])
    return run


def _resolved(config: Config, specs: list[str]) -> Config:
    if config.players is not None:
        return config.model_copy(update={"players": specs})
    return config.model_copy(update={"a": specs[0], "b": specs[1]})


def _same(known: Config, config: Config, folder: Path) -> None:
    for name in ("game", "a", "b", "players", "deals", "seed"):  # all that the records depend on
        old, new = getattr(known, name), getattr(config, name)
        if old != new:
            raise TrickformerError(f"{folder} holds a run with {name} = {old}, not {new}; choose another --out")


def _finish(run: Run, game: Game, cast: list[Player], hands: list[Hand], writer: store.Writer | None) -> None:
    """Plays what is missing from `run.records`, appends it there and to the file."""
    config = run.config
    done = {r.hand for r in run.records}
    missing = [h for h in hands if h not in done]
    if config.workers > 1 and len({h.deal for h in missing}) > 1:
        source = _parallel(config, missing)
    else:
        source = play(game, cast, missing, config.seed, config.tables)
    try:
        with progress("tournament", "tables", len(done), len(hands)) as advance:
            for record in source:
                if writer is not None:
                    writer.append(record)
                run.records.append(record)
                advance()
    except KeyboardInterrupt:
        where = config.out
        kept = (
            f"go on with: trickformer tournament --config {where}/{CONFIG} --out {where} --resume"
            if where is not None
            else "nothing is kept without --out"
        )
        raise Interrupted(f"interrupted after {len(run.records)} of {len(hands)} tables; {kept}") from None


def _parallel(config: Config, hands: list[Hand]) -> Iterator[Record]:
    """The records of `hands`, played by processes with players of their own, each a slice of the deals."""
    deals = sorted({h.deal for h in hands})
    workers = min(config.workers, len(deals))
    slot = {deal: i % workers for i, deal in enumerate(deals)}
    context = multiprocessing.get_context("spawn")
    processes: dict[Connection, Any] = {}
    try:
        for i in range(workers):
            ours, theirs = context.Pipe(duplex=False)
            job = (theirs, config.model_dump_json(), [h for h in hands if slot[h.deal] == i])
            process = context.Process(target=_work, args=job, daemon=True)
            process.start()
            theirs.close()
            processes[ours] = process
        open_pipes = set(processes)
        while open_pipes:
            for pipe in wait(list(open_pipes)):
                assert isinstance(pipe, Connection)
                try:
                    message = pipe.recv_bytes()
                except EOFError:
                    processes[pipe].join()
                    code = processes[pipe].exitcode
                    raise TrickformerError(f"a worker process died (exit code {code})") from None
                if not message:
                    open_pipes.discard(pipe)
                elif message.startswith(b"{"):
                    yield Record.model_validate_json(message)
                else:
                    raise TrickformerError(message.decode())
    finally:
        for pipe, process in processes.items():
            process.terminate()
            process.join()
            pipe.close()


def _work(pipe: Connection, config_json: str, hands: list[Hand]) -> None:
    """One process: sends each record as JSON, then an empty message; or the line of an error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends us
    config = Config.model_validate_json(config_json)
    try:
        game = games.load(config.game)
        for record in play(game, _cast(game, config.specs), hands, config.seed, config.tables):
            pipe.send_bytes(record.model_dump_json().encode())
        pipe.send_bytes(b"")
    except TrickformerError as e:
        pipe.send_bytes(str(e).encode())
    except BrokenPipeError:
        pass  # the parent is gone, and with it the reason to play on
