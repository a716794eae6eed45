"""Check of the pages that people read: length of sentences and size of guides.

    python tools/check_prose.py          exit code 1 if a page breaks a rule
    python tools/check_prose.py --list   print the figures of all pages

The mean sentence of a page has at most 20 words, and a guide has at most 8 KB (docs/style.md). tools/check_style.py
checks the sizes of README.md and ARCHITECTURE.md.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MEAN_WORDS = 20
GUIDE_BYTES = 8 * 1024
ROOT_PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
GUIDES = ("docs/*.md", "docs/games/*.md", "docs/design/*.md", "docs/reproduce/*.md")

_FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)
_FENCED_BLOCK = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK_TARGET = re.compile(r"\]\([^)]*\)")
_LIST_ITEM = re.compile(r" *(?:[-*]|\d+\.) +")
_SENTENCE_END = re.compile(r'[.?!][)*"]*(?:\s+|$)')
_WORD = re.compile(r"\w")


@dataclass(frozen=True)
class PageFigures:
    """Figures of one page.

    Attributes:
        name: Path relative to the repository root.
        mean_words: Mean number of words in a sentence; 0 without sentences.
        size: Number of bytes.
        is_guide: Whether the limit of size applies.
    """

    name: str
    mean_words: float
    size: int
    is_guide: bool

    def faults(self) -> list[str]:
        """Return a line for each rule that the page breaks."""
        lines: list[str] = []
        if self.mean_words > MEAN_WORDS:
            lines.append(f"{self.name}: the mean sentence has {self.mean_words:.1f} words, at most {MEAN_WORDS}")
        if self.is_guide and self.size > GUIDE_BYTES:
            lines.append(f"{self.name}: {self.size:,} bytes, at most {GUIDE_BYTES:,}")
        return lines


def sentences(text: str) -> list[str]:
    """Split the prose of a page into sentences.

    Args:
        text: Markdown. Code blocks, tables, headings and comments are no prose.

    Returns:
        Sentences of at least two words. A paragraph or an item of a list ends a sentence.
    """
    for ignored in (_FRONT_MATTER, _FENCED_BLOCK, _COMMENT):
        text = ignored.sub("\n", text)
    paragraphs = [""]
    for line in text.splitlines():
        item = _LIST_ITEM.match(line)
        if item or not line.strip() or line.lstrip().startswith(("|", "#", "<")):
            paragraphs.append("")
        if not line.lstrip().startswith(("|", "#", "<")):
            paragraphs[-1] += " " + (line[item.end() :] if item else line)
    prose = [_LINK_TARGET.sub("]", paragraph) for paragraph in paragraphs]
    parts = [part for paragraph in prose for part in _SENTENCE_END.split(paragraph)]
    return [part.strip() for part in parts if _count_words(part) > 1]


def _count_words(text: str) -> int:
    """Return the number of words. A dash or a dot between links is none."""
    return sum(_WORD.search(word) is not None for word in text.split())


def measure(name: str, text: str, is_guide: bool) -> PageFigures:
    """Measure a page.

    Args:
        name: Path relative to the repository root.
        text: The page.
        is_guide: Whether the limit of size applies.
    """
    counts = [_count_words(sentence) for sentence in sentences(text)]
    mean = sum(counts) / len(counts) if counts else 0.0
    return PageFigures(name, mean, len(text.encode()), is_guide)


def measure_tree(root: Path) -> list[PageFigures]:
    """Measure the pages of a repository.

    Args:
        root: The repository root.

    Returns:
        Figures of the root's pages, then of the guides.
    """
    pages = [(root / name, False) for name in ROOT_PAGES]
    pages += [(page, True) for pattern in GUIDES for page in sorted(root.glob(pattern))]
    return [
        measure(page.relative_to(root).as_posix(), page.read_text(encoding="utf-8"), is_guide)
        for page, is_guide in pages
    ]


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Run the checker.

    Args:
        arguments: Arguments of the command line; by default those of the process.
        root: The repository root.

    Returns:
        Exit code: 0 if no page breaks a rule, 1 if one does, 2 if a page cannot be read.
    """
    parser = argparse.ArgumentParser(description="Check the sentences and the size of pages against docs/style.md.")
    parser.add_argument("--list", action="store_true", help="print the figures of all pages")
    all_figures: bool = parser.parse_args(arguments).list
    try:
        pages = measure_tree(root)
    except (OSError, UnicodeDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if all_figures:
        for page in pages:
            print(f"{page.mean_words:5.1f} words  {page.size:6,} bytes  {page.name}")
    faults = [line for page in pages for line in page.faults()]
    print("\n".join(faults) or f"pages: {len(pages)}, none breaks a rule")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
