"""Bots of OpenSpiel at our tables: what they are told, worlds that are kept, factories of other modules, and faults."""

import random
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from support.kuhn import Kuhn, KuhnBelief
from support.play import decisions
from support.records import comparable

from trickformer import games, players
from trickformer.base import TrickformerError
from trickformer.belief import sampler, weighted_belief
from trickformer.belief.world import update_world
from trickformer.players import spiel
from trickformer.studies.crew.plan import CrewEvaluation
from trickformer.tournaments import run
from trickformer.tournaments.plan import Hand, Tournament
from trickformer.tournaments.play import play


class Recorder(pyspiel.Bot):
    """Plays the first legal action and keeps all that it was told: a list for each restart."""

    made: list["Recorder"]

    def __init__(self, seat, seed):
        super().__init__()
        self.seat, self.seed, self.heard, self.shown = seat, seed, [], []
        Recorder.made.append(self)

    def restart(self):
        self.heard.append([])

    def inform_action(self, state, player, action):
        assert state.current_player() == player and action in state.legal_actions()
        self.heard[-1].append((player, action))

    def step(self, state):
        """All that has happened in this world was told, or was chosen here."""
        steps = [(step.player, step.action) for step in state.full_history()]
        assert self.heard[-1] == steps
        action = state.legal_actions()[0]
        self.heard[-1].append((self.seat, action))
        self.shown.append(state.clone())
        return action


@pytest.fixture(autouse=True)
def recorders():
    Recorder.made = []
    return Recorder.made


def seated(game, belief):
    return spiel.Spiel(game, Recorder, belief, "recorder")


def test_a_bot_follows_a_world_that_explains_its_hand(recorders):
    """What is bet says nothing of the cards, so that one world lasts for a hand."""
    game = Kuhn()
    belief = KuhnBelief(game)
    cast = [seated(game, belief), players.make("random", game)]
    records = list(play(game, cast, [Hand(d, (0, 1, 1)) for d in range(40)], 3, 8))
    assert len(recorders) == len(belief.worlds) == 40, "a bot and a world for each hand"
    assert [len(bot.heard) for bot in recorders] == [1] * 40, "told from the beginning once"
    assert sum(len(bot.shown) for bot in recorders) == sum(r.decisions[0] for r in records) > 40
    true = {tuple(r.history[:3]) for r in records}
    shown = {tuple(bot.shown[0].history()[:3]) for bot in recorders}
    assert shown - true  # hidden cards are drawn, not copied


@pytest.mark.parametrize("name", ["hearts", "skat", "crew"])
def test_a_bot_is_restarted_only_where_its_world_must_change(name, recorders):
    game = games.load(name)
    cast = [seated(game, sampler(game)), players.make("random", game)]
    seatings = game.seatings(2)
    records = list(play(game, cast, [Hand(d, seatings[d % len(seatings)]) for d in range(4)], 5, 4))
    turns = sum(n for r in records for n, who in zip(r.decisions, r.seating) if who == 0)
    held = sum(1 for r in records for n, who in zip(r.decisions, r.seating) if who == 0 and n)
    assert len(recorders) == held and len({bot.seed for bot in recorders}) == held
    restarts = sum(len(bot.heard) for bot in recorders)
    assert held <= restarts < turns
    for bot in recorders:
        for state in bot.shown:
            assert game.view(state, bot.seat).legal == tuple(state.legal_actions())


def test_a_bot_sees_the_state_when_asked_to(recorders):
    game = games.load("hearts")
    cast = [seated(game, None), players.make("random", game)]
    record = next(play(game, cast, [Hand(2, (1, 0, 1, 1))], 3, 1))
    (bot,) = recorders
    assert len(bot.heard) == 1
    assert all(list(record.history[: state.move_number()]) == state.history() for state in bot.shown)


@pytest.mark.parametrize("hidden", [True, False])
def test_a_bot_in_whose_place_something_else_was_done_is_told_all_anew(hidden, recorders):
    """As where a share of moves is random, or a search leaves the bot that it improves on."""
    game = games.load("hearts")

    class Straying(spiel.Spiel):
        def act(self, views, rng, memo):
            return [replace(d, action=v.legal[-1]) for v, d in zip(views, super().act(views, rng, memo))]

    cast = [Straying(game, Recorder, sampler(game) if hidden else None, "recorder"), players.make("rules", game)]
    (record,) = play(game, cast, [Hand(2, (1, 0, 1, 1))], 3, 1)
    (bot,) = recorders  # whose `step` sees that it was told the truth
    assert len(bot.shown) == record.decisions[1] == 16 and len(bot.heard) > 3


@pytest.mark.parametrize("name", games.NAMES)
def test_a_kept_world_explains_every_view(name):
    """In random hands: the view of the world is that of the true state; what was kept is the world of before."""
    game, kept = games.load(name), 0
    belief = sampler(game)
    for seed in range(8):
        rng, memos = random.Random(seed), {}
        for state, view in decisions(game, seed, 1):
            seat = view.viewer
            memo = memos.setdefault(seat, {})
            before = memo["world"][0].history() if "world" in memo else None
            world, anew = update_world(game, belief, view, np.random.default_rng([seed, state.move_number()]), memo)
            assert game.view(world, seat) == view, f"seed {seed}"
            assert anew or world.history()[: len(before)] == before, f"seed {seed}"
            kept += not anew
            state.apply_action(rng.choice(view.legal))
    assert kept


def test_a_world_that_explains_the_view_draws_nothing():
    game, memo = Kuhn(), {}
    belief = KuhnBelief(game)
    state = game.deal(1, 1)
    view = game.view(state, 0)
    world, anew = update_world(game, belief, view, np.random.default_rng(1), memo)
    assert anew
    rng = np.random.default_rng(2)
    assert update_world(game, belief, view, rng, memo) == (world, False)
    assert rng.random() == np.random.default_rng(2).random()


SOURCE = """
import random

import pyspiel


class Bot(pyspiel.Bot):
    def __init__(self, game, player_id, seed):
        super().__init__()
        assert game.get_type().short_name in ("hearts", "trickformer_skat"), game
        self.rng = random.Random(seed)

    def restart(self):
        pass

    def inform_action(self, state, player, action):
        pass

    def step(self, state):
        return self.rng.choice(state.legal_actions())


class Failing(Bot):
    def step(self, state):
        raise LookupError("no card\\nis good enough")


class Silent(Bot):
    def step(self, state):
        return None


def three(game, player_id, seed):
    return 3


def broken(game, player_id, seed):
    raise OSError("no weights")


number = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The name of a module of somebody else's, for this process and those that it starts."""
    (tmp_path / "somebody").mkdir()
    (tmp_path / "somebody" / "__init__.py").write_text("")
    (tmp_path / "somebody" / "bots.py").write_text(SOURCE)
    (tmp_path / "somebody" / "torn.py").write_text("1 +")
    (tmp_path / "somebody" / "script.py").write_text("import sys\nsys.exit('bye')")
    monkeypatch.syspath_prepend(tmp_path)
    yield "somebody.bots"
    for name in [name for name in sys.modules if name.partition(".")[0] == "somebody"]:
        del sys.modules[name]


@pytest.mark.slow
@pytest.mark.parametrize(("game", "options"), [("hearts", ""), ("skat", ",worlds=weighted"), ("skat", ",state=true")])
def test_a_bot_of_another_module_plays_tournaments(game, options, module, tmp_path, command):
    """The records are the same at any number of tables, by workers, and where a run was stopped and gone on with."""
    spec = f"spiel:bot={module}:Bot{options}"
    given = {"game": game, "a": spec, "b": "random", "deals": 2, "seed": 3}
    whole = comparable(run.tournament(Tournament.model_validate(given)).records)
    for more in ({"tables": 5}, {"workers": 2})[: 2 if "state" in options else 1]:
        assert comparable(run.tournament(Tournament.model_validate(given | more)).records) == whole
    out = tmp_path / "out"
    typed = ["tournament", game, "--a", spec, "--b", "random", "--deals", 2, "--seed", 3, "--out", out]
    assert command(*typed)[0] == 0
    source = Path(players.files(spec)[module])
    source.write_text(SOURCE + "\n")
    code, _, err = command(*typed, "--resume")
    assert code == 2 and f"was begun with another {module}; choose another --out" in err
    source.write_text(SOURCE)
    records = out / run.RECORDS
    lines = records.read_bytes().splitlines(keepends=True)
    records.write_bytes(b"".join(lines[:5]) + lines[5][:30])
    code, said, err = command(*typed, "--resume")
    assert code == 0, err
    assert comparable(run.load(out).records) == whole
    assert "SAW THE TRUE STATE" in said or "state" not in options
    assert spec in (out / "report.md").read_text()
    null = Tournament.model_validate(given | {"b": spec})
    assert len({(r.deal, r.history) for r in run.tournament(null).records}) == 2, "a bot and its copy do the same"


@pytest.mark.parametrize(
    ("bot", "says"),
    [
        ("nobody.bots:Bot", "cannot import 'nobody.bots' (ModuleNotFoundError: No module named 'nobody'"),
        (":Bot", "cannot import ''"),
        ("somebody.torn:Bot", "cannot import 'somebody.torn' (SyntaxError: invalid syntax"),
        ("somebody.script:Bot", "cannot import 'somebody.script' (SystemExit: bye in "),
        ("somebody.bots:missing", "module somebody.bots has no function 'missing'"),
        ("somebody.bots:number", "module somebody.bots has no function 'number'"),
        ("somebody.bots:", "module somebody.bots has no function ''"),
        ("somebody.bots:three", "its factory returned int, not a pyspiel.Bot"),
        ("somebody.bots:broken", "bot 'somebody.bots:broken' failed: OSError: no weights"),
        ("somebody.bots:Failing", "bot 'somebody.bots:Failing' failed: LookupError: no card"),
        ("somebody.bots:Silent", "bot 'somebody.bots:Silent' failed: TypeError: 'NoneType' object"),
    ],
)
def test_a_bot_that_fails_is_one_line(bot, says, module, command):
    code, out, err = command("tournament", "hearts", "--a", f"spiel:bot={bot}", "--b", "random", "--deals", 1)
    assert code == 2 and not out
    (line,) = err.splitlines()
    assert line.startswith("error: ") and says in line and bot in line


def test_worlds_that_no_bot_can_be_shown(command):
    for spec, game, says in (
        ("spiel:worlds=weighted", "hearts", "hearts has no weighted worlds"),
        ("spiel:worlds=weighted,state=true", "skat", "state=true shows the true world; leave out worlds"),
        ("spiel:worlds=likely", "skat", "worlds=likely"),
    ):
        code, _, err = command("tournament", game, "--a", spec, "--b", "random", "--deals", 1)
        assert code == 2 and says in err and len(err.splitlines()) == 1


@pytest.mark.slow
def test_how_to_go_on_names_what_a_file_may_not_decide(module, tmp_path, command):
    few = [
        "--preset",
        "tiny",
        "--tables",
        4,
        "--label-share",
        0,
        "--action-weight",
        0,
        "--no-rollout-network",
        "--no-label-worlds",
    ]
    who = ["--bootstrap", f"spiel:bot={module}:Bot", "--bootstrap", "rules"]
    code, _, err = command("train", "hearts", *few, *who, "--stop-after", 1e-4, "--out", tmp_path / "run")
    assert code == 0 and "time is up; continue with: trickformer train --out " in err
    words = shlex.split(err.rpartition("continue with: trickformer ")[2])
    assert words[-4:] == who
    code, _, err = command(*words, "--stop-after", 1e-4)
    assert code == 0 and "time is up; continue with: " in err, "the command is refused"


def test_words_of_a_list_are_those_of_a_command(command):
    config = CrewEvaluation(player=["spiel:bot=nobody.bots:Bot", "rules"])
    words = players.to_type(config)
    assert words == ["--player", "spiel:bot=nobody.bots:Bot", "--player", "rules"]
    assert "cannot import 'nobody.bots'" in command("crew", "evaluate", *words)[2]
    assert players.to_type(Tournament(game="skat", a="engine:cmd=x", b="rules")) == ["--a", "engine:cmd=x"]
    assert players.to_type(Tournament(game="skat", a="random", b="rules")) == []


def test_a_module_is_known_from_its_name():
    assert players.parse("spiel:bot=a.b:c")[1].starts_program
    assert not players.parse("spiel:bot=uniform_random")[1].starts_program


def test_weighted_worlds_of_skat_follow_their_weights():
    """Where each hidden card lies, against the weighted mean of many uniform worlds: weighted ones are nearer to it by
    more than half than uniform ones, in every deal in which enough of them count."""
    game, rules = games.load("skat"), players.make("rules", games.load("skat"))
    belief, uniform = weighted_belief(game), sampler(game)
    checked = 0
    for index in range(12):
        state, rng = game.deal(11, index), np.random.default_rng(index)
        while not state.is_terminal() and len(state.plays) < 4:
            view = game.view(state, state.current_player())
            state.apply_action(rules.act([view], [rng], [{}])[0].action)
        if state.is_terminal():
            continue
        view = game.view(state, state.current_player())
        belief.reset(view)
        uniform.reset(view)
        many = uniform.sample(8_000, rng)
        weights = np.exp(belief.log_prob(many) - belief.log_prob(many).max())
        if weights.sum() ** 2 / (weights**2).sum() < 400:
            continue
        lies = many.hidden[:, :32, None] == np.arange(4)  # [n, card, place]
        expected = np.average(lies, axis=0, weights=weights)
        drawn = belief.sample(500, rng)
        assert belief.log_prob(drawn).min() > -np.inf
        near = np.abs((drawn.hidden[:, :32, None] == np.arange(4)).mean(axis=0) - expected).max()
        assert near < np.abs(lies.mean(axis=0) - expected).max() / 2, f"deal {index}"
        checked += 1
        if checked == 3:
            return
    pytest.fail("no such deals")


def test_importing_the_games_registers_them_with_openspiel():
    asked = (
        "import sys, trickformer.games, pyspiel\n"
        "for name in ('skat', 'crew', 'mines'): print(pyspiel.load_game(f'trickformer_{name}'))\n"
        "assert not {'torch', 'transformers', 'matplotlib', 'scipy'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert [line.partition("(")[0] for line in done.stdout.splitlines()] == [
        "trickformer_skat",
        "trickformer_crew",
        "trickformer_mines",
    ]


def test_xinxin_is_made_with_the_papers_settings(monkeypatch):
    calls = []

    class Seatless(Recorder):
        """Is told its seat by the first state to act in, as xinxin is."""

        def step(self, state):
            self.seat = state.current_player()
            return super().step(state)

    def factory(parameters, *settings):
        calls.append((parameters["pass_cards"], *settings))
        return Seatless(None, None)

    monkeypatch.setattr(pyspiel, "make_xinxin_bot", factory, raising=False)
    game = games.load("hearts")
    cast = [players.make("xinxin", game), players.make("random", game)]
    (record,) = play(game, cast, [Hand(0, (0, 1, 1, 0))], 1)
    assert record.decisions[0] in (13, 16) and len(Recorder.made) == 3, (
        "one to see whether it can be made, and one a seat"
    )
    assert set(calls) == {(True, 2_000, 0.4, 50, False)}
    assert "does not follow seeds" in cast[0].caveats[0]
    players.make("xinxin:runs=30,worlds=4,c=0.2,threads=true", game)
    assert calls[-1] == (True, 30, 0.2, 4, True)


def test_xinxin_is_refused_where_it_cannot_play(monkeypatch):
    monkeypatch.delattr(pyspiel, "make_xinxin_bot", raising=False)
    with pytest.raises(TrickformerError, match="OPEN_SPIEL_BUILD_WITH_XINXIN=ON"):
        players.make("xinxin", games.load("hearts"))
    with pytest.raises(TrickformerError, match="plays hearts only"):
        players.make("xinxin", games.load("skat"))
    monkeypatch.setattr(pyspiel, "make_xinxin_bot", lambda *_: Recorder(None, None), raising=False)
    with pytest.raises(TrickformerError, match="can_lead_hearts_instead_of_qs"):
        players.make("xinxin", games.load("hearts(can_lead_hearts_instead_of_qs=True)"))
