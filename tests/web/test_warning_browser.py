"""Warnings before a large mistake in Chromium, by mouse and by keyboard."""

from __future__ import annotations

import random
import re

import pytest
from support.browser import WIDTHS, chromium_marks, faint, listening, move, my_turn, rules_hold
from support.forked import served

pytestmark = chromium_marks()

LIMIT = 1.0


def _listening(browser, address, source="pimc"):
    return listening(browser, address, f"localStorage.setItem('source', '{source}');")


def _ply(page) -> int:
    return int(page.locator("body").get_attribute("data-ply"))


def _rows(page):
    """The rating of the decision that the page shows; empty if only one action is legal."""
    of_now = f"heard.filter((message) => message.panel === 'pimc' && message.data && message.ply === {_ply(page)})"
    for _ in range(600):
        if found := page.evaluate(of_now):
            return found[-1]["data"]["rows"]
        page.wait_for_timeout(100)
    raise AssertionError("PIMC does not answer")


def _is_large(row, limit=LIMIT):
    return row["loss"] >= limit and row["loss"] > 2 * row["loss_error"]


def _to_a_mistake(page, draw):
    """Plays until a card is a large mistake and another one is none; the rows of both."""
    while my_turn(page):
        rows = [] if page.locator("#confirm").count() else _rows(page)
        large = [row for row in rows if _is_large(row)]
        small = [row for row in rows if not _is_large(row, LIMIT / 2)]
        if large and small:
            return large[-1], small[0]
        page.evaluate("document.getElementById('warns').checked = false")
        move(page, draw)
        page.evaluate("document.getElementById('warns').checked = true")
    raise AssertionError("the hand has no large mistake")


def _card(row):
    return f"#own button.card[data-action='{row['action']}']"


def _click(page, row):
    page.click(_card(row), position={"x": 8, "y": 20})


def test_a_large_mistake_is_asked_about(browser):
    """The person chooses again, or plays it anyway; a good card is played at once."""
    with served("hearts", "--opponents", "rules", "--deal", "1", "--warn", str(LIMIT)) as (address, _):
        page = _listening(browser, address)
        assert page.is_checked("#warns") and float(page.input_value("#warns-at")) == LIMIT
        assert page.inner_text("#warns-unit") == "points"
        large, small = _to_a_mistake(page, random.Random(3))
        ply = _ply(page)
        _click(page, large)
        page.wait_for_selector("#warning[open]")
        words = page.inner_text("#warning-words")
        loss, error = map(float, re.findall(r"\d+\.\d+", words))
        assert (loss, error) == pytest.approx((large["loss"], large["loss_error"]), abs=0.06)
        assert words.endswith(" points. Play it anyway?")
        for width, height in WIDTHS:
            page.set_viewport_size({"width": width, "height": height})
            box = page.locator("#warning").bounding_box()
            assert box["x"] >= 0 and box["y"] >= 0, width
            assert box["x"] + box["width"] <= width and box["y"] + box["height"] <= height, width
        assert not faint(page)
        rules_hold(page)
        page.click("#warning button:has-text('Choose again')")
        assert not page.locator("#warning[open]").count() and _ply(page) == ply
        assert not page.evaluate(f"sent.filter((message) => message.do === 'act' && message.ply === {ply})")
        _click(page, small)
        page.wait_for_selector(f"body:not([data-ply='{ply}'])")
        assert not page.locator("#warning[open]").count()
        page.keyboard.press("u")
        page.wait_for_selector(f"body[data-ply='{ply}']")
        assert _is_large(next(row for row in _rows(page) if row["action"] == large["action"]))
        _click(page, large)
        page.click("#warning button:has-text('Play it anyway')")
        page.wait_for_selector(f"body:not([data-ply='{ply}'])")
        played = page.evaluate(f"sent.filter((message) => message.do === 'act' && message.ply === {ply})")
        assert [message["action"] for message in played] == [small["action"], large["action"]]
        assert not page.faults
        page.context.close()


def test_a_warning_by_keyboard(browser):
    """Off at first; the switch turns it on. Escape and Enter choose again, Tab and Enter play anyway."""
    with served("hearts", "--opponents", "rules", "--deal", "1") as (address, _):
        page = _listening(browser, address)
        assert not page.is_checked("#warns") and float(page.input_value("#warns-at")) == pytest.approx(1.04)
        page.fill("#warns-at", str(LIMIT))
        page.focus("#warns")
        page.keyboard.press("Space")
        large, _ = _to_a_mistake(page, random.Random(3))
        ply = _ply(page)
        for key in ("Escape", "Enter"):
            page.focus(_card(large))
            page.keyboard.press("Enter")
            page.wait_for_selector("#warning[open]")
            assert page.evaluate("document.activeElement.textContent") == "Choose again"
            page.keyboard.press("u")  # the table's keys rest
            page.keyboard.press(key)
            page.wait_for_selector("#warning:not([open])", state="attached")
            assert _ply(page) == ply
        page.keyboard.press("Enter")  # the focus has returned to the card
        page.wait_for_selector("#warning[open]")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector(f"body:not([data-ply='{ply}'])")
        assert not page.faults
        page.context.close()


def test_a_choice_waits_for_its_rating(browser):
    """It can be played unrated, and it ends with the switch."""
    slow = "gomcts:checkpoint=hearts-small,runs=1000000"
    with served("hearts", "--opponents", "rules", slow, "rules", "--deal", "1", "--warn", "1") as (address, _):
        page = _listening(browser, address, "search")
        assert my_turn(page)
        for end in ("#unrated", "#warns"):
            ply = _ply(page)
            if page.locator("#confirm").count():
                for place in range(3):
                    page.locator("#own button.card").nth(place).click(position={"x": 8, "y": 20})
                page.click("#confirm")
            else:
                page.locator("#own button.card").first.click(position={"x": 8, "y": 20})
            page.wait_for_selector("#status:has-text('Your choice is rated first.')")
            rules_hold(page, contrast=True)
            assert _ply(page) == ply
            page.click(end)
            page.wait_for_selector(f"body:not([data-ply='{ply}'])")
            assert not page.locator("#rating").count()
            if end == "#unrated":  # the search is stopped, and the next choice requests it again
                page.click("#undo")
                page.wait_for_selector(f"body[data-ply='{ply}']")
        assert not page.faults
        page.context.close()
