"""All colours of the pages are variables at the beginning of style.css. A theme or deck changes some in a block."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from support.browser import CHROMIUM, faint, leave_hand, move, my_turn, opened, rules_hold
from support.forked import served

STATIC = Path(__file__).parents[2] / "src/trickformer/web/static"
COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?)\(", re.IGNORECASE)
# Variables that are no colours, or that a rule or a module sets to one of the colours.
OTHERS = {"card", "grade", "heat", "lift", "middle", "seats", "share", "side", "small", "trick", "turn", "w", "zero"}


BLOCK = re.compile(r':root(?:\[data-(?P<kind>theme|deck)="(?P<name>\w+)"\])? \{\n(?P<rules>.*?)\n\}\n', re.DOTALL)
SUITS = ("clubs", "diamonds", "hearts", "spades")
# Colours of texts and of the ground on which they stand. The felt is lighter in its middle.
PAIRS = [
    *(
        (ink, ground)
        for ink in ("felt-bright", "felt-ink")
        for ground in ("felt", "felt-light", "felt-turn", "felt-dark")
    ),
    *((ink, ground) for ink in ("felt-gold", "felt-soft") for ground in ("felt", "felt-turn", "felt-dark")),
    *((ink, ground) for ink in ("ink", "soft") for ground in ("paper", "box", "hover", "current")),
    *(("ink", ground) for ground in ("gold", "note", "cell", "cell-open", "seen")),
    ("bright", "main"),
    ("bright", "main-hover"),
    ("bright", "red"),
    ("bright", "alert"),
    ("main-off-ink", "main-off"),
    ("off-ink", "off"),
]


def _blocks():
    """Return the variables of each theme and of each deck by name, and the rest of the file. The default is None."""
    text, found, end = (STATIC / "style.css").read_text(), {"theme": {}, "deck": {}}, 0
    while match := BLOCK.match(text, end):
        variables = dict(re.findall(r"--([\w-]+): ([^;]+);", match["rules"]))
        found[match["kind"] or "theme"][match["name"]] = variables
        end = match.end()
    return found["theme"], found["deck"], text[end:]


def _texts():
    """The block of variables, and by file name the modules and the declarations of the style sheets outside of it."""
    texts = {file.name: file.read_text() for file in STATIC.iterdir() if file.suffix in (".css", ".js")}
    block = texts["style.css"].split("\n}\n", 1)[0]
    texts["style.css"] = _blocks()[2]
    selectors = re.compile(r"[^{}]*\{")
    return block, {name: selectors.sub("{", text) if name.endswith(".css") else text for name, text in texts.items()}


def _luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one, other):
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_texts_of_each_theme_can_be_read():
    """Each theme changes variables of the default one, and is offered in the settings of the pages with a felt."""
    themes, _, _ = _blocks()
    default = themes[None]
    offered = re.search(r"THEMES = \[(.*?)\]", (STATIC / "theme.js").read_text())[1]
    assert re.findall(r'"(\w+)"', offered) == ["green", *(name for name in themes if name)]
    for name in ("index", "puzzle", "review"):
        assert '<div id="appearance"></div>' in (STATIC / f"{name}.html").read_text()
        assert re.search(
            r"^initAppearance\(\);$", (STATIC / f"{'app' if name == 'index' else name}.js").read_text(), re.MULTILINE
        )
    assert len(themes) == 5
    assert _luminance(default["felt"]) < 0.1 and _luminance(themes["sand"]["felt"]) > 0.5
    for name, changed in themes.items():
        assert name is None or (changed.keys() <= default.keys() and all(map(COLOUR.fullmatch, changed.values())))
        colours = default | changed
        pale = {pair: _contrast(*(colours[part] for part in pair)) for pair in PAIRS}
        assert not {pair: round(ratio, 2) for pair, ratio in pale.items() if ratio < 4.5}, name
        assert _contrast(colours["card-back"], colours["card-back-sign"]) > 3


def test_suits_of_each_deck_can_be_read():
    """They stand out from the card and from the lines of text, and only the French deck has two colours."""
    themes, decks, _ = _blocks()
    assert decks.keys() == {"four", "german"} and all(changed.keys() <= set(SUITS) for changed in decks.values())
    for name, changed in ((None, {}), *decks.items()):
        for theme in themes.values():
            colours = themes[None] | theme | changed
            grounds = ("card-face", "court-ground", "paper", "box", "current")
            pale = {(suit, ground): _contrast(colours[suit], colours[ground]) for suit in SUITS for ground in grounds}
            assert not {pair: round(ratio, 2) for pair, ratio in pale.items() if ratio < 4.5}, name
            assert len({colours[suit] for suit in SUITS}) == (4 if name else 2)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
@pytest.mark.parametrize("words", ["hearts", "skat --seed 3", "crew(mission=9)", "hanabi", "mines"])
def test_each_theme_in_the_browser(browser, words):
    """The felt changes, no text is pale by our own measure and, in the last theme, by axe-core; the page keeps it."""
    draw, felts = random.Random(3), set()
    with served(*words.split()) as (address, _):
        page = opened(browser, address)
        for name in ("green", "blue", "wine", "slate", "sand"):
            my_turn(page)
            page.select_option("#theme", name)
            if name == "sand":
                page.reload()
                page.wait_for_selector("#own .seat, #board .cell")
                assert my_turn(page) and page.locator("#theme").input_value() == name
            felts.add(page.evaluate("getComputedStyle(document.getElementById('felt')).backgroundColor"))
            assert not faint(page)
            page.click("#match")
            page.wait_for_selector("#new-match[open]")
            assert not faint(page)
            page.keyboard.press("Escape")
            if name == "sand":
                rules_hold(page, contrast=True)
            move(page, draw)
            assert not faint(page)
            if not my_turn(page):
                leave_hand(page, "#again")
        assert len(felts) == 5 and not page.faults
        page.context.close()


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
