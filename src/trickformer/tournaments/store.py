"""Records of hands, the lines of records.jsonl."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from trickformer.base import FaultKind
from trickformer.plumbing.text import Int64
from trickformer.tournaments.deals import DealName
from trickformer.tournaments.plan import Hand

TIMING = ("seconds", "calls", "overran", "faults")  # the fields that differ between runs of the same config


class HandRecord(BaseModel):
    """One finished hand.

    Lists are by seat. `history` replays through OpenSpiel from the initial state. Fields that are None are not written.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    deal: Int64
    seating: tuple[Int64, ...]  # index of the player in each seat
    scores: tuple[Int64, ...]  # in the game's units
    decisions: tuple[Int64, ...]
    illegal: tuple[Int64, ...]  # illegal histories that searches generated
    searched: tuple[Int64, ...]  # histories that searches generated
    seconds: tuple[float, ...]  # wall seconds inside act, each call shared evenly by its views
    calls: tuple[float, ...]  # act calls, each shared evenly: decisions / calls is the mean batch
    history: tuple[Int64, ...]  # every action, chance included
    mission: Int64 | None = None  # its number; None if the game has no missions
    overran: tuple[Int64, ...] | None = None  # decisions that took longer than the clock; None without a clock
    # For each decision whose search estimated its gain (base.Decision): number of moves before it, the gain, and the
    # gain by exact samples or null. None if no search estimated a gain.
    gains: tuple[tuple[tuple[Int64, float, float | None], ...], ...] | None = None
    faults: tuple[dict[FaultKind, Int64], ...] | None = None  # of engines; None if there were none
    seed: Int64 | None = None  # of the deal's series; None if it is the run's

    @property
    def hand(self) -> Hand:
        """Its place in the schedule."""
        return Hand(self.deal, self.seating, self.seed)

    @property
    def deal_name(self) -> DealName:
        """The name of its deal."""
        return DealName(self.deal, self.seed)
