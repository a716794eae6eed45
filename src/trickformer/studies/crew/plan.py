"""What is to be played: the missions, the games of each, and who plays them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, Field, field_validator

from trickformer import players
from trickformer.base import Game, TrickformerError
from trickformer.plumbing import config as configs
from trickformer.plumbing import paths
from trickformer.studies.crew import STRIDE
from trickformer.tournaments.plan import Hand, Plan, PlayConfig


class Missions(BaseModel):
    """Which games are played."""

    missions: str = Field("", description="numbers and ranges, such as 1-10,20; all of them if it is not given")
    games: int = Field(100, ge=1, lt=2**48, description="games of each mission; the number is fixed before the run")
    seed: int = 0
    distress: Literal["off", "left", "right"] = Field(
        "off", description="whether, and where to, each passes a card before the first trick: off, left or right"
    )
    file: str = Field("", description="missions of your own, a TOML file; not given: those of the logbook")
    random_games: int = Field(
        10_000, ge=0, le=10**7, description="random games of each mission that players are compared with; 0: none"
    )

    _found = field_validator("file")(configs.validate_path)

    @field_validator("missions")
    @classmethod
    def _ranges(cls, text: str) -> str:
        numbers(text)
        return text

    def rules(self) -> Game:
        """The Crew with all missions of the file. Raises TrickformerError where one of `missions` is not there."""
        from trickformer.games import crew
        from trickformer.studies.crew.boards import Boards

        game = Boards(crew.make_game(distress=self.distress, file=self.file).spiel)
        for number in numbers(self.missions):
            if number not in game.missions:
                known = f"{min(game.missions)} to {max(game.missions)}"
                raise TrickformerError(f"missions={self.missions}: there is no mission {number}; they go from {known}")
        return game

    def select_missions(self, game: Any) -> list[int]:
        """The missions to be played, ascending."""
        return numbers(self.missions) or sorted(game.missions)


class CrewEvaluation(Plan, Missions):
    """Games of every mission by a team of each player."""

    COMMAND: ClassVar[str] = "crew evaluate"
    FIXED: ClassVar[tuple[str, ...]] = ("player", "missions", "games", "seed", "distress", "file")

    player: list[str] = Field(description="a player's spec; give it twice to compare two", min_length=1, max_length=2)
    ceiling: int = Field(
        0,
        ge=0,
        le=1_000_000_000_000,
        description="nodes for the question whether a deal can be won with open hands; 0: it is not asked",
    )

    _typed = field_validator("player")(players.validate_specs_of("crew"))

    @property
    def specs(self) -> list[str]:
        """The players' specs."""
        return self.player

    def rules(self) -> Game:
        return Missions.rules(self)

    def hands(self, game: Game) -> Iterator[Hand]:
        """Every game: one player's after the other's, for then their tables share forward passes."""
        missions = self.select_missions(game)
        for kind in range(len(self.player)):
            for index in range(self.games):
                for mission in missions:
                    yield Hand(STRIDE * index + mission, (kind,) * game.players)

    def with_absolute_paths(self) -> Self:
        return self.model_copy(update={"file": paths.absolute(self.file)})

    def with_specs(self, specs: list[str]) -> Self:
        """The same games by players of other specs."""
        return self.model_copy(update={"player": specs})


class Iterations(PlayConfig, Missions):
    """Games of every mission by the model of each iteration of self-play."""

    run: Path = Field(description="folder of a run of self-play, with model-0, model-1, ...")
    threshold: float = Field(0.05, ge=0, le=1, description="of ArgmaxVal*")

    def plans(self) -> list[CrewEvaluation]:
        """An evaluation for each iteration, in a folder of its own. Raises TrickformerError where there is no model."""
        count = 0
        while (self.run / f"model-{count}").is_dir():
            count += 1
        if not count:
            raise TrickformerError(f"{self.run} holds no model-0; give --run the folder of a run of self-play of crew")
        given = self.model_dump(exclude={"run", "threshold", "out"})
        return [
            CrewEvaluation(
                player=[f"argmax:checkpoint={self.run / f'model-{i}'},threshold={self.threshold}"],
                out=self.out / f"model-{i}" if self.out else None,
                **given,
            )
            for i in range(count)
        ]


def numbers(text: str) -> list[int]:
    """The missions of a text such as 1-10,20, ascending, each once. Raises ValueError on any other text."""
    found: set[int] = set()
    for part in text.split(",") if text else ():
        low, dash, high = part.strip().partition("-")
        if not (low.isdecimal() and (high.isdecimal() or not dash)) or not 0 < int(low) <= int(high or low) < STRIDE:
            raise ValueError(f"{part!r} is no mission and no range; write 1-10,20")
        found.update(range(int(low), int(high or low) + 1))
    return sorted(found)
