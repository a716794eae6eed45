"""All colours of the pages are variables at the beginning of style.css, so that a theme is one block of CSS."""

from __future__ import annotations

import re
from pathlib import Path

STATIC = Path(__file__).parents[2] / "src/trickformer/web/static"
COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?)\(", re.IGNORECASE)
# Variables that are no colours, or that a rule or a module sets to one of the colours.
OTHERS = {"card", "grade", "heat", "lift", "seats", "share", "side", "small", "trick", "turn", "w", "zero"}


def _texts():
    """The block of variables, and by file name the modules and the declarations of the style sheets outside of it."""
    texts = {file.name: file.read_text() for file in STATIC.iterdir() if file.suffix in (".css", ".js")}
    block, texts["style.css"] = texts["style.css"].split("\n}\n", 1)
    selectors = re.compile(r"[^{}]*\{")
    return block, {name: selectors.sub("{", text) if name.endswith(".css") else text for name, text in texts.items()}


def test_colours_stand_in_one_block():
    block, texts = _texts()
    assert block.startswith(":root {") and len(COLOUR.findall(block)) > 60
    assert {name: found for name, text in texts.items() if (found := COLOUR.findall(text))} == {}


def test_each_colour_is_declared_and_used():
    """A module names the colour of a sign or of a curve by its name or number."""
    block, texts = _texts()
    declared = set(re.findall(r"--([\w-]+): #", block))
    used = {name for text in texts.values() for name in re.findall(r"var\(--([\w-]+)\b(?!-)", text)}
    signs = set(re.findall(r"^  (\w+): \"M", texts["face.js"], re.MULTILINE))
    named = signs | {f"curve-{number}" for number in range(1, 6)}
    assert len(signs) == 11 and named <= declared
    assert declared - named <= used and used - declared <= OTHERS
