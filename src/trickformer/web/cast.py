"""Players of a table, with their memos of the hand. They run in the table's process or in a worker."""

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
    """Request for a decision."""

    spec: str  # player that decides
    seed: int  # seed of the deal's series
    deal: int
    seat: int
    number: int  # number of earlier decisions of the seat in the hand
    history: tuple[int, ...]  # all actions of the hand so far, chance included


@dataclass(frozen=True, slots=True)
class TimedDecision:
    """Decision with the time that it took."""

    decision: Decision
    seconds: float  # wall seconds of `act`


def make_request(table: Table) -> DecisionRequest:
    """Make the request for the decision of the seat on turn.

    Args:
        table: Table with a seat on turn.
    """
    seat = table.turn
    assert seat is not None
    return DecisionRequest(
        table.seats[seat], table.seed, table.deal, seat, table.number(seat), tuple(map(int, table.state.history()))
    )


class Cast:
    """Players of one game by their specs, with each seat's memo of the current hand.

    A decision draws from `decision_rng(seed, deal, seat, number)`, as in a tournament. A seat starts with an empty memo
    if the request does not continue the hand of its last request: after another deal, or after an undo.
    """

    def __init__(self, game: Game):
        self._game = game
        self._players: dict[str, Player] = {}
        # By spec and seat: the hand (seed, deal) and the history of the last request, and the memo.
        self._memos: dict[tuple[str, int], tuple[tuple[int, int], tuple[int, ...], Memo]] = {}

    def player(self, spec: str) -> Player:
        """Return the player of a spec; `players.make` raises the errors.

        Args:
            spec: Spec of the player.
        """
        if spec not in self._players:
            self._players[spec] = players.make(spec, self._game)
        return self._players[spec]

    def decide(self, request: DecisionRequest, explain: bool = False) -> TimedDecision:
        """Let a player decide.

        Args:
            request: Decision to make.
            explain: Whether the decision has a `Thought`, if the player can explain itself.

        Raises:
            TrickformerError: The player cannot be made, fails, or chooses an illegal action.
        """
        player, state = self.player(request.spec), state_after(self._game, request.history)
        memo = self._memo(request)
        memo["explain"] = explain
        if player.needs_state:
            memo["state"] = state.clone()
        view = self._game.view(state, request.seat)
        rng = decision_rng(request.seed, request.deal, request.seat, request.number)
        start = time.perf_counter()
        (decision,) = players.decide_in_batches(player, [view], [rng], [memo])
        return TimedDecision(decision, time.perf_counter() - start)

    def end(self, seats: tuple[str, ...], history: tuple[int, ...]) -> None:
        """Call `Player.end` of the players, and clear their memos.

        Args:
            seats: Spec of each seat.
            history: All actions of the hand, chance included.
        """
        state = state_after(self._game, history)
        for spec, player in self._players.items():
            own_seats = [p for p, who in enumerate(seats) if who == spec and (spec, p) in self._memos]
            if own_seats:
                views = [self._game.view(state, p) for p in own_seats]
                player.end(views, self._game.scores(state), [self._memos[spec, p][2] for p in own_seats])
        self._memos.clear()

    def _memo(self, request: DecisionRequest) -> Memo:
        key, hand = (request.spec, request.seat), (request.seed, request.deal)
        last = self._memos.get(key)
        memo: Memo = {}
        if last is not None and last[0] == hand and request.history[: len(last[1])] == last[1]:
            memo = last[2]
        self._memos[key] = hand, request.history, memo
        return memo


def make_cast(settings: Play) -> Cast:
    """Make the players of a table, and check the checkpoint for the panels.

    Args:
        settings: Settings of the table.

    Raises:
        TrickformerError: A player does not exist or cannot play the game, or the checkpoint does not fit the game.
    """
    game = settings.rules()
    cast = Cast(game)
    for who in dict.fromkeys(settings.seats(game)):
        if who != YOU:
            cast.player(who)
    if settings.checkpoint is not None:
        checkpoints.check(checkpoints.find(settings.checkpoint), game, tokenizers.make(game))
    return cast


def state_after(game: Game, history: tuple[int, ...]) -> State:
    """Return the state after some actions.

    Args:
        game: The game.
        history: Actions from the start of the game, chance included.

    Raises:
        TrickformerError: An action is not legal.
    """
    state = replay(game.spiel, history)
    if state is None:
        raise TrickformerError(f"the actions are no legal hand of {game.name}")
    return state
