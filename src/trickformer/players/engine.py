"""external program that speaks docs/engines.md"""

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

from trickformer.base import CHANCE, Belief, Decision, FaultKind, Game, Memo, Player, TrickformerError, View
from trickformer.belief import world as _world
from trickformer.engines import process
from trickformer.engines.entries import Entry, Program
from trickformer.engines.messages import EngineAction
from trickformer.engines.process import Process, make_printable

MOST_FAULTS = 3  # at the same decision
_AT_ONCE = 32  # views that a process is given: more save little, and are lost if we are killed


class Options(Program):
    cmd: str = Field(default="", description="how to start it, in words as a shell splits them")
    processes: int = Field(default=1, ge=1, le=1_024, description="how many of it play at the same time")
    timeout: float = Field(default=60.0, gt=0, allow_inf_nan=False, description="seconds of silence that are a fault")

    starts_program: ClassVar[bool] = True

    @property
    def command(self) -> list[str]:
        return process.words(self.cmd)


@dataclass(eq=False)
class _EngineSeat:
    """One seat of one hand, as an engine knows it; kept in the memo of the hand."""

    viewer: int
    seed: int
    engine: _Engine | None = None  # the one that knows it, and by which number
    number: int = -1
    told: int = 0  # events
    suspect: bool = False  # the engine failed while it had this decision to make among others
    faults: int = 0  # at this decision, when it was the only one
    kinds: list[FaultKind] = field(default_factory=list[FaultKind])  # of faults since its last decision


class _Engine:
    """A process, and the tables that it knows. The numbers of tables are used again, so that none is above `most`."""

    def __init__(self, running: Process):
        self.process, self.most = running, running.hello.tables
        self.held: dict[int, weakref.ref[_EngineSeat]] = {}  # by number, that used last at the end
        self._free: list[int] = []

    def has_table(self, table: _EngineSeat) -> bool:
        return table.engine is self

    def sit(self, table: _EngineSeat, game: str, taken: Collection[int]) -> None:
        """Makes room for a table, where it is not known: a number that is free, or that of a hand that is no more, or
        the one used longest ago that is not `taken`."""
        if self.has_table(table):
            self.held[table.number] = self.held.pop(table.number)
            return
        if table.engine is not None:
            table.engine.close(table.number, None)
        if not self._free and len(self.held) == self.most:
            gone = [number for number, ref in self.held.items() if ref() is None]
            for number in gone or [next(number for number in self.held if number not in taken)]:
                self.close(number, None)
        number = self._free.pop() if self._free else len(self.held)
        self.held[number] = weakref.ref(table)
        table.engine, table.number, table.told = self, number, 0
        self.process.say({"type": "new", "table": number, "game": game, "seat": table.viewer, "seed": table.seed})

    def close(self, number: int, scores: Sequence[int] | None) -> None:
        """The end of a table."""
        table = self.held.pop(number)()
        if table is not None:
            table.engine = None
        self._free.append(number)
        self.process.say({"type": "end", "table": number, "scores": scores})

    def leave(self) -> None:
        """Ends the process; what it knew is known to none."""
        for ref in self.held.values():
            if (table := ref()) is not None:
                table.engine = None
        self.process.end()


@dataclass(frozen=True)
class _Turn:
    table: _EngineSeat
    view: View
    events: Sequence[tuple[int, int | None, Sequence[int]]]
    seed: int | list[int]
    clock: float | None


class EnginePlayer(Player):
    """Programs at our tables: `processes` of the same, each with as many tables as it holds.

    A program that breaks the protocol, says nothing for too long, or is gone, is started again and told what it has to
    decide anew. After three faults at one decision `act` raises TrickformerError."""

    def __init__(
        self,
        name: str | None,
        command: Sequence[str],
        processes: int,
        timeout: float,
        game: Game,
        logs: Path | None = None,
    ):
        """Starts the first. Raises TrickformerError where it does not begin as it should, or does not play the game.
        Without a name it has its own. logs: folder for standard error."""
        self._name, self._game, self._rules = name, game, str(game.spiel)
        self._command, self._timeout = list(command), timeout
        self._logs = logs
        first = self._start()
        self.hello = first.hello
        if "*" not in self.hello.games and game.name not in self.hello.games:
            raise TrickformerError(
                f"engine {first.name} plays {make_printable(', '.join(self.hello.games))}, not {game.name}"
            )
        self._most = processes
        self._engines = [_Engine(first)]
        self.faults = 0  # so far
        self.batch = processes * min(self.hello.tables, _AT_ONCE)
        if self.hello.seeds == "numpy":
            self.caveats = ("was given the generators of its decisions",)
        elif not self.hello.seeds:
            self.caveats = ("does not follow seeds: a match against itself is not zero",)
        self._belief: Belief | None = None
        if self.hello.deals:
            from trickformer.belief import sampler

            self._belief = sampler(game)
        self._words = lru_cache(maxsize=4_096)(game.words)

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """The engine's decision for each view. Raises TrickformerError where it cannot play on."""
        turns = [self._turn(*each) for each in zip(views, rng, memo)]
        answers: dict[int, EngineAction] = {}
        while due := [i for i in range(len(turns)) if i not in answers]:
            answers |= self._ask(turns, due)
        found = []
        for turn, (_, answer) in zip(turns, sorted(answers.items())):
            turn.table.suspect, turn.table.faults = False, 0
            visits = {int(k): n for k, n in answer.visits.items()} if answer.visits is not None else None
            kinds, turn.table.kinds = tuple(turn.table.kinds), []
            found.append(Decision(answer.action, value=answer.value, visits=visits, faults=kinds))
        return found

    def end(self, views: Sequence[View], scores: Sequence[int], memo: Sequence[Memo]) -> None:
        """Tells the engine how a hand has ended: the last views of its seats, the scores of all, its memos."""
        for view, own in zip(views, memo):
            table: _EngineSeat | None = own.get("engine")
            if table is not None and table.engine is not None:
                if self._belief is None:
                    self._tell(table, _events(view))
                table.engine.close(table.number, scores)

    def restart(self) -> None:
        """Ends all processes. They are started again, and told what they must know, when they are needed."""
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
            world, anew = _world.update_world(self._game, self._belief, view, rng, memo)
            if anew and table.engine is not None:
                table.engine.close(table.number, None)
            events = [(max(step.player, CHANCE), step.action, ()) for step in world.full_history()]
        return _Turn(table, view, events, seed, memo.get("clock"))

    def _ask(self, turns: Sequence[_Turn], due: Sequence[int]) -> dict[int, EngineAction]:
        """The answers of one round: as many turns as all engines hold at once. One during which an engine failed has an
        engine to itself, so that it is known whether it is why."""
        while len(self._engines) < min(self._most, len(due)):
            self._engines.append(_Engine(self._start()))
        asked: dict[tuple[int, int], int] = {}
        taken: list[set[int]] = [set() for _ in self._engines]
        alone: set[int] = set()
        for i in sorted(due, key=lambda i: turns[i].table.suspect):
            table = turns[i].table
            at = next((k for k, engine in enumerate(self._engines) if engine.has_table(table)), None)
            if at is None:
                at = min(range(len(taken)), key=lambda k: (k in alone, len(taken[k])))
            if at in alone or len(taken[at]) >= self._engines[at].most or (table.suspect and taken[at]):
                continue  # at a later round
            if table.suspect:
                alone.add(at)
            self._engines[at].sit(table, self._rules, taken[at])
            taken[at].add(table.number)
            self._request(turns[i])
            asked[at, table.number] = i
        return self._answers(turns, asked)

    def _answers(self, turns: Sequence[_Turn], asked: dict[tuple[int, int], int]) -> dict[int, EngineAction]:
        """Waits for the answers; those of an engine that failed are fewer, and it is started again."""
        found = {}
        for key, answer in process.answers([engine.process for engine in self._engines]).items():
            legal, at = turns[asked[key]].view.legal, self._engines[key[0]].process
            if answer.action in legal:
                found[asked[key]] = answer
            else:
                if at.fault is None:
                    at.fault_kind = "illegal"
                at.fault = at.fault or f"chose {answer.action}, which is not legal: {list(legal)}"
        for at, engine in enumerate(self._engines):
            if engine.process.fault is None:
                continue
            own = [i for (where, _), i in asked.items() if where == at]
            failed = [turns[i].table for i in own if i not in found]
            self.faults += 1
            for table in [*failed, *(turns[i].table for i in own)][:1]:
                table.kinds.append(engine.process.fault_kind)
            only = len(own) == 1
            for table in failed:
                table.suspect, table.faults = True, table.faults + only
            said = engine.process.last_error()
            engine.leave()
            if any(table.faults >= MOST_FAULTS for table in failed):
                raise TrickformerError(_given_up(engine.process, said))
            self._engines[at] = _Engine(self._start(engine.process.log))
        return found

    def _start(self, log: Path | None = None) -> Process:
        return process.start(self._name, self._command, self._timeout, log, self._logs)

    def _tell(self, table: _EngineSeat, events: Sequence[tuple[int, int | None, Sequence[int]]]) -> None:
        assert table.engine is not None
        if len(events) == table.told:
            return
        told = [
            {
                "seat": seat,
                "action": action,
                "words": None if action is None or seat == CHANCE else self._words(action),
                "seen": seen,
            }
            for seat, action, seen in events[table.told :]
        ]
        table.engine.process.say({"type": "observe", "table": table.number, "events": told})
        table.told = len(events)

    def _request(self, turn: _Turn) -> None:
        table, legal = turn.table, turn.view.legal
        assert table.engine is not None
        self._tell(table, turn.events)
        table.engine.process.ask(
            table.number,
            {"legal": legal, "words": [*map(self._words, legal)], "seed": turn.seed, "seconds": turn.clock},
        )


def _events(view: View) -> list[tuple[int, int | None, Sequence[int]]]:
    return [(e.actor, e.action, e.seen) for e in view.events]


def generator_seed(rng: np.random.Generator) -> list[int]:
    """Write a decision's generator as six numbers that an engine is sent.

    Args:
        rng: The generator of the decision.

    Returns:
        Key and counter of a Philox generator that draws what `rng` draws; numbers drawn from `rng` if it is of another
        kind.

    Raises:
        ValueError: If a Philox generator has been used before.
    """
    state: Any = rng.bit_generator.state
    if state["bit_generator"] != "Philox":
        return [int(x) for x in rng.integers(2**63, size=6)]
    if state["has_uint32"] or state["buffer_pos"] < 4:
        raise ValueError("the generator of a decision has been used before the decision")
    return [int(x) for part in ("key", "counter") for x in state["state"][part]]


def _given_up(last: Process, said: str) -> str:
    said = f", saying {said!r}" if said else ""
    errors = f"; see {last.log}" if last.log else ""
    return f"engine {last.name} failed {MOST_FAULTS} times at the same decision; at last it {last.fault}{said}{errors}"


def make(options: Options, game: Game) -> EnginePlayer:
    """Raises TrickformerError where the program cannot be started or does not play the game."""
    return EnginePlayer(None, options.command, options.processes, options.timeout, game, options.logs)


def make_player_module(name: str, entry: Entry) -> ModuleType:
    """The player of an engine of engines.toml, as a module has it: its options are those of the entry."""
    own: dict[str, Any] = {key: (type(value), Field(default=value)) for key, value in entry.options.items()}
    usual: Callable[..., Any] = Field
    own |= {
        "processes": (int, usual(default=entry.processes, ge=1, le=1_024, description="how many of it play at once")),
        "timeout": (float, usual(default=entry.timeout, gt=0, allow_inf_nan=False, description="seconds of silence")),
    }

    class Base(Program):
        @property
        def command(self) -> list[str]:
            """The words of the command. An option fills its braces within a word, whatever characters it has."""
            fields = self.model_dump()
            return [string.Formatter().vformat(word, (), fields) for word in process.words(entry.command)]

    module = ModuleType(name, entry.about or f"the engine of engines.toml: {entry.command}")
    module.Options = create_model(name, __base__=Base, **own)  # type: ignore[attr-defined]
    module.make = lambda options, game: EnginePlayer(  # type: ignore[attr-defined]
        name, options.command, options.processes, options.timeout, game, options.logs
    )
    return module
