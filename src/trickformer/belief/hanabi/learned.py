"""Seq2Seq beliefs: an encoder LSTM reads emissions and controls, and a decoder LSTM writes the hidden cards.

The architecture follows the BFT paper, A.3 (after Sutskever et al. 2014 and the belief model of off-belief learning).
One step of the encoder reads an emission and the control before it. The output of its top layer is the summary of the
history. From the summary the decoder models the hidden cards one after the other, the oldest card of a hand first.

The logits of a card are added to a log-prior by counting: the share of each kind among the unseen cards that remain
after the cards already written and that hints allow in the slot. So an untrained network counts slot by slot, and
training adds only the evidence of play. If no remaining card is allowed in a later slot, the sample is impossible, and
the caller must check for that. Kinds have traits that change during the game: in Hanabi the card can be played now, is
useless, or is the last useful copy. The network has logits for traits too. So what it learns about one playable card
holds for all playable cards.

Every function takes the parameters as a mapping from names to tensors. Each parameter may have a further first
dimension with one network for each game, which fine-tuning needs. In shapes, n counts games, S slots, K kinds of card,
F traits, B hint bits, T positions, and ... are optional leading dimensions.
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
    hint_bits: torch.Tensor  # float32 [n, S, B], whether a hint has named the card's colour, and its rank

    def __getitem__(self, rows: Any) -> CardConstraints:
        """Apply the same index to all parts, in the dimensions up to n."""
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
    """Training data: whole games position by position, as inputs of both kinds of encoder, with the hidden cards."""

    emission: torch.Tensor  # bool [T, n, features]; T is the largest number of positions
    control: torch.Tensor  # int64 [T, n], control before the emission; -1 for none
    tokens: torch.Tensor  # int64 [n, L], tokens of the whole game, 0 after the last; for the transformer
    ends: torch.Tensor  # int64 [T, n], index in `tokens` of the last token at each position
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
    """LSTM that models the hidden cards, given the summary of a history. Its parameters are named `decoder.*`.

    Subclasses add the encoder, which computes the summary.
    """

    def __init__(self, sizes: Seq2SeqSizes, encoder: Mapping[str, tuple[int, ...]]):
        """Create the parameters with random values.

        Args:
            sizes: Sizes of the network.
            encoder: Sizes of the encoder's parameters by name.
        """
        super().__init__()
        self.sizes = sizes
        h = sizes.hidden
        # Inputs: previous card (one-hot), slot (one-hot), share of each kind by counting, expected traits, hint bits.
        inputs = sizes.kinds + sizes.slots + sizes.kinds + sizes.traits + sizes.hint_bits
        shapes: dict[str, tuple[int, ...]] = dict(encoder)
        shapes |= {"decoder.start": (h, h), "decoder.start_bias": (h,), "decoder.input": (inputs, 4 * h)}
        shapes |= {"decoder.state": (h, 4 * h), "decoder.bias": (4 * h,)}
        shapes |= {"decoder.out": (h, sizes.kinds), "decoder.out_bias": (sizes.kinds,)}
        shapes |= {"decoder.traits": (h, sizes.traits), "decoder.traits_bias": (sizes.traits,)}
        self._names = {name: name.replace(".", "_") for name in shapes}
        for name, size in shapes.items():
            values = torch.empty(size).uniform_(-1, 1) / math.sqrt(h)
            self.register_parameter(self._names[name], nn.Parameter(values))

    @property
    def device(self) -> torch.device:
        """Device of the parameters."""
        return next(self.parameters()).device

    def weights(self) -> dict[str, torch.Tensor]:
        """Return the parameters by name."""
        return {name: getattr(self, attribute) for name, attribute in self._names.items()}

    @torch.no_grad()
    def set_weights(self, weights: Parameters) -> None:
        """Set the parameters.

        Args:
            weights: Values by name.

        Raises:
            ValueError: Names or shapes are not those of this network.
        """
        parameters = self.weights()
        if {k: w.shape for k, w in weights.items()} != {k: w.shape for k, w in parameters.items()}:
            raise ValueError("the weights of another network do not fit: names or shapes differ")
        for name, w in weights.items():
            parameters[name].copy_(w)

    def log_probs(
        self, weights: Parameters, summary: torch.Tensor, known: CardConstraints, cards: torch.Tensor
    ) -> torch.Tensor:
        """Return the logarithm of the probability of each kind in each slot, given the cards in the slots before it.

        Args:
            weights: Parameters of the decoder by name.
            summary: [..., n, hidden], summaries of the histories.
            known: Constraints of the same tables.
            cards: int64 [..., n, S]; -1 for a slot without a card.

        Returns:
            float32 [..., n, S, K].
        """
        card = one_hot(cards, self.sizes.kinds, summary.dtype)
        left = (known.counts.unsqueeze(-2) - card.cumsum(dim=-2) + card).clamp(min=0)  # cards left for each slot
        previous = torch.cat([torch.zeros_like(card[..., :1, :]), card[..., :-1, :]], dim=-2)
        gates, share = self._read(weights, known, left, previous, slice(None))
        outs = lstm(gates, self._start(weights, summary), weights["decoder.state"])
        return torch.log_softmax(self._logits(weights, known, outs, share), dim=-1)

    @torch.no_grad()
    def sample(
        self, weights: Parameters, summary: torch.Tensor, known: CardConstraints, generator: torch.Generator
    ) -> torch.Tensor:
        """Sample the hidden cards once for each summary.

        Args:
            weights: Parameters of the decoder by name.
            summary: [..., n, hidden], summaries of the histories.
            known: Constraints of the same tables.
            generator: Source of all randomness.

        Returns:
            int64 [..., n, S]; -1 for a slot without a card.
        """
        sizes = self.sizes
        out = self._start(weights, summary)
        cell = torch.zeros_like(out)
        left = known.counts.expand(*summary.shape[:-1], -1)
        previous = torch.zeros_like(left)
        cards = []
        for slot in range(sizes.slots):
            one_slot = slice(slot, slot + 1)
            gates, share = self._read(weights, known, left.unsqueeze(-2), previous.unsqueeze(-2), one_slot)
            out, cell = lstm_cell(gates.squeeze(-3) + out @ weights["decoder.state"], cell)
            logits = self._logits(weights, known, out.unsqueeze(-3), share).squeeze(-2)
            noise = torch.empty_like(logits).exponential_(generator=generator).clamp(min=1e-30)
            draw = (logits - torch.log(noise)).argmax(dim=-1)  # the Gumbel-max trick
            cards.append(torch.where(known.possible[..., slot, :].any(dim=-1), draw, -1))
            previous = one_hot(cards[-1], sizes.kinds, out.dtype)
            left = (left - previous).clamp(min=0)
        return torch.stack(cards, dim=-1)

    def _start(self, weights: Parameters, summary: torch.Tensor) -> torch.Tensor:
        """Return the output before the first slot, [..., n, hidden]."""
        return tanh(summary @ weights["decoder.start"] + weights["decoder.start_bias"].unsqueeze(-2))

    def _read(
        self, weights: Parameters, known: CardConstraints, left: torch.Tensor, previous: torch.Tensor, slots: slice
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the inputs' contributions to the gates, [..., s, n, 4 hidden], and shares by counting, [..., n, s, K].

        `slots` selects s slots. `left` is the number of cards left for each slot, `previous` the card in the slot
        before, one-hot; both are [..., n, s, K].
        """
        sizes = self.sizes
        allowed = left * known.possible[..., slots, :]
        # If hints allow no remaining card, the previous cards are impossible. Then the shares do not matter.
        total = allowed.sum(dim=-1, keepdim=True)
        share = torch.where(total > 0, allowed / total.clamp(min=1), 1 / sizes.kinds)
        hint_bits = known.hint_bits[..., slots, :].expand(*share.shape[:-1], -1)
        slot = torch.eye(sizes.slots, device=share.device)[slots].expand(*share.shape[:-1], -1)
        one = torch.ones_like(share[..., :1])  # input of the bias
        inputs = torch.cat([previous, slot, share, share @ known.traits, hint_bits, one], dim=-1).transpose(-2, -3)
        weight = torch.cat([weights["decoder.input"], weights["decoder.bias"].unsqueeze(-2)], dim=-2)
        return _multiply_slots(inputs, weight), share

    def _logits(
        self, weights: Parameters, known: CardConstraints, outs: torch.Tensor, share: torch.Tensor
    ) -> torch.Tensor:
        """Return logits [..., n, s, K] for the decoder's outputs, [..., s, n, hidden]."""
        weight = torch.cat([weights["decoder.out"], weights["decoder.traits"]], dim=-1)
        bias = torch.cat([weights["decoder.out_bias"], weights["decoder.traits_bias"]], dim=-1)
        both = (_multiply_slots(outs, weight) + bias[..., None, None, :]).transpose(-2, -3)
        kind_logits, trait_logits = both.split([self.sizes.kinds, self.sizes.traits], dim=-1)
        return kind_logits + trait_logits @ known.traits.mT + torch.log(share)


class Seq2Seq(Decoder):
    """An LSTM encoder and the decoder. Their parameters are named `encoder.*` and `decoder.*`."""

    def __init__(self, sizes: Seq2SeqSizes):
        h, inputs = sizes.hidden, sizes.features + sizes.controls
        shapes: dict[str, tuple[int, ...]] = {
            f"encoder.{i}.input": (inputs if i == 0 else h, 4 * h) for i in range(sizes.layers)
        }
        shapes |= {f"encoder.{i}.state": (h, 4 * h) for i in range(sizes.layers)}
        shapes |= {f"encoder.{i}.bias": (4 * h,) for i in range(sizes.layers)}
        super().__init__(sizes, shapes)

    def start(self, n: int) -> State:
        """Return the encoder's state before the first emission.

        Args:
            n: Number of games.
        """
        zero = torch.zeros(n, self.sizes.hidden, device=self.device)
        return tuple((zero, zero) for _ in range(self.sizes.layers))

    def encode(self, weights: Parameters, emission: torch.Tensor, control: torch.Tensor | None, state: State) -> State:
        """Advance the encoder by one emission.

        Args:
            weights: Parameters by name.
            emission: [..., n, features].
            control: int64 [..., n], -1 for none; None if the network reads no controls.
            state: State before the step.

        Returns:
            The state after the step. The output of its last layer, `state[-1][0]`, is the summary of the history.
        """
        x = emission
        if self.sizes.controls:
            assert control is not None
            x = torch.cat([x, one_hot(control, self.sizes.controls, x.dtype)], dim=-1)
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


def select_cards(log_probs: torch.Tensor, cards: torch.Tensor) -> torch.Tensor:
    """Select the log-probabilities of some cards.

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
    return -select_cards(log_probs, cards).sum(dim=-1) / (cards >= 0).sum(dim=-1).clamp(min=1)


def _multiply_slots(rows: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Multiply [..., s, n, a] by [..., a, b]. All slots and games of a network are one matrix, which is faster."""
    return (rows.flatten(-3, -2) @ weight).unflatten(-2, rows.shape[-3:-1])


def one_hot(index: torch.Tensor, n: int, dtype: torch.dtype) -> torch.Tensor:
    """Return one-hot vectors.

    Args:
        index: Integers [...]; -1 gives a vector of zeros.
        n: Length of the vectors.
        dtype: Data type of the result.

    Returns:
        [..., n].
    """
    return (index.unsqueeze(-1) == torch.arange(n, device=index.device)).to(dtype)
