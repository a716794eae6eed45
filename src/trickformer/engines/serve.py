"""`trickformer serve`: one of our players as an engine (docs/engines.md), for another's harness or another machine."""

from __future__ import annotations

import os
import select
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic_core import to_json

import trickformer
from trickformer.base import Event, Memo, TrickformerError, View
from trickformer.engines import MAX_LINE, PROTOCOL, messages

if TYPE_CHECKING:
    from trickformer.base import Game, Player

_MOST_TABLES = 4_096
_CHUNK = 1 << 20  # bytes read at once
_INPUT, _OUTPUT = 0, 1


@dataclass
class _SeatHistory:
    seat: int
    events: list[Event] = field(default_factory=list)
    memo: Memo = field(default_factory=dict)


class _EngineServer:
    def __init__(self, player: Player, game: Game, name: str):
        self._player, self._game, self._name = player, game, name
        self._tables: dict[int, _SeatHistory] = {}
        self._asked: list[messages.Act] = []

    def hear(self, line: bytes) -> bool:
        """Takes a message; False once it says quit. Raises TrickformerError on what is no message, or comes out of
        order."""
        try:
            said = messages.parse_host_message(line)
        except ValueError as e:
            raise TrickformerError(str(e)) from None
        if isinstance(said, messages.Quit):
            return False
        if isinstance(said, messages.Greeting):
            self._hello(said)
        elif isinstance(said, messages.New):
            self._new(said)
        elif said.table not in self._tables:
            raise TrickformerError(f"there is no table {said.table}")
        elif isinstance(said, messages.Observe):
            heard = (Event(e.seat, e.action, tuple(e.seen)) for e in said.events)
            self._tables[said.table].events.extend(heard)
        elif isinstance(said, messages.Act):
            self._asked.append(said)
        else:
            del self._tables[said.table]
        return True

    def answer(self) -> None:
        """Decides whatever was asked, in one call of the player."""
        if not self._asked:
            return
        views, rngs, memos = [], [], []
        for act in self._asked:
            table = self._tables[act.table]
            if act.seconds is not None:
                table.memo["clock"] = act.seconds
            views.append(View(table.seat, tuple(table.events), tuple(act.legal)))
            rngs.append(_rng(act.seed))
            memos.append(table.memo)
        decisions = self._player.act(views, rngs, memos)
        lines = []
        for act, decision in zip(self._asked, decisions):
            answer: dict[str, Any] = {"type": "action", "table": act.table, "action": decision.action}
            if decision.value is not None:
                answer["value"] = decision.value
            if decision.visits is not None:
                answer["visits"] = decision.visits
            lines.append(to_json(answer) + b"\n")
        self._asked.clear()
        _write(b"".join(lines))

    def _hello(self, said: messages.Greeting) -> None:
        if said.protocol != PROTOCOL:
            raise TrickformerError(f"this speaks version {PROTOCOL} of the protocol, not {said.protocol}")
        about = {"name": self._name, "version": trickformer.__version__, "games": [self._game.name]}
        hello = {"type": "hello", "protocol": PROTOCOL, "seeds": "numpy", "tables": _MOST_TABLES, "deals": False}
        _write(to_json(hello | about) + b"\n")

    def _new(self, said: messages.New) -> None:
        if said.game != (own := str(self._game.spiel)):
            raise TrickformerError(f"this serves {own}, not {said.game}; give --game {said.game!r}")
        if not 0 <= said.seat < self._game.players:
            raise TrickformerError(f"{own} has no seat {said.seat}")
        if said.table not in self._tables and len(self._tables) == _MOST_TABLES:
            raise TrickformerError(f"there are more than {_MOST_TABLES:,} tables")
        self._tables[said.table] = _SeatHistory(said.seat)


def serve(spec: str, game: Game) -> None:
    """Speaks the protocol on standard input and output until it says quit or is closed.

    What was asked at once is decided in one call of the player. Raises TrickformerError, after it has told the other
    side, on a spec or message that is wrong."""
    from trickformer import players

    try:
        player = players.make(spec, game)
        if player.needs_state:
            raise TrickformerError(f"player {spec!r} is shown hidden cards; no protocol carries them")
        _listen(_EngineServer(player, game, players.resolve(spec, game)))
    except TrickformerError as e:
        _write(to_json({"type": "error", "text": str(e)}) + b"\n")
        raise
    except BrokenPipeError:
        os._exit(0)  # nobody reads any more


def _listen(server: _EngineServer) -> None:
    rest = b""
    while True:
        if not select.select([_INPUT], [], [], 0)[0]:
            server.answer()  # whoever asks waits now
        data = os.read(_INPUT, _CHUNK)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        if len(rest) > MAX_LINE:
            raise TrickformerError(f"a line has more than {MAX_LINE:,} bytes")
        for line in lines:
            if not server.hear(line):
                return


def _rng(seed: int | list[int]) -> np.random.Generator:
    if isinstance(seed, int):
        return np.random.default_rng(seed)
    key, counter = np.array(seed[:2], dtype=np.uint64), np.array(seed[2:], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


def _write(data: bytes) -> None:
    sys.stdout.flush()
    while data:
        data = data[os.write(_OUTPUT, data) :]
