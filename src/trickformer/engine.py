"""Helper for authors of engines in Python: write `act`, call `run`.

    from trickformer import engine

    def act(turn: engine.Turn) -> int:
        return turn.legal[0]

    engine.run(act, name="lowest", games=["hearts", "skat"], seeds=True)

The program then plays: `trickformer tournament skat --a 'engine:cmd="python lowest.py"' --b rules`. docs/engines.md
describes the protocol. The module imports only the standard library, so a bot may copy this file.
"""

from __future__ import annotations

import json
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PROTOCOL = 1


@dataclass
class Turn:
    """A decision that the bot has to make, with all observations of its seat."""

    game: str  # game string of OpenSpiel
    seat: int
    events: list[dict[str, Any]]  # keys: seat (-1 for chance), action, words, seen; docs/engines.md explains them
    legal: list[int]  # legal actions
    words: list[str]  # name of each legal action
    seed: Any  # seed for the randomness of this decision
    seconds: float | None  # time for this decision; None without a clock
    memory: dict[str, Any] = field(default_factory=dict)  # for the bot's own use; kept until the hand ends


@dataclass
class Answer:
    """An action, and the bot's estimates."""

    action: int
    value: float | None = None  # expected result, in units of v(o) (docs/glossary.md)
    visits: Mapping[int, int] | None = None  # simulations by action
    text: str | None = None  # remark for people


def run(
    act: Callable[[Turn], int | Answer],
    *,
    name: str,
    version: str = "",
    games: Sequence[str] = ("*",),
    seeds: bool = False,
    deals: bool = False,
) -> None:
    """Play until the host sends quit or closes standard input.

    Anything that the bot prints goes to standard error. An exception of `act` ends the program.

    Args:
        act: Returns the action of a turn.
        name: Name of the engine.
        version: Version of the engine.
        games: Names of the games that it plays; `*` is any game.
        seeds: Whether all its randomness comes from `turn.seed`.
        deals: Whether the bot needs the cards of all seats. `turn.events` then come from a sampled deal that is
            consistent with the seat's view.
    """
    to_host, sys.stdout = sys.stdout, sys.stderr
    max_tables = 1_000  # open at a time; each costs only its list of events
    tables: dict[int, dict[str, Any]] = {}

    def send(message: Mapping[str, Any]) -> None:
        to_host.write(json.dumps({k: v for k, v in message.items() if v is not None}) + "\n")
        to_host.flush()

    for line in sys.stdin:
        message = json.loads(line)
        kind, table = message["type"], message.get("table")
        if kind == "hello":
            send(
                {"type": "hello", "protocol": PROTOCOL, "name": name, "version": version, "games": list(games)}
                | {"seeds": seeds, "deals": deals, "tables": max_tables}
            )
        elif kind == "new":
            tables[table] = message | {"events": [], "memory": {}}
        elif kind == "observe":
            tables[table]["events"] += message["events"]
        elif kind == "act":
            hand = tables[table]
            request = {key: message[key] for key in ("legal", "words", "seed", "seconds")}
            answer = act(Turn(hand["game"], hand["seat"], hand["events"], memory=hand["memory"], **request))
            if not isinstance(answer, Answer):
                answer = Answer(answer)
            visits = answer.visits  # its numbers, the action and the value may be of NumPy
            send(
                {"type": "action", "table": table, "action": operator.index(answer.action), "text": answer.text}
                | {"value": None if answer.value is None else float(answer.value)}
                | {"visits": visits and {operator.index(k): operator.index(n) for k, n in visits.items()}}
            )
        elif kind == "end":
            del tables[table]
        elif kind == "quit":
            return
