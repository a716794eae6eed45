"""Systematic resampling of weighted worlds."""

from __future__ import annotations

import numpy as np


def resample(log_weight: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw indices with probability proportional to exp(log_weight), by systematic resampling (Kitagawa 1996).

    Args:
        log_weight: float64 [m], natural logarithms.
        n: Number of draws.
        rng: Source of all randomness.

    Returns:
        int64 [n], ascending.

    Raises:
        ValueError: No weight is positive.
    """
    largest = log_weight.max(initial=-np.inf)
    if not np.isfinite(largest):
        raise ValueError("no world has a positive weight")
    cumulative = np.cumsum(np.exp(log_weight - largest))
    points = (rng.random() + np.arange(n)) / n * cumulative[-1]
    return np.minimum(np.searchsorted(cumulative, points, side="right"), len(log_weight) - 1)
