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
