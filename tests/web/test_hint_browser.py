"""Hints at the table in Chromium: the button and the key, the marks on the cards, and the words."""

from __future__ import annotations

import random
import re

import pytest
from support.browser import advance, chromium_marks, layout_holds, listening, move, my_turn
from support.forked import served

pytestmark = chromium_marks()

MARKS = """[...document.querySelectorAll("#felt .act")].filter((e) => e.querySelector(".evaluation")).map((e) =>
  [Number(e.dataset.action ?? e.dataset.actions), e.querySelector(".evaluation").textContent, e.ariaLabel])"""


def _answers(page, panel):
    heard = page.evaluate("heard.filter((message) => message.type === 'look' && message.data)")
    return [message for message in heard if message["panel"] == panel]


def _labels(page):
    return [card.get_attribute("aria-label") for card in page.locator("#felt .act").all()]


def test_a_hint_has_two_levels(browser):
    """First the candidates, without values; then the best with its value and lead; a third press hides them."""
    with served("hearts", "--opponents", "rules", "--deal", "1") as (address, _):
        page = listening(browser, address)
        advance(page, random.Random(5), 4)
        plain = _labels(page)
        assert not _answers(page, "search")  # nothing is computed unasked
        page.click("#hint")
        page.wait_for_selector("#hinted", timeout=90_000)
        data = _answers(page, "search")[-1]["data"]
        hint = data["hint"]
        marks = page.evaluate(MARKS)
        assert sorted(action for action, _, _ in marks) == hint["candidates"]
        assert {text for _, text, _ in marks} == {"?"}
        assert all(label.endswith(", worth a thought") for _, _, label in marks)
        words = page.inner_text("#hinted")
        names = [label.removesuffix(", worth a thought") for _, _, label in sorted(marks)]
        assert words == f"Worth a thought: {', '.join(names)} (visited most by gomcts)."
        assert not page.locator("#panel-search").count() and not page.locator("#gauge").is_visible()
        layout_holds(page)
        page.keyboard.press("h")
        ((action, text, label),) = page.evaluate(MARKS)
        assert (action, text) == (hint["best"], "★") and label.endswith(", best")
        words = page.inner_text("#hinted")
        rows = {row["action"]: row for row in data["rows"]}
        value, lead = (float(number.replace("−", "-")) for number in re.findall(r"[\d.−]*\d\.\d\d?", words))
        assert value == pytest.approx(rows[hint["best"]]["value"], abs=0.06)
        assert lead == pytest.approx(abs(hint["lead"]), abs=0.06)
        assert words.startswith(f"Best by gomcts: {label.removesuffix(', best')}, ")
        assert (" leads " if hint["lead"] >= 0 else " trails ") in words
        layout_holds(page)
        page.click("#hint")
        assert _labels(page) == plain and not page.locator("#hinted").count()
        assert not page.faults
        page.context.close()


def test_a_hint_ends_with_its_decision(browser):
    """The next decision shows none and computes none; undo brings no mark back."""
    with served("hearts", "--opponents", "rules", "--deal", "1") as (address, _):
        page = listening(browser, address)
        advance(page, random.Random(5), 2)
        page.keyboard.press("h")
        page.wait_for_selector("#hinted", timeout=90_000)
        page.keyboard.press("h")
        move(page, random.Random(1))
        assert my_turn(page)
        assert not page.evaluate(MARKS) and not page.locator("#hinted").count()
        looks = page.evaluate("sent.filter((message) => message.do === 'look')")
        assert [look["panels"] for look in looks[-2:]] == [["search"], []]
        ply = page.locator("body").get_attribute("data-ply")
        page.keyboard.press("u")
        page.wait_for_selector(f"body:not([data-ply='{ply}'])")
        assert my_turn(page) and not page.evaluate(MARKS)
        assert len({message["ply"] for message in _answers(page, "search")}) == 1
        assert not page.faults
        page.context.close()


def test_the_source_of_the_page_gives_the_hint(browser):
    """PIMC marks what lies within its error and gives the lead's; a badge with a number keeps it."""
    with served("hearts", "--opponents", "rules", "--deal", "1") as (address, _):
        page = listening(browser, address)
        advance(page, random.Random(5), 4)
        page.select_option("#source", label="PIMC")
        page.select_option("#measure", label="value")
        page.wait_for_selector("#felt .evaluation", timeout=90_000)
        numbers = {action: text for action, text, _ in page.evaluate(MARKS)}
        page.keyboard.press("h")
        page.wait_for_selector("#hinted", timeout=90_000)
        hint = _answers(page, "pimc")[-1]["data"]["hint"]
        assert page.inner_text("#hinted").endswith("(within two standard errors of the best by pimc).")
        marked = page.evaluate(
            "[...document.querySelectorAll('#felt .act:has(.hinted)')].map((e) => +e.dataset.action)"
        )
        assert sorted(marked) == hint["candidates"]
        assert {action: text.replace("?", "") for action, text, _ in page.evaluate(MARKS)} == numbers
        page.keyboard.press("h")
        assert f"± {hint['error']:.2f}." in page.inner_text("#hinted")
        page.select_option("#source", label="Model")  # a hint of another source ends
        assert not page.locator("#hinted").count()
        page.keyboard.press("h")
        page.wait_for_selector("#hinted:has-text('most likely by argmax')", timeout=90_000)
        assert not page.faults
        page.context.close()


def test_a_source_that_compares_nothing_says_so(browser):
    """PIMC in Skat values no bids, and finds no error there."""
    with served("skat", "--opponents", "rules", "--seed", "3") as (address, _):
        page = listening(browser, address)
        assert my_turn(page)
        page.select_option("#source", label="PIMC")
        page.click("#hint")
        page.wait_for_selector("#hinted", timeout=90_000)
        assert "(the action of pimc, which compares no actions)" in page.inner_text("#hinted")
        assert len(page.evaluate(MARKS)) == 1
        page.click("#hint")
        assert page.inner_text("#hinted").endswith("It compares the value with no other action.")
        assert not page.faults
        page.context.close()


def test_a_search_for_a_hint_can_be_stopped(browser):
    """And is begun again by another press. Nothing is marked meanwhile, and the button is off while others think."""
    slow = "gomcts:checkpoint=hearts-small,runs=1000000"
    with served("hearts", "--opponents", "rules", slow, "rules", "--deal", "1") as (address, _):
        page = listening(browser, address)
        assert my_turn(page)
        for _ in range(2):
            page.click("#hint")
            page.wait_for_selector("#status:has-text('GO-MCTS looks for advice.')")
            page.keyboard.press("h")  # changes nothing before the answer
            assert not page.evaluate(MARKS)
            page.click("#status button")
            page.wait_for_selector("#status:has-text('There is no advice: stopped.')", timeout=30_000)
        assert page.locator("#hint").is_enabled()
        move(page, random.Random(3))
        page.wait_for_selector("#cancel", timeout=30_000)
        assert page.locator("#hint").is_disabled()
        page.click("#cancel")
        assert not page.faults
        page.context.close()
