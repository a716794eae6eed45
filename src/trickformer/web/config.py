"""The configs of `trickformer play` and `trickformer view`."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

from trickformer import players as known
from trickformer.base import Game, TrickformerError

YOU = "you"  # who sits where a person does


class View(BaseModel):
    """Hands on record, in the browser."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    COMMAND: ClassVar[str] = "view"

    run: Path = Field(description="folder of a tournament or of a table, or a file of games")
    analyse: str | None = Field(
        None, description="analyst that rates unless the page chooses another: a player's spec, or solver (open cards)"
    )
    players: list[str] | None = Field(
        None, min_length=1, description="specs of players that rate and play on, beside the package's own"
    )
    repeats: int = Field(4, ge=1, le=10_000, description="how often an analyst that samples is asked")
    seed: int = Field(0, ge=0, lt=2**63, description="seed of all randomness")
    browser: bool = Field(True, description="open the page in your browser")
    host: str = Field("127.0.0.1", description="address to listen at; another than loopback shows the hands to others")
    port: int = Field(0, ge=0, le=65_535, description="port to listen at; 0: one that is free")


class Play(BaseModel):
    """A table."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    COMMAND: ClassVar[str] = "play"
    FIXED: ClassVar[tuple[str, ...]] = ("game", "opponents", "seat", "seed", "deal")

    game: str = Field(description="game string of OpenSpiel, such as hearts or 'hearts(jd_bonus=True)'")
    opponents: list[str] | None = Field(
        None,
        min_length=1,
        description="specs of the players at the other seats, from the left neighbour on; fewer take turns. If not "
        "given, the game's baseline sits everywhere",
    )
    seat: int = Field(0, ge=0, le=63, description="the seat that is yours")
    seed: int = Field(0, ge=0, lt=2**63, description="seed of the deals and of all players' randomness")
    deal: int = Field(0, ge=0, lt=2**31, description="the deal to begin with")
    checkpoint: str | None = Field(
        None, description="model that is asked when you look inside; if not given, the shipped one of the game"
    )
    worlds: int = Field(1_000, ge=1, le=100_000, description="worlds drawn to say where hidden cards lie")
    text: bool = Field(False, description="play on this terminal, without a browser")
    browser: bool = Field(True, description="open the page in your browser")
    host: str = Field("127.0.0.1", description="address to listen at; another than loopback shows the table to others")
    port: int = Field(0, ge=0, le=65_535, description="port to listen at; 0: one that is free")
    out: Path | None = Field(None, description="folder that keeps the match, move by move")

    _typed = field_validator("opponents")(known.reject_program_specs)

    def rules(self) -> Game:
        """The game. Raises what `games.load` raises."""
        from trickformer import games

        return games.load(self.game)

    def seats(self, game: Game) -> tuple[str, ...]:
        """Who sits where: specs, and YOU. Raises TrickformerError where there are more opponents than seats, a player
        does not exist, or the seat is none."""
        if self.seat >= game.players:
            raise TrickformerError(f"there is no seat {self.seat} in {game.name}: seats are 0 to {game.players - 1}")
        opponents = self.opponents or [game.baseline]
        if self.opponents and game.players == 1:
            raise TrickformerError(f"{game.name} is played alone; leave out --opponents")
        if len(opponents) > max(1, game.players - 1):
            raise TrickformerError(f"{len(opponents)} opponents, but {game.name} has {game.players} seats")
        for spec in opponents:
            known.parse(spec)
        found = [YOU] * game.players
        for turn in range(1, game.players):
            found[(self.seat + turn) % game.players] = opponents[(turn - 1) % len(opponents)]
        return tuple(found)
