"""A person's own notes on the cards of Hanabi, in Chromium: mouse, finger and key, and what stays."""

from __future__ import annotations

import random

import pytest
from support.browser import (
    WIDTHS,
    chromium_marks,
    faint,
    layout_holds,
    leave_hand,
    move,
    my_turn,
    opened,
    overlaps,
    rules_hold,
)
from support.forked import served

pytestmark = chromium_marks()

TEXT = "<img src=x onerror=alert(1)> & 2nd"
TABLE = ("hanabi", "--opponents", "partner", "--deal", "19")
# A finger presses for some milliseconds. Its end and the page share a clock, so a busy machine does no harm.
PRESS = """(card, [milliseconds, slide]) => new Promise((resolve) => {
  const { x, y } = card.getBoundingClientRect();
  const fire = (kind, dx) => card.dispatchEvent(new PointerEvent(kind,
    { bubbles: true, pointerType: "touch", detail: 1, clientX: x + 9 + dx, clientY: y + 9 }));
  fire("pointerdown", 0);
  fire("pointermove", slide);
  setTimeout(() => {
    fire("pointerup", slide);
    fire("click", slide);
    resolve();
  }, milliseconds);
})"""


def _card(page, order):
    return page.locator(f"#felt .seat > .hand > .card[data-order='{order}']")


def _write(page, text):
    page.wait_for_selector("#annotation[open]")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(text) if text else page.keyboard.press("Delete")
    page.keyboard.press("Enter")
    page.wait_for_selector("#annotation[open]", state="detached")


def _marked(page):
    """The texts of all cards by their places in the order of drawing."""
    cards = page.locator("#felt .card:has(.annotated)").all()
    for card in cards:
        assert card.get_attribute("title") not in card.get_attribute("aria-label")  # a screen reader reads both
    return {int(card.get_attribute("data-order")): card.get_attribute("title") for card in cards}


def test_a_note_follows_its_card(browser, tmp_path):
    """It stays while the card moves, through a reload, an undo and a restart of the table, and ends with the deal."""
    resumed = (*TABLE, "--out", str(tmp_path / "table"))
    with served(*resumed) as (address, _):
        page = opened(browser, address)
        my_turn(page)
        assert page.locator("#own .card").first.get_attribute("data-order") == "0"
        _card(page, 3).click(button="right")
        assert not page.locator("#offer").is_visible()
        rules_hold(page)
        assert not faint(page)
        _write(page, TEXT)
        _card(page, 7).click(button="right")
        _write(page, "partner's one")
        page.wait_for_selector("#others .annotated")
        written = {3: TEXT, 7: "partner's one"}
        assert _marked(page) == written and not page.locator("#felt img").count()
        layout_holds(page)
        _card(page, 1).click()  # in this deal a 1
        page.locator("#offer button").first.click()
        page.wait_for_selector("#log li:has-text('you: play')")
        assert my_turn(page)
        orders = [card.get_attribute("data-order") for card in page.locator("#own .card").all()]
        assert orders[:4] == ["0", "2", "3", "4"] and _marked(page)[3] == TEXT
        page.reload()
        page.wait_for_selector("#own .annotated")
        assert _marked(page)[3] == TEXT
        page.keyboard.press("u")
        page.wait_for_selector("#own .card[data-order='1']")
        assert my_turn(page) and _marked(page) == written
        assert not page.faults
        page.context.close()
    with served(*resumed, "--resume") as (address, _):
        page = opened(browser, address)
        assert my_turn(page) and _marked(page) == written
        leave_hand(page, "#next")
        page.wait_for_selector("#title:has-text('deal 20')")
        assert not _marked(page) and not page.faults
        page.context.close()


def test_keys_write_notes(browser):
    """The key n on a card, Enter, Escape, an empty text; the card keeps the focus, and no other key is taken."""
    with served(*TABLE) as (address, _):
        page = opened(browser, address)
        my_turn(page)
        page.keyboard.press("n")  # without a card: nothing
        assert not page.locator("#annotation").is_visible()
        _card(page, 2).focus()
        page.keyboard.press("n")
        _write(page, "huh n")
        page.wait_for_selector("#own .annotated")
        assert page.evaluate("document.activeElement.dataset.order") == "2"
        page.keyboard.press("n")
        assert page.input_value("#annotation-text") == "huh n"
        page.keyboard.type("u")
        page.keyboard.press("Escape")
        page.wait_for_selector("#annotation[open]", state="detached")
        assert _marked(page) == {2: "huh n"} and "deal 19" in page.inner_text("#title")
        page.keyboard.press("Enter")  # the uses of the card, as ever
        page.wait_for_selector("#offer:visible")
        _card(page, 2).click(button="right")
        assert not page.locator("#offer").is_visible()
        _write(page, "")
        page.wait_for_selector(".annotated", state="detached")
        assert _marked(page) == {} and not page.locator(".lit").count()
        _card(page, 2).click(button="right")
        page.keyboard.type("y" * 300)
        assert page.input_value("#annotation-text") == "y" * 100
        page.click("#annotation button:text-is('Cancel')")
        assert not page.faults
        page.context.close()


def test_a_long_press_opens_the_field_and_does_not_play(browser):
    with served(*TABLE) as (address, _):
        page = opened(browser, address, *WIDTHS[0])
        my_turn(page)

        def press(milliseconds, slide=0):
            _card(page, 1).evaluate(PRESS, [milliseconds, slide])

        press(900)
        assert page.locator("#annotation").is_visible() and not page.locator("#offer").is_visible()
        rules_hold(page, contrast=True)
        assert not overlaps(page)
        _write(page, "later")
        page.wait_for_selector("#own .annotated")
        press(900, slide=40)  # the finger scrolls
        assert not page.locator("#annotation").is_visible() and page.locator("#offer").is_visible()
        page.keyboard.press("Escape")
        press(50)
        assert not page.locator("#annotation").is_visible() and page.locator("#offer").is_visible()
        assert _marked(page) == {1: "later"} and not page.faults
        page.context.close()


def test_cards_without_a_use_take_notes_too(browser):
    """While others are on turn the keyboard reaches every card of a hand. Hearts has no order of drawing: no notes."""
    slow = "rollout:worlds=100000"
    with served("hanabi", "--opponents", slow, "--deal", "19") as (address, _):
        page = opened(browser, address)
        my_turn(page)
        assert not page.locator("#felt .card[data-order]:not(button)").count()
        move(page, random.Random(1))
        page.wait_for_selector("body[data-turn=others]")
        _card(page, 6).focus()
        page.keyboard.press("n")
        _write(page, "chop")
        page.wait_for_selector("#others .annotated")
        assert _marked(page) == {6: "chop"} and page.evaluate("document.activeElement.dataset.order") == "6"
        rules_hold(page, contrast=True)
        page.click("#cancel")
        assert not page.faults
        page.context.close()
    with served("hearts", "--opponents", "rules", "--deal", "1") as (address, _):
        page = opened(browser, address)
        my_turn(page)
        page.locator("#own .card").first.click(button="right")
        assert not page.locator("#annotation").is_visible() and not page.locator("[data-order]").count()
        page.context.close()


@pytest.mark.parametrize("key", ["Enter", "Escape"])
def test_the_focus_returns_to_a_card_that_was_drawn_anew(browser, key):
    """Another page writes a note meanwhile, so this page draws the table behind its open field."""
    with served(*TABLE) as (address, _):
        page, other = opened(browser, address), opened(browser, address)
        my_turn(page)
        _card(page, 2).focus()
        page.keyboard.press("n")
        page.wait_for_selector("#annotation[open]")
        _card(other, 3).click(button="right")
        _write(other, "elsewhere")
        page.wait_for_selector("#own .annotated")
        page.keyboard.press(key)
        page.wait_for_selector("#own .card[data-order='2']:focus")
        assert not page.faults + other.faults
        for shown in (page, other):
            shown.context.close()


def test_a_drawn_table_does_not_scroll_the_page(browser):
    with served(*TABLE) as (address, _):
        page, other = opened(browser, address, 390, 844), opened(browser, address)
        my_turn(page)
        _card(page, 2).focus()
        page.evaluate("document.body.style.paddingBottom = '2000px'; scrollTo(0, 1500)")
        place = page.evaluate("scrollY")
        _card(other, 3).click(button="right")
        _write(other, "elsewhere")
        page.wait_for_selector("#own .annotated")
        assert page.evaluate("document.activeElement.dataset.order") == "2"
        assert page.evaluate("scrollY") == place > 1000
        for shown in (page, other):
            shown.context.close()


def test_the_end_of_a_hand_takes_no_notes(browser):
    """Neither by the key nor by the mouse."""
    with served(*TABLE) as (address, _):
        page = opened(browser, address)
        draw = random.Random(1)
        while my_turn(page):
            move(page, draw)
        page.wait_for_selector("body[data-turn=over]")
        card = page.locator("#felt .seat > .hand > .card[data-order]").first
        card.dispatch_event("contextmenu")
        assert not page.locator("#annotation").is_visible() and not page.faults
        page.context.close()


@pytest.mark.parametrize("how", ["next", "match"])
def test_a_new_hand_closes_the_field(browser, how):
    """The next deal does, and a new match with the same seats that begins at the same deal."""
    with served(*TABLE) as (address, _):
        page, other = opened(browser, address), opened(browser, address)
        my_turn(page)
        _card(page, 2).click(button="right")
        page.wait_for_selector("#annotation[open]")
        page.keyboard.type("stale")
        if how == "next":
            leave_hand(other, "#next")
            page.wait_for_selector("#title:has-text('deal 20')")
        else:
            other.click("#match")
            other.fill("#deal", "19")
            other.press("#deal", "Enter")
        page.wait_for_selector("#annotation[open]", state="detached")
        assert my_turn(page) and not _marked(page) and not page.faults + other.faults
        for shown in (page, other):
            shown.context.close()
