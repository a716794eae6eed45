"""Action values of Hanabi from what a seat sees: the networks of off-belief learning, and the folders that hold them.

One kind reads the observation of the moment. The other is the public LSTM of "Off-Belief Learning" (section 6; from
"Learned Belief Search", Hu, Lerer, Brown & Foerster 2021): what everybody sees goes through an LSTM, what the seat sees
through layers of its own, and their product to the head. Both have a dueling head (Wang et al. 2016).

A network of the simplified action decoder (SAD; Hu & Foerster 2020) also reads the greedy action of whoever moved last,
beside the move that was made. Who plays does not explore, so that both are the same."""

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
from trickformer.games.hanabi import RULES, numbers
from trickformer.models.hanabi_odds import Layout, odds
from trickformer.models.weights import must_be_finite
from trickformer.plumbing.files import replace, whole
from trickformer.plumbing.text import json_object, read_text

CONFIG, WEIGHTS = "config.json", "model.safetensors"  # files of a checkpoint
_KIND = "hanabi action values"
_LSTM_LAYERS = 2
_MOST_UNITS, _MOST_LAYERS = 65_536, 64  # of a network: what a config may ask for
ANSWERS = 3  # to what a card is good for: it can be played, it was played before, neither
# What a network reads of the last move: what is seen, the greedy action beside it, or nothing.
Last = Literal["seen", "greedy", "hidden"]


@dataclass(frozen=True, slots=True)
class NetworkSizes:
    """What a network reads and says."""

    seen: int  # numbers of an observation, and of the greedy action after it
    hands: int  # the first ones, which show the others' hands; all others are public
    actions: int
    hidden: int  # units of a layer
    layers: int  # of what reads the observation
    recurrent: bool
    layout: Layout  # of the observation
    odds: bool = False  # whether odds are counted from it
    last: Last = "seen"
    cards: bool = False  # whether it also says what own cards are good for, for the sake of learning

    @classmethod
    def of(
        cls,
        rules: _core.hanabi.Rules,
        hidden: int,
        layers: int,
        recurrent: bool,
        odds: bool = False,
        last: Last = "seen",
        cards: bool = False,
    ) -> NetworkSizes:
        """Of a network that plays by these rules."""
        hands, layout = (rules.players - 1) * rules.hand * rules.kinds, Layout.of(rules)
        seen = rules.observation + (layout.last.stop - layout.last.start if last == "greedy" else 0)
        return cls(seen, hands, rules.actions, hidden, layers, recurrent, layout, odds, last, cards)


class ActionValues(nn.Module):
    """What each action is worth to the team from here on, in points, to a seat on turn; and what it is worth to wait,
    to a seat that is not."""

    def __init__(self, shape: NetworkSizes):
        super().__init__()
        self.shape = shape
        counted = shape.layout.odds if shape.odds else 0
        width = [shape.seen + counted] + [shape.hidden] * shape.layers
        self.private = nn.Sequential(*(part for a, b in pairwise(width) for part in (nn.Linear(a, b), nn.ReLU())))
        if shape.recurrent:
            self.public = nn.Sequential(nn.Linear(shape.seen - shape.hands, shape.hidden), nn.ReLU())
            self.lstm = nn.LSTM(shape.hidden, shape.hidden, _LSTM_LAYERS)
        self.worth = nn.Linear(shape.hidden, 1)
        self.advantage = nn.Linear(shape.hidden, shape.actions)
        self.waiting = nn.Linear(shape.hidden, 1)
        if shape.cards:
            self.cards = nn.Linear(shape.hidden, shape.layout.slots * ANSWERS)

    def memory(self, n: int) -> torch.Tensor:
        """What n seats remember before the first move: float32 [n, 2, layers, hidden], nothing without an LSTM."""
        layers = _LSTM_LAYERS if self.shape.recurrent else 0
        return torch.zeros(n, 2, layers, self.shape.hidden, device=self.worth.weight.device)

    def read(self, seen: torch.Tensor) -> torch.Tensor:
        """float32 [..., seen] of observations, float32 [..., observation], after which the greedy action may stand;
        where it does not, the last move was one."""
        last = self.shape.layout.last
        if self.shape.last == "hidden":
            return torch.cat([seen[..., : last.start], torch.zeros_like(seen[..., last]), seen[..., last.stop :]], -1)
        if self.shape.last == "greedy" and seen.shape[-1] < self.shape.seen:
            return torch.cat([seen, seen[..., last]], -1)
        return seen

    def contexts(self, seen: torch.Tensor, memory: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The public part of T observations in a row, as `read` takes them, [T, n, ...], and what was remembered before
        them: float32 [T, n, hidden], to be multiplied by what the seat itself sees, and what is remembered then."""
        if not self.shape.recurrent:
            return seen.new_ones(()).expand(len(seen), seen.shape[1], 1), memory
        states = memory.permute(1, 2, 0, 3).contiguous()
        found, (hidden, cell) = self.lstm(self.public(self.read(seen)[..., self.shape.hands :]), (states[0], states[1]))
        return found, torch.stack([hidden, cell]).permute(2, 0, 1, 3)

    def units(self, seen: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        """float32 [n, hidden], of which all that the network says is a linear function: of observations as `read` takes
        them, [n, ...], and the context of each."""
        seen = self.read(seen)
        if self.shape.odds:
            seen = torch.cat([seen, odds(self.shape.layout, seen)], 1)
        return self.private(seen) * context

    def values(self, x: torch.Tensor, legal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Units, float32 [n, hidden], and what is legal, bool [n, actions], nothing where another is on turn: float32
        [n, actions] and [n], the values of actions and of waiting."""
        worth, advantage = self.worth(x), self.advantage(x)
        mean = (advantage * legal).sum(1, keepdim=True) / legal.sum(1, keepdim=True).clamp(min=1)
        return worth + advantage - mean, self.waiting(x).squeeze(1)

    def forward(
        self, seen: torch.Tensor, context: torch.Tensor, legal: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The values of observations with their contexts, as `units` and `values` say."""
        return self.values(self.units(seen, context), legal)


def best(q: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """int64 [n]: the legal action of the highest value, the first of several; 0 where none is legal."""
    return q.masked_fill(~legal, -torch.inf).argmax(1)


def sample_actions(q: torch.Tensor, legal: torch.Tensor, temperature: float, rng: np.random.Generator) -> torch.Tensor:
    """int64 [n]: an action each, drawn from the softmax of the values at a temperature, in points; at 0 the best."""
    if temperature == 0:
        return best(q, legal)
    noise = torch.from_numpy(rng.gumbel(size=tuple(q.shape)).astype(np.float32)).to(q.device)
    return best(q / temperature + noise, legal)


def any_legal(legal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """int64 [n]: a uniformly random one of what is legal, bool [n, actions]; 0 where nothing is."""
    return (rng.random(legal.shape) * legal).argmax(axis=1)


def probabilities(q: torch.Tensor, legal: torch.Tensor, temperature: float, slip: float = 0.0) -> torch.Tensor:
    """[n, actions]: how likely `chosen` takes each action, if a share `slip` of moves is uniformly random beside; 0
    where none is legal."""
    if temperature == 0:
        odds = nn.functional.one_hot(best(q, legal), q.shape[1]) * legal
    else:
        odds = (q / temperature).masked_fill(~legal, -torch.inf).softmax(1).nan_to_num(0.0)
    return (1 - slip) * odds + slip * legal / legal.sum(1, keepdim=True).clamp(min=1)


def expected_value(q: torch.Tensor, by: torch.Tensor, legal: torch.Tensor, temperature: float) -> torch.Tensor:
    """float32 [n]: the mean value of what `chosen` does by the values `by`, float32 [n, actions]; 0 if none is legal.
    With those of two networks it is the target of double Q-learning (van Hasselt, Guez & Silver 2016)."""
    return (probabilities(by, legal, temperature) * q).sum(1)


@dataclass(frozen=True, slots=True)
class HanabiCheckpoint:
    """A network and what it was trained on."""

    model: ActionValues
    rules: _core.hanabi.Rules
    v0: bool  # whether observations hold V0 beliefs
    temperature: float  # of its policy, in points
    about: dict[str, Any]  # how it was trained

    @property
    def is_imitation(self) -> bool:
        """Whether what it says of actions are logits of a policy that it has seen, and no values."""
        return self.about.get("method") == "clone"

    def of(self, rules: _core.hanabi.Rules, name: str) -> HanabiCheckpoint:
        """The same, for a game of these rules. Raises TrickformerError where it was trained by others; name: of the
        checkpoint."""
        for option, field in RULES.items():
            known, given = getattr(self.rules, field), getattr(rules, field)
            if known != given:
                raise TrickformerError(f"checkpoint {name} was trained on hanabi with {option}={known}, not {given}")
        return self


def save(trained: HanabiCheckpoint, out: Path) -> None:
    """Writes the folder of a checkpoint, which exists. Raises TrickformerError where the disk does not take it."""
    weights = {name: w.detach().cpu().contiguous() for name, w in trained.model.state_dict().items()}
    with whole(out / WEIGHTS) as draft:
        save_file(weights, draft)
    said = {
        "kind": _KIND,
        "rules": numbers(trained.rules),
        "shape": asdict(trained.model.shape),
        "v0": trained.v0,
        "temperature": trained.temperature,
        "about": trained.about,
    }
    replace(out / CONFIG, json.dumps(said, indent=2) + "\n")


def load(path: Path) -> HanabiCheckpoint:
    """A checkpoint. Raises TrickformerError on a folder that holds none."""
    try:
        said = json_object(read_text(path / CONFIG))
        if said.get("kind") != _KIND:
            raise ValueError(f"its {CONFIG} is not one of {_KIND}")
        rules, sizes = _core.hanabi.Rules(**said["rules"]), dict[str, Any](said["shape"])
        # A layout once stood there only with odds, and was all that told of them.
        sizes.setdefault("odds", sizes.pop("layout", None) is not None)
        shape = NetworkSizes(layout=Layout.of(rules), **sizes)
        if shape.last not in get_args(Last):
            raise ValueError(f"it reads {shape.last!r} of the last move")
        for name, size, most in (("units", shape.hidden, _MOST_UNITS), ("layers", shape.layers, _MOST_LAYERS)):
            if type(size) is not int or not 1 <= size <= most:
                raise ValueError(f"it has {size!r} {name}; there may be {most:,}")
        settings = shape.hidden, shape.layers, shape.recurrent, shape.odds, shape.last, shape.cards
        if shape != NetworkSizes.of(rules, *settings):
            raise ValueError("its sizes are not those of its rules")
        with torch.device("meta"):
            model = ActionValues(shape)
        weights = load_file(path / WEIGHTS)
        model.load_state_dict(weights, assign=True)
        must_be_finite({name: w.float().numpy() for name, w in weights.items()}, str(path))
        return HanabiCheckpoint(
            model.requires_grad_(False).eval(), rules, bool(said["v0"]), float(said["temperature"]), dict(said["about"])
        )
    except (OSError, KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as e:
        raise TrickformerError(
            f"{path} is no checkpoint of `trickformer obl train`: {str(e).splitlines()[0]}"
        ) from None
