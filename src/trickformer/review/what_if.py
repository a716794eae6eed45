"""Replays of the rest of a hand from one position, with the cards as they were dealt, by any players."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trickformer import players
from trickformer.base import CHANCE, Game, TrickformerError, View
from trickformer.plumbing.progress import Show, silent_progress
from trickformer.review.hand import ReviewHand
from trickformer.review.result import WhatIf
from trickformer.tournaments.intervals import interval
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play

if TYPE_CHECKING:
    from trickformer.base import State


class ContinuedGame(Game):
    """Game that begins at one position of a hand and repeats the chance actions of the hand.

    If the hand's series of deals is known, chance actions come from the series. Otherwise the recorded ones are used as
    long as they are legal, and random ones after that.
    """

    def __init__(self, hand: ReviewHand, state: State):
        game = hand.game
        self.name = game.name
        self.players = game.players
        self.higher_is_better = game.higher_is_better
        self.spiel = game.spiel
        self.outcomes = game.outcomes
        self._game = game
        self._start = state
        self._source = hand.source
        self._chance = [step.action for step in hand.end().full_history() if step.player == CHANCE]

    def deal(self, seed: int, index: int) -> State:
        return self._start.clone()

    def chance(self, state: State, seed: int, index: int) -> int:
        if self._source is not None:
            return self._game.chance(state, *self._source)
        drawn = sum(step.player == CHANCE for step in state.full_history())
        if drawn < len(self._chance) and self._chance[drawn] in state.legal_actions():
            return self._chance[drawn]
        return super().chance(state, seed, index)

    def view(self, state: State, viewer: int) -> View:
        return self._game.view(state, viewer)

    def scores(self, state: State) -> tuple[int, ...]:
        return self._game.scores(state)

    def mission(self, state: State) -> int | None:
        return self._game.mission(state)


def what_if(
    hand: ReviewHand,
    number: int,
    specs: Sequence[str],
    *,
    n: int = 100,
    seed: int = 0,
    action: str | None = None,
    show: Show = silent_progress,
) -> WhatIf:
    """Play the rest of a hand `n` times from before one of its decisions.

    Args:
        hand: Hand to continue.
        number: Number of the decision, from 1.
        specs: One spec for all seats, or one for each seat.
        n: Number of games.
        seed: Seed of the games; game i uses the generators of deal i of this series, whoever plays.
        action: First action, in words; None lets the player of the seat decide.
        show: Shows the progress; silent by default.

    Returns:
        The scores of the games, and each seat's mean with its 95% interval.

    Raises:
        TrickformerError: There is no such decision, the action is not legal, or the number of specs is neither 1 nor
            the number of seats. `players.make` raises other errors in a spec.
    """
    game = hand.game
    if len(specs) not in (1, game.players):
        raise TrickformerError(f"{len(specs)} players for {game.players} seats; name one for all, or one a seat")
    turn, state = hand.at(number)
    if action is not None:
        state.apply_action(_action(game, turn.legal, action))
    by_seat = tuple(players.resolve(spec, game) for spec in (specs if len(specs) > 1 else [*specs] * game.players))
    distinct_specs = list(dict.fromkeys(by_seat))
    roster: list[Any] = [players.make(spec, game) for spec in distinct_specs]
    seating = tuple(distinct_specs.index(spec) for spec in by_seat)
    scores: list[tuple[int, tuple[int, ...]]] = []
    with show("what if", "games", 0, n) as advance:
        for record in play(ContinuedGame(hand, state), roster, [Hand(i, seating) for i in range(n)], seed):
            scores.append((record.deal, record.scores))
            advance()
    table = np.array([seat_scores for _, seat_scores in sorted(scores)], dtype=np.float64)
    labels = game.outcomes.labels
    support = (float(np.min(labels)), float(np.max(labels))) if labels else (-np.inf, np.inf)
    end = hand.end()
    return WhatIf(
        rules=str(game.spiel),
        number=number,
        action=action,
        players=by_seat,
        games=n,
        seed=seed,
        scores=tuple(seat_scores for _, seat_scores in sorted(scores)),
        means=tuple(table.mean(axis=0).tolist()),
        ci95=tuple(interval(column, support) for column in table.T),
        came=game.scores(end) if end.is_terminal() else None,
    )


def _action(game: Game, legal: Sequence[int], words: str) -> int:
    by_words = {game.words(action): action for action in legal}
    if words not in by_words:
        raise TrickformerError(f"{words!r} is not legal there; the legal actions are {', '.join(by_words)}")
    return by_words[words]
