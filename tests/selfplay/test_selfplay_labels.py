"""Labels of action values: beside the sequences, on disk, and what they say of Hearts."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from support.learning import fresh_model

from trickformer import _core, games, tokenizers
from trickformer.base import BulkHands, TrickformerError
from trickformer.gomcts.search import search
from trickformer.models.backend import load_backend
from trickformer.players.gomcts import default_options
from trickformer.selfplay import data as stored
from trickformer.selfplay import generate, rollout_network
from trickformer.selfplay.data import LABEL, Sequences, join, starts_of
from trickformer.selfplay.generate import Labels, Roles

# ----------------------------------------------------------------------------------------- beside the sequences


def made(counts, seed=0):
    """Sequences with so many labels each, all of them different."""
    rng = np.random.default_rng(seed)
    n, total = len(counts), sum(counts)
    labels = np.empty(total, LABEL)
    labels["position"], labels["token"] = rng.integers(300, size=total), rng.integers(250, size=total)
    labels["value"] = rng.normal(size=total)
    tokens = rng.integers(250, size=(n, 7)).astype(np.uint8)
    return Sequences(tokens, rng.integers(99, size=n).astype(np.int32), starts_of(np.array(counts, int)), labels)


def rows(data):
    """Each sequence with its own labels, in plain Python."""
    assert data.starts[0] == 0 and data.starts[-1] == len(data.labels) and len(data.starts) == len(data) + 1
    ends = zip(data.starts[:-1], data.starts[1:])
    labels = [[tuple(map(float, label.item())) for label in data.labels[a:b]] for a, b in ends]
    return list(zip(data.tokens.tolist(), data.outcomes.tolist(), labels))


COUNTS = [3, 0, 0, 5, 1, 0, 2, 4, 0]


@pytest.mark.parametrize("part", [slice(0, 3), slice(2, 8), slice(-4, None), slice(3, 3), slice(1, 9, 3)], ids=str)
def test_a_slice_takes_its_labels_along(part):
    assert rows(made(COUNTS)[part]) == rows(made(COUNTS))[part]


@pytest.mark.parametrize("which", [[4], [8, 0, 3, 3, 1], [], [-1, -6]], ids=str)
def test_chosen_rows_take_their_labels_along(which):
    data = made(COUNTS)
    assert rows(data[np.array(which, int)]) == [rows(data)[i] for i in which]


def test_a_mask_chooses_and_parts_are_joined():
    data, other = made(COUNTS), made([2, 0, 1], 1)
    plain = Sequences.without_labels(other.tokens, other.outcomes)
    assert rows(data[np.arange(9) % 2 == 1]) == rows(data)[1::2]
    assert rows(join(data, plain, other)) == rows(data) + rows(plain) + rows(other)
    assert [labels for *_, labels in rows(plain)] == [[], [], []]
    assert rows(join(data[:4], data[4:])) == rows(data)


# ------------------------------------------------------------------------------------------------------ on disk


@pytest.fixture(scope="module")
def labelled(hearts):
    """12 hands of all seats, about half of their decisions labelled."""
    return generate.cast_hands(hearts, ["rules"], 5, 0, 12, 4, labels=Labels(0.5, 2))


def write(folder, game, parts):
    with stored.DataWriter(folder, game, tokenizers.make(game), {"seed": 1}) as writer:
        for part in parts:
            writer.append(part, len(part) // 4)
        writer.finish()


FILES = ("tokens.bin", "outcomes.bin", "counts.bin", "labels.bin")


def contents(folder):
    return {name: (folder / name).read_bytes() for name in (*FILES, "manifest.json")}


def test_labels_come_back(hearts, labelled, tmp_path):
    write(tmp_path / "d", hearts, [labelled[:20], labelled[20:]])
    found = stored.load(tmp_path / "d", hearts, tokenizers.make(hearts))
    assert isinstance(found.labels, np.memmap) and len(found.labels) == len(labelled.labels) > 1000
    assert rows(found) == rows(labelled)
    assert rows(found[8:31]) == rows(labelled)[8:31]
    assert json.loads((tmp_path / "d" / "manifest.json").read_text())["labels"] == len(labelled.labels)


@pytest.mark.parametrize("name", ["labels.bin", "counts.bin"])
def test_truncated_labels_are_refused(hearts, labelled, tmp_path, name):
    folder, tokenizer = tmp_path / "d", tokenizers.make(hearts)
    write(folder, hearts, [labelled])
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[:-1])
    message = rf"{name} has {len(whole) - 1} bytes, not the {len(whole)}"
    with pytest.raises(TrickformerError, match=message):
        stored.load(folder, hearts, tokenizer)
    with pytest.raises(TrickformerError, match=message):
        stored.DataWriter(folder, hearts, tokenizer, {"seed": 1})


class _Cut:
    """A file whose writer is killed in the middle of its second write."""

    def __init__(self, path):
        self.file, self.writes = path.open("ab"), 0

    def write(self, content):
        self.writes += 1
        if self.writes == 2:
            self.file.write(content[: len(content) // 2])
            self.file.flush()
            raise KeyboardInterrupt
        self.file.write(content)

    def flush(self):
        self.file.flush()

    def fileno(self):
        return self.file.fileno()

    def close(self):
        self.file.close()


@pytest.mark.parametrize("name", [*FILES, "manifest.json"])
def test_a_writer_that_was_killed_between_files_goes_on_to_the_same(hearts, labelled, tmp_path, monkeypatch, name):
    def cut(*_):
        raise KeyboardInterrupt

    parts = [labelled[:16], labelled[16:32], labelled[32:]]
    write(tmp_path / "whole", hearts, parts)

    def open_file(path):
        return _Cut(path) if path.name == name else path.open("ab")

    with (
        stored.DataWriter(tmp_path / "d", hearts, tokenizers.make(hearts), {"seed": 1}, open_file) as writer,
        monkeypatch.context() as m,
    ):
        writer.append(parts[0], 4)
        if name not in FILES:
            m.setattr(stored, "replace", cut)
        with pytest.raises(KeyboardInterrupt):
            writer.append(parts[1], 4)
    assert contents(tmp_path / "d") != contents(tmp_path / "whole")
    write(tmp_path / "d", hearts, parts[1:])
    assert contents(tmp_path / "d") == contents(tmp_path / "whole")


# ------------------------------------------------------------------------------------------------------- Hearts


@pytest.fixture(scope="module")
def net(hearts):
    """A rollout network of random weights: it prefers some cards to others, for no reason."""
    torch.manual_seed(2)
    tokenizer = tokenizers.make(hearts)
    return rollout_network.core(rollout_network.RolloutNetwork(tokenizer.n_features, len(tokenizer.vocab), 64))


def decisions(data):
    """{(row, position): {token: value}}, of a game's labels."""
    found = {}
    for row, (begin, end) in enumerate(zip(data.starts[:-1], data.starts[1:])):
        for position, token, value in data.labels[begin:end].tolist():
            found.setdefault((row, position), {})[token] = value
    return found


KINDS = {"script": {}, "worlds": {"worlds": True}, "net": {"net": True}, "both": {"net": True, "worlds": True}}


def kind(name, net, share=0.5, playouts=2):
    settings = KINDS[name]
    return Labels(share, playouts, **settings | ({"net": net} if "net" in settings else {}))


@pytest.mark.parametrize("name", KINDS)
def test_labels_follow_from_the_seed_and_the_hand(hearts, net, name):
    labels = kind(name, net)
    whole = generate.cast_hands(hearts, ["random", "rules"], 5, 0, 16, 2, labels=labels)
    part = generate.cast_hands(hearts, ["random", "rules"], 5, 8, 8, 2, labels=labels)
    assert rows(part) == rows(whole[16:])
    assert rows(generate.cast_hands(hearts, ["random", "rules"], 5, 0, 16, 2, labels=labels)) == rows(whole)
    other = generate.cast_hands(hearts, ["random", "rules"], 6, 0, 16, 2, labels=labels)
    assert len(other.labels) != len(whole.labels) or not np.array_equal(other.labels, whole.labels)
    one_seat = generate.cast_hands(hearts, ["random", "rules"], 5, 0, 4, 1, labels=labels)
    assert rows(one_seat) == rows(whole[:8:2]), "a seat's labels do not depend on what else is kept"
    values = whole.labels["value"].astype(float)
    assert np.isfinite(values).all() and np.std(values) > 0.01
    low, high = hearts.outcomes.values[:, 0].min(), hearts.outcomes.values[:, 0].max()  # means of results
    assert values.min() >= low - 1e-3 and values.max() <= high + 1e-3


def test_labels_of_hands_of_models_do_not_depend_on_their_piece(hearts):
    backends, every = [load_backend(fresh_model(hearts, rich=True), hearts.outcomes)], np.ones((12, 4), bool)
    roles, labels = Roles(np.zeros((12, 4), int), every, every), Labels(0.3, 2)
    whole, _ = generate.model_hands(hearts, backends, roles, 9, 0, labels=labels)
    part, _ = generate.model_hands(hearts, backends, Roles(roles.model[:4], every[:4], every[:4]), 9, 8, labels=labels)
    assert rows(part) == rows(whole[32:]) and len(part.labels) > 100


def test_a_share_of_the_decisions_is_labelled(hearts):
    every, half = (
        decisions(generate.cast_hands(hearts, ["rules"], 5, 0, 100, 4, labels=Labels(share, 1))) for share in (1, 0.5)
    )
    assert set(half) < set(every)
    assert all(set(half[d]) == set(every[d]) for d in half), "all legal cards of a decision, or none"
    assert abs(len(half) - len(every) / 2) < 4 * (len(every) / 4) ** 0.5
    assert len(every) > 3000


def own_value(game, state, seat):
    outcome = game.outcomes.index[tuple(np.roll(game.scores(state), -seat).tolist())]
    return float(game.outcomes.values[outcome, 0])


def every_end(game, state, seat):
    """What each way to play on brings to the seat."""
    if state.is_terminal():
        return {own_value(game, state, seat)}
    return set().union(*(every_end(game, state.child(a), seat) for a in state.legal_actions()))


@pytest.mark.parametrize("name", ["script", "net"])
def test_the_last_decisions_labels_are_those_of_exhaustive_play(hearts, net, name):
    """With two cards left and all cards known: where the others have no choice that matters, the label is what comes,
    elsewhere it lies between what may come."""
    tokenizer, n = tokenizers.make(hearts), 100
    hands = tokenizers.fast(hearts).core_hands(["random"], 7, 0, n)
    data = generate.label_hands(hearts, hands, np.ones((n, 4), bool), 7, 0, kind(name, net, 1.0, 3))
    exact = unequal = 0
    for (row, position), values in decisions(data).items():
        hand, seat = divmod(row, 4)
        plays = position + 1 - (int((data.tokens[row] != tokenizer.eos).sum()) - 52)
        if plays < 44 or len(values) != 2:
            continue
        state = hearts.spiel.new_initial_state()
        history = [a for a in hands.history[hand].tolist() if a != 255]
        for action in history[: len(history) - 52 + plays]:
            state.apply_action(action)
        assert state.current_player() == seat and set(state.legal_actions()) == set(values)
        ends = {card: every_end(hearts, state.child(card), seat) for card in values}
        for card, value in values.items():
            assert min(ends[card]) - 1e-3 <= value <= max(ends[card]) + 1e-3
            exact += len(ends[card]) == 1
        unequal += len(set(map(frozenset, ends.values()))) > 1
    assert exact > 40 and unequal > 10


FIXED = ([8, 28, 40, 3, 6, 9, 15, 18, 21, 27, 30, 33, 39], [0], [4], [12])  # all own cards, a club of each other seat


def history_of(game, passing, rng):
    """A whole hand: the own seat, 0, always has and passes the same cards, the others' first clubs are always the same,
    the rest is random."""
    rest = rng.permutation([card for card in range(52) if card not in {c for some in FIXED for c in some}]).tolist()
    hands = [FIXED[0]] + [FIXED[seat] + rest[12 * seat - 12 : 12 * seat] for seat in (1, 2, 3)]
    state = game.spiel.new_initial_state()
    for action in (int(passing), *(hands[i % 4][i // 4] for i in range(52))):
        state.apply_action(action)
    known = FIXED[0][:3] if passing else [0, 4, 12]
    while not state.is_terminal():
        own = state.current_player() == 0
        state.apply_action(known.pop(0) if known and own == passing else int(rng.choice(state.legal_actions())))
    return np.array([[*state.history(), *[255] * (117 - len(state.history()))]], np.uint8)


@pytest.mark.parametrize("name", ["script", "net", "worlds", "both"])
@pytest.mark.parametrize("passing", [True, False])
def test_labels_of_worlds_do_not_depend_on_hidden_cards(net, name, passing):
    """The same own cards and the same events, the others' cards another each time: labels made of the deal as it was
    tell them apart, labels of worlds do not. At the three passes, and at the end of the first trick."""
    game, rng = games.load(f"hearts(pass_cards={passing})"), np.random.default_rng(3)
    table, asked, stream = tokenizers.make(game).codec, kind(name, net), np.zeros(1, np.uint64)
    told = set()
    for _ in range(6):
        settings = 5, stream, 4, 1.0, asked.net, asked.worlds
        _, position, *found = table.labels(history_of(game, passing, rng), np.zeros(1, np.uint8), *settings)
        early = position < 17 if passing else position == position.min()
        token, value = (column[early].tolist() for column in found)
        told.add((*token, *value))
    assert len(token) == (13 + 12 + 11 if passing else 3) and len({t[: len(token)] for t in told}) == 1
    assert (len(told) == 1) == asked.worlds


def test_labels_are_right_on_average(hearts, net):
    """Where all play by the rollout network, the label of the card that was played is what comes, on average."""
    tokenizer, n, seed = tokenizers.make(hearts), 500, 11
    history, scores, seated = _core.hearts.mixed_hands(tokenizer.rules, seed, 0, n, 0.0, 0.0, net, 1.0)
    assert (seated == 2).all()
    hands = BulkHands(tokenizers.fast(hearts), history, scores)
    data = generate.label_hands(hearts, hands, np.ones((n, 4), bool), seed, 0, Labels(0.3, 2, net))
    came = hearts.outcomes.values[data.outcomes, 0]
    told = [(row, values[int(data.tokens[row, position + 1])]) for (row, position), values in decisions(data).items()]
    row, label = (np.array(column) for column in zip(*told))
    off = np.bincount(row // 4, label - came[row], n) / np.bincount(row // 4, minlength=n)
    error = off.std() / n**0.5
    print(f"seed {seed}: {off.mean():+.4f} ± {error:.4f} of {len(label)} decisions")
    assert abs(off.mean()) < 4 * error < 0.02
    assert np.corrcoef(label, came[row])[0, 1] > 0.5


def test_searched_decisions_are_labelled_with_what_was_found(hearts, monkeypatch):
    """Each search: the actions that simulations took, at its place, which is followed by the best. Those of seats that
    are not kept are left out."""
    backends, found = [load_backend(fresh_model(hearts, rich=True), hearts.outcomes)], []

    def spy(backend, values, trackers, roots, seeds, options):
        results = search(backend, values, trackers, roots, seeds, options)
        found.extend(results)
        return results

    monkeypatch.setattr(generate, "search", spy)
    every = np.ones((10, 4), bool)
    roles = Roles(np.zeros((10, 4), int), every, every)
    options = default_options(hearts, masked=True, action_values=True, overrides={"runs": 8, "steps": 1, "wave": 2})
    searches = generate.Searches(0.3, options)
    data, _ = generate.model_hands(hearts, backends, roles, 4, 0, searches=searches)
    told = decisions(data)
    tried = [r for r in found if (r.visits > 1).any()]
    assert len(told) == len(tried) > 60
    expected = sorted(
        sorted((int(a), float(np.float16(v / n))) for a, v, n in zip(r.tokens, r.values, r.visits) if n > 1)
        for r in tried
    )
    assert sorted(sorted(values.items()) for values in told.values()) == expected
    played = sorted(int(data.tokens[row, position + 1]) for row, position in told)
    assert played == sorted(r.token for r in tried)
    again, _ = generate.model_hands(hearts, backends, roles, 4, 0, searches=searches)
    assert rows(again) == rows(data)
    some = np.arange(4) % 2 == np.arange(10)[:, None] % 2
    fewer, _ = generate.model_hands(hearts, backends, Roles(roles.model, every, some), 4, 0, searches=searches)
    assert rows(fewer) == [row for row, kept in zip(rows(data), some.ravel()) if kept]
    none, _ = generate.model_hands(hearts, backends, roles, 4, 0, searches=generate.Searches(0.0, options))
    assert not len(none.labels)


def test_what_a_player_says_is_its_label(hearts):
    """PIMC values every card and plays the best: its labels are of all legal cards at its own turns, and the best is
    followed. `rules` says nothing. A random move leaves what was said as it was."""
    cast = ["pimc:eval=rollout,runs=26,worlds=2", "rules"]
    data = generate.cast_hands(hearts, cast, 9, 0, 6, 4, labels=Labels(from_search=True))
    drawn = np.random.default_rng([9, 0]).integers(2, size=(6, 4)).ravel()
    tokenizer, told = tokenizers.make(hearts), decisions(data)
    assert {row for row, _ in told} == set(np.flatnonzero(drawn == 0).tolist()) and (drawn == 1).any()
    for row, tokens in enumerate(data.tokens):
        tracker, positions = tokenizer.tracker(tokens[:0]), []
        for at, token in enumerate(tokens[tokens != tokenizer.eos]):
            if tracker.my_turn() and tracker.legal().sum() > 1:
                positions.append(at - 1)
                if (values := told.get((row, at - 1))) is not None:
                    assert set(values) == set(np.flatnonzero(tracker.legal()).tolist())
                    assert values[int(token)] == max(values.values())
            tracker.push(int(token))
        assert [at for r, at in told if r == row] == (positions if drawn[row] == 0 else [])
    strayed = generate.cast_hands(hearts, cast, 9, 0, 6, 4, noise=0.3, labels=Labels(from_search=True))
    said = decisions(strayed)
    assert any(values[int(strayed.tokens[row, at + 1])] < max(values.values()) for (row, at), values in said.items())
    assert rows(generate.cast_hands(hearts, cast, 9, 0, 6, 4, labels=Labels(from_search=True))) == rows(data)
