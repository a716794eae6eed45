"""Plan of an evaluation of The Crew: the missions, their games, and the players."""

from __future__ import annotations

import re
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
    """Options of the missions and their games."""

    missions: str = Field("", description="Missions as numbers and ranges, such as 1-10,20 (default: all).")
    games: int = Field(100, ge=1, lt=2**48, description="Number of games of each mission, fixed before the run.")
    seed: int = 0
    distress: Literal["off", "left", "right"] = Field(
        "off", description="Distress signal: everybody passes a card left or right before trick 1, or off."
    )
    file: str = Field("", description="TOML file of missions (default: those of the logbook).")
    random_games: int = Field(
        10_000, ge=0, le=10**7, description="Games of random players of each mission, to compare with (0: none)."
    )

    _check_file = field_validator("file")(configs.validate_path)

    @field_validator("missions")
    @classmethod
    def _check_missions(cls, text: str) -> str:
        numbers(text)
        return text

    def rules(self) -> Game:
        """Load The Crew with all missions of the file. Raises TrickformerError if one of `missions` does not exist."""
        from trickformer.games import crew
        from trickformer.studies.crew.indexed_crew import IndexedCrew

        game = IndexedCrew(crew.make_game(distress=self.distress, file=self.file).spiel)
        for number in numbers(self.missions):
            if number not in game.missions:
                known = f"{min(game.missions)} to {max(game.missions)}"
                raise TrickformerError(
                    f"--missions {self.missions}: there is no mission {number}; missions go from {known}"
                )
        return game

    def select_missions(self, game: Any) -> list[int]:
        """Return the missions to play, ascending.

        Args:
            game: The Crew, as `rules` returns it.
        """
        return numbers(self.missions) or sorted(game.missions)


class CrewEvaluation(Plan, Missions):
    """Plan of games of every mission by a team of each player."""

    COMMAND: ClassVar[str] = "crew evaluate"
    FIXED: ClassVar[tuple[str, ...]] = ("player", "missions", "games", "seed", "distress", "file")

    player: list[str] = Field(description="One player's spec, or two to compare.", min_length=1, max_length=2)
    ceiling: int = Field(
        0,
        ge=0,
        le=1_000_000_000_000,
        description="Largest number of nodes of the solver that tests if a deal can be won (0: no test).",
    )

    _check_player = field_validator("player")(players.validate_specs_of("crew"))

    @property
    def specs(self) -> list[str]:
        """Specs of the players."""
        return self.player

    def rules(self) -> Game:
        return Missions.rules(self)

    def hands(self, game: Game) -> Iterator[Hand]:
        """Yield all games of the first player, then those of the second, because games of one player share batches.

        Args:
            game: The Crew, as `rules` returns it.
        """
        missions = self.select_missions(game)
        for player in range(len(self.player)):
            for index in range(self.games):
                for mission in missions:
                    yield Hand(STRIDE * index + mission, (player,) * game.players)

    def with_absolute_paths(self) -> Self:
        return self.model_copy(update={"file": paths.absolute(self.file)})

    def with_specs(self, specs: list[str]) -> Self:
        return self.model_copy(update={"player": specs})


class Iterations(PlayConfig, Missions):
    """Plan of games of every mission by the model of each iteration of self-play."""

    run: Path = Field(description="Run folder of `trickformer train`, with model-0, model-1, ...")
    threshold: float = Field(
        0.05, ge=0, le=1, description="Choose only actions with at least this share of the legal policy."
    )

    def plans(self) -> list[CrewEvaluation]:
        """Return an evaluation for each iteration, each in its own folder. Raises TrickformerError without a model."""
        count = 0
        while (self.run / f"model-{count}").is_dir():
            count += 1
        if not count:
            raise TrickformerError(f"{self.run} holds no model-0; give --run the folder of `trickformer train crew`")
        options = self.model_dump(exclude={"run", "threshold", "out"})
        return [
            CrewEvaluation(
                player=[f"argmax:checkpoint={players.text(self.run / f'model-{i}')},threshold={self.threshold}"],
                out=self.out / f"model-{i}" if self.out else None,
                **options,
            )
            for i in range(count)
        ]


def numbers(text: str) -> list[int]:
    """Parse missions such as 1-10,20.

    Args:
        text: Numbers and ranges, separated by commas; may be empty.

    Returns:
        The missions, ascending, each once.

    Raises:
        ValueError: If the text has another form.
    """
    missions: set[int] = set()
    for part in text.split(",") if text else ():
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        low, high = (match[1], match[2] or match[1]) if match else ("0", "0")
        if not 0 < int(low) <= int(high) < STRIDE:
            raise ValueError(f"{part!r} is no mission and no range; write missions such as 1-10,20")
        missions.update(range(int(low), int(high) + 1))
    return sorted(missions)
