"""Messages of the pages.

`TABLE` reads those of the table, `REVIEW` those of the review of hands, `TRAINING` those of a training, and `PUZZLE`
those of puzzles.

types/messages.d.ts has the same shapes, and those of the server's messages, for the modules of the pages.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from trickformer.web.shelf import SortKey

MAX_ANNOTATION = 100  # characters of a text on a card

Panel = Literal["model", "search", "pimc", "belief", "worlds", "tokens"]


class _PageMessage(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class PlayAction(_PageMessage):
    """Decision of a person."""

    do: Literal["act"]
    seat: int = Field(ge=0, le=63)
    action: int = Field(ge=0, le=1_000_000)
    ply: int = Field(ge=0, le=1_000_000)  # number of actions of the hand that the page has received


class Undo(_PageMessage):
    """Undo of the person's last decision."""

    do: Literal["undo"]


class Again(_PageMessage):
    """Restart of the same deal."""

    do: Literal["again"]


class Next(_PageMessage):
    """Start of the next deal. `hand` is the number of the page's hand; None stands for the present one."""

    do: Literal["next"]
    hand: int | None = Field(None, ge=0, le=1_000_000_000)


class Claim(_PageMessage):
    """Claim of a score that the person can reach whatever the others do."""

    do: Literal["claim"]
    score: int = Field(ge=-1_000_000, le=1_000_000)


class Match(_PageMessage):
    """Start of a new match. `seats` holds for each seat a place on the table's list of players."""

    do: Literal["match"]
    seats: tuple[Annotated[int, Field(ge=0, le=1_000)], ...] = Field(max_length=64, strict=False)
    deal: int = Field(ge=0, lt=2**31)


class Annotate(_PageMessage):
    """Text of a person on a card in a hand. `card` is its place in the order of drawing."""

    do: Literal["annotate"]
    deal: int = Field(ge=0, lt=2**31)  # deal that the page showed when the person began to write
    seat: int = Field(ge=0, le=63)
    card: int = Field(ge=0, le=1_000_000)
    text: str = Field(max_length=MAX_ANNOTATION)


class Look(_PageMessage):
    """Choice of the panels, and of the players to compare, that the page shows at every decision of the person."""

    do: Literal["look"]
    panels: tuple[Panel, ...] = Field(max_length=6, strict=False)
    # Places on the table's list of players whose decisions are shown side by side.
    players: tuple[Annotated[int, Field(ge=0, le=1_000)], ...] = Field((), max_length=16, strict=False)


class Cancel(_PageMessage):
    """End of all computations."""

    do: Literal["cancel"]


class List(_PageMessage):
    """Request for a page of the list of hands, with its order and filters as in `HandQuery`."""

    do: Literal["list"]
    page: int = Field(0, ge=0, le=1_000_000_000)
    sort: SortKey | None = None
    descending: bool = False
    seating: int | None = Field(None, ge=0, le=1_000_000)
    player: int | None = Field(None, ge=0, le=1_000_000)
    loser: int | None = Field(None, ge=0, le=1_000_000)


class Describe(_PageMessage):
    """Request for the description of a run: its report and charts.

    A page that has a description names the number of its records, and is answered without work if it is up to date."""

    do: Literal["describe"]
    known: int | None = Field(None, ge=0, le=1_000_000_000)


class _HandMessage(_PageMessage):
    number: int = Field(ge=1, le=1_000_000_000)  # number of the hand in its file or at the table


class Open(_HandMessage):
    """Request for a hand."""

    do: Literal["open"]


class Rate(_HandMessage):
    """Request for a review. `analyst` is a place on the hand's list of analysts."""

    do: Literal["rate"]
    analyst: int = Field(ge=0, le=1_000)


class Try(_HandMessage):
    """Request for games from a position. `seats` holds for each seat a place on the hand's list of players."""

    do: Literal["try"]
    at: int = Field(ge=1, le=1_000_000)  # number of the decision before which the games begin
    seats: tuple[Annotated[int, Field(ge=0, le=1_000)], ...] = Field(min_length=1, max_length=64, strict=False)
    action: int | None = Field(ge=0, le=1_000_000)  # first action; null lets the player decide
    n: int = Field(ge=2, le=100_000)  # number of games


class _PuzzleMessage(_PageMessage):
    puzzle: int = Field(ge=1, le=1_000)  # number of the puzzle that the page shows


class Solve(_PuzzleMessage):
    """Answer to a puzzle."""

    do: Literal["solve"]
    action: int = Field(ge=0, le=1_000_000)


class Proceed(_PuzzleMessage):
    """Request for the puzzle after the one that is answered."""

    do: Literal["proceed"]


TableMessage = PlayAction | Undo | Again | Next | Claim | Match | Annotate | Look | Cancel
TrainingMessage = Describe
ReviewMessage = List | Describe | Open | Rate | Try | Cancel
PuzzleMessage = Solve | Proceed | Cancel
# Their `validate_json` reads a message, and raises ValueError if the text is none.
TABLE: TypeAdapter[TableMessage] = TypeAdapter(Annotated[TableMessage, Field(discriminator="do")])
TRAINING: TypeAdapter[TrainingMessage] = TypeAdapter(TrainingMessage)
REVIEW: TypeAdapter[ReviewMessage] = TypeAdapter(Annotated[ReviewMessage, Field(discriminator="do")])
PUZZLE: TypeAdapter[PuzzleMessage] = TypeAdapter(Annotated[PuzzleMessage, Field(discriminator="do")])
