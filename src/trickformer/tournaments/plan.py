"""Plans of tournaments: their configs, and their hands in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from trickformer import players as player_registry
from trickformer.base import Game, TrickformerError, with_path
from trickformer.plumbing import config as configs
from trickformer.plumbing import paths
from trickformer.plumbing.help_pages import Panels
from trickformer.tournaments.deals import DealName, read_deals


class Hand(NamedTuple):
    """One hand to play."""

    deal: int  # index of the deal in its series
    seating: tuple[int, ...]  # index of the player in each seat
    seed: int | None = None  # seed of the deal's series; None for the plan's seed


class PlayConfig(BaseModel):
    """Options of every command that plays many hands.

    A config inherits from this class first and from the class of its own fields second, so that these options come
    last. The class of its own fields may repeat `seed` to choose its position.
    """

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
        description="Address of a Ray cluster that plays the tables: auto or HOST:PORT (default: no cluster).",
    )
    out: Path | None = Field(None, description="Run folder for the records and the report.")


class Plan(PlayConfig, ABC):
    """Config of a run that tournaments/run.py plays and keeps in a folder. It lists the hands to play."""

    COMMAND: ClassVar[str]  # words of the command that plays the plan
    FIXED: ClassVar[tuple[str, ...]]  # fields that the records depend on; a continued run must not change them

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
        """Load the game.

        Raises:
            UnknownNameError: There is no such game.
            TrickformerError: The game string is bad, or the game cannot be played as planned.
        """

    @abstractmethod
    def hands(self, game: Game) -> Iterator[Hand]:
        """Return every hand, in order.

        Args:
            game: The game of the plan.
        """

    @abstractmethod
    def with_specs(self, specs: list[str]) -> Self:
        """Copy the plan with other specs.

        Args:
            specs: New specs, in the order of the plan's own.
        """

    def with_absolute_paths(self) -> Self:
        """Copy the plan with absolute paths in its own fields. `players.resolve` does the same in the specs."""
        return self

    def prepare(self, earlier: Plan | None) -> Self:
        """Copy the plan with its data from files and, if it continues a run, with that run's options.

        Args:
            earlier: Plan of the run that is continued; None for a new run.

        Raises:
            TrickformerError: The plan does not continue the run, or a file that it names is bad.
        """
        return self

    @property
    def free(self) -> set[str]:
        """Fields in which a continued run may differ."""
        return type(self).model_fields.keys() - set(self.FIXED)


class Matches(BaseModel):
    """The matches of a tournament."""

    PANELS: ClassVar[Panels] = {
        "Players": ("a b players gauntlet", ""),
        "Run": ("deals deals_from sequential bound mixed seed clock out config resume as_json", ""),
        "Machine": ("tables workers ray", ""),
    }

    game: str = Field(description="Game of `trickformer games`, such as hearts or 'hearts(jd_bonus=True)'.")
    a: str | None = Field(
        None, description="Spec of player A, such as pimc:worlds=3 or 'rollout:policy=\"pimc:worlds=3,runs=2\"'."
    )
    b: str | None = Field(None, description="Spec of player B. Give --a and --b, or --players.")
    players: list[str] | None = Field(
        None,
        description="Specs of players, instead of --a and --b. Every pair meets if there is no --gauntlet.",
        min_length=1,
    )
    gauntlet: str | None = Field(
        None, description="Spec of a player that meets each of --players, who do not meet each other."
    )
    deals: int = Field(
        100, ge=1, le=1_000_000_000, description="Number of deals. Each is played in every seating and is one sample."
    )
    deals_from: Path | None = Field(
        None, description="File of deals: records, or one INDEX or SEED,INDEX per line (default: indices 0, 1, ...)."
    )
    sequential: bool = Field(
        False, description="Whether statistics are anytime-valid, so that the match may be stopped or extended."
    )
    bound: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="Sequential: stop at an interval without 0, or within ± this (points, or share of games).",
    )
    mixed: bool = Field(False, description="Cooperative games: add tables that seat both players of a pair together.")
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the deals and of the players' randomness.")
    clock: float | None = Field(
        None,
        gt=0,
        le=86_400,
        allow_inf_nan=False,
        description="Seconds for a decision (default: none). Engines receive it. Late moves are only counted.",
    )


class Tournament(Plan, Matches):
    """A tournament. Unless it is sequential, its test assumes that the number of deals was fixed before the run."""

    COMMAND: ClassVar[str] = "tournament"
    # The clock is fixed, because players may adapt to it and records count the decisions that exceeded it.
    FIXED: ClassVar[tuple[str, ...]] = (
        "game",
        "a",
        "b",
        "players",
        "gauntlet",
        "sequential",
        "mixed",
        "seed",
        "clock",
    )

    PREPARED: ClassVar[tuple[str, ...]] = ("deals", "deals_from")  # fields that `prepare` takes from a continued run

    _valid_specs = field_validator("a", "b", "players", "gauntlet")(player_registry.validate_specs)
    _valid_game = field_validator("game")(configs.validate_game)
    _listed: list[DealName] | None = PrivateAttr(None)  # deals of `deals_from`

    @model_validator(mode="after")
    def _check_players(self) -> Self:
        if self.bound is not None and not self.sequential:
            raise ValueError("--bound is for a sequential match; give --sequential too")
        if self.gauntlet is not None and self.players is None:
            raise ValueError("--gauntlet has no opponents; give --players SPEC ...")
        if self.players is not None and self.gauntlet is None and len(self.players) < 2:
            raise ValueError("--players has one spec; give 2 or more, or --gauntlet SPEC")
        if self.players is not None and (self.a is not None or self.b is not None):
            raise ValueError("--players replaces --a and --b; give one or the other")
        if self.players is None and (self.a is None or self.b is None):
            raise ValueError("players are missing; give --a SPEC and --b SPEC, or --players SPEC SPEC ...")
        return self

    @property
    def time_limit(self) -> float | None:
        return self.clock

    @property
    def specs(self) -> list[str]:
        """The players' specs: A and B, or the gauntlet's player and all of `players`."""
        if self.players is None:
            return [str(self.a), str(self.b)]
        return self.players if self.gauntlet is None else [self.gauntlet, *self.players]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of players that meet, by index."""
        all_pairs = pairs(len(self.specs))
        return all_pairs if self.gauntlet is None else [pair for pair in all_pairs if pair[0] == 0]

    @property
    def named_deals(self) -> list[DealName] | None:
        """The deals that `deals_from` names; None without it. `prepare` or `with_listed` sets them."""
        return self._listed

    @property
    def deal_names(self) -> list[DealName]:
        """The names of the deals to play, in order."""
        listed = self._listed
        return listed[: self.deals] if listed is not None else [DealName(i) for i in range(self.deals)]

    def with_listed(self, deals: Sequence[DealName] | None) -> Self:
        """Copy the tournament with a list of deals.

        Args:
            deals: Deals that `deals_from` names; None without that file.
        """
        copy = self.model_copy()
        copy._listed = None if deals is None else list(deals)
        return copy

    def prepare(self, earlier: Plan | None) -> Self:
        """Copy the tournament with the deals of `deals_from`.

        The default number of deals is the number that the file names. Without a file, a continued run keeps its number
        of deals. A larger number extends it.

        Args:
            earlier: The tournament that is continued; None for a new one.

        Raises:
            TrickformerError: The file is bad or names too few deals, or the continued run had other or more deals.
        """
        assert earlier is None or isinstance(earlier, Tournament)
        config, has_number = self, "deals" in self.model_fields_set
        if self.deals_from is not None:
            config = self.with_listed(read_deals(self.deals_from, self.seed))
        elif earlier is not None and earlier.named_deals is not None:
            config = self.model_copy(update={"deals_from": earlier.deals_from}).with_listed(earlier.named_deals)
        if not has_number and earlier is not None and self.deals_from is None:
            config = config.with_deals(earlier.deals)
        elif not has_number and config.named_deals is not None:
            config = config.with_deals(len(config.named_deals))
        if config.named_deals is not None and len(config.named_deals) < config.deals:
            raise TrickformerError(
                f"{config.deals_from} names {len(config.named_deals):,} deals, not {config.deals:,}; leave out --deals"
            )
        if earlier is not None:
            _must_continue(earlier, config)
        return config

    def with_deals(self, deals: int) -> Self:
        """Copy the tournament with another number of deals.

        Args:
            deals: Number of deals.
        """
        return self.model_copy(update={"deals": deals})

    def rules(self) -> Game:
        """Load the game.

        Raises:
            UnknownNameError: There is no such game.
            TrickformerError: The game string is bad, or the game does not allow mixed tables.
        """
        from trickformer import games

        game = games.load(self.game)
        if self.mixed:
            require_shared_scores(game, "--mixed")
        return game

    def hands(self, game: Game) -> Iterator[Hand]:
        """Return every hand of the tournament, deal by deal.

        Args:
            game: The game of the tournament.
        """
        deals = self.deals if self._listed is None else self.deal_names
        return hands(game, len(self.specs), deals, self.mixed, self.pairs)

    def with_absolute_paths(self) -> Self:
        # `deals_from` stays as it is: the run folder keeps the deals, so a continued run does not read the file.
        return self.model_copy(update={"game": with_path(self.game, paths.absolute)})

    def with_specs(self, specs: list[str]) -> Self:
        if self.gauntlet is not None:
            return self.model_copy(update={"gauntlet": specs[0], "players": specs[1:]})
        if self.players is not None:
            return self.model_copy(update={"players": specs})
        return self.model_copy(update={"a": specs[0], "b": specs[1]})


def pairs(players: int) -> list[tuple[int, int]]:
    """List the pairs of a round robin.

    Args:
        players: Number of players.

    Returns:
        Every pair (i, j) with i < j.
    """
    return list(combinations(range(players), 2))


def seatings(game: Game, pair: tuple[int, int]) -> list[tuple[int, ...]]:
    """List the seatings in which a pair plays every deal.

    Args:
        game: The game.
        pair: Indices of the two players.

    Returns:
        Every seating in which both players have a seat; if the seats share their scores, one team of each player.
    """
    return [tuple(pair[which] for which in seating) for seating in game.seatings(2)]


def require_shared_scores(game: Game, subject: str) -> None:
    """Refuse mixed tables in a game whose seats do not share their scores.

    Args:
        game: The game.
        subject: What needs such a game, for the message, such as "--mixed".

    Raises:
        TrickformerError: The seats do not share their scores, so that every table seats both players anyway, or the
            game has only one seat.
    """
    if game.players == 1 or any(len(set(seating)) > 1 for seating in game.seatings(2)):
        raise TrickformerError(
            f"{subject} needs a game whose seats share their scores, such as hanabi, not {game.name}"
        )


def mixtures(game: Game, pair: tuple[int, int]) -> list[tuple[int, ...]]:
    """List every seating of a mixed table, at which both players of a pair have a seat.

    Args:
        game: The game.
        pair: Indices of the two players.
    """
    return [seating for seating in product(pair, repeat=game.players) if len(set(seating)) == 2]


def seating_order(
    game: Game, players: int, mixed: bool = False, meetings: Sequence[tuple[int, int]] | None = None
) -> list[tuple[int, ...]]:
    """List the seatings of a deal, each once.

    Seatings in which both players of a pair hold equally many seats come first, and the pairs take turns. The time of
    the first hands then predicts the time of the others even if one player is slow. A seating that belongs to several
    pairs, a team of one player, is listed once.

    Args:
        game: The game.
        players: Number of players.
        mixed: Whether tables with both players of a pair are added.
        meetings: Pairs that meet; by default every pair.
    """
    meetings = pairs(players) if meetings is None else meetings
    by_pair = [sorted(seatings(game, pair), key=lambda s: abs(s.count(s[0]) - len(s) / 2)) for pair in meetings]
    order = dict.fromkeys(seating for one_of_each_pair in zip(*by_pair) for seating in one_of_each_pair)
    if mixed:
        order |= dict.fromkeys(seating for pair in meetings for seating in mixtures(game, pair))
    return list(order)


def hands(
    game: Game,
    players: int,
    deals: int | Sequence[DealName],
    mixed: bool = False,
    meetings: Sequence[tuple[int, int]] | None = None,
) -> Iterator[Hand]:
    """Yield every hand of a tournament, deal by deal, in the order of `seating_order`.

    Args:
        game: The game.
        players: Number of players.
        deals: The deals; or how many to play, from deal 0 of the series on.
        mixed: Whether tables with both players of a pair are added.
        meetings: Pairs that meet; by default every pair.
    """
    order = seating_order(game, players, mixed, meetings)
    for name in map(DealName, range(deals)) if isinstance(deals, int) else deals:
        for seating in order:
            yield Hand(name.number, seating, name.seed)


def _must_continue(earlier: Tournament, config: Tournament) -> None:
    """Raise TrickformerError if the deals of the earlier run are not the first deals of the new config."""
    if config.deals < earlier.deals:
        raise TrickformerError(f"the run has {earlier.deals} deals and cannot have fewer; leave out --deals")
    if (earlier.named_deals or config.named_deals) and config.deal_names[: earlier.deals] != earlier.deal_names:
        raise TrickformerError("the run was begun with other deals; choose another --out")
