"""Hanabi: the C++ twin against OpenSpiel, hidden hands dealt anew, and the game as players see it."""

from __future__ import annotations

import copy
import pickle
import random
from collections import Counter

import numpy as np
import pytest
from support.hanabi_histories import playout

from trickformer import _core, games
from trickformer.audit.differential import OTHERS, DifferenceError, compare_games
from trickformer.base import CHANCE, PUBLIC, Event, TrickformerError
from trickformer.belief import sampler
from trickformer.games import hanabi

CORE = _core.hanabi
SPECS = (*hanabi.VARIANTS, *OTHERS)


# ----------------------------------------------------------------------------------------------- the twin's rules


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("careful", [False, True])
def test_twin_equals_openspiel(spec, careful):
    """Turns, legal actions, observations bit for bit, rewards; trickformer.audit.differential plays many more."""
    found = compare_games(games.load(spec), 3, 15, careful)
    assert found.games == 15 and found.decisions > 20
    if careful:
        assert found.drew_last >= 10


def test_a_difference_is_found(monkeypatch):
    """Other rules, or the first and the last card of the deck exchanged."""
    game, State = games.load("hanabi"), CORE.State
    game.rules = CORE.Rules(hints=7)
    with pytest.raises(DifferenceError, match="seed 1, game 0"):
        compare_games(game, 1, 1, careful=False)

    def exchanged(rules, deck):
        assert deck[0] != deck[-1]
        return State(rules, np.array([deck[-1], *deck[1:-1], deck[0]], dtype=np.uint8))

    monkeypatch.setattr(CORE, "State", exchanged)
    with pytest.raises(DifferenceError, match=r"seed 1, game 2.*of the observation differ"):
        compare_games(games.load("hanabi"), 1, 1, careful=True, first=2)


@pytest.mark.parametrize(("spec", "size"), list(zip(hanabi.VARIANTS, (658, 652, 844))))
def test_sizes_of_observations(spec, size):
    game = games.load(spec)
    assert game.rules.observation == size == game.spiel.observation_tensor_shape()[0]
    state = game.deal(1, 1)
    twin = CORE.State(game.rules, np.array(game.chance_actions(1, 1), dtype=np.uint8))
    assert twin.observation(1).tolist() == state.observation_tensor(1)


def v0_twin(twin, seat):
    """The observation with V0 beliefs, from the plain one: the share of each possible kind among cards not yet out."""
    rules = twin.rules
    copies = np.array([rules.copies(kind) for kind in range(rules.kinds)])
    piled = np.array([kind % rules.ranks < twin.fireworks[kind // rules.ranks] for kind in range(rules.kinds)])
    left = copies - np.array(twin.discards) - piled
    out = twin.observation(seat).astype(np.float64)
    slots = out[-rules.players * rules.hand * (rules.kinds + rules.colors + rules.ranks) :].reshape(
        rules.players * rules.hand, -1
    )
    for slot in slots[:, : rules.kinds]:
        if slot.any():
            slot *= left
            slot /= slot.sum()
    return out


@pytest.mark.parametrize("spec", SPECS)
def test_v0_observations(spec):
    rules = games.load(spec).rules
    decks, actions, _ = CORE.random_games(rules, 2, 0, 4, careful=True)
    for deck, moves in zip(decks, actions):
        twin = CORE.State(rules, deck)
        for action in moves[moves != 255].tolist():
            for seat in range(rules.players):
                np.testing.assert_allclose(twin.observation(seat, v0=True), v0_twin(twin, seat), rtol=2e-6)
            twin.apply_action(action)
        assert twin.is_terminal()


# ------------------------------------------------------------------------------------------------ tables in step


@pytest.mark.parametrize("spec", hanabi.VARIANTS)
def test_tables_equal_single_games(spec):
    rules = games.load(spec).rules
    tables = CORE.Tables(rules, 4, 10, 30)
    decks, _, _ = CORE.random_games(rules, 4, 10, 30)  # the same series
    twins = [CORE.State(rules, deck) for deck in decks]
    rng = np.random.default_rng(1)
    kept = np.full((30, rules.observation), np.nan, dtype=np.float32)
    while not tables.over().all():
        legal, seats = tables.legal(), rng.integers(rules.players, size=30).astype(np.int8)
        assert tables.observe(seats, out=kept) is kept or np.shares_memory(tables.observe(seats, out=kept), kept)
        v0 = tables.observe(v0=True)
        for i, twin in enumerate(twins):
            assert np.flatnonzero(legal[i]).tolist() == twin.legal_actions()
            assert tables.current()[i] == (twin.current_player() if not twin.is_terminal() else -1)
            assert np.array_equal(kept[i], twin.observation(int(seats[i])))
            if not twin.is_terminal():
                assert np.array_equal(v0[i], twin.observation(twin.current_player(), v0=True))
        actions = np.argmax(legal * rng.random(legal.shape), axis=1)
        tables.step(actions)
        for action, twin in zip(actions.tolist(), twins):
            if not twin.is_terminal():
                twin.apply_action(action)
    assert tables.scores().tolist() == [twin.score() for twin in twins]
    with pytest.raises(ValueError, match="out must be float32"):
        tables.observe(out=np.empty((29, rules.observation), dtype=np.float32))


def test_random_steps_follow_from_the_seed_and_deal_new_games():
    rules = CORE.Rules(colors=2, ranks=2, hand=2, hints=3)
    tables, same = CORE.Tables(rules, 1, 0, 50), CORE.Tables(rules, 1, 0, 50)
    ended: Counter = Counter()
    for step in range(300):
        moves = [tables[i].moves for i in range(50)]
        scores = tables.random_step(7, step)
        assert scores.tolist() == same.random_step(7, step).tolist()
        for i in range(50):
            twin = tables[i]
            assert not twin.is_terminal()
            assert twin.moves == (0 if scores[i] >= 0 else moves[i] + 1)
        marks = (tables.marks()[..., None] >> np.arange(rules.kinds, dtype=np.uint32) & 1).astype(bool)
        assert (marks <= tables.possible()).all(), step
        ended.update(scores[scores >= 0].tolist())
    assert pickle.dumps([tables[i] for i in range(50)]) == pickle.dumps([same[i] for i in range(50)])
    assert set(ended) == {0, 1, 2, 3, 4}  # uniformly random play does all of it


@pytest.mark.parametrize("spec", SPECS)
def test_hidden_hands_dealt_anew(spec):
    """As OpenSpiel's states with these cards, to all seats; nothing changes for the seat whose hand is new."""
    game = games.load(spec)
    rules, belief, rng, checked = game.rules, sampler(game), random.Random(spec), 0
    for index in range(4):
        for state in playout(game, rng, index):
            if state.is_terminal() or rng.random() < 0.7:
                continue
            seat = rng.randrange(game.players)
            belief.reset(game.view(state, seat))
            worlds = belief.sample(3, np.random.default_rng(index))
            twin = replayed(game, state)
            many = CORE.Tables(rules, 0, 0, 3)
            hidden = np.full((3, game.players, rules.hand), -1, dtype=np.int8)
            hidden[:, seat] = worlds.hidden
            for i in range(3):
                many[i] = twin
            assert many.redeal(hidden, index).all()
            for i in range(3):
                world = worlds.state(i)
                for p in range(game.players):
                    assert many[i].observation(p).tolist() == world.observation_tensor(p), state.history()
                assert sorted(many[i].deck + many[i].hand(seat)) == sorted(twin.deck + twin.hand(seat))
                assert many[i].legal_actions() == world.legal_actions()
            checked += 1
    assert checked > 5


def replayed(game, state):
    """The twin of an OpenSpiel state; the rest of the deck is in some order."""
    rules = game.rules
    dealt = [step.action for step in state.full_history() if step.player == CHANCE]
    rest = Counter({kind: rules.copies(kind) for kind in range(rules.kinds)})
    rest.subtract(dealt)
    twin = CORE.State(rules, np.array([*dealt, *rest.elements()], dtype=np.uint8))
    for step in state.full_history():
        if step.player != CHANCE:
            twin.apply_action(step.action)
    return twin


def test_hands_that_cannot_be_are_refused_and_change_nothing():
    """Of five copies of a 1 there are three; a card named yellow is not red."""
    rules = CORE.Rules()
    deck = np.array(games.load("hanabi").chance_actions(5, 0), dtype=np.uint8)
    tables = CORE.Tables(rules, 0, 0, 2)
    twin = CORE.State(rules, deck)
    twin.apply_action(10 + twin.hand(1)[0] // 5)  # names the colour of the next seat's oldest card
    tables[0] = tables[1] = twin
    hidden = np.full((2, 2, 5), -1, dtype=np.int8)
    hidden[0, 0] = 0  # five red ones
    hidden[1, 1, 0] = (twin.hand(1)[0] + 5) % 25  # a card of another colour
    assert not tables.redeal(hidden, 1).any()
    for i in range(2):
        assert pickle.dumps(tables[i]) == pickle.dumps(twin)
    hidden[:] = -1
    assert tables.redeal(hidden, 1).all()  # only the deck is shuffled
    assert tables[0].deck != twin.deck and sorted(tables[0].deck) == sorted(twin.deck)
    assert tables[0].hand(0) == twin.hand(0) and tables[0].deck != tables[1].deck


def test_states_can_be_copied_and_pickled():
    twin = CORE.State(CORE.Rules(), np.array(games.load("hanabi").chance_actions(1, 0), dtype=np.uint8))
    twin.apply_action(5)
    for other in (copy.copy(twin), copy.deepcopy(twin), pickle.loads(pickle.dumps(twin))):
        assert other.observation(0).tolist() == twin.observation(0).tolist()
        other.apply_action(5)
        assert other.moves == twin.moves + 1


# ------------------------------------------------------------------------------------- the game as players see it


def test_what_everybody_sees_of_a_short_game():
    """Two players with two cards each of R1 R1 R1 R2 Y1 Y1 Y1 Y2: hands, a hint, a play, a discard."""
    game = games.load("hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=3)")
    r1, r2, y1, y2 = range(4)
    state = game.spiel.new_initial_state()
    for action in (r1, y2, r2, r1):
        state.apply_action(action)
    state.apply_action(4)  # seat 0: "your next neighbour's red cards" are both
    state.apply_action(3)  # seat 1 plays the newer one and draws
    state.apply_action(y1)
    state.apply_action(0)  # seat 0 discards its oldest one and draws
    state.apply_action(y1)
    moves = (Event(0, 4, (0, 1)), Event(1, 3, (r1,)), Event(0, 0, (r1,)))
    assert game.view(state, PUBLIC).events == moves and game.view(state, PUBLIC).legal == ()
    assert game.view(state, 0).events == (
        Event(CHANCE, None, (r2, r1)),
        *moves[:2],
        Event(CHANCE, y1),
        moves[2],
    )
    assert game.view(state, 1).events == (Event(CHANCE, None, (r1, y2)), *moves, Event(CHANCE, y1))
    assert game.view(state, 0).legal == ()
    # Seat 0 holds Y2 Y1: a colour and two ranks can be named. The hint came back, so that nobody may discard.
    assert game.view(state, 1).legal == (2, 3, 5, 6, 7)
    assert [game.hand(state, p) for p in (0, 1)] == [[y2, y1], [r2, y1]]
    with pytest.raises(ValueError, match="only at its end"):
        game.scores(state)
    with pytest.raises(ValueError, match="a view begins"):
        game.view(game.spiel.new_initial_state(), 0)


@pytest.mark.parametrize("spec", SPECS)
def test_chance_follows_from_the_seed_alone(spec):
    """The deck is fixed before play: whatever is done, the next card to come is the same."""
    game, orders = games.load(spec), []
    assert game.chance_actions(5, 0) != game.chance_actions(5, 1)
    assert Counter(game.chance_actions(5, 0)) == Counter({k: game.rules.copies(k) for k in range(game.rules.kinds)})
    for trial in range(3):
        state, rng = game.spiel.new_initial_state(), random.Random(trial)
        while not state.is_terminal():
            chance = state.is_chance_node()
            state.apply_action(game.chance(state, 5, 0) if chance else rng.choice(state.legal_actions()))
        orders.append([step.action for step in state.full_history() if step.player == CHANCE])
        assert tuple(orders[-1]) == game.chance_actions(5, 0)[: len(orders[-1])]
    assert game.deal(1, 2).history() == list(game.chance_actions(1, 2))[: game.players * game.rules.hand]


def test_outcomes_and_scores():
    """The team's score, to all seats; of its 26 values each is worth its share of 25."""
    for players in (2, 5):
        game = games.load(f"hanabi(players={players})")
        assert game.outcomes.labels == tuple((score,) * players for score in range(26))
        assert game.outcomes.values.dtype == np.float32
        np.testing.assert_allclose(
            game.outcomes.values, np.repeat(np.arange(26)[:, None] / 25, players, axis=1), rtol=1e-6
        )
        assert game.higher_is_better and game.seatings(2) == ((0,) * players, (1,) * players)
    game, seen = games.load("hanabi(colors=2,ranks=2,hand_size=2)"), Counter()
    for index in range(60):
        *_, final = playout(game, random.Random(index), index, careful=(0.2, 1.0)[index % 2])
        assert game.scores(final) in game.outcomes.index
        seen[game.scores(final)[0]] += 1
    assert {0, 1, 2, 3} <= set(seen), seen


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("hanabi(seed=3)", "unknown option of hanabi 'seed'"),
        ("hanabi(observation_type=seer)", "observation_type of hanabi can only be card_knowledge"),
        ("hanabi(random_start_player=True)", "random_start_player of hanabi can only be False"),
        ("hanabi(players=6)", "2 to 5 players"),
        ("hanabi(players=1)", "2 to 5 players"),
        ("hanabi(hand_size=9)", "7 cards a hand"),
        ("hanabi(colors=1,ranks=1)", "fewer cards"),
        ("hanabi(max_information_tokens=0)", "2 to 5 players"),
        ("hanabi(players=True)", "a whole number, not True"),
        ("hanabi(players=two)", "a whole number, not 'two'"),
        ("hanabi(players=2147483647)", "2 to 5 players"),
    ],
)
def test_rules_that_cannot_be_are_refused(spec, says):
    """In one line, and before OpenSpiel sees them, which ends the process."""
    with pytest.raises(TrickformerError, match=says) as refusal:
        games.load(spec)
    assert "\n" not in str(refusal.value)


def test_defaults_are_those_of_openspiel():
    for players, hand in ((2, 5), (3, 5), (4, 4), (5, 4)):
        assert games.load(f"hanabi(players={players})").rules.hand == hand
    assert games.load("hanabi(observation_type=card_knowledge,random_start_player=False)").rules.hints == 8
