"""A table on a terminal, for use over ssh: scenes as text, actions by number or name.

Cards have the signs and colours of their suits if the encoding and the terminal have them (`NO_COLOR` is honoured).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from trickformer.base import TrickformerError
from trickformer.plumbing.terminal import SafeConsole, console, out, say
from trickformer.plumbing.text import count_noun
from trickformer.records.show import in_words
from trickformer.web import scenes
from trickformer.web.cast import Cast, TimedDecision, make_cast, make_request
from trickformer.web.config import YOU, Play
from trickformer.web.scenes import Card, LogEntry, Scene
from trickformer.web.scenes._scene import Sign
from trickformer.web.table import Table, open_table

if TYPE_CHECKING:
    from trickformer.base import Game, State

# Explanations of the words and signs in a position, by game.
KEYS = {
    "hanabi": "pace: discards that still leave the highest score in reach. efficiency: cards played, or hinted and "
    "still useful, for each hint given or lost (a card that does not fit loses one).",
    "crew": "tasks: * marks a task that is fulfilled.",
}
_HELP = "number or name of an action, or of each of several cards; undo, again (the deal), next (deal), log, quit"
_SUITS: dict[Sign, tuple[str, str]] = {  # letter in the names of cards, and symbol
    "clubs": ("C", "♣"),
    "diamonds": ("D", "♦"),
    "hearts": ("H", "♥"),
    "spades": ("S", "♠"),
}
_STYLES: dict[Sign, str] = {
    "diamonds": "red",
    "hearts": "red",
    "red": "red",
    "pink": "magenta",
    "blue": "bright_blue",
    "green": "green",
    "yellow": "yellow",
    "rocket": "bold",
    "white": "bold",
}


class ShownPosition(NamedTuple):
    """State behind a scene, with the names of the seats."""

    game: Game
    state: State
    seats: tuple[str, ...]  # name or spec of each seat; YOU stands for the person
    label: str  # begins the first line, such as "deal 7"


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
        if key := KEYS.get(table.game.name):
            print(key)
        try:
            _play(table, cast, read or (lambda: input("> ")), console())
        except (EOFError, KeyboardInterrupt):
            print()
        by_player = [(table.seats[seat], table.totals[seat]) for seat in map(table.seat_now, range(table.game.players))]
        scores = ", ".join(f"{who.partition(':')[0]} {score}" for who, score in by_player)
        out(f"scores of the match: {scores} ({count_noun(len(table.hands), 'hand')})")


def _play(table: Table, cast: Cast, read: Callable[[], str], screen: SafeConsole) -> None:
    symbols = has_suits(screen.encoding)
    printed, deal = 0, table.deal  # entries of the log that are printed, and their deal
    ended = False  # whether the players have received the end of the hand
    while True:
        # The log is shorter after `undo` and `again`. What happens from here on is printed, as if for the first time.
        printed = min(printed, len(scenes.log(table.game, table.state, _person_seat(table))))
        while table.turn is not None and table.seats[table.turn] != YOU:
            answer: TimedDecision = cast.decide(make_request(table))
            table.act(table.turn, answer.decision.action, answer.decision, answer.seconds)
        me = _person_seat(table)
        log = scenes.log(table.game, table.state, me)
        if table.deal != deal:
            printed, deal = 0, table.deal
        for entry in log[printed:]:
            if entry.seat is None or table.seats[entry.seat] != YOU:
                screen.print(Text("  ") + entry_text(entry, me, symbols), soft_wrap=True)
        printed = len(log)
        if table.over and not ended:
            cast.end(table.seats, tuple(map(int, table.state.history())))
        ended = table.over
        scene = scenes.show(table.game, table.state, me)
        screen.print(as_text(scene, table, symbols), soft_wrap=True)
        if table.over:
            out(in_words(table.game, table.state))
            print(f"scores {_join_numbers(table.game.scores(table.state))}; next for the next deal")
        while not _execute(table, scene, word := read().strip(), screen):
            print(f"{word!r} is not possible here; type a {_HELP}" if word else _HELP, file=sys.stderr)


def _person_seat(table: Table) -> int:
    """Return the person's seat on turn, or the person's first seat."""
    return next((seat for seat in table.people if seat == table.turn), table.people[0])


def _execute(table: Table, scene: Scene, word: str, screen: SafeConsole) -> bool:
    """Execute a line of input. Return False if it names no possible action."""
    commands: dict[str, Callable[[], object]] = {"undo": table.undo, "again": table.again, "next": table.next_deal}
    try:
        if word == "quit":
            raise EOFError
        if word in commands:
            commands[word]()
            return True
        if word == "log":
            me = _person_seat(table)
            for entry in scenes.log(table.game, table.state, me):
                screen.print(entry_text(entry, me, has_suits(screen.encoding)), soft_wrap=True)
            return True
        actions = _find_actions(_position(table), scene, word)
        if not actions or table.turn is None:
            return False
        seat = table.turn
        for action in actions:
            table.act(seat, action)
    except TrickformerError as e:
        say(str(e))
        return False
    return True


def _position(table: Table) -> ShownPosition:
    return ShownPosition(table.game, table.state, table.seats, f"deal {table.deal}")


def _find_actions(position: ShownPosition, scene: Scene, line: str) -> list[int]:
    """Find the actions of a line, which may name several cards that are chosen together; none if a word is wrong."""
    words = line.split() if scene.pick > 1 else [line]
    actions = [action for word in words if (action := find_action(position, scene, word)) is not None]
    return actions if len(set(actions)) == len(words) <= max(scene.pick, 1) else []


def find_action(position: ShownPosition, scene: Scene, word: str) -> int | None:
    """Find the legal action that a word names by its place in the list or by its name.

    Args:
        position: The position.
        scene: Scene of the seat on turn.
        word: Word that the person has typed.

    Returns:
        The action; None if the word names no action.
    """
    state = position.state
    legal = ordered_actions(scene, state) if not state.is_terminal() else []
    if word.isascii() and word.isdecimal() and 1 <= int(word[:6]) <= len(legal):
        return legal[int(word) - 1]
    for letter, symbol in _SUITS.values():
        word = word.replace(symbol, letter)
    return next((a for a in legal if position.game.words(a).lower() == word.lower()), None)


def ordered_actions(scene: Scene, state: State) -> list[int]:
    """List the legal actions in the order of the scene: first the cards of the hand, as they are sorted.

    Args:
        scene: Scene of the seat on turn.
        state: State of the hand.
    """
    seats = sorted(scene.seats, key=lambda seat: seat.seat != state.current_player())
    cards = [card for part in (*seats, *scene.piles) for card in part.cards]
    shown: list[int | None] = []
    for card in cards:
        shown += [card.action, *(option.actions[0] for option in card.options)]
    shown += [item.action for item in (*(cell for row in scene.board for cell in row), *scene.choices, *scene.ladder)]
    legal: list[int] = state.legal_actions()
    return list(dict.fromkeys([*(a for a in shown if a is not None and a in legal), *legal]))


def has_suits(encoding: str) -> bool:
    """Test whether an encoding has the symbols of the suits.

    Args:
        encoding: Name of the encoding of the output.
    """
    try:
        "".join(symbol for _, symbol in _SUITS.values()).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def as_text(scene: Scene, table: Table, symbols: bool = True) -> Text:
    """Format a scene for a terminal.

    Args:
        scene: Scene of the table's state.
        table: The table.
        symbols: Whether suits are shown by their symbols instead of letters.
    """
    return position_text(scene, _position(table), symbols)


def position_text(scene: Scene, position: ShownPosition, symbols: bool = True) -> Text:
    """Format a scene of a position for a terminal.

    Args:
        scene: Scene of the position's state.
        position: The position.
        symbols: Whether suits are shown by their symbols instead of letters.
    """
    return Text("\n").join(_lines(scene, position, symbols))


def _lines(scene: Scene, position: ShownPosition, symbols: bool) -> Iterator[Text]:
    yield Text(" | ".join(filter(None, (position.label, scene.title, *scene.features))))
    for seat in scene.seats:
        name = position.seats[seat.seat]
        who = "you" if name == YOU else name.partition(":")[0]
        features = ", ".join((*seat.features, *([seat.last_action] if seat.last_action else [])))
        line = Text(f"  seat {seat.seat} ({who}{', ' + features if features else ''})")
        # A game with a board, such as Mines, has no hands, and a game of another package may show them as text.
        yield (
            line
            if scene.board or (scene.text and not seat.cards)
            else line + Text(": ") + _hand_text(seat.cards, symbols)
        )
    for pile in scene.piles:
        place = "" if pile.seat is None else f"seat {pile.seat}, "
        yield Text(f"  {place}{pile.title}: ") + _hand_text(pile.cards, symbols)
    for row in scene.board:
        yield Text("  " + " ".join(cell.text or "." for cell in row))
    if scene.text:
        yield Text(scene.text)
    if scene.trick:
        played = [Text(f"{p.seat}:") + _card_text(p.card, symbols) for p in scene.trick]
        yield Text("  trick: ") + Text(" ").join(played)
    yield from map(Text, scene.result)
    if scene.ask:
        yield Text(f"{scene.ask}: ") + Text("  ").join(_choice_texts(scene, position, symbols))


def _choice_texts(scene: Scene, position: ShownPosition, symbols: bool) -> Iterator[Text]:
    """Format the legal actions with their numbers."""
    cards = {card.action: card for part in (*scene.seats, *scene.piles) for card in part.cards if card.name}
    words = {choice.action: choice.words for choice in scene.choices}
    for number, action in enumerate(ordered_actions(scene, position.state), 1):
        named = position.game.words(action)
        card = cards.get(action)
        is_card = card is not None and card.name == named
        text = _card_text(card, symbols) if card is not None and is_card else Text(words.get(action) or named)
        yield Text(f"{number} ") + text


def entry_text(entry: LogEntry, me: int, symbols: bool) -> Text:
    """Format an entry of the log.

    Args:
        entry: The entry.
        me: Seat of the person.
        symbols: Whether suits are shown by their symbols instead of letters.
    """
    what = Text(" ").join(filter(None, (Text(entry.words), _card_texts(entry.cards, symbols))))
    if entry.taker is not None:
        take = "you take it" if entry.taker == me else f"seat {entry.taker} takes it"
        return Text(", ").join(filter(None, (Text(take), what)))
    return what if entry.seat is None else Text(f"{'you' if entry.seat == me else f'seat {entry.seat}'}: ") + what


def _hand_text(cards: Sequence[Card], symbols: bool) -> Text:
    """Format the cards of a hand or a pile; hidden cards of which nothing is known are only counted."""
    if any(card.name or card.notes or card.sign for card in cards):
        return _card_texts(cards, symbols)
    return Text(count_noun(len(cards), "card"))


def _card_texts(cards: Sequence[Card], symbols: bool) -> Text:
    return Text(" ").join(_card_text(card, symbols) for card in cards)


def _card_text(card: Card, symbols: bool) -> Text:
    name = card.name or ("-" if card.sign else "?")
    if symbols and card.sign in _SUITS:
        name = name.replace(*_SUITS[card.sign], 1)
    notes = f"[{' '.join(card.notes)}]" if card.notes else ""
    return Text(name, style=_STYLES.get(card.sign, "") if card.name else "") + Text(notes + ("*" if card.done else ""))


def _join_numbers(scores: tuple[int, ...]) -> str:
    return " ".join(map(str, scores))
