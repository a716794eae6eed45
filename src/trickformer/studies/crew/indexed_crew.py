"""The Crew as evaluations play it: one game object, whose deals have all missions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trickformer.games.crew import Crew
from trickformer.studies.crew import STRIDE

if TYPE_CHECKING:
    from trickformer.base import State


class IndexedCrew(Crew):
    """The Crew with the mission as a part of the deal's index.

    Deals of different missions have different indices and so different cards, so all games are independent samples.
    """

    def deal(self, seed: int, index: int, mission: int | None = None) -> State:
        """Deal game `index` // STRIDE of mission `index` % STRIDE, up to the first decision.

        Args:
            seed: Series of the deals.
            index: Number of the deal in the series.
            mission: Mission to play (default: index % STRIDE).
        """
        return super().deal(seed, index, index % STRIDE if mission is None else mission)
