"""The pictures in docs/play.md and docs/review.md: `PYTHONPATH=tests .venv/bin/python runs/screenshots.py [NAME ...]`.

They are taken in Chromium. The deal, the moves and the players of each are fixed, so that a new one shows what has
changed."""

from __future__ import annotations

import random
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from support.browser import launched, move, my_turn, opened
from support.served import served

DOCS = Path(__file__).parents[1] / "docs"
WIDTH, PHONE = 1280, (390, 844)

# Of each the words that open the table, how many moves are made, and what is looked at then.
TABLES = {
    "hearts": ("hearts --opponents gomcts pimc rules --deal 1", 6, "search belief"),
    "inside": ("hearts --opponents gomcts pimc rules --deal 1", 9, "model pimc worlds tokens"),
    "skat": ("skat --opponents rules --seed 3", 0, ""),
    "crew": ("crew(mission=9) --opponents rules --deal 2", 5, "pimc"),
    "hanabi": ("hanabi --opponents partner", 4, "belief"),
    "mines": ("mines --seed 5", 2, "belief"),
    "phone": ("hearts --opponents gomcts pimc rules --deal 1", 6, "search"),
}
GAMES, LOST = DOCS.parent / "tests" / "fixtures" / "skat" / "games.sgf", 13


def taken(page, name: str, whole: bool) -> None:
    """Keeps what the page looks like, in 256 colours."""
    picture = Image.open(BytesIO(page.screenshot(full_page=whole)))
    picture.convert("RGB").quantize(256).save(DOCS / f"{name}.png", optimize=True)
    page.context.close()


def table(browser, name: str) -> None:
    """A hand in which the person does at random what can be done."""
    words, moves, panels = TABLES[name]
    draw, (width, height) = random.Random(2), PHONE if name == "phone" else (WIDTH, 800)
    with served(*words.split()) as (address, _):
        page = opened(browser, address, width, height)
        for _ in range(moves):
            my_turn(page)
            move(page, draw)
        my_turn(page)
        for panel in panels.split():
            page.click(f"[data-panel={panel}]")
        ply = page.locator("body").get_attribute("data-ply")
        for panel in panels.split():
            page.wait_for_selector(f"#panel-{panel}[data-ply='{ply}'] .body *", timeout=90_000)
        if "search" in panels.split():
            page.locator("#panel-search summary").first.click()
        taken(page, f"play-{name}", whole=True)


def review(browser) -> None:
    """A game of Skat, at the decision that lost it."""
    with served(str(GAMES), command="view") as (address, _):
        page = opened(browser, address, WIDTH, 1280, shown="#rows a")
        page.click(f"#rows a[href='#{LOST}']")
        page.wait_for_selector("#own .seat")
        page.click("#rate")
        page.wait_for_selector("#review .mistakes button", timeout=90_000)
        page.click("#review .went")
        page.evaluate("scrollTo(0, 0)")
        taken(page, "review-skat", whole=False)


if __name__ == "__main__":
    with launched() as found:
        for chosen in sys.argv[1:] or [*TABLES, "review"]:
            review(found) if chosen == "review" else table(found, chosen)
