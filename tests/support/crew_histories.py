"""Games of The Crew for the tests: missions that last, and every hidden history of an ending by brute force."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from trickformer import _core, games
from trickformer.games.crew import DRAW, HAND, NUM_CARDS, PASS, PLAYERS, PREAMBLE, RADIO, SILENT

CORE = _core.crew

# Missions that uniformly random play often does not decide before the last tricks.
LASTING = """
[[mission]]
id = 1
allocation = "none"
rules = ["one_wins_once"]
[[mission]]
id = 2
allocation = "none"
rules = ["one_wins_once", "random_draw_after_trick1"]
[[mission]]
id = 3
allocation = "none"
communication = "dead zone"
rules = ["one_wins_once"]
[[mission]]
id = 4
allocation = "none"
communication = "dead zone"
rules = ["one_wins_once", "random_draw_after_trick1"]
"""


def lasting(folder, mission, distress="off"):
    """Load the game with one of the missions of LASTING."""
    file = folder / "missions.toml"
    file.write_text(LASTING, encoding="utf-8")
    return games.load(f"crew(file={file},mission={mission},distress={distress})")


def playout(game, rng, index, silence=0.0):
    """States of a uniformly random game, at each decision and at the end; with probability `silence` a player who may
    speak stays silent."""
    state = game.deal(rng.randrange(2**30), index)
    while True:
        yield state
        if state.is_terminal():
            return
        state = state.clone()
        quiet = state.core.phase == RADIO and rng.random() < silence
        state.apply_action(SILENT if quiet else rng.choice(state.legal_actions()))
        while state.is_chance_node():
            state.apply_action(rng.choice(state.legal_actions()))


def left_of(seat, by=1):
    return (seat + by) % PLAYERS


def explaining(state, viewer):
    """Yield (row, core state) of every hidden history that explains a view; `row` is as in the belief's `hidden`.

    Passes and draws must be over. Every history that ends with the present hands and the played cards is replayed
    through the rules.
    """
    core, history = state.core, state.full_history()
    course = [(step.player, step.action) for step in history[PREAMBLE:]]
    drawn = DRAW in phases(state)
    seats = range(PLAYERS)
    plays = [[], []]  # before and after the draw: (seat, card)
    replay = CORE.State(state.mission, np.array([s.action for s in history[1:PREAMBLE]], dtype=np.uint8))
    own = replay.hand(viewer)
    for _, action in course:
        before, seat, made = replay.phase, replay.current_player(), len(replay.plays)
        replay.apply_action(action)
        if len(replay.plays) > made:
            plays[drawn and made >= PLAYERS].append((seat, action))
        assert before not in (PASS, DRAW) or made in (0, PLAYERS)
    gone = {card for _, card in plays[0] + plays[1]}
    unseen = [c for c in range(NUM_CARDS) if c not in gone and c not in core.hand(viewer)]
    sizes = {p: len(core.hand(p)) for p in seats if p != viewer}
    for rest in layings(unseen, sizes):
        held = {p: set(rest.get(p, core.hand(viewer))) for p in seats}
        after = {p: held[p] | {c for q, c in plays[1] if q == p} for p in seats}
        for draw in choices(after, core.drawn_cards, {viewer, left_of(viewer)}) if drawn else [None]:
            full = {p: set(after[p]) for p in seats}
            for p in seats if draw else ():
                full[p].discard(draw[p])
                full[left_of(p, 3)].add(draw[p])
            for p, card in plays[0]:
                full[p].add(card)
            d = core.distress
            taken = {p: core.passed_cards[left_of(p, -d)] for p in seats} if d else {}
            for received in choices(full, taken, {viewer, left_of(viewer, d)}) if d else [None]:
                dealt = {p: set(full[p]) for p in seats}
                for p in seats if received else ():
                    dealt[p].discard(received[p])
                    dealt[left_of(p, -d)].add(received[p])
                if dealt[viewer] != set(own) or any(len(cards) != HAND for cards in dealt.values()):
                    continue
                passed = [received[left_of(p, d)] for p in seats] if received else [-1] * PLAYERS
                world = replayed(state, course, dealt, passed, draw)
                if world is not None:
                    holder = {card: p for p in seats for card in dealt[p]}
                    row = [holder[c] for c in range(NUM_CARDS)] + passed + (draw or [-1] * PLAYERS)
                    yield tuple(row), world


def phases(state):
    """The phases that a game has gone through."""
    deck = np.array([s.action for s in state.full_history()[1:PREAMBLE]], dtype=np.uint8)
    replay, found = CORE.State(state.mission, deck), []
    for step in state.full_history()[PREAMBLE:]:
        found.append(replay.phase)
        replay.apply_action(step.action)
    return found


def layings(cards, sizes):
    """Every way to lay cards into hands of these sizes."""
    if not sizes:
        yield {}
        return
    (seat, size), *others = sizes.items()
    for hand in combinations(cards, size):
        for rest in layings([c for c in cards if c not in hand], dict(others)):
            yield {seat: hand, **rest}


def choices(hands, true, known):
    """A card of each hand; the true one for the seats that are known."""
    return map(list, product(*([true[p]] if p in known else sorted(hands[p]) for p in range(PLAYERS))))


def replayed(state, course, dealt, passed, drawn):
    """The core's state after the course of a game on another deal, with other passes and draws; None where it is
    not legal or another player would act."""
    deck = np.array([card for p in range(PLAYERS) for card in sorted(dealt[p])], dtype=np.uint8)
    world = CORE.State(state.mission, deck)
    if world.commander != state.core.commander:
        return None
    try:
        for seat, action in course:
            if world.current_player() != seat:
                return None
            if world.phase == PASS:
                action = passed[seat]
            elif world.phase == DRAW:
                action = drawn[world.step]
            world.apply_action(action)
    except ValueError:
        return None
    return world
