"""Base of the tokenizers of the core's games."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import Tokenizer, Tracker

Tracker.register(_core.Tracker)  # base of the core's trackers, which are written in C++


class ByNumber(Tokenizer):
    """Tokenizer whose own actions are tokens of the same number, and whose sequences the core's codec follows."""

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
