"""RL search of both seats in Hanabi: they come to the same network, what its moves say of hands is held to the player,
asked in each world, hidden cards change nothing, and it is not below the blueprint."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.hanabi_turns import decided, explained, listed, turns_by
from support.play import decisions
from support.rl_search import BOT, DRAWING, NETWORK, TEAM, TINY, scores, spec, team_spec

from trickformer import _core, games, players


@pytest.mark.slow
@pytest.mark.parametrize("few", [{}, {"listed": 5, "tries": 1_000}, NETWORK])
def test_moves_by_the_network_say_what_the_player_would_do_in_each_world(folders, few):
    """And those by the blueprint, for the hands of either seat; where only a few are listed, of a list that is made
    when hands are no more than these."""
    given = team_spec(folders, **{"worlds": 20, "steps": 6, "exploration": 1, "learning_rate": 0.05} | few)
    player, alone = players.make(given, TINY), players.make(given, TINY)
    checked, dropped, parted = 0, 0, 0
    for deal in range(5):
        for number, (state, view) in enumerate(turns_by(TINY, player, deal)):
            followed, table = player.games.follow(view)
            for seat in (0, 1) if number > 1 else ():
                hands = followed.belief.enumerate_hands(seat)
                if hands is None:
                    assert "listed" in few
                    continue
                possible, slow = listed(TINY, TINY.view(state, seat)), explained(TINY, alone, state, seat)
                held = {tuple(hand) for hand in hands.tolist()}
                assert held & possible.keys() == slow.keys(), (deal, number, seat)
                assert tuple([*TINY.hand(state, seat), -1, -1][:2]) in held
                checked += 1
                dropped += len(slow) < len(possible)
            network, hands = followed.search_next_move().policy, followed.belief.enumerate_hands(1 - view.viewer)
            if network is not None and hands is not None:
                said = player.team.move_log_likelihood(table, network, decided(player, view).action, hands)
                parted += 0 < np.isfinite(said).sum() < len(hands)
    fewest = 0 if "listed" in few else 2 if few is NETWORK else 3
    assert checked > 30 and dropped > 5 and parted >= fewest, (checked, dropped, parted)


@pytest.mark.slow
@pytest.mark.parametrize("differing", [{}, {"horizon": 2}, NETWORK, DRAWING])
def test_both_seats_come_to_the_same_network(folders, differing):
    """Each by itself, from nothing but its own views."""
    given, tuned = team_spec(folders, **differing), 0
    threads = "" if "blueprint" in differing else ",threads=2"
    player, alone = players.make(given, TINY), [players.make(given + threads, TINY) for _ in (0, 1)]
    for deal in range(3):
        for state, view in turns_by(TINY, player, deal):
            one, two = (p.games.follow(TINY.view(state, seat))[0] for seat, p in enumerate(alone))
            assert one.digest == two.digest
            found = [g.search_next_move() for g in (one, two)]
            assert (found[0].value, found[0].gain) == (found[1].value, found[1].gain)
            weights = [{} if f.policy is None else f.policy.state_dict() for f in found]
            assert weights[0].keys() == weights[1].keys()
            assert all(torch.equal(w, weights[1][name]) for name, w in weights[0].items())
            assert decided(alone[view.viewer], view) == decided(player, view), deal
            tuned += found[0].policy is not None
    assert tuned > 5, tuned


def test_a_team_lets_an_accepted_network_make_its_horizon_of_moves(folders):
    """It moves without another search. With follow=false every move is searched."""
    given = TEAM | {"horizon": 3}
    player, anew = (players.make(spec(folders["mlp"], **given, follow=follow), TINY) for follow in ("true", "false"))
    searches, followed = 0, 0
    for deal in range(4):
        accepted, left = None, 0
        for _, view in turns_by(TINY, player, deal):
            game, table = player.games.follow(view)
            result, decision = game.search_next_move(), decided(player, view)
            if left:
                assert result.policy is accepted and decision.searched == 0, deal
                assert (decision.gain, decision.exact_gain) == (None, None)
                assert decision.action == player.team.tuning.actions(accepted, table)[0]
                followed += 1
            else:
                assert decision.searched == 80 and decision.gain is not None, deal
                left = 3 if result.policy is not None else 0
                searches += 1
            accepted, left = result.policy, max(left - 1, 0)
        assert all(decided(anew, view).searched == 80 for _, view in turns_by(TINY, anew, deal))
    assert searches > 10 and followed > 5, (searches, followed)


@pytest.mark.slow
@pytest.mark.parametrize("large", [False, True])
def test_hidden_cards_change_nothing_to_both_seats(folders, large):
    game, exchanged, tuned = games.load("hanabi") if large else TINY, 0, 0
    given = TEAM | ({"steps": 2, "worlds": 20, "listed": 500, "tries": 1_000} if large else {"horizon": 2})
    given = spec(folders["large" if large else "mlp"], **given)
    player = players.make(given, game)
    positions = (turn for deal in range(1 if large else 3) for turn in turns_by(game, player, deal))
    for number, (state, view) in enumerate(positions):
        if large and number > 9:
            break
        if (twin := game.exchange(state, view, np.random.default_rng(number))) is None or (large and number % 3):
            continue
        decision = decided(player, view)
        assert decided(players.make(given, game), game.view(twin, view.viewer)) == decision, number
        exchanged += 1
        tuned += decision.gain is None or decision.gain > 0
    assert exchanged > 2 and (large or tuned > 0), (exchanged, tuned)


def test_a_team_drops_finished_games(folders):
    """A followed game holds the tuned networks of its moves."""
    player, state = players.make(team_spec(folders), TINY), TINY.deal(3, 0)
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(TINY.chance(state, 3, 0))
            continue
        view = TINY.view(state, state.current_player())
        state.apply_action(player.act([view], [np.random.default_rng(0)], [{}])[0].action)
    assert len(player.games) == 1
    player.end([TINY.view(state, seat) for seat in range(2)], tuple(TINY.scores(state)), [{}, {}])
    assert len(player.games) == 0


def test_a_network_moves_for_a_belief_as_for_the_player(folders):
    player = players.make(spec(folders["mlp"], **TEAM), TINY)
    process, model, tuning = player.team.process, player.team.model, player.team.tuning
    x, policies = _core.hanabi.Tables(TINY.rules, 3, 0, 40), np.full(40, BOT)
    for move in range(12):
        assert (process.choose(x, policies, move) == x.choose(policies.astype(np.int8), move)).all()
        process.network = model
        chosen = process.choose(x, policies, move)
        after, actions = process.move(x, policies, move)
        process.network = None
        assert (chosen == np.where(x.over(), -1, tuning.actions(model, x))).all() and (actions == chosen).all()
        x = after
    assert x.over().any()


@pytest.mark.slow
def test_gains_on_the_exact_belief_are_estimated_again(folders):
    for given in (TEAM | {"worlds": 300, "assess": 600}, {"worlds": 300, "assess": 600, "exploration": 0.6}):
        player, pairs = players.make(spec(folders["mlp"], **given | {"threshold": 0.05}), TINY), []
        for deal in range(6):
            for _, view in turns_by(TINY, player, deal):
                decision = decided(player, view)
                if decision.gain:
                    pairs.append((decision.gain, decision.exact_gain))
        gains = np.array(pairs)
        assert len(gains) > 3 and np.abs(gains[:, 0] - gains[:, 1]).mean() < 0.25, gains


def test_a_partner_that_does_something_else_leaves_the_blueprint_to_both_seats(folders):
    """Its moves rule out every hand; then nothing is known of what it will do."""
    player, blueprint, lost = players.make(spec(folders["mlp"], **TEAM), TINY), players.make(TEAM["blueprint"], TINY), 0
    for deal in range(4):
        rng = np.random.default_rng(deal)
        for state, view in decisions(TINY, 5, deal):
            decision = decided(player, view)
            if decision.gain is None:
                assert decision.action == decided(blueprint, view).action
                lost += 1
            state.apply_action(int(rng.choice(view.legal)))
    assert lost > 10, lost


@pytest.mark.slow
def test_search_of_both_seats_is_not_below_the_blueprint(folders):
    """And what never promises enough is the blueprint."""
    deals, given = 12, TEAM | {"steps": 20, "worlds": 200, "threshold": 0.05}
    blueprint = scores(players.make(TEAM["blueprint"], TINY), deals)
    gain = scores(players.make(spec(folders["mlp"], **given), TINY), deals) - blueprint
    assert gain.mean() > 0, gain
    unlearned = players.make(spec(folders["mlp"], **TEAM | {"steps": 0, "threshold": 25}), TINY)
    assert (scores(unlearned, deals) == blueprint).all()
