"""Analysis beside the table in Chromium: the bar of the expected result, badges on cards, and several players."""

from __future__ import annotations

import random

import pytest
from support.browser import CHROMIUM, WIDTHS, faint, launched, misplaced, move, my_turn, opened, overlaps, rules_hold
from support.served import served

from trickformer import games

for needed in ("starlette", "playwright", "axe_playwright_python"):
    pytest.importorskip(needed, reason=f"needs {needed}, of the extra dev")
pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"), pytest.mark.slow]

GAMES = {
    "hearts": ["hearts", "--opponents", "rules", "--deal", "1"],
    "skat": ["skat", "--opponents", "rules", "--seed", "3"],
    "crew(mission=9)": ["crew(mission=9)", "--opponents", "rules", "--deal", "2"],
    "hanabi": ["hanabi", "--opponents", "partner"],
}


@pytest.fixture(scope="module")
def browser():
    with launched() as found:
        yield found


def _number(text: str) -> float:
    return float(text.replace("−", "-").replace("+", ""))


def _box(page, selector):
    return page.locator(selector).bounding_box()


def _advance(page, draw, decisions):
    for _ in range(decisions):
        assert my_turn(page)
        move(page, draw)
    while my_turn(page) and page.locator("#felt .act:visible").count() == 1:
        move(page, draw)


@pytest.mark.parametrize("name", GAMES)
def test_the_bar_shows_the_value_of_the_source(browser, name):
    """Beside the table in a wide window and above it in a narrow one, between the lowest and the highest result."""
    game = games.load(name)
    with served(*GAMES[name]) as (address, _):
        page = opened(browser, address)
        _advance(page, random.Random(2), 3)
        assert not page.locator("#gauge").is_visible()
        page.select_option("#source", label="Model")
        page.click("[data-panel=model]")
        page.wait_for_selector("#gauge:visible", timeout=90_000)
        page.wait_for_selector("#panel-model tr.best")
        low, high, now = (float(page.get_attribute("#gauge", f"aria-value{end}")) for end in ("min", "max", "now"))
        worth = game.outcomes.values[:, 0] * game.worth[0]
        assert (low, high) == (worth.min(), worth.max()) and low <= now <= high
        assert _number(page.inner_text("#gauge b")) == pytest.approx(now, abs=0.06)
        words = page.inner_text("#expected")
        assert words == page.get_attribute("#gauge", "aria-valuetext") and game.worth[1] in words
        assert [_number(text) for text in page.locator("#gauge .end").all_inner_texts()] == [round(high), round(low)]
        fill, track = _box(page, "#gauge .fill"), _box(page, "#gauge .track")
        assert fill["height"] / track["height"] == pytest.approx((now - low) / (high - low), abs=0.02)
        for width, height in (*WIDTHS, (1100, 800)):
            page.set_viewport_size({"width": width, "height": height})
            felt, gauge, side = (_box(page, part) for part in ("#felt", "#gauge", "#looking"))
            if width >= 1100:
                assert felt["x"] + felt["width"] <= gauge["x"] and gauge["x"] + gauge["width"] <= side["x"]
                assert side["y"] < height / 4
            else:
                assert gauge["y"] + gauge["height"] <= felt["y"] and felt["y"] + felt["height"] <= side["y"]
            assert not overlaps(page) and not misplaced(page), width
        assert not faint(page)
        rules_hold(page)
        page.reload()  # the choice is kept
        page.wait_for_selector("#gauge:visible", timeout=90_000)
        assert page.get_attribute("#gauge", "aria-valuenow") == str(now)
        page.select_option("#source", label="nothing")
        assert not page.locator("#gauge").is_visible() and not page.locator("#expected").is_visible()
        assert not page.faults
        page.context.close()


def test_a_source_without_a_value_shows_no_bar(browser):
    """PIMC in Skat values no bids."""
    with served("skat", "--opponents", "rules", "--seed", "3") as (address, _):
        page = opened(browser, address)
        my_turn(page)
        page.select_option("#source", label="PIMC")
        page.wait_for_selector("#expected:visible", timeout=90_000)
        assert page.inner_text("#expected") == "pimc gives no value here."
        assert not page.locator("#gauge").is_visible() and not page.faults
        page.context.close()
