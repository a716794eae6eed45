"""Reports of commands: one object that renders to a terminal, Markdown and JSON."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from trickformer.base import TrickformerError
from trickformer.plumbing import terminal
from trickformer.plumbing.files import replace
from trickformer.plumbing.tables import break_name
from trickformer.plumbing.terminal import one_line, printable
from trickformer.plumbing.text import to_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

REPORT = "report.md"  # name of the report in a run folder
_HEAD_WIDTH = 28  # largest width of a column's head, in letters

# Head and rows of cells; the first column is text, the others numbers.
ReportTable: TypeAlias = tuple[Sequence[str], Sequence[Sequence[str]]]


@dataclass(frozen=True)
class ReportFigure:
    """Figure of a report.

    Attributes:
        caption: Caption in the Markdown document.
        file: Name of its file, next to the Markdown document.
        plot: Function that draws it into a file.
    """

    caption: str
    file: str
    plot: Callable[[Path], None]


@dataclass(frozen=True)
class Report:
    """Report of a command: lines, tables and figures that are made from one JSON object.

    Attributes:
        result: The JSON object.
        heading: One line that names the measurement.
        tables: Tables with their titles; a title may be empty.
        keys: Explanation of the columns of each table, in order; it may be empty.
        appendix: Title, table and explanation of each table that only the Markdown document has.
        conclusion: Sentence that sums up the result, at the end on a terminal and at the beginning of the document.
        title: Title of the Markdown document.
        names: Specs of the players by short name.
        notes: Lines below the tables.
        figures: Figures of the Markdown document.
        method: Paragraphs that describe the method, for Markdown.
        resolved: The players' specs with all options, by short name, for Markdown.
        builds: Versions of the software that took part, for Markdown.
        words: Whether the cells are words instead of numbers.
    """

    result: Any
    heading: str
    tables: Sequence[tuple[str, ReportTable]]
    keys: Sequence[str] = ()
    appendix: Sequence[tuple[str, ReportTable, str]] = ()
    conclusion: str = ""
    title: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    figures: Sequence[ReportFigure] = ()
    method: Sequence[str] = ()
    resolved: Mapping[str, str] = field(default_factory=dict)
    builds: Sequence[Mapping[str, Any]] = ()
    words: bool = False

    def json(self, indent: int | None = None) -> str:
        """Render the result as JSON.

        Args:
            indent: Columns of a level; None for one line.
        """
        return to_json(self.result, indent)

    def markdown(self) -> str:
        """Render the report as a Markdown document."""
        parts = [f"# {self.title}\n\n{one_line(self.heading)}\n"]
        if self.conclusion:
            parts.append(f"**{_escape(self.conclusion)}**\n")
        if self.names:
            parts.append(_format_specs(self.names))
        sections = [(title, table, key) for (title, table), key in zip(self.tables, chain(self.keys, repeat("")))]
        for title, (head, rows), key in [*sections, *self.appendix]:
            if title:
                parts.append(f"## {one_line(title)}\n")
            lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
            parts.append(
                "".join("| " + " | ".join(one_line(c).replace("|", "\\|") for c in line) + " |\n" for line in lines)
            )
            if key:
                parts.append(_escape(key) + "\n")
        if self.notes:
            parts.append("".join("- " + _escape(note) + "\n" for note in self.notes))
        parts += [f"![{figure.caption}]({figure.file})\n" for figure in self.figures]
        parts += [paragraph + "\n" for paragraph in self.method]
        if self.resolved:
            parts += ["With all options:\n", _format_specs(self.resolved)]
        for build in self.builds:
            played = ", ".join(f"{k} {v}" for k, v in build.items() if v is not None)
            parts.append(f"Played by {one_line(played)}.\n")
        return "\n".join(parts)

    def text(self) -> str:
        """Render the report as for a terminal."""
        file = io.StringIO()
        self._print(terminal.console(file, wide=True))
        return file.getvalue()

    def print(self, as_json: bool = False) -> None:
        """Print the report to standard output.

        Args:
            as_json: Whether to print one JSON object instead of tables.
        """
        if as_json:
            print(self.json())
            return
        self._print(terminal.console(wide=True))

    def _print(self, console: Console) -> None:
        console.print(self.heading, markup=False)
        for name, spec in self.names.items():
            console.print(name if name == spec else f"{name}  {spec}", markup=False)
        console.print()
        for (title, (head, rows)), key in zip(self.tables, chain(self.keys, repeat(""))):
            if title:
                console.print("\n" + title, markup=False)
            for number, table in enumerate(self._parts(head, rows, console)):
                if number:
                    console.print()
                console.print(table)
            if key:
                console.print(key, style="dim", markup=False)
        console.print()
        for line in self.notes:
            console.print(line, markup=False)
        if self.conclusion:
            console.print(("\n" if self.notes else "") + self.conclusion, style="bold", markup=False)

    def _parts(self, head: Sequence[str], rows: Sequence[Sequence[str]], console: Console) -> Iterator[Table]:
        """Split a table into parts that fit the console's width, so that no number is cut.

        Each part repeats the first column. Tables of words wrap instead.
        """
        from rich.measure import Measurement

        names = [*break_name(head[0], _HEAD_WIDTH).splitlines(), *(row[0] for row in rows)]
        least = min(max(map(len, names), default=0), console.width // 3)
        options = console.options.update(width=1_000_000)  # for the width that a table wants
        last = 1
        while True:
            first, last = last, len(head)
            while last > first + 1 and not self.words:
                draft = self._table(head, rows, range(first, last), least)
                draft.columns[0].width = least
                if Measurement.get(console, options, draft).maximum <= console.width:
                    break
                last -= 1
            yield self._table(head, rows, range(first, last), least)
            if last == len(head):
                return

    def _table(self, head: Sequence[str], rows: Sequence[Sequence[str]], columns: range, least: int) -> Table:
        """Make a table of the first column, which is folded to at least `least` letters, and some others."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        heads = [Text(break_name(name, _HEAD_WIDTH)) for name in head]  # no markup: a name may contain brackets
        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
        table.add_column(heads[0], overflow="fold", min_width=least)
        for i in columns:
            justify = "left" if self.words else "right"
            table.add_column(heads[i], justify=justify, overflow="fold", no_wrap=not self.words)
        for row in rows:
            table.add_row(*(row[i].replace("[", r"\[") for i in (0, *columns)))
        return table

    def publish(
        self,
        as_json: bool,
        folder: Path | None,
        file: str,
        *,
        must_write: bool = True,
    ) -> None:
        """Write the report into a run folder, print it, and draw its figures, in this order.

        Args:
            as_json: Whether to print one JSON object.
            folder: Run folder; None if there is none.
            file: Name of the file for the result.
            must_write: Whether a report that cannot be written is an error instead of a warning.

        Raises:
            TrickformerError: The report cannot be written. By then it has been printed.
        """
        fault = None
        if folder is not None:
            try:
                self.write(folder, file)
            except TrickformerError as e:
                fault = e
        try:
            self.print(as_json)
            terminal.flush()
        finally:  # also if standard output is closed
            if folder is not None and fault is None:
                self.draw(folder)
        if fault is not None and must_write:
            raise fault
        if fault is not None:
            terminal.warn(f"{REPORT}, {file} and the figures were not written: {fault}")

    def write(self, folder: Path, file: str) -> None:
        """Write the result as JSON, and report.md.

        Args:
            folder: Run folder.
            file: Name of the file for the result.

        Raises:
            TrickformerError: A file cannot be written.
        """
        replace(folder / file, self.json(indent=2) + "\n")
        replace(folder / REPORT, self.markdown())

    def draw(self, folder: Path) -> None:
        """Draw the figures. A fault is a warning.

        Args:
            folder: Run folder.
        """
        for figure in self.figures:
            draw_figure(figure.plot, folder / figure.file)


def draw_figure(draw: Callable[[Path], None], file: Path) -> None:
    """Draw a figure. A fault is only a warning, because no result depends on a figure.

    Args:
        draw: Function that draws the figure into a file.
        file: File to write.
    """
    try:
        draw(file)
    except Exception as e:
        reason = f"{str(e).strip() or type(e).__name__}".splitlines()[0]
        terminal.warn(f"{file} was not drawn: {reason}")


def _escape(text: str) -> str:
    return one_line(text).replace("*", "\\*")


def _format_specs(specs: Mapping[str, str]) -> str:
    return "".join(f"- {one_line(name)}: `{printable(' '.join(spec.split()))}`\n" for name, spec in specs.items())
