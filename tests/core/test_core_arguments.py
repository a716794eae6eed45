"""Sizes, types and ranges of what Python hands to the core, and calls that meet: refused at the entry, by name."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pytest

from tests.faults import core_examples
from trickformer import _core, games, tokenizers

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
GAMES = ("hearts", "skat", "crew", "hanabi")


def codec(name: str):
    return tokenizers.make(games.load(name)).codec


def hearts_view(plays: tuple[int, ...] = ()):
    dealt = sorted(range(0, 52, 4))  # the clubs, with the two that leads
    return _core.hearts.SeatView(_core.hearts.Rules(), 0, 0, dealt, [], [], 0, list(plays), not plays)


def hearts_hand():
    """The view of a hand that is over."""
    state = _core.hearts.State(_core.hearts.Rules(), 0, np.arange(52, dtype=np.uint8))
    plays = []
    while not state.is_terminal():
        plays.append(state.legal_actions()[0])
        state.apply_action(plays[-1])
    return hearts_view(tuple(plays))


def skat_cards(n: int) -> list[int]:
    return list(range(n))


@pytest.fixture(scope="module")
def evaluation():
    tables = np.zeros((9, _core.skat_search.ENTRIES), np.float32), np.ones((8, 2), np.float32)
    return _core.skat_search.Evaluation(*tables)


@pytest.mark.parametrize("n", [2**40, 2**58, 2**60, 2**61, 2**62, 2**63, 2**64 - 1])
def test_more_than_the_memory_is_refused_before_it_is_asked_for(n, evaluation):
    sampler = _core.hearts.DealSampler(hearts_view())
    rules, hanabi = _core.hearts.Rules(), _core.hanabi.Rules()
    for call in (
        lambda: sampler.sample(0, n),
        lambda: _core.hearts.random_hands(rules, 1, 0, n),
        lambda: _core.skat.random_games(True, 1, 0, n),
        lambda: _core.hanabi.Tables(hanabi, 1, 0, n),
        lambda: _core.hanabi.random_games(hanabi, 1, 0, n),
        lambda: _core.Seats(codec("hearts").tracker(), n),
        lambda: _core.skat_search.samples(evaluation, 0, 0, 1, 0, n),
    ):
        with pytest.raises(MemoryError, match="exceed this machine's memory"):
            call()


def test_floats_are_no_integers_and_integers_must_fit():
    table = codec("hearts")
    history, scores = _core.hearts.random_hands(_core.hearts.Rules(), 5, 0, 2)
    seats = np.array([0, 3], np.uint8)
    good = table.encode(history, seats)
    for same in (history.astype(np.int64), history.astype(np.uint16), np.repeat(history, 2, 0)[::2]):
        np.testing.assert_array_equal(table.encode(same, seats), good)
    over = history.astype(np.int64)
    over[0, 0] += 256
    for wrong in (history.astype(np.float64), history.astype(np.float32), over, -history.astype(np.int64), over * 1j):
        with pytest.raises(TypeError):
            table.encode(wrong, seats)
    with pytest.raises(TypeError):
        table.outcomes(scores.astype(np.float32), seats)
    with pytest.raises(TypeError):
        _core.skat.complete_tokens(np.array([99.5]))
    with pytest.raises(TypeError):
        _core.hanabi.Tables(_core.hanabi.Rules(), 1, 0, 2).take(np.array([0.0]))
    out = np.zeros((2, _core.hanabi.Rules().observation))  # of another type: what is written would go into a copy
    with pytest.raises(TypeError):
        _core.hanabi.Tables(_core.hanabi.Rules(), 1, 0, 2).observe(out=out)


def test_a_seat_is_one_of_the_game():
    for name in GAMES:
        table = codec(name)
        hands = tokenizers.fast(games.load(name)).core_hands(["random"] * games.load(name).players, 1, 0, 1, 1, 0.0)
        seat = np.array([games.load(name).players], np.uint8)
        with pytest.raises(ValueError, match=r"a seat is 0 to \d, not \d"):
            table.encode(hands.history, seat)
        with pytest.raises(ValueError, match=r"a seat is 0 to \d, not \d"):
            table.labels(hands.history, seat, 1, np.zeros(1, np.uint64), 1, 0.0)
    state = _core.hearts.State(_core.hearts.Rules(), 0, np.arange(52, dtype=np.uint8))
    for player in (-1, 4, INT_MIN, INT_MAX):
        with pytest.raises(IndexError):
            state.information_state_string(player)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("token", [INT_MIN, INT_MIN + 60, INT_MAX, INT_MAX - 1])
def test_any_number_may_be_pushed(name, token):
    """It makes the history illegal, as -1 does, and overflows nothing (which the sanitizers see)."""
    table = codec(name)
    tracker, twin, features = table.tracker(), table.tracker(), _core.Seats(table.tracker(), 1)
    for _ in range(40):
        tracker.push(token)
        twin.push(-1 if token < 0 else 2**15 - 1)
        row = features.push(np.zeros(1, np.int32), np.array([token], np.int32), np.ones(1, np.int32))
        np.testing.assert_array_equal(tracker.features(), twin.features())
        np.testing.assert_array_equal(row[0], twin.features())
    assert not tracker.is_legal()


@pytest.mark.parametrize("number", [INT_MIN, -1, INT_MAX])
def test_numbers_of_the_rules_are_in_range(number, evaluation):
    search, prospects = _core.skat_search, _core.skat_search.Prospects(evaluation, skat_cards(10), 0)
    good = {"kind": 0, "hand": False, "level": 0, "bid": 18, "soloist": 1, "points": 61, "tricks": 5}
    for name in good:
        if name != "hand":
            with pytest.raises(ValueError, match=r"not -?\d+|0 to"):
                _core.skat.settle(**{**good, name: number}, soloists_cards=skat_cards(12))
    for call in (
        lambda: prospects.picking_up(number),
        lambda: prospects.by_hand(number),
        lambda: search.best_offer(evaluation, skat_cards(12), number, 0),
    ):
        with pytest.raises(ValueError, match="a bid is 0 to 264"):
            call()
    hanabi = codec("hanabi")
    with pytest.raises(ValueError, match="an actor is 1 to 1"):
        hanabi.token(0, number)
    for tokens in (_core.skat.complete_tokens, hanabi.events, lambda t: _core.crew.complete_tokens(codec("crew"), t)):
        with pytest.raises(ValueError, match=r"token|tokens"):
            tokens(np.array([number if number != -1 else INT_MIN], np.int32))


def test_extreme_limits_of_the_solver_are_thresholds_like_others():
    position = _core.skat_solver.Positions(
        *(np.array(column, dtype) for column, dtype in (([4], np.int8), ([0], np.int8), ([[1, 2, 4]], np.uint32))),
        np.array([[-1, -1]], np.int8),
        np.array([0], np.int8),
        np.array([[20, 20]], np.int16),
    )
    for threshold, reached in ((INT_MIN, 1), (INT_MAX, 0)):
        assert _core.skat_solver.plain_at_least(position, threshold)[0] == [reached]
        assert _core.skat_solver.at_least(position, threshold)[0] == [reached]
    assert _core.skat_solver.exact(position, INT_MAX)[0] == _core.skat_solver.exact(position, INT_MIN)[0]
    full = np.array([[0x3FF, 0x3FF << 10, 0x3FF << 20]], np.uint32)
    game = _core.skat_solver.Positions(
        np.array([4], np.int8), np.array([0], np.int8), full, np.array([[-1, -1]], np.int8), np.array([0], np.int8),
        np.array([[0, 0]], np.int16),
    )  # fmt: skip
    with pytest.raises(ValueError, match="at most 15 cards"):
        _core.skat_solver.minimax_moves(game, False)


def test_pimc_of_hearts_has_a_card_to_choose_and_a_bound():
    sampler = _core.hearts.DealSampler(hearts_view())
    for runs in (0, INT_MIN, INT_MAX):
        with pytest.raises(ValueError, match="runs"):
            _core.hearts.pimc(sampler, 1, runs, 0.4, True, True, 1)
        with pytest.raises(ValueError, match="runs"):
            _core.hearts.pimc_worlds(sampler, 1, runs, 0.4, True, True, 1)
    with pytest.raises(ValueError, match="worlds"):
        _core.hearts.pimc_worlds(sampler, -1, 10, 0.4, True, True, 1)
    with pytest.raises(ValueError, match="the hand is over"):
        _core.hearts.pimc(_core.hearts.DealSampler(hearts_hand()), 1, 10, 0.4, False, True, 1)


def test_a_seat_of_hearts_that_is_not_on_turn_decides_nothing():
    core, rules = _core.hearts, _core.hearts.Rules(can_lead_any_club=True)
    hand = [card for card in range(52) if card % 4][:13]

    def waits(passes):
        return core.SeatView(rules, 0, 1, hand, hand[:passes], [], -1, [], False)

    for view in (waits(3), hearts_view((0,)), hearts_hand()):
        deals = core.DealSampler(view)
        for search in (core.pimc, core.pimc_worlds):
            for uct in (False, True):
                with pytest.raises(ValueError, match=r"not on turn|the hand is over"):
                    search(deals, 1, 10, 0.4, uct, True, 0)
        with pytest.raises(ValueError, match="not on turn"):
            core.rules_player([view])
    for passes in range(3):
        found = core.pimc(core.DealSampler(waits(passes)), 1, 10, 0.4, False, True, 0)
        assert set(found) == set(hand[passes:])
        assert set(core.rules_player([waits(passes)])) <= set(hand[passes:])


def test_scores_of_no_outcome_are_told():
    for name, dtype in (("hearts", np.int8), ("skat", np.int16)):
        table = codec(name)
        with pytest.raises(IndexError, match="no outcome of these scores"):
            table.outcomes(np.full((1, games.load(name).players), 101, dtype), np.zeros(1, np.uint8))


def test_a_damaged_state_is_not_read():
    rules = _core.hanabi.Rules()
    for state in (rules, _core.skat.State(np.arange(32, dtype=np.uint8)), _core.mines.Board(3, 3, 1, 0)):
        kept, bound = state.__getstate__(), type(state)
        fresh = bound.__new__(bound)
        fresh.__setstate__(kept)
        assert fresh.__getstate__() == kept
        for at in range(len(kept)):
            damaged = bytearray(kept)
            damaged[at] ^= 1 << at % 8
            with pytest.raises(ValueError, match="not a pickled"):
                bound.__new__(bound).__setstate__(bytes(damaged))


@pytest.mark.filterwarnings("ignore:nanobind")
def test_an_object_that_was_never_constructed_is_refused():
    for bound, use in ((_core.hearts.Tables, lambda t: t.tokens), (_core.Tracker, lambda t: _core.Seats(t, 1))):
        with pytest.raises(TypeError):
            use(bound.__new__(bound))


def test_sizes_of_a_model_are_looked_at_before_its_weights():
    sizes, *rest = core_examples.backend_arguments(61, 3, np.random.default_rng(1))
    for name in sizes:
        if name not in ("n_actions", "masked"):
            for size in (INT_MAX, INT_MIN, -1, 2**20):
                with pytest.raises(ValueError, match=r"size of the model|layers|multiple|elements|values must"):
                    _core.GPT2Backend({**sizes, name: size}, *rest)
    with pytest.raises(ValueError, match="n_head"):
        _core.GPT2Backend({name: size for name, size in sizes.items() if name != "n_head"}, *rest)
    with pytest.raises(TypeError, match=re.escape("tensor transformer.wte.weight")):
        _core.GPT2Backend(sizes, rest[0], {**rest[1], "transformer.wte.weight": "none"}, *rest[2:])


def test_weights_are_numbers(evaluation):
    tables = np.zeros((9, _core.skat_search.ENTRIES), np.float32), np.ones((8, 2), np.float32)
    for which in range(2):
        for bad in (np.nan, np.inf):
            spoiled = [t.copy() for t in tables]
            spoiled[which].flat[3] = bad
            with pytest.raises(ValueError, match="weight 3 is not a finite number"):
                _core.skat_search.Evaluation(*spoiled)
    with pytest.raises(ValueError, match="passing must be finite"):
        _core.skat_search.BidModel(passing=float("nan"))


def test_cards_are_laid_away_however_bad_the_contract():
    entries = _core.skat_search.ENTRIES
    bad = _core.skat_search.Evaluation(np.full((9, entries), -1e12, np.float32), np.ones((8, 2), np.float32))
    for laid, logit in _core.skat_search.best_laying(bad, skat_cards(12), 1):
        assert len(laid) == 2 and logit < -1e9


def test_missions_leave_nobody_without_an_action():
    for tiles, allocation, distress, rules in (
        ([], 0, 0, []),
        ([], 2, 0, []),
        ([10], 5, 0, []),
        ([1, 1], 0, 0, []),
        ([1], 0, 0, [7]),
        ([1], 0, 0, [12]),
        ([10], 0, 2, []),
    ):
        with pytest.raises(ValueError, match=r"task|card"):
            _core.crew.Mission(1, tiles, 0, allocation, distress, rules)


@pytest.mark.parametrize("rule", [0, 10, 13, 17])  # three on the member, one on roles
def test_missions_speak_of_nobody_who_is_not_named(rule):
    right = 4 if rule == 17 else 3
    for allocation in range(6):
        tiles = [10] if allocation < 3 else []
        if allocation == right:
            _core.crew.Mission(1, tiles, 0, allocation, 0, [rule])
            with pytest.raises(ValueError, match=r"member|roles"):
                _core.crew.Mission(1, tiles, 0, allocation, 0, [])
        else:
            with pytest.raises(ValueError, match=r"member|roles"):
                _core.crew.Mission(1, tiles, 0, allocation, 0, [rule])


class Reenters:
    """A tracker in Python that uses, while it is asked, the very object that asks."""

    def __init__(self, use):
        self.use = use

    def copy(self):
        return Reenters(self.use)

    def my_turn(self):
        return True

    def terminal(self):
        return False

    def is_legal(self):
        return True

    def legal(self):
        return np.ones(4, bool)

    def possible(self):
        return np.ones(4, bool)

    def features(self):
        return np.zeros(2, np.float32)

    def push(self, token):
        self.use()


def batch_of(tracker, **options):
    batch = _core.gomcts.SearchBatch(np.zeros((8, 4), np.float32))
    settings = {"runs": 20, "steps": 2, "c": 0.4, "threshold": 0.0, "mu": 0.0, "wave": 2, "legal": True}
    batch.add(tracker, 1, 0, **(settings | options))
    return batch


def advanced(batch, columns: int, logit: float = 0.0) -> None:
    """The next questions of a search, answered."""
    while batch.advance():
        batch.give_nodes(np.arange(len(batch.branches()[1]), dtype=np.int32))
        policy = np.full((len(batch.policy_nodes()), columns), logit, np.float32)
        batch.answer(policy, np.zeros((len(batch.value_nodes()), 4), np.float32), policy)


def test_an_object_in_use_refuses_another_call():
    batch = batch_of(Reenters(lambda: batch.advance()))
    with pytest.raises(RuntimeError, match="another thread is using"):
        advanced(batch, 4)
    batch = None  # the garbage collector does not see through a tracker that the core holds
    seats = _core.Seats(Reenters(lambda: seats.after(np.zeros(1, np.int32), np.zeros(1, np.int32))), 1)
    with pytest.raises(RuntimeError, match="another thread is using"):
        seats.push(np.zeros(1, np.int32), np.zeros(1, np.int32), np.ones(1, np.int32))
    seats = None


def test_threads_on_one_object_find_it_in_use_or_free():
    batch = batch_of(codec_at_own_turn(), runs=200, wave=50)
    tables = _core.hanabi.Tables(_core.hanabi.Rules(), 1, 0, 50)
    rows, said = np.arange(50), []

    def work() -> None:
        for call in (lambda: batch.advance(), lambda: tables.random_step(1, 2), lambda: tables.deal(rows, 1, 2)) * 100:
            try:
                call()
            except (RuntimeError, ValueError) as error:
                said.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("another thread is using" in text or "still wait for nodes or answers" in text for text in said)


def codec_at_own_turn():
    tokenizer = tokenizers.make(games.load("hearts"))
    tables = tokenizers.fast(games.load("hearts")).tables(1, 0, 1)
    seat = int(tables.current()[0])
    tracker = tokenizer.codec.tracker()
    for token in tables.tokens[0, seat, : tables.lengths[0, seat]]:
        tracker.push(int(token))
    assert tracker.my_turn()
    return tracker


def test_a_search_takes_answers_to_what_it_asked():
    batch = batch_of(codec_at_own_turn(), action_values=True)
    assert batch.advance()
    with pytest.raises(ValueError, match="still wait for nodes or answers"):
        batch.advance()
    batch.give_nodes(np.arange(len(batch.branches()[1]), dtype=np.int32))
    rows, values = len(batch.policy_nodes()), np.zeros((len(batch.value_nodes()), 4), np.float32)
    for columns in (1, 60, 62, 256):
        logits = np.zeros((rows, columns), np.float32)
        with pytest.raises(ValueError, match="one row of logits"):
            batch.answer(logits, values, logits)
    with pytest.raises(ValueError, match="another vocabulary or another number of features"):
        batch.add(
            codec("skat").tracker() if codec("skat").tracker().my_turn() else Reenters(lambda: None),
            1, 0, runs=1, steps=1, c=0.4, threshold=0.0, mu=0.0, wave=1, legal=True,
        )  # fmt: skip
    backend = _core.GPT2Backend(*core_examples.backend_arguments(9, 0, np.random.default_rng(1)))
    with pytest.raises(ValueError, match="the model has 9 tokens"):
        batch.run(backend, False)
    with pytest.raises(ValueError, match="at least one outcome"):
        _core.gomcts.SearchBatch(np.zeros((0, 4), np.float32))


class Breaks(Reenters):
    def __init__(self):
        super().__init__(lambda: None)

    def copy(self):
        return Breaks()

    def terminal(self):
        raise ValueError("this tracker is out of order")


def test_a_batch_in_which_a_tracker_failed_goes_on_no_more():
    batch = batch_of(Reenters(lambda: None), features=True)
    idle = _core.under_way()
    batch.add(Breaks(), 1, 0, runs=20, steps=2, c=0.4, threshold=0.0, mu=0.0, wave=2, legal=True, features=True)
    with pytest.raises(ValueError, match="out of order"):
        batch.advance()
    assert _core.under_way()[1] < idle[1]
    backend = _core.GPT2Backend(*core_examples.backend_arguments(4, 2, np.random.default_rng(1)))
    nothing = np.zeros((0, 4), np.float32)
    for _ in range(2):
        assert [len(part) for part in batch.branches()] == [0, 0, 0]
        for go_on in (batch.advance, lambda: batch.run(backend, True)):
            with pytest.raises(ValueError, match="has failed"):
                go_on()
        batch.answer(nothing, nothing)


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan"), float("inf")])
def test_a_search_needs_a_finite_temperature_above_0(temperature):
    with pytest.raises(ValueError, match="temperature must be a finite number above 0"):
        batch_of(codec_at_own_turn(), temperature=temperature)


@pytest.mark.parametrize("option", ["leaf_action_values", "rollout_action_values"])
def test_a_search_that_counts_action_values_is_given_them(option):
    batch = batch_of(Reenters(lambda: None), **{option: True}, features=True)
    backend = _core.GPT2Backend(*core_examples.backend_arguments(4, 2, np.random.default_rng(1)))
    with pytest.raises(ValueError, match="actions is false"):
        batch.run(backend, False)
    assert batch.advance()
    batch.give_nodes(np.arange(len(batch.branches()[1]), dtype=np.int32))
    policy, values = np.zeros((len(batch.policy_nodes()), 4), np.float32), np.zeros((0, 4), np.float32)
    assert len(policy) and not len(batch.value_nodes())
    with pytest.raises(ValueError, match="the answer has none"):
        batch.answer(policy, values)
    batch.answer(policy, values, policy)
    assert batch.advance()


def test_logits_that_are_no_numbers_choose_a_legal_action():
    batch = batch_of(codec_at_own_turn(), action_values=True, runs=3)
    advanced(batch, 61, float("nan"))
    assert all(0 <= token < 61 for token, _, _, _ in batch.edges(0))


def test_an_outcome_beyond_the_table_is_refused():
    batch = _core.gomcts.SearchBatch(np.zeros((1, 4), np.float32))
    batch.add(codec_at_own_turn(), 1, 0, runs=5, steps=1000, c=0.4, threshold=0.0, mu=0.0, wave=1, legal=True)
    with pytest.raises(IndexError, match="an outcome that the game does not have"):
        advanced(batch, 61)


def test_careful_games_of_one_card_have_legal_actions():
    """On the last turn every action may cost a life: no hint is possible, and no discard."""
    rules = _core.hanabi.Rules(colors=2, ranks=3, hand=1, hints=1)
    decks, actions, scores = _core.hanabi.random_games(rules, 1, 0, 2_000, True)
    for deck, moves, score in zip(decks, actions, scores):
        state = _core.hanabi.State(rules, deck)
        for action in moves[moves != 255].tolist():
            state.apply_action(action)
        assert state.is_terminal() and state.score() == score


def test_a_step_that_is_refused_changes_no_table():
    tables = _core.hanabi.Tables(_core.hanabi.Rules(), 1, 0, 2)
    legal = int(np.flatnonzero(tables.legal()[0])[0])
    with pytest.raises(ValueError, match="illegal action"):
        tables.step(np.array([legal, 99]))
    assert [tables[i].moves for i in range(2)] == [0, 0]


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_shares_are_from_0_to_1(share):
    hearts, hanabi = _core.hearts.Rules(), _core.hanabi.Rules()
    for play in (
        partial(_core.hearts.mixed_hands, hearts, 1, 0, 1),
        partial(_core.skat.mixed_games, True, 1, 0, 1),
        partial(_core.crew.mixed_games, codec("crew"), 1, 0, 1),
        partial(_core.hanabi.scripted_games, hanabi, np.zeros(2, np.int8), 1, 0, 1),
    ):
        with pytest.raises(ValueError, match="random must be between 0 and 1"):
            play(share, 0.0)
        with pytest.raises(ValueError, match="noise must be between 0 and 1"):
            play(0.0, share)


def test_exploration_is_a_number():
    deals = _core.hearts.DealSampler(hearts_view())
    board = _core.mines.Board(4, 4, 3, 0)
    view, how = _core.mines.Observation(board, [5], [2]), {"method": 3, "domain": 0, "simulations": 9, "seed": 1}
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="c must be a finite number"):
            _core.hearts.pimc(deals, 1, 10, wrong, True, True, 1)
        with pytest.raises(ValueError, match="c and widening must be finite"):
            _core.mines.search(board, view, seconds=0.0, c=wrong, widening=0.0, **how)
        with pytest.raises(ValueError, match="c and widening must be finite"):
            _core.mines.search(board, view, seconds=0.0, c=1.0, widening=wrong, **how)


def test_the_message_about_memory_names_the_items():
    with pytest.raises(MemoryError, match=f"^{2**40} items of"):
        _core.hearts.random_hands(_core.hearts.Rules(), 1, 0, 2**40)


def test_rejection_without_a_limit_can_be_interrupted():
    """On a board so full of numbers that no random layout explains them."""
    program = """
import numpy as np, os, signal, threading
from trickformer import _core
core = _core.mines
board = core.Board(16, 30, 99, 2)
mines = np.random.default_rng(1).choice(board.allowed_cells(0), 99, replace=False).tolist()
state = core.State(board)
state.open(0)
state.lay(mines)
for cell in range(200):
    if cell not in mines and cell not in [c for c, _ in state.opened_cells]:
        state.open(cell)
cells, shown = zip(*state.opened_cells)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
core.sample(board, core.Observation(board, cells, shown), 0, 0, 0, 1, 1)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode and done.stderr.strip().endswith("KeyboardInterrupt"), done.stderr


def test_a_model_without_a_floor_gives_weights_that_are_numbers(evaluation):
    """At a low temperature the probability of a declaration underflows."""
    model = _core.skat_search.BidModel(passing=-15.0, bid=0.1, choice=0.1, floor=0.0)
    looked = 0
    for history in _core.skat.mixed_games(True, 5, 0, 30, 0.0)[0]:
        tables = _core.skat.Tables(codec("skat"), history[None, :32])
        for action in history[32:][history[32:] != 255]:
            seat = int(tables.current()[0])
            view = _core.skat.SeatView(tables.tokens[0, seat, : tables.lengths[0, seat]])
            if _core.skat_search.at_play(view):
                deals = _core.skat.DealSampler(view)
                weights = _core.skat_search.log_weight(deals, evaluation, model, True, deals.sample(1, 100))
                assert not np.isnan(weights).any()
                looked += 1
                break
            tables.step(np.zeros(1, np.int32), np.array([action], np.int32))
    assert looked > 10


def test_pimc_of_skat_needs_a_world_with_weight(evaluation):
    """A model with no floor, by which nobody bids: nothing that was said is possible."""
    model = _core.skat_search.BidModel(passing=1e6, bid=1e-3, choice=1e-3, floor=0.0)
    fast = tokenizers.fast(games.load("skat"))
    found = 0
    for seed in range(60):
        tables = fast.tables(seed, 0, 1)
        while tables.current()[0] >= 0 and found < 1:
            seat = int(tables.current()[0])
            view = _core.skat.SeatView(tables.tokens[0, seat, : tables.lengths[0, seat]])
            if _core.skat_search.at_play(view):
                sampler, solver = _core.skat.DealSampler(view), _core.skat_search.Solver()
                with pytest.raises(ValueError, match="no world any weight"):
                    _core.skat_search.pimc(sampler, evaluation, 2, 2, model, True, 1, solver)
                found += 1
            legal = np.flatnonzero(tables.legal()[0])
            bids = legal[legal >= 32]
            tables.step(np.zeros(1, np.int32), (bids if len(bids) else legal)[:1].astype(np.int32))
    assert found
