"""Good calls of the core that no tokenizer leads to: rules, solvers, Mines, many games of Hanabi, cells of an LSTM."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from trickformer import _core, games, tokenizers


def more(
    add: Callable[[str, Any], None], keep: Callable[..., None], rng: random.Random, draw: np.random.Generator
) -> None:
    _decks(add, keep, draw)
    _skat(add, keep, rng, draw)
    _mines(add, keep, rng, draw)
    _hanabi(add, keep, rng, draw)
    _lstm(add, draw)


def _decks(add: Any, keep: Any, draw: np.random.Generator) -> None:
    """States of every game, at their beginning and later."""
    rules, hanabi = _core.hearts.Rules(), _core.hanabi.Rules(3, 3, 3, 3, 4, 2)
    missions = [_core.crew.Mission(*page) for page in MISSIONS]
    kinds = [k for c in range(3) for r in range(3) for k in [c * 3 + r] * hanabi.copies(r)]

    def deck(n: int) -> np.ndarray:
        return draw.permutation(n).astype(np.uint8)

    makers = {
        "hearts.State": lambda: (rules, int(draw.integers(4)), deck(52)),
        "skat.State": lambda: (deck(32),),
        "crew.State": lambda: (missions[int(draw.integers(len(missions)))], deck(40)),
        "hanabi.State": lambda: (hanabi, np.array(kinds, np.uint8)[draw.permutation(len(kinds))]),
    }
    add("hanabi.Rules", lambda: (3, 3, 3, 3, 4, 2))
    add("crew.Mission", lambda: MISSIONS[int(draw.integers(len(MISSIONS)))])
    keep(rules, hanabi, _core.hanabi.Rules(), *missions)
    for name, arguments in makers.items():
        add(name, arguments)
        module, bound = name.split(".")
        for moves in (0, 0, 3, 20, 45, 300):
            state = getattr(getattr(_core, module), bound)(*arguments())
            for _ in range(moves):
                legal = state.legal_actions()
                if not legal or state.is_terminal():
                    break
                state.apply_action(int(draw.choice(legal)))
            keep(state)


# (number, task tokens, communication, allocation, distress, rules) of pages of the logbook
MISSIONS = (
    (1, [10], 0, 0, 0, []),
    (5, [], 0, 3, 0, [0]),
    (12, [9, 10, 10, 10], 0, 0, 1, [3]),
    (23, [0, 1, 2, 3, 4], 0, 0, 0, [7]),
    (27, [10, 10, 10], 0, 1, 0, []),
    (36, [0, 1, 10, 10, 10, 10, 10], 0, 2, 0, []),
    (41, [], 1, 3, 3, [10]),
    (44, [], 0, 5, 0, [4]),
    (46, [], 0, 5, 0, [15]),
    (50, [], 0, 4, 0, [17]),
)


def _skat(add: Any, keep: Any, rng: random.Random, draw: np.random.Generator) -> None:
    def positions(cards: int) -> tuple[np.ndarray, ...]:
        n = 2
        deck = np.array([draw.permutation(32)[: 3 * cards].reshape(3, cards) for _ in range(n)])
        hands = (np.uint32(1) << deck.astype(np.uint32)).sum(2).astype(np.uint32)
        seats = draw.integers(0, 3, (2, n)).astype(np.int8)
        kinds, points = draw.integers(0, 6, n).astype(np.int8), np.full((n, 2), 20, np.int16)
        return kinds, seats[0], hands, np.full((n, 2), -1, np.int8), seats[1], points

    add("skat_solver.Positions", lambda: positions(rng.randrange(1, 6)))
    for name in (
        "at_least",
        "exact",
        "tricks_at_least",
        "moves_at_least",
        "moves_exact",
        "plain_at_least",
        "minimax_moves",
    ):
        rest = {"tricks_at_least": (3,), "plain_at_least": (61,), "minimax_moves": (True,)}.get(name, ())

        def ask(name: str = name, rest: tuple[Any, ...] = rest) -> tuple[Any, ...]:
            kinds, *others = positions(rng.randrange(1, 4))
            return _core.skat_solver.Positions(np.minimum(kinds, 4), *others), *rest

        add(f"skat_solver.{name}", ask)
    entries = _core.skat_search.ENTRIES
    tables = draw.normal(size=(9, entries)).astype(np.float32), np.ones((8, 2), np.float32)
    add("skat_search.Evaluation", lambda: tables)
    evaluation = _core.skat_search.Evaluation(*tables)

    def ten(n: int = 10) -> list[int]:
        return rng.sample(range(32), n)

    for name in ("Evaluation.logit", "Evaluation.chance"):
        add(
            f"skat_search.{name}", lambda: (evaluation, rng.randrange(3), rng.randrange(7), ten(), rng.randrange(30), 1)
        )
    add("skat_search.features", lambda: (rng.randrange(3), rng.randrange(7), ten(), rng.randrange(30), 1))
    add("skat_search.Prospects", lambda: (evaluation, ten(), 1, True))
    add("skat_search.best_laying", lambda: (evaluation, ten(12), 1))
    add("skat_search.best_offer", lambda: (evaluation, ten(12), rng.choice((0, 18, 264)), 1, True))
    model = _core.skat_search.BidModel()
    add("skat_search.bid_chance", lambda: (evaluation, model, rng.randrange(-1, 30), 40, ten(), 2, True))
    settled = {"kind": 0, "hand": True, "level": 1, "bid": 18, "soloist": 0, "points": 61, "tricks": 5}
    add("skat.settle", lambda: tuple((settled | {"soloists_cards": ten(12)})[k] for k in SETTLE))
    keep(_core.skat_search.Solver())


SETTLE = ("kind", "hand", "level", "bid", "soloist", "soloists_cards", "points", "tricks")


def _mines(add: Any, keep: Any, rng: random.Random, draw: np.random.Generator) -> None:
    def begun(board: Any, first: int, late: bool) -> Any:
        """A game in which mines may be laid now: late, the first cell is open."""
        state = _core.mines.State(board)
        if late:
            state.open(first)
        return state

    small, large = ((2, 2), (3, 4), (4, 4), (5, 5), (8, 8), (1, 64)), ((9, 9), (10, 20), (16, 30))

    def played(sizes: Sequence[tuple[int, int]] = (*small, *large)) -> tuple[Any, list[int], list[int]]:
        rows, cols = rng.choice(sizes)
        late, first = rng.randrange(2), rng.randrange(rows * cols)
        board = _core.mines.Board(rows, cols, rng.randrange(1, max(2, rows * cols // 9)), late)
        where, state = board.allowed_cells(first), begun(board, first, bool(late))
        state.lay(rng.sample(where, _mines_of(lambda: begun(board, first, bool(late)), where)))
        if not late:
            state.open(first)
        for _ in range(rng.randrange(8)):
            if state.over or not state.unopened_cells:
                break
            state.open(rng.choice(state.unopened_cells))
        keep(board, state)
        return board, [c for c, _ in state.opened_cells], [n for _, n in state.opened_cells]

    def _mines_of(begin: Callable[[], Any], where: list[int]) -> int:
        for n in range(1, len(where) + 1):  # the board does not say how many it has
            try:
                begin().lay(where[:n])
            except ValueError:
                continue
            return n
        raise ValueError("no mines fit")

    def good(sizes: Sequence[tuple[int, int]] = (*small, *large)) -> tuple[Any, Any]:
        for _ in range(100):
            try:
                board, cells, shown = played(sizes)
                return board, _core.mines.Observation(board, cells, shown)
            except ValueError:
                continue
        raise ValueError("no game of Mines")

    for _ in range(12):
        board, observation = good()
        keep(board, observation, _core.mines.Counter(board, observation), _core.mines.Solver(board, 500, 500))
    add("mines.Observation", played)
    add("mines.State.lay", lambda: (_core.mines.State(_core.mines.Board(3, 4, 2, 0)), rng.sample(range(12), 2)))
    add("mines.Counter", good)
    add("mines.is_consistent", lambda: (*good(small), draw.integers(0, 2**62, 3).astype(np.uint64)))
    add("mines.is_consistent", lambda: (*good(large[:1]), draw.integers(0, 2**62, (3, 2)).astype(np.uint64)))
    add("mines.sample", lambda: (*good(), rng.randrange(4), rng.randrange(2), 20, 1, 2))

    def search() -> tuple[Any, ...]:
        return *good(), rng.randrange(1, 4), rng.randrange(2), 20, 0.001, 0.5, rng.choice((0.0, 0.5)), 7

    add("mines.search", search)

    def solve() -> tuple[Any, ...]:
        board, observation = good()
        return _core.mines.Solver(board, 300, 300), observation, rng.randrange(4)

    add("mines.Solver.open", solve)


def _hanabi(add: Any, keep: Any, rng: random.Random, draw: np.random.Generator) -> None:
    core = _core.hanabi
    rules = core.Rules(3, 3, 3, 3, 4, 2)

    def tables() -> Any:
        made = core.Tables(rules, rng.getrandbits(8), 0, 2)
        for _ in range(rng.randrange(12)):
            made.step(legal(made))
        return made

    def legal(made: Any) -> np.ndarray:
        return np.array([rng.choice(np.flatnonzero(row)) if row.any() else 0 for row in made.legal()], np.int64)

    keep(*(tables() for _ in range(8)))
    bots = np.zeros(2, np.int8)
    calls: dict[str, Callable[[Any], tuple[Any, ...]]] = {
        "step": lambda t: (legal(t),),
        "take": lambda t: (np.array([1, 0, 1]),),
        "deal": lambda t: (np.array([1]), 3, 4),
        "observe": lambda t: (np.array([0, 2], np.int8), True, np.zeros((2, rules.observation), np.float32)),
        "redeal": lambda t: (t.hands(), 5),
        "redraw": lambda t: (np.array([0, 2], np.int8), 5),
        "suppose": lambda t: (t.hands(),),
        "policy": lambda t: (bots,),
        "choose": lambda t: (bots, 3, 0),
        "play_out": lambda t: (legal(t), 2, 3),
    }
    for name, arguments in calls.items():
        add(f"hanabi.Tables.{name}", lambda arguments=arguments: (made := tables(), *arguments(made)))
    game = games.load("hanabi(colors=3,ranks=3,hand_size=3,max_information_tokens=4)")
    tokenizer = tokenizers.make(game)

    def decision() -> Any:
        seed, moves = rng.getrandbits(8), rng.randrange(8)
        state = game.deal(seed, 0)
        while moves or state.is_chance_node():
            if state.is_chance_node():
                state.apply_action(game.chance(state, seed, 0))
            else:
                state.apply_action(rng.choice(state.legal_actions()))
                moves -= 1
            if state.is_terminal():
                return decision()
        return tokenizer.codec, tokenizer.encode(game.view(state, state.current_player())), 2

    def decided(more: Callable[[Any, Any], tuple[Any, ...]]) -> tuple[Any, ...]:
        given = decision()
        made = core.Decision(*given)
        return made, *more(made, core.HandSampler(*given[:2]).sample(1, 2))

    add("hanabi.Decision", decision)
    keep(*(core.Decision(*decision()) for _ in range(4)))
    add("hanabi.Decision.blueprint", lambda: decided(lambda d, h: (1,)))
    add("hanabi.Decision.consistent_hands", lambda: decided(lambda d, h: (rng.choice([0, 500]), 4, 50, 1)))
    add("hanabi.Decision.decks", lambda: decided(lambda d, h: (h, 1)))
    add("hanabi.Decision.chances", lambda: decided(lambda d, h: (h,)))
    add("hanabi.Decision.play", lambda: decided(lambda d, h: (h, d.decks(h, 1), np.array([d.blueprint(1)]), 0)))
    games_, actions = np.arange(2, dtype=np.uint64), core.random_games(rules, 1, 0, 2)[1]
    add("hanabi.frames", lambda: (rules, 1, games_, actions, True))
    add("hanabi.scripted_games", lambda: (rules, np.array([0, 1, 2], np.int8), 1, 0, 2, 0.1, 0.1))


def _lstm(add: Any, draw: np.random.Generator) -> None:
    g, s, n, h = 2, 3, 2, 4

    def arrays(*shapes: tuple[int, ...]) -> list[np.ndarray]:
        return [draw.normal(size=shape).astype(np.float32) for shape in shapes]

    add(
        "lstm.forward",
        lambda: (
            1,
            *arrays((g, s, n, 4 * h), (g, n, 4 * h), (g, s, n, 4 * h), (g, s + 1, n, h), (g, s, n, h), (g, n, h)),
        ),
    )
    add(
        "lstm.backward",
        lambda: (1, *arrays((g, s, n, 4 * h), (g, s + 1, n, h), (g, s, n, h), (g, n, h), (g, n, h), (g, s, n, 4 * h))),
    )
