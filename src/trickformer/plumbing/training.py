"""Settings of a process that trains networks."""

from __future__ import annotations

import ctypes
import sys

import torch

# Options of glibc's mallopt, from malloc.h.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_LARGE = 1 << 30  # bytes


def prepare_training(threads: int) -> None:
    """Set the number of torch's threads, and keep the memory of freed tensors in the process.

    Every training step frees and allocates the same large tensors. By default glibc returns their memory to the
    system, which has to clear the pages of the next step again. Other C libraries are left as they are.

    Args:
        threads: Number of threads of torch's operations.
    """
    torch.set_num_threads(threads)
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        libc.mallopt(_MMAP_THRESHOLD, _LARGE)
        libc.mallopt(_TRIM_THRESHOLD, _LARGE)


def has_bfloat16() -> bool:
    """Return whether this CPU multiplies in bfloat16. A CPU without such instructions is faster in float32."""
    return any(present for name, present in torch.cpu.get_capabilities().items() if name.endswith("bf16"))


def mixed_precision(bf16: bool, cpu: bool) -> str:
    """Choose the precision of an Accelerator.

    Args:
        bf16: Whether to compute in bfloat16 if the device can.
        cpu: Whether the device is the CPU.

    Returns:
        "bf16", or "no" for float32.
    """
    return "bf16" if bf16 and (not cpu or has_bfloat16()) else "no"
