"""Skat with open cards: the result after each card with best play by both sides, and whether the game could be won.

The solver returns the soloist's card points at the end. The contract decides their worth. A result changes at 31, 61
and 90 card points, at the first trick and at the tenth. Each of these limits is a yes-or-no question, and more points
or tricks never hurt the soloist. So the best result that the soloist can be sure of is the value of the game.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from trickformer import _core, openspiel
from trickformer.games import _skat_open
from trickformer.games.skat import CARDS, NULL, PLAYERS, TRICKS
from trickformer.plumbing.progress import Advance
from trickformer.review.hand import ReviewHand
from trickformer.review.opened import OpenHandAnalysis, find_turning_points
from trickformer.review.result import Course, SolverVerdict

if TYPE_CHECKING:
    from trickformer.base import Game, State

_NOT_SCHNEIDER = 31  # card points
NOT_CARDS = "open cards rate only the play of cards, not bids, declarations and discards"


def solve_open_hand(hand: ReviewHand, advance: Advance) -> OpenHandAnalysis:
    """Solve a hand with open cards.

    Args:
        hand: Hand of Skat.
        advance: Called after each decision.

    Returns:
        The value of each card that could be played (own points less the others' mean), and the verdict.
    """
    turns = [(turn, state) for turn, state in hand.turns() if turn.trick is not None]
    notes = (NOT_CARDS,)
    if not turns:
        return OpenHandAnalysis({}, None, notes)
    game: Any = hand.game
    soloist: int = turns[0][1].core.soloist
    values: dict[int, dict[int, float]] = {}
    course: list[Course] = []
    after: dict[int, tuple[_core.skat.Result, int]] = {}
    for turn, state in turns:
        after = outlooks(state)
        values[turn.number] = {
            card: _skat_open.margin(result, turn.seat, game.seeger) for card, (result, _) in after.items()
        }
        choose = max if turn.seat == soloist else min
        course.append(
            Course(
                number=turn.number,
                trick=turn.trick,
                winnable=choose(result.won for result, _ in after.values()) and not hand.beyond_winning,
                points=choose(points for _, points in after.values()),
            )
        )
        advance()
    last, state = turns[-1]
    result, points = after[last.action]
    winnable = result.won and not hand.beyond_winning
    course.append(Course(number=last.number + 1, trick=None, winnable=winnable, points=points))
    turned = find_turning_points(hand.game, [turn for turn, _ in turns], course)
    won = False if hand.beyond_winning else result.won if state.child(last.action).is_terminal() else hand.won
    # If the game cannot be won any more, the last decision that changed this has lost it.
    went = turned[-1] if turned and won is False and not winnable else None
    line = next((_best_line(state) for turn, state in turns if went and turn.number == went.number), ())
    answer = SolverVerdict(
        by="solver",
        whose=f"the soloist (seat {soloist})",
        won=won,
        winnable=course[0].winnable,
        went=went,
        turned=turned,
        line=line,
        course=tuple(course),
    )
    return OpenHandAnalysis(values, answer, notes)


def outlooks(state: Any) -> dict[int, tuple[_core.skat.Result, int]]:
    """Solve the state after each legal card.

    Args:
        state: State of Skat in which a card is to be played.

    Returns:
        By card: the result that the soloist can be sure of, and the soloist's card points at the end (in a null game
        the card points of the skat).
    """
    cards, core = state.legal_actions(), state.core
    exact = _core.skat_solver.moves_exact(_skat_open.position(state))[0][0]
    by_card = {}
    for card in cards:
        child = state.child(card)
        if child.is_terminal():
            by_card[card] = child.result, child.result.points
        elif core.kind == NULL:
            points = _skat_open.points(core.skat)
            by_card[card] = _skat_open.settle_game(state, points, int(not exact[card])), points
        else:
            by_card[card] = _skat_open.settle_game(state, *_sure(child, int(exact[card]))), int(exact[card])
    return by_card


def certain(game: Game, state: State, seat: int, score: int) -> tuple[bool, list[int]] | None:
    """Prove that the soloist can reach a score or a better one.

    Args:
        game: Game of Skat.
        state: State of the game.
        seat: Seat that wants the score.
        score: Score to reach, in the units of the game's tables.

    Returns:
        Whether the soloist can reach the score, and if so actions to the end of the hand that do. None unless `seat`
        is the soloist and is to play a card: a defender cannot prove anything, because the partner is free to play
        any card.
    """
    rules, at = cast(Any, game), cast(Any, state)
    if at.phase != "play" or at.soloist != seat or at.current_player() != seat:
        return None

    def sure(card: int) -> int:
        return by_card[card][0].scores(rules.seeger)[seat]

    by_card, line = outlooks(at), list[int]()
    if max(map(sure, by_card)) < score:
        return False, line
    while not at.is_terminal():
        if at.current_player() == seat:
            by_card = outlooks(at)
        line.append(max(by_card, key=sure) if at.current_player() == seat else at.legal_actions()[0])
        at = at.child(line[-1])
    return True, line


def _sure(state: Any, points: int) -> tuple[int, int]:
    """Return card points and tricks that give the best result of a soloist who is sure of these card points."""
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
        by_card = outlooks(state)
        state.apply_action(
            max(by_card, key=lambda card: (sign * by_card[card][0].value, sign * by_card[card][1], -card))
        )
    plays = [(seat, CARDS[card]) for seat, card in state.plays]
    return tuple(openspiel.trick_lines(plays, PLAYERS, state.core.leader)[first:])
