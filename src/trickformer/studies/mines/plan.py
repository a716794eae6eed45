"""Plans of evaluations on Mines: the board, the players by belief and thinking time, the games."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from trickformer.base import Game
from trickformer.plumbing.config import changed_fields
from trickformer.tournaments.plan import Hand, Plan

MOST_SIMULATIONS = 20_000_000  # cap of the simulations of a move, also of one whose limit is in seconds


_Domain = Annotated[
    Literal["rule", "board"],
    Field(description="Cells where a sampler may put mines: rule (as --first-move allows) or board (all)."),
]


class BoardSize(BaseModel):
    """Options of the board and its rules."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    board: str = Field("4x4", description="Board size, rows x columns, at most 512 cells.")
    mines: int = Field(6, ge=1, le=511, description="Number of mines on the board.")
    first_move: Literal["any", "safe", "no-neighbours"] = Field(
        "no-neighbours",
        description="First cell: any (may be a mine), safe (no mine), no-neighbours (no mine around it either).",
    )
    cascade: bool = Field(False, description="Whether a cell that shows 0 opens its neighbours (default: false).")

    @field_validator("board")
    @classmethod
    def _check_board(cls, text: str) -> str:
        if not re.fullmatch(r"[1-9]\d?x[1-9]\d?", text):
            raise ValueError("write rows x columns, such as 4x4")
        return text

    @property
    def size(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        rows, cols = map(int, self.board.split("x"))
        return rows, cols

    def rules(self) -> Game:
        """Load the game. Raises TrickformerError if it cannot be played."""
        from trickformer import games

        rows, cols = self.size
        cascade = ",cascade=True" if self.cascade else ""
        return games.load(f"mines(rows={rows},cols={cols},mines={self.mines},first_move={self.first_move}{cascade})")


class BudgetGrid(BoardSize):
    """Options of a comparison: the searches and their games."""

    beliefs: str = Field(
        "rejection,inherited",
        description="Samplers of mine layouts to compare: rejection, metropolis, inherited, exact.",
    )
    seconds: str = Field(
        "", description="CPU time limits of a move in seconds, such as 0.001 0.002. Give this or --simulations."
    )
    simulations: str = Field(
        "", description="Simulations a move, such as 100 200, for reproducible records, instead of --seconds."
    )
    domain: _Domain = "rule"
    c: float = Field(0.5, ge=0, allow_inf_nan=False, description="Exploration constant of UCT, in units of the score.")
    widening: float = Field(
        0,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="Exponent w of progressive widening: n visits try ceil(n^w) cells, with w = 0 all cells.",
    )
    games: int = Field(
        200, ge=1, lt=2**48, description="Number of games of each player on the same boards, fixed before the run."
    )
    seed: int = 0


class MinesComparison(Plan, BudgetGrid):
    """Plan of games of BSR-UCT by belief and thinking time.

    Tables I and II of "Consistent Belief State Estimation, with Application to Mines".
    """

    COMMAND: ClassVar[str] = "mines table"
    FIXED: ClassVar[tuple[str, ...]] = (
        "board",
        "mines",
        "first_move",
        "cascade",
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
        None,
        ge=1,
        le=100_000,
        description="Number of games in lockstep, whose searches still run one at a time (default: 1).",
    )
    workers: int = Field(
        1, ge=1, le=1_024, description="Number of processes. With --seconds, give no more than there are free cores."
    )

    @model_validator(mode="after")
    def _check_lists(self) -> Self:
        from trickformer.belief.samplers.mines import METHODS

        if bool(self.seconds) == bool(self.simulations):
            raise ValueError(
                "a move needs one kind of limit; give either --seconds 0.001,0.002 or --simulations 100,200"
            )
        if not set(self.methods) <= set(METHODS) or len(set(self.methods)) < len(self.methods):
            raise ValueError(f"--beliefs {self.beliefs}: choose from {', '.join(METHODS)}, each at most once")
        most = MOST_SIMULATIONS if self.simulations else 3600
        try:
            valid = all(0 < x <= most for x in self.budgets) and len(set(self.budgets)) == len(self.budgets)
        except ValueError:
            valid = False
        if not valid:
            option = f"--seconds {self.seconds}" if self.seconds else f"--simulations {self.simulations}"
            raise ValueError(f"{option}: write numbers above 0, at most {most}, each once, such as 1,2,4")
        if self.domain != "rule" and self.methods == ["exact"]:
            raise ValueError(
                f"--domain {self.domain} is for beliefs that propose layouts, and exact does not; leave it out"
            )
        return self

    @property
    def methods(self) -> list[str]:
        """Names of the beliefs."""
        return [word.strip() for word in self.beliefs.split(",")]

    @property
    def budgets(self) -> list[float]:
        """Seconds or simulations a move. Raises ValueError if they are not numbers."""
        if self.simulations:
            return [int(word) for word in self.simulations.split(",")]
        return [float(word) for word in self.seconds.split(",")]

    @property
    def specs(self) -> list[str]:
        """Specs of the players: all budgets of the first belief, then of the second."""
        specs = []
        for method in self.methods:
            belief = method if method == "exact" else f"{method},domain={self.domain}"  # exact proposes no layouts
            for budget in self.budgets:
                limit = (
                    f"simulations={budget}" if self.simulations else f"simulations={MOST_SIMULATIONS},seconds={budget}"
                )
                specs.append(f"bsr_uct:belief={belief},{limit},c={self.c},widening={self.widening}")
        return specs

    def rules(self) -> Game:
        return BoardSize.rules(self)

    def hands(self, game: Game) -> Iterator[Hand]:
        """Yield every game, board by board, so that other load of the machine affects all players alike.

        Args:
            game: The game.
        """
        for index in range(self.games):
            for player in range(len(self.specs)):
                yield Hand(index, (player,))

    def with_specs(self, specs: list[str]) -> Self:
        return self  # its options determine the players


class OptimalPlay(BoardSize):
    """Options of the solver of optimal play, on an empty board or from a position."""

    position: str = Field(
        "",
        description="Position by rows, such as ..1/.32/..1, with . for closed cells (default: all closed).",
    )
    positions: int = Field(
        5_000_000, ge=1, le=10**9, description="Largest number of positions that the solver keeps in memory."
    )
    layouts: int = Field(
        5_000_000, ge=1, le=10**9, description="Largest number of mine layouts that the solver keeps in memory."
    )

    @model_validator(mode="after")
    def _check_first_move(self, info: ValidationInfo) -> Self:
        if self.position and "first_move" in changed_fields(self, info):
            raise ValueError("--first-move has no effect after the first move; leave out --first-move or --position")
        return self


class SamplerAgreement(BoardSize):
    """Options of the chi-square test of the samplers at random positions."""

    COMMAND: ClassVar[str] = "mines agree"
    FIXED: ClassVar[tuple[str, ...]] = ("board", "mines", "first_move", "cascade", "draws", "trials", "domain", "seed")

    positions: int = Field(
        200, ge=1, le=10**6, description="Number of random positions with more than one possible layout."
    )
    draws: int = Field(1000, ge=20, le=10**7, description="Number of layouts that each method draws at each position.")
    trials: int = Field(20_000, ge=1, le=10**9, description="Number of steps of a Metropolis walk to draw a layout.")
    domain: _Domain = "rule"
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the positions and of the draws.")
    out: Path | None = Field(None, description="Folder for the records and the report.")
