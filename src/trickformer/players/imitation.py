"""Samples its actions from the model's policy, normalized over the legal ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trickformer.base import Decision, Game, View
from trickformer.players._model import ModelOptions, ModelPlayer


class Options(ModelOptions):
    pass


class ImitationPlayer(ModelPlayer):
    """The population's average player (GO-MCTS paper, section 5.2)."""

    def decide(
        self,
        nodes: np.ndarray,
        views: Sequence[View],
        tokens: Sequence[np.ndarray],
        legal: np.ndarray,
        rng: Sequence[np.random.Generator],
    ) -> list[Decision]:
        from trickformer.models.decide import draw, legal_policy

        probs = legal_policy(self.engine.policy(nodes), legal)
        uniforms = np.array([g.random() for g in rng])
        return [Decision(self.tokenizer.action(int(t))) for t in draw(probs, uniforms)]


def make(options: Options, game: Game) -> ImitationPlayer:
    return ImitationPlayer(options, game)
