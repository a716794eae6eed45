"""Objects written to a file and read back, and files that somebody else has made."""

from __future__ import annotations

import enum
import io
import json
import pickle
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trickformer import _core
from trickformer.belief.hanabi import native
from trickformer.games.hanabi import RULES
from trickformer.plumbing.snapshot import Native, Snapshots


class Form(enum.Enum):
    ONE = 1


@dataclass(slots=True)
class Leaf:
    values: np.ndarray
    rng: Any = None


@dataclass
class Tree:
    leaves: list[Leaf]
    form: Form = Form.ONE
    self: Any = None
    more: dict[Any, Any] = field(default_factory=dict)


class Stranger:
    pass


SNAPSHOTS = Snapshots((Form, Leaf, Tree), {complex: Native(lambda c: [c.real, c.imag], lambda p: complex(*p))})


def test_what_is_read_is_what_was_written(tmp_path):
    file, network = tmp_path / "kept.npz", torch.nn.Linear(2, 3)
    leaf = Leaf(np.arange(6, dtype=np.int16).reshape(2, 3), np.random.default_rng(4))
    generator = torch.Generator().manual_seed(8)
    tensors = [torch.randn(2, 3), torch.randn(4).bfloat16(), torch.ones(2, dtype=torch.bool), torch.zeros(0, 3)]
    tensors += [torch.randn(3, requires_grad=True), torch.tensor(3, dtype=torch.int64)]
    tree = Tree([leaf, leaf, Leaf(np.float32(2.5))], more={1: (None, True, 2.5, "text", float("inf")), "t": tensors})
    tree.self, tree.more["c"] = tree, 3 + 4j
    tree.more |= {"network": network, "bytes": b"\x00\xff", "g": generator, "device": torch.device("cpu")}
    leaf.rng.random(3)
    SNAPSHOTS.save(file, tree, {"network": network})
    read = SNAPSHOTS.load(file, {"network": network})
    assert read.self is read and read.leaves[0] is read.leaves[1] is not read.leaves[2]
    assert read.form is Form.ONE and read.more["network"] is network and read.more["c"] == 3 + 4j
    assert read.more[1] == tree.more[1] and read.more["bytes"] == b"\x00\xff"
    assert np.array_equal(read.leaves[0].values, leaf.values) and read.leaves[0].values.dtype == np.int16
    assert read.leaves[2].values == 2.5 and type(read.leaves[2].values) is np.float32
    assert read.leaves[0].rng.random(5).tolist() == leaf.rng.random(5).tolist()
    assert torch.equal(torch.rand(4, generator=read.more["g"]), torch.rand(4, generator=generator))
    for ours, theirs in zip(read.more["t"], tensors, strict=True):
        assert ours.dtype == theirs.dtype and ours.requires_grad == theirs.requires_grad
        assert torch.equal(ours, theirs)


def test_only_named_classes_are_written_and_made(tmp_path):
    with pytest.raises(TypeError, match=r"do not hold objects of .*Stranger"):
        SNAPSHOTS.save(tmp_path / "a.npz", [Stranger()], {})
    assert not list(tmp_path.iterdir())
    Snapshots((Stranger,), {}).save(tmp_path / "b.npz", Stranger(), {})
    with pytest.raises(ValueError):
        SNAPSHOTS.load(tmp_path / "b.npz", {})


TREES = ["[", "{}", '{"is": "object"}', '{"is": "same", "number": 3}', "[[[1]]]", "[" * 100_000]
TREES += [
    json.dumps({"number": 0} | node)
    for node in (
        {"is": "object", "of": "Leaf", "fields": [["nothing", 1]]},
        {"is": "enum", "of": "Form", "value": 7},
        {"is": "generator", "state": {}},
        {"is": "native", "of": "complex", "value": "x"},
        {"is": "tensor", "array": "tree", "dtype": "load", "shape": [1], "device": "cpu", "grad": False},
        {"is": "system", "array": "tree"},
    )
]


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree[:40])
def test_files_of_somebody_else(tree, tmp_path):
    file = tmp_path / "kept.npz"
    np.savez(file, tree=np.frombuffer(tree.encode(), np.uint8))
    with pytest.raises(ValueError):
        SNAPSHOTS.load(file, {})


def test_no_compressed_file_is_read(tmp_path):
    """It may be decompressed to any size."""
    file = tmp_path / "state.npz"
    SNAPSHOTS.save(file, np.zeros(3), {})
    with np.load(file) as held:
        np.savez_compressed(file, **held)
    with pytest.raises(ValueError, match="compressed"):
        SNAPSHOTS.load(file, {})


def test_no_pickle_is_read(tmp_path):
    file, objects = tmp_path / "kept.npz", np.empty(1, object)
    objects[0] = print
    np.savez(file, tree=objects, allow_pickle=True)
    for data in (file.read_bytes(), pickle.dumps({"a": 1}), b"", b"nothing"):
        file.write_bytes(data)
        with pytest.raises(ValueError):
            SNAPSHOTS.load(file, {})


@given(data=st.data())
def test_damage_is_found(data, tmp_path_factory):
    file = tmp_path_factory.mktemp("kept") / "kept.npz"
    SNAPSHOTS.save(file, Leaf(np.arange(20)), {})
    held = bytearray(file.read_bytes())
    at = data.draw(st.integers(0, len(held) - 1))
    held[at] ^= 1 << data.draw(st.integers(0, 7))
    file.write_bytes(held)
    try:
        read = SNAPSHOTS.load(file, {})
    except ValueError:
        return
    assert np.array_equal(read.values, np.arange(20))  # a bit that says nothing, such as a date


def test_tables_of_no_game_are_refused():
    """The core indexes by what a state says."""
    rules = _core.hanabi.Rules(**{name: getattr(_core.hanabi.Rules(), name) for name in RULES.values()})
    tables = _core.hanabi.Tables(rules, 1, 0, 2)
    _, states, marks = tables.__getstate__()
    restore = native.NATIVES[_core.hanabi.Tables].from_value
    fresh = restore((rules, states, marks))
    assert fresh.current().tolist() == tables.current().tolist()
    rng, refused = np.random.default_rng(0), 0
    for _ in range(2_000):
        held = bytearray(states)
        held[int(rng.integers(len(held)))] = int(rng.integers(256))
        try:
            made = restore((rules, bytes(held), marks))
        except ValueError:
            refused += 1
            continue
        legal = made.legal()
        assert legal.shape == (2, rules.actions)
    assert refused > 300
    with pytest.raises(ValueError):
        restore((rules, states[:-1], marks))
    with pytest.raises(ValueError):
        restore((rules, states, bytes(len(marks))))


def test_the_format_is_numpys_own(tmp_path):
    SNAPSHOTS.save(tmp_path / "kept.npz", [1, 2], {})
    with np.load(io.BytesIO((tmp_path / "kept.npz").read_bytes()), allow_pickle=False) as held:
        assert held.files == ["tree"]


def test_classes_are_read_under_their_former_names(tmp_path):
    class Twig:
        """The class Leaf under a later name."""

        values: np.ndarray

    file = tmp_path / "old.npz"
    SNAPSHOTS.save(file, Leaf(np.arange(3)), {})
    read = Snapshots((Twig,), {}, {"Leaf": Twig}).load(file, {})
    assert type(read) is Twig and read.values.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="Leaf"):
        Snapshots((Twig,), {}).load(file, {})
