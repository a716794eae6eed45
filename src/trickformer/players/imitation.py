"""samples its actions from the model's policy"""

from __future__ import annotations

import numpy as np

from trickformer.base import Decision, Game
from trickformer.models.player import ModelOptions, ModelPlayer, Turns


class Options(ModelOptions):
    pass


class ImitationPlayer(ModelPlayer):
    """Player that samples from the model's policy, as in section 5.2 of the GO-MCTS paper."""

    def decide(self, turns: Turns) -> list[Decision]:
        from trickformer.models.decide import draw, legal_policy

        probs = legal_policy(self.backend.policy(turns.nodes), turns.legal)
        uniforms = np.array([g.random() for g in turns.rng])
        return [Decision(by_token[int(t)]) for by_token, t in zip(turns.actions, draw(probs, uniforms), strict=True)]


def make(options: Options, game: Game) -> ImitationPlayer:
    return ImitationPlayer(options, game)
