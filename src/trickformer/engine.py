"""For authors of engines in Python: write `act`, call `run`.

    from trickformer import engine

    def act(turn: engine.Turn) -> int:
        return turn.legal[0]

    engine.run(act, name="lowest", games=["hearts", "skat"], seeds=True)

The program then plays: `trickformer tournament skat --a 'engine:cmd="python lowest.py"' --b rules`. The protocol is
that of docs/engines.md. Imports the standard library alone; a bot may copy this file."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PROTOCOL = 1


@dataclass
class Turn:
    """A decision, and all that the seat has seen. `memory` is the bot's own, kept until the hand ends."""

    game: str  # game string of OpenSpiel
    seat: int
    events: list[dict[str, Any]]  # seat (-1: chance), action, words, seen
    legal: list[int]
    words: list[str]  # of each legal action
    seed: Any  # for this decision alone
    seconds: float | None  # for this decision; None: no clock
    memory: dict[str, Any] = field(default_factory=dict)


@dataclass
class Answer:
    """An action, and what the bot thinks of it."""

    action: int
    value: float | None = None  # in units of v(o) of the GO-MCTS paper
    visits: Mapping[int, int] | None = None  # simulations by action
    text: str | None = None


def run(
    act: Callable[[Turn], int | Answer],
    *,
    name: str,
    version: str = "",
    games: Sequence[str] = ("*",),
    seeds: bool = False,
    deals: bool = False,
) -> None:
    """Plays until the host says quit or closes standard input.

    games: names of the games that it plays. seeds: whether all its randomness comes from `turn.seed`. deals: whether it
    insists on whole deals. What the bot prints goes to standard error. An exception of `act` ends the program."""
    answers, sys.stdout = sys.stdout, sys.stderr
    tables: dict[int, dict[str, Any]] = {}

    def say(message: Mapping[str, Any]) -> None:
        answers.write(json.dumps({k: v for k, v in message.items() if v is not None}) + "\n")
        answers.flush()

    for line in sys.stdin:
        message = json.loads(line)
        kind, table = message["type"], message.get("table")
        if kind == "hello":
            say(
                {"type": "hello", "protocol": PROTOCOL, "name": name, "version": version, "games": list(games)}
                | {"seeds": seeds, "deals": deals, "tables": 1_000}
            )
        elif kind == "new":
            tables[table] = message | {"events": [], "memory": {}}
        elif kind == "observe":
            tables[table]["events"] += message["events"]
        elif kind == "act":
            at = tables[table]
            asked = {key: message[key] for key in ("legal", "words", "seed", "seconds")}
            answer = act(Turn(at["game"], at["seat"], at["events"], memory=at["memory"], **asked))
            if isinstance(answer, int):
                answer = Answer(answer)
            say({"type": "action", "table": table, **vars(answer)})
        elif kind == "end":
            del tables[table]
        elif kind == "quit":
            return
