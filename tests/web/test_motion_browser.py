"""Motion and sound of the table in Chromium: what moves, what ends it, and that nothing waits for it."""

from __future__ import annotations

import random
import re

import pytest
from support.browser import CHROMIUM, leave_hand, move, my_turn
from support.forked import served

for needed in ("starlette", "playwright"):
    pytest.importorskip(needed, reason=f"needs {needed}, of the extra dev")
pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"), pytest.mark.slow]

WATCH = """
  const animate = Element.prototype.animate;
  window.moved = [];
  Element.prototype.animate = function (...given) {
    window.moved.push(this.closest(".flying") ? "collected" : this.className.split(" ").slice(0, 2).join(" "));
    return animate.apply(this, given);
  };
  window.tones = 0;
  window.rooms = 0;
  const create = AudioContext.prototype.createOscillator;
  AudioContext.prototype.createOscillator = function () { window.tones += 1; return create.apply(this); };
  window.AudioContext = class extends AudioContext { constructor() { super(); window.rooms += 1; } };
"""
RUNNING = """document.getAnimations().filter(
  (a) => !(a instanceof CSSTransition) && a.playState === "running").length"""


@pytest.fixture(scope="module")
def address():
    with served("hearts", "--opponents", "rules", "--deal", "1") as (address, _):
        yield address


# Keeps of each animation the pile or seat of the card, its place there, the middle of the first frame, the outline, and
# the number of lines of the log before the action. A slow animation ends only by a click.
WATCH_CARDS = """
  const animateCard = Element.prototype.animate;
  window.cards = [];
  Element.prototype.animate = function (frames, options) {
    const part = this.closest("#piles .pile, .seat");
    const box = this.getBoundingClientRect();
    const [x = 0, y = 0] = (frames[0].transform?.match(/-?[\\d.]+/g) ?? []).map(Number);
    window.cards.push({
      part: part?.dataset.seat ?? part?.ariaLabel, place: [...this.parentElement.children].indexOf(this),
      start: [box.left + box.width / 2 + x, box.top + box.height / 2 + y], outline: frames[0].outline ?? "",
      lines: document.querySelectorAll("#log li").length,
    });
    return animateCard.call(this, frames, { ...options, duration: 1e6 });
  };
"""
MIDDLE = "(e) => { const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; }"


def _opened(browser, address, speed=350, motion="no-preference", stored=""):
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion=motion)
    context.add_init_script(f"localStorage.setItem('speed', '{speed}'); {stored}")
    context.add_init_script(WATCH)
    page = context.new_page()
    page.faults = []
    page.on("console", lambda message: page.faults.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.goto(address)
    page.wait_for_selector("#own .seat")
    return page


def test_cards_travel_and_a_trick_is_collected(browser, address):
    """A move is taken while cards are on their way, and a click ends all motion."""
    page = _opened(browser, address)
    draw = random.Random(3)
    while not page.evaluate("window.moved.includes('collected')"):
        my_turn(page)
        move(page, draw)
    assert {"played own", "played left", "played top", "played right"} & set(page.evaluate("window.moved"))
    takers = page.locator("#log .break:has-text(' it')").all_inner_texts()
    assert all(re.fullmatch(r"(you take|seat [123] takes) it, \d+ points?", words) for words in takers) and takers
    page.wait_for_selector(".flying", state="detached")
    my_turn(page)
    ply = page.locator("body").get_attribute("data-ply")
    page.locator("#own .act").first.click(position={"x": 8, "y": 20})
    page.wait_for_selector(f"body:not([data-ply='{ply}'])")
    assert page.evaluate(RUNNING)
    page.mouse.click(1400, 880)  # on nothing
    assert page.evaluate(RUNNING) == 0 and not page.locator(".flying").count()
    assert not page.faults
    page.context.close()


def test_a_move_does_not_wait_for_motion(browser, address):
    """With every animation slowed down a hundred times the hand is played at its usual pace."""
    page = _opened(browser, address, speed=1)
    page.evaluate("""(() => {
      const animate = Element.prototype.animate;
      Element.prototype.animate = function (frames, options) {
        return animate.call(this, frames, { ...options, duration: 1e5 });
      };
    })()""")
    draw = random.Random(4)
    seen = 0
    for _ in range(4):
        assert my_turn(page)
        able = page.locator("#felt .act:visible, #confirm")
        assert able.count() and not page.locator("#felt .act[disabled]").count()
        page.keyboard.press("ArrowRight")  # a key does not skip
        seen += page.evaluate(RUNNING)
        if page.locator("#confirm").count():
            move(page, draw)
            continue
        ply = page.locator("body").get_attribute("data-ply")
        page.keyboard.press("Enter")
        page.wait_for_selector(f"body:not([data-ply='{ply}'])", timeout=10_000)
    assert seen and not page.faults
    page.context.close()


def test_a_click_shows_the_latest_position(browser, address):
    page = _opened(browser, address, speed=700)
    my_turn(page)
    leave_hand(page, "#again")
    my_turn(page)
    move(page, random.Random(1))
    for _ in range(100):
        page.mouse.click(1400, 880)
        if page.locator("body").get_attribute("data-turn") == "mine":
            break
        page.wait_for_timeout(20)
    assert my_turn(page) and page.evaluate(RUNNING) == 0 and not page.faults
    page.context.close()


@pytest.mark.parametrize("how", ["reduced", "switched off"])
def test_nothing_moves(browser, address, how):
    page = _opened(browser, address, motion="reduce" if how == "reduced" else "no-preference")
    assert page.locator("#reduced").is_visible() == (how == "reduced")
    if how == "switched off":
        page.uncheck("#motion")
        page.reload()
        page.wait_for_selector("#own .seat")
        assert not page.locator("#motion").is_checked()
    for _ in range(3):
        my_turn(page)
        move(page, random.Random(2))
    my_turn(page)
    assert page.evaluate("window.moved") == [] and not page.faults
    page.context.close()


def _use(page, card, use):
    """Uses a card in Hanabi. Returns the middles of the card and of the deck before, and the animations of the move."""
    log = page.locator("#log li").count()
    card.click()
    page.wait_for_timeout(200)  # until the card is lifted
    places = card.locator("svg").evaluate(MIDDLE), page.locator(".pile[aria-label=Deck] svg").evaluate(MIDDLE)
    page.evaluate("window.cards = []")
    if use == "hint":
        page.click("#give")
    else:
        page.click(f"#offer button:text-is('{use}')")
    page.locator("#log li").nth(log).wait_for()
    return *places, [each for each in page.evaluate("window.cards") if each["lines"] == log]


def _is_near(a, b):
    return all(abs(x - y) < 15 for x, y in zip(a, b))  # a card under the mouse is lifted


def test_cards_of_hanabi_travel_and_hinted_cards_are_lit(browser):
    """In this deal the second own card is a 1."""
    with served("hanabi", "--opponents", "partner", "--deal", "19") as (address, _):
        page = _opened(browser, address, speed=700, stored=WATCH_CARDS)
        own = page.locator("#own .seat > .hand > .card")
        for use, pile in (("play", "Fireworks"), ("hint", ""), ("discard", "Discards")):
            my_turn(page)
            page.mouse.move(1400, 880)
            card = page.locator("#others button.card").first if use == "hint" else own.nth(1)
            held, deck, moved = _use(page, card, use)
            cards = page.locator("#others .seat .card").all()
            named = [
                i
                for i, other in enumerate(cards)
                if "not" not in (other.locator(".notes").all_inner_texts() or ["not"])[0]
            ]
            assert page.evaluate(RUNNING) >= len(moved)
            page.mouse.click(1400, 880)
            assert page.evaluate(RUNNING) == 0
            if use == "hint":
                assert named and [(each["part"], each["place"]) for each in moved] == [("1", i) for i in named]
                assert all("--felt-gold" in each["outline"] for each in moved)
                continue
            leaving, arriving = moved
            assert (leaving["part"], arriving["part"], arriving["place"]) == (pile, "0", 4)
            assert _is_near(leaving["start"], held) and _is_near(arriving["start"], deck), (moved, held, deck)
            landed = page.locator(f".pile[aria-label={pile}] .card").nth(leaving["place"]).get_attribute("aria-label")
            assert landed == page.locator("#log li:has-text('you:') .unseen").last.text_content()
        assert not page.faults
        page.context.close()


def test_nothing_moves_in_hanabi_if_the_system_prefers_it(browser):
    with served("hanabi", "--opponents", "partner", "--deal", "3") as (address, _):
        page = _opened(browser, address, speed=700, motion="reduce", stored=WATCH_CARDS)
        for card, use in (
            (page.locator("#others button.card").first, "hint"),
            (page.locator("#own .card").nth(1), "play"),
        ):
            my_turn(page)
            assert _use(page, card, use)[2] == []
        assert not page.faults
        page.context.close()


def test_sound_is_off_until_it_is_switched_on(browser, address):
    page = _opened(browser, address, speed=0)
    my_turn(page)
    move(page, random.Random(2))
    assert not page.locator("#sound").is_checked()
    assert page.evaluate("[window.rooms, window.tones]") == [0, 0]
    my_turn(page)
    page.check("#sound")
    before = page.evaluate("window.tones")
    assert page.evaluate("window.rooms") == 1 and before
    move(page, random.Random(2))
    my_turn(page)
    assert page.evaluate("window.tones") > before
    page.reload()  # the choice is kept, and the browser is not asked for sound before a gesture
    page.wait_for_selector("#own .seat")
    assert page.locator("#sound").is_checked() and page.evaluate("window.rooms") == 0
    page.uncheck("#sound")
    tones = page.evaluate("window.tones")
    move(page, random.Random(2))
    my_turn(page)
    assert page.evaluate("window.tones") == tones and not page.faults
    page.context.close()
