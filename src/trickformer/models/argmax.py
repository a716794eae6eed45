"""ArgmaxVal*: the action of highest predicted value among those that the policy finds likely enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from trickformer.base import Decision, Game
from trickformer.models.player import ModelOptions, ModelPlayer, Turns

if TYPE_CHECKING:
    from trickformer.models.backend import Backend


class ArgmaxPlayer(ModelPlayer):
    """Player by equations 2 and 3 of the GO-MCTS paper."""

    def __init__(
        self, options: ModelOptions, game: Game, backend: Backend | None = None, threshold: float | None = None
    ):
        """Load the model.

        Args:
            options: Options of the player.
            game: The game.
            backend: Backend of another player with the same checkpoint, to share it.
            threshold: Least probability of an action among the legal ones; None takes the game's.
        """
        super().__init__(options, game, backend)
        self.threshold = game.search.least_argmax_probability if threshold is None else threshold

    def likely(self, turns: Turns) -> np.ndarray:
        """Return 1 for the player's choice and 0 for other tokens, float64 [n, V].

        Args:
            turns: n turns.
        """
        chosen = [self.tokenizer.token(decision.action) for decision in self.decide(turns)]
        return np.eye(turns.legal.shape[1])[chosen]

    def decide(self, turns: Turns) -> list[Decision]:
        from trickformer.models.decide import action_values, argmax_val

        features = self.feature_function(turns.tokens)
        logits = self.backend.policy(turns.nodes)
        decided = argmax_val(self.backend, turns.nodes, logits, turns.legal, self.threshold, features)
        if decided.nodes is not None:
            self.backend.release(decided.nodes)
        looked = action_values(self.backend, turns.nodes, turns.legal, features) if turns.explain else decided.looked
        thoughts = self.thoughts(turns, [()] * len(turns.nodes))
        return [
            Decision(by_token[token], value, values=_values(by_token, worth), thought=thought)
            for by_token, token, value, worth, thought in zip(
                turns.actions, decided.tokens.tolist(), decided.values.tolist(), looked, thoughts, strict=True
            )
        ]


def _values(by_token: dict[int, int], worth: np.ndarray) -> dict[int, float]:
    """Return values by action; actions that were not evaluated (NaN in float32 [V]) are left out."""
    known = zip(by_token.values(), worth[list(by_token)].tolist(), strict=True)
    return {action: value for action, value in known if not math.isnan(value)}
