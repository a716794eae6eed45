"""Test of the samplers of Mines: do their draws have the exact distribution?

At random positions all layouts are listed. A chi-square test compares the draws of each method with the uniform
distribution over them.
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
_MOST_LAYOUTS = 2_000_000  # of the empty board; every position filters all of them
_KEY = (
    "p: chi-square test at a position that all layouts are drawn equally often. smallest p: over the positions; "
    "Bonferroni: the same times their number. p < 0.05: share of positions, 5% for exact draws. KS: p of the "
    "Kolmogorov-Smirnov test that the p values are uniform. inconsistent draws: share that contradict the position."
)
_TESTED = ("rejection", "metropolis", "exact")  # draws of an inherited walk are dependent, so the test excludes it
_KEYS = {"position", "cells", "layouts", "counted", "p", "inconsistent"}  # fields of a record that reports read
_BINS = 20  # largest number of classes of the test; each has about the same number of layouts


def agree(config: SamplerAgreement, resume: bool = False) -> dict[str, Any]:
    """Test the positions that are missing from the records in `config.out`, and summarize all.

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
            f"a board of {config.board} with {config.mines} mines is open with the first cell; give fewer mines"
        )
    records: dict[int, dict[str, Any]] = {}
    with _open_records(config, resume) as kept:
        if kept:
            records |= {r["position"]: r for r in kept.stored if r["position"] < config.positions}
        missing = [i for i in range(config.positions) if i not in records]
        with (
            resumable(config.COMMAND, config, progress=lambda: f"after {len(records)} of {config.positions} positions"),
            progress(config.COMMAND, "positions", len(records), config.positions) as advance,
        ):
            for record in _measure(config, game, missing):
                if kept:
                    kept.append(record)
                records[record["position"]] = record
                advance()
    return _summary(config, [records[i] for i in range(config.positions)])


@contextmanager
def _open_records(config: SamplerAgreement, resume: bool) -> Generator[JsonLines | None]:
    """Open the records in the run folder; None without a folder. The number of positions may grow."""
    folder = RunFolder.optional(config.out, resume)
    if folder is None:
        yield None
        return
    seen: set[int] = set()

    def parse(_: int, line: bytes) -> dict[str, Any]:
        record = json_object(line)
        if not record.keys() >= _KEYS or not isinstance(record["position"], int):
            raise ValueError("no record of a position")
        if record["position"] in seen:
            raise TrickformerError(f"{folder.path}/{RECORDS} holds a position twice; choose another --out")
        seen.add(record["position"])
        return record

    free = SamplerAgreement.model_fields.keys() - set(config.FIXED)
    with folder.records(RECORDS, config, resume=resume, free=free, parse=parse) as lines:
        yield lines


def _measure(config: SamplerAgreement, game: Any, positions: list[int]) -> Iterator[dict[str, Any]]:
    anywhere = _core.mines.Board(game.rows, game.cols, game.mines, 0)
    board = _core.mines.Counter(anywhere, _core.mines.Observation(anywhere, [], [])).all(_MOST_LAYOUTS)
    for index in positions:
        rng = np.random.default_rng([config.seed, index])
        cells, shown = random_position(game, config.seed, index, rng)
        observation = _core.mines.Observation(game.board, cells, shown)
        layouts = board[_core.mines.is_consistent(game.board, observation, board)]
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
            good = _core.mines.is_consistent(game.board, observation, drawn)
            record["inconsistent"][name] = int((~good).sum())
            # An inconsistent draw has probability 0 under the exact distribution.
            record["p"][name] = _p(np.searchsorted(_keys(layouts), _keys(drawn)), len(layouts)) if good.all() else 0.0
        yield record


def _keys(layouts: np.ndarray) -> np.ndarray:
    """Convert layouts, uint64 [n] or [n, words], to values [n] of the same order."""
    if layouts.ndim == 1:
        return layouts
    return np.ascontiguousarray(layouts[:, ::-1].astype(">u8")).view(f"S{8 * layouts.shape[1]}")[:, 0]


def random_position(game: Any, seed: int, index: int, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Draw a position of Mines at which more than one layout is left.

    Args:
        game: The game with its board.
        seed: Series of the layout.
        index: Number of the layout in the series.
        rng: Draws the order of cells and how many are open.

    Returns:
        The open cells, none a mine, and the number that each shows.

    Raises:
        TrickformerError: If 1,000 layouts have no such position.
    """
    for again in range(1_000):
        state: Any = game.spiel.new_initial_state()
        first = int(rng.integers(game.cells))
        if game.spiel.late:
            state.apply_action(first)
        while state.is_chance_node():
            # On some boards every position of a layout has this layout only; then try another layout.
            state.apply_action(game.chance(state, seed, index + (again << 40)))
        safe = sorted(set(range(game.cells)) - set(state.laying))
        cells = rng.permutation(safe).tolist()
        if game.spiel.late:
            cells.remove(first)
            cells.insert(0, first)
        mines = set(state.laying)
        shown = [len(mines & set(game.board.around(cell))) for cell in cells]
        for n in range(int(rng.integers(1, game.safe)), 0, -1):
            observation = _core.mines.Observation(game.board, cells[:n], shown[:n])
            if _core.mines.Counter(game.board, observation).layouts > 1:
                return cells[:n], shown[:n]
    raise TrickformerError("on this board no position leaves more than one layout; choose a larger board")


def _p(ranks: np.ndarray, layouts: int) -> float:
    """Compute p of the chi-square test that ranks, int [n] below `layouts`, are uniform."""
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
    return (
        f"Mines {summary['board']}, {summary['mines']} mines, first move {summary['first_move']}: "
        f"{summary['positions']} random positions, {summary['draws']:,} draws each, walks of {summary['trials']:,} "
        f"steps, seed {summary['seed']}; "
        f"exact counts and marginals equal those of listed layouts at {summary['counted']} positions"
    )


def _tables(summary: dict[str, Any]) -> list[tuple[str, ReportTable]]:
    """List the methods, and p by position."""
    head = ("", "smallest p", "Bonferroni", "p < 0.05", "p values uniform (KS)", "inconsistent draws")
    rows = [
        (
            name,
            f"{m['smallest']:.4f}",
            f"{m['smallest_bonferroni']:.3f}",
            f"{m['below_0.05']:.1%}",
            f"{m['uniform_p']:.3f}",
            f"{m['inconsistent']:.4%}",
        )
        for name, m in summary["methods"].items()
    ]
    each = [
        (str(r["position"]), str(len(r["cells"])), f"{r['layouts']:,}", *(f"{r['p'][name]:.4f}" for name in _TESTED))
        for r in summary["records"]
    ]
    return [("", (head, rows)), ("p by position", (("position", "opened", "layouts", *_TESTED), each))]


def _plot(summary: dict[str, Any], path: Path) -> None:
    """Draw a histogram of each method's p values, which is flat for exact draws, and save a PNG."""
    from trickformer.plumbing.figures import plt, save

    figure, each = plt.subplots(1, len(_TESTED), figsize=(9, 2.8), sharey=True, layout="constrained")
    edges = np.linspace(0, 1, 21)
    for axes, name in zip(each, _TESTED):
        axes.hist([record["p"][name] for record in summary["records"]], edges, color="#2b6cb0")
        axes.axhline(len(summary["records"]) / 20, color="#c05621", linewidth=1)
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("p")
    each[0].set_ylabel("positions")
    save(figure, path)
