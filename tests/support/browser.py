"""Chromium, driven by Playwright: a browser for the tests that play at the table."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources

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
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def launched() -> Iterator:
    """A browser that nobody has used before."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def opened(browser, address: str, width: int = 1440, height: int = 900, shown: str = "#own .seat, #board .cell"):
    """A page of ours, on which others play at once, once `shown` is there. What it says on the console is a fault."""
    context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
    context.add_init_script("localStorage.setItem('speed', '0')")
    page = context.new_page()
    page.faults = []
    page.on(
        "console", lambda message: page.faults.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.goto(address)
    page.wait_for_selector(shown)
    return page


def my_turn(page) -> bool:
    """Waits until there is something to do; False at the end of the hand."""
    page.wait_for_selector("body[data-turn=mine], body[data-turn=over]", timeout=60_000)
    return page.locator("body").get_attribute("data-turn") == "mine"


def overlaps(page) -> list[str]:
    """Things on the page that lie over each other or stick out, by what they are; none is good."""
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
      for (let i = 0; i < things.length; i++) {
        for (let j = i + 1; j < things.length; j++) {
          const [a, b] = [things[i], things[j]];
          if (a.contains(b) || b.contains(a)) continue;
          const [p, q] = [box(a), box(b)];
          const x = Math.min(p.right, q.right) - Math.max(p.left, q.left);
          const y = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
          const name = (e) => `${e.tagName} ${e.id} ${e.className} ${e.textContent.slice(0, 20)}`;
          if (x > 1 && y > 1) faults.push(`${name(a)} lies over ${name(b)}`);
        }
        const parent = things[i].parentElement.closest("section, aside, header, #felt");
        if (parent && !things[i].closest("#log, pre")) {
          const [p, q] = [box(things[i]), box(parent)];
          if (p.left < q.left - 1 || p.right > q.right + 1)
            faults.push(`${things[i].tagName} ${things[i].textContent.slice(0, 20)} sticks out`);
        }
      }
      return faults;
    }"""
    )


def rules_hold(page):
    """No serious fault by axe-core's rules."""
    source = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page.evaluate(source + "; undefined")
    found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    grave = [
        (v["id"], [node["html"][:120] for node in v["nodes"]][:3])
        for v in found
        if v["impact"] in ("serious", "critical")
    ]
    assert not grave
