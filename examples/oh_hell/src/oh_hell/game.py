"""Oh Hell for three to five players. README.md has the rules.

The game is registered with OpenSpiel as `trickformer_oh_hell`, because OpenSpiel has an `oh_hell` of its own with other
rules.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyspiel

from trickformer import openspiel
from trickformer.base import CHANCE, PUBLIC, Event, Game, Outcomes, Tokenizer, TrickformerError, View

if TYPE_CHECKING:
    from trickformer.base import State

NUM_CARDS = 52
SUITS = "CDHS"
RANKS = "23456789TJQKA"
CARDS = tuple(rank + suit for suit in SUITS for rank in RANKS)  # card = suit * 13 + rank
BID = NUM_CARDS  # action of the bid 0; lower actions play a card
LIMITS = {"players": (3, 5), "cards": (1, 10)}
DEFAULTS = {"players": 4, "cards": 5}
MADE = 10  # points for an exact bid, besides 1 point a trick


def suit_of(card: int) -> int:
    """Return the suit of a card.

    Args:
        card: Number of the card.

    Returns:
        0 to 3, in the order of SUITS.
    """
    return card // len(RANKS)


def winner(trick: list[int], trump: int) -> int:
    """Return which card takes a trick.

    Args:
        trick: Cards in the order of play, at least one.
        trump: Suit of the trumps.

    Returns:
        Index in the trick, 0 for the leader's card.
    """
    led = suit_of(trick[0])
    return max(range(len(trick)), key=lambda i: (suit_of(trick[i]) == trump, suit_of(trick[i]) == led, trick[i]))


def forbidden_bid(bids: list[int], players: int, cards: int) -> int | None:
    """Return the bid that the rules forbid to the next player. Only the last player's bid is restricted.

    Args:
        bids: Bids of the players before it.
        players: Number of players.
        cards: Number of cards in a hand.

    Returns:
        Number of tricks; None if all bids are allowed.
    """
    left = cards - sum(bids)
    return left if len(bids) == players - 1 and left >= 0 else None


class OhHellGame(pyspiel.Game):
    """OpenSpiel's game `trickformer_oh_hell`, with the parameters `players` and `cards`."""

    def __init__(self, params: dict[str, Any] | None = None):
        parameters = DEFAULTS | (params or {})
        self.players, self.cards = parameters["players"], parameters["cards"]
        info = pyspiel.GameInfo(
            num_distinct_actions=BID + self.cards + 1,
            max_chance_outcomes=NUM_CARDS,
            num_players=self.players,
            min_utility=0.0,
            max_utility=float(MADE + self.cards),
            max_game_length=self.players * (1 + self.cards),
        )
        super().__init__(_TYPE, info, parameters)

    def new_initial_state(self) -> OhHellState:
        return OhHellState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> openspiel.Observer:
        return openspiel.Observer(_text, iig_obs_type, params)  # returns strings, but no tensors


class OhHellState(pyspiel.State):
    """State of a deal. Chance deals the hands in the order of the seats and then turns up the trump card."""

    def __init__(self, game: OhHellGame):
        super().__init__(game)
        self.players, self.cards = game.players, game.cards
        self.deck: list[int] = []  # cards in the order in which chance dealt them
        self.hands: list[list[int]] = [[] for _ in range(game.players)]
        self.bids: list[int] = []
        self.taken = [0] * game.players
        self.leader = 0
        self.trick: list[int] = []

    @property
    def is_dealt(self) -> bool:
        """Return whether the trump card has been turned up."""
        return len(self.deck) > self.players * self.cards

    @property
    def trump(self) -> int:
        """Suit of the trumps."""
        return suit_of(self.deck[-1])

    def current_player(self) -> int:
        if not self.is_dealt:
            return pyspiel.PlayerId.CHANCE
        if self.is_terminal():
            return pyspiel.PlayerId.TERMINAL
        if len(self.bids) < self.players:
            return len(self.bids)
        return (self.leader + len(self.trick)) % self.players

    def is_terminal(self) -> bool:
        return sum(self.taken) == self.cards

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the cards that are not dealt yet, each with the same probability."""
        left = sorted(set(range(NUM_CARDS)) - set(self.deck))
        return [(card, 1 / len(left)) for card in left]

    def _legal_actions(self, player: int) -> list[int]:
        if len(self.bids) < self.players:
            forbidden = forbidden_bid(self.bids, self.players, self.cards)
            return [BID + n for n in range(self.cards + 1) if n != forbidden]
        hand = sorted(self.hands[player])
        following = [card for card in hand if self.trick and suit_of(card) == suit_of(self.trick[0])]
        return following or hand

    def _apply_action(self, action: int) -> None:
        if not self.is_dealt:
            if len(self.deck) < self.players * self.cards:
                self.hands[len(self.deck) // self.cards].append(action)
            self.deck.append(action)
        elif len(self.bids) < self.players:
            self.bids.append(action - BID)
        else:
            self.hands[self.current_player()].remove(action)
            self.trick.append(action)
            if len(self.trick) == self.players:
                self.leader = (self.leader + winner(self.trick, self.trump)) % self.players
                self.taken[self.leader] += 1
                self.trick = []

    def _action_to_string(self, player: int, action: int) -> str:
        return CARDS[action] if action < BID else f"bid {action - BID}"

    def returns(self) -> list[float]:
        """Return the points by seat, 0 before the end."""
        if not self.is_terminal():
            return [0.0] * self.players
        return [float(MADE + bid) if bid == taken else 0.0 for bid, taken in zip(self.bids, self.taken)]

    def __str__(self) -> str:
        lines = [" ".join([f"seat {p} holds", *(CARDS[c] for c in sorted(hand))]) for p, hand in enumerate(self.hands)]
        if not self.is_dealt:
            return "\n".join([*lines, "dealing"])
        plays = self.full_history()[len(self.deck) + self.players :]
        lines += [f"turned up {CARDS[self.deck[-1]]}", " ".join(["bids", *map(str, self.bids)])]
        lines += openspiel.trick_lines([(p.player, CARDS[p.action]) for p in plays], self.players, self.leader)
        lines.append(f"taken {' '.join(map(str, self.taken))}")
        if self.is_terminal():
            lines.append(openspiel.score_line([round(points) for points in self.returns()]))
        return "\n".join(lines)


def _text(state: Any, viewer: int) -> str:
    if not state.is_dealt:
        return f"dealing {len(state.deck)}"
    view = _view(state, viewer)
    return f"{viewer} | " + " ".join(
        ",".join(CARDS[c] for c in e.seen) if e.action is None else state.action_to_string(e.actor, e.action)
        for e in view.events
    )


_TYPE = openspiel.game_type("trickformer_oh_hell", "Oh Hell", LIMITS["players"], DEFAULTS)
pyspiel.register_game(_TYPE, OhHellGame)


class OhHell(Game):
    """The game `trickformer_oh_hell`. Scores are points a deal; higher is better."""

    name = "oh_hell"
    higher_is_better = True

    def __init__(self, spiel: Any):
        self.spiel = spiel
        self.players, self.cards = spiel.players, spiel.cards
        self.outcomes = _outcomes(self.players, self.cards)

    def view(self, state: State, viewer: int) -> View:
        self.check_viewer(viewer)
        return _view(state, viewer)

    def tokenizer(self) -> Tokenizer:
        from oh_hell.tokenizer import OhHellTokenizer  # not at the top, because that module imports this one

        return OhHellTokenizer(self)


def _view(state: Any, viewer: int) -> View:
    """Return the own cards, the card turned up, and all bids and plays. The public view has no own cards."""
    if not state.is_dealt:
        raise ValueError("a view begins when all cards are dealt")
    events = []
    if viewer != PUBLIC:
        own = state.deck[state.cards * viewer : state.cards * (viewer + 1)]
        events.append(Event(CHANCE, None, tuple(sorted(own))))
    events.append(Event(CHANCE, state.deck[-1]))
    events += [Event(step.player, step.action) for step in state.full_history()[len(state.deck) :]]
    on_turn = viewer != PUBLIC and state.current_player() == viewer
    return View(viewer, tuple(events), tuple(state.legal_actions()) if on_turn else ())


@lru_cache(maxsize=8)
def _outcomes(players: int, cards: int) -> Outcomes:
    """List the outcomes. Each player fails or takes as many tricks as it bid, and at least one player fails.

    If a hand has one card, some of these outcomes cannot happen. v(o) is the score minus the mean of the other scores,
    divided by 20.
    """
    results = (0, *(MADE + tricks for tricks in range(cards + 1)))
    labels = [
        label
        for label in product(results, repeat=players)
        if 0 in label and sum(score - MADE for score in label if score) <= cards
    ]
    points = np.array(labels, dtype=np.float64)
    others = (points.sum(axis=1, keepdims=True) - points) / (players - 1)
    return Outcomes(tuple(labels), ((points - others) / 20).astype(np.float32))


def load(spec: str) -> OhHell:
    """Load the game.

    Args:
        spec: Game string: `oh_hell`, or with options, such as `oh_hell(players=3,cards=7)`.

    Raises:
        TrickformerError: An option does not exist, or its value is out of range.
    """
    options = openspiel.options(spec, "oh_hell", tuple(DEFAULTS))
    for option, value in options.items():
        low, high = LIMITS[option]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise TrickformerError(f"option {option} of oh_hell is {low} to {high}, not {value!r}")
    return OhHell(pyspiel.load_game("trickformer_oh_hell", options))
