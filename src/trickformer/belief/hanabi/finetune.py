"""Belief fine-tuning (BFT paper, sections 3.3 and A.3): at each move, a network is tuned on worlds sampled for it.

X, Y and Z are the hidden state, the emission and the control of `process`. The decoder d gives the distribution of X.
The encoder e maps the last control, the last emission and its state h before them to the input of d. The parameters
that training gave are called offline. Move t of each game has four stages:

    1. X_i ~ d(e_prev(z[t-2], y[t-1], h[t-2])): sample worlds before the move, by the parameters tuned at move t - 1
    2. X'_i ~ dynamics(X_i, z[t-1]): apply a move in each world
    3. Y'_i ~ emission(X'_i)
    4. gradient steps on -log d(X'_i | e(z[t-1], Y'_i, h[t-1])), which start from the offline parameters

h is computed by the offline parameters and stays fixed. So only the encoder's last step is tuned (part `encoder`), or
the decoder too (part `full`). In the form fosg the network does not read the control, which then matters in stage 2
only. Many games are tuned at once. Each has its own parameters, which are stacked along a first dimension.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
import torch

from trickformer.belief.hanabi.config import FineTuningOptions
from trickformer.belief.hanabi.last_step import LastStepEncoder, gradient, squared_norm
from trickformer.belief.hanabi.learned import CardConstraints, Parameters, Seq2Seq, State, mean_loss
from trickformer.belief.hanabi.process import HanabiProcess, Tables

CACHED = 2560  # number of worlds sampled at once on a CPU, so that the data of a decoder step fit into its cache


@dataclass(frozen=True, slots=True)
class Finetuning:
    """Settings of the fine-tuning at each move.

    The paper makes 10,000 steps on the encoder with the learning rate of the training. A small network gains more if
    all of it is tuned (the paper's Table 8).
    """

    steps: int = 100  # number of gradient steps
    batch: int = 32  # number of worlds in a gradient step
    worlds: int = 3200  # number of worlds sampled for each game and move (k in the paper), split into batches
    learning_rate: float = 4e-3  # Adam's learning rate at the first gradient step
    part: Literal["encoder", "full"] = "full"
    bf16: bool = False  # compute matrix products in bfloat16; parameters stay in float32
    fall: float = 0.05  # share of the learning rate that is left after the last step; it falls linearly
    clip: float | None = None  # largest norm of each game's gradient


def tuning(config: FineTuningOptions, worlds: int | None = None) -> Finetuning:
    """Return the settings of a config.

    By default each gradient step has its own batch of worlds, up to 100 batches or 30% of the steps, whichever is more.
    Beyond that, batches are used several times. Their number grows with the steps, because the network would memorize
    few worlds.

    Args:
        config: Options of the fine-tuning.
        worlds: Number of worlds for each game and move; None: as described above.
    """
    n = worlds or max(1, min(config.steps, max(100, 3 * config.steps // 10)) * config.batch)
    shared = {f.name: getattr(config, f.name) for f in fields(Finetuning) if f.name != "worlds"}
    return Finetuning(worlds=n, **shared)


@dataclass(frozen=True, slots=True)
class FilterState:
    """The present position of G games, and the belief there."""

    tables: Tables
    known: CardConstraints  # [G, 1, ...]
    state: State  # encoder state by the offline parameters, after this position's emission; [G, hidden] each
    summary: torch.Tensor  # [G, 1, hidden], input of the decoder, by the parameters tuned at this position
    decoder: Parameters  # the offline decoder, or a stack of G decoders if the whole network is tuned

    def keep(self, rows: np.ndarray) -> FilterState:
        """Return the state of some of the games.

        Args:
            rows: Indices of the games.
        """
        indices = torch.from_numpy(rows).to(self.summary.device)
        state = tuple((out[indices], cell[indices]) for out, cell in self.state)
        is_stacked = self.decoder["decoder.start"].dim() == 3
        decoder = {name: w[indices] for name, w in self.decoder.items()} if is_stacked else self.decoder
        return FilterState(self.tables.take(rows), self.known[indices], state, self.summary[indices], decoder)


@dataclass(frozen=True, slots=True)
class NextWorlds:
    """W sampled worlds of each of G games, after the move."""

    emission: torch.Tensor  # bool [G, W, features]
    cards: torch.Tensor  # int64 [G, W, S]
    known: CardConstraints  # [G, W, ...]
    usable: torch.Tensor  # bool [G]: whether the game has a feasible world


class FineTunedBelief:
    """Belief by a network that is fine-tuned at every move, for a batch of games in lockstep.

    Sampled worlds replace the hidden cards of the tables, so no true hidden card is read.

    Attributes:
        drawn: Number of worlds sampled so far.
        infeasible: Number of these that were impossible. Other worlds of the same game replaced them.
        failed: Number of times that a game had no feasible world, and the offline parameters were used.
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
        """Return the state at the first position. Nothing is tuned there.

        Args:
            tables: G tables.
        """
        no_control = torch.full((len(tables),), -1, device=self._device)
        state = self._model.encode(self._offline, self._emission(tables), no_control, self._model.start(len(tables)))
        return FilterState(tables, self._card_constraints(tables), state, state[-1][0].unsqueeze(1), self._offline)

    def observe(self, before: FilterState, control: np.ndarray | None, after: Tables) -> FilterState:
        """Return the state after a move: tune the network on sampled worlds, then encode the real emission.

        Args:
            before: The state before the move.
            control: int64 [G], controls of the HanabiProcess; None in the form hmm.
            after: G tables after the move.
        """
        worlds = self.worlds(before, control)
        controls = self._tensor(control) if self._model.sizes.controls and control is not None else None
        encoder, decoder = self.tune(worlds, controls, before.state)
        emission = self._emission(after)
        state = self._model.encode(self._offline, emission, controls, before.state)
        return FilterState(after, self._card_constraints(after), state, encoder.encode_emission(emission), decoder)

    @torch.no_grad()
    def log_probs(self, state: FilterState, hidden: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability of each kind in each slot, given the cards before it.

        Args:
            state: The present state.
            hidden: int8 [G, S], hidden cards; -1 for a slot without a card.

        Returns:
            float32 [G, S, K].
        """
        cards = self._tensor(hidden.astype(np.int64)).unsqueeze(1)
        return self._model.log_probs(state.decoder, state.summary, state.known, cards).squeeze(1).cpu().numpy()

    def sample(self, state: FilterState, n: int, seed: int | None = None) -> np.ndarray:
        """Draw worlds from the belief.

        Args:
            state: The present state.
            n: Number of worlds of each game.
            seed: Seed of the draws; None: the belief's own generator is used.

        Returns:
            int8 [G, n, S].
        """
        generator = self._generator if seed is None else torch.Generator(self._device).manual_seed(seed)
        chunks = []
        size = max(1, CACHED // len(state.tables)) if self._device.type == "cpu" else n
        for first in range(0, n, size):
            summary = state.summary.expand(-1, min(size, n - first), -1)
            with self._autocast():
                chunks.append(self._model.sample(state.decoder, summary, state.known, generator))
        return torch.cat(chunks, dim=1).cpu().numpy().astype(np.int8)

    def worlds(self, before: FilterState, control: np.ndarray | None) -> NextWorlds:
        """Sample worlds before a move and apply the move in them: stages 1 to 3 in the docstring of the module.

        Args:
            before: The state before the move.
            control: int64 [G], controls of the HanabiProcess; None in the form hmm.
        """
        games, n = len(before.tables), self._tuning.worlds
        rows = np.repeat(np.arange(games), n)
        hidden = self.sample(before, n).reshape(games * n, -1)
        tables, feasible = self._process.worlds(before.tables, rows, hidden, int(self._rng.integers(2**63)))
        self.drawn += len(rows)
        self.infeasible += int((~feasible).sum())
        # Replace each infeasible world by a random feasible one of the same game.
        sources, usable = np.arange(games * n), torch.ones(games, dtype=torch.bool, device=self._device)
        for game, is_feasible in enumerate(feasible.reshape(games, n)):
            candidates = game * n + np.flatnonzero(is_feasible)
            if len(candidates) == 0:
                self.failed += 1
                usable[game] = False
            elif len(candidates) < n:
                replacements = self._rng.choice(candidates, n - len(candidates))
                sources[game * n + np.flatnonzero(~is_feasible)] = replacements
        controls = None if control is None else np.repeat(control, n)
        tables, _ = self._process.move(tables.take(sources), controls, int(self._rng.integers(2**63)))
        constraints = self._process.tensors(tables, self._device)
        parts = (_by_game(getattr(constraints, f.name), games) for f in fields(CardConstraints))
        emission = self._tensor(self._process.emission(tables) != 0)
        cards = self._tensor(self._process.hidden_cards(tables).astype(np.int64))
        return NextWorlds(_by_game(emission, games), _by_game(cards, games), CardConstraints(*parts), usable)

    def tune(
        self, worlds: NextWorlds, control: torch.Tensor | None, state: State
    ) -> tuple[LastStepEncoder, Parameters]:
        """Tune the network of each game on its worlds: stage 4 in the docstring of the module.

        Args:
            worlds: Worlds after the move.
            control: int64 [G]; None if the network reads no controls.
            state: Encoder state before the move, by the offline parameters.

        Returns:
            The tuned encoders, and the decoder: the offline one, or a stack with one for each game.
        """
        games, n = worlds.cards.shape[:2]
        size = min(self._tuning.batch, n)
        encoder = LastStepEncoder(self._model, self._offline, worlds.emission, control, state)
        decoder = self._offline
        if self._tuning.part == "full":
            decoder = {
                name: w.expand(games, *w.shape).clone().requires_grad_()
                for name, w in self._offline.items()
                if name.startswith("decoder")
            }
        decoder_weights = [w for w in decoder.values() if w.requires_grad]
        adam = torch.optim.Adam([*encoder.parameters(), *decoder_weights], lr=self._tuning.learning_rate, fused=True)
        # With a hundred steps, much of the gain comes from the low learning rate at the end; with thousands, little.
        schedule = torch.optim.lr_scheduler.LinearLR(adam, 1.0, self._tuning.fall, max(1, self._tuning.steps))
        order = torch.empty(0, dtype=torch.int64, device=self._device)
        for _ in range(self._tuning.steps):
            if len(order) < size:
                order = torch.randperm(n, generator=self._generator, device=self._device)
            batch, order = order[:size], order[size:]
            constraints, cards = worlds.known[:, batch], worlds.cards[:, batch]
            with self._autocast():
                log_probs = self._model.log_probs(decoder, encoder.worlds(batch), constraints, cards)
                loss = mean_loss(log_probs, cards).mean(dim=1)
            adam.zero_grad(set_to_none=True)
            (loss * worlds.usable).sum().backward()  # parameters are not shared, so each game gets its own gradient
            if self._tuning.clip is not None:
                _clip(encoder, decoder_weights, self._tuning.clip)
            adam.step()
            schedule.step()
        return encoder, {name: w.detach() for name, w in decoder.items()}

    def _emission(self, tables: Tables) -> torch.Tensor:
        return self._tensor(np.ascontiguousarray(self._process.emission(tables)))

    def _card_constraints(self, tables: Tables) -> CardConstraints:
        return self._process.tensors(tables, self._device)[:, None]

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values).to(self._device)

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self._device.type, torch.bfloat16, enabled=self._tuning.bf16)


def _clip(encoder: LastStepEncoder, decoder: list[torch.Tensor], largest: float) -> None:
    """Scale down the gradients of each game whose norm over all weights exceeds `largest`."""
    total = encoder.squared_norm() + (squared_norm(decoder) if decoder else 0)
    factor = (largest / total.sqrt().clamp(min=1e-6)).clamp(max=1)
    for w in (*encoder.parameters(), *decoder):
        gradient(w).mul_(factor.view(-1, *(1,) * (w.dim() - 1)))


def _by_game(values: torch.Tensor, games: int) -> torch.Tensor:
    """Reshape [G * W, ...] to [G, W, ...]."""
    return values.reshape(games, -1, *values.shape[1:])
