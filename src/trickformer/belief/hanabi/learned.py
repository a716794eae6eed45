"""Seq2Seq beliefs: an LSTM reads emissions and controls, another writes the hidden cards, the oldest first.

The form is that of Belief Fine-Tuning, A.3 (after Sutskever et al. 2014 and the belief model of off-belief learning):
the encoder e takes an emission, the control before it and its own state, and the top layer's output h is the summary
of the history; the decoder d models the hidden cards one after the other. Logits of a card are added to the logarithm
of what counting says: of the kinds that hints allow in the slot, the cards that are still to be had after those
already written. So a network that knows nothing counts slot by slot, and what is learned is what play tells. Where
the cards written leave none that a later slot may hold, the sample cannot be; who draws must look. Kinds have traits
that change as the game goes on (in Hanabi whether such a card can be played now, is of no use, is the last of its
kind); a network also likes traits, so that what holds of a playable card need not be learned for each kind by itself.

Every function takes its parameters as a mapping, and works alike where each has a first dimension of its own: one
network a game, as fine-tuning needs them."""

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
    """The sizes of a Seq2Seq network."""

    features: int  # numbers of an emission
    controls: int  # kinds of control that it reads, 0: none
    slots: int  # hidden cards
    kinds: int  # of card
    traits: int  # of a kind
    told: int  # numbers for a hidden card
    hidden: int = 512
    layers: int = 2


@dataclass(frozen=True, slots=True)
class CardConstraints:
    """What rules and hints say of the hidden cards of n tables; further dimensions may stand before n."""

    possible: torch.Tensor  # bool [n, S, K]: none where there is no card
    counts: torch.Tensor  # float32 [n, K]: cards of each kind that may be hidden
    traits: torch.Tensor  # float32 [n, K, F]: what makes kinds alike at present
    told: torch.Tensor  # float32 [n, S, G]: what players did about each card, beyond what it may be

    def __getitem__(self, rows: Any) -> CardConstraints:
        """The same index into each, among the dimensions up to n."""
        return CardConstraints(self.possible[rows], self.counts[rows], self.traits[rows], self.told[rows])

    def to(self, device: torch.device) -> CardConstraints:
        """The same on a device."""
        return CardConstraints(*(getattr(self, f.name).to(device) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class GameSequences:
    """Games position by position, as networks read them, and what they hide; T is the longest."""

    emission: torch.Tensor  # bool [T, n, features]
    control: torch.Tensor  # int64 [T, n]: the one before the emission, -1 for none
    tokens: torch.Tensor  # int64 [n, L]: of whole games, 0 after the last
    ends: torch.Tensor  # int64 [T, n]: the last token seen at a position
    cards: torch.Tensor  # int64 [T, n, S]
    known: CardConstraints  # [T, n, ...]
    lengths: torch.Tensor  # int64 [n]: positions with a decision

    def to(self, device: torch.device) -> GameSequences:
        """The same on a device."""
        return GameSequences(*(getattr(self, f.name).to(device) for f in fields(self)))


class Decoder(nn.Module):
    """Writes hidden cards from the summary of a history; `decoder.*` name its parameters. What reads the history
    stands in the networks that inherit from it.

    encoder: the sizes of further parameters by name."""

    def __init__(self, shape: Seq2SeqSizes, encoder: Mapping[str, tuple[int, ...]]):
        super().__init__()
        self.shape = shape
        h = shape.hidden
        # The card before; the slot; what counting says; what was told.
        writes = shape.kinds + shape.slots + shape.kinds + shape.traits + shape.told
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
        """Where the parameters are."""
        return next(self.parameters()).device

    def weights(self) -> dict[str, torch.Tensor]:
        """The parameters by name."""
        return {name: getattr(self, own) for name, own in self._names.items()}

    @torch.no_grad()
    def set_weights(self, weights: Parameters) -> None:
        """Takes these values; ValueError where names or shapes are others."""
        own = self.weights()
        if {k: w.shape for k, w in weights.items()} != {k: w.shape for k, w in own.items()}:
            raise ValueError("these are the weights of another network")
        for name, w in weights.items():
            own[name].copy_(w)

    def log_probs(
        self, weights: Parameters, summary: torch.Tensor, known: CardConstraints, cards: torch.Tensor
    ) -> torch.Tensor:
        """float32 [..., n, S, K]: the logarithm of the probability of each kind in each slot, given the cards before
        it.

        summary: [..., n, hidden]; known: of the same tables; cards: int64 [..., n, S], -1 where there is none."""
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
        """int64 [..., n, S]: hidden cards, one draw a summary; -1 where there is none."""
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
            draw = (logits - torch.log(noise)).argmax(dim=-1)  # Gumbel
            cards.append(torch.where(known.possible[..., slot, :].any(dim=-1), draw, -1))
            before = one_hot(cards[-1], shape.kinds, out.dtype)
            left = (left - before).clamp(min=0)
        return torch.stack(cards, dim=-1)

    def _start(self, weights: Parameters, summary: torch.Tensor) -> torch.Tensor:
        return tanh(summary @ weights["decoder.start"] + weights["decoder.start_bias"].unsqueeze(-2))

    def _read(
        self, weights: Parameters, known: CardConstraints, left: torch.Tensor, before: torch.Tensor, slots: slice
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """What the decoder is told of some slots, as its gates see it, [..., s, n, 4 hidden], and what counting says of
        them, [..., n, s, K]; left: the cards left for each, before: the card before each, [..., n, s, K] both."""
        shape = self.shape
        weight = left * known.possible[..., slots, :]
        # Where no card is left that hints allow, what was written before is impossible; any kind may end it.
        total = weight.sum(dim=-1, keepdim=True)
        share = torch.where(total > 0, weight / total.clamp(min=1), 1 / shape.kinds)
        told = known.told[..., slots, :].expand(*share.shape[:-1], -1)
        slot = torch.eye(shape.slots, device=share.device)[slots].expand(*share.shape[:-1], -1)
        one = torch.ones_like(share[..., :1])
        rows = torch.cat([before, slot, share, share @ known.traits, told, one], dim=-1).transpose(-2, -3)
        weight = torch.cat([weights["decoder.input"], weights["decoder.bias"].unsqueeze(-2)], dim=-2)
        return _of_slots(rows, weight), share

    def _logits(
        self, weights: Parameters, known: CardConstraints, outs: torch.Tensor, share: torch.Tensor
    ) -> torch.Tensor:
        """[..., n, s, K] of the decoder's outputs, [..., s, n, hidden]."""
        both = torch.cat([weights["decoder.out"], weights["decoder.traits"]], dim=-1)
        bias = torch.cat([weights["decoder.out_bias"], weights["decoder.traits_bias"]], dim=-1)
        written = (_of_slots(outs, both) + bias[..., None, None, :]).transpose(-2, -3)
        logits, liking = written.split([self.shape.kinds, self.shape.traits], dim=-1)
        return logits + liking @ known.traits.mT + torch.log(share)


class Seq2Seq(Decoder):
    """An LSTM encoder and the decoder; `encoder.*` and `decoder.*` name their parameters."""

    def __init__(self, shape: Seq2SeqSizes):
        h, reads = shape.hidden, shape.features + shape.controls
        sizes: dict[str, tuple[int, ...]] = {
            f"encoder.{i}.input": (reads if i == 0 else h, 4 * h) for i in range(shape.layers)
        }
        sizes |= {f"encoder.{i}.state": (h, 4 * h) for i in range(shape.layers)}
        sizes |= {f"encoder.{i}.bias": (4 * h,) for i in range(shape.layers)}
        super().__init__(shape, sizes)

    def start(self, n: int) -> State:
        """The encoder's state before anything was seen."""
        zero = torch.zeros(n, self.shape.hidden, device=self.device)
        return tuple((zero, zero) for _ in range(self.shape.layers))

    def encode(self, weights: Parameters, emission: torch.Tensor, control: torch.Tensor | None, state: State) -> State:
        """One step. emission: [..., n, features]; control: int64 [..., n], -1 for none, or None where the network
        reads none.

        The summary of the history is the output of the last layer, `state[-1][0]`."""
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
        """float32 [T, n, hidden]: the summary at every position."""
        weights, state = self.weights(), self.start(games.emission.shape[1])
        found = []
        for emission, control in zip(games.emission, games.control):
            state = self.encode(weights, emission.float(), control, state)
            found.append(state[-1][0])
        return torch.stack(found)


def of_cards(log_probs: torch.Tensor, cards: torch.Tensor) -> torch.Tensor:
    """float32 [..., S]: what log_probs, [..., S, K], says of these cards, int64 [..., S]; 0 where there is none, -1."""
    found = log_probs.gather(-1, cards.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return torch.where(cards >= 0, found, torch.zeros_like(found))


def mean_loss(log_probs: torch.Tensor, cards: torch.Tensor) -> torch.Tensor:
    """float32 [...]: cross entropy per card of each world, in nats."""
    return -of_cards(log_probs, cards).sum(dim=-1) / (cards >= 0).sum(dim=-1).clamp(min=1)


def _of_slots(rows: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """[..., s, n, a] times [..., a, b], as one matrix a network."""
    return (rows.flatten(-3, -2) @ weight).unflatten(-2, rows.shape[-3:-1])


def one_hot(index: torch.Tensor, n: int, dtype: torch.dtype) -> torch.Tensor:
    """[..., n]: 1 at the index, nowhere for -1."""
    return (index.unsqueeze(-1) == torch.arange(n, device=index.device)).to(dtype)
