"""The Crew: the logbook against its source, the core's rules against a plain Python twin, OpenSpiel's own tests of a
game, and missions of one's own."""

from __future__ import annotations

import copy
import json
import pickle
import random
import statistics
import tomllib
from collections import Counter
from importlib import resources

import numpy as np
import pydantic
import pyspiel
import pytest
from support import crew_oracle as oracle
from support.play import random_playout, shared_file

from trickformer import _core, games
from trickformer.games import missions
from trickformer.games.crew import ACTIONS, CARDS, NUM_ACTIONS

CORE = _core.crew
ACTION = {name: number for number, name in enumerate(ACTIONS)}
LOGBOOK = tomllib.loads(resources.files("trickformer.games").joinpath("crew_missions.toml").read_text())["mission"]
DISTRESS = ("off", "left", "right")


# ------------------------------------------------------------------------------------------------- the logbook


def test_the_logbook_is_that_of_its_source():
    """Every field of the fifty pages."""
    theirs = json.loads(shared_file("crew", "missions.json").read_text())
    allocation = {
        "commander_decision": "decision",
        "commander_distribution": "distribution",
        "select_member": "member",
        "role_agreement": "roles",
    }
    communication = {"dead_zone": "dead zone", "disrupted:2": "from trick 2", "disrupted:3": "from trick 3"}
    expected = [
        {
            "id": page["id"],
            "tasks": page["tasks"],
            "tokens": page["tokens"],
            "communication": communication.get(page["communication"], page["communication"]),
            "allocation": allocation.get(page["allocation"]["mode"], page["allocation"]["mode"]),
            "rules": [page["special"]] if page["special"] else [],
        }
        for page in theirs
    ]
    assert [page.model_dump() for page in missions.read()] == expected


def test_what_the_logbook_sums_up_to():
    pages = missions.read()
    assert [page.id for page in pages] == list(range(1, 51))
    assert Counter(page.communication for page in pages) == {
        "normal": 39, "dead zone": 6, "from trick 2": 2, "from trick 3": 3,
    }  # fmt: skip
    assert Counter(page.allocation for page in pages) == {
        "draft": 31, "decision": 3, "distribution": 4, "member": 3, "roles": 1, "none": 8,
    }  # fmt: skip
    assert Counter(token for page in pages for token in page.tokens) == {
        "1": 11, "2": 8, "3": 5, "4": 2, "5": 1, ">": 9, ">>": 9, ">>>": 7, ">>>>": 1, "omega": 4,
    }  # fmt: skip
    assert sorted(rule for page in pages for rule in page.rules) == sorted(missions.RULES)
    assert [page.mission().tasks for page in pages] == [page.tasks for page in pages]


# ------------------------------------------------------------------------------------- against the Python twin


def course(state, rng, failures):
    """Actions of a mission played at random from `state` on. A trick that fails it is taken back and played anew, now
    and then with some before it, until it succeeds or has failed so often: both ends of most missions come up."""
    tricks, in_a_row = [(state, [])], 0
    while True:
        state, actions = tricks[-1]
        state, actions = copy.copy(state), list(actions)
        end = len(state.plays) + 4
        while not state.is_terminal() and len(state.plays) < end:
            actions.append(rng.choice(state.legal_actions()))
            state.apply_action(actions[-1])
        if state.result == 0:
            tricks.append((state, actions))
            in_a_row = 0
            continue
        failures, in_a_row = failures - 1, in_a_row + 1
        if state.result > 0 or failures < 0:
            return actions
        if in_a_row > 8:
            del tricks[max(1, len(tricks) - rng.randint(1, 4)) :]
            in_a_row = 0


def compare(page, mission, distress, seed, failures):
    """Leads the core and the twin through the same mission. Returns its result."""
    where = f"mission {page}, distress {distress}, seed {seed}"
    rng = random.Random(f"{page['id']} {distress} {seed}")
    deck = rng.sample(range(40), 40)
    state = CORE.State(mission, np.array(deck, dtype=np.uint8))
    twin = oracle.Twin(page, [[CARDS[c] for c in deck[10 * p : 10 * p + 10]] for p in range(4)], distress)
    for action in [*course(state, rng, failures), None]:
        assert state.current_player() == twin.player, where
        assert state.legal_actions() == sorted(ACTION[word] for word in twin.legal), where
        assert (state.result, state.is_terminal()) == (twin.result, twin.player == oracle.OVER), where
        for p in range(4):
            assert {CARDS[c] for c in state.hand(p)} == twin.hands[p], where
        assert [(CARDS[card], missions.TILES[tile]) for card, tile, *_ in state.tasks if card >= 0] == list(
            zip(twin.tasks, twin.tokens)
        ), where
        assert {CARDS[card]: owner for card, _, owner, _ in state.tasks if owner >= 0} == twin.owners, where
        assert {i for i, task in enumerate(state.tasks) if task[3]} == set(twin.fulfilled), where
        assert [m and (ACTIONS[m[0]], CARDS[m[1]], m[2]) for m in state.messages] == twin.messages, where
        assert (state.commander, state.winners) == (twin.commander, [seat for seat, _ in twin.won]), where
        assert state.plays == [ACTION[card] for _, card in twin.plays], where
        assert twin.member in (-1, state.member), where
        assert not twin.roles or [state.first_four, state.last] == twin.roles, where
        if action is not None:
            for wrong in rng.sample(range(NUM_ACTIONS), 1):
                if wrong not in state.legal_actions():
                    with pytest.raises(ValueError, match="illegal"):
                        state.apply_action(wrong)
            state.apply_action(action)
            twin.apply(ACTIONS[action])
    return state.result


@pytest.mark.slow
@pytest.mark.parametrize("distress", DISTRESS)
def test_core_equals_the_twin(distress):
    """Every mission: at every state who acts, what is legal, who holds and owns what, who has said what, the result."""
    won, lost = set(), set()
    for page, written in zip(missions.read(), LOGBOOK):
        for seed in range(4):
            # Of the first half of the seeds many succeed; the others are plainly random, and mostly fail.
            result = compare(written, page.mission(distress), distress, seed, 2000 if seed < 2 else 0)
            (won if result > 0 else lost).add(page.id)
    assert len(won) > 20 and len(lost) == 50


def test_a_summary_counts_the_missions_that_the_twin_won():
    """By mission, and over all games; the standard error is that of a mean of zeros and ones."""
    game, rng = games.load("crew"), random.Random(11)
    histories, won = [], {}
    for number in (1, 5, 12, 13, 26, 50):
        for index in range(4):
            deck = rng.sample(range(40), 40)
            state = CORE.State(game.missions[number], np.array(deck, dtype=np.uint8))
            hands = [[CARDS[c] for c in deck[10 * p : 10 * p + 10]] for p in range(4)]
            twin = oracle.Twin(LOGBOOK[number - 1], hands, "off")
            actions = course(state, rng, 2000 if index % 2 else 0)
            for action in actions:
                twin.apply(ACTIONS[action])
            histories.append((number, *deck, *actions))
            won.setdefault(number, []).append(twin.result > 0)
    rng.shuffle(histories)
    found = game.summary(histories, [range(4)] * len(histories))
    everything = [result for results in won.values() for result in results]
    assert 0 < sum(everything) < len(everything)
    expected = {"missions won": everything} | {f"mission {number} won": results for number, results in won.items()}
    assert list(found) == list(expected)
    for key, results in expected.items():
        error = statistics.stdev(map(float, results)) / len(results) ** 0.5
        assert found[key] == pytest.approx({"mean": sum(results) / len(results), "se": error, "games": len(results)})
    alone = [history for history in histories if history[0] == 5]
    assert game.summary(alone, [range(4)] * 4) == {"missions won": found["mission 5 won"]}
    assert game.summary([], []) == {"missions won": None}


def combined(rng, number):
    """A random page that may be written down: tasks, tokens, up to two rules."""
    while True:
        tasks = rng.choice([0, rng.randint(1, 10)])
        page = {
            "id": number,
            "tasks": tasks,
            "tokens": rng.sample(missions.TILES[:-1], rng.randint(0, min(tasks, 5))),
            "communication": rng.choice(missions.COMMUNICATION),
            "allocation": rng.choice(missions.ALLOCATION),
            "rules": rng.sample(list(missions.RULES), rng.randint(0, 2)),
        }
        try:
            return page, missions.Page.model_validate(page)
        except pydantic.ValidationError:
            continue


@pytest.mark.slow
def test_missions_of_ones_own_equal_the_twin():
    seen = Counter()
    for seed in range(400):
        written, page = combined(random.Random(seed), 1 + seed % 250)
        distress = DISTRESS[seed % 3]
        seen.update(page.rules)
        seen[len(page.rules), compare(written, page.mission(distress), distress, seed, 200)] += 1
    assert set(missions.RULES) <= set(seen) and seen[2, 1] > 10 and seen[2, -1] > 10, seen


@pytest.mark.parametrize("distress", DISTRESS)
def test_openspiels_state_equals_the_twin(distress):
    """The game as OpenSpiel sees it: the mission and the deal by chance, then the same actions, a score for all."""
    game = games.load(f"crew(distress={distress})")
    for seed in range(60):
        rng, state, twin = random.Random(seed), game.spiel.new_initial_state(), None
        while not state.is_terminal():
            action = rng.choice(state.legal_actions())
            if twin is not None:
                where = f"distress {distress}, seed {seed}, {state}"
                assert state.current_player() == twin.player, where
                assert state.legal_actions() == sorted(ACTION[word] for word in twin.legal), where
                twin.apply(ACTIONS[action])
            if state.is_chance_node():
                cards, chances = zip(*state.chance_outcomes())
                assert sum(chances) == pytest.approx(1, abs=1e-12) and len(set(chances)) == 1
                assert list(cards) == state.legal_actions()
            state.apply_action(action)
            if twin is None and state.core is not None:
                deck = [CARDS[c] for c in state.deck]
                twin = oracle.Twin(
                    LOGBOOK[state.mission.id - 1], [deck[10 * p : 10 * p + 10] for p in range(4)], distress
                )
        assert twin is not None and twin.result == (1 if game.scores(state)[0] else -1), f"seed {seed}"
        assert state.returns() == [float(s) for s in game.scores(state)]
        assert len(set(state.returns())) == 1
        assert len(state.history()) - 41 <= game.spiel.max_game_length()


# --------------------------------------------------------------------------------------------------- invariants


def test_what_holds_in_every_mission():
    """Cards are neither lost nor doubled, messages are true when they are given, a success leaves every task with
    its owner in the order of the tokens, and the histories of bulk play are those of the rules."""
    ordered = 0
    for page in missions.read():
        for distress in DISTRESS:
            mission = page.mission(distress)
            histories, results = CORE.random_games(CORE.Logbook([mission]), 5, 0, 8, tries=200)
            for number, (history, result) in enumerate(zip(histories.tolist(), results.tolist())):
                where = f"mission {page.id}, distress {distress}, game {number} of series 5"
                assert history[0] == page.id
                state = CORE.State(mission, np.array(history[1:41], dtype=np.uint8))
                order: list[int] = []
                for action in (a for a in history[41:] if a != 255):
                    assert action in state.legal_actions(), where
                    before = [m is None for m in state.messages]
                    state.apply_action(action)
                    held = [c for p in range(4) for c in state.hand(p)]
                    assert sorted([*held, *state.plays]) == list(range(40)), where
                    if len(state.plays) % 4 == 0 and page.communication != "dead zone":
                        for p, m in enumerate(state.messages):
                            assert not (before[p] and m) or truthful(state.hand(p), *m), where
                    if now := [i for i, task in enumerate(state.tasks) if task[3] and i not in order]:
                        tokens = [missions.TILES[task[1]] for task in state.tasks]
                        allowed = oracle.in_order(tokens, order, now)
                        assert allowed or not result, f"{where}: won against the tokens {tokens}"
                        order = allowed or order + now
                        ordered += any(token != "none" for token in tokens)
                assert state.is_terminal() and (state.result > 0) == bool(result), where
                if result:
                    winner = {card: state.winners[i // 4] for i, card in enumerate(state.plays)}
                    assert all(done and winner[card] == owner for card, _, owner, done in state.tasks), where
                    assert sorted(order) == list(range(page.tasks)), where
    assert ordered > 100


def truthful(hand, label, card, _):
    """Whether what a message says of a hand holds of it."""
    same = [c for c in hand if c // 9 == card // 9]
    said = {"highest": card == max(same), "only": same == [card], "lowest": card == min(same)}
    return card < 36 and card in hand and said[ACTIONS[label]]


# --------------------------------------------------------------------------------------------------- OpenSpiel


@pytest.mark.parametrize("options", ["", "mission=12", "mission=46,distress=left", "mission=50,distress=right"])
def test_openspiels_own_tests(options, capfd):
    """Serialization, histories, clones, bounds and chance, as OpenSpiel looks at every game."""
    game = pyspiel.load_game(f"trickformer_crew({options})")
    pyspiel.random_sim_test(game, num_sims=8, serialize=True, verbose=False)
    capfd.readouterr()


def test_parameters_and_strings_round_trip():
    for options in ("", "(mission=7)", "(mission=7,distress=left)", "(distress=right)"):
        game = pyspiel.load_game(f"trickformer_crew{options}")
        again = pyspiel.load_game(str(game))
        assert str(again) == str(game) == str(pickle.loads(pickle.dumps(game)))
        assert again.get_parameters() == game.get_parameters()
        assert ("7" in options) == (again.get_parameters()["mission"] == 7)
        assert str(games.load(f"crew{options}").spiel) == str(game)
    assert list(games.load("crew(mission=7)").missions) == [7]
    assert list(games.load("crew").missions) == list(range(1, 51))


def test_states_are_copied_and_pickled_whole():
    for distress in DISTRESS:
        game = games.load(f"crew(distress={distress})")
        for index in range(8):
            for state in random_playout(game.deal(3, index), random.Random(index)):
                for other in (state.clone(), pickle.loads(pickle.dumps(state)), copy.deepcopy(state)):
                    assert (str(other), other.history()) == (str(state), state.history())
                    assert other.is_terminal() or other.legal_actions() == state.legal_actions()
                if state.is_terminal():
                    assert state.returns() in ([0.0] * 4, [1.0] * 4)
                    assert game.scores(state) == tuple(state.returns())
                    continue
                with pytest.raises(ValueError, match="only at its end"):
                    game.scores(state)
                before, twin = str(state), state.clone()
                twin.apply_action(twin.legal_actions()[-1])
                assert str(state) == before != str(twin)
                core = state.core
                for same in (copy.copy(core), copy.deepcopy(core), pickle.loads(pickle.dumps(core))):
                    same.apply_action(same.legal_actions()[0])
                    assert core.legal_actions() == state.legal_actions()


def test_a_mission_is_pickled_whole():
    for page in missions.read():
        mission = page.mission("left")
        for other in (copy.copy(mission), copy.deepcopy(mission), pickle.loads(pickle.dumps(mission))):
            assert (other.id, other.tasks, other.tokens) == (mission.id, mission.tasks, mission.tokens)
    for kind in (CORE.Mission, CORE.State):
        with pytest.raises(ValueError, match="not a pickled"):
            kind.__new__(kind).__setstate__(b"short")


def test_chance_deals_every_card_that_is_left():
    state = games.load("crew").spiel.new_initial_state()
    assert state.legal_actions() == list(range(1, 51))
    state.apply_action(50)
    rng, dealt = random.Random(2), []
    while state.is_chance_node():
        cards, chances = zip(*state.chance_outcomes())
        assert sorted([*cards, *dealt]) == list(range(40))
        assert sum(chances) == pytest.approx(1, abs=1e-12) and len(set(chances)) == 1
        dealt.append(rng.choice(cards))
        state.apply_action(dealt[-1])
    for p in range(4):
        assert state.core.hand(p) == sorted(dealt[10 * p : 10 * p + 10])


def test_chance_follows_from_the_seed():
    """And the deck of a seed is the same in every mission; whatever is played, the tasks are too."""
    decks = set()
    for mission in (0, 1, 12, 24):
        game = games.load(f"crew(mission={mission})")
        first, again, other = game.deal(4, 1), game.deal(4, 1), game.deal(4, 2)
        assert first.history() == again.history() != other.history()
        decks.add(tuple(first.history()[1:41]))
    assert len(decks) == 1
    game = games.load("crew(mission=24)")
    for deal in range(3):
        tasks = set()
        for seed in range(5):
            state, rng = game.deal(6, deal), random.Random(seed)
            while state.core.phase != 11:
                chance = state.is_chance_node()
                state.apply_action(game.chance(state, 6, deal) if chance else rng.choice(state.legal_actions()))
            tasks.add(tuple(card for card, *_ in state.core.tasks))
        assert len(tasks) == 1


def test_no_world_is_resampled_by_openspiel():
    state = games.load("crew").deal(1, 0)
    with pytest.raises(pyspiel.SpielError, match="not implemented"):
        state.resample_from_infostate(0, random.random)


# --------------------------------------------------------------------------------------------- what is written down


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("crew(hands=3)", "option of crew 'hands'"),
        ("crew(mission=51)", "option mission of crew is .* 1-50, not 51"),
        ("crew(mission=-1)", "option mission of crew is .*, not -1"),
        ("crew(mission=five)", "option mission of crew is .*, not 'five'"),
        ("crew(distress=up)", "option distress of crew is .*, not 'up'"),
        ("crew(mission=3", "crew"),
        ("crew(file=nowhere.toml)", "missions nowhere.toml: No such file"),
    ],
)
def test_what_cannot_be_loaded(given, error, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(games.TrickformerError, match=error):
        games.load(given)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[[mission]\nid = 1", "missions own.toml: "),
        ("id = 1", r"write each as a table \[\[mission\]\]"),
        ("mission = []", r"write each as a table \[\[mission\]\]"),
        ("mission = 3", r"write each as a table \[\[mission\]\]"),
        ("[[mission]]\ntasks = 1", "line 1: id is missing: a whole number from 1 to 250"),
        ("[[mission]]\nid = 251\ntasks = 1", "line 2, mission 251: id is .* to 250, not 251"),
        ("[[mission]]\nid = 1\ntasks = 11", "line 3, mission 1: tasks is .* to 10, not 11"),
        (
            "[[mission]]\nid = 1\ntasks = 1\ncolour = 2",
            "line 4, mission 1: there is no 'colour'",
        ),
        ('[[mission]]\nid = 1\ntasks = 1\nrules = ["no_gravity"]', "mission 1: there is no rule 'no_gravity'"),
        ('[[mission]]\nid = 1\nallocation = "none"\nrules = ["trick_balance", "trick_balance"]', "given twice"),
        ('[[mission]]\nid = 1\ntasks = 1\ntokens = ["6"]', "tokens"),
        ('[[mission]]\nid = 1\ntasks = 2\ntokens = ["1", "1"]', "a task token is given twice"),
        ('[[mission]]\nid = 1\ntasks = 1\ntokens = ["1", "2"]', "more task tokens than tasks"),
        ('[[mission]]\nid = 1\ntasks = 2\ntokens = ["1", "3"]', "a number above the number of tasks"),
        ('[[mission]]\nid = 1\ntasks = 2\ntokens = ["omega", "2"]', "both for the last task"),
        ('[[mission]]\nid = 1\nallocation = "none"', "nothing to achieve"),
        ('[[mission]]\nid = 1\ntasks = 2\nallocation = "none"', "allocation 'none' goes with no tasks"),
        ("[[mission]]\nid = 1", "nothing to achieve"),
        ('[[mission]]\nid = 1\nallocation = "member"\nrules = ["trick_balance"]', "goes with a rule on the member"),
        ('[[mission]]\nid = 1\ntasks = 1\nrules = ["omega_in_last_trick"]', "needs the token omega"),
        (
            '[[mission]]\nid = 1\ntasks = 2\nallocation = "decision"\nrules = ["left_of_pink9_wins_all_pink"]',
            "only one rule may be on the member",
        ),
        ("[[mission]]\nid = 1\ntasks = 1\n[[mission]]\nid = 1\ntasks = 2", "line 5: mission 1 is written twice"),
        (
            "[[mission]]\nid = 1\ntasks = 1\n[[mission]]\nid = 2\ntasks = 1",
            "line 5: mission 2 differs from mission 1",
        ),
    ],
)
def test_what_cannot_be_written_down(text, error, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(games.TrickformerError, match=error) as raised:
        games.load("crew(file=own.toml)")
    assert "\n" not in str(raised.value)


def test_a_mission_of_ones_own_is_played_to_its_end(tmp_path):
    """Two rules beside tasks; OpenSpiel's tools take it as any other."""
    path = tmp_path / "own.toml"
    path.write_text(
        '[[mission]]\nid = 60\ntasks = 1\ntokens = ["1"]\nrules = ["random_draw_after_trick1", "one_wins_once"]\n'
        "[[mission]]\nid = 7\ntasks = 2\n"
    )
    game = games.load(f"crew(mission=60,file={path})")
    assert list(game.missions) == [60]
    assert list(games.load(f"crew(file={path})").missions) == [60, 7]
    with pytest.raises(games.TrickformerError, match="one of 7, 60, not 8"):
        games.load(f"crew(mission=8,file={path})")
    ends = set()
    for index in range(200):
        *_, state = random_playout(game.deal(1, index), random.Random(index))
        assert state.mission.id == 60
        ends.add(game.scores(state))
    assert ends == {(0,) * 4, (1,) * 4}
    pyspiel.random_sim_test(game.spiel, num_sims=3, serialize=True, verbose=False)
    state = game.deal(1, 0)
    assert pickle.loads(pickle.dumps(state)).history() == state.history()
