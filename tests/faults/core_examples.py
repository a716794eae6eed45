"""Good calls of the core, from which the fuzz makes bad ones, and objects in every state that matters.

What takes only numbers and objects that stand in the pool needs no example: its type says enough. A function of arrays
that must fit together does, and a test says so by name if no call of it ever succeeds."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.faults.core_examples_more import more
from tests.faults.core_signatures import ROOT, classes
from trickformer import _core, games, tokenizers

Arguments = tuple[Any, ...]
Examples = dict[str, list[Callable[[], Arguments]]]
Pool = dict[str, list[Any]]
GAMES = ("hearts", "skat", "crew", "hanabi")
SIZES = {"n_layer": 1, "n_embd": 16, "n_head": 2, "n_inner": 32, "n_positions": 90, "n_outcomes": 5}


class Tracker:
    """One written in Python, that plays four tokens, or does something else now and then."""

    def __init__(self, rng: random.Random, faults: bool) -> None:
        self.rng, self.faults, self.n = rng, faults, 0

    def copy(self) -> Any:
        if self.faults and self.rng.random() < 0.02:
            return self
        other = Tracker(self.rng, self.faults)
        other.n = self.n
        return other

    def _array(self, dtype: type) -> Any:
        if self.faults and self.rng.random() < 0.05:
            return self.rng.choice((None, np.zeros(3, dtype), np.zeros(4), np.zeros((2, 2), dtype), [0] * 4))
        return np.ones(4, dtype)

    def legal(self) -> Any:
        return self._array(np.bool_)

    def possible(self) -> Any:
        return self._array(np.bool_)

    def features(self) -> Any:
        return self._array(np.float32)

    def my_turn(self) -> bool:
        return self.n % 2 == 0

    def push(self, token: int) -> None:
        if self.faults and self.rng.random() < 0.02:
            raise ValueError("this tracker is out of order")
        self.n += 1

    def terminal(self) -> bool:
        return self.n > 6

    def is_legal(self) -> bool:
        return self.rng.random() < 0.9

    def outcome(self) -> Any:
        return self.rng.choice((0, 1, -1, 2**31, 10**20, "won", None)) if self.faults else 1


def backend_arguments(vocabulary: int, features: int, rng: np.random.Generator) -> Arguments:
    """Arguments of a small GPT2Backend."""
    sizes = {**SIZES, "vocab_size": vocabulary, "n_features": features, "n_actions": 1, "masked": 1}
    d, f, shapes = SIZES["n_embd"], SIZES["n_inner"], {}
    for name, shape in {"ln_1": (d,), "ln_2": (d,), "attn.c_attn": (d, 3 * d), "attn.c_proj": (d, d)}.items():
        shapes[f"transformer.h.0.{name}"] = shape
    shapes |= {"transformer.h.0.mlp.c_fc": (d, f), "transformer.h.0.mlp.c_proj": (f, d), "transformer.ln_f": (d,)}
    tensors = {}
    for name, shape in shapes.items():
        tensors[name + ".weight"], tensors[name + ".bias"] = shape, shape[-1:]
    for head, rows in {"lm": vocabulary, "act": vocabulary, "val": SIZES["n_outcomes"]}.items():
        tensors[head + "_hidden.weight"], tensors[head + "_head.weight"] = (d, d), (rows, d)
    tensors |= {"transformer.wte.weight": (vocabulary, d), "transformer.wpe.weight": (SIZES["n_positions"], d)}
    if features:
        tensors["features.weight"] = (features, d)
    weights = {name: rng.normal(scale=0.3, size=shape).astype(np.float32) for name, shape in tensors.items()}
    return sizes, 1e-5, weights, rng.normal(size=(SIZES["n_outcomes"], 4)).astype(np.float32), bool(rng.integers(2))


class _Maker:
    def __init__(self, rng: random.Random) -> None:
        self.rng, self.draw = rng, np.random.default_rng(rng.getrandbits(32))
        self.examples: Examples = defaultdict(list)
        self.pool: Pool = defaultdict(list)

    def add(self, name: str, make: Callable[[], Arguments]) -> None:
        self.examples[name].append(make)

    def keep(self, *objects: Any) -> None:
        for item in objects:
            kind = type(item)
            self.pool[f"{kind.__module__}.{kind.__qualname__}"].append(item)

    def game(self, name: str) -> None:
        game, rng, draw = games.load(name), self.rng, self.draw
        tokenizer, fast = tokenizers.make(game), tokenizers.fast(game)
        codec, module = tokenizer.codec, getattr(_core, name)
        self.keep(codec)
        hands = fast.core_hands(["random"] * game.players, rng.getrandbits(20), 0, 6, 1, 0.0)
        history, scores = hands.history, hands.scores
        tables_class = type(fast.tables(0, 0, 1)).__name__

        def rows(n: int = 2) -> tuple[np.ndarray, np.ndarray]:
            return history[draw.integers(0, len(history), n)], draw.integers(0, game.players, n).astype(np.uint8)

        def labels() -> Arguments:
            streams, share = draw.integers(0, 9, 1).astype(np.uint64), rng.choice((0.0, 0.05))
            worlds = name != "hanabi" and rng.random() < 0.3
            return (codec, *rows(1), rng.getrandbits(16), streams, 1, share, None, worlds)

        kind = type(codec).__name__
        self.add(f"{name}.{kind}.encode", lambda: (codec, *rows()))
        self.add(f"{name}.{kind}.labels", labels)
        dtype = np.int16 if name == "skat" else np.int8
        self.add(f"{name}.{kind}.outcomes", lambda: (codec, scores[:2].astype(dtype), rows()[1]))

        def tables(moves: int) -> Any:
            made = fast.tables(rng.getrandbits(16), 0, 2)
            for _ in range(moves):
                legal = made.legal()
                on = np.flatnonzero(legal.any(1)).astype(np.int32)
                if not len(on):
                    break
                made.step(on, np.array([rng.choice(np.flatnonzero(legal[i])) for i in on], np.int32))
            return made

        drawn = (draw.uniform(size=(2, 4)),) if name == "crew" else ()

        def deals() -> Any:
            seed = rng.getrandbits(16)
            return np.array([game.chance_actions(seed, index) for index in range(2)], np.uint8)

        self.add(f"{name}.{tables_class}", lambda: (codec, deals(), *drawn))

        def step() -> Arguments:
            made = tables(rng.randrange(4))
            return made, np.array([0], np.int32), np.flatnonzero(made.legal()[0])[:1].astype(np.int32)

        self.add(f"{name}.{tables_class}.step", step)
        self.keep(*(tables(n) for n in (0, 10, 300)))

        def seen() -> np.ndarray:
            """int32 [k]: a view at an own turn, or what ends anywhere."""
            tokens = codec.encode(*rows(1))[0].astype(np.int32)
            tracker, turns = codec.tracker(), [0]
            for i, token in enumerate(tokens):
                tracker.push(int(token))
                if tracker.my_turn():
                    turns.append(i + 1)
                if tracker.terminal():
                    tokens = tokens[: i + 2]  # the end is told once
                    break
            return tokens[: rng.choice(turns) if rng.random() < 0.8 else rng.randrange(len(tokens))]

        def tracker() -> Any:
            made = codec.tracker()
            for token in seen():
                made.push(int(token))
            return made

        for _ in range(8):
            self.keep_as("Tracker", tracker())
        self.add(
            "follow",
            lambda: (codec.tracker(), tokens := codec.encode(*rows()), np.array([5, tokens.shape[1]], np.int32), True),
        )
        self.views(name, module, codec, seen)
        self.seats(codec)
        self.searches(codec, tracker)

    def keep_as(self, kind: str, item: Any) -> None:
        self.pool[f"{ROOT}.{kind}"].append(item)

    def seats(self, codec: Any) -> None:
        def seats() -> Any:
            return _core.Seats(codec.tracker(), 3)

        vocabulary = len(codec.tracker().possible())

        def tokens(n: int) -> np.ndarray:
            return self.draw.integers(0, vocabulary, n).astype(np.int32)

        self.add("Seats", lambda: (codec.tracker(), 3))
        rows = np.array([0, 2], np.int32)
        self.add("Seats.push", lambda: (seats(), rows, tokens(4), np.array([1, 3], np.int32)))
        self.add("Seats.after", lambda: (seats(), rows, tokens(2)))
        features = codec.tracker().n_features
        net = tuple(
            self.draw.normal(size=s).astype(np.float32) for s in ((features + 1, 64), (vocabulary, 64), vocabulary)
        )
        self.add("RolloutNet", lambda: net)
        self.keep(_core.RolloutNet(*net))
        self.add(
            "RolloutNet.values",
            lambda: (_core.RolloutNet(*net), self.draw.normal(size=(2, features)).astype(np.float32)),
        )

    def searches(self, codec: Any, tracker: Callable[[], Any]) -> None:
        rng, draw = self.rng, self.draw
        vocabulary, features = len(codec.tracker().possible()), codec.tracker().n_features
        arguments = backend_arguments(vocabulary, features, draw)
        self.add("GPT2Backend", lambda: arguments)
        backend = _core.GPT2Backend(*arguments)
        self.keep(backend)
        tokens = np.arange(4, dtype=np.int32)

        def extend() -> Arguments:
            lengths, rows = np.array([3, 1], np.int32), draw.normal(size=(4, features)).astype(np.float32)
            return backend, np.array([-1, -1], np.int32), tokens, lengths, rows

        self.add("GPT2Backend.extend", extend)
        heads = ("policy", "outcomes", "values", "action_values", "hidden_states", "release")
        for head in heads:
            self.add(f"GPT2Backend.{head}", lambda: (backend, backend.extend(*extend()[1:])[::-1].copy()))
        values = draw.normal(size=(3000, 4)).astype(np.float32)

        def batch(advanced: bool = True) -> Any:
            made = _core.gomcts.SearchBatch(values)
            root = int(backend.extend(*extend()[1:])[-1])
            for _ in range(2):
                at = tracker()
                if at.my_turn():
                    options = {
                        "c": 0.4,
                        "threshold": rng.choice((0.0, 0.05, 2.0)),
                        "mu": 0.01,
                        "wave": rng.choice((1, 3)),
                        "temperature": rng.choice((0.01, 1.0, 100.0)),
                    }
                    names = ("legal", "action_values", "leaf_action_values", "rollout_action_values")
                    flags = {name: rng.random() < 0.5 for name in names}
                    made.add(
                        at, 1, root, runs=rng.randrange(1, 6), steps=rng.randrange(3), features=True, **options, **flags
                    )
            if advanced:
                made.advance()
            return made

        def answer() -> Arguments:
            made = batch()
            made.give_nodes(np.arange(len(made.branches()[1]), dtype=np.int32))
            n, m = len(made.policy_nodes()), len(made.value_nodes())
            logits = draw.normal(size=(n, vocabulary)).astype(np.float32)
            return made, logits, draw.normal(size=(m, 4)).astype(np.float32), rng.choice((None, logits))

        def give() -> Arguments:
            made = batch()
            return made, np.arange(len(made.branches()[1]), dtype=np.int32)

        self.add("gomcts.SearchBatch.run", lambda: (batch(False), backend, True))
        self.add("gomcts.SearchBatch.answer", answer)
        self.add("gomcts.SearchBatch.give_nodes", give)
        for method in ("edges", "best", "illegal", "imagined_tree"):
            self.add(f"gomcts.SearchBatch.{method}", lambda: (answered(), 0))
        for method in ("advance", "branches", "backend_nodes"):
            self.add(f"gomcts.SearchBatch.{method}", lambda: (answered(),))

        def answered() -> Any:
            made, *answers = answer()
            made.answer(*answers)
            return made

        self.keep(batch(), batch(False))

    def views(self, name: str, module: Any, codec: Any, seen: Callable[[], np.ndarray]) -> None:
        """What a seat has seen, worlds, and what plays on them."""
        if name == "hanabi":
            self.add("hanabi.HandSampler", lambda: (codec, seen()))
            for method in ("over", "events"):
                self.add(f"hanabi.Codec.{method}", lambda: (codec, seen()))
            return self.samplers(name, lambda: module.HandSampler(codec, seen()), "ways")
        if name == "hearts":
            self.hearts_views()
            return self.samplers(name, lambda: module.DealSampler(self.hearts_view()), *WORLDS)
        given = (codec,) if name == "crew" else ()
        self.add(f"{name}.SeatView", lambda: (*given, seen()))
        self.add(f"{name}.complete_tokens", lambda: (*given, seen()))
        if name == "crew":
            self.add("crew.events", lambda: (*given, seen()))
        else:
            self.add("skat.turns", lambda: (codec.encode(*self.examples["skat.Codec.encode"][0]()[1:]), False))

        def view() -> Any:
            return module.SeatView(*given, seen())

        for _ in range(30):
            self.keep(view())
        cards = 40 if name == "crew" else 32

        def odds() -> Any:
            return self.rng.choice((None, self.draw.uniform(-2, 2, (cards, 3))))

        self.add(f"{name}.DealSampler", lambda: (view(), odds()))
        return self.samplers(name, lambda: module.DealSampler(view(), odds()), *WORLDS, *(["states"] if given else []))

    def samplers(self, name: str, make: Callable[[], Any], *methods: str) -> None:
        kind = "HandSampler" if name == "hanabi" else "DealSampler"

        def good() -> Any:
            for _ in range(50):
                try:
                    return make()
                except ValueError:  # a view that ends amid what is seen at once
                    continue
            raise ValueError("no view has worlds")

        self.keep(*(good() for _ in range(12)))

        def worlds(sampler: Any) -> np.ndarray:
            return sampler.sample(self.rng.getrandbits(10), 3)

        for method in methods:
            self.add(f"{name}.{kind}.{method}", lambda: (sampler := good(), worlds(sampler)))
        if name == "skat":
            weights, model = _evaluation(), _core.skat_search.BidModel()
            self.add("skat_search.log_weight", lambda: (d := good(), weights, model, True, worlds(d)))

    def hearts_view(self) -> Any:
        return _core.hearts.SeatView(*self.hearts_arguments())

    def hearts_views(self) -> None:
        self.add("hearts.SeatView", self.hearts_arguments)
        self.keep(*(self.hearts_view() for _ in range(30)))
        self.add("hearts.DealSampler", lambda: (self.hearts_view(), self.draw.uniform(-2, 2, (52, 3))))

    def hearts_arguments(self) -> Arguments:
        """Some plays of a hand without passes, seen by one seat; or some passes, after three of which it waits."""
        rules, deck = _core.hearts.Rules(), self.draw.permutation(52).astype(np.uint8)
        if self.rng.random() < 0.2:
            hand, passes = sorted(deck[:13].tolist()), self.rng.randrange(4)
            return rules, self.rng.randrange(4), 1, hand, hand[:passes], [], -1, [], passes < 3
        state, plays, leader, seat = _core.hearts.State(rules, 0, deck), [], -1, self.rng.randrange(4)
        leader = state.current_player()
        for _ in range(self.rng.randrange(53)):
            if state.is_terminal() or (state.current_player() == seat and self.rng.random() < 0.2):
                break
            plays.append(self.rng.choice(state.legal_actions()))
            state.apply_action(plays[-1])
        turn = not state.is_terminal() and state.current_player() == seat
        return rules, seat, 0, sorted(deck[seat::4].tolist()), [], [], leader, plays, turn


WORLDS = ("is_consistent", "log_prob", "places")


def _evaluation() -> Any:
    draw = np.random.default_rng(5)
    entries = _core.skat_search.ENTRIES
    return _core.skat_search.Evaluation(
        draw.normal(scale=0.3, size=(9, entries)).astype(np.float32), np.ones((8, 2), np.float32)
    )


def make(rng: random.Random) -> tuple[Examples, Pool]:
    """Examples by the name of what they call, each made anew for every call, and objects by class."""
    maker = _Maker(rng)
    maker.keep(_evaluation(), _core.skat_search.BidModel())
    for name in GAMES:
        maker.game(name)
    for faults in (False, True):
        maker.keep_as("Tracker", Tracker(rng, faults))
    more(maker.add, maker.keep, rng, maker.draw)
    for kind, bound in classes().items():
        if hasattr(bound, "__setstate__") and maker.pool[kind]:
            states = [item.__getstate__() for item in maker.pool[kind]]
            maker.add(f"{kind[len(ROOT) + 1 :]}.__setstate__", lambda b=bound, s=states: (b.__new__(b), rng.choice(s)))
    return dict(maker.examples), maker.pool
