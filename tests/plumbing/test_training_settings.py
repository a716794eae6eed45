"""A process that trains keeps the memory of its tensors, and computes in bfloat16 if that is fast."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest
import torch

from trickformer.plumbing.training import mixed_precision

PROGRAM = """
import resource, sys
import torch
from trickformer.plumbing import training
if sys.argv[1] == "prepared":
    training.prepare_training(1)
    assert torch.get_num_threads() == 1
for step in range(16):
    if step == 6:
        first = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(1 << 24)  # 64 MiB, which glibc by default takes from the system and returns
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - first)
"""


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallopt"), reason="the C library is not glibc"
)
def test_freed_tensors_are_not_returned_to_the_system():
    """Ten steps touch 640 MiB, whose pages the system hands out in each step, or once."""
    faults = {}
    for way in ("plain", "prepared"):
        done = subprocess.run([sys.executable, "-c", PROGRAM, way], capture_output=True, text=True, check=True)
        faults[way] = int(done.stdout)
    assert faults["prepared"] < faults["plain"] / 3, faults


@pytest.mark.parametrize(
    ("capabilities", "precision"),
    [
        ({"avx2": True, "avx512_bf16": False}, "no"),
        ({"avx512_f": True, "avx512_bf16": True}, "bf16"),
        ({"neon": True, "bf16": True}, "bf16"),
    ],
)
def test_a_cpu_without_bfloat16_trains_in_float32(monkeypatch, capabilities, precision):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    assert mixed_precision(bf16=True, cpu=True) == precision
    assert mixed_precision(bf16=True, cpu=False) == "bf16"
    assert mixed_precision(bf16=False, cpu=True) == mixed_precision(bf16=False, cpu=False) == "no"
