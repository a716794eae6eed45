"""What an engine may say, held to the protocol."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError


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
    deals: bool = False


class Action(_Message):
    type: Literal["action"]
    table: int
    action: int
    value: Annotated[float, Field(allow_inf_nan=False)] | None = None
    visits: dict[Annotated[str, Field(pattern=r"^\d{1,9}$")], int] | None = None  # by action: JSON has no other keys
    text: str | None = None


class Error(_Message):
    type: Literal["error"]
    text: str


Said = Hello | Action | Error
_SAID: TypeAdapter[Said] = TypeAdapter(Annotated[Said, Field(discriminator="type")])


def parse(line: bytes) -> Said:
    """What a line says. Raises ValueError with one line on what is wrong with it."""
    try:
        return _SAID.validate_json(line)
    except ValidationError as e:
        fault = e.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise ValueError(f"{where}: {fault['msg']}".removeprefix(": ")) from None
