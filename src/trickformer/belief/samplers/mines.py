"""Beliefs of Mines: distributions over the layouts of mines that are consistent with the view.

Layouts are drawn exactly uniformly by counting (cpp/mines/count.hpp), or by a method of "Consistent Belief State
Estimation, with Application to Mines": rejection, a Metropolis walk for each layout, or one Metropolis walk from layout
to layout (cpp/mines/search.hpp).
"""

from __future__ import annotations

import math

import numpy as np

from trickformer import _core
from trickformer.base import Game, TrickformerError, UnknownNameError, View
from trickformer.belief.samplers._uniform import ExactBelief, UniformWorlds
from trickformer.games.mines import Mines, opened_cells, replay_moves

METHODS: tuple[str, ...] = _core.mines.METHODS
DOMAINS: tuple[str, ...] = _core.mines.DOMAINS


def observe(game: Mines, view: View) -> _core.mines.Observation:
    """Convert a view of Mines to the core's form.

    Args:
        game: Mines, of any size.
        view: View of the player.

    Raises:
        ValueError: An event is not a cell, its number, and the cells and numbers of its cascade.
    """
    opened = opened_cells(view)
    return _core.mines.Observation(game.board, [cell for cell, _ in opened], [shown for _, shown in opened])


def unpack(layouts: np.ndarray, cells: int) -> np.ndarray:
    """Return which cells have a mine, from the core's bit sets.

    Args:
        layouts: Layouts as bit sets of cells, uint64 [n], or [n, words] on boards with more than 64 cells.
        cells: Number of cells of the board.

    Returns:
        bool [n, cells].
    """
    as_bytes = layouts.reshape(len(layouts), -1).astype("<u8").view(np.uint8)
    return np.unpackbits(as_bytes, axis=1, count=cells, bitorder="little").astype(bool)


def pack(mines: np.ndarray, cells: int) -> np.ndarray:
    """Return layouts as the core's bit sets; the inverse of `unpack`.

    Args:
        mines: bool [n, cells].
        cells: Number of cells of the board.

    Returns:
        uint64 [n], or [n, words] on boards with more than 64 cells.
    """
    words = 1 << ((cells + 63) // 64 - 1).bit_length()  # rounded up to a power of 2, as in the core
    bits = np.zeros((len(mines), 64 * words), dtype=bool)
    bits[:, :cells] = mines
    layouts = np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    return layouts[:, 0] if words == 1 else layouts


def to_ints(counts: np.ndarray) -> list[int]:
    """Convert the core's counts of layouts, which may exceed 64 bits, to Python integers.

    Args:
        counts: uint64 [n] or [n, words], the lowest word first.
    """
    words = counts.reshape(len(counts), -1).astype("<u8")
    return [int.from_bytes(row.tobytes(), "little") for row in words]


class MinesWorlds(UniformWorlds):
    """Worlds as layouts: `hidden`, int16 [n, mines], are the cells with a mine, ascending; -1 if none is laid yet.

    In a history the mines are laid before the first move, or after it if the rules protect that move.
    """

    def history(self, i: int) -> list[int]:
        moves = [event.action for event in self.view.events if event.action is not None]
        state = replay_moves(self.game, moves, self.hidden[i].tolist())  # type: ignore[arg-type]
        return state.history()


class _Layouts:
    """Sampler of the layouts that are consistent with one view."""

    def __init__(self, game: Mines, view: View, method: int, domain: int, trials: int):
        self._game = game
        self._method = method
        self._domain = domain
        self._trials = trials
        self._observation = observe(game, view)
        self.is_laid = bool(view.events) or not game.spiel.late  # late: mines are laid after the first move
        self._count = self._count_layouts() if self.is_laid else 1  # None: too many to be counted
        if self._count == 0:
            raise ValueError("no layout of mines explains the view")
        if self._count is None and METHODS[method] == "exact":
            raise self._too_large()

    @property
    def count(self) -> int:
        """Number of layouts. Raises TrickformerError if the position is too large to be counted."""
        if self._count is None:
            raise self._too_large()
        return self._count

    def _count_layouts(self) -> int | None:
        try:
            return _core.mines.Counter(self._game.board, self._observation).layouts
        except RuntimeError:
            return None

    def _too_large(self) -> TrickformerError:
        game = self._game
        return TrickformerError(
            f"a position of {game.rows}x{game.cols} with {game.mines} mines is too large to be counted; "
            "use the player bsr_uct:belief=inherited, or a smaller board"
        )

    def sample(self, seed: int, n: int) -> np.ndarray:
        """Draw layouts as rows of `MinesWorlds.hidden`, int16 [n, mines]."""
        if not self.is_laid:
            return np.full((n, self._game.mines), -1, dtype=np.int16)
        layouts = _core.mines.sample(
            self._game.board,
            self._observation,
            method=self._method,
            domain=self._domain,
            trials=self._trials,
            seed=seed,
            n=n,
        )
        return np.nonzero(unpack(layouts, self._game.cells))[1].astype(np.int16).reshape(n, self._game.mines)

    def is_consistent(self, hidden: np.ndarray) -> np.ndarray:
        """Return which layouts, int16 [n, mines], are consistent with the view, bool [n]."""
        if not self.is_laid:
            return (hidden == -1).all(axis=1)
        on_board = ((hidden >= 0) & (hidden < self._game.cells)).all(axis=1)
        mines = np.zeros((len(hidden), self._game.cells), dtype=bool)
        np.put_along_axis(mines, np.where(on_board[:, None], hidden, 0), True, axis=1)
        return on_board & _core.mines.is_consistent(self._game.board, self._observation, pack(mines, self._game.cells))


class MinesBelief(ExactBelief[MinesWorlds]):
    """Uniform distribution over the layouts that are consistent with a view, exact or approximated by a random walk.

    `log_prob` is the logarithm of the uniform probability for every method.
    """

    worlds = MinesWorlds

    def __init__(self, game: Mines, method: str = "exact", trials: int = 1000, domain: str = "rule"):
        """Choose how layouts are drawn.

        Args:
            game: Mines.
            method: `exact` and `rejection` draw from the uniform distribution. `metropolis` makes a walk for each world
                that starts at a random layout. `inherited` continues one walk from world to world, and starts a new
                walk at each call of `sample`. Walks approach the uniform distribution as `trials` grows. A walk that
                ends at an inconsistent layout gives an infeasible world.
            trials: Number of steps of a walk.
            domain: Cells that may have mines in the random start: `rule`, those that the rule of the first move
                allows, or `board`, all.

        Raises:
            UnknownNameError: The method or domain does not exist.
        """
        super().__init__(game)
        for kind, name, known in (("method", method, METHODS), ("domain", domain, DOMAINS)):
            if name not in known:
                raise UnknownNameError(kind, name, known)
        self.consistent = method in ("exact", "rejection")
        self.method, self.domain = METHODS.index(method), DOMAINS.index(domain)  # as the core numbers them
        self._mines = game
        self._trials = 0 if method == "rejection" else trials  # 0: rejection draws without a limit

    def observe(self, view: View) -> _core.mines.Observation:
        """Convert a view to the core's form; see `observe`.

        Args:
            view: View of the player.
        """
        return observe(self._mines, view)

    def _make_sampler(self, view: View) -> _Layouts:
        return _Layouts(self._mines, view, self.method, self.domain, self._trials)

    def _hidden_part(self, actions: list[int], sampler: _Layouts) -> np.ndarray:
        mines = self._mines.mines
        if not sampler.is_laid:
            return np.full(mines, -1, dtype=np.int16)
        start = int(self._mines.spiel.late)
        return np.array(actions[start : start + mines], dtype=np.int16)

    def count(self) -> int:
        """Count the layouts that are consistent with the view; 1 if no mine is laid yet.

        Raises:
            ValueError: `reset` was not called before.
            TrickformerError: The layouts are too many to be counted.
        """
        return self._require_sampler_and_view()[0].count

    def log_prob(self, worlds: MinesWorlds) -> np.ndarray:
        consistent = self._require_sampler_and_view()[0].is_consistent(worlds.hidden)
        return np.where(consistent, -math.log(self.count()), -np.inf)

    def sample(self, n: int, rng: np.random.Generator) -> MinesWorlds:
        worlds = super().sample(n, rng)
        if not self.consistent:
            worlds.feasible[:] = self._require_sampler_and_view()[0].is_consistent(worlds.hidden)
            worlds.log_weight[~worlds.feasible] = -np.inf
        return worlds


def make(game: Game) -> MinesBelief:
    """Return the exact belief.

    Args:
        game: Mines.
    """
    return MinesBelief(game)  # type: ignore[arg-type]
