"""Hearts deals by brute force: every assignment of the unseen cards, judged by replaying it through OpenSpiel.

It shares no code with the sampler and knows no rule: a world explains a view if OpenSpiel accepts every action
and the viewer would have seen the same."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from trickformer.base import View
from trickformer.games.hearts import Hearts

FIRST_PLAY = {True: 1 + 52 + 12, False: 1 + 52}  # by whether there is a pass


def holders(hidden: np.ndarray, direction: int) -> np.ndarray:
    """int16 [n, 52]: the seat of each card after the pass; hidden: int16 [n, 64]."""
    seats = hidden[:, :52].copy()
    rows = np.arange(len(hidden))
    for j in range(12):
        if direction and (hidden[:, 52 + j] >= 0).all():
            seats[rows, hidden[:, 52 + j]] = (j // 3 + direction) % 4
    return seats


def history(direction: int, hands: list[list[int]], given: dict[int, list[int]], plays: list[int]) -> list[int]:
    """OpenSpiel's actions of a hand; hands: after the pass; given: what each seat passed, in its order."""
    dealt = [set(h) for h in hands]
    for giver, cards in given.items():
        dealt[(giver + direction) % 4] -= set(cards)
    for giver, cards in given.items():
        dealt[giver] |= set(cards)
    deal = [sorted(d)[i] for i in range(13) for d in dealt]
    passes = [card for giver in range(4) for card in given.get(giver, [])]
    return [direction, *deal, *passes, *plays]


def explained(game: Hearts, actions: list[int], view: View) -> bool:
    """Return whether OpenSpiel accepts the actions and they give the viewer the same view."""
    state = game.spiel.new_initial_state()
    for action in actions:
        if action not in state.legal_actions():
            return False
        state.apply_action(action)
    return game.view(state, view.viewer) == view


def assignments(game: Hearts, state, viewer: int) -> set[tuple[int, ...]]:
    """All ways to lay the unseen cards (ascending; the seat of each) that explain what `viewer` saw.

    `state` is one of play. Hidden passes are the lowest cards of each receiver."""
    view = game.view(state, viewer)
    actions = state.history()
    direction = actions[0]
    start = FIRST_PLAY[bool(direction)]
    played: list[list[int]] = [[] for _ in range(4)]
    for step in state.full_history()[start:]:
        played[step.player].append(step.action)
    true = {p: actions[53 + 3 * p : 56 + 3 * p] for p in range(4)} if direction else {}
    dealt = [set(actions[1 + p : 53 : 4]) for p in range(4)]
    own = (dealt[viewer] - set(true.get(viewer, []))) | set(true.get((viewer - direction) % 4, []))
    seen = own.union(*map(set, played))
    unseen = [c for c in range(52) if c not in seen]
    others = [p for p in range(4) if p != viewer]
    sizes = [13 - len(played[p]) for p in others]
    found = set()
    for first in combinations(unseen, sizes[0]):
        rest = [c for c in unseen if c not in first]
        for second in combinations(rest, sizes[1]):
            third = [c for c in rest if c not in second]
            hands = [[] for _ in range(4)]
            hands[viewer] = sorted(own)
            for p, cards in zip(others, (first, second, third)):
                hands[p] = sorted([*played[p], *cards])
            given = {}
            for p in range(4) if direction else ():
                receiver = (p + direction) % 4
                known = viewer in (p, receiver)
                given[p] = true[p] if known else hands[receiver][:3]
            if any(set(cards) - set(hands[(p + direction) % 4]) for p, cards in given.items()):
                continue  # a card that the viewer passed is not with its receiver
            if explained(game, history(direction, hands, given, actions[start:]), view):
                found.add(tuple(next(p for p in others if c in hands[p]) for c in unseen))
    return found


def unseen_cards(game: Hearts, state, viewer: int) -> list[int]:
    """The cards that `viewer` has never seen with anybody, ascending."""
    view = game.view(state, viewer)
    seen = {c for e in view.events if e.actor != -1 for c in (e.action,) if c is not None}
    passed = {e.action for e in view.events[2:5] if e.actor == viewer} if view.events[0].action else set()
    kept = set(view.events[1].seen) - passed
    shown = [e for e in view.events[2:] if e.action is None and len(e.seen) == 3]
    received = set(shown[0].seen) if shown else set()
    started = next(i for i, e in enumerate(view.events) if i > 1 and e.action is None and e.seen == (0,))
    seen = {e.action for e in view.events[started + 1 :]}
    return [c for c in range(52) if c not in seen | kept | received]
