"""One step of an encoder, tuned for many games at once, at the cost of the differences among a game's worlds.

In all worlds of a game the encoder's state is the same, and so are most inputs. The inputs that are the same reach a
layer's gates as one vector. Adam moves the weight of each input x_i by sign(x_i) u, where u is its step for the
gradient of the gates themselves, whatever the size of x_i. Together these weights move the vector by |x|_1 u. So it is
enough to tune that vector, |x|_1 times as fast, besides the weights of the inputs that differ. The result equals tuning
every weight, except for Adam's epsilon.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

from trickformer.belief.hanabi.learned import Parameters, Seq2Seq, State, one_hot
from trickformer.belief.hanabi.recurrence import lstm_cell


class NearEncoder:
    """Encoder of a Seq2Seq network at one step of G games.

    Each game has its own weights, which start at the offline ones.
    """

    def __init__(
        self, model: Seq2Seq, offline: Parameters, emission: torch.Tensor, control: torch.Tensor | None, state: State
    ):
        """Split the inputs into those that are the same in all worlds of a game and those that differ.

        Args:
            model: Network trained offline.
            offline: Its parameters by name.
            emission: bool [G, W, features], for W worlds of each game.
            control: int64 [G], or None if the network reads no controls; the same in all worlds of a game.
            state: State before the step, [G, hidden] each; the same in all worlds of a game.
        """
        features = model.shape.features
        self._cells = [cell.unsqueeze(1) for _, cell in state]
        by_feature, by_control = offline["encoder.0.input"].split([features, model.shape.controls])
        in_all, differs = emission.all(dim=1), emission.any(dim=1) ^ emission.all(dim=1)
        # All games have as many columns as the one with the most differing features. The surplus columns do no harm.
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
            fixed = fixed + one_hot(control, model.shape.controls, fixed.dtype) @ by_control
            norm = norm + (control >= 0)
        self._inputs = [by_feature[self._at]]
        self._fixed: list[torch.Tensor] = []
        self._norms: list[torch.Tensor] = []
        self._shares: list[torch.Tensor] = []
        for i, (out, _) in enumerate(state):
            if i:
                weight = offline[f"encoder.{i}.input"]
                self._inputs.append(weight.expand(len(out), *weight.shape).clone())
                fixed, norm = torch.zeros_like(fixed), torch.zeros_like(norm)
            fixed = fixed + out @ offline[f"encoder.{i}.state"] + offline[f"encoder.{i}.bias"]
            self._fixed.append(fixed.unsqueeze(1))
            # + 1 for the bias. The other shared inputs are 0 or 1, so their sum is the sum of their squares.
            self._norms.append((norm + out.abs().sum(dim=1) + 1)[:, None, None])
            self._shares.append((norm + out.square().sum(dim=1) + 1) / self._norms[-1].flatten().square())
        self._moved = [torch.zeros_like(fixed, requires_grad=True) for fixed in self._fixed]
        for weight in self._inputs:
            weight.requires_grad_()

    def parameters(self) -> list[torch.Tensor]:
        """Return the tensors that Adam tunes."""
        return [*self._inputs, *self._moved]

    def squared_norm(self) -> torch.Tensor:
        """Return the squared norm of the gradients of all weights, float32 [G].

        The weights that one vector stands for are included. Their gradients are x times the gradient of the gates, with
        squared norm |x|_2^2 times that of the gates; the gradient of the vector is |x|_1 times that of the gates.
        """
        moved = sum(share * squared_norm([m]) for share, m in zip(self._shares, self._moved))
        return squared_norm(self._inputs) + moved

    def worlds(self, at: torch.Tensor) -> torch.Tensor:
        """Return the summaries of some worlds of every game, float32 [G, n, hidden].

        Args:
            at: int64 [n], indices of worlds.
        """
        return self._summary(self._rows[:, at].float(), 0.0)

    def encode_emission(self, emission: torch.Tensor) -> torch.Tensor:
        """Return the summaries of the real emissions, float32 [G, 1, hidden].

        Args:
            emission: float32 [G, features]; it may differ from all worlds.
        """
        known = self._same.float()
        off = emission * self._others - known
        lost = (known * (1 - emission)).sum(dim=1, keepdim=True)  # inputs of the tuned vector that are 0 here
        rest = off @ self._by_feature - lost * self._moved[0].squeeze(1)
        return self._summary(emission.gather(1, self._at).unsqueeze(1), rest.unsqueeze(1)).detach()

    def _summary(self, rows: torch.Tensor, rest: torch.Tensor | float) -> torch.Tensor:
        out = rows
        for i, cell in enumerate(self._cells):
            gates = out @ self._inputs[i] + (self._fixed[i] + self._norms[i] * self._moved[i])
            out, _ = lstm_cell(gates + rest if i == 0 else gates, cell)
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
