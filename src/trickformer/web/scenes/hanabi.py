"""Hanabi, as a seat sees it: the others' cards, and of all cards what hints have said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trickformer.base import PUBLIC
from trickformer.games.hanabi import COLORS, NAMES, Hanabi, card_name, hint
from trickformer.web.scenes._cards import some
from trickformer.web.scenes._scene import OPEN, Card, Choice, Pile, Scene, Seat

if TYPE_CHECKING:
    from trickformer.base import State


class _Slot:
    """What hints have said of a card, in words."""

    def __init__(self) -> None:
        self.color: int | None = None
        self.rank: int | None = None
        self.no_colors: set[int] = set()
        self.no_ranks: set[int] = set()

    def hear(self, color: int | None, rank: int | None, named: bool) -> None:
        if color is not None:
            if named:
                self.color = color
            else:
                self.no_colors.add(color)
        elif rank is not None:
            if named:
                self.rank = rank
            else:
                self.no_ranks.add(rank)

    def notes(self) -> tuple[str, ...]:
        said = []
        if self.color is not None:
            said.append(NAMES[COLORS[self.color]])
        elif self.no_colors:
            said.append("not " + "".join(COLORS[c] for c in sorted(self.no_colors)))
        if self.rank is not None:
            said.append(str(self.rank + 1))
        elif self.no_ranks:
            said.append("not " + "".join(str(r + 1) for r in sorted(self.no_ranks)))
        return tuple(said)


def show(game: Hanabi, state: State, viewer: int) -> Scene:
    """A game whose hands are dealt."""
    rules = game.rules
    slots = [[_Slot() for _ in range(rules.hand)] for _ in range(game.players)]
    piles, discards, hints, lives, said = [0] * rules.colors, [], rules.hints, rules.lives, {}
    moves = game.view(state, PUBLIC).events
    left = sum(rules.copies(kind) for kind in range(rules.kinds)) - game.players * rules.hand
    for event in moves:
        assert event.action is not None
        seat, action = event.actor, event.action
        if action >= 2 * rules.hand:
            offset, color, rank = hint(rules, action)
            other = (seat + offset) % game.players
            hints -= 1
            for i, slot in enumerate(slots[other]):
                slot.hear(color, rank, i in event.seen)
            what = NAMES[COLORS[color]] if color is not None else str((rank or 0) + 1)
            said[seat] = f"told seat {other}: {what}"
            continue
        color, rank = divmod(event.seen[0], rules.ranks)
        slots[seat].pop(action % rules.hand)
        if left:
            slots[seat].append(_Slot())
            left -= 1
        name = card_name(rules, event.seen[0])
        if action >= rules.hand and piles[color] == rank:
            piles[color] += 1
            hints = min(hints + (piles[color] == rules.ranks), rules.hints)
            said[seat] = f"played {name}"
        else:
            discards.append(event.seen[0])
            played = action >= rules.hand
            hints, lives = hints + (not played), lives - played
            said[seat] = f"played {name}, which does not fit" if played else f"discarded {name}"
    on_turn = state.current_player()
    actions = state.legal_actions() if on_turn >= 0 and viewer in (on_turn, OPEN) else []
    seats = []
    for seat in range(game.players):
        faces = [card(game, c) for c in game.hand(state, seat)] if viewer != seat else []
        cards = [
            (faces[i] if faces else Card(words=f"your card {i}")).model_copy(update={"notes": slot.notes()})
            for i, slot in enumerate(slots[seat][: len(faces) or None])
        ]
        seats.append(Seat(seat=seat, cards=tuple(cards), said=said.get(seat, "")))
    fireworks = tuple(
        card(game, c * rules.ranks + height - 1)
        if height
        else Card(words=f"no {NAMES[COLORS[c]]} yet", sign=NAMES[COLORS[c]])
        for c, height in enumerate(piles)
    )
    gone = tuple(card(game, c) for c in sorted(discards))
    deck = f"{some(left, 'card')} in the deck"
    return Scene(
        title="Hanabi",
        ask="play, discard or give a hint" if on_turn == viewer else "",
        seats=tuple(seats),
        piles=(Pile(title="Fireworks", cards=fireworks), *([Pile(title="Discards", cards=gone)] if gone else [])),
        choices=tuple(_choice(game, a, on_turn) for a in actions),
        features=(some(sum(piles), "point"), some(hints, "hint"), "1 life" if lives == 1 else f"{lives} lives", deck),
    )


def card(game: Hanabi, number: int) -> Card:
    """A kind of card."""
    color, rank = divmod(number, game.rules.ranks)
    sign = NAMES[COLORS[color]]
    return Card(name=card_name(game.rules, number), words=f"{sign} {rank + 1}", rank=str(rank + 1), sign=sign)


def _choice(game: Hanabi, action: int, actor: int) -> Choice:
    rules = game.rules
    if action < rules.hand:
        return Choice(action=action, words=f"discard card {action}", group="discard")
    if action < 2 * rules.hand:
        return Choice(action=action, words=f"play card {action - rules.hand}", group="play")
    offset, color, rank = hint(rules, action)
    what = NAMES[COLORS[color]] if color is not None else str((rank or 0) + 1)
    seat = (actor + offset) % game.players
    return Choice(action=action, words=f"tell seat {seat}: {what}", group=f"hint to seat {seat}")
