"""The Crew with open hands: whether the mission can still be fulfilled after each card, and why it failed.

With open hands the four are one player without an opponent, and a mission that cannot be fulfilled any more stays so.
The solver finds a line of play, or that there is none, or runs out of cards to try."""

from __future__ import annotations

import copy
from typing import Any

from trickformer import _core, openspiel
from trickformer.games.crew import CARDS, DRAW, PLAYERS, RADIO, RADIO_CARD, SILENT
from trickformer.plumbing.progress import Advance
from trickformer.review.hand import ReviewHand
from trickformer.review.opened import OpenHandAnalysis, find_turning_points
from trickformer.review.result import Course, SolverVerdict

NODES = 200_000  # cards tried for a question
NOT_CARDS = "open hands rate the play of cards alone, not the tasks taken and the messages sent"


def solve_open_hand(hand: ReviewHand, advance: Advance) -> OpenHandAnalysis:
    """The hand with open cards: of each card that could be played whether the mission can then be fulfilled.

    Cards of which it is not known have no value. advance: told of each decision."""
    game: Any = hand.game
    end: Any = hand.end()
    turns = [(turn, state) for turn, state in hand.turns() if turn.trick is not None]
    won = end.core.result > 0 if end.is_terminal() else None
    why = tuple(game.failures(end)) if won is False else ()
    if not turns:
        return OpenHandAnalysis({}, None, (NOT_CARDS,))
    draws, solver = _draws(hand), _core.crew.Solver()
    values: dict[int, dict[int, float]] = {}
    course: list[Course] = []
    winnable = _can(solver, turns[0][1].core, draws)
    for turn, state in turns:
        cores = [_after(state.core, card) for card in turn.legal]
        # What cannot be fulfilled before a card cannot be fulfilled after it.
        said = [False] * len(cores) if winnable is False else [_can(solver, core, draws) for core in cores]
        if winnable is None:
            winnable = True if any(said) else None if None in said else False
        course.append(Course(number=turn.number, trick=turn.trick, winnable=winnable))
        values[turn.number] = {c: float(x) * game.worth[0] for c, x in zip(turn.legal, said) if x is not None}
        winnable = said[turn.legal.index(turn.action)]
        advance()
    last = turns[-1][0]
    course.append(Course(number=last.number + 1, trick=None, winnable=winnable))
    turned = find_turning_points(game, [turn for turn, _ in turns], course)
    went = turned[-1] if turned and won is False else None
    answer = SolverVerdict(
        by="solver",
        whose="the team",
        won=won,
        winnable=course[0].winnable,
        went=went,
        turned=turned,
        line=next(
            (_line(solver, s, values[t.number], draws) for t, s in turns if went and t.number == went.number), ()
        ),
        why=why,
        failed_in=len(end.core.winners) if won is False else None,
        course=tuple(course),
    )
    return OpenHandAnalysis(values, answer, (NOT_CARDS,))


def _after(core: Any, card: int) -> Any:
    """The core's state after a card."""
    core = copy.copy(core)
    core.apply_action(card)
    return core


def _can(solver: _core.crew.Solver, core: Any, draws: list[float] | None) -> bool | None:
    """Whether the mission can be fulfilled from a state; None where it is not known."""
    if core.is_terminal():
        return core.result > 0
    try:
        return solver.can_succeed(core, NODES, draws)
    except ValueError:  # it depends on draws, and they are not on record
        if draws is None:
            return None
        raise


def _draws(hand: ReviewHand) -> list[float] | None:
    """What is drawn after the first trick, as the solver has it: the place of each seat's card among those that it
    could be; None where nothing was drawn on record."""
    game: Any = hand.game
    if hand.source is not None:
        return game.draws(*hand.source)
    found = [0.0] * PLAYERS
    known = False
    for state, action in zip(hand.states(), hand.history):
        core: Any = state.core  # type: ignore[attr-defined]
        if core is not None and core.phase == DRAW:
            cards = core.legal_actions()
            found[core.step], known = (cards.index(action) + 0.5) / len(cards), True
    return found if known else None


def _line(
    solver: _core.crew.Solver, state: Any, values: dict[int, float], draws: list[float] | None
) -> tuple[str, ...]:
    """The tricks by which the mission is fulfilled from a state, that under way from its first card on.

    values: of the cards that may be played there, one of which fulfils it. That one is taken, and not the solver asked
    of the state itself: it may have found no line from there with as many cards to try."""
    first = len(state.core.plays) // PLAYERS
    core = _after(state.core, max(values, key=lambda card: values[card]))
    if not _can(solver, core, draws):
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
