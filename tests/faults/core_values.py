"""Arguments for any type of a signature: plain ones, and what becomes of good ones by a fault."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np

from tests.faults.core_signatures import ROOT, classes, split

INTS = (
    0,
    1,
    -1,
    2,
    -2,
    2**31 - 1,
    -(2**31),
    2**31,
    2**32,
    2**63 - 1,
    -(2**63),
    2**63,
    2**64 - 1,
    2**64,
    10**30,
    255,
    256,
)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, float("nan"), float("inf"), -float("inf"), 1e308, 5e-324, 8.1)
FOREIGN = (
    None,
    "",
    "hearts",
    "x" * 5000,
    b"",
    b"\xff" * 40,
    1.5,
    float("nan"),
    2**70,
    [],
    (),
    {},
    object(),
    True,
    3 + 4j,
)
DTYPES = ("u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "?", ">i4", ">f8", "S3", "O", "M8[s]")

# How much work is asked for. As much as one likes may be: these are small, or so large that nobody can mean them.
WORK = {
    *("max_nodes", "nodes", "limit", "layouts", "positions", "trials", "simulations", "runs", "playouts", "worlds"),
    *("steps", "tries", "threads", "seconds", "wave", "oversample", "n"),
}
ABSURD = (-1, -(2**31), -(2**63), 2**64, 10**30)  # refused whatever they count
TOO_MANY = (2**40, 2**60, 2**61, 2**63, 2**64 - 1)  # refused where they count results, which do not fit the memory
RESULTS = {"n", "oversample"}


def integer(rng: random.Random, name: str) -> int:
    """One that often is good."""
    if name in WORK:
        return rng.choice((1, 1, 2, 3))
    if name in ("seed", "first", "step", "stream"):
        return rng.getrandbits(rng.choice((3, 64)))
    return rng.choice((0, 0, 1, 2, 3, rng.randrange(12), rng.randrange(64), -1))


def extreme(rng: random.Random, name: str) -> Any:
    if name in WORK:
        return rng.choice((0, *ABSURD, *(TOO_MANY if name in RESULTS else ())))
    return rng.choice(INTS) if rng.random() < 0.8 else rng.randrange(-300, 300)


def array(rng: random.Random, kind: str, rows: int) -> np.ndarray:
    """An array of the type that a signature names, `rows` long where it does not say how long."""
    dtype = np.dtype((re.search(r"dtype=(\w+)", kind) or ["", "float64"])[1])
    shape = re.search(r"shape=\(([^)]*)\)", kind)
    sides = [rows if s.strip() == "*" else int(s) for s in shape[1].split(",")] if shape else [rows] * rng.randrange(4)
    if len(sides) > 1 and rng.random() < 0.7:
        sides[-1] = rng.choice((1, 2, 3, 4, 5, 12, 64))
    draw = np.random.default_rng(rng.getrandbits(32))
    if dtype.kind == "f":
        return draw.normal(size=sides).astype(dtype)
    return draw.integers(0, rng.choice((2, 4, 60)), size=sides).astype(dtype)


def value(rng: random.Random, kind: str, name: str, pool: dict[str, list[Any]], rows: int) -> Any:
    """Something of a type, in the words of signatures. Raises KeyError where the pool has none of a class."""
    kind = kind.strip()
    choices = [part.strip() for part in re.split(r" \| (?![^\[]*\])", kind)]
    if len(choices) > 1:
        kind = rng.choice(choices)
    if kind == "None":
        return None
    if kind.startswith(("ndarray", "numpy.ndarray")):
        return array(rng, kind, rows)
    if kind.startswith("collections.abc.Sequence["):
        inner = kind[kind.index("[") + 1 : -1]
        if inner == "int" and rng.random() < 0.5:  # different cards
            return rng.sample(range(32), rng.choice((0, 1, 2, 3, 10, 12, 13)))
        return [value(rng, inner, name, pool, rows) for _ in range(rng.choice((rows, rng.randrange(5))))]
    if kind.startswith("tuple["):
        return tuple(value(rng, part, name, pool, rows) for part in split(kind[6:-1]))
    if kind.startswith("dict["):
        return {"": value(rng, split(kind[5:-1])[1], name, pool, rows)}
    if kind == "object":
        kind = f"{ROOT}.Tracker"
    if kind.startswith(ROOT):
        return rng.choice(pool[kind])
    plain = {
        "int": lambda: integer(rng, name),
        "float": lambda: 0.001 if name in WORK else rng.choice((*FLOATS[:5], rng.random())),
        "bool": lambda: rng.random() < 0.5,
        "str": lambda: rng.choice(("", "base", "v3", "nonsense")),
        "bytes": lambda: rng.randbytes(rng.randrange(200)),
    }
    return plain[kind]()


def _spoiled_array(rng: random.Random, given: np.ndarray) -> Any:
    kind = rng.randrange(10)
    if kind < 3 and given.size and given.dtype.kind in "iufb":  # some numbers of it
        spoiled = given.copy()
        for _ in range(rng.choice((1, 1, 2, 20))):
            at = rng.randrange(spoiled.size)
            if spoiled.dtype.kind == "f":
                spoiled.flat[at] = rng.choice(FLOATS)
            elif spoiled.dtype.kind == "b":
                spoiled.flat[at] = not spoiled.flat[at]
            else:
                limits = np.iinfo(spoiled.dtype)
                near = int(spoiled.flat[at]) + rng.choice((-1, 1))
                number = rng.choice((limits.min, limits.max, 0, near, rng.randrange(0, 256)))
                spoiled.flat[at] = min(max(number, limits.min), limits.max)
        return spoiled
    if kind == 3:
        with np.errstate(all="ignore"):
            try:
                return given.astype(rng.choice(DTYPES))
            except (TypeError, ValueError, OverflowError):
                return given
    if kind == 4:  # another length
        return given[: rng.randrange(len(given) + 1)] if given.ndim else given
    if kind == 5:
        return np.concatenate([given, given[: rng.randrange(3)]]) if given.ndim and len(given) else given
    if kind == 6:  # not contiguous: every other one of twice as many, backwards, or the other way round
        twice = np.repeat(given, 2, axis=0)[::2] if given.ndim else given
        return rng.choice((twice, given[::-1] if given.ndim else given, given.T, np.asfortranarray(given)))
    if kind == 7:
        return given.reshape(rng.choice(((-1,), (1, *given.shape), (*given.shape, 1)))) if given.size else given
    if kind == 8:
        frozen = given.copy()
        frozen.flags.writeable = False
        return rng.choice((frozen, given[:0] if given.ndim else given, np.zeros((0, 0), given.dtype)))
    plain = given if given.dtype.kind in "iufb" else np.zeros(3)
    return rng.choice(
        (given.tolist(), memoryview(np.ascontiguousarray(plain)), np.zeros((), given.dtype), plain.tobytes())
    )


def spoiled(rng: random.Random, given: Any, name: str, pool: dict[str, list[Any]]) -> Any:
    """The value with a fault."""
    if rng.random() < 0.06:
        return rng.choice(FOREIGN)
    if isinstance(given, np.ndarray):
        return _spoiled_array(rng, given)
    if isinstance(given, bool):
        return rng.choice((not given, 2, "no", None))
    if isinstance(given, int):
        return extreme(rng, name) if rng.random() < 0.8 or name in WORK else given + rng.choice((-1, 1, 2))
    if isinstance(given, float):
        return rng.choice((-1.0, float("nan"))) if name in WORK else rng.choice(FLOATS)
    if isinstance(given, (bytes, str)):
        cut = given[: rng.randrange(len(given) + 1)]
        if isinstance(given, str) or not given or rng.random() < 0.3:
            return rng.choice((cut, given + given))
        damaged = bytearray(given)
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        return bytes(damaged)
    if isinstance(given, (list, tuple)):
        items = list(given)
        kind = rng.randrange(5)
        if kind == 0 or not items:
            items.append(rng.choice(items) if items and rng.random() < 0.7 else rng.choice(FOREIGN))
        elif kind == 1:
            del items[rng.randrange(len(items))]
        elif kind == 2:
            items *= rng.choice((2, 30))
        else:
            at = rng.randrange(len(items))
            items[at] = spoiled(rng, items[at], name, pool)
        return items if isinstance(given, list) else tuple(items)
    if isinstance(given, dict):
        changed = dict(given)
        if changed:
            key = rng.choice(list(changed))
            if rng.random() < 0.3:
                del changed[key]
            else:
                changed[key] = spoiled(rng, changed[key], key, pool)
        return changed
    for kind, bound in classes().items():  # another one of its class, or one that was never constructed
        if type(given) is bound and pool.get(kind):
            return rng.choice(pool[kind]) if rng.random() < 0.9 else bound.__new__(bound)
    return rng.choice(FOREIGN)
