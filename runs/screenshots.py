"""Take the pictures of the pages in docs/: `PYTHONPATH=tests .venv/bin/python runs/screenshots.py [NAME ...]`.

Chromium shows the pages. The deal, the moves and the players of each picture are fixed, so that a new picture differs
only if the page has changed.
"""

from __future__ import annotations

import random
import sys
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from support.browser import launched, move, my_turn, opened
from support.served import served

DOCS = Path(__file__).parents[1] / "docs"
WIDTH = 1280
HEIGHT = 900
PHONE = (390, 844)


class TablePicture(NamedTuple):
    """Content of a picture of a table."""

    arguments: str  # of `trickformer play`
    moves: int  # number of the person's moves before the picture
    panels: tuple[str, ...] = ()  # panels to open after the moves


TABLES = {
    "hearts": TablePicture("hearts --opponents gomcts pimc rules --deal 1", 6, ("search", "belief")),
    "inside": TablePicture("hearts --opponents gomcts pimc rules --deal 1", 9, ("model", "pimc", "worlds", "tokens")),
    "skat": TablePicture("skat --opponents rules --seed 3", 0),
    "crew": TablePicture("crew(mission=9) --opponents rules --deal 2", 5, ("pimc",)),
    "hanabi": TablePicture("hanabi --opponents partner", 4, ("belief",)),
    "mines": TablePicture("mines --seed 5", 2, ("belief",)),
    "phone": TablePicture("hearts --opponents gomcts pimc rules --deal 1", 6, ("search",)),
}
HALVES = (Image.Quantize.MEDIANCUT, Image.Quantize.MAXCOVERAGE)
GAMES = DOCS.parent / "tests" / "fixtures" / "skat" / "games.sgf"
LOST_GAME = 13  # number of a game in GAMES that the soloist lost by a mistake

# For each game: arguments of `trickformer play`, and the number of the person's moves before the picture of the middle.
SHEETS = {
    "hearts": ("hearts --opponents rules --deal 1", 6),
    "skat": ("skat --opponents rules --seed 3", 6),
    "crew": ("crew(mission=9) --opponents rules --deal 2", 5),
    "hanabi": ("hanabi --opponents partner", 4),
    "mines": ("mines --seed 5", 2),
}
SIZES = {(1440, 900): (720, 450), PHONE: (360, 779)}  # of windows, and of their pictures on a sheet


def photograph(page) -> Image.Image:
    return Image.open(BytesIO(page.screenshot())).convert("RGB")


def save(picture: Image.Image, name: str) -> None:
    """Save a picture in 256 colours: frequent ones for the felt, rare ones for the suits and the court cards."""
    colours = [part for how in HALVES for part in picture.quantize(128, how).getpalette()[: 3 * 128]]
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours)
    picture.quantize(palette=palette, dither=Image.Dither.NONE).save(DOCS / f"{name}.png", optimize=True)


def save_picture(page, name: str) -> None:
    save(photograph(page), name)
    page.context.close()


def table(browser, name: str) -> None:
    """Take the picture of a hand in which the person acts at random."""
    picture, draw = TABLES[name], random.Random(2)
    width, height = PHONE if name == "phone" else (WIDTH, HEIGHT)
    with served(*picture.arguments.split()) as (address, _):
        page = opened(browser, address, width, height)
        for _ in range(picture.moves):
            my_turn(page)
            move(page, draw)
        my_turn(page)
        for panel in picture.panels:
            page.click(f"[data-panel={panel}]")
        ply = page.locator("body").get_attribute("data-ply")
        for panel in picture.panels:
            page.wait_for_selector(f"#panel-{panel}[data-ply='{ply}'] .body *", timeout=90_000)
        if "search" in picture.panels:
            page.locator("#panel-search summary").first.click()
        if name == "hearts":
            page.select_option("#source", "search")
            page.select_option("#measure", "value")
            page.wait_for_selector("#gauge .fill")
        save_picture(page, f"play-{name}")


def review(browser) -> None:
    """Take the picture of a game of Skat, at the decision that lost it."""
    with served(str(GAMES), command="view") as (address, _):
        page = opened(browser, address, WIDTH, 1280, shown="#rows a")
        page.click(f"#rows a[href='#{LOST_GAME}']")
        page.wait_for_selector("#own .seat")
        page.click("#rate")
        page.wait_for_selector("#review .mistakes button", timeout=90_000)
        page.click("#review .losing-step")
        page.evaluate("scrollTo(0, 0)")
        save_picture(page, "review-skat")


def puzzle(browser) -> None:
    """Take the picture of a puzzle of Skat after an answer."""
    with served(str(GAMES), "--seed", "1", command="puzzle") as (address, _):
        page = opened(browser, address, WIDTH, HEIGHT, shown="body[data-puzzle='1'] #own .act")
        page.locator("#own .act").first.click()
        page.wait_for_selector("#answer:visible")
        save_picture(page, "puzzle-skat")


def people(browser) -> None:
    """Take the picture of the host's page in a game of Skat of three people, while a guest is on turn."""
    with served("skat", "--invite", "1", "2", "--seed", "3") as (address, _):
        page = opened(browser, address, WIDTH, HEIGHT)
        links = page.locator("#links a").evaluate_all("links => links.map((a) => a.href)")
        guests = [opened(browser, link, WIDTH, HEIGHT) for link in links]
        page.locator("#status:has-text('Waiting for seat')").wait_for()
        save_picture(page, "play-people")
        for guest in guests:
            guest.context.close()


def stages(browser, name: str, width: int, height: int) -> list[Image.Image]:
    """Photograph a hand at its start, in the middle, at its end, and on the page of its review."""
    arguments, moves = SHEETS[name]
    draw, pictures = random.Random(2), []
    with served(*arguments.split()) as (address, _):
        page = opened(browser, address, width, height)
        played = 0
        while my_turn(page):
            if played in (0, moves):
                pictures.append(photograph(page))
            move(page, draw)
            played += 1
        assert len(pictures) == 2, f"the hand ended before {moves} moves"
        page.wait_for_selector("#review-hand")
        pictures.append(photograph(page))
        page.click("#review-hand")
        page.wait_for_selector("#decisions button", timeout=90_000)
        pictures.append(photograph(page))
        page.context.close()
    return pictures


def sheet(browser, name: str) -> None:
    """Save one picture of a game's table: four stages in a wide window, and below them the same on a phone."""
    whole = Image.new("RGB", (1440, 900 + 779), "white")
    for (width, height), small in SIZES.items():
        for number, picture in enumerate(stages(browser, name, width, height)):
            row, column = divmod(number, 2) if width > height else (0, number)
            top = 0 if width > height else 900
            whole.paste(picture.resize(small, Image.Resampling.LANCZOS), (column * small[0], top + row * small[1]))
    save(whole, f"sheet-{name}")


PICTURES = {"review": review, "puzzle": puzzle, "people": people}

if __name__ == "__main__":
    with launched() as chromium:
        for name in sys.argv[1:] or [*TABLES, *PICTURES, *(f"sheet-{game}" for game in SHEETS)]:
            if name.startswith("sheet-"):
                sheet(chromium, name.removeprefix("sheet-"))
            elif name in PICTURES:
                PICTURES[name](chromium)
            else:
                table(chromium, name)
