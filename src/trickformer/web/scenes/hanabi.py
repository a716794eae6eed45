"""Scenes of Hanabi: the others' cards, and the knowledge from hints about all cards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trickformer.base import PUBLIC
from trickformer.games.hanabi import COLORS, NAMES, Hanabi, card_name, hint
from trickformer.plumbing.text import count_noun
from trickformer.web.scenes._cards import backs
from trickformer.web.scenes._scene import OPEN, Card, Effect, LogEntry, Option, Pile, Scene, Seat

if TYPE_CHECKING:
    from trickformer.base import State

# Places of the piles in a scene.
_FIREWORKS = 0
_DECK = 1
_DISCARDS = 2

_ORDINALS = ("first", "second", "third", "fourth", "fifth")

# Least score and verdict of the rule book.
_VERDICTS = (
    (25, "legendary, everyone is left speechless"),
    (21, "amazing, they will be talking about it for weeks"),
    (16, "excellent, crowd pleasing"),
    (11, "honourable, but will not be remembered for very long"),
    (6, "mediocre, just a hint of scattered applause"),
    (0, "horrible, booed by the crowd"),
)


class _Slot:
    """Knowledge from hints about one card."""

    def __init__(self, order: int) -> None:
        self.order = order  # place of the card in the order of drawing
        self.color: int | None = None
        self.rank: int | None = None
        self.no_colors: set[int] = set()
        self.no_ranks: set[int] = set()

    def add_hint(self, color: int | None, rank: int | None, is_named: bool) -> None:
        """Add a hint of a colour or a rank, which names this card or not."""
        if color is not None:
            if is_named:
                self.color = color
            else:
                self.no_colors.add(color)
        elif rank is not None:
            if is_named:
                self.rank = rank
            else:
                self.no_ranks.add(rank)

    @property
    def is_touched(self) -> bool:
        """Return whether a hint has named this card."""
        return self.color is not None or self.rank is not None

    def can_be(self, color: int, rank: int) -> bool:
        """Return whether the hints allow this colour and rank."""
        return (
            self.color in (None, color)
            and self.rank in (None, rank)
            and color not in self.no_colors
            and rank not in self.no_ranks
        )

    def notes(self) -> tuple[str, ...]:
        notes = []
        if self.color is not None:
            notes.append(NAMES[COLORS[self.color]])
        elif self.no_colors:
            notes.append("not " + "".join(COLORS[c] for c in sorted(self.no_colors)))
        if self.rank is not None:
            notes.append(str(self.rank + 1))
        elif self.no_ranks:
            notes.append("not " + "".join(str(r + 1) for r in sorted(self.no_ranks)))
        return tuple(notes)


def show(game: Hanabi, state: State, viewer: int, you: int | None) -> Scene:
    """Make the scene of a game after the deal.

    Args:
        game: The game.
        state: State whose cards are dealt.
        viewer: Seat, or OPEN for all cards face up.
        you: Seat that the reader plays and the words call "you", or None.
    """
    rules = game.rules
    slots = [[_Slot(seat * rules.hand + i) for i in range(rules.hand)] for seat in range(game.players)]
    piles = [0] * rules.colors
    discards = []
    hints, lives = rules.hints, rules.lives
    spent_hints = 0  # hints given or lost
    last_actions = {}
    effect = None
    moves = game.view(state, PUBLIC).events
    cards_in_game = sum(rules.copies(kind) for kind in range(rules.kinds))
    deck_size = cards_in_game - game.players * rules.hand
    for event in moves:
        assert event.action is not None
        seat, action = event.actor, event.action
        if action >= 2 * rules.hand:
            other, what = _hint_words(game, action, seat)
            hints, spent_hints = hints - 1, spent_hints + 1
            content = hint(rules, action)
            for i, slot in enumerate(slots[other]):
                slot.add_hint(content.color, content.rank, i in event.seen)
            last_actions[seat] = f"told {'you' if other == you else f'seat {other}'}: {what}"
            effect = Effect(seat=other, places=event.seen)
            continue
        color, rank = divmod(event.seen[0], rules.ranks)
        place = action % rules.hand
        slots[seat].pop(place)
        draws = deck_size and not (event is moves[-1] and state.is_terminal())  # nobody draws after the last action
        source = _DECK if draws else None
        if draws:
            slots[seat].append(_Slot(cards_in_game - deck_size))
            deck_size -= 1
        name = card_name(rules, event.seen[0])
        if action >= rules.hand and piles[color] == rank:
            piles[color] += 1
            is_complete = piles[color] == rules.ranks
            spent_hints += is_complete and hints == rules.hints
            hints = min(hints + is_complete, rules.hints)
            last_actions[seat] = f"played {name}"
            effect = Effect(seat=seat, places=(place,), pile=_FIREWORKS, at=color, source=source)
        else:
            discards.append(event.seen[0])
            at = sum(kind < event.seen[0] for kind in discards)
            effect = Effect(seat=seat, places=(place,), pile=_DISCARDS, at=at, source=source)
            played = action >= rules.hand
            hints, lives = hints + (not played), lives - played
            spent_hints += played
            last_actions[seat] = f"played {name}, which does not fit" if played else f"discarded {name}"
    on_turn = state.current_player()
    actions = state.legal_actions() if on_turn >= 0 and viewer in (on_turn, OPEN) else []
    seats = []
    for seat in range(game.players):
        faces = [card_of(game, c) for c in game.hand(state, seat)] if viewer != seat else []
        back_words = "your {}" if seat == you else f"{{}} of seat {seat}"
        cards = [
            (faces[i] if faces else Card(words=back_words.format(place_words(i, len(slots[seat]))))).model_copy(
                update={
                    "notes": slot.notes(),
                    "options": _options(game, state, seat, i) if actions else (),
                    "order": slot.order,
                }
            )
            for i, slot in enumerate(slots[seat][: len(faces) or None])
        ]
        seats.append(Seat(seat=seat, cards=tuple(cards), last_action=last_actions.get(seat, "")))
    fireworks = tuple(
        card_of(game, c * rules.ranks + height - 1)
        if height
        else Card(words=f"no {NAMES[COLORS[c]]} yet", sign=NAMES[COLORS[c]])
        for c, height in enumerate(piles)
    )
    discard_cards = tuple(card_of(game, c) for c in sorted(discards))
    return Scene(
        title="Hanabi",
        ask=_ask(hints, rules.hints) if on_turn == you else "",
        seats=tuple(seats),
        piles=(
            Pile(title="Fireworks", cards=fireworks, use="play"),
            Pile(title="Deck", cards=backs(deck_size), is_small=True),
            Pile(title="Discards", cards=discard_cards, is_small=True, use="discard"),
        ),
        effect=effect,
        features=(
            f"score {sum(piles) if lives else 0}",
            count_noun(hints, "hint"),
            "1 life" if lives == 1 else f"{lives} lives",
            *_statistics(game, piles, discards, slots, deck_size, spent_hints),
        ),
        result=_result(game, state, lives) if state.is_terminal() else (),
    )


def place_words(place: int, size: int) -> str:
    """Name a card by its place in a hand: "first card (oldest)".

    Args:
        place: Place in the hand, from 0.
        size: Number of cards in the hand.
    """
    age = " (oldest)" if place == 0 else " (newest)" if place == size - 1 else ""
    ordinal = _ORDINALS[place] if place < len(_ORDINALS) else f"{place + 1}th"
    return f"{ordinal} card{age}"


def _ask(hints: int, max_hints: int) -> str:
    """Return the request to the seat on turn, which names only what is legal."""
    uses = "play" if hints == max_hints else "play or discard"
    others = ", or another's to hint" if hints else ": no hint is left"
    return f"choose your card to {uses}{others}"


def _statistics(
    game: Hanabi, piles: list[int], discards: list[int], slots: list[list[_Slot]], deck_size: int, spent_hints: int
) -> Iterator[str]:
    """Describe pace and efficiency as the players of hanab.live count them (its manual, "Pace & Efficiency").

    Pace is the number of discards after which the highest reachable score is still possible. Efficiency is the number
    of cards that are played, or named by a hint and not known to be useless, for each hint given or lost. A hint is
    lost by a card that does not fit, and by a complete pile when no hint can be gained.

    Args:
        game: The game.
        piles: Height of each colour's pile.
        discards: Kinds of the cards that were discarded or played in vain.
        slots: Knowledge from hints about each seat's cards.
        deck_size: Number of cards in the deck.
        spent_hints: Number of hints given or lost.
    """
    rules = game.rules
    useful = []  # colours and ranks that can still be piled
    for color, height in enumerate(piles):
        for rank in range(height, rules.ranks):
            kind = color * rules.ranks + rank
            if discards.count(kind) == rules.copies(kind):
                break
            useful.append((color, rank))
    # The highest reachable score is the present one and the useful cards.
    yield f"pace {deck_size + game.players - len(useful)}" if deck_size else "the deck is empty"
    if spent_hints:
        hinted_cards = [slot for hand in slots for slot in hand if slot.is_touched]
        gotten = sum(piles) + sum(any(slot.can_be(*kind) for kind in useful) for slot in hinted_cards)
        yield f"efficiency {gotten / spent_hints:.2f}"


def log(game: Hanabi, state: State, viewer: int, you: int | None) -> tuple[LogEntry, ...]:
    """List the plays, discards and hints.

    Args:
        game: The game.
        state: State whose cards are dealt.
        viewer: Seat, or OPEN. All see the same entries.
        you: Seat that the reader plays and the words call "you", or None.
    """
    rules, heights = game.rules, [0] * game.rules.colors
    entries = []
    for event in game.view(state, PUBLIC).events:
        assert event.action is not None
        seat, action = event.actor, event.action
        if action >= 2 * rules.hand:
            receiver, what = _hint_words(game, action, seat)
            to = "you" if receiver == you else f"seat {receiver}"
            entries.append(LogEntry(seat=seat, words=f"hint to {to}: {what}, {count_noun(len(event.seen), 'card')}"))
            continue
        color, rank = divmod(event.seen[0], rules.ranks)
        words = "discard"
        if action >= rules.hand:
            fits = heights[color] == rank
            heights[color] += fits
            words = "play" if fits else "play in vain"
        entries.append(LogEntry(seat=seat, words=words, cards=(card_of(game, event.seen[0]),)))
    return tuple(entries)


def card_of(game: Hanabi, number: int) -> Card:
    """Make a card for display.

    Args:
        game: The game.
        number: Kind of card.
    """
    color, rank = divmod(number, game.rules.ranks)
    sign = NAMES[COLORS[color]]
    return Card(name=card_name(game.rules, number), words=f"{sign} {rank + 1}", rank=str(rank + 1), sign=sign)


def _result(game: Hanabi, state: State, lives: int) -> tuple[str, ...]:
    """Describe the result; the audience's verdict is that of the rule book, for five colours and five ranks."""
    score, most = game.scores(state)[0], game.rules.kinds
    if not lives:
        return ("The last life is lost, so the fireworks count nothing: 0 points.",)
    verdict = next(words for least, words in _VERDICTS if score >= least) if most == _VERDICTS[0][0] else ""
    return (f"The fireworks reach {score} of {most} points{verdict and f': {verdict}'}.",)


def _options(game: Hanabi, state: State, seat: int, place: int) -> tuple[Option, ...]:
    """List the uses of a card: to play or discard the own card, and the hints that name another seat's card."""
    rules, actor = game.rules, state.current_player()
    legal = state.legal_actions()
    if seat == actor:
        uses = (("play", place + rules.hand), ("discard", place))
        return tuple(Option(words=words, actions=(action,)) for words, action in uses if action in legal)
    kinds = [divmod(kind, rules.ranks) for kind in game.hand(state, seat)]
    color, rank = kinds[place]
    options = []
    for action in legal:
        content = hint(rules, action) if action >= 2 * rules.hand else None
        if content is None or (actor + content.offset) % game.players != seat:
            continue
        if content.color == color:
            lights = tuple(i for i, kind in enumerate(kinds) if kind[0] == color)
        elif content.rank == rank:
            lights = tuple(i for i, kind in enumerate(kinds) if kind[1] == rank)
        else:
            continue
        words = f"{_hint_words(game, action, actor)[1]}, {count_noun(len(lights), 'card')}"
        options.append(Option(words=words, actions=(action,), lights=lights))
    return tuple(options)


def _hint_words(game: Hanabi, action: int, actor: int) -> tuple[int, str]:
    """Return the seat that receives a hint, and the colour or rank of the hint in words."""
    content = hint(game.rules, action)
    words = NAMES[COLORS[content.color]] if content.color is not None else f"rank {(content.rank or 0) + 1}"
    return (actor + content.offset) % game.players, words
