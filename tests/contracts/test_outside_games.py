"""Games of other packages: their names, what they must have, and a belief of their own (docs/add-a-game*.md)."""

from __future__ import annotations

import itertools
import json
import random

import numpy as np
import pyspiel
import pytest
from support.leduc import Leduc, load
from support.play import random_playout

from trickformer import games, players, tokenizers
from trickformer.audit import views as audit
from trickformer.base import PUBLIC, Event, Game, Outcomes, TrickformerError, View
from trickformer.belief import sampler

NUMBERS = itertools.count()  # of modules: Python keeps those that it has imported
MODULE = """
from support.leduc import Leduc


def load(spec):
    game = {game}
    {change}
    return game
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Declares a module as the game of an entry point."""

    def declare(name, game="Leduc()", change="pass"):
        module, info = f"outside_{next(NUMBERS)}", tmp_path / "poker-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: poker\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[trickformer.games]\n{name} = {module}\n")
        (tmp_path / f"{module}.py").write_text(MODULE.format(game=game, change=change))
        monkeypatch.syspath_prepend(tmp_path)

    return declare


def test_a_game_is_found_by_the_name_that_openspiel_has_for_it(install, command, tmp_path):
    """By what records hold, too: `str(game.spiel)`."""
    install("leduc_poker")
    game = games.load("leduc_poker")
    assert games.load(str(game.spiel)).name == "leduc_poker"
    code, out, err = command("games")
    assert code == 0, err
    header, *rows = out.splitlines()[:7]
    starts = {row.index(row.split(maxsplit=2)[1]) for row in (header, *rows)}
    assert starts == {len("leduc_poker ")}, out
    assert [row.split()[:3] for row in rows if "leduc_poker" in row] == [["leduc_poker", "2", "none"]]
    match = ["tournament", "leduc_poker", "--a", "pimc:worlds=2", "--b", "random", "--deals", 2]
    code, out, err = command(*match, "--out", tmp_path / "run")
    assert code == 0 and "tables with 1 seat of A and 1 of B" in " ".join(out.split()), err
    code, out, err = command("records", "show", tmp_path / "run" / "records.jsonl", "--game", 1)
    assert code == 0 and "leduc_poker" in out, err
    code, _, err = command("audit", "leduc_poker", "--deals", 4)
    assert code == 0, err


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("leduc", "game.name = 'leduc'", "has the name 'leduc', and OpenSpiel calls it 'leduc_poker'"),
        ("leduc", "pass", "the game of the entry point 'leduc' in trickformer.games has the name 'leduc_poker', and"),
        ("leduc_poker", "game.name = 'hearts'", "has the name 'hearts', and OpenSpiel calls it 'leduc_poker'"),
        (
            "cards",
            "import pyspiel; game.spiel = pyspiel.load_game('hearts')",
            "is registered with OpenSpiel as 'hearts', a game of trickformer; register it under another name",
        ),
        ("leduc_poker", "del game.outcomes", "has no outcomes; derive it from trickformer.base.Game"),
        (
            "leduc_poker",
            "from trickformer.base import Game; game = type('Blind', (Game,), {})()",
            "in trickformer.games: Can't instantiate abstract class Blind",
        ),
        ("leduc_poker", "game = None", "has no name, players, higher_is_better, spiel, outcomes, view;"),
    ],
)
def test_a_game_of_another_name_or_without_a_member_is_refused_in_one_line(name, change, says, install, command):
    install(name, change=change)
    code, out, err = command("audit", name)
    assert (code, out, err.count("\n")) == (2, "", 1) and err.startswith("error: ") and says in err, err
    if "OpenSpiel calls it" in says:
        assert err.endswith("name both the entry point and the game 'leduc_poker'\n")
    code, out, _ = command("games")  # the other games are still listed
    assert code == 0 and says in out and "\nhearts " in out
    code, out, _ = command("games", "--json")
    assert code == 0 and says in json.loads(out)["games"][-1]["fault"]


def test_a_game_without_a_tokenizer_says_so(command, tmp_path):
    with pytest.raises(TrickformerError, match="no model plays mines: it has no tokenizer"):
        tokenizers.make(games.load("mines"))
    for arguments in (
        ["train", "mines", "--out", tmp_path / "run"],
        ["tournament", "mines", "--a", "gomcts", "--b", "random", "--deals", 1],
    ):
        code, out, err = command(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1) and "no model plays mines" in err
    assert not (tmp_path / "run").exists()


def test_the_page_shows_a_belief_that_holds():
    """The block of docs/add-a-game-belief.md is the code of support/leduc.py, which is audited and played here."""
    game = Leduc()
    report = audit.audit(game, sampler(game), 30, 1)
    assert report.good, str(report)
    assert report.check("worlds: give the same view").cases > 1000
    state, belief = game.deal(3, 1), sampler(game)
    belief.reset(game.view(state, 0))
    worlds, own = belief.sample(5000, np.random.default_rng(1)), state.history()[0]
    expected, counts = np.where(np.arange(6) == own, 0, 1000), np.bincount(worlds.hidden[:, 0], minlength=6)
    assert counts[own] == 0
    assert ((counts - expected) ** 2 / 1000).sum() < 24, f"seed 1: {counts}"  # chi-square, 4 degrees: p = 0.0001
    assert np.allclose(np.exp(belief.log_prob(worlds)), 0.2)
    worlds.hidden[0] = own
    assert belief.log_prob(worlds)[0] == -np.inf
    with pytest.raises(ValueError, match="call reset"):
        sampler(game).sample(1, np.random.default_rng(0))


@pytest.mark.parametrize("spec", ["pimc:worlds=4", "rollout:worlds=4", "ismcts:runs=20"])
def test_players_search_by_that_belief(spec):
    game, asked = Leduc(), 0
    player = players.make(spec, game)
    for index in range(3):
        for state in random_playout(game.deal(1, index), random.Random(index)):
            if not state.is_terminal() and not state.is_chance_node():
                seen = game.view(state, state.current_player())
                (decision,) = player.act([seen], [np.random.default_rng(2)], [{}])
                assert decision.action in seen.legal, f"hand {index}: {state}"
                asked += 1
    assert asked > 5


class NoughtsAndCrosses(Game):
    """A game that hides nothing."""

    name = "tic_tac_toe"
    players = 2
    higher_is_better = True

    def __init__(self):
        self.spiel = pyspiel.load_game("tic_tac_toe")
        labels = ((1, -1), (0, 0), (-1, 1))
        self.outcomes = Outcomes(labels, np.array(labels, np.float32))

    def view(self, state, viewer):
        events = tuple(Event(step.player, step.action) for step in state.full_history())
        return View(viewer, events, tuple(state.legal_actions()) if state.current_player() == viewer else ())


def test_ismcts_refuses_a_game_that_hides_nothing():
    with pytest.raises(TrickformerError, match="'ismcts' is for games with hidden information; tic_tac_toe has none"):
        players.make("ismcts", NoughtsAndCrosses())


@pytest.mark.parametrize("game", [games.load(name) for name in games.NAMES])
def test_a_seat_that_does_not_exist_has_no_view(game):
    state = game.deal(1, 0)
    for seat in (-2, game.players):
        with pytest.raises(TrickformerError, match=f"there is no seat {seat} in {game.name}: seats are 0 to "):
            game.view(state, seat)
    assert [game.view(state, seat).viewer for seat in range(PUBLIC, game.players)] == [*range(PUBLIC, game.players)]


def test_the_loader_of_the_page_refuses_options():
    assert load("leduc_poker").players == 2
    with pytest.raises(TrickformerError, match="leduc_poker"):
        load("leduc_poker(players=3)")


def test_at_a_showdown_that_belief_is_the_card():
    game, shown = Leduc(), 0
    for index in range(40):
        *_, state = random_playout(game.deal(1, index), random.Random(index))
        if state.history()[-1] == 0:  # a seat has folded, and nobody shows
            continue
        belief = sampler(game)
        for seat in range(2):
            belief.reset(game.view(state, seat))
            assert belief.left == [state.history()[1 - seat]], f"hand {index}, seat {seat}: {state}"
            assert str(belief.sample(1, np.random.default_rng(0)).state(0)) == str(state)
        shown += 1
    assert shown > 3
