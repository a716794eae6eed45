"""Engines at our tables: what they answer, how they fail, and that nothing of them is left."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from support.engines import KINDS, gone, running, spec
from support.engines import command as engine_command

from trickformer import games, players
from trickformer.base import TrickformerError, decision_rng, replay
from trickformer.engines import conformance, entries, process
from trickformer.engines.config import Conformance
from trickformer.players.engine import generator_seed
from trickformer.plumbing.lines import read_lines
from trickformer.tournaments.plan import Hand, Tournament
from trickformer.tournaments.play import play
from trickformer.tournaments.run import tournament

pytestmark = pytest.mark.slow

SERVED = f'engine:cmd="{sys.executable} -m trickformer serve random --game {{}}"'


def histories(one, game_name="skat", deals=4, tables=112):
    """The hands of one player against `random`, by deal and seating."""
    game = games.load(game_name)
    hands = [Hand(d, s) for d in range(deals) for s in game.seatings(2)]
    made = one if not isinstance(one, str) else players.make(one, game)
    records = play(game, [made, players.make("random", game)], hands, 5, tables)
    return {r.hand: r.history for r in records}


@pytest.mark.parametrize("name", ["skat", "hearts"])
def test_random_behind_the_protocol_is_random(name):
    assert histories(SERVED.format(name), name) == histories("random", name)


def test_a_served_player_sees_what_it_would_see_in_process():
    """`rules` reads cards, voids and bids out of the view."""
    served = f'engine:cmd="{sys.executable} -m trickformer serve rules --game skat"'
    assert histories(served, deals=6) == histories("rules", deals=6)


def test_records_do_not_depend_on_processes_tables_and_workers(tmp_path):
    expected = histories(spec("good"))
    assert histories(spec("good", processes=3)) == expected
    assert histories(spec("good"), tables=1) == expected

    def played(workers, out):
        config = Tournament(game="skat", a=spec("good"), b="random", deals=4, seed=5, workers=workers, out=out)
        return {r.hand: r.history for r in tournament(config).records}

    assert played(1, tmp_path / "one") == played(2, tmp_path / "two") == expected


@pytest.mark.parametrize("most", [1, 3])
def test_an_engine_that_holds_few_tables_is_told_them_anew(most, monkeypatch):
    expected = histories(spec("good"))
    start = process.start

    def few(*args):
        found = start(*args)
        found.hello = found.hello.model_copy(update={"tables": most})
        return found

    monkeypatch.setattr(process, "start", few)
    assert histories(spec("good")) == expected


def test_crashes_cost_no_hand_and_change_none(tmp_path):
    player = players.make(spec("crash", 0.03, tmp_path / "started"), games.load("skat"))
    assert histories(player) == histories(spec("good"))
    assert player.faults > 3


FAILS = [
    ("early", {}, "exited with code 7"),
    ("old", {}, "speaks version 99 of the protocol, not 1"),
    ("refuse", {}, r"engine x: no jacks\?\[2J, please"),
    ("hang", {"timeout": 0.8}, "failed 3 times at the same decision; at last it was silent for 0.8 s"),
    ("lie", {}, r"chose \d+, which is not legal: \["),
    ("flood", {}, "wrote a line of more than 1,048,576 bytes"),
    ("endless", {}, "sent an answer without a request"),
    ("babble", {}, "it wrote I think that I shall play"),
    ("count", {}, "visits.many"),
    ("crash", {}, "exited with code 3, saying 'all is lost'"),
]


@pytest.mark.parametrize(("kind", "options", "says"), FAILS, ids=[kind for kind, _, _ in FAILS])
def test_how_engines_fail(kind, options, says, tmp_path):
    more = (1.0, tmp_path / "started") if kind == "crash" else ()
    with pytest.raises(TrickformerError, match=says) as caught:
        histories(spec(kind, *more, **options), deals=1)
    assert "\n" not in str(caught.value)
    assert gone(f"engines.py\0{kind}")


@pytest.mark.parametrize("kind", ["lie", "refuse"])
def test_an_engine_that_failed_starts_anew(kind):
    """The player may live on, as at a table."""
    player = players.make(spec(kind), games.load("skat"))
    for _ in range(2):
        with pytest.raises(TrickformerError, match=r"which is not legal|no jacks"):
            histories(player, deals=1)


def test_every_kind_of_engine_is_tried():
    assert {kind for kind, _, _ in FAILS} | {"good", "slow", "slip", "kill", "deals", "stubborn", "stray"} == set(KINDS)


@pytest.mark.parametrize(
    ("cmd", "says"),
    [
        ("", "engine needs a command"),
        ("/nowhere/bot", "cannot be started, .*/nowhere/bot: No such file"),
        ("'bot", "cannot be split into words: No closing quotation"),
        ("/bin/false " + "x" * 300, "exited with code 1"),
        (r"a\u0000b", "cannot be started: embedded null byte"),
        ("/bin/cat", "the field hello.name is missing; it wrote {"),
    ],
)
def test_what_cannot_be_started(cmd, says):
    with pytest.raises(TrickformerError, match=says):
        players.make(f'engine:cmd="{cmd}"' if cmd else "engine", games.load("skat"))


def test_an_open_quote_is_reported_when_the_spec_is_resolved():
    with pytest.raises(TrickformerError, match="No closing quotation"):
        players.resolve("engine:cmd='bot", games.load("skat"))


def test_a_game_that_it_does_not_play():
    with pytest.raises(TrickformerError, match="plays hearts, skat, not crew"):
        players.make(spec("good"), games.load("crew"))


def test_a_whole_deal_explains_the_view_and_is_not_the_true_one(tmp_path):
    game = games.load("hearts")
    player = players.make(spec("deals"), game, logs=tmp_path)
    deals = []
    for index in range(6):
        state = game.deal(3, index)
        for number in range(9):
            view = game.view(state, state.current_player())
            rng = decision_rng(3, index, view.viewer, number)
            state.apply_action(player.act([view], [rng], [{}])[0].action)
            seat, *actions = map(int, (tmp_path / "python-0.stderr").read_text().splitlines()[-1].split())
            world = replay(game.spiel, actions)
            assert seat == view.viewer and game.view(world, seat) == view
        true = [step.action for step in state.full_history()]
        deals.append(true[: len(actions)] == actions)
    assert not any(deals)  # six true deals of some 10^16 each


def test_nothing_is_left_after_a_kill(tmp_path):
    mark = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    words = ["tournament", "skat", "--a", spec("stubborn", mark, processes=2), "--b", "random", "--deals", "100000"]
    ours = subprocess.Popen([sys.executable, "-m", "trickformer", *words, "--out", str(tmp_path / "run")])
    end = time.monotonic() + 60
    while len(running(mark)) < 6 and time.monotonic() < end:  # ours aside: supervisor, engine and its child, twice
        time.sleep(0.05)
    assert len(running(mark)) >= 6
    ours.send_signal(signal.SIGKILL)
    ours.wait()
    assert gone(mark)


STRAYS = sys.platform.startswith("linux")  # elsewhere what has left the engine's group lives on


def wait_for_daemons(mark, count):
    """Wait until so many processes run in sessions whose leaders have ended."""
    end = time.monotonic() + 60
    daemons = []
    while len(daemons) != count and time.monotonic() < end:
        time.sleep(0.05)
        alive = running(mark)
        with suppress(ProcessLookupError):
            outer = {os.getpid(), os.getsid(0)}
            daemons = [pid for pid in alive if os.getsid(pid) not in alive.keys() | outer]
    assert len(daemons) == count


@pytest.mark.skipif(not STRAYS, reason="descendants are found on Linux alone")
@pytest.mark.parametrize("end", ["quit", "exits", "killed"])
def test_what_has_left_the_session_of_an_engine_ends_with_it(end):
    mark = f"stray-{os.getpid()}-{time.monotonic_ns()}"
    engine = process.start(None, shlex.split(engine_command("stray", mark)), 10.0)
    wait_for_daemons(mark, 3)
    (own,) = (pid for pid, watches in running(mark).items() if not watches and os.getsid(pid) == pid)
    if end == "exits":
        engine.send({"type": "quit"})
        engine.write()
    elif end == "killed":
        os.kill(own, signal.SIGKILL)
    else:
        engine.end()
    assert gone(mark)
    engine.end()


@pytest.mark.skipif(not STRAYS, reason="descendants are found on Linux alone")
def test_what_has_left_the_session_of_an_engine_ends_with_us():
    mark = f"stray-{os.getpid()}-{time.monotonic_ns()}"
    words = ["tournament", "skat", "--a", spec("stray", mark), "--b", "random", "--deals", "100000"]
    ours = subprocess.Popen([sys.executable, "-m", "trickformer", *words], stderr=subprocess.DEVNULL)
    wait_for_daemons(mark, 3)
    ours.send_signal(signal.SIGKILL)
    ours.wait()
    assert gone(mark)


def test_killed_engines_lose_no_record(tmp_path):
    """`python -m tests.faults --full` has 500 of them."""
    killed = tmp_path / "killed"
    config = Tournament(game="skat", a=spec("kill", 25, killed), b="random", deals=6, seed=5, out=tmp_path / "run")
    assert len(tournament(config).records) == 36
    assert len(killed.read_text()) > 10
    assert [path.name for path in (tmp_path / "run/engines").iterdir()] == ["python-0.stderr"]
    assert len(read_lines(tmp_path / "run/records.jsonl")[0]) == 36
    assert histories(spec("good"), deals=6) == {r.hand: r.history for r in tournament(config, resume=True).records}


HEARD = """
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    with open(sys.argv[1], "a") as heard:
        print(said["type"], said.get("table"), said.get("scores"), said.get("seat"), file=heard)
    if said["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"x","games":["skat"],"seeds":true,"tables":50}', flush=True)
    if said["type"] == "act":
        print(json.dumps({"type": "action", "table": said["table"], "action": said["legal"][0]}), flush=True)
"""


def test_an_engine_hears_how_each_hand_ends_and_when_to_go(tmp_path):
    program, heard = tmp_path / "bot.py", tmp_path / "heard"
    program.write_text(HEARD)
    game, hands = games.load("skat"), [Hand(deal, (0, 1, 1)) for deal in range(9)]
    player = players.make(f'engine:cmd="{sys.executable} -S {program} {heard}"', game)
    records = list(play(game, [player, players.make("random", game)], hands, 5, 4))
    del player
    lines = heard.read_text().splitlines()
    kinds = [text.split()[0] for text in lines]
    assert kinds[0] == "hello" and kinds[-1] == "quit" and kinds.count("quit") == 1
    assert kinds.count("new") == kinds.count("end") == 9
    assert kinds.count("act") == sum(r.decisions[0] for r in records)
    assert {text.split(maxsplit=2)[2] for text in lines if text.startswith("end")} == {
        f"{list(r.scores)} None" for r in records
    }


EXAMPLES = Path(__file__).parents[2] / "examples" / "engines"


def test_the_example_in_python():
    wins = histories(f'engine:cmd="{sys.executable} {EXAMPLES / "lowest.py"}"', "hearts", deals=2)
    passes = [history[53:] for history in wins.values() if history[0]]
    assert len(wins) == 28 and passes


def test_the_example_in_cpp(tmp_path):
    compiler = shutil.which("c++") or pytest.skip("needs a C++ compiler")
    program = tmp_path / "random_player"
    strict = ["-std=c++17", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *strict, "-o", program, EXAMPLES / "random_player.cpp"], check=True)
    for name in ("skat", "crew", "hanabi"):
        found = conformance.check(Conformance(engine=f"engine:cmd={program}", game=name, deals=3))
        assert False not in good(found).values() and good(found)["follows seeds"], (name, found)


def trickformer(*words):
    return subprocess.run([sys.executable, "-m", "trickformer", *words], capture_output=True, text=True, timeout=120)


def test_a_tournament_stops_with_one_line_and_goes_on(tmp_path, command):
    out = tmp_path / "run"
    words = ["tournament", "skat", "--b", "random", "--deals", "2", "--seed", "5", "--out", str(out)]
    stopped = trickformer(*words, "--a", spec("lie"))
    assert stopped.returncode == 2
    assert stopped.stderr.splitlines()[-1].startswith("error: engine lie failed")
    assert f"see {out}/engines/python" in stopped.stderr
    code, _, err = command(*words[:2], "--config", out / "config.toml", "--out", out, "--resume")
    assert code == 2 and "runs code of its own, which stored options may not do" in err
    code, _, err = command(*words, "--a", spec("lie"), "--resume")
    assert code == 2 and "not legal" in err
    said = sorted((out / "engines").iterdir())
    code, _, err = command(*words, "--a", spec("lie"))
    assert code == 2 and "already holds a run" in err
    assert sorted((out / "engines").iterdir()) == said, "an engine was started"


def test_faults_that_cost_no_hand_are_counted(tmp_path, command):
    out = tmp_path / "run"
    words = ["tournament", "skat", "--b", "random", "--deals", "1", "--seed", "5", "--tables", "1"]
    code, played, err = command(*words, "--a", spec("slip"), "--out", out)
    assert code == 0
    (line,) = [line for line in err.splitlines() if line.startswith("warning")]
    turns = re.fullmatch(r"warning: the engine A (?:.*) was started again (\d+) times: (\d+) illegal answers", line)
    assert turns is not None and turns[1] == turns[2] != "0"
    printed = " ".join(played.split())
    assert f"was started again {turns[1]} times: {turns[1]} illegal answers" in printed
    assert f"was started again {turns[1]} times" in (out / "report.md").read_text()
    result = json.loads((out / "result.json").read_text())
    assert result["engine_faults"] == {"a": {"illegal": int(turns[1]), "restarts": int(turns[1])}}
    # Each process answers four times before it slips.
    assert int(turns[1]) == result["turns"]["a"] // 4 - (result["turns"]["a"] % 4 == 0)
    crashing = command(*words, "--a", spec("crash", 0.05, tmp_path / "started"), "--json")[1]
    crashes = json.loads(crashing)["engine_faults"]["a"]
    assert crashes["crash"] == crashes["restarts"] > 0
    assert "engine_faults" not in json.loads(command(*words, "--a", spec("good"), "--json")[1])


def test_reports_say_what_seeds_are_worth(tmp_path, command):
    config = Tournament(game="skat", a=spec("kill", 0, "x"), b=SERVED.format("skat"), deals=1, out=tmp_path / "run")
    tournament(config)
    printed = " ".join(command("report", tmp_path / "run")[1].split())
    assert "does not follow seeds: a match against itself is not zero" in printed
    assert "receives the states of its random generators, from which it could compute the hidden cards" in printed


@pytest.fixture
def engines_toml(tmp_path, monkeypatch):
    path = tmp_path / "engines.toml"
    monkeypatch.setenv("TRICKFORMER_ENGINES", str(path))
    return path


def test_a_name_in_engines_toml_is_a_player(engines_toml):
    words = engine_command("good").replace("good", "{kind}")
    options = "[mybot.options]\nlevel = 3\nkind = 'good'\n"
    engines_toml.write_text(f"[mybot]\ncommand = '{words} {{level}}'\ntimeout = 9.0\n{options}")
    assert "mybot" in players.names()
    assert players.resolve("mybot:level=5") == "mybot:level=5,kind=good,processes=1,timeout=9.0"
    assert not players.starts_program("mybot") and players.starts_program(spec("good"))
    assert [name for name in players.files("mybot") if name.endswith("engines.py")]
    assert histories("mybot") == histories(spec("good"))
    with pytest.raises(TrickformerError, match="level=x must be a whole number"):
        players.parse("mybot:level=x")
    with pytest.raises(TrickformerError, match="unknown option of player 'mybot': 'cmd'"):
        players.parse("mybot:cmd=ls")


def test_an_option_stays_one_word(engines_toml):
    engines_toml.write_text("[b]\ncommand = 'bot --name {name}'\n[b.options]\nname = 'x'\n")
    options = players.parse('b:name="two words; and $more"')[1]
    assert options.command == ["bot", "--name", "two words; and $more"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[b]\n", r"\[b\]: command is missing"),
        ("[b]\ncommand = 'bot {x}'\n", r"placeholders in the command are \['x'\], but the options are \[\]"),
        ("[b]\ncommand = 'bot {'\n", "command: "),
        ("[b]\ncommand = 'bot'\nprocesses = 0\n", "must be 1 or more"),
        ("[b]\ncommand = 'bot'\nfoo = 0\n", "unknown config key 'foo'"),
        ("command = 'bot'\n", "is outside of a table"),
        ("[b]\ncommand = 'bot {level:zz}'\n[b.options]\nlevel = 1\n", "'level' in the command has a format"),
        ("[b]\ncommand = 'bot {files}'\n[b.options]\nfiles = 1\n", "an option cannot have the name 'files'"),
        ("[b]\ncommand = 'bot {timeout}'\n[b.options]\ntimeout = 1\n", "an option cannot have the name 'timeout'"),
        ("[b]\ncommand = 'bot {a.b}'\n[b.options]\n'a.b' = 1\n", "an option cannot have the name 'a.b'"),
        ("[b\n", "cannot read"),
    ],
)
def test_a_broken_engines_toml_is_one_line(engines_toml, text, says):
    engines_toml.write_text(text)
    with pytest.raises(TrickformerError, match=says) as caught:
        entries.read()
    assert "\n" not in str(caught.value)


def test_values_in_quotes():
    text = 'engine:cmd="./bot --level 3, \\"fast\\"",processes=2'
    options = players.parse(text)[1]
    assert options.cmd == './bot --level 3, "fast"' and options.processes == 2
    assert players.resolve(text) == text + ",timeout=60.0"
    assert players.parse(players.resolve(text)) == players.parse(text)
    assert players.parse("engine:cmd=./bot --level 3 , timeout=5")[1].cmd == "./bot --level 3"
    for broken in ('engine:cmd="./bot', 'engine:cmd="./bot"x', "engine:cmd", 'engine:cmd="\\x"'):
        with pytest.raises(TrickformerError, match="player "):
            players.parse(broken)


def checked(engine, game):
    return conformance.check(Conformance(engine=engine, game=game, deals=3))


def good(found):
    return {check.name: check.good for check in found}


def test_a_good_engine_passes_the_check():
    found = checked(spec("good"), "skat")
    assert good(found) == {
        "answers": True,
        "follows seeds": True,
        "many tables at once": True,
        "started again in a hand": True,
        "hidden cards": True,
        "speed": None,
    }


def test_the_check_finds_faults(tmp_path):
    crashing = checked(spec("crash", 0.1, tmp_path / "started"), "skat")
    assert not good(crashing)["answers"]
    lying = checked(spec("lie"), "skat")
    assert good(lying) == {"answers": False}


def test_the_check_finds_who_does_not_follow_seeds(tmp_path):
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import random\nfrom trickformer import engine\n"
        "engine.run(lambda turn: random.choice(turn.legal), name='x', seeds=True)\n"
    )
    found = checked(f'engine:cmd="{sys.executable} {bot}"', "hearts")
    assert good(found)["answers"] and good(found)["follows seeds"] is False
    assert good(found)["hidden cards"] is None, "chance is no proof that the engine reads hidden cards"


def test_commands(engines_toml, command):
    engines_toml.write_text(f"[mybot]\ncommand = '{engine_command('good')}'\nabout = 'plays at random'\n")
    assert "mybot" in (listed := command("engines", "list")[1]) and "plays at random" in listed
    code, out, _ = command("engines", "check", "mybot", "--deals", 2)
    assert code == 0 and "follows seeds" in out
    assert command("engines", "check", spec("lie"), "--deals", 2)[0] == 1
    code, _, err = command("engines", "check", "random", "--game", "skat")
    assert code == 2 and "no engine" in err


def test_the_list_marks_an_engine_that_has_the_name_of_a_player(engines_toml, command):
    engines_toml.write_text("".join(f"[{name}]\ncommand = 'bot'\n" for name in ("mybot", "xinxin")))
    assert command("engines", "list")[1].splitlines()[1:] == [
        "mybot: bot",
        "xinxin: bot; not usable, because a player has this name; choose another name",
    ]


def test_serve_answers_what_arrives_with_the_end_of_its_input():
    said = (
        '{"type":"hello","protocol":1}\n'
        '{"type":"new","table":0,"game":"hearts()","seat":0,"seed":1}\n'
        '{"type":"act","table":0,"legal":[5],"words":["x"],"seed":1,"seconds":null}\n'
    )
    command = [sys.executable, "-m", "trickformer", "serve", "random", "--game", "hearts"]
    done = subprocess.run(command, input=said, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {"type": "action", "table": 0, "action": 5}


def test_serve_refuses_what_is_no_message(command):
    hello = '{"type":"hello","protocol":1}\n'
    new = '{"type":"new","table":0,"game":"hearts()","seat":0,"seed":1}\n'
    act = '{"type":"act","table":0,"legal":[1],"words":["x"],"seed":1,"seconds":null}\n'
    for said, says in (
        ("nonsense\n", "Invalid JSON"),
        ('{"type":"act","table":3,"legal":[1],"words":["x"],"seed":1,"seconds":null}\n', "there is no table 3"),
        ('{"type":"hello","protocol":2}\n', "speaks version 1 of the protocol, not 2"),
        (new.replace("hearts()", "hearts(jd_bonus=True)"), "this engine serves hearts"),
        (new.replace('"seat":0', '"seat":4'), "has no seat 4"),
        ("x" * (1 << 21), "a line has more than"),
        (new + act + '{"type":"end","table":0,"scores":[0,0,0,0]}\n', "table 0 waits for an answer"),
        (new + act + act, "table 0 waits for an answer"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "trickformer", "serve", "random", "--game", "hearts"],
            input=hello + said, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 2 and says in done.stderr and says in done.stdout.splitlines()[-1], done
    code, _, err = command("serve", "spiel:state=true", "--game", "hearts")
    assert code == 2 and "needs hidden cards" in err


def test_any_generator_can_be_sent():
    used = decision_rng(1, 2, 3, 4)
    used.integers(10)
    with pytest.raises(ValueError, match="used before"):
        generator_seed(used)
    assert len(generator_seed(np.random.default_rng(1))) == 6
