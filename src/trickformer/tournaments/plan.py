"""What is to be played: the config of a tournament, and its hands in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from trickformer import players as known
from trickformer.base import Game, TrickformerError, with_path
from trickformer.plumbing import config as configs
from trickformer.plumbing import paths
from trickformer.plumbing.help_pages import Panels


class Hand(NamedTuple):
    """One hand to play: the deal's index, and the index of the player that each seat holds."""

    deal: int
    seating: tuple[int, ...]


class PlayConfig(BaseModel):
    """Options of every command that plays many hands.

    A config inherits from it first and from the class of its own fields second, so that these options come last. The
    class of its own fields may repeat `seed` to place it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the deals and of the players' randomness.")
    tables: int | None = Field(
        None,
        ge=1,
        le=100_000,
        description="Number of tables in parallel, by default as many as the players can batch.",
    )
    workers: int = Field(1, ge=1, le=1_024, description="Number of processes that play. Results do not depend on it.")
    ray: str | None = Field(
        None,
        description="Address of a Ray cluster that plays the tables: auto or HOST:PORT.",
    )
    out: Path | None = Field(None, description="Run folder for the records and the report.")


class Plan(PlayConfig, ABC):
    """Config of a run that tournaments/run.py plays and keeps in a folder: it knows its hands."""

    COMMAND: ClassVar[str]  # command line that plays it
    FIXED: ClassVar[tuple[str, ...]]  # fields that the records depend on

    @property
    def time_limit(self) -> float | None:
        """Seconds for a decision; None if there is no clock."""
        return None

    @property
    @abstractmethod
    def specs(self) -> list[str]:
        """The players' specs."""

    @abstractmethod
    def rules(self) -> Game:
        """Load the game. Raises what `games.load` raises, and TrickformerError if it cannot be played as planned."""

    @abstractmethod
    def hands(self, game: Game) -> Iterator[Hand]:
        """Return every hand, in order."""

    @abstractmethod
    def with_specs(self, specs: list[str]) -> Self:
        """Copy the plan with other specs, one for one."""

    def with_absolute_paths(self) -> Self:
        """Copy the plan with absolute paths in its own fields; the specs have theirs."""
        return self

    @property
    def free(self) -> set[str]:
        """Fields in which a continued run may differ."""
        return type(self).model_fields.keys() - set(self.FIXED)


class Matches(BaseModel):
    """The matches of a tournament."""

    PANELS: ClassVar[Panels] = {
        "Players": ("a b players", ""),
        "Run": ("deals mixed seed clock out config resume as_json", ""),
        "Machine": ("tables workers ray", ""),
    }

    game: str = Field(description="Game string of OpenSpiel, such as hearts or 'hearts(jd_bonus=True)'.")
    a: str | None = Field(None, description="Spec of player A, such as random or name:key=value,key=value.")
    b: str | None = Field(None, description="Spec of player B.")
    players: list[str] | None = Field(
        None, description="Specs of two or more players instead of A and B. Every pair meets.", min_length=2
    )
    deals: int = Field(
        100, ge=1, le=1_000_000_000, description="Number of deals. Each is played in every seating and is one sample."
    )
    mixed: bool = Field(
        False, description="Whether tables with both players of a pair are added in games with shared scores."
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the deals and of the players' randomness.")
    clock: float | None = Field(
        None,
        gt=0,
        le=86_400,
        allow_inf_nan=False,
        description="Time in seconds for a decision. Players may adapt to it, and overruns are counted.",
    )


class Tournament(Plan, Matches):
    """A tournament. The number of deals is fixed here, before the run."""

    COMMAND: ClassVar[str] = "tournament"
    # The clock is one of them: players may think by it, and who overran one clock may not have overrun another.
    FIXED: ClassVar[tuple[str, ...]] = ("game", "a", "b", "players", "deals", "mixed", "seed", "clock")

    _typed = field_validator("a", "b", "players")(known.validate_specs)
    _found = field_validator("game")(configs.validate_game)

    @model_validator(mode="after")
    def _sides(self) -> Self:
        if self.players is not None and (self.a is not None or self.b is not None):
            raise ValueError("give either a and b, or players")
        if self.players is None and (self.a is None or self.b is None):
            raise ValueError("who plays? give --a SPEC and --b SPEC, or --players SPEC SPEC ...")
        return self

    @property
    def time_limit(self) -> float | None:
        return self.clock

    @property
    def specs(self) -> list[str]:
        """The players' specs; A and B, or all of `players`."""
        return self.players if self.players is not None else [str(self.a), str(self.b)]

    def rules(self) -> Game:
        """The game. Raises what `games.load` raises, and TrickformerError where tables cannot be mixed."""
        from trickformer import games

        game = games.load(self.game)
        if self.mixed:
            no_mixing_but_of_teams(game)
        return game

    def hands(self, game: Game) -> Iterator[Hand]:
        """Every hand of the tournament, deal by deal."""
        return hands(game, len(self.specs), self.deals, self.mixed)

    def with_absolute_paths(self) -> Self:
        return self.model_copy(update={"game": with_path(self.game, paths.absolute)})

    def with_specs(self, specs: list[str]) -> Self:
        """The same tournament of other specs."""
        if self.players is not None:
            return self.model_copy(update={"players": specs})
        return self.model_copy(update={"a": specs[0], "b": specs[1]})


def pairs(players: int) -> list[tuple[int, int]]:
    """Every pair (i, j), i < j: a round robin."""
    return list(combinations(range(players), 2))


def seatings(game: Game, pair: tuple[int, int]) -> list[tuple[int, ...]]:
    """The duplicate set of a pair, as player indices: every seating in which both sit somewhere; where the seats share
    their scores, a team of each."""
    return [tuple(pair[kind] for kind in seating) for seating in game.seatings(2)]


def no_mixing_but_of_teams(game: Game) -> None:
    """Raises TrickformerError where two players sit at one table anyway, or a table has one seat."""
    if game.players == 1 or any(len(set(seating)) > 1 for seating in game.seatings(2)):
        raise TrickformerError(f"mixed tables are for games whose seats share their scores, which {game.name} is not")


def mixtures(game: Game, pair: tuple[int, int]) -> list[tuple[int, ...]]:
    """Every seating of a table in which both players of a pair sit somewhere."""
    return [seating for seating in product(pair, repeat=game.players) if len(set(seating)) == 2]


def hands(game: Game, players: int, deals: int, mixed: bool = False) -> Iterator[Hand]:
    """Every hand of a tournament, deal by deal: each pair in each of its seatings, and where it is asked for in its
    mixtures. A team plays a deal once, whatever number of others it meets. First come the seatings that both hold
    evenly, pairs in turn: where one of the players is slow, the time of the first hands tells that of the others."""
    sets = [sorted(seatings(game, pair), key=lambda s: abs(s.count(s[0]) - len(s) / 2)) for pair in pairs(players)]
    order = dict.fromkeys(seating for together in zip(*sets) for seating in together)
    if mixed:
        order |= dict.fromkeys(seating for pair in pairs(players) for seating in mixtures(game, pair))
    for deal in range(deals):
        for seating in order:
            yield Hand(deal, seating)
