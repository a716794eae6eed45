"""Views: what one seat sees of a game."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import pyspiel

    State: TypeAlias = pyspiel.State  # never wrapped, so OpenSpiel's tools accept our states and we accept OpenSpiel's

PUBLIC = -1  # the viewer of public information
CHANCE = -1  # the actor of an event that no player caused (pyspiel.PlayerId.CHANCE)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, as one viewer saw it."""

    actor: int  # the seat that acted, or CHANCE
    action: int | None  # an OpenSpiel action; None: hidden from this viewer, or no action at all
    seen: tuple[int, ...] = ()  # cards or other facts that it revealed to this viewer; a hand ascends, if it is sorted


@lru_cache(maxsize=1 << 16)
def action_event(actor: int, action: int | None) -> Event:
    """Return the event of an action that reveals nothing but itself.

    Events are cached, which makes views faster to build.

    Args:
        actor: Seat that acted, or CHANCE.
        action: OpenSpiel action; None: hidden from the viewer.
    """
    return Event(actor, action)


@dataclass(frozen=True, slots=True)
class View:
    """All that one viewer has seen of a hand. It contains no card that is hidden from the viewer.

    Two states that the viewer cannot distinguish have equal views.
    """

    viewer: int  # a seat, or PUBLIC
    events: tuple[Event, ...]  # in order of time
    legal: tuple[int, ...]  # the viewer's own legal actions, ascending; empty if it is not on turn

    @property
    def own_actions(self) -> tuple[int, ...]:
        """The actions of the viewer so far."""
        return tuple(e.action for e in self.events if e.actor == self.viewer and e.action is not None)
