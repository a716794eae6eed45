"""Networks of off-belief learning, which compute action values of Hanabi from observations, and their checkpoints.

An observation here is OpenSpiel's vector of all that a seat sees before one move (cpp/hanabi/observation.hpp). One kind
of network only reads the current observation. The other is the public LSTM of "Off-Belief Learning" (section 6; from
"Learned Belief Search", Hu, Lerer, Brown & Foerster 2021). An LSTM reads the public part of all observations, separate
layers read the seat's current observation, and the head reads the product of both. Both kinds have a dueling head (Wang
et al. 2016).

A network of the simplified action decoder (SAD; Hu & Foerster 2020) also reads the greedy action of the seat that moved
last, besides its move. Outside training nobody explores, so the two are the same.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.games.hanabi import RULES, core_options
from trickformer.models.hanabi_observation import Layout, card_probabilities
from trickformer.models.kinds import HANABI_VALUES
from trickformer.models.weights import must_be_finite
from trickformer.plumbing.files import replace, whole
from trickformer.plumbing.text import json_object, read_text

CONFIG, WEIGHTS = "config.json", "model.safetensors"  # files of a checkpoint
_LSTM_LAYERS = 2
_MOST_UNITS, _MOST_LAYERS = 65_536, 64  # largest sizes that a config may have
_MOST_TEMPERATURE = 100
_ROWS = 512  # multiple to which rows are padded in bfloat16, because oneDNN compiles a kernel for each new shape
ANSWERS = 3  # classes of a card in the auxiliary task: it can be played, it was played before, neither
# Part of the last move that a network reads: the move as seen, the greedy action too, or nothing.
Last = Literal["seen", "greedy", "hidden"]


@dataclass(frozen=True, slots=True)
class NetworkSizes:
    """Sizes of a network's inputs, layers and outputs. A checkpoint's config holds these names."""

    seen: int  # entries of an observation as the network reads it; with last="greedy" the greedy action too
    hands: int  # number of entries at the start, which show the others' hands; the entries after them are public
    actions: int
    hidden: int  # units of a layer
    layers: int  # number of layers that read the observation
    recurrent: bool  # whether the network has an LSTM
    layout: Layout  # layout of the observation
    odds: bool = False  # whether the probabilities of `card_probabilities` are an input
    last: Last = "seen"
    cards: bool = False  # whether the network also predicts the classes of own cards, as an auxiliary target

    @classmethod
    def for_rules(
        cls,
        rules: _core.hanabi.Rules,
        hidden: int,
        layers: int,
        recurrent: bool,
        odds: bool = False,
        last: Last = "seen",
        cards: bool = False,
    ) -> NetworkSizes:
        """Compute the sizes of a network for a game's rules.

        Args:
            rules: The rules.
            hidden: Units of a layer.
            layers: Number of layers that read the observation.
            recurrent: Whether the network has an LSTM.
            odds: Whether the probabilities of `card_probabilities` are an input.
            last: Part of the last move that the network reads.
            cards: Whether the network also predicts the classes of own cards.
        """
        hands, layout = (rules.players - 1) * rules.hand * rules.kinds, Layout.for_rules(rules)
        seen = rules.observation + (layout.last.stop - layout.last.start if last == "greedy" else 0)
        return cls(seen, hands, rules.actions, hidden, layers, recurrent, layout, odds, last, cards)


class ActionValues(nn.Module):
    """Network for the value of each action: the points that the team still gains if the seat on turn takes it.

    For a seat that is not on turn the network estimates the value of waiting: the points that the team still gains, as
    this seat expects before the seat on turn moves.
    """

    def __init__(self, sizes: NetworkSizes):
        super().__init__()
        self.sizes = sizes
        self.rounded = False  # whether the private layers compute in bfloat16; heads and LSTM keep float32
        n_probabilities = sizes.layout.n_probabilities if sizes.odds else 0
        widths = [sizes.seen + n_probabilities] + [sizes.hidden] * sizes.layers
        self.private = nn.Sequential(*(layer for a, b in pairwise(widths) for layer in (nn.Linear(a, b), nn.ReLU())))
        if sizes.recurrent:
            self.public = nn.Sequential(nn.Linear(sizes.seen - sizes.hands, sizes.hidden), nn.ReLU())
            self.lstm = nn.LSTM(sizes.hidden, sizes.hidden, _LSTM_LAYERS)
        self.worth = nn.Linear(sizes.hidden, 1)  # state value of the dueling head; checkpoints have this name
        self.advantage = nn.Linear(sizes.hidden, sizes.actions)
        self.waiting = nn.Linear(sizes.hidden, 1)
        if sizes.cards:
            self.cards = nn.Linear(sizes.hidden, sizes.layout.slots * ANSWERS)

    def memory(self, n: int) -> torch.Tensor:
        """Return the LSTM's state before the first move.

        Args:
            n: Number of seats.

        Returns:
            float32 [n, 2, LSTM layers, hidden]: the hidden and the cell state. Without an LSTM it has no layers.
        """
        layers = _LSTM_LAYERS if self.sizes.recurrent else 0
        return torch.zeros(n, 2, layers, self.sizes.hidden, device=self.worth.weight.device)

    def read(self, observations: torch.Tensor) -> torch.Tensor:
        """Convert observations to the network's input.

        Args:
            observations: float32 [..., observation], with or without the greedy action at the end. Without it the last
                move is taken as the greedy action.

        Returns:
            float32 [..., sizes.seen].
        """
        last = self.sizes.layout.last
        if self.sizes.last == "hidden":
            before, after = observations[..., : last.start], observations[..., last.stop :]
            return torch.cat([before, torch.zeros_like(observations[..., last]), after], -1)
        if self.sizes.last == "greedy" and observations.shape[-1] < self.sizes.seen:
            return torch.cat([observations, observations[..., last]], -1)
        return observations

    def contexts(self, observations: torch.Tensor, memory: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Run the LSTM on the public part of T consecutive observations.

        Args:
            observations: float32 [T, n, ...], as in `read`.
            memory: State before them, see `memory`.

        Returns:
            Factors of the private layers' output, float32 [T, n, hidden], and the state after the observations. Without
            an LSTM all factors are 1.
        """
        if not self.sizes.recurrent:
            return observations.new_ones(()).expand(*observations.shape[:2], 1), memory
        states = memory.permute(1, 2, 0, 3).contiguous()
        out, after = self.lstm(self.public(self.read(observations)[..., self.sizes.hands :]), (states[0], states[1]))
        return out, torch.stack(after).permute(2, 0, 1, 3)

    def units(self, observations: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        """Compute the last hidden layer; all outputs are linear functions of it.

        Args:
            observations: float32 [n, ...], as in `read`.
            context: Factors from `contexts`, float32 [n, hidden].

        Returns:
            float32 [n, hidden].
        """
        inputs = self.read(observations)
        columns = [inputs, card_probabilities(self.sizes.layout, inputs)] if self.sizes.odds else [inputs]
        x = self._private_in_bfloat16(columns) if self.rounded else self.private(torch.cat(columns, 1))
        return x * context if self.sizes.recurrent else x

    def _private_in_bfloat16(self, columns: list[torch.Tensor]) -> torch.Tensor:
        """Run the private layers in bfloat16 on inputs given by columns; float32 [n, hidden]."""
        n, widths = len(columns[0]), [part.shape[1] for part in columns]
        x = columns[0].new_empty(-(-n // _ROWS) * _ROWS, sum(widths), dtype=torch.bfloat16)
        x[n:] = 0
        for part, place in zip(columns, x[:n].split(widths, 1)):
            place.copy_(part)
        with torch.autocast(x.device.type, torch.bfloat16):
            return self.private(x)[:n].float()

    def values(self, x: torch.Tensor, legal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Compute the values from the last hidden layer.

        Args:
            x: float32 [n, hidden].
            legal: bool [n, actions], all False if another seat is on turn.

        Returns:
            Values of the actions, float32 [n, actions], and of waiting, float32 [n].
        """
        state_value, advantage = self.worth(x), self.advantage(x)
        mean = (advantage * legal).sum(1, keepdim=True) / legal.sum(1, keepdim=True).clamp(min=1)
        return state_value + advantage - mean, self.waiting(x).squeeze(1)

    def forward(
        self, observations: torch.Tensor, context: torch.Tensor, legal: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Compute the values of observations.

        Args:
            observations: As in `units`.
            context: As in `units`.
            legal: As in `values`.

        Returns:
            As `values`.
        """
        return self.values(self.units(observations, context), legal)


def action_values(model: ActionValues, observations: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Compute a network's action values from the present observations, without a memory of earlier moves.

    Args:
        model: The network.
        observations: Observations of the seats on turn at n tables, [n, features].
        legal: Legal actions, bool [n, A].

    Returns:
        float [n, A].
    """
    contexts, _ = model.contexts(observations[None], model.memory(len(observations)))
    return model(observations, contexts[0], legal)[0]


def best(q: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Choose the legal action with the highest value, the first if several are equal; 0 if none is legal.

    Args:
        q: float [n, actions].
        legal: bool [n, actions].

    Returns:
        int64 [n].
    """
    return q.masked_fill(~legal, -torch.inf).argmax(1)


def sample_actions(q: torch.Tensor, legal: torch.Tensor, temperature: float, rng: np.random.Generator) -> torch.Tensor:
    """Draw an action from the softmax of the values over the legal actions.

    Args:
        q: float [n, actions], in points.
        legal: bool [n, actions].
        temperature: Temperature in points; 0 chooses the best action.
        rng: Generator of the draws.

    Returns:
        int64 [n]; 0 if no action is legal.
    """
    if temperature == 0:
        return best(q, legal)
    # The maximum of values with Gumbel noise is a draw from their softmax.
    noise = torch.from_numpy(rng.gumbel(size=tuple(q.shape)).astype(np.float32)).to(q.device)
    return best(q / temperature + noise, legal)


def any_legal(legal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a uniformly random legal action; 0 if none is legal.

    Args:
        legal: bool [n, actions].
        rng: Generator of the draws.

    Returns:
        int64 [n].
    """
    return (rng.random(legal.shape) * legal).argmax(axis=1)


def probabilities(q: torch.Tensor, legal: torch.Tensor, temperature: float, slip: float = 0.0) -> torch.Tensor:
    """Compute the probabilities with which `sample_actions` takes each action.

    Args:
        q: float [n, actions], in points.
        legal: bool [n, actions].
        temperature: Temperature in points.
        slip: Share of moves that are uniformly random.

    Returns:
        float [n, actions]; all 0 if no action is legal.
    """
    if temperature == 0:
        policy = nn.functional.one_hot(best(q, legal), q.shape[1]) * legal
    else:
        policy = (q / temperature).masked_fill(~legal, -torch.inf).softmax(1).nan_to_num(0.0)
    return (1 - slip) * policy + slip * legal / legal.sum(1, keepdim=True).clamp(min=1)


def expected_value(q: torch.Tensor, selection_q: torch.Tensor, legal: torch.Tensor, temperature: float) -> torch.Tensor:
    """Compute the mean value of the action that `sample_actions` would draw.

    With the values of two networks it is the target of double Q-learning (van Hasselt, Guez & Silver 2016).

    Args:
        q: float32 [n, actions], the values to average.
        selection_q: float32 [n, actions], the values by which the action is drawn.
        legal: bool [n, actions].
        temperature: Temperature in points.

    Returns:
        float32 [n]; 0 if no action is legal.
    """
    return (probabilities(selection_q, legal, temperature) * q).sum(1)


@dataclass(frozen=True, slots=True)
class HanabiCheckpoint:
    """A network, its rules and the settings of its training."""

    model: ActionValues
    rules: _core.hanabi.Rules
    v0: bool  # whether its observations hold V0 beliefs (belief/hanabi/factored.py) instead of possible kinds
    temperature: float  # temperature of its policy, in points
    about: dict[str, Any]  # settings of the training

    @property
    def is_imitation(self) -> bool:
        """True if its outputs are logits of an imitated policy instead of values."""
        return self.about.get("method") == "clone"

    def require_rules(self, rules: _core.hanabi.Rules, name: str) -> HanabiCheckpoint:
        """Return the checkpoint itself if it is for a game of these rules.

        Args:
            rules: The rules.
            name: Name of the checkpoint, for the error.

        Raises:
            TrickformerError: It was trained on other rules.
        """
        for option, field in RULES.items():
            own, other = getattr(self.rules, field), getattr(rules, field)
            if own != other:
                raise TrickformerError(f"checkpoint {name} was trained on hanabi with {option}={own}, not {other}")
        return self


def save(trained: HanabiCheckpoint, out: Path) -> None:
    """Write a checkpoint.

    Args:
        trained: The checkpoint.
        out: Its folder, which exists.

    Raises:
        TrickformerError: The disk refuses, or a weight is infinite or not a number.
    """
    weights = {name: w.detach().cpu().contiguous() for name, w in trained.model.state_dict().items()}
    must_be_finite({name: w.numpy() for name, w in weights.items()}, str(out))
    with whole(out / WEIGHTS) as draft:
        save_file(weights, draft)
    config = {
        "kind": HANABI_VALUES,
        "rules": core_options(trained.rules),
        "shape": asdict(trained.model.sizes),
        "v0": trained.v0,
        "temperature": trained.temperature,
        "about": trained.about,
    }
    replace(out / CONFIG, json.dumps(config, indent=2) + "\n")


def load(path: Path) -> HanabiCheckpoint:
    """Read a checkpoint.

    Args:
        path: Its folder.

    Raises:
        TrickformerError: The folder holds no checkpoint of Hanabi, or a damaged one.
    """
    try:
        config = json_object(read_text(path / CONFIG))
        if config.get("kind") != HANABI_VALUES:
            raise ValueError(f"{CONFIG} has the kind {config.get('kind')!r}, not {HANABI_VALUES!r}")
        rules, stored = _core.hanabi.Rules(**config["rules"]), dict[str, Any](config["shape"])
        # Checkpoints of old versions have no `odds`, and they have a `layout` if and only if odds are an input.
        stored.setdefault("odds", stored.pop("layout", None) is not None)
        sizes = NetworkSizes(layout=Layout.for_rules(rules), **stored)
        if sizes.last not in get_args(Last):
            raise ValueError(f"the value {sizes.last!r} of `last` is not one of {', '.join(get_args(Last))}")
        for name, size, most in (("units", sizes.hidden, _MOST_UNITS), ("layers", sizes.layers, _MOST_LAYERS)):
            if type(size) is not int or not 1 <= size <= most:
                raise ValueError(f"the network has {size!r} {name}, not 1 to {most:,}")
        expected = NetworkSizes.for_rules(
            rules,
            hidden=sizes.hidden,
            layers=sizes.layers,
            recurrent=sizes.recurrent,
            odds=sizes.odds,
            last=sizes.last,
            cards=sizes.cards,
        )
        if sizes != expected:
            raise ValueError(f"the shape in {CONFIG} does not fit its rules")
        with torch.device("meta"):
            model = ActionValues(sizes)
        v0, temperature = config["v0"], float(config["temperature"])
        if type(v0) is not bool:
            raise ValueError(f"v0 is {v0!r}, not true or false")
        if not 0 <= temperature <= _MOST_TEMPERATURE:
            raise ValueError(f"the temperature is {temperature}, not 0 to {_MOST_TEMPERATURE}")
        weights = {name: w.float() for name, w in load_file(path / WEIGHTS).items()}
        model.load_state_dict(weights, assign=True)
        must_be_finite({name: w.numpy() for name, w in weights.items()}, str(path))
        return HanabiCheckpoint(model.requires_grad_(False).eval(), rules, v0, temperature, dict(config["about"]))
    except (OSError, KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as e:
        raise TrickformerError(
            f"{path} is no checkpoint of `trickformer obl train`: {str(e).splitlines()[0]}"
        ) from None
