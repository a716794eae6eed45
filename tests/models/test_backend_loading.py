"""Loading a backend: checkpoints of any type and broken ones, options, instruction sets, how little is imported."""

from __future__ import annotations

import copy
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
from trickformer.models.backend import ROUNDED, instruction_sets, load_backend
from trickformer.models.gpt2 import GPT2PolicyValueModel

VALUES = np.random.default_rng(3).uniform(-1, 1, (9, 4)).astype(np.float32)


@pytest.fixture(scope="module")
def model() -> GPT2PolicyValueModel:
    return GPT2PolicyValueModel(presets.config("tiny", 61, 40, len(VALUES), 60)).eval()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_checkpoints_load_in_any_type(model: GPT2PolicyValueModel, tmp_path: Path, dtype: torch.dtype) -> None:
    rounded = copy.deepcopy(model).to(dtype)
    rounded.save_pretrained(tmp_path)
    tokens = np.arange(10, dtype=np.int32)
    backends = [load_backend(given, VALUES, "float32") for given in (rounded.float(), tmp_path)]
    results = [e.policy(e.extend(np.array([-1], np.int32), tokens, np.array([10], np.int32))) for e in backends]
    assert np.array_equal(*results)


def test_bad_checkpoints_are_named(model: GPT2PolicyValueModel, tmp_path: Path) -> None:
    good = tmp_path / "good"
    model.save_pretrained(good)
    file = (good / "model.safetensors").read_bytes()
    config = json.loads((good / "config.json").read_text())

    def fails(name: str, data: bytes, changes: dict[str, object], message: str) -> None:
        folder = tmp_path / name
        shutil.copytree(good, folder)
        (folder / "model.safetensors").write_bytes(data)
        (folder / "config.json").write_text(json.dumps(config | changes))
        with pytest.raises(TrickformerError, match=message) as caught:
            load_backend(folder, VALUES)
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
    fails("features", file, {"n_features": 3}, "lacks tensor features.weight")
    fails("fewer", file, {"n_features": -1}, "n_features = -1")
    fails("actions", file, {"action_values": True}, "lacks tensor act_hidden.weight")
    with pytest.raises(TrickformerError, match="no checkpoint in"):
        load_backend(tmp_path / "nowhere", VALUES)
    with pytest.raises(TrickformerError, match="the model has 9 outcomes"):
        load_backend(good, VALUES[:7])


def test_unknown_options(model: GPT2PolicyValueModel, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="dtype 'float16'"):
        load_backend(model, VALUES, "float16")
    with pytest.raises(UnknownNameError, match="backend 'jax'"):
        load_backend(model, VALUES, backend="jax")
    with pytest.raises(TrickformerError, match="runs on the CPU"):
        load_backend(model, VALUES, backend="cpp", device="cuda")
    with pytest.raises(UnknownNameError, match=r"'mmx'; choose from: .*base"):
        load_backend(model, VALUES, isa="mmx")
    monkeypatch.setenv("TRICKFORMER_ISA", "base")
    assert load_backend(model, VALUES).isa == "base"  # type: ignore[attr-defined]
    monkeypatch.setenv("TRICKFORMER_ISA", "mmx")
    with pytest.raises(UnknownNameError, match=r"'mmx'; choose from: .*base"):
        load_backend(model, VALUES)


@pytest.mark.parametrize("isa", ROUNDED)
def test_a_set_for_bfloat16_alone_stands_for_the_best_below_it(
    model: GPT2PolicyValueModel, monkeypatch: pytest.MonkeyPatch, isa: str
) -> None:
    if isa not in instruction_sets("bfloat16"):
        pytest.skip(f"this CPU has no {isa}")
    monkeypatch.setenv("TRICKFORMER_ISA", isa)
    assert load_backend(model, VALUES, "bfloat16").isa == isa  # type: ignore[attr-defined]
    assert load_backend(model, VALUES, "float32").isa == instruction_sets("float32")[-1]  # type: ignore[attr-defined]
    with pytest.raises(UnknownNameError, match="instruction set for float32"):
        load_backend(model, VALUES, "float32", isa=isa)


def test_loading_is_light(model: GPT2PolicyValueModel, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path)
    program = (
        "import sys, numpy as np; from trickformer.models.backend import load_backend;"
        f"load_backend({str(tmp_path)!r}, np.zeros(({len(VALUES)}, 2)));"
        "assert not {'torch', 'transformers', 'pyspiel'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
