"""Playing at the table in Chromium: stray clicks, the focus, the log, and the ends of hands and matches."""

from __future__ import annotations

import random
import re

import pytest
from support.browser import (
    chromium_marks,
    corner,
    faint,
    leave_hand,
    listening,
    move,
    my_turn,
    opened,
    overlaps,
    press,
    rules_hold,
)
from support.forked import served

pytestmark = chromium_marks()

HEARTS = ("hearts", "--opponents", "rules", "--deal", "1")
SKAT = ("skat", "--opponents", "rules", "--seed", "3")
CARDS = "#own .seat > .hand > .card"
FOCUS = "document.activeElement"
MIDDLE = "(card) => { const { left, right } = card.getBoundingClientRect(); return (left + right) / 2; }"


def _pass_cards(page):
    """Pass three cards and wait for the first decision in the play."""
    my_turn(page)
    for place in (0, 5, 9):
        page.locator(CARDS).nth(place).click(position={"x": 8, "y": 20})
    page.click("#confirm")
    page.wait_for_selector("#own .pile[aria-label='you passed']")
    assert my_turn(page)


def _wait_for_cards(page, count):
    """Wait until the own hand has that many cards."""
    page.wait_for_function("([cards, count]) => document.querySelectorAll(cards).length === count", arg=[CARDS, count])


def _decisions(page):
    """Number of decisions that the page has sent."""
    return page.evaluate("window.sent.filter((message) => message.do === 'act').length")


def test_a_double_click_takes_one_decision(browser):
    """Whether the second click comes before the answer of the table or after it; a later click decides again."""
    with served(*HEARTS) as (address, _):
        page = listening(browser, address)
        _pass_cards(page)
        before = _decisions(page)
        place = corner(page.locator(f"{CARDS}.act").first)
        page.mouse.dblclick(*place)
        _wait_for_cards(page, 12)
        assert my_turn(page) and _decisions(page) == before + 1
        place = corner(page.locator(f"{CARDS}.act").last)
        page.mouse.click(*place)
        _wait_for_cards(page, 11)
        assert my_turn(page)
        for card in page.locator(f"{CARDS}.act").all():  # whatever lies there now
            card.evaluate(
                "(card, [x, y]) => Object.assign(card.style, { position: 'fixed', left: `${x - 9}px`, "
                "top: `${y - 9}px`, zIndex: 99 })",
                list(place),
            )
        page.mouse.down(click_count=2)
        page.mouse.up(click_count=2)
        page.wait_for_timeout(300)
        assert _decisions(page) == before + 2
        page.wait_for_timeout(300)
        page.mouse.click(*place)
        _wait_for_cards(page, 10)
        assert _decisions(page) == before + 3 and not page.faults
        page.context.close()


def test_a_press_that_began_at_another_position_decides_nothing(browser):
    with served(*HEARTS) as (address, _):
        page = listening(browser, address)
        _pass_cards(page)
        before = _decisions(page)
        page.mouse.move(*corner(page.locator(f"{CARDS}.act").first))
        page.evaluate("""() => {
          const { x, y } = document.querySelector("#own .seat > .hand > .card.act").getBoundingClientRect();
          document.addEventListener("pointerup", () => document.querySelector("#again").click(), { once: true });
        }""")
        page.mouse.down()
        page.keyboard.press("u")
        page.wait_for_selector("body[data-ply='53']")
        page.mouse.up()
        page.wait_for_timeout(200)
        assert _decisions(page) == before and page.locator("body").get_attribute("data-ply") == "53"
        page.context.close()


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_held_key_takes_one_decision(browser, key):
    with served(*SKAT) as (address, _):
        page = listening(browser, address)
        my_turn(page)
        page.keyboard.press("ArrowRight")
        assert page.evaluate(f"{FOCUS}.matches('#felt .act')")
        for _ in range(15):
            page.keyboard.down(key)
            page.wait_for_timeout(40)
        page.keyboard.up(key)
        my_turn(page)
        page.wait_for_timeout(200)
        assert _decisions(page) == 1 and not page.faults
        page.context.close()


def test_the_focus_stays_at_the_table(browser):
    """While others decide the status line has it, and then the card nearest to the one that was played."""
    script = "localStorage.setItem('speed', '350');"
    with served(*HEARTS) as (address, _):
        page = opened(browser, address, script=script)
        _pass_cards(page)
        card = page.locator(f"{CARDS}.act").last
        played = card.evaluate(MIDDLE)
        press(card)
        page.wait_for_selector("body[data-turn=others]")
        assert page.evaluate(f"{FOCUS}.id") == "status"
        assert my_turn(page)
        focused = page.locator("#own button.card.act:focus").evaluate(MIDDLE)
        away = [abs(each.evaluate(MIDDLE) - played) for each in page.locator(f"{CARDS}.act").all()]
        assert abs(focused - played) < min(away) + 2
        rules_hold(page)
        ply = page.locator("body").get_attribute("data-ply")
        page.mouse.click(*corner(page.locator(f"{CARDS}.act").first))
        page.wait_for_selector(f"body:not([data-ply='{ply}'])")
        assert my_turn(page) and not page.evaluate(f"{FOCUS}.matches('.act')")  # a mouse needs no focus
        assert not page.faults
        page.context.close()


def test_the_log_keeps_its_lines_and_its_place(browser):
    """Only new lines are added, and the log scrolls only if its end was shown."""
    draw = random.Random(3)
    with served(*HEARTS) as (address, _):
        page = opened(browser, address)
        _pass_cards(page)
        page.evaluate("""() => {
          window.removed = 0;
          new MutationObserver((changes) => {
            for (const { removedNodes } of changes) window.removed += removedNodes.length;
          }).observe(document.querySelector("#log ol"), { childList: true });
        }""")
        for _ in range(3):
            move(page, draw)
            my_turn(page)
        end = "(log) => log.scrollHeight - log.scrollTop - log.clientHeight"
        assert page.locator("#log li").count() > 12 and page.locator("#log").evaluate(end) < 8
        page.evaluate("document.querySelector('#log').scrollTop = 20")
        move(page, draw)
        my_turn(page)
        assert page.evaluate("document.querySelector('#log').scrollTop") == 20 and page.evaluate("window.removed") == 0
        page.keyboard.press("u")
        page.wait_for_function("() => window.removed > 0")
        assert not page.faults
        page.context.close()


def test_a_hand_is_given_up_only_after_a_question(browser):
    with served(*HEARTS) as (address, _):
        page = listening(browser, address)
        my_turn(page)
        page.click("#next")  # nothing is decided yet
        page.wait_for_selector("#title:has-text('deal 2')")
        _pass_cards(page)
        for button in ("#next", "#again"):
            page.click(button)
            assert page.inner_text("#giving-up h2") == "Give up this hand?"
            rules_hold(page)
            assert not faint(page)
            page.keyboard.press("Enter")  # keeps playing
            page.wait_for_selector("#giving-up", state="hidden")
        assert not page.evaluate("window.sent.some((message) => message.do === 'again')")
        assert "deal 2" in page.inner_text("#title") and page.locator("#own .pile").count()
        leave_hand(page, "#next")
        page.wait_for_selector("#title:has-text('deal 3')")
        assert not page.faults
        page.context.close()


def test_the_last_trick_and_the_end_of_a_match(browser):
    """The last trick lies open before the result, with its taker. The result shows it on demand, and the ranking."""
    draw = random.Random(3)
    script = """const parse = JSON.parse;
JSON.parse = (text) => {
  const message = parse(text);
  return message?.type === "table" ? { ...message, plays_to: 7 } : message; // some seat has 7 points after a hand
};"""
    with served(*HEARTS) as (address, _):
        page = opened(browser, address, script=script)
        while my_turn(page) and page.locator(CARDS).count() > 1:
            move(page, draw)
        page.select_option("#speed", "350")
        page.locator(f"{CARDS}.act").click()
        page.wait_for_selector("#status:has-text('the last trick')")
        assert page.locator("body").get_attribute("data-turn") == "others"
        assert page.locator("#trick .played:visible").count() == 4 and not page.locator("#hands").is_visible()
        assert re.fullmatch(r"(You take|Seat \d takes) the last trick\.", page.inner_text("#status"))
        page.wait_for_selector("body[data-turn=over]")
        words = page.inner_text("#status")
        assert re.search(r"(You|Seat \d) took the last trick\. The match is over\. .* wins? with \d+ points\.", words)
        assert not page.locator("#trick .played").count()
        page.click("#last-trick")
        assert page.locator("#trick .played:visible").count() == 4 and not overlaps(page)
        page.keyboard.press("l")
        assert not page.locator("#trick .played").count() and not overlaps(page) and not faint(page)
        totals = [int(cell) for cell in page.locator("#scores tbody tr:last-child td").all_inner_texts()]
        ranked = [int(re.search(r"(\d+) points", line)[1]) for line in page.locator("#ranking li").all_inner_texts()]
        assert ranked == sorted(totals)
        rules_hold(page)
        page.click("#status button:text-is('New match …')")
        page.wait_for_selector("#new-match[open]")
        page.keyboard.press("Escape")
        page.click("#status button:text-is('Next deal')")
        page.wait_for_selector("#title:has-text('deal 2')")
        assert not page.locator("#ranking").count() and not page.faults
        page.context.close()


def test_a_card_that_cannot_be_played_is_dim_and_says_why(browser):
    draw, seen = random.Random(3), 0
    with served(*HEARTS) as (address, _):
        page = listening(browser, address)
        _pass_cards(page)
        while my_turn(page) and seen < 2:
            dim = page.locator(f"{CARDS}:not(.act)")
            if dim.count():
                scene = page.evaluate("window.heard.filter((message) => message.type === 'table').at(-1).scene")
                card = dim.first
                assert "brightness" in card.locator("svg").first.evaluate("(svg) => getComputedStyle(svg).filter")
                card.click(position={"x": 8, "y": 20})
                words = "This card cannot be played now."
                if scene.get("trick"):
                    words = f"You hold {scene['trick'][0]['card']['sign']}: follow suit."
                assert page.inner_text("#refused") == words
                seen += words.startswith("You")
                assert not faint(page)
            able = page.locator(f"{CARDS}.act svg").first
            assert "brightness" not in able.evaluate("(svg) => getComputedStyle(svg).filter")
            move(page, draw)
        assert seen == 2 and not page.locator("#refused").count() and not page.faults
        reasons = page.evaluate("""async () => {
          const { refusal } = await import("./scene.js");
          const hand = (legal) => [{ cards: ["clubs", "hearts", "spades"].map((sign, i) =>
            ({ name: sign, sign, ...(legal.includes(sign) ? { action: i } : {}) })) }];
          const clubs = [{ seat: 1, card: { sign: "clubs" } }];
          return [
            refusal({ seats: hand(["clubs"]), trick: clubs }, 0, "hearts"),
            refusal({ seats: hand(["clubs", "spades"]), trick: clubs }, 0, "hearts"), // a trump
            refusal({ seats: hand(["clubs", "spades"]) }, 0, "hearts"), // a lead
            refusal({ seats: hand(["clubs"]), trick: clubs }, 0, "clubs"),
            refusal({ seats: hand([]) }, 0, "hearts"),
          ];
        }""")
        other = "This card cannot be played now."
        assert reasons == ["You hold clubs: follow suit.", other, other, "", ""]
        page.context.close()


def test_the_seat_on_turn_keeps_its_size_and_is_seen_in_forced_colours(browser):
    size = """() => {
      const seat = document.querySelector("#own .seat.turn");
      const before = seat.getBoundingClientRect();
      seat.classList.remove("turn");
      seat.querySelector(".mark").remove();
      const after = seat.getBoundingClientRect();
      return [before.width - after.width, before.height - after.height];
    }"""
    with served(*SKAT) as (address, _):
        page = opened(browser, address)
        my_turn(page)
        page.emulate_media(forced_colors="active")
        outlines = "(seats) => seats.map((seat) => getComputedStyle(seat).outlineStyle)"
        assert page.locator(".seat.turn").evaluate_all(outlines) == ["solid"]
        assert set(page.locator(".seat:not(.turn)").evaluate_all(outlines)) == {"none"}
        page.emulate_media(forced_colors="none")
        assert "to move" in page.inner_text("#own .mark") and page.evaluate(size) == [0, 0]
        page.context.close()


def test_a_table_that_was_closed_is_said_to_be_closed(browser):
    """Without a server the page waits; another table at the same port has another address."""
    with served(*HEARTS) as (address, _):
        page = opened(browser, address)
        my_turn(page)
    page.wait_for_selector("#away:visible")
    assert "does not answer" in page.inner_text("#away") and page.evaluate("document.querySelector('#felt').inert")
    port = address.split(":")[2].split("/")[0]
    with served(*HEARTS, "--port", port):
        page.wait_for_selector("#away:has-text('This table was closed. Open the new address from the terminal.')")
    page.context.close()


def test_players_have_short_names_in_the_dialog_of_a_match(browser):
    with served("hearts", "--opponents", "pimc:worlds=3,runs=7", "rules") as (address, _):
        page = opened(browser, address)
        page.click("#match")
        options = page.locator("#who1 option")
        named = dict(zip(options.all_inner_texts(), options.evaluate_all("(all) => all.map((each) => each.title)")))
        assert named["pimc"].startswith("pimc:worlds=3,") and named["rules"] == "rules"
        assert page.locator("#who1").input_value() == str(list(named).index("pimc"))
        page.context.close()
