"""The Crew in plain Python, written from the rules alone: cards are strings, a mission is one coroutine from the deal
to its result.

It shares no code with the core, reads the missions as they are written down, and names its actions as the game's table
`ACTIONS` does, so that both can be led through the same missions."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import permutations, product
from typing import Any

COLOURS, ROCKETS = "PBGY", ["R1", "R2", "R3", "R4"]
COLOUR_CARDS = [colour + value for colour in COLOURS for value in "123456789"]
DECK = COLOUR_CARDS + ROCKETS
SEATS = ["self", "left", "across", "right"]  # of the actor, clockwise
ROLES = ["token-1", "token-omega", "token-none"]  # who wins the first four tricks, the last, those between
ARROWS = [">", ">>", ">>>", ">>>>"]
OPEN_FROM = {"from trick 2": 2, "from trick 3": 3}  # the first trick before which anybody may communicate
PASSED_ON = {"off": 0, "left": 1, "right": 3}  # seats that a card moves in distress
CHANCE, OVER = -1, -4

Turn = tuple[int, list[str]]  # who is to act, and what may be done


def colour_of(cards: Sequence[str], colour: str) -> list[str]:
    """Return the cards of a colour, or the rockets, ascending."""
    return sorted(c for c in cards if c[0] == colour)


def labelled(hand: Sequence[str], label: str) -> list[str]:
    """Return the cards of a hand that may be communicated with a label; never rockets."""
    found = []
    for own in (colour_of(hand, colour) for colour in COLOURS):
        if len(own) == 1:
            found += own if label in ("only", "unlabelled") else []
        elif own:
            found += [own[-1]] if label in ("highest", "unlabelled") else []
            found += [own[0]] if label in ("lowest", "unlabelled") else []
    return found


def winning(trick: Sequence[str]) -> str:
    """The card that takes a trick."""
    rockets = colour_of(trick, "R")
    return (rockets or colour_of(trick, trick[0][0]))[-1]


def in_order(tokens: Sequence[str], before: Sequence[int], now: Sequence[int]) -> list[int] | None:
    """Order the tasks `now` of one trick, after the tasks fulfilled `before`, as their tokens allow.

    Tasks are indices of `tokens`. The result is all fulfilled tasks in order, or None if no order is allowed.
    """

    def right(order: Sequence[int]) -> bool:
        said = [tokens[task] for task in order]
        for place, token in enumerate(said, 1):
            due = str(place) if str(place) in tokens else None  # the token that belongs in this place
            if (token.isdigit() or due) and token != due:
                return False
            if token == "omega" and place < len(tokens):
                return False
        arrows = [token for token in said if token in ARROWS]
        return arrows == [arrow for arrow in ARROWS if arrow in tokens][: len(arrows)]

    return next(([*before, *order] for order in permutations(now) if right([*before, *order])), None)


class Twin:
    """A mission under way: who acts next (`player`), what may be done (`legal`), and all that is on the table.

    page: the mission as it is written down; hands: the ten cards of each seat."""

    def __init__(self, page: dict[str, Any], hands: Sequence[Sequence[str]], distress: str = "off"):
        self.hands = [set(hand) for hand in hands]
        self.count: int = page.get("tasks", 0)
        self.tokens: list[str] = [*page.get("tokens", []), *["none"] * self.count][: self.count]
        self.communication = page.get("communication", "normal")
        self.allocation = page.get("allocation", "draft")
        self.rules: list[str] = page.get("rules", [])
        self.distress = PASSED_ON[distress]
        self.tasks: list[str] = []  # cards, as they were laid out
        self.owners: dict[str, int] = {}
        self.fulfilled: list[int] = []  # tasks by number, in an order that the tokens allow
        self.commander = self.holder("R4")
        self.leader = self.commander
        self.member = (self.holder("P9") + 1) % 4 if "left_of_pink9_wins_all_pink" in self.rules else -1
        self.roles: list[int] = []  # who wins the first four tricks, who the last
        self.messages: list[tuple[str, str, int] | None] = [None] * 4  # label, card, plays made before
        self.plays: list[tuple[int, str]] = []
        self.won: list[tuple[int, str]] = []  # by trick: who, with which card
        self.result = 0
        self._course = self._mission()
        self.player, self.legal = next(self._course)

    def holder(self, card: str) -> int:
        return next(seat for seat in range(4) if card in self.hands[seat])

    def apply(self, action: str) -> None:
        assert action in self.legal, f"{action} of {self.legal}"
        try:
            self.player, self.legal = self._course.send(action)
        except StopIteration as end:
            self.result = end.value
            self.player, self.legal = OVER, []

    # ------------------------------------------------------------------------------------------ the order of steps

    def _mission(self) -> Generator[Turn, str, int]:
        yield from self._allocate()
        if self.distress:
            yield from self._pass()
        for number in range(1, 11):
            yield from self._communicate(number)
            trick = yield from self._trick()
            result = self._judge(number, trick)
            if result:
                return result
            if number == 1 and "random_draw_after_trick1" in self.rules:
                yield from self._draw()
        raise AssertionError("the last trick decides a mission")

    def _reveal(self) -> Generator[Turn, str, str]:
        card = yield CHANCE, [c for c in COLOUR_CARDS if c not in self.tasks]
        self.tasks.append(card)
        return card

    def _named(self, seats: Sequence[str]) -> Generator[Turn, str, int]:
        """The commander names one of these seats."""
        seat = yield self.commander, list(seats)
        return (self.commander + SEATS.index(seat)) % 4

    def _ask(self, answers: Sequence[str]) -> Generator[Turn, str, None]:
        for other in (1, 2, 3):
            yield (self.commander + other) % 4, list(answers)

    def _allocate(self) -> Generator[Turn, str, None]:
        if self.allocation == "draft":
            for _ in range(self.count):
                yield from self._reveal()
            yield from self._move_tokens()
            if "member_no_communication" in self.rules:
                self.member = yield from self._named(SEATS[1:])
            for turn in range(self.count):
                seat = (self.commander + turn) % 4
                card = yield seat, [c for c in self.tasks if c not in self.owners]
                self.owners[card] = seat
        elif self.allocation == "decision":
            yield from self._ask(["yes", "no"])
            seat = yield from self._named(SEATS[1:])
            for _ in range(self.count):
                card = yield from self._reveal()
                self.owners[card] = seat
        elif self.allocation == "distribution":
            for _ in range(self.count):
                card = yield from self._reveal()
                yield from self._ask(["yes", "no"])
                free = [name for i, name in enumerate(SEATS) if self._fair((self.commander + i) % 4)]
                self.owners[card] = yield from self._named(free)
        elif self.allocation == "member":
            yield from self._ask(["yes", "no"])
            self.member = yield from self._named(SEATS[1:])
        elif self.allocation == "roles":
            yield from self._ask(ROLES)
            first = yield from self._named(SEATS)
            last = yield from self._named([s for i, s in enumerate(SEATS) if (self.commander + i) % 4 != first])
            self.roles = [first, last]

    def _fair(self, seat: int) -> bool:
        """Return whether the numbers of tasks may still differ by at most 1 in the end if `seat` gets this task."""
        has = [list(self.owners.values()).count(p) + (p == seat) for p in range(4)]
        ends = product((self.count // 4, self.count // 4 + 1), repeat=4)
        return any(sum(end) == self.count and all(e >= h for e, h in zip(end, has)) for end in ends)

    def _move_tokens(self) -> Generator[Turn, str, None]:
        held = [token for token in ("1", "2", "3", "4", "5", *ARROWS, "omega") if token in self.tokens]
        if "swap_two_tokens" in self.rules:
            action = yield self.commander, ["no", *(f"token-{t}" for t in held[:-1])]
            if action != "no":
                low = action.removeprefix("token-")
                action = yield self.commander, [f"token-{t}" for t in held[held.index(low) + 1 :]]
                a, b = self.tokens.index(low), self.tokens.index(action.removeprefix("token-"))
                self.tokens[a], self.tokens[b] = self.tokens[b], self.tokens[a]
        if "move_one_token" in self.rules:
            action = yield self.commander, ["no", *(f"token-{t}" for t in held)]
            if action != "no":
                bare = [card for card, token in zip(self.tasks, self.tokens) if token == "none"]
                card = yield self.commander, bare
                source, target = self.tokens.index(action.removeprefix("token-")), self.tasks.index(card)
                self.tokens[source], self.tokens[target] = "none", self.tokens[source]

    def _pass(self) -> Generator[Turn, str, None]:
        laid = {}
        for seat in ((self.commander + i) % 4 for i in range(4)):
            laid[seat] = yield seat, [c for c in self.hands[seat] if c not in ROCKETS]
        for seat, card in laid.items():
            self.hands[seat].remove(card)
            self.hands[(seat + self.distress) % 4].add(card)

    def _draw(self) -> Generator[Turn, str, None]:
        drawn = []
        for seat in range(4):
            right = (seat - 1) % 4
            message = self.messages[right]
            card = yield CHANCE, [c for c in self.hands[right] if message is None or c != message[1]]
            drawn.append(card)
        for seat, card in enumerate(drawn):
            self.hands[(seat - 1) % 4].remove(card)
            self.hands[seat].add(card)

    def may_communicate(self, seat: int, trick: int) -> bool:
        """Return whether a seat may still lay a card open before this trick."""
        barred = "member_no_communication" in self.rules and seat == self.member
        return self.messages[seat] is None and not barred and trick >= OPEN_FROM.get(self.communication, 1)

    def _communicate(self, trick: int) -> Generator[Turn, str, None]:
        labels = ["unlabelled"] if self.communication == "dead zone" else ["highest", "only", "lowest"]
        for seat in ((self.leader + i) % 4 for i in range(4)):
            if not self.may_communicate(seat, trick):
                continue
            hand = sorted(self.hands[seat])
            label = yield seat, ["silent", *(w for w in labels if labelled(hand, w))]
            if label != "silent":
                card = yield seat, labelled(hand, label)
                self.messages[seat] = (label, card, len(self.plays))

    def _trick(self) -> Generator[Turn, str, list[str]]:
        trick: list[str] = []
        for seat in ((self.leader + i) % 4 for i in range(4)):
            follow = colour_of(list(self.hands[seat]), trick[0][0]) if trick else []
            card = yield seat, follow or sorted(self.hands[seat])
            self.hands[seat].remove(card)
            self.plays.append((seat, card))
            trick.append(card)
        best = winning(trick)
        self.leader = next(seat for seat, card in self.plays if card == best)
        self.won.append((self.leader, best))
        return trick

    # ---------------------------------------------------------------------------------------- success and failure

    def _judge(self, number: int, trick: list[str]) -> int:
        """1 for success, -1 for failure, 0 while the mission goes on; after trick `number`."""
        verdicts = [self._rule(rule, number, trick) for rule in self.rules]
        verdicts.append(self._tasks_after(trick))
        if "failed" in verdicts:
            return -1
        if "open" in verdicts:
            return -1 if number == 10 else 0
        return 1

    def _tasks_after(self, trick: list[str]) -> str:
        now = [i for i, card in enumerate(self.tasks) if card in trick]
        order = in_order(self.tokens, self.fulfilled, now)
        self.fulfilled = order or [*self.fulfilled, *now]
        if order is None or any(self.owners[self.tasks[i]] != self.leader for i in now):
            return "failed"
        return "open" if len(self.fulfilled) < self.count else "met"

    def _rule(self, rule: str, number: int, trick: list[str]) -> str:
        winner, card = self.won[-1]
        last = number == 10
        tricks = [sum(seat == p for seat, _ in self.won) for p in range(4)]
        left = [c for hand in self.hands for c in hand]

        def at_the_end(holds: bool) -> str:
            """Return the verdict on a rule that every trick must keep."""
            return "failed" if not holds else "met" if last else "open"

        if rule in ("one_wins_once", "ones_win_twice"):
            wanted = 1 if rule == "one_wins_once" else 2
            made = sum(c in ("P1", "B1", "G1", "Y1") for _, c in self.won)
            if made >= wanted:
                return "met"
            return "open" if made + sum(c in ("P1", "B1", "G1", "Y1") for c in left) >= wanted else "failed"
        if rule in ("each_rocket_wins", "rockets_win_in_order"):
            won = [c for _, c in self.won if c in ROCKETS]
            if len([c for c in trick if c in ROCKETS]) > 1 or (rule == "rockets_win_in_order" and won != sorted(won)):
                return "failed"
            if rule == "rockets_win_in_order" and won != ROCKETS[: len(won)]:
                return "failed"
            return "met" if len(won) == 4 else "open"
        if rule in ("nines_win_nothing", "nines_win_nothing_plus_tasks"):
            return "failed" if card[1] == "9" else "open" if any(c[1] == "9" for c in left) else "met"
        if rule == "sick_no_tricks":
            return at_the_end(winner != self.member)
        if rule == "trick_balance":
            return at_the_end(max(tricks) - min(tricks) < 2)
        if rule == "trick_balance_commander_first_last":
            due = number in (1, 10)
            return at_the_end(max(tricks) - min(tricks) < 2 and (not due or winner == self.commander))
        if rule == "member_exactly_one_trick_no_rocket":
            own = [c for seat, c in self.won if seat == self.member]
            return at_the_end(len(own) < 2 and not set(own) & set(ROCKETS) and (not last or len(own) == 1))
        if rule == "member_only_first_and_last_no_rocket":
            own = winner == self.member
            return at_the_end(own == (number in (1, 10)) and not (own and card in ROCKETS))
        if rule == "left_of_pink9_wins_all_pink":
            if any(c[0] == "P" for c in trick) and winner != self.member:
                return "failed"
            return "open" if any(c[0] == "P" for c in left) else "met"
        if rule == "omega_in_last_trick":
            omega = self.tasks[self.tokens.index("omega")]
            return "failed" if omega in trick and not last else "met" if omega in trick else "open"
        if rule == "first4_last_middle_roles":
            first, at_last = self.roles
            right = {first} if number <= 4 else {at_last} if last else {0, 1, 2, 3} - {first, at_last}
            return at_the_end(winner in right)
        return "met"  # the others only change how a mission is played
