"""Skat with open cards: what each card brings if both sides then play their best, and whether the game could be won.

The solver says how many card points a soloist ends with. What that is worth follows from the contract: a result changes
at 31, 61 and 90 card points, at the first trick and at the tenth. Each is a question of yes or no, more of it is never
worse for the soloist, and so the best that he can be sure of is the value of the game."""

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
NOT_CARDS = "open cards rate the play of cards alone, not bids, declarations and the cards laid away"


def solve_open_hand(hand: ReviewHand, advance: Advance) -> OpenHandAnalysis:
    """The hand with open cards: of each card that could be played the result, own less the others' mean.

    advance: told of each decision."""
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
    # Whatever changed it last has lost the game, where it can be won no more.
    went = turned[-1] if turned and won is False and not winnable else None
    line = next((best_line(state) for turn, state in turns if went and turn.number == went.number), ())
    answer = SolverVerdict(
        by="solver",
        whose=f"the soloist, seat {soloist}",
        won=won,
        winnable=course[0].winnable,
        went=went,
        turned=turned,
        line=line,
        course=tuple(course),
    )
    return OpenHandAnalysis(values, answer, notes)


def outlooks(state: Any) -> dict[int, tuple[_core.skat.Result, int]]:
    """Of each card that may be played: the result that the soloist can then be sure of, and his card points at the end
    (of a null those in the skat).

    state: of the game, where a card is to be played."""
    cards, core = state.legal_actions(), state.core
    exact = _core.skat_solver.moves_exact(_skat_open.position(state))[0][0]
    found = {}
    for card in cards:
        child = state.child(card)
        if child.is_terminal():
            found[card] = child.result, child.result.points
        elif core.kind == NULL:
            points = _skat_open.points(core.skat)
            found[card] = _skat_open.settle_game(state, points, int(not exact[card])), points
        else:
            found[card] = _skat_open.settle_game(state, *_sure(child, int(exact[card]))), int(exact[card])
    return found


def certain(game: Game, state: State, seat: int, score: int) -> tuple[bool, list[int]] | None:
    """Whether the soloist, whose turn it is to play a card, can bring about that score or a better one, and if so a
    line to the end of the hand on which he does. None at any other turn: a defender's partner may do as he likes."""
    rules, at = cast(Any, game), cast(Any, state)
    if at.phase != "play" or at.soloist != seat or at.current_player() != seat:
        return None

    def sure(card: int) -> int:
        return found[card][0].scores(rules.seeger)[seat]

    found, line = outlooks(at), list[int]()
    if max(map(sure, found)) < score:
        return False, line
    while not at.is_terminal():
        if at.current_player() == seat:
            found = outlooks(at)
        line.append(max(found, key=sure) if at.current_player() == seat else at.legal_actions()[0])
        at = at.child(line[-1])
    return True, line


def _sure(state: Any, points: int) -> tuple[int, int]:
    """Card points and tricks that stand for the best result that the soloist can be sure of, who is sure of these card
    points."""
    core, complete = state.core, len(state.plays) // PLAYERS
    if points == _skat_open.ALL and core.soloists_tricks == complete and _can_take_tricks(state, TRICKS - complete):
        return points, TRICKS
    if points < _NOT_SCHNEIDER and not core.soloists_tricks and not _can_take_tricks(state, 1):
        return points, 0
    return points, 1


def _can_take_tricks(state: Any, tricks: int) -> bool:
    """Whether the soloist takes so many of the tricks that are not complete."""
    return bool(_core.skat_solver.tricks_at_least(_skat_open.position(state), tricks)[0][0])


def best_line(state: Any) -> tuple[str, ...]:
    """The tricks from a position on if both sides play their best with open cards: a result as good as can be, then
    as many card points, then the lowest card. The trick under way is told from its first card."""
    first, state = len(state.plays) // PLAYERS, state.clone()
    while not state.is_terminal():
        sign = 1 if state.current_player() == state.core.soloist else -1
        found = outlooks(state)
        state.apply_action(max(found, key=lambda card: (sign * found[card][0].value, sign * found[card][1], -card)))
    plays = [(seat, CARDS[card]) for seat, card in state.plays]
    return tuple(openspiel.trick_lines(plays, PLAYERS, state.core.leader)[first:])
