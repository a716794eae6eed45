"""Messages between an engine and its host. docs/engines.md explains each message and its fields."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from trickformer.plumbing.text import Int64


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Hello(_Message):
    type: Literal["hello"]
    protocol: int
    name: str = Field(min_length=1, max_length=200)
    version: str = Field("", max_length=200)
    games: list[str] = Field(min_length=1, max_length=1_000)
    seeds: bool | Literal["numpy"] = False
    tables: int = Field(1, ge=1, le=1_000_000)
    deals: bool = False  # whether the engine needs the cards of all seats (Whole deals in docs/engines.md)


class EngineAction(_Message):
    type: Literal["action"]
    table: Int64
    action: Int64
    value: Annotated[float, Field(allow_inf_nan=False)] | None = None
    visits: dict[Annotated[str, Field(pattern=r"^\d{1,9}$")], Int64] | None = None  # by action, which JSON spells "12"
    text: str | None = None


class Error(_Message):
    type: Literal["error"]
    text: str


EngineMessage = Hello | EngineAction | Error  # from an engine
_ENGINE_MESSAGE: TypeAdapter[EngineMessage] = TypeAdapter(Annotated[EngineMessage, Field(discriminator="type")])


class Greeting(_Message):
    type: Literal["hello"]
    protocol: int


class New(_Message):
    type: Literal["new"]
    table: int
    game: str
    seat: int
    seed: int


class ObservedEvent(_Message):
    seat: int
    action: int | None
    words: str | None
    seen: list[int]


class Observe(_Message):
    type: Literal["observe"]
    table: int
    events: list[ObservedEvent]


_UInt64 = Annotated[int, Field(ge=0, lt=2**64)]


class Act(_Message):
    type: Literal["act"]
    table: int
    legal: list[int] = Field(min_length=1)
    words: list[str]
    seed: _UInt64 | Annotated[list[_UInt64], Field(min_length=6, max_length=6)]  # six: key and counter of Philox
    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None


class End(_Message):
    type: Literal["end"]
    table: int
    scores: list[int | float] | None


class Quit(_Message):
    type: Literal["quit"]


HostMessage = Greeting | New | Observe | Act | End | Quit  # to an engine
_HOST_MESSAGE: TypeAdapter[HostMessage] = TypeAdapter(Annotated[HostMessage, Field(discriminator="type")])


def parse(line: bytes) -> EngineMessage:
    """Parse a message of an engine.

    Args:
        line: The message, without its line feed.

    Raises:
        ValueError: The message breaks the protocol. The error has one line.
    """
    return _validate_line(_ENGINE_MESSAGE, line)


def parse_host_message(line: bytes) -> HostMessage:
    """Parse a message of a host.

    Args:
        line: As in `parse`.

    Raises:
        ValueError: As in `parse`.
    """
    return _validate_line(_HOST_MESSAGE, line)


def _validate_line(message_type: TypeAdapter[Any], line: bytes) -> Any:
    try:
        return message_type.validate_json(line)
    except ValidationError as e:
        fault = e.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        if fault["type"] == "missing":
            raise ValueError(f"the field {where} is missing") from None
        raise ValueError(f"{where}: {fault['msg']}".removeprefix(": ")) from None
