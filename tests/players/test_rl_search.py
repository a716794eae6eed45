"""RL search in Hanabi: values tuned to a decision are those of all its worlds, games in step are games one by one,
hidden cards change nothing, and it is not below the blueprint. test_rl_search_multi.py is about both seats."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from support.hanabi_turns import decided, decision_of, turns
from support.play import decisions
from support.rl_search import BOT, DRAWING, NETWORK, SHIPPED, TEAM, TINY, scores, spec, team_spec

from trickformer import _core, checkpoints, games, players
from trickformer.base import Decision, TrickformerError
from trickformer.belief.hanabi import networks
from trickformer.belief.hanabi.config import BeliefTraining
from trickformer.belief.samplers.hanabi import replay
from trickformer.models.hanabi_values import ActionValues, action_values
from trickformer.studies.belief.system import process_of


@pytest.mark.slow
def test_tuned_values_are_those_of_all_worlds(folders):
    """Over every hand, with many decks each, where the blueprint goes on after one move."""
    given = {"horizon": 1, "steps": 200, "batch": 100, "worlds": 2_000, "threshold": 0, "exploration": 0.6}
    search, looked = players.make(spec(folders["mlp"], **given), TINY), 0
    for number, (_, view) in enumerate(turns(TINY, "smart", 41, deals=6)):
        if view.viewer or len(view.legal) < 2 or number % 4:
            continue
        core = decision_of(TINY, view, "smart")
        hands, weights, _ = core.consistent_hands(10_000, 1, 1, 0)
        if not len(hands):
            continue
        many = hands.repeat(300, 0)
        scores = core.play(many, core.decks(many, 5), np.array(view.legal), 0).astype(float)
        exact = np.average(scores.reshape(len(hands), 300, -1).mean(axis=1), axis=0, weights=weights)
        (decision,) = search.act([view], [np.random.default_rng(number)], [{}])
        found = exact[view.legal.index(decision.action)]
        assert found >= exact.max() - 0.25, (number, exact, decision)
        assert decision.value * TINY.rules.kinds == pytest.approx(found, abs=0.15), number
        blueprint = exact[view.legal.index(core.blueprint(0))]
        assert decision.gain == pytest.approx(found - blueprint, abs=0.2), number
        looked += 1
    assert looked > 2, looked


@pytest.mark.parametrize("horizon", [1, 2, 5])
def test_games_in_step_are_games_one_by_one(folders, horizon):
    """With values the seat plays by them, with None all play the blueprint, which draws nothing."""
    search = players.make(spec(folders["mlp"], horizon=horizon), TINY)
    tuning, model = search.tuning, search.model
    x = _core.hanabi.Tables(TINY.rules, 3, 0, 60)
    for _ in range(4):
        x.step(x.choose(np.full(60, BOT, dtype=np.int8), 0))
    assert not x.over().any() and (x.current() == 0).all()
    blueprint = x.choose(np.full(60, BOT, dtype=np.int8), 0)
    np.testing.assert_array_equal(tuning.scores(None, x, 1), x.play_out(blueprint, BOT, 0))
    found, ended = tuning.scores(model, x, 1), 0
    for i in range(60):
        one, own = x.take(np.array([i])), 0
        while not one.over()[0]:
            action = one.choose(np.full(1, BOT, dtype=np.int8), 0)
            if one.current()[0] == 0 and own < horizon:
                seen, legal = (torch.from_numpy(a) for a in (one.observe(None, True), one.legal()))
                with torch.no_grad():
                    q = action_values(model, seen, legal)
                action = np.array([int(q.masked_fill(~legal, -torch.inf).argmax())])
                own += 1
            one.step(action)
        ended += own < horizon
        assert one.scores()[0] == found[i], i
    assert horizon < 5 or ended > 0


@pytest.mark.parametrize(
    ("others", "horizon", "bootstrap"),
    [
        (1, 1, False),
        (1, 4, False),
        (0, 2, False),
        (0, 5, False),
        (1, 1, True),
        (1, 2, True),
        (0, 2, True),
        (0, 5, True),
    ],
)
def test_targets_are_those_of_games_one_by_one(folders, others, horizon, bootstrap):
    """For one seat (others=1) and for both. The target of a seat's move is its next move by the network. The target of
    its last move is the final score, or with `bootstrap` the score plus the blueprint's value."""
    search = players.make(spec(folders["mlp"]), TINY)
    tuning = replace(search.tuning, others=others, horizon=horizon, exploration=0.0, discount=0.9)
    if bootstrap:
        estimating = players.make(team_spec(folders, **NETWORK), TINY).team.tuning
        lively = players.make(f"obl:checkpoint={folders['lively']}", TINY).trained.model
        tuning = replace(tuning, bootstrap=estimating.bootstrap)
    torch.manual_seed(2)
    model, target = search.model, ActionValues(search.model.sizes)
    x = _core.hanabi.Tables(TINY.rules, 4, 0, 40)
    for _ in range(4):
        x.step(x.choose(np.full(40, BOT, dtype=np.int8), 0))
    slow, bootstrapped, estimated = [[] for _ in range(horizon)], 0, 0
    for i in range(40):
        one, moves, to_come = x.take(np.array([i])), [], 0
        while not one.over()[0]:
            bot = one.choose(np.full(1, BOT, dtype=np.int8), 0)
            seen, legal = (torch.from_numpy(a) for a in (one.observe(None, True), one.legal()))
            if len(moves) == horizon and bootstrap:
                with torch.no_grad():
                    to_come = action_values(lively, seen, legal)[legal].max().item()
                estimated += 1
                break
            if len(moves) == horizon:
                one.step(bot)
                continue
            with torch.no_grad():
                q, by = (action_values(m, seen, legal)[0].numpy() for m in (model, target))
            action = int(np.where(legal[0], q, -np.inf).argmax())
            moves.append((int(one.current()[0]), int(one.scores()[0]), q[action], by[action]))
            one.step(np.array([action]))
            for _ in range(others):
                one.step(one.choose(np.full(1, BOT, dtype=np.int8), 0))
        for m, (seat, score, value, _) in enumerate(moves):
            then = next((later for later in moves[m + 1 :] if later[0] == seat), None)
            wanted = one.scores()[0] + to_come - score if then is None else then[1] - score + 0.9**2 * then[3]
            slow[m].append(value - wanted)
            bootstrapped += then is not None
    found = tuning.td_errors(model, target, x, np.random.default_rng(1)).detach().numpy()
    np.testing.assert_allclose(found, np.concatenate(slow), atol=1e-5)
    assert (bootstrapped > 0) == (horizon + others > 2)
    assert (estimated > 0) == bootstrap


def test_hidden_cards_change_nothing(folders):
    game, exchanged, searched = games.load("hanabi"), 0, 0
    search = players.make(spec(folders["large"], steps=3, tries=2000, listed=500, threshold=0), game)
    for number, (state, view) in enumerate(turns(game, "smart", 8, deals=1)):
        twin = game.exchange(state, view, np.random.default_rng(number))
        if twin is None or number % 5:
            continue
        answers = [search.act([game.view(s, 0)], [np.random.default_rng(number)], [{}]) for s in (state, twin)]
        assert answers[0] == answers[1], number
        exchanged += 1
        searched += answers[0][0].gain is not None
    assert exchanged > 3 and searched > 3


@pytest.mark.slow
def test_search_is_not_below_the_blueprint(folders):
    """A network that knows nothing is tuned, or not followed. The weights that it began with stay."""
    deals = 16
    search = players.make(spec(folders["mlp"], steps=15), TINY)
    before = {name: w.clone() for name, w in search.model.state_dict().items()}
    gain = scores(search, deals) - scores(players.make("partner:style=smart", TINY), deals)
    assert gain.mean() > 0, gain
    assert all(torch.equal(w, before[name]) for name, w in search.model.state_dict().items())


def test_other_seats_and_unexplained_moves_are_left_to_the_blueprint(folders):
    search, blueprint = players.make(spec(folders["mlp"], seat=1, steps=2), TINY), players.make("partner", TINY)
    unexplained = 0
    for deal in range(12):
        rng = np.random.default_rng(deal)
        for state, view in decisions(TINY, 2, deal):
            decision = decided(search, view)
            if decision.gain is None:
                assert decision == decided(blueprint, view)
                unexplained += view.viewer == 1 and len(view.legal) > 1
            state.apply_action(int(rng.choice(view.legal)))
    assert unexplained > 5


def test_preset_of_the_authors(folders):
    """What is given goes before it; a decision by it is one like others."""
    paper = players.make(f'rl_search:checkpoint="{folders["mlp"]}",preset=paper', TINY).tuning
    assert (paper.steps, paper.batch, paper.worlds, paper.horizon) == (5_000, 128, 5_000, 1)
    shares = {round(s, 12) for s in paper.exploration_shares(10_000, np.random.default_rng(1))}
    assert shares == {round(0.1 ** (1 + 7 * i / 79), 12) for i in range(80)}
    given = spec(folders["mlp"], preset="paper", steps=2, batch=4, worlds=20, threshold=0, clip=1e-9)
    search, looked = players.make(given, TINY), 0
    assert (search.tuning.learning_rate, search.tuning.target_every) == (0.01, 2_500)
    assert players.parse(players.short(given)) == players.parse(given)
    both = f'rl_search:checkpoint="{folders["mlp"]}",multi=true,preset=paper'
    team = players.make(both, TINY).team.tuning
    assert team == replace(paper, horizon=2, others=0, blueprint=team.blueprint)
    for number, (_, view) in enumerate(turns(TINY, "smart", 8, deals=1)):
        (decision,) = search.act([view], [np.random.default_rng(number)], [{}])
        assert decision.action in view.legal
        looked += decision.value is not None
    assert looked > 2


def test_settings_of_learning_do_what_they_say(folders):
    """Without a gradient nothing is learned; a target network that is never made anew leaves other weights."""
    found = {}
    for name, given in {"as it is": {}, "clipped": {"clip": 1e-30}, "old target": {"target_every": 100}}.items():
        search = players.make(spec(folders["mlp"], horizon=3, steps=6, **given), TINY)
        x = _core.hanabi.Tables(TINY.rules, 3, 0, 30)
        found[name] = search.tuning.tune(search.model, lambda _, x=x: x, np.random.default_rng(1))
    as_it_is, clipped, old, before = (list(m.parameters()) for m in (*found.values(), search.model))
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(clipped, before))
    assert not all(torch.allclose(a, b, atol=1e-3) for a, b in zip(as_it_is, before))
    assert not all(torch.allclose(a, b, atol=1e-6) for a, b in zip(as_it_is, old))


def test_a_seat_lets_an_accepted_network_make_its_horizon_of_moves(folders):
    given = {"horizon": 3, "threshold": 0, "learning_rate": 0.02, "exploration": 0.6, "blueprint": TEAM["blueprint"]}
    player, anew = (players.make(spec(folders["mlp"], **given, follow=follow), TINY) for follow in ("true", "false"))
    blueprint, searches, followed = players.make(TEAM["blueprint"], TINY), 0, 0
    for deal in range(6):
        memo, left, network = {}, 0, None
        for number, (state, view) in enumerate(decisions(TINY, 5, deal)):
            action = decided(blueprint, view).action
            if view.viewer == 0 and len(view.legal) > 1:
                (decision,) = player.act([view], [np.random.default_rng(number)], [memo])
                if left:
                    chosen = player.tuning.actions(network, replay(TINY, state.history()))
                    assert decision == Decision(int(chosen[0])), deal
                    followed += 1
                else:
                    assert decision.gain is not None, deal
                    left, network = (3, memo["followed"].network) if decision.gain else (0, None)
                    assert anew.act([view], [np.random.default_rng(number)], [{}])[0].gain is not None
                    searches += 1
                action, left = decision.action, max(left - 1, 0)
                if deal == 5 and left:  # another move than the network's
                    action, left = next(a for a in view.legal if a != action), 0
            state.apply_action(action)
    assert searches > 10 and followed > 3, (searches, followed)


@pytest.mark.parametrize("multi", [False, True])
@pytest.mark.parametrize(
    ("belief", "network"),
    [
        ("seq2seq", ""),
        ("bft", ""),
        ("bft", " of a network"),
        pytest.param("exact", " of a network", marks=pytest.mark.slow),
    ],
)
def test_search_on_a_learned_belief(belief, network, multi, folders, belief_networks):
    """It counts impossible worlds, and cards that the viewer does not see change no decision."""
    game, exchanged, gains = games.load("hanabi"), 0, []
    given = {"steps": 2, "worlds": 20, "batch": 8, "threshold": 0, "listed": 500, "tries": 1_000, "assess": 20}
    given |= {"multi": str(multi).lower(), "belief": belief, "exploration": 0.6}
    if belief != "exact":
        given["belief_checkpoint"] = f'"{belief_networks[("fosg" if multi else "pomdp") + network]}"'
    if network:
        given["blueprint"] = SHIPPED
    given |= {"belief_steps": 2, "belief_batch": 8} if belief == "bft" else {}
    given = spec(folders["large"], **given)
    player, state, memos = players.make(given, game), game.deal(8, 0), ({}, {})
    for number in range(8):
        while state.is_chance_node():
            state.apply_action(game.chance(state, 8, 0))
        view, twin = game.view(state, state.current_player()), None
        if number in (2, 6):
            twin = game.exchange(state, view, np.random.default_rng(number))
        memo = memos[view.viewer] if twin is None else {}  # a new belief follows the game from its beginning
        decision = player.act([view], [np.random.default_rng(number)], [memo])[0]
        if twin is not None:
            seen, other = game.view(twin, view.viewer), players.make(given, game)
            assert other.act([seen], [np.random.default_rng(number)], [{}])[0] == decision, number
            exchanged += 1
        if multi or view.viewer == 0:
            assert decision.searched == (0 if belief == "exact" and not multi else 40), decision
            assert 0 <= decision.illegal <= (0 if belief == "exact" else 40), decision
            gains.append(decision.exact_gain)
        state.apply_action(decision.action)
    assert exchanged == 2 and all(gain is not None for gain in gains), (exchanged, gains)


@pytest.mark.parametrize("of", [NETWORK, DRAWING])
def test_a_network_as_blueprint_acts_as_its_player_does(folders, of):
    """In views and at tables. At a temperature the actions are draws from its player's policy."""
    blueprint = players.make(team_spec(folders, **of), TINY).team.tuning.blueprint
    player, differing = players.make(f"obl:checkpoint={folders['lively']}", TINY), 0
    for deal in range(6):
        rng = np.random.default_rng(deal)
        for state, view in decisions(TINY, 5, deal):
            chosen = decided(player, view).action
            drawn = np.array([blueprint.act(view, seed) for seed in range(8)])
            assert (blueprint.choose(replay(TINY, state.history()), 3) == drawn[3]).all()
            assert set(drawn.tolist()) <= set(view.legal)
            differing += int((drawn != chosen).sum())
            state.apply_action(int(rng.choice(view.legal)))
    assert (differing > 0) == (of is DRAWING)


def test_a_network_as_blueprint_draws_from_the_softmax_of_its_values(folders):
    blueprint = players.make(team_spec(folders, **DRAWING), TINY).team.tuning.blueprint
    player, n = players.make(f"obl:checkpoint={folders['lively']}", TINY), 4_000
    for state, view in decisions(TINY, 5, 1):
        table = replay(TINY, state.history())
        legal = torch.from_numpy(table.legal())
        values = action_values(player.trained.model, torch.from_numpy(table.observe(None, True)), legal)
        expected = torch.softmax(values.masked_fill(~legal, -torch.inf) / 0.3, dim=1)[0].detach().numpy()
        drawn = blueprint.choose(table.take(np.zeros(n, dtype=np.int64)), 7)
        found = np.bincount(drawn, minlength=len(expected)) / n
        assert np.abs(found - expected).max() < 4 * 0.5 / np.sqrt(n), (found, expected)
        mean = (expected * values[0].detach().numpy()).sum()
        assert blueprint.values(table)[0] == pytest.approx(mean, abs=1e-5)
        state.apply_action(view.legal[-1])


def test_games_by_a_network_as_blueprint_are_its_players_games(folders):
    """Against the player `obl` on OpenSpiel, one game after another, after some moves of a script."""
    blueprint = players.make(team_spec(folders, **NETWORK), TINY).team.tuning.blueprint
    player, n = players.make(f"obl:checkpoint={folders['lively']}", TINY), 40
    x = _core.hanabi.Tables(TINY.rules, 3, 0, n)
    starts, moves = [x[i] for i in range(n)], []
    for move in range(4):
        moves.append(x.choose(np.full(n, BOT, dtype=np.int8), 0))
        if move < 3:
            x.step(moves[-1])
    before = x.scores().copy()
    scores = blueprint.play_out(x, moves[-1], 1, 1)
    assert (x.scores() == before).all() and len(set(scores.tolist())) > 2
    for i, start in enumerate(starts):
        state, cards = TINY.spiel.new_initial_state(), iter(start.deck)
        for card in (*start.hand(0), *start.hand(1)):
            state.apply_action(card)
        actions = iter([int(action[i]) for action in moves])
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(next(cards))
                continue
            action = next(actions, -1)
            state.apply_action(
                decided(player, TINY.view(state, state.current_player())).action if action < 0 else action
            )
        assert TINY.scores(state)[0] == scores[i], i


def test_a_run_depends_on_the_blueprints_files(folders, monkeypatch):
    """A resolved spec has the absolute path of the blueprint, and the files of the player include its files."""
    monkeypatch.chdir(folders["lively"].parent)
    given = f'rl_search:checkpoint="{folders["mlp"]}",blueprint=obl:checkpoint={folders["lively"].name}'
    resolved = players.resolve(given, TINY)
    assert f"blueprint=obl:checkpoint={folders['lively']}" in resolved
    assert f"{folders['lively']}/model.safetensors" in players.files(resolved)


@pytest.mark.parametrize(
    ("game", "given", "says"),
    [
        ("hearts", "checkpoint={mlp}", "plays hanabi only, not hearts"),
        ("tiny", "", "'rl_search' needs checkpoint=hanabi-obl,"),
        ("tiny", "checkpoint={mlp},seat=2", "there is no seat 2: seats are 0 to 1"),
        (
            "tiny",
            "checkpoint={mlp},blueprint=random",
            r"its blueprint is a scripted player, .* or a network, obl:checkpoint=\.\.\., not 'random'",
        ),
        ("tiny", "checkpoint={mlp},blueprint=nobody", "unknown player 'nobody'"),
        ("tiny", "checkpoint={mlp},blueprint=obl", "player 'obl' needs checkpoint=hanabi-obl,"),
        ("tiny", "checkpoint={mlp},blueprint=obl:checkpoint={lstm}", "the network has an LSTM"),
        ("tiny", "checkpoint={mlp},blueprint=obl:checkpoint={imitation}", "has no values; give bootstrap=false"),
        ("tiny", "checkpoint={mlp},bootstrap=true", "bootstrap=true is for blueprint=obl:checkpoint=NAME"),
        ("tiny", "checkpoint={mlp},blueprint=obl:checkpoint={mlp},threads=2", "threads=2 is for a script as blueprint"),
        ("tiny", "checkpoint={mlp},blueprint=obl:checkpoint={large}", "was trained on hanabi with colors=5, not 2"),
        ("hanabi(players=3)", "checkpoint={large},blueprint=obl:checkpoint={large}", "needs two players, not 3"),
        ("hanabi", "checkpoint={large},blueprint=obl:checkpoint={large},{on_smart}", "trained on smart and smart, not"),
        ("hanabi", "checkpoint={large},{on_network}", "not on the blueprint smart"),
        ("tiny", "checkpoint={lstm}", "tunes networks without a memory"),
        ("tiny", "checkpoint={large}", "was trained on hanabi with colors=5, not 2"),
        ("tiny", "checkpoint={mlp},multi=true,seat=1", "seat=1 is for multi=false"),
        ("hanabi(players=3)", "checkpoint={large},multi=true", "multi=true needs two players, not 3"),
        ("tiny", "checkpoint={mlp},seed=1", "seed=1 is for multi=true"),
        ("tiny", "checkpoint={mlp},exploration_power=1", "exploration_power=1.0 is for explorations > 1"),
        (
            "tiny",
            "checkpoint={mlp},multi=true,discount=0.9",
            r"discount=0.9 is for horizon > 1 \(with",
        ),
        ("tiny", "checkpoint={mlp},horizon=1,target_every=9", "target_every=9 is for horizon > 1"),
        ("tiny", "checkpoint={mlp},horizon=1,follow=false", "follow=false is for horizon > 1"),
        ("tiny", "checkpoint={mlp},multi=true,device=cuda", "multi=true needs device=cpu"),
        ("hanabi", "checkpoint={large},belief=bft", "need belief_checkpoint=DIR"),
        ("hanabi", "checkpoint={large},belief_steps=5", "belief_steps=5 is for belief=bft"),
        ("tiny", "checkpoint={mlp},belief=seq2seq,belief_checkpoint={mlp}", "belief networks are for"),
    ],
)
def test_what_does_not_fit_is_refused(game, given, says, folders, belief_networks):
    paths = {name: str(folder) for name, folder in folders.items()}
    for name, form in (("on_smart", "fosg"), ("on_network", "fosg of a network")):
        paths[name] = f'multi=true,belief=seq2seq,belief_checkpoint="{belief_networks[form]}"'
    given = given.format(**paths)
    with pytest.raises(TrickformerError, match=says) as caught:
        players.make(f"rl_search:{given}".rstrip(":"), TINY if game == "tiny" else games.load(game))
    assert "\n" not in str(caught.value)


def test_defaults_without_effect_are_accepted_and_left_out(folders):
    """As a record of a run may have them."""
    given = spec(folders["mlp"], multi="true")
    assert players.resolve(given + ",discount=1.0,target_every=1,exploration_power=0.0", TINY) == players.resolve(
        given, TINY
    )
    players.make(given + ",discount=1.0,target_every=1,exploration_power=0.0", TINY)


def test_a_belief_knows_its_blueprint_by_the_weights(folders, tmp_path):
    """A copy at another path is the same blueprint. Other weights at the same path are another one."""
    policy, file, game = tmp_path / "policy", tmp_path / "belief.safetensors", games.load("hanabi")
    shutil.copytree(folders["large"], policy)
    config = BeliefTraining(hidden=8, form="hmm", players=[f"obl:checkpoint={policy}"] * 2)
    networks.save(networks.network_of(config), config, process_of(config).identities(), file)

    def make(checkpoint):
        given = {"blueprint": f'"obl:checkpoint={checkpoint}"', "belief": "seq2seq", "belief_checkpoint": f'"{file}"'}
        players.make(spec(checkpoint, multi="true", **given), game)

    make(policy)
    make(folders["large"])
    with pytest.raises(TrickformerError, match="not on the blueprint obl:checkpoint=hanabi-obl-1"):
        make("hanabi-obl-1")
    shutil.copytree(checkpoints.find("hanabi-obl-1"), policy, dirs_exist_ok=True)
    with pytest.raises(TrickformerError, match=f"was trained on other weights of obl:checkpoint={policy}"):
        make(policy)
