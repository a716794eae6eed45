"""Snapshots: a graph of objects in one file, for work that takes hours and must survive its process.

The file is an .npz with numbered arrays and a JSON tree of the objects. A reader makes objects of the classes that it
lists, and sets their fields. Unlike pickle, reading runs no code that the file chooses.
"""

from __future__ import annotations

import enum
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from trickformer.plumbing import arrays
from trickformer.plumbing.files import whole
from trickformer.plumbing.text import from_json

_TREE = "tree"  # name of the JSON tree among the arrays
# Exceptions that a damaged or foreign file may cause.
_READ_ERRORS = (*arrays.DAMAGED, AttributeError, MemoryError, TypeError)
_JSON_TYPES = (type(None), bool, int, float, str)
_INTEGER_BITS = 128  # bits of the largest integer; the state of PCG64 has 128


@dataclass(frozen=True)
class Native:
    """Conversion of objects whose fields Python does not see, such as objects of the compiled core."""

    to_value: Callable[[Any], Any]  # turns an object into a value that snapshots can hold
    from_value: Callable[[Any], Any]  # makes the object from that value; raises ValueError or TypeError on a bad value


class Snapshots:
    """Writer and reader of snapshots.

    Besides objects of the declared classes, a snapshot may hold numbers, texts, lists, tuples, dicts, arrays, tensors
    and random number generators. An object that occurs in two places is restored as one object.
    """

    def __init__(
        self, classes: Iterable[type], natives: Mapping[type, Native], former_names: Mapping[str, type] | None = None
    ):
        """Declare the classes that files may hold.

        Args:
            classes: Classes whose objects are written and read.
            natives: Conversions of native objects by class.
            former_names: Classes by their names in files of earlier versions.
        """
        self._classes = {c.__name__: c for c in classes}
        self._former = dict(former_names or {})
        self._natives = {c.__name__: (c, native) for c, native in natives.items()}

    def save(self, file: Path, value: object, shared: Mapping[str, object]) -> None:
        """Write a snapshot, whole or not at all.

        Args:
            file: File to write.
            value: Root of the objects.
            shared: Objects by name that the file refers to instead of holding them. The reader must supply them.

        Raises:
            TypeError: The class of an object was not declared.
            TrickformerError: The file cannot be written.
        """
        writer = _Writer(self._classes, self._natives, shared)
        tree = json.dumps(writer.node(value)).encode()
        with whole(file) as draft, draft.open("wb") as npz:
            np.savez(npz, allow_pickle=False, **{_TREE: np.frombuffer(tree, np.uint8)}, **writer.arrays)  # type: ignore[arg-type]

    def load(self, file: Path, shared: Mapping[str, object], device: torch.device | None = None) -> Any:
        """Read a snapshot.

        Args:
            file: File that `save` has written.
            shared: Objects that the writer left out, by the same names.
            device: Device of the tensors; by default the device of each when it was written.

        Raises:
            ValueError: The file is no snapshot, or it is damaged.
        """
        try:
            with file.open("rb") as raw, zipfile.ZipFile(raw) as members:
                if any(member.compress_type != zipfile.ZIP_STORED for member in members.infolist()):
                    raise ValueError("it is compressed, as no snapshot is")
            with file.open("rb") as raw, np.load(raw, allow_pickle=False) as npz:
                tree = from_json(npz[_TREE].tobytes(), bits=_INTEGER_BITS, finite=False)
                return _Reader(self._former | self._classes, self._natives, shared, npz, device).value(tree)
        except _READ_ERRORS as e:
            raise ValueError(str(e)) from None


def _fields(value: object) -> Iterator[tuple[str, Any]]:
    """Yield the fields of an object, with or without slots."""
    for c in type(value).__mro__:
        for name in getattr(c, "__slots__", ()):
            if hasattr(value, name):
                yield name, getattr(value, name)
    yield from getattr(value, "__dict__", {}).items()


class _Writer:
    """Conversion of objects into the JSON tree, and of their arrays into `arrays`.

    A node of the tree is a JSON scalar, or an object whose key `is` names its kind.
    """

    def __init__(self, classes: dict[str, type], natives: dict[str, tuple[type, Native]], shared: Mapping[str, object]):
        self._classes, self._natives = classes, natives
        self._shared = {id(value): name for name, value in shared.items()}
        self._numbers: dict[int, int] = {}  # number of each written object, by its id()
        self._alive: list[object] = []  # keeps the objects alive, so that no id is used twice
        self.arrays: dict[str, np.ndarray] = {}

    def node(self, value: Any) -> Any:
        """Return the node of a value; for an object that has a node already, a reference to it."""
        if isinstance(value, enum.Enum):
            return {"is": "enum", "of": self._class_name(value), "value": value.value}
        if type(value) in _JSON_TYPES:
            return value
        if id(value) in self._shared:
            return {"is": "shared", "name": self._shared[id(value)]}
        if id(value) in self._numbers:
            return {"is": "same", "number": self._numbers[id(value)]}
        number = self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)
        return {"number": number} | self._new(value)

    def _new(self, value: Any) -> dict[str, Any]:
        name = type(value).__name__
        if type(value) in (list, tuple):
            return {"is": name, "items": [self.node(item) for item in value]}
        if type(value) is dict:
            return {"is": "dict", "items": [[self.node(k), self.node(v)] for k, v in value.items()]}
        if type(value) is bytes:
            return {"is": "bytes", "array": self._array(np.frombuffer(value, np.uint8))}
        if isinstance(value, np.ndarray | np.generic):
            return {
                "is": "scalar" if isinstance(value, np.generic) else "array",
                "array": self._array(np.asarray(value)),
            }
        if isinstance(value, torch.Tensor):
            flat = value.detach().cpu().contiguous().reshape(-1)
            raw = flat.view(torch.uint8) if flat.dtype is not torch.bool else flat.to(torch.uint8)
            about = {"dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape)}
            where = {"device": str(value.device), "grad": value.requires_grad}
            return {"is": "tensor", "array": self._array(raw.numpy())} | about | where
        if isinstance(value, np.random.Generator):
            return {"is": "generator", "state": value.bit_generator.state}
        if isinstance(value, torch.Generator):
            return {
                "is": "torch generator",
                "array": self._array(value.get_state().numpy()),
                "device": str(value.device),
            }
        if isinstance(value, torch.device):
            return {"is": "device", "name": str(value)}
        if name in self._natives and type(value) is self._natives[name][0]:
            return {"is": "native", "of": name, "value": self.node(self._natives[name][1].to_value(value))}
        fields = [[key, self.node(field)] for key, field in _fields(value)]
        return {"is": "object", "of": self._class_name(value), "fields": fields}

    def _class_name(self, value: object) -> str:
        name = type(value).__name__
        if self._classes.get(name) is not type(value):
            raise TypeError(f"snapshots do not hold objects of {type(value).__module__}.{name}")
        return name

    def _array(self, array: np.ndarray) -> str:
        name = str(len(self.arrays))
        self.arrays[name] = array
        return name


class _Reader:
    """Conversion of a JSON tree and its arrays back into objects."""

    def __init__(
        self,
        classes: dict[str, type],
        natives: dict[str, tuple[type, Native]],
        shared: Mapping[str, object],
        arrays: Any,
        device: torch.device | None,
    ):
        self._classes, self._natives = classes, natives
        self._shared = shared
        self._arrays, self._device = arrays, device
        self._restored: dict[int, Any] = {}

    def value(self, node: Any) -> Any:
        if type(node) in _JSON_TYPES:
            return node
        kind = node["is"]
        if kind == "enum":
            return self._classes[node["of"]](node["value"])
        if kind == "shared":
            return self._shared[node["name"]]
        if kind == "same":
            return self._restored[node["number"]]
        return self._new(kind, node)

    def _register(self, node: dict[str, Any], restored: Any) -> Any:
        self._restored[node["number"]] = restored
        return restored

    def _new(self, kind: str, node: dict[str, Any]) -> Any:
        if kind == "object":  # registered before its fields are read, because they may refer to it
            restored: Any = object.__new__(self._classes[node["of"]])
            self._register(node, restored)
            for key, field in node["fields"]:
                object.__setattr__(restored, key, self.value(field))
            return restored
        if kind == "list":
            items = self._register(node, [])
            items.extend(self.value(item) for item in node["items"])
            return items
        if kind == "dict":
            pairs = self._register(node, {})
            pairs.update((self.value(k), self.value(v)) for k, v in node["items"])
            return pairs
        return self._register(node, self._make_atom(kind, node))

    def _make_atom(self, kind: str, node: dict[str, Any]) -> Any:
        """Make a value that cannot contain itself."""
        if kind == "tuple":
            return tuple(self.value(item) for item in node["items"])
        if kind == "native":
            return self._natives[node["of"]][1].from_value(self.value(node["value"]))
        if kind == "device":
            return torch.device(node["name"])
        if kind == "generator":
            bits = np.random.PCG64()
            bits.state = node["state"]
            return np.random.Generator(bits)
        array = self._arrays[node["array"]]
        if kind == "bytes":
            return array.tobytes()
        if kind == "array":
            return array
        if kind == "scalar":
            return array[()]
        if kind == "torch generator":
            generator = torch.Generator(node["device"])
            generator.set_state(torch.from_numpy(array))
            return generator
        if kind == "tensor":
            dtype = getattr(torch, node["dtype"])
            raw = torch.from_numpy(array)
            flat = torch.empty(0, dtype=dtype)
            if len(raw):
                flat = raw.to(torch.bool) if dtype is torch.bool else raw.view(dtype)
            return flat.reshape(node["shape"]).to(self._device or node["device"]).requires_grad_(node["grad"])
        raise ValueError(f"there is no {kind!r} in snapshots")
