"""Digests of the results of core functions that are built for several instruction sets, as a line of JSON.

It is a program of its own, because a process chooses its instruction set only once (test_isa.py).
"""

from __future__ import annotations

import hashlib
import json

import numpy as np

from trickformer import _core, games, tokenizers
from trickformer.games import missions

SEED, N = 5, 40


def hearts() -> dict[str, list[np.ndarray]]:
    core, tokenizer = _core.hearts, tokenizers.make(games.load("hearts"))
    rng = np.random.default_rng(SEED)
    actions, width = len(tokenizer.vocab), 64
    net = _core.RolloutNet(
        rng.normal(0, 0.1, (tokenizer.n_features + 1, width)).astype(np.float32),
        rng.normal(0, 0.1, (actions, width)).astype(np.float32),
        rng.normal(0, 0.1, actions).astype(np.float32),
    )
    seats, streams = np.arange(N, dtype=np.uint8) % 4, np.arange(N, dtype=np.uint64)
    mixed = core.mixed_hands(tokenizer.rules, SEED, 0, N, 0.3, 0.1, net, 0.5)

    def labels(**how: object) -> list[np.ndarray]:
        return list(tokenizer.codec.labels(mixed[0], seats, SEED, streams, 2, 0.4, **how))

    deck = rng.permutation(52)
    dealt = sorted(map(int, deck[:13]))
    view = core.SeatView(tokenizer.rules, 1, 2, dealt, dealt[:2], [], -1, [], True)
    odds = rng.uniform(-1, 1, (52, 3))
    found = []
    for uct in (True, False):
        values = core.pimc(core.DealSampler(view), 4, 300, 0.4, uct, True, SEED)
        found.append(np.array([(card, *value) for card, value in sorted(values.items())]))
    return {
        "random_hands": list(core.random_hands(tokenizer.rules, SEED, 0, N)),
        "mixed_hands": list(mixed),
        "labels": labels() + labels(worlds=True) + labels(net=net, worlds=True),
        "sample_worlds": [core.DealSampler(view, by).sample(SEED, N) for by in (None, odds)],
        "pimc": found,
    }


def skat() -> dict[str, list[np.ndarray]]:
    rng = np.random.default_rng(SEED)
    decks = np.array([rng.permutation(32)[: 3 * 7] for _ in range(N)])
    positions = _core.skat_solver.Positions(
        (np.arange(N) % 6).astype(np.int8),
        rng.integers(3, size=N).astype(np.int8),
        (1 << decks).reshape(N, 3, 7).sum(axis=2).astype(np.uint32),
        np.full((N, 2), -1, np.int8),
        rng.integers(3, size=N).astype(np.int8),
        np.zeros((N, 2), np.int16),
    )
    return {
        "random_games": list(_core.skat.random_games(True, SEED, 0, N)),
        "solver": [*_core.skat_solver.exact(positions, 1), *_core.skat_solver.moves_exact(positions, 1)],
    }


def crew() -> dict[str, list[np.ndarray]]:
    rng = np.random.default_rng(SEED)
    table = tokenizers.make(games.load("crew")).codec
    history, result = _core.crew.random_games(table, SEED, 0, N)
    by_number = {page.id: page.mission() for page in missions.read()}
    solver, states = _core.crew.Solver(), []
    for game in history:
        state = _core.crew.State(by_number[int(game[0])], game[1:41])
        for action in game[41:]:
            if action == 255 or len(state.plays) > 8:
                break
            state.apply_action(int(action))
            states.append(state.__copy__())
    open_ = [s for s in states if not s.is_terminal() and solvable(solver, s)]
    answers, nodes = solver.can_succeed_each(open_, 3000, rng.random((len(open_), 4)))
    assert len(set(answers.tolist())) > 1
    return {"random_games": [history, result], "solver": [answers, nodes]}


def solvable(solver: _core.crew.Solver, state: _core.crew.State) -> bool:
    try:
        solver.can_succeed(state, 1, [0.5] * 4)
    except ValueError:
        return False
    return True


def hanabi() -> dict[str, list[np.ndarray]]:
    game = games.load("hanabi")
    decks, actions, _ = _core.hanabi.random_games(game.rules, SEED, 0, 4)
    history, seats = np.concatenate([decks, actions], axis=1), np.zeros(4, np.uint8)
    table = tokenizers.make(game).codec
    return {"labels": list(table.labels(history, seats, SEED, np.arange(4, dtype=np.uint64), 2, 1.0))}


def mines() -> dict[str, list[np.ndarray]]:
    core, samples, searches = _core.mines, [], []
    positions = [(core.Board(3, 3, 3, 0), [2, 4, 5, 8], [1, 3, 2, 1])]
    positions += [(core.Board(rows, cols, 2, 0), [0, 40, 64], [0, 1, 0]) for rows, cols in ((9, 9), (10, 20), (16, 30))]
    how = {"domain": 0, "simulations": 500, "seconds": 0.0, "c": 0.5, "widening": 0.3, "seed": SEED}
    for board, cells, shown in positions:
        observation = core.Observation(board, cells, shown)
        for method in range(4):
            samples.append(core.sample(board, observation, method, 0, 50, SEED, N))
            found = core.search(board, observation, method=method, **how)
            searches.append(np.array([found.cell, found.value, found.n_layouts]))
            searches += [np.array(found.visits), np.array(found.values)]
    return {"sample": samples, "search": searches}


def lstm() -> dict[str, list[np.ndarray]]:
    rng, (networks, steps, rows, hidden) = np.random.default_rng(SEED), (2, 3, 5, 24)
    out = {}
    for kind in ("float32", "bfloat16"):

        def numbers(*shape: int, kind: str = kind) -> np.ndarray:
            x = rng.normal(size=shape).astype(np.float32)
            return x if kind == "float32" else (x.view(np.uint32) >> 16).astype(np.uint16).view(np.int16)

        whole, step = (networks, steps, rows), (networks, rows)
        acts, cells = (
            np.zeros((*whole, 4 * hidden), np.float32),
            np.zeros((networks, steps + 1, rows, hidden), np.float32),
        )
        outs, now = np.zeros((*whole, hidden), np.float32), numbers(*step, hidden)
        gates, grad = numbers(*whole, 4 * hidden), rng.normal(size=(*whole, hidden)).astype(np.float32)
        d_cell, d_gates = np.zeros((*step, hidden), np.float32), np.zeros_like(gates)
        for i in range(steps):
            _core.lstm.forward(i, gates, numbers(*step, 4 * hidden), acts, cells, outs, now)
        for i in reversed(range(steps)):
            _core.lstm.backward(i, acts, cells, grad, numbers(*step, hidden), d_cell, d_gates)
        out[kind] = [acts, cells, outs, now, d_cell, d_gates]
    return out


def digests() -> dict[str, str]:
    """Return the SHA-256 digest of the arrays of each part, by name of the part."""
    found = {}
    for room in (hearts, skat, crew, hanabi, mines, lstm):
        for part, arrays in room().items():
            digest = hashlib.sha256()
            for array in arrays:
                assert array.size, (room.__name__, part)
                digest.update(f"{array.dtype} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
            found[f"{room.__name__}.{part}"] = digest.hexdigest()
    return found


if __name__ == "__main__":
    print(json.dumps(digests()))
