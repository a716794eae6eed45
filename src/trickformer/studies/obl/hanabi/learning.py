"""What a network learns from games: values of the moves that were made, and of waiting while others made them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from trickformer import _core
from trickformer.models.hanabi_values import ActionValues, expected_value
from trickformer.studies.obl.hanabi import sad
from trickformer.studies.obl.hanabi.actors import OVER, Trajectories
from trickformer.studies.obl.hanabi.colours import Renaming


@dataclass(frozen=True, slots=True)
class Frames:
    """The moves of k games, m in number, game by game, with what P seats saw before them."""

    seen: torch.Tensor  # float32 [m, P, seen]
    legal: torch.Tensor  # bool [m, P, actions]: nothing of seats that wait
    own: torch.Tensor  # bool [m, P]: the seat on turn
    actions: torch.Tensor  # int64 [m]
    rewards: torch.Tensor  # float32 [m]: by how much the move changed the score
    lengths: np.ndarray  # int64 [k]: moves of each game

    @property
    def games(self) -> torch.Tensor:
        """int64 [m]: which of the k games a move is of."""
        return torch.from_numpy(np.repeat(np.arange(len(self.lengths)), self.lengths)).to(self.seen.device)

    @property
    def places(self) -> torch.Tensor:
        """int64 [m]: the number of a move in its game."""
        starts = np.cumsum(self.lengths) - self.lengths
        return torch.from_numpy(np.arange(self.lengths.sum()) - np.repeat(starts, self.lengths)).to(self.seen.device)


def frames(
    rules: _core.hanabi.Rules, seed: int, games: Trajectories, v0: bool, device: torch.device, greedy: bool = False
) -> Frames:
    """Games of the series `seed`, played again; with greedy actions beside what was seen."""
    seen, legal, seats, rewards = _core.hanabi.frames(rules, seed, games.games, games.actions, v0)
    lengths = (games.actions != OVER).sum(axis=1)
    if greedy:
        best = sad.beside(rules, seed, games=games.games, actions=games.actions, greedy=games.tries, lengths=lengths)
        seen = np.concatenate([seen, best], axis=2)
    own = seats[:, None] == np.arange(rules.players)
    tensors = (seen, legal[:, None] & own[:, :, None], own, games.actions[games.actions != OVER].astype(np.int64))
    made = [torch.from_numpy(x).to(device) for x in (*tensors, rewards.astype(np.float32))]
    return Frames(*made, lengths=lengths)


def shape_rewards(given: Frames, which: torch.Tensor, bonus: float) -> Frames:
    """The same where some actions, bool [actions], pay that much beside."""
    return replace(given, rewards=given.rewards + bonus * which[given.actions])


def rename_colours(given: Frames, names: Renaming, orders: torch.Tensor) -> Frames:
    """The same as seats see it who name the colours by `orders`, int64 [k, P]."""
    which = orders[given.games]
    seen, legal = names.look(given.seen, which), names.allow(given.legal, which)
    return replace(given, seen=seen, legal=legal, actions=names.actions[which[given.own], given.actions])


def contexts(network: ActionValues, given: Frames) -> torch.Tensor:
    """float32 [m, P, hidden]: what the public part of each seat's past is to the network."""
    m, players, size = given.seen.shape
    if not network.shape.recurrent:
        return given.seen.new_ones(()).expand(m, players, 1)
    k, longest = len(given.lengths), int(given.lengths.max())
    row, place = given.games, given.places
    rows = given.seen.new_zeros(longest, k, players, size)
    rows[place, row] = given.seen
    found, _ = network.contexts(rows.flatten(1, 2), network.memory(k * players))
    return found.unflatten(1, (k, players))[place, row]


def units(network: ActionValues, given: Frames) -> torch.Tensor:
    """float32 [m * P, hidden]: what values are linear functions of."""
    return network.units(given.seen.flatten(0, 1), contexts(network, given).flatten(0, 1))


def values(network: ActionValues, given: Frames, x: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """float32 [m, P, actions] and [m, P]: of actions, and of waiting. x: the units, if they are known."""
    q, waiting = network.values(units(network, given) if x is None else x, given.legal.flatten(0, 1))
    return q.unflatten(0, given.own.shape), waiting.unflatten(0, given.own.shape)


def select_values(given: Frames, q: torch.Tensor, waiting: torch.Tensor) -> torch.Tensor:
    """float32 [m, P]: the value of the action of the seat on turn, and of waiting to the others."""
    of_action = q.gather(2, given.actions[:, None, None].expand(-1, q.shape[1], 1))[:, :, 0]
    return torch.where(given.own, of_action, waiting)


def off_belief(
    given: Frames, q: torch.Tensor, waiting: torch.Tensor, games: Trajectories, tries: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Values and targets of off-belief learning, float32 [m, P] both; with tries [m, P + 1], the last that of the
    action that the seat on turn has only imagined."""
    played = games.actions != OVER
    found, wanted = select_values(given, q, waiting), torch.from_numpy(games.targets[played]).to(q.device)
    if not tries:
        return found, wanted
    action = torch.from_numpy(games.tries[played].astype(np.int64)).to(q.device)
    tried = torch.from_numpy(games.tried[played]).to(q.device)
    of_action = q[given.own].gather(1, action[:, None])
    return torch.cat([found, of_action], 1), torch.cat([wanted, tried[:, None]], 1)


@torch.no_grad()
def bootstrap_targets(
    online: torch.Tensor, target: ActionValues, given: Frames, moves: int, discount: float, temperature: float
) -> torch.Tensor:
    """float32 [m, P]: targets of self-play, by double Q-learning: what the next `moves` moves paid, and what `target`
    makes of the action after them.

    online: float32 [m, P, actions], the values by the network that learns, which choose that action."""
    q, waiting = values(target, given)
    worth = expected_value(q.flatten(0, 1), online.flatten(0, 1), given.legal.flatten(0, 1), temperature)
    ahead = torch.where(given.own, worth.unflatten(0, given.own.shape), waiting)
    m = len(ahead)
    left = torch.from_numpy(np.repeat(given.lengths, given.lengths)).to(ahead.device) - given.places
    at = torch.arange(m, device=ahead.device)
    found = torch.zeros_like(ahead)
    for i in range(moves):
        found += (discount**i * given.rewards[(at + i).clamp(max=m - 1)] * (left > i))[:, None]
    return found + discount**moves * ahead[(at + moves).clamp(max=m - 1)] * (left > moves)[:, None]


def loss(errors: torch.Tensor, given: Frames, weights: torch.Tensor) -> torch.Tensor:
    """Half the squared errors, [m] or [m, P], weighted by game, [k]: the mean over moves and seats. Squares, and not
    Huber's loss: a value is the mean of its targets."""
    of_move = weights[given.games]
    return (errors**2 * of_move.view(-1, *[1] * (errors.dim() - 1))).mean() / 2
