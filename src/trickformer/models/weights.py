"""Reader of policy-value checkpoints without torch and transformers. Errors name the first fault of a checkpoint."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trickformer.base import TrickformerError
from trickformer.models.legacy import FORMER_MODEL_TYPE, MODEL_TYPE, rename_legacy_keys
from trickformer.plumbing.text import from_json, json_object, read_text

if TYPE_CHECKING:
    from trickformer.models.gpt2 import GPT2PolicyValueModel

_WIDTHS = {"F32": 4, "F16": 2, "BF16": 2}  # bytes an element, by the names of the safetensors format
_SIZES = ("n_layer", "n_embd", "n_head", "vocab_size", "n_positions")
_MOST = 65_536  # largest value of a size in _SIZES or n_inner; a config with more is damaged
_MOST_HEADER = 1 << 22  # bytes; the header of a file with a thousand tensors has about 100 KB
_FIXED = {  # values that the backends require; all are Hugging Face's defaults, which a missing key stands for
    "activation_function": "gelu_new",
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
}


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of a model whose shapes are checked."""

    # n_layer, n_embd, n_head, n_inner, vocab_size, n_positions, n_outcomes; n_features, n_actions and masked may be 0
    sizes: dict[str, int]
    epsilon: float  # epsilon of the layer norms
    tensors: dict[str, np.ndarray]  # float32, C-contiguous, by their names in the Hugging Face state dict


def read_weights(folder: str | PathLike[str]) -> Weights:
    """Read the weights of a checkpoint (config.json, model.safetensors), converted to float32.

    Args:
        folder: The checkpoint.

    Raises:
        TrickformerError: The folder is no checkpoint of this kind, or is damaged.
    """
    folder = Path(folder)
    try:
        config = from_json(read_text(folder / "config.json"))
    except OSError as error:
        raise TrickformerError(
            f"no checkpoint in {folder}: cannot read config.json ({error.strerror}); "
            "give a folder that save_pretrained wrote"
        ) from error
    except ValueError as error:
        raise TrickformerError(f"{folder / 'config.json'} is not JSON ({error}); save the checkpoint again") from error
    if not isinstance(config, dict):
        raise TrickformerError(f"{folder / 'config.json'} is not a configuration; save the checkpoint again")
    return _check_weights(config, read_safetensors(folder / "model.safetensors"), str(folder))


def model_weights(model: GPT2PolicyValueModel) -> Weights:
    """Return the weights of a model in memory as float32. Only tensors of another type or device are copied.

    Args:
        model: The model.

    Raises:
        TrickformerError: The backends cannot run the model.
    """
    tensors = {
        name: np.ascontiguousarray(tensor.detach().cpu().float().numpy()) for name, tensor in model.state_dict().items()
    }
    return _check_weights(model.config.to_dict(), tensors, "the model")


def read_safetensors(path: str | PathLike[str]) -> dict[str, np.ndarray]:
    """Read all tensors of a safetensors file of float32, float16 or bfloat16, as float32.

    Args:
        path: The file.

    Raises:
        TrickformerError: The file is missing, truncated, of another format, or has a weight that is not finite.
    """
    path = Path(path)
    try:
        data = np.fromfile(path, dtype=np.uint8)
    except OSError as error:
        raise TrickformerError(
            f"cannot read {path} ({error.strerror}); give a folder that save_pretrained wrote"
        ) from error
    foreign = TrickformerError(f"{path} is not a safetensors file; save the checkpoint again")
    if data.size < 8:
        raise foreign
    length = int(data[:8].view("<u8")[0])
    if length > data.size - 8:
        raise TrickformerError(f"{path} is truncated or no safetensors file; fetch or save it again")
    if length > _MOST_HEADER:
        raise TrickformerError(f"{path}: the header has more than {_MOST_HEADER >> 20} MiB; save the checkpoint again")
    try:
        entries = _entries(json_object(data[8 : 8 + length].tobytes()))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise foreign from error
    body = data[8 + length :]
    tensors: dict[str, np.ndarray] = {}
    previous_end = 0  # the format has no gaps and no overlaps, so the tensors cannot be larger than the file
    for name, dtype, shape, start, end in entries:
        if dtype not in _WIDTHS:
            raise TrickformerError(f"{path}: tensor {name} has type {dtype}; save it as float32 or bfloat16")
        if len(shape) > 8 or any(n < 0 for n in shape):  # no network has tensors with so many axes
            raise foreign
        if not 0 <= start <= end or end - start != math.prod(shape) * _WIDTHS[dtype]:
            raise foreign
        if end > body.size:
            raise TrickformerError(
                f"{path} is truncated: tensor {name} ends at byte {8 + length + end} of {data.size}; "
                "fetch or save it again"
            )
        if start != previous_end:
            raise TrickformerError(
                f"{path}: tensor {name} {'overlaps' if start < previous_end else 'leaves a gap after'} the one before; "
                "save the checkpoint again"
            )
        previous_end = end
        tensors[name] = _float32(body[start:end], dtype).reshape(shape)
    if previous_end < body.size:
        raise TrickformerError(f"{path}: bytes after the last tensor belong to none; save the checkpoint again")
    must_be_finite(tensors, str(path))
    return tensors


def _entries(header: dict[str, Any]) -> list[tuple[str, str, tuple[int, ...], int, int]]:
    """List name, type, shape, first byte and end of each tensor, in the order of the bytes.

    Raises:
        ValueError, TypeError, KeyError, AttributeError, OverflowError: The header has another format.
    """
    header.pop("__metadata__", None)
    entries = []
    for name, entry in header.items():
        start, end = map(int, entry["data_offsets"])
        entries.append((name, str(entry["dtype"]), tuple(map(int, entry["shape"])), start, end))
    return sorted(entries, key=lambda entry: entry[3:])


def must_be_finite(tensors: Mapping[str, np.ndarray], where: str) -> None:
    """Check that all weights are finite, because a network with other weights would play without any error.

    Args:
        tensors: Tensors by name.
        where: File or folder, for the error.

    Raises:
        TrickformerError: A weight is infinite or not a number; the error names the first tensor with one.
    """
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise TrickformerError(f"{where}: tensor {name} holds a weight that is infinite or not a number")


def _float32(raw: np.ndarray, dtype: str) -> np.ndarray:
    """Convert little-endian bytes, uint8 [n], to float32."""
    raw = raw.copy() if raw.ctypes.data % 4 else raw  # aligns the bytes
    if dtype == "BF16":  # the upper half of a float32
        return (raw.view("<u2").astype(np.uint32) << 16).view(np.float32)
    return raw.view("<f4" if dtype == "F32" else "<f2").astype(np.float32, copy=False)


def _check_weights(config: dict[str, Any], tensors: dict[str, np.ndarray], where: str) -> Weights:
    """Check a model's configuration, and that its tensors have the shapes that the configuration demands.

    Raises:
        TrickformerError: A value of the configuration or a shape is wrong; the error names the first one.
    """
    config, tensors = rename_legacy_keys(config), rename_legacy_keys(tensors)
    if config.get("model_type", MODEL_TYPE) not in (MODEL_TYPE, FORMER_MODEL_TYPE):
        raise TrickformerError(
            f"{where}: config has model_type = {config['model_type']!r}; the backend runs models with "
            f"{MODEL_TYPE!r} or {FORMER_MODEL_TYPE!r} only"
        )
    for key, needed in _FIXED.items():
        if config.get(key, needed) != needed:
            raise TrickformerError(
                f"{where}: config has {key} = {config[key]!r}; the backend runs models with {needed!r} only"
            )
    sizes: dict[str, int] = {}
    for key in (*_SIZES, "n_inner"):
        value = config.get(key)
        if key == "n_inner" and value is None:
            value = 4 * sizes["n_embd"]
        if type(value) is not int or not 0 < value <= _MOST:
            raise TrickformerError(
                f"{where}: config has {key} = {value!r}; it must be a positive number up to {_MOST:,}, save it again"
            )
        sizes[key] = value
    epsilon = config.get("layer_norm_epsilon", 1e-5)
    if not isinstance(epsilon, float) or not 0 < epsilon < 1:
        raise TrickformerError(
            f"{where}: config has layer_norm_epsilon = {epsilon!r}, not between 0 and 1; save it again"
        )
    embd, inner = sizes["n_embd"], sizes["n_inner"]
    if embd % sizes["n_head"]:
        raise TrickformerError(f"{where}: n_embd {embd} is not a multiple of n_head {sizes['n_head']}")
    head = tensors.get("val_head.weight")
    if head is None or head.ndim != 2:
        raise TrickformerError(f"{where} has no value head (val_head.weight); give a GPT2PolicyValueModel checkpoint")
    sizes["n_outcomes"] = outcomes = head.shape[0]
    sizes["n_features"] = features = config.get("n_features", 0)
    if not isinstance(features, int) or features < 0:
        raise TrickformerError(f"{where}: config has n_features = {features!r}; it must be a number, save it again")
    sizes["n_actions"] = sizes["vocab_size"] if config.get("action_values") else 0
    sizes["masked"] = int(bool(config.get("masked")))

    shapes: dict[str, tuple[int, ...]] = {
        "transformer.wte.weight": (sizes["vocab_size"], embd),
        "transformer.wpe.weight": (sizes["n_positions"], embd),
        "transformer.ln_f.weight": (embd,),
        "transformer.ln_f.bias": (embd,),
        "lm_hidden.weight": (embd, embd),
        "lm_head.weight": (sizes["vocab_size"], embd),
        "val_hidden.weight": (embd, embd),
        "val_head.weight": (outcomes, embd),
    }
    if features:
        shapes["features.weight"] = (features, embd)
    if sizes["n_actions"]:
        shapes["act_hidden.weight"] = (embd, embd)
        shapes["act_head.weight"] = (sizes["n_actions"], embd)
    for i in range(sizes["n_layer"]):
        block = f"transformer.h.{i}."
        for name, (rows, columns) in {
            "attn.c_attn": (embd, 3 * embd),
            "attn.c_proj": (embd, embd),
            "mlp.c_fc": (embd, inner),
            "mlp.c_proj": (inner, embd),
        }.items():
            shapes[f"{block}{name}.weight"] = (rows, columns)
            shapes[f"{block}{name}.bias"] = (columns,)
        for name in ("ln_1.weight", "ln_1.bias", "ln_2.weight", "ln_2.bias"):
            shapes[block + name] = (embd,)
    for name, shape in shapes.items():
        if name not in tensors:
            raise TrickformerError(f"{where} lacks tensor {name}; give a whole GPT2PolicyValueModel checkpoint")
        if tensors[name].shape != shape:
            raise TrickformerError(
                f"{where}: tensor {name} has shape {tensors[name].shape}, but config.json asks for {shape}; "
                "use the config.json that was saved with it"
            )
    used = {name: tensors[name] for name in shapes}
    must_be_finite(used, where)
    return Weights(sizes, epsilon, used)
