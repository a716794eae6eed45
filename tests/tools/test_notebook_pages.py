"""Tests of tools/notebook_pages.py: cells and outputs as Markdown, and the notebooks of the repository."""

from __future__ import annotations

import base64
import importlib.util
import json
import re
from pathlib import Path

import pytest
from support.pages import ROOT

FILE = Path(__file__).resolve().parents[2] / "tools" / "notebook_pages.py"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def _load_converter():
    """Import the converter from its file; tools/ is not a package."""
    spec = importlib.util.spec_from_file_location("notebook_pages", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


converter = _load_converter()


def _page(*outputs, source="x = 1\nx"):
    """Return the page of a notebook of a text and one cell of code with these outputs."""
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "Text."]},
        {"cell_type": "code", "source": source.splitlines(keepends=True), "outputs": list(outputs)},
    ]
    return converter.convert(json.dumps({"nbformat": 4, "cells": cells}))


def test_text_and_code():
    assert _page() == "# Title\nText.\n\n```python\nx = 1\nx\n```\n"


def test_adjacent_texts_are_one_block_without_colours_and_blank_lines():
    stream = {"output_type": "stream", "text": ["1\n", "\n"]}
    plain = {
        "output_type": "display_data",
        "data": {"text/plain": ["\x1b[1mbold\x1b[0m"], "text/html": "<pre>bold</pre>"},
    }
    assert _page(stream, plain).endswith("```\n\n```text\n1\nbold\n```\n")
    assert _page({"output_type": "stream", "text": "\n"}) == _page()


def test_a_picture_is_data_and_splits_texts():
    png = base64.b64encode(b"picture").decode()
    picture = {"output_type": "display_data", "data": {"image/png": png + "\n", "text/plain": ["<Figure>"]}}
    text = {"output_type": "stream", "text": "1\n"}
    page = _page(text, picture, text)
    assert page.count("```text\n1\n```") == 2
    assert f"](data:image/png;base64,{png})" in page and "<Figure>" not in page


def test_a_table_of_pandas_is_html_without_a_class():
    table = '<table border="1" class="dataframe">\n\n  <tr><td>1</td></tr>\n</table>'
    html = f"<div>\n<style scoped>\n x</style>\n{table}\n</div>"
    page = _page({"output_type": "execute_result", "data": {"text/html": [html], "text/plain": ["   1"]}})
    assert page.endswith("\n\n<table>\n<tr><td>1</td></tr>\n</table>\n")


def test_what_cannot_be_shown_is_an_error():
    with pytest.raises(ValueError, match="kind display_data"):
        _page({"output_type": "display_data", "data": {"image/svg+xml": "<svg/>"}})
    with pytest.raises(ValueError, match="format 3"):
        converter.convert(json.dumps({"nbformat": 3, "worksheets": []}))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_of_the_repository_is_whole(path):
    text = path.read_text(encoding="utf-8")
    page, cells = converter.convert(text), json.loads(text)["cells"]
    assert page.startswith("# ")
    assert page.count("```python\n") == sum(cell["cell_type"] == "code" for cell in cells)
    n_pictures = sum("image/png" in output.get("data", {}) for cell in cells for output in cell.get("outputs", []))
    assert len(re.findall(r"\(data:image/png;base64,[A-Za-z0-9+/=]+\)", page)) == n_pictures > 0
    assert "\x1b" not in page
