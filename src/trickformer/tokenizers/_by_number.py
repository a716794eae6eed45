"""What the tokenizers of the core's games share."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import Tokenizer, Tracker

Tracker.register(_core.Tracker)  # of the core's games; it is written in C++


class ByNumber(Tokenizer):
    """A tokenizer in whose sequences an own action is its number, and which the core's codec follows."""

    codec: Any  # of the core: follows sequences, and encodes whole hands
    n_actions: int

    def token(self, action: int) -> int:
        """An action's token is its number."""
        return action

    def action(self, token: int) -> int:
        """The action of an own token. Raises ValueError on a token that is no action."""
        if not 0 <= token < self.n_actions:
            raise ValueError(f"token {token} is no action of a player")
        return token

    def tracker(self, tokens: np.ndarray) -> Tracker:
        """The tracker after these tokens, which may be none."""
        tracker = self.codec.tracker()
        for token in tokens:
            tracker.push(int(token))
        return tracker
