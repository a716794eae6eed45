"""Skat in plain Python, written from the rules alone: cards are strings, a game is one coroutine from deal to result.

It shares no code with the core, and names its actions as the game's table `ACTIONS` does, so that both can be led
through the same games. Forehand is seat 0."""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

SUITS = {"diamonds": "D", "hearts": "H", "spades": "S", "clubs": "C"}
POINTS = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2, "9": 0, "8": 0, "7": 0}
DECK = [suit + rank for suit in "DHSC" for rank in "789QKTAJ"]  # in the order in which a seat is told its cards
JACKS = ["CJ", "SJ", "HJ", "DJ"]
BASES = {"diamonds": 9, "hearts": 10, "spades": 11, "clubs": 12, "grand": 24}
NULLS = {("null", False): 23, ("null", True): 35, ("null-ouvert", False): 46, ("null-ouvert", True): 59}
LEVELS = ["plain", "schneider", "schwarz", "ouvert"]
BIDS = [
    18, 20, 22, 23, 24, 27, 30, 33, 35, 36, 40, 44, 45, 46, 48, 50, 54, 55, 59, 60, 63, 66, 70, 72, 77, 80, 81, 84, 88,
    90, 96, 99, 100, 108, 110, 117, 120, 121, 126, 130, 132, 135, 140, 143, 144, 150, 153, 154, 156, 160, 162, 165, 168,
    170, 176, 180, 187, 192, 198, 204, 216, 240, 264,
]  # fmt: skip

Turn = tuple[int, list[str]]  # who is to act, and what may be done


@dataclass(frozen=True)
class Result:
    soloist: int = -1
    won: bool = False
    overbid: bool = False
    schneider: bool = False
    schwarz: bool = False
    matadors: int = 0
    points: int = 0
    tricks: int = 0
    value: int = 0

    def scores(self, seeger: bool) -> tuple[int, ...]:
        if self.soloist == -1:
            return (0, 0, 0)
        if not seeger:
            return tuple(self.value if p == self.soloist else 0 for p in range(3))
        if self.won:
            return tuple(self.value + 50 if p == self.soloist else 0 for p in range(3))
        return tuple(self.value - 50 if p == self.soloist else 40 for p in range(3))


def trumps(kind: str) -> list[str]:
    """Return the trumps of a game, the highest first."""
    if kind.startswith("null"):
        return []
    return JACKS + [SUITS[kind] + rank for rank in "ATKQ987" if kind in SUITS]


def order(kind: str, led: str) -> list[str]:
    """The cards that can win a trick that `led` has opened, from the highest down."""
    if kind.startswith("null"):
        return [led[0] + rank for rank in "AKQJT987"]
    high = trumps(kind)
    return high if led in high else high + [c for c in (led[0] + rank for rank in "ATKQ987") if c not in high]


def follows(kind: str, led: str, card: str) -> bool:
    high = trumps(kind)
    return card in high if led in high else card not in high and card[0] == led[0]


def matadors(kind: str, cards: set[str]) -> int:
    """Return the number of matadors; negative if the side plays without them."""
    high = trumps(kind)
    if not high:
        return 0
    held, run = next(groupby(high, key=lambda c: c in cards))
    return len(list(run)) * (1 if held else -1)


def settle(
    kind: str, hand: bool, level: str, bid: int, mates: int, points: int, tricks: int
) -> tuple[bool, bool, bool, bool, int]:
    """(won, overbid, schneider, schwarz, value) of a game that ended with these points and tricks of the soloist."""
    if kind.startswith("null"):
        value = NULLS[kind, hand]
        won = tricks == 0
        return won, False, False, False, value if won else -2 * value
    announced = LEVELS.index(level)
    schneider = points >= 90 or points < 31
    schwarz = tricks in (0, 10)
    levels = abs(mates) + 1
    levels += 1 if hand else 0
    levels += 1 if schneider or announced >= 1 else 0
    levels += 1 if schwarz or announced >= 2 else 0
    levels += announced  # schneider announced, schwarz announced, ouvert
    value = BASES[kind] * levels
    won = points >= 61
    if announced >= 1:
        won = won and points >= 90
    if announced >= 2:
        won = won and tricks == 10
    overbid = value < bid
    while value < bid:
        value += BASES[kind]
        won = False
    return won, overbid, schneider, schwarz, value if won else -2 * value


class Twin:
    """A game in progress. `player`, `legal` and `hands` are as they stand, `seen` what each seat was told in
    order, `result` at the end."""

    def __init__(self, hands: Sequence[Sequence[str]], skat: Sequence[str]):
        self.hands = [set(hand) for hand in hands]
        self.skat = list(skat)
        self.seen = [[f"seat{p}", *sorted(hand, key=DECK.index)] for p, hand in enumerate(self.hands)]
        self.played: list[tuple[int, str]] = []
        self.laid: list[str] = []  # the soloist's discards, in order
        self.soloist, self.bid, self.kind, self.hand, self.level = -1, 0, "", False, "plain"
        self.stage = "auction"
        self.result: Result | None = None
        self._game = self._play()
        self._to(next(self._game))

    def apply(self, action: str) -> None:
        assert action in self.legal, (action, self.legal)
        try:
            self._to(self._game.send(action))
        except StopIteration as end:
            self.result, self.player, self.legal = end.value, -4, []
            self._tell("eos")

    def _to(self, turn: Turn) -> None:
        self.player, self.legal = turn

    def _tell(self, *words: str, to: Sequence[int] = (0, 1, 2)) -> None:
        for p in to:
            self.seen[p] += words

    def _ask(self, seat: int, legal: list[str], public: bool = True) -> Generator[Turn, str, str]:
        action = yield seat, legal
        self._tell(action, to=(0, 1, 2) if public else (seat,))
        return action

    def _bidding(self, caller: int, listener: int) -> Generator[Turn, str, int]:
        """Let two seats bid against each other, and return the seat that does not pass."""
        while True:
            said = yield from self._ask(caller, [str(v) for v in BIDS if v > self.bid] + ["pass"])
            if said == "pass":
                return listener
            self.bid = int(said)
            if (yield from self._ask(listener, ["hold", "pass"])) == "pass":
                return caller

    def _play(self) -> Generator[Turn, str, Result]:
        left = yield from self._bidding(1, 0)
        left = yield from self._bidding(2, left)
        if self.bid == 0:
            if (yield from self._ask(0, ["18", "pass"])) == "pass":
                return Result()
            self.bid = 18
        me = self.soloist = left
        others = [p for p in range(3) if p != me]
        self.stage = "pick-up"
        cards = self.hands[me] | set(self.skat)
        mine = self.hands[me]
        self.hand = (yield from self._ask(me, ["pick-up", "hand"])) == "hand"
        if not self.hand:
            self.stage = "discard"
            self._tell(*sorted(self.skat, key=DECK.index), to=[me])
            mine |= set(self.skat)
            self.skat = []
            for _ in range(2):
                self.skat.append((yield from self._ask(me, sorted(mine), public=False)))
                self.laid.append(self.skat[-1])
                mine.remove(self.skat[-1])
        self.stage = "declare"
        nulls = [kind for (kind, hand), value in NULLS.items() if hand == self.hand and value >= self.bid]
        self.kind = yield from self._ask(me, [*BASES, *nulls])
        null = self.kind in ("null", "null-ouvert")
        if self.hand and not null:
            self.stage = "announce"
            self.level = yield from self._ask(me, list(LEVELS))
        if self.kind == "null-ouvert" or self.level == "ouvert":
            self._tell(*sorted(mine, key=DECK.index), to=others)
        self.stage = "play"
        won: list[str] = []
        tricks, leader = 0, 0
        for _ in range(10):
            trick: list[str] = []
            self._tell(f"seat{leader}")
            for seat in (leader, (leader + 1) % 3, (leader + 2) % 3):
                may = [c for c in self.hands[seat] if not trick or follows(self.kind, trick[0], c)]
                card = yield from self._ask(seat, may or list(self.hands[seat]))
                self.hands[seat].remove(card)
                trick.append(card)
                self.played.append((seat, card))
            best = next(c for c in order(self.kind, trick[0]) if c in trick)
            leader = (leader + trick.index(best)) % 3
            if leader == me:
                tricks += 1
                won += trick
                if null:
                    break
        points = sum(POINTS[c[1]] for c in won + self.skat)
        mates = matadors(self.kind, cards)
        won_it, over, schneider, schwarz, value = settle(
            self.kind, self.hand, self.level, self.bid, mates, points, tricks
        )
        return Result(me, won_it, over, schneider, schwarz, mates, points, tricks, value)


# ------------------------------------------------------------------------------------------------- who plays

POLICIES = ("uniform", "modest", "null", "hand", "strong", "weak")


def deal(rng: random.Random, strong: bool = False) -> list[str]:
    """A shuffled deck: ten cards to each seat, then the skat. If `strong`, forehand gets high cards of few suits."""
    if not strong:
        return rng.sample(DECK, len(DECK))
    worth = {c: rng.random() * 8 + 6 * (c in JACKS) + 2 * (c[1] in "AT") + "DHSC".index(c[0]) for c in DECK}
    ranked = sorted(DECK, key=lambda c: -worth[c])
    rest = rng.sample(ranked[12:], 20)
    return [*ranked[:10], *rest, *ranked[10:12]]


def of_deck(deck: Sequence[str]) -> Twin:
    return Twin([deck[10 * p : 10 * p + 10] for p in range(3)], deck[30:])


def choose(policy: str, rng: random.Random, game: Twin) -> str:
    """One of the legal actions. All but `uniform` bid low; then they play null, or hand and announce, or let the
    soloist take or give away what it can."""
    legal = sorted(game.legal)
    if policy == "uniform":
        return rng.choice(legal)
    if game.stage == "auction" and policy == "strong":
        return "pass" if game.player != 0 else next(a for a in ("hold", "18", "pass") if a in legal)
    if game.stage == "declare" and policy == "strong":
        if rng.random() < 0.25:
            return "grand"
        return max(BASES, key=lambda kind: (sum(c in trumps(kind) for c in game.hands[game.player]), rng.random()))
    if game.stage == "auction":
        calls = sorted((c for c in legal if c.isdigit()), key=int)
        return rng.choice(["pass", calls[0] if calls else "hold"])
    if policy == "null" and game.stage == "declare":
        return rng.choice([k for k in legal if k.startswith("null")] or legal)
    if policy == "hand" and game.stage in ("pick-up", "announce"):
        return "hand" if game.stage == "pick-up" else rng.choice(legal)
    if policy == "null" and game.player == game.soloist and game.stage in ("discard", "play"):
        ranked = sorted(legal, key=lambda c: "789TJQKA".index(c[1]))
        return ranked[0 if game.stage == "play" else -1]
    if policy in ("strong", "weak") and game.stage == "play":
        best = trumps(game.kind) + [s + r for r in "ATKQ987" for s in "DHSC"]
        ranked = sorted(legal, key=lambda c: best.index(c) if c in best else 99)
        return ranked[0] if (policy == "strong") == (game.player == game.soloist) else ranked[-1]
    return rng.choice(legal)


def playout(policy: str, seed: int) -> Iterator[tuple[Twin, str]]:
    """A game, and the action that comes next; at the end with "" as the action."""
    rng = random.Random(f"{policy} {seed}")
    game = of_deck(deal(rng, policy == "strong"))
    while game.result is None:
        action = choose(policy, rng, game)
        yield game, action
        game.apply(action)
    yield game, ""


# ------------------------------------------------------------------------------------------ what may be hidden


def splits(cards: Sequence[str], sizes: Sequence[int]) -> Iterator[list[tuple[str, ...]]]:
    """Every way to lay the cards in places of these sizes."""
    if len(sizes) == 1:
        assert len(cards) == sizes[0]
        yield [tuple(cards)]
        return
    for first in combinations(cards, sizes[0]):
        for rest in splits([c for c in cards if c not in first], sizes[1:]):
            yield [first, *rest]


def sayings(words: Sequence[str]) -> list[str]:
    """Return the spoken words among the tokens of a seat, without cards and leaders."""
    return [w for w in words if w not in DECK and not w.startswith("seat")]


def hidden_places(game: Twin, viewer: int) -> tuple[list[str], dict[int, int]]:
    """The cards that the viewer has not seen, and how many of them each seat holds, and 3, the skat."""
    seen = game.seen[viewer]
    shown = game.stage == "play" and (game.kind == "null-ouvert" or game.level == "ouvert")
    took = game.soloist == viewer and "pick-up" in seen
    places = {p: 10 - sum(seat == p for seat, _ in game.played) for p in range(3) if p != viewer}
    if shown and game.soloist != viewer:
        places[game.soloist] = 0
    places[3] = 0 if took else 2
    return [c for c in DECK if c not in seen], places


def explaining(game: Twin, viewer: int, every: bool) -> Iterator[Twin]:
    """The games in which the viewer has seen the same: every way to lay the unseen cards, and, if `every`, every way
    in which another soloist can have picked up and laid away; otherwise one of these."""
    unseen, places = hidden_places(game, viewer)
    played = {p: [c for seat, c in game.played if seat == p] for p in range(3)}
    words = game.seen[viewer]
    said = sayings(words)
    me = game.soloist
    picked_up = "pick-up" in said
    known = picked_up and me == viewer
    at = words.index("pick-up") + 1 if known else 0
    dealt_to_me, taken = words[1:11], words[at : at + 2] if known else []
    laid = game.laid
    hidden = picked_up and me != viewer and game.stage == "play"
    for lay in splits(unseen, list(places.values())):
        final = {p: set(cards) for p, cards in zip(places, lay)}
        if me not in (-1, viewer) and places[me] == 0:
            final[me] = {c for c in DECK if c in words} - set(dealt_to_me) - {c for _, c in game.played}
        for p in range(3):
            if p != viewer:
                final[p] |= set(played[p])
        if not hidden:
            hands = [dealt_to_me if p == viewer else final[p] for p in range(3)]
            ways = [(hands, taken if known else final[3], laid if known else [])]
        else:
            twelve = sorted(final[me] | final[3])
            pairs = combinations(twelve, 2) if every else [tuple(sorted(final[3]))]
            orders = [sorted(final[3]), sorted(final[3], reverse=True)][: 2 if every else 1]
            ways = [
                ([dealt_to_me if p == viewer else set(twelve) - set(pair) if p == me else final[p] for p in range(3)],
                 pair, away)
                for pair in pairs
                for away in orders
            ]  # fmt: skip
        for hands, skat, away in ways:
            world = replayed(hands, skat, said, away, [c for _, c in game.played])
            if world is not None and world.seen[viewer] == words:
                yield world


def replayed(
    hands: Sequence[Sequence[str]], skat: Sequence[str], said: list[str], away: list[str], plays: list[str]
) -> Twin | None:
    """Replay a game from its deal, auction, discards and plays; None if one of them is not allowed."""
    game = Twin(hands, skat)
    talk, cards = [w for w in said if w != "eos"], [*away, *plays]
    while talk or cards:
        if game.result is not None:
            return None
        if game.stage == "discard" and not away:
            return game if not talk else None
        queue = cards if game.stage in ("discard", "play") else talk
        if not queue or queue[0] not in game.legal:
            return None
        game.apply(queue.pop(0))
    return game
