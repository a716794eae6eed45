"""Games of Hanabi in the JSON of hanab.live, played by rules that are written down here a second time."""

import random

COPIES = {1: 3, 2: 2, 3: 2, 4: 2, 5: 1}
PLAY, DISCARD, COLOR, RANK, END, VOTE = range(6)


def new_deck(seed):
    deck = [{"suitIndex": suit, "rank": rank} for suit in range(5) for rank, n in COPIES.items() for _ in range(n)]
    random.Random(seed).shuffle(deck)
    return deck


class Table:
    """A game in play. `hands` hold the numbers of cards in the deck."""

    def __init__(self, players, deck):
        size = 5 if players < 4 else 4
        self.players, self.deck = players, deck
        self.hands = [list(range(size * p, size * (p + 1))) for p in range(players)]
        self.next, self.seat, self.clues = size * players, 0, 8
        self.piles, self.gone, self.strikes = [0] * 5, [], 0
        self.turns_left = None

    def fits(self, card):
        return self.deck[card]["rank"] == self.piles[self.deck[card]["suitIndex"]] + 1

    def apply(self, action):
        last_round = self.turns_left is not None
        if action["type"] in (PLAY, DISCARD):
            card = action["target"]
            self.hands[self.seat].remove(card)
            if action["type"] == PLAY and self.fits(card):
                self.piles[self.deck[card]["suitIndex"]] += 1
                self.clues = min(8, self.clues + (self.deck[card]["rank"] == 5))
            else:
                self.gone.append(self.deck[card])
                self.strikes += action["type"] == PLAY
                self.clues += action["type"] == DISCARD
            if self.next < 50:
                self.hands[self.seat].append(self.next)
                self.next += 1
                if self.next == 50:
                    self.turns_left = self.players
        else:
            self.clues -= 1
        self.turns_left = self.turns_left - 1 if last_round else self.turns_left
        self.seat = (self.seat + 1) % self.players

    def is_dead(self):
        """No pile can grow."""
        needed = [{"suitIndex": s, "rank": h + 1} for s, h in enumerate(self.piles) if h < 5]
        return all(self.gone.count(card) == COPIES[card["rank"]] for card in needed)

    def reason(self):
        if self.strikes == 3:
            return "strikes"
        if sum(self.piles) == 25:
            return "all"
        if self.turns_left == 0:
            return "deck"
        return "dead" if self.is_dead() else None

    def hints(self):
        """One hint for each card of the others."""
        found = []
        for offset in range(1, self.players):
            target = (self.seat + offset) % self.players
            for card in (self.deck[c] for c in self.hands[target]):
                found.append({"type": COLOR, "target": target, "value": card["suitIndex"]})
                found.append({"type": RANK, "target": target, "value": card["rank"]})
        return found


def play(players, deck, choose, turns=None):
    """Play a game.

    choose: Function from the table to an action.
    turns: Number of turns after which the game stops, if it is not over.

    Returns the JSON object, the score and why it ended: strikes, all, deck, dead (no pile can grow), or None.
    """
    table, actions = Table(players, deck), []
    while table.reason() is None and len(actions) != turns:
        actions.append(choose(table))
        table.apply(actions[-1])
    names = ["Alice", "Bob", "Cathy", "Donald", "Emily"][:players]
    game = {"id": 17, "players": names, "deck": deck, "actions": actions, "options": {"variant": "No Variant"}}
    score = 0 if table.reason() == "strikes" else sum(table.piles)
    return game | {"seed": f"p{players}v0s1"}, score, table.reason()


def chooser(seed, caution):
    """Choose at random; `caution` is the chance to play only cards that fit."""
    rng = random.Random(seed)

    def choose(table):
        own = table.hands[table.seat]
        fitting = [card for card in own if table.fits(card)]
        kinds = [DISCARD] * (table.clues < 8) + [COLOR] * (table.clues > 0)
        kinds += [PLAY] * bool(fitting or rng.random() > caution)
        kind = rng.choice(kinds or [PLAY])
        if kind == COLOR:
            return rng.choice(table.hints())
        cards = fitting if kind == PLAY and fitting and rng.random() < caution else own
        return {"type": kind, "target": rng.choice(cards)}

    return choose
