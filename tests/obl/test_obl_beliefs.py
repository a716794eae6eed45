"""What seats believe above level 1: own hands by what the level below would have done, listed or written."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from trickformer import _core, games
from trickformer.base import TrickformerError
from trickformer.belief.hanabi.learned import Seq2Seq, select_cards
from trickformer.belief.samplers.hanabi import HanabiBelief, positions
from trickformer.models.hanabi_values import ActionValues, HanabiCheckpoint, NetworkSizes, probabilities, sample_actions
from trickformer.studies.obl.hanabi import below, training
from trickformer.studies.obl.hanabi.beliefs import (
    ExactTableBelief,
    LearnedTableBelief,
    count_deals,
    hand_constraints,
    hands,
    seats,
    sizes_of,
)
from trickformer.studies.obl.hanabi.config import OffBeliefTraining

TWO = "hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=2,max_life_tokens=2)"
THREE = "hanabi(players=3,colors=2,ranks=2,hand_size=2,max_information_tokens=3,max_life_tokens=2)"
ONE = np.zeros(1, dtype=np.int64)


def level(spec, model="mlp", temperature=0.5, seed=3):
    """A level of random weights, whose actions say much of what it sees."""
    rules = training.rules_of(spec)
    torch.manual_seed(seed)
    network = ActionValues(NetworkSizes.for_rules(rules, 16, 2, model == "lstm")).requires_grad_(False)
    network.advantage.weight.mul_(200 if model == "lstm" else 20)  # the memory's part is small
    return HanabiCheckpoint(network, rules, True, temperature, {"method": "obl", "level": 1})


def odds_of(trained, tables, slip):
    """float64 [T, actions]: what the level does at the position of each table, which is one game's, by the seat on
    turn; the network reads the game from its beginning."""
    model, memories, found = trained.model, {}, []
    for table in tables:
        contexts = {}
        for seat in range(trained.rules.players):
            seen = torch.from_numpy(table.observe(np.array([seat], dtype=np.int8), trained.v0))
            contexts[seat], memories[seat] = model.contexts(seen[None], memories.get(seat, model.memory(1)))
        legal, seat = torch.from_numpy(table.legal()), int(table.current()[0])
        seen = torch.from_numpy(table.observe(None, trained.v0))
        q, _ = model(seen, contexts[seat][0] if seat >= 0 else torch.ones(1, 1), legal)
        found.append(probabilities(q, legal, trained.temperature, slip)[0].numpy().astype(np.float64))
    return found


def by_replay(game, trained, view, moves, slip):
    """float64 [C]: how likely each own hand is, from its definition: every hand that explains the view, dealt, its game
    played again from the beginning, and the others asked at every move."""
    belief, listed = HanabiBelief(game), hands(game.rules)
    belief.reset(view)
    one, found = belief.sample(1, np.random.default_rng(0)), np.zeros(len(listed))
    for i, hand in enumerate(listed):
        one.hidden[0] = hand
        prior = np.exp(belief.log_prob(one)[0])
        if not prior:
            continue
        tables = [t.take(ONE) for t in positions(game, one.history(0))]
        chances = odds_of(trained, tables[:-1], slip)
        actors = [int(t.current()[0]) for t in tables]
        others = [p[a] for p, actor, a in zip(chances, actors, moves, strict=False) if actor != view.viewer]
        found[i] = prior * np.prod(others)
    return found / found.sum()


def played(game, seed):
    """The positions of a game of random moves as OpenSpiel's states, and the moves."""
    rng, state, states, moves = np.random.default_rng(seed), game.spiel.new_initial_state(), [], []
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(int(rng.choice([a for a, _ in state.chance_outcomes()])))
            continue
        states.append(state.clone())
        # Plays end games with few lives soon.
        legal = [a for a in state.legal_actions() if not game.rules.hand <= a < 2 * game.rules.hand]
        moves.append(int(rng.choice(legal or state.legal_actions())))
        state.apply_action(moves[-1])
    return states, moves


@pytest.mark.parametrize(
    ("spec", "model", "slip"), [(TWO, "mlp", 0.0), (TWO, "lstm", 0.1), (THREE, "mlp", 0.0), (THREE, "lstm", 0.0)]
)
def test_listed_beliefs_are_those_of_every_hand_played_again(spec, model, slip):
    game, trained = games.load(spec), level(spec, model)
    for seed in range(2):
        states, moves = played(game, seed)
        belief = ExactTableBelief(game.rules, 1, trained, slip)
        differs = 0.0
        for at, (state, move) in enumerate(zip(states, moves)):
            *_, table = positions(game, state.history())
            found = belief.chances(table)[0]
            if at % 3 == 0:
                for seat in range(game.players):
                    wanted = by_replay(game, trained, game.view(state, seat), moves[:at], slip)
                    assert found[seat] == pytest.approx(wanted, abs=1e-4), f"seed {seed}, move {at}, seat {seat}"
                counting = count_deals(table)[0]
                differs = max(differs, np.abs(found - counting / counting.sum(axis=1, keepdims=True)).max())
            belief.follow(table, np.array([move]))
        assert differs > 0.05, "the level says nothing of what it sees"


def test_hands_are_drawn_as_they_are_listed():
    game, trained, each = games.load(THREE), level(THREE), 20_000
    states, moves = played(game, 4)
    belief = ExactTableBelief(game.rules, 1, trained, 0.0)
    for state, move in zip(states[:5], moves):
        *_, table = positions(game, state.history())
        chances = belief.chances(table)[0]
        worlds = table.take(np.zeros(game.players * each, dtype=np.int64))
        belief.deal(table, worlds, each, 7)
        for seat, dealt in enumerate(worlds.hands().reshape(game.players, each, game.players, -1)):
            own = dealt[:, seat]
            found = (own[:, None] == hands(game.rules)).all(axis=2).mean(axis=0)
            assert found == pytest.approx(chances[seat], abs=5 * 0.5 / np.sqrt(each))
            others = [p for p in range(game.players) if p != seat]
            assert (dealt[:, others] == table.hands()[0, others]).all()  # what it sees stays
        belief.follow(table, np.array([move]))


def test_new_games_begin_without_a_past():
    game, trained = games.load(TWO), level(TWO, "lstm")
    belief, tables = ExactTableBelief(game.rules, 3, trained, 0.0), _core.hanabi.Tables(game.rules, 1, 0, 3)
    for _ in range(3):
        actions = tables.legal().argmax(axis=1)
        belief.follow(tables, actions)
        tables.step(actions)
    assert belief.logs.any(axis=(1, 2)).all() and belief.memory.flatten(1).any(1).all()
    belief.renew(np.array([1]))
    assert belief.logs.any(axis=(1, 2)).tolist() == [True, False, True]
    assert belief.memory.flatten(1).any(1).tolist() == [True, True, False, False, True, True]


def test_a_level_that_never_does_what_was_done_is_one_line():
    game = games.load(TWO)
    belief, tables = (
        ExactTableBelief(game.rules, 1, level(TWO, temperature=0.0), 0.0),
        _core.hanabi.Tables(game.rules, 1, 0, 1),
    )
    q, _ = belief.below.model(
        torch.from_numpy(tables.observe(None, True)), torch.ones(1, 1), torch.from_numpy(tables.legal())
    )
    worst = q.masked_fill(~torch.from_numpy(tables.legal()), torch.inf).argmin(1).numpy()
    belief.follow(tables, worst)
    with pytest.raises(TrickformerError, match="give --slip above 0"):
        belief.chances(tables)


def test_hands_that_a_network_writes_are_allowed():
    """Of random weights; it learns below."""
    game = games.load(THREE)
    torch.manual_seed(0)
    network = Seq2Seq(sizes_of(game.rules, 8, 1)).requires_grad_(False)
    belief, tables = LearnedTableBelief(game.rules, 40, network), _core.hanabi.Tables(game.rules, 5, 0, 40)
    for move in range(4):
        worlds = tables.take(np.repeat(np.arange(40), 3 * 6))
        belief.deal(tables, worlds, 6, move)
        own = worlds.hands().reshape(40, 3, 6, 3, -1)
        for seat in range(3):
            assert (np.delete(own[:, seat], seat, axis=2) == np.delete(tables.hands(), seat, axis=1)[:, None]).all()
        assert (worlds.hands() != np.repeat(tables.hands(), 18, axis=0)).any()
        everybody = tables.take(np.repeat(np.arange(40), 18))
        assert (worlds.observe(seats(tables, 6)) == everybody.observe(seats(tables, 6))).all()
        belief.follow(tables, np.zeros(40, dtype=np.int64))
        tables.step(tables.legal().argmax(axis=1))
    before = belief.state[0][0].clone()
    belief.renew(np.array([2]))
    assert not belief.state[0][0][6:9].any() and torch.equal(belief.state[0][0][9:], before[9:])


@pytest.mark.slow
def test_a_belief_network_learns_what_the_listed_belief_is(tmp_path):
    """Kullback and Leibler's distance from the exact belief: a small part of counting's, in games of the level that it
    has not seen."""
    n, game, trained = 100, games.load(TWO), level(TWO, temperature=0.1)
    settings = {"belief_hidden": 32, "belief_layers": 1, "belief_steps": 150, "exploration": 0.2, "belief_rate": 0.02}
    config = OffBeliefTraining(game=TWO, level=2, below=tmp_path, out=tmp_path, **settings)
    network = below.train_network(trained, config)
    tables, rng = _core.hanabi.Tables(game.rules, 77, 0, n), np.random.default_rng(0)
    exact, written = ExactTableBelief(game.rules, n, trained, 0.0), LearnedTableBelief(game.rules, n, network)
    listed = torch.from_numpy(hands(game.rules).astype(np.int64))
    far, counted, dealt = [], [], n
    for move in range(8):
        chances = exact.chances(tables).reshape(2 * n, -1)
        written.deal(tables, tables.take(np.repeat(np.arange(n), 2)), 1, move)
        at, cards = torch.arange(2 * n).repeat_interleave(len(listed)), listed.repeat(2 * n, 1)
        known, summary = hand_constraints(tables, network.device)[at], written.state[-1][0][at]
        logs = select_cards(network.log_probs(network.weights(), summary, known, cards), cards).sum(1)
        counting = count_deals(tables).reshape(2 * n, -1)
        with np.errstate(divide="ignore", invalid="ignore"):
            counting = np.log(counting / counting.sum(axis=1, keepdims=True))
            for found, believed in ((far, logs.double().numpy().reshape(2 * n, -1)), (counted, counting)):
                found.append(np.where(chances > 0, chances * (np.log(chances) - believed), 0).sum(axis=1))
        legal = torch.from_numpy(tables.legal())
        q, _ = trained.model(torch.from_numpy(tables.observe(None, True)), torch.ones(n, 1), legal)
        actions = sample_actions(q, legal, trained.temperature, rng).numpy()
        exact.follow(tables, actions)
        tables.step(actions)
        over = np.flatnonzero(tables.over())
        tables.deal(over, 77, dealt)
        dealt += len(over)
        for belief in (exact, written):
            belief.renew(over)
    far, counted = np.concatenate(far).mean(), np.concatenate(counted).mean()
    assert counted > 0.02, "the level says nothing of what it sees"
    assert far < 0.65 * counted, (far, counted)
