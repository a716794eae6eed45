"""One step of an encoder, tuned for each of many games at once, at the cost of what differs among a game's worlds.

In all worlds of a game the encoder's state is the same, and so is most of what is seen. What is the same reaches a
layer's gates as one vector. Adam moves the weight of each of its inputs x_i by sign(x_i) u, u being its step for the
gradient of the gates themselves, whatever the size of x_i; together they move the vector by |x|_1 u. So it is enough to
tune that vector, |x|_1 times as fast, beside the weights of what differs: the same as tuning every weight, but for
Adam's epsilon."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from trickformer.belief.hanabi.learned import Parameters, Seq2Seq, State, one_hot
from trickformer.belief.hanabi.recurrence import lstm_cell


class NearEncoder:
    """The encoder of a Seq2Seq network at one step of G games, each with weights of its own, the offline ones at first.

    emission: bool [G, W, features], W worlds of each game; control: int64 [G] or None, and state: [G, hidden] each, as
    Seq2Seq.encode takes them, the same in all worlds of a game."""

    def __init__(
        self, model: Seq2Seq, offline: Parameters, emission: torch.Tensor, control: torch.Tensor | None, state: State
    ):
        features = model.shape.features
        self._cells = [cell.unsqueeze(1) for _, cell in state]
        by_feature, by_control = offline["encoder.0.input"].split([features, model.shape.controls])
        in_all, differs = emission.all(dim=1), emission.any(dim=1) ^ emission.all(dim=1)
        # As many columns for each game as differ in one of them; what stands in the others loses nothing.
        width = max(1, int(differs.sum(dim=1).max()))
        self._at = differs.int().argsort(dim=1, descending=True, stable=True)[:, :width]
        own = torch.zeros_like(differs).scatter(1, self._at, True)
        self._same, self._others = in_all & ~own, ~own
        self._by_feature = by_feature
        self._rows = emission.gather(2, self._at.unsqueeze(1).expand(-1, emission.shape[1], -1))
        fixed = self._same.float() @ by_feature
        norm = self._same.sum(dim=1)
        if model.shape.controls:
            assert control is not None
            fixed, norm = (
                fixed + one_hot(control, model.shape.controls, fixed.dtype) @ by_control,
                norm + (control >= 0),
            )
        self._inputs, self._fixed, self._norms, self._shares = [by_feature[self._at]], [], [], []
        for i, (out, _) in enumerate(state):
            if i:
                weight = offline[f"encoder.{i}.input"]
                self._inputs.append(weight.expand(len(out), *weight.shape).clone())
                fixed, norm = torch.zeros_like(fixed), torch.zeros_like(norm)
            fixed = fixed + out @ offline[f"encoder.{i}.state"] + offline[f"encoder.{i}.bias"]
            self._fixed.append(fixed.unsqueeze(1))
            # 1: the bias. What else is alike is 1 as well, so that its sum is that of its squares.
            self._norms.append((norm + out.abs().sum(dim=1) + 1)[:, None, None])
            self._shares.append((norm + out.square().sum(dim=1) + 1) / self._norms[-1].flatten().square())
        self._moved = [torch.zeros_like(fixed, requires_grad=True) for fixed in self._fixed]
        for weight in self._inputs:
            weight.requires_grad_()

    def parameters(self) -> list[torch.Tensor]:
        """What Adam is to tune."""
        return [*self._inputs, *self._moved]

    def squared_norm(self) -> torch.Tensor:
        """float32 [G]: the squared norm of the gradients of all weights, those that one vector stands for among
        them: |x|_2^2 of them have the gradient of the gates, and that of the vector is |x|_1 times it."""
        moved = sum(share * squared_norm([m]) for share, m in zip(self._shares, self._moved))
        return squared_norm(self._inputs) + moved

    def worlds(self, at: torch.Tensor) -> torch.Tensor:
        """float32 [G, n, hidden]: the summaries of the worlds `at`, int64 [n], of every game."""
        return self._summary(self._rows[:, at].float(), 0.0)

    def encode_emission(self, emission: torch.Tensor) -> torch.Tensor:
        """float32 [G, 1, hidden]: the summaries of what was seen, float32 [G, features], which need not be like what
        the worlds show."""
        known = self._same.float()
        off = emission * self._others - known
        lost = (known * (1 - emission)).sum(dim=1, keepdim=True)  # these were tuned, but are not there
        rest = off @ self._by_feature - lost * self._moved[0].squeeze(1)
        return self._summary(emission.gather(1, self._at).unsqueeze(1), rest.unsqueeze(1)).detach()

    def _summary(self, rows: torch.Tensor, rest: torch.Tensor | float) -> torch.Tensor:
        out = rows
        for i, cell in enumerate(self._cells):
            gates = out @ self._inputs[i] + (self._fixed[i] + self._norms[i] * self._moved[i])
            out, _ = lstm_cell(gates + rest if i == 0 else gates, cell)
        return out


def squared_norm(weights: Iterable[torch.Tensor]) -> torch.Tensor:
    """float32 [G]: the squared norm of each game's gradients of these weights, [G, ...] each."""
    return torch.stack([gradient(w).square().flatten(1).sum(dim=1) for w in weights]).sum(dim=0)


def gradient(weight: torch.Tensor) -> torch.Tensor:
    """That of a weight, where there was a backward pass."""
    assert weight.grad is not None
    return weight.grad
