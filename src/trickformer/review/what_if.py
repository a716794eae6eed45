"""What if? The rest of a hand is played anew from one position, with the cards as they were dealt, by any players."""

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
from trickformer.tournaments.plan import Hand as Place
from trickformer.tournaments.play import play

if TYPE_CHECKING:
    from trickformer.base import State


class ContinuedGame(Game):
    """A game that begins at one position of a hand, and in which chance does what it did there.

    Where another course of the game asks chance for more, it does what it would have done in the series of deals that
    the hand is from; where that is not known, whatever may be, drawn anew each time."""

    def __init__(self, hand: ReviewHand, state: State):
        game = hand.game
        self.name, self.players, self.higher_is_better = game.name, game.players, game.higher_is_better
        self.spiel, self.outcomes = game.spiel, game.outcomes
        self._game, self._start, self._source = game, state, hand.source
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
    """Plays the rest of a hand `n` times from before its decision `number`.

    specs: of the players by seat, or one for all. action: in words, what is done there first; the player at that seat
    decides if it is not given. Game i draws from the generators of deal i of the series `seed`, whoever plays.

    Raises TrickformerError where there is no such decision, the action is not legal, or the specs are neither one
    nor as many as there are seats, and what players.make raises."""
    game = hand.game
    if len(specs) not in (1, game.players):
        raise TrickformerError(f"{len(specs)} players for {game.players} seats; name one for all, or one a seat")
    turn, state = hand.at(number)
    if action is not None:
        state.apply_action(_action(game, turn.legal, action))
    by_seat = tuple(players.resolve(spec, game) for spec in (specs if len(specs) > 1 else [*specs] * game.players))
    kinds = list(dict.fromkeys(by_seat))
    cast: list[Any] = [players.make(spec, game) for spec in kinds]
    seating = tuple(kinds.index(spec) for spec in by_seat)
    scores: list[tuple[int, tuple[int, ...]]] = []
    with show("what if", "games", 0, n) as advance:
        for record in play(ContinuedGame(hand, state), cast, [Place(i, seating) for i in range(n)], seed):
            scores.append((record.deal, record.scores))
            advance()
    table = np.array([each for _, each in sorted(scores)], dtype=np.float64)
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
        scores=tuple(each for _, each in sorted(scores)),
        means=tuple(table.mean(axis=0).tolist()),
        ci95=tuple(interval(column, support) for column in table.T),
        came=game.scores(end) if end.is_terminal() else None,
    )


def _action(game: Game, legal: Sequence[int], words: str) -> int:
    found = {game.words(action): action for action in legal}
    if words not in found:
        raise TrickformerError(f"{words!r} is not what may be done there: {', '.join(found)}")
    return found[words]
