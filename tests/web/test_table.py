"""A table against tournaments: the same deals, the same decisions, whoever sits there."""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import signal
import subprocess
import sys

import pytest
from support.records import kept

from trickformer import games, players
from trickformer.base import TrickformerError
from trickformer.games.crew import RADIO_CARD
from trickformer.plumbing import digests
from trickformer.plumbing.terminal import console
from trickformer.records import files
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play
from trickformer.web import scenes, terminal
from trickformer.web.cast import Cast, make_request
from trickformer.web.config import YOU, Play
from trickformer.web.table import JOURNAL, RECORDS, Table, open_table

SPECS = ["hearts", "skat", "crew(mission=9)", "crew(mission=4,distress=left)", "hanabi", "hanabi(players=3)", "mines"]


def _seats(game, own=0):
    return tuple(YOU if seat == own else "random" for seat in range(game.players))


def _play_on(table, cast, history):
    """The hand to its end; a person does what is on record."""
    while table.turn is not None:
        if table.seats[table.turn] == YOU:
            table.act(table.turn, history[len(table.state.history())])
        else:
            found = cast.decide(make_request(table))
            table.act(table.turn, found.decision.action, found.decision, found.seconds)


@pytest.mark.parametrize("spec", SPECS)
def test_a_hand_at_the_table_is_that_of_a_tournament(spec):
    game = games.load(spec)
    hands = [Hand(deal, (0,) * game.players) for deal in (3, 4)]
    records = {r.deal: r for r in play(game, [players.make("random", game)], hands, seed=7)}
    own = game.players - 1
    table, cast = Table(game, _seats(game, own), 7, 3), Cast(game)
    _play_on(table, cast, records[3].history)
    assert tuple(table.state.history()) == records[3].history
    table.next_deal()
    _play_on(table, cast, records[4].history)
    first = records[3].scores
    if game.rotates:  # who had seat 0 has the last one now
        first = (*first[1:], first[0])
    assert [(e.deal, e.scores) for e in table.hands] == [(3, first), (4, records[4].scores)]
    assert table.totals == tuple(a + b for a, b in zip(first, records[4].scores))


def test_players_of_skat_are_forehand_in_turn(tmp_path):
    out = tmp_path / "table"
    settings = Play(game="skat", opponents=["random", "rules"], seed=3, out=out)
    with open_table(settings, resume=False) as table:
        draw, seats = random.Random(1), []
        for _ in range(4):
            seats.append(table.seats)
            while table.turn is not None:
                table.act(table.turn, draw.choice(table.state.legal_actions()))
            table.next_deal()
        left = table.seats, table.totals, table.hands
    forehand = [YOU, "random", "rules", YOU]
    assert [who[0] for who in seats] == forehand
    assert all(who.index("random") == (who.index(YOU) + 1) % 3 for who in seats)  # the left neighbour stays
    scores = dict.fromkeys(forehand, 0)  # what each player won, from the records alone
    for record in (json.loads(line) for line in (out / RECORDS).read_text().splitlines()):
        for player, score in zip(record["seating"], record["scores"]):
            scores[(YOU, "random", "rules")[player]] += score
    with open_table(settings, resume=True) as table:
        assert (table.seats, table.totals, table.hands) == left
        assert dict(zip(table.seats, table.totals)) == scores and any(scores.values())
        assert [table.seats[table.seat_now(seat)] for seat in range(3)] == [YOU, "random", "rules"]


def test_a_match_of_an_earlier_version_keeps_its_seats(tmp_path):
    """Its journal says nothing of other seats."""
    out = tmp_path / "table"
    with open_table(_settings(out), resume=False) as table:
        table.next_deal()
    journal = (out / JOURNAL).read_bytes()
    assert b'"rotates":true' in journal
    earlier = journal.replace(b',"rotates":true', b"")
    (out / JOURNAL).write_bytes(earlier)
    sums = [digests.line_digest(line) for line in earlier.splitlines(keepends=True)]
    (out / f"{JOURNAL}.sums").write_bytes(b"".join(sums))
    with open_table(_settings(out), resume=True) as table:
        assert table.deal == 1 and table.seats == (YOU, "random", "random")


def _continues_decision(game, state):
    """Whether the person's last action is part of the decision on turn: a passed or discarded card, or a label."""
    if game.name == "hearts":
        direction, *_ = state.history()
        passed = [step.player for step in state.full_history()[53:65]]
        return direction != 0 and len(passed) < 12 and state.current_player() in passed
    if game.name == "skat":
        return state.phase == "discard" and len(state.skat) == 1
    return game.name == "crew" and state.core.phase == RADIO_CARD


@pytest.mark.parametrize("spec", SPECS)
def test_moves_are_taken_back_and_made_again(spec):
    game = games.load(spec)
    table, cast = Table(game, _seats(game), 1, 1), Cast(game)
    before = []
    while table.turn is not None:
        if table.seats[table.turn] == YOU:
            if not _continues_decision(game, table.state):
                before.append(str(table.state.history()))
            table.act(table.turn, table.state.legal_actions()[-1])
        else:
            found = cast.decide(make_request(table))
            table.act(table.turn, found.decision.action, found.decision)
    end = table.state.history()
    for known in reversed(before):
        table.undo()
        assert str(table.state.history()) == known
    with pytest.raises(TrickformerError, match="no decision of yours"):
        table.undo()
    _play_on(table, cast, end)
    assert table.state.history() == end


def test_what_is_not_allowed_changes_nothing(hearts):
    table = Table(hearts, _seats(hearts), 1, 1)
    before = table.state.history()
    for wrong in (lambda: table.act(1, 0), lambda: table.act(0, 99), lambda: table.begin(("random",) * 4, 0)):
        with pytest.raises(TrickformerError):
            wrong()
    assert table.state.history() == before
    assert table.seats == _seats(hearts)


def _settings(out, **more):
    return Play(game="skat", opponents=["random"], seed=3, out=out, **more)


def test_a_table_comes_back_whole(tmp_path):
    out = tmp_path / "table"
    with open_table(_settings(out), resume=False) as table:
        cast = Cast(table.game)
        (record,) = play(table.game, [players.make("random", table.game)], [Hand(0, (0, 0, 0))], seed=3)
        _play_on(table, cast, record.history)
        table.next_deal()
        (me,) = table.people
        while table.turn != me:
            found = cast.decide(make_request(table))
            table.act(table.turn, found.decision.action, found.decision)
        table.act(me, table.state.legal_actions()[0])
        table.undo()
        left = table.state.history(), table.totals, table.hands, table.deal, table.hand_count
    with (out / JOURNAL).open("ab") as journal:
        journal.write(b'{"do":"act","seat":0,"acti')  # what a kill leaves of a line
    (out / RECORDS).write_text("")  # and where it comes between a step and its records
    with open_table(_settings(out), resume=True) as table:
        assert (table.state.history(), table.totals, table.hands, table.deal, table.hand_count) == left
        assert table.hand_count == 2
        table.begin(table.seats, table.deal)
        assert table.hand_count == 3
    lines = (out / RECORDS).read_text().splitlines()
    assert [json.loads(line)["history"] for line in lines] == [list(record.history)]
    (found,) = files.read(out / RECORDS)
    assert found.names == (YOU, "random", "random")
    with pytest.raises(TrickformerError, match="--resume"), open_table(_settings(out), resume=False):
        pass
    with (
        pytest.raises(TrickformerError, match="--seed 3, not --seed 4"),
        open_table(_settings(out).model_copy(update={"seed": 4}), True),
    ):
        pass


def test_a_table_goes_on_if_its_records_cannot_be_written(tmp_path, monkeypatch, capsys):
    """The journal has the step by then, so the step counts. The next step writes the list of players."""
    out = tmp_path / "table"

    def full(*_):
        raise TrickformerError("the disk is full")

    with open_table(_settings(out), resume=False) as table:
        with monkeypatch.context() as patched:
            patched.setattr("trickformer.plumbing.folder.RunFolder.describe", full)
            table.begin((YOU, YOU, "rules"), 1)
        assert "the disk is full" in capsys.readouterr().err
        table.begin((YOU, YOU, YOU), 2)
        left = table.seats, table.deal, table.specs
    with open_table(_settings(out), resume=True) as table:
        assert (table.seats, table.deal, table.specs) == left
    assert json.loads((out / "run.json").read_text())["players"] == left[2]


def test_a_claim_is_one_decision_after_a_restart(tmp_path):
    out = tmp_path / "table"
    with open_table(_settings(out), resume=False) as table:
        while table.turn != 0:
            table.act(table.turn, table.state.legal_actions()[0])
        before = table.state.history()
        table.act(0, table.state.legal_actions()[-1])
        while table.turn is not None:
            table.act(table.turn, table.state.legal_actions()[0], continues_claim=True)
    with open_table(_settings(out), resume=True) as table:
        assert table.over
        table.undo()
        assert table.state.history() == before and (out / RECORDS).read_text() == ""


def test_annotations_stay_until_the_next_deal(tmp_path):
    """A resumed table has them, an undo keeps them, and the players' requests do not change."""
    settings = Play(game="hanabi", opponents=["random"], seed=3, out=tmp_path / "table")
    with open_table(settings, resume=False) as table:
        request = make_request(table)
        table.annotate(0, 7, "finesse")
        table.annotate(0, 2, "save")
        table.annotate(1, 2, "trash")
        table.annotate(0, 2, "")
        assert make_request(table) == request and not table.moves
        table.act(0, 9)  # plays the card with number 4
        lines = (tmp_path / "table" / JOURNAL).read_bytes()
        for card in (4, 11):  # the played card, and one in the deck
            with pytest.raises(TrickformerError, match="lies in no hand"):
                table.annotate(0, card, "late")
        table.annotate(0, 7, "finesse")
        assert (tmp_path / "table" / JOURNAL).read_bytes() == lines
    written = {(0, 7): "finesse", (1, 2): "trash"}
    with open_table(settings, resume=True) as table:
        table.undo()
        assert {key: text for key, text in table.annotations.items() if text} == written
        table.next_deal()
        assert not table.annotations


def test_annotations_need_a_game_with_an_order_of_drawing(hearts):
    with pytest.raises(TrickformerError, match="lies in no hand"):
        Table(hearts, _seats(hearts), 1, 1).annotate(0, 0, "high")


def test_a_journal_of_another_game_is_refused(tmp_path):
    out = tmp_path / "table"
    with open_table(_settings(out), resume=False):
        pass
    with (out / JOURNAL).open("ab") as journal:
        journal.write(b'{"do":"act","seat":1,"action":500}\n')
    digests.sums_file(out / JOURNAL).unlink()
    with pytest.raises(TrickformerError, match="cannot do 500"), open_table(_settings(out), resume=True):
        pass


@pytest.mark.parametrize("spec", ["gomcts:runs=7,wave=8", "pimc", 'engine:cmd="a, b"', "pimc:worlds=9,belief=x"])
def test_specs_are_shown_without_what_goes_without_saying(spec):
    assert players.short(players.resolve(spec)) == spec
    assert players.parse(players.short(spec)) == players.parse(spec)


def test_a_folder_starts_no_program(tmp_path):
    out = tmp_path / "table"
    with open_table(_settings(out), resume=False) as table:
        table.begin((YOU, "engine:cmd=touch evil", "random"), 0)
    with pytest.raises(TrickformerError, match="runs code of its own"), open_table(_settings(out), resume=True):
        pass


def test_a_table_that_is_killed_goes_on(tmp_path):
    words = ["play", "hearts", "--opponents", "random", "--text", "--seed", "5", "--out", str(tmp_path / "t")]
    command = [sys.executable, "-m", "trickformer", *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        for _ in range(3):
            process.stdin.write("1\n")
            process.stdin.flush()
            while ": 1 " not in (line := process.stdout.readline()):
                assert line
        process.send_signal(signal.SIGKILL)
    journal = tmp_path / "t" / JOURNAL
    lines = journal.read_text().splitlines()[: kept(journal)]
    assert sum('"seat":0' in line for line in lines) >= 2
    with open_table(Play(game="hearts", opponents=["random"], seed=5, out=tmp_path / "t"), resume=True) as table:
        moves = [json.loads(line) for line in lines if '"do":"act"' in line]
        assert [(m.seat, m.action) for m in table.moves] == [(m["seat"], m["action"]) for m in moves]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("hearts", "--seat", "4"), "there is no seat 4 in hearts: seats are 0 to 3"),
        (
            ("skat", "--opponents", "random", "random", "random"),
            "3 opponents, but skat has 3 seats, 1 of them for people; give 2 at most",
        ),
        (("hearts", "--opponents", "gomts"), "unknown player 'gomts'"),
        (("hearts", "--resume"), "--resume needs the --out"),
        (("mines", "--opponents", "rules"), "mines is played alone; leave out --opponents"),
        (("hanabi", "--opponents", "rules"), "player 'rules' plays hearts, skat, crew only, not hanabi"),
    ],
)
def test_bad_input_is_one_line(command, words, said, tmp_path):
    out = () if "--resume" in words else ("--out", tmp_path / "table")
    code, _, err = command("play", *words, "--text", *out)
    assert code == 2
    assert not list(tmp_path.iterdir())
    assert err.startswith(f"error: {said}")
    assert err.count("\n") == 1


def test_the_terminal_plays_a_hand(command, monkeypatch):
    lines = iter(["log", "1", "undo", *["1"] * 30, "nonsense", "next", "1", "quit"])
    monkeypatch.setattr("builtins.input", lambda _: next(lines))
    code, out, err = command("play", "hearts", "--text", "--opponents", "random", "--seed", "2", "--deal", "1")
    assert code == 0
    assert "pass 3 more cards to your left: 1 " in out
    assert len(re.findall(r"^(?:> )?  (?:you take|seat [1-3] takes) it, \d+ points?$", out, re.MULTILINE)) == 13
    assert re.search(r"  seat \d: pass to you", out)
    assert "deal 2 | pass across" in out
    assert re.search(r"scores of the match: you \d+, .* \(1 hand\)\n", out)
    assert "scores" in out
    assert "'nonsense' is not possible here; type a number or name of an action" in err


def _screen(scene, table, encoding="utf-8", **environment):
    """What a terminal of that encoding gets, with the sequences for its colours."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM"):
            patch.delenv(name, raising=False)
        for name, value in environment.items():
            patch.setenv(name, value)
        screen = console(stream)
        screen.print(terminal.as_text(scene, table, terminal.has_suits(screen.encoding)), soft_wrap=True)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def test_the_terminal_has_symbols_and_colours_if_it_can():
    game = games.load("skat")
    table = Table(game, (YOU, "rules\x1b[2J\u202e", "rules"), 3, 0)
    scene = scenes.show(game, table.state, 0)
    plain = _screen(scene, table)
    assert "♥K" in plain and "HK" not in plain and "\x1b" not in plain and "rules?[2J?" in plain
    for encoding in ("ascii", "latin-1"):
        shown = _screen(scene, table, encoding)
        assert "HK" in shown and shown == plain.translate(str.maketrans("♣♦♥♠", "CDHS"))
    coloured = _screen(scene, table, FORCE_COLOR="1", TERM="xterm-256color")
    assert "\x1b[31m♥K\x1b[0m" in coloured and re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert _screen(scene, table, FORCE_COLOR="1", TERM="xterm-256color", NO_COLOR="1") == plain


@pytest.mark.parametrize("name", games.NAMES)
def test_the_terminal_lists_actions_in_the_order_of_the_hand(name):
    """Every legal action is listed once, at every decision, and cards have the order in which the hand is shown."""
    game = games.load(name)
    table = Table(game, (YOU,) * game.players, 3, 0)
    draw = random.Random(5)
    while table.turn is not None:
        scene = scenes.show(game, table.state, table.turn)
        actions = terminal.ordered_actions(scene, table.state)
        assert sorted(actions) == sorted(table.state.legal_actions())
        hand = [card.action for card in scene.seats[table.turn].cards if card.action in actions]
        assert actions[: len(hand)] == hand or any(card.options for seat in scene.seats for card in seat.cards)
        assert terminal.as_text(scene, table, symbols=False).plain.count(f"{len(actions)} ")
        table.act(table.turn, draw.choice(actions))


@pytest.mark.parametrize(
    ("spec", "seat", "typed", "ask", "number"),
    [
        ("hearts", 0, "1 1 1 undo", "pass 3 more cards to your left", 3),
        ("skat", 1, "264 pick-up 1 1 undo", "choose two cards to lay away", 2),
        ("crew(mission=9)", 0, "1 1 undo", "choose a card to show, or stay silent", 2),
    ],
)
def test_the_terminal_undoes_a_decision_of_several_actions_as_one(spec, seat, typed, ask, number):
    """The request before the first of `number` actions is printed again, with all its actions."""
    words = iter(typed.split())
    settings = Play(game=spec, opponents=["rules"], seat=seat, seed=3, deal=1)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        terminal.play(settings, resume=False, read=lambda: next(words, "quit"))
    requests = [line for line in printed.getvalue().splitlines() if ": 1 " in line]
    assert requests[-1].startswith(ask + ": 1 ") and requests[-1] == requests[-2 - number]


def test_cards_are_chosen_together_by_one_line():
    """By number or name. A line with the same card twice, a fourth card or a wrong number is refused."""
    lines = iter(["1 1 2", "1 2 3 4", "1 99", "1 Q♥ 2", "log", "quit"])
    settings = Play(game="hearts", opponents=["rules"], seed=0, deal=1)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        terminal.play(settings, resume=False, read=lambda: next(lines))
    text = printed.getvalue()
    offered = re.search(r"^pass 3 more cards to your left: 1 (\S+)  2 (\S+) .* 13 (\S+)$", text, re.MULTILINE)
    assert text.count("pass 3 more cards") == 1 and "pass 2 more" not in text
    for name in (*offered.groups()[:2], "Q♥"):
        assert re.search(rf"^you: pass {name}$", text, re.MULTILINE)


def test_a_card_is_named_by_its_symbol_or_its_letter():
    lines = iter(["1", "♥K", "undo", "hk", "log", "quit"])
    settings = Play(game="skat", opponents=["rules"], seed=3)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        terminal.play(settings, resume=False, read=lambda: next(lines))
    text = printed.getvalue()
    assert text.count("you: ♥K") + text.count("you: HK") == 1  # in the log
    assert "deal 0 | diamonds | bid 18 | trick 2 of 10" in text  # the contract is named once


def test_a_line_of_the_log_calls_the_person_you():
    entries = [
        scenes.LogEntry(taker=2, words="3 points"),
        scenes.LogEntry(taker=2),
        scenes.LogEntry(seat=2, words="pass"),
    ]
    assert [terminal.entry_text(entry, 2, True).plain.strip() for entry in entries] == [
        "you take it, 3 points",
        "you take it",
        "you: pass",
    ]
    assert [terminal.entry_text(entry, 0, True).plain.strip() for entry in entries] == [
        "seat 2 takes it, 3 points",
        "seat 2 takes it",
        "seat 2: pass",
    ]


def test_the_terminal_tells_what_the_others_do_in_the_next_deal():
    lines = iter([*["1"] * 13, "next", "quit"])
    settings = Play(game="skat", opponents=["rules"], seed=3)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        terminal.play(settings, resume=False, read=lambda: next(lines, "1"))
    before = printed.getvalue().partition("next for the next deal")[2].partition("deal 1 |")[0]
    assert "  seat 1: " in before
