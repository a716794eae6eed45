"""Puzzles in Chromium, by mouse and by keyboard: the question, the answer, the score, and what the page receives."""

from __future__ import annotations

import re

import pytest
from support.browser import (
    WIDTHS,
    chromium_marks,
    drag,
    faint,
    listening,
    middle,
    misplaced,
    opened,
    overlaps,
    rules_hold,
    with_card_names,
)
from support.forked import served
from support.skat_records import GAMES

from trickformer.review import puzzles

pytestmark = chromium_marks()


@pytest.fixture(scope="module")
def expected():
    """The first three puzzles of the file."""
    found = puzzles.find(GAMES)
    return [next(found) for _ in range(3)]


def _fits(page):
    for width, height in WIDTHS:
        page.set_viewport_size({"width": width, "height": height})
        assert not overlaps(page) and not misplaced(page), width
    page.set_viewport_size({"width": 1440, "height": 900})
    assert not faint(page)
    rules_hold(page, contrast=True)


def _wrong(puzzle):
    return next(action for action in puzzle.turn.legal if action not in puzzle.solutions)


def _card(action):
    return f"#own button.card[data-action='{action}']"


def test_puzzles_by_mouse(browser, expected):
    """One answer is right and one is wrong; nothing of the rating is on the page before."""
    with served(str(GAMES), "--most", "2", command="puzzle") as (address, _):
        page = listening(browser, address)
        for number, puzzle in enumerate(expected[:2], 1):
            page.wait_for_selector(f"body[data-puzzle='{number}']:not([data-answered])")
            assert sorted(
                int(card.get_attribute("data-action")) for card in page.locator("#own button.card").all()
            ) == sorted(puzzle.turn.legal)
            shown = {card.get_attribute("data-name") for card in page.locator("#felt .card[data-name]").all()}
            assert puzzle.hand.game.name == "skat" and len(shown) < 32 - 10  # the others' cards lie face down
            assert not page.locator("#answer").is_visible() and not page.locator("#felt .good").count()
            heard = page.evaluate("heard.slice(heard.findLastIndex((message) => message.type === 'solution') + 1)")
            assert heard and not any("rows" in message or "solutions" in message for message in heard)
            _fits(page)

            chosen = puzzle.solutions[0] if number == 1 else _wrong(puzzle)
            page.click(_card(chosen), position={"x": 8, "y": 20})
            page.wait_for_selector("#verdict")
            verdict = puzzles.describe_answer(puzzle.rating_of(chosen), puzzle)
            assert with_card_names(page.locator("#verdict")) == verdict
            names = {rated.words for rated in puzzle.rating.actions}
            named = [word for word in re.findall(r"\w+", verdict) if word in names]
            assert named and page.locator("#verdict .inline svg").count() == len(named)
            cells = [row.locator("th, td").all() for row in page.locator("#rated tbody tr").all()]
            rows = [[with_card_names(cell) for cell in row] for row in cells]
            assert [row[0] for row in rows] == [rated.words for rated in puzzle.rating.actions]
            assert page.locator("#rated th .inline svg").count() == len(rows)
            values = [float(row[1].replace("−", "-")) for row in rows]
            assert values == pytest.approx([rated.value for rated in puzzle.rating.actions], abs=0.005)
            marked = {row[0]: row[3].split(", ") for row in rows}
            words = puzzle.hand.game.words
            assert {name for name, marks in marked.items() if "best" in marks} == set(map(words, puzzle.solutions))
            assert "your choice" in marked[words(chosen)] and "played" in marked[words(puzzle.turn.action)]
            assert page.locator("#own .good").count() == len(puzzle.solutions)
            assert page.locator("#own .bad").count() == number - 1
            assert page.get_attribute(_card(chosen), "aria-label").endswith("your choice")
            assert page.inner_text("#score").startswith(f"1 of {number} found")
            _fits(page)
            if number == 2:
                link = page.locator("#review-hand")
                assert link.get_attribute("href") == f"review.html#{puzzle.game_number}.{puzzle.turn.number}"
                with page.context.expect_page() as opening:
                    link.click()
                opening.value.wait_for_selector("#own .seat")
                assert f"game {puzzle.game_number}" in opening.value.inner_text("#title")
                opening.value.close()
            page.click("#proceed")
        page.wait_for_selector("body[data-puzzle=end]")
        loss = expected[1].rating_of(_wrong(expected[1])).loss / 2
        assert f"The end: 1 of 2 found, mean loss {loss:.2f} points." in page.inner_text("#status")
        _fits(page)
        page.click("#restart")
        page.wait_for_selector("body[data-puzzle='1']")
        assert not page.inner_text("#score")
        assert not page.faults
        page.context.close()


def test_puzzles_by_keyboard(browser, expected):
    """Arrows and Enter choose, Enter or n goes on."""
    with served(str(GAMES), "--most", "3", command="puzzle") as (address, _):
        page = listening(browser, address)
        for number, puzzle in enumerate(expected, 1):
            page.wait_for_selector(f"body[data-puzzle='{number}']:not([data-answered])")
            chosen = puzzle.solutions[-1] if number != 2 else _wrong(puzzle)
            for _ in range(40):
                page.keyboard.press("ArrowRight")
                if page.evaluate("document.activeElement.dataset.action") == str(chosen):
                    break
            page.keyboard.press("n")  # there is nothing to go on to yet
            page.keyboard.press("Enter")
            page.wait_for_selector("#verdict")
            assert page.inner_text("#verdict").startswith("Right: ") == (number != 2)
            assert page.evaluate("document.activeElement.id") == "proceed"
            page.keyboard.press("Enter" if number == 1 else "n")
        page.wait_for_selector("body[data-puzzle=end]")
        assert "The end: 2 of 3 found" in page.inner_text("#status")
        assert not page.faults
        page.context.close()


END_OF_MOTION = "Promise.allSettled(document.getAnimations().map((animation) => animation.finished))"


def test_a_card_is_dragged_onto_the_table(browser, expected):
    """With motion. A card that is dropped on the log is no answer. After the answer no card can be played."""
    puzzle, chosen = expected[0], expected[0].solutions[0]
    with served(str(GAMES), "--most", "1", command="puzzle") as (address, _):
        page = listening(browser, address)
        page.emulate_media(reduced_motion="no-preference")
        page.wait_for_selector("body[data-puzzle='1']")
        page.evaluate(END_OF_MOTION)
        drag(page, page.locator(_card(chosen)), middle(page, "#log"))
        page.evaluate(END_OF_MOTION)
        drag(page, page.locator(_card(chosen)), middle(page, "#centre"))
        page.wait_for_selector("#verdict")
        assert page.inner_text("#verdict").startswith("Right: ")
        page.evaluate(END_OF_MOTION)
        drag(page, page.locator(_card(_wrong(puzzle))), middle(page, "#centre"))
        assert not page.locator(".dragged").count()
        assert page.evaluate("sent") == [{"do": "solve", "puzzle": 1, "action": chosen}]
        assert not page.faults
        page.context.close()


def test_colours_and_deck_are_chosen_on_the_page(browser, expected):
    """They stay after a reload. The answer is readable on each felt, and has the ranks of the German deck."""
    with served(str(GAMES), "--most", "1", command="puzzle") as (address, _):
        page = opened(browser, address, shown="body[data-puzzle='1']")
        page.select_option("#theme", "sand")
        page.select_option("#deck", "german")
        page.reload()
        page.wait_for_selector("body[data-puzzle='1']")
        root = page.locator("html")
        assert (root.get_attribute("data-theme"), root.get_attribute("data-deck")) == ("sand", "german")
        assert page.locator("#theme").input_value() == "sand" and page.locator("#deck").input_value() == "german"
        _fits(page)
        page.click(_card(expected[0].solutions[0]), position={"x": 8, "y": 20})
        page.wait_for_selector("#verdict")
        ranks = page.locator("#rated th .inline").all_inner_texts()
        assert ranks and not any(rank.startswith(("J", "Q")) for rank in ranks)
        for theme in ("sand", "wine", "blue", "slate", "green"):
            page.select_option("#theme", theme)
            assert root.get_attribute("data-theme") == theme and not faint(page)
        _fits(page)
        assert not page.faults
        page.context.close()


def test_a_search_is_shown_and_can_be_stopped(browser, tmp_path):
    """A slow judge of Hearts, then a file without puzzles."""
    from trickformer.tournaments import run
    from trickformer.tournaments.plan import Tournament

    path = tmp_path / "run"
    run.tournament(Tournament(game="hearts", a="random", b="rules", deals=1, seed=3, out=path))
    with served(str(path), "--analyse", "pimc:worlds=50000", command="puzzle") as (address, _):
        page = opened(browser, address, shown="#working")
        page.wait_for_selector("#working:has-text('Looking for a puzzle: 0 of 14 hands')")
        rules_hold(page, contrast=True)
        page.click("#cancel")
        page.wait_for_selector("body[data-puzzle=end]")
        assert "no puzzle answered" in page.inner_text("#status")
        assert not page.locator("#working").is_visible()
        page.context.close()
    with served(str(GAMES), "--margin", "10000", command="puzzle") as (address, _):
        page = opened(browser, address, shown="body[data-puzzle=end]")
        assert page.inner_text("#status").startswith("There are no puzzles; lower --margin")
        rules_hold(page, contrast=True)
        assert not page.faults
        page.context.close()
