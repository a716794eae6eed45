"""Instruction set of the core, and the rounding of instruction sets."""

from __future__ import annotations

ISA_VARIABLE = "TRICKFORMER_ISA"  # environment variable: the instruction set of the whole core (cpp/core/isa.hpp)
# Instruction sets that round activations to bfloat16, each in its own order of sums; the fastest last.
ROUNDED = ("avx512bf16", "amx")


def instruction_set() -> str:
    """Return the instruction set that the core uses in this process."""
    from trickformer import _core

    return _core.isa()


def rounding(isa: str) -> str:
    """Name the rounding of an instruction set: its own name, or float32 if it rounds no activations.

    Args:
        isa: Name of the instruction set.
    """
    return isa if isa in ROUNDED else "float32"
