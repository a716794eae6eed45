"""Test of the samplers of Mines: do they draw all consistent layouts of mines with equal probability?

At random positions all consistent layouts are listed. A chi-square test compares the draws of each method with the
uniform distribution over the list.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.belief.samplers.mines import DOMAINS, METHODS, to_ints, unpack
from trickformer.plumbing.folder import RunFolder, build, resumable
from trickformer.plumbing.lines import JsonLines
from trickformer.plumbing.progress import progress
from trickformer.plumbing.report import Report, ReportFigure, ReportTable
from trickformer.plumbing.text import json_object
from trickformer.studies.mines.plan import SamplerAgreement

RECORDS, SUMMARY = "records.jsonl", "summary.json"
PLOT = "p.png"
_MOST_LAYOUTS = 2_000_000  # limit of the board's layouts, which all are listed once and filtered at each position
_KEY = (
    "p: chi-square test at a position that all layouts are drawn equally often. smallest p: over the positions; "
    "Bonferroni: the same times their number. p < 0.05: share of positions, 5% for exact draws. KS: p of the "
    "Kolmogorov-Smirnov test that the p values are uniform. inconsistent draws: share that contradict the position. "
    "rejection: draws layouts until one fits the position. metropolis: a random walk over layouts for each draw. "
    "exact: draws from the counts of all layouts that fit."
)
_TESTED = ("rejection", "metropolis", "exact")  # not inherited: its draws depend on each other
_FIELDS = {"position", "cells", "layouts", "counted", "p", "inconsistent"}  # fields of a record that reports read
_BINS = 20  # largest number of classes of the chi-square test; each has about the same number of layouts


def agree(config: SamplerAgreement, resume: bool = False) -> dict[str, Any]:
    """Test the positions that have no record in `config.out` yet, and summarize all positions.

    Args:
        config: Board, positions and draws.
        resume: Whether to continue the run in the folder.

    Returns:
        Object that `--json` prints.

    Raises:
        TrickformerError: If the input is bad; nothing is written then.
        Interruption: On Ctrl-C.
    """
    game: Any = config.rules()
    if comb(game.cells, game.mines) > _MOST_LAYOUTS:
        raise TrickformerError(
            f"a board of {config.board} with {config.mines} mines has {comb(game.cells, game.mines):,} layouts; "
            f"at most {_MOST_LAYOUTS:,} can be listed"
        )
    if game.safe < 2:
        raise TrickformerError(
            f"a board of {config.board} with {config.mines} mines has one safe cell, so the first move ends every "
            "game; give fewer mines"
        )
    records: dict[int, dict[str, Any]] = {}
    with _open_records(config, resume) as lines:
        if lines:
            records |= {r["position"]: r for r in lines.stored if r["position"] < config.positions}
        missing = [i for i in range(config.positions) if i not in records]
        with (
            resumable(config.COMMAND, config, progress=lambda: f"after {len(records)} of {config.positions} positions"),
            progress(config.COMMAND, "positions", len(records), config.positions) as advance,
        ):
            for record in _test_positions(config, game, missing):
                if lines:
                    lines.append(record)
                records[record["position"]] = record
                advance()
    return _summary(config, [records[i] for i in range(config.positions)])


@contextmanager
def _open_records(config: SamplerAgreement, resume: bool) -> Generator[JsonLines | None]:
    """Open the file of records in the run folder; None without a folder. A resumed run may test more positions."""
    folder = RunFolder.optional(config.out, resume)
    if folder is None:
        yield None
        return
    seen: set[int] = set()

    def parse(_: int, line: bytes) -> dict[str, Any]:
        record = json_object(line)
        if not record.keys() >= _FIELDS or not isinstance(record["position"], int):
            raise ValueError("the record lacks fields of a position")
        if record["position"] in seen:
            raise TrickformerError(f"{folder.path}/{RECORDS} holds a position twice; choose another --out")
        seen.add(record["position"])
        return record

    free = SamplerAgreement.model_fields.keys() - set(config.FIXED)
    with folder.records(RECORDS, config, resume=resume, free=free, parse=parse) as opened:
        yield opened


def _test_positions(config: SamplerAgreement, game: Any, positions: list[int]) -> Iterator[dict[str, Any]]:
    """Yield the record of each position, with the p value of each method."""
    unrestricted = _core.mines.Board(game.rows, game.cols, game.mines, 0)  # the first cell may be a mine
    all_layouts = _core.mines.Counter(unrestricted, _core.mines.Observation(unrestricted, [], [])).all(_MOST_LAYOUTS)
    for index in positions:
        rng = np.random.default_rng([config.seed, index])
        cells, shown = random_position(game, config.seed, index, rng)
        observation = _core.mines.Observation(game.board, cells, shown)
        layouts = all_layouts[_core.mines.is_consistent(game.board, observation, all_layouts)]
        counter = _core.mines.Counter(game.board, observation)
        marginals = unpack(layouts, game.cells).sum(axis=0).tolist()
        record: dict[str, Any] = {
            "position": index,
            "cells": cells,
            "shown": shown,
            "layouts": len(layouts),
            "counted": counter.layouts == len(layouts) and to_ints(counter.mines()) == marginals,
            "p": {},
            "inconsistent": {},
        }
        for name in _TESTED:
            trials = 0 if name == "rejection" else config.trials
            domain = DOMAINS.index(config.domain)
            seed = int(rng.integers(2**63))
            drawn = _core.mines.sample(game.board, observation, METHODS.index(name), domain, trials, seed, config.draws)
            consistent = _core.mines.is_consistent(game.board, observation, drawn)
            record["inconsistent"][name] = int((~consistent).sum())
            # The p value is 0 if a draw is inconsistent: under the exact distribution its probability is 0.
            record["p"][name] = 0.0
            if consistent.all():
                # The core lists layouts in ascending order.
                record["p"][name] = _p(np.searchsorted(_sort_keys(layouts), _sort_keys(drawn)), len(layouts))
        yield record


def _sort_keys(layouts: np.ndarray) -> np.ndarray:
    """Convert layouts, uint64 [n] or [n, words] with the lowest word first, to n values that sort like the layouts."""
    if layouts.ndim == 1:
        return layouts
    # Big-endian bytes with the highest word first compare like the integers.
    return np.ascontiguousarray(layouts[:, ::-1].astype(">u8")).view(f"S{8 * layouts.shape[1]}")[:, 0]


def random_position(game: Any, seed: int, index: int, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Draw a position of Mines at which more than one layout is left.

    Args:
        game: The game with its board.
        seed: Series of the layout.
        index: Number of the layout in the series.
        rng: Generator for the order in which cells are opened, and for their number.

    Returns:
        The open cells, none a mine, and the number that each shows.

    Raises:
        TrickformerError: If 1,000 layouts have no such position.
    """
    for attempt in range(1_000):
        state: Any = game.spiel.new_initial_state()
        first = int(rng.integers(game.cells))
        if game.spiel.late:
            state.apply_action(first)
        while state.is_chance_node():
            # In some layouts every position leaves one layout only. The next attempt then deals another layout.
            state.apply_action(game.chance(state, seed, index + (attempt << 40)))
        safe = sorted(set(range(game.cells)) - set(state.laying))
        cells = rng.permutation(safe).tolist()
        if game.spiel.late:
            cells.remove(first)
            cells.insert(0, first)
        for n in range(int(rng.integers(1, game.safe)), 0, -1):
            opened, shown = _open(game, state.laying, cells[:n])
            observation = _core.mines.Observation(game.board, opened, shown)
            if _core.mines.Counter(game.board, observation).layouts > 1:
                return opened, shown
    raise TrickformerError("on this board no position leaves more than one layout; choose a larger board")


def _open(game: Any, layout: list[int], cells: list[int]) -> tuple[list[int], list[int]]:
    """Open some cells in order, without those that a cascade has opened before.

    Args:
        game: The game with its board.
        layout: The mines.
        cells: Cells without a mine; the rule of the first move allows the layout for the first of them.

    Returns:
        All open cells, and the number that each shows.
    """
    state = _core.mines.State(game.board)
    if not game.spiel.late:
        state.lay(layout)
    for cell in cells:
        if cell in state.unopened_cells:
            state.open(cell)
        if not state.is_laid:
            state.lay(layout)
    opened = state.opened_cells
    return [cell for cell, _ in opened], [shown for _, shown in opened]


def _p(ranks: np.ndarray, layouts: int) -> float:
    """Compute p of the chi-square test that ranks, int [n] in 0 to `layouts` - 1, are uniform."""
    bins = min(layouts, _BINS)
    observed = np.bincount(ranks * bins // layouts, minlength=bins)
    sizes = np.bincount(np.arange(layouts) * bins // layouts, minlength=bins)
    return float(stats.chisquare(observed, len(ranks) * sizes / layouts).pvalue)


def _summary(config: SamplerAgreement, records: list[dict[str, Any]]) -> dict[str, Any]:
    methods = {}
    for name in _TESTED:
        p = np.array([r["p"][name] for r in records])
        methods[name] = {
            "smallest": float(p.min()),
            "smallest_bonferroni": float(min(1, p.min() * len(p))),
            "below_0.05": float((p < 0.05).mean()),
            "uniform_p": float(stats.kstest(p, "uniform").pvalue),
            "inconsistent": sum(r["inconsistent"][name] for r in records) / (config.draws * len(records)),
        }
    return config.model_dump(exclude={"out"}) | {
        "counted": sum(r["counted"] for r in records),
        "methods": methods,
        "records": records,
        "versions": [build()] if config.out is None else RunFolder(config.out).builds(),
    }


def make_report(summary: dict[str, Any]) -> Report:
    """Make the report of a test.

    Args:
        summary: Object that `agree` returns.
    """
    return Report(
        summary,
        _heading(summary),
        _tables(summary),
        keys=[_KEY, "opened: cells that are open. layouts: mine layouts that explain them. Others: p of each method."],
        title="Do the draws agree?",
        figures=[ReportFigure("p values", PLOT, partial(_plot, summary))],
        builds=summary["versions"],
    )


def _heading(summary: dict[str, Any]) -> str:
    """Name the board and the test in one line."""
    cascade = ", cascade" if summary.get("cascade") else ""  # absent from summaries of version 0.2
    return (
        f"Mines {summary['board']}, {summary['mines']} mines, first move {summary['first_move']}{cascade}: "
        f"{summary['positions']} random positions, {summary['draws']:,} draws each, walks of {summary['trials']:,} "
        f"steps, seed {summary['seed']}; at {summary['counted']} of {summary['positions']} positions the exact "
        "sampler counts as many layouts in total, and as many with a mine in each cell, as the full list has"
    )


def _tables(summary: dict[str, Any]) -> list[tuple[str, ReportTable]]:
    """List the p values summarized by method, and those of each position."""
    head = ("", "smallest p", "Bonferroni", "p < 0.05", "p values uniform (KS)", "inconsistent draws")
    rows = [
        (
            name,
            _format_p(m["smallest"]),
            f"{m['smallest_bonferroni']:.3f}",
            f"{m['below_0.05']:.1%}",
            f"{m['uniform_p']:.3f}",
            f"{m['inconsistent']:.4%}",
        )
        for name, m in summary["methods"].items()
    ]
    positions = [
        (str(r["position"]), str(len(r["cells"])), f"{r['layouts']:,}", *(_format_p(r["p"][name]) for name in _TESTED))
        for r in summary["records"]
    ]
    return [("", (head, rows)), ("p by position", (("position", "opened", "layouts", *_TESTED), positions))]


def _format_p(p: float) -> str:
    """Format a p value with four decimals."""
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _plot(summary: dict[str, Any], path: Path) -> None:
    """Draw a histogram of each method's p values, which is flat for exact draws, and save a PNG."""
    from trickformer.plumbing.figures import add_legend, drawing, save

    with drawing(1, len(_TESTED), figsize=(9, 2.8), sharey=True) as (figure, panels):
        edges = np.linspace(0, 1, 21)
        for axes, name in zip(panels, _TESTED):
            axes.hist([record["p"][name] for record in summary["records"]], edges, color="#2b6cb0")
            level = len(summary["records"]) / 20
            axes.axhline(level, color="#c05621", linewidth=1, label="expected from equally likely layouts")
            axes.set_title(name, fontsize=10)
            axes.set_xlabel("p")
        panels[0].set_ylabel("number of positions")
        add_legend(figure, panels[0])
        save(figure, path)
