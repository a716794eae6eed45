"""Values and targets of a network on finished games: of moves, and of waiting while other seats move."""

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
    """All m moves of k games, game by game, with the observations of the P seats before each move."""

    seen: torch.Tensor  # float32 [m, P, observation]
    legal: torch.Tensor  # bool [m, P, actions]; all false for seats that wait
    own: torch.Tensor  # bool [m, P]: the seat on turn
    actions: torch.Tensor  # int64 [m]
    rewards: torch.Tensor  # float32 [m]: change of the score
    lengths: np.ndarray  # int64 [k]: moves of each game

    @property
    def games(self) -> torch.Tensor:
        """Game of each move among the k: int64 [m]."""
        return torch.from_numpy(np.repeat(np.arange(len(self.lengths)), self.lengths)).to(self.seen.device)

    @property
    def places(self) -> torch.Tensor:
        """Number of each move in its game: int64 [m]."""
        starts = np.cumsum(self.lengths) - self.lengths
        return torch.from_numpy(np.arange(self.lengths.sum()) - np.repeat(starts, self.lengths)).to(self.seen.device)


def frames(
    rules: _core.hanabi.Rules, seed: int, games: Trajectories, v0: bool, device: torch.device, greedy: bool = False
) -> Frames:
    """Replay games and return their moves as frames.

    Args:
        rules: Rules of the games.
        seed: Seed of the games' series.
        games: The games' numbers and moves.
        v0: Whether observations hold V0 beliefs.
        device: Device of the tensors.
        greedy: Whether the greedy actions of SAD follow the observation.
    """
    replayed = _core.hanabi.frames(rules, seed, games.games, games.actions, v0)
    seen, legal = replayed[:2]
    seats, rewards = replayed[2:]
    lengths = (games.actions != OVER).sum(axis=1)
    if greedy:
        # With SAD, `tries` holds the greedy actions, not imagined ones (actors.py).
        shown = sad.observe_greedy_actions(
            rules, seed, games=games.games, actions=games.actions, greedy=games.tries, lengths=lengths
        )
        seen = np.concatenate([seen, shown], axis=2)
    own = seats[:, None] == np.arange(rules.players)
    actions = games.actions[games.actions != OVER].astype(np.int64)
    return Frames(
        seen=torch.from_numpy(seen).to(device),
        legal=torch.from_numpy(legal[:, None] & own[:, :, None]).to(device),
        own=torch.from_numpy(own).to(device),
        actions=torch.from_numpy(actions).to(device),
        rewards=torch.from_numpy(rewards.astype(np.float32)).to(device),
        lengths=lengths,
    )


def shape_rewards(frames: Frames, which: torch.Tensor, bonus: float) -> Frames:
    """Return the frames with a bonus for some actions.

    Args:
        frames: m moves.
        which: bool [actions], actions that earn the bonus.
        bonus: Points a move.
    """
    return replace(frames, rewards=frames.rewards + bonus * which[frames.actions])


def rename_colours(frames: Frames, names: Renaming, numbers: torch.Tensor) -> Frames:
    """Return the frames with the colours renamed, by a permutation for each seat.

    Args:
        frames: m moves of k games.
        names: Permutations of the colours.
        numbers: int64 [k, P], number of each seat's permutation in `names`.
    """
    number = numbers[frames.games]
    seen, legal = names.rename_observations(frames.seen, number), names.rename_legal(frames.legal, number)
    return replace(frames, seen=seen, legal=legal, actions=names.actions[number[frames.own], frames.actions])


def _contexts(network: ActionValues, frames: Frames) -> torch.Tensor:
    """Run the LSTM on the public observations of each game up to each move.

    Returns:
        Factors of the private layers' output, float32 [m, P, hidden]; without an LSTM ones, float32 [m, P, 1].
    """
    players, size = frames.seen.shape[1:]
    if not network.sizes.recurrent:
        return frames.seen.new_ones(()).expand(len(frames.seen), players, 1)
    k, longest = len(frames.lengths), int(frames.lengths.max())
    game, move = frames.games, frames.places
    sequences = frames.seen.new_zeros(longest, k, players, size)
    sequences[move, game] = frames.seen
    context, _ = network.contexts(sequences.flatten(1, 2), network.memory(k * players))
    return context.unflatten(1, (k, players))[move, game]


def units(network: ActionValues, frames: Frames) -> torch.Tensor:
    """Compute the last hidden layer; all values are linear functions of it.

    Args:
        network: Network of action values.
        frames: m moves with P seats each.

    Returns:
        float32 [m * P, hidden].
    """
    return network.units(frames.seen.flatten(0, 1), _contexts(network, frames).flatten(0, 1))


def values(network: ActionValues, frames: Frames, x: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the values of actions and of waiting.

    Args:
        network: Network of action values.
        frames: m moves with P seats each.
        x: Result of `units`, if it is computed already.

    Returns:
        float32 [m, P, actions] of actions, and float32 [m, P] of waiting.
    """
    q, waiting = network.values(units(network, frames) if x is None else x, frames.legal.flatten(0, 1))
    return q.unflatten(0, frames.own.shape), waiting.unflatten(0, frames.own.shape)


def select_values(frames: Frames, q: torch.Tensor, waiting: torch.Tensor) -> torch.Tensor:
    """Select the value of the move for the seat on turn, and of waiting for the other seats.

    Args:
        frames: m moves with P seats each.
        q: float32 [m, P, actions], values of actions.
        waiting: float32 [m, P], values of waiting.

    Returns:
        float32 [m, P].
    """
    moves = q.gather(2, frames.actions[:, None, None].expand(-1, q.shape[1], 1))[:, :, 0]
    return torch.where(frames.own, moves, waiting)


def off_belief(
    frames: Frames, q: torch.Tensor, waiting: torch.Tensor, games: Trajectories, tries: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the values and the targets of off-belief learning.

    Args:
        frames: m moves with P seats each.
        q: float32 [m, P, actions], values of actions.
        waiting: float32 [m, P], values of waiting.
        games: Games of the frames, with their targets.
        tries: Whether to append a column for the action that the seat on turn tried in imagination.

    Returns:
        Values and targets, float32 [m, P] both; with `tries` [m, P + 1], the imagined action last.
    """
    is_move = games.actions != OVER
    estimates, targets = select_values(frames, q, waiting), torch.from_numpy(games.targets[is_move]).to(q.device)
    if not tries:
        return estimates, targets
    imagined = torch.from_numpy(games.tries[is_move].astype(np.int64)).to(q.device)
    imagined_values = q[frames.own].gather(1, imagined[:, None])
    imagined_targets = torch.from_numpy(games.tried[is_move]).to(q.device)
    return torch.cat([estimates, imagined_values], 1), torch.cat([targets, imagined_targets[:, None]], 1)


@torch.no_grad()
def bootstrap_targets(
    online: torch.Tensor, target: ActionValues, frames: Frames, moves: int, discount: float, temperature: float
) -> torch.Tensor:
    """Compute n-step targets of self-play by double Q-learning.

    A target is the sum of the discounted rewards of the next moves and of the value of the position after them: of the
    next action if the seat is on turn there, else of waiting. `target` evaluates both.

    Args:
        online: float32 [m, P, actions], values by the network that learns; they choose the action.
        target: Network that evaluates the action.
        frames: m moves with P seats each.
        moves: Number of moves whose rewards are added up.
        discount: Discount of a move.
        temperature: Temperature of the softmax over actions, in points; 0 takes the best action.

    Returns:
        float32 [m, P], in points.
    """
    q, waiting = values(target, frames)
    expected = expected_value(q.flatten(0, 1), online.flatten(0, 1), frames.legal.flatten(0, 1), temperature)
    state_values = torch.where(frames.own, expected.unflatten(0, frames.own.shape), waiting)
    m, device = len(state_values), state_values.device
    moves_left = torch.from_numpy(np.repeat(frames.lengths, frames.lengths)).to(device) - frames.places
    at = torch.arange(m, device=device)
    targets = torch.zeros_like(state_values)
    for i in range(moves):
        targets += (discount**i * frames.rewards[(at + i).clamp(max=m - 1)] * (moves_left > i))[:, None]
    return targets + discount**moves * state_values[(at + moves).clamp(max=m - 1)] * (moves_left > moves)[:, None]


def loss(errors: torch.Tensor, frames: Frames, weights: torch.Tensor) -> torch.Tensor:
    """Compute half the weighted mean squared error over moves and seats.

    It is not Huber's loss, because a value shall be the mean of its targets, not a robust average.

    Args:
        errors: float32 [m], [m, P], or with imagined actions [m, P + 1], in points.
        frames: m moves of k games.
        weights: float32 [k], weights of the games.
    """
    move_weights = weights[frames.games]
    return (errors**2 * move_weights.view(-1, *[1] * (errors.dim() - 1))).mean() / 2
