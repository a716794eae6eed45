"""Players from modules that are not packaged."""

import sys

import pytest

from trickformer import games, players
from trickformer.base import TrickformerError
from trickformer.players import specs
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play

MODULE = """
from trickformer.base import Decision, Player

class First(Player):
    batch = 3

    def act(self, views, rng, memo):
        return [Decision(view.legal[0]) for view in views]

class Broken(First):
    def act(self, views, rng, memo):
        raise KeyError("lost")

def make(game):
    return First()

def broken(game):
    return Broken()

def wrong(game):
    return object()

def fails(game):
    return 1 // 0
"""


@pytest.fixture
def bot(tmp_path, monkeypatch):
    """The name of a module in the current folder."""
    (tmp_path / "its_bot.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "its_bot", raising=False)
    return "its_bot"


def test_a_function_of_a_module_is_a_player(bot, tmp_path):
    game = games.load("hearts")
    player = players.make(f"native:{bot}:make", game)
    assert player.batch == 3
    (record,) = play(game, [player, players.make("random", game)], [Hand(0, (0, 1, 1, 1))], 1)
    assert record.decisions[0] in (13, 16)
    assert players.resolve(f"native:{bot}:make", game) == f"native:make={bot}:make"
    assert players.files(f"native:{bot}:make") == {bot: tmp_path / "its_bot.py"}
    assert str(tmp_path) not in sys.path


def test_only_options_for_files_name_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cpu").write_text("no device")
    assert "cpu" not in players.files("argmax:checkpoint=hearts-small,device=cpu")


@pytest.mark.parametrize(
    ("function", "says"),
    [
        ("none", "has no function 'none'"),
        ("wrong", "returned object, not a trickformer.base.Player"),
        ("fails", r"failed: ZeroDivisionError: .* in .*its_bot.py, line 24"),
    ],
)
def test_what_is_no_player_is_refused(bot, function, says):
    with pytest.raises(TrickformerError, match=says):
        players.make(f"native:{bot}:{function}", games.load("hearts"))


def test_an_exception_names_file_and_line(bot):
    game = games.load("hearts")
    cast = [players.make(f"native:{bot}:broken", game), players.make("random", game)]
    with pytest.raises(TrickformerError, match=r"KeyError: 'lost' in .*its_bot.py, line 12"):
        list(play(game, cast, [Hand(0, (0, 1, 1, 1))], 1))


def test_a_file_may_not_name_a_module():
    assert specs.starts_program("native:its_bot:make")
    with pytest.raises(TrickformerError, match="write native:MODULE:FUNCTION"):
        players.make("native", games.load("hearts"))
