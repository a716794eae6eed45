"""The core lets go of the GIL: what threads share does not change what they find. `make tsan` looks for races here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from trickformer import _core, checkpoints, games, tokenizers
from trickformer.gomcts import search
from trickformer.models.backend import load_backend

THREADS = 4


def alike(work: Callable[[int], Any]) -> list[Any]:
    """Assert that jobs have the same results one after the other and on threads at once; return the results."""
    jobs = range(2 * THREADS)
    with ThreadPoolExecutor(THREADS) as pool:
        at_once = list(pool.map(work, jobs))
    for job, found in zip(jobs, at_once):
        np.testing.assert_equal(found, work(job))
    return at_once


@pytest.fixture(scope="module")
def hearts_backend(hearts: Any) -> Any:
    return load_backend(checkpoints.find("hearts-small"), hearts.outcomes)


def beginnings(hearts: Any) -> tuple[Any, np.ndarray]:
    """Sequences int16 [8, 20] of hands of Hearts, seen by one seat each."""
    tokenizer = tokenizers.make(hearts)
    hands = tokenizers.fast(hearts).tables(5, 0, 2 * THREADS)
    return tokenizer, hands.tokens[:, 0, :20].astype(np.int16)


def test_a_backend_answers_each_thread_as_if_it_were_alone(hearts: Any, hearts_backend: Any) -> None:
    tokenizer, sequences = beginnings(hearts)
    start = tokenizer.codec.tracker()

    def work(job: int) -> list[np.ndarray]:
        tokens, length = sequences[job : job + 1], np.array([15], np.int32)
        features = _core.follow(start, tokens, length, False)[0][0, :15]
        root, whole = np.array([-1], np.int32), tokens[0, :15].astype(np.int32)
        nodes = hearts_backend.extend(root, whole, length, features if hearts_backend.n_features else None)
        found = [hearts_backend.policy(nodes), hearts_backend.values(nodes), hearts_backend.outcomes(nodes)]
        hearts_backend.release(nodes[::-1].copy())
        return found

    policies = [found[0] for found in alike(work)]
    assert not np.array_equal(policies[0], policies[1])


def test_searches_share_a_backend(hearts: Any, hearts_backend: Any) -> None:
    tokenizer, sequences = beginnings(hearts)
    start = tokenizer.codec.tracker()
    options = search.SearchOptions(runs=10, wave=2)

    def work(job: int) -> list[np.ndarray]:
        tokens, length = sequences[job : job + 1], np.array([15], np.int32)
        tracker = tokenizer.tracker(tokens[0, :15])
        if not tracker.my_turn():  # nobody passes
            return []
        features = _core.follow(start, tokens, length, False)[0][0, :15]
        root, whole = np.array([-1], np.int32), tokens[0, :15].astype(np.int32)
        nodes = hearts_backend.extend(root, whole, length, features if hearts_backend.n_features else None)
        values = hearts.outcomes.values[: hearts_backend.n_outcomes]
        (found,) = search.search(hearts_backend, values, [tracker], nodes[-1:], [job], options)
        return [found.tokens, found.values, found.visits]

    assert any(len(found) and len(found[0]) for found in alike(work))


@pytest.mark.parametrize("name", ["hearts", "skat", "crew", "hanabi"])
def test_labels_are_made_on_threads(name: str) -> None:
    game = games.load(name)
    tokenizer = tokenizers.make(game)
    if name == "hanabi":
        history = np.concatenate(_core.hanabi.random_games(game.rules, 5, 0, 2)[:2], axis=1)
    elif name == "skat":
        history = _core.skat.random_games(True, 5, 0, 2)[0]
    elif name == "crew":
        history = _core.crew.random_games(tokenizer.codec, 5, 0, 2)[0]
    else:
        history = _core.hearts.random_hands(tokenizer.rules, 5, 0, 2)[0]

    def work(job: int) -> list[np.ndarray]:
        seats, streams = np.full(len(history), job % 2, np.uint8), np.arange(len(history), dtype=np.uint64)
        return list(tokenizer.codec.labels(history, seats, job, streams, 1, 0.3))

    assert all(len(found[0]) for found in alike(work))


def ticks_during(work: Callable[[], Any]) -> int:
    """Milliseconds, roughly, in which this thread could run while another one did the work."""
    other = threading.Thread(target=work)
    ticks = 0
    other.start()
    while other.is_alive():
        time.sleep(0.001)
        ticks += 1
    other.join()
    return ticks


def test_other_threads_run_while_layouts_are_counted() -> None:
    """The graph of a board with a number in every other row and column takes about a second."""
    size, rng = 16, np.random.default_rng(0)
    board = _core.mines.Board(size, size, 60, 0)
    opened = [size * row + col for row in range(1, size, 2) for col in range(1, size, 2)]
    layout = set(rng.permutation([c for c in range(size * size) if c not in opened])[:60].tolist())
    shown = [sum(cell in layout for cell in board.around(c)) for c in opened]
    observation = _core.mines.Observation(board, opened, shown)
    exact = _core.mines.METHODS.index("exact")
    assert ticks_during(lambda: _core.mines.Counter(board, observation)) > 20
    assert ticks_during(lambda: _core.mines.sample(board, observation, exact, 0, 0, 1, 1)) > 20


def test_other_threads_run_while_a_backend_is_busy(hearts: Any, hearts_backend: Any) -> None:
    tokenizer, sequences = beginnings(hearts)
    tokens, lengths = np.tile(sequences[:1, :15], (400, 1)), np.full(400, 15, np.int32)
    features = _core.follow(tokenizer.codec.tracker(), tokens, lengths, False)[0][:, :15].reshape(400 * 15, -1)
    whole, roots = tokens.ravel().astype(np.int32), np.full(400, -1, np.int32)
    used = hearts_backend.node_count
    for give_back in (hearts_backend.release, lambda nodes: hearts_backend.reset()):
        nodes = hearts_backend.extend(roots, whole, lengths, features if hearts_backend.n_features else None)
        with ThreadPoolExecutor(1) as pool:
            extended = pool.submit(
                hearts_backend.extend, roots, whole, lengths, features if hearts_backend.n_features else None
            )
            time.sleep(0.02)  # the pool's thread now holds the backend
            ticks = ticks_during(lambda n=nodes, free=give_back: free(n[::-1].copy()))
            extended.result()
        assert ticks > 5
        hearts_backend.reset()
    assert hearts_backend.node_count <= used
