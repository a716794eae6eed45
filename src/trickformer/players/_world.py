"""A sampled deal for players that insist on a whole one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trickformer.base import Belief, Memo, View

if TYPE_CHECKING:
    from trickformer.base import State


def follow(belief: Belief, view: View, rng: np.random.Generator, memo: Memo) -> tuple[State, bool]:
    """A state that explains the view, and whether it is another deal than that of the decision before."""
    belief.reset(view)
    return belief.sample(1, rng).state(0), True
