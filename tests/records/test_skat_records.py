"""Records of Skat games: three notations, replay, and results recomputed."""

import json
import re

import pytest
from support.play import shared_file
from support.skat_records import GAMES, fixture_games, random_records
from support.xskat_log import TYPES, overstruck, xskat_log

from trickformer.base import TrickformerError
from trickformer.games.skat import CARDS
from trickformer.records import files, jsonl
from trickformer.records.skat import iss, xskat
from trickformer.records.skat.check import check, outcome, result
from trickformer.records.skat.record import SkatRecord
from trickformer.records.skat.replay import replay

# What each fixture game is worth, by hand: (contract, its value or loss, card points, tricks, status of the check).
BY_HAND = [
    ("clubs", 12 * (1 + 1), 64, 6, "agrees"),  # with one
    ("grand", -2 * 24 * (1 + 1 + 1), 30, 4, "agrees"),  # without one, schneider
    ("spades hand", 11 * (6 + 1 + 1 + 1), 99, 9, "agrees"),  # with six, hand, schneider
    ("grand hand schwarz", 24 * (4 + 1 + 1 + 2 + 2), 120, 10, "agrees"),  # with four, hand, both announced and made
    ("diamonds", -2 * 36, 66, 6, "agrees"),  # with one: 18, overbid at 36
    ("null", -2 * 23, 21, 1, "agrees"),
    ("null-ouvert hand", 59, 14, 0, "agrees"),
    ("clubs hand ouvert", -2 * 12 * (3 + 1 + 1 + 2 + 2 + 1), 37, 2, "agrees"),  # with three; the third trick decides
    (None, 0, 0, 0, "agrees"),  # all pass
    ("grand", 24 * (1 + 1 + 1), 116, 9, "agrees"),  # without one, schneider by the defenders' resignation
    ("hearts", 10 * (1 + 1), 71, 8, "broken off"),  # with one; a defender leaves
    (None, 0, 0, 0, "broken off"),  # times out in the auction
    ("hearts", -2 * 10 * (1 + 1), 56, 5, "agrees"),  # with one; one defender alone resigned
    ("null", -2 * 23, 14, 0, "agrees"),  # no trick, and not worth the 24 that were bid
    (
        "spades",
        -2 * 11 * (2 + 1 + 1 + 1),
        3,
        0,
        "broken off",
    ),  # without two, all tricks left are the defenders'; resigns
]
ORDERS = {"null": "789TJQKA", "other": "789QKTAJ"}
POINTS = dict(zip("789QKTAJ", (0, 0, 0, 3, 4, 10, 11, 2)))


def slow_winner(kind, cards):
    """Position of the card that takes a trick, by the rules as people say them."""
    null = kind.startswith("null")
    trump = {"diamonds": "D", "hearts": "H", "spades": "S", "clubs": "C"}.get(kind)

    def rank(card):
        if null:
            return (0 if card[0] != cards[0][0] else 1, ORDERS["null"].index(card[1]))
        if card[1] == "J":
            return (3, "DHSC".index(card[0]))
        lead_is_trump = cards[0][1] == "J" or cards[0][0] == trump
        follows = not lead_is_trump and card[0] == cards[0][0]
        return (2 if card[0] == trump else 1 if follows else 0, ORDERS["other"].index(card[1]))

    return max(range(3), key=lambda i: rank(cards[i]))


@pytest.mark.parametrize(("number", "by_hand"), list(enumerate(BY_HAND, 1)))
def test_results_of_the_fixtures_by_hand(number, by_hand):
    record = fixture_games()[number - 1]
    declared, value, points, tricks, status = by_hand
    found = replay(record)
    ended = outcome(found)
    assert record.contract == declared
    assert found.fault is None
    assert (ended.value, ended.points, ended.tricks) == (value, points, tricks) if ended else record.result == "passed"
    assert ended is None or ended.won == (value > 0)
    assert result(found) == record.result
    assert check(record, number).status == status


def test_every_fixture_is_judged_by_hand():
    assert len(fixture_games()) == len(BY_HAND)


@pytest.mark.parametrize("number", range(len(BY_HAND)))
def test_tricks_of_the_fixtures_by_the_slow_way(number):
    record = fixture_games()[number]
    found = replay(record)
    points = 0
    for trick in found.tricks:
        cards = [CARDS[card] for card in trick.cards]
        assert trick.winner == (trick.leader + slow_winner(record.contract.split()[0], cards)) % 3
        assert trick.points == sum(POINTS[card[1]] for card in cards)
        points += trick.points * (trick.winner == found.soloist)
    assert points == found.state.soloists_points
    leaders = [trick.leader for trick in found.tricks]
    assert leaders == [0, *(trick.winner for trick in found.tricks)][: len(leaders)]


def test_the_fixtures_are_written_as_they_were_read():
    text = GAMES.read_text()
    records = fixture_games()
    assert "".join(iss.write(record) + "\n" for record in records) == text
    lines = [jsonl.write(record) for record in records]
    assert [jsonl.parse(line, 1) for line in lines] == records


def test_random_games_in_both_notations():
    """What is written is read again as it was, and scores as the core has it."""
    for record, score in random_records(seed=3, n=300):
        found = replay(record)
        ended = outcome(found)
        assert found.fault is None
        assert found.state.is_terminal()
        value = ended.value if ended else 0
        own = value + (0 if not ended else 50 if ended.won else -50)
        others = 40 if ended and not ended.won else 0
        assert score == [own if seat == found.soloist else others for seat in range(3)]
        told = record.model_copy(update={"result": result(found)})
        assert check(told, 1).status == "agrees"
        for form in (iss, jsonl):
            assert form.parse(form.write(told), 1) == told


@pytest.mark.parametrize(
    ("words", "kept"),
    [("CHZ", None), ("CHSZ", "CHSZ"), ("CZH", "CZH"), ("CO", "COSZH"), ("CHO", "CHO"), ("NOH", None), ("NHO", "NHO")],
)
def test_words_of_a_declaration(words, kept):
    """Every order of the letters is read; what we would not write ourselves is kept."""
    line = GAMES.read_text().splitlines()[7 if words[0] == "C" else 6]
    old = " CO " if words[0] == "C" else " NOH "
    assert old in line
    given = line.replace(old, f" {kept or words} ")
    record = iss.parse(given, 1)
    assert record.declared == (kept if kept not in (None, old.strip()) else None)
    assert iss.write(record) == given


def test_discards_in_a_move_of_their_own():
    line = GAMES.read_text().splitlines()[12]
    record = iss.parse(line, 1)
    first, second = record.declared.split(" ")
    assert first == "H"
    one = iss.parse(line.replace(f"0 {first} 0 {second}", f"0 {first}.{second}"), 1)
    assert one.declared is None
    assert one.moves == record.moves
    other = line.replace(f"0 {first} 0 {second}", f"0 {second} 0 {first}")
    assert iss.write(iss.parse(other, 1)) == other


def test_a_time_out_between_a_declaration_and_its_discards():
    """Nothing is declared then by the rules; the words are not lost."""
    line = GAMES.read_text().splitlines()[12]
    start = line.index(" 0 H ")
    cut = line[:start] + " 0 H w TI.0 ]R[d:0 loss v:-1 m:0 bidok p:0 t:0 s:0 z:0 p0:0 p1:0 p2:0 l:-1 to:0 r:0] ;)"
    record = iss.parse(cut, 1)
    assert (record.contract, record.declared, record.moves[-1]) == (None, "H", "0 times-out")
    assert iss.write(record) == cut
    finding = check(record, 1)
    assert finding.status == "broken off"
    assert "seat 0 timed out" in str(finding)
    assert "v:-240 m:-11 bidok p:5 t:0" in str(finding)


@pytest.mark.parametrize("forehand", [0, 1, 2])
def test_logs_of_xskat(forehand):
    """The computers sit in fixed columns, the deal goes round: forehand is who led to the first trick."""
    plain = [0, 2, 3, 4, 5, 6, 8, 13]  # games that were played to their end
    records = [fixture_games()[i] for i in plain]
    text = "".join(xskat_log(record, forehand, number) for number, record in enumerate(records))
    found = [game() for game in xskat.games(iter([*text.splitlines(), "40 -12 0"]))]
    assert len(found) == len(records)
    for number, (told, record) in enumerate(zip(found, records)):
        assert told.names == record.names
        assert [set(told.deck[i : i + 10]) for i in (0, 10, 20, 30)] == [
            set(record.deck[i : i + 10]) for i in (0, 10, 20, 30)
        ]
        assert told.contract == record.contract
        played = replay(told)
        assert [t.cards for t in played.tricks] == [t.cards for t in replay(record).tricks]
        assert check(told, number).status == "agrees"
        assert jsonl.parse(jsonl.write(told), 1) == told


def test_what_differs_in_a_log_is_found():
    text = xskat_log(fixture_games()[0])
    (record,) = (game() for game in xskat.games(iter(text.splitlines())))
    winners = (*record.winners[:4], (record.winners[4] + 1) % 3, *record.winners[5:])
    finding = check(record.model_copy(update={"winners": winners}), 1)
    assert finding.status == "differs"
    assert record.moves[finding.move - 1][2:] == CARDS[replay(record).tricks[4].cards[-1]]
    assert "trick 5 goes to seat" in finding.what
    assert "result 'won 65'" in check(record.model_copy(update={"result": "won 65"}), 1).what


def test_filler_after_a_lost_null_is_no_play():
    """A null ends at the soloist's first trick; rows after it may lay down what was left."""
    record = fixture_games()[5]
    lines = xskat_log(record).splitlines()
    seed = next(i for i, line in enumerate(lines) if "random_seed" in line)
    (told,) = (game() for game in xskat.games(iter([*lines[:seed], *lines[3:5], *lines[seed:]])))
    assert len(told.winners) == 4
    assert check(told, 1).status == "agrees"


@pytest.mark.parametrize(
    ("old", "new", "move", "what"),
    [
        ("v:24 m:1", "v:48 m:1", None, "v:48 m:1 bidok p:64"),
        ("p:64", "p:65", None, "p:65"),
        ("1 18 0 p 2 p", "1 18 2 p 0 p", 2, "it is the turn of seat 0 (2 pass)"),
        ("1 18 0 p 2 p", "1 18 0 p 0 p", 3, "it is the turn of seat 2 (0 pass)"),
        ("1 18 0 p 2 p", "1 18 0 p 2 18", 3, "18 is not allowed in the auction (2 18)"),
    ],
)
def test_what_differs_is_named(old, new, move, what):
    line = GAMES.read_text().splitlines()[0]
    assert old in line
    finding = check(iss.parse(line.replace(old, new), 1), 7)
    assert (finding.game, finding.status, finding.move) == (7, "differs", move)
    assert what in str(finding)


def test_a_revoke_and_a_card_that_is_not_held_are_named():
    record = fixture_games()[0]
    found = replay(record)
    start = next(i for i, move in enumerate(record.moves) if move.endswith("clubs")) + 1
    revokes = absent = 0
    for at in range(start, len(record.moves)):
        before = replay(record.model_copy(update={"moves": record.moves[:at]}))
        seat = before.state.current_player()
        held = set(before.state.hand(seat))
        legal = set(before.state.legal_actions())
        for card in range(32):
            moves = (*record.moves[:at], f"{seat} {CARDS[card]}")
            fault = replay(record.model_copy(update={"moves": moves})).fault
            if card in legal:
                assert fault is None
            elif card in held:
                revokes += 1
                assert fault == (at + 1, f"{CARDS[card]} does not follow suit")
            else:
                absent += 1
                assert fault == (at + 1, f"{CARDS[card]} is not in hand")
    assert found.fault is None
    assert revokes > 0
    assert absent > 0


@pytest.mark.parametrize(
    ("moves", "why"),
    [
        (("0 resigns",), "resigns before a game is declared"),
        (("1 leaves", "0 pass"), "a move after the game was given up"),
        (("1 unknown", "1 18"), "follows a card that is missing from the record"),
        (("1 pass", "2 pass", "0 pass", "0 18"), "a move after the end of the game"),
        (("1 18", "0 pass", "2 pass", "1 grand"), "declares before the skat is picked up"),
        (("1 18", "0 pass", "2 pass", "1 pick-up", "1 grand"), "grand is not allowed in laying away"),
    ],
)
def test_moves_out_of_order(moves, why):
    record = fixture_games()[0].model_copy(update={"moves": moves, "contract": None})
    found = replay(record)
    assert found.fault[0] == len(moves)
    assert why in found.fault[1]


def test_a_record_that_just_stops_differs():
    for record in fixture_games()[:8]:
        finding = check(record.model_copy(update={"moves": record.moves[:-3]}), 1)
        assert finding.status == "differs"
        assert finding.what == "the moves stop before the end of the game"


def test_a_defender_alone_cannot_resign_and_both_give_all_that_is_left():
    """At every point of the play: what the soloist has then is all but what the defenders have taken."""
    record = fixture_games()[0]
    start = next(i for i, move in enumerate(record.moves) if move.endswith("clubs")) + 1
    for at in range(start, len(record.moves)):
        moves = (*record.moves[:at], "0 resigns")
        one = replay(record.model_copy(update={"moves": moves}))
        assert one.gives_up is None
        assert outcome(one) is None
        both = replay(record.model_copy(update={"moves": (*moves, "2 resigns")}))
        ended = outcome(both)
        against = sum(trick.points for trick in both.tricks if trick.winner != 1)
        assert (ended.points, ended.resigned) == (120 - against, True)
        assert ended.tricks == 10 - sum(trick.winner != 1 for trick in both.tricks)
        assert ended.won == (ended.points >= 61)


@pytest.mark.slow
def test_a_soloist_who_resigns_leaves_the_rest_to_the_defenders():
    """He has won with 61 points. What they then have makes schneider and schwarz, but not before the first trick is
    over; who leaves or runs out of time loses by what was reached."""
    seen = set()
    for record, _ in random_records(seed=5, n=400):
        found = replay(record)
        if found.soloist < 0 or found.state.kind > 4:
            continue
        base = (9, 10, 11, 12, 24)[found.state.kind]
        announced = (0, 2, 4, 5)[found.state.level]  # schneider and schwarz count twice: as announced, and as made
        start = found.tricks[0].move - 3
        for at in range(start, len(record.moves), 2):
            for how in ("resigns", "leaves"):
                broken = replay(record.model_copy(update={"moves": (*record.moves[:at], f"{found.soloist} {how}")}))
                ended = outcome(broken)
                tricks = broken.state.soloists_tricks
                assert (ended.points, ended.tricks) == (broken.points, tricks)
                left = how == "resigns" and broken.tricks
                against = 120 - broken.points if left else broken.defenders_points
                made = max(broken.points, against) >= 90
                schwarz = bool(left) and tricks == 0
                assert (ended.schneider, ended.schwarz) == (made, schwarz or len(broken.tricks) - tricks == 10)
                seen.add((how, ended.won, made, schwarz, bool(broken.tricks)))
                if announced or ended.overbid:
                    continue
                levels = abs(ended.matadors) + 1 + found.state.is_hand + made + schwarz
                value = base * levels
                if ended.won:
                    assert broken.points >= 61 and ended.value == value >= broken.bid
                else:
                    assert broken.points < 61 and ended.value == -2 * value
    assert {
        ("resigns", won, made, schwarz, True) for won, made, schwarz in ((0, 1, 1), (0, 1, 0), (0, 0, 0), (1, 0, 0))
    } <= seen
    assert ("resigns", False, False, False, False) in seen and ("leaves", False, False, False, True) in seen


def test_a_contract_must_be_that_of_the_moves():
    line = jsonl.write(fixture_games()[0])
    with pytest.raises(TrickformerError, match="game 4: the contract 'grand' does not match the moves"):
        jsonl.parse(line.replace('"contract":"clubs"', '"contract":"grand"'), 4)


def test_twelve_games_of_the_skat_server():
    path = shared_file("skat", "iss_games.sgf")
    records = list(files.read(path))
    assert len(records) == 12
    assert [result(replay(record)) for record in records] == [record.result for record in records]
    assert "".join(iss.write(record) + "\n" for record in records) == path.read_text()
    assert [jsonl.parse(jsonl.write(record), 1) for record in records] == records
    findings = [check(record, n) for n, record in enumerate(records, 1)]
    assert [finding.status for finding in findings] == ["broken off" if n == 5 else "agrees" for n in range(1, 13)]


def test_four_hundred_games_of_xskat():
    records = list(files.read(shared_file("skat", "xskat_games.log")))
    assert len(records) == 400
    assert [str(f) for f in (check(r, n) for n, r in enumerate(records, 1)) if f.status != "agrees"] == []
    assert sum(len(record.winners or ()) for record in records) == 3940  # 394 games were played
    assert all(isinstance(record, SkatRecord) and record.source == "xskat" for record in records)


@pytest.mark.parametrize("pack", TYPES, ids="-".join)
def test_logs_of_xskat_in_both_languages_and_packs(pack, tmp_path, command):
    """A German log tells the games that an English one tells; XSkat writes its umlaut in Latin-1."""
    plain = [fixture_games()[i] for i in (0, 1, 2, 3, 4, 5, 6, 8, 13)]
    for encoding in ("utf-8", "latin-1"):
        told = []
        for type_ in (TYPES[0], pack):
            text = "".join(xskat_log(record, n % 3, n, type_) for n, record in enumerate(plain))
            (tmp_path / "log").write_bytes(text.encode(encoding))
            told.append(list(files.read(tmp_path / "log")))
        assert told[0] == told[1] and len(told[0]) == len(plain)
        code, out, _ = command("records", "check", tmp_path / "log")
        assert code == 0 and out.endswith("9 games: 9 agree, 0 broken off, 0 differ, 0 damaged\n")


def read_log(text):
    return [game() for game in xskat.games(iter(text.split("\n")))]


@pytest.mark.parametrize("pack", TYPES, ids="-".join)
def test_logs_that_are_overstruck(pack):
    """`xskat -fmt`: the games are those of the plain log."""
    for number, record in enumerate(fixture_games()[i] for i in (0, 1, 2, 3, 4, 5, 6, 8, 13)):
        said = () if record.contract is None else ((replay(record).soloist + 1) % 3,)
        text = xskat_log(record, number % 3, number, pack, said)
        assert overstruck(text).count("\b") >= (6 if record.contract is None else 20)
        assert read_log(overstruck(text)) == read_log(text)


@pytest.mark.parametrize("forehand", [0, 1, 2])
def test_a_person_sits_with_computers_of_one_name(forehand):
    """Two rows of names: `Player1 Computer Computer`, `left right`. The soloist is named in full."""
    record = fixture_games()[0]
    for soloist in range(3):
        names = [("Player1", "Computer left", "Computer right")[(seat - soloist) % 3] for seat in range(3)]
        second = [name.partition(" ")[2] for name in names]
        (told,) = read_log(xskat_log(record.model_copy(update={"names": tuple(names)}), forehand, second=second))
        assert told.names == tuple(names) and told.contract == record.contract
        assert check(told, 1).status == "agrees"


def test_players_of_one_name_are_told_apart_or_refused():
    record = fixture_games()[0]
    soloist = replay(record).soloist
    twins = tuple("x" if seat == soloist else "y" for seat in range(3))
    (told,) = read_log(xskat_log(record.model_copy(update={"names": twins})))
    assert told.names == twins
    twins = tuple("x" if seat == (soloist + 1) % 3 else "y" for seat in range(3))
    with pytest.raises(TrickformerError, match=r"^game 1, line \d+: 'y' is the name of 2 players$"):
        read_log(xskat_log(record.model_copy(update={"names": twins})))


KONTRA_BY_HAND = [  # (fixture, seats that said it, their tags, the value)
    (0, (2,), {"kontra": "2"}, 2 * 24),
    (0, (2, 1), {"kontra": "2", "re": "1"}, 4 * 24),
    (1, (), {}, -2 * 24 * 3),
    (1, ("left",), {"kontra": "left"}, -4 * 24 * 3),
    (5, ("left", "own"), {"kontra": "left", "re": "own"}, -8 * 23),
]


@pytest.mark.parametrize(("fixture", "said", "tags", "value"), KONTRA_BY_HAND)
@pytest.mark.parametrize("write", [str, overstruck], ids=["plain", "fmt"])
def test_kontra_and_re_double_the_value(fixture, said, tags, value, write):
    record = fixture_games()[fixture]
    soloist = replay(record).soloist
    seats = {"own": soloist, "left": (soloist + 1) % 3} | {seat: seat for seat in range(3)}
    for forehand in range(3):
        (told,) = read_log(write(xskat_log(record, forehand, said=[seats[seat] for seat in said])))
        expected = {key: str(seats.get(seat, seat)) for key, seat in tags.items()}
        assert {key: told.tags[key] for key in ("kontra", "re") if key in told.tags} == expected
        assert outcome(replay(told)).value == value
        finding = check(told, 1)
        assert finding.status == "agrees" and finding.what == ""
        assert [f"the value is {value}" in note for note in finding.notes] == [True] * bool(said)
        assert told.names == record.names


def test_kontra_out_of_turn():
    """The soloist says Re after Kontra, and a defender nothing after it."""
    record = fixture_games()[0]
    soloist = replay(record).soloist
    for said in ((soloist,), tuple({0, 1, 2} - {soloist}), (0, 1, 2)):
        with pytest.raises(
            TrickformerError, match="Kontra must come from one defender, and Re from the soloist after it"
        ):
            read_log(xskat_log(record, said=said))
    for tags in ({"kontra": str(soloist)}, {"re": str(soloist)}, {"kontra": "7"}, {"kontra": "2", "re": "0"}):
        finding = check(record.model_copy(update={"tags": tags}), 1)
        assert (finding.status, finding.what) == (
            "differs",
            "Kontra must come from a defender, and Re from the soloist after it",
        )


def test_a_null_that_is_claimed():
    """The rest lies down unmarked: the defenders give up."""
    record = fixture_games()[6]
    lines = xskat_log(record).split("\n")
    lines[6:13] = [line.replace("_", " ").title() for line in lines[6:13]]
    (told,) = read_log("\n".join(lines))
    assert len(told.winners) == 3 and [move[2:] for move in told.moves[-2:]] == ["resigns", "resigns"]
    finding = check(told, 1)
    assert (finding.status, outcome(replay(told)).value) == ("agrees", 59)


def test_a_game_of_a_file_of_games_has_no_seed():
    text = re.sub(r"---- random_seed.*", "-" * 40, xskat_log(fixture_games()[0]))
    (told,) = read_log(text)
    assert set(told.tags) == {"names"} and check(told, 1).status == "agrees"
    (told,) = read_log(xskat_log(fixture_games()[0]).replace(" 1 ---", " 1 L ---"))
    assert told.tags["dealer"]


HOUSE_RULES = [  # (what stands in the log, what instead, the rule)
    (r"\nLast bid: \d+", "", "Bock"),
    (r"\n\w+ played \w+\n", "\nada lost the Ramsch\n", "Ramsch"),
    (r"\n\w+ played \w+\n", "\nNobody lost the Ramsch\n", "Ramsch"),
    (r"\n\w+ played \w+\n", "\nada gewann den Ramsch\n", "Ramsch"),
    (r"\n(\w+) played \w+\n", r"\n\1 played Revolution\n", "Revolution"),
    (r"Club \w+ ", "Spitze ! ", "Spitze"),
    (r"CLUB \w+ ", "SPITZE ! ", "Spitze"),
    (r"Club_\w+ ", "Spitze_! ", "Spitze"),
    (r"(?s)(-{40}\n).*?(----)", r"\1  Schenken    Accept      Schenken    \n\2", "Schenken"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "rule"), HOUSE_RULES)
@pytest.mark.parametrize("write", [str, overstruck], ids=["plain", "fmt"])
def test_games_by_house_rules_are_named(old, new, rule, write, command, tmp_path):
    """They are counted by themselves, and are no damage."""
    text = xskat_log(fixture_games()[0])
    house = re.sub(old, new, text, count=1)
    assert house != text
    (tmp_path / "log").write_text(write(xskat_log(fixture_games()[0]) + house + xskat_log(fixture_games()[2])))
    code, out, err = command("records", "check", tmp_path / "log")
    assert (code, err) == (0, "")
    counts = "3 games: 2 agree, 0 broken off, 0 differ, 0 damaged, 1 not ISkO\n"
    assert out == f"game 2: {rule} is a house rule, not in the international rules (ISkO)\n" + counts
    found = json.loads(command("records", "check", tmp_path / "log", "--json")[1])
    assert (found["damaged"], found["not ISkO"], found["findings"][0]["what"]) == (0, 1, rule)
    code, out, err = command("records", "convert", tmp_path / "log", tmp_path / "out.jsonl")
    assert (code, out, err) == (
        2,
        "",
        f"error: {tmp_path / 'log'}, game 2: {rule} is a house rule, not in the international rules (ISkO)\n",
    )
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("name", ["xskat-person", "xskat-formatted", "xskat-kontra", "xskat-ramsch"])
def test_logs_of_public_reports(name, command):
    """The cases xskat-person, xskat-options and xskat-house-rules."""
    path = shared_file("cases", f"{name}.log")
    code, out, err = command("records", "check", path)
    assert (code, err) == (0, "")
    if name == "xskat-ramsch":
        assert out.startswith("game 1: Ramsch is a house rule")
        assert out.endswith("\n1 game: 0 agree, 0 broken off, 0 differ, 0 damaged, 1 not ISkO\n")
        return
    assert out.endswith("1 game: 1 agrees, 0 broken off, 0 differ, 0 damaged\n")
    (record,) = files.read(path)
    expected = {  # by hand: with two, with one or without two matadors, won or lost; Kontra doubles
        "xskat-person": ("diamonds", 18, "won 73", 9 * (1 + 1), {}),
        "xskat-formatted": ("diamonds", 18, "won 67", 9 * (1 + 1), {}),
        "xskat-kontra": ("spades", 18, "lost 56", -2 * 2 * 11 * (2 + 1), {"kontra": "0"}),
    }[name]
    kontra = {key: record.tags[key] for key in ("kontra", "re") if key in record.tags}
    found = (record.contract, record.bid, record.result, outcome(replay(record)).value, kontra)
    assert found == expected
    code, out, err = command("records", "show", path, "--json")
    assert (code, err, json.loads(out)["games"][0]["value"]) == (0, "", expected[3])
    shown = " ".join(command("records", "show", path)[1].split())
    assert f"Result: {expected[2].split()[0]}, value {expected[3]} (" in shown
    assert f"XSkat result: {expected[2]} Check: agrees" in shown
    assert ("Seeger" in shown) == (not kontra), "the scores of Kontra and Re are not defined"


# A record of the server's: the soloist says clubs and runs out of time before he lays cards away.
TIMED_OUT = (
    "(;GM[Skat]PC[International Skat Server]SE[470016]ID[10330141]P0[a]P1[b]P2[c]R0[]R1[0.0]R2[]MV[w "
    "SK.C7.CK.S9.SQ.HA.S7.H9.HQ.DT.S8.C8.H8.SJ.SA.C9.CQ.CJ.HJ.D9.D8.CA.DQ.DJ.ST.D7.HK.DK.HT.CT.DA.H7 1 18 0 p 2 "
    "20 1 y 2 22 1 y 2 23 1 y 2 24 1 y 2 p 1 s w DA.H7 1 {} w TI.1 ]R[d:1 loss v:{} m:{} bidok p:11 t:0 s:0 z:0 "
    "p0:0 p1:0 p2:0 l:-1 to:1 r:0] ;)"
)


@pytest.mark.parametrize(
    ("word", "value", "matadors"),
    [("C", -288, -11), ("G", -2 * 24 * 5, -4), ("D", -2 * 9 * 12, -11), ("NO", -92, 0)],
)
def test_a_soloist_who_runs_out_of_time_before_he_lays_cards_away(word, value, matadors):
    """No card of his counts as a matador: he holds the jack of clubs, and loses clubs without eleven."""
    record = iss.parse(TIMED_OUT.format(word, value, matadors), 1)
    assert result(replay(record)) == record.result
    finding = check(record, 1)
    assert (finding.status, finding.what, finding.notes) == ("broken off", "seat 1 timed out", ())
