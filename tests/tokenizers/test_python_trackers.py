"""Trackers written in Python: searched and followed as the core's are, and their errors are Python's."""

from __future__ import annotations

import gc
import itertools
import threading
import weakref

import numpy as np
import pytest
from support.searches import own_turns

from trickformer import _core, games, tokenizers
from trickformer.base import Tracker
from trickformer.gomcts.options import SearchOptions
from trickformer.gomcts.search import search
from trickformer.models.backend import load_backend

OPTIONS = [
    SearchOptions(runs=25, steps=3, legal=True, action_values=True, leaf_action_values=True),
    SearchOptions(runs=25, steps=40, wave=6),
    SearchOptions(runs=25, steps=2, mu=0.05, threshold=0.02),
]


ALIVE: weakref.WeakSet = weakref.WeakSet()


class Twin(Tracker):
    """A tracker of the core behind Python."""

    def __init__(self, inner):
        self.inner = inner
        ALIVE.add(self)

    def copy(self):
        return type(self)(self.inner.copy())

    def my_turn(self):
        return self.inner.my_turn()

    def legal(self):
        return self.inner.legal()

    def possible(self):
        return self.inner.possible()

    def push(self, token):
        self.inner.push(token)

    def terminal(self):
        return self.inner.terminal()

    def is_legal(self):
        return self.inner.is_legal()

    def outcome(self):
        return self.inner.outcome()

    def features(self):
        return self.inner.features()


def fed(game, tokenizer, backend, views):
    """The tokens of each view and their last nodes, which stay in the backend."""
    tokens, nodes = [tokenizer.encode(view) for view in views], []
    for t in tokens:
        lengths, features = np.array([len(t)], np.int32), tokenizers.features_of(tokenizer, t)
        nodes.append(backend.extend(np.array([-1], np.int32), t, lengths, features)[-1])
    return tokens, np.array(nodes, np.int32)


def searched(game, backend, trackers, roots, options):
    found = search(backend, game.outcomes.values, trackers, roots, range(len(trackers)), options)
    return [(r.tokens.tobytes(), r.values.tobytes(), r.visits.tobytes(), r.illegal, r.best) for r in found]


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=["legal", "waves", "illegal"])
@pytest.mark.parametrize("name", ["hearts", "skat", "crew", "hanabi"])
def test_a_search_is_the_same_to_the_byte(name, options, tiny_features_checkpoint_of):
    game = games.load(name)
    tokenizer = tokenizers.make(game)
    backend = load_backend(tiny_features_checkpoint_of(name), game.outcomes, "float32")
    tokens, roots = fed(game, tokenizer, backend, own_turns(game, 3, 5))
    core = [tokenizer.tracker(t) for t in tokens]
    twins = [Twin(tokenizer.tracker(t)) for t in tokens]
    before = [t.features() for t in twins]
    expected = searched(game, backend, core, roots, options)
    assert searched(game, backend, twins, roots, options) == expected
    assert all(np.array_equal(t.features(), b) for t, b in zip(twins, before)), "the caller's trackers have moved"
    mixed = [core[0], *twins[1:]]
    assert searched(game, backend, mixed, roots, options) == expected
    del twins, mixed
    gc.collect()
    assert not ALIVE, "a search has kept its trackers"


def test_sequences_are_followed_alike(hearts):
    tokenizer = tokenizers.make(hearts)
    start = tokenizer.tracker(np.empty(0, np.int32))
    hands = tokenizers.fast(hearts).core_hands(["random"], 3, 0, 4)
    tokens, _ = hands.encode_hands(np.arange(4), np.arange(4))
    lengths = (tokens != tokenizer.eos).sum(axis=1).astype(np.int32)
    lengths[0] = 20
    for possible in (False, True):
        one, other = (_core.follow(s, tokens, lengths, possible) for s in (start, Twin(start)))
        assert all(np.array_equal(a, b) for a, b in zip(one, other))
        assert one[0].any() and one[1].any() == possible
    one, other = _core.Seats(start, 2), _core.Seats(Twin(start), 2)
    rows, count = np.array([1, 0], np.int32), np.array([30, 10], np.int32)
    fresh = np.concatenate([tokens[0, :30], tokens[1, :10]]).astype(np.int32)
    assert np.array_equal(one.push(rows, fresh, count), other.push(rows, fresh, count))
    asked = np.array([0, 1], np.int32), np.array([tokens[1, 10], tokens[0, 30]], np.int32)
    assert np.array_equal(one.after(*asked), other.after(*asked))


def test_searches_on_threads(tiny_features_checkpoint_of):
    """A search gives the GIL up, and each call of a tracker takes it."""
    game = games.load("hearts")
    tokenizer = tokenizers.make(game)
    folder, views = tiny_features_checkpoint_of("hearts"), own_turns(game, 4, 9)
    found: list = [None] * len(views)

    def work(i):
        backend = load_backend(folder, game.outcomes, "float32")
        tokens, roots = fed(game, tokenizer, backend, views[i : i + 1])
        found[i] = searched(game, backend, [Twin(tokenizer.tracker(tokens[0]))], roots, OPTIONS[1])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(views))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    together = list(found)
    for i in range(len(views)):
        work(i)
    assert together == found and None not in together


class Broken(Twin):
    """Does something wrong after so many pushes, its copies' counted."""

    fault, after = "", 0

    def __init__(self, inner, pushed=0):
        super().__init__(inner)
        self.pushed = pushed

    def copy(self):
        return self if self.fault == "alias" else type(self)(self.inner.copy(), self.pushed)

    def push(self, token):
        self.pushed += 1
        if self.fault == "raises" and self.pushed > self.after:
            raise KeyError("a card that nobody has")
        super().push(token)

    def possible(self):
        found = super().possible()
        return found.astype(int) if self.fault == "dtype" else found[1:] if self._now("length") else found

    def legal(self):
        return super().legal()[:-1] if self.fault == "legal" else super().legal()

    def outcome(self):
        return {"outcome": 10**6, "none": None, "negative": -1}.get(self.fault, super().outcome())

    def features(self):
        return super().features()[: -1 if self._now("features") else None]

    def _now(self, fault):
        return self.fault == fault and self.pushed > self.after


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        ("raises", KeyError, "a card that nobody has"),
        ("alias", TypeError, "copy.. of a tracker returned the tracker itself"),
        ("dtype", TypeError, r"possible.. of a tracker returns a numpy array, bool \[V\]"),
        ("length", TypeError, "possible.. of a tracker has another length than"),
        ("legal", TypeError, "legal.. of a tracker has another length than"),
        ("features", TypeError, "features.. of a tracker changed its length"),
        ("outcome", IndexError, "an outcome that the game does not have"),
        ("negative", IndexError, "an outcome that the game does not have"),
        ("none", TypeError, "NoneType"),
    ],
)
def test_errors_are_raised_and_nodes_given_back(fault, kind, says, tiny_features_checkpoint_of):
    game = games.load("hearts")
    tokenizer = tokenizers.make(game)
    backend = load_backend(tiny_features_checkpoint_of("hearts"), game.outcomes, "float32")
    tokens, roots = fed(game, tokenizer, backend, own_turns(game, 1, 5))
    tracker = type("Faulty", (Broken,), {"fault": fault, "after": 2})(tokenizer.tracker(tokens[0]))
    options = SearchOptions(runs=20, steps=60, legal=True)
    used = backend.node_count
    for _ in range(2):
        with pytest.raises(kind, match=says):
            search(backend, game.outcomes.values, [tracker], roots, [1], options)
        assert backend.node_count == used
    sound = searched(game, backend, [tokenizer.tracker(tokens[0])], roots, options)
    assert searched(game, backend, [Twin(tokenizer.tracker(tokens[0]))], roots, options) == sound


class Uneven(Twin):
    """The copies made from the second generation each add another number of zeros to their features."""

    def __init__(self, inner, generation=0, zeros=0):
        super().__init__(inner)
        self.generation, self.zeros = generation, zeros

    def copy(self):
        zeros = next(self.numbers) if self.generation == 1 else self.zeros
        return type(self)(self.inner.copy(), self.generation + 1, zeros)

    def features(self):
        return np.append(super().features(), np.zeros(self.zeros, np.float32))


def test_copies_of_a_tracker_have_as_many_features(tiny_features_checkpoint_of):
    """Other numbers would be written beyond the array that all copies of a tracker share."""
    game = games.load("hearts")
    tokenizer = tokenizers.make(game)
    start = tokenizer.tracker(np.empty(0, np.int32))
    faulty = type("Faulty", (Broken,), {"fault": "features"})
    rows, tokens = np.array([1], np.int32), np.array([0], np.int32)
    for call in (lambda seats: seats.push(rows, tokens, rows), lambda seats: seats.after(rows, tokens)):
        with pytest.raises(TypeError, match=r"features.. of a tracker changed its length"):
            call(_core.Seats(faulty(start), 2))
    backend = load_backend(tiny_features_checkpoint_of("hearts"), game.outcomes, "float32")
    tokens, roots = fed(game, tokenizer, backend, own_turns(game, 1, 5))
    tracker = type("Faulty", (Uneven,), {"numbers": itertools.count()})(tokenizer.tracker(tokens[0]))
    with pytest.raises(TypeError, match=r"features.. of a tracker changed its length"):
        searched(game, backend, [tracker], roots, SearchOptions(runs=8, steps=3, wave=2))


def test_what_is_no_tracker_is_refused(hearts):
    batch = _core.gomcts.SearchBatch(np.zeros((2, 4), np.float32))
    settings = {"runs": 1, "steps": 1, "c": 0.4, "threshold": 0.0, "mu": 0.0, "wave": 1, "legal": False}
    for wrong, kind in ((3, AttributeError), ("tracker", AttributeError), (None, TypeError)):
        with pytest.raises(kind):
            batch.add(wrong, 1, 0, **settings)
    start = tokenizers.make(hearts).tracker(np.empty(0, np.int32))
    for tracker in (start, Twin(start)):
        with pytest.raises(ValueError, match="own turn"):
            batch.add(tracker, 1, 0, **settings)
    raising = type("Faulty", (Broken,), {"fault": "raises"})(start)
    with pytest.raises(KeyError, match="a card that nobody has"):
        _core.follow(raising, np.zeros((1, 3), np.int16), np.array([3], np.int32), False)
    with pytest.raises(KeyError, match="a card that nobody has"):
        _core.Seats(raising, 1).push(*(np.array([x], np.int32) for x in (0, 52, 1)))
    assert len(batch) == 0
