"""Rollouts with a prior against a plain twin that plays every game by itself, and what they promise."""

import math
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import pytest
from scipy import stats
from support.hanabi_turns import decision_of, slow_score
from support.play import count_blind_decisions, decisions

from trickformer import games, players
from trickformer.base import TrickformerError, decision_rng
from trickformer.belief import has_weighted_belief, sampler, weighted_belief
from trickformer.search.skat import positions as _skat_script
from trickformer.search.skat.positions import SkatPositions
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play


@dataclass
class Twin:
    """The search in plain Python. Copies of the prior play the games one after the other. It decides every view from
    the whole sequence of tokens, without a stored prefix."""

    game: object
    prior: object  # a Judge or a Script: decides views, and gives the policy and each action's first value and visits
    options: object
    view: object
    worlds: list

    def run(self) -> tuple[int, dict[int, list[float]]]:
        """What is played; and by action of the root, the sum of what it brought and the visits."""
        self.root = root = self.children(self.view)
        self.results = {action: [] for action in root}
        stays = self.ask(self.view).action
        tried = sorted(root, key=lambda a: (a != stays, -root[a][0]))
        # In n rounds, of which the last has two actions: 2, 3 to 4, 5 to 8 ... in the first.
        while self.least(len(tried)) > self.options.runs:
            tried = tried[:-1]
        budget = self.options.runs
        for rounds in range(math.ceil(math.log2(len(tried))), 0, -1):
            share = max(budget // rounds // len(tried), 1)
            for _ in range(share):
                for action in tried:
                    self.begin(action)
            budget -= share * len(tried)
            tried.sort(key=lambda a: (-np.mean(self.results[a]), a != stays))
            better = tried[: math.ceil(len(tried) / 2)] if rounds > 1 else tried[:1]
            tried = better if rounds == 1 or stays not in root or stays in better else [*better[:-1], stays]
        assert budget >= 0
        best = tried[0]
        if stays in root and best != stays:
            gained = [a - b for a, b in zip(self.results[best], self.results[stays], strict=True)]
            error = stats.sem(gained) if len(gained) > 1 else math.inf
            self.kept = not np.mean(gained) > self.options.margin * error
            best = stays if self.kept else best
        return best, root

    @staticmethod
    def least(actions: int) -> int:
        """Games that so many actions need: one for each that is left."""
        return 0 if actions == 1 else actions + Twin.least(math.ceil(actions / 2))

    def begin(self, action: int) -> None:
        world = len(self.results[action]) % len(self.worlds)
        value = self.simulate(self.worlds[world].child(action))
        self.results[action].append(value)
        self.root[action][0] += value
        self.root[action][1] += 1

    def ask(self, view):
        (decision,) = self.prior.act([view], [np.random.default_rng(0)], [{}])
        return decision

    def children(self, view) -> dict[int, list[float]]:
        policy = self.prior.policy(view)
        likely = [a for a in policy if policy[a] > self.options.threshold] or [max(policy, key=policy.get)]
        return {action: self.prior.start(view, action) for action in likely}

    def simulate(self, state) -> float:
        """The value of a game that all finish by ArgmaxVal*."""
        while not state.is_terminal():
            state.apply_action(self.ask(self.game.view(state, state.current_player())).action)
        scores = self.game.scores(state)
        return self.game.outcomes.values[self.game.outcomes.of(scores, self.view.viewer), 0]


class Judge:
    """ArgmaxVal*, and what its model says of any own turn."""

    def __init__(self, player, action_values: bool):
        self._player, self.act, self._action_values = player, player.act, action_values

    def _nodes(self, view):
        self._memo = {}  # who owns the nodes
        return self._player.feed_views([view], [self._memo])

    def policy(self, view) -> dict[int, float]:
        (decision,) = self.act([view], [np.random.default_rng(0)], [{"explain": True}])
        return decision.thought.policy

    def start(self, view, action: int) -> list[float]:
        return [self.worth(view)[action], 1]

    def worth(self, view) -> dict[int, float]:
        """Q(s, a), or V of the sequence with the action."""
        tokens, nodes = self._nodes(view)
        backend, tokenizer = self._player.backend, self._player.tokenizer
        own = {a: tokenizer.token(a) for a in view.legal}
        if self._action_values:
            return {a: float(backend.action_values(nodes)[0, t]) for a, t in own.items()}
        found = {}
        for action, token in own.items():
            longer = np.append(tokens[0], token)
            features = tokenizer.tracker(longer).features()[None]
            behind = backend.extend(nodes, np.array([token], np.int32), None, features)
            found[action] = float(backend.values(behind)[0, 0])
            backend.release(behind)
        return found


class Script:
    """A player without a model, which proposes all actions alike."""

    def __init__(self, player):
        self.act = player.act

    def policy(self, view) -> dict[int, float]:
        return dict.fromkeys(view.legal, 1 / len(view.legal))

    def start(self, view, action: int) -> list[float]:
        return [0.0, 0]


def with_prior(checkpoint, options: str) -> str:
    return f'rollout:prior="argmax:checkpoint={checkpoint}",{options}'.rstrip(",")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [("hearts", ""), ("hearts", "runs=40,threshold=0.1"), ("skat", "margin=0"), ("crew", "runs=25"), ("crew", "")],
)
def test_it_is_its_twin(name, options, tiny_features_checkpoint_of):
    game, checkpoint = games.load(name), tiny_features_checkpoint_of(name)
    options = f"runs=9,{options}" if "runs" not in options else options
    player = players.make(with_prior(checkpoint, f'policy="argmax:checkpoint={checkpoint}",{options}'), game)
    judge = Judge(players.make(f"argmax:checkpoint={checkpoint}", game), game.labels_are_results)
    assert compare_with_twin(game, player, judge)


@pytest.mark.parametrize(("name", "options"), [("skat", "runs=30"), ("crew", "runs=9,margin=0"), ("hearts", "runs=60")])
def test_without_a_model_it_is_its_twin(name, options):
    game = games.load(name)
    player = players.make(f"rollout:prior=rules,policy=rules,{options}", game)
    assert compare_with_twin(game, player, Script(players.make("rules", game)))


def test_a_prior_without_a_model_alone_decides_what_is_not_searched(monkeypatch):
    """In Skat its bids are played as they are. It decides forced moves too."""
    game, met = games.load("skat"), 0
    rules, prior = players.make("rules", game), players.make("rules", game)
    seen: list = []
    prior.act = lambda views, rng, memo: seen.append(views[0]) or rules.act(views, rng, memo)
    with monkeypatch.context() as patched:
        patched.setattr(players.specs, "make", lambda spec, game: prior)
        player = players.make("rollout:prior=rules,runs=8", game)
    state = game.deal(3, 1)
    while not state.is_terminal():
        view = game.view(state, state.current_player())
        ours, plain = (p.act([view], [np.random.default_rng(0)], [{}])[0] for p in (player, rules))
        assert seen[-1] is view
        if state.core.phase < 5 and len(view.legal) > 1:
            assert (ours.action, ours.value, ours.visits, ours.values) == (plain.action, None, None, None)
            met += 1
        elif len(view.legal) > 1:
            assert set(ours.visits) <= set(view.legal) and len(ours.visits) > 1
        state.apply_action(plain.action)
    assert met > 3


def compare_with_twin(game, player, prior) -> int:
    """Compare some decisions of a player with those of its twin; return in how many of them the twin searched."""
    compared, moved = 0, 0
    rng = np.random.default_rng(5)
    for number, (state, view) in enumerate(decisions(game, 4, 1)):
        if number % 7 == 2 and len(view.legal) > 1:
            (found,) = player.act([view], [decision_rng(1, 0, 0, number)], [{}])
            seed = int(decision_rng(1, 0, 0, number).integers(1 << 63))
            belief = weighted_belief(game) if has_weighted_belief(game) else sampler(game)
            belief.reset(view)
            n = (player.options.runs + 1) // 2
            drawn = belief.sample(n, np.random.default_rng(seed))
            worlds = [drawn.state(i) for i in range(n) if drawn.feasible[i]]
            twin = Twin(game, prior, player.options, view, worlds)
            searched = found.visits is not None and len(found.visits) > 1
            best, children = twin.run() if searched else (found.action, twin.children(view))
            visits = {a: n for a, (_, n) in children.items() if n}
            assert (found.visits or {}) == visits, number
            assert (found.values or {}) == pytest.approx({a: children[a][0] / n for a, n in visits.items()}, abs=1e-5)
            assert found.action == best and found.value == (found.values or {}).get(best), number
            compared += 1
            moved += searched
        state.apply_action(int(rng.choice(view.legal)))
    assert compared > 1
    return moved


def played_out(game, state, viewer) -> float:
    """v(o) of a seat if all go on by the game's scripted player."""
    script = players.make(game.baseline, game)
    while not state.is_terminal():
        (decision,) = script.act([game.view(state, state.current_player())], [np.random.default_rng(0)], [{}])
        state.apply_action(decision.action)
    return game.outcomes.values[game.outcomes.of(game.scores(state), viewer), 0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["crew(mission=9)", "hanabi", "hearts", "skat"])
def test_scripted_games_are_those_of_its_worlds(name, tiny_features_checkpoint_of, monkeypatch):
    """Each action's results are those of so many worlds, the same for all, played on by the scripted player; by it
    alone, where the core can end games by a solver (tests/players/test_skat_players.py)."""
    monkeypatch.setattr(_skat_script, "SOLVED_TRICKS", 0)
    game, compared = games.load(name), 0
    checkpoint = tiny_features_checkpoint_of(game.name)
    spec = with_prior(checkpoint, "runs=14,threshold=0.001")
    player = players.make(f"{spec},belief=uniform" if name == "skat" else spec, game)
    rng = np.random.default_rng(3)
    every = 2 if name == "hanabi" else 5  # whose random players are soon out of lives
    for number, (state, view) in enumerate(decisions(game, 6, 2)):
        if number % every == every // 2 and len(view.legal) > 1:
            (found,) = player.act([view], [decision_rng(1, 0, 0, number)], [{}])
            draws = np.random.default_rng(int(decision_rng(1, 0, 0, number).integers(1 << 63)))
            belief = weighted_belief(game) if name == "hanabi" else sampler(game)
            belief.reset(view)
            if name == "skat":  # the core draws its worlds
                drawn = SkatPositions(belief, False, True).worlds(view, 7, draws)
                worlds = replace(belief.sample(7, rng), hidden=drawn.hidden)
            else:
                worlds = belief.sample(7, draws)
            if name == "hanabi":  # a world is a hand, and the deck is drawn besides
                decks = decision_of(game, view, "smart").decks(worlds.hidden, int(draws.integers(2**63)))
            results = {action: [] for action in found.visits}
            while any(len(results[action]) + 1 < found.visits[action] for action in results):
                for action in results:
                    if (n := len(results[action])) + 1 < found.visits[action]:
                        if name == "hanabi":
                            score = slow_score(game, worlds.state(n), decks[n], action, "smart")
                            results[action].append(score / game.worth[0])
                        else:
                            results[action].append(played_out(game, worlds.state(n).child(action), view.viewer))
            judge = Judge(players.make(f"argmax:checkpoint={checkpoint}", game), game.labels_are_results)
            worth = judge.worth(view)
            for action, values in results.items():
                mean = (worth[action] + sum(values)) / (1 + len(values))
                assert found.values[action] == pytest.approx(mean, abs=1e-5), (number, action)
            assert sum(len(values) for values in results.values()) <= 14
            compared += len(found.visits) > 1
        state.apply_action(int(rng.choice(view.legal)))
    assert compared > 2


@pytest.mark.parametrize(
    ("name", "runs", "threshold", "margin"),
    [("skat", 400, 0.01, 1.0), ("crew", 400, 0.01, 1.0), ("hanabi", 400, 0.0, 3.0)],
)
def test_games_say_how_they_are_searched(name, runs, threshold, margin, tiny_features_checkpoint_of):
    options = players.make(with_prior(tiny_features_checkpoint_of(name), ""), games.load(name)).options
    assert (options.runs, options.threshold, options.margin) == (runs, threshold, margin)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "deals"), [("skat", 1), ("hanabi", 3)])
@pytest.mark.parametrize("policy", ["argmax", "script"])
def test_hidden_cards_change_nothing(policy, name, deals, tiny_features_checkpoint_of):
    game, tiny = games.load(name), tiny_features_checkpoint_of(name)
    policy = f'"argmax:checkpoint={tiny}"' if policy == "argmax" else policy
    player = players.make(with_prior(tiny, f"policy={policy},runs=8"), game)
    positions = chain(*(decisions(game, 8, 1 + deal) for deal in range(deals)))
    assert count_blind_decisions(player, game, positions, np.random.default_rng(4)) > 5


def test_it_improves_on_its_model(tiny_features_checkpoint_of):
    """On one that has learned nothing, by far: what the games bring is true."""
    game = games.load("crew(mission=9)")
    tiny = tiny_features_checkpoint_of("crew")
    pair = [players.make(s, game) for s in (with_prior(tiny, "runs=100"), f"argmax:checkpoint={tiny}")]
    hands = [Hand(deal, seating) for deal in range(8) for seating in game.seatings(2)]
    won = [0, 0]
    for record in play(game, pair, hands, 11):
        won[record.seating[0]] += record.scores[0]
    assert won[0] >= won[1] + 4, won


@pytest.mark.parametrize(
    ("options", "name", "said"),
    [
        ("belief=weighted", "hearts", "hearts has no weighted worlds"),
        ("belief=policy", "skat", "needs a policy with action probabilities"),
        ("worlds=3", "hearts", "worlds=3 is for a rollout without prior"),
        ("ucb=false", "crew", "ucb=false is for a rollout without prior"),
        ("margin=-1", "crew", "margin=-1"),
    ],
)
def test_refusals_are_one_line(options, name, said, tiny_features_checkpoint_of):
    with pytest.raises(TrickformerError, match=said) as refusal:
        players.make(with_prior(tiny_features_checkpoint_of(name), options), games.load(name))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("rollout:prior=spiel:state=true", "its prior 'spiel:state=true' reads hidden cards"),
        ("rollout:runs=3", "runs=3 is for a rollout with prior"),
        ("rollout:margin=2", "margin=2.0 is for a rollout with prior"),
        ("rollout:prior=rules,threshold=0.5", "threshold=0.5 is for a prior with a model; give prior=argmax, or leave"),
        ("rollout:prior=argmax:checkpoint=,runs=3", "checkpoint= must not be empty"),
    ],
)
def test_refused_specs(spec, said):
    with pytest.raises(TrickformerError, match=said):
        players.make(spec, games.load("hearts"))


class Fixed:
    """Positions of a game that says by its own what games come to: action a brings a points."""

    unit, illegal, searched = 1.0, 0, 0

    def __init__(self):
        self.asked = 0

    def can_evaluate(self, view):
        return True

    def worlds(self, view, n, rng):
        self.asked += 1
        return self

    def __len__(self):
        return 10

    def play(self, rows, actions, seed):
        return np.tile(np.array(actions, dtype=float), (rows.stop - rows.start, 1))


def test_a_game_may_bring_its_own_positions(tiny_features_checkpoint_of, monkeypatch):
    game, fixed = games.load("hearts"), Fixed()
    monkeypatch.setattr(type(game), "positions", lambda self, belief: fixed, raising=False)
    player = players.make(with_prior(tiny_features_checkpoint_of("hearts"), "runs=20,threshold=0"), game)
    for state, view in decisions(game, 1, 0):  # the first decisions may be forced
        if len(view.legal) > 1:
            break
        state.apply_action(view.legal[0])
    (found,) = player.act([view], [decision_rng(0, 0, 0, 0)], [{}])
    assert fixed.asked == 1
    assert found.action == max(action for action, n in found.visits.items() if n > 1)
