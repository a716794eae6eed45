"""Plays hands, many at a time, so that tables share the calls of a player; the hands that began first end first."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from trickformer.base import MANY, Decision, FaultKind, Game, Memo, Player, View, decision_rng, validate_decisions
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.store import HandRecord

if TYPE_CHECKING:
    from trickformer.base import State


@dataclass
class _Table:
    hand: Hand
    seed: int  # of the deal's series
    state: State
    memos: list[Memo]
    decisions: list[int]
    illegal: list[int] = field(init=False)
    searched: list[int] = field(init=False)
    seconds: list[float] = field(init=False)
    calls: list[float] = field(init=False)
    overran: list[int] = field(init=False)
    gains: list[list[tuple[int, float, float | None]]] = field(init=False)
    faults: list[Counter[FaultKind]] = field(init=False)

    def __post_init__(self) -> None:
        seats = len(self.decisions)
        self.illegal, self.searched, self.overran = [0] * seats, [0] * seats, [0] * seats
        self.seconds, self.calls = [0.0] * seats, [0.0] * seats
        self.gains = [[] for _ in range(seats)]
        self.faults = [Counter() for _ in range(seats)]


@dataclass
class _Line:
    """The tables that wait for a player."""

    player: Player
    batch: int  # views that it is given at most
    waiting: list[tuple[int, _Table]] = field(default_factory=list[tuple[int, _Table]])  # a heap: the oldest first


def makes_use(players: Sequence[Player]) -> int:
    """How many tables are worth playing at a time: as many views as a call of any of the players makes use of."""
    return max(player.batch or MANY for player in players)


def play(
    game: Game,
    players: Sequence[Player],
    hands: Iterable[Hand],
    seed: int,
    tables: int | None = None,
    clock: float | None = None,
    heard: Callable[[Hand, View, Decision], None] | None = None,
) -> Iterator[HandRecord]:
    """Plays `hands`, up to `tables` of them at a time, and yields each record as its hand ends. base.Player has the
    members of a player.

    tables: None, as `makes_use` says. At first a single hand is played, and each that ends makes room for one more than
    itself. So the first record comes after one hand, and as never more is under way than what is done and one, the pace
    of the first records is at least half of the true one.

    The next call goes to the player for whom most of a batch waits, of several with a whole one to whom the oldest
    table waits for; it is given the oldest tables. So a player of one view a call goes on as long as anybody waits for
    it, and batches gather for those that like them large. No decision depends on this: decision n of a seat in a hand
    draws from `decision_rng(seed, deal, seat, n)` whoever sits there.

    clock: seconds for a decision, put into memo["clock"]; records then count who took longer. A call's decisions share
    its time evenly. heard: is told of every decision, in the order in which they are made.

    Raises TrickformerError where a player breaks the contract (an illegal action, a wrong number of decisions; see
    `players.validate_decisions`)."""
    tables = tables or makes_use(players)
    lines = {id(p): _Line(p, min(tables, p.batch or tables)) for p in players}
    hands, begun, ended = iter(hands), 0, 0
    moved: list[tuple[int, _Table]] = []  # by number, which is that of the hand
    while True:
        while True:
            if moved:
                number, table = moved.pop()
            elif begun - ended < min(tables, 1 + ended) and (hand := next(hands, None)) is not None:
                number, begun = begun, begun + 1
                series = seed if hand.seed is None else hand.seed
                state = game.deal(series, hand.deal)
                table = _Table(hand, series, state, [{} for _ in range(game.players)], [0] * game.players)
            else:
                break
            if _advance(game, table):
                ended += 1
                _end(game, players, table)
                yield _record(game, table, clock)
            else:
                player = players[table.hand.seating[table.state.current_player()]]
                heappush(lines[id(player)].waiting, (number, table))
        asked = [line for line in lines.values() if line.waiting]
        if not asked:
            return
        line = max(asked, key=lambda a: (min(1, len(a.waiting) / a.batch), -a.waiting[0][0]))
        moved = [heappop(line.waiting) for _ in range(min(line.batch, len(line.waiting)))]
        _act(game, line.player, [table for _, table in moved], clock, heard)
        moved.reverse()  # they are taken from its end


def _advance(game: Game, table: _Table) -> bool:
    """Resolves chance nodes; True at the end of the hand."""
    state = table.state
    while state.is_chance_node():
        state.apply_action(game.chance(state, table.seed, table.hand.deal))
    return state.is_terminal()


def _act(
    game: Game,
    player: Player,
    tables: list[_Table],
    clock: float | None,
    heard: Callable[[Hand, View, Decision], None] | None,
) -> None:
    seats = [t.state.current_player() for t in tables]
    views = [game.view(t.state, seat) for t, seat in zip(tables, seats)]
    rngs = [decision_rng(t.seed, t.hand.deal, seat, t.decisions[seat]) for t, seat in zip(tables, seats)]
    memos = [t.memos[seat] for t, seat in zip(tables, seats)]
    if player.needs_state:
        for table, memo in zip(tables, memos):
            memo["state"] = table.state.clone()
    if clock is not None:
        for memo in memos:
            memo["clock"] = clock
    start = time.perf_counter()
    decisions = player.act(views, rngs, memos)
    share = (time.perf_counter() - start) / len(tables)

    def where(i: int) -> str:
        return f" in deal {tables[i].hand.deal}, seating {tables[i].hand.seating}, seat {seats[i]}"

    for table, seat, view, decision in zip(tables, seats, views, validate_decisions(player, views, decisions, where)):
        if heard is not None:
            heard(table.hand, view, decision)
        table.state.apply_action(decision.action)
        if decision.gain is not None:
            table.gains[seat].append((sum(table.decisions), decision.gain, decision.exact_gain))
        table.faults[seat].update(decision.faults)
        table.decisions[seat] += 1
        table.illegal[seat] += decision.illegal
        table.searched[seat] += decision.searched
        table.seconds[seat] += share
        table.calls[seat] += 1 / len(tables)
        table.overran[seat] += clock is not None and share > clock


def _end(game: Game, players: Sequence[Player], table: _Table) -> None:
    """Tells the players that want to know how a hand has ended."""
    seats: dict[int, list[int]] = {}
    for seat, index in enumerate(table.hand.seating):
        seats.setdefault(id(players[index]), []).append(seat)
    for player in {id(p): p for p in players}.values():
        # Views of the end take up to a tenth of the time of the fastest players, most of which do not override `end`.
        if type(player).end is not Player.end and (own := seats.get(id(player))):
            views = [game.view(table.state, seat) for seat in own]
            player.end(views, game.scores(table.state), [table.memos[seat] for seat in own])


def _record(game: Game, table: _Table, clock: float | None) -> HandRecord:
    return HandRecord(
        deal=table.hand.deal,
        seating=table.hand.seating,
        scores=game.scores(table.state),
        decisions=tuple(table.decisions),
        illegal=tuple(table.illegal),
        searched=tuple(table.searched),
        seconds=tuple(round(s, 7) for s in table.seconds),
        calls=tuple(round(c, 7) for c in table.calls),
        history=tuple(table.state.history()),
        mission=game.mission(table.state),
        overran=None if clock is None else tuple(table.overran),
        gains=tuple(map(tuple, table.gains)) if any(table.gains) else None,
        faults=tuple(map(dict, table.faults)) if any(table.faults) else None,
        seed=table.hand.seed,
    )
