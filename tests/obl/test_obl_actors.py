"""Off-belief learning on Hanabi: targets against a list of all that can happen, replay, self-play's targets."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import torch

from trickformer import _core
from trickformer.models.hanabi_values import ActionValues, NetworkSizes, best
from trickformer.studies.obl.hanabi import learning
from trickformer.studies.obl.hanabi.actors import OVER, Actors, Trajectories, explorations
from trickformer.studies.obl.hanabi.beliefs import CountingTableBelief
from trickformer.studies.obl.hanabi.config import OffBeliefTraining
from trickformer.studies.obl.hanabi.replay import ReplayBuffer
from trickformer.studies.obl.hanabi.training import rules_of

SMALL = "hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=2,max_life_tokens=2)"
THREE = "hanabi(players=3,colors=2,ranks=2,hand_size=2,max_information_tokens=3,max_life_tokens=2)"
CORE = _core.hanabi


def networks(config):
    """Two with other weights, their outputs spread out so that actions differ."""
    torch.manual_seed(5)
    rules = rules_of(config.game)
    sizes = NetworkSizes.for_rules(rules, config.hidden, config.layers, config.model == "lstm", config.odds)
    made = [ActionValues(sizes).requires_grad_(False) for _ in range(2)]
    for network in made:
        network.advantage.weight.mul_(20)
    return made


def played(config, online, target, n):
    """Games of the actors, and as the learner sees them."""
    rules = rules_of(config.game)
    actors, replay = Actors(config, rules, CountingTableBelief()), ReplayBuffer(64, rules.longest, rules.players)
    while replay.total < n:
        replay.add(actors.step(config, online, target))
    games = replay.trajectories(np.arange(n))
    return games, learning.frames(rules, config.seed, games, config.v0, torch.device("cpu"))


def small(**given):
    tries = given.get("method", "obl") == "obl"
    return OffBeliefTraining(
        **{"game": SMALL, "hidden": 16, "tables": 8, "buffer": 64, "discount": 0.9, "tries": tries} | given
    )


def remember(network, state, seat, v0, memory=None):
    """The factors and the state of a network's LSTM after a seat has seen a state."""
    seen = torch.from_numpy(state.observation(seat, v0))
    context, after = network.contexts(seen[None, None], network.memory(1) if memory is None else memory[1])
    return context[0], after


def values(network, state, seat, legal, v0, memory):
    """Of one state, by the seat, with what it remembers: values of actions, and of waiting, as the network says."""
    q, waiting = network(torch.from_numpy(state.observation(seat, v0))[None], memory[0], torch.from_numpy(legal)[None])
    return q[0].numpy(), float(waiting)


def legal_of(state):
    mask = np.zeros(state.rules.actions, dtype=bool)
    mask[state.legal_actions()] = True
    return mask


def worlds_of(state, seat):
    """Every own hand of the seat with every order of the deck, by how many ways there are to it."""
    unseen, knowledge, ranks = state.deck + state.hand(seat), state.knowledge(seat), state.rules.ranks
    size, found = len(knowledge), Counter()
    for cards in permutations(range(len(unseen))):
        order = tuple(unseen[i] for i in cards)
        if all(c >> k // ranks & r >> k % ranks & 1 for k, (c, r, _) in zip(order, knowledge)):
            found[order[:size], order[size:]] += 1
    return found


def expected(config, online, target, table, seat, action):
    """The target of a seat, as the mean over all that it may believe, from its definition."""
    state, rules, v0 = table[0], table.rules, config.v0
    total, ways, drawn = 0.0, worlds_of(table[0], seat), rules.players - 1

    def greedy(state, memories):
        seat = state.current_player()
        q, _ = values(online, state, seat, legal_of(state), v0, memories[online][seat])
        return max(state.legal_actions(), key=lambda a: q[a])

    def future(state, action, memories):
        """Of an action and what follows it, until the seat's next turn."""
        turn, before = state.current_player(), state.score()
        state.apply_action(action)
        gained = state.score() - before
        if state.is_terminal():
            return gained
        memories = {n: [remember(n, state, s, v0, m) for s, m in enumerate(memories[n])] for n in memories}
        if state.current_player() == seat:
            q, _ = values(target, state, seat, legal_of(state), v0, memories[target][seat])
            return gained + config.discount * q[greedy(state, memories)]
        if turn == seat:
            _, waiting = values(target, state, seat, legal_of(state) & False, v0, memories[target][seat])
            return gained + config.discount * waiting
        return gained + config.discount * future(state, greedy(state, memories), memories)

    for (hand, deck), n in ways.items():
        world = table.take(np.zeros(1, dtype=np.int64))
        hidden = np.full((1, rules.players, rules.hand), -1, dtype=np.int8)
        hidden[0, seat, : len(hand)] = hand
        # The deck comes in any order: only the cards that the next moves draw matter.
        for shuffle in range(1_000):
            assert world.redeal(hidden, shuffle)[0]
            if tuple(world[0].deck[:drawn]) == deck[:drawn]:
                break
        imagined = world[0]
        assert tuple(imagined.deck[:drawn]) == deck[:drawn]
        # What the seats remember of the table, which in the world of a waiting seat is not what they see there.
        memories = {m: [remember(m, state, s, v0) for s in range(rules.players)] for m in (online, target)}
        made = action if state.current_player() == seat else greedy(imagined, memories)
        total += n * future(imagined, made, memories)
    return total / ways.total()


@pytest.mark.parametrize(
    ("game", "worlds", "model"), [(SMALL, 1, "mlp"), (SMALL, 3, "lstm"), (THREE, 2, "mlp"), (THREE, 1, "lstm")]
)
@pytest.mark.parametrize("moves", [0, 3, 5])
def test_targets_are_right_on_the_average(game, worlds, model, moves):
    """At one position, in as many imagined worlds as there are tables."""
    n = 4_000
    config = small(game=game, tables=n, worlds=worlds, model=model)
    rules = rules_of(game)
    online, target = networks(config)
    actors, rng = Actors(config, rules, CountingTableBelief()), np.random.default_rng(moves)
    table = CORE.Tables(rules, 9, moves, 1)
    for _ in range(moves):
        ahead = table.take(np.zeros(1, dtype=np.int64))
        ahead.step(np.array([rng.choice(np.flatnonzero(table.legal()[0]))]))
        table = table if ahead.over()[0] else ahead
    actors.tables = table.take(np.zeros(n, dtype=np.int64))
    actors.shares[:] = 0
    actors.step(config, online, target)
    # Games that have ended are gone from the tables, with their targets.
    kept = actors.lengths == 1
    action = int(np.unique(actors.actions[kept, 0])[0]) if kept.any() else None
    assert kept.all(), "the move must not end the game"
    for seat in range(rules.players):
        found = actors.targets[:, 0, seat]
        want = expected(config, online, target, table, seat, action)
        error = found.std() / np.sqrt(n)
        assert abs(found.mean() - want) < 5 * error + 1e-5, (seat, found.mean(), want, error)
    turn, tries = int(table.current()[0]), actors.tries[:, 0]
    assert set(tries.tolist()) == set(table[0].legal_actions())
    for tried in set(tries.tolist()):
        found = actors.tried[tries == tried, 0]
        want, error = expected(config, online, target, table, turn, tried), found.std() / np.sqrt(len(found))
        assert abs(found.mean() - want) < 5 * error + 1e-5, (tried, found.mean(), want, error)


@pytest.mark.parametrize("model", ["mlp", "lstm"])
@pytest.mark.parametrize("game", [SMALL, THREE])
def test_actors_and_learner_read_alike(model, game):
    """What a seat did without random moves is what the learner, which reads whole games, holds for best: contexts are
    the same, also of games that began at a table where another had ended."""
    config = small(game=game, model=model, exploration=0.0)
    online, target = networks(config)
    games, given = played(config, online, target, 40)
    q, _ = learning.values(online, given)
    own = given.own
    # Where values are as good as equal, the order of a sum decides.
    two = q.masked_fill(~given.legal, -torch.inf).topk(2, dim=2).values[own]
    clear = (two[:, 0] - two[:, 1]) > 1e-4
    assert clear.float().mean() > 0.9
    assert (best(q[own], given.legal[own]) == given.actions)[clear].all()
    assert len(np.unique(games.games)) == 40 and int(games.games.max()) >= config.tables


def test_what_was_tried_is_learned_beside_what_was_done():
    config = small()
    online, target = networks(config)
    games, given = played(config, online, target, 12)
    q, waiting = learning.values(online, given)
    done, wanted = learning.off_belief(given, q, waiting, games, False)
    more, targets = learning.off_belief(given, q, waiting, games, True)
    assert torch.equal(more[:, :2], done) and torch.equal(targets[:, :2], wanted)
    at = 0
    for actions, tries, tried in zip(games.actions, games.tries, games.tried):
        for move in range(int((actions != OVER).sum())):
            seat = int(given.own[at].nonzero()[0, 0])
            assert given.legal[at, seat, tries[move]]
            assert more[at, 2] == q[at, seat, tries[move]] and targets[at, 2] == tried[move]
            at += 1
    assert at == len(more)


@pytest.mark.parametrize("game", [SMALL, THREE])
def test_self_plays_targets(game):
    """Against loops over moves, from the definition."""
    for method, moves in (("iql", 3), ("vdn", 1)):
        config = small(game=game, method=method, n_step=moves)
        rules = rules_of(game)
        online, target = networks(config)
        no_memory = (torch.ones(1, 1), target.memory(1))
        games, given = played(config, online, target, 12)
        assert not games.targets.any()
        q, _ = learning.values(online, given)
        found = learning.bootstrap_targets(q, target, given, moves, config.discount, config.temperature)
        at = 0
        for number, actions in zip(games.games.astype(int), games.actions):
            table, states = CORE.Tables(rules, config.seed, number, 1), []
            for action in actions[actions != OVER].astype(np.int64):
                states.append(table[0])
                table.step(np.array([action]))
            states.append(table[0])
            for t in range(len(states) - 1):
                for seat in range(rules.players):
                    end = min(t + moves, len(states) - 1)
                    want = sum(
                        config.discount ** (i - t) * (states[i + 1].score() - states[i].score()) for i in range(t, end)
                    )
                    if t + moves < len(states) - 1:
                        later = states[t + moves]
                        own = later.current_player() == seat
                        legal = legal_of(later) & own
                        worth, waiting = values(target, later, seat, legal, config.v0, no_memory)
                        if own:
                            chosen, _ = values(online, later, seat, legal, config.v0, no_memory)
                            waiting = worth[max(later.legal_actions(), key=lambda a: chosen[a])]
                        want += config.discount**moves * waiting
                    assert float(found[at, seat]) == pytest.approx(want, abs=1e-4), (method, t, seat)
                at += 1
        assert at == len(found)


def test_games_are_drawn_by_their_errors():
    rng, replay = np.random.default_rng(0), ReplayBuffer(4, 5, 2)
    actions = np.full((6, 5), OVER, dtype=np.uint8)
    actions[:, :2] = 1
    nothing = np.zeros((6, 5, 2), np.float32), np.zeros((6, 5), np.uint8), np.zeros((6, 5), np.float32)
    ended = Trajectories(np.arange(6, dtype=np.uint64), actions, *nothing)
    replay.add(ended)
    assert replay.total == 6 and replay.games.tolist() == [4, 5, 2, 3]  # the oldest are gone
    # Of each game two errors: 0.9 of the larger and 0.1 of the mean.
    replay.update_priorities(np.arange(4), np.array([1, 1, 0, 2, 3, 3, 0, 0.0]), np.full(4, 2))
    assert replay.priorities == pytest.approx([1, 1.9, 3, 0], abs=1e-5) and replay.highest == pytest.approx(3, abs=1e-5)
    exponent = 0.5
    drawn = replay.draw(30_000, exponent, 1.0, rng)
    chances = replay.priorities**exponent / (replay.priorities**exponent).sum()
    counts = np.bincount(drawn.rows, minlength=4)
    assert counts / 30_000 == pytest.approx(chances, abs=0.001)
    # With a weight of 1 every game counts alike on the average.
    assert drawn.weights.max() == 1 and len(np.unique(drawn.weights[drawn.rows == 2])) == 1
    sums = np.bincount(drawn.rows, drawn.weights, 4)[:3]
    assert sums == pytest.approx(np.full(3, sums.mean()), rel=0.05)
    replay.add(Trajectories(np.array([9], dtype=np.uint64), actions[:1], *(x[:1] for x in nothing)))
    assert replay.priorities[2] == replay.highest  # a new game is as likely as the likeliest


def test_shares_of_random_moves_are_those_of_the_paper():
    shares = explorations(OffBeliefTraining(preset="paper"))
    assert len(shares) == 80 and shares[0] == pytest.approx(0.1) and shares[-1] == pytest.approx(1e-8)
    assert shares[1] == pytest.approx(0.1 ** (1 + 7 / 79))
    assert explorations(OffBeliefTraining(explorations=1)).tolist() == [0.1]
