"""Belief estimators of Hanabi behind one interface, for G games in lockstep.

Tables contain the true cards, but no estimator reads a hidden one. S is the number of slots in the hidden hands, K the
number of kinds of card.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch

from trickformer.belief.hanabi import factored
from trickformer.belief.hanabi.counting import counting
from trickformer.belief.hanabi.exact import HandListBelief
from trickformer.belief.hanabi.finetune import FilterState, FineTunedBelief, Finetuning
from trickformer.belief.hanabi.learned import Seq2Seq
from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables
from trickformer.belief.hanabi.seat_tokens import SeatTokens
from trickformer.belief.hanabi.transformer import Transformer
from trickformer.belief.samplers import resample
from trickformer.belief.samplers.hanabi import NoConsistentHandError

_DAMPING = 0.8  # weight of the previous belief in each iteration to a fixed point


class Estimator(Protocol):
    """Belief over the hidden cards of G games."""

    def begin(self, x: Tables) -> None:
        """Start at the first positions.

        Args:
            x: The G tables.
        """
        ...

    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None:
        """Update the belief by a move at every table.

        Args:
            before: The G tables before the move.
            control: int64 [G], controls of the HanabiProcess; None in the form hmm.
            actions: int64 [G], the moves.
            after: The G tables after the move.
        """
        ...

    def keep(self, rows: np.ndarray) -> None:
        """Continue with some of the games and drop the others.

        Implementations replace their state and do not change it in place, so a shallow copy of the estimator stays
        valid.

        Args:
            rows: Indices of the games.
        """
        ...

    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability of each kind in each slot.

        The networks, the exact belief and counting of whole hands give the probabilities of a slot conditional on the
        cards in the slots before it, which they read from `hidden`. Beliefs that treat each slot separately ignore
        `hidden`.

        Args:
            hidden: int8 [G, S], the cards; -1 for a slot without a card.

        Returns:
            float [G, S, K]; NaN for a game of which the estimator has no belief. Slots without a card have no meaning.
        """
        ...

    def notes(self) -> dict[str, Any]:
        """Return statistics of the estimator itself over all games so far, by name."""
        ...


class WholeHandEstimator(Estimator, Protocol):
    """Estimator that samples whole hands."""

    def sample_hands(self, n: int, seed: int) -> np.ndarray:
        """Draw worlds of each game; some may be impossible.

        Args:
            n: Number of worlds of each game.
            seed: Seed of all randomness.

        Returns:
            int8 [G, n, S].
        """
        ...


class V0:
    """Estimator by counting that treats each slot separately (belief/hanabi/factored.py)."""

    def __init__(self, process: HanabiProcess):
        self._process = process
        self._x: Tables | None = None

    def begin(self, x: Tables) -> None:
        self._x = x

    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None:
        self._x = after

    def keep(self, rows: np.ndarray) -> None:
        assert self._x is not None
        self._x = self._x.take(rows)

    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        return torch.log(self.belief()).numpy()

    def notes(self) -> dict[str, Any]:
        return {}

    def belief(self) -> torch.Tensor:
        """Return the probability of each kind in each slot, float64 [G, S, K]."""
        return factored.v0(*self._card_constraints())

    def _card_constraints(self) -> tuple[torch.Tensor, torch.Tensor]:
        assert self._x is not None
        possible, counts = self._process.card_constraints(self._x)
        return torch.from_numpy(counts).double(), torch.from_numpy(possible)


class CountingEstimator(V0):
    """Estimator by counting all slots jointly: uniform over the deals that are consistent with what was seen."""

    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        assert self._x is not None
        possible, counts = self._process.card_constraints(self._x)
        with np.errstate(divide="ignore"):
            return np.log(counting(counts, possible, hidden))


class V1(V0):
    """Self-consistent estimator: a slot's counts exclude the cards that are expected in the other slots."""

    def __init__(self, process: HanabiProcess, iterations: int = 200):
        """Set the fixed-point iteration; see `factored.self_consistent`.

        Args:
            process: System whose games are followed.
            iterations: Largest number of iterations.
        """
        super().__init__(process)
        self._iterations = iterations
        self._asked = self._not_reached = 0  # fixed points computed so far, and those that did not converge
        self._change = 0.0  # largest change in the last iteration of any of them

    def belief(self) -> torch.Tensor:
        return self._solve_fixed_point(None)

    def notes(self) -> dict[str, Any]:
        """Return how many iterations ran and how many did not converge, and the largest change in a last step."""
        return {"fixed_points": self._asked, "not_reached": self._not_reached, "last_change": self._change}

    def _solve_fixed_point(self, likelihood: torch.Tensor | None) -> torch.Tensor:
        counts, possible = self._card_constraints()
        fixed = factored.self_consistent(counts, possible, likelihood, iterations=self._iterations, damping=_DAMPING)
        last = fixed.change[-1]
        self._asked += len(last)
        self._not_reached += int((last > factored.TOLERANCE).sum())
        self._change = max(self._change, float(last.max()))
        return fixed.belief


class V2(V1):
    """Mixture of V1 and the Bayesian belief BB, which also uses the likelihoods of the moves, slot by slot.

    To estimate a move's likelihood if a slot holds kind k, V2 draws the other slots `samples` times from the belief
    before the move. The estimate is the mean of the mover's probabilities of the move. This is a Monte Carlo estimate
    of the expectation in the marginal update of the Bayesian action decoder (BAD).
    """

    def __init__(self, process: HanabiProcess, alpha: float, samples: int, seed: int):
        """Set the mixture.

        Args:
            process: System whose games are followed.
            alpha: Weight of V1 in the mixture; 0: BB alone.
            samples: Number of draws of the other slots for each likelihood.
            seed: Seed of the draws.
        """
        super().__init__(process)
        self._alpha, self._samples = alpha, samples
        self._rng = np.random.default_rng(seed)
        self._likelihood = torch.empty(0)

    def begin(self, x: Tables) -> None:
        super().begin(x)
        self._likelihood = torch.ones(len(x), self._process.slots, self._process.rules.kinds, dtype=torch.float64)

    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None:
        factor = self.move_likelihoods(before, control, actions)
        # Only ratios within a slot matter. Scaling by the maximum prevents underflow over a long game.
        likelihood = self._likelihood * (factor / factor.amax(dim=-1, keepdim=True).clamp(min=1e-30))
        self._likelihood = shift_likelihoods(self._process, likelihood, before, actions)
        super().observe(before, control, actions, after)

    def keep(self, rows: np.ndarray) -> None:
        super().keep(rows)
        self._likelihood = self._likelihood[torch.from_numpy(rows)]

    def belief(self) -> torch.Tensor:
        bayesian = self._solve_fixed_point(self._likelihood)
        return factored.v2(bayesian, self._solve_fixed_point(None), self._alpha) if self._alpha else bayesian

    def move_likelihoods(self, before: Tables, control: np.ndarray | None, actions: np.ndarray) -> torch.Tensor:
        """Compute the likelihood of each move for every kind in every slot that the mover sees.

        Args:
            before: The G tables before the move; the estimator must not have observed the move yet.
            control: int64 [G], controls of the HanabiProcess; None in the form hmm.
            actions: The moves, int64 [G].

        Returns:
            float64 [G, S, K], given the belief before the move; 1 in slots that the move does not depend on.
        """
        process, n = self._process, self._samples
        hand_size, kinds = process.rules.hand, process.rules.kinds
        belief = self.belief().numpy()
        likelihoods = np.ones(belief.shape)
        policies = process.acting_policy(before, control)
        for g, seat in enumerate(before.current()):
            if seat < 0 or (process.form is Form.POMDP and seat == process.seat):  # game over, or the observer's move
                continue
            for block, owner in enumerate(process.owners):
                slots = [block * hand_size + i for i in range(hand_size) if belief[g, block * hand_size + i].any()]
                if owner == seat or not slots:
                    continue
                sampled_hands = np.stack(
                    [self._rng.choice(kinds, n, p=belief[g, s] / belief[g, s].sum()) for s in slots], axis=1
                )
                # For each possible kind in each slot: the n sampled hands, with this slot set to that kind.
                hands, entries = [], []
                for i, s in enumerate(slots):
                    for k in np.flatnonzero(belief[g, s]):
                        hands.append(np.where(np.arange(len(slots)) == i, k, sampled_hands))
                        entries.append((s, k))
                dealt = np.full((len(hands) * n, process.rules.players, hand_size), -1, dtype=np.int8)
                dealt[:, owner, : len(slots)] = np.concatenate(hands)
                probs = process.policy_given_hands(before, g, dealt, policies[g])[:, actions[g]]
                probs = probs.reshape(len(hands), n).mean(axis=1)
                if not probs.any():
                    continue  # no sampled hand leads to the move, so its likelihoods are unknown
                # Smooth by one pseudo-sample with the mean likelihood, so that no kind is ruled out by chance.
                for (s, k), likelihood in zip(entries, (n * probs + probs.mean()) / (n + 1)):
                    likelihoods[g, s, k] = likelihood
        return torch.from_numpy(likelihoods)


def shift_likelihoods(
    process: HanabiProcess, likelihood: torch.Tensor, before: Tables, actions: np.ndarray
) -> torch.Tensor:
    """Move likelihoods along with their cards: after a play or discard, the later cards of the hand move up one slot.

    Args:
        process: System that the slots belong to.
        likelihood: float64 [G, S, K], before the move.
        before: The G tables before the move.
        actions: The moves, int64 [G].

    Returns:
        float64 [G, S, K]; 1 in the slot of a new card.
    """
    shifted, hand_size = likelihood.clone(), process.rules.hand
    for g, (seat, action) in enumerate(zip(before.current(), actions)):
        if seat < 0 or action >= 2 * hand_size or seat not in process.owners:  # game over, a hint, or a visible hand
            continue
        first, slot = process.owners.index(seat) * hand_size, int(action) % hand_size
        shifted[g, first + slot : first + hand_size - 1] = likelihood[g, first + slot + 1 : first + hand_size]
        shifted[g, first + hand_size - 1] = 1.0
    return shifted


class Recurrent:
    """Estimator by a Seq2Seq network as it was trained, without fine-tuning."""

    def __init__(self, process: HanabiProcess, model: Seq2Seq):
        self._process, self._model = process, model
        self._weights = {name: w.detach() for name, w in model.weights().items()}

    def begin(self, x: Tables) -> None:
        self._state = self._model.start(len(x))
        self._read(x, np.full(len(x), -1, dtype=np.int64))

    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None:
        self._read(after, control)

    def keep(self, rows: np.ndarray) -> None:
        indices = torch.from_numpy(rows).to(self._model.device)
        self._x = self._x.take(rows)
        self._state = tuple((out[indices], cell[indices]) for out, cell in self._state)

    @torch.no_grad()
    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        constraints = self._process.tensors(self._x, self._model.device)
        cards = torch.from_numpy(hidden.astype(np.int64)).to(self._model.device)
        return self._model.log_probs(self._weights, self._state[-1][0], constraints, cards).cpu().numpy()

    def sample_hands(self, n: int, seed: int) -> np.ndarray:
        generator = torch.Generator(self._model.device).manual_seed(seed)
        constraints = self._process.tensors(self._x, self._model.device)[:, None]
        summary = self._state[-1][0].unsqueeze(1).expand(-1, n, -1)
        return self._model.sample(self._weights, summary, constraints, generator).cpu().numpy().astype(np.int8)

    def notes(self) -> dict[str, Any]:
        return {}

    def _read(self, x: Tables, control: np.ndarray | None) -> None:
        self._x = x
        device = self._model.device
        controls = torch.from_numpy(control).to(device) if self._model.sizes.controls and control is not None else None
        emission = torch.from_numpy(self._process.emission(x)).to(device)
        self._state = self._model.encode(self._weights, emission, controls, self._state)


class TransformerEstimator:
    """Estimator by a transformer. It reads the whole sequence anew at every position."""

    def __init__(self, process: HanabiProcess, model: Transformer):
        self._process, self._model = process, model
        self._weights = {name: w.detach() for name, w in model.weights().items()}

    def begin(self, x: Tables) -> None:
        self._x, self._sequences = x, SeatTokens(self._process, x)

    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None:
        self._x = after
        self._sequences.move(before, actions, after)

    def keep(self, rows: np.ndarray) -> None:
        self._x = self._x.take(rows)
        self._sequences = self._sequences.take(rows)

    @torch.no_grad()
    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        sequences, device = self._sequences, self._model.device
        tokens = torch.from_numpy(sequences.tokens[:, : sequences.lengths.max()]).to(device)
        summary = self._model.read(tokens, torch.from_numpy(sequences.lengths - 1).to(device))
        cards = torch.from_numpy(hidden.astype(np.int64)).to(device)
        return (
            self._model.log_probs(self._weights, summary, self._process.tensors(self._x, device), cards).cpu().numpy()
        )

    def notes(self) -> dict[str, Any]:
        return {}


class BFT:
    """Estimator by a Seq2Seq network that is fine-tuned at every move (belief/hanabi/finetune.py)."""

    def __init__(self, process: HanabiProcess, model: Seq2Seq, tuning: Finetuning, seed: int):
        self._belief = FineTunedBelief(model, process, tuning, seed)
        self._step: FilterState | None = None

    def begin(self, x: Tables) -> None:
        self._step = self._belief.begin(x)

    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None:
        assert self._step is not None
        self._step = self._belief.observe(self._step, control, after)

    def keep(self, rows: np.ndarray) -> None:
        assert self._step is not None
        self._step = self._step.keep(rows)

    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        assert self._step is not None
        return self._belief.log_probs(self._step, hidden)

    def sample_hands(self, n: int, seed: int) -> np.ndarray:
        assert self._step is not None
        return self._belief.sample(self._step, n, seed)

    def notes(self) -> dict[str, Any]:
        """Return the numbers of drawn worlds, of infeasible worlds, and of moves at which no world was feasible."""
        b = self._belief
        return {"worlds": b.drawn, "infeasible_worlds": b.infeasible, "steps_without_worlds": b.failed}


class ExactEstimator:
    """Exact belief, while the possible hands are few enough to list."""

    def __init__(self, process: HanabiProcess, limit: int, pairs: int):
        self._process = process
        self._limit = limit
        self._pairs = pairs
        self._games: list[HandListBelief] = []

    def begin(self, x: Tables) -> None:
        self._games = [HandListBelief(self._process, self._limit, self._pairs) for _ in range(len(x))]
        for i, game in enumerate(self._games):
            game.begin(_row(x, i))

    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None:
        for i, game in enumerate(self._games):
            game_control = None if control is None else control[i : i + 1]
            game.observe(_row(before, i), game_control, int(actions[i]), _row(after, i))

    def keep(self, rows: np.ndarray) -> None:
        self._games = [self._games[i] for i in rows]

    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability of each kind in each slot.

        Args:
            hidden: int8 [G, S], the cards; -1 for a slot without a card.

        Returns:
            float64 [G, S, K]; NaN if the hands are too many to list.
        """
        log_probs = np.full((*hidden.shape, self._process.rules.kinds), np.nan)
        for i, game in enumerate(self._games):
            if (listed := game.distribution()) is None:
                continue
            hands, log_p = listed
            for s, card in enumerate(hidden[i]):
                if card < 0:
                    continue
                p = np.bincount(hands[:, s], np.exp(log_p), self._process.rules.kinds)
                if not p.any():  # no hand has the cards before this slot; NaN would mean that no hands are listed
                    log_probs[i, s] = -np.inf
                    continue
                with np.errstate(divide="ignore"):
                    log_probs[i, s] = np.log(p / p.sum())
                keep = hands[:, s] == card
                hands, log_p = hands[keep], log_p[keep]
        return log_probs

    def notes(self) -> dict[str, Any]:
        return {}


class ExactHandEstimator(ExactEstimator):
    """Exact belief over the hand of the observing seat, in the form pomdp. It draws hands that are too many to list."""

    def __init__(self, process: HanabiProcess, limit: int, tries: int):
        """Set the limits of the list and of the draws.

        Args:
            process: System whose games are followed.
            limit: Largest number of hands that are listed.
            tries: Largest number of draws of a hand for one sample.
        """
        super().__init__(process, limit, pairs=0)
        self._tries = tries

    def sample_hands(self, n: int, seed: int) -> np.ndarray:
        """Draw hands of each game.

        Args:
            n: Number of hands of each game.
            seed: Seed of all randomness.

        Returns:
            int8 [G, n, S].

        Raises:
            NoConsistentHandError: No hand, or none of those drawn, explains the other seat's moves.
        """
        rng, samples = np.random.default_rng(seed), []
        for game in self._games:
            hands, log_weight = game.draw(rng, self._tries, n)
            if not len(hands):
                raise NoConsistentHandError("no hand explains the other seat's moves")
            samples.append(hands[rng.permutation(resample(log_weight, n, rng))])
        return np.stack(samples)


def _row(x: Tables, i: int) -> Tables:
    """Return one table as a batch of its own."""
    return x.take(np.array([i]))
