"""Plays hands in lockstep, so that many tables share one call of a player."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trickformer.base import Decision, Game, Memo, Player, TrickformerError
from trickformer.players import decision_rng
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.store import HandRecord

if TYPE_CHECKING:
    from trickformer.base import State


@dataclass
class _Table:
    hand: Hand
    state: State
    memos: list[Memo]
    decisions: list[int]
    illegal: list[int] = field(init=False)
    searched: list[int] = field(init=False)
    seconds: list[float] = field(init=False)
    calls: list[float] = field(init=False)

    def __post_init__(self) -> None:
        seats = len(self.decisions)
        self.illegal, self.searched = [0] * seats, [0] * seats
        self.seconds, self.calls = [0.0] * seats, [0.0] * seats


def play(game: Game, players: Sequence[Player], hands: Iterable[Hand], seed: int, tables: int) -> Iterator[HandRecord]:
    """Plays `hands`, up to `tables` of them at a time, and yields each record as its hand ends.

    At every step the tables on turn are grouped by player: one act call each. Decision n of a seat in a
    hand draws from `decision_rng(seed, deal, seat, n)` whoever sits there. A player with a true attribute
    `needs_state` finds the state in memo["state"]. Raises TrickformerError where a player breaks the
    contract (an illegal action, a wrong number of decisions)."""
    waiting = iter(hands)
    live: list[_Table] = []
    while True:
        running = []
        for table in live:
            if _advance(game, table, seed):
                yield _record(game, table)
            else:
                running.append(table)
        live = running
        while len(live) < tables and (hand := next(waiting, None)) is not None:
            table = _Table(
                hand,
                game.deal(seed, hand.deal),
                [{} for _ in range(game.players)],
                [0] * game.players,
            )
            if _advance(game, table, seed):  # no decision at all
                yield _record(game, table)
            else:
                live.append(table)
        if not live:
            return
        groups: dict[int, list[_Table]] = {}
        for table in live:
            groups.setdefault(table.hand.seating[table.state.current_player()], []).append(table)
        for index in sorted(groups):
            _act(game, players[index], groups[index], seed)


def _advance(game: Game, table: _Table, seed: int) -> bool:
    """Resolves chance nodes; True at the end of the hand."""
    state = table.state
    while state.is_chance_node():
        state.apply_action(game.chance(state, seed, table.hand.deal))
    return state.is_terminal()


def _act(game: Game, player: Player, tables: list[_Table], seed: int) -> None:
    seats = [t.state.current_player() for t in tables]
    views = [game.view(t.state, seat) for t, seat in zip(tables, seats)]
    rngs = [decision_rng(seed, t.hand.deal, seat, t.decisions[seat]) for t, seat in zip(tables, seats)]
    memos = [t.memos[seat] for t, seat in zip(tables, seats)]
    if getattr(player, "needs_state", False):
        for table, memo in zip(tables, memos):
            memo["state"] = table.state.clone()
    start = time.perf_counter()
    decisions: list[Decision] = player.act(views, rngs, memos)
    share = (time.perf_counter() - start) / len(tables)
    if len(decisions) != len(tables):
        raise TrickformerError(f"{type(player).__name__} gave {len(decisions)} decisions for {len(tables)} views")
    for table, seat, view, decision in zip(tables, seats, views, decisions):
        if decision.action not in view.legal:
            raise TrickformerError(
                f"{type(player).__name__} chose the illegal action {decision.action} in deal "
                f"{table.hand.deal}, seating {table.hand.seating}, seat {seat}; legal: {list(view.legal)}"
            )
        table.state.apply_action(decision.action)
        table.decisions[seat] += 1
        table.illegal[seat] += decision.illegal
        table.searched[seat] += decision.searched
        table.seconds[seat] += share
        table.calls[seat] += 1 / len(tables)


def _record(game: Game, table: _Table) -> HandRecord:
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
    )
