"""What a page may say, at the table (`read`) and to review hands (`read_review`), and nothing else."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Panel = Literal["model", "search", "pimc", "belief", "worlds", "tokens"]


class _PageMessage(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class PlayAction(_PageMessage):
    """A decision of a person."""

    do: Literal["act"]
    seat: int = Field(ge=0, le=63)
    action: int = Field(ge=0, le=1_000_000)
    ply: int = Field(ge=0, le=1_000_000)  # actions of the hand so far, as the page knows it


class Undo(_PageMessage):
    do: Literal["undo"]


class Again(_PageMessage):
    """The same deal from its beginning."""

    do: Literal["again"]


class Next(_PageMessage):
    """The next deal."""

    do: Literal["next"]


class Claim(_PageMessage):
    """The rest of the hand brings the person this score at least, whatever the others do."""

    do: Literal["claim"]
    score: int = Field(ge=-1_000_000, le=1_000_000)


class Match(_PageMessage):
    """A new match; seats are named by their place among the players that the table offers."""

    do: Literal["match"]
    seats: tuple[Annotated[int, Field(ge=0, le=1_000)], ...] = Field(max_length=64, strict=False)
    deal: int = Field(ge=0, lt=2**31)


class Look(_PageMessage):
    """Panels that are to be shown, each anew at every decision of the person."""

    do: Literal["look"]
    panels: tuple[Panel, ...] = Field(max_length=6, strict=False)


class Cancel(_PageMessage):
    """Whatever is being thought about is given up."""

    do: Literal["cancel"]


class List(_PageMessage):
    """A page of the hands that there are."""

    do: Literal["list"]
    page: int = Field(0, ge=0, le=1_000_000_000)


class _OfHand(_PageMessage):
    number: int = Field(ge=1, le=1_000_000_000)  # of the hand, in its file or at the table


class Open(_OfHand):
    """A hand."""

    do: Literal["open"]


class Rate(_OfHand):
    """A review; the analyst is named by its place among those that the hand's page offers."""

    do: Literal["rate"]
    analyst: int = Field(ge=0, le=1_000)


class Try(_OfHand):
    """What if? The rest of the hand is played anew; players are named by their place among those that are offered."""

    do: Literal["try"]
    at: int = Field(ge=1, le=1_000_000)  # the decision before which it begins
    seats: tuple[Annotated[int, Field(ge=0, le=1_000)], ...] = Field(min_length=1, max_length=64, strict=False)
    action: int | None = Field(ge=0, le=1_000_000)  # what is done there first
    n: int = Field(ge=2, le=100_000)  # games


Message = PlayAction | Undo | Again | Next | Claim | Match | Look | Cancel
OfReview = List | Open | Rate | Try | Cancel
_TABLE: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="do")])
_REVIEW: TypeAdapter[OfReview] = TypeAdapter(Annotated[OfReview, Field(discriminator="do")])


def read(text: str) -> Message:
    """What a page of the table says. Raises ValueError on anything else."""
    return _TABLE.validate_json(text)


def read_review(text: str) -> OfReview:
    """What a page that reviews hands says. Raises ValueError on anything else."""
    return _REVIEW.validate_json(text)
