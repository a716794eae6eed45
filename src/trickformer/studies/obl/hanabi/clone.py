"""Clone bot of "Off-Belief Learning" (Appendix B.3): supervised learning of the moves of recorded games.

The games of the paper are by people; the games here are by scripted players.
"""

from __future__ import annotations

import numpy as np
import torch

from trickformer import _core
from trickformer.players.partner import style_of
from trickformer.studies.obl.hanabi.actors import Trajectories
from trickformer.studies.obl.hanabi.learning import Frames


def style(games_of: str | None) -> str | None:
    """Return the style of the scripted player that a spec names; None without a spec.

    Args:
        games_of: Spec of the player to imitate, such as partner:style=smart.

    Raises:
        TrickformerError: If the spec names another kind of player.
    """
    return style_of("who is imitated", games_of) if games_of is not None else None


def play_scripted_games(rules: _core.hanabi.Rules, style: str, seed: int, n: int) -> Trajectories:
    """Play the first games of a series with a scripted player in all seats.

    Args:
        rules: Rules of the games.
        style: Style of the scripted player.
        seed: Series of the games.
        n: Number of games.

    Returns:
        The games; their targets and tries are zero.
    """
    bots = np.full(rules.players, _core.hanabi.BOTS.index(style), dtype=np.int8)
    actions = _core.hanabi.scripted_games(rules, bots, seed, 0, n)[1]
    targets = np.zeros((*actions.shape, rules.players), dtype=np.float32)
    tries, tried = np.zeros_like(actions), np.zeros(actions.shape, dtype=np.float32)
    return Trajectories(np.arange(n, dtype=np.uint64), actions, targets, tries, tried)


def surprise(frames: Frames, q: torch.Tensor) -> torch.Tensor:
    """Compute the cross entropy of the recorded moves under the network's policy.

    Args:
        frames: m moves.
        q: float32 [m, P, actions], logits of the policy.

    Returns:
        float32 [m], in nats.
    """
    log_p = q[frames.own].masked_fill(~frames.legal[frames.own], -torch.inf).log_softmax(1)
    return -log_p.gather(1, frames.actions[:, None])[:, 0]
