"""Playing hands at many tables in parallel, so that the tables share the calls of a player."""

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
    """A hand in play. Lists are by seat; `HandRecord` explains the counts."""

    hand: Hand
    seed: int  # seed of the deal's series
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
        self.illegal = [0] * seats
        self.searched = [0] * seats
        self.overran = [0] * seats
        self.seconds, self.calls = [0.0] * seats, [0.0] * seats
        self.gains = [[] for _ in range(seats)]
        self.faults = [Counter() for _ in range(seats)]


@dataclass
class _Queue:
    """The tables that wait for a player."""

    player: Player
    batch: int  # largest number of views in a call
    waiting: list[tuple[int, _Table]] = field(default_factory=list[tuple[int, _Table]])  # heap of (hand number, table)


def default_tables(players: Sequence[Player]) -> int:
    """Return the number of tables to play in parallel: the largest batch of views that a player can use.

    Args:
        players: The players, at least one.
    """
    return max(player.batch or MANY for player in players)


def play(
    game: Game,
    players: Sequence[Player],
    hands: Iterable[Hand],
    seed: int,
    tables: int | None = None,
    clock: float | None = None,
    on_decision: Callable[[Hand, View, Decision], None] | None = None,
) -> Iterator[HandRecord]:
    """Play hands, several in parallel.

    At first one hand is played alone, and each hand that ends makes room for two, up to `tables`. The first record
    therefore comes after the time of one hand, and the pace of the first records is at least half of the final pace.

    The next call goes to the player whose waiting tables fill the largest share of its batch. If several players have
    a full batch, it goes to the player for whom the table with the oldest hand waits. The call takes the oldest
    tables. No decision depends on this order: decision n of a seat in a hand draws from
    `decision_rng(seed, deal, seat, n)`, whichever player holds the seat.

    Args:
        game: The game.
        players: Players by index. One player may occur several times.
        hands: Hands to play, in order.
        seed: Seed of the deals, if a hand has none of its own.
        tables: Largest number of tables in parallel; by default that of `default_tables`.
        clock: Time in seconds for a decision, passed on in memo["clock"]. Records then count the decisions that took
            longer. The decisions of a call share its time evenly.
        on_decision: Called with every decision, in the order in which they are made.

    Yields:
        The record of each hand, when the hand ends.

    Raises:
        TrickformerError: A player returns an illegal action or a wrong number of decisions.
    """
    tables = tables or default_tables(players)
    queues = {id(p): _Queue(p, min(tables, p.batch or tables)) for p in players}
    hands = iter(hands)
    begun = ended = 0
    ready: list[tuple[int, _Table]] = []  # (hand number, table) of tables whose player has just moved
    while True:
        while True:
            if ready:
                number, table = ready.pop()
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
                heappush(queues[id(player)].waiting, (number, table))
        candidates = [queue for queue in queues.values() if queue.waiting]
        if not candidates:
            return
        queue = max(candidates, key=lambda q: (min(1, len(q.waiting) / q.batch), -q.waiting[0][0]))
        ready = [heappop(queue.waiting) for _ in range(min(queue.batch, len(queue.waiting)))]
        _act(game, queue.player, [table for _, table in ready], clock, on_decision)
        ready.reverse()  # the loop pops the oldest table first


def _advance(game: Game, table: _Table) -> bool:
    """Resolve chance nodes, and return whether the hand has ended."""
    state = table.state
    while state.is_chance_node():
        state.apply_action(game.chance(state, table.seed, table.hand.deal))
    return state.is_terminal()


def _act(
    game: Game,
    player: Player,
    tables: list[_Table],
    clock: float | None,
    on_decision: Callable[[Hand, View, Decision], None] | None,
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
    seconds = (time.perf_counter() - start) / len(tables)  # of one decision

    def describe_place(i: int) -> str:
        return f" in deal {tables[i].hand.deal}, seating {tables[i].hand.seating}, seat {seats[i]}"

    for table, seat, view, decision in zip(
        tables, seats, views, validate_decisions(player, views, decisions, describe_place)
    ):
        if on_decision is not None:
            on_decision(table.hand, view, decision)
        table.state.apply_action(decision.action)
        if decision.gain is not None:
            table.gains[seat].append((sum(table.decisions), decision.gain, decision.exact_gain))
        table.faults[seat].update(decision.faults)
        table.decisions[seat] += 1
        table.illegal[seat] += decision.illegal
        table.searched[seat] += decision.searched
        table.seconds[seat] += seconds
        table.calls[seat] += 1 / len(tables)
        table.overran[seat] += clock is not None and seconds > clock


def _end(game: Game, players: Sequence[Player], table: _Table) -> None:
    """Call `end` of the players that override it, once for each player at the table."""
    seats: dict[int, list[int]] = {}  # seats by id of the player
    for seat, index in enumerate(table.hand.seating):
        seats.setdefault(id(players[index]), []).append(seat)
    for player in {id(p): p for p in players}.values():
        # Making the views takes up to a tenth of the time of the fastest players, most of which do not override `end`.
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
