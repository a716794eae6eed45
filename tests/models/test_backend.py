"""Inference backends against Hugging Face's forward pass, and their promises about batches, nodes and errors."""

from __future__ import annotations

import gc
from copy import copy

import numpy as np
import pytest
import torch

from trickformer.base import Outcomes, Tracker, TrickformerError
from trickformer.models import presets
from trickformer.models.backend import Backend, Prefix, advance, instruction_sets, load_backend
from trickformer.models.gpt2 import GPT2PolicyValueModel

VOCAB, POSITIONS, OUTCOMES, FEATURES = 61, 40, 150, 83
BACKENDS = [("cpp", dtype, isa) for dtype in ("float32", "bfloat16") for isa in instruction_sets(dtype)] + [
    ("torch", "float32", None),
    ("torch", "bfloat16", None),
]
CPP = [backend for backend in BACKENDS if backend[0] == "cpp"]


def make_model(preset: str, outcomes: int = OUTCOMES, **beyond: int) -> GPT2PolicyValueModel:
    """A model with weights far from those of initialisation, so that every part of it shows in the result."""
    torch.manual_seed(0)
    model = GPT2PolicyValueModel(presets.config(preset, VOCAB, POSITIONS, outcomes, VOCAB - 1, **beyond)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter) * 0.05)
            else:
                parameter.mul_(4 if "head" in name or "hidden" in name else 2)
    return model


def features_of(sequence: list[int]) -> np.ndarray:
    """Features after a sequence, float32 [FEATURES]: some function of it, most of it 0 as in games."""
    rng = np.random.default_rng([9, *sequence])
    return (rng.random(FEATURES) < 0.3) * rng.uniform(-1, 1, FEATURES).astype(np.float32)


def features_along(sequence: list[int], start: int = 0) -> np.ndarray:
    """float32 [T - start, FEATURES], after each token from `start` on."""
    rows = [features_of(sequence[: t + 1]) for t in range(start, len(sequence))]
    return np.array(rows, np.float32).reshape(-1, FEATURES)


class Along(Tracker):
    """Says the features of `features_along`, and nothing else."""

    def __init__(self, history: tuple[int, ...] = ()):
        self._history = [*history]

    def copy(self) -> Along:
        return Along(tuple(self._history))

    def push(self, token: int) -> None:
        self._history.append(token)

    def features(self) -> np.ndarray:
        return features_along(self._history)[-1] if self._history else np.zeros(FEATURES, np.float32)

    def possible(self) -> np.ndarray:
        return np.ones(VOCAB, bool)

    legal = possible

    def my_turn(self) -> bool:
        return False

    terminal = my_turn

    def is_legal(self) -> bool:
        return True

    def outcome(self) -> int | None:
        return None


def values_of(outcomes: int = OUTCOMES) -> np.ndarray:
    return np.random.default_rng(3).uniform(-1, 1, (outcomes, 4)).astype(np.float32)


@pytest.fixture(scope="module")
def models() -> dict[str, GPT2PolicyValueModel]:
    found = {preset: make_model(preset) for preset in ("tiny", "small")}
    found["features"] = make_model("tiny", n_features=FEATURES, action_values=True, masked=True)
    found["only features"] = make_model("tiny", n_features=FEATURES)
    found["only actions"] = make_model("tiny", action_values=True)
    return found


@pytest.fixture
def backend(models: dict[str, GPT2PolicyValueModel]) -> Backend:
    return load_backend(models["tiny"], values_of(), "float32")


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def grow_tree(backend: Backend, rng: np.random.Generator, calls: int) -> dict[int, list[int]]:
    """Extend at random nodes by random chains; returns every node's sequence of tokens."""
    sequences: dict[int, list[int]] = {}
    for _ in range(calls):
        known = [node for node, sequence in sequences.items() if len(sequence) < POSITIONS]
        parents, lengths, tokens, expected = [], [], [], []
        for _ in range(int(rng.integers(1, 9))):
            parent = int(rng.choice(known)) if known and rng.random() < 0.85 else -1
            before = sequences.get(parent, [])
            length = int(rng.integers(1, min(12, POSITIONS - len(before)) + 1))
            chain = rng.integers(0, VOCAB, length).tolist()
            parents.append(parent)
            lengths.append(length)
            tokens += chain
            expected += [before + chain[: i + 1] for i in range(length)]
        features = np.array([features_of(sequence) for sequence in expected]) if backend.n_features else None
        nodes = backend.extend(ints(*parents), ints(*tokens), ints(*lengths), features)
        assert nodes.dtype == np.int32
        sequences.update(zip(nodes.tolist(), expected, strict=True))
    return sequences


def hugging_face(model: GPT2PolicyValueModel, sequences: list[list[int]]) -> tuple[np.ndarray, ...]:
    """After each sequence: logits [n, V], outcome probabilities [n, outcomes], hidden states [n, width], and action
    values [n, V], or no column of a model without."""
    longest = max(map(len, sequences))
    tokens = torch.tensor([s + [0] * (longest - len(s)) for s in sequences])
    features = None
    if model.n_features:
        rows = [np.pad(features_along(s), ((0, longest - len(s)), (0, 0))) for s in sequences]
        features = torch.from_numpy(np.array(rows))
    with torch.no_grad():
        out = model(tokens, features=features)
        hidden = model.hidden_states(tokens, features)
    rows, last = torch.arange(len(sequences)), torch.tensor([len(s) - 1 for s in sequences])
    actions = np.empty((len(sequences), 0)) if out.action_values is None else out.action_values[rows, last].numpy()
    probabilities = out.value_logits[rows, last].softmax(-1).numpy()
    return out.logits[rows, last].numpy(), probabilities, hidden[rows, last].numpy(), actions


def softmax(logits: np.ndarray) -> np.ndarray:
    e = np.exp(logits - logits.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def assert_parity(model: GPT2PolicyValueModel, backend: Backend, sequences: dict[int, list[int]], note: str) -> None:
    nodes = np.array(list(sequences), np.int32)
    logits, probabilities, hidden, actions = hugging_face(model, list(sequences.values()))
    values = values_of(backend.n_outcomes)
    exact = backend.dtype == "float32"
    got = backend.policy(nodes)
    if exact:
        np.testing.assert_allclose(got, logits, atol=1e-4, rtol=0, err_msg=note)
    np.testing.assert_allclose(softmax(got), softmax(logits), atol=1e-2, rtol=0, err_msg=note)
    close = 1e-5 if exact else 1e-2
    np.testing.assert_allclose(backend.outcomes(nodes), probabilities, atol=close, rtol=0, err_msg=note)
    np.testing.assert_allclose(backend.values(nodes), probabilities @ values, atol=close, rtol=0, err_msg=note)
    np.testing.assert_allclose(backend.values(nodes), backend.outcomes(nodes) @ values, atol=1e-5, rtol=0, err_msg=note)
    kept = backend.hidden_states(nodes)
    np.testing.assert_allclose(kept, hidden, atol=1e-4 if exact else 0.1, rtol=0, err_msg=note)
    assert backend.has_action_values == (actions.shape[1] > 0)
    if backend.has_action_values:
        assert actions.std() > 0.08, "too small to tell"
        close = 1e-5 if exact else 3e-2
        np.testing.assert_allclose(backend.action_values(nodes), actions, atol=close, rtol=0, err_msg=note)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "dtype", "isa"), BACKENDS)
@pytest.mark.parametrize("preset", ["tiny", "small", "features", "only features", "only actions"])
def test_random_trees_equal_hugging_face(
    models: dict[str, GPT2PolicyValueModel], preset: str, kind: str, dtype: str, isa: str | None
) -> None:
    backend = load_backend(models[preset], values_of(), dtype, backend=kind, isa=isa)
    assert (backend.vocab_size, backend.n_outcomes, backend.n_positions) == (VOCAB, OUTCOMES, POSITIONS)
    assert backend.dtype == dtype
    config = models[preset].config
    assert (backend.n_features, backend.has_masked_policy) == (config.n_features, config.masked)
    for seed in range(2):
        backend.reset()
        sequences = grow_tree(backend, np.random.default_rng(seed), 8)
        assert backend.node_count == len(sequences)
        assert_parity(models[preset], backend, sequences, f"{kind} {dtype} {isa}, tree of seed {seed}")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_paper_size_equals_hugging_face(dtype: str) -> None:
    model = make_model("paper", 2237)
    backend = load_backend(model, values_of(2237), dtype)
    assert_parity(model, backend, grow_tree(backend, np.random.default_rng(5), 3), f"{dtype}, tree of seed 5")


@pytest.mark.slow
@pytest.mark.parametrize(("heads", "embd", "inner"), [(1, 20, 40), (3, 36, 50), (5, 40, 64), (18, 72, 100)])
@pytest.mark.parametrize(("kind", "dtype", "isa"), CPP)
def test_odd_sizes(kind: str, dtype: str, isa: str, heads: int, embd: int, inner: int) -> None:
    config = presets.config("tiny", VOCAB, POSITIONS, 128, VOCAB - 1)
    config.n_head, config.n_embd, config.n_inner = heads, embd, inner
    torch.manual_seed(1)
    model = GPT2PolicyValueModel(config).eval()
    backend = load_backend(model, values_of(128), dtype, backend=kind, isa=isa)
    assert_parity(model, backend, grow_tree(backend, np.random.default_rng(1), 4), f"{dtype} {isa}, seed 1")


def heads_of(backend: Backend) -> list:
    """All that can be asked of a node."""
    heads = [backend.policy, backend.outcomes, backend.values, backend.hidden_states]
    return heads + ([backend.action_values] if backend.has_action_values else [])


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "dtype", "isa"), CPP)
@pytest.mark.parametrize("preset", ["small", "features"])
def test_rows_do_not_depend_on_the_batch(
    models: dict[str, GPT2PolicyValueModel], preset: str, kind: str, dtype: str, isa: str
) -> None:
    """Bitwise: alone, with others, token by token, in any split, and where the nodes lie in memory."""
    model, values = models[preset], values_of()
    rng = np.random.default_rng(7)
    tokens = rng.integers(0, VOCAB, (200, 15)).astype(np.int32)
    features = np.array([features_along(row.tolist()) for row in tokens]) if model.n_features else None

    def of(*which):
        return None if features is None else features[which].reshape(-1, FEATURES)

    together = load_backend(model, values, dtype, backend=kind, isa=isa)
    nodes = together.extend(np.full(200, -1, np.int32), tokens.ravel(), np.full(200, 15, np.int32), of(slice(None)))
    nodes = nodes.reshape(200, 15)
    heads = [head(nodes[:, -1].copy()) for head in heads_of(together)]
    assert len(heads) == (5 if preset == "features" else 4)

    alone = load_backend(model, values, dtype, backend=kind, isa=isa)
    for row in (0, 1, 63, 143, 144, 199):
        node = ints(-1)
        start = 0
        while start < 15:
            step = int(rng.integers(1, 4))
            piece = tokens[row, start : start + step]
            node = alone.extend(node, piece, ints(piece.size), of(row, slice(start, start + step)))[-1:]
            start += step
        for head, expected in zip(heads_of(alone), heads, strict=True):
            assert np.array_equal(head(node)[0], expected[row]), f"row {row}, seed 7"

    for batch in range(1, 15):  # every tile height
        rows = rng.choice(200, batch, replace=False)
        lengths = np.full(batch, 14, np.int32)
        parents = alone.extend(0 * lengths - 1, tokens[rows, :14].ravel(), lengths, of(rows, slice(14)))
        last = alone.extend(parents.reshape(batch, 14)[:, -1].copy(), tokens[rows, 14].copy(), None, of(rows, 14))
        for head, expected in zip(heads_of(alone), heads, strict=True):
            assert np.array_equal(head(last), expected[rows]), f"batch of {batch}, seed 7"


@pytest.mark.parametrize("kind", ["cpp", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_features_are_given_whole_or_not_at_all(models: dict[str, GPT2PolicyValueModel], kind: str, dtype: str) -> None:
    backend = load_backend(models["features"], values_of(), dtype, backend=kind)
    known = features_along([1, 2, 3])
    root = backend.extend(ints(-1), ints(1, 2, 3), ints(3), known)
    before = backend.policy(root)
    for wrong in (
        None,
        known[:2],
        known[:, :-1],
        np.zeros((0, FEATURES), np.float32),
        np.zeros((3, 0), np.float32),
        known.T,
    ):
        with pytest.raises(ValueError, match="features"):
            backend.extend(ints(-1), ints(1, 2, 3), ints(3), wrong)
    with pytest.raises(ValueError, match="not in the vocabulary"):
        backend.extend(ints(-1), ints(VOCAB), None, known[:1])
    assert backend.node_count == 3
    assert np.array_equal(backend.policy(root), before)
    assert backend.extend(ints(), ints()).size == 0
    assert backend.action_values(ints()).shape == (0, VOCAB)
    with pytest.raises(ValueError, match="node 9 is not a live node"):
        backend.action_values(ints(9))

    plain = load_backend(models["tiny"], values_of(), dtype, backend=kind)
    node = plain.extend(ints(-1), ints(1))
    for wrong in (known[:1], known):
        with pytest.raises(ValueError, match="features"):
            plain.extend(ints(-1), ints(1), None, wrong)
    with pytest.raises(ValueError, match="action values"):
        plain.action_values(node)
    assert (plain.node_count, plain.n_features) == (1, 0)
    assert not plain.has_masked_policy and not plain.has_action_values
    again = plain.extend(ints(-1), ints(1), None, np.zeros((1, 0), np.float32))
    assert np.array_equal(plain.policy(again), plain.policy(node))


@pytest.mark.parametrize("kind", ["cpp", "torch"])
def test_prefixes_feed_the_features_of_what_is_new(models: dict[str, GPT2PolicyValueModel], kind: str) -> None:
    backend = load_backend(models["features"], values_of(), "float32", backend=kind)
    prefixes = [Prefix(backend, Along()), Prefix(backend, Along())]
    for histories in ([[1, 2, 3], [4]], [[1, 2, 5, 6], [4, 7]], [[1, 2, 5, 6], [8, 9]]):
        tokens = [ints(*history) for history in histories]
        nodes = advance(prefixes, tokens)
        logits, *_ = hugging_face(models["features"], histories)
        np.testing.assert_allclose(backend.policy(nodes), logits, atol=1e-4, rtol=0)
    with pytest.raises(ValueError, match="features"):
        advance([Prefix(backend)], [ints(1)])


def test_outcomes_or_their_classes(models: dict[str, GPT2PolicyValueModel]) -> None:
    """A game's outcomes are what the value head tells apart: all of them, or those of another own value."""
    labels = tuple((i, j) for i in range(15) for j in range(20))
    values = np.array([[i / 7, -j / 7] for i, j in labels], np.float32)
    outcomes = Outcomes(labels, values)
    assert outcomes.class_values.shape == (15, 1)
    assert np.array_equal(outcomes.class_values[outcomes.classes], values[:, :1])
    for n, expected in ((300, values), (15, outcomes.class_values)):
        backend = load_backend(make_model("tiny", n), outcomes, "float32")
        nodes = backend.extend(ints(-1), ints(1))
        np.testing.assert_allclose(backend.values(nodes), backend.outcomes(nodes) @ expected, atol=1e-5)
        which, worth = outcomes.head_outputs(n)
        assert np.array_equal(worth, expected) and np.array_equal(worth[which][:, 0], values[:, 0])
    with pytest.raises(TrickformerError, match="150 outputs fits neither the game's 300 outcomes nor its 15 classes"):
        load_backend(models["tiny"], outcomes)
    apart = Outcomes(((3,), (1,), (2,)), np.array([[3.0], [1.0], [2.0]], np.float32))
    assert apart.classes.tolist() == [0, 1, 2] and apart.class_values.ravel().tolist() == [3, 1, 2]


@pytest.mark.parametrize("kind", ["cpp", "torch"])
def test_errors_change_nothing(models: dict[str, GPT2PolicyValueModel], kind: str) -> None:
    backend = load_backend(models["tiny"], values_of(), "float32", backend=kind)
    root = backend.extend(ints(-1), ints(1, 2, 3), ints(3))
    bad = [
        ((ints(-1), ints(VOCAB)), "token 61 is not in the vocabulary of 61"),
        ((ints(-1), ints(-5)), "token -5 is not in the vocabulary"),
        ((ints(7000), ints(1)), "node 7000 is not a live node"),
        ((ints(-2), ints(1)), "node -2 is not a live node"),
        ((ints(-1), np.zeros(POSITIONS + 1, np.int32), ints(POSITIONS + 1)), "longer than the model's 40 positions"),
        ((root[-1:], np.zeros(POSITIONS - 2, np.int32), ints(POSITIONS - 2)), "longer than the model's 40"),
        ((ints(-1, -1), ints(1, 2, 3), ints(1, 1)), "lengths add up to 2, but there are 3 tokens"),
        ((ints(-1, -1), ints(1, 2), ints(2, 0)), "length 0"),
        ((ints(-1, -1), ints(1, 2), ints(2)), "2 parents, but 1 lengths"),
    ]
    for arguments, message in bad:
        with pytest.raises(ValueError, match=message):
            backend.extend(*arguments)
    for use in (backend.policy, backend.outcomes, backend.values, backend.release):
        with pytest.raises(ValueError, match="node 9 is not a live node"):
            use(ints(int(root[0]), 9))
    with pytest.raises(ValueError, match="is not a live node"):
        backend.release(ints(int(root[2]), int(root[2])))
    with pytest.raises(TypeError):
        backend.policy(np.zeros((1, 1), np.int32))
    assert backend.node_count == 3
    backend.release(root[2:])
    with pytest.raises(ValueError, match="is not a live node"):
        backend.extend(root[2:], ints(1))
    assert backend.node_count == 2
    assert backend.extend(ints(), ints()).size == 0
    assert backend.policy(ints()).shape == (0, VOCAB)
    assert backend.values(ints()).shape == (0, 4)


def test_live_nodes_stay_together(models: dict[str, GPT2PolicyValueModel]) -> None:
    """However they came back, the lowest are taken first: a pool that lives long is as compact as a fresh one."""
    backend = load_backend(models["tiny"], values_of(), "float32", backend="cpp")
    nodes = backend.extend(np.full(3000, -1, np.int32), np.zeros(3000, np.int32))
    backend.release(np.random.default_rng(1).permutation(nodes[100:]))
    assert backend.extend(np.full(200, -1, np.int32), np.zeros(200, np.int32)).tolist() == list(range(100, 300))
    for _ in range(2):
        backend.reset()
        assert backend.extend(ints(-1, -1), ints(0, 0)).tolist() == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cpp", "torch"])
def test_released_nodes_are_used_again(models: dict[str, GPT2PolicyValueModel], kind: str) -> None:
    backend = load_backend(models["tiny"], values_of(), "float32", backend=kind)
    rng = np.random.default_rng(11)
    kept = backend.extend(ints(-1), rng.integers(0, VOCAB, 10).astype(np.int32), ints(10))
    before = backend.policy(kept)
    seen: set[int] = set()
    for _ in range(60):  # 12,000 nodes in all, 200 at a time
        fed = rng.integers(0, VOCAB, 200).astype(np.int32)
        new = backend.extend(np.full(10, kept[-1], np.int32), fed, np.full(10, 20, np.int32))
        seen.update(new.tolist())
        assert backend.node_count == 210
        backend.release(new)
    assert len(seen) == 200
    assert np.array_equal(backend.policy(kept), before)
    many = backend.extend(np.full(5000, -1, np.int32), np.arange(5000, dtype=np.int32) % VOCAB)
    assert np.unique(np.concatenate((many, kept))).size == 5010  # the pool grew, ids stay valid
    assert np.array_equal(backend.policy(kept), before)
    generation = backend.generation
    backend.reset()
    assert (backend.node_count, backend.generation) == (0, generation + 1)
    with pytest.raises(ValueError, match="is not a live node"):
        backend.policy(kept)


@pytest.mark.parametrize("kind", ["cpp", "torch"])
def test_a_broken_promise_is_noticed(models: dict[str, GPT2PolicyValueModel], kind: str) -> None:
    backend = load_backend(models["tiny"], values_of(), backend=kind)
    nodes = backend.extend(ints(-1), ints(1, 2, 3), ints(3))
    backend.release(nodes[:1])
    with pytest.raises(ValueError, match="released before the nodes below it"):
        backend.extend(nodes[2:], ints(4))


@pytest.mark.parametrize("kind", ["cpp", "torch"])
def test_a_place_that_was_taken_again_is_no_parent(models: dict[str, GPT2PolicyValueModel], kind: str) -> None:
    """Though the node in it now stands as deep as the one that was released."""
    backend = load_backend(models["tiny"], values_of(), backend=kind)
    nodes = backend.extend(ints(-1), ints(1, 2, 3), ints(3))
    backend.release(nodes[:2])
    assert backend.extend(ints(-1), ints(4, 5), ints(2)).tolist() == nodes[:2].tolist()
    with pytest.raises(ValueError, match="released before the nodes below it"):
        backend.extend(nodes[2:], ints(4))
    assert backend.node_count == 3
    backend.extend(nodes[1:2], ints(6))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cpp", "torch"])
def test_prefixes_keep_what_they_share(models: dict[str, GPT2PolicyValueModel], kind: str) -> None:
    backend = load_backend(models["tiny"], values_of(), "float32", backend=kind)
    rng = np.random.default_rng(13)
    prefixes = [Prefix(backend) for _ in range(5)]
    histories = [rng.integers(0, VOCAB, 4).astype(np.int32) for _ in prefixes]
    for step in range(12):
        for i, history in enumerate(histories):
            cut = int(rng.integers(0, history.size + 1)) if rng.random() < 0.3 else history.size
            more = rng.integers(0, VOCAB, int(rng.integers(0, 4))).astype(np.int32)
            histories[i] = np.concatenate((history[:cut], more))[: POSITIONS - 1]
            histories[i] = histories[i] if histories[i].size else ints(step)
        before = [prefix.nodes for prefix in prefixes]
        shared = [int(np.cumprod(p.tokens[: h.size] == h[: p.tokens.size]).sum()) for p, h in zip(prefixes, histories)]
        nodes = advance(prefixes, histories)
        for prefix, history, node, old, common in zip(prefixes, histories, nodes, before, shared):
            assert np.array_equal(prefix.tokens, history), "seed 13"
            assert prefix.node == node
            assert np.array_equal(prefix.nodes[:common], old[:common])
        assert backend.node_count == sum(map(len, histories))
    logits, *_ = hugging_face(models["tiny"], [history.tolist() for history in histories])
    np.testing.assert_allclose(backend.policy(nodes), logits, atol=1e-4, rtol=0, err_msg="seed 13")
    del prefix
    prefixes.pop()
    gc.collect()
    assert backend.node_count == sum(map(len, histories[:4]))
    backend.reset()
    assert advance(prefixes, histories[:4]).shape == (4,)  # a reset is no harm
    assert backend.node_count == sum(map(len, histories[:4]))
    backend.reset()
    del prefixes
    gc.collect()
    assert backend.node_count == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cpp", "torch"])
def test_copies_of_a_prefix_share_its_nodes(models: dict[str, GPT2PolicyValueModel], kind: str) -> None:
    backend = load_backend(models["features"], values_of(), "float32", backend=kind)
    original = Prefix(backend, Along())
    advance([original], [ints(1, 2, 3)])
    twins = [copy(original), copy(original)]
    histories = [[1, 2, 3, 4], [1, 2, 3, 5, 6], [1, 2, 3, 7]]
    nodes = advance([original, *twins], [ints(*history) for history in histories])
    assert backend.node_count == 3 + 1 + 2 + 1
    np.testing.assert_allclose(backend.policy(nodes), hugging_face(models["features"], histories)[0], atol=1e-4, rtol=0)
    nodes = advance(twins, [ints(1, 8), ints(1, 2, 3, 9)])  # shorter than what is shared: nothing of it is given back
    assert backend.node_count == 3 + 1 + 1 + 1
    logits, *_ = hugging_face(models["features"], [[1, 8], [1, 2, 3, 9]])
    np.testing.assert_allclose(backend.policy(nodes), logits, atol=1e-4, rtol=0)
    del original
    gc.collect()
    assert backend.node_count == 3 + 1 + 1 + 1, "copies hold on to what they share"
    backend.reset()
    nodes = advance(twins, [ints(1, 8), ints(1, 2, 3, 9)])  # a reset is no harm
    np.testing.assert_allclose(backend.policy(nodes), logits, atol=1e-4, rtol=0)
    assert backend.node_count == 2 + 4
    del twins
    gc.collect()
    assert backend.node_count == 0


def test_prefix_errors(models: dict[str, GPT2PolicyValueModel], backend: Backend) -> None:
    prefix = Prefix(backend)
    assert prefix.node == -1
    assert advance([], []).size == 0
    with pytest.raises(ValueError, match="share a backend"):
        advance([prefix, Prefix(load_backend(models["tiny"], values_of()))], [ints(1), ints(1)])
    with pytest.raises(ValueError, match="twice"):
        advance([prefix, prefix], [ints(1), ints(1)])
    with pytest.raises(ValueError, match="1 prefixes, but 2 token lists"):
        advance([prefix], [ints(1), ints(1)])
    advance([prefix], [ints(1, 2, 3)])
    with pytest.raises(ValueError, match="not in the vocabulary"):
        advance([prefix], [ints(1, 2, 99)])
    assert prefix.tokens.tolist() == [1, 2]
    assert backend.node_count == 2
