"""Reviews in Chromium: a tournament's list, steps, ratings, mistakes, what-ifs, and a hand just played at the table."""

from __future__ import annotations

import json
import random

import pytest
from support.browser import WIDTHS, chromium_marks, faint, move, my_turn, opened, overlaps, rules_hold
from support.forked import served
from support.skat_records import GAMES

from trickformer.records import files
from trickformer.review import analyst
from trickformer.tournaments import report, results, run
from trickformer.tournaments.plan import Tournament

pytestmark = chromium_marks()

HANDS = {"skat": 13, "crew": 1}  # lost, and open cards say that they could have been won


def _at(page) -> int:
    return int(page.locator("body").get_attribute("data-at"))


def _fits(page):
    for width, height in WIDTHS:
        page.set_viewport_size({"width": width, "height": height})
        assert not overlaps(page), width
    rules_hold(page, contrast=True)


@pytest.mark.parametrize("name", HANDS)
def test_a_hand_is_reviewed(browser, name, tmp_path):
    """The list of a tournament or a file, then a hand in steps both ways, its review, a jump to the worst mistake, and
    what else could have come of it."""
    path, order = GAMES, "in the order of the file"
    if name == "crew":
        path, order = tmp_path / "run", "worst deals of A first"
        run.tournament(Tournament(game="crew(mission=9)", a="random", b="rules", deals=2, seed=3, out=path))
    with served(str(path), command="view") as (address, _):
        page = opened(browser, address, shown="#rows a")
        assert order in page.inner_text("#shelf-note")
        _fits(page)
        page.click(f"#rows a[href='#{HANDS[name]}']")
        page.wait_for_selector("#own .seat")
        decisions = page.locator("#decisions button").count()
        assert not page.locator("[aria-label='a hidden card']").count()
        before = page.inner_text("#felt")
        page.click("#after")
        page.keyboard.press("ArrowRight")
        assert _at(page) == 3 and page.inner_text("#felt") != before
        page.keyboard.press("ArrowLeft")
        page.click("#before")
        assert _at(page) == 1 and page.inner_text("#felt") == before
        page.click("#last")
        assert _at(page) == decisions and "The end" in page.inner_text("#status")

        page.click("#rate")
        page.wait_for_selector("#review .mistakes button", timeout=90_000)
        assert "Before the first card " in page.inner_text("#review .answer >> nth=0")
        assert page.locator("#curves polyline").count()
        lost = page.locator("#review .losing-step")
        lost.click()
        assert lost.inner_text() == f"To decision {_at(page)}, which lost it"
        worst = page.locator(".mistakes button").first
        worst.click()
        assert _at(page) == int(worst.get_attribute("data-number"))
        assert "is better by" in page.inner_text("#status")
        assert page.locator("#status .inline svg").count() == 2  # the card that was played, and the best one
        named = page.locator(".mistakes button .inline svg, #review .answer .inline svg").count()
        assert named > 2 * page.locator(".mistakes button").count()
        styles = "(cards) => cards.map((card) => getComputedStyle(card.firstElementChild).outlineStyle)"
        assert set(page.locator("#felt button.card.act").evaluate_all(styles)) == {"solid"}  # it turns with the card
        shadows = page.locator("#felt button.card").evaluate_all(
            "(cards) => cards.map((card) => getComputedStyle(card).boxShadow)"
        )
        assert set(shadows) == {"none"}
        assert page.evaluate("(e => e.scrollHeight - e.clientHeight)(document.getElementById('decisions'))") <= 1
        for theme in ("sand", "green"):
            page.select_option("#theme", theme)
            assert page.locator("html").get_attribute("data-theme") == theme and not faint(page)
        tricks = page.locator("#decisions .trick:not(.seats)")
        cards = page.locator("#decisions .trick button")
        assert cards.count() == page.locator("#decisions .trick button .inline svg").count()
        assert tricks.count() == 10 or name == "crew"
        assert page.locator("#decisions .trick .lead").count() == tricks.count()
        lefts = {seat: set() for seat in range(page.locator("#sat select").count())}
        for card in cards.all():
            lefts[int(card.get_attribute("title").split()[-1])].add(round(card.bounding_box()["x"]))
        assert all(len(left) == 1 for left in lefts.values())  # a column for each seat
        marks = page.locator("#decisions .lost")
        assert marks.count() == page.locator(".mistakes .lost").count() == page.locator(".mistakes button").count()
        signs = {mark.inner_text().split("\n")[0].split(",")[0] for mark in marks.all()}
        assert signs <= {"?!", "?", "??"} and page.locator("#signs").is_visible()
        colours = "[...document.querySelectorAll('#decisions .lost')].map((e) => getComputedStyle(e).backgroundColor)"
        grades = {(mark.get_attribute("class"), colour) for mark, colour in zip(marks.all(), page.evaluate(colours))}
        assert len({colour for _, colour in grades}) == len({grade for grade, _ in grades}) == len(grades)
        assert not faint(page)

        page.locator("#felt button[data-action]").first.click()
        assert "First: " in page.inner_text("#first-done")
        page.fill("#games", "3")
        for seat in page.locator("#sat select").all():
            seat.select_option(label="random")
        page.click("#try")
        page.wait_for_selector("#tried table", timeout=60_000)
        assert "3 games" in page.inner_text("#tried h3")
        _fits(page)

        page.reload()
        page.wait_for_selector("#own .seat")
        page.click("#all")
        page.wait_for_selector("#rows a")
        page.fill("#game", "2")
        page.click("#jump button")
        page.wait_for_selector("#own .seat")
        assert "game 2" in page.inner_text("#title")
        page.evaluate("location.hash = '#99999'")
        page.wait_for_selector("#fault:visible")
        assert "holds no game 99999" in page.inner_text("#fault")
        assert not page.faults
        page.context.close()


def test_an_analysis_can_be_stopped(browser, tmp_path):
    run.tournament(Tournament(game="hearts", a="random", b="rules", deals=2, seed=3, out=tmp_path / "run"))
    with served(str(tmp_path / "run"), "--analyse", "pimc:worlds=100000", command="view") as (address, _):
        page = opened(browser, address + "#3", shown="#own .seat")
        page.click("#rate")
        page.wait_for_selector("#working progress:visible", timeout=60_000)
        page.click("#cancel")
        page.wait_for_selector("#working", state="hidden")
        assert not page.locator("#review h3").count()
        page.select_option("#analyst", label="argmax")
        page.click("#rate")
        page.wait_for_selector("#review h3", timeout=60_000)
        assert page.locator("#curves polyline").count() == 4
        assert not page.faults
        page.context.close()


def test_the_hand_just_played_is_reviewed(browser):
    with served("skat", "--opponents", "rules", "--seed", "3") as (address, _):
        page = opened(browser, address)
        draw = random.Random(4)
        while my_turn(page):
            move(page, draw)
        scores = page.inner_text("#scores tbody tr:last-child")
        page.click("#review-hand")
        page.wait_for_selector("#decisions button")
        assert "seat 0 · a person" in page.inner_text("#felt")
        assert sorted(page.inner_text("#hand #scores").split()[1:]) == sorted(scores.split()[1:])
        dealt = page.locator("#dealt .pile[aria-label=dealt]")
        names = [
            pile.locator(".card").evaluate_all("(cards) => cards.map((c) => c.dataset.name)") for pile in dealt.all()
        ]
        assert [len(cards) for cards in names] == [10, 10, 10] and len(
            {name for cards in names for name in cards}
        ) == 30
        words = page.locator("#told").text_content()
        assert all(name in words for cards in names for name in cards) and not page.locator("#told").is_visible()
        page.click("#telling summary")
        assert page.locator("#told").is_visible() and not faint(page)
        _fits(page)
        page.select_option("#analyst", label=analyst.SOLVER)
        page.click("#rate")
        page.wait_for_selector("#review h3", timeout=60_000)
        page.click("#back")
        page.wait_for_selector("body[data-turn=over]")
        assert not page.faults
        page.context.close()


@pytest.mark.parametrize(
    ("width", "mines", "counts"), [(390, "mines", (16, 6)), (1440, "mines(rows=16,cols=30,mines=99)", (480, 99))]
)
def test_a_hand_of_hanabi_or_mines_is_shown_as_its_table(browser, width, mines, counts, tmp_path):
    """Hanabi has the cards of each seat and the piles, Mines the board with all mines; neither can be clicked."""
    for name, other in (("hanabi", "partner"), (mines, "random:")):
        out = tmp_path / name[:4]
        run.tournament(Tournament(game=name, a="random", b=other, deals=1, seed=3, out=out))
        with served(str(out), command="view") as (address, _):
            page = opened(browser, address + "#1", width, 900, shown="#dealt > *")
            assert not page.locator("#dealt button").count() and page.locator("#telling").get_attribute("open") is None
            if name == "hanabi":
                names = {
                    int(seat.get_attribute("data-seat")): _names(seat.locator("> .hand"))
                    for seat in page.locator("#own .seat, #others .seat").all()
                }
                assert [_names(pile) for pile in page.locator("#dealt [aria-label=dealt]").all()] == [
                    names[0],
                    names[1],
                ]
                page.click("#last")
                ends = page.locator("#dealt [aria-label='at the end']")
                for seat in (0, 1):
                    held = page.locator(f"#felt .seat[data-seat='{seat}'] > .hand")
                    assert _names(ends.nth(seat)) == _names(held) and _names(held) != names[seat]
                for title in ("Fireworks", "Discards"):
                    pile = page.locator(f"#dealt [aria-label={title}]")
                    assert _names(pile) == _names(page.locator(f"#piles [aria-label={title}]"))
            else:
                page.click("#last")
                cells = [page.locator(f"{place} .cell").all_inner_texts() for place in ("#dealt", "#board")]
                assert cells[0] == cells[1] and (len(cells[0]), cells[0].count("✷")) == counts
            assert not overlaps(page) and not faint(page) and not page.faults
            rules_hold(page)
            page.context.close()


def _names(element):
    return element.locator(".card").evaluate_all("(cards) => cards.map((card) => card.dataset.name ?? '')")


def test_a_long_list_has_pages_and_shows_names_as_text(browser, tmp_path):
    run.tournament(Tournament(game="hearts", a="random", b="rules", deals=1, seed=3, out=tmp_path / "run"))
    file = tmp_path / "games.jsonl"
    files.convert(tmp_path / "run" / "records.jsonl", file)
    lines = [json.loads(line) for line in file.read_text().splitlines()] * 15
    for line in lines[100:]:
        line["names"] = ["<img src=x onerror=document.title='owned'>\u202e", "b", "c", "d"]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with served(str(file), command="view") as (address, _):
        page = opened(browser, address, shown="#rows a")
        assert page.locator("#rows a").count() == 100 and page.locator("#earlier").is_disabled()
        page.click("#later")
        page.wait_for_selector("#rows a[href='#101']")
        assert page.inner_text("#leaf") == "page 2 of 3"
        assert not page.locator("#rows img").count() and page.title() == "games.jsonl – trickformer"
        assert "<img src=x onerror=document.title='owned'>?" in page.inner_text("#rows")
        page.click("#later")
        page.wait_for_selector("#rows a[href='#201']")
        assert page.locator("#rows a").count() == 10 and "owned'>?" in page.inner_text("#rows")
        _fits(page)
        page.click("#rows a[href='#201']")
        page.wait_for_selector("#own .seat")
        assert "owned'>?" in page.inner_text("body") and not page.locator("img[src=x]").count()
        page.click("#all")
        page.wait_for_selector("#rows a[href='#201']")
        assert not page.faults
        page.context.close()


def _write_part(folder, target, lines):
    """Write a run as it was when it had that many records."""
    target.mkdir(exist_ok=True)
    for name in ("config.toml", "run.json"):
        (target / name).write_text((folder / name).read_text())
    for name in ("records.jsonl", "records.jsonl.sums"):
        (target / name).write_text("".join((folder / name).read_text().splitlines(keepends=True)[:lines]))


def _column(page, key):
    place = [head.get_attribute("data-key") for head in page.locator("#rows thead th").all()].index(key)
    return [row.split("\t")[place] for row in page.inner_text("#rows tbody").splitlines()]


def test_a_run_has_a_report_filters_and_orders_and_is_followed(browser, tmp_path):
    run.tournament(Tournament(game="hearts", a="random", b="rules", deals=6, seed=3, out=tmp_path / "whole"))
    _write_part(tmp_path / "whole", tmp_path / "run", 30)
    with served(str(tmp_path / "run"), command="view") as (address, _):
        page = opened(browser, address, shown="#charts svg")
        assert "30 of 84 hands are played" in page.inner_text("#played") and "30 hands" in page.inner_text("#total")
        _write_part(tmp_path / "whole", tmp_path / "run", 84)
        page.wait_for_selector("#played:text-is('All 84 hands are played.')")
        page.wait_for_selector("#total:text-is('84 hands')")
        made = report.make_report(results.TournamentResults(run.load(tmp_path / "whole")))
        assert page.inner_text("#conclusion") == made.conclusion
        (_, (head, rows)), *_ = made.tables
        cells = page.locator("#tables table").first.locator("tr").all()
        assert [cell.inner_text().split("\t") for cell in cells] == [list(head), *map(list, rows)]
        assert page.locator("#charts svg[role=img]").count() == 2
        assert page.locator("#rows th[aria-sort]").all_inner_texts() == ["A − B in the deal ▼"]

        page.focus("th[data-key=lead] button")
        for order in ("ascending", "descending"):
            page.keyboard.press("Enter")
            page.wait_for_selector(f"th[data-key=lead][aria-sort={order}]")
            leads = list(map(float, _column(page, "lead")))
            assert leads == sorted(leads, reverse=order == "descending")
        assert page.evaluate("document.activeElement.parentElement.dataset.key") == "lead"
        page.select_option("#loser", label="B (rules)")
        page.wait_for_selector("#total:has-text(' of 84 hands')")
        assert set(_column(page, "loser")) == {"B"}
        page.select_option("#loser", label="all")
        page.select_option("#seating", label="A B B B")
        page.wait_for_selector("#total:text-is('6 of 84 hands')")
        assert set(_column(page, "seats")) == {"A B B B"}
        _fits(page)
        assert not faint(page)

        page.fill("#game", "7")
        page.fill("#decision", "12")
        page.click("#jump button")
        page.wait_for_selector("#own .seat")
        assert _at(page) == 12
        page.click("#after")
        assert page.evaluate("location.hash") == "#7.13"
        page.reload()
        page.wait_for_selector("#own .seat")
        assert _at(page) == 13
        page.evaluate("location.hash = '#7.2'")
        page.wait_for_selector("body[data-at='2']")
        page.click("#all")
        page.wait_for_selector("#rows a")
        assert not page.faults
        page.context.close()


def test_ratings_of_several_players_are_drawn(browser, tmp_path):
    hostile = "engine:name=<img src=x onerror=document.title='owned'>"
    run.tournament(
        Tournament(game="skat", players=["random", "rules", "random:"], deals=3, seed=3, out=tmp_path / "run")
    )
    about = tmp_path / "run" / "run.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | {"players": ["random", "rules\u202e", hostile]}))
    with served(str(tmp_path / "run"), command="view") as (address, _):
        page = opened(browser, address, shown="#charts svg")
        assert page.locator("#charts figcaption").all_inner_texts() == ["Rating", "Pairs"]
        assert page.locator("#tables h3").all_inner_texts() == ["Rating", "Differences"]
        assert "owned'>" in page.inner_text("#specs") and "rules?" in page.inner_text("#specs")
        assert not page.locator("img").count() and page.title() == "run – trickformer"
        _fits(page)
        assert not faint(page) and not page.faults
        page.context.close()
