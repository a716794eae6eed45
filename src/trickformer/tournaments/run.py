"""Runs of plans, such as tournaments: they play the hands that are missing from the record file and append them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from trickformer import players
from trickformer.base import Game, Player, TrickformerError
from trickformer.players.native import is_registered
from trickformer.plumbing import config as configs
from trickformer.plumbing import parallel
from trickformer.plumbing.files import refuse_links
from trickformer.plumbing.folder import ABOUT, CONFIG, RunFolder, build, resumable
from trickformer.plumbing.lines import JsonLines, LineFollower, read_lines
from trickformer.plumbing.progress import Show, progress
from trickformer.plumbing.text import json_object, read_text
from trickformer.tournaments.columns import RecordColumns
from trickformer.tournaments.deals import RECORDS, DealName
from trickformer.tournaments.plan import Hand, Plan, Tournament
from trickformer.tournaments.play import play
from trickformer.tournaments.record_file import RecordFile
from trickformer.tournaments.schedule import Schedule
from trickformer.tournaments.scoreboard import Scoreboard
from trickformer.tournaments.store import HandRecord

STDERR_FOLDER = "engines"  # folder for the standard error of engines
MOST_TABLES = 2_000_000  # largest number of hands in a plan, because memory holds its schedule and its columns

Job = tuple[Plan, list[Hand]]  # hands that one worker plays


class Extension(BaseModel):
    """A change of the number of deals of a run that had begun."""

    old: int
    new: int
    at: datetime


@dataclass(frozen=True)
class TournamentRun:
    """A plan that has been played in whole or in part."""

    config: Any  # a Plan, specs resolved
    typed: list[str]  # specs as they were typed
    sees_state: list[int]  # indices of the players that were shown hidden cards
    caveats: list[list[str]]  # warnings for readers of the results, by player
    records: Sequence[HandRecord] = field(repr=False)  # a list, or a RecordFile for a run with a folder
    builds: list[dict[str, Any]]  # versions of the software that played; several if it changed before --resume
    files: dict[str, str] = field(default_factory=dict)  # SHA-256 of files that players and rules read, by path
    extensions: list[Extension] = field(default_factory=list[Extension])  # changes of the number of deals, in order

    @property
    def game(self) -> Game:
        """The game of the plan, loaded anew."""
        return self.config.rules()

    def columns(self) -> RecordColumns:
        """Return the numeric fields of the records. For records in memory they are computed at each call."""
        if isinstance(self.records, RecordFile):
            return self.records.columns
        game = self.game
        columns = RecordColumns(Schedule(self.config.hands(game)), game.players)
        for record in self.records:
            columns.add(record)
        return columns


class _About(BaseModel):
    """Contents of the run's run.json. `TournamentRun` explains the fields."""

    players: list[str]
    sees_state: list[int]
    caveats: list[list[str]] | None = None  # missing from runs of older versions
    builds: list[dict[str, Any]]
    files: dict[str, str] = {}
    deals: list[DealName] | None = None  # deals that --deals-from named; None without it
    extensions: list[Extension] = []


def _schedule(config: Plan, game: Game) -> Schedule:
    """Number the hands of a plan. Raises TrickformerError if there are too many."""
    schedule = Schedule(islice(config.hands(game), MOST_TABLES + 1))
    if len(schedule) > MOST_TABLES:
        raise TrickformerError(
            f"the plan has more than {MOST_TABLES:,} tables; play fewer deals, or several runs with different --seed"
        )
    return schedule


def _make_players(config: Plan, game: Game) -> list[Player]:
    """Make a player for each spec. Equal specs share a player, because players keep the state of a hand in a memo."""
    logs = config.out / STDERR_FOLDER if config.out is not None else None
    by_spec = {spec: players.make(spec, game, logs) for spec in dict.fromkeys(config.specs)}
    return [by_spec[spec] for spec in config.specs]


def _resolve(config: Plan, game: Game) -> Plan:
    """Copy a plan with every option of its players, and absolute paths. Raises the errors of `players.resolve`."""
    return config.with_absolute_paths().with_specs([players.resolve(spec, game) for spec in config.specs])


def _resolve_alike(config: Plan, game: Game, new: Plan) -> Plan:
    """Resolve the plan of a folder, with the game spelled as in the new plan if it is the same game."""
    resolved = _resolve(config, game)
    if not (isinstance(config, Tournament) and isinstance(new, Tournament)) or config.game == new.game:
        return resolved
    is_same = str(config.rules().spiel) == str(game.spiel)
    return resolved.model_copy(update={"game": new.game}) if is_same else resolved


def tournament(config: Plan, resume: bool = False, show: Show = progress) -> TournamentRun:
    """Play a plan to its end.

    Args:
        config: The plan. With `out`, records are written to that run folder.
        resume: Whether to continue the run in the folder.
        show: Progress display.

    Raises:
        UnknownNameError: A name in the plan does not exist.
        TrickformerError: The input is bad. Then nothing is written except the standard error of engines.
        Interruption: Ctrl-C.
    """
    game = config.rules()
    typed = list(config.specs)
    config = _resolve(config, game)
    resolve = partial(_resolve_alike, game=game, new=config)
    folder = RunFolder.optional(config.out, resume)
    parallel.slots(config.workers, config.ray)  # raises if the cluster is out of reach
    earlier = None
    if folder is not None:
        folder.check(config, resume=resume, free=config.free, resolve=resolve)
        earlier = load(folder.path, type(config), with_records=False) if folder.has_run else None
    config = config.prepare(None if earlier is None else earlier.config)
    roster = _make_players(config, game)
    sees_state = [i for i, p in enumerate(roster) if p.needs_state]
    caveats: list[list[str]] = [list(p.caveats) for p in roster]
    schedule = _schedule(config, game)
    files = players.digests(game, config.specs)
    run = TournamentRun(config, typed, sees_state, caveats, [], [build()], files)
    if folder is None:
        _finish(run, schedule, None, game, roster, show)
        return run
    if earlier is not None:
        _keep_history(run, earlier)
    records = RecordFile(folder.path / RECORDS, schedule, game.players, config.time_limit is not None)
    run = replace(run, records=records)
    about = _describe(run, game)
    with folder.records(
        RECORDS, config, resume=resume, free=config.free, parse=records.register_line, about=about, resolve=resolve
    ) as lines:
        _finish(run, schedule, lines, game, roster, show)
    return run


def _keep_history(run: TournamentRun, earlier: TournamentRun) -> None:
    """Copy the history of a continued run, and add a change of its number of deals."""
    run.builds[:] = earlier.builds + [b for b in run.builds if b not in earlier.builds]
    run.typed[:] = earlier.typed
    run.extensions[:] = earlier.extensions
    if isinstance(run.config, Tournament) and run.config.deals != earlier.config.deals:
        now = datetime.now(UTC).replace(microsecond=0)
        run.extensions.append(Extension(old=earlier.config.deals, new=run.config.deals, at=now))


def _describe(run: TournamentRun, game: Game) -> dict[str, Any]:
    """Return the contents of run.json without the builds."""
    about: dict[str, Any] = {"game": str(game.spiel), "players": run.typed, "sees_state": run.sees_state}
    about |= {"files": run.files} | ({"caveats": run.caveats} if any(run.caveats) else {})
    about["resolved"] = [
        {"player": spec.partition(":")[0], "options": players.resolve_options(spec, game)} for spec in run.config.specs
    ]
    if isinstance(run.config, Tournament) and run.config.named_deals is not None:
        about["deals"] = run.config.named_deals
    if run.extensions:
        about["extensions"] = [extension.model_dump(mode="json") for extension in run.extensions]
    return about


def load(folder: Path, kind: Any = Tournament, with_records: bool = True) -> TournamentRun:
    """Load the run in a folder.

    Args:
        folder: Run folder.
        kind: Class of the plan.
        with_records: Whether to read the records, too.

    Raises:
        TrickformerError: The folder holds no run, or a broken one.
    """
    if not RunFolder(folder).has_run:
        if folder.is_dir():
            fault = f"there is no {CONFIG}"
        else:
            fault = "it is a file, not a folder" if folder.exists() else "there is no such folder"
        raise TrickformerError(f"{folder} holds no run: {fault}; give the --out of a run")
    refuse_links(folder)  # reports are written there
    config = configs.read(kind, folder / CONFIG, {"out": folder})
    try:
        about = _About.model_validate(json_object(read_text(folder / ABOUT)))
        caveats, count = about.caveats or [[] for _ in about.players], len(config.specs)
        if {len(about.players), len(caveats)} != {count} or not all(0 <= i < count for i in about.sees_state):
            raise ValueError("these are not the players of the config")
        if isinstance(config, Tournament):
            config = config.with_listed(about.deals)
        run = TournamentRun(
            config,
            typed=about.players,
            sees_state=about.sees_state,
            caveats=caveats,
            records=[],
            builds=about.builds,
            files=about.files,
            extensions=about.extensions,
        )
    except (OSError, ValueError):
        raise TrickformerError(f"{folder / ABOUT} is missing or broken; restore it from a copy") from None
    if with_records:
        run, records = _with_file(run, folder)
        read_lines(folder / RECORDS, records.register_line)
    return run


def _with_file(run: TournamentRun, folder: Path) -> tuple[TournamentRun, RecordFile]:
    """Copy a run with a `RecordFile` of its folder as its records. Return both; no record is read yet."""
    game, clocked = run.game, run.config.time_limit is not None
    records = RecordFile(folder / RECORDS, _schedule(run.config, game), game.players, clocked)
    return replace(run, records=records), records


class RunFollower:
    """Reader of a run that another process may still be playing in its folder.

    Attributes:
        folder: Its folder.
        run: The run with the records that were read so far.
        scheduled: Number of hands of the plan.
    """

    def __init__(self, folder: Path) -> None:
        """Load the run without its records.

        Args:
            folder: Folder of a tournament.

        Raises:
            TrickformerError: As `load`.
        """
        self.folder = folder
        self._load()

    def _load(self) -> None:
        self._files = self._describe_files()
        self.run, self._records = _with_file(load(self.folder, with_records=False), self.folder)
        self.scheduled = len(self._records.columns.schedule)
        self._lines = LineFollower(self.folder / RECORDS, self._register)
        self._report: Callable[[int], None] = _ignore

    def update(self, report: Callable[[int], None] | None = None) -> bool:
        """Read the records that were written since the last call.

        A run whose number of deals was changed, or whose records were replaced, is loaded anew.

        Args:
            report: Receives the number of bytes of the records that were read so far, after each record.

        Returns:
            Whether there is anything new.

        Raises:
            TrickformerError: As `load`.
        """
        changed = self._files != self._describe_files() or self._lines.was_replaced
        if changed:
            self._load()
        self._report = report or _ignore
        return bool(self._lines.read()) or changed

    def _register(self, number: int, line: bytes) -> None:
        self._records.register_line(number, line)
        self._report(self._lines.length)

    def _describe_files(self) -> list[tuple[int, int] | None]:
        """Return the time and the size of the files that describe the run; None for a missing one."""
        files = [self.folder / CONFIG, self.folder / ABOUT]
        return [(file.stat().st_mtime_ns, file.stat().st_size) if file.exists() else None for file in files]


def _ignore(_: int) -> None:
    pass


def _finish(
    run: TournamentRun, schedule: Schedule, lines: JsonLines | None, game: Game, roster: list[Player], show: Show
) -> None:
    """Play the hands that are missing from `run.records`, and append their records there and to the file.

    If this process plays all hands, the players of `roster` play. Otherwise each worker makes its own players.
    """
    config = run.config
    board = Scoreboard(config, game, run.typed) if isinstance(config, Tournament) else None
    done = bytearray(len(schedule))  # 1 for each hand that is played, by number of the hand
    if isinstance(run.records, RecordFile):
        done[:] = (run.records.columns.row_of >= 0).tobytes()
        if board is not None and board.replay(run.records.columns) is not None:
            return
    new_records = _play_missing(config, [hand for hand, played in zip(schedule, done) if not played], game, roster)
    typed = players.to_type(config)
    has_objects = any(map(is_registered, config.specs))
    remedy = "continue with: trickformer.tournament(..., resume=True) and equal Player objects" if has_objects else None
    with (
        closing(new_records),  # stops the workers on an error or a decision
        resumable(
            config.COMMAND,
            config,
            typed,
            progress=lambda: f"after {len(run.records)} of {len(schedule)} tables",
            remedy=remedy,
        ),
        show(config.COMMAND, "tables", sum(done), len(schedule)) as advance,
    ):
        for record in new_records:
            number = schedule.find(record.deal, record.seating, record.seed)
            # After the loss of a node, its hands are played again and as many records are skipped as had arrived. A
            # player that ignores its seed makes the hands end in another order.
            if done[number]:
                raise TrickformerError("a hand was played twice after the loss of a node; continue with --resume")
            done[number] = True
            _append(run, record, lines)
            if board is None:
                advance()
                continue
            board.add(record.deal_name, record.seating, record.scores)
            advance(score=board.line)
            if board.decision is not None:
                break


def _append(run: TournamentRun, record: HandRecord, lines: JsonLines | None) -> None:
    """Add a record to a run, and to its file if it has one."""
    if isinstance(run.records, RecordFile):
        assert lines is not None
        run.records.register(record, lines.append(record))
    else:
        assert isinstance(run.records, list)
        run.records.append(record)


def _play_missing(config: Plan, missing: list[Hand], game: Game, roster: list[Player]) -> Generator[HandRecord]:
    """Play the missing hands, and yield their records in the order in which the hands end."""
    jobs = _jobs(config, missing)
    if len(jobs) == 1 and config.ray is None:
        yield from play(game, roster, missing, config.seed, config.tables, config.time_limit)
    else:
        yield from parallel.stream(_play, jobs, config.workers, config.ray)


def _jobs(config: Plan, hands: list[Hand]) -> list[Job]:
    """Split the hands into one job for each worker. All seatings of a deal stay in one job."""
    deals = list(dict.fromkeys((h.deal, h.seed) for h in hands))
    workers = min(parallel.slots(config.workers, config.ray), len(deals))
    slot = {deal: i % workers for i, deal in enumerate(deals)}
    return [(config, [h for h in hands if slot[h.deal, h.seed] == i]) for i in range(workers)]


def _play(job: Job) -> Iterator[HandRecord]:
    """Play the hands of a job with newly made players."""
    config, hands = job
    game = config.rules()
    return play(game, _make_players(config, game), hands, config.seed, config.tables, config.time_limit)
