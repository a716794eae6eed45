"""OpenSpiel bot for Skat. Its spec is `spiel:bot=skat_bot:make`."""

import random

import pyspiel

from trickformer.games import skat


def rank(card: int) -> str:
    return skat.CARDS[card][1]  # the names of cards are suit and rank: SJ, HT, ...


class CautiousBot(pyspiel.Bot):
    """Bot that bids on jacks, declares its longest suit, leads high cards and follows with low ones."""

    def __init__(self, player_id: int, seed: int):
        super().__init__()
        self.seat, self.rng = player_id, random.Random(seed)

    def restart(self) -> None:
        pass  # called when a game begins; this bot has no memory

    def inform_action(self, state: skat.SkatState, player_id: int, action: int) -> None:
        pass  # called for each action of another seat or of chance; this bot reads the state on its turn instead

    def step(self, state: skat.SkatState) -> int:
        legal, hand = state.legal_actions(), state.hand(self.seat)
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
    return CautiousBot(player_id, seed)
