"""Missions of The Crew written as scripts: tricks in the order in which their cards fall, from which the hands follow.

Seats are counted from the commander, who leads the first trick: the same script is played with the commander in each
chair. `P9:0 B9:1` are tasks as they are laid out, each with the seat that takes it."""

from __future__ import annotations

import numpy as np
from support.crew_oracle import DECK, winning

from trickformer import _core
from trickformer.games import crew as names
from trickformer.games import crew_verdict, missions
from trickformer.games.crew import ACTIONS

ACTION = {name: number for number, name in enumerate(ACTIONS)}
PAGES = {page.id: page for page in missions.read()}
TALK = (names.TILE_FROM, names.TILE_TO, names.RADIO, names.RADIO_CARD)
QUIET = {names.TILE_FROM: "no", names.RADIO: "silent"}


def played(tricks):
    """(seat, card, what it follows) of each card, by trick."""
    leader, found = 0, []
    for trick in tricks:
        seats = [(leader + i) % 4 for i in range(len(trick))]
        found.append([(seat, card, trick[0][0]) for seat, card in zip(seats, trick)])
        leader = seats[trick.index(winning(trick))]
    return found


def hands_of(tricks, drawn=()):
    """Return ten cards for each seat: the cards that it plays, and others that contradict no trick.

    The commander, seat 0, has rocket 4. `drawn` holds the cards that seats 0 to 3 draw from their right neighbours
    after the first trick.
    """
    hands, void = [set() for _ in range(4)], [set() for _ in range(4)]
    for trick in played(tricks):
        for seat, card, led in trick:
            hands[seat - (card in drawn)].add(card)
            if card[0] != led:
                void[seat].add(led)
    left = [card for card in DECK if not any(card in hand for hand in hands)]
    may = {card: [s for s in range(4) if card[0] not in void[s] and (card != "R4" or s == 0)] for card in left}
    left.sort(key=lambda card: len(may[card]))

    def fill(i):
        if i == len(left):
            return True
        for seat in sorted(may[left[i]], key=lambda s: len(hands[s])):
            if len(hands[seat]) < 10:
                hands[seat].add(left[i])
                if fill(i + 1):
                    return True
                hands[seat].remove(left[i])
        return False

    assert fill(0), "no hands are left that these tricks could come from"
    return hands


class Script:
    """Mission that follows a script.

    `state` is the state of the core. `said` lists the token moves and messages that are still to come, as `seat:word`.
    Each is made as soon as its seat may make it; at other times every seat is silent.
    """

    def __init__(self, page, tricks, tasks="", named="", said="", distress="off", drawn="", chair=0):
        self.rules = page.rules
        self.tricks = [trick.split() for trick in tricks.split(" / ")]
        self.tasks = dict(task.split(":") for task in tasks.split())
        self.said = said.split()
        self.named = named.split()
        self.chair = chair
        self.drawn = drawn.split()
        hands = hands_of(self.tricks, self.drawn)
        deck = [card for p in range(4) for card in sorted(hands[(p - chair) % 4])]
        self.state = _core.crew.State(page.mission(distress), np.array([ACTION[c] for c in deck], dtype=np.uint8))
        self.plays = [card for trick in self.tricks for card in trick]

    def seat(self):
        """Return the seat on turn, counted from the commander."""
        return (self.state.current_player() - self.chair) % 4

    def legal(self):
        return {ACTIONS[action] for action in self.state.legal_actions()}

    def action(self):
        """Return the next action of the script."""
        state, phase = self.state, self.state.phase
        tasks = list(self.tasks)
        taken = [card >= 0 and owner >= 0 for card, _, owner, _ in state.tasks]
        if phase == names.REVEAL:
            return tasks[sum(card >= 0 for card, *_ in state.tasks)]
        if phase == names.DRAFT:
            return next(
                c for c, own, gone in zip(tasks, self.tasks.values(), taken) if not gone and int(own) == self.seat()
            )
        if phase == names.ASK:
            return ACTIONS[state.legal_actions()[0]]
        if phase in (names.NAME, names.APPOINT, names.APPOINT_LAST):
            named = self.tasks[tasks[sum(taken)]] if tasks and phase == names.APPOINT else self.named.pop(0)
            return names.SEATS[int(named)]
        if phase == names.DRAW:
            return self.drawn[(state.step - self.chair) % 4]
        if phase in TALK and self.said:
            seat, word = self.said[0].split(":")
            if int(seat) == self.seat() and word in self.legal():
                del self.said[0]
                return word
        if phase in QUIET:
            return QUIET[phase]
        return self.plays[len(state.plays)]

    def step(self):
        action = self.action()
        assert action in self.legal(), f"{action} of {sorted(self.legal())}"
        self.state.apply_action(ACTION[action])

    def until(self, phase, trick=1):
        """Plays until this phase of this trick is reached."""
        while (self.state.phase, len(self.state.plays) // 4 + 1) != (phase, trick):
            self.step()
        return self

    def end(self):
        """`won 3`, `lost 3` or `open 3`: how the mission stands after its last trick of the script, and that trick."""
        while not self.state.is_terminal() and len(self.state.plays) < len(self.plays):
            self.step()
        assert not self.said, f"never said: {self.said}"
        return f"{('lost', 'open', 'won')[self.state.result + 1]} {len(self.state.plays) // 4}"

    def failures(self):
        """Return the reasons why the mission failed."""
        return crew_verdict.failures(self.state, self.rules, names.CARDS)
