"""`trickformer records show --analyse`, `worst` and `what-if`: what they print, their JSON, one line for bad input."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
import typer
from rich.console import Console
from support.skat_records import GAMES

from trickformer import games
from trickformer.cli import app, spread
from trickformer.records import files
from trickformer.review import analyst, text
from trickformer.review.hand import of_record
from trickformer.review.result import Review, Verdict, WhatIf
from trickformer.tournaments import run
from trickformer.tournaments.plan import Tournament
from trickformer.tournaments.results import TournamentResults

# A quick analyst of each game, and the seed of hands in which it finds mistakes.
ANALYSTS = {
    "hearts": "pimc:worlds=4,runs=20",
    "skat": "solver",
    "crew": "solver",
    "hanabi": "pimc:worlds=2",
    "mines": "optimal",
}
PICTURE = Path(__file__).resolve().parents[2] / "docs" / "sheet-mines.png"  # a file that exists
SPECS = {"mines": "mines(rows=3,cols=4,mines=2)"}


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    """The folder of a tournament between players who differ, by the name of a game."""
    found = {}

    def played(name):
        if name not in found:
            found[name] = tmp_path_factory.mktemp("run") / "out"
            b = "partner" if name == "hanabi" else "optimal" if name == "mines" else "rules"
            spec = SPECS.get(name, name)
            run.tournament(Tournament(game=spec, a="random", b=b, deals=3, seed=3, out=found[name]))
        return found[name]

    return played


def test_every_game_has_an_analyst():
    assert set(ANALYSTS) == set(games.NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", games.NAMES)
def test_every_game_is_shown_with_its_ratings(name, folder_of, command, tmp_path):
    folder, picture = folder_of(name), tmp_path / "curve.png"
    given = ["records", "show", folder, "--game", 1, "--analyse", ANALYSTS[name], "--repeats", 2]
    code, out, err = command(*given, "--plot", picture)
    assert code == 0, err
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "review: " in err and " 0 s left" in err
    (shown,) = json.loads(command(*given, "--json")[1])["games"]
    review = shown["review"]
    mistakes = review.pop("mistakes")
    told = Review.model_validate(review)
    record = next(iter(files.read(folder / "records.jsonl")))
    assert told == analyst.review(of_record(record), ANALYSTS[name], repeats=2)
    assert mistakes == [r.number for r in told.mistakes]
    code, plain, _ = command("records", "show", folder, "--game", 1)
    assert code == 0 and "Review by" not in plain
    head, _, tail = out.partition("Review by ")
    assert head.strip() == plain.strip()
    for rating in told.ratings:
        row = [line for line in tail.splitlines() if line.split()[:1] == [str(rating.number)]]
        assert bool(row) == bool(rating.actions)
        assert not row or f" {rating.words} " in row[0]
    assert f"values in {told.unit}" in tail and tail.count(" at first") == len(told.curves)
    assert ("Mistakes by size:" in tail) == bool(told.mistakes)
    for number, rating in enumerate(told.mistakes[: text.MAX_MISTAKES], 1):
        (line,) = [line for line in tail.splitlines() if line.startswith(f"{number}. decision {rating.number},")]
        assert line.endswith(f" ({rating.grade(told.worth)})")
    assert tail.count(" could ") == len(told.answers)
    assert text.KEY in tail
    assert (
        command("records", "show", folder / "records.jsonl", "--game", 1)[1] == plain
    )  # the folder stands for its records


@pytest.mark.parametrize("name", ["hearts", "crew", "hanabi", "skat"])
def test_hands_are_shown_as_they_were_dealt(name, folder_of, command):
    """Each of its cards is one that chance dealt the seat; hands that are played out are not shown again."""
    folder = folder_of(name)
    record = next(iter(files.read(folder / "records.jsonl")))
    hand, out = of_record(record), command("records", "show", folder, "--game", 1)[1]
    _, first = hand.at(1)
    held = [line for line in hand.game.describe(first).splitlines() if line.startswith("seat ")]
    assert len(held) >= hand.game.players
    for seat, line in enumerate(held[: hand.game.players]):
        cards = line.split()[3:]
        assert len(cards) >= 4
        if name == "skat":
            row = next(line for line in out.splitlines() if line.startswith(f" {seat} "))
            assert sorted(row.split()[-10:]) == sorted(cards)
        else:
            assert f"seat {seat} was dealt {' '.join(cards)}\n" in out
    assert not any(line.strip().endswith("holds") for line in out.splitlines())


def test_a_lost_mission_says_why(folder_of, command):
    found = json.loads(command("records", "show", folder_of("crew"), "--analyse", "solver", "--json")[1])["games"]
    lost = [game for game in found if game["scores"][0] == 0]
    assert lost
    for game in lost:
        for answer in game["review"]["answers"]:
            assert answer["won"] is False and answer["why"]
            assert f"lost in trick {answer['failed_in']}: {'; '.join(answer['why'])}" in game["text"]


@pytest.mark.slow
def test_the_worst_deals_come_first(folder_of, command):
    for name in ("hearts", "skat", "hanabi"):
        folder = folder_of(name)
        results = TournamentResults(run.load(folder))
        differences = results.rows[0, 1][0].deals.tolist()
        code, out, _ = command("records", "worst", folder, "--json")
        found = json.loads(out)
        assert code == 0 and (found["a"], found["higher_is_better"]) == ("random", name != "hearts")
        sign = 1 if name != "hearts" else -1
        assert [deal["deal"] for deal in found["deals"]] == sorted(range(3), key=lambda d: (sign * differences[d], d))
        records = list(files.read(folder / "records.jsonl"))
        for deal in found["deals"]:
            assert deal["difference"] == pytest.approx(differences[deal["deal"]])
            assert len(deal["games"]) == len(results.sets[0, 1])
            for game in deal["games"]:
                seated = [["random", results.run.typed[1]][kind] for kind in game["seating"]]
                assert [spec.partition(":")[0] for spec in records[game["game"] - 1].names] == seated
        turned = json.loads(command("records", "worst", folder, "--json", "--a", 2, "--b", 1)[1])
        assert [d["deal"] for d in turned["deals"]] == [d["deal"] for d in found["deals"]][::-1]
        assert [d["difference"] for d in turned["deals"]] == [-d["difference"] for d in found["deals"]][::-1]
        code, out, err = command("records", "worst", folder)
        assert (code, err) == (0, "") and f"records show {folder} --game NUMBER" in out
        assert found["records"] == str(folder / "records.jsonl")
        lines = [line for line in out.splitlines() if f"{folder / 'records.jsonl'}:" in line]
        assert len(lines) == len(found["deals"])
        written = (folder / "records.jsonl").read_text().splitlines()
        for line, deal in zip(lines, found["deals"]):
            record = json.loads(written[int(line.rpartition(":")[2]) - 1])
            words = [
                deal["deal"],
                *(player + 1 for player in record["seating"]),
                *record["scores"],
                f"{deal['difference']:+.2f}",
            ]
            assert line.split()[:-1] == list(map(str, words)) and record["deal"] == deal["deal"]
            assert record["seating"] == deal["games"][0]["seating"]
        assert command("records", "worst", folder / "records.jsonl") == (0, out, "")
        assert command("records", "worst", folder, "--most", 1)[1].count("records.jsonl:") == 1


@pytest.mark.parametrize("name", ["crew", "mines"])
def test_the_worst_hand_is_one_that_a_played(name, folder_of, command):
    """In cooperative and one-player games A and B never share a table, and A's own game is named."""
    folder = folder_of(name)
    found = json.loads(command("records", "worst", folder, "--json")[1])
    assert found["unit"] == ("games won" if name == "crew" else "cells a board")
    for letter, (a, b) in {"A": (0, 1), "B": (1, 0)}.items():
        out = command("records", "worst", folder, "--a", a + 1, "--b", b + 1)[1]
        assert ("1 for a game won, 0 for a game lost" in out) == (name == "crew")
        rows = [line for line in out.splitlines() if "records.jsonl:" in line]
        assert len(rows) == len(found["deals"]), letter
        written = (folder / "records.jsonl").read_text().splitlines()
        for row in rows:
            record = json.loads(written[int(row.rpartition(":")[2]) - 1])
            assert set(record["seating"]) == {a}


def test_seats_are_a_list(folder_of, command):
    """`--seat 0 2` and `--seat 0 --seat 2` are the same."""
    given = ["records", "show", folder_of("hearts"), "--game", 1, "--analyse", "pimc:worlds=2", "--json"]
    told = [command(*given, *seats) for seats in (("--seat", 0, 2), ("--seat", 0, "--seat", 2))]
    assert told[0][:2] == told[1][:2] and told[0][0] == 0
    rated = json.loads(told[0][1])["games"][0]["review"]["ratings"]
    assert {rating["seat"] for rating in rated if rating["loss"] is not None} <= {0, 2}
    assert command(*given, "--seat", 0)[1] != told[0][1]
    played = ["play", "--seat", "1", "hearts"]
    assert spread(typer.main.get_command(app), played) == played


def test_what_if_from_the_command_line(folder_of, command):
    given = ["records", "what-if", folder_of("hearts"), "--game", 2, "--at", 3, "--n", 5, "--seed", 4]
    code, out, err = command(*given, "--players", "rules", "random", "rules", "random", "--json")
    assert code == 0 and "what if: 5 of 5 games" in err
    found = WhatIf.model_validate(json.loads(out))
    assert (found.number, found.games, found.players[:2]) == (3, 5, ("rules", "random"))
    code, out, _ = command(*given, "--players", "rules", "random", "rules", "random")
    assert code == 0 and all(f"{mean:.2f}" in out for mean in found.means)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["show", "hearts", "--analyse", "nobody"], "unknown analyst 'nobody'; choose from: "),
        (["show", "hearts", "--game", 1, "--analyse", ""], "unknown analyst ''; choose from: "),
        (["show", "hearts", "--game", 1, "--analyse", "rules"], "this analyst gives no values"),
        (["show", "hearts", "--game", 1, "--analyse", "solver"], "the solver solves skat and crew, not hearts"),
        (["show", "hearts", "--game", 999, "--analyse", "pimc"], "holds no game 999"),
        (
            ["show", "hearts", "--game", 1, "--seat", 4, "--analyse", "pimc"],
            "there is no seat 4 in hearts: seats are 0 to 3",
        ),
        (["show", "hearts", "--plot", "a.png", "--analyse", "pimc"], "--plot draws the review of one game"),
        (["show", "hearts", "--game", 1, "--plot", "a.png"], "--plot draws the review of one game"),
        (["show", "hearts", "--game", 1, "--analyse", "pimc", "--plot", "a.pdf"], "give a name that ends in .png"),
        (["show", "hearts", "--game", 1, "--analyse", "pimc", "--plot", "none/a.png"], "there is no folder none"),
        (["show", "hearts", "--game", 1, "--analyse", "pimc", "--plot", PICTURE], "give a new file"),
        (["worst", "hearts", "--a", 3], "--a 3 --b 2: give two different players from 1 to 2"),
        (["worst", "hearts", "--a", 2], "--a 2 --b 2: give two different players from 1 to 2"),
        (["worst", "nowhere"], "holds no run"),
        (["what-if", "hearts", "--at", 99, "--players", "rules"], "no decision 99"),
        (["what-if", "hearts", "--at", 1, "--players", "rules", "rules"], "2 players for 4 seats"),
        (["what-if", "hearts", "--at", 1, "--players", "rules", "--action", "XX"], "'XX' is not legal there"),
        (["what-if", "hearts", "--at", 1, "--game", 999, "--players", "rules"], "holds no game 999"),
    ],
)
def test_bad_input_is_one_line(given, says, folder_of, command, tmp_path):
    words = [folder_of("hearts") if w == "hearts" else tmp_path / "nowhere" if w == "nowhere" else w for w in given]
    code, out, err = command("records", *words)
    assert (code, out, err.count("error: ")) == (2, "", 1)
    last = err.splitlines()[-1]  # before it there may be progress
    assert last.startswith("error: ") and says in last


def test_a_record_against_the_rules_has_no_review(command, tmp_path):
    line = GAMES.read_text().splitlines()[0]
    (tmp_path / "bad.sgf").write_text(line.replace("1 18 0 p 2 p", "1 18 2 p 0 p") + "\n")
    assert command("records", "show", tmp_path / "bad.sgf")[0] == 0
    code, out, err = command("records", "show", tmp_path / "bad.sgf", "--analyse", "solver")
    says = "error: game 1: move 2 of the record is against the rules: it is the turn of seat 0\n"
    assert (code, out, err) == (2, "", says)


def test_bars():
    assert text.bars([0, 1, 2, 7]) == "▁▂▃█" and text.bars([5.0]) == "▁" and text.bars([2, 2]) == "▁▁"


def test_what_an_analyst_has_not_valued_is_said():
    """Nothing is said to be lost there."""
    record = next(iter(files.read(GAMES)))
    review = analyst.review(of_record(record), "solver")
    rating = next(r for r in review.ratings if r.actions)
    unlooked = tuple(a.model_copy(update={"value": None}) if a.action == rating.action else a for a in rating.actions)
    changed = rating.model_copy(update={"actions": (*unlooked[1:], unlooked[0]), "loss": None})
    console = Console(file=StringIO(), width=200)
    text.print_review(review.model_copy(update={"ratings": (changed,)}), console)
    assert "not valued" in console.file.getvalue()


def test_a_narrow_table_wraps_actions_and_keeps_numbers():
    record = next(iter(files.read(GAMES)))
    review = analyst.review(of_record(record), "solver")
    long = tuple(r.model_copy(update={"words": "a hint about all cards of one colour " * 3}) for r in review.ratings)
    console = Console(file=StringIO(), width=60)
    text.print_review(review.model_copy(update={"ratings": long}), console)
    output = console.file.getvalue()
    assert "…" not in output
    values = [f"{a.value:+.2f}" for r in review.ratings for a in r.actions if a.action == r.action and a.value]
    assert values and all(value in output for value in values)


def test_an_expectation_is_a_sentence_with_its_unit():
    verdict = Verdict(by="pimc", whose="seat 1", won=False, winnable=True, expected=1.014, error=0.151)
    unit = "points, the others' mean minus the own score"
    (ahead,) = text.describe_verdict(verdict, unit)
    assert ahead == (
        "At its first decision seat 1 could expect to finish 1.01 ± 0.15 points ahead of the others' mean. "
        "It did not finish ahead."
    )
    lower = verdict.model_copy(update={"winnable": False, "expected": -2.5, "error": None, "won": True})
    (behind,) = text.describe_verdict(lower, unit)
    assert behind == (
        "At its first decision seat 1 could expect to finish 2.50 points behind the others' mean. It finished ahead."
    )


@pytest.mark.parametrize(
    ("winnable", "won", "sentences"),
    [
        (True, False, "Before the first card the team could win with open cards. The hand was lost."),
        (False, False, "Before the first card the team could not win, even with open cards. The hand was lost."),
        (
            None,
            None,
            "It is not known whether the team could win before the first card. The hand was broken off.",
        ),
    ],
)
def test_a_verdict_of_the_solver_is_two_sentences(winnable, won, sentences):
    assert text.describe_verdict(Verdict(by="solver", whose="the team", won=won, winnable=winnable), "missions") == [
        sentences
    ]


def test_a_tag_that_is_no_seed_names_no_deal():
    record = next(iter(files.read(GAMES)))
    record.tags.update(SE="9" * 5000, CO="deal 0", seed="9" * 5000, deal="0")
    assert of_record(record).source is None
