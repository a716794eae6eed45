"""Skat with open cards: the result after each card with best play by both sides, and whether the game could be won.

The solver returns the soloist's card points at the end. The contract turns points and tricks into a result, which
changes at 31, 61 and 90 card points, at the soloist's first trick and at the tenth. More points or tricks never hurt
the soloist. The value of a position is therefore the best result that the soloist can guarantee, and each limit can be
tested alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from trickformer import _core, openspiel
from trickformer.games import _skat_open
from trickformer.games.skat import CARDS, NULL, PLAYERS, TRICKS, card_points
from trickformer.plumbing.progress import Advance
from trickformer.review.hand import ReviewHand
from trickformer.review.open_cards import OpenHandAnalysis, find_turning_points
from trickformer.review.result import CoursePoint, Verdict

if TYPE_CHECKING:
    from trickformer.base import Game, State

_NOT_SCHNEIDER = 31  # card points with which the soloist is not schneider
_PLAY_ONLY = "open cards rate only the play of cards, not bids, declarations and discards"


def solve_open_hand(hand: ReviewHand, advance: Advance) -> OpenHandAnalysis:
    """Solve a hand with open cards.

    Args:
        hand: Hand of Skat.
        advance: Called after each decision.

    Returns:
        The value of each card that could be played (the seat's score minus the mean of the others), and the verdict.
    """
    turns = [(turn, state) for turn, state in hand.turns() if turn.trick is not None]
    notes = (_PLAY_ONLY,)
    if not turns:
        return OpenHandAnalysis({}, None, notes)
    game: Any = hand.game
    soloist: int = turns[0][1].core.soloist
    values: dict[int, dict[int, float]] = {}
    course: list[CoursePoint] = []
    after: dict[int, tuple[_core.skat.Result, int]] = {}
    for turn, state in turns:
        after = solve_cards(state)
        values[turn.number] = {
            card: _skat_open.margin(result, turn.seat, game.seeger) for card, (result, _) in after.items()
        }
        choose = max if turn.seat == soloist else min
        course.append(
            CoursePoint(
                number=turn.number,
                trick=turn.trick,
                winnable=choose(result.won for result, _ in after.values()) and not hand.is_lost_anyway,
                points=choose(points for _, points in after.values()),
            )
        )
        advance()
    last, state = turns[-1]
    result, points = after[last.action]
    winnable = result.won and not hand.is_lost_anyway
    course.append(CoursePoint(number=last.number + 1, trick=None, winnable=winnable, points=points))
    turning_points = find_turning_points(hand.game, [turn for turn, _ in turns], course)
    won = False if hand.is_lost_anyway else result.won if state.child(last.action).is_terminal() else hand.won
    # If the game is lost for good, the last turning point lost it.
    losing_step = turning_points[-1] if turning_points and won is False and not winnable else None
    line = next((_best_line(state) for turn, state in turns if losing_step and turn.number == losing_step.number), ())
    verdict = Verdict(
        by="solver",
        whose=f"the soloist (seat {soloist})",
        won=won,
        winnable=course[0].winnable,
        losing_step=losing_step,
        turning_points=turning_points,
        line=line,
        course=tuple(course),
    )
    return OpenHandAnalysis(values, verdict, notes)


def solve_cards(state: Any) -> dict[int, tuple[_core.skat.Result, int]]:
    """Solve the state after each legal card.

    Args:
        state: State of Skat in which a card is to be played.

    Returns:
        By card: the result that the soloist can guarantee, and the soloist's card points at the end (in a null game the
        card points of the skat).
    """
    cards, core = state.legal_actions(), state.core
    exact = _core.skat_solver.moves_exact(_skat_open.position(state))[0][0]
    by_card = {}
    for card in cards:
        child = state.child(card)
        if child.is_terminal():
            by_card[card] = child.result, child.result.points
        elif core.kind == NULL:
            points = card_points(core.skat)
            by_card[card] = _skat_open.settle_game(state, points, int(not exact[card])), points
        else:
            by_card[card] = (
                _skat_open.settle_game(state, *_best_points_and_tricks(child, int(exact[card]))),
                int(exact[card]),
            )
    return by_card


def certain(game: Game, state: State, seat: int, score: int) -> tuple[bool, list[int]] | None:
    """Test whether the soloist is certain to reach a score or a better one.

    Args:
        game: Game of Skat.
        state: State of the game.
        seat: Seat that wants the score.
        score: Score to reach, in the units of the game's tables.

    Returns:
        Whether the soloist can reach the score, and if so actions to the end of the hand that reach it. None unless
        `seat` is the soloist and is to play a card: a defender is never certain, because the partner may play any
        card.
    """
    rules, at = cast(Any, game), cast(Any, state)
    if at.phase != "play" or at.soloist != seat or at.current_player() != seat:
        return None

    def guaranteed(card: int) -> int:
        return by_card[card][0].scores(rules.seeger)[seat]

    by_card, line = solve_cards(at), list[int]()
    if max(map(guaranteed, by_card)) < score:
        return False, line
    while not at.is_terminal():
        if at.current_player() == seat:
            by_card = solve_cards(at)
        line.append(max(by_card, key=guaranteed) if at.current_player() == seat else at.legal_actions()[0])
        at = at.child(line[-1])
    return True, line


def _best_points_and_tricks(state: Any, points: int) -> tuple[int, int]:
    """Return card points and tricks whose result is the best that a soloist with these card points can guarantee.

    The tricks are 10 or 0 if the soloist makes schwarz or is made schwarz, and 1 otherwise.
    """
    core, complete = state.core, len(state.plays) // PLAYERS
    if points == _skat_open.ALL and core.soloists_tricks == complete and _can_take_tricks(state, TRICKS - complete):
        return points, TRICKS
    if points < _NOT_SCHNEIDER and not core.soloists_tricks and not _can_take_tricks(state, 1):
        return points, 0
    return points, 1


def _can_take_tricks(state: Any, tricks: int) -> bool:
    """Test whether the soloist can take at least that number of the remaining tricks."""
    return bool(_core.skat_solver.tricks_at_least(_skat_open.position(state), tricks)[0][0])


def _best_line(state: Any) -> tuple[str, ...]:
    """Return the tricks from a position on with best play by both sides.

    Each side prefers the better result, then the better card points, then the lowest card. The current trick is listed
    from its first card on.
    """
    first, state = len(state.plays) // PLAYERS, state.clone()
    while not state.is_terminal():
        sign = 1 if state.current_player() == state.core.soloist else -1
        by_card = solve_cards(state)
        state.apply_action(
            max(by_card, key=lambda card: (sign * by_card[card][0].value, sign * by_card[card][1], -card))
        )
    plays = [(seat, CARDS[card]) for seat, card in state.plays]
    return tuple(openspiel.trick_lines(plays, PLAYERS, state.core.leader)[first:])
