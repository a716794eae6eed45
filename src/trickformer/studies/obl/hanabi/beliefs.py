"""Beliefs of all seats of Hanabi tables about their own hands.

Level 1 counts. Above it, the likelihood of the moves under the level below counts too: exactly, if all own hands can be
listed, else by a network that is trained on games of that level.
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

LISTED = 2_000  # largest number of own hands that are listed
_TRIES = 1_000  # draws of a hand before the network counts as broken


class TableBelief(Protocol):
    """Beliefs of all seats of n tables, from which own hands are drawn."""

    def deal(self, tables: _core.hanabi.Tables, worlds: _core.hanabi.Tables, each: int, seed: int) -> None:
        """Deal own hands from the beliefs into `worlds`. Call it once before every move.

        Args:
            tables: The n tables.
            worlds: `each` copies of a table for every seat, in the order of tables, then of seats; changed in place.
            each: Number of worlds for a seat.
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

    def deal(self, tables: _core.hanabi.Tables, worlds: _core.hanabi.Tables, each: int, seed: int) -> None:
        worlds.redraw(seats(tables, each), seed)

    def follow(self, tables: _core.hanabi.Tables, actions: np.ndarray) -> None:
        pass  # counting ignores the moves of others

    def renew(self, rows: np.ndarray) -> None:
        pass  # there is nothing to forget


class ExactTableBelief:
    """Exact belief B_pi0 in each own hand.

    The weight of a hand is the number of ways to deal it, times the likelihood of all moves of the others, who saw it,
    under the level below.

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
        odds = np.exp(logs - top)
        return odds / odds.sum(axis=2, keepdims=True)

    def deal(self, tables: _core.hanabi.Tables, worlds: _core.hanabi.Tables, each: int, seed: int) -> None:
        cumulative = self.chances(tables).cumsum(axis=2)[:, :, None]
        at = np.random.default_rng(seed).random((*cumulative.shape[:2], each, 1)) * cumulative[..., -1:]
        drawn = (cumulative <= at).sum(axis=3).ravel()
        _put(worlds, hands(tables.rules)[drawn], seats(tables, each), seed)

    @torch.no_grad()
    def follow(self, tables: _core.hanabi.Tables, actions: np.ndarray) -> None:
        rules, model = tables.rules, self.below.model
        n, players = len(tables), rules.players
        seat = tables.current().astype(np.int64)
        device = model.worth.weight.device
        if model.shape.recurrent:
            seen = torch.from_numpy(observe_all_seats(tables, self.below.v0)).to(device)
            context, self.memory = model.contexts(seen[None], self.memory)
            contexts = context[0]
        else:
            contexts = torch.ones(n * players, 1, device=device)
        waits = np.arange(players) != seat[:, None]
        imagined = np.nonzero((count_deals(tables) > 0) & waits[:, :, None])
        row = imagined[0]
        viewer, hand = imagined[1:]
        worlds = tables.take(row)
        _put(worlds, hands(rules)[hand], viewer.astype(np.int8), 0)
        legal = torch.from_numpy(worlds.legal()).to(device)
        seen = torch.from_numpy(worlds.observe(None, self.below.v0)).to(device)
        q, _ = model(seen, contexts[torch.from_numpy(row * players + seat[row]).to(device)], legal)
        odds = probabilities(q, legal, self.below.temperature, self.slip).cpu().numpy().astype(np.float64)
        with np.errstate(divide="ignore"):
            self.logs[row, viewer, hand] += np.log(odds[np.arange(len(row)), actions[row]])
        # A card that leaves the hand becomes visible: only hands that held it there remain, with any new card.
        gone = np.flatnonzero(actions < 2 * rules.hand)
        slot = actions[gone] % rules.hand
        card = tables.hands()[gone, seat[gone], slot].astype(np.int64)
        before = _before(rules)[slot, card]
        self.logs[gone, seat[gone]] = np.take_along_axis(self.logs[gone, seat[gone]], before, axis=1)

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
    def deal(self, tables: _core.hanabi.Tables, worlds: _core.hanabi.Tables, each: int, seed: int) -> None:
        network, device = self.network, self.network.device
        everybody = observe_all_seats(tables)
        weights = network.weights()
        self.state = network.encode(weights, torch.from_numpy(everybody).to(device), None, self.state)
        at = torch.arange(len(everybody), device=device).repeat_interleave(each)
        summary, known = self.state[-1][0][at], hand_constraints(tables, device)[at]
        generator = torch.Generator(device).manual_seed(seed)
        cards = network.sample(weights, summary, known, generator)
        # The network may generate impossible hands; draw these again.
        for _ in range(_TRIES):
            wrong = torch.nonzero(~_is_consistent(cards, known))[:, 0]
            if not len(wrong):
                break
            cards[wrong] = network.sample(weights, summary[wrong], known[wrong], generator)
        else:
            raise TrickformerError(
                f"the belief network generated no possible hand in {_TRIES:,} tries; train it with more --belief-steps"
            )
        _put(worlds, cards.cpu().numpy().astype(np.int8), seats(tables, each), seed)

    def follow(self, tables: _core.hanabi.Tables, actions: np.ndarray) -> None:
        pass  # the next observation shows the move

    def renew(self, rows: np.ndarray) -> None:
        for part in (part for layer in self.state for part in layer):
            part.unflatten(0, (-1, self.players))[torch.from_numpy(rows)] = 0


def shape_of(rules: _core.hanabi.Rules, hidden: int, layers: int) -> Seq2SeqSizes:
    """Return the sizes of a belief network that generates own hands.

    Args:
        rules: Rules of the games.
        hidden: Units of a layer.
        layers: Layers of the encoder.
    """
    return Seq2SeqSizes(rules.observation, 0, rules.hand, rules.kinds, TRAITS, HINT_BITS, hidden, layers)


def seats(tables: _core.hanabi.Tables, each: int) -> np.ndarray:
    """Return the seat that imagines each world, in the order of `TableBelief.deal`.

    Args:
        tables: n tables.
        each: Number of worlds for a seat.

    Returns:
        int8 [n * players * each].
    """
    return np.tile(np.repeat(np.arange(tables.rules.players, dtype=np.int8), each), len(tables))


def observe_all_seats(tables: _core.hanabi.Tables, v0: bool = False) -> np.ndarray:
    """Return the observations of all seats, in the order of tables, then of seats.

    Args:
        tables: n tables.
        v0: Whether observations hold V0 beliefs.

    Returns:
        float32 [n * players, observation].
    """
    everybody = tables.take(np.repeat(np.arange(len(tables)), tables.rules.players))
    return everybody.observe(seats(tables, 1), v0)


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
    parts = [HanabiProcess(rules, Form.POMDP, names, seat).tensors(tables, device) for seat in range(rules.players)]
    fields = ((p.possible, p.counts, p.traits, p.hint_bits) for p in parts)
    return CardConstraints(*(torch.stack(same, 1).flatten(0, 1) for same in zip(*fields)))


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
    held = [hand + (-1,) * (size - n) for n in range(size + 1) for hand in product(range(kinds), repeat=n)]
    return np.array(held, dtype=np.int8)


def _before(rules: _core.hanabi.Rules) -> np.ndarray:
    """Return the hand before a card of some slot and kind left it and the newest card was drawn.

    int64 [hand, kinds, C], by the hand afterwards; any number if no such hand exists.
    """
    return _previous_hands(rules.kinds, rules.hand)


@cache
def _previous_hands(kinds: int, size: int) -> np.ndarray:
    listed = _enumerate_hands(kinds, size).tolist()
    numbers = {tuple(hand): i for i, hand in enumerate(listed)}
    numbers_before = np.zeros((size, kinds, len(listed)), dtype=np.int64)
    for slot, kind, (i, hand) in product(range(size), range(kinds), enumerate(listed)):
        numbers_before[slot, kind, i] = numbers.get((*hand[:slot], kind, *hand[slot : size - 1]), 0)
    return numbers_before


def count_deals(tables: _core.hanabi.Tables) -> np.ndarray:
    """Count the ways to deal each of `hands` to a seat that knows the hints and the others' cards.

    Args:
        tables: n tables.

    Returns:
        float64 [n, players, C]; copies of a card count as different.
    """
    rules = tables.rules
    listed, known = hands(rules), hand_constraints(tables, torch.device("cpu"))
    n, c = len(tables) * rules.players, len(listed)
    counts = known.counts.numpy()
    held = (listed[:, :, None] == np.arange(rules.kinds)).sum(axis=1)  # [C, kinds]
    counted = np.ones((n, c))
    for taken in range(rules.hand):
        counted *= np.where(held > taken, (counts[:, None] - taken).clip(min=0), 1).prod(axis=2)
    possible = known.possible.numpy()
    # A slot without a card gets index -1, the last column.
    may = np.concatenate([possible, ~possible.any(axis=2, keepdims=True)], axis=2)
    for slot in range(rules.hand):
        counted *= may[:, slot, listed[:, slot]]
    return counted.reshape(len(tables), rules.players, c)


def _is_consistent(cards: torch.Tensor, known: CardConstraints) -> torch.Tensor:
    """Return whether hints and card counts allow these hands, int64 [n, hand]: bool [n]."""
    is_card = cards >= 0
    may = known.possible.gather(2, cards.clamp(min=0)[..., None])[..., 0] | ~is_card
    held = (cards[..., None] == torch.arange(known.counts.shape[1], device=cards.device)).sum(1)
    return may.all(1) & (held <= known.counts).all(1)


def _put(worlds: _core.hanabi.Tables, cards: np.ndarray, viewers: np.ndarray, seed: int) -> None:
    """Deal these hands, int8 [n, hand], to viewers, int8 [n]. The hands must explain the viewers' observations."""
    if not worlds.redeal(at_seat(cards, viewers, worlds.rules.players), seed).all():
        raise RuntimeError("an impossible hand was dealt")
