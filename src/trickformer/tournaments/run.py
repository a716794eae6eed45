"""Plays a plan, such as a tournament: what is missing from the record file is played and appended to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from trickformer import players
from trickformer.base import Game, Player, TrickformerError
from trickformer.plumbing import config as configs
from trickformer.plumbing import parallel
from trickformer.plumbing.files import refuse_links
from trickformer.plumbing.folder import ABOUT, CONFIG, RunFolder, build, resumable
from trickformer.plumbing.lines import JsonLines, read_lines
from trickformer.plumbing.progress import Show, progress
from trickformer.plumbing.text import json_object
from trickformer.tournaments import store
from trickformer.tournaments.plan import Hand, Plan, Tournament
from trickformer.tournaments.play import play
from trickformer.tournaments.store import HandRecord

RECORDS, ERRORS = "records.jsonl", "engines"  # the latter: what engines write to standard error
MOST_TABLES = 2_000_000  # of a plan: it and its records are held in memory

Job = tuple[Plan, list[Hand]]  # hands that one worker plays


@dataclass(frozen=True)
class TournamentRun:
    """A plan that has been played, or a part of it."""

    config: Any  # a Plan, specs resolved
    typed: list[str]  # specs as they were typed
    sees_state: list[int]  # players that were shown hidden cards
    caveats: list[list[str]]  # by player: what a reader of results must know of it
    records: list[HandRecord] = field(repr=False)
    builds: list[dict[str, Any]]  # what has played it: one unless a resumed run was upgraded in between
    files: dict[str, str] = field(default_factory=dict)  # SHA-256 of what players and rules were read from

    @property
    def game(self) -> Game:
        """The rules; raises what `Plan.rules` raises."""
        return self.config.rules()


class _About(BaseModel):
    """run.json of such a run."""

    players: list[str]
    sees_state: list[int]
    caveats: list[list[str]] | None = None  # runs of before had none
    builds: list[dict[str, Any]]
    files: dict[str, str] = {}


def _hands(config: Plan, game: Game) -> list[Hand]:
    """Every hand of a plan. Raises TrickformerError where there are too many."""
    hands = list(islice(config.hands(game), MOST_TABLES + 1))
    if len(hands) > MOST_TABLES:
        raise TrickformerError(f"these are more than {MOST_TABLES:,} tables; play fewer deals, or several series")
    return hands


def _cast(config: Plan, game: Game) -> list[Player]:
    """Make a player for each spec; equal specs share one, for a player keeps what it knows of a hand in its memo."""
    logs = config.out / ERRORS if config.out is not None else None
    by_spec = {spec: players.make(spec, game, logs) for spec in dict.fromkeys(config.specs)}
    return [by_spec[spec] for spec in config.specs]


def resolve(config: Plan, game: Game) -> Plan:
    """Copy a plan with every option of its players, and absolute paths. Raises what `players.resolve` raises."""
    return config.with_absolute_paths().with_specs([players.resolve(spec, game) for spec in config.specs])


def tournament(config: Plan, resume: bool = False, show: Show = progress) -> TournamentRun:
    """Plays a plan to its end. With `config.out` the records go there, and `resume` continues them.

    Raises UnknownNameError or TrickformerError on bad input, before anything is written but what engines say on
    standard error, and Interruption on Ctrl-C."""
    game = config.rules()
    typed = config.specs
    config = resolve(config, game)
    same: dict[str, Any] = {"resume": resume, "free": config.free, "resolve": partial(resolve, game=game)}
    folder = RunFolder.optional(config.out, resume)
    parallel.slots(config.workers, config.ray)  # a cluster out of reach
    if folder is not None:
        folder.check(config, **same)
    cast = _cast(config, game)
    sees_state = [i for i, p in enumerate(cast) if p.needs_state]
    caveats: list[list[str]] = [list(p.caveats) for p in cast]
    hands = _hands(config, game)
    files = players.digests(game, config.specs)
    run = TournamentRun(config, typed, sees_state, caveats, [], [build()], files)
    if folder is None:
        _finish(run, hands, None, game, cast, show)
        return run
    if folder.has_run:
        known = load(folder.path, type(config), with_records=False)
        run.builds[:] = known.builds + [b for b in run.builds if b not in known.builds]
        run.typed[:] = known.typed
    parse = store.parser(folder.path / RECORDS, set(hands), game.players, config.time_limit is not None)
    about: dict[str, Any] = {"game": str(game.spiel), "players": typed, "sees_state": sees_state, "files": files}
    about |= {"caveats": caveats} if any(caveats) else {}
    about["resolved"] = [
        {"player": spec.partition(":")[0], "options": players.resolve_options(spec, game)} for spec in config.specs
    ]
    with folder.records(RECORDS, config, parse=parse, about=about, **same) as lines:
        run.records.extend(lines.known)
        _finish(run, hands, lines, game, cast, show)
    return run


def load(folder: Path, kind: Any = Tournament, with_records: bool = True) -> TournamentRun:
    """The run of a plan of that kind in a folder. Raises TrickformerError where it holds none, or a broken one."""
    if not RunFolder(folder).has_run:
        raise TrickformerError(f"{folder} holds no run: there is no {CONFIG}")
    refuse_links(folder)  # reports are written there
    config = configs.read(kind, folder / CONFIG, {"out": folder})
    try:
        about = _About.model_validate(json_object((folder / ABOUT).read_text(encoding="utf-8")))
        caveats = about.caveats or [[] for _ in about.players]
        run = TournamentRun(config, about.players, about.sees_state, caveats, [], about.builds, about.files)
    except (OSError, ValueError):
        raise TrickformerError(f"{folder / ABOUT} is missing or broken") from None
    if with_records:
        hands = set(_hands(config, run.game))
        parse = store.parser(folder / RECORDS, hands, run.game.players, config.time_limit is not None)
        run.records.extend(read_lines(folder / RECORDS, parse)[0])
    return run


def _finish(
    run: TournamentRun, hands: list[Hand], lines: JsonLines | None, game: Game, cast: list[Player], show: Show
) -> None:
    """Plays what is missing from `run.records`, appends it there and to the file: by the players `cast` where this
    process plays all of it, else by those that each worker makes."""
    config = run.config
    done = {r.hand for r in run.records}
    missing = [h for h in hands if h not in done]
    jobs = _jobs(config, missing)
    if len(jobs) == 1 and config.ray is None:
        source = play(game, cast, missing, config.seed, config.tables, config.time_limit)
    else:
        source = parallel.stream(_play, jobs, config.workers, config.ray)
    typed = players.to_type(config)
    with (
        resumable(config.COMMAND, config, typed, progress=lambda: f"after {len(run.records)} of {len(hands)} tables"),
        show(config.COMMAND, "tables", len(done), len(hands)) as advance,
    ):
        for record in source:
            if record.hand in done:  # played anew for a lost node, by a player that does not follow its seed
                raise TrickformerError("a hand was played twice after the loss of a node; continue with --resume")
            done.add(record.hand)
            if lines is not None:
                lines.append(record)
            run.records.append(record)
            advance()


def _jobs(config: Plan, hands: list[Hand]) -> list[Job]:
    """The hands in slices, one for each worker; a deal with all its seatings stays in one."""
    deals = sorted({h.deal for h in hands})
    workers = min(parallel.slots(config.workers, config.ray), len(deals))
    slot = {deal: i % workers for i, deal in enumerate(deals)}
    return [(config, [h for h in hands if slot[h.deal] == i]) for i in range(workers)]


def _play(job: Job) -> Iterator[HandRecord]:
    """The records of a slice, by players of its own."""
    config, hands = job
    game = config.rules()
    return play(game, _cast(config, game), hands, config.seed, config.tables, config.time_limit)
