"""Generator of the tables of results in docs/results/index.md and README.md.

    python tools/results_table.py           # write the tables
    python tools/results_table.py --check   # exit code 1 if a page has another table

The figures stand in docs/results/figures.toml. A table stands between the lines `<!-- results -->` and
`<!-- /results -->`. README.md may do without these lines. The generator needs only the standard library.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = "docs/results"
FIGURES = f"{RESULTS}/figures.toml"
INDEX = f"{RESULTS}/index.md"
README = "README.md"

BEGIN = "<!-- results -->"
END = "<!-- /results -->"
_BLOCK = re.compile(f"{re.escape(BEGIN)}\n.*?{re.escape(END)}", re.DOTALL)


class ResultsError(Exception):
    """A file of figures or a page that cannot be used."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """A shipped checkpoint: commit of its weights, and if its features contain the scripted player's opinion."""

    commit: str
    script_opinion: bool


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured figure with everything that names it. figures.toml explains the fields."""

    game: str
    player: str
    value: str
    interval: str
    sample: str
    command: str
    seed: int
    date: str
    commit: str
    page: str
    question: str = ""
    score: str = ""
    kind: str = "95%"
    model: str = ""
    note: str = ""
    controls: tuple[str, ...] = ()

    @property
    def literal(self) -> str:
        """Value and interval as they stand on the page."""
        return f"{self.value} {self.interval}".rstrip()

    def describe(self) -> str:
        """Return score, value, interval and the kind of the interval, for a cell of a table."""
        text = f"{self.score} ({self.literal})" if self.score else self.literal
        return text if self.kind == "95%" else f"{text} ({self.kind})"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of README's table. A cell is a text or the id of a figure."""

    game: str
    measure: str
    search: Mapping[str, str]
    without_model: Mapping[str, str]
    model_alone: Mapping[str, str]
    script: Mapping[str, str]

    @property
    def cells(self) -> tuple[Mapping[str, str], ...]:
        """The four cells with figures, from left to right."""
        return (self.search, self.without_model, self.model_alone, self.script)


@dataclass(frozen=True, kw_only=True)
class Results:
    """Contents of figures.toml."""

    models: Mapping[str, Model]
    figures: Mapping[str, Figure]
    readme: Sequence[Row]


def _make(kind: type[Any], entry: object, name: str) -> Any:
    """Return the dataclass `kind` of a table of figures.toml. Raises ResultsError for a bad field."""
    if not isinstance(entry, dict):
        raise ResultsError(f"{FIGURES}: {name} is not a table")
    known = {field.name: field for field in fields(kind)}
    if unknown := set(entry) - set(known):
        raise ResultsError(f"{FIGURES}: {name} has an unknown field {min(unknown)!r}")
    try:
        made = kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()})
    except TypeError as error:
        raise ResultsError(f"{FIGURES}: {name}: {str(error).partition('()')[2].strip() or error}") from error
    types = {"str": str, "int": int, "bool": bool, "tuple[str, ...]": tuple, "Mapping[str, str]": dict}
    for key, field in known.items():
        if type(getattr(made, key)) is not types[str(field.type)]:
            raise ResultsError(f"{FIGURES}: {name}: {key} is no {field.type}")
    return made


def _check_figure(name: str, figure: Figure, results: Results) -> None:
    """Raise ResultsError if a figure names something that does not exist or has no control."""
    if figure.model and figure.model not in results.models:
        raise ResultsError(f"{FIGURES}: {name}: there is no model {figure.model!r}")
    for control in figure.controls:
        if control not in results.figures:
            raise ResultsError(f"{FIGURES}: {name}: there is no figure {control!r}")
    if figure.question and not figure.controls and not figure.note:
        raise ResultsError(f"{FIGURES}: {name} has no control; name figures in `controls` or the reason in `note`")


def read_results(text: str) -> Results:
    """Read the figures.

    Args:
        text: Contents of figures.toml.

    Returns:
        Models, figures by id and rows of README's table, in the order of the file.

    Raises:
        ResultsError: The text is not valid TOML, or a field is missing, unknown or names something that does not exist.
    """
    try:
        contents = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ResultsError(f"{FIGURES}: not valid TOML: {error}") from error
    if set(contents) != {"models", "figures", "readme"}:
        raise ResultsError(f"{FIGURES}: needs the tables models, figures and readme, and no others")
    results = Results(
        models={name: _make(Model, entry, name) for name, entry in contents["models"].items()},
        figures={name: _make(Figure, entry, name) for name, entry in contents["figures"].items()},
        readme=[_make(Row, entry, "readme") for entry in contents["readme"]],
    )
    for name, figure in results.figures.items():
        _check_figure(name, figure, results)
    for row in results.readme:
        for cell in row.cells:
            if set(cell) not in ({"figure"}, {"text"}) or cell.get("figure", "") not in {"", *results.figures}:
                raise ResultsError(f"{FIGURES}: readme, {row.game}: a cell is a text or an existing figure, not {cell}")
        if "figure" not in row.search:
            raise ResultsError(f"{FIGURES}: readme, {row.game}: `search` needs a figure")
    return results


def _controls(figure: Figure, results: Results) -> str:
    """Return the control cell of a row: the figures of the controls, then the note."""
    controls = [results.figures[name] for name in figure.controls]
    parts = [f"{control.player}: {control.describe()}" for control in controls]
    return "; ".join([*parts, figure.note] if figure.note else parts)


def _model(figure: Figure, results: Results) -> str:
    """Return the model cell of a row; a star marks features that contain the script's opinion."""
    if not figure.model:
        return "none"
    model = results.models[figure.model]
    return f"`{figure.model}`{' *' if model.script_opinion else ''}"


def _format(rows: Iterator[Sequence[str]]) -> str:
    """Return a Markdown table. The first row is its head."""
    head = next(rows)
    lines = [head, ["---"] * len(head), *rows]
    return "".join("|" + "|".join(f" {cell} " if cell != "---" else cell for cell in line) + "|\n" for line in lines)


def make_index_table(results: Results) -> str:
    """Make the table of the results index.

    Args:
        results: The figures.

    Returns:
        Markdown, one row for each figure with a question, links relative to docs/results.
    """

    def rows() -> Iterator[Sequence[str]]:
        yield ("game", "question", "shipped model", "figure", "sample", "control", "date", "page")
        for figure in results.figures.values():
            if figure.question:
                page = f"[{figure.page.removesuffix('.md')}]({figure.page})"
                cells = (figure.describe(), figure.sample, _controls(figure, results), figure.date, page)
                yield (figure.game, figure.question, _model(figure, results), *cells)

    return _format(rows())


def make_readme_table(results: Results) -> str:
    """Make the table of README.md.

    Args:
        results: The figures.

    Returns:
        Markdown, one row for each entry of `readme`, links relative to the repository root. Links have no brackets
        inside, because docs/_hooks.py could not turn them into links of the site.
    """

    def fill(cell: Mapping[str, str], alone: bool = False) -> str:
        if "text" in cell:
            return cell["text"]
        figure = results.figures[cell["figure"]]
        return figure.describe() if alone else f"{figure.player.removesuffix(', no model')}: {figure.describe()}"

    def rows() -> Iterator[Sequence[str]]:
        yield ("game", "measure", "search", "without a model", "the model alone", "the script alone")
        for row in results.readme:
            page = results.figures[row.search["figure"]].page
            cells = (
                fill(row.search),
                fill(row.without_model),
                fill(row.model_alone, alone=True),
                fill(row.script, alone=True),
            )
            yield (f"[{row.game}]({RESULTS}/{page})", row.measure, *cells)

    return _format(rows())


def replace_table(page: str, table: str) -> str:
    """Put a table between the markers of a page.

    Args:
        page: Text of the page.
        table: Markdown that replaces the present table.

    Returns:
        The page with the table.

    Raises:
        ResultsError: The page does not have exactly one pair of markers.
    """
    if len(_BLOCK.findall(page)) != 1 or page.count(BEGIN) != 1 or page.count(END) != 1:
        raise ResultsError(f"a page needs one line {BEGIN} and after it one line {END}")
    return _BLOCK.sub(lambda _: f"{BEGIN}\n{table}{END}", page)


def make_pages(root: Path) -> dict[Path, str]:
    """Make the pages that have a table of results.

    Args:
        root: The repository root.

    Returns:
        The text of each page as it should be. README.md is left out if it has no marker.

    Raises:
        ResultsError: The figures or the index cannot be used.
    """
    results = read_results((root / FIGURES).read_text("utf-8"))
    index = root / INDEX
    pages = {index: replace_table(index.read_text("utf-8"), make_index_table(results))}
    readme = root / README
    text = readme.read_text("utf-8")
    if BEGIN in text or END in text:
        pages[readme] = replace_table(text, make_readme_table(results))
    return pages


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Run the generator.

    Args:
        arguments: Arguments of the command line; by default those of the process.
        root: The repository root.

    Returns:
        Exit code: 0 if all pages have their tables, 1 if `--check` detects another table, 2 if a file cannot be used.
    """
    parser = argparse.ArgumentParser(description="Write the tables of results into the index and README.")
    parser.add_argument("--check", action="store_true", help="only report pages whose table differs (exit code 1)")
    check: bool = parser.parse_args(arguments).check
    try:
        pages = make_pages(root)
        stale = [page for page, text in pages.items() if page.read_text("utf-8") != text]
        if not check:
            for page in stale:
                page.write_text(pages[page], "utf-8")
    except (OSError, UnicodeDecodeError, ResultsError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for page in stale:
        print(f"{page.relative_to(root)}: {'run python tools/results_table.py' if check else 'written'}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
