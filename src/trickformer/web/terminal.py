"""A table on a terminal, for use over ssh: scenes as text, actions by number or name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from trickformer.base import TrickformerError
from trickformer.plumbing.terminal import out, say
from trickformer.records.show import in_words
from trickformer.web import scenes
from trickformer.web.cast import Cast, TimedDecision, make_cast, make_request
from trickformer.web.config import YOU, Play
from trickformer.web.scenes import Card, Scene
from trickformer.web.table import Table, open_table

_HELP = "number or name of an action; undo, again (the deal), next (deal), log, quit"


def play(settings: Play, resume: bool, read: Callable[[], str] | None = None) -> None:
    """Play at a table until the input ends or contains quit.

    Args:
        settings: Settings of the table.
        resume: Whether to continue the table of the folder.
        read: Returns a line of input, and raises EOFError at the end; None reads standard input.

    Raises:
        TrickformerError: The settings are bad.
    """
    cast = make_cast(settings)  # reports faults before anything is written
    with open_table(settings, resume) as table:
        print(_HELP)
        try:
            _play(table, cast, read or (lambda: input("> ")))
        except (EOFError, KeyboardInterrupt):
            print()
        print(f"scores of the match {_join_numbers(table.totals)}, {len(table.hands)} hands")


def _play(table: Table, cast: Cast, read: Callable[[], str]) -> None:
    printed = 0  # entries of the log
    ended = False  # whether the players have received the end of the hand
    while True:
        while table.turn is not None and table.seats[table.turn] != YOU:
            answer: TimedDecision = cast.decide(make_request(table))
            table.act(table.turn, answer.decision.action, answer.decision, answer.seconds)
        log = table.log(_person_seat(table))
        out("\n".join(f"  seat {seat}: {what}" for seat, what in log[printed:] if table.seats[seat] != YOU))
        printed = len(log)
        if table.over and not ended:
            cast.end(table.seats, tuple(map(int, table.state.history())))
        ended = table.over
        scene = scenes.show(table.game, table.state, _person_seat(table))
        out(as_text(scene, table))
        if table.over:
            out(in_words(table.game, table.state))
            print(f"scores {_join_numbers(table.game.scores(table.state))}; next for the next deal")
        while not _execute(table, scene, read().strip()):
            print(_HELP, file=sys.stderr)


def _person_seat(table: Table) -> int:
    """Return the person's seat on turn, or the person's first seat."""
    persons_seats = [p for p, who in enumerate(table.seats) if who == YOU]
    return next((p for p in persons_seats if p == table.turn), persons_seats[0])


def _execute(table: Table, scene: Scene, word: str) -> bool:
    """Execute a line of input. Return False if it names no possible action."""
    commands: dict[str, Callable[[], None]] = {"undo": table.undo, "again": table.again, "next": table.next_deal}
    try:
        if word == "quit":
            raise EOFError
        if word in commands:
            commands[word]()
            return True
        if word == "log":
            out("\n".join(f"seat {seat}: {what}" for seat, what in table.log(_person_seat(table))))
            return True
        action = _action(table, word)
        if action is None or table.turn is None:
            return False
        table.act(table.turn, action)
    except TrickformerError as e:
        say(str(e))
        return False
    return True


def _action(table: Table, word: str) -> int | None:
    """Return the legal action that a word names by its place in the list or by its name, or None."""
    legal = table.state.legal_actions() if not table.over else []
    if word.isascii() and word.isdecimal() and 1 <= int(word[:6]) <= len(legal):
        return legal[int(word) - 1]
    return next((a for a in legal if table.game.words(a).lower() == word.lower()), None)


def as_text(scene: Scene, table: Table) -> str:
    """Format a scene for a terminal.

    Args:
        scene: Scene of the table's state.
        table: The table.
    """
    return "\n".join(_lines(scene, table))


def _lines(scene: Scene, table: Table) -> Iterator[str]:
    yield " | ".join(filter(None, (f"deal {table.deal}", scene.title, *scene.features)))
    for seat in scene.seats:
        who = "you" if table.seats[seat.seat] == YOU else table.seats[seat.seat].partition(":")[0]
        features = ", ".join((*seat.features, *([seat.last_action] if seat.last_action else [])))
        backs = sum(not card.name for card in seat.cards)
        cards = f"{backs} cards" if backs and not any(c.notes for c in seat.cards) else " ".join(map(_card, seat.cards))
        yield f"  seat {seat.seat} ({who}{', ' + features if features else ''}): {cards}"
    for pile in scene.piles:
        place = "" if pile.seat is None else f"seat {pile.seat}, "
        yield f"  {place}{pile.title}: {' '.join(map(_card, pile.cards))}"
    for row in scene.board:
        yield "  " + " ".join(cell.text or "." for cell in row)
    if scene.text:
        yield scene.text
    if scene.trick:
        yield "  trick: " + " ".join(f"{p.seat}:{p.card.name}" for p in scene.trick)
    yield from scene.result
    if scene.ask:
        words = {choice.action: choice.words for choice in scene.choices}
        legal = enumerate(table.state.legal_actions(), 1)
        yield f"{scene.ask}: " + "  ".join(f"{i} {words.get(a) or table.game.words(a)}" for i, a in legal)


def _card(card: Card) -> str:
    notes = f"[{' '.join(card.notes)}]" if card.notes else ""
    return (card.name or ("-" if card.sign else "?")) + notes + ("*" if card.done else "")


def _join_numbers(scores: tuple[int, ...]) -> str:
    return " ".join(map(str, scores))
