"""What Python may hand to the core and is wrong ends in ValueError, not in memory that is none of ours."""

from __future__ import annotations

import numpy as np
import pytest

from trickformer import _core, games, tokenizers


def histories(name: str, n: int = 8):
    """(table, history uint8 [n, H], where its deck begins, how many cards it has) of whole random games."""
    tokenizer = tokenizers.make(games.load(name))
    table = tokenizer.codec
    if name == "hearts":
        return table, _core.hearts.random_hands(tokenizer.rules, 5, 0, n)[0], 1, 52
    if name == "skat":
        return table, _core.skat.random_games(True, 5, 0, n)[0], 0, 32
    if name == "crew":
        return table, _core.crew.random_games(table, 5, 0, n)[0], 1, 40
    rules = games.load(name).rules
    decks, actions, _ = _core.hanabi.random_games(rules, 5, 0, n)
    return table, np.concatenate([decks, actions], axis=1), 0, rules.deck


@pytest.mark.parametrize("name", ["hearts", "skat", "crew", "hanabi"])
def test_a_history_that_cannot_be_is_refused(name):
    table, history, first, cards = histories(name)
    seats = np.zeros(len(history), dtype=np.uint8)
    table.encode(history, seats)
    faults = []
    for at, value in ((first, 250), (first + cards - 1, history[0, first]), (first + 3, cards)):
        broken = history.copy()
        broken[0, at] = value
        faults.append(broken)
    after = history.copy()
    after[0, first + cards : first + cards + 3] = 200 if name == "hanabi" else history[0, first + cards]
    faults.append(after)
    if name == "hearts":
        direction, twice = history.copy(), history.copy()
        direction[0, 0] = 9
        twice[history[:, 0] > 0, 54] = twice[history[:, 0] > 0, 53]
        faults += [direction, twice]
    for broken in faults:
        with pytest.raises(ValueError, match=r"holds every card|is not legal|no pass direction"):
            table.encode(broken, seats)


@pytest.mark.parametrize("name", ["skat", "crew", "hanabi"])
def test_nothing_is_seen_after_the_end(name):
    table, history, *_ = histories(name)
    eos, core = tokenizers.make(games.load(name)).eos, getattr(_core, name)

    def view(tokens):
        tokens = np.array(tokens, np.int32)
        if name == "hanabi":
            return table.events(tokens)
        return core.SeatView(*([table] if name == "crew" else []), tokens)

    for row in table.encode(history, np.zeros(len(history), np.uint8)):
        told = row[row != eos].tolist()
        view([*told, eos])
        if name != "hanabi":  # whose events go to the end
            view(told)
        for after in ([eos, eos], [eos, 0], [0], [-1]):
            with pytest.raises(ValueError, match="no deal explains"):
                view([*told, *after])


def test_a_sight_of_another_board_is_refused():
    small, large = _core.mines.Board(2, 2, 1, 0), _core.mines.Board(8, 8, 1, 0)
    foreign = _core.mines.Observation(large, [0, 1, 8, 9, 2], [0] * 5)
    how = {"domain": 0, "simulations": 1, "seconds": 0.0, "c": 0.5, "widening": 0.0, "seed": 1}
    with pytest.raises(ValueError, match="of another board"):
        _core.mines.search(small, foreign, method=3, **how)
    with pytest.raises(ValueError, match="of another board"):
        _core.mines.sample(small, foreign, 0, 0, 10, 1, 1)
    with pytest.raises(ValueError, match="of another board"):
        _core.mines.Counter(small, foreign)
    with pytest.raises(ValueError, match="of another board"):
        _core.mines.Solver(small, 100, 100).open(foreign, 3)
    narrow = _core.mines.Observation(_core.mines.Board(1, 4, 1, 0), [1], [1])  # of the same cells, in another shape
    with pytest.raises(ValueError, match="of another board"):
        _core.mines.Counter(small, narrow)


def test_nobody_passes_where_the_rules_have_no_pass():
    rules = _core.hearts.Rules(pass_cards=False)
    table = _core.hearts.Codec(rules, np.zeros((1, 4), np.int8))
    history = _core.hearts.random_hands(_core.hearts.Rules(), 5, 0, 20)[0]
    history = history[history[:, 0] > 0][:1]
    seats, streams = np.zeros(1, np.uint8), np.zeros(1, np.uint64)
    for call in (
        lambda: table.encode(history, seats),
        lambda: table.labels(history, seats, 1, streams, 1, 1.0, worlds=True),
        lambda: _core.hearts.Tables(table, history[:, :53]),
        lambda: _core.hearts.State(rules, 1, history[0, 1:53]),
    ):
        with pytest.raises(ValueError, match="direction"):
            call()
