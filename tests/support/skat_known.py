"""The features of Skat in plain Python, from a game of `skat_oracle`'s twin and what a seat has seen of it."""

from __future__ import annotations

import numpy as np
from support import skat_oracle as oracle

# The features in order, with the number of values of each. Names and order follow the enum Feature in
# cpp/skat/features.hpp, which says what each is. The values below are computed from the rules by `skat_oracle`, without
# the core.
SIZES = {
    # Cards.
    "own": 32,
    "next": 32,
    "unseen": 32,
    "may hold": 64,  # by other seat and card
    "trick": 32,
    "skat": 32,
    "follow": 32,
    "beats": 32,
    "high": 32,
    # The auction.
    "stage": 12,
    "turn": 3,
    "chair": 3,
    "bid": 1,
    "bid class": 12,
    "said": 36,  # by seat and class of bids
    "passed": 3,
    "caller": 3,
    "listener": 3,
    "answer": 1,
    "alone": 1,
    # The contract.
    "value": 7,
    "covers": 7,
    "soloist": 4,
    "kind": 6,
    "hand": 2,
    "level": 3,
    # The trick under way and those won.
    "place": 3,
    "led": 5,
    "winner": 3,
    "side": 2,
    "trick points": 1,
    "tricks": 10,
    "took": 2,
    "points": 2,
    "reached": 6,
    # Counts.
    "void": 10,  # by other seat and suit
    "own count": 5,
    "out count": 5,
    "trumps out": 12,
    # What the player `rules` would do, and thinks of cards.
    "script": 48,
    "at least": 60,  # by side and step of three card points
    "behind": 32,
    "gain": 32,
    "wins": 32,
}
STAGES = (
    "seat",
    "deal",
    "auction",
    "pick-up",
    "take",
    "discard",
    "declare",
    "announce",
    "show",
    "lead",
    "play",
    "over",
)
KINDS = [*oracle.BASES, "null"]
BID_CLASSES = [0, 18, 20, 22, 23, 24, 27, 30, 33, 35, 40, 50]  # the lowest bid of each


def split(row):
    """The features by name."""
    ends = np.cumsum(list(SIZES.values()))
    assert len(row) == ends[-1]
    return dict(zip(SIZES, np.split(row, ends[:-1])))


def cards(names):
    return np.isin(oracle.DECK, list(names)).astype(float)


def one(n, i):
    return (np.arange(n) == i).astype(float)


def bid_class(bid):
    return one(12, max(i for i, lowest in enumerate(BID_CLASSES) if lowest <= bid))


def suits(kind):
    """The four suits without their trumps, and trumps."""
    high = oracle.trumps(kind)
    return [[c for c in oracle.DECK if c[0] == s and c not in high] for s in "DHSC"] + [high]


def expected(twin, seat, heard):
    """The features of a seat at a decision, from the twin's cards and words; heard: the auction, as (seat, word)."""
    position = Position(twin, seat, heard)
    return {
        **{name: np.zeros(n) for name, n in SIZES.items()},
        **position.cards(),
        **position.auction(),
        **position.contract(),
        **position.tricks(),
        **position.trick(),
    }


class Position:
    """What one seat sees at a decision. Each method computes a group of SIZES, without what is not known yet."""

    def __init__(self, twin, seat, heard):
        self.twin, self.seat, self.heard = twin, seat, heard
        self.words, self.mine, self.solo = twin.seen[seat], twin.hands[seat], twin.soloist
        self.over = twin.result is not None
        self.stage = self.stage_seen()
        declared = bool(set(oracle.sayings(self.words)) & {*oracle.BASES, "null", "null-ouvert"})
        self.kind = twin.kind.replace("-ouvert", "") if declared else "grand"
        self.chosen = self.stage in ("announce", "play", "over") and self.solo >= 0
        self.open_hand = twin.stage == "play" and "ouvert" in twin.kind + twin.level and self.solo not in (-1, seat)
        self.shown = twin.hands[self.solo] if self.open_hand else set()
        self.unseen, self.places = oracle.hidden_places(twin, seat)
        self.out = set(self.unseen) | set(self.shown)
        tricks = [twin.played[i : i + 3] for i in range(0, len(twin.played), 3)]
        self.lying = tricks.pop() if tricks and len(tricks[-1]) < 3 and not self.over else []
        self.won = tricks

    def stage_seen(self):
        """Return the stage that the seat sees. Discards of others are hidden; the seat next sees the declaration."""
        if self.over:
            return "over"
        return "declare" if self.twin.stage == "discard" and self.solo != self.seat else self.twin.stage

    def relative(self, p):
        return (p - self.seat) % 3

    def winner(self, plays):
        """Seat and card that take a trick, as it lies."""
        ranks = oracle.order(self.kind, plays[0][1])
        return min((p for p in plays if p[1] in ranks), key=lambda p: ranks.index(p[1]))

    def may_hold(self):
        """The cards that each other seat may hold, that on the left first."""
        cannot = [set(), set(), set()]
        for k, (p, card) in enumerate(self.twin.played):
            first = self.twin.played[k // 3 * 3][1]
            if not oracle.follows(self.kind, first, card):
                cannot[p] |= {c for c in oracle.DECK if oracle.follows(self.kind, first, c)}

        def of(p):
            if p == self.solo and self.open_hand:
                return self.shown
            return set(self.unseen) - cannot[p] if self.places[p] else set()

        return [of((self.seat + i) % 3) for i in (1, 2)]

    def cards(self):
        found = {
            "own": cards(self.mine),
            "unseen": cards(self.unseen),
            "may hold": np.concatenate([cards(m) for m in self.may_hold()]),
            "skat": cards(self.twin.laid if self.solo == self.seat else []),
            "own count": [len(set(s) & self.mine) / 8 for s in suits(self.kind)],
            "out count": [len(set(s) & self.out) / 8 for s in suits(self.kind)],
            "trumps out": one(12, len(set(oracle.trumps(self.kind)) & self.out)),
        }
        if self.chosen:
            found["high"] = cards(c for c in self.mine if not self.beaten_by_another(c))
            found["void"] = [bool(s) and not set(s) & set(m) for m in self.may_hold() for s in suits(self.kind)]
        return found

    def beaten_by_another(self, card):
        """Whether a higher card of its suit is out."""
        ranks = oracle.order(self.kind, card)
        higher = ranks[: ranks.index(card)]
        return any(c in self.out and oracle.follows(self.kind, card, c) for c in higher)

    def bids(self):
        """The highest bid, that of each seat, and who has passed."""
        bid, highest = 0, dict.fromkeys(range(3), 0)
        for p, word in self.heard:
            bid = int(word) if word.isdigit() else bid
            highest[p] = highest[p] if word == "pass" else bid
        return bid, highest, {p for p, word in self.heard if word == "pass"}

    def auction(self):
        bid, highest, passed = self.bids()
        clockwise = [(self.seat + i) % 3 for i in range(3)]
        found = {
            "stage": one(12, STAGES.index(self.stage)),
            "chair": one(3, self.seat),
            "bid": [bid / 100],
            "bid class": bid_class(bid),
            "said": np.concatenate([bid_class(highest[p]) for p in clockwise]),
            "passed": [p in passed for p in clockwise],
        }
        if not self.over:
            found["turn"] = one(3, self.relative(self.twin.player))
        if self.stage == "auction":
            caller = 2 if passed & {0, 1} else 1
            listener = 0 if caller == 1 or 0 not in passed else 1
            found["caller"] = one(3, self.relative(caller))
            found["listener"] = one(3, self.relative(listener))
            found["answer"] = ["hold" in self.twin.legal]
            found["alone"] = [len(passed) == 2]
        return found

    def contract(self):
        unknown = self.stage == "auction" or self.solo < 0
        found = {"soloist": one(4, 0 if unknown else 1 + self.relative(self.solo))}
        if not unknown and self.stage != "pick-up":
            found["hand"] = one(2, int(self.twin.hand))
        if self.solo in (-1, self.seat) or self.stage == "auction":
            found |= self.declarations()
        if self.chosen:
            ouvert = "ouvert" in self.twin.kind + self.twin.level
            announced = oracle.LEVELS.index(self.twin.level)
            found["kind"] = one(6, KINDS.index(self.kind))
            found["level"] = [announced >= 1, announced >= 2, ouvert]
        return found

    def declarations(self):
        """Return the least value of each declaration with the cards held, and whether it covers the bid."""
        words = self.words
        at = words.index("pick-up") + 1 if "pick-up" in words else 0
        taken = words[at : at + 2] if self.solo == self.seat and at else []
        held = {*words[1:11], *taken}
        values = [n * (abs(oracle.matadors(k, held)) + 1 + self.twin.hand) for k, n in oracle.BASES.items()]
        values += [oracle.NULLS[k, self.twin.hand] for k in ("null", "null-ouvert")]
        return {"value": np.array(values) / 100, "covers": [v >= self.bids()[0] for v in values]}

    def tricks(self):
        """Return the features of the tricks that are won. `his` counts the soloist's card points."""
        if not self.chosen:
            return {}
        won = [(self.winner(t)[0] == self.solo, sum(oracle.POINTS[c[1]] for _, c in t)) for t in self.won]
        laid = sum(oracle.POINTS[c[1]] for c in self.twin.laid) if self.solo == self.seat else 0
        his = laid + sum(n for own, n in won if own)
        theirs = sum(n for own, n in won if not own)
        return {
            "points": np.array([his, theirs]) / 120,
            "reached": [*(his >= n for n in (31, 61, 90)), *(theirs >= n for n in (31, 60, 90))],
            "at least": [points >= 3 * n for points in (his, theirs) for n in range(1, 31)],
            "took": [any(own for own, _ in won), any(not own for own, _ in won)],
        }

    def trick(self):
        """Return the features of the trick under way."""
        if not self.chosen or self.stage != "play":
            return {}
        found = {"tricks": one(10, len(self.won)), "place": one(3, len(self.lying))}
        if not self.lying:
            return found
        led, best = self.lying[0][1], self.winner(self.lying)
        high = oracle.order(self.kind, led)
        his = best[0] == self.solo
        return found | {
            "trick": cards(c for _, c in self.lying),
            "trick points": [sum(oracle.POINTS[c[1]] for _, c in self.lying) / 30],
            "follow": cards(c for c in oracle.DECK if oracle.follows(self.kind, led, c)),
            "beats": cards(set(high[: high.index(best[1])]) & (self.out | self.mine)),
            "led": one(5, 4 if led in oracle.trumps(self.kind) else "DHSC".index(led[0])),
            "winner": one(3, self.relative(best[0])),
            "side": [his, his == (self.seat == self.solo)],
        }
