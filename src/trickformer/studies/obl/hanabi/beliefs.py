"""What seats believe of their own hands: by counting at level 1; above it also by what the level below would have done,
exactly where all own hands can be listed, else as a network writes them that was trained on games of that level."""

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

LISTED = 2_000  # own hands of a game that are listed at most
_TRIES = 1_000  # draws of a hand before the network is held for broken


class TableBelief(Protocol):
    """The beliefs of all seats of n tables, by which own hands are drawn anew."""

    def deal(self, tables: _core.hanabi.Tables, worlds: _core.hanabi.Tables, each: int, seed: int) -> None:
        """Gives seats of `worlds` own hands that they believe in: `each` worlds for every seat of every table, in the
        order of tables, then of seats. Called once before every move."""

    def follow(self, tables: _core.hanabi.Tables, actions: np.ndarray) -> None:
        """These actions, int64 [n], come next at the tables."""

    def renew(self, rows: np.ndarray) -> None:
        """New games begin at these tables."""


class CountingTableBelief:
    """Every deal that explains what a seat has seen is as likely as any other."""

    def deal(self, tables: _core.hanabi.Tables, worlds: _core.hanabi.Tables, each: int, seed: int) -> None:
        """As the protocol says."""
        worlds.redraw(seats(tables, each), seed)

    def follow(self, tables: _core.hanabi.Tables, actions: np.ndarray) -> None:
        """What others do says nothing."""

    def renew(self, rows: np.ndarray) -> None:
        """There is nothing to forget."""


class ExactTableBelief:
    """B_pi0 of each own hand, exactly: the ways to deal it, times how likely the level below had done all that the
    others did, who saw it.

    slip: the share of uniformly random moves that they are taken to have made beside."""

    def __init__(self, rules: _core.hanabi.Rules, n: int, below: HanabiCheckpoint, slip: float):
        self.below, self.slip = below, slip
        self.logs = np.zeros((n, rules.players, len(hands(rules))))  # of what the others did, had the hand been this
        self.memory = below.model.memory(n * rules.players)

    def chances(self, tables: _core.hanabi.Tables) -> np.ndarray:
        """float64 [n, players, C]: how likely each of `hands` is to each seat. Raises TrickformerError where the level
        below does nothing of what was done."""
        with np.errstate(divide="ignore"):
            logs = np.log(ways(tables)) + self.logs
        top = logs.max(axis=2, keepdims=True)
        if np.isneginf(top).any():
            raise TrickformerError("the level below never does what was done; give --slip above 0")
        odds = np.exp(logs - top)
        return odds / odds.sum(axis=2, keepdims=True)

    def deal(self, tables: _core.hanabi.Tables, worlds: _core.hanabi.Tables, each: int, seed: int) -> None:
        """As the protocol says."""
        cumulative = self.chances(tables).cumsum(axis=2)[:, :, None]
        at = np.random.default_rng(seed).random((*cumulative.shape[:2], each, 1)) * cumulative[..., -1:]
        drawn = (cumulative <= at).sum(axis=3).ravel()
        _put(worlds, hands(tables.rules)[drawn], seats(tables, each), seed)

    @torch.no_grad()
    def follow(self, tables: _core.hanabi.Tables, actions: np.ndarray) -> None:
        """As the protocol says."""
        rules, model = tables.rules, self.below.model
        n, players, seat = len(tables), rules.players, tables.current().astype(np.int64)
        device = model.worth.weight.device
        if model.shape.recurrent:
            seen = torch.from_numpy(looks(tables, self.below.v0)).to(device)
            context, self.memory = model.contexts(seen[None], self.memory)
            contexts = context[0]
        else:
            contexts = torch.ones(n * players, 1, device=device)
        waits = np.arange(players) != seat[:, None]
        row, viewer, hand = np.nonzero((ways(tables) > 0) & waits[:, :, None])
        worlds = tables.take(row)
        _put(worlds, hands(rules)[hand], viewer.astype(np.int8), 0)
        legal = torch.from_numpy(worlds.legal()).to(device)
        seen = torch.from_numpy(worlds.observe(None, self.below.v0)).to(device)
        q, _ = model(seen, contexts[torch.from_numpy(row * players + seat[row]).to(device)], legal)
        odds = probabilities(q, legal, self.below.temperature, self.slip).cpu().numpy().astype(np.float64)
        with np.errstate(divide="ignore"):
            self.logs[row, viewer, hand] += np.log(odds[np.arange(len(row)), actions[row]])
        # A card that leaves the hand is seen: hands that held it there go on, with any card that is drawn.
        gone = np.flatnonzero(actions < 2 * rules.hand)
        slot = actions[gone] % rules.hand
        card = tables.hands()[gone, seat[gone], slot].astype(np.int64)
        before = _before(rules)[slot, card]
        self.logs[gone, seat[gone]] = np.take_along_axis(self.logs[gone, seat[gone]], before, axis=1)

    def renew(self, rows: np.ndarray) -> None:
        """As the protocol says."""
        self.logs[rows] = 0
        self.memory.unflatten(0, (len(self.logs), -1))[torch.from_numpy(rows)] = 0


class LearnedTableBelief:
    """Hands as a network writes them, which reads all that a seat sees."""

    def __init__(self, rules: _core.hanabi.Rules, n: int, network: Seq2Seq):
        self.network, self.players = network, rules.players
        self.state = network.start(n * rules.players)

    @torch.no_grad()
    def deal(self, tables: _core.hanabi.Tables, worlds: _core.hanabi.Tables, each: int, seed: int) -> None:
        """As the protocol says. Hands that the cards do not allow are drawn again. Raises TrickformerError where the
        network writes no others."""
        network, device = self.network, self.network.device
        everybody = looks(tables)
        weights = network.weights()
        self.state = network.encode(weights, torch.from_numpy(everybody).to(device), None, self.state)
        at = torch.arange(len(everybody), device=device).repeat_interleave(each)
        summary, known = self.state[-1][0][at], of_seats(tables, device)[at]
        generator = torch.Generator(device).manual_seed(seed)
        cards = network.sample(weights, summary, known, generator)
        for _ in range(_TRIES):
            wrong = torch.nonzero(~_is_consistent(cards, known))[:, 0]
            if not len(wrong):
                break
            cards[wrong] = network.sample(weights, summary[wrong], known[wrong], generator)
        else:
            raise TrickformerError("the belief network writes no hand that the cards allow")
        _put(worlds, cards.cpu().numpy().astype(np.int8), seats(tables, each), seed)

    def follow(self, tables: _core.hanabi.Tables, actions: np.ndarray) -> None:
        """The observation after a move says what it was."""

    def renew(self, rows: np.ndarray) -> None:
        """As the protocol says."""
        for part in (part for layer in self.state for part in layer):
            part.unflatten(0, (-1, self.players))[torch.from_numpy(rows)] = 0


def shape_of(rules: _core.hanabi.Rules, hidden: int, layers: int) -> Seq2SeqSizes:
    """Of a network that writes own hands in games of these rules."""
    return Seq2SeqSizes(rules.observation, 0, rules.hand, rules.kinds, TRAITS, HINT_BITS, hidden, layers)


def seats(tables: _core.hanabi.Tables, each: int) -> np.ndarray:
    """int8 [n * players * each]: whose worlds these are, in the order of `Belief.deal`."""
    return np.tile(np.repeat(np.arange(tables.rules.players, dtype=np.int8), each), len(tables))


def looks(tables: _core.hanabi.Tables, v0: bool = False) -> np.ndarray:
    """float32 [n * players, observation]: what every seat sees, in the order of tables, then of seats."""
    everybody = tables.take(np.repeat(np.arange(len(tables)), tables.rules.players))
    return everybody.observe(seats(tables, 1), v0)


def of_seats(tables: _core.hanabi.Tables, device: torch.device) -> CardConstraints:
    """What rules and hints say of own hands, of n * players seats in the order of tables."""
    rules = tables.rules
    names = [_core.hanabi.BOTS[0]] * rules.players  # nobody moves: who plays does not matter
    parts = [HanabiProcess(rules, Form.POMDP, names, seat).tensors(tables, device) for seat in range(rules.players)]
    fields = ((p.possible, p.counts, p.traits, p.hint_bits) for p in parts)
    return CardConstraints(*(torch.stack(same, 1).flatten(0, 1) for same in zip(*fields)))


def hands(rules: _core.hanabi.Rules) -> np.ndarray:
    """int8 [C, hand]: every hand that a seat may hold, by kinds, the oldest card first; -1 where it holds fewer.
    Raises TrickformerError where there are more than LISTED."""
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
    """int64 [hand, kinds, C]: the hand from which a card, of some slot and kind, left so that this one, with the newest
    card drawn, remained; where no hand can have been it, any number."""
    return _previous_hands(rules.kinds, rules.hand)


@cache
def _previous_hands(kinds: int, size: int) -> np.ndarray:
    listed = _enumerate_hands(kinds, size).tolist()
    numbers = {tuple(hand): i for i, hand in enumerate(listed)}
    found = np.zeros((size, kinds, len(listed)), dtype=np.int64)
    for slot, kind, (i, hand) in product(range(size), range(kinds), enumerate(listed)):
        found[slot, kind, i] = numbers.get((*hand[:slot], kind, *hand[slot : size - 1]), 0)
    return found


def ways(tables: _core.hanabi.Tables) -> np.ndarray:
    """float64 [n, players, C]: the ways to deal each of `hands` to a seat that knows what hints and the others' cards
    say, copies told apart."""
    rules = tables.rules
    listed, known = hands(rules), of_seats(tables, torch.device("cpu"))
    n, c = len(tables) * rules.players, len(listed)
    counts = known.counts.numpy()
    held = (listed[:, :, None] == np.arange(rules.kinds)).sum(axis=1)  # [C, kinds]
    found = np.ones((n, c))
    for taken in range(rules.hand):
        found *= np.where(held > taken, (counts[:, None] - taken).clip(min=0), 1).prod(axis=2)
    possible = known.possible.numpy()
    # No card where there is none, and only there.
    may = np.concatenate([possible, ~possible.any(axis=2, keepdims=True)], axis=2)
    for slot in range(rules.hand):
        found *= may[:, slot, listed[:, slot]]
    return found.reshape(len(tables), rules.players, c)


def _is_consistent(cards: torch.Tensor, known: CardConstraints) -> torch.Tensor:
    """bool [n]: whether hints allow these cards, int64 [n, hand], and there are so many."""
    there = cards >= 0
    may = known.possible.gather(2, cards.clamp(min=0)[..., None])[..., 0] | ~there
    held = (cards[..., None] == torch.arange(known.counts.shape[1], device=cards.device)).sum(1)
    return may.all(1) & (held <= known.counts).all(1)


def _put(worlds: _core.hanabi.Tables, cards: np.ndarray, viewers: np.ndarray, seed: int) -> None:
    """Gives viewers, int8 [n], these cards, int8 [n, hand], which explain what they have seen."""
    if not worlds.redeal(at_seat(cards, viewers, worlds.rules.players), seed).all():
        raise RuntimeError("a hand was dealt that the cards do not allow")
