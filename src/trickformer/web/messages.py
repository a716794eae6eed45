"""What a page may say, and nothing else."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Panel = Literal["model", "search", "pimc", "belief", "worlds", "tokens"]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Act(_Message):
    """A decision of a person."""

    do: Literal["act"]
    seat: int = Field(ge=0, le=63)
    action: int = Field(ge=0, le=1_000_000)
    ply: int = Field(ge=0, le=1_000_000)  # actions of the hand so far, as the page knows it


class Undo(_Message):
    do: Literal["undo"]


class Again(_Message):
    """The same deal from its beginning."""

    do: Literal["again"]


class Next(_Message):
    """The next deal."""

    do: Literal["next"]


class Claim(_Message):
    """The rest of the hand brings the person this score at least, whatever the others do."""

    do: Literal["claim"]
    score: int = Field(ge=-1_000_000, le=1_000_000)


class Match(_Message):
    """A new match; seats are named by their place among the players that the table offers."""

    do: Literal["match"]
    seats: tuple[Annotated[int, Field(ge=0, le=1_000)], ...] = Field(max_length=64, strict=False)
    deal: int = Field(ge=0, lt=2**31)


class Look(_Message):
    """Panels that are to be shown, each anew at every decision of the person."""

    do: Literal["look"]
    panels: tuple[Panel, ...] = Field(max_length=6, strict=False)


class Cancel(_Message):
    """Whatever is being thought about is given up."""

    do: Literal["cancel"]


Message = Act | Undo | Again | Next | Claim | Match | Look | Cancel
_ANY: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="do")])


def read(text: str) -> Message:
    """Raises ValueError on anything that is no message."""
    return _ANY.validate_json(text)
