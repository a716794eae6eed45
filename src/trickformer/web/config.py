"""Configs of `trickformer play`, `trickformer view` and `trickformer puzzle`."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from trickformer import players as player_registry
from trickformer.base import Game, TrickformerError
from trickformer.plumbing.config import changed_fields, option
from trickformer.plumbing.help_pages import Panels

YOU = "you"  # takes the place of a spec in the seat of a person

# Options of all commands that serve pages.
BrowserOption = Annotated[bool, Field(description="Whether to open the page in the browser.")]
PortOption = Annotated[int, Field(ge=0, le=65_535, description="Port to listen at. 0 means any free port.")]


def _refuse_page_options(typed: list[str], names: str) -> None:
    """Raise ValueError if a typed field is one of these, which have no effect on the terminal."""
    for name in typed:
        if name in names.split():
            raise ValueError(f"{option(name)} is for the page in the browser; leave it out, or give --no-text")


class ViewSettings(BaseModel):
    """Settings of `trickformer view`: recorded hands in the browser."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    COMMAND: ClassVar[str] = "view"

    run: Path = Field(description="Folder of a tournament, of a training or of a table, or a file of games.")
    analyse: str | None = Field(
        None, description="Analyst selected at first: solver (with open cards) or a spec (default: solver, if any)."
    )
    players: list[str] | None = Field(
        None, min_length=1, description="Specs of further players to choose from, to rate decisions or finish a hand."
    )
    repeats: int = Field(
        4, ge=1, le=10_000, description="Number of times that an analyst with random samples rates a decision."
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of all randomness.")
    browser: BrowserOption = True
    host: str = Field(
        "127.0.0.1", description="Address to listen at. Any other than loopback shows the hands to other machines."
    )
    port: PortOption = 0


class PuzzleSettings(BaseModel):
    """Settings of `trickformer puzzle`: recorded decisions to solve."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    COMMAND: ClassVar[str] = "puzzle"
    PANELS: ClassVar[Panels] = {
        "Puzzles": ("games worst seats most seed", ""),
        "Rating": ("analyse margin repeats", ""),
        "Page": ("text browser host port", ""),
    }

    run: Path = Field(description="Folder of a tournament or of a table, or a file of games.")
    games: list[int] | None = Field(
        None, min_length=1, description="Numbers of the games to search, from 1 (default: all, in random order)."
    )
    worst: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Number of A's costliest deals in a tournament. Only A's decisions are puzzles then.",
    )
    seats: list[int] | None = Field(
        None, min_length=1, description="Seats whose decisions are puzzles, from 0 (default: all)."
    )
    most: int = Field(10, ge=1, le=1_000, description="Largest number of puzzles.")
    analyse: str | None = Field(
        None, description="Judge: solver, with open cards, or a spec (default: solver, if any, then pimc)."
    )
    margin: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Points by which solutions must lead other actions (default: by game, Hearts 1.04).",
    )
    repeats: int = Field(
        4, ge=2, le=10_000, description="Number of times that an analyst with random samples rates a decision."
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the order and of all randomness.")
    text: bool = Field(False, description="Whether to show the puzzles in this terminal instead of the browser.")
    browser: BrowserOption = True
    host: str = Field(
        "127.0.0.1", description="Address to listen at. Any other than loopback shows the games to other machines."
    )
    port: PortOption = 0

    @model_validator(mode="after")
    def _check_text(self, info: ValidationInfo) -> Self:
        if self.text:
            _refuse_page_options(changed_fields(self, info), "host port")
        return self


class Play(BaseModel):
    """Settings of `trickformer play`: a table."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    COMMAND: ClassVar[str] = "play"
    FIXED: ClassVar[tuple[str, ...]] = ("game", "opponents", "seat", "invite", "seed", "deal")
    PANELS: ClassVar[Panels] = {
        "Table": ("opponents seat seed deal out config resume", ""),
        "Page": ("text browser warn host port", "checkpoint worlds"),
        "Several people": ("invite spectators", ""),
    }

    game: str = Field(description="Game of `trickformer games`, such as hearts or 'hearts(jd_bonus=True)'.")
    opponents: list[str] | None = Field(
        None,
        min_length=1,
        description="Specs of the seats from your left on, repeated if too few (default: the game's script).",
    )
    seat: int = Field(0, ge=0, le=63, description="Number of your seat at the first deal, from 0.")
    invite: list[int] | None = Field(
        None,
        min_length=1,
        max_length=63,
        description="Numbers of seats at the first deal that other people take, each by a link.",
    )
    spectators: bool = Field(False, description="Whether to print a link for spectators, who see all cards.")
    seed: int = Field(
        0, ge=0, lt=2**63, description="Seed of deals and players (default: 0, with --invite a random one)."
    )
    deal: int = Field(0, ge=0, lt=2**31, description="Number of the first deal, from 0.")
    checkpoint: str | None = Field(
        None, description="Checkpoint for the panels about the model, by default the game's shipped one."
    )
    worlds: int = Field(
        1_000, ge=1, le=100_000, description="Number of sampled worlds behind the odds of hidden cards."
    )
    warn: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Confirm actions that the hints rate this many points worse (default: never).",
    )
    text: bool = Field(False, description="Whether to play in this terminal instead of the browser.")
    browser: BrowserOption = True
    host: str = Field(
        "127.0.0.1", description="Address to listen at. Any other than loopback shows the table to other machines."
    )
    port: PortOption = 0
    out: Path | None = Field(None, description="Folder that keeps the match, move by move.")

    _valid_specs = field_validator("opponents")(player_registry.validate_specs)

    @model_validator(mode="after")
    def _check_text(self, info: ValidationInfo) -> Self:
        if self.text:
            changed = changed_fields(self, info, in_files=("warn", "invite", "spectators"))
            _refuse_page_options(changed, "host port warn checkpoint worlds invite spectators")
        return self

    @model_validator(mode="before")
    @classmethod
    def _draw_seed(cls, values: Any) -> Any:
        """Draw the seed of a table with guests, who could otherwise compute the deals of seed 0."""
        if isinstance(values, dict) and values.get("invite") and values.get("seed") is None:
            return values | {"seed": secrets.randbits(62)}
        return values

    @property
    def guest_seats(self) -> tuple[int, ...]:
        """Seats that other people take, each by a link of its own."""
        return tuple(self.invite or ())

    def rules(self) -> Game:
        """Load the game; `games.load` raises the errors."""
        from trickformer import games

        return games.load(self.game)

    def seats(self, game: Game) -> tuple[str, ...]:
        """List the spec of each seat; YOU stands for a person.

        Args:
            game: Game of the table.

        Raises:
            TrickformerError: There are more opponents than seats, a player does not exist, or there is no such seat.
        """
        for seat in (self.seat, *self.guest_seats):
            game.check_seat(seat)
        people = {self.seat, *self.guest_seats}
        if len(people) <= len(self.guest_seats):
            raise TrickformerError("--invite names a seat twice, or your own seat; give other seats, each once")
        places = [seat for turn in range(1, game.players) if (seat := (self.seat + turn) % game.players) not in people]
        opponents = self.opponents or [game.baseline]
        if self.opponents and game.players == 1:
            raise TrickformerError(f"{game.name} is played alone; leave out --opponents")
        if self.opponents and len(opponents) > len(places):
            raise TrickformerError(
                f"{len(opponents)} opponents, but {game.name} has {game.players} seats, {len(people)} of them for "
                f"people; give {len(places)} at most"
            )
        for spec in opponents:
            player_registry.parse(spec)
        specs = [YOU] * game.players
        for i, seat in enumerate(places):
            specs[seat] = opponents[i % len(opponents)]
        return tuple(specs)
