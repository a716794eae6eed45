"""The clone bot of "Off-Belief Learning" (Appendix B.3): supervised learning of what was done in games on record.

The paper's are games of people; ours are games of scripted players."""

from __future__ import annotations

import numpy as np
import torch

from trickformer import _core
from trickformer.search.hanabi.scripted import style_of
from trickformer.studies.obl.hanabi.actors import Trajectories
from trickformer.studies.obl.hanabi.learning import Frames


def style(games_of: str | None) -> str | None:
    """The scripted player of a spec, if there is one. Raises TrickformerError for any other player."""
    return style_of("who is imitated", games_of) if games_of is not None else None


def play_scripted_games(rules: _core.hanabi.Rules, style: str, seed: int, n: int) -> Trajectories:
    """The first n games of the series `seed` as a scripted player plays them in all seats."""
    bots = np.full(rules.players, _core.hanabi.BOTS.index(style), dtype=np.int8)
    _, actions, _ = _core.hanabi.scripted_games(rules, bots, seed, 0, n)
    targets = np.zeros((*actions.shape, rules.players), dtype=np.float32)
    tries, tried = np.zeros_like(actions), np.zeros(actions.shape, dtype=np.float32)
    return Trajectories(np.arange(n, dtype=np.uint64), actions, targets, tries, tried)


def surprise(given: Frames, q: torch.Tensor) -> torch.Tensor:
    """float32 [m]: the cross-entropy of what was done, by the policy of logits q, float32 [m, P, actions]."""
    logs = q[given.own].masked_fill(~given.legal[given.own], -torch.inf).log_softmax(1)
    return -logs.gather(1, given.actions[:, None])[:, 0]
