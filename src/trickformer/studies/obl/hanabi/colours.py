"""The colours of Hanabi under other names, as one seat may see them ("Other-Play", Hu, Lerer, Peysakhovich & Foerster
2020).

A team whose seats name the colours alike by chance only cannot agree on what a colour means, beyond what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product

import numpy as np
import torch

from trickformer import _core
from trickformer.games.hanabi import hint
from trickformer.models.hanabi_odds import Layout


@dataclass(frozen=True, slots=True)
class Renaming:
    """All s ways to name the colours; the first changes nothing."""

    seen: torch.Tensor  # int64 [s, seen]: number i of what is seen under new names is this number of the old; first of
    # an observation, then of a greedy action beside it
    actions: torch.Tensor  # int64 [s, actions]: what an action is called then
    back: torch.Tensor  # int64 [s, actions]: and what it was called before

    def look(self, seen: torch.Tensor, which: torch.Tensor) -> torch.Tensor:
        """Observations, float32 [..., observation], or with greedy actions after them, under new names, int64 [...]."""
        return seen.gather(-1, self.seen[which][..., : seen.shape[-1]])

    def allow(self, legal: torch.Tensor, which: torch.Tensor) -> torch.Tensor:
        """What is legal, bool [..., actions], under new names, int64 [...]."""
        return legal.gather(-1, self.back[which])


def renaming(rules: _core.hanabi.Rules, device: torch.device) -> Renaming:
    """Of games of these rules, on a device."""
    found = _renaming(rules.players, rules.colors, rules.ranks, rules.hand, rules.hints, rules.lives)
    return Renaming(found.seen.to(device), found.actions.to(device), found.back.to(device))


@cache
def _renaming(players: int, colors: int, ranks: int, hand: int, hints: int, lives: int) -> Renaming:
    rules = _core.hanabi.Rules(players, colors, ranks, hand, hints, lives)
    told = list(_observation_entries(rules))
    places = {name: i for i, name in enumerate(told)}
    moves = [_move(rules, action) for action in range(rules.actions)]
    called = {name: i for i, name in enumerate(moves)}
    orders = [(*order, None) for order in permutations(range(colors))]  # None stays: no colour
    new = [{name: order[-1 if name is None else name] for name in (*range(colors), None)} for order in orders]
    back = [{b: a for a, b in names.items()} for names in new]
    seen = torch.tensor([[places[what, names[color]] for what, color in told] for names in back])
    last = Layout.of(rules).last
    return Renaming(
        torch.cat([seen, seen[:, last] + len(told) - last.start], 1),
        torch.tensor([[called[what, names[color]] for what, color in moves] for names in new]),
        torch.tensor([[called[what, names[color]] for what, color in moves] for names in back]),
    )


def colour_hint_mask(rules: _core.hanabi.Rules, device: torch.device) -> torch.Tensor:
    """bool [actions]: the hints that name a colour."""
    return torch.tensor([_move(rules, action)[1] is not None for action in range(rules.actions)], device=device)


def orders(rules: _core.hanabi.Rules, seed: int, games: np.ndarray) -> np.ndarray:
    """int64 [k, players]: by which of the renamings each seat names the colours in games of these numbers."""
    count = len(renaming(rules, torch.device("cpu")).actions)
    drawn = (np.random.default_rng([seed, 5, int(game)]).integers(count, size=rules.players) for game in games)
    return np.array(list(drawn), dtype=np.int64).reshape(len(games), rules.players)


_Named = tuple[tuple[object, ...], int | None]  # what a number says but for the colour, and the colour


def _move(rules: _core.hanabi.Rules, action: int) -> _Named:
    if action < 2 * rules.hand:
        return ("card", action), None
    offset, color, rank = hint(rules, action)
    return ("hint", offset, rank), color


def _observation_entries(rules: _core.hanabi.Rules) -> Iterator[_Named]:
    """The numbers of an observation, in their order (cpp/hanabi/observation.hpp)."""
    players, slots, colors, ranks = (range(n) for n in (rules.players, rules.hand, rules.colors, rules.ranks))

    def plain(part: str, n: int) -> Iterator[_Named]:
        return (((part, i), None) for i in range(n))

    for offset, slot, color, rank in product(players[1:], slots, colors, ranks):
        yield ("hand", offset, slot, rank), color
    yield from plain("short", rules.players)
    yield from plain("deck", rules.deck - rules.players * rules.hand)
    for color, rank in product(colors, ranks):
        yield ("firework", rank), color
    yield from plain("hints", rules.hints)
    yield from plain("lives", rules.lives)
    for color, rank in product(colors, ranks):
        for i in range(rules.copies(rank)):
            yield ("discards", rank, i), color
    for part, n in (("actor", rules.players), ("move", 4), ("receiver", rules.players)):
        yield from plain(part, n)
    for color in colors:
        yield ("named colour",), color
    for part, n in (("named rank", rules.ranks), ("touched", rules.hand), ("slot", rules.hand)):
        yield from plain(part, n)
    for color, rank in product(colors, ranks):
        yield ("card", rank), color
    yield from plain("success", 2)
    for offset, slot in product(players, slots):
        for color, rank in product(colors, ranks):
            yield ("may be", offset, slot, rank), color
        for color in colors:
            yield ("told colour", offset, slot), color
        for rank in ranks:
            yield ("told rank", offset, slot, rank), None
