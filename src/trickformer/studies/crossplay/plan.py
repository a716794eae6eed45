"""Plan of a cross-play: teams of one player, of two players, and of runs of one method, all on the same decks.

A method is a way to train, and a run is one player that it has trained.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import ClassVar, Self

from pydantic import BaseModel, Field, field_validator, model_validator

from trickformer.base import Game
from trickformer.players import validate_specs
from trickformer.tournaments import plan
from trickformer.tournaments.names import short_names
from trickformer.tournaments.plan import Hand, Plan


class Teams(BaseModel):
    """Options of a cross-play: the players and their games."""

    game: str = Field("hanabi", description="Game string of a cooperative game: all seats share the score.")
    players: list[str] = Field(
        description="Specs of the players. Each plays with itself and with every other.", min_length=1
    )
    methods: list[str] | None = Field(
        None, description="A label for each of --players. Equal labels: runs of one method (default: all differ)."
    )
    games: int = Field(1_000, ge=1, le=10_000_000, description="Number of games of each team, all with the same decks.")
    seed: int = 0


class CrossPlay(Plan, Teams):
    """Plan of every player with itself and with every other player."""

    COMMAND: ClassVar[str] = "obl crossplay"
    FIXED: ClassVar[tuple[str, ...]] = ("game", "players", "methods", "games", "seed")

    _check_players = field_validator("players")(validate_specs)

    @model_validator(mode="after")
    def _check_methods(self) -> Self:
        if self.methods is not None and len(self.methods) != len(self.players):
            raise ValueError(
                f"--methods needs one label for each of the {len(self.players)} players, not {len(self.methods)}"
            )
        return self

    @property
    def specs(self) -> list[str]:
        """Specs of the players."""
        return self.players

    def with_specs(self, specs: list[str]) -> Self:
        return self.model_copy(update={"players": specs})

    def rules(self) -> Game:
        """Load the game. Raises TrickformerError if it does not exist or its seats do not share their scores."""
        from trickformer import games

        game = games.load(self.game)
        plan.require_shared_scores(game, "cross-play")
        return game

    def runs(self, specs: Sequence[str] | None = None) -> dict[str, list[int]]:
        """Return the numbers of the players of each method, in the order of the plan.

        Args:
            specs: Specs as typed; without methods they name the players (default: the plan's specs).
        """
        groups: dict[str, list[int]] = {}
        for player, name in enumerate(self.methods or short_names(specs or self.players)):
            groups.setdefault(name, []).append(player)
        return groups

    def strangers(self, game: Game, method: list[int]) -> list[tuple[int, ...]]:
        """List the seatings of a method's cross-play, in which every seat has a different run.

        Appendix D of "Off-Belief Learning" seats three players in two ways; this is the harder one.

        Args:
            game: The game.
            method: Numbers of the method's players.

        Returns:
            Player of each seat; empty if the method has fewer runs than the game has seats.
        """
        return list(permutations(method, game.players))

    def hands(self, game: Game) -> Iterator[Hand]:
        """Yield every game, deck by deck.

        Args:
            game: The game.
        """
        n = len(self.players)
        # Keys of a dict keep their order and are unique: a seating may be a pair's and a method's.
        seatings = dict.fromkeys((player,) * game.players for player in range(n))
        seatings |= dict.fromkeys(seating for pair in plan.pairs(n) for seating in plan.mixtures(game, pair))
        seatings |= dict.fromkeys(s for method in self.runs().values() for s in self.strangers(game, method))
        return (Hand(deck, seating) for deck in range(self.games) for seating in seatings)
