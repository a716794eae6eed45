"""LSTM cell, and an LSTM layer over a sequence. On a CPU the C++ core computes most of the layer and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from trickformer import _core


def lstm_cell(gates: torch.Tensor, cell: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute one step of an LSTM cell.

    Args:
        gates: [..., 4 hidden], inputs of the nonlinearities of the input gate, forget gate, candidate and output gate.
        cell: [..., hidden], the cell state before the step.

    Returns:
        Output and cell, [..., hidden] each.
    """
    chunks = gates.chunk(4, dim=-1)
    input_gate, forget_gate = torch.sigmoid(chunks[0]), torch.sigmoid(chunks[1])
    cell = forget_gate * cell + input_gate * tanh(chunks[2])
    return torch.sigmoid(chunks[3]) * tanh(cell), cell


def tanh(x: torch.Tensor) -> torch.Tensor:
    """Return the hyperbolic tangent. On a CPU this takes a fifth of the time of torch.tanh.

    Args:
        x: Any tensor.
    """
    return 2 * torch.sigmoid(2 * x) - 1


def lstm(gates: torch.Tensor, out: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Compute the outputs of a layer for a sequence of S inputs. The cell state starts at 0.

    Under autocast, products with `weight` are computed in bfloat16.

    Args:
        gates: [..., S, n, 4 hidden], contributions of the inputs to the gates.
        out: [..., n, hidden], the output before the first input.
        weight: [..., hidden, 4 hidden], recurrent weights, one matrix for each network.

    Returns:
        [..., S, n, hidden].
    """
    if out.device.type == "cpu" and out.dtype == weight.dtype == torch.float32:
        outputs = _Layer.apply(gates, out, weight, torch.is_autocast_enabled("cpu"))
        assert isinstance(outputs, torch.Tensor)
        return outputs
    cell, outs = torch.zeros_like(out), []
    for step in range(gates.shape[-3]):
        out, cell = lstm_cell(gates[..., step, :, :].to(cell.dtype) + out @ weight, cell)
        outs.append(out)
    return torch.stack(outs, dim=-3)


class _Layer(torch.autograd.Function):
    """LSTM layer with a gradient. Torch computes the matrix products, and the core everything else."""

    @staticmethod
    def forward(ctx: Any, gates: torch.Tensor, out: torch.Tensor, weight: torch.Tensor, bf16: bool) -> torch.Tensor:
        steps, rows = gates.shape[-3:-1]
        hidden = out.shape[-1]
        factor = weight.bfloat16() if bf16 else weight  # the factor of all matrix products
        gates = gates.to(factor.dtype).contiguous()
        acts, outs = torch.empty(gates.shape), torch.empty(*gates.shape[:-1], hidden)
        cells = torch.empty(*gates.shape[:-3], steps + 1, rows, hidden)
        cells[..., 0, :, :] = 0
        last_out = out.to(factor.dtype, copy=True, memory_format=torch.contiguous_format)
        acts_array, cells_array = _array(acts, 4), _array(cells, 4)
        outs_array = _array(outs, 4)
        for step in range(steps):
            product = last_out @ factor
            # Writes this step's activations, cell and output into the arrays, and the output into `last_out`.
            _core.lstm.forward(
                step, _array(gates, 4), _array(product, 3), acts_array, cells_array, outs_array, _array(last_out, 3)
            )
        ctx.save_for_backward(factor, out, acts, cells, outs)
        return outs

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        factor, first = ctx.saved_tensors[:2]
        acts, cells = ctx.saved_tensors[2:4]
        outs = ctx.saved_tensors[4]
        d_gates = torch.empty(acts.shape, dtype=factor.dtype)
        d_out, d_cell = torch.zeros(first.shape, dtype=factor.dtype), torch.zeros(first.shape)
        acts_array, cells_array = _array(acts, 4), _array(cells, 4)
        d_outs = _array(grads[0].contiguous(), 4)
        for step in reversed(range(acts.shape[-3])):
            _core.lstm.backward(
                step, acts_array, cells_array, d_outs, _array(d_out, 3), _array(d_cell, 3), _array(d_gates, 4)
            )
            d_out = d_gates[..., step, :, :] @ factor.mT
        d_weight = None
        if ctx.needs_input_grad[2]:
            previous_outs = torch.cat([first.unsqueeze(-3), outs[..., :-1, :, :]], dim=-3).to(factor.dtype)
            # If all rows share one network, its gradient is the sum over the leading dimensions.
            d_weight = (previous_outs.flatten(-3, -2).mT @ d_gates.flatten(-3, -2)).sum_to_size(factor.shape)
        return d_gates, d_out, d_weight, None


def _array(x: torch.Tensor, dimensions: int) -> np.ndarray:
    """Return a view for the core: all leading dimensions merged into one, and bfloat16 reinterpreted as int16."""
    x = x.detach().reshape(-1, *x.shape[x.dim() - dimensions + 1 :])
    return (x.view(torch.int16) if x.dtype == torch.bfloat16 else x).numpy()
