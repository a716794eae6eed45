"""Belief estimators of Hanabi behind one interface, for many games in step. None reads a hidden card of the tables it
is given.

`log_probs(hidden)` is float [G, S, K]: the logarithm of what each slot is believed to hold. Networks and the exact
belief say it given the cards before it in the hand, `hidden`; beliefs that take each card by itself do not look at
them."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch

from trickformer.belief.hanabi import factored
from trickformer.belief.hanabi.counting import counting
from trickformer.belief.hanabi.exact import HandListBelief
from trickformer.belief.hanabi.finetune import FilterState, FineTunedBelief, Finetuning
from trickformer.belief.hanabi.learned import Seq2Seq
from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables, policy_given_hands
from trickformer.belief.hanabi.seat_tokens import SeatTokens
from trickformer.belief.hanabi.transformer import Transformer


class Estimator(Protocol):
    """A belief over the hidden cards of G games."""

    def begin(self, x: Tables) -> None:
        """The first positions."""
        ...

    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None:
        """A move at every table: controls as HanabiProcess has them, and the actions, int64 [G]."""
        ...

    def keep(self, rows: np.ndarray) -> None:
        """Go on with these games alone; the others are over. What is followed is replaced, not changed: a shallow copy
        may keep others."""
        ...

    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        """float [G, S, K]; NaN where the estimator has no belief. hidden: int8 [G, S]."""
        ...

    def notes(self) -> dict[str, Any]:
        """What else there is to say of all games so far."""
        ...


@runtime_checkable
class HandWriter(Protocol):
    """An estimator that draws whole hands by itself, faster than card by card from `log_probs`."""

    def write(self, n: int, seed: int) -> np.ndarray:
        """int8 [G, n, S]: n worlds of each game; some may be impossible."""
        ...


class V0:
    """Counting, each card by itself."""

    def __init__(self, process: HanabiProcess):
        self._process = process
        self._x: Tables | None = None

    def begin(self, x: Tables) -> None:
        """See Estimator."""
        self._x = x

    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None:
        """See Estimator."""
        self._x = after

    def keep(self, rows: np.ndarray) -> None:
        """See Estimator."""
        assert self._x is not None
        self._x = self._x.take(rows)

    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        """See Estimator."""
        return torch.log(self.belief()).numpy()

    def notes(self) -> dict[str, Any]:
        """See Estimator."""
        return {}

    def belief(self) -> torch.Tensor:
        """float64 [G, S, K]."""
        return factored.v0(*self._card_constraints())

    def _card_constraints(self) -> tuple[torch.Tensor, torch.Tensor]:
        assert self._x is not None
        possible, counts = self._process.card_constraints(self._x)
        return torch.from_numpy(counts).double(), torch.from_numpy(possible)


class CountingEstimator(V0):
    """Counting, all cards together: uniform over the deals that explain what was seen."""

    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        """See Estimator."""
        assert self._x is not None
        possible, counts = self._process.card_constraints(self._x)
        with np.errstate(divide="ignore"):
            return np.log(counting(counts, possible, hidden))


class V1(V0):
    """Self-consistent: the other slots' expected cards are taken from the counts."""

    def __init__(self, process: HanabiProcess, iterations: int = 200, damping: float = 0.8):
        super().__init__(process)
        self._iterations, self._damping = iterations, damping
        self._asked = self._not_reached = 0
        self._change = 0.0

    def belief(self) -> torch.Tensor:
        """float64 [G, S, K]."""
        return self._solve_fixed_point(None)

    def notes(self) -> dict[str, Any]:
        """Of all so far: fixed points asked for, those not reached, and the largest change in a last iteration."""
        return {"fixed_points": self._asked, "not_reached": self._not_reached, "last_change": self._change}

    def _solve_fixed_point(self, likelihood: torch.Tensor | None) -> torch.Tensor:
        counts, possible = self._card_constraints()
        fixed = factored.self_consistent(
            counts, possible, likelihood, iterations=self._iterations, damping=self._damping
        )
        last = fixed.change[-1]
        self._asked += len(last)
        self._not_reached += int((last > factored.TOLERANCE).sum())
        self._change = max(self._change, float(last.max()))
        return fixed.belief


class V2(V1):
    """The Bayesian belief BB with some of V1: likelihoods of what was done enter slot by slot.

    The likelihood of a move, were a slot to hold kind k, is the mean of the mover's probability over `samples` draws
    of the other slots from the belief before (the expectation of BAD, its equation for marginals, by sampling). alpha
    = 0: BB itself."""

    def __init__(self, process: HanabiProcess, alpha: float, samples: int, seed: int, damping: float = 0.8):
        super().__init__(process, damping=damping)
        self._alpha, self._samples = alpha, samples
        self._rng = np.random.default_rng(seed)
        self._likelihood = torch.empty(0)

    def begin(self, x: Tables) -> None:
        """See Estimator."""
        super().begin(x)
        self._likelihood = torch.ones(len(x), self._process.slots, self._process.rules.kinds, dtype=torch.float64)

    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None:
        """See Estimator."""
        told = self.move_likelihoods(before, control, actions)
        likelihood = self._likelihood * (told / told.amax(dim=-1, keepdim=True).clamp(min=1e-30))
        self._likelihood = shift_likelihoods(self._process, likelihood, before, actions)
        super().observe(before, control, actions, after)

    def keep(self, rows: np.ndarray) -> None:
        """See Estimator."""
        super().keep(rows)
        self._likelihood = self._likelihood[torch.from_numpy(rows)]

    def belief(self) -> torch.Tensor:
        """float64 [G, S, K]."""
        bayesian = self._solve_fixed_point(self._likelihood)
        return factored.v2(bayesian, self._solve_fixed_point(None), self._alpha) if self._alpha else bayesian

    def move_likelihoods(self, before: Tables, control: np.ndarray | None, actions: np.ndarray) -> torch.Tensor:
        """Compute how likely each move was for every kind in every slot that the mover sees, by the belief before it.

        Args:
            before: The G tables before the move, at which this estimator stands.
            control: Controls as HanabiProcess has them.
            actions: The moves, int64 [G].

        Returns:
            float64 [G, S, K]; 1 in slots of which the move says nothing.
        """
        p, hand, kinds, n = self._process, self._process.rules.hand, self._process.rules.kinds, self._samples
        belief = self.belief().numpy()
        told = np.ones(belief.shape)
        policies = p.acting_policy(before, control)
        for g, seat in enumerate(before.current()):
            if seat < 0 or (p.form is Form.POMDP and seat == p.seat):
                continue
            for block, owner in enumerate(p.owners):
                slots = [block * hand + i for i in range(hand) if belief[g, block * hand + i].any()]
                if owner == seat or not slots:
                    continue
                drawn = np.stack(
                    [self._rng.choice(kinds, n, p=belief[g, s] / belief[g, s].sum()) for s in slots], axis=1
                )
                worlds, asked = [], []
                for i, s in enumerate(slots):
                    for k in np.flatnonzero(belief[g, s]):
                        worlds.append(np.where(np.arange(len(slots)) == i, k, drawn))
                        asked.append((s, k))
                dealt = np.full((len(worlds) * n, p.rules.players, hand), -1, dtype=np.int8)
                dealt[:, owner, : len(slots)] = np.concatenate(worlds)
                probs = (
                    policy_given_hands(before, g, dealt, policies[g])[:, actions[g]]
                    .reshape(len(worlds), n)
                    .mean(axis=1)
                )
                if not probs.any():
                    continue  # no world that was drawn leads to the move: nothing is known of its likelihoods
                # One more draw of the mean kind: where none of n draws of the other slots leads to the move, some may.
                for (s, k), likely in zip(asked, (n * probs + probs.mean()) / (n + 1)):
                    told[g, s, k] = likely
        return torch.from_numpy(told)


def shift_likelihoods(
    process: HanabiProcess, likelihood: torch.Tensor, before: Tables, actions: np.ndarray
) -> torch.Tensor:
    """Move likelihoods along with their cards: a card played or discarded leaves its slot, those after it move up.

    Args:
        process: Whose slots they are.
        likelihood: float64 [G, S, K], before the move.
        before: The G tables before the move.
        actions: The moves, int64 [G].

    Returns:
        float64 [G, S, K]; 1 in the slot of a new card.
    """
    moved, hand = likelihood.clone(), process.rules.hand
    for g, (seat, action) in enumerate(zip(before.current(), actions)):
        if seat < 0 or action >= 2 * hand or seat not in process.owners:
            continue
        first, slot = process.owners.index(seat) * hand, int(action) % hand
        moved[g, first + slot : first + hand - 1] = likelihood[g, first + slot + 1 : first + hand]
        moved[g, first + hand - 1] = 1.0
    return moved


class Recurrent:
    """A Seq2Seq belief with its offline parameters."""

    def __init__(self, process: HanabiProcess, model: Seq2Seq):
        self._process, self._model = process, model
        self._weights = {name: w.detach() for name, w in model.weights().items()}

    def begin(self, x: Tables) -> None:
        """See Estimator."""
        self._state = self._model.start(len(x))
        self._read(x, np.full(len(x), -1, dtype=np.int64))

    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None:
        """See Estimator."""
        self._read(after, control)

    def keep(self, rows: np.ndarray) -> None:
        """See Estimator."""
        at = torch.from_numpy(rows).to(self._model.device)
        self._x = self._x.take(rows)
        self._state = tuple((out[at], cell[at]) for out, cell in self._state)

    @torch.no_grad()
    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        """See Estimator."""
        known = self._process.tensors(self._x, self._model.device)
        cards = torch.from_numpy(hidden.astype(np.int64)).to(self._model.device)
        return self._model.log_probs(self._weights, self._state[-1][0], known, cards).cpu().numpy()

    def write(self, n: int, seed: int) -> np.ndarray:
        """See Writer."""
        generator = torch.Generator(self._model.device).manual_seed(seed)
        known = self._process.tensors(self._x, self._model.device)[:, None]
        summary = self._state[-1][0].unsqueeze(1).expand(-1, n, -1)
        return self._model.sample(self._weights, summary, known, generator).cpu().numpy().astype(np.int8)

    def notes(self) -> dict[str, Any]:
        """See Estimator."""
        return {}

    def _read(self, x: Tables, control: np.ndarray | None) -> None:
        self._x = x
        device = self._model.device
        read = torch.from_numpy(control).to(device) if self._model.shape.controls and control is not None else None
        emission = torch.from_numpy(self._process.emission(x)).to(device)
        self._state = self._model.encode(self._weights, emission, read, self._state)


class TransformerEstimator:
    """The belief of a transformer, which reads the whole sequence anew at every position."""

    def __init__(self, process: HanabiProcess, model: Transformer):
        self._process, self._model = process, model
        self._weights = {name: w.detach() for name, w in model.weights().items()}

    def begin(self, x: Tables) -> None:
        """See Estimator."""
        self._x, self._sequences = x, SeatTokens(self._process, x)

    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None:
        """See Estimator."""
        self._x = after
        self._sequences.move(before, actions, after)

    def keep(self, rows: np.ndarray) -> None:
        """See Estimator."""
        self._x = self._x.take(rows)
        self._sequences = self._sequences.take(rows)

    @torch.no_grad()
    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        """See Estimator."""
        seen, device = self._sequences, self._model.device
        tokens = torch.from_numpy(seen.tokens[:, : seen.lengths.max()]).to(device)
        summary = self._model.read(tokens, torch.from_numpy(seen.lengths - 1).to(device))
        known, cards = self._process.tensors(self._x, device), torch.from_numpy(hidden.astype(np.int64)).to(device)
        return self._model.log_probs(self._weights, summary, known, cards).cpu().numpy()

    def notes(self) -> dict[str, Any]:
        """See Estimator."""
        return {}


class BFT:
    """A Seq2Seq belief that is fine-tuned at every step."""

    def __init__(self, process: HanabiProcess, model: Seq2Seq, tuning: Finetuning, seed: int):
        self._belief = FineTunedBelief(model, process, tuning, seed)
        self._step: FilterState | None = None

    def begin(self, x: Tables) -> None:
        """See Estimator."""
        self._step = self._belief.begin(x)

    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None:
        """See Estimator."""
        assert self._step is not None
        self._step = self._belief.observe(self._step, control, after)

    def keep(self, rows: np.ndarray) -> None:
        """See Estimator."""
        assert self._step is not None
        self._step = self._step.keep(rows)

    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        """See Estimator."""
        assert self._step is not None
        return self._belief.log_probs(self._step, hidden)

    def write(self, n: int, seed: int) -> np.ndarray:
        """See Writer."""
        assert self._step is not None
        return self._belief.sample(self._step, n, seed)

    def notes(self) -> dict[str, Any]:
        """Worlds drawn, those of them that could not be, and steps of a game without any."""
        b = self._belief
        return {"worlds": b.drawn, "infeasible_worlds": b.infeasible, "steps_without_worlds": b.failed}


class ExactEstimator:
    """The exact belief, where hands are few enough to list; each card given those before it."""

    def __init__(self, process: HanabiProcess, limit: int, pairs: int):
        self._process, self._limit, self._pairs = process, limit, pairs
        self._games: list[HandListBelief] = []

    def begin(self, x: Tables) -> None:
        """See Estimator."""
        self._games = [HandListBelief(self._process, self._limit, self._pairs) for _ in range(len(x))]
        for i, game in enumerate(self._games):
            game.begin(_row(x, i))

    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None:
        """See Estimator."""
        for i, game in enumerate(self._games):
            z = None if control is None else control[i : i + 1]
            game.observe(_row(before, i), z, int(actions[i]), _row(after, i))

    def keep(self, rows: np.ndarray) -> None:
        """See Estimator."""
        self._games = [self._games[i] for i in rows]

    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        """See Estimator; NaN where the hands are too many to list."""
        found = np.full((*hidden.shape, self._process.rules.kinds), np.nan)
        for i, game in enumerate(self._games):
            if (listed := game.distribution()) is None:
                continue
            hands, log_p = listed
            for s, card in enumerate(hidden[i]):
                if card < 0:
                    continue
                p = np.bincount(hands[:, s], np.exp(log_p), self._process.rules.kinds)
                if not p.any():  # the cards before this one cannot be: no belief, but none that it is too large for
                    found[i, s] = -np.inf
                    continue
                with np.errstate(divide="ignore"):
                    found[i, s] = np.log(p / p.sum())
                keep = hands[:, s] == card
                hands, log_p = hands[keep], log_p[keep]
        return found

    def notes(self) -> dict[str, Any]:
        """See Estimator."""
        return {}


def _row(x: Tables, i: int) -> Tables:
    return x.take(np.array([i]))
