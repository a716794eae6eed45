"""external program (protocol: docs/engines.md)"""

from __future__ import annotations

import string
import weakref
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, create_model

from trickformer.base import CHANCE, UNSEEDED, Belief, Decision, FaultKind, Game, Memo, Player, TrickformerError, View
from trickformer.belief import world as _world
from trickformer.engines import process
from trickformer.engines.entries import Entry, Program
from trickformer.engines.messages import EngineAction
from trickformer.engines.process import Process, make_printable

MOST_FAULTS = 3  # number of faults at the same decision after which the player gives up
_AT_ONCE = 32  # largest number of views sent to a process at once; more save little time and are lost in a crash


class Options(Program):
    cmd: str = Field(
        default="", description="Required: command that starts the engine, with its arguments, as in a shell."
    )
    processes: int = Field(default=1, ge=1, le=1_024, description="Number of processes of the engine (default: 1).")
    timeout: float = Field(
        default=60.0, gt=0, allow_inf_nan=False, description="Seconds without an answer that are a fault (default: 60)."
    )

    starts_program: ClassVar[bool] = True

    @property
    def command(self) -> list[str]:
        return process.split_command(self.cmd)


@dataclass(eq=False)
class _EngineSeat:
    """State of one seat in one hand, which an engine sees as one of its tables. It is stored in the seat's memo."""

    viewer: int
    seed: int
    engine: _Engine | None = None  # the engine in which the table is open
    number: int = -1  # number of the table in that engine
    n_sent: int = 0  # number of events that the engine has received
    suspect: bool = False  # the engine failed when this was one of several open decisions
    faults: int = 0  # number of faults when this was the only open decision
    kinds: list[FaultKind] = field(default_factory=list[FaultKind])  # kinds of the faults since the last decision


class _Engine:
    """A process of an engine and its open tables, of which there are at most `max_tables`."""

    def __init__(self, running: Process):
        self.process, self.max_tables = running, running.hello.tables
        self.open_tables: dict[int, weakref.ref[_EngineSeat]] = {}  # by number, the most recently used one last
        self._free: list[int] = []  # numbers of closed tables, which are used again

    def has_table(self, table: _EngineSeat) -> bool:
        return table.engine is self

    def open_table(self, table: _EngineSeat, game: str, in_use: Collection[int]) -> None:
        """Open a table in the engine if it is not open.

        If the engine is full, tables of hands that no longer exist are closed. If there are none, the least recently
        used table is closed whose number is not in `in_use`.
        """
        if self.has_table(table):
            self.open_tables[table.number] = self.open_tables.pop(table.number)  # now the most recently used
            return
        if table.engine is not None:
            table.engine.close(table.number, None)
        if not self._free and len(self.open_tables) == self.max_tables:
            abandoned = [number for number, ref in self.open_tables.items() if ref() is None]
            for number in abandoned or [next(number for number in self.open_tables if number not in in_use)]:
                self.close(number, None)
        number = self._free.pop() if self._free else len(self.open_tables)
        self.open_tables[number] = weakref.ref(table)
        table.engine, table.number = self, number
        table.n_sent = 0
        self.process.send({"type": "new", "table": number, "game": game, "seat": table.viewer, "seed": table.seed})

    def close(self, number: int, scores: Sequence[int] | None) -> None:
        """Close a table; `scores` are those of the finished hand, None if it is not finished."""
        table = self.open_tables.pop(number)()
        if table is not None:
            table.engine = None
        self._free.append(number)
        self.process.send({"type": "end", "table": number, "scores": scores})

    def leave(self) -> None:
        """End the process. Its tables are then not open in any engine."""
        for ref in self.open_tables.values():
            if (table := ref()) is not None:
                table.engine = None
        self.process.end()


@dataclass(frozen=True)
class _Turn:
    """A decision that an engine has to make."""

    table: _EngineSeat
    view: View
    events: Sequence[tuple[int, int | None, Sequence[int]]]  # seat, action and revealed cards of all events so far
    seed: int | list[int]
    clock: float | None  # seconds for the decision; None: no limit


class EnginePlayer(Player):
    """Player by an external program. It runs several processes of the program, each with several tables.

    If a process breaks the protocol, is silent for too long, or exits, it is restarted and receives the events of its
    open decisions again. After three faults at one decision `act` raises TrickformerError.
    """

    def __init__(
        self,
        name: str | None,
        command: Sequence[str],
        processes: int,
        timeout: float,
        game: Game,
        logs: Path | None = None,
    ):
        """Start the first process.

        Args:
            name: Name of the engine; None takes the name that the engine reports.
            command: Words of the command that starts the program.
            processes: Largest number of processes.
            timeout: Seconds without an answer that are a fault.
            game: The game.
            logs: Folder for standard error; None for a temporary file.

        Raises:
            TrickformerError: The process does not start by the protocol, or does not play the game.
        """
        self._name, self._game = name, game
        self._rules = str(game.spiel)
        self._command, self._timeout = list(command), timeout
        self._logs = logs
        first = self._start()
        self.hello = first.hello
        if "*" not in self.hello.games and game.name not in self.hello.games:
            raise TrickformerError(
                f"engine {first.name} plays {make_printable(', '.join(self.hello.games))}, not {game.name}"
            )
        self._max_processes = processes
        self._engines = [_Engine(first)]
        self.faults = 0  # number of faults so far
        self.batch = processes * min(self.hello.tables, _AT_ONCE)
        if self.hello.seeds == "numpy":
            self.caveats = (
                "receives the states of its random generators, from which it could compute the hidden cards",
            )
        elif not self.hello.seeds:
            self.caveats = (UNSEEDED,)
        self._belief: Belief | None = None  # samples worlds for an engine that requests whole deals instead of views
        if self.hello.deals:
            from trickformer.belief import sampler

            self._belief = sampler(game)
        self._words = lru_cache(maxsize=4_096)(game.words)

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        turns = [self._turn(*arguments) for arguments in zip(views, rng, memo)]
        answers: dict[int, EngineAction] = {}  # by index of the turn
        while open_turns := [i for i in range(len(turns)) if i not in answers]:
            try:
                answers |= self._request_round(turns, open_turns)
            except TrickformerError:
                self.restart()  # an engine that has ended must not be asked again
                raise
        decisions = []
        for turn, (_, answer) in zip(turns, sorted(answers.items())):
            turn.table.suspect, turn.table.faults = False, 0
            visits = {int(k): n for k, n in answer.visits.items()} if answer.visits is not None else None
            kinds, turn.table.kinds = tuple(turn.table.kinds), []
            decisions.append(Decision(answer.action, value=answer.value, visits=visits, faults=kinds))
        return decisions

    def end(self, views: Sequence[View], scores: Sequence[int], memo: Sequence[Memo]) -> None:
        """Send the end of a hand to the engine.

        Args:
            views: Last views of the engine's seats.
            scores: Scores of all seats.
            memo: Memo of each view.
        """
        for view, seat_memo in zip(views, memo):
            table: _EngineSeat | None = seat_memo.get("engine")
            if table is not None and table.engine is not None:
                if self._belief is None:
                    self._send_events(table, _events(view))
                table.engine.close(table.number, scores)

    def restart(self) -> None:
        """End all processes. They restart at the next decisions and then receive all events of their hands."""
        for engine in self._engines:
            engine.leave()
        self._engines.clear()

    def _turn(self, view: View, rng: np.random.Generator, memo: Memo) -> _Turn:
        seed = generator_seed(rng) if self.hello.seeds == "numpy" else int(rng.integers(2**63))
        table: _EngineSeat | None = memo.get("engine")
        if table is None:
            table = memo["engine"] = _EngineSeat(view.viewer, int(rng.integers(2**63)))
        if self._belief is None:
            events = _events(view)
        else:
            world, is_new = _world.update_world(self._game, self._belief, view, rng, memo)
            if is_new and table.engine is not None:
                table.engine.close(table.number, None)  # its earlier events no longer fit
            events = [(max(step.player, CHANCE), step.action, ()) for step in world.full_history()]
        return _Turn(table, view, events, seed, memo.get("clock"))

    def _request_round(self, turns: Sequence[_Turn], open_turns: Sequence[int]) -> dict[int, EngineAction]:
        """Send as many open turns as fit into the engines, and return the answers by index of the turn.

        If an engine failed during a turn among others, the turn then gets an engine for itself. This shows whether the
        turn is the cause.
        """
        while len(self._engines) < min(self._max_processes, len(open_turns)):
            self._engines.append(_Engine(self._start()))
        requests: dict[tuple[int, int], int] = {}  # index of the turn by index of the engine and number of the table
        in_use: list[set[int]] = [set() for _ in self._engines]  # by engine: numbers of tables with a request
        reserved: set[int] = set()  # engines that have a single suspect turn
        for i in sorted(open_turns, key=lambda i: turns[i].table.suspect):
            table = turns[i].table
            k = next((k for k, engine in enumerate(self._engines) if engine.has_table(table)), None)
            if k is None:
                k = min(range(len(in_use)), key=lambda k: (k in reserved, len(in_use[k])))
            if k in reserved or len(in_use[k]) >= self._engines[k].max_tables or (table.suspect and in_use[k]):
                continue  # the turn waits for a later round
            if table.suspect:
                reserved.add(k)
            self._engines[k].open_table(table, self._rules, in_use[k])
            in_use[k].add(table.number)
            self._request(turns[i])
            requests[k, table.number] = i
        return self._receive_answers(turns, requests)

    def _receive_answers(self, turns: Sequence[_Turn], requests: dict[tuple[int, int], int]) -> dict[int, EngineAction]:
        """Wait for the answers, and restart engines that failed. Turns that such an engine left open have no answer."""
        answers = {}
        for key, answer in process.wait_for_actions([engine.process for engine in self._engines]).items():
            legal, sender = turns[requests[key]].view.legal, self._engines[key[0]].process
            if answer.action in legal:
                answers[requests[key]] = answer
            else:
                if sender.fault is None:
                    sender.fault_kind = "illegal"
                sender.fault = sender.fault or f"chose {answer.action}, which is not legal: {list(legal)}"
        for k, engine in enumerate(self._engines):
            if engine.process.fault is None:
                continue
            engine_turns = [i for (engine_index, _), i in requests.items() if engine_index == k]
            failed = [turns[i].table for i in engine_turns if i not in answers]
            self.faults += 1
            # The fault is recorded at one decision: an unanswered one, or the first if all were answered.
            for table in [*failed, *(turns[i].table for i in engine_turns)][:1]:
                table.kinds.append(engine.process.fault_kind)
            is_only_turn = len(engine_turns) == 1
            for table in failed:
                table.suspect, table.faults = True, table.faults + is_only_turn
            last_error = engine.process.last_error()
            engine.leave()
            if any(table.faults >= MOST_FAULTS for table in failed):
                raise TrickformerError(_describe_failure(engine.process, last_error))
            self._engines[k] = _Engine(self._start(engine.process.stderr_path))
        return answers

    def _start(self, log: Path | None = None) -> Process:
        return process.start(self._name, self._command, self._timeout, log, self._logs)

    def _send_events(self, table: _EngineSeat, events: Sequence[tuple[int, int | None, Sequence[int]]]) -> None:
        assert table.engine is not None
        if len(events) == table.n_sent:
            return
        new = [
            {
                "seat": seat,
                "action": action,
                "words": None if action is None or seat == CHANCE else self._words(action),
                "seen": seen,
            }
            for seat, action, seen in events[table.n_sent :]
        ]
        table.engine.process.send({"type": "observe", "table": table.number, "events": new})
        table.n_sent = len(events)

    def _request(self, turn: _Turn) -> None:
        table, legal = turn.table, turn.view.legal
        assert table.engine is not None
        self._send_events(table, turn.events)
        table.engine.process.request_action(
            table.number,
            {"legal": legal, "words": [*map(self._words, legal)], "seed": turn.seed, "seconds": turn.clock},
        )


def _events(view: View) -> list[tuple[int, int | None, Sequence[int]]]:
    return [(e.actor, e.action, e.seen) for e in view.events]


def generator_seed(rng: np.random.Generator) -> list[int]:
    """Convert a decision's generator to six numbers, from which an engine can rebuild it.

    Args:
        rng: The generator of the decision.

    Returns:
        Key (2) and counter (4) of the Philox generator; six random numbers from `rng` if it is of another type.

    Raises:
        ValueError: The Philox generator has been used before.
    """
    state: Any = rng.bit_generator.state
    if state["bit_generator"] != "Philox":
        return [int(x) for x in rng.integers(2**63, size=6)]
    if state["has_uint32"] or state["buffer_pos"] < 4:
        raise ValueError("the generator of a decision has been used before the decision")
    return [int(x) for part in ("key", "counter") for x in state["state"][part]]


def _describe_failure(last: Process, last_error: str) -> str:
    quote = f", saying {last_error!r}" if last_error else ""
    errors = f"; see {last.stderr_path}" if last.stderr_path else ""
    return f"engine {last.name} failed {MOST_FAULTS} times at the same decision; at last it {last.fault}{quote}{errors}"


def make(options: Options, game: Game) -> EnginePlayer:
    """Start an engine.

    Args:
        options: Options of the player.
        game: The game.

    Raises:
        TrickformerError: The program cannot be started or does not play the game.
    """
    return EnginePlayer(None, options.command, options.processes, options.timeout, game, options.logs)


def make_player_module(name: str, entry: Entry) -> ModuleType:
    """Make a player module for an engine of engines.toml. The player's options are those of the entry.

    Args:
        name: Name of the engine.
        entry: The engine's entry in engines.toml.
    """
    fields: dict[str, Any] = {key: (type(value), Field(default=value)) for key, value in entry.options.items()}
    make_field: Callable[..., Any] = Field  # without the overloads, whose types depend on the default
    fields |= {
        "processes": (int, make_field(default=entry.processes, ge=1, le=1_024, description="Number of processes.")),
        "timeout": (
            float,
            make_field(
                default=entry.timeout,
                gt=0,
                allow_inf_nan=False,
                description="Seconds without an answer that are a fault.",
            ),
        ),
    }

    class Base(Program):
        @property
        def command(self) -> list[str]:
            """Words of the command. Each {option} is replaced inside its word, so a value cannot add words."""
            values = self.model_dump()
            return [string.Formatter().vformat(word, (), values) for word in process.split_command(entry.command)]

    module = ModuleType(name, entry.about or f"the engine of engines.toml: {entry.command}")
    module.Options = create_model(name, __base__=Base, **fields)  # type: ignore[attr-defined]
    module.make = lambda options, game: EnginePlayer(  # type: ignore[attr-defined]
        name, options.command, options.processes, options.timeout, game, options.logs
    )
    return module
