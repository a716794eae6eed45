"""Checker of the style sheet, docs/style.md.

    python tools/check_style.py                 # a count for each kind of finding
    python tools/check_style.py --list          # every finding as path:line: text
    python tools/check_style.py --list "help texts"

Each kind has a ceiling in tools/style_ceilings.toml. A ceiling may only fall: the exit code is 1 if a count is above
its ceiling, and also if it is below, until somebody lowers it. A comment `# style: REASON` behind `def ...:` or
`class ...:` exempts the name. The checker needs only the standard library.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
import tomllib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple


class Kind(StrEnum):
    """Kind of finding; the value names it in the table of ceilings."""

    OPENERS = "docstring openers"
    PARTICIPLE_NAMES = "participle names"
    SHARED_CLASSES = "shared class names"
    HELP_TEXTS = "help texts"
    LONG_PAGES = "long pages"
    WIDE_ASSIGNMENTS = "wide assignments"
    WHERE_FOR_IF = "where for if"
    BARE_EXEMPTIONS = "bare exemptions"
    VAGUE_LOCALS = "vague locals"
    MISSING_ARGS = "missing args"
    LONG_FILES = "long files"


ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "src/trickformer/"
FOLDERS = ("src", "benchmarks", "examples", "runs", "tools")  # searched for Python files; tests/ may join
# Folders of programs. A function there serves one program, so a docstring of one line suffices and `missing args` does
# not apply. Users copy the examples and read the tools, so it applies to both.
PROGRAMS = ("benchmarks/", "runs/")
CEILINGS = "tools/style_ceilings.toml"

# Largest number of lines and of bytes of a page; 1 KB is 1,000 bytes.
PAGE_LIMITS: dict[str, tuple[int | None, int]] = {"README.md": (150, 9_000), "ARCHITECTURE.md": (None, 12_000)}
FILE_LINES = 500  # of a file of the package
HELP_LENGTH = 90
ASSIGNED_NAMES = 2

# Verb forms that may not stand alone as the name of a function, a method or a class. `is_verb_form` detects regular
# participles by their ending -ed. Present participles that are nouns of the field, such as training, are no entries.
_PAST = """
agreed became began begun bought broken brought built came caught chose chosen come dealt done drawn drew driven
fallen fed felt forgotten found gave given gone got gotten grew grown heard held hidden hung kept knew known laid lain
learnt led left lent lost made meant met overtaken paid proven ran redrawn remade rewritten risen said sat saw seen
sent shown sold sought spelt spent spoilt spoken stood struck stuck swept taken thrown told took understood undone
unknown unseen unsent went withdrawn woken won worn written wrote
"""
_FINITE = """
accepts admits allows asks becomes begins believes belongs comes contains does explains follows forgets gives goes
grows happens has hears holds ignores imitates is judges keeps knows lets makes means needs prefers puts reaches
requires says seems sees sits solves stands takes tells tries understands wants weighs wins
"""
_PRESENT = """
acting asking believing comparing deciding explaining exploring following giving going holding improving keeping
knowing listening making naming playing saying searching seeing taking telling trying waiting winning
"""
VERB_FORMS = frozenset(f"{_PAST} {_FINITE} {_PRESENT}".split())

# Verbs that are good names of functions, but not of classes. Commands such as quit and undo are no entries: the classes
# of their messages share their names.
CLASS_VERBS = frozenset({"agree", "ask", "begin", "believe", "choose", "decide", "learn", "take", "tell", "write"})

# Names that say nothing of what a variable or a parameter holds.
VAGUE_NAMES = frozenset({"asked", "come", "found", "given", "here", "said", "such", "told"})

# Words that look like verb forms, and why they are good names nevertheless.
NAME_EXCEPTIONS: dict[str, str] = {
    "embed": "an imperative verb",
    "hundred": "a number",
    "reversed": "Python's own function",
    "shed": "an imperative verb",
    "sorted": "Python's own function",
}

# Class names that several rooms may use, and why.
CLASS_EXCEPTIONS: dict[str, str] = {"Options": "each module of a game or a player declares its options under this name"}

_OPENER = re.compile(r"\s*(?:What|Whether|How|Of|Those|That|Where|Who|The same)\b")

# *Where* in the sense of *if*, by three signs. A relative clause about a place ("the folder where files lie") has none.
#   1. A sentence opens with *where*, and a comma ends the clause.
#   2. A comma, a semicolon or a colon precedes *where*, and a pronoun or an article follows.
#   3. The clause speaks of existence or absence: *there*, *nobody*, *none* or *nothing* follows.
_WHERE_FOR_IF = re.compile(
    r"\bWhere\s[^.;:]+?,"
    r"|[,;:]\s+where\s+(?:an?|all|any|both|he|it|its|no|one|she|that|these|they|this|those)\b"
    r"|\bwhere\s+(?:there|nobody|none|nothing)\b"
)

_EXEMPTION = re.compile(r"#\s*style:\s*(.*)")


class StyleError(Exception):
    """Fault of the input: a file that does not parse, or a table of ceilings that does not fit the kinds."""


@dataclass(frozen=True, order=True)
class Finding:
    """One breach of the style sheet.

    Attributes:
        path: File, relative to the repository root.
        line: Line number, from 1.
        kind: Rule of the style sheet.
        text: The words at fault.
    """

    path: str
    line: int
    kind: Kind
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


class ClassSite(NamedTuple):
    """Definition of a class: its name and its place."""

    name: str
    path: str
    line: int


class Comment(NamedTuple):
    """A comment without its number signs; consecutive lines of comments are one comment."""

    line: int
    text: str


class Source:
    """A parsed Python file with its comments.

    Args:
        source: Text of the file.
        path: Its path, relative to the repository root; it appears in findings.

    Raises:
        StyleError: The text is not valid Python.
    """

    def __init__(self, source: str, path: str) -> None:
        self.path = path
        try:
            module = ast.parse(source)
            self.body = module.body
            self.nodes = list(ast.walk(module))
            tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
        except (SyntaxError, ValueError, tokenize.TokenError) as error:
            raise StyleError(f"{path}: not valid Python: {error}") from error
        self.n_lines = len(source.splitlines())
        self.comments = _join_comments(tokens)
        self.line_ends = [token.start[0] for token in tokens if token.type == tokenize.NEWLINE]
        self.exemptions: dict[int, str] = {}
        for token in tokens:
            if token.type == tokenize.COMMENT and (match := _EXEMPTION.match(token.string)):
                self.exemptions[token.start[0]] = match[1].strip()

    def definitions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
        """Yield all functions, methods and classes, nested ones included."""
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node

    def is_exempt(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
        """Return whether a comment `# style: REASON` stands in the first logical line of a definition.

        Args:
            node: The definition.
        """
        end = self.line_ends[bisect_left(self.line_ends, node.lineno)]
        return any(self.exemptions.get(line) for line in range(node.lineno, end + 1))


def _join_comments(tokens: Sequence[tokenize.TokenInfo]) -> list[Comment]:
    """Return the comments of a file; comments alone on consecutive lines are joined with line breaks."""
    comments: list[Comment] = []
    previous = (0, -1)  # line and column of the last comment that had a line to itself
    for token in tokens:
        if token.type != tokenize.COMMENT:
            continue
        place = token.start
        text = token.string.lstrip("#").strip()
        alone = not token.line[: place[1]].strip()
        if alone and previous == (place[0] - 1, place[1]):
            comments[-1] = Comment(comments[-1].line, f"{comments[-1].text}\n{text}")
        else:
            comments.append(Comment(place[0], text))
        previous = place if alone else (0, -1)
    return comments


def is_verb_form(name: str, is_class: bool = False) -> bool:
    """Return whether a name is a bare participle or verb form, such as `told`, `_parsed` or `Ended`.

    Args:
        name: Name of a function, a method or a class. Names of several words are never verb forms.
        is_class: Whether the name is that of a class. Classes may not be bare imperative verbs either.
    """
    word = name.strip("_").lower()
    if word in NAME_EXCEPTIONS:
        return False
    regular = len(word) > 3 and word.isalpha() and word.endswith("ed") and not word.endswith("eed")
    several = is_class and sum(letter.isupper() for letter in name) > 1
    return not several and (regular or word in VERB_FORMS or (is_class and word in CLASS_VERBS))


def _docstrings(source: Source) -> Iterator[ast.Constant]:
    """Yield the docstrings of modules, classes and functions, and strings that follow a field of a class."""
    for node in source.nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            values = [statement.value for statement in node.body if isinstance(statement, ast.Expr)]
            yield from (value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str))


def _literal_text(node: ast.expr) -> str | None:
    """Return the text of a string literal, with `{}` for fields of an f-string, or None for another expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_literal_text(part) or "{}" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _literal_text(node.left), _literal_text(node.right)
        return None if left is None and right is None else (left or "{}") + (right or "{}")
    return None


def _help_texts(source: Source) -> Iterator[tuple[int, str]]:
    """Yield line and text of each `help=` and `description=` that is a literal."""
    for node in source.nodes:
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg in ("help", "description") and (text := _literal_text(keyword.value)) is not None:
                    yield keyword.value.lineno, text


def _excerpt(text: str, length: int = 80) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 3] + "..."


def _check_openers(source: Source) -> Iterator[Finding]:
    """Yield docstrings that open with *What*, *Whether*, *Of* and the like."""
    for docstring in _docstrings(source):
        text = str(docstring.value)
        if _OPENER.match(text):
            yield Finding(source.path, docstring.lineno, Kind.OPENERS, _excerpt(text))


def _check_names(source: Source) -> Iterator[Finding]:
    """Yield functions, methods and classes whose name is a bare participle or verb form."""
    for node in source.definitions():
        if is_verb_form(node.name, isinstance(node, ast.ClassDef)) and not source.is_exempt(node):
            yield Finding(source.path, node.lineno, Kind.PARTICIPLE_NAMES, node.name)


def _check_help_texts(source: Source) -> Iterator[Finding]:
    """Yield help texts that are too long or have a semicolon."""
    for line, text in _help_texts(source):
        if len(text) > HELP_LENGTH:
            yield Finding(source.path, line, Kind.HELP_TEXTS, f"{len(text)} characters: {_excerpt(text)}")
        elif ";" in text:
            yield Finding(source.path, line, Kind.HELP_TEXTS, f"semicolon: {_excerpt(text, HELP_LENGTH)}")


def _count_targets(target: ast.expr) -> int:
    """Return the number of names on the left of an assignment; those of nested tuples count one by one."""
    if isinstance(target, ast.Tuple | ast.List):
        return sum(_count_targets(element) for element in target.elts)
    return 1


def _check_assignments(source: Source) -> Iterator[Finding]:
    """Yield tuple assignments to more than two names."""
    for node in source.nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if _count_targets(target) > ASSIGNED_NAMES:
                    yield Finding(source.path, node.lineno, Kind.WIDE_ASSIGNMENTS, _excerpt(ast.unparse(node)))


def _check_where(source: Source) -> Iterator[Finding]:
    """Yield places in docstrings, comments and help texts where *where* stands for *if*."""
    texts = [(docstring.lineno, str(docstring.value)) for docstring in _docstrings(source)]
    texts += [(comment.line, comment.text) for comment in source.comments]
    texts += _help_texts(source)
    for line, text in texts:
        for match in _WHERE_FOR_IF.finditer(text):
            offset = text.count("\n", 0, match.start())
            excerpt = _excerpt(text[match.start() : match.start() + 120].lstrip(",;: "), 60)
            yield Finding(source.path, line + offset, Kind.WHERE_FOR_IF, excerpt)


def _check_locals(source: Source) -> Iterator[Finding]:
    """Yield variables and parameters whose names say nothing, such as `found`."""
    for node in source.nodes:
        if isinstance(node, ast.arg) and node.arg in VAGUE_NAMES:
            yield Finding(source.path, node.lineno, Kind.VAGUE_LOCALS, node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE_NAMES:
            yield Finding(source.path, node.lineno, Kind.VAGUE_LOCALS, node.id)


def _public_functions(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the public functions of a module or a public class, and the methods of public classes in it."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            yield node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _public_functions(node.body)


def _check_args(source: Source) -> Iterator[Finding]:
    """Yield public functions with parameters whose docstring has no Args section.

    Functions without a docstring are overrides, or pydocstyle's business. A command explains its options by help
    texts, so a function that a decorator makes a command is left out. So are the functions of programs.
    """
    if source.path.startswith(PROGRAMS):
        return
    for node in _public_functions(source.body):
        arguments = node.args
        parameters = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        parameters += [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]
        parameters = [name for name in parameters if name not in ("self", "cls")]
        docstring = ast.get_docstring(node)
        is_command = any("command" in ast.unparse(decorator) for decorator in node.decorator_list)
        if parameters and docstring is not None and "Args:" not in docstring and not is_command:
            yield Finding(source.path, node.lineno, Kind.MISSING_ARGS, f"{node.name}({', '.join(parameters)})")


def _check_exemptions(source: Source) -> Iterator[Finding]:
    """Yield comments `# style:` without a reason."""
    for line, reason in source.exemptions.items():
        if not reason:
            yield Finding(source.path, line, Kind.BARE_EXEMPTIONS, "# style: needs a reason")


def _check_length(source: Source) -> Iterator[Finding]:
    """Yield the file itself if it belongs to the package and has too many lines."""
    if source.path.startswith(PACKAGE) and source.n_lines > FILE_LINES:
        text = f"{source.n_lines} lines, at most {FILE_LINES}"
        yield Finding(source.path, FILE_LINES + 1, Kind.LONG_FILES, text)


def _check(source: Source) -> list[Finding]:
    """Return the findings of all kinds that one file alone decides."""
    checks = (
        _check_openers,
        _check_names,
        _check_help_texts,
        _check_assignments,
        _check_where,
        _check_exemptions,
        _check_locals,
        _check_args,
        _check_length,
    )
    return sorted(finding for check in checks for finding in check(source))


def check_source(source: str, path: str) -> list[Finding]:
    """Check one Python file.

    Args:
        source: Text of the file.
        path: Its path, relative to the repository root.

    Returns:
        All findings but shared class names, which need all files, sorted by line.

    Raises:
        StyleError: The text is not valid Python.
    """
    return _check(Source(source, path))


def find_room(path: str) -> str:
    """Return the room of a file.

    Args:
        path: Path of a file of the package, relative to the repository root.

    Returns:
        Its first folder in the package, or `studies/NAME`; for a file at the top, its name.
    """
    parts = path.removeprefix(PACKAGE).split("/")
    depth = 2 if parts[0] == "studies" and len(parts) > 2 else 1
    return "/".join(parts[:depth])


def _class_sites(source: Source) -> Iterator[ClassSite]:
    """Yield the classes of a file of the package, nested ones included, without those that a comment exempts."""
    if not source.path.startswith(PACKAGE):
        return
    for node in source.definitions():
        if isinstance(node, ast.ClassDef) and not source.is_exempt(node):
            yield ClassSite(node.name, source.path, node.lineno)


def check_class_names(sites: Iterable[ClassSite]) -> list[Finding]:
    """Find class names that several rooms use.

    Args:
        sites: Classes of all files.

    Returns:
        One finding for each name, at its first place; the text lists the other rooms' places.
    """
    by_name: dict[str, list[ClassSite]] = defaultdict(list)
    for site in sites:
        if site.name not in CLASS_EXCEPTIONS:
            by_name[site.name].append(site)
    findings: list[Finding] = []
    for name, places in sorted(by_name.items()):
        first, *others = sorted(places, key=lambda site: (site.path, site.line))
        elsewhere = [site for site in others if find_room(site.path) != find_room(first.path)]
        if elsewhere:
            text = f"{name}, also in " + ", ".join(f"{site.path}:{site.line}" for site in elsewhere)
            findings.append(Finding(first.path, first.line, Kind.SHARED_CLASSES, text))
    return findings


def check_sources(sources: Mapping[str, str]) -> list[Finding]:
    """Check several Python files together.

    Args:
        sources: Texts of the files by path.

    Returns:
        Findings of all kinds but long pages, shared class names last.

    Raises:
        StyleError: A text is not valid Python.
    """
    parsed = [Source(text, path) for path, text in sorted(sources.items())]
    findings = [finding for source in parsed for finding in _check(source)]
    return findings + check_class_names(site for source in parsed for site in _class_sites(source))


def check_page(name: str, text: str) -> list[Finding]:
    """Check the length of a page.

    Args:
        name: Path relative to the repository root. A page without an entry in `PAGE_LIMITS` has no limit.
        text: The page.
    """
    most_lines, most_bytes = PAGE_LIMITS.get(name, (None, None))
    lines, size = len(text.splitlines()), len(text.encode())
    findings: list[Finding] = []
    if most_bytes is not None and size > most_bytes:
        findings.append(Finding(name, 1, Kind.LONG_PAGES, f"{size:,} bytes, at most {most_bytes:,}"))
    if most_lines is not None and lines > most_lines:
        findings.append(Finding(name, most_lines + 1, Kind.LONG_PAGES, f"{lines} lines, at most {most_lines}"))
    return findings


def check_tree(root: Path) -> list[Finding]:
    """Check all Python files and pages of a repository.

    Args:
        root: The repository root. A page that is missing has no findings.

    Raises:
        StyleError: A file is not valid Python.
    """
    files = [file for folder in FOLDERS for file in (root / folder).rglob("*.py")]
    findings = check_sources({file.relative_to(root).as_posix(): file.read_text("utf-8") for file in files})
    for name in PAGE_LIMITS:
        if (root / name).is_file():
            findings += check_page(name, (root / name).read_text("utf-8"))
    return findings


def read_ceilings(text: str) -> dict[str, int]:
    """Read the table of ceilings.

    Args:
        text: TOML with a table `ceilings`.

    Returns:
        Ceiling by kind, complete.

    Raises:
        StyleError: A kind is missing or unknown, or a ceiling is not a count.
    """
    try:
        ceilings = tomllib.loads(text).get("ceilings", {})
    except tomllib.TOMLDecodeError as error:
        raise StyleError(f"{CEILINGS}: not valid TOML: {error}") from error
    if set(ceilings) != set(Kind):
        wrong = ", ".join(sorted(set(ceilings) ^ set(Kind)))
        raise StyleError(f"{CEILINGS}: kinds without a ceiling, or unknown: {wrong}")
    if not all(type(ceiling) is int and ceiling >= 0 for ceiling in ceilings.values()):
        raise StyleError(f"{CEILINGS}: a ceiling is a count")
    return ceilings


def compare_counts(findings: Iterable[Finding], ceilings: Mapping[str, int]) -> tuple[list[str], bool]:
    """Compare the number of findings with the ceilings.

    Args:
        findings: All findings.
        ceilings: Ceiling by kind.

    Returns:
        A line for each kind, and whether every count equals its ceiling.
    """
    counts = dict.fromkeys(ceilings, 0)
    for finding in findings:
        counts[finding.kind] += 1
    lines: list[str] = []
    for kind, ceiling in ceilings.items():
        line = f"{kind}: {counts[kind]} (ceiling {ceiling})"
        if counts[kind] > ceiling:
            line += f": too many, see --list {kind!r}"
        elif counts[kind] < ceiling:
            line += f": lower the ceiling to {counts[kind]} in {CEILINGS}"
        lines.append(line)
    return lines, all(counts[kind] == ceiling for kind, ceiling in ceilings.items())


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Run the checker.

    Args:
        arguments: Arguments of the command line; by default those of the process.
        root: The repository root.

    Returns:
        Exit code: 0 if all counts equal their ceilings, 1 if one does not, 2 if a file cannot be read.
    """
    parser = argparse.ArgumentParser(description="Check the repository against docs/style.md.")
    kinds = ", ".join(Kind)
    parser.add_argument("--list", nargs="?", const="all", metavar="KIND", help=f"list the findings: {kinds} or all")
    chosen: str | None = parser.parse_args(arguments).list
    if chosen not in (None, "all", *Kind):
        parser.error(f"no kind {chosen!r}; use one of {kinds}")
    try:
        ceilings = read_ceilings((root / CEILINGS).read_text("utf-8"))
        findings = check_tree(root)
    except (OSError, UnicodeDecodeError, StyleError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    lines, passed = compare_counts(findings, ceilings)
    for kind, line in zip(ceilings, lines, strict=True):
        if chosen is None:
            print(line)
        elif chosen in ("all", kind):
            print(line)
            for finding in findings:
                if finding.kind == kind:
                    print(finding)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
