"""a bot of OpenSpiel that plays Skat at our tables: spiel:bot=skat_bot:make"""

import random

import pyspiel

from trickformer.games import skat


def rank(card: int) -> str:
    return skat.CARDS[card][1]  # cards are named SJ, HT, ...: suit, rank


class Cautious(pyspiel.Bot):
    """Bids on jacks, plays its longest suit, leads high and follows low."""

    def __init__(self, player_id: int, seed: int):
        super().__init__()
        self.me, self.rng = player_id, random.Random(seed)

    def restart(self) -> None:
        """Called when a new game begins. This bot remembers nothing."""

    def inform_action(self, state: skat.SkatState, player_id: int, action: int) -> None:
        """Another seat, or chance, takes an action in `state`. This bot reads all from the state of its turn."""

    def step(self, state: skat.SkatState) -> int:
        legal, hand = state.legal_actions(), state.hand(self.me)
        match state.phase:
            case "auction":
                jacks = sum(rank(card) == "J" for card in hand)
                if state.bid >= 20 or jacks < 3:
                    return skat.PASS
                return skat.HOLD if skat.HOLD in legal else legal[0]  # the lowest call
            case "pick-up":
                return skat.PICK_UP
            case "discard":
                return min(legal, key=lambda card: (rank(card) == "J", skat.POINTS[rank(card)]))
            case "declare":
                suits = [skat.CARDS[card][0] for card in hand if rank(card) != "J"]
                return skat.DECLARE + max(range(4), key=lambda suit: suits.count(skat.SUITS[suit]))
            case _:
                points = {card: skat.POINTS[rank(card)] for card in legal}
                best = max(points.values()) if not state.trick else min(points.values())
                return self.rng.choice([card for card in legal if points[card] == best])


def make(game: pyspiel.Game, player_id: int, seed: int) -> pyspiel.Bot:
    return Cautious(player_id, seed)
