"""The last trick and the flags of Mines, in Chromium."""

from __future__ import annotations

import random

import pytest
from support.browser import (
    WIDTHS,
    chromium_marks,
    faint,
    layout_holds,
    leave_hand,
    listening,
    move,
    my_turn,
    opened,
    overlaps,
    rules_hold,
)
from support.forked import served

pytestmark = chromium_marks()


def _trick(page):
    """Return the cards of the trick that the page shows, by the words of their seats."""
    played = page.locator("#trick .played").all()
    return {p.locator("figcaption").text_content(): p.locator(".card").get_attribute("data-name") for p in played}


@pytest.mark.parametrize("words", ["hearts --deal 1", "skat --seed 3", "crew(mission=9) --deal 2"])
def test_the_last_trick_is_shown_on_demand(browser, words):
    """The button and the key show it with its taker, and the current trick again. It ends with the next action."""
    draw = random.Random(3)
    with served(*words.split(), "--opponents", "rules") as (address, _):
        page = listening(browser, address)
        for _ in range(40):
            assert my_turn(page)
            scene = page.evaluate("window.heard.filter((m) => m.type === 'table').at(-1).scene")
            if scene.get("trick") and scene.get("last"):
                break
            assert not page.locator("#last-trick").count()
            page.keyboard.press("l")  # nothing to show
            assert not page.locator("#taken").count()
            move(page, draw)

        def seat(number):
            return "you" if number == 0 else f"seat {number}"

        current, last = ({seat(p["seat"]): p["card"]["name"] for p in scene[key]} for key in ("trick", "last"))
        assert _trick(page) == current != last
        page.keyboard.press("l")
        assert _trick(page) == last and page.locator("#trick").get_attribute("aria-label") == "Last trick"
        assert page.inner_text("#taken").lower() == f"{seat(scene.get('taker'))} took it"
        assert not page.locator("#trick .landing").count()
        layout_holds(page)
        page.click("#last-trick")
        assert _trick(page) == current and not page.locator("#taken").count()
        page.focus("#last-trick")
        page.keyboard.press("Enter")
        assert _trick(page) == last and page.evaluate("document.activeElement.id") == "last-trick"
        move(page, draw)
        page.wait_for_function("!document.getElementById('taken')")
        assert not page.faults
        page.context.close()


def _flags(page):
    cells = page.locator("#board .cell.flagged").all()
    assert all(cell.get_attribute("aria-label").startswith("flag, open row") for cell in cells)
    flagged = [int(cell.get_attribute("data-action")) for cell in cells]
    assert f"{len(flagged)} of 10 mines flagged" in page.inner_text("#features")
    return flagged


def test_flags_on_cells_of_mines(browser):
    """Mouse, finger and key set and remove them; a flagged cell is not opened; they end with the deal."""
    with served("mines(rows=8,cols=8,mines=10)", "--seed", "5") as (address, _):
        page = opened(browser, address)
        assert my_turn(page) and not _flags(page)
        cell = page.locator("#board .cell")
        cell.nth(3).click(button="right")
        cell.nth(9).click(button="right")
        assert _flags(page) == [3, 9]
        cell.nth(3).click()
        cell.nth(3).focus()
        page.keyboard.press("Enter")
        for width, height in WIDTHS:
            page.set_viewport_size({"width": width, "height": height})
            assert not overlaps(page), width
        assert not faint(page)
        rules_hold(page)
        assert page.locator("body").get_attribute("data-ply") == "0"
        page.keyboard.press("f")
        assert _flags(page) == [9]
        page.keyboard.press("f")
        assert _flags(page) == [3, 9]
        cell.nth(20).dispatch_event("pointerdown", {"pointerType": "touch", "bubbles": True})
        page.wait_for_selector("#board .cell[data-action='20'].flagged")
        cell.nth(20).dispatch_event("contextmenu", {"bubbles": True})  # some browsers send it, too
        cell.nth(20).dispatch_event("pointerup", {"pointerType": "touch", "bubbles": True})
        assert _flags(page) == [3, 9, 20]
        cell.nth(40).click()
        page.wait_for_selector("#board .cell.open, body[data-turn=over]")
        assert _flags(page) == [3, 9, 20]
        page.reload()
        page.wait_for_selector("#board .cell.flagged")
        assert _flags(page) == [3, 9, 20]
        leave_hand(page, "#next")
        page.wait_for_selector("#title:has-text('deal 1')")
        assert not _flags(page) and not page.faults
        page.context.close()
