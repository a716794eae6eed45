"""Server of `trickformer serve`: a player as an engine (docs/engines.md), for another harness or machine."""

from __future__ import annotations

import os
import select
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic_core import to_json

import trickformer
from trickformer.base import UNSEEDED, Event, Memo, TrickformerError, View, decide_in_batches
from trickformer.engines import MAX_LINE, PROTOCOL, messages
from trickformer.plumbing import foreign

if TYPE_CHECKING:
    from trickformer.base import Game, Player

_MAX_TABLES = 4_096  # largest number of open tables, which `hello` announces
_READ_SIZE = 1 << 20  # bytes read at once
_STDIN, _STDOUT = 0, 1  # file descriptors


@dataclass
class _SeatHistory:
    """Observations of our seat at a table, and the memo of the player for the hand."""

    seat: int
    events: list[Event] = field(default_factory=list)
    memo: Memo = field(default_factory=dict)


class _EngineServer:
    def __init__(self, player: Player, game: Game, name: str):
        self._player, self._name = player, name
        self._game = game
        self._tables: dict[int, _SeatHistory] = {}
        self._requests: dict[int, messages.Act] = {}  # by table

    def receive(self, line: bytes) -> bool:
        """Take a message.

        Returns:
            False if the message is `quit`.

        Raises:
            TrickformerError: The message breaks the protocol or comes out of order.
        """
        try:
            message = messages.parse_host_message(line)
        except ValueError as e:
            raise TrickformerError(str(e)) from None
        if isinstance(message, messages.Quit):
            return False
        if isinstance(message, messages.Greeting):
            self._hello(message)
        elif message.table in self._requests:
            raise TrickformerError(f"table {message.table} waits for an answer")
        elif isinstance(message, messages.New):
            self._new(message)
        elif message.table not in self._tables:
            raise TrickformerError(f"there is no table {message.table}")
        elif isinstance(message, messages.Observe):
            events = (Event(e.seat, e.action, tuple(e.seen)) for e in message.events)
            self._tables[message.table].events.extend(events)
        elif isinstance(message, messages.Act):
            self._requests[message.table] = message
        else:  # the hand has ended
            del self._tables[message.table]
        return True

    def answer(self) -> None:
        """Answer all requests."""
        if not self._requests:
            return
        views: list[View] = []
        rngs: list[np.random.Generator] = []
        memos: list[Memo] = []
        for act in self._requests.values():
            table = self._tables[act.table]
            if act.seconds is not None:
                table.memo["clock"] = act.seconds
            views.append(View(table.seat, tuple(table.events), tuple(act.legal)))
            rngs.append(_rng(act.seed))
            memos.append(table.memo)
        with foreign.wrap_errors(self._name):  # events of a host may form no hand
            decisions = decide_in_batches(self._player, views, rngs, memos)
        lines = []
        for act, decision in zip(self._requests.values(), decisions):
            answer: dict[str, Any] = {"type": "action", "table": act.table, "action": decision.action}
            if decision.value is not None:
                answer["value"] = decision.value
            if decision.visits is not None:
                answer["visits"] = decision.visits
            lines.append(to_json(answer) + b"\n")
        self._requests.clear()
        _write(b"".join(lines))

    def _hello(self, message: messages.Greeting) -> None:
        if message.protocol != PROTOCOL:
            raise TrickformerError(f"this engine speaks version {PROTOCOL} of the protocol, not {message.protocol}")
        about = {"name": self._name, "version": trickformer.__version__, "games": [self._game.name]}
        seeds = False if UNSEEDED in self._player.caveats else "numpy"
        hello = {"type": "hello", "protocol": PROTOCOL, "seeds": seeds, "tables": _MAX_TABLES, "deals": False}
        _write(to_json(hello | about) + b"\n")

    def _new(self, message: messages.New) -> None:
        if message.game != (own := str(self._game.spiel)):
            raise TrickformerError(f"this engine serves {own}, not {message.game}; give --game {message.game!r}")
        if not 0 <= message.seat < self._game.players:
            raise TrickformerError(f"{own} has no seat {message.seat}")
        if message.table not in self._tables and len(self._tables) == _MAX_TABLES:
            raise TrickformerError(f"there are more than {_MAX_TABLES:,} tables")
        self._tables[message.table] = _SeatHistory(message.seat)


def serve(spec: str, game: Game) -> None:
    """Answer the protocol on standard input and output until the host sends `quit` or closes the input.

    Requests that arrive together share calls of the player. Those that arrive together with `quit` lapse.

    Args:
        spec: Spec of the player.
        game: The game.

    Raises:
        TrickformerError: The spec or a message is bad. The host has received the error by then.
    """
    from trickformer import players

    try:
        player = players.make(spec, game)
        if player.needs_state:
            raise TrickformerError(f"player {spec!r} needs hidden cards, which the protocol does not carry")
        _listen(_EngineServer(player, game, players.resolve(spec, game)))
    except TrickformerError as e:
        _write(to_json({"type": "error", "text": str(e)}) + b"\n")
        raise
    except BrokenPipeError:
        os._exit(0)  # nobody reads any more


def _listen(server: _EngineServer) -> None:
    rest = b""  # the beginning of a line whose end has not arrived
    while True:
        if not select.select([_STDIN], [], [], 0)[0]:  # no input is left: the host waits for answers
            server.answer()
        data = os.read(_STDIN, _READ_SIZE)
        if not data:
            server.answer()  # the end of the input counts as input to `select`
            return
        *lines, rest = (rest + data).split(b"\n")
        if len(rest) > MAX_LINE:
            raise TrickformerError(f"a line has more than {MAX_LINE:,} bytes")
        for line in lines:
            if not server.receive(line):
                return


def _rng(seed: int | list[int]) -> np.random.Generator:
    """Make a generator from a seed, or from Philox's key (2 words) and counter (4 words)."""
    if isinstance(seed, int):
        return np.random.default_rng(seed)
    key, counter = np.array(seed[:2], dtype=np.uint64), np.array(seed[2:], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


def _write(data: bytes) -> None:
    sys.stdout.flush()
    while data:
        data = data[os.write(_STDOUT, data) :]
