"""Conversion of notebooks to pages in Markdown, with the outputs that a notebook holds.

docs/_hooks.py adds the pages to the site when it is built. A notebook is JSON, so the conversion needs no package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_TABLE = re.compile(r"<table.*?</table>", re.DOTALL)


def convert(text: str) -> str:
    """Convert a notebook to a page.

    Args:
        text: The notebook: JSON of format 4.

    Returns:
        Markdown. Code and its text output are fenced blocks, a picture is a data URI, and a table of pandas is HTML.

    Raises:
        ValueError: The notebook has another format, or an output has no text, table or picture.
    """
    notebook = json.loads(text)
    if notebook.get("nbformat") != 4:
        raise ValueError(f"a notebook of format {notebook.get('nbformat')} cannot be shown, only of format 4")
    return "\n\n".join(block for cell in notebook["cells"] for block in _cell_blocks(cell)) + "\n"


def _cell_blocks(cell: Mapping[str, Any]) -> Iterator[str]:
    """Yield the blocks of a cell: its source, then its outputs. Adjacent texts are one block."""
    source = "".join(cell["source"])
    if cell["cell_type"] != "code":
        yield source
        return
    yield _fence("python", source)
    texts: list[str] = []
    for output in cell["outputs"]:
        if "text" in output:
            texts.append("".join(output["text"]))
        elif block := _rich_block(output.get("data", {})):
            yield from _text_block(texts)
            texts = []
            yield block
        elif "text/plain" in output.get("data", {}):
            texts.append("".join(output["data"]["text/plain"]))
        else:
            raise ValueError(f"an output of kind {output['output_type']} cannot be shown")
    yield from _text_block(texts)


def _rich_block(data: Mapping[str, Any]) -> str | None:
    """Return the picture or the table of an output; None if it has neither."""
    if "image/png" in data:
        return f"![Output of the code above](data:image/png;base64,{''.join(data['image/png'].split())})"
    if table := _TABLE.search("".join(data.get("text/html", []))):
        # The theme styles tables without a class. A blank line would end the block of HTML.
        return re.sub(r"<table[^>]*>", "<table>", re.sub(r"\n\s*", "\n", table[0]))
    return None


def _text_block(texts: list[str]) -> Iterator[str]:
    """Yield one block of several texts without colours and blank lines; none if nothing is left."""
    lines = [line.rstrip() for text in texts for line in _ANSI.sub("", text).splitlines()]
    if lines := [line for line in lines if line]:
        yield _fence("text", "\n".join(lines))


def _fence(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"
