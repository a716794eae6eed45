"""Fast fine-tuning of the last encoder step for many games at once.

In all worlds of a game the encoder's state is the same, and so are most inputs x. Only the weights of the inputs that
differ between worlds are tuned one by one. The constant inputs contribute one constant vector W x to the gates of a
layer. If all weights were tuned, Adam would change the weights of input x_i by sign(x_i) u, where u is the step that
Adam would make for the gates' gradient. The size of x_i does not matter, because Adam normalizes gradients. Together
these changes would move W x by |x|_1 u. So the module tunes a single offset for each gate and multiplies it by |x|_1.
The result equals tuning every weight, except for Adam's epsilon.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

from trickformer.belief.hanabi.learned import Parameters, Seq2Seq, State, one_hot
from trickformer.belief.hanabi.recurrence import lstm_cell


class LastStepEncoder:
    """Encoder of a Seq2Seq network at one step of G games, with tunable weights for each game."""

    def __init__(
        self, model: Seq2Seq, offline: Parameters, emission: torch.Tensor, control: torch.Tensor | None, state: State
    ):
        """Split the inputs into those that are constant over the worlds of a game and those that vary.

        Args:
            model: Network trained offline.
            offline: Its parameters by name.
            emission: bool [G, W, features], for W worlds of each game.
            control: int64 [G], the same in all worlds of a game; None if the network reads no controls.
            state: State before the step, [G, hidden] each; the same in all worlds of a game.
        """
        features = model.sizes.features
        self._cells = [cell.unsqueeze(1) for _, cell in state]
        feature_weights, control_weights = offline["encoder.0.input"].split([features, model.sizes.controls])
        in_all, varies = emission.all(dim=1), emission.any(dim=1) ^ emission.all(dim=1)
        # Games with fewer varying features than the widest game also tune some constant ones, which does no harm.
        width = max(1, int(varies.sum(dim=1).max()))
        self._columns = varies.int().argsort(dim=1, descending=True, stable=True)[
            :, :width
        ]  # [G, width], tuned features
        is_tuned = torch.zeros_like(varies).scatter(1, self._columns, True)
        self._constant_on, self._untuned = in_all & ~is_tuned, ~is_tuned  # bool [G, features]
        self._feature_weights = feature_weights
        self._tuned_inputs = emission.gather(2, self._columns.unsqueeze(1).expand(-1, emission.shape[1], -1))
        constant = self._constant_on.float() @ feature_weights
        norm = self._constant_on.sum(dim=1)  # |x|_1 of the constant inputs
        if model.sizes.controls:
            assert control is not None
            constant = constant + one_hot(control, model.sizes.controls, constant.dtype) @ control_weights
            norm = norm + (control >= 0)
        # By layer: tuned weights; W x of the constant inputs; |x|_1; and |x|_2^2 / |x|_1^2, for `squared_norm`.
        self._weights = [feature_weights[self._columns]]
        self._constant: list[torch.Tensor] = []
        self._l1_norms: list[torch.Tensor] = []
        self._norm_ratios: list[torch.Tensor] = []
        for i, (out, _) in enumerate(state):
            if i:
                weight = offline[f"encoder.{i}.input"]
                self._weights.append(weight.expand(len(out), *weight.shape).clone())
                constant, norm = torch.zeros_like(constant), torch.zeros_like(norm)
            constant = constant + out @ offline[f"encoder.{i}.state"] + offline[f"encoder.{i}.bias"]
            self._constant.append(constant.unsqueeze(1))
            # + 1 for the bias. Features and controls are 0 or 1, so `norm` is also the sum of their squares.
            self._l1_norms.append((norm + out.abs().sum(dim=1) + 1)[:, None, None])
            self._norm_ratios.append((norm + out.square().sum(dim=1) + 1) / self._l1_norms[-1].flatten().square())
        self._offsets = [torch.zeros_like(constant, requires_grad=True) for constant in self._constant]
        for weight in self._weights:
            weight.requires_grad_()

    def parameters(self) -> list[torch.Tensor]:
        """Return the tensors that Adam tunes."""
        return [*self._weights, *self._offsets]

    def squared_norm(self) -> torch.Tensor:
        """Return the squared norm of the gradients of all weights, float32 [G], as if each weight were tuned.

        Let g be the gradient of the gates. The weights of the constant inputs x would have gradients with the squared
        norm |x|_2^2 |g|^2. The gradient of the offset is |x|_1 g, so its squared norm is multiplied by the ratio.
        """
        offsets = sum(ratio * squared_norm([offset]) for ratio, offset in zip(self._norm_ratios, self._offsets))
        return squared_norm(self._weights) + offsets

    def worlds(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the summaries of some worlds of every game, float32 [G, n, hidden].

        Args:
            rows: int64 [n], indices of worlds.
        """
        return self._summary(self._tuned_inputs[:, rows].float(), 0.0)

    def encode_emission(self, emission: torch.Tensor) -> torch.Tensor:
        """Return the summaries of the real emissions, float32 [G, 1, hidden].

        Args:
            emission: float32 [G, features]. Features that are constant over the worlds may differ here.
        """
        constant_on = self._constant_on.float()
        change = emission * self._untuned - constant_on
        n_off = (constant_on * (1 - emission)).sum(dim=1, keepdim=True)  # constant inputs that are 0 here; |x|_1 falls
        correction = change @ self._feature_weights - n_off * self._offsets[0].squeeze(1)
        return self._summary(emission.gather(1, self._columns).unsqueeze(1), correction.unsqueeze(1)).detach()

    def _summary(self, inputs: torch.Tensor, correction: torch.Tensor | float) -> torch.Tensor:
        """Return the top layer's output for tuned inputs; `correction` is added to the gates of the first layer."""
        out = inputs
        for i, cell in enumerate(self._cells):
            gates = out @ self._weights[i] + (self._constant[i] + self._l1_norms[i] * self._offsets[i])
            out, _ = lstm_cell(gates + correction if i == 0 else gates, cell)
        return out


def squared_norm(weights: Iterable[torch.Tensor]) -> torch.Tensor:
    """Return the squared norm of each game's gradients, float32 [G].

    Args:
        weights: Tensors [G, ...] after a backward pass.
    """
    return torch.stack([gradient(w).square().flatten(1).sum(dim=1) for w in weights]).sum(dim=0)


def gradient(weight: torch.Tensor) -> torch.Tensor:
    """Return the gradient of a weight.

    Args:
        weight: Tensor after a backward pass.
    """
    assert weight.grad is not None
    return weight.grad
