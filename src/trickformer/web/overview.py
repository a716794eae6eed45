"""Messages about a run as a whole: the tables of its report, and its charts."""

from __future__ import annotations

from dataclasses import asdict
from itertools import chain, repeat
from typing import Any

from trickformer.plumbing.report import Report
from trickformer.selfplay.charts import CurveChart
from trickformer.tournaments.charts import Histogram, IntervalChart


def describe_report(report: Report) -> dict[str, Any]:
    """Describe a report for the page, which shows the same cells as the terminal and report.md.

    Args:
        report: Report of a run.

    Returns:
        `heading`, `conclusion`, `names` (pairs of name and spec), `notes`, and `sections`: title, head, rows and key of
        each table, and whether it is folded away because only report.md has it.
    """
    shown = [(title, table, key, False) for (title, table), key in zip(report.tables, chain(report.keys, repeat("")))]
    folded = [(title, table, key, True) for title, table, key in report.appendix]
    return {
        "heading": report.heading,
        "conclusion": report.conclusion,
        "names": list(report.names.items()),
        "notes": list(report.notes),
        "sections": [
            {"title": title, "head": list(head), "rows": list(map(list, rows)), "key": key, "folded": is_folded}
            for title, (head, rows), key, is_folded in [*shown, *folded]
        ],
    }


def describe_chart(chart: IntervalChart | Histogram | CurveChart) -> dict[str, Any]:
    """Describe a chart for the page.

    Args:
        chart: The chart.
    """
    kinds = {Histogram: "histogram", IntervalChart: "intervals", CurveChart: "curves"}
    return {"kind": kinds[type(chart)]} | asdict(chart)
