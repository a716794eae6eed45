"""The Crew as an evaluation plays it: games of all missions side by side, by one game's players."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trickformer.games.crew import Crew
from trickformer.studies.crew import STRIDE

if TYPE_CHECKING:
    from trickformer.base import State


class Boards(Crew):
    """A deal's index names its mission, and no two missions share their cards: games are independent samples."""

    def deal(self, seed: int, index: int, mission: int | None = None) -> State:
        """Game `index` // STRIDE of mission `index` % STRIDE, at the first decision."""
        return super().deal(seed, index, index % STRIDE if mission is None else mission)
