"""Belief fine-tuning (the paper's sections 3.3 and A.3): at every move a network learns from worlds near the present.

With X, Y and Z of `process`, decoder d, one encoder step e and the history's summary h, move t of each game has stages:

    1. X_i ~ d(e_prev(z[t-2], y[t-1], h[t-2])), worlds of the move before, by the parameters that were tuned then
    2. X'_i ~ dynamics(X_i, z[t-1])
    3. Y'_i ~ emission(X'_i)
    4. gradient steps on -log d(X'_i | e(z[t-1], Y'_i, h[t-1])), from the offline parameters

h comes from the offline parameters and stays fixed. So only the encoder's last step is tuned (part `encoder`), or the
decoder as well (part `full`). In the form fosg the network does not read the control, which enters in stage 2 only.
Many games are tuned at once, each with its own parameters in a stack.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
import torch

from trickformer.belief.hanabi.config import FineTuningOptions
from trickformer.belief.hanabi.learned import CardConstraints, Parameters, Seq2Seq, State, mean_loss
from trickformer.belief.hanabi.near import NearEncoder, gradient, squared_norm
from trickformer.belief.hanabi.process import HanabiProcess, Tables

CACHED = 2560  # worlds drawn at once, so that the data of a decoder step stay in a core's cache


@dataclass(frozen=True, slots=True)
class Finetuning:
    """Settings of the fine-tuning at each step.

    The paper takes 10,000 steps of the encoder with the offline learning rate. A small network gains more if all of it
    is tuned (the paper's Table 8).
    """

    steps: int = 100  # gradient steps
    batch: int = 32  # worlds in each
    worlds: int = 3200  # k of the paper: worlds drawn for each game and step, used in turn by the gradient steps
    learning_rate: float = 4e-3  # Adam's learning rate at the first gradient step
    part: Literal["encoder", "full"] = "full"
    bf16: bool = False  # matrix products of the gradient steps in bfloat16; parameters stay in float32
    fall: float = 0.05  # last learning rate as a share of the first, linear
    clip: float | None = None  # largest norm of each game's gradient


def tuning(config: FineTuningOptions, worlds: int | None = None) -> Finetuning:
    """Return the settings of a config.

    Without a number of worlds there is a fresh batch for each of the first 100 gradient steps. Beyond 333 steps there
    is a batch for three steps in ten, so that the network does not learn the worlds by heart.

    Args:
        config: Options of the fine-tuning.
        worlds: Worlds for each game and step; None: chosen by the number of steps.
    """
    n = worlds or max(1, min(config.steps, max(100, 3 * config.steps // 10)) * config.batch)
    shared = {f.name: getattr(config, f.name) for f in fields(Finetuning) if f.name != "worlds"}
    return Finetuning(worlds=n, **shared)


@dataclass(frozen=True, slots=True)
class FilterState:
    """The present position of G games, and the belief there."""

    tables: Tables
    known: CardConstraints  # [G, 1, ...]
    state: State  # encoder state by the offline parameters, after this step's emission; [G, hidden] each
    summary: torch.Tensor  # [G, 1, hidden], by the parameters tuned at this step
    decoder: Parameters  # decoder for the summary: the offline one, or a stack of G if the whole network is tuned

    def keep(self, rows: np.ndarray) -> FilterState:
        """Return the state of some of the games.

        Args:
            rows: Indices of the games.
        """
        at = torch.from_numpy(rows).to(self.summary.device)
        state = tuple((out[at], cell[at]) for out, cell in self.state)
        stacked = self.decoder["decoder.start"].dim() == 3
        decoder = {name: w[at] for name, w in self.decoder.items()} if stacked else self.decoder
        return FilterState(self.tables.take(rows), self.known[at], state, self.summary[at], decoder)


@dataclass(frozen=True, slots=True)
class NextWorlds:
    """W worlds of each of G games, one step further."""

    emission: torch.Tensor  # bool [G, W, features]
    cards: torch.Tensor  # int64 [G, W, S]
    known: CardConstraints  # [G, W, ...]
    usable: torch.Tensor  # bool [G]: whether the game has a feasible world


class FineTunedBelief:
    """Belief of a network that is fine-tuned at every step, for a batch of games in lockstep.

    No hidden card of the tables is read: worlds always replace the hidden cards. `drawn` counts the worlds drawn.
    `infeasible` counts those of them that were impossible; other worlds of the same game replaced them. A game without
    any feasible world keeps the offline parameters at that step; `failed` counts these cases.
    """

    def __init__(self, model: Seq2Seq, process: HanabiProcess, tuning: Finetuning, seed: int):
        """Prepare the fine-tuning.

        Args:
            model: Network trained offline.
            process: System whose games are followed.
            tuning: Settings of each step.
            seed: Seed of all randomness.
        """
        self._model = model
        self._process = process
        self._tuning = tuning
        self._offline = {name: w.detach() for name, w in model.weights().items()}
        self._device = model.device
        self._generator = torch.Generator(self._device).manual_seed(seed)
        self._rng = np.random.default_rng(seed)
        self.drawn = self.infeasible = self.failed = 0

    def begin(self, tables: Tables) -> FilterState:
        """Return the first step, at which nothing is tuned.

        Args:
            tables: G tables.
        """
        none = torch.full((len(tables),), -1, device=self._device)
        state = self._model.encode(self._offline, self._emission(tables), none, self._model.start(len(tables)))
        return FilterState(tables, self._card_constraints(tables), state, state[-1][0].unsqueeze(1), self._offline)

    def observe(self, before: FilterState, control: np.ndarray | None, after: Tables) -> FilterState:
        """Return the next step: draw worlds, move them one step further, tune, and read the real emission.

        Args:
            before: The step before.
            control: int64 [G], controls of the HanabiProcess; None in the form hmm.
            after: G tables after the move.
        """
        worlds = self.worlds(before, control)
        controls = self._tensor(control) if self._model.shape.controls and control is not None else None
        encoder, decoder = self.tune(worlds, controls, before.state)
        y = self._emission(after)
        state = self._model.encode(self._offline, y, controls, before.state)
        return FilterState(after, self._card_constraints(after), state, encoder.encode_emission(y), decoder)

    @torch.no_grad()
    def log_probs(self, step: FilterState, hidden: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability of each kind in each slot, given the cards before it.

        Args:
            step: The present step.
            hidden: int8 [G, S], hidden cards; -1 for a slot without a card.

        Returns:
            float32 [G, S, K].
        """
        cards = self._tensor(hidden.astype(np.int64)).unsqueeze(1)
        return self._model.log_probs(step.decoder, step.summary, step.known, cards).squeeze(1).cpu().numpy()

    def sample(self, step: FilterState, n: int, seed: int | None = None) -> np.ndarray:
        """Draw worlds from the belief.

        Args:
            step: The present step.
            n: Number of worlds of each game.
            seed: Seed of the draws; None: the belief's own generator.

        Returns:
            int8 [G, n, S].
        """
        generator = self._generator if seed is None else torch.Generator(self._device).manual_seed(seed)
        pieces = []
        piece = max(1, CACHED // len(step.tables)) if self._device.type == "cpu" else n
        for first in range(0, n, piece):
            summary = step.summary.expand(-1, min(piece, n - first), -1)
            with self._autocast():
                pieces.append(self._model.sample(step.decoder, summary, step.known, generator))
        return torch.cat(pieces, dim=1).cpu().numpy().astype(np.int8)

    def worlds(self, before: FilterState, control: np.ndarray | None) -> NextWorlds:
        """Draw worlds of the step before and move them one step further: steps 1 to 3 of the module.

        Args:
            before: The step before.
            control: int64 [G], controls of the HanabiProcess; None in the form hmm.
        """
        games, n = len(before.tables), self._tuning.worlds
        rows = np.repeat(np.arange(games), n)
        hidden = self.sample(before, n).reshape(games * n, -1)
        tables, feasible = self._process.worlds(before.tables, rows, hidden, int(self._rng.integers(2**63)))
        self.drawn += len(rows)
        self.infeasible += int((~feasible).sum())
        keep, usable = np.arange(games * n), torch.ones(games, dtype=torch.bool, device=self._device)
        for game, good in enumerate(feasible.reshape(games, n)):
            at = game * n + np.flatnonzero(good)
            if len(at) == 0:
                self.failed += 1
                usable[game] = False
            elif len(at) < n:
                keep[game * n + np.flatnonzero(~good)] = self._rng.choice(at, n - len(at))
        controls = None if control is None else np.repeat(control, n)
        tables, _ = self._process.move(tables.take(keep), controls, int(self._rng.integers(2**63)))
        known = self._process.tensors(tables, self._device)
        known = CardConstraints(*(_by_game(getattr(known, f.name), games) for f in fields(CardConstraints)))
        emission = self._tensor(self._process.emission(tables) != 0)
        cards = self._tensor(self._process.hidden_cards(tables).astype(np.int64))
        return NextWorlds(_by_game(emission, games), _by_game(cards, games), known, usable)

    def tune(self, worlds: NextWorlds, control: torch.Tensor | None, state: State) -> tuple[NearEncoder, Parameters]:
        """Tune the network of each game on its worlds.

        Args:
            worlds: Worlds of the present step.
            control: int64 [G], controls that the network reads, if it reads any.
            state: Encoder state of the step before, by the offline parameters.

        Returns:
            The encoders at this step, and the decoder: the offline one, or a stack with one for each game.
        """
        games, n = worlds.cards.shape[:2]
        size = min(self._tuning.batch, n)
        encoder = NearEncoder(self._model, self._offline, worlds.emission, control, state)
        decoder = self._offline
        if self._tuning.part == "full":
            decoder = {
                name: w.expand(games, *w.shape).clone().requires_grad_()
                for name, w in self._offline.items()
                if name.startswith("decoder")
            }
        tuned = [w for w in decoder.values() if w.requires_grad]
        adam = torch.optim.Adam([*encoder.parameters(), *tuned], lr=self._tuning.learning_rate, fused=True)
        # The small steps at the end bring much of the gain with a hundred steps, and little with thousands.
        fall = torch.optim.lr_scheduler.LinearLR(adam, 1.0, self._tuning.fall, max(1, self._tuning.steps))
        order = torch.empty(0, dtype=torch.int64, device=self._device)
        for _ in range(self._tuning.steps):
            if len(order) < size:
                order = torch.randperm(n, generator=self._generator, device=self._device)
            at, order = order[:size], order[size:]
            known, cards = worlds.known[:, at], worlds.cards[:, at]
            with self._autocast():
                log_probs = self._model.log_probs(decoder, encoder.worlds(at), known, cards)
                loss = mean_loss(log_probs, cards).mean(dim=1)
            adam.zero_grad(set_to_none=True)
            (loss * worlds.usable).sum().backward()  # a sum over games: each has its own gradient
            if self._tuning.clip is not None:
                _clip(encoder, tuned, self._tuning.clip)
            adam.step()
            fall.step()
        return encoder, {name: w.detach() for name, w in decoder.items()}

    def _emission(self, tables: Tables) -> torch.Tensor:
        return self._tensor(np.ascontiguousarray(self._process.emission(tables)))

    def _card_constraints(self, tables: Tables) -> CardConstraints:
        return self._process.tensors(tables, self._device)[:, None]

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values).to(self._device)

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self._device.type, torch.bfloat16, enabled=self._tuning.bf16)


def _clip(encoder: NearEncoder, decoder: list[torch.Tensor], most: float) -> None:
    """Shrink the gradients of games in which the norm over all weights is too large."""
    total = encoder.squared_norm() + (squared_norm(decoder) if decoder else 0)
    share = (most / total.sqrt().clamp(min=1e-6)).clamp(max=1)
    for w in (*encoder.parameters(), *decoder):
        gradient(w).mul_(share.view(-1, *(1,) * (w.dim() - 1)))


def _by_game(values: torch.Tensor, games: int) -> torch.Tensor:
    return values.reshape(games, -1, *values.shape[1:])
