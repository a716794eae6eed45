"""Beliefs of all seats of Hanabi tables about their own hands.

At level 1 of off-belief learning the belief counts deals and ignores moves. Above level 1 it also weights hands by the
likelihood of the moves under the level below. This is exact if all own hands can be listed; else a belief network does
it, trained on games of the level below.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Protocol

import numpy as np
import torch

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.belief.hanabi.learned import CardConstraints, Seq2Seq, Seq2SeqSizes
from trickformer.belief.hanabi.process import HINT_BITS, TRAITS, Form, HanabiProcess, at_seat
from trickformer.models.hanabi_values import HanabiCheckpoint, probabilities

LISTED = 2_000  # largest number of own hands for an exact belief
_TRIES = 1_000  # draws of a hand until the network counts as broken


class TableBelief(Protocol):
    """Beliefs of all seats of n tables, from which own hands are drawn."""

    def deal(self, tables: _core.hanabi.Tables, worlds: _core.hanabi.Tables, copies: int, seed: int) -> None:
        """Deal own hands from the beliefs into `worlds`. Call it once before every move.

        Args:
            tables: The n tables.
            worlds: `copies` copies of a table for every seat, in the order of tables, then of seats; changed in place.
            copies: Number of worlds for a seat.
            seed: Seed of the draws.

        Raises:
            TrickformerError: If the belief excludes every hand, or draws no possible one.
        """

    def follow(self, tables: _core.hanabi.Tables, actions: np.ndarray) -> None:
        """Update the beliefs by the next move of every table.

        Args:
            tables: The n tables before the move.
            actions: int64 [n].
        """

    def renew(self, rows: np.ndarray) -> None:
        """Reset the beliefs of tables at which new games begin.

        Args:
            rows: int64 [k], numbers of the tables.
        """


class CountingTableBelief:
    """Belief in which every deal that explains a seat's view is equally likely."""

    def deal(self, tables: _core.hanabi.Tables, worlds: _core.hanabi.Tables, copies: int, seed: int) -> None:
        worlds.redraw(seats(tables, copies), seed)

    def follow(self, tables: _core.hanabi.Tables, actions: np.ndarray) -> None:
        pass  # counting ignores the moves of others

    def renew(self, rows: np.ndarray) -> None:
        pass  # there is nothing to forget


class ExactTableBelief:
    """Exact belief about own hands: B_pi0 of "Off-Belief Learning", with the level below as pi0.

    The weight of a hand is the number of ways to deal it, times the likelihood of the others' moves under the level
    below. The others saw the hand when they moved. C is the number of `hands`.

    Args:
        rules: Rules of the games.
        n: Number of tables.
        below: Checkpoint of the level below.
        slip: Share of uniformly random moves that the level below is assumed to make.
    """

    def __init__(self, rules: _core.hanabi.Rules, n: int, below: HanabiCheckpoint, slip: float):
        self.below, self.slip = below, slip
        # float64 [n, players, C]: log-likelihood of the others' moves, given each hand
        self.logs = np.zeros((n, rules.players, len(hands(rules))))
        self.memory = below.model.memory(n * rules.players)

    def chances(self, tables: _core.hanabi.Tables) -> np.ndarray:
        """Compute the probability of each of `hands` for each seat.

        Args:
            tables: The n tables.

        Returns:
            float64 [n, players, C].

        Raises:
            TrickformerError: If the moves so far are impossible under the level below.
        """
        with np.errstate(divide="ignore"):
            logs = np.log(count_deals(tables)) + self.logs
        top = logs.max(axis=2, keepdims=True)
        if np.isneginf(top).any():
            raise TrickformerError("the moves so far are impossible for the level below; give --slip above 0")
        weights = np.exp(logs - top)
        return weights / weights.sum(axis=2, keepdims=True)

    def deal(self, tables: _core.hanabi.Tables, worlds: _core.hanabi.Tables, copies: int, seed: int) -> None:
        cumulative = self.chances(tables).cumsum(axis=2)[:, :, None]
        thresholds = np.random.default_rng(seed).random((*cumulative.shape[:2], copies, 1)) * cumulative[..., -1:]
        drawn = (cumulative <= thresholds).sum(axis=3).ravel()
        _deal_hands(worlds, hands(tables.rules)[drawn], seats(tables, copies), seed)

    @torch.no_grad()
    def follow(self, tables: _core.hanabi.Tables, actions: np.ndarray) -> None:
        rules, model = tables.rules, self.below.model
        n, players = len(tables), rules.players
        seat = tables.current().astype(np.int64)
        device = model.worth.weight.device
        if model.sizes.recurrent:
            seen = torch.from_numpy(observe_all_seats(tables, self.below.v0)).to(device)
            context, self.memory = model.contexts(seen[None], self.memory)
            contexts = context[0]
        else:
            contexts = torch.ones(n * players, 1, device=device)
        # One world for each table, waiting seat and hand that it may hold, which the seat on turn sees.
        waits = np.arange(players) != seat[:, None]
        imagined = np.nonzero((count_deals(tables) > 0) & waits[:, :, None])
        row = imagined[0]
        viewer, hand = imagined[1:]
        worlds = tables.take(row)
        _deal_hands(worlds, hands(rules)[hand], viewer.astype(np.int8), 0)
        legal = torch.from_numpy(worlds.legal()).to(device)
        seen = torch.from_numpy(worlds.observe(None, self.below.v0)).to(device)
        q, _ = model(seen, contexts[torch.from_numpy(row * players + seat[row]).to(device)], legal)
        policy = probabilities(q, legal, self.below.temperature, self.slip).cpu().numpy().astype(np.float64)
        with np.errstate(divide="ignore"):
            self.logs[row, viewer, hand] += np.log(policy[np.arange(len(row)), actions[row]])
        # A card that is played or discarded becomes visible to its owner. Each new hand of the owner gets the weight of
        # the one hand that it can come from: with this card in its slot, and without the newest card.
        moved = np.flatnonzero(actions < 2 * rules.hand)
        slot = actions[moved] % rules.hand
        card = tables.hands()[moved, seat[moved], slot].astype(np.int64)
        before = _previous_hands(rules.kinds, rules.hand)[slot, card]
        self.logs[moved, seat[moved]] = np.take_along_axis(self.logs[moved, seat[moved]], before, axis=1)

    def renew(self, rows: np.ndarray) -> None:
        self.logs[rows] = 0
        self.memory.unflatten(0, (len(self.logs), -1))[torch.from_numpy(rows)] = 0


class LearnedTableBelief:
    """Belief from a network that reads a seat's observations and generates own hands.

    Args:
        rules: Rules of the games.
        n: Number of tables.
        network: Trained belief network.
    """

    def __init__(self, rules: _core.hanabi.Rules, n: int, network: Seq2Seq):
        self.network, self.players = network, rules.players
        self.state = network.start(n * rules.players)

    @torch.no_grad()
    def deal(self, tables: _core.hanabi.Tables, worlds: _core.hanabi.Tables, copies: int, seed: int) -> None:
        network, device = self.network, self.network.device
        observations = observe_all_seats(tables)
        weights = network.weights()
        self.state = network.encode(weights, torch.from_numpy(observations).to(device), None, self.state)
        viewer = torch.arange(len(observations), device=device).repeat_interleave(copies)
        summary, constraints = self.state[-1][0][viewer], hand_constraints(tables, device)[viewer]
        generator = torch.Generator(device).manual_seed(seed)
        cards = network.sample(weights, summary, constraints, generator)
        # The network may generate impossible hands; draw these again.
        for _ in range(_TRIES):
            impossible = torch.nonzero(~_is_consistent(cards, constraints))[:, 0]
            if not len(impossible):
                break
            cards[impossible] = network.sample(weights, summary[impossible], constraints[impossible], generator)
        else:
            raise TrickformerError(
                f"the belief network generated no possible hand in {_TRIES:,} tries; train it with more --belief-steps"
            )
        _deal_hands(worlds, cards.cpu().numpy().astype(np.int8), seats(tables, copies), seed)

    def follow(self, tables: _core.hanabi.Tables, actions: np.ndarray) -> None:
        pass  # the next observation shows the move

    def renew(self, rows: np.ndarray) -> None:
        for part in (part for layer in self.state for part in layer):
            part.unflatten(0, (-1, self.players))[torch.from_numpy(rows)] = 0


def sizes_of(rules: _core.hanabi.Rules, hidden: int, layers: int) -> Seq2SeqSizes:
    """Return the sizes of a belief network that generates own hands.

    Args:
        rules: Rules of the games.
        hidden: Units of a layer.
        layers: Layers of the encoder.
    """
    return Seq2SeqSizes(rules.observation, 0, rules.hand, rules.kinds, TRAITS, HINT_BITS, hidden, layers)


def seats(tables: _core.hanabi.Tables, copies: int) -> np.ndarray:
    """Return the seat that imagines each world, in the order of `TableBelief.deal`.

    Args:
        tables: n tables.
        copies: Number of worlds for a seat.

    Returns:
        int8 [n * players * copies].
    """
    return np.tile(np.repeat(np.arange(tables.rules.players, dtype=np.int8), copies), len(tables))


def observe_all_seats(tables: _core.hanabi.Tables, v0: bool = False) -> np.ndarray:
    """Return the observations of all seats, in the order of tables, then of seats.

    Args:
        tables: n tables.
        v0: Whether observations hold V0 beliefs.

    Returns:
        float32 [n * players, observation].
    """
    copies = tables.take(np.repeat(np.arange(len(tables)), tables.rules.players))
    return copies.observe(seats(tables, 1), v0)


def hand_constraints(tables: _core.hanabi.Tables, device: torch.device) -> CardConstraints:
    """Return the constraints of rules and hints on the own hands of all seats.

    Args:
        tables: n tables.
        device: Device of the tensors.

    Returns:
        Constraints of n * players seats, in the order of tables, then of seats.
    """
    rules = tables.rules
    names = [_core.hanabi.BOTS[0]] * rules.players  # any player will do, because nobody moves
    by_seat = [HanabiProcess(rules, Form.POMDP, names, seat).tensors(tables, device) for seat in range(rules.players)]
    fields = ((c.possible, c.counts, c.traits, c.hint_bits) for c in by_seat)
    return CardConstraints(*(torch.stack(field, 1).flatten(0, 1) for field in zip(*fields)))


def hands(rules: _core.hanabi.Rules) -> np.ndarray:
    """List every hand that a seat may hold, as kinds of cards, the oldest card first.

    Args:
        rules: Rules of the game.

    Returns:
        int8 [C, hand]; -1 stands for a missing card.

    Raises:
        TrickformerError: If there are more than LISTED hands.
    """
    count = sum(rules.kinds**size for size in range(rules.hand + 1))
    if count > LISTED:
        raise TrickformerError(
            f"there are {count:,} own hands, and an exact belief lists {LISTED:,} at most; leave out --belief exact"
        )
    return _enumerate_hands(rules.kinds, rules.hand)


@cache
def _enumerate_hands(kinds: int, size: int) -> np.ndarray:
    all_hands = [hand + (-1,) * (size - n) for n in range(size + 1) for hand in product(range(kinds), repeat=n)]
    return np.array(all_hands, dtype=np.int8)


@cache
def _previous_hands(kinds: int, size: int) -> np.ndarray:
    """Return the number of the hand before a move: int64 [size, kinds, C].

    Entry [slot, kind, i] is the hand from which a card of this kind left this slot, after which a new card made it hand
    i. It is 0 if there is no such hand.
    """
    all_hands = _enumerate_hands(kinds, size).tolist()
    numbers = {tuple(hand): i for i, hand in enumerate(all_hands)}
    previous = np.zeros((size, kinds, len(all_hands)), dtype=np.int64)
    for slot, kind, (i, hand) in product(range(size), range(kinds), enumerate(all_hands)):
        previous[slot, kind, i] = numbers.get((*hand[:slot], kind, *hand[slot : size - 1]), 0)
    return previous


def count_deals(tables: _core.hanabi.Tables) -> np.ndarray:
    """Count the ways to deal each of `hands` to a seat that knows the hints and the others' cards.

    Args:
        tables: n tables.

    Returns:
        float64 [n, players, C]; copies of a card count as different.
    """
    rules = tables.rules
    all_hands, constraints = hands(rules), hand_constraints(tables, torch.device("cpu"))
    n, c = len(tables) * rules.players, len(all_hands)
    hidden = constraints.counts.numpy()  # [n, kinds]: cards of each kind that the seat does not see
    copies = (all_hands[:, :, None] == np.arange(rules.kinds)).sum(axis=1)  # [C, kinds]: cards of a kind in a hand
    # j copies of a kind can be chosen from h hidden cards in h (h - 1) ... (h - j + 1) ordered ways.
    ways = np.ones((n, c))
    for taken in range(rules.hand):
        ways *= np.where(copies > taken, (hidden[:, None] - taken).clip(min=0), 1).prod(axis=2)
    # Hints exclude kinds. A slot without a card has kind -1, which is the index of the column added here.
    possible = constraints.possible.numpy()
    allowed = np.concatenate([possible, ~possible.any(axis=2, keepdims=True)], axis=2)
    for slot in range(rules.hand):
        ways *= allowed[:, slot, all_hands[:, slot]]
    return ways.reshape(len(tables), rules.players, c)


def _is_consistent(cards: torch.Tensor, constraints: CardConstraints) -> torch.Tensor:
    """Return whether hints and card counts allow these hands, int64 [n, hand]: bool [n]."""
    is_card = cards >= 0
    allowed = constraints.possible.gather(2, cards.clamp(min=0)[..., None])[..., 0] | ~is_card
    copies = (cards[..., None] == torch.arange(constraints.counts.shape[1], device=cards.device)).sum(1)
    return allowed.all(1) & (copies <= constraints.counts).all(1)


def _deal_hands(worlds: _core.hanabi.Tables, cards: np.ndarray, viewers: np.ndarray, seed: int) -> None:
    """Deal hands, int8 [n, hand], to viewers, int8 [n], and the rest at random.

    The hands must be consistent with the viewers' observations.
    """
    if not worlds.redeal(at_seat(cards, viewers, worlds.rules.players), seed).all():
        raise RuntimeError("an impossible hand was dealt")
