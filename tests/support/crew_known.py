"""The features of The Crew in plain Python, from a mission led through `crew_oracle` and what a seat has seen of it."""

from __future__ import annotations

import numpy as np
from support.crew_histories import left_of
from support.crew_oracle import ARROWS, COLOURS, DECK, OPEN_FROM, ROCKETS, ROLES, Twin, in_order, winning

from trickformer.games import missions
from trickformer.games.crew import ACTIONS, ASK, HAND, PASS, PLAY, PREAMBLE, RADIO, RADIO_CARD

COLOURED = DECK[:36]
WORDS = ACTIONS[40:]
SUITS = COLOURS + "R"
LABELS = ("highest", "only", "lowest", "unlabelled")
ANSWERS = ("yes", "no", *ROLES)
# The features in order, with the number of values of each. Names and order follow the enum Feature in
# cpp/crew/features.hpp, which says what each is. The values below are computed from the printed rules and the missions
# of the logbook by `crew_oracle`, without the core.
SIZES = {
    # Cards.
    "own": 40,
    "next": 40,
    "say": 22,
    "unseen": 40,
    "holds": 120,  # by seat, the own one left out, and card
    "void": 15,  # by seat, the own one left out, and suit
    "over": 40,
    "length": 5,
    # The trick under way.
    "trick": 40,
    "beats": 40,
    "led": 5,
    "winner": 4,
    "best": 10,
    "trick tasks": 4,
    # Tasks.
    "tasks": 144,  # by seat and card
    "free": 36,
    "due": 36,
    "order": 36,
    "omega": 36,
    "task counts": 4,
    "left": 3,
    # Messages.
    "shown": 36,
    "labels": 16,  # by seat and label
    "may speak": 4,
    "asked": 4,
    "radio": 1,
    "answers": 20,  # by seat and answer
    # The course of the mission.
    "stage": 13,
    "phase": 13,
    "turn": 4,
    "place": 4,
    "leader": 4,
    "commander": 4,
    "member": 4,
    "first four": 4,
    "last": 4,
    "tricks": 11,
    "wins": 4,
    "ahead": 4,
    "counts": 4,
    "result": 2,
    # The mission.
    "communication": 4,
    "allocation": 6,
    "rules": 18,
    "distress": 2,
    # What the player `rules` would do; test_features.py compares these with the player.
    "script": 62,
    "worth": 1,
    "behind": 40,
}


def ones(names, among):
    return [float(name in names) for name in among]


class Seat:
    """Knowledge of one seat about the other hands, updated event by event."""

    def __init__(self, seat, twin):
        self.seat, self.passed = seat, None
        self.has = [set() for _ in range(4)]
        self.cannot = [set() for _ in range(4)]
        # After an unlabelled card: the cards above and below it; the seat holds none above or none below.
        self.either = [None] * 4
        self.nine = twin.holder("P9") if "left_of_pink9_wins_all_pink" in twin.rules else None
        for card, holder in (("R4", twin.commander), ("P9", self.nine)):
            if holder not in (None, seat):
                self.has[holder].add(card)

    def learn(self, p, label, card):
        if p == self.seat:
            return
        self.shows(p, card)
        up = {c for c in DECK if c[0] == card[0] and c > card}
        down = {c for c in DECK if c[0] == card[0] and c < card}
        if label == "unlabelled":
            known = self.has[p] - {card}
            if known & up or known & down:
                self.cannot[p] |= down if known & up else up
            elif up and down:
                self.either[p] = (up, down)
        else:
            self.cannot[p] |= (up if label != "lowest" else set()) | (down if label != "highest" else set())
        self.has[p].add(card)

    def shows(self, p, card):
        for mine, other in (0, 1), (1, 0):
            if self.either[p] and card in self.either[p][mine]:
                self.cannot[p] |= self.either[p][other]
        if self.either[p] and any(card in part for part in self.either[p]):
            self.either[p] = None

    def plays(self, p, card, lead):
        for cards in self.has:
            cards.discard(card)
        if p != self.seat:
            self.shows(p, card)
            if lead is not None and card[0] != lead[0]:
                self.cannot[p] |= {c for c in DECK if c[0] == lead[0]}

    def received(self, twin, core):
        giver = left_of(self.seat, -twin.distress)
        for cards in self.has:
            cards.discard(ACTIONS[core.passed_cards[giver]])
        self.has[left_of(self.seat, twin.distress)].add(self.passed)
        if self.nine is not None:
            self.has[self.nine].discard("P9")
            if "P9" not in twin.hands[self.seat] and self.passed != "P9":
                for p in {0, 1, 2, 3} - {self.seat, self.nine, left_of(self.nine, twin.distress)}:
                    self.cannot[p].add("P9")
            elif self.passed == "P9":
                self.has[left_of(self.seat, twin.distress)].add("P9")

    def drew(self, twin, core):
        for p in range(4):
            message = twin.messages[p]
            self.has[p] = {message[1]} & twin.hands[p] if message and p != self.seat else set()
            self.cannot[p], self.either[p] = set(), None
        self.has[left_of(self.seat)].add(ACTIONS[core.drawn_cards[left_of(self.seat)]])


class Course:
    """A game of the core beside its twin, with what each seat has found out."""

    def __init__(self, game, history):
        self.game, self.history = game, history
        self.page = game.pages[int(history[0])]
        self.distress = game.spiel.get_parameters()["distress"]
        self.state = game.spiel.new_initial_state()
        for action in history[:PREAMBLE]:
            self.state.apply_action(int(action))
        hands = [[ACTIONS[c] for c in history[1 + HAND * p : 1 + HAND * (p + 1)]] for p in range(4)]
        self.twin = Twin(self.page.model_dump(), hands, self.distress)
        self.seats = [Seat(p, self.twin) for p in range(4)]
        self.answers, self.asked = [None] * 4, set()

    def walk(self):
        """Play the game; yield at each decision of a player, and at the end."""
        for action in self.history[PREAMBLE:]:
            if not self.state.is_chance_node():
                yield
            self.apply(int(action))
        assert self.state.is_terminal()
        yield

    def apply(self, action):
        twin, before, p, name = self.twin, self.state.core.phase, self.state.current_player(), ACTIONS[action]
        lead = twin.plays[-(len(twin.plays) % 4)][1] if len(twin.plays) % 4 else None
        self.state.apply_action(action)
        twin.apply(name)
        core = self.state.core
        if before == ASK:
            self.answers[p] = name
        elif core.phase == ASK:
            self.answers = [None] * 4
        for seat in self.seats:
            if before == PASS:
                seat.passed = name if seat.seat == p else seat.passed
                if core.phase != PASS:
                    seat.received(twin, core)
            elif before == RADIO_CARD:
                seat.learn(p, *twin.messages[p][:2])
            elif before == PLAY:
                seat.plays(p, name, lead)
            elif p < 0 and twin.plays and core.phase in (RADIO, PLAY):
                seat.drew(twin, core)
        if before == PLAY and len(twin.plays) % 4 == 0:
            self.asked = set()
        elif before == RADIO_CARD or name == "silent":
            self.asked.add(p)

    def expected(self, viewer, possible):
        """The features of a seat where a player is on turn; possible: names of what it may come to see next."""
        position = Position(self, viewer)
        return {
            **position.cards([name.rpartition(":")[2] for name in possible]),
            **position.trick(),
            **position.tasks(),
            **position.messages(),
            **position.course_of_play(),
            **position.mission(),
        }


class Position:
    """What one seat sees where a player is on turn. Each method computes one group of SIZES, name by name."""

    def __init__(self, course, viewer):
        self.course, self.twin, self.core = course, course.twin, course.state.core
        self.viewer, self.mine, self.page = viewer, course.seats[viewer], course.page
        self.clockwise = [left_of(viewer, i) for i in range(4)]
        self.gone = {card for _, card in self.twin.plays}
        laid = self.twin.plays[len(self.twin.plays) // 4 * 4 :]
        self.laid, self.lying = {p for p, _ in laid}, [card for _, card in laid]
        passed = self.mine.passed if self.core.phase == PASS else None
        self.passing = {passed} if passed else set()
        self.own = self.twin.hands[viewer] - self.passing
        self.done = [self.twin.tasks[i] for i in self.twin.fulfilled]
        self.open_tasks = [card for card in self.twin.tasks if card not in self.done]
        self.token = dict(zip(self.twin.tasks, self.twin.tokens))

    def by_seat(self, *some):
        """1 for each of these seats, the own one first."""
        return ones(some, self.clockwise)

    def cards(self, plain):
        """plain: names of the actions that may come next."""
        mine, others = self.mine, self.clockwise[1:]
        unseen = set(DECK) - self.gone - self.own - set().union(*mine.has) - self.passing
        room = {p: 10 - len(self.twin.won) - (p in self.laid) - len(mine.has[p]) for p in others}
        may = {p: unseen - mine.cannot[p] if n > 0 else set() for p, n in room.items()}
        rooms = {card: sum(room[p] for p in room if card in may[p]) for card in unseen}
        theirs = set(DECK) - self.gone - self.own

        def holds(p, card):
            if card in mine.has[p]:
                return 1.0
            return room[p] / rooms[card] if card in may[p] else 0.0

        def higher(card):
            return sum(c[0] == card[0] and c > card for c in theirs)

        return {
            "own": ones(self.own, DECK),
            "next": ones(plain, DECK),
            "say": ones(plain, WORDS),
            "unseen": ones(unseen, DECK),
            "holds": [holds(p, card) for p in others for card in DECK],
            "void": [float(not any(c[0] == suit for c in may[p] | mine.has[p])) for p in others for suit in SUITS],
            "over": [higher(card) / 9 if card in self.own else 0.0 for card in DECK],
            "length": [sum(c[0] == suit for c in self.own) / 10 for suit in SUITS],
        }

    def trick(self):
        lying = self.lying
        best = winning(lying) if lying else None
        beats = [c for c in DECK if lying and c not in self.gone and winning([lying[0], best, c]) == c]
        return {
            "trick": ones(lying, DECK),
            "beats": ones(beats, DECK),
            "led": ones(lying[:1] and lying[0][0], SUITS),
            "winner": self.by_seat(*[p for p, card in self.twin.plays if card == best]),
            "best": [*ones([best and best[1]], "123456789"), float(best in ROCKETS)],
            "trick tasks": self.by_seat(*[owner for card, owner in self.twin.owners.items() if card in lying]),
        }

    def tasks(self):
        twin, page, open_tasks = self.twin, self.page, self.open_tasks
        omega_late = "omega_in_last_trick" in page.rules and len(twin.won) + 1 < 10
        due = [
            card
            for i, card in enumerate(twin.tasks)
            if card in open_tasks
            and in_order(twin.tokens, twin.fulfilled, [i]) is not None
            and not (omega_late and self.token[card] == "omega")
        ]

        def place(card):
            """Return a fifth of a number token, or the heads of an arrow token divided by -4."""
            token = self.token.get(card, "none") if card in open_tasks else "none"
            if token.isdigit():
                return int(token) / 5
            return (ARROWS.index(token) + 1) / -4 if token in ARROWS else 0

        return {
            "tasks": [float(c in open_tasks and twin.owners.get(c) == p) for p in self.clockwise for c in COLOURED],
            "free": [float(c in open_tasks and c not in twin.owners) for c in COLOURED],
            "due": ones(due, COLOURED),
            "order": [place(card) for card in COLOURED],
            "omega": [float(card in open_tasks and self.token[card] == "omega") for card in COLOURED],
            "task counts": [sum(twin.owners.get(c) == p for c in open_tasks) / 4 for p in self.clockwise],
            "left": [n / 10 for n in (page.tasks, page.tasks - len(twin.owners), page.tasks - len(self.done))],
        }

    def messages(self):
        twin = self.twin
        by_seat = [twin.messages[p] for p in self.clockwise]
        shown = [m[1] for m in by_seat if m and m[1] not in self.gone]
        opens = OPEN_FROM.get(self.page.communication, 1)
        return {
            "shown": ones(shown, COLOURED),
            "labels": [float(bool(m) and m[0] == label) for m in by_seat for label in LABELS],
            "may speak": [float(twin.may_communicate(p, 10)) for p in self.clockwise],
            "asked": self.by_seat(*self.course.asked),
            "radio": [float(len(twin.won) + 1 >= opens)],
            "answers": [float(self.course.answers[p] == answer) for p in self.clockwise for answer in ANSWERS],
        }

    def course_of_play(self):
        twin, core = self.twin, self.core
        wins = [sum(p == seat for seat, _ in twin.won) for p in self.clockwise]

        def won_by(cards, rules, over):
            """Return the number of tricks won by these cards / `over`; 0 if the mission has none of the rules."""
            return sum(c in cards for _, c in twin.won) / over if set(rules) & set(self.page.rules) else 0

        return {
            "stage": ones([5], range(13)),
            "phase": ones([core.phase], range(13)),
            "turn": self.by_seat(self.course.state.current_player()),
            "place": ones([len(self.lying)] if core.phase == PLAY else [], range(4)),
            "leader": self.by_seat(twin.leader) if core.phase > PASS else [0.0] * 4,
            "commander": self.by_seat(twin.commander),
            "member": self.by_seat(core.member),
            "first four": self.by_seat(core.first_four),
            "last": self.by_seat(core.last),
            "tricks": ones([len(twin.won)], range(11)),
            "wins": [n / 10 for n in wins],
            "ahead": [float(n > min(wins)) for n in wins],
            "counts": [
                won_by([colour + "1" for colour in COLOURS], ("one_wins_once", "ones_win_twice"), over=2),
                won_by(ROCKETS, ("each_rocket_wins", "rockets_win_in_order"), over=4),
                sum(c[1] == "9" and c not in self.gone for c in DECK) / 4,
                sum(c[0] == "P" and c not in self.gone for c in DECK) / 9,
            ],
            "result": [0.0, 0.0],
        }

    def mission(self):
        return {
            "communication": ones([self.page.communication], missions.COMMUNICATION),
            "allocation": ones([self.page.allocation], missions.ALLOCATION),
            "rules": ones(self.page.rules, missions.RULES),
            "distress": ones([self.course.distress], ("left", "right")),
        }


def split(features):
    """The features by name."""
    ends = np.cumsum(list(SIZES.values()))
    assert features.shape == (ends[-1],)
    return dict(zip(SIZES, np.split(features, ends[:-1])))
