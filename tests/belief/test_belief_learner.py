"""Gradient steps of belief networks, on a network of one weight."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from trickformer.belief.learner import Learner


@pytest.mark.parametrize(("clip", "gradient"), [(1.0, 1.0), (1e9, 100.0)])
def test_gradients_are_clipped_and_the_rate_falls_by_a_cosine(clip, gradient, tmp_path):
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    learner = Learner(
        model, learning_rate=0.1, steps=2, file=tmp_path / "state.npz", clip=clip, fall=0.2, adam_epsilon=1.0
    )
    weights = [0.0]
    for _ in range(3):
        model.weight.grad = torch.full_like(model.weight, 100.0)
        learner.step()
        assert model.weight.grad is None
        weights.append(model.weight.item())
    # The moments of a constant gradient g are g and g^2, so Adam's step is rate * g / (g + epsilon).
    rates = np.array([0.1, 0.06, 0.02])
    np.testing.assert_allclose(-np.diff(weights), rates * gradient / (gradient + 1.0), rtol=1e-5)
