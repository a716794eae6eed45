"""Cards that are dragged onto the table, in Chromium: by mouse and finger, what a drop does, and what ends a drag."""

from __future__ import annotations

import pytest
from support.browser import (
    WIDTHS,
    chromium_marks,
    corner,
    drag,
    layout_holds,
    lift,
    middle,
    my_turn,
    opened,
    rules_hold,
)
from support.forked import served

pytestmark = chromium_marks()

HEARTS = ("hearts", "--opponents", "rules", "--deal", "1")
HANABI = ("hanabi", "--opponents", "partner", "--deal", "19")
OWN = "#own .seat > .hand > .card"

# The browser reports the movements of a finger once a frame.
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def _ply(page):
    return int(page.locator("body").get_attribute("data-ply"))


class _Finger:
    """A finger on the page."""

    def __init__(self, page):
        self._page, self._session = page, page.context.new_cdp_session(page)
        self._session.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})

    def do(self, kind, *place):
        points = [{"x": place[0], "y": place[1]}] if place else []
        self._session.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})

    def slide(self, start, end):
        """Touch the page at a place and slide to another one, without lifting the finger."""
        self.do("Start", *start)
        for step in range(1, 9):
            self.do("Move", *(a + step / 8 * (b - a) for a, b in zip(start, end)))
        self._page.evaluate(FRAMES)


def test_a_trick_of_hearts_by_the_mouse(browser):
    """Three cards are chosen by drags and passed; then a dragged card is played, and a card without a use stays."""
    with served(*HEARTS) as (address, _):
        page = opened(browser, address)
        my_turn(page)
        for place in (0, 5, 9):
            drag(page, page.locator(OWN).nth(place), middle(page, "#centre"))
        cards = page.locator(OWN).all()
        chosen = [place for place, card in enumerate(cards) if card.get_attribute("aria-pressed") == "true"]
        assert chosen == [0, 5, 9]
        names = {cards[place].get_attribute("data-name") for place in chosen}
        page.click("#confirm")
        page.wait_for_selector("#own .pile[aria-label='you passed']")
        passed = page.locator("#own .pile[aria-label='you passed'] .card")
        assert {card.get_attribute("data-name") for card in passed.all()} == names
        assert my_turn(page)
        if page.locator(f"{OWN}:not(button)").count():
            lift(page, page.locator(f"{OWN}:not(button)").first, middle(page, "#centre"))
            assert not page.locator(".dragged").count()
            page.mouse.up()
        ply, name = _ply(page), page.locator(f"{OWN}.act").first.get_attribute("data-name")
        lift(page, page.locator(f"{OWN}.act").first, middle(page, "#centre"))
        assert page.locator(".dragged.droppable").count() == 1 and _ply(page) == ply
        rules_hold(page, contrast=True)
        page.mouse.up()
        page.wait_for_selector(f"body:not([data-ply='{ply}'])")
        assert my_turn(page) and not page.locator(f"{OWN}[data-name='{name}']").count()
        log = page.locator("#log li").all_inner_texts()
        assert sum("take" in line for line in log) == 1  # the trick is complete
        assert not page.faults
        page.context.close()


def test_a_drag_to_nowhere_plays_nothing(browser):
    """A card stays if it is dropped beside the table or in the hand, or after Escape. A shorter drag is a click."""
    with served(*HEARTS) as (address, _):
        page = opened(browser, address)
        my_turn(page)
        card = page.locator(OWN).nth(4)
        home = card.bounding_box()

        def rests(pressed=None):
            assert not page.locator(".dragged, .droppable").count() and card.bounding_box() == home
            assert card.get_attribute("aria-pressed") == pressed and _ply(page) == 53

        for place in (middle(page, "#scores"), (home["x"] + 60, home["y"] + 40)):
            lift(page, card, place)
            assert page.locator(".dragged:not(.droppable)").count() == 1 and card.bounding_box() != home
            page.mouse.up()
            page.wait_for_timeout(100)
            rests()
        lift(page, card, middle(page, "#centre"))
        page.keyboard.press("Escape")
        rests()
        page.mouse.up()
        rests()
        x, y = corner(card)
        drag(page, card, (x + 4, y + 5))
        page.wait_for_selector(f"{OWN}[aria-pressed=true]")
        drag(page, card, (x + 4, y + 7))  # 8.06 pixels
        page.wait_for_timeout(100)
        assert card.get_attribute("aria-pressed") == "true"
        card.click(position={"x": 8, "y": 20})  # the click after a drag that had none
        assert card.get_attribute("aria-pressed") == "false" and not page.faults
        page.context.close()


def test_a_finger_drags_a_card_and_scrolls_elsewhere(browser):
    """A drag does not scroll the page, and the browser may cancel it. A swipe on the table scrolls."""
    with served(*HEARTS) as (address, _):
        page = opened(browser, address, *WIDTHS[0])
        my_turn(page)
        finger, card = _Finger(page), page.locator(OWN).nth(4)
        finger.slide(corner(card), middle(page, "#centre"))
        assert page.locator(".dragged.droppable").count() == 1
        finger.do("Cancel")
        assert not page.locator(".dragged").count() and card.get_attribute("aria-pressed") is None
        finger.slide(corner(card), middle(page, "#centre"))
        finger.do("End")
        page.wait_for_selector(f"{OWN}[aria-pressed=true]")
        assert card.get_attribute("aria-pressed") == "true" and page.evaluate("scrollY") == 0
        x, y = middle(page, "#centre")
        finger.slide((x, y), (x, y - 300))
        finger.do("End")
        page.wait_for_function("scrollY > 100")
        assert page.locator("#own [aria-pressed=true]").count() == 1 and not page.faults
        page.context.close()


@pytest.mark.parametrize("how", ["mouse", "finger"])
def test_a_card_of_hanabi_is_played_or_discarded_where_it_is_dropped(browser, how):
    """On the fireworks or on the discard pile. At 8 hints nothing can be discarded, and elsewhere nothing happens."""
    with served(*HANABI) as (address, _):
        page = opened(browser, address)
        my_turn(page)
        finger = _Finger(page) if how == "finger" else None

        def drop(order, place):
            card = page.locator(f"{OWN}[data-order='{order}']")
            if finger:
                finger.slide(corner(card), place)
            else:
                lift(page, card, place)
            able = page.locator(".dragged.droppable").count()
            if finger:
                finger.do("End")
            else:
                page.mouse.up()
            return able

        fireworks, discards = (f"#piles .pile[aria-label='{title}']" for title in ("Fireworks", "Discards"))
        x, y = middle(page, "#felt")
        assert not drop(1, (x, y - 150)) and not drop(1, middle(page, discards))
        assert not page.locator("#offer").is_visible() and not page.inner_text("#log")
        layout_holds(page)
        page.set_viewport_size({"width": 1440, "height": 900})
        assert drop(1, middle(page, fireworks))  # in this deal a 1
        page.wait_for_selector("#log li:has-text('you: play')")
        assert my_turn(page)
        if "8 hints" in page.inner_text("#features"):
            page.locator("#others button.card").first.click()
            page.click("#give")
            page.wait_for_selector("#log li:has-text('you: hint')")
            assert my_turn(page)
        assert drop(0, middle(page, discards))
        page.wait_for_selector("#log li:has-text('you: discard')")
        assert page.locator(f"{discards} .card").count() and not page.locator("#offer:visible").count()
        assert not page.faults
        page.context.close()


def test_a_long_press_opens_a_note_and_a_drag_does_not(browser):
    with served(*HANABI) as (address, _):
        page = opened(browser, address, *WIDTHS[0])
        my_turn(page)
        finger, card = _Finger(page), page.locator(f"{OWN}[data-order='1']")
        x, y = corner(card)
        finger.slide((x, y), (x, y - 60))
        page.wait_for_timeout(900)
        assert page.locator(".dragged").count() == 1 and not page.locator("#annotation").is_visible()
        card.dispatch_event("contextmenu", {"button": 2})
        assert not page.locator("#annotation").is_visible()
        finger.do("End")
        finger.do("Start", x, y)
        page.wait_for_selector("#annotation[open]")
        finger.do("Move", x, y - 60)
        assert not page.locator(".dragged").count()
        finger.do("End")
        assert page.locator("#annotation").is_visible() and not page.locator("#offer").is_visible()
        assert not page.inner_text("#log") and not page.faults
        page.context.close()


def test_a_table_drawn_anew_ends_a_drag(browser):
    """Another page writes a note meanwhile, so this page draws the table."""
    with served(*HANABI) as (address, _):
        page, other = opened(browser, address), opened(browser, address)
        my_turn(page)
        lift(page, page.locator(f"{OWN}[data-order='1']"), middle(page, "#piles .pile[data-use=play]"))
        assert page.locator(".dragged").count() == 1
        other.locator(f"{OWN}[data-order='2']").click(button="right")
        other.keyboard.type("elsewhere")
        other.keyboard.press("Enter")
        page.wait_for_selector("#own .annotated")
        page.mouse.up()
        page.wait_for_timeout(300)
        assert not page.inner_text("#log") and not page.locator(".dragged").count()
        assert not page.faults + other.faults
        for shown in (page, other):
            shown.context.close()


@pytest.mark.parametrize("preference", ["reduce", "no-preference"])
def test_a_card_slides_back_if_the_system_allows_motion(browser, preference):
    with served(*HEARTS) as (address, _):
        page = opened(browser, address)
        page.emulate_media(reduced_motion=preference)
        my_turn(page)
        page.evaluate("""(() => {
          const animate = Element.prototype.animate;
          window.slides = [];
          Element.prototype.animate = function (...given) {
            window.slides.push(given[0][0].translate);
            return animate.apply(this, given);
          };
        })()""")
        drag(page, page.locator(OWN).nth(4), middle(page, "#scores"))
        slides = page.evaluate("window.slides")
        assert len(slides) == (preference == "no-preference") and all("px" in slide for slide in slides)
        assert not page.faults
        page.context.close()
