"""The features of The Crew in plain Python, from a mission led through `crew_oracle` and what a seat has seen of it."""

from __future__ import annotations

import numpy as np
from support.crew_histories import left_of
from support.crew_oracle import ARROWS, COLOURS, DECK, OPEN_FROM, ROCKETS, ROLES, Twin, in_order, winning

from trickformer.games import _missions
from trickformer.games.crew import ACTIONS, ASK, HAND, PASS, PLAY, PREAMBLE, RADIO, RADIO_CARD

COLOURED = DECK[:36]
WORDS = ACTIONS[40:]
LABELS = ("highest", "only", "lowest", "unlabelled")
# The features in order, and how many there are of each.
LAYOUT = """
own:40 next:40 say:22 unseen:40 holds:120 void:15 over:40 length:5
trick:40 beats:40 led:5 winner:4 best:10 trick-tasks:4
tasks:144 free:36 due:36 order:36 omega:36 task-counts:4 left:3
shown:36 labels:16 may-speak:4 asked:4 radio:1 answers:20
stage:13 phase:13 turn:4 place:4 leader:4 commander:4 member:4 first-four:4 last:4
tricks:11 wins:4 ahead:4 counts:4 result:2 communication:4 allocation:6 rules:18 distress:2
script:62 worth:1 behind:40
"""
SIZES = {name.replace("-", " "): int(size) for name, size in (entry.split(":") for entry in LAYOUT.split())}


def ones(names, among):
    return [float(name in names) for name in among]


class Seat:
    """What one seat can tell of the others' hands, event by event."""

    def __init__(self, seat, twin):
        self.seat, self.passed = seat, None
        self.has = [set() for _ in range(4)]
        self.cannot = [set() for _ in range(4)]
        self.either = [None] * 4  # of an unlabelled card: those above, those below; none of the one or of the other
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
            cards.discard(ACTIONS[core.passed[giver]])
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
        self.has[left_of(self.seat)].add(ACTIONS[core.drawn[left_of(self.seat)]])


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
        """Stops wherever a player is to act, and at the end."""
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
        twin, core, mine = self.twin, self.state.core, self.seats[viewer]
        clockwise = [left_of(viewer, i) for i in range(4)]
        page, trick_number = self.page, len(twin.won) + 1

        def seats(*some):
            return ones(some, clockwise)

        gone = {card for _, card in twin.plays}
        passing = {mine.passed} if core.phase == PASS and mine.passed else set()
        own = twin.hands[viewer] - passing
        known = set().union(*mine.has)
        unseen = set(DECK) - gone - own - known - passing
        laid = {p for p, _ in twin.plays[len(twin.plays) // 4 * 4 :]}
        room = {p: 10 - len(twin.won) - (p in laid) - len(mine.has[p]) for p in clockwise[1:]}
        may = {p: unseen - mine.cannot[p] if n > 0 else set() for p, n in room.items()}
        rooms = {card: sum(room[p] for p in room if card in may[p]) for card in unseen}
        trick = [card for _, card in twin.plays[len(twin.plays) // 4 * 4 :]]
        best = winning(trick) if trick else None
        beats = [c for c in DECK if trick and c not in gone and winning([trick[0], best, c]) == c]
        done = [twin.tasks[i] for i in twin.fulfilled]
        open_tasks = [c for c in twin.tasks if c not in done]
        token = dict(zip(twin.tasks, twin.tokens))
        counts = [sum(p == seat for seat, _ in twin.won) for p in clockwise]
        omega_late = "omega_in_last_trick" in page.rules and trick_number < 10
        due = [
            card
            for i, card in enumerate(twin.tasks)
            if card in open_tasks
            and in_order(twin.tokens, twin.fulfilled, [i]) is not None
            and not (omega_late and token[card] == "omega")
        ]

        def place(card):
            said = token.get(card, "none") if card in open_tasks else "none"
            return int(said) / 5 if said.isdigit() else (ARROWS.index(said) + 1) / -4 if said in ARROWS else 0

        def won_by(cards, rules, over):
            return sum(c in cards for _, c in twin.won) / over if set(rules) & set(page.rules) else 0

        shown = [m[1] for m in twin.messages if m and m[1] not in gone]
        plain = [name.rpartition(":")[2] for name in possible]
        return {
            "own": ones(own, DECK),
            "next": ones(plain, DECK),
            "say": ones(plain, WORDS),
            "unseen": ones(unseen, DECK),
            "holds": [
                1.0 if card in mine.has[p] else room[p] / rooms[card] if card in may[p] else 0.0
                for p in clockwise[1:]
                for card in DECK
            ],
            "void": [float(not any(c[0] == s for c in may[p] | mine.has[p])) for p in clockwise[1:] for s in "PBGYR"],
            "over": [
                sum(c[0] == card[0] and c > card and c not in gone | own for c in DECK) / 9 if card in own else 0.0
                for card in DECK
            ],
            "length": [sum(c[0] == s for c in own) / 10 for s in "PBGYR"],
            "trick": ones(trick, DECK),
            "beats": ones(beats, DECK),
            "led": ones(trick[:1] and trick[0][0], "PBGYR"),
            "winner": seats(*[p for p, card in twin.plays if card == best]),
            "best": [*ones([best and best[1]], "123456789"), float(best in ROCKETS)],
            "trick tasks": seats(*[owner for card, owner in twin.owners.items() if card in trick]),
            "tasks": [float(c in open_tasks and twin.owners.get(c) == p) for p in clockwise for c in COLOURED],
            "free": [float(c in open_tasks and c not in twin.owners) for c in COLOURED],
            "due": ones(due, COLOURED),
            "order": [place(card) for card in COLOURED],
            "omega": [float(card in open_tasks and token[card] == "omega") for card in COLOURED],
            "task counts": [sum(twin.owners.get(c) == p for c in open_tasks) / 4 for p in clockwise],
            "left": [page.tasks / 10, (page.tasks - len(twin.owners)) / 10, (page.tasks - len(done)) / 10],
            "shown": ones(shown, COLOURED),
            "labels": [float(bool(m) and m[0] == w) for m in (twin.messages[p] for p in clockwise) for w in LABELS],
            "may speak": [float(twin.may_communicate(p, 10)) for p in clockwise],
            "asked": seats(*self.asked),
            "radio": [float(trick_number >= OPEN_FROM.get(page.communication, 1))],
            "answers": [float(self.answers[p] == a) for p in clockwise for a in ("yes", "no", ROLES[0], *ROLES[1:])],
            "stage": ones([5], range(13)),
            "phase": ones([core.phase], range(13)),
            "turn": seats(self.state.current_player()),
            "place": ones([len(trick)] if core.phase == PLAY else [], range(4)),
            "leader": seats(twin.leader) if core.phase > PASS else [0.0] * 4,
            "commander": seats(twin.commander),
            "member": seats(core.member),
            "first four": seats(core.first_four),
            "last": seats(core.last),
            "tricks": ones([len(twin.won)], range(11)),
            "wins": [n / 10 for n in counts],
            "ahead": [float(n > min(counts)) for n in counts],
            "counts": [
                won_by([c + "1" for c in COLOURS], ("one_wins_once", "ones_win_twice"), 2),
                won_by(ROCKETS, ("each_rocket_wins", "rockets_win_in_order"), 4),
                sum(c[1] == "9" and c not in gone for c in DECK) / 4,
                sum(c[0] == "P" and c not in gone for c in DECK) / 9,
            ],
            "result": [0.0, 0.0],
            "communication": ones([page.communication], _missions.COMMUNICATION),
            "allocation": ones([page.allocation], _missions.ALLOCATION),
            "rules": ones(page.rules, _missions.RULES),
            "distress": ones([self.distress], ("left", "right")),
        }


def split(features):
    """The features by name."""
    ends = np.cumsum(list(SIZES.values()))
    assert features.shape == (ends[-1],)
    return dict(zip(SIZES, np.split(features, ends[:-1])))
