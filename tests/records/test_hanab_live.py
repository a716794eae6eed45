"""Games of hanab.live: read, checked by the rules, written, and refused in one line."""

import codecs
import gzip
import json
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.hanab_live import COLOR, DISCARD, END, PLAY, RANK, VOTE, chooser, new_deck, play
from support.play import shared_file
from support.skat_records import GAMES, damaged

from trickformer.base import TrickformerError
from trickformer.records import files, hanab_live, jsonl
from trickformer.records.check import check
from trickformer.records.show import data
from trickformer.tournaments import run
from trickformer.tournaments.plan import Tournament


def game_of(seed=1, players=2, caution=0.95, turns=None):
    return play(players, new_deck(seed), chooser(seed, caution), turns)


def dead_game():
    """Five ones are piled and all twos discarded: no pile can grow, with a score of 5."""
    deck = sorted(new_deck(0), key=lambda card: (card["rank"], card["suitIndex"]))

    def choose(table):
        own = table.hands[table.seat]
        if fitting := [card for card in own if table.fits(card) and table.deck[card]["rank"] == 1]:
            return {"type": PLAY, "target": fitting[0]}
        if table.clues == 8:
            return table.hints()[0]
        return {"type": DISCARD, "target": min(own)}

    return play(2, deck, choose)


@pytest.fixture
def written(tmp_path):
    def write(game, name="game.json"):
        (tmp_path / name).write_text(game if isinstance(game, str) else json.dumps(game))
        return tmp_path / name

    return write


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_there_and_back(players, written, command, tmp_path):
    """Scores are those of rules written down a second time; the same object comes back, undrawn cards included."""
    reasons = set()
    for seed in range(24):
        game, score, reason = game_of(seed, players, (0.0, 0.97, 1.0)[seed % 3])
        reasons.add(reason)
        record = hanab_live.parse(json.dumps(game))
        assert (record.scores, record.names) == ((score,) * players, tuple(game["players"]))
        assert (record.early_end == "nothing-left") == (reason == "dead")
        assert check(record, 1).status == "agrees"
        assert json.loads(hanab_live.write(record)) == game
        assert jsonl.LineReader().read(jsonl.write(record), 1) == record
        assert len(data(record, 1)["text"].splitlines()) > len(game["actions"])
    assert reasons >= {"strikes", "deck"}
    source = written(game)
    assert command("records", "convert", source, tmp_path / "a.jsonl") == (
        0,
        f"1 game written to {tmp_path / 'a.jsonl'}\n",
        "",
    )
    assert command("records", "convert", tmp_path / "a.jsonl", tmp_path / "b.json")[::2] == (0, "")
    assert json.loads((tmp_path / "b.json").read_text()) == game
    good = "1 game: 1 agrees, 0 broken off, 0 differ, 0 damaged\n"
    for path in (source, tmp_path / "a.jsonl", tmp_path / "b.json"):
        assert command("records", "check", path) == (0, good, "")
        code, out, err = command("records", "show", path)
        assert (code, err) == (0, "") and out.endswith("\nCheck: agrees with a replay by the rules\n\n")
        assert (f"scores {' '.join([str(score)] * players)}\n" in out) == (reason != "dead")


def test_colours_keep_their_names():
    """Red, yellow, green and blue are ours; purple is our white."""
    deck = sorted(new_deck(3), key=lambda card: (card["rank"], card["suitIndex"]))
    order = [deck[i] for i in (0, 3, 6, 9, 12)]
    rest = [card for i, card in enumerate(deck) if i not in (0, 3, 6, 9, 12)]
    game, _, _ = play(2, order + rest, chooser(1, 0.0))
    text = data(hanab_live.parse(json.dumps(game)), 1)["text"]
    assert text.startswith("seat 0 was dealt R1 Y1 G1 B1 W1\n")


def test_a_game_that_ends_when_nothing_is_left(written, command):
    game, score, reason = dead_game()
    assert (score, reason) == (5, "dead")
    record = hanab_live.parse(json.dumps(game))
    assert (record.scores, record.early_end) == ((5, 5), "nothing-left")
    path = written(game)
    assert command("records", "check", path)[1] == "1 game: 1 agrees, 0 broken off, 0 differ, 0 damaged\n"
    assert "ended early: no card that was left could be played\nCheck: agrees" in command("records", "show", path)[1]
    assert json.loads(hanab_live.write(record)) == game
    with pytest.raises(TrickformerError, match=r"^the actions stop before the end of the game$"):
        hanab_live.parse(json.dumps(game | {"actions": game["actions"][:-1]}))


@pytest.mark.parametrize(
    ("action", "end", "words"),
    [
        ({"type": END, "target": 1, "value": 4}, "1 terminates", "seat 1 ended it"),
        ({"type": END, "target": 0, "value": 3}, "0 times-out", "seat 0 ran out of time"),
        ({"type": END, "target": -1, "value": 6}, "idle", "nobody moved any more"),
        ({"type": VOTE, "target": -1, "value": 10}, "vote", "the players voted to end it"),
    ],
)
@pytest.mark.parametrize("turns", [0, 1, 20])
def test_games_that_are_terminated(action, end, words, turns, written, command):
    """They score 0, as on the site, and are broken off."""
    game, _, reason = game_of(5, turns=turns)
    assert reason is None
    game["actions"].append(action)
    record = hanab_live.parse(json.dumps(game))
    draws = sum(played["type"] in (PLAY, DISCARD) for played in game["actions"])
    assert (record.scores, record.early_end, len(record.moves)) == ((0, 0), end, 10 + turns + draws)
    assert json.loads(hanab_live.write(record)) == game
    path = written(game)
    code, out, err = command("records", "check", path)
    counts = "1 game: 0 agree, 1 broken off, 0 differ, 0 damaged\n"
    assert (code, out, err) == (0, f"broken off: game 1: {words}\n{counts}", "")
    assert f"ended early: {words}\n" in command("records", "show", path)[1]


def changed(path, value, turns=None):
    """A game with the entry at `path` replaced, or deleted if the value is `...`."""
    game = deepcopy(game_of(2, turns=turns)[0])
    place = game
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return game


def swapped(number, **entries):
    return changed(("actions", number - 1), {"type": PLAY, "target": 0} | entries)


REFUSED = [
    (changed(("options", "variant"), "Rainbow (5 Suits)"), "variant 'Rainbow (5 Suits)' is not supported"),
    (changed(("options", "variant"), ["x" * 99]), "variant ['" + "x" * 55 + "... is not supported"),
    (changed(("options", "oneExtraCard"), True), "option oneExtraCard is not supported"),
    (changed(("options", "startingPlayer"), 1), "option startingPlayer is not supported"),
    (changed(("characters",), [{"name": "Fuming", "metadata": 2}]), "option detrimentalCharacters is not supported"),
    (changed(("players",), ["a"]), "Hanabi is for 2 to 5 players, not 1"),
    (changed(("players",), list("abcdef")), "Hanabi is for 2 to 5 players, not 6"),
    (changed(("players", 0), ""), "players.0: String should have at least 1 character"),
    (changed(("players", 0), "x" * 101), "players.0: String should have at most 100 characters"),
    (changed(("players",), ...), "key 'players' is missing"),
    (changed(("actions",), ...), "key 'actions' is missing"),
    (changed(("actions",), [{"type": END, "target": 0}] * 1001), "actions: List should have at most 1000 items"),
    (changed(("deck",), ...), "the deck has 0 of 50 cards"),
    (changed(("deck",), new_deck(2)[:48]), "the deck has 48 of 50 cards"),
    (changed(("deck",), new_deck(2) + new_deck(3)), "the deck has 100 cards, not 50"),
    (changed(("deck", 7), {"suitIndex": -1, "rank": -1}), "the deck has 49 of 50 cards"),
    (changed(("deck",), [{"suitIndex": 3, "rank": 5}] * 50), "the deck has blue 5 50 times, not 1"),
    (changed(("deck", 3), {"suitIndex": 1.5, "rank": 1}), "deck.3.suitIndex: Input should be a valid integer"),
    (changed(("deck", 3), {"suitIndex": True, "rank": 1}), "deck.3.suitIndex: Input should be a valid integer"),
    (changed(("actions",), []), "the actions stop before the end of the game"),
    (swapped(1, target=49), "action 1: player 0 does not hold card 49"),
    (swapped(1, target=5), "action 1: player 0 does not hold card 5"),
    (swapped(1, target=-1), "action 1: player 0 does not hold card -1"),
    (swapped(1, type=DISCARD), "action 1: the discard of player 0 is against the rules"),
    (swapped(1, type=COLOR, target=0, value=0), "action 1: player 0 gives a hint to player 0"),
    (swapped(1, type=RANK, target=2, value=1), "action 1: player 0 gives a hint to player 2"),
    (swapped(1, type=RANK, target=1, value=0), "action 1: the value 0 of a hint is out of range"),
    (swapped(1, type=RANK, target=1, value=6), "action 1: the value 6 of a hint is out of range"),
    (swapped(1, type=COLOR, target=1, value=5), "action 1: the value 5 of a hint is out of range"),
    (swapped(1, type=COLOR, target=1), "action 1: the value None of a hint is out of range"),
    (swapped(1, type=6), "action 1: its type 6 is unknown"),
    (swapped(1, type=-1), "action 1: its type -1 is unknown"),
    (swapped(1, type=END, target=0, value=4), "action 2 comes after the end of the game"),
    (swapped(1, type=END, target=2, value=4), "action 1: there is no player 2"),
    (swapped(1, type=END, target=0, value=99), "action 1: it ends the game for the unknown reason 99"),
    (
        changed(("actions",), [*game_of(2)[0]["actions"], {"type": PLAY, "target": 0}]),
        " comes after the end of the game",
    ),
]


@pytest.mark.parametrize(("game", "says"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_what_is_refused(game, says, written, command, tmp_path):
    """One line that names file and fault, exit code 2, nothing written."""
    path = written(game)
    for word, target in (("show", []), ("check", []), ("convert", [tmp_path / "out.jsonl"])):
        code, out, err = command("records", word, path, *target)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"error: {path}: ") and says in err
    assert [p.name for p in tmp_path.iterdir()] == ["game.json"]


def test_a_hint_that_names_no_card():
    game = deepcopy(game_of(2)[0])
    held = {card["rank"] for card in game["deck"][5:10]}
    free = next(rank for rank in range(1, 6) if rank not in held)
    game["actions"][0] = {"type": RANK, "target": 1, "value": free}
    with pytest.raises(TrickformerError, match=r"^action 1: the rank hint of player 0 is against the rules$"):
        hanab_live.parse(json.dumps(game))


def test_the_case_of_public_reports(command):
    path = shared_file("cases", "hanab-tiny.json")
    assert command("records", "check", path) == (2, "", f"error: {path}: the deck has 2 of 50 cards\n")


def test_forms_of_a_file(written, command, tmp_path):
    """On one line or on many, behind a byte order mark, compressed; and many games, one a line."""
    games = [game_of(seed)[0] for seed in range(3)]
    expected = [hanab_live.parse(json.dumps(game)) for game in games]
    texts = [json.dumps(games[0]), json.dumps(games[0], indent=2), json.dumps(games[0], indent="\t") + "\n\n"]
    texts += [text.replace("{", "{\n", 1) for text in texts[:1]] + [text.replace("],", "],\n") for text in texts[:1]]
    for text in texts:
        assert list(files.read(written(text))) == expected[:1]
        (tmp_path / "marked").write_bytes(codecs.BOM_UTF8 + text.encode())
        (tmp_path / "packed").write_bytes(gzip.compress(text.encode()))
        assert list(files.read(tmp_path / "marked")) == list(files.read(tmp_path / "packed")) == expected[:1]
    several = written("".join(json.dumps(game) + "\n" for game in games), "several.jsonl")
    assert list(files.read(several)) == expected
    broken = games[1] | {"deck": games[1]["deck"][:9]}
    several = written("\n".join(map(json.dumps, (games[0], broken, games[2]))), "several.jsonl")
    code, out, _ = command("records", "check", several)
    assert code == 1 and out.startswith("damaged: game 2: the deck has 9 of 50 cards\n3 games: 2 agree, ")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{\n "players": [', ": not a JSON object: "),
        ('{\n "a": 1\n}', " holds no game of hanab.live, which has `players`, `deck` and `actions`"),
        ("{\n" + " " * (files.MAX_LINE + 1), ": not a JSON object: a line has more than 1 MiB"),
        ("{\n" + ("\n" + " " * (1 << 19)) * 8, ": not a JSON object: it has more than 4 MiB"),
        ("{\n" + '"a": ' + "[" * 100_000, ": not a JSON object: "),
        ('{\n"a": "\udcff"}', ": not text in UTF-8"),
    ],
)
def test_other_json_files(text, says, tmp_path, command):
    path = tmp_path / "game.json"
    path.write_text(text, errors="surrogateescape")
    code, out, err = command("records", "convert", path, tmp_path / "out.jsonl")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"error: {path}{says}")
    assert [p.name for p in tmp_path.iterdir()] == ["game.json"]


def test_games_of_our_tournaments_go_there(command, tmp_path):
    """One game a file, chosen by its number; what comes back is the same game."""
    for players in (2, 4):
        folder = tmp_path / f"run-{players}"
        game = "hanabi" if players == 2 else f"hanabi(players={players})"
        run.tournament(Tournament(game=game, a="partner", b="random", deals=2, seed=3, out=folder))
        records = list(files.read(folder / "records.jsonl"))
        for number, record in enumerate(records, 1):
            target = tmp_path / f"{players}-{number}.json"
            code, out, _ = command("records", "convert", folder, target, "--game", number)
            assert (code, out) == (0, f"1 game written to {target}\n")
            (back,) = files.read(target)
            same = ("rules", "names", "history", "moves", "scores")
            assert [getattr(back, key) for key in same] == [getattr(record, key) for key in same]
            assert len(json.loads(target.read_text())["deck"]) == 50
            assert list(json.loads(target.read_text())) == ["players", "deck", "actions", "options"]
        code, out, err = command("records", "convert", folder, tmp_path / "all.json")
        says = f"error: {folder / 'records.jsonl'} holds several games, but .json holds one; choose it with --game\n"
        assert (code, out, err) == (2, "", says) and not (tmp_path / "all.json").exists()
        code, out, err = command("records", "convert", folder, tmp_path / "all.json", "--game", 99)
        assert (code, out) == (2, "") and "records.jsonl holds no game 99; it holds" in err


@pytest.mark.parametrize(
    "game", ["hearts", "hanabi(colors=3)", "hanabi(max_information_tokens=2)", "hanabi(hand_size=7)"]
)
def test_games_with_other_rules_are_not_written(game, command, tmp_path):
    run.tournament(Tournament(game=game, a="random", b="random", deals=1, seed=3, out=tmp_path / "run"))
    (record, *_) = files.read(tmp_path / "run" / "records.jsonl")
    code, out, err = command("records", "convert", tmp_path / "run", tmp_path / "a.json", "--game", 1)
    assert (code, out) == (2, "") and err.endswith(f"game 1: hanab.live has no {record.rules}\n")
    assert not (tmp_path / "a.json").exists()


def test_skat_is_not_written(command, tmp_path):
    code, out, err = command("records", "convert", GAMES, tmp_path / "a.json", "--game", 1)
    assert (code, out) == (2, "") and "game 1: hanab.live has only Hanabi, and this is a game of Skat" in err


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ({"early_end": None}, "its history stops before the end of the game"),
        ({"early_end": "5 terminates"}, "there is no seat 5"),
        ({"early_end": "nothing-left"}, "the record ends although a card could still be played"),
        ({"scores": (3, 3)}, "scores 3 3 in the record, 0 0 by the rules"),
    ],
)
def test_records_with_another_end_differ(entries, says):
    game = game_of(5, turns=20)[0]
    game["actions"].append({"type": END, "target": 1, "value": 4})
    record = hanab_live.parse(json.dumps(game)).model_copy(update=entries)
    finding = check(record, 1)
    assert (finding.status, finding.what) == ("differs", says)


def test_an_early_end_of_a_game_that_is_over():
    record = hanab_live.parse(json.dumps(game_of(5)[0])).model_copy(update={"early_end": "idle"})
    assert check(record, 1).what == "its history ends the game by the rules, but the record names an early end (idle)"
    line = jsonl.write(record).replace('"idle"', '"tired"')
    with pytest.raises(TrickformerError, match=r"^game 1: early_end: unknown early end$"):
        jsonl.LineReader().read(line, 1)


TEXTS = [json.dumps(game_of(seed, players)[0]) for seed, players in ((1, 2), (2, 3), (3, 5))] + [
    json.dumps(dead_game()[0])
]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(TEXTS), st.integers(0, 2**32 - 1))
def test_damaged_games_are_read_or_refused(text, seed):
    """Whatever is read can be checked, shown and written."""
    try:
        record = hanab_live.parse(damaged(text, seed))
    except TrickformerError as e:
        assert "\n" not in str(e) and str(e)
        return
    assert check(record, 1).status in ("agrees", "broken off")
    json.dumps(data(record, 1))
    assert hanab_live.parse(hanab_live.write(record)) == record
