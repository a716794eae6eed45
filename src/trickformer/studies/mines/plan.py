"""What is played and measured: the board, the players by belief and thinking time, the games."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from trickformer.base import Game
from trickformer.tournaments.plan import Hand, Plan

MOST_SIMULATIONS = 20_000_000  # where seconds are the limit


class BoardSize(BaseModel):
    """The board and its rules."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    board: str = Field("4x4", description="rows x columns, at most 512 cells")
    mines: int = Field(6, ge=1, le=511, description="mines on the board")
    first_move: Literal["any", "safe", "no-neighbours"] = Field(
        "no-neighbours", description="where mines may lie: anywhere, not in the cell opened first, nor around it"
    )

    @field_validator("board")
    @classmethod
    def _sizes(cls, text: str) -> str:
        if not re.fullmatch(r"[1-9]\d?x[1-9]\d?", text):
            raise ValueError("write rows x columns, such as 4x4")
        return text

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, cols = map(int, self.board.split("x"))
        return rows, cols

    def rules(self) -> Game:
        """The game. Raises TrickformerError where it cannot be played."""
        from trickformer import games

        rows, cols = self.size
        return games.load(f"mines(rows={rows},cols={cols},mines={self.mines},first_move={self.first_move})")


class BudgetGrid(BoardSize):
    """The searches of a comparison and their games."""

    beliefs: str = Field(
        "rejection,inherited", description="how layouts are drawn: of rejection, metropolis, inherited, exact"
    )
    seconds: str = Field("", description="thinking times a move, in seconds of CPU time, such as 0.001,0.002")
    simulations: str = Field("", description="simulations a move instead of seconds; records then follow from the seed")
    domain: Literal["rule", "board"] = Field(
        "rule", description="where layouts are proposed: where the rule of the first move leaves them, or anywhere"
    )
    c: float = Field(0.5, ge=0, allow_inf_nan=False, description="exploration constant of UCT, in units of the score")
    widening: float = Field(0, ge=0, le=1, allow_inf_nan=False, description="exponent of progressive widening; 0: none")
    games: int = Field(
        200, ge=1, lt=2**48, description="games of each player, on the same boards; fixed before the run"
    )
    seed: int = 0


class MinesComparison(Plan, BudgetGrid):
    """Games of BSR-UCT by belief and thinking time: Tables I and II of "Consistent Belief State Estimation, with
    Application to Mines"."""

    COMMAND: ClassVar[str] = "mines table"
    FIXED: ClassVar[tuple[str, ...]] = (
        "board",
        "mines",
        "first_move",
        "beliefs",
        "seconds",
        "simulations",
        "domain",
        "c",
        "widening",
        "games",
        "seed",
    )

    tables: int | None = Field(
        None, ge=1, le=100_000, description="games in flight at a time; their searches run one after the other"
    )
    workers: int = Field(
        1, ge=1, le=1_024, description="processes; where seconds are the limit, no more than free cores"
    )

    @model_validator(mode="after")
    def _lists(self) -> Self:
        from trickformer.belief.samplers.mines import METHODS

        if bool(self.seconds) == bool(self.simulations):
            raise ValueError("how long may a move take? give either --seconds 0.001,0.002 or --simulations 100,200")
        if not set(self.methods) <= set(METHODS) or len(set(self.methods)) < len(self.methods):
            raise ValueError(f"beliefs={self.beliefs}: each is one of {', '.join(METHODS)}, and is given once")
        most = MOST_SIMULATIONS if self.simulations else 3600
        try:
            sound = all(0 < x <= most for x in self.budgets) and len(set(self.budgets)) == len(self.budgets)
        except ValueError:
            sound = False
        if not sound:
            what = f"seconds={self.seconds}" if self.seconds else f"simulations={self.simulations}"
            raise ValueError(f"{what}: write numbers above 0, at most {most}, each once, such as 1,2,4")
        return self

    @property
    def methods(self) -> list[str]:
        """The beliefs."""
        return [word.strip() for word in self.beliefs.split(",")]

    @property
    def budgets(self) -> list[float]:
        """Seconds or simulations a move. Raises ValueError where they are no numbers."""
        if self.simulations:
            return [int(word) for word in self.simulations.split(",")]
        return [float(word) for word in self.seconds.split(",")]

    @property
    def specs(self) -> list[str]:
        """A player for each belief and budget: all budgets of the first belief, then of the second."""
        found = []
        for method in self.methods:
            for budget in self.budgets:
                limit = (
                    f"simulations={budget}" if self.simulations else f"simulations={MOST_SIMULATIONS},seconds={budget}"
                )
                found.append(
                    f"bsr_uct:belief={method},domain={self.domain},{limit},c={self.c},widening={self.widening}"
                )
        return found

    def rules(self) -> Game:
        return BoardSize.rules(self)

    def hands(self, game: Game) -> Iterator[Hand]:
        """Every game: board by board, so that what else the machine does falls on all players alike."""
        for index in range(self.games):
            for kind in range(len(self.specs)):
                yield Hand(index, (kind,))

    def with_specs(self, specs: list[str]) -> Self:
        """The same: players follow from the config."""
        return self


class OptimalPlay(BoardSize):
    """Optimal play on a board, or from a position."""

    position: str = Field(
        "",
        description="rows of a position, such as ..1/.32/..1: . unopened, else a number; not given: nothing is open",
    )
    positions: int = Field(5_000_000, ge=1, le=10**9, description="positions that it remembers, at most")
    layouts: int = Field(5_000_000, ge=1, le=10**9, description="layouts that it holds at a time, at most")


class SamplerAgreement(BoardSize):
    """Do the ways to draw independent layouts have the same distribution? A chi-square test at random positions."""

    COMMAND: ClassVar[str] = "mines agree"
    FIXED: ClassVar[tuple[str, ...]] = ("board", "mines", "first_move", "draws", "trials", "domain", "seed")

    positions: int = Field(200, ge=1, le=10**6, description="random positions with more than one layout")
    draws: int = Field(1000, ge=20, le=10**7, description="layouts drawn at each position by each method")
    trials: int = Field(20_000, ge=1, le=10**9, description="steps of a Metropolis walk for a layout")
    domain: Literal["rule", "board"] = Field(
        "rule", description="where layouts are proposed: where the rule of the first move leaves them, or anywhere"
    )
    seed: int = Field(0, ge=0, lt=2**63, description="seed of the positions and of the draws")
    out: Path | None = Field(None, description="folder for the records and the report")
