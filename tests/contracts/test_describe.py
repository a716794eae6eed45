"""What is said of a state to people: every game tells hands, tricks with their winners, tokens and scores."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest
from support.crew_scripts import PAGES, Script

from trickformer import games
from trickformer.games import missions

SPECS = {
    "hearts": ["hearts", "hearts(jd_bonus=True)", "hearts(pass_cards=False)"],
    "skat": ["skat", "skat(scores=value)"],
    "crew": ["crew", "crew(distress=left)", "crew(mission=12)", "crew(mission=50)"],
    "hanabi": ["hanabi", "hanabi(players=4)"],
    "mines": ["mines", "mines(rows=3,cols=4,mines=2,first_move=any)", "mines(mines=3,cascade=True)"],
}
TRICKS = {"hearts", "skat", "crew"}
_TRICK = re.compile(r"trick (\d+): ([^,]+)(?:, won by seat (\d)(?:, (-?\d+) points)?)?")


def tricks(text):
    """(number, [(seat, card)], winner or None, points or None) of each line that tells a trick."""
    found = [_TRICK.fullmatch(line) for line in text.splitlines() if line.startswith("trick ")]
    assert all(found), text
    plays = [[tuple(play.split(":")) for play in m[2].split(" ")] for m in found]
    return [
        (int(m[1]), [(int(seat), card) for seat, card in cards], m[3] and int(m[3]), m[4] and int(m[4]))
        for m, cards in zip(found, plays)
    ]


def scores(text):
    (line,) = (line for line in text.splitlines() if line.startswith("scores "))
    return tuple(map(int, line.split()[1:]))


def played(game, index):
    """All states of a random game from its first decision to its end, chance's included."""
    state, rng = game.deal(5, index), random.Random(index)
    while True:
        yield state
        if state.is_terminal():
            return
        state = state.clone()
        chance = state.is_chance_node()
        state.apply_action(game.chance(state, 5, index) if chance else rng.choice(state.legal_actions()))


def test_every_game_is_told():
    assert set(SPECS) == set(games.NAMES)


@pytest.mark.parametrize("spec", [spec for specs in SPECS.values() for spec in specs])
def test_tricks_winners_and_scores(spec):
    game = games.load(spec)
    for index in range(8):
        known = ""
        for state in played(game, index):
            text = game.describe(state)
            assert text != known, f"deal {index}: a move changes nothing"
            assert ("scores " in text) == state.is_terminal()
            assert not any(line != line.rstrip() for line in text.splitlines())
            told = tricks(text)
            assert [number for number, *_ in told] == [*range(1, len(told) + 1)]
            assert all((winner is not None) == (len(cards) == game.players) for _, cards, winner, _ in told)
            for (_, cards, winner, _), (_, after, _, _) in pairwise(told):
                assert winner == after[0][0] and [seat for seat, _ in cards] == [
                    (cards[0][0] + i) % game.players for i in range(len(cards))
                ]
            known = text
        assert scores(text) == tuple(game.scores(state)), f"deal {index}"
        assert bool(told) == (game.name in TRICKS) or "passed" in text or "0:pass" in text, text


@pytest.mark.parametrize("spec", SPECS["hearts"])
def test_points_of_hearts_are_those_of_its_tricks(spec):
    game = games.load(spec)
    for index in range(30):
        *_, state = played(game, index)
        points = [0] * 4
        for _, _, winner, worth in tricks(game.describe(state)):
            points[winner] += worth
        if not any(moon in game.scores(state) for moon in (-26, -36)):
            assert game.scores(state) == tuple(points), f"deal {index}"


def test_points_of_skat_are_those_of_its_tricks():
    game = games.load("skat")
    for index in range(40):
        *_, state = played(game, index)
        result, told = state.result, tricks(game.describe(state))
        own = [worth for _, _, winner, worth in told if winner == result.soloist]
        if result.soloist >= 0:
            assert f"soloist {len(own)} tricks, {result.points} points with the skat" in game.describe(state)
            skat = sum({"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2}.get(card[1], 0) for card in _line(state, "skat"))
            assert sum(own) + skat == result.points, f"deal {index}"
            assert sum(worth for *_, worth in told) + skat <= 120


def _line(state, word):
    return next(line for line in str(state).splitlines() if line.startswith(word + " ")).split()[1:]


@pytest.mark.parametrize("spec", SPECS["hanabi"])
def test_the_board_of_hanabi_is_openspiels(spec):
    game, tokens = games.load(spec), set()
    for index in range(6):
        for state in played(game, index):
            theirs = dict(re.findall(r"(Life tokens|Info tokens|Fireworks|Discards): ?(.*?) *\n?$", str(state), re.M))
            ours = game.describe(state)
            words = f"tokens {theirs['Info tokens']} information, {theirs['Life tokens']} lives"
            assert words in ours and f"fireworks {theirs['Fireworks']}\n" in ours + "\n"
            (gone,) = (line for line in ours.splitlines() if line.startswith("discards"))
            assert gone == f"discards {theirs['Discards']}".rstrip()
            tokens.add(words)
    assert len(tokens) > 10


@pytest.mark.slow
@pytest.mark.parametrize("distress", ["off", "left"])
def test_a_lost_mission_says_what_failed_and_when(distress):
    """In every mission of the logbook: exactly the lost ones are told why, and by what a mission asks for."""
    told: dict[int, set[str]] = {}
    for mission in range(1, 51):
        game = games.load(f"crew(mission={mission},distress={distress})")
        (page,) = game.pages.values()
        for index in range(12):
            *_, state = played(game, index)
            lines = str(state).splitlines()
            end = next(line for line in lines if line.startswith(("won in", "lost in")))
            trick = len(state.core.winners)
            if state.core.result > 0:
                assert end == f"won in trick {trick}"
                continue
            what = re.fullmatch(rf"lost in trick {trick}: (.+)", end)
            assert what, f"mission {mission}, deal {index}: {end}"
            known = {f'rule "{missions.RULES[rule]}"' for rule in page.rules}
            for why in re.split("; (?=task |rule )", what[1]):
                rule, colon, _ = why.partition(": ")
                assert why.startswith("task ") or rule in known, f"mission {mission}, deal {index}: {end}"
                told.setdefault(mission, set()).add("task" if not colon else rule)
    assert set(told) == set(range(1, 51))
    goals = {5, 9, 13, 16, 17, 26, 29, 33, 34, 41, 44, 46, 50}
    assert all(len(told[m] - {"task"}) == 1 for m in goals)


LADDER = "P9 P1 P2 P3 / B1 B9 B2 B3 / G1 G9 G2 G3 / Y1 Y9 Y2 Y3 / P4 P8 P5 P6"  # seats 0, 1, 2, 3, 0 win


@pytest.mark.parametrize(
    ("mission", "tasks", "why"),
    [
        (4, "P9:0 B9:2 G9:1", ["task B9 of seat 2 went to seat 1"]),
        (
            3,
            "B9:1 P9:0",
            ["task B9 was due as number 1, and 1 are fulfilled without it", "task P9 was due as number 2, "],
        ),
        (21, "P9:0 B9:1 P1:0 G9:2 Y9:3", ["task B9 was due as number 2, and 2 are fulfilled without it"]),
        (6, "G9:2 B9:1 P9:0", ["task B9 (>>) came before task G9 (>)"]),
        (7, "B9:1 P9:0 G9:2", ["task B9 was due last, and came with 1 still open"]),
        (
            48,
            "P9:0 B9:1 G9:2",
            [
                "task P9 was due last, and came with 2 still open",
                'rule "the omega task is fulfilled in the last trick": task P9 came in',
            ],
        ),
    ],
)
def test_what_failed_of_tasks(mission, tasks, why):
    script = Script(PAGES[mission], LADDER, tasks)
    assert script.end().startswith("lost")
    found = script.failures()
    assert len(found) == len(why) and all(text.startswith(start) for text, start in zip(found, why)), found
