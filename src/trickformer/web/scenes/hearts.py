"""Scenes of Hearts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from trickformer.games.hearts import (
    CARDS,
    DIRECTIONS,
    MOON,
    NUM_CARDS,
    PASSED,
    PLAYERS,
    QUEEN_OF_SPADES,
    TWO_OF_CLUBS,
    Hearts,
)
from trickformer.plumbing.text import count_noun
from trickformer.web.scenes._cards import (
    alternate_colours,
    backs,
    french,
    make_clickable,
    name_seats,
    trick_log,
    tricks,
)
from trickformer.web.scenes._scene import OPEN, Card, FinalHand, LogEntry, Pile, Scene, Seat, TrickCard

if TYPE_CHECKING:
    from trickformer.base import State

PACK_SIZE = NUM_CARDS
_DEALT = 1 + NUM_CARDS  # actions of the deal: the direction of the pass, and the cards
_PASS_WORDS = {"left": "to your left", "across": "across", "right": "to your right"}


def show(game: Hearts, state: State, viewer: int, you: int | None) -> Scene:
    """Make the scene of a hand after the deal.

    Args:
        game: The game.
        state: State whose cards are dealt.
        viewer: Seat, or OPEN for all cards face up.
        you: Seat that the reader plays and the words call "you", or None.
    """
    history = state.full_history()
    direction = history[0].action
    first = _DEALT + (PLAYERS * PASSED if direction else 0)  # place of the first played card in the history
    passes, plays = history[_DEALT:first], [(step.player, step.action) for step in history[first:]]
    passing = len(history) < first
    hands = _hands(history, direction, first)
    on_turn = state.current_player()
    actions = state.legal_actions() if on_turn >= 0 and viewer in (on_turn, OPEN) else []
    points, won = _count_points_and_tricks(game, plays)
    seats = []
    for seat in range(PLAYERS):
        own_cards = [(c, card(c)) for c in _sort(hands[seat])]
        shown = (
            make_clickable(own_cards, actions if seat == on_turn else ())
            if viewer in (seat, OPEN)
            else backs(_visible_count(own_cards, passing))
        )
        features = [count_noun(points[seat], "point"), count_noun(won[seat], "trick")] if not passing else []
        seats.append(Seat(seat=seat, cards=shown, features=tuple(features)))
    trick, last = tricks([TrickCard(seat=seat, card=card(c)) for seat, c in plays], PLAYERS)
    piles = []
    if viewer >= 0 and direction:
        passed = tuple(card(p.action) for p in passes if p.player == viewer)
        passer, verb = _name(viewer, you), "pass" if you == viewer else "passes"
        title = f"{passer} {verb}" if passing else f"{passer} passed"
        piles += [Pile(title=title, cards=passed, seat=viewer)] if passed else []
        giver = (viewer - direction) % PLAYERS
        received = tuple(card(p.action) for p in passes if p.player == giver)
        if not passing and len(plays) < PLAYERS:
            piles.append(Pile(title=f"{passer} received", cards=received, seat=viewer))
    ask, left = "", 0
    if passing:
        left = PASSED - sum(p.player == on_turn for p in passes)
        ask = f"pass {count_noun(left, 'more card')} {_PASS_WORDS[DIRECTIONS[direction]]}"
    elif on_turn >= 0:
        lead = "lead the two of clubs" if actions == [TWO_OF_CLUBS] else "lead a card"
        ask = "play a card" if trick else lead
        if trick and actions:
            led = CARDS.index(trick[0].card.name)
            holds_suit = any(CARDS[c][1] == CARDS[led][1] for c in actions)
            ask = "follow suit" if holds_suit else "play any card: you cannot follow suit"
    breaks = {c for c in range(NUM_CARDS) if CARDS[c][1] == "H"}
    breaks |= {QUEEN_OF_SPADES} if game.rules["qs_breaks_hearts"] else set()
    broken = "hearts are broken" if any(c in breaks for _, c in plays) else "hearts are not broken"
    number = min(len(plays) // PLAYERS + 1, NUM_CARDS // PLAYERS)
    return Scene(
        title=f"pass {DIRECTIONS[direction]}" if direction else "no pass",
        ask=ask if on_turn == you else "",
        pick=left if on_turn == viewer else 0,
        confirm="pass these cards" if on_turn == viewer and passing else "",
        seats=tuple(seats),
        trick=trick,
        last=last,
        taker=game.trick_result([(p.seat, CARDS.index(p.card.name)) for p in last])[0] if last else None,
        piles=tuple(piles),
        features=() if passing else (f"trick {number} of 13", broken),
        result=_result(game, state, you) if state.is_terminal() else (),
        hands=tuple(_final_hand(history, direction, seat) for seat in range(PLAYERS)) if state.is_terminal() else (),
    )


def log(game: Hearts, state: State, viewer: int, you: int | None) -> tuple[LogEntry, ...]:
    """List the passed cards that a seat knows, and the tricks.

    Args:
        game: The game.
        state: State whose cards are dealt.
        viewer: Seat, or OPEN for all cards face up.
        you: Seat that the reader plays and the words call "you", or None.
    """
    history = state.full_history()
    direction = history[0].action
    first = _DEALT + (PLAYERS * PASSED if direction else 0)
    giver = (viewer - direction) % PLAYERS
    entries = []
    for step in history[_DEALT:first]:
        if viewer in (step.player, OPEN):
            entries.append(LogEntry(seat=step.player, words="pass", cards=(card(step.action),)))
    if viewer != OPEN and direction and len(history) >= first:
        received = tuple(card(step.action) for step in history[_DEALT:first] if step.player == giver)
        entries.append(LogEntry(seat=giver, words=f"pass to {_name(viewer, you)}", cards=received))
    plays = [(step.player, step.action) for step in history[first:]]
    takers = []
    for start in range(0, len(plays) - PLAYERS + 1, PLAYERS):
        taker, points = game.trick_result(plays[start : start + PLAYERS])
        takers.append(LogEntry(taker=taker, words=count_noun(points, "point")))
    return (*entries, *trick_log([TrickCard(seat=seat, card=card(c)) for seat, c in plays], PLAYERS, takers))


def card(number: int) -> Card:
    """Make a card for display.

    Args:
        number: Number of the card in the deck.
    """
    rank, suit = CARDS[number]
    return french(CARDS[number], suit, rank)


def _name(seat: int, you: int | None) -> str:
    return "you" if seat == you else f"seat {seat}"


def _final_hand(history: list[Any], direction: int, seat: int) -> FinalHand:
    """Return the cards that a seat was dealt, passed and received."""
    passes = history[_DEALT : _DEALT + PLAYERS * PASSED] if direction else []
    giver = (seat - direction) % PLAYERS
    piles = {
        "dealt": [step.action for step in history[1 + seat : _DEALT : PLAYERS]],
        "passed": [step.action for step in passes if step.player == seat],
        "received": [step.action for step in passes if step.player == giver],
    }
    shown = [Pile(title=title, cards=tuple(map(card, _sort(cards)))) for title, cards in piles.items() if cards]
    return FinalHand(seat=seat, piles=tuple(shown))


def _sort(cards: Iterable[int]) -> list[int]:
    """Sort a hand by suit, with alternating colours, and by rank within a suit."""
    cards = list(cards)
    suits = alternate_colours([CARDS[c][1] for c in cards], "CDSH")
    return sorted(cards, key=lambda c: (suits.index(CARDS[c][1]), c))


def _visible_count(own_cards: list[tuple[int, Card]], passing: bool) -> int:
    """Count the cards of a seat as the others see it: passed cards change hands after the last seat has passed."""
    return NUM_CARDS // PLAYERS if passing else len(own_cards)


def _hands(history: list[Any], direction: int, first: int) -> list[set[int]]:
    """Return the cards in each hand, without cards that were chosen to be passed."""
    hands = [{step.action for step in history[1 + p : _DEALT : PLAYERS]} for p in range(PLAYERS)]
    for step in history[_DEALT:first]:
        hands[step.player].remove(step.action)
    if len(history) >= first:
        for step in history[_DEALT:first]:
            hands[(step.player + direction) % PLAYERS].add(step.action)
    for step in history[first:]:
        hands[step.player].remove(step.action)
    return hands


def _result(game: Hearts, state: State, you: int | None) -> tuple[str, ...]:
    """Describe the result: a shot moon, or the seats with the fewest points."""
    scores = game.scores(state)
    if min(scores) <= -MOON:
        shooter = scores.index(min(scores))
        verb = "have" if shooter == you else "has"
        return (f"{name_seats([shooter], you)} {verb} shot the moon: {min(scores)} points, and the others 0.",)
    best = [seat for seat in range(PLAYERS) if scores[seat] == min(scores)]
    verb = "has" if len(best) == 1 and best[0] != you else "have"
    return (f"{name_seats(best, you)} {verb} the fewest points: {min(scores)}.",)


def _count_points_and_tricks(game: Hearts, plays: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Count the points and tricks of each seat in complete tricks."""
    points, won = [0] * PLAYERS, [0] * PLAYERS
    for start in range(0, len(plays) - PLAYERS + 1, PLAYERS):
        trick = plays[start : start + PLAYERS]
        leader, worth = game.trick_result(trick)
        points[leader] += worth
        won[leader] += 1
    return points, won
