"""The features of Hanabi by the letter: number by number, from what one seat may know of a state of the core.

Others' cards are read from the state, own ones through what hints say of them only."""

from __future__ import annotations

from collections import Counter
from copy import copy
from dataclasses import dataclass, field

from support.hanabi_oracle import dead, hint_of, kinds, meaning, playable, said

from trickformer import _core

STAGES = ("deal", "move", "card", "draw", "slots", "over")


@dataclass
class Course:
    """A game and what everybody remembers of it."""

    state: _core.hanabi.State
    marks: list = field(default_factory=list)
    born: list = field(default_factory=list)  # by seat and slot, in moves
    named: list = field(default_factory=list)  # by seat and slot the move after which a hint named it, or None
    newest: list = field(default_factory=list)  # arguments of newest_move
    turns: int = 0  # left once the deck is empty

    @classmethod
    def of(cls, rules, deck):
        state = _core.hanabi.State(rules, deck)
        hand = range(rules.hand)
        every = range(rules.players)
        marks = [[said(state, p, i) for i in hand] for p in every]
        born, named = ([[start] * rules.hand for _ in every] for start in (0, None))
        return cls(state, marks, born, named, turns=rules.players)

    def step(self, action):
        before, r = self.state, self.state.rules
        after = copy(before)
        after.apply_action(action)
        mover, hint = before.current_player(), hint_of(r, action)
        self.turns -= not before.deck_size
        self.marks = meaning(self.marks, before, action, after)
        self.newest = [mover, action, [], None, False, False, False]
        if hint is None:
            slot = action % r.hand
            for memory, fresh in ((self.born, after.moves), (self.named, None)):
                del memory[mover][slot]
                if len(after.hand(mover)) > len(memory[mover]):
                    memory[mover].append(fresh)
            self.newest[3] = before.hand(mover)[slot]
            self.newest[4:] = [
                sum(after.fireworks) > sum(before.fireworks),
                after.hints > before.hints,
                after.lives < before.lives,
            ]
        else:
            offset, is_color, value = hint
            receiver = (mover + offset) % r.players
            for i, card in enumerate(before.hand(receiver)):
                if (card // r.ranks if is_color else card % r.ranks) == value:
                    self.named[receiver][i] = after.moves
                    self.newest[2].append(i)
        self.state = after


def one(size, at):
    return [float(i == at) for i in range(size)]


def some(size, members):
    return [float(i in members) for i in range(size)]


def bits(size, number):
    return [float(number >> i & 1) for i in range(size)]


def thermometer(r, counts):
    return [float(i < counts[k]) for k in kinds(r) for i in range(r.copies(k))]


def critical(state):
    r = state.rules
    return {k for k in kinds(r) if r.copies(k) - state.discards[k] == 1} - dead(state)


def unseen(state, *hidden):
    """Cards by kind that are neither on the table nor in the hands of seats that are not hidden."""
    r = state.rules
    piled = {k for k in kinds(r) if state.fireworks[k // r.ranks] > k % r.ranks}
    left = Counter({k: r.copies(k) - state.discards[k] - (k in piled) for k in kinds(r)})
    for p in set(range(r.players)) - set(hidden):
        left.subtract(state.hand(p))
    return left


def expected(course, me, script):
    """The features of `me` before a move or at the end; script: what `smart` would do there, or None."""
    s = course.state
    r = s.rules
    out = [x for height in s.fireworks for x in one(r.ranks + 1, height)]
    out += thermometer(r, s.discards) + thermometer(r, unseen(s, me))
    out += some(r.kinds, playable(s)) + some(r.kinds, dead(s)) + some(r.kinds, critical(s))
    out += one(r.hints + 1, s.hints) + one(r.lives + 1, s.lives)
    out += one(r.players + 1, None if s.deck_size else course.turns)
    piled = sum(s.fireworks)
    reachable = piled + r.kinds - len(dead(s))
    out += [s.deck_size / r.deck, piled / r.kinds, reachable / r.kinds]
    out.append((piled + s.deck_size + r.players - reachable) / r.deck)
    out += one(6, STAGES.index("over" if s.is_terminal() else "move"))
    out += one(r.players, None if s.is_terminal() else (s.current_player() - me) % r.players)
    out += newest_move(r, me, *course.newest) if course.newest else [0.0] * newest_size(r)
    out += one(r.actions, script)
    for offset in range(1, r.players):
        out += hand_of(course, (me + offset) % r.players, me)
    return out + hand_of(course, me, me)


def newest_size(r):
    return 2 * r.players + 4 + r.colors + r.ranks + 2 * r.hand + r.kinds + 3


def newest_move(r, me, mover, action, touched, card, scored, regained, lost):
    hint, mover = hint_of(r, action), (mover - me) % r.players
    if hint is None:
        kind, receiver, color, rank = (0 if action >= r.hand else 1), None, None, None
    else:
        offset, is_color, value = hint
        kind, receiver = (2 if is_color else 3), (mover + offset) % r.players
        color, rank = (value, None) if is_color else (None, value)
    out = one(r.players, mover) + one(4, kind) + one(r.players, receiver) + one(r.colors, color) + one(r.ranks, rank)
    out += some(r.hand, touched) + one(r.hand, action % r.hand if hint is None else None) + one(r.kinds, card)
    return [*out, float(scored), float(regained), float(lost)]


def taken_for(course, p, me):
    """Return for each card of a seat what `me` expects the seat to take it for: 'play', 'trash' or None."""
    s, out = course.state, []
    left = unseen(s, p, me)
    for q in {p, me}:
        left.subtract(min(k) for i in range(len(s.hand(q))) if len(k := said(s, q, i)) == 1)
    there = {k for k in kinds(s.rules) if left[k] > 0}
    for i in range(len(s.hand(p))):
        can = said(s, p, i)
        if len(can) > 1:
            can = can & there or can
            can = can & course.marks[p][i] or can
        live = can - dead(s)
        trusted = s.lives > 1 and s.knowledge(p)[i][2]
        plays = not (live if trusted else can) - playable(s)
        out.append("trash" if not live else "play" if plays else None)
    return out


def hand_of(course, p, me):
    s = course.state
    r = s.rules
    known, taken = s.knowledge(p), taken_for(course, p, me)
    chop = next((i for i, (_, _, told) in enumerate(known) if not told), None)
    others = [card for q in range(r.players) if q != me for card in s.hand(q)]
    now, gone, last = playable(s), dead(s), critical(s)
    out = []
    for i, (colors, ranks, told) in enumerate(known):
        marks, named = course.marks[p][i], course.named[p][i]
        age = s.moves - course.born[p][i]
        live = marks - gone
        out += [1.0, *bits(r.colors, colors), *bits(r.ranks, ranks), *bits(2, told), float(i == chop)]
        out += [float(named == s.moves), age / (age + 4 * r.players)]
        out += [0.0 if named is None else 1 / (1 + (s.moves - named) / r.players)]
        out += [float(bool(live) and live <= now), float(marks != said(s, p, i))]
        out += [float(taken[i] == "play"), float(taken[i] == "trash")]
        if p != me:
            card = s.hand(p)[i]
            out += one(r.kinds, card) + [float(card in group) for group in (now, gone, last)]
            out += [float(card not in marks), float(others.count(card) > 1)]
        else:
            left = unseen(s, me)
            there = {k for k in said(s, me, i) if left[k]}
            for belief in (there, there & marks or there):
                chances = [left[k] / sum(left[k] for k in belief) if k in belief else 0.0 for k in kinds(r)]
                out += chances + [sum(chances[k] for k in group) for group in (now, gone, last)]
    common = 1 + r.colors + r.ranks + 2 + 8
    size = common + (r.kinds + 5 if p != me else 2 * r.kinds + 6)
    return out + [0.0] * (size * r.hand - len(out))
