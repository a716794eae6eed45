"""Inference engines against Hugging Face's forward pass, and their promises about batches, nodes and errors."""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from trickformer.base import TrickformerError, UnknownNameError
from trickformer.models import presets
from trickformer.models.engine import Engine, Prefix, advance, instruction_sets, load_engine
from trickformer.models.gpt2 import GPT2PolicyValueModel

VOCAB, POSITIONS, OUTCOMES = 61, 40, 150
ENGINES = [("cpp", dtype, isa) for dtype in ("float32", "bfloat16") for isa in instruction_sets(dtype)] + [
    ("torch", "float32", None),
    ("torch", "bfloat16", None),
]
CPP = [engine for engine in ENGINES if engine[0] == "cpp"]


def make_model(preset: str, outcomes: int = OUTCOMES) -> GPT2PolicyValueModel:
    """A model with weights far from those of initialisation, so that every part of it shows in the result."""
    torch.manual_seed(0)
    model = GPT2PolicyValueModel(presets.config(preset, VOCAB, POSITIONS, outcomes, VOCAB - 1)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter) * 0.05)
            else:
                parameter.mul_(4 if "head" in name or "hidden" in name else 2)
    return model


def values_of(outcomes: int = OUTCOMES) -> np.ndarray:
    return np.random.default_rng(3).uniform(-1, 1, (outcomes, 4)).astype(np.float32)


@pytest.fixture(scope="module")
def models() -> dict[str, GPT2PolicyValueModel]:
    return {preset: make_model(preset) for preset in ("tiny", "small")}


@pytest.fixture
def engine(models: dict[str, GPT2PolicyValueModel]) -> Engine:
    return load_engine(models["tiny"], values_of(), "float32")


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def grow_tree(engine: Engine, rng: np.random.Generator, calls: int) -> dict[int, list[int]]:
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
        nodes = engine.extend(ints(*parents), ints(*tokens), ints(*lengths))
        assert nodes.dtype == np.int32
        sequences.update(zip(nodes.tolist(), expected, strict=True))
    return sequences


def hugging_face(model: GPT2PolicyValueModel, sequences: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Logits [n, V] and outcome probabilities [n, outcomes] after each sequence."""
    longest = max(map(len, sequences))
    tokens = torch.tensor([s + [0] * (longest - len(s)) for s in sequences])
    with torch.no_grad():
        out = model(tokens)
    rows, last = torch.arange(len(sequences)), torch.tensor([len(s) - 1 for s in sequences])
    return out.logits[rows, last].numpy(), out.value_logits[rows, last].softmax(-1).numpy()


def softmax(logits: np.ndarray) -> np.ndarray:
    e = np.exp(logits - logits.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def assert_parity(model: GPT2PolicyValueModel, engine: Engine, sequences: dict[int, list[int]], note: str) -> None:
    nodes = np.array(list(sequences), np.int32)
    logits, probabilities = hugging_face(model, list(sequences.values()))
    values = values_of(engine.n_outcomes)
    exact = engine.dtype == "float32"
    got = engine.policy(nodes)
    if exact:
        np.testing.assert_allclose(got, logits, atol=1e-4, rtol=0, err_msg=note)
    np.testing.assert_allclose(softmax(got), softmax(logits), atol=1e-2, rtol=0, err_msg=note)
    close = 1e-5 if exact else 1e-2
    np.testing.assert_allclose(engine.outcomes(nodes), probabilities, atol=close, rtol=0, err_msg=note)
    np.testing.assert_allclose(engine.values(nodes), probabilities @ values, atol=close, rtol=0, err_msg=note)
    np.testing.assert_allclose(engine.values(nodes), engine.outcomes(nodes) @ values, atol=1e-5, rtol=0, err_msg=note)


@pytest.mark.parametrize(("backend", "dtype", "isa"), ENGINES)
@pytest.mark.parametrize("preset", ["tiny", "small"])
def test_random_trees_equal_hugging_face(
    models: dict[str, GPT2PolicyValueModel], preset: str, backend: str, dtype: str, isa: str | None
) -> None:
    engine = load_engine(models[preset], values_of(), dtype, backend=backend, isa=isa)
    assert (engine.vocab_size, engine.n_outcomes, engine.n_positions) == (VOCAB, OUTCOMES, POSITIONS)
    assert engine.dtype == dtype
    for seed in range(2):
        engine.reset()
        sequences = grow_tree(engine, np.random.default_rng(seed), 8)
        assert engine.used == len(sequences)
        assert_parity(models[preset], engine, sequences, f"{backend} {dtype} {isa}, tree of seed {seed}")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_paper_size_equals_hugging_face(dtype: str) -> None:
    model = make_model("paper", 2237)
    engine = load_engine(model, values_of(2237), dtype)
    assert_parity(model, engine, grow_tree(engine, np.random.default_rng(5), 3), f"{dtype}, tree of seed 5")


@pytest.mark.parametrize(("heads", "embd", "inner"), [(1, 20, 40), (3, 36, 50), (5, 40, 64), (18, 72, 100)])
@pytest.mark.parametrize(("backend", "dtype", "isa"), CPP)
def test_odd_sizes(backend: str, dtype: str, isa: str, heads: int, embd: int, inner: int) -> None:
    config = presets.config("tiny", VOCAB, POSITIONS, 128, VOCAB - 1)
    config.n_head, config.n_embd, config.n_inner = heads, embd, inner
    torch.manual_seed(1)
    model = GPT2PolicyValueModel(config).eval()
    engine = load_engine(model, values_of(128), dtype, backend=backend, isa=isa)
    assert_parity(model, engine, grow_tree(engine, np.random.default_rng(1), 4), f"{dtype} {isa}, seed 1")


@pytest.mark.parametrize(("backend", "dtype", "isa"), CPP)
def test_rows_do_not_depend_on_the_batch(
    models: dict[str, GPT2PolicyValueModel], backend: str, dtype: str, isa: str
) -> None:
    """Bitwise: alone, with others, token by token, in any split, and where the nodes lie in memory."""
    model, values = models["small"], values_of()
    rng = np.random.default_rng(7)
    tokens = rng.integers(0, VOCAB, (200, 15)).astype(np.int32)
    together = load_engine(model, values, dtype, backend=backend, isa=isa)
    nodes = together.extend(np.full(200, -1, np.int32), tokens.ravel(), np.full(200, 15, np.int32))
    nodes = nodes.reshape(200, 15)
    heads = [head(nodes[:, -1].copy()) for head in (together.policy, together.outcomes, together.values)]

    alone = load_engine(model, values, dtype, backend=backend, isa=isa)
    for row in (0, 1, 63, 143, 144, 199):
        node = ints(-1)
        start = 0
        while start < 15:
            step = int(rng.integers(1, 4))
            piece = tokens[row, start : start + step]
            node = alone.extend(node, piece, ints(piece.size))[-1:]
            start += step
        for head, expected in zip((alone.policy, alone.outcomes, alone.values), heads, strict=True):
            assert np.array_equal(head(node)[0], expected[row]), f"row {row}, seed 7"

    for batch in range(1, 15):  # every tile height
        rows = rng.choice(200, batch, replace=False)
        parents = alone.extend(np.full(batch, -1, np.int32), tokens[rows, :14].ravel(), np.full(batch, 14, np.int32))
        last = alone.extend(parents.reshape(batch, 14)[:, -1].copy(), tokens[rows, 14].copy())
        for head, expected in zip((alone.policy, alone.outcomes, alone.values), heads, strict=True):
            assert np.array_equal(head(last), expected[rows]), f"batch of {batch}, seed 7"


@pytest.mark.parametrize("backend", ["cpp", "torch"])
def test_errors_change_nothing(models: dict[str, GPT2PolicyValueModel], backend: str) -> None:
    engine = load_engine(models["tiny"], values_of(), "float32", backend=backend)
    root = engine.extend(ints(-1), ints(1, 2, 3), ints(3))
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
            engine.extend(*arguments)
    for use in (engine.policy, engine.outcomes, engine.values, engine.release):
        with pytest.raises(ValueError, match="node 9 is not a live node"):
            use(ints(int(root[0]), 9))
    with pytest.raises(ValueError, match="is not a live node"):
        engine.release(ints(int(root[2]), int(root[2])))
    with pytest.raises(TypeError):
        engine.policy(np.zeros((1, 1), np.int32))
    assert engine.used == 3
    engine.release(root[2:])
    with pytest.raises(ValueError, match="is not a live node"):
        engine.extend(root[2:], ints(1))
    assert engine.used == 2
    assert engine.extend(ints(), ints()).size == 0
    assert engine.policy(ints()).shape == (0, VOCAB)
    assert engine.values(ints()).shape == (0, 4)


@pytest.mark.parametrize("backend", ["cpp", "torch"])
def test_released_nodes_are_used_again(models: dict[str, GPT2PolicyValueModel], backend: str) -> None:
    engine = load_engine(models["tiny"], values_of(), "float32", backend=backend)
    rng = np.random.default_rng(11)
    kept = engine.extend(ints(-1), rng.integers(0, VOCAB, 10).astype(np.int32), ints(10))
    before = engine.policy(kept)
    seen: set[int] = set()
    for _ in range(60):  # 12,000 nodes in all, 200 at a time
        fed = rng.integers(0, VOCAB, 200).astype(np.int32)
        new = engine.extend(np.full(10, kept[-1], np.int32), fed, np.full(10, 20, np.int32))
        seen.update(new.tolist())
        assert engine.used == 210
        engine.release(new)
    assert len(seen) == 200
    assert np.array_equal(engine.policy(kept), before)
    many = engine.extend(np.full(5000, -1, np.int32), np.arange(5000, dtype=np.int32) % VOCAB)
    assert np.unique(np.concatenate((many, kept))).size == 5010  # the pool grew, ids stay valid
    assert np.array_equal(engine.policy(kept), before)
    generation = engine.generation
    engine.reset()
    assert (engine.used, engine.generation) == (0, generation + 1)
    with pytest.raises(ValueError, match="is not a live node"):
        engine.policy(kept)


@pytest.mark.parametrize("backend", ["cpp", "torch"])
def test_a_broken_promise_is_noticed(models: dict[str, GPT2PolicyValueModel], backend: str) -> None:
    engine = load_engine(models["tiny"], values_of(), backend=backend)
    nodes = engine.extend(ints(-1), ints(1, 2, 3), ints(3))
    engine.release(nodes[:1])
    with pytest.raises(ValueError, match="released before the nodes below it"):
        engine.extend(nodes[2:], ints(4))


@pytest.mark.parametrize("backend", ["cpp", "torch"])
def test_prefixes_keep_what_they_share(models: dict[str, GPT2PolicyValueModel], backend: str) -> None:
    engine = load_engine(models["tiny"], values_of(), "float32", backend=backend)
    rng = np.random.default_rng(13)
    prefixes = [Prefix(engine) for _ in range(5)]
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
        assert engine.used == sum(map(len, histories))
    logits, _ = hugging_face(models["tiny"], [history.tolist() for history in histories])
    np.testing.assert_allclose(engine.policy(nodes), logits, atol=1e-4, rtol=0, err_msg="seed 13")
    del prefix
    prefixes.pop()
    gc.collect()
    assert engine.used == sum(map(len, histories[:4]))
    engine.reset()
    assert advance(prefixes, histories[:4]).shape == (4,)  # a reset is no harm
    assert engine.used == sum(map(len, histories[:4]))
    engine.reset()
    del prefixes
    gc.collect()
    assert engine.used == 0


def test_prefix_errors(models: dict[str, GPT2PolicyValueModel], engine: Engine) -> None:
    prefix = Prefix(engine)
    assert prefix.node == -1
    assert advance([], []).size == 0
    with pytest.raises(ValueError, match="share an engine"):
        advance([prefix, Prefix(load_engine(models["tiny"], values_of()))], [ints(1), ints(1)])
    with pytest.raises(ValueError, match="twice"):
        advance([prefix, prefix], [ints(1), ints(1)])
    with pytest.raises(ValueError, match="1 prefixes, but 2 token lists"):
        advance([prefix], [ints(1), ints(1)])
    advance([prefix], [ints(1, 2, 3)])
    with pytest.raises(ValueError, match="not in the vocabulary"):
        advance([prefix], [ints(1, 2, 99)])
    assert prefix.tokens.tolist() == [1, 2]
    assert engine.used == 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_checkpoints_load_in_any_type(
    models: dict[str, GPT2PolicyValueModel], tmp_path: Path, dtype: torch.dtype
) -> None:
    model = make_model("tiny").to(dtype)
    model.save_pretrained(tmp_path)
    tokens = np.arange(10, dtype=np.int32)
    rounded = load_engine(model.float(), values_of(), "float32")
    loaded = load_engine(tmp_path, values_of(), "float32")
    results = [e.policy(e.extend(ints(-1), tokens, ints(10))) for e in (rounded, loaded)]
    assert np.array_equal(*results)


def test_bad_checkpoints_are_named(models: dict[str, GPT2PolicyValueModel], tmp_path: Path) -> None:
    good = tmp_path / "good"
    models["tiny"].save_pretrained(good)
    file = (good / "model.safetensors").read_bytes()
    config = json.loads((good / "config.json").read_text())

    def fails(name: str, data: bytes, changes: dict[str, object], message: str) -> None:
        folder = tmp_path / name
        shutil.copytree(good, folder)
        (folder / "model.safetensors").write_bytes(data)
        (folder / "config.json").write_text(json.dumps(config | changes))
        with pytest.raises(TrickformerError, match=message) as caught:
            load_engine(folder, values_of())
        assert "\n" not in str(caught.value)

    fails("cut", file[:-1000], {}, "truncated: tensor .* fetch or save it again")
    fails("header", file[:100], {}, "truncated or no safetensors file")
    fails("empty", b"", {}, "is not a safetensors file")
    fails("foreign", b"\x04" + bytes(7) + b"spam" + bytes(90), {}, "is not a safetensors file")
    fails("deeper", file, {"n_layer": 3}, r"lacks tensor transformer\.h\.2\.")
    fails("wider", file, {"n_embd": 64}, "has shape .* but config.json asks for")
    fails("bert", file, {"model_type": "bert"}, "model_type = 'bert'")
    fails("relu", file, {"activation_function": "relu"}, "activation_function = 'relu'")
    fails("sizes", file, {"vocab_size": None}, "vocab_size = None")
    with pytest.raises(TrickformerError, match="no checkpoint in"):
        load_engine(tmp_path / "nowhere", values_of())
    with pytest.raises(TrickformerError, match="tells 150 outcomes apart"):
        load_engine(good, values_of(7))


def test_unknown_options(models: dict[str, GPT2PolicyValueModel], monkeypatch: pytest.MonkeyPatch) -> None:
    model = models["tiny"]
    with pytest.raises(UnknownNameError, match="dtype 'float16'"):
        load_engine(model, values_of(), "float16")
    with pytest.raises(UnknownNameError, match="backend 'jax'"):
        load_engine(model, values_of(), backend="jax")
    with pytest.raises(TrickformerError, match="runs on the CPU"):
        load_engine(model, values_of(), backend="cpp", device="cuda")
    with pytest.raises(UnknownNameError, match=r"'mmx'; choose from: .*base"):
        load_engine(model, values_of(), isa="mmx")
    monkeypatch.setenv("TRICKFORMER_ISA", "base")
    assert load_engine(model, values_of()).isa == "base"  # type: ignore[attr-defined]


def test_loading_is_light(models: dict[str, GPT2PolicyValueModel], tmp_path: Path) -> None:
    models["tiny"].save_pretrained(tmp_path)
    program = (
        "import sys, numpy as np; from trickformer.models.engine import load_engine;"
        f"load_engine({str(tmp_path)!r}, np.zeros(({OUTCOMES}, 2)));"
        "assert not {'torch', 'transformers', 'pyspiel'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
