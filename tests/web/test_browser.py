"""The table in Chromium: hands of each game by clicks and keys, hints, reloads, two widths, and axe-core's rules."""

from __future__ import annotations

import random

import pytest
from support.browser import (
    SIZES,
    WIDTHS,
    chromium_marks,
    click,
    faint,
    misplaced,
    move,
    my_turn,
    opened,
    overlaps,
    press,
    rules_hold,
    tap,
)
from support.forked import served

pytestmark = chromium_marks()

# Of each game the words that open it, and the panels that it has.
GAMES = {
    "hearts": (["hearts", "--opponents", "rules", "--deal", "1"], "model search pimc belief worlds tokens"),
    "skat": (["skat", "--opponents", "rules", "--seed", "3"], "model search pimc belief worlds tokens"),
    "crew": (["crew(mission=9)", "--opponents", "rules", "--deal", "2"], "model search pimc belief worlds tokens"),
    "hanabi": (["hanabi", "--opponents", "partner"], "model search pimc belief worlds tokens"),
    "mines": (["mines", "--seed", "5"], "pimc belief worlds"),
}


def _look(page, panels):
    """Switches panels on and waits for what they show of this decision."""
    for panel in panels:
        if page.locator(f"[data-panel={panel}]").get_attribute("aria-pressed") == "false":
            page.click(f"[data-panel={panel}]")
    ply = page.locator("body").get_attribute("data-ply")
    for panel in panels:
        page.wait_for_selector(f"#panel-{panel}[data-ply='{ply}'] .body *", timeout=90_000)


def test_a_large_board_of_mines(browser):
    """A wide window shows it whole; a narrow one scrolls the board, and not the page."""
    with served("mines(rows=16,cols=30,mines=99)", "--seed", "5") as (address, _):
        page = opened(browser, address)
        assert my_turn(page) and page.locator("#board .cell").count() == 480
        page.locator("#felt .act:visible").nth(250).click()
        page.wait_for_selector("#board .cell.open")
        for width, height in WIDTHS:
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert not overlaps(page)
        rules_hold(page, contrast=True)


@pytest.mark.parametrize("name", GAMES)
def test_a_whole_hand_by_clicks(browser, name):
    """Hints are shown on the way, the page is reloaded in the middle, and nothing overlaps at either width."""
    words, panels = GAMES[name]
    draw, moves, looked = random.Random(2), 0, False
    with served(*words) as (address, _):
        page = opened(browser, address)
        while my_turn(page):
            if moves == 2:
                before = page.inner_text("#felt"), page.inner_text("#log")
                page.reload()
                page.wait_for_selector("#own .seat, #board .cell")
                my_turn(page)
                assert (page.inner_text("#felt"), page.inner_text("#log")) == before
            if moves >= (1 if name == "mines" else 3) and not looked and page.locator("#felt .act:visible").count() > 1:
                looked = True
                _look(page, panels.split())
                for width, height in ((1920, 1080), *WIDTHS):
                    page.set_viewport_size({"width": width, "height": height})
                    assert not overlaps(page), width
                rules_hold(page)
                assert not faint(page)
                assert page.locator("#panel-belief .shares td.heat").count() or "belief" not in panels
                for panel in panels.split():
                    page.click(f"[data-panel={panel}]")
                assert not page.locator(".panel").count()
            assert not faint(page)
            move(page, draw)
            moves += 1
        assert ("Mission" if name == "crew" else "The hand is over") in page.inner_text("#status")
        assert looked
        for width, height in WIDTHS:
            page.set_viewport_size({"width": width, "height": height})
            assert not overlaps(page), width
        assert page.locator("#review-hand").is_visible() and not faint(page)
        rules_hold(page)
        assert page.inner_text("#result")
        goal = page.inner_text("#scores .keys")
        assert ("wins" in goal) == (name in ("hearts", "skat")) and ("team" in goal) == (name in ("crew", "hanabi"))
        assert page.locator("#log .inline svg").count() or name == "mines"
        assert page.locator("#log .break").count() or name in ("mines", "hanabi")
        assert page.locator("#hands .final").count() == {"hearts": 4, "crew": 4, "skat": 3}.get(name, 0)
        assert not page.locator("#hands [aria-label='a hidden card']").count()
        assert page.locator("#told").text_content() and page.inner_text("#features")
        page.click("#status button")
        page.wait_for_selector("body:not([data-turn=over])")
        assert not page.faults
        page.context.close()


@pytest.mark.parametrize("choose", [press, tap], ids=["keys", "touch"])
@pytest.mark.parametrize("name", GAMES)
def test_a_whole_hand_without_a_mouse(browser, name, choose):
    """The whole hand on a phone by taps, or in a wide window by keys, which also deal the next one."""
    words, draw, moves = GAMES[name][0], random.Random(4), 0
    with served(*words) as (address, _):
        page = opened(browser, address, *(WIDTHS[0] if choose is tap else WIDTHS[1]), has_touch=choose is tap)
        while my_turn(page):
            move(page, draw, choose)
            moves += 1
        assert ("Mission" if name == "crew" else "The hand is over") in page.inner_text("#status") and moves
        if choose is tap:
            tap(page.locator("#status button"))
        else:
            page.keyboard.press("n")
        page.wait_for_selector("body:not([data-turn=over])")
        assert not page.faults
        page.context.close()


# Of each table the places of the seats from the left neighbour on.
PLACES = {
    ("skat", "--opponents", "rules"): ["left", "right"],
    ("crew(mission=9)", "--opponents", "rules"): ["left", "top", "right"],
    ("hanabi(players=5)", "--opponents", "partner"): ["left", "top", "top", "right"],
}


@pytest.mark.parametrize("words", PLACES)
def test_seats_sit_around_the_table(browser, words):
    """At several sizes of the window, at the beginning and later; the hand is in sight, and nothing covers a seat."""
    draw = random.Random(3)
    with served(*words) as (address, _):
        page = opened(browser, address)
        for _ in range(4):
            if not my_turn(page):  # a lost mission
                break
            for width, height in SIZES:
                page.set_viewport_size({"width": width, "height": height})
                assert not misplaced(page) and not overlaps(page), (width, height)
            assert [place for _, place in sorted(page.evaluate(SEATS))] == PLACES[words]
            move(page, draw)
        assert page.locator("#own .seat.turn, #others .seat.turn").count() == 1
        assert not page.faults
        page.context.close()


SEATS = """[...document.querySelectorAll("#others .seat")].map(
  (seat) => [seat.dataset.seat, seat.closest(".place").classList[1]])"""


def test_keys_play_too(browser):
    """Without a mouse: arrows and Enter play, u takes back, n deals."""
    with served("hearts", "--opponents", "rules", "--deal", "1") as (address, _):
        page = opened(browser, address)
        my_turn(page)
        for _ in range(3):
            page.keyboard.press("ArrowRight")
            page.keyboard.press("ArrowRight")
            assert page.evaluate("document.activeElement.getAttribute('aria-label')")
            page.keyboard.press("Enter")
        assert page.locator("#own [aria-pressed=true]").count() == 3
        page.keyboard.press("Enter")
        page.wait_for_selector("body:not([data-ply='53'])")
        my_turn(page)
        assert page.inner_text("#log").count("you: pass") == 3
        page.keyboard.press("u")
        page.wait_for_selector("body[data-ply='53']")
        assert not page.inner_text("#log").count("you:")
        page.context.close()


def test_cards_are_chosen_before_they_are_passed(browser):
    """A second click takes a card back, a fourth card replaces the first, and the button passes all three."""
    with served("hearts", "--opponents", "rules", "--deal", "1") as (address, _):
        page = opened(browser, address)
        my_turn(page)
        cards = page.locator("#own button.card")

        def chosen():
            return [i for i in range(13) if cards.nth(i).get_attribute("aria-pressed") == "true"]

        for place in (0, 5, 0, 7, 9):
            assert page.locator("#confirm").is_disabled()
            cards.nth(place).click(position={"x": 8, "y": 20})
        assert chosen() == [5, 7, 9]
        cards.nth(2).click(position={"x": 8, "y": 20})
        assert chosen() == [2, 7, 9] and page.locator("body").get_attribute("data-ply") == "53"
        names = [cards.nth(i).get_attribute("aria-label") for i in chosen()]
        rules_hold(page, contrast=True)
        page.click("#confirm")
        page.wait_for_selector("body:not([data-ply='53'])")
        passed = page.locator("#own .pile[aria-label='you passed'] .card")
        assert {passed.nth(i).get_attribute("aria-label") for i in range(3)} == set(names)
        assert not page.faults
        page.context.close()


def test_hints_in_three_clicks_with_the_named_cards_lit(browser):
    with served("hanabi", "--opponents", "partner") as (address, _):
        page = opened(browser, address)
        my_turn(page)
        card = page.locator("#others button.card").first
        rank = card.get_attribute("aria-label").split()[1]
        labels = [c.get_attribute("aria-label").split()[1] for c in page.locator("#others .card").all()]
        card.click()  # offers the colour and lights it
        assert page.locator("#others .card.lit").count() and page.locator("#give").is_visible()
        page.locator("#offer button").nth(1).click()
        lit = [c.get_attribute("class").split()[-1] == "lit" for c in page.locator("#others .card").all()]
        assert lit == [label == rank for label in labels]
        rules_hold(page, contrast=True)
        page.keyboard.press("Escape")
        assert not page.locator("#offer").is_visible() and not page.locator(".lit").count()
        page.keyboard.press("Enter")  # on the card, which has the focus again
        page.keyboard.press("Enter")  # gives the hint
        page.wait_for_selector("#log li:has-text('you: hint')")
        assert "you: hint to seat 1" in page.inner_text("#log")
        my_turn(page)
        page.locator("#own button.card").first.click()
        page.locator("#offer button").first.click()
        page.wait_for_selector("#log li:has-text('you: play')")
        assert not page.faults
        page.context.close()


def _offered(page):
    """Title of the offer, and its buttons."""
    return page.inner_text("#offer h3"), page.locator("#offer button").all_inner_texts()


@pytest.mark.parametrize("choose", [click, press], ids=["mouse", "keys"])
def test_a_click_on_an_own_hidden_card_offers_play_and_discard(browser, choose):
    """Enter on the card does the same. At 8 hints nothing can be discarded, so that is not offered."""
    with served("hanabi", "--opponents", "partner") as (address, _):
        page = opened(browser, address)

        my_turn(page)
        third = page.locator("#own .seat > .hand > .card").nth(2)
        choose(third)
        assert _offered(page) == ("your third card", ["play", "Cancel"]) and "8 hints" in page.inner_text("#features")
        assert third.get_attribute("aria-pressed") == "true" and not page.locator(".lit").count()
        assert page.evaluate("document.activeElement.textContent") == "play"
        rules_hold(page, contrast=True)
        page.keyboard.press("Escape")
        assert not page.locator("#offer").is_visible() and third.evaluate("(e) => e === document.activeElement")
        assert third.get_attribute("aria-pressed") is None
        choose(page.locator("#others button.card").first)
        choose(page.locator("#give"))
        page.wait_for_selector("#log li:has-text('you: hint')")
        for use, words in (("discard", "you: discard"), ("play", "you: play")):
            my_turn(page)
            choose(third)
            assert _offered(page) == ("your third card", ["play", "discard", "Cancel"])
            choose(page.locator(f"#offer button:text-is('{use}')"))
            page.wait_for_selector(f"#log li:has-text('{words}')")
        assert not page.faults
        page.context.close()


def test_dialogs_begin_a_match_and_claim(browser):
    with served("hearts", "--opponents", "random") as (address, _):
        page = opened(browser, address)
        page.click("#match")
        page.select_option("#who0", label="rules")
        page.select_option("#who2", label="you")
        page.fill("#deal", "6")
        rules_hold(page)
        assert not faint(page)
        page.press("#deal", "Enter")
        page.wait_for_selector("#own .seat[data-seat='2']")
        assert "deal 6" in page.inner_text("#title")
        my_turn(page)
        page.click("#claim")
        page.fill("#claim-score", "0")
        assert not faint(page)
        page.click("#claiming button.main")
        page.wait_for_selector("#checking, #fault:visible")
        page.wait_for_selector("#fault:visible", timeout=60_000)
        assert "too many lines" in page.inner_text("#fault") and not page.locator("#checking").count()
        fault, felt = (page.locator(part).bounding_box() for part in ("#fault", "#felt"))
        assert fault["y"] + fault["height"] <= felt["y"] and not faint(page)
        page.click("#fault button")
        assert not page.locator("#fault").is_visible()
        draw = random.Random(1)
        while my_turn(page) and page.locator("#own .seat > .hand > .card").count() > 2:
            move(page, draw)
        page.click("#claim")
        page.fill("#claim-score", "")
        page.click("#claiming button:text-is('Cancel')")
        page.wait_for_selector("#claiming", state="hidden")
        page.click("#claim")
        page.fill("#claim-score", "26")
        page.press("#claim-score", "Enter")
        page.wait_for_selector("body[data-turn=over]", timeout=60_000)
        page.click("#next")
        page.wait_for_selector("body:not([data-turn=over])")
        assert "deal 7" in page.inner_text("#title")
        assert page.locator("#scores tbody tr").count() == 2
        assert not page.faults
        page.context.close()
