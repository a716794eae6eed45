"""Instruction set of the C++ core, and how each instruction set rounds the activations of a network."""

from __future__ import annotations

ISA_VARIABLE = "TRICKFORMER_ISA"  # environment variable that overrides the core's choice (cpp/core/isa.hpp)
# Instruction sets that round activations to bfloat16, from slow to fast. Each sums in another order, so that their
# results differ.
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
