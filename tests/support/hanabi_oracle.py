"""Slow twins of Hanabi's scripted players: what a hint means, and three lists of rules, by the letter.

They read a state (`_core.hanabi.State`) card by card, as a person would; the own cards only through what hints say.
"""

from collections import Counter
from fractions import Fraction


def kinds(rules):
    return range(rules.kinds)


def dead(state):
    """Kinds that are on their pile, or out of reach because a rank below them, or their own, is gone."""
    r, out = state.rules, set()
    for k in kinds(r):
        height = state.fireworks[k // r.ranks]
        below = range(k - k % r.ranks + height, k + 1)
        if k % r.ranks < height or any(state.discards[b] == r.copies(b) for b in below):
            out.add(k)
    return out


def playable(state):
    """Kinds that come next on their pile and are not all gone."""
    r = state.rules
    return {k for k in kinds(r) if state.fireworks[k // r.ranks] == k % r.ranks} - dead(state)


def said(state, seat, slot):
    colors, ranks, _ = state.knowledge(seat)[slot]
    r = state.rules
    return {k for k in kinds(r) if colors >> k // r.ranks & 1 and ranks >> k % r.ranks & 1}


def hint_of(rules, action):
    """(offset, is it a colour, value) of a hint, None of other actions."""
    number = action - 2 * rules.hand
    if number < 0:
        return None
    colors = (rules.players - 1) * rules.colors
    if number < colors:
        return 1 + number // rules.colors, True, number % rules.colors
    return 1 + (number - colors) // rules.ranks, False, (number - colors) % rules.ranks


def meaning(marks, before, action, after):
    """The marks after a move: for every seat a list of sets of kinds."""
    r, mover = before.rules, before.current_player()
    marks = [list(hand) for hand in marks]
    hint = hint_of(r, action)
    if hint is None:
        del marks[mover][action % r.hand]
        while len(marks[mover]) < len(after.hand(mover)):
            marks[mover].append(set(kinds(r)))
        return marks
    offset, is_color, value = hint
    seat = (mover + offset) % r.players
    untold = [i for i, (_, _, told) in enumerate(before.knowledge(seat)) if not told]
    touched = [i for i, k in enumerate(after.hand(seat)) if (k // r.ranks if is_color else k % r.ranks) == value]
    now, gone = playable(before), dead(before)
    meant, focus = set(now), None
    if fresh := [i for i in touched if i in untold]:
        focus = fresh[-1]
    elif unsure := [i for i in touched if marks[seat][i] - now - gone]:
        focus = unsure[-1]
    if not is_color and untold and focus == untold[0]:
        meant |= {k for k in kinds(r) if before.discards[k] == r.copies(k) - 1} - gone
    for i in range(len(marks[seat])):
        possible = said(after, seat, i)
        marks[seat][i] = marks[seat][i] & possible or possible
        if i == focus:
            marks[seat][i] = marks[seat][i] & meant or marks[seat][i]
    return marks


def chances(state):
    """Return for each own slot the probability that its card is playable, and whether it is surely useless.

    Both follow from hints and visible cards.
    """
    r, me = state.rules, state.current_player()
    seen = Counter({k: state.discards[k] + (state.fireworks[k // r.ranks] > k % r.ranks) for k in kinds(r)})
    for p in range(r.players):
        if p != me:
            seen.update(state.hand(p))
    own = [said(state, me, i) for i in range(len(state.knowledge(me)))]
    seen.update(next(iter(s)) for s in own if len(s) == 1)
    now, gone, out = playable(state), dead(state), []
    for s in own:
        weights = {k: r.copies(k) - seen[k] for k in s if r.copies(k) > seen[k]} if len(s) > 1 else dict.fromkeys(s, 1)
        good = sum(n for k, n in weights.items() if k in now)
        out.append((Fraction(good, sum(weights.values())), set(weights) <= gone))
    return out


def tell(state, wanted, color_first):
    """Return the hint on the first card of these kinds that its owner does not know, or None."""
    r, me = state.rules, state.current_player()
    for offset in range(1, r.players):
        p = (me + offset) % r.players
        for k, (_, _, told) in zip(state.hand(p), state.knowledge(p), strict=True):
            if k in wanted and told != 3:
                color = color_first if told == 0 else told == 2
                value = k // r.ranks if color else k % r.ranks
                return next(a for a in range(r.actions) if hint_of(r, a) == (offset, color, value))
    return None


def listed(name, state):
    """Return the actions among which `iggi`, `piers` or `flawed` chooses."""
    r, legal = state.rules, state.legal_actions()
    odds = chances(state)
    best = max(range(len(odds)), key=lambda i: (odds[i][0], -i))
    threshold, spare_life = Fraction(1), state.lives > 1
    if name == "piers" and spare_life:
        threshold = Fraction(3, 5) if len(state.deck) else Fraction(0)
    if name == "flawed":
        threshold = Fraction(1, 4)
    if odds[best][0] >= threshold and odds[best][0] > 0:
        return [r.hand + best]
    hints = [a for a in legal if a >= 2 * r.hand]
    if state.hints and name != "flawed":
        action = tell(state, playable(state), color_first=False)
        if action is None and name == "piers" and state.hints < 4:
            action = tell(state, dead(state), color_first=True)
        if action is not None:
            return [action]
    if name == "flawed" and hints:
        return hints
    if 0 in legal:
        return [next((i for i, (_, useless) in enumerate(odds) if useless), 0)]
    return hints or legal
