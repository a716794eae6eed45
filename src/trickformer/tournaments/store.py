"""Records of hands, the lines of records.jsonl."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from trickformer.base import FaultKind
from trickformer.plumbing.text import Int64
from trickformer.tournaments.deals import DealName
from trickformer.tournaments.plan import Hand


class HandRecord(BaseModel):
    """One finished hand.

    Lists are by seat. `history` replays through OpenSpiel from the initial state. Fields that are None are not written.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    deal: Int64
    seating: tuple[Int64, ...]  # index of the player in each seat
    scores: tuple[Int64, ...]  # in the game's units
    decisions: tuple[Int64, ...]  # number of decisions
    illegal: tuple[Int64, ...]  # number of impossible histories that searches generated
    searched: tuple[Int64, ...]  # number of all histories that searches generated
    seconds: tuple[float, ...]  # wall seconds in `Player.act`; the time of a call is shared evenly by its views
    calls: tuple[float, ...]  # `Player.act` calls, shared in the same way: decisions / calls is the mean batch
    history: tuple[Int64, ...]  # every action, chance included
    mission: Int64 | None = None  # number of the mission in The Crew; None in other games
    overran: tuple[Int64, ...] | None = None  # decisions that exceeded the time limit; None without a limit
    # For each decision whose search estimated its gain (gains.py): number of decisions before it in the hand, the
    # estimate, and a second estimate from worlds of the exact belief, null if the search made none. The field is None
    # if no search estimated a gain.
    gains: tuple[tuple[tuple[Int64, float, float | None], ...], ...] | None = None
    faults: tuple[dict[FaultKind, Int64], ...] | None = None  # number of engine faults by kind; None if there were none
    seed: Int64 | None = None  # seed of the deal's series; None for the run's seed

    @property
    def hand(self) -> Hand:
        """The hand of the plan that this record belongs to."""
        return Hand(self.deal, self.seating, self.seed)

    @property
    def deal_name(self) -> DealName:
        """The name of its deal."""
        return DealName(self.deal, self.seed)
