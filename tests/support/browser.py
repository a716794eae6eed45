"""Chromium, driven by Playwright: a browser for the tests that play at the table."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from time import monotonic

import pytest

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDTHS = ((390, 844), (1440, 900))
SIZES = (*WIDTHS, (1280, 720), (1366, 768), (375, 667), (600, 900))  # windows in which the whole own hand is in sight
PATIENCE = 0.6  # seconds after which the page takes a click at the place of the last one for a new decision
# The shell without windows comes first: a page takes a third less time in it.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)


def chromium_marks() -> list[pytest.MarkDecorator]:
    """Skip the calling module without the packages of these tests; else return its marks."""
    for needed in ("starlette", "playwright", "axe_playwright_python"):
        pytest.importorskip(needed, reason=f"needs {needed}, of the extra dev")
    return [pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"), pytest.mark.slow]


@contextmanager
def launched() -> Iterator:
    """Start a browser with an empty profile."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def opened(
    browser,
    address: str,
    width: int = 1440,
    height: int = 900,
    shown: str = "#own .seat, #board .cell",
    has_touch: bool = False,
    script: str = "",
):
    """Open a page, and wait for the selector `shown`. Other seats play without delay. `script` runs before it loads.

    Errors and warnings on the console are collected in `page.faults`.
    """
    context = browser.new_context(
        viewport={"width": width, "height": height}, reduced_motion="reduce", has_touch=has_touch
    )
    context.add_init_script("localStorage.setItem('speed', '0');" + script)
    page = context.new_page()
    page.faults = []
    page.on(
        "console", lambda message: page.faults.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.goto(address)
    page.wait_for_selector(shown)
    return page


# Script that keeps the messages of the web socket, which have the numbers that the page shows in words.
_LISTEN = """window.heard = []; window.sent = [];
const Plain = WebSocket;
window.WebSocket = class extends Plain {
  constructor(...a) { super(...a); this.addEventListener("message", (e) => window.heard.push(JSON.parse(e.data))); }
  send(text) { window.sent.push(JSON.parse(text)); super.send(text); }
};"""


def with_card_names(locator) -> str:
    """Text of an element in which cards of the French deck have their names, such as HT, instead of rank and sign."""
    return locator.evaluate(
        """(element) => {
      const copy = element.cloneNode(true);
      for (const card of copy.querySelectorAll(".inline")) {
        const rank = card.querySelector("[aria-hidden]").textContent;
        card.replaceWith(card.classList[1][0].toUpperCase() + (rank === "10" ? "T" : rank));
      }
      return copy.textContent;
    }"""
    )


def listening(browser, address: str, script: str = ""):
    """Open a page that keeps the messages of its socket in `heard` and `sent`; `script` runs before the page loads."""
    return opened(browser, address, shown="#own .seat", script=_LISTEN + script)


def my_turn(page) -> bool:
    """Wait for the own turn or the end of the hand. Return whether it is the own turn."""
    page.wait_for_selector("body[data-turn=mine], body[data-turn=over]", timeout=60_000)
    return page.locator("body").get_attribute("data-turn") == "mine"


def _wait_as_people_do(element) -> None:
    """Wait before a click at the place of the last one, which the page would take for a double click."""
    page, box = element.page, element.bounding_box()
    place = (box["x"], box["y"]) if box else (0, 0)
    (x, y), time = getattr(page, "last_click", ((-100, -100), 0.0))
    if max(abs(place[0] - x), abs(place[1] - y)) < 20:
        page.wait_for_timeout(1_000 * max(0.0, time + PATIENCE - monotonic()))
    page.last_click = place, monotonic()


def click(element) -> None:
    """Click near the upper left corner, which the next card of a fan does not cover."""
    _wait_as_people_do(element)
    element.click(position={"x": 8, "y": 12})


def tap(element) -> None:
    """Tap near the upper left corner."""
    _wait_as_people_do(element)
    element.tap(position={"x": 8, "y": 12})


def leave_hand(page, button: str) -> None:
    """Press "Next deal" or "Deal again", and answer the question whether the hand is given up if the page asks."""
    page.click(button)
    if page.locator("#giving-up[open]").count():
        page.click("#giving-up button.main")


def press(element) -> None:
    """Move the focus to an element by an arrow key, and press Enter."""
    keyboard = element.page.keyboard
    for _ in range(element.page.locator("#felt .act:visible").count() + 1):
        if element.evaluate("(e) => e === document.activeElement"):
            keyboard.press("Enter")
            return
        keyboard.press("ArrowRight")
    raise AssertionError("the arrow keys do not reach the element")


def corner(card) -> tuple[float, float]:
    """Return a point of a card that no other card of the fan covers."""
    box = card.bounding_box()
    return box["x"] + 8, box["y"] + 20


def lift(page, card, place) -> None:
    """Press the mouse on a card of a hand, and drag it to a place of the page."""
    page.mouse.move(*corner(card))
    page.mouse.down()
    page.mouse.move(*place, steps=4)


def drag(page, card, place) -> None:
    """Drag a card of a hand to a place of the page by the mouse, and drop it there."""
    lift(page, card, place)
    page.mouse.up()


def middle(page, selector: str) -> tuple[float, float]:
    """Return the middle of an element."""
    box = page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def move(page, draw, choose=click) -> None:
    """Take a random action, and wait until the page shows it. `choose` is `click`, `tap` or `press`."""
    ply = page.locator("body").get_attribute("data-ply")
    if page.locator("#confirm").count():
        cards = page.locator("#own button.card")
        n = int(page.inner_text("#confirm").rpartition("of ")[2].rstrip(")"))
        for place in draw.sample(range(cards.count()), n):
            choose(cards.nth(place))
        choose(page.locator("#confirm"))
    else:
        able = page.locator("#felt .act:visible")
        choose(able.nth(draw.randrange(able.count())))
        if page.locator("#give:visible").count():
            choose(page.locator("#give"))
        elif page.locator("#offer:visible").count():
            choose(page.locator("#offer button").first)
    page.wait_for_selector(f"body:not([data-ply='{ply}'])")


def advance(page, draw, decisions: int) -> None:
    """Make random decisions, and then all forced ones."""
    for _ in range(decisions):
        assert my_turn(page)
        move(page, draw)
    while my_turn(page) and page.locator("#felt .act:visible").count() == 1:
        move(page, draw)


def misplaced(page) -> list[str]:
    """Return faults of the table's layout; empty if it is good.

    The partner sits above the middle of the table, the neighbours at its left and right, and one's own hand lies below
    it in one row. Nothing that can be done lies below the lower edge of the window.
    """
    return page.evaluate(
        """() => {
      const faults = [];
      const box = (e) => e.getBoundingClientRect();
      const centre = box(document.getElementById("centre"));
      const [x, y] = [(centre.left + centre.right) / 2, (centre.top + centre.bottom) / 2];
      for (const seat of document.querySelectorAll("#others .seat")) {
        const place = seat.closest(".place").classList[1];
        const at = box(seat);
        const good = { left: at.right < x, right: at.left > x, top: at.bottom < y }[place];
        if (!good) faults.push(`seat ${seat.dataset.seat} is not at the ${place}`);
      }
      if (box(document.getElementById("own")).top < y) faults.push("the own seat is not at the bottom");
      const rows = new Set([...document.querySelectorAll("#own .seat > .hand > .card")].map((e) => e.offsetTop));
      if (rows.size > 1) faults.push(`the hand lies in ${rows.size} rows`);
      for (const e of document.querySelectorAll("#felt .act"))
        if (e.getClientRects().length && box(e).bottom > window.innerHeight + 1)
          faults.push(`${e.ariaLabel ?? e.textContent} is below the window`);
      return faults;
    }"""
    )


def overlaps(page) -> list[str]:
    """Describe elements of the page that overlap, stick out or cannot be read; empty if there are none."""
    return page.evaluate(
        """() => {
      const faults = [];
      const wide = document.documentElement.scrollWidth - window.innerWidth;
      if (wide > 0) faults.push(`the page is ${wide} px too wide`);
      const seen = (e) => e.getClientRects().length && !e.closest("details:not([open]) > :not(summary)");
      const kinds = "button, .seat, .played, .pile, .cell, h2, #status, #features, select";
      const things = [...document.querySelectorAll(kinds)].filter((e) => seen(e) && !e.closest(".scroll"));
      for (const e of things) {
        const [ink, paper] = [getComputedStyle(e).color, getComputedStyle(e).backgroundColor];
        if (ink === paper) faults.push(`${e.textContent.slice(0, 20)} cannot be read`);
      }
      const box = (e) => e.getBoundingClientRect();
      const boxes = things.map(box);
      const name = (e) => `${e.tagName} ${e.id} ${e.className} ${e.textContent.slice(0, 20)}`;
      for (let i = 0; i < things.length; i++) {
        for (let j = i + 1; j < things.length; j++) {
          const [p, q] = [boxes[i], boxes[j]];
          if (Math.min(p.right, q.right) - Math.max(p.left, q.left) <= 1) continue;
          if (Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) <= 1) continue;
          const [a, b] = [things[i], things[j]];
          if (a.contains(b) || b.contains(a)) continue;
          if (a.closest("dialog") !== b.closest("dialog")) continue; // an open dialog covers the page
          faults.push(`${name(a)} lies over ${name(b)}`);
        }
        const parent = things[i].parentElement.closest("section, aside, header, #felt");
        if (parent && !things[i].closest("#log, pre")) {
          const [p, q] = [boxes[i], box(parent)];
          if (p.left < q.left - 1 || p.right > q.right + 1)
            faults.push(`${things[i].tagName} ${things[i].textContent.slice(0, 20)} sticks out`);
        }
      }
      return faults;
    }"""
    )


def rules_hold(page, contrast: bool = False):
    """Assert that axe-core finds no serious or critical violation.

    Its rule about contrast takes half of the time, and `faint` measures the same, so it counts only if `contrast`.
    """
    if not page.evaluate("'axe' in window"):
        source = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
        page.evaluate(source + "; undefined")
    options = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": contrast}}}
    found = page.evaluate("(options) => axe.run(options)", options)["violations"]
    grave = [
        (v["id"], [node["html"][:120] for node in v["nodes"]][:3])
        for v in found
        if v["impact"] in ("serious", "critical")
    ]
    assert not grave


def layout_holds(page):
    """Assert that nothing overlaps or is misplaced at both widths, that texts can be read, and that axe-core agrees."""
    for width, height in WIDTHS:
        page.set_viewport_size({"width": width, "height": height})
        assert not overlaps(page) and not misplaced(page), width
    assert not faint(page)
    rules_hold(page)


def faint(page, disabled: bool = False) -> list[str]:
    """Return texts whose contrast with their background is below 4.5 to 1, with the ratio; empty if there are none.

    Texts for screen readers only do not count, and disabled buttons only if `disabled`. Ranks on cards count.
    """
    return page.evaluate(
        """(disabled) => {
      const numbers = (text) => {
        const found = (text.match(/[\\d.]+/g) ?? []).map(Number);
        return text.startsWith("color(srgb") ? found.map((c, i) => (i < 3 ? 255 * c : c)) : found;
      };
      const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
      const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
      const mixed = (over, under, share) => over.map((c, i) => share * c + (1 - share) * under[i]);
      function ground(element) {
        if (!element) return [255, 255, 255];
        const [r, g, b, alpha = 1] = numbers(getComputedStyle(element).backgroundColor);
        return alpha === 1 ? [r, g, b] : mixed([r, g, b], ground(element.parentElement), alpha);
      }
      const faults = [];
      for (const e of document.querySelectorAll("body *")) {
        const own = [...e.childNodes].filter((n) => n.nodeType === 3 && n.data.trim());
        if (!own.length || !e.getClientRects().length || e.closest("svg, .unseen, script")) continue;
        if (!disabled && e.closest(":disabled")) continue;
        const style = getComputedStyle(e);
        const [r, g, b, alpha = 1] = numbers(style.color);
        const under = ground(e);
        const [high, low] = [light(mixed([r, g, b], under, alpha)), light(under)].sort((x, y) => y - x);
        const ratio = (high + 0.05) / (low + 0.05);
        if (ratio < 4.5) faults.push(`${own[0].data.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
      }
      for (const e of document.querySelectorAll("#felt .card svg text")) {
        if (!e.getClientRects().length) continue;
        let share = 1; // of what shows through
        for (let part = e; part; part = part.parentElement) share *= Number(getComputedStyle(part).opacity);
        const felt = ground(e.closest("#felt"));
        const colour = (part) => mixed(numbers(getComputedStyle(part).fill).slice(0, 3), felt, share);
        const lights = [e, e.parentElement.querySelector("rect")].map((part) => light(colour(part)));
        const [high, low] = lights.sort((x, y) => y - x);
        const ratio = (high + 0.05) / (low + 0.05);
        if (ratio < 4.5) faults.push(`card ${e.textContent}: ${ratio.toFixed(2)}`);
      }
      return faults;
    }""",
        disabled,
    )
