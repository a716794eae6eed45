"""Worlds drawn anew by their weights."""

from __future__ import annotations

import numpy as np


def resample(log_weight: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """int64 [n]: indices drawn with probability proportional to exp(log_weight), by systematic resampling
    (Kitagawa 1996). Raises ValueError where no weight is positive."""
    top = log_weight.max(initial=-np.inf)
    if not np.isfinite(top):
        raise ValueError("no world has a positive weight")
    cumulative = np.cumsum(np.exp(log_weight - top))
    at = (rng.random() + np.arange(n)) / n * cumulative[-1]
    return np.minimum(np.searchsorted(cumulative, at, side="right"), len(log_weight) - 1)
