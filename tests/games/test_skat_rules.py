"""Skat: the core's rules against a plain Python twin, OpenSpiel's own tests of a game, and cases worked by hand."""

from __future__ import annotations

import copy
import pickle
import random

import pyspiel
import pytest
from support import skat_oracle as oracle
from support.play import random_playout
from support.skat_games import ACTION, core_of, numbers, replay

from trickformer import _core, games
from trickformer.games.skat import ACTIONS, CARDS

CORE = _core.skat
FIELDS = ("soloist", "won", "overbid", "schneider", "schwarz", "matadors", "points", "tricks", "value")
SETTINGS = ("seeger", "value")


def fields(result):
    return {f: getattr(result, f) for f in FIELDS}


# ------------------------------------------------------------------------------------- against the Python twin


@pytest.mark.slow
@pytest.mark.parametrize("policy", oracle.POLICIES)
def test_core_equals_the_twin(policy):
    """At every decision who acts, what is legal and who holds what; at the end everything about the result."""
    ends = set()
    for seed in range(500):
        state, where = None, f"policy {policy}, seed {seed}"
        for game, action in oracle.playout(policy, seed):
            if state is None:
                state = core_of([c for hand in game.hands for c in hand] + game.skat)
            assert state.current_player() == game.player, where
            assert state.legal_actions() == sorted(numbers(game.legal)), where
            assert state.is_terminal() == (game.result is not None), where
            for p in range(3):
                assert {CARDS[c] for c in state.hand(p)} == game.hands[p], where
            assert {CARDS[c] for c in state.skat} == set(game.skat), where
            if action:
                for wrong in random.Random(seed).sample(range(len(ACTIONS)), 2):
                    if wrong not in state.legal_actions():
                        with pytest.raises(ValueError, match="illegal"):
                            state.apply_action(wrong)
                state.apply_action(ACTION[action])
            else:
                assert fields(state.result()) == {f: getattr(game.result, f) for f in FIELDS}, where
                for seeger in (True, False):
                    assert state.result().scores(seeger) == game.result.scores(seeger), where
                assert (state.soloist, state.bid) == (game.soloist, game.bid), where
                ends.add((game.result.won, game.result.schwarz, game.kind.startswith("null")))
    assert policy != "strong" or (True, True, False) in ends
    assert policy != "weak" or (False, True, False) in ends
    assert policy != "null" or (True, False, True) in ends


def test_openspiels_state_equals_the_twin():
    """The game as OpenSpiel sees it: chance first, then the same actions, the same scores under both settings."""
    for setting in SETTINGS:
        game = games.load(f"skat(scores={setting})")
        for seed in range(60):
            policy = oracle.POLICIES[seed % len(oracle.POLICIES)]
            state, where = None, f"policy {policy}, seed {seed}"
            for twin, action in oracle.playout(policy, seed):
                if state is None:
                    state = replay(game, numbers([c for hand in twin.hands for c in hand] + twin.skat))
                assert state.current_player() == twin.player, where
                assert state.legal_actions() == sorted(numbers(twin.legal)), where
                if action:
                    state.apply_action(ACTION[action])
            assert game.scores(state) == twin.result.scores(setting == "seeger"), where
            assert len(state.history()) - 32 <= game.spiel.max_game_length()


def test_settle_equals_the_twin_on_every_kind_of_end():
    """Without the game around it: every contract, with random cards, bids, points and tricks."""
    rng = random.Random(1)
    ends = [(0, 0), (0, 22), (3, 30), (3, 31), (5, 60), (5, 61), (8, 89), (8, 90), (9, 119), (10, 120)]
    for number in range(20_000):
        kind = rng.choice([*oracle.BASES, "null", "null-ouvert"])
        hand = rng.random() < 0.5
        level = rng.randrange(4) if hand and not kind.startswith("null") else 0
        top = oracle.trumps(kind)
        cards = set(rng.sample(oracle.DECK, 12))
        if top and rng.random() < 0.5:  # a long run of matadors, with or without
            run = top[: rng.randint(1, len(top))]
            cards = {*run, *rng.sample(sorted(set(oracle.DECK) - set(run)), 12 - len(run))}
            if rng.random() < 0.5:
                cards = set(rng.sample(sorted(set(oracle.DECK) - set(run)), 12))
        tricks, points = rng.choice(ends)
        bid = rng.choice([b for b in oracle.BIDS if not kind.startswith("null") or b <= oracle.NULLS[kind, hand]])
        mates = oracle.matadors(kind, cards)
        expected = oracle.settle(kind, hand, oracle.LEVELS[level], bid, mates, points, tricks)
        found = CORE.settle(
            kind=min(ACTION[kind] - ACTION["diamonds"], 5),
            hand=hand,
            level=3 if kind == "null-ouvert" else level,
            bid=bid,
            soloist=1,
            soloists_cards=numbers(cards),
            points=points,
            tricks=tricks,
        )
        where = f"number {number}: {kind}, hand {hand}, level {level}, bid {bid}, {sorted(cards)}, {tricks}, {points}"
        assert (found.won, found.overbid, found.schneider, found.schwarz, found.value) == expected, where
        assert found.matadors == mates, where


# ------------------------------------------------------------------------------------------- worked by hand


def settled(kind, cards, points, tricks, bid=18, hand=False, level="plain"):
    """(won, value, matadors) of a game played for; cards: those of the soloist, filled up with low plain ones."""
    top = oracle.trumps(kind)
    held = cards.split()
    filler = [c for c in oracle.DECK if c not in top and c not in held]
    numbered = numbers([*held, *filler[: 12 - len(held)]])
    result = CORE.settle(
        kind=min(ACTION[kind] - ACTION["diamonds"], 5),
        hand=hand,
        level=3 if kind == "null-ouvert" else oracle.LEVELS.index(level),
        bid=bid,
        soloist=0,
        soloists_cards=numbered,
        points=points,
        tricks=tricks,
    )
    return result.won, result.value, result.matadors


ALL_DIAMONDS = "CJ SJ HJ DJ DA DT DK DQ D9 D8 D7"
ALL_CLUBS = "CJ SJ HJ DJ CA CT CK CQ C9 C8 C7"


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (("diamonds", "CJ HJ", 61, 6, {}), (True, 18, 1)),  # with 1, game 2
        (("clubs", "CJ SJ HJ DJ", 70, 7, {}), (True, 60, 4)),
        (("clubs", "CJ SJ HJ DJ CA CK", 70, 7, {}), (True, 72, 5)),
        (("hearts", "HJ HA", 61, 6, {}), (True, 30, -2)),  # without 2, game 3
        (("spades", "SA S7", 61, 6, {}), (True, 55, -4)),
        (("diamonds", ALL_DIAMONDS, 120, 10, {}), (True, 126, 11)),  # schneider, schwarz
        (
            ("clubs", ALL_CLUBS, 120, 10, {"hand": True, "level": "ouvert"}),
            (True, 216, 11),
        ),
        (("spades", "", 0, 0, {}), (False, -308, -11)),  # 11, game, schneider, schwarz
        (("spades", "", 61, 5, {}), (True, 132, -11)),
        (("grand", "CJ", 61, 6, {}), (True, 48, 1)),
        (("grand", "", 61, 6, {}), (True, 120, -4)),
        (("grand", "CJ SJ HJ DJ", 120, 10, {"hand": True, "level": "ouvert"}), (True, 264, 4)),
        (("grand", "CJ SJ HJ DJ", 119, 9, {"hand": True, "level": "ouvert"}), (False, -528, 4)),
        (("grand", "CJ", 60, 6, {}), (False, -96, 1)),
        (("grand", "CJ", 31, 6, {}), (False, -96, 1)),
        (("grand", "CJ", 30, 3, {}), (False, -144, 1)),  # schneider himself
        (("grand", "CJ", 90, 9, {}), (True, 72, 1)),
        (("grand", "CJ", 89, 9, {}), (True, 48, 1)),
        (("hearts", "CJ", 61, 6, {"hand": True}), (True, 30, 1)),
        # Announced and missed: 1 + game + hand + schneider + announced, lost though 89 points were made.
        (("hearts", "CJ", 89, 9, {"hand": True, "level": "schneider"}), (False, -100, 1)),
        (("hearts", "CJ", 90, 9, {"hand": True, "level": "schneider"}), (True, 50, 1)),
        (("hearts", "CJ", 120, 10, {"hand": True, "level": "schneider"}), (True, 60, 1)),
        (("hearts", "CJ", 118, 9, {"hand": True, "level": "schwarz"}), (False, -140, 1)),
        (("hearts", "CJ", 118, 9, {"hand": True, "level": "ouvert"}), (False, -160, 1)),
        (("hearts", "CJ", 120, 10, {"hand": True, "level": "ouvert"}), (True, 80, 1)),
        # Overbid: the least multiple of the base that covers the bid, lost double although the points were made.
        (("diamonds", "CJ HJ", 80, 8, {"bid": 20}), (False, -54, 1)),
        (("hearts", "CJ HJ", 80, 8, {"bid": 33}), (False, -80, 1)),
        (("diamonds", "CJ HJ", 80, 8, {"bid": 264}), (False, -540, 1)),
        (("grand", "CJ", 80, 8, {"bid": 59}), (False, -144, 1)),
        (("hearts", "CJ HJ", 90, 8, {"bid": 30}), (True, 30, 1)),  # schneider covers it
        (("null", "", 0, 0, {}), (True, 23, 0)),
        (("null", "CJ", 30, 0, {"hand": True}), (True, 35, 0)),
        (("null-ouvert", "", 0, 0, {}), (True, 46, 0)),
        (("null-ouvert", "", 0, 0, {"hand": True}), (True, 59, 0)),
        (("null", "", 0, 1, {}), (False, -46, 0)),
        (("null", "", 0, 1, {"hand": True}), (False, -70, 0)),
        (("null-ouvert", "", 0, 1, {}), (False, -92, 0)),
        (("null-ouvert", "", 0, 1, {"hand": True}), (False, -118, 0)),
        # As records hold it; the game never offers it. Lost at twice its own value.
        (("null", "", 0, 0, {"bid": 24}), (False, -46, 0)),
    ],
    ids=str,
)  # fmt: skip
def test_values_worked_by_hand(what, expected):
    *game, options = what
    assert settled(*game, **options) == expected


def words(text):
    """Cards and what is said; `/` stands for a line's end only."""
    return text.replace("/", " ").split()


def told(text):
    """The same as actions."""
    return numbers(words(text))


# Forehand holds every club but the lowest, all jacks, and nothing that loses.
STRONG = (
    "CJ SJ HJ DJ CA CT CK CQ C9 SA / C8 C7 DA DT DK DQ D9 D8 D7 HA / HT HK HQ H9 H8 H7 ST SK SQ S9 / S8 S7"
)  # fmt: skip


def run(game, text):
    state = replay(game, told(text))
    assert state.is_terminal()
    return state


def test_forehand_alone_takes_18_and_plays_a_grand_hand_ouvert():
    plays = (
        "CJ C8 HT / SJ C7 HK / HJ DA HQ / DJ DT H9 / CA DK H8 / CT DQ H7 / CK D9 ST / CQ D8 SK / C9 D7 SQ / SA HA S9"
    )
    talk = "pass pass 18 hand grand ouvert"
    for setting, scores in (("seeger", (314, 0, 0)), ("value", (264, 0, 0))):
        state = run(games.load(f"skat(scores={setting})"), f"{STRONG} / {talk} / {plays}")
        assert tuple(state.returns()) == scores
        assert fields(state.result) == {
            "soloist": 0, "won": True, "overbid": False, "schneider": True, "schwarz": True, "matadors": 4,
            "points": 120, "tricks": 10, "value": 264,
        }  # fmt: skip


def test_a_grand_ouvert_that_misses_one_trick():
    plays = (
        "SA C8 S9 / CJ C7 ST / SJ DA HT / HJ DT HK / DJ DK HQ / CA DQ H9 / CT D9 H8 / CK D8 H7 / CQ D7 SK / S7 HA SQ"
    )
    text = f"{STRONG.replace('C9 SA', 'SA S7').replace('S8 S7', 'S8 C9')} / pass pass 18 hand grand ouvert / {plays}"
    state = run(games.load("skat"), text)
    result = state.result
    assert (result.won, result.tricks, result.value) == (False, 9, -528)
    assert state.returns() == [-578, 40, 40]


def test_all_pass_and_nobody_scores():
    for setting in SETTINGS:
        state = run(games.load(f"skat(scores={setting})"), f"{STRONG} / pass pass pass")
        assert state.returns() == [0, 0, 0]
        assert state.result.soloist == -1


def test_a_null_ends_at_the_soloists_first_trick():
    text = f"{STRONG} / 18 hold pass pass pick-up S8 S7 null / C9 C8 HT"
    state = run(games.load("skat"), text)
    assert state.returns() == [-96, 40, 40]
    assert len(state.history()) == 32 + 8 + 3


def test_the_order_of_a_null():
    """The jack stands between ten and queen, and is no trump: the ten of clubs falls to it, the jack to the queen."""
    core = core_of(
        words("CT HA HT HK H9 H8 H7 DA DT DK / CJ SA ST SK S9 S8 S7 DQ D9 D8 / CQ C9 C8 C7 HQ CK CA SQ HJ DJ / SJ D7")
    )
    for word in words("pass pass 18 pick-up SJ D7 null"):
        core.apply_action(ACTION[word])
    core.apply_action(ACTION["CT"])
    assert [ACTIONS[a] for a in core.legal_actions()] == ["CJ"]  # the only club
    core.apply_action(ACTION["CJ"])
    core.apply_action(ACTION["C7"])
    assert (core.leader, core.soloists_tricks) == (1, 0)


def test_the_longest_auction_makes_and_holds_every_call():
    game = games.load("skat")
    said = [w for bid in oracle.BIDS for w in (str(bid), "hold")] + ["pass", "pass"]
    assert len(said) == 128
    state = replay(game, told(f"{STRONG} / {' '.join(said)}"))
    assert (state.core.soloist, state.core.bid, state.current_player()) == (0, 264, 0)
    rest = told("pick-up CJ SJ diamonds")
    for action in rest:
        state.apply_action(action)
    rng = random.Random(1)
    while not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))
    assert len(state.history()) - 32 == game.spiel.max_game_length() == CORE.MAX_ACTIONS == 162
    # The same number with middlehand silent: rearhand makes all the calls, and forehand holds them.
    state = replay(game, told(f"{STRONG} / pass {' '.join(said[:-1])}"))
    assert (state.core.soloist, len(state.history())) == (0, 32 + 128)


@pytest.mark.parametrize(
    ("bid", "way", "offered"),
    [
        ("23", "pick-up C8 C7", {"null", "null-ouvert"}),
        ("24", "pick-up C8 C7", {"null-ouvert"}),
        ("46", "pick-up C8 C7", {"null-ouvert"}),
        ("48", "pick-up C8 C7", set()),
        ("35", "hand", {"null", "null-ouvert"}),
        ("36", "hand", {"null-ouvert"}),
        ("59", "hand", {"null-ouvert"}),
        ("60", "hand", set()),
    ],
)
def test_a_null_is_never_worth_less_than_the_bid(bid, way, offered):
    state = replay(games.load("skat"), told(f"{STRONG} / {bid} pass pass {way}"))
    legal = {ACTIONS[a] for a in state.legal_actions()}
    assert legal == {"diamonds", "hearts", "spades", "clubs", "grand"} | offered


def test_rearhand_calls_to_who_is_left():
    game = games.load("skat")
    for auction, soloist, bid in (
        ("18 pass pass", 1, 18),  # forehand gives way, rearhand has nothing to say
        ("18 pass 20 hold 22 pass", 2, 22),
        ("18 hold pass 33 pass", 2, 33),
        ("pass 18 hold pass", 0, 18),
        ("pass 18 pass", 2, 18),
        ("pass pass 18", 0, 18),
    ):
        core = replay(game, told(f"{STRONG} / {auction}")).core
        assert (core.soloist, core.bid, core.current_player()) == (soloist, bid, soloist), auction


# --------------------------------------------------------------------------------------------------- OpenSpiel


@pytest.mark.parametrize("setting", SETTINGS)
def test_openspiels_own_tests(setting, capfd):
    """Serialization, histories, clones, bounds and chance, as OpenSpiel looks at every game."""
    game = pyspiel.load_game(f"trickformer_skat(scores={setting})")
    pyspiel.random_sim_test(game, num_sims=8, serialize=True, verbose=False)
    capfd.readouterr()


def test_parameters_and_strings_round_trip():
    for text in ("trickformer_skat", "trickformer_skat(scores=value)", "trickformer_skat(scores=seeger)"):
        game = pyspiel.load_game(text)
        again = pyspiel.load_game(str(game))
        assert str(again) == str(game)
        assert again.get_parameters()["scores"] == ("value" if "value" in text else "seeger")
        assert str(pickle.loads(pickle.dumps(game))) == str(game)
    assert games.load("skat(scores=value)").seeger is False
    with pytest.raises(games.TrickformerError, match="seeger, value, not 'chips'"):
        games.load("skat(scores=chips)")
    with pytest.raises(games.UnknownNameError, match="option of skat 'hands'"):
        games.load("skat(hands=3)")
    with pytest.raises(games.TrickformerError, match="skat"):
        games.load("skat(scores=value")


def test_states_are_copied_and_pickled_whole():
    game = games.load("skat")
    for index in range(6):
        for state in random_playout(game.deal(3, index), random.Random(index)):
            for other in (state.clone(), pickle.loads(pickle.dumps(state)), copy.deepcopy(state)):
                assert (str(other), other.history()) == (str(state), state.history())
                assert other.is_terminal() or other.legal_actions() == state.legal_actions()
            if state.is_terminal():
                continue
            before, twin = str(state), state.clone()
            twin.apply_action(twin.legal_actions()[-1])
            assert str(state) == before != str(twin)
            core = state.core
            for same in (copy.copy(core), pickle.loads(pickle.dumps(core))):
                same.apply_action(same.legal_actions()[0])
                assert core.legal_actions() == state.legal_actions()


def test_chance_deals_every_card_that_is_left():
    state = games.load("skat").spiel.new_initial_state()
    rng, dealt = random.Random(2), []
    while state.is_chance_node():
        cards, chances = zip(*state.chance_outcomes())
        assert sorted([*cards, *dealt]) == list(range(32))
        assert sum(chances) == pytest.approx(1, abs=1e-12) and len(set(chances)) == 1
        dealt.append(rng.choice(cards))
        state.apply_action(dealt[-1])
    for p in range(3):
        assert state.core.hand(p) == sorted(dealt[10 * p : 10 * p + 10])
    assert sorted(state.core.skat) == sorted(dealt[30:])


def test_chance_follows_from_the_seed():
    game = games.load("skat")
    state = game.spiel.new_initial_state()
    while state.is_chance_node():
        state.apply_action(game.chance(state, 99, 0))
    other = game.spiel.new_initial_state()
    while other.is_chance_node():
        other.apply_action(game.chance(other, 99, 0))
    assert state.history() == other.history()
    assert game.deal(4, 1).history() == game.deal(4, 1).history() != game.deal(4, 2).history()


def test_no_world_is_resampled_by_openspiel():
    state = games.load("skat").deal(1, 0)
    with pytest.raises(pyspiel.SpielError, match="not implemented"):
        state.resample_from_infostate(0, random.random)


def test_information_states_have_perfect_recall():
    """Two states that a seat cannot tell apart have been so at each of its earlier decisions: what a seat is told
    only ever grows, and its own string tells at least what its view does."""
    game = games.load("skat")
    known: dict[str, tuple] = {}
    for index in range(25):
        past = ["" for _ in range(3)]
        for state in random_playout(game.deal(5, index), random.Random(index)):
            for p in range(3):
                now = state.information_state_string(p)
                assert now.startswith(past[p]), f"deal {index}, seat {p}"
                past[p] = now
                view = game.view(state, p)
                assert known.setdefault(now, view.events) == view.events
    by_events = {(k.split(" | ")[0], events): k for k, events in known.items()}
    assert len(by_events) == len(known)


def test_the_observation_of_a_seat_hides_the_skat_and_the_other_hands():
    """Exchanging what a defender cannot know changes none of its strings: the soloist's discards and pick-up."""
    game = games.load("skat")
    deck = "CJ SJ HJ DJ CA CT CK CQ C9 SA C8 C7 DA DT DK DQ D9 D8 D7 HA HT HK HQ H9 H8 H7 ST SK SQ S9 S8 S7"
    talk = "18 pass pass pick-up {} clubs CJ C8 HT"
    first = replay(game, told(f"{deck} {talk.format('DA HA')}"))
    other = replay(game, told(f"{deck} {talk.format('S8 S7')}"))
    for seat in (0, 2):
        assert first.information_state_string(seat) == other.information_state_string(seat)
        assert first.observation_string(seat) == other.observation_string(seat)
    assert first.information_state_string(1) != other.information_state_string(1)
