"""The functions of `import trickformer as tf`, and the blocks of the page that explains them."""

import doctest
import gc
import inspect
import json
import re
import subprocess
import sys
import weakref

import numpy as np
import pytest
from support.pages import ROOT, python_blocks

import trickformer as tf
from trickformer import api
from trickformer.base import Decision, Player, TrickformerError

PAGE = ROOT / "docs" / "python.md"
BLOCKS = python_blocks(PAGE)


class Lowest(Player):
    def act(self, views, rng, memo):
        return [Decision(min(view.legal)) for view in views]


class Failing(Player):
    def act(self, views, rng, memo):
        raise LookupError("no card")


@pytest.fixture(scope="module")
def match(tmp_path_factory):
    """A match, and its folder."""
    out = tmp_path_factory.mktemp("match") / "run"
    return tf.tournament("hearts", a="rules", b="random", deals=3, seed=4, out=out), out


def test_docstrings_are_true():
    found = doctest.testmod(api)
    assert found.attempted >= 6 and not found.failed


@pytest.mark.parametrize("block", BLOCKS, ids=[block.split("\n\n")[-1].split("(")[0][:20] for block in BLOCKS])
def test_the_blocks_of_the_page_run(block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    exec(compile(block, PAGE.name, "exec"), names)
    assert names.keys() > {"__name__", "__builtins__"} or capsys.readouterr().out, "the block does nothing"


def test_every_name_is_public_documented_and_typed():
    assert sorted(tf.__all__) == tf.__all__ and len(BLOCKS) >= 6
    for name in tf.__all__:
        each = getattr(tf, name)
        assert each is getattr(api, name) and each.__doc__
        if inspect.isfunction(each):
            assert each.__annotations__.keys() >= {*inspect.signature(each).parameters, "return"}
    with pytest.raises(tf.TrickformerError, match="players must be a list of specs"):
        tf.tournament("hearts", players="rules")
    with pytest.raises(AttributeError, match="no attribute 'tournement'"):
        tf.tournement  # noqa: B018


def test_nothing_heavy_is_imported_before_it_is_needed():
    code = "import trickformer as tf, sys; print([m for m in ('torch', 'pyspiel', 'pandas') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.slow
def test_a_result_says_what_the_command_says(match, command, tmp_path):
    result, out = match
    code, printed, _ = command("report", str(out), "--json")
    assert code == 0 and json.loads(printed) == json.loads(json.dumps(result.to_dict()))
    assert str(result).splitlines() == command("report", str(out))[1].splitlines()
    loaded = tf.load_result(out)
    assert loaded.rows == result.rows and loaded.records == result.records
    first = result.rows[0]
    assert (result.difference, result.ci95) == (first["difference"], (first["low"], first["high"]))
    assert first["difference"] == pytest.approx(first["a"] - first["b"])
    assert result.plot(tmp_path / "match.png").axes and (tmp_path / "match.png").stat().st_size > 5_000


def test_a_result_is_a_table_of_pandas(match):
    pandas = pytest.importorskip("pandas")
    table = match[0].to_pandas()
    assert isinstance(table, pandas.DataFrame) and list(table["label"]) == [row["label"] for row in match[0].rows]


def test_pandas_is_named_if_it_is_missing(match, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(TrickformerError, match="pip install pandas"):
        match[0].to_pandas()


def test_several_players_have_a_rating():
    result = tf.tournament("hearts", players=["random", "rules", Lowest()], deals=2, seed=4)
    assert [row["player"] for row in result.rows] and {"rating", "low", "high"} <= result.rows[0].keys()
    with pytest.raises(ValueError, match="needs a match of A and B"):
        result.difference  # noqa: B018


def test_an_object_plays_as_its_spec_does():
    own = Lowest()
    result = tf.tournament("hearts", a=own, b="random", deals=2, seed=4)
    again = tf.tournament("hearts", a=own, b="random", deals=2, seed=4)
    assert [r.history for r in result.records] == [r.history for r in again.records]
    assert result.to_dict()["a"] == again.to_dict()["a"]
    same = tf.tournament("hearts", a=own, b=own, deals=2, seed=4)
    assert same.difference == 0
    with pytest.raises(TrickformerError, match=r"LookupError: no card in .*test_python_api.py"):
        tf.tournament("hearts", a=Failing(), b="random", deals=1)


def test_an_object_of_make_player_stands_for_its_spec(tmp_path):
    made = tf.make_player("pimc:worlds=1,runs=2", "hearts")
    result = tf.tournament("hearts", a=made, b="random", deals=1, seed=4, out=tmp_path)
    assert made.made_from == result.to_dict()["a"] == "pimc:worlds=1,runs=2"
    other = tf.make_player("pimc:worlds=2,runs=2", "hearts")
    with pytest.raises(TrickformerError, match=r"with --a pimc:worlds=1,.*, not --a pimc:worlds=2,"):
        tf.tournament("hearts", a=other, b="random", deals=2, seed=4, out=tmp_path, resume=True)


class Playing(Player):
    """Plays the legal card with this number from the lowest."""

    def __init__(self, number: int):
        self.number = number

    def act(self, views, rng, memo):
        return [Decision(sorted(view.legal)[self.number % len(view.legal)]) for view in views]


def test_a_run_continues_with_its_own_options(tmp_path):
    match = tf.tournament("hearts", a="rules", b="random", deals=2, seed=5, out=tmp_path / "match")
    longer = tf.tournament("hearts", deals=3, out=tmp_path / "match", resume=True)
    assert [r.history for r in longer.records][:28] == [r.history for r in match.records]
    assert longer.to_dict()["seed"] == 5 and len(longer.records) == 42
    with pytest.raises(TrickformerError, match="--seed 5, not --seed 0"):
        tf.tournament("hearts", seed=0, out=tmp_path / "match", resume=True)
    with pytest.raises(ValueError, match="a difference needs a match of A and B"):
        tf.tournament("hearts", players=["rules", "random"], deals=2).difference  # noqa: B018


def test_player_objects_are_released():
    player = Playing(0)
    known = weakref.ref(player)
    tf.tournament("hearts", a=player, b="random", deals=1)
    del player
    gc.collect()
    assert known() is None


def test_a_run_continues_only_with_an_equal_object(tmp_path):
    where = {"b": "random", "seed": 4, "out": tmp_path / "run"}
    tf.tournament("hearts", a=Playing(0), deals=2, **where)
    again = tf.tournament("hearts", a=Playing(0), deals=3, resume=True, **where)
    other, listed = Lowest(), Playing(0)
    listed.numbers = [1, 2]
    for a in (Playing(1), other, listed):
        with pytest.raises(TrickformerError, match="holds a run with --a native:make=this_process:Playing-"):
            tf.tournament("hearts", a=a, deals=3, resume=True, **where)
    whole = tf.tournament("hearts", a=Playing(0), b="random", deals=3, seed=4)
    assert [record.history for record in again.records] == [record.history for record in whole.records]
    both = tf.tournament("hearts", a=Playing(0), b=Playing(0), deals=2, seed=4).to_dict()
    assert both["a"] != both["b"]
    pairs = tf.tournament("hearts", gauntlet=Playing(0), players=["random"], deals=1).to_dict()
    assert pairs["players"][0].startswith("native:make=this_process:Playing-")


@pytest.mark.parametrize("values", [([1, 2], [1, 3]), ({"a": 1}, {"a": 2}), (np.zeros(2), np.ones(2))])
def test_settings_of_every_kind_tell_objects_apart(values):
    specs = []
    for value in (*values, values[0]):
        player = Playing(0)
        player.setting = value
        specs.append(tf.tournament("hearts", a=player, b="random", deals=1).to_dict()["a"])
    assert specs[0] != specs[1] and specs[0].rpartition("-")[0] == specs[1].rpartition("-")[0]
    assert specs[2].startswith(specs[0])


def test_a_run_continues_with_the_game_or_its_string(tmp_path):
    match = {"a": "random", "b": "rules", "seed": 4, "out": tmp_path}
    tf.tournament("crew(mission=7)", deals=1, **match)
    assert len(tf.tournament(tf.load_game("crew(mission=7)"), deals=2, resume=True, **match).records) == 4


def first_view():
    """View of the seat on turn at the beginning of a hand of Hearts."""
    game = tf.load_game("hearts")
    state = game.deal(1, 0)
    return game.view(state, state.current_player())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.tournament("hearts", a=Lowest, b="random"), "the class Lowest; pass an object of it"),
        (lambda: tf.tournament("hearts", a="random", b=3), "a spec or a trickformer.base.Player, not 3"),
        (lambda: tf.tournament("hearts", a=Lowest(), b="random", workers=2), "leave out workers"),
        (lambda: tf.tournament("hearts", a="randm", b="random"), "did you mean random?"),
        (lambda: tf.tournament("hearts", a="rules", b="random", out=""), "not an empty text"),
        (lambda: tf.decide("argmax", None), "player must be a trickformer.base.Player, not str"),
        (lambda: tf.decide(Lowest(), "view"), "view must be a trickformer.base.View, not str"),
        (lambda: tf.decide(Lowest(), first_view(), seed=-1), "seed must be from 0 to 2**64 - 1, not -1"),
        (lambda: tf.make_player("random", 3), "game must be a trickformer.base.Game, not int"),
    ],
)
def test_bad_arguments_are_explained(call, message):
    with pytest.raises(TrickformerError, match=re.escape(message)):
        call()


def test_completion_shows_the_public_functions():
    assert set(tf.__all__) <= set(dir(tf))


def test_a_match_takes_a_game_or_its_string():
    game = tf.load_game("skat")
    by_object, by_string = (tf.tournament(each, a="rules", b="random", deals=1, seed=4) for each in (game, "skat"))
    assert [r.history for r in by_object.records] == [r.history for r in by_string.records]
    assert by_object.to_dict()["game"] == by_string.to_dict()["game"] == "skat"
    other = type("OtherSkat", (type(game),), {})
    game.__class__ = other
    with pytest.raises(TrickformerError, match=r"load_game\('skat'\) returns no OtherSkat"):
        tf.tournament(game, a="rules", b="random", deals=1)


def test_the_folder_of_a_training_has_no_result_of_a_tournament(tmp_path):
    (tmp_path / "config.toml").write_text("bootstrap_hands = 3\n")
    with pytest.raises(
        TrickformerError,
        match=r"holds a training, not a tournament; use trickformer\.selfplay",
    ):
        tf.load_result(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hearts", "skat", "crew(distress=left)", "hanabi", "mines"])
def test_decisions_are_those_of_a_tournament(name):
    """Above all decision n of a seat has the generator of decision n."""
    game = tf.load_game(name)
    specs = ("pimc:worlds=2", "random")
    record = tf.tournament(name, a=specs[0], b=specs[1], deals=1, seed=9).records[0]
    state, players = game.deal(9, 0), [tf.make_player(spec, game) for spec in specs]
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(game.chance(state, 9, 0))
            continue
        seat = state.current_player()
        view = game.view(state, seat)
        state.apply_action(tf.decide(players[record.seating[seat]], view, seed=9).action)
    assert tuple(state.history()) == record.history


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: tf.load_game("chess"), "unknown game 'chess'"),
        (lambda: tf.make_player("pimc:worlds=0", "hearts"), "worlds=0 must be 1 or more"),
        (lambda: tf.tournament("hearts", a="random"), "players are missing"),
        (lambda: tf.tournament("hearts", a="random", b="random", dealz=3), "unknown config key 'dealz'"),
        (lambda: tf.load_result("nowhere"), "holds no run"),
        (lambda: tf.tournament(3, a="random", b="random"), "game must be a trickformer.base.Game, not int"),
        (lambda: tf.load_model("nothing"), "unknown checkpoint 'nothing'"),
    ],
)
def test_bad_input_is_one_line(call, says):
    with pytest.raises(TrickformerError, match=says) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_player_that_reads_hidden_cards_has_no_decision_by_a_view():
    game = tf.load_game("hearts")
    state = game.deal(1, 0)
    with pytest.raises(TrickformerError, match="reads hidden cards"):
        tf.decide(tf.make_player("spiel:state=true", game), game.view(state, state.current_player()))
