"""The Crew with open hands: whether the mission can still be fulfilled after each card, and why it failed.

With open hands the four seats act as one player without an opponent. A mission that cannot be fulfilled any more stays
lost. The solver finds a line of play that fulfils it, proves that there is none, or gives up at its limit of cards.
"""

from __future__ import annotations

import copy
from typing import Any

from trickformer import _core, openspiel
from trickformer.games.crew import CARDS, DRAW, PLAYERS, RADIO, RADIO_CARD, SILENT
from trickformer.plumbing.progress import Advance
from trickformer.review.hand import ReviewHand
from trickformer.review.open_cards import OpenHandAnalysis, find_turning_points
from trickformer.review.result import CoursePoint, Verdict

NODES = 200_000  # largest number of cards tried to decide one state
_PLAY_ONLY = "open hands rate only the play of cards, not the choice of tasks and messages"


def solve_open_hand(hand: ReviewHand, advance: Advance) -> OpenHandAnalysis:
    """Solve a hand with open cards: whether the mission can still be fulfilled after each card that could be played.

    Args:
        hand: Hand of The Crew.
        advance: Called after each decision.

    Returns:
        The values and the verdict. A card has no value if the solver could not decide it.
    """
    game: Any = hand.game
    end: Any = hand.end()
    turns = [(turn, state) for turn, state in hand.turns() if turn.trick is not None]
    won = end.core.result > 0 if end.is_terminal() else None
    failures = tuple(game.failures(end)) if won is False else ()
    if not turns:
        return OpenHandAnalysis({}, None, (_PLAY_ONLY,))
    draws, solver = _draws(hand), _core.crew.Solver()
    values: dict[int, dict[int, float]] = {}
    course: list[CoursePoint] = []
    winnable = _can_fulfil(solver, turns[0][1].core, draws)
    for turn, state in turns:
        cores = [_after(state.core, card) for card in turn.legal]
        # A mission that cannot be fulfilled before a card cannot be fulfilled after it.
        fulfillable = (
            [False] * len(cores) if winnable is False else [_can_fulfil(solver, core, draws) for core in cores]
        )
        if winnable is None:
            winnable = True if any(fulfillable) else None if None in fulfillable else False
        course.append(CoursePoint(number=turn.number, trick=turn.trick, winnable=winnable))
        values[turn.number] = {c: float(x) * game.worth[0] for c, x in zip(turn.legal, fulfillable) if x is not None}
        winnable = fulfillable[turn.legal.index(turn.action)]
        advance()
    last = turns[-1][0]
    course.append(CoursePoint(number=last.number + 1, trick=None, winnable=winnable))
    turning_points = find_turning_points(game, [turn for turn, _ in turns], course)
    losing_step = turning_points[-1] if turning_points and won is False else None
    verdict = Verdict(
        by="solver",
        whose="the team",
        won=won,
        winnable=course[0].winnable,
        losing_step=losing_step,
        turning_points=turning_points,
        line=next(
            (
                _line(solver, s, values[t.number], draws)
                for t, s in turns
                if losing_step and t.number == losing_step.number
            ),
            (),
        ),
        why=failures,
        failed_in=len(end.core.winners) if won is False else None,
        course=tuple(course),
    )
    return OpenHandAnalysis(values, verdict, (_PLAY_ONLY,))


def _after(core: Any, card: int) -> Any:
    """Return the core's state after a card."""
    core = copy.copy(core)
    core.apply_action(card)
    return core


def _can_fulfil(solver: _core.crew.Solver, core: Any, draws: list[float] | None) -> bool | None:
    """Test whether the mission can be fulfilled from a state; None if the solver cannot decide it."""
    if core.is_terminal():
        return core.result > 0
    try:
        return solver.can_succeed(core, NODES, draws)
    except ValueError:  # the answer depends on draws that are not on record
        if draws is None:
            return None
        raise


def _draws(hand: ReviewHand) -> list[float] | None:
    """Return each seat's draw after the first trick, in missions with draws; None if the record holds no draw.

    The solver takes a draw as a number from 0 to 1: the place of the drawn card among the cards that could be drawn.
    """
    game: Any = hand.game
    if hand.source is not None:
        return game.draws(*hand.source)
    draws = [0.0] * PLAYERS
    has_draw = False
    for state, action in zip(hand.states(), hand.history):
        core: Any = state.core  # type: ignore[attr-defined]
        if core is not None and core.phase == DRAW:
            cards = core.legal_actions()
            draws[core.step], has_draw = (cards.index(action) + 0.5) / len(cards), True
    return draws if has_draw else None


def _line(
    solver: _core.crew.Solver, state: Any, values: dict[int, float], draws: list[float] | None
) -> tuple[str, ...]:
    """Return the tricks that fulfil the mission from a state, beginning with the first card of the current trick.

    `values` holds the values of the legal cards, the best of which fulfils the mission. The line starts with that card,
    because the solver could reach its limit of cards from the state itself.
    """
    first = len(state.core.plays) // PLAYERS
    core = _after(state.core, max(values, key=lambda card: values[card]))
    if not _can_fulfil(solver, core, draws):
        return ()
    for card in [] if core.is_terminal() else solver.line:
        while core.phase in (RADIO, RADIO_CARD, DRAW):
            cards = core.legal_actions()
            if core.phase == DRAW and draws:
                core.apply_action(cards[int(draws[core.step] * len(cards))])
            else:
                core.apply_action(SILENT if core.phase == RADIO else cards[0])
        core.apply_action(card)
    leaders = [core.commander, *core.winners]
    plays = [((leaders[i // PLAYERS] + i) % PLAYERS, CARDS[card]) for i, card in enumerate(core.plays)]
    return tuple(openspiel.trick_lines(plays, PLAYERS, core.leader)[first:])
