"""What the core exports, read off the built module: every function, method, property and constructor with its types."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trickformer import _core

ROOT = "trickformer._core"


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str  # as nanobind writes it
    keyword: bool  # taken by name alone
    optional: bool


@dataclass(frozen=True)
class Target:
    name: str  # "crew.State.hand"
    call: Any  # takes the object first, where it is a method; a constructor is its class
    parameters: tuple[Parameter, ...]
    returns: str


def split(text: str) -> list[str]:
    """The parts of a list whose commas are not in brackets."""
    parts, depth, begin = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    return [part for part in (*parts, text[begin:].strip()) if part]


def _parse(signature: str, owner: str | None) -> tuple[tuple[Parameter, ...], str]:
    match = re.fullmatch(r"def \w*\s*\((.*)\) -> (.*)", signature, re.DOTALL)
    assert match, f"this signature is not understood: {signature}"
    found, keyword = [], False
    for part in split(match[1]):
        if part == "*":
            keyword = True
        elif part == "self":
            found.append(Parameter("self", f"{ROOT}.{owner}", False, False))
        elif part != "/":
            name, _, kind = part.partition(":")
            kind, default, _ = kind.strip().partition(" = ")
            found.append(Parameter(name, kind, keyword, bool(default)))
    return tuple(found), match[2]


def _targets(module: types.ModuleType, prefix: str) -> Iterator[Target]:
    for name, member in vars(module).items():
        path = prefix + name
        if isinstance(member, types.ModuleType) and member.__name__.startswith(ROOT):
            yield from _targets(member, path + ".")
        elif isinstance(member, type):
            for inner, method in vars(member).items():
                if isinstance(method, property):
                    method = method.fget
                for signature, *_ in getattr(method, "__nb_signature__", ()):
                    parameters, returns = _parse(signature, path)
                    if inner == "__init__":
                        yield Target(path, member, parameters[1:], f"{ROOT}.{path}")
                    else:
                        yield Target(f"{path}.{inner}", method, parameters, returns)
        else:
            for signature, *_ in getattr(member, "__nb_signature__", ()):
                yield Target(path, member, *_parse(signature, None))


def targets() -> dict[str, Target]:
    """All that can be called, by name. A new binding is among them by itself."""
    return {target.name: target for target in _targets(_core, "")}


def classes() -> dict[str, type]:
    """The core's classes by the names that signatures have for them."""
    found: dict[str, type] = {}

    def walk(module: types.ModuleType, prefix: str) -> None:
        for name, member in vars(module).items():
            if isinstance(member, types.ModuleType) and member.__name__.startswith(ROOT):
                walk(member, f"{prefix}{name}.")
            elif isinstance(member, type):
                found[f"{ROOT}.{prefix}{name}"] = member

    walk(_core, "")
    return found
