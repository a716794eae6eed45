"""The players at a table, and what each remembers of the hand; for a table in this process or another."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trickformer import checkpoints, players, tokenizers
from trickformer.base import Decision, Game, Memo, Player, TrickformerError, decision_rng, replay
from trickformer.web.config import YOU, Play
from trickformer.web.table import Table

if TYPE_CHECKING:
    from trickformer.base import State


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """A decision that is asked for. `history` are all actions of the hand so far, chance included."""

    spec: str
    seed: int
    deal: int
    seat: int
    number: int  # of the seat's decision in the hand
    history: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TimedDecision:
    decision: Decision
    seconds: float  # wall seconds of `act`


def ask(table: Table) -> DecisionRequest:
    """What the player on turn is asked."""
    seat = table.turn
    assert seat is not None
    return DecisionRequest(
        table.seats[seat], table.seed, table.deal, seat, table.number(seat), tuple(map(int, table.state.history()))
    )


class Cast:
    """Players of one game by their specs, and what each remembers of the hand on the table.

    A decision draws from `decision_rng(seed, deal, seat, number)`, as in a tournament. A seat's memory is dropped where
    the hand does not go on from what it was last asked about: another deal, or moves that were taken back."""

    def __init__(self, game: Game):
        self._game = game
        self._players: dict[str, Player] = {}
        self._memos: dict[tuple[str, int], tuple[tuple[int, int], tuple[int, ...], Memo]] = {}

    def player(self, spec: str) -> Player:
        """The player of a spec. Raises what players.make raises."""
        if spec not in self._players:
            self._players[spec] = players.make(spec, self._game)
        return self._players[spec]

    def decide(self, asked: DecisionRequest, explain: bool = False) -> TimedDecision:
        """explain: whether the decision is to bring a thought, where the player has any.

        Raises TrickformerError where the player cannot be made, fails, or does what is not legal."""
        player, state = self.player(asked.spec), at(self._game, asked.history)
        memo = self._memo(asked)
        memo["explain"] = explain
        if player.needs_state:
            memo["state"] = state.clone()
        view = self._game.view(state, asked.seat)
        rng = decision_rng(asked.seed, asked.deal, asked.seat, asked.number)
        start = time.perf_counter()
        decisions = player.act([view], [rng], [memo])
        seconds = time.perf_counter() - start
        (decision,) = players.validate_decisions(player, [view], decisions)
        return TimedDecision(decision, seconds)

    def end(self, seats: tuple[str, ...], history: tuple[int, ...]) -> None:
        """Tells players that want to know how the hand has ended, and forgets it."""
        state = at(self._game, history)
        for spec, player in self._players.items():
            own = [p for p, who in enumerate(seats) if who == spec and (spec, p) in self._memos]
            if own:
                views = [self._game.view(state, p) for p in own]
                player.end(views, self._game.scores(state), [self._memos[spec, p][2] for p in own])
        self._memos.clear()

    def _memo(self, asked: DecisionRequest) -> Memo:
        key, hand = (asked.spec, asked.seat), (asked.seed, asked.deal)
        known, before, memo = self._memos.get(key, (hand, (), {}))
        if known != hand or asked.history[: len(before)] != before:
            memo = {}
        self._memos[key] = hand, asked.history, memo
        return memo


def make_cast(settings: Play) -> Cast:
    """The players that are to sit at a table. Raises TrickformerError where one does not exist, or cannot play the
    game; so it does for the model that is to be looked into."""
    game = settings.rules()
    cast = Cast(game)
    for who in dict.fromkeys(settings.seats(game)):
        if who != YOU:
            cast.player(who)
    if settings.checkpoint is not None:
        checkpoints.check(checkpoints.find(settings.checkpoint), game, tokenizers.make(game))
    return cast


def at(game: Game, history: tuple[int, ...]) -> State:
    """The state after these actions. Raises TrickformerError where one is not legal."""
    state = replay(game.spiel, history)
    if state is None:
        raise TrickformerError(f"that is no hand of {game.name}")
    return state
