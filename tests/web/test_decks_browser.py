"""Decks in Chromium: the choice, the figures and pips, and German suits at a table of Skat and in its review."""

from __future__ import annotations

import random
import re

from support.browser import chromium_marks, faint, move, my_turn, opened, overlaps, rules_hold
from support.forked import served

pytestmark = chromium_marks()

# Lists for each card of the own hand its words, the rank in its corner, the rank's colour, and how many signs and other
# shapes its picture has.
HAND = """[...document.querySelectorAll("#own .seat > .hand > .card")].map((card) => {
  const [text, picture] = [card.querySelector("text"), card.querySelector(".picture")];
  const shown = picture && getComputedStyle(picture).display !== "none" ? [...picture.querySelectorAll("path")] : [];
  const signs = shown.filter((path) => path.classList.contains("decked"));
  return [card.ariaLabel, text.textContent, getComputedStyle(text).fill, signs.length, shown.length - signs.length];
})"""
SHAPES = (
    """[...new Set([...document.querySelectorAll("#own .card text + path")].map((path) => path.getAttribute("d")))]"""
)
NUMBERS = [str(rank) for rank in range(2, 11)]


def _german(words: str) -> str:
    """Words of a card in the German deck."""
    names = {"clubs": "acorns", "spades": "leaves", "diamonds": "bells", "jack": "Unter", "queen": "Ober"}
    return " ".join(names.get(word, word) for word in words.split())


def _hand(page) -> list:
    assert my_turn(page)
    return page.evaluate(HAND)


def test_french_decks(browser):
    """Number cards show their number of pips and court cards a figure, but small cards have neither."""
    with served("hearts", "--opponents", "rules", "--deal", "1") as (address, _):
        page = opened(browser, address)
        options = page.locator("#deck option:not([hidden])")
        assert options.all_inner_texts() == ["French", "French, four colours"]
        two = _hand(page)
        for words, rank, _, signs, others in two:
            court = rank in ("J", "Q", "K")
            assert signs == (2 if court else 1 if rank == "A" else int(rank)), words
            assert (others > 15) == court and (court or not others), words
        assert {"Q", "K"} & {rank for _, rank, *_ in two}
        page.select_option("#deck", "four")
        four = _hand(page)
        assert [card[:2] + card[3:] for card in four] == [card[:2] + card[3:] for card in two]
        assert [len({colour for _, _, colour, *_ in hand}) for hand in (two, four)] == [2, 4]
        page.reload()
        page.wait_for_selector("#own .seat")
        assert _hand(page) == four and page.locator("#deck").input_value() == "four"
        rules_hold(page)
        assert not faint(page)
        page.set_viewport_size({"width": 390, "height": 844})
        assert not any(signs + others for *_, signs, others in _hand(page)) and not overlaps(page)
        assert page.locator("#own .card .plain:visible").count() == 13
        page.evaluate("localStorage.setItem('deck', 'german')")
        page.reload()
        page.wait_for_selector("#own .seat")
        assert [card[:3] for card in _hand(page)] == [card[:3] for card in two]
        assert page.locator("#deck").input_value() == "french" and not page.faults
        assert page.locator("p:has(> #deck)").get_attribute("hidden") is None
        page.context.close()


def test_the_german_deck(browser):
    """It changes the cards that lie on the table, the log, the panel of the belief, and the words of all of them."""
    with served("skat", "--opponents", "rules", "--seed", "3", "--worlds", "40") as (address, _):
        page, draw = opened(browser, address), random.Random(2)
        french, shapes = _hand(page), page.evaluate(SHAPES)
        page.click("[data-panel=belief]")
        page.wait_for_selector("#panel-belief .shares th")
        page.select_option("#deck", "german")
        german = _hand(page)
        names = {"J": "U", "Q": "O"}
        assert [card[:2] for card in german] == [[_german(words), names.get(rank, rank)] for words, rank, *_ in french]
        assert {"U", "O", "K", "A", "7"} <= {rank for _, rank, *_ in german}
        assert len({colour for _, _, colour, *_ in german}) == 4
        assert {rank: signs for _, rank, _, signs, _ in german if rank not in NUMBERS} == {
            "U": 1,
            "O": 1,
            "K": 2,
            "A": 2,
        }
        assert len({*shapes, *page.evaluate(SHAPES)}) == 7  # only hearts have one sign in both decks
        heads = page.locator("#panel-belief .shares thead").first.inner_text().split()
        assert {"U", "O"} <= set(heads) and not {"J", "Q"} & set(heads)
        page.reload()
        page.wait_for_selector("#own .seat")
        assert _hand(page) == german
        rules_hold(page)
        assert not faint(page)
        while my_turn(page):
            move(page, draw)
        assert not faint(page)
        assert {"U", "O"} <= set(page.locator("#log .inline > [aria-hidden]").all_inner_texts())
        words = page.locator("#log").text_content() + page.inner_text("#title") + page.inner_text("#result")
        assert "Unter of" in words and not re.search("jack|queen|clubs|spades|diamonds", words)
        page.click("#review-hand")
        page.wait_for_selector("#decisions button")
        assert {"U", "O"} <= set(page.locator("#felt .card text").all_text_contents())
        assert not {"J", "Q"} & set(page.locator("#decisions .inline > [aria-hidden]").all_inner_texts())
        rules_hold(page)
        assert not faint(page) and not page.faults
        page.context.close()


def test_other_games_have_their_own_cards(browser):
    with served("crew(mission=9)", "--opponents", "rules", "--deal", "2") as (address, _):
        page = opened(browser, address)
        assert page.locator("#own .card svg text").count() and not page.locator(".card :is(.picture, .plain)").count()
        assert page.locator("p:has(> #deck)").get_attribute("hidden") is not None
        page.context.close()
