"""Hanabi: OpenSpiel's own game for two to five players. All seats are one team and share a score."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyspiel

from trickformer import _core
from trickformer.base import CHANCE, PUBLIC, Event, Outcomes, TrickformerError, View, deal_seed
from trickformer.games import _spiel

if TYPE_CHECKING:
    from trickformer.base import State

COLORS = "RYGWB"  # OpenSpiel's letters; a card's number is colour * ranks + rank, the rank counted from 0
RULES = {  # options of OpenSpiel's game -> those of the core
    "players": "players",
    "colors": "colors",
    "ranks": "ranks",
    "hand_size": "hand",
    "max_information_tokens": "hints",
    "max_life_tokens": "lives",
}
FIXED = {"observation_type": "card_knowledge", "random_start_player": False}  # options that may only say what is so
VARIANTS = (  # of two players in the literature
    "hanabi",
    "hanabi(max_information_tokens=2)",
    "hanabi(hand_size=7,max_information_tokens=4)",
)


class Hanabi:
    """The game `hanabi` of OpenSpiel.

    The score is the number of cards piled, and 0 once the lives are spent; it is the same for all seats. What a score
    is worth is its share of the highest, to every seat: a team has nobody to be compared with, so that the differences
    from opponents by which other games value results would all be 0."""

    name = "hanabi"
    higher_is_better = True

    def __init__(self, spiel: pyspiel.Game, rules: _core.hanabi.Rules):
        self.spiel = spiel
        self.rules = rules
        self.players: int = rules.players
        scores = np.arange(rules.kinds + 1)
        labels = tuple((int(score),) * self.players for score in scores)
        values = np.repeat((scores / rules.kinds)[:, None], self.players, axis=1)
        self.outcomes = Outcomes(labels, values.astype(np.float32))

    def view(self, state: State, viewer: int) -> View:
        """What `viewer` knows of a state whose hands are dealt.

        First the others' hands, from the left neighbour on, each with its cards from the oldest slot on; then moves.
        `seen` is the card of a play or a discard, and the slots that a hint names. A card that is drawn is an event of
        those who see it; that the viewer itself draws follows from its move. The public sees no hand."""
        rules, history = self.rules, state.full_history()
        dealt = self.players * rules.hand
        if len(history) < dealt:
            raise ValueError("a view begins when all hands are dealt")
        cards = [step.action for step in history[:dealt]]
        hands = [cards[rules.hand * p : rules.hand * (p + 1)] for p in range(self.players)]
        others = [] if viewer == PUBLIC else [(viewer + offset) % self.players for offset in range(1, self.players)]
        events = [Event(CHANCE, None, tuple(hands[p])) for p in others]
        actor = 0
        for step in history[dealt:]:
            action = step.action
            if step.player == CHANCE:
                hands[actor].append(action)
                if actor in others:
                    events.append(Event(CHANCE, action))
                continue
            actor = step.player
            if action < 2 * rules.hand:
                events.append(Event(actor, action, (hands[actor].pop(action % rules.hand),)))
            else:
                offset, color, rank = hint(rules, action)
                hand = hands[(actor + offset) % self.players]
                named = (
                    i for i, card in enumerate(hand) if divmod(card, rules.ranks)[rank is not None] in (color, rank)
                )
                events.append(Event(actor, action, tuple(named)))
        on_turn = viewer != PUBLIC and state.current_player() == viewer
        return View(viewer, tuple(events), tuple(state.legal_actions()) if on_turn else ())

    def hand(self, state: State, seat: int) -> list[int]:
        """The cards of a seat, the oldest first."""
        hand, dealt = self.rules.hand, self.players * self.rules.hand
        history, actor = state.full_history(), 0
        cards = [step.action for step in history[hand * seat : hand * (seat + 1)]]
        for step in history[dealt:]:
            if step.player != CHANCE:
                actor = step.player
            if actor == seat and step.player == CHANCE:
                cards.append(step.action)
            elif actor == seat and step.action < 2 * hand:
                cards.pop(step.action % hand)
        return cards

    def chance(self, state: State, seed: int) -> int:
        """The next card of a deck that `seed` has shuffled."""
        drawn = sum(step.player == CHANCE for step in state.full_history())
        return self.deck(seed)[drawn]

    def deck(self, seed: int) -> tuple[int, ...]:
        """All cards in the order of drawing."""
        rules = self.rules
        return _shuffle(seed, tuple(k for k in range(rules.kinds) for _ in range(rules.copies(k))))

    def deal(self, seed: int, index: int) -> State:
        """Deal `index` of series `seed`, at the first decision."""
        return _spiel.deal(self, self.spiel.new_initial_state(), deal_seed(seed, index))

    def scores(self, state: State) -> tuple[int, ...]:
        """The team's score, to all seats, int [players]. Raises ValueError before the end."""
        return _spiel.scores(state)

    def seatings(self, kinds: int) -> tuple[tuple[int, ...], ...]:
        """Each kind in all seats: scores are shared, so that a mixed table would compare nobody."""
        return tuple((kind,) * self.players for kind in range(kinds))


def hint(rules: _core.hanabi.Rules, action: int) -> tuple[int, int | None, int | None]:
    """Of a hint: how many seats further on its receiver sits, and the colour or the rank that it names."""
    number = action - 2 * rules.hand
    colors = (rules.players - 1) * rules.colors
    if number < colors:
        return 1 + number // rules.colors, number % rules.colors, None
    return 1 + (number - colors) // rules.ranks, None, (number - colors) % rules.ranks


def card_name(rules: _core.hanabi.Rules, card: int) -> str:
    """R1, or Y3: OpenSpiel's name of a card."""
    return f"{COLORS[card // rules.ranks]}{card % rules.ranks + 1}"


@lru_cache(maxsize=1024)
def _shuffle(seed: int, cards: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(np.random.default_rng(seed).permutation(cards).tolist())


def load(spec: str = "hanabi") -> Hanabi:
    """`hanabi`, or `hanabi(players=3,max_information_tokens=4)`. Raises TrickformerError on an option that does not
    exist or that cannot be played with.

    What is observed and who starts is fixed, and there is no `seed`: deals come from `chance`."""
    given = _spiel.options(spec, "hanabi", (*RULES, *FIXED))
    for option in given.keys() & FIXED.keys():
        if given[option] != FIXED[option]:
            raise TrickformerError(f"option {option} of hanabi can only be {FIXED[option]}, not {given[option]!r}")
        del given[option]
    for option, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise TrickformerError(f"option {option} of hanabi is a whole number, not {value!r}")
    try:
        rules = _core.hanabi.Rules(**{RULES[option]: value for option, value in _defaults(given).items()})
    except (ValueError, TypeError) as e:  # the latter of a number too large for the core
        raise TrickformerError(f"game {spec!r}: {str(e).splitlines()[0]}") from None
    return Hanabi(pyspiel.load_game("hanabi", given), rules)


def _defaults(given: dict[str, int]) -> dict[str, int]:
    """The options with OpenSpiel's hand size where there is none: five cards, from four players on four."""
    return {"hand_size": 5 if given.get("players", 2) < 4 else 4} | given
