"""ArgmaxVal*: the action with the highest predicted value among those that the policy considers probable enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from trickformer.base import Decision, Game, TrickformerError
from trickformer.models.player import ModelOptions, ModelPlayer, Turns

if TYPE_CHECKING:
    from trickformer.models.backend import Backend


class ArgmaxPlayer(ModelPlayer):
    """Player by equations 2 and 3 of the GO-MCTS paper."""

    def __init__(
        self,
        options: ModelOptions,
        game: Game,
        threshold: float,
        backend: Backend | None = None,
        action_values: bool | None = None,
    ):
        """Load the model.

        Args:
            options: Options of the player.
            game: The game.
            threshold: Smallest probability of an action, by the policy over legal actions, to be considered.
            backend: Backend of another player with the same checkpoint, to share it.
            action_values: Whether the values are Q(s, a), and not V after the action; None: if the model has Q.

        Raises:
            TrickformerError: The model has no action values, and `action_values` is True; or see `ModelPlayer`.
        """
        super().__init__(options, game, backend)
        self.threshold = threshold
        if action_values and not self.backend.has_action_values:
            raise TrickformerError(f"{options.checkpoint_of(game)} has no action values; leave out action_values")
        self.action_values = self.backend.has_action_values if action_values is None else action_values

    @property
    def uses_action_values(self) -> bool:
        return self.action_values

    def choice_probabilities(self, turns: Turns) -> np.ndarray:
        """Return 1 for the player's choice and 0 for other tokens, float64 [n, V].

        Args:
            turns: n turns.
        """
        chosen = [self.tokenizer.token(decision.action) for decision in self.decide(turns)]
        return np.eye(turns.legal.shape[1])[chosen]

    def decide(self, turns: Turns) -> list[Decision]:
        from trickformer.models.decide import argmax_val, values_after

        features = self.feature_function(turns.tokens)
        logits = self.backend.policy(turns.nodes)
        decided = argmax_val(
            self.backend, turns.nodes, logits, turns.legal, self.threshold, features, self.action_values
        )
        if decided.nodes is not None:
            self.backend.release(decided.nodes)
        token_values = decided.token_values
        if turns.explain and not self.action_values:  # an explanation shows the values of all legal actions
            token_values = values_after(self.backend, turns.nodes, turns.legal, features)
        thoughts = self.thoughts(turns, [()] * len(turns.nodes))
        return [
            Decision(action_of[token], value, values=_values(action_of, row), thought=thought)
            for action_of, token, value, row, thought in zip(
                turns.actions, decided.tokens.tolist(), decided.values.tolist(), token_values, thoughts, strict=True
            )
        ]


def _values(action_of: dict[int, int], token_values: np.ndarray) -> dict[int, float]:
    """Return the values, float32 [V], by action. Actions that were not evaluated, with NaN, are left out."""
    values = zip(action_of.values(), token_values[list(action_of)].tolist(), strict=True)
    return {action: value for action, value in values if not math.isnan(value)}
