"""runs/search_gains.py: searches of a recorded run come to the gains that they had, and gains with the hands that were
dealt are those of all orders of the deck on OpenSpiel."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path

import pytest
import torch
from support.hanabi_turns import decided

from trickformer import games, players
from trickformer.belief.samplers.hanabi import replay
from trickformer.models.hanabi_values import ActionValues, HanabiCheckpoint, NetworkSizes, save
from trickformer.tournaments import run
from trickformer.tournaments.plan import Tournament

GAME = games.load("hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=2,max_life_tokens=2)")
SEARCH = "rl_search:checkpoint={},multi=true,worlds=60,steps=15,batch=48,learning_rate=0.02,exploration=0.6,assess=20"
SEARCH += ",blueprint=partner:style=simple"


@pytest.fixture
def search_gains(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2])
    return importlib.import_module("runs.search_gains")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Folder of a tournament of a search by an untrained network."""
    torch.manual_seed(1)
    folder = tmp_path_factory.mktemp("search")
    (folder / "network").mkdir()
    model = ActionValues(NetworkSizes.for_rules(GAME.rules, 24, 2, False))
    save(HanabiCheckpoint(model, GAME.rules, True, 0.0, {}), folder / "network")
    a = SEARCH.format(f'"{folder / "network"}"')
    run.tournament(Tournament(game=str(GAME.spiel), a=a, b="partner:style=simple", deals=6, seed=1, out=folder / "run"))
    return folder / "run"


def value(state, team, network, moves):
    """Mean score if the network makes some moves and then the blueprint, over all orders of the deck."""
    if state.is_terminal():
        return GAME.scores(state)[0]
    if state.is_chance_node():
        return sum(p * value(state.child(card), team, network, moves) for card, p in state.chance_outcomes())
    if moves:
        (action,) = team.tuning.actions(network, replay(GAME, state.history()))
    else:
        action = decided(players.make("partner:style=simple", GAME), GAME.view(state, state.current_player())).action
    return value(state.child(int(action)), team, network, max(moves - 1, 0))


def test_gains_with_the_dealt_hands_are_those_of_all_orders_of_the_deck(search_gains, played):
    recorded, compared = run.load(played), 0
    team = players.make(recorded.config.a, GAME).team
    for record in [r for r in recorded.records if set(r.seating) == {0}]:
        found = iter(search_gains.estimate_gains(team, GAME, record, 2_000, 1))
        player, state = players.make(recorded.config.a, GAME), GAME.spiel.new_initial_state()
        for action in record.history:
            if not state.is_chance_node():
                result = player.games.follow(GAME.view(state, state.current_player()))[0].search_next_move()
                if result.gain:
                    gain = value(state, team, result.policy, 2) - value(state, team, None, 0)
                    own, exact, dealt = next(found)
                    assert (own, exact) == pytest.approx((result.gain, result.exact_gain))
                    assert dealt == pytest.approx(gain, abs=0.08)
                    compared += 1
            state.apply_action(action)
        assert next(found, None) is None
    assert compared > 2, compared


def test_the_table_sums_up_a_run(search_gains, played, capsys):
    search_gains.main([str(played), "--shuffles", "20"])
    *_, row = capsys.readouterr().out.splitlines()
    assert row.startswith("| 6 | ") and row.count("±") == 4, row


def test_another_search_is_one_line(search_gains, played, tmp_path, capsys):
    """A run of other weights, and one of another player. So are numbers that are too small."""
    with pytest.raises(SystemExit):
        search_gains.main([str(played), "--shuffles", "0"])
    assert capsys.readouterr().err.startswith("error: --shuffles or --seed is too small; use --shuffles 1")
    folder = shutil.copytree(played, tmp_path / "run")
    network = played.parent / "network"
    torch.manual_seed(2)
    model = ActionValues(NetworkSizes.for_rules(GAME.rules, 24, 2, False))
    kept = shutil.copytree(network, tmp_path / "kept")
    save(HanabiCheckpoint(model, GAME.rules, True, 0.0, {}), network)
    run.tournament(Tournament(game="hanabi", a="random", b="partner", deals=1, out=tmp_path / "other"))
    try:
        for path, says in ((folder, "the search gains"), (tmp_path / "other", "is no tournament of one rl_search")):
            with pytest.raises(SystemExit) as stopped:
                search_gains.main([str(path)])
            err = capsys.readouterr().err
            assert stopped.value.code == 2 and says in err.splitlines()[-1], err
    finally:
        shutil.copytree(kept, network, dirs_exist_ok=True)
