"""Seq2Seq beliefs: one LSTM reads emissions and controls, another writes the hidden cards, the oldest first.

The form follows Belief Fine-Tuning, A.3 (after Sutskever et al. 2014 and the belief model of off-belief learning). The
encoder e takes an emission, the control before it and its own state. The output h of its top layer is the summary of
the history. The decoder d models the hidden cards one after the other.

The logits of a card are added to the logarithm of a share by counting: among the kinds that hints allow in the slot,
the cards that remain after the cards already written. So an untrained network counts slot by slot, and it learns only
the evidence of play. If the cards written leave none that a later slot may hold, the sample is impossible, and the
caller must check for that. Kinds have traits that change during the game (in Hanabi: the card can be played now, is
useless, is the last of its kind). The network has logits for traits too, so that it need not learn a property of all
playable cards for each kind separately.

Every function takes its parameters as a mapping. It also works if each parameter has a further first dimension, one
network for each game, as fine-tuning needs them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import nn

from trickformer.belief.hanabi.recurrence import lstm, lstm_cell, tanh

Parameters = Mapping[str, torch.Tensor]
State = tuple[tuple[torch.Tensor, torch.Tensor], ...]  # by layer: output and cell, each [..., n, hidden]


@dataclass(frozen=True, slots=True)
class Seq2SeqSizes:
    """Sizes of a Seq2Seq network."""

    features: int  # numbers in an emission
    controls: int  # kinds of control that the encoder reads; 0: none
    slots: int  # hidden cards
    kinds: int  # kinds of card
    traits: int  # traits of a kind
    hint_bits: int  # hint bits of a hidden card
    hidden: int = 512
    layers: int = 2


@dataclass(frozen=True, slots=True)
class CardConstraints:
    """Constraints of rules and hints on the hidden cards of n tables. Further dimensions may stand before n."""

    possible: torch.Tensor  # bool [n, S, K], kinds that hints allow; all False for a slot without a card
    counts: torch.Tensor  # float32 [n, K], cards of each kind that may be hidden
    traits: torch.Tensor  # float32 [n, K, F], present traits of each kind
    hint_bits: torch.Tensor  # float32 [n, S, B], hints that each card received, beyond the kinds that they leave

    def __getitem__(self, rows: Any) -> CardConstraints:
        """Index all parts alike, in the dimensions up to n."""
        return CardConstraints(self.possible[rows], self.counts[rows], self.traits[rows], self.hint_bits[rows])

    @property
    def told(self) -> torch.Tensor:  # style: name of `hint_bits` in snapshots of version 0.2
        """Former name of `hint_bits`."""
        return self.hint_bits

    @told.setter
    def told(self, value: torch.Tensor) -> None:  # style: name of `hint_bits` in snapshots of version 0.2
        object.__setattr__(self, "hint_bits", value)

    def to(self, device: torch.device) -> CardConstraints:
        """Move all parts to a device.

        Args:
            device: Device of the copy.
        """
        return CardConstraints(*(getattr(self, f.name).to(device) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class GameSequences:
    """Games position by position, as inputs of networks, with their hidden cards.

    T is the largest number of positions.
    """

    emission: torch.Tensor  # bool [T, n, features]
    control: torch.Tensor  # int64 [T, n], control before the emission; -1 for none
    tokens: torch.Tensor  # int64 [n, L], tokens of the whole game, 0 after the last
    ends: torch.Tensor  # int64 [T, n], index of the last token seen at each position
    cards: torch.Tensor  # int64 [T, n, S], hidden cards
    known: CardConstraints  # [T, n, ...]
    lengths: torch.Tensor  # int64 [n], positions with a decision

    def to(self, device: torch.device) -> GameSequences:
        """Move all parts to a device.

        Args:
            device: Device of the copy.
        """
        return GameSequences(*(getattr(self, f.name).to(device) for f in fields(self)))


class Decoder(nn.Module):
    """Network that writes hidden cards from the summary of a history. Its parameters are named `decoder.*`.

    Subclasses add the encoder, which reads the history.
    """

    def __init__(self, shape: Seq2SeqSizes, encoder: Mapping[str, tuple[int, ...]]):
        """Create the parameters with random values.

        Args:
            shape: Sizes of the network.
            encoder: Sizes of further parameters by name.
        """
        super().__init__()
        self.shape = shape
        h = shape.hidden
        # Inputs: the card before, the slot, the share of each kind by counting, its traits, the hint bits.
        writes = shape.kinds + shape.slots + shape.kinds + shape.traits + shape.hint_bits
        sizes: dict[str, tuple[int, ...]] = dict(encoder)
        sizes |= {"decoder.start": (h, h), "decoder.start_bias": (h,), "decoder.input": (writes, 4 * h)}
        sizes |= {"decoder.state": (h, 4 * h), "decoder.bias": (4 * h,)}
        sizes |= {"decoder.out": (h, shape.kinds), "decoder.out_bias": (shape.kinds,)}
        sizes |= {"decoder.traits": (h, shape.traits), "decoder.traits_bias": (shape.traits,)}
        self._names = {name: name.replace(".", "_") for name in sizes}
        for name, size in sizes.items():
            values = torch.empty(size).uniform_(-1, 1) / math.sqrt(h)
            self.register_parameter(self._names[name], nn.Parameter(values))

    @property
    def device(self) -> torch.device:
        """Device of the parameters."""
        return next(self.parameters()).device

    def weights(self) -> dict[str, torch.Tensor]:
        """Return the parameters by name."""
        return {name: getattr(self, own) for name, own in self._names.items()}

    @torch.no_grad()
    def set_weights(self, weights: Parameters) -> None:
        """Set the parameters.

        Args:
            weights: Values by name.

        Raises:
            ValueError: The names or shapes are those of another network.
        """
        own = self.weights()
        if {k: w.shape for k, w in weights.items()} != {k: w.shape for k, w in own.items()}:
            raise ValueError("the weights of another network do not fit: names or shapes differ")
        for name, w in weights.items():
            own[name].copy_(w)

    def log_probs(
        self, weights: Parameters, summary: torch.Tensor, known: CardConstraints, cards: torch.Tensor
    ) -> torch.Tensor:
        """Return the logarithm of the probability of each kind in each slot, given the cards before it.

        Args:
            weights: Parameters of the decoder by name.
            summary: [..., n, hidden], summaries of the histories.
            known: Constraints of the same tables.
            cards: int64 [..., n, S]; -1 for a slot without a card.

        Returns:
            float32 [..., n, S, K].
        """
        shape = self.shape
        own = one_hot(cards, shape.kinds, summary.dtype)
        left = (known.counts.unsqueeze(-2) - own.cumsum(dim=-2) + own).clamp(min=0)
        before = torch.cat([torch.zeros_like(own[..., :1, :]), own[..., :-1, :]], dim=-2)
        gates, share = self._read(weights, known, left, before, slice(None))
        outs = lstm(gates, self._start(weights, summary), weights["decoder.state"])
        return torch.log_softmax(self._logits(weights, known, outs, share), dim=-1)

    @torch.no_grad()
    def sample(
        self, weights: Parameters, summary: torch.Tensor, known: CardConstraints, generator: torch.Generator
    ) -> torch.Tensor:
        """Draw the hidden cards once for each summary.

        Args:
            weights: Parameters of the decoder by name.
            summary: [..., n, hidden], summaries of the histories.
            known: Constraints of the same tables.
            generator: Source of all randomness.

        Returns:
            int64 [..., n, S]; -1 for a slot without a card.
        """
        shape = self.shape
        out = self._start(weights, summary)
        cell = torch.zeros_like(out)
        left = known.counts.expand(*summary.shape[:-1], -1)
        before = torch.zeros_like(left)
        cards = []
        for slot in range(shape.slots):
            at = slice(slot, slot + 1)
            gates, share = self._read(weights, known, left.unsqueeze(-2), before.unsqueeze(-2), at)
            out, cell = lstm_cell(gates.squeeze(-3) + out @ weights["decoder.state"], cell)
            logits = self._logits(weights, known, out.unsqueeze(-3), share).squeeze(-2)
            noise = torch.empty_like(logits).exponential_(generator=generator).clamp(min=1e-30)
            draw = (logits - torch.log(noise)).argmax(dim=-1)  # the Gumbel-max trick
            cards.append(torch.where(known.possible[..., slot, :].any(dim=-1), draw, -1))
            before = one_hot(cards[-1], shape.kinds, out.dtype)
            left = (left - before).clamp(min=0)
        return torch.stack(cards, dim=-1)

    def _start(self, weights: Parameters, summary: torch.Tensor) -> torch.Tensor:
        return tanh(summary @ weights["decoder.start"] + weights["decoder.start_bias"].unsqueeze(-2))

    def _read(
        self, weights: Parameters, known: CardConstraints, left: torch.Tensor, before: torch.Tensor, slots: slice
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Compute the decoder's inputs at its gates, [..., s, n, 4 hidden], and the shares by counting, [..., n, s, K].

        `left` holds the cards left for each slot, `before` the card before each slot, both [..., n, s, K].
        """
        shape = self.shape
        weight = left * known.possible[..., slots, :]
        # If no card is left that hints allow, the cards before are impossible, and any kind may complete them.
        total = weight.sum(dim=-1, keepdim=True)
        share = torch.where(total > 0, weight / total.clamp(min=1), 1 / shape.kinds)
        hint_bits = known.hint_bits[..., slots, :].expand(*share.shape[:-1], -1)
        slot = torch.eye(shape.slots, device=share.device)[slots].expand(*share.shape[:-1], -1)
        one = torch.ones_like(share[..., :1])
        rows = torch.cat([before, slot, share, share @ known.traits, hint_bits, one], dim=-1).transpose(-2, -3)
        weight = torch.cat([weights["decoder.input"], weights["decoder.bias"].unsqueeze(-2)], dim=-2)
        return _of_slots(rows, weight), share

    def _logits(
        self, weights: Parameters, known: CardConstraints, outs: torch.Tensor, share: torch.Tensor
    ) -> torch.Tensor:
        """Return logits [..., n, s, K] for the decoder's outputs, [..., s, n, hidden]."""
        both = torch.cat([weights["decoder.out"], weights["decoder.traits"]], dim=-1)
        bias = torch.cat([weights["decoder.out_bias"], weights["decoder.traits_bias"]], dim=-1)
        written = (_of_slots(outs, both) + bias[..., None, None, :]).transpose(-2, -3)
        logits, liking = written.split([self.shape.kinds, self.shape.traits], dim=-1)
        return logits + liking @ known.traits.mT + torch.log(share)


class Seq2Seq(Decoder):
    """An LSTM encoder and the decoder. Their parameters are named `encoder.*` and `decoder.*`."""

    def __init__(self, shape: Seq2SeqSizes):
        h, reads = shape.hidden, shape.features + shape.controls
        sizes: dict[str, tuple[int, ...]] = {
            f"encoder.{i}.input": (reads if i == 0 else h, 4 * h) for i in range(shape.layers)
        }
        sizes |= {f"encoder.{i}.state": (h, 4 * h) for i in range(shape.layers)}
        sizes |= {f"encoder.{i}.bias": (4 * h,) for i in range(shape.layers)}
        super().__init__(shape, sizes)

    def start(self, n: int) -> State:
        """Return the encoder's state before the first emission.

        Args:
            n: Number of games.
        """
        zero = torch.zeros(n, self.shape.hidden, device=self.device)
        return tuple((zero, zero) for _ in range(self.shape.layers))

    def encode(self, weights: Parameters, emission: torch.Tensor, control: torch.Tensor | None, state: State) -> State:
        """Encode one step.

        Args:
            weights: Parameters by name.
            emission: [..., n, features].
            control: int64 [..., n], -1 for none; None if the network reads no controls.
            state: State before the step.

        Returns:
            The state after the step. The summary of the history is the output of the last layer, `state[-1][0]`.
        """
        x = emission
        if self.shape.controls:
            assert control is not None
            x = torch.cat([x, one_hot(control, self.shape.controls, x.dtype)], dim=-1)
        layers = []
        for i, (out, cell) in enumerate(state):
            gates = x @ weights[f"encoder.{i}.input"] + out @ weights[f"encoder.{i}.state"]
            layers.append(lstm_cell(gates + weights[f"encoder.{i}.bias"].unsqueeze(-2), cell))
            x = layers[-1][0]
        return tuple(layers)

    def summaries(self, games: GameSequences) -> torch.Tensor:
        """Return the summary at every position, float32 [T, n, hidden].

        Args:
            games: Games from their first position.
        """
        weights, state = self.weights(), self.start(games.emission.shape[1])
        summaries = []
        for emission, control in zip(games.emission, games.control):
            state = self.encode(weights, emission.float(), control, state)
            summaries.append(state[-1][0])
        return torch.stack(summaries)


def of_cards(log_probs: torch.Tensor, cards: torch.Tensor) -> torch.Tensor:
    """Select the log probabilities of the given cards.

    Args:
        log_probs: [..., S, K].
        cards: int64 [..., S]; -1 for a slot without a card.

    Returns:
        float32 [..., S]; 0 for a slot without a card.
    """
    selected = log_probs.gather(-1, cards.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return torch.where(cards >= 0, selected, torch.zeros_like(selected))


def mean_loss(log_probs: torch.Tensor, cards: torch.Tensor) -> torch.Tensor:
    """Return the cross entropy per card of each world, in nats.

    Args:
        log_probs: [..., S, K].
        cards: int64 [..., S]; -1 for a slot without a card.

    Returns:
        float32 [...].
    """
    return -of_cards(log_probs, cards).sum(dim=-1) / (cards >= 0).sum(dim=-1).clamp(min=1)


def _of_slots(rows: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Multiply [..., s, n, a] by [..., a, b], as one matrix for each network."""
    return (rows.flatten(-3, -2) @ weight).unflatten(-2, rows.shape[-3:-1])


def one_hot(index: torch.Tensor, n: int, dtype: torch.dtype) -> torch.Tensor:
    """Return vectors with a 1 at the index.

    Args:
        index: Integers [...]; -1 gives zeros only.
        n: Length of the vectors.
        dtype: Data type of the result.

    Returns:
        [..., n].
    """
    return (index.unsqueeze(-1) == torch.arange(n, device=index.device)).to(dtype)
