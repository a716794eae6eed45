"""Renaming of the colours of Hanabi, seat by seat ("Other-Play", Hu, Lerer, Peysakhovich & Foerster 2020).

If every seat permutes the names of the colours at random, a team cannot agree on conventions that depend on a colour.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product

import numpy as np
import torch

from trickformer import _core
from trickformer.games.hanabi import hint
from trickformer.models.hanabi_observation import Layout


@dataclass(frozen=True, slots=True)
class Renaming:
    """All s permutations of the colours; permutation 0 is the identity."""

    # int64 [s, entries]: entry i of a renamed observation is entry seen[i] of the original. After the entries of the
    # observation come those of SAD's greedy action.
    seen: torch.Tensor
    actions: torch.Tensor  # int64 [s, actions]: renamed action of each action
    back: torch.Tensor  # int64 [s, actions]: the inverse of `actions`

    def rename_observations(self, seen: torch.Tensor, number: torch.Tensor) -> torch.Tensor:
        """Rename the colours in observations.

        Args:
            seen: float32 [..., observation], or with the greedy action of SAD after it.
            number: int64 [...], number of the permutation.
        """
        return seen.gather(-1, self.seen[number][..., : seen.shape[-1]])

    def rename_legal(self, legal: torch.Tensor, number: torch.Tensor) -> torch.Tensor:
        """Rename the colours in masks of legal actions.

        Args:
            legal: bool [..., actions].
            number: int64 [...], number of the permutation.
        """
        return legal.gather(-1, self.back[number])


def renaming(rules: _core.hanabi.Rules, device: torch.device) -> Renaming:
    """Return the permutations of the colours of a game, on a device.

    Args:
        rules: Rules of the game.
        device: Device of the tensors.
    """
    cpu = _renaming(rules.players, rules.colors, rules.ranks, rules.hand, rules.hints, rules.lives)
    return Renaming(cpu.seen.to(device), cpu.actions.to(device), cpu.back.to(device))


@cache
def _renaming(players: int, colors: int, ranks: int, hand: int, hints: int, lives: int) -> Renaming:
    rules = _core.hanabi.Rules(players, colors, ranks, hand, hints, lives)
    entries = list(_observation_entries(rules))
    entry_index = {entry: i for i, entry in enumerate(entries)}
    moves = [_move(rules, action) for action in range(rules.actions)]
    action_of = {move: action for action, move in enumerate(moves)}
    # New colour by old colour, for each permutation; None stands for no colour and stays.
    new_colours = [{None: None, **dict(enumerate(order))} for order in permutations(range(colors))]
    old_colours = [{new: old for old, new in names.items()} for names in new_colours]
    seen = torch.tensor([[entry_index[meaning, old[color]] for meaning, color in entries] for old in old_colours])
    last = Layout.for_rules(rules).last  # entries about the last move, which the greedy action's entries repeat
    return Renaming(
        seen=torch.cat([seen, seen[:, last] + len(entries) - last.start], 1),
        actions=torch.tensor([[action_of[meaning, new[color]] for meaning, color in moves] for new in new_colours]),
        back=torch.tensor([[action_of[meaning, old[color]] for meaning, color in moves] for old in old_colours]),
    )


def colour_hint_mask(rules: _core.hanabi.Rules, device: torch.device) -> torch.Tensor:
    """Return which actions are hints of a colour.

    Args:
        rules: Rules of the game.
        device: Device of the mask.

    Returns:
        bool [actions].
    """
    return torch.tensor([_move(rules, action)[1] is not None for action in range(rules.actions)], device=device)


def orders(rules: _core.hanabi.Rules, seed: int, games: np.ndarray) -> np.ndarray:
    """Draw the permutation by which each seat names the colours.

    Args:
        rules: Rules of the games.
        seed: Series of the games.
        games: [k], numbers of the games.

    Returns:
        int64 [k, players].
    """
    count = len(renaming(rules, torch.device("cpu")).actions)
    rows = (np.random.default_rng([seed, 5, int(game)]).integers(count, size=rules.players) for game in games)
    return np.array(list(rows), dtype=np.int64).reshape(len(games), rules.players)


_Named = tuple[tuple[object, ...], int | None]  # meaning of an entry or a move without its colour, and the colour


def _move(rules: _core.hanabi.Rules, action: int) -> _Named:
    """Return the meaning of an action. Plays and discards have no colour."""
    if action < 2 * rules.hand:
        return ("card", action), None
    parts = hint(rules, action)
    return ("hint", parts[0], parts[2]), parts[1]


def _observation_entries(rules: _core.hanabi.Rules) -> Iterator[_Named]:
    """Yield the entries of an observation in their order (cpp/hanabi/observation.hpp)."""
    players, slots = range(rules.players), range(rules.hand)
    colors, ranks = range(rules.colors), range(rules.ranks)

    def plain(part: str, n: int) -> Iterator[_Named]:
        """Yield n entries without a colour."""
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
            yield ("hinted colour", offset, slot), color
        for rank in ranks:
            yield ("hinted rank", offset, slot, rank), None
