"""Analysis beside the table in Chromium: the bar of the expected result, badges on cards, and several players."""

from __future__ import annotations

import random

import pytest
from support.browser import (
    WIDTHS,
    advance,
    chromium_marks,
    faint,
    layout_holds,
    misplaced,
    move,
    my_turn,
    opened,
    overlaps,
    rules_hold,
)
from support.forked import served

from trickformer import games

pytestmark = chromium_marks()

GAMES = {
    "hearts": ["hearts", "--opponents", "rules", "--deal", "1"],
    "skat": ["skat", "--opponents", "rules", "--seed", "3"],
    "crew(mission=9)": ["crew(mission=9)", "--opponents", "rules", "--deal", "2"],
    "hanabi": ["hanabi", "--opponents", "partner"],
}


def _number(text: str) -> float:
    return float(text.replace("−", "-").replace("+", ""))


def _box(page, selector):
    return page.locator(selector).bounding_box()


@pytest.mark.parametrize("name", GAMES)
def test_the_bar_shows_the_value_of_the_source(browser, name):
    """Beside the table in a wide window and above it in a narrow one, between the lowest and the highest result."""
    game = games.load(name)
    with served(*GAMES[name]) as (address, _):
        page = opened(browser, address)
        advance(page, random.Random(2), 3)
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


def _badges(page):
    """The text of the badge of each action on the table, and the actions that are marked as best."""
    found = page.evaluate(BADGES)
    return {int(action): text for action, text, _ in found}, [int(action) for action, _, best in found if best]


BADGES = """[...document.querySelectorAll("#felt .act")].filter((e) => e.querySelector(".evaluation")).map((e) => {
  const badge = e.querySelector(".evaluation");
  return [e.dataset.action ?? e.dataset.actions, badge.textContent, badge.classList.contains("best")];
})"""
LYING_OVER = """(() => {
  const boxes = [...document.querySelectorAll("#felt .evaluation")].map((e) => e.getBoundingClientRect());
  const shared = (a, b, low, high) => Math.min(a[high], b[high]) - Math.max(a[low], b[low]);
  return boxes.some((a, i) => boxes.slice(i + 1).some((b) =>
    shared(a, b, "left", "right") > 2 && shared(a, b, "top", "bottom") > 2));
})()"""


def test_badges_show_the_chosen_number_on_each_card(browser):
    """Those of the panel's table; the best has a star, a shape of its own and words, and all go with the decision."""
    with served(*GAMES["hearts"]) as (address, _):
        page = opened(browser, address)
        advance(page, random.Random(5), 4)
        labels = [card.get_attribute("aria-label") for card in page.locator("#felt .act").all()]
        page.select_option("#source", label="GO-MCTS")
        page.click("[data-panel=search]")
        page.wait_for_selector("#panel-search tr.best", timeout=90_000)
        assert not _badges(page)[0] and not page.locator("#evaluated table").count()
        lines = page.locator("#panel-search .lines b")
        assert lines.count() == page.locator("#panel-search .lines b .inline svg").count() > 1  # cards, not names
        columns = page.locator("#panel-search thead th").all_inner_texts()
        for measure in ("value", "visits", "policy"):
            page.select_option("#measure", label=measure)
            texts, best = _badges(page)
            rows = page.locator("#panel-search tbody tr")
            at = columns.index(measure)
            listed = [rows.nth(i).locator("th, td").nth(at).inner_text() for i in range(rows.count())]
            listed = [text for text in listed if text]  # the search values the actions that it looked at
            assert 1 < len(texts) == len(listed) and len(best) == 1
            numbers = sorted(_number(text.lstrip("★").rstrip("%")) for text in texts.values())
            wanted = sorted(_number(text.rstrip("%")) for text in listed)
            assert numbers == pytest.approx(wanted, abs=0.06 if measure == "value" else 0.5), measure
            marked = page.locator("#felt .act:has(.evaluation.best)")
            assert texts[best[0]].startswith("★") and marked.get_attribute("aria-label").endswith(", best")
            assert f", {measure} " in marked.get_attribute("aria-label")
            radius = [
                page.evaluate(
                    "s => getComputedStyle(document.querySelector(s)).borderRadius", f"#felt .evaluation{kind}"
                )
                for kind in (".best", ":not(.best)")
            ]
            assert radius[0] != radius[1]
            assert page.locator("#evaluated table tr.best").count() == 1
            for width, height in WIDTHS:
                page.set_viewport_size({"width": width, "height": height})
                assert not overlaps(page) and not misplaced(page) and not page.evaluate(LYING_OVER), width
            assert not faint(page)
        rules_hold(page)
        page.select_option("#measure", label="nothing")
        assert [card.get_attribute("aria-label") for card in page.locator("#felt .act").all()] == labels
        page.select_option("#measure", label="visits")
        page.select_option("#source", label="Model")
        page.wait_for_selector("#expected:has-text('argmax reports no visits.')", timeout=90_000)
        assert not _badges(page)[0]
        page.select_option("#measure", label="value")
        assert _badges(page)[0]
        page.click("[data-panel=search]")
        move(page, random.Random(1))
        my_turn(page)
        page.wait_for_selector("#felt .evaluation.best", timeout=90_000)
        actions = {int(card.get_attribute("data-action")) for card in page.locator("#felt .act").all()}
        assert set(_badges(page)[0]) == actions
        assert not page.faults
        page.context.close()


def test_badges_on_the_uses_of_a_card(browser):
    """In Hanabi a card shows its best use, and each use has its own number."""
    with served(*GAMES["hanabi"]) as (address, _):
        page = opened(browser, address)
        advance(page, random.Random(2), 2)
        page.select_option("#measure", label="value")
        page.select_option("#source", label="Model")
        page.wait_for_selector("#own .evaluation", timeout=90_000)
        page.locator("#own button.card").first.click()
        uses = page.locator("#offer button[data-actions] .evaluation").all_inner_texts()
        on_card = page.locator("#own button.card >> nth=0").locator(".evaluation").inner_text()
        assert len(uses) == 2 and max(uses, key=lambda text: _number(text.lstrip("★"))) == on_card
        for width, height in WIDTHS:
            page.set_viewport_size({"width": width, "height": height})
            assert not overlaps(page) and not page.evaluate(LYING_OVER), width
        assert not faint(page) and not page.faults
        rules_hold(page)
        page.context.close()


def test_players_are_compared_side_by_side(browser):
    """A row for each, with its card and its value if it has one, at each decision once two are chosen."""
    with served(*GAMES["hearts"]) as (address, _):
        page = opened(browser, address)
        advance(page, random.Random(5), 2)
        page.click("#comparing summary")
        page.check("#compared label:text-is('rules') input")
        assert page.inner_text("#comparison") == "Choose two players or more."
        for name in ("argmax", "pimc"):
            page.check(f"#compared label:text-is('{name}') input")
        rows = page.locator("#comparison tbody tr")
        assert rows.count() == 3

        def answered():
            page.wait_for_selector("#comparison:not(:has-text('thinking'))", timeout=90_000)
            cells = [rows.nth(i).locator("th, td").all_inner_texts() for i in range(rows.count())]
            return {who: (plays, value) for who, plays, value in cells}

        found = answered()
        assert list(found) == ["rules", "argmax", "pimc"] and found["rules"][1] == "none"
        assert all(_number(found[name][1]) for name in ("argmax", "pimc"))
        cards = {card.get_attribute("aria-label") for card in page.locator("#felt .act").all()}
        assert set(page.locator("#comparison .unseen").all_inner_texts()) <= cards
        assert page.locator("#comparison .inline svg").count() == 3
        assert "the others' mean minus the own score" in page.inner_text("#comparison p")
        layout_holds(page)
        page.reload()
        page.wait_for_selector("#comparison td")
        assert answered() == found
        page.select_option("#source", label="Model")
        page.click("[data-panel=model]")
        page.wait_for_selector("#panel-model tr.best", timeout=90_000)
        best = page.inner_text("#panel-model tr.best th .inline > [aria-hidden]")
        assert best == found["argmax"][0].split()[0]
        assert (
            page.locator("#panel-model tbody th .inline svg").count() == page.locator("#panel-model tbody tr").count()
        )
        move(page, random.Random(1))
        my_turn(page)
        cards = {card.get_attribute("aria-label") for card in page.locator("#felt .act").all()}
        assert set(answered()) == set(found)
        assert set(page.locator("#comparison .unseen").all_inner_texts()) <= cards
        assert not page.faults
        page.context.close()


def test_players_with_options_are_compared_by_short_names(browser):
    """Options stand only where two players have the same name, and do not widen the page."""
    opponents = ("argmax:threshold=0.1", "random", "argmax:threshold=0.2")
    with served("hearts", "--opponents", *opponents, "--deal", "1") as (address, _):
        page = opened(browser, address)
        my_turn(page)
        page.click("#comparing summary")
        boxes = page.locator("#compared label")
        labels = [label.strip() for label in boxes.all_inner_texts()]
        specs = [box.get_attribute("title") for box in boxes.all()]
        assert labels.count("random") == 1 and all("=" not in label for label in labels if "argmax" not in label)
        long = [label for label in labels if label.startswith("argmax")]
        assert len(long) == len(set(long)) > 1 and set(long) <= set(specs) and max(map(len, long)) > 60
        for place in (labels.index("random"), labels.index(long[0])):
            boxes.nth(place).locator("input").check()
        page.wait_for_selector("#comparison:not(:has-text('thinking'))", timeout=90_000)
        assert page.locator("#comparison tbody tr").count() == 2
        layout_holds(page)
        assert not page.faults
        page.context.close()


def test_contrast_in_every_state(browser):
    """Of cards, buttons, badges and panels: disabled, under the pointer, focused, pressed, and out of date."""
    with served(*GAMES["hearts"]) as (address, _):
        page = opened(browser, address)
        my_turn(page)
        page.select_option("#measure", label="value")
        page.select_option("#source", label="Model")
        page.click("[data-panel=model]")
        page.wait_for_selector("#panel-model tr.best", timeout=90_000)
        page.wait_for_selector("#felt .evaluation")
        assert page.locator("#confirm").is_disabled() and not faint(page, disabled=True)
        advance(page, random.Random(5), 3)
        page.wait_for_selector("#felt .evaluation", timeout=90_000)
        page.click("#comparing summary")
        assert page.locator("#trick .card svg text").count()
        controls = page.locator("button:visible:not(:disabled), summary:visible, select:visible")
        for i in range(controls.count()):
            controls.nth(i).focus()
            controls.nth(i).hover(position={"x": 4, "y": 8}, force=True)
            assert not faint(page, disabled=True), controls.nth(i).inner_text()
        page.evaluate("for (const e of document.getElementById('panels').children) e.classList.add('old', 'busy')")
        assert not faint(page, disabled=True)
        page.context.close()
    with served(*GAMES["hanabi"]) as (address, _):
        page = opened(browser, address)
        my_turn(page)
        page.locator("#others button.card").first.click()  # the cards that a hint does not name are pale
        assert page.locator(".unlit").count() and not faint(page, disabled=True)
        page.context.close()
