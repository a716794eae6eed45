"""Base of the tokenizers of the core's games."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import Tokenizer, Tracker

Tracker.register(_core.Tracker)  # the base class of the core's trackers, for isinstance


class ByNumber(Tokenizer):
    """Tokenizer in which an action of the own seat is the token of the same number; the core's codec has the rest."""

    codec: Any  # the core's codec, which follows sequences and encodes whole hands
    n_actions: int

    def token(self, action: int) -> int:
        return action

    def action(self, token: int) -> int:
        if not 0 <= token < self.n_actions:
            raise ValueError(f"token {token} is no action of a player")
        return token

    def tracker(self, tokens: np.ndarray) -> Tracker:
        tracker = self.codec.tracker()
        for token in tokens:
            tracker.push(int(token))
        return tracker
