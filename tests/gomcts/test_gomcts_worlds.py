"""GO-MCTS by worlds against a plain twin that plays every game by itself, and what it promises."""

import math
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import pytest
from scipy import stats
from support.hanabi_turns import decision_of, slow_score
from support.play import decisions

from trickformer import games, players
from trickformer.base import TrickformerError
from trickformer.belief import has_weighted_belief, sampler, weighted_belief
from trickformer.players import decision_rng
from trickformer.search.skat import positions as _skat_script
from trickformer.search.skat.positions import SkatPositions
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play


@dataclass
class Twin:
    """Of games by copies of the model. One run after the other, the model asked anew for every view: whole sequences,
    no shared prefix."""

    game: object
    argmax: object  # says of a view its choice, the policy, and what each action is worth
    options: object
    view: object
    worlds: list
    seed: int

    def run(self) -> tuple[int, dict[int, list[float]]]:
        """What is played; and by action of the root, the sum of what it brought and the visits."""
        root = self.children(self.view)
        self.tree = {(): root}
        self.results = {action: [] for action in root}
        if self.options.root == "uct":
            for _ in range(self.options.runs):
                self.begin(self.select(()))
            return max(root, key=lambda a: root[a][0] / root[a][1]), root
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
        self.chance = np.random.default_rng([self.seed, world])
        path = [((), action)]
        value = self.simulate(self.worlds[world].child(action), path)
        self.results[action].append(value)
        for key, taken in path:
            self.tree[key][taken][0] += value
            self.tree[key][taken][1] += 1

    def ask(self, view):
        (decision,) = self.argmax.act([view], [np.random.default_rng(0)], [{"explain": True}])
        return decision

    def children(self, view) -> dict[int, list[float]]:
        if len(view.legal) == 1:
            return {view.legal[0]: [self.argmax.worth(view)[view.legal[0]], 1]}
        policy = self.ask(view).thought.policy
        likely = [a for a in policy if policy[a] > self.options.threshold] or [max(policy, key=policy.get)]
        return {action: [self.argmax.worth(view)[action], 1] for action in likely}

    def select(self, key) -> int:
        children = self.tree[key]
        total = math.log(sum(n for _, n in children.values()))
        return max(
            children, key=lambda a: children[a][0] / children[a][1] + self.options.c * math.sqrt(total / children[a][1])
        )

    def simulate(self, state, path) -> float:
        """In the tree, then beyond it."""
        steps = None
        while True:
            while state.is_chance_node():
                actions, probs = zip(*state.chance_outcomes())
                state.apply_action(actions[int(self.chance.choice(len(actions), p=probs))])
            if state.is_terminal():
                scores = self.game.scores(state)
                return self.game.outcomes.values[self.game.outcomes.of(scores, self.view.viewer), 0]
            seat = state.current_player()
            view = self.game.view(state, seat)
            if seat != self.view.viewer:
                state.apply_action(self.ask(view).action)
                continue
            key = view.events[len(self.view.events) :]
            if steps is None and key in self.tree:
                path.append((key, self.select(key)))
                state.apply_action(path[-1][1])
                continue
            if steps is None:
                self.tree[key] = self.children(view)
                steps = self.options.steps
                first = True
            else:
                steps, first = steps - 1, False
            if steps == 0:
                return (
                    max(self.argmax.worth(view).values())
                    if self.options.leaf_action_values
                    else self.argmax.value(view)
                )
            action = self.ask(view).action
            if first and action in self.tree[key]:
                path.append((key, action))
            state.apply_action(action)


class Judge:
    """ArgmaxVal*, and what its model says of any own turn."""

    def __init__(self, player, action_values: bool):
        self._player, self.act, self._action_values = player, player.act, action_values

    def _nodes(self, view):
        self._memo = {}  # who owns the nodes
        return self._player.feed_views([view], [self._memo])

    def value(self, view) -> float:
        return float(self._player.engine.values(self._nodes(view)[1])[0, 0])

    def worth(self, view) -> dict[int, float]:
        """Q(s, a), or V of the sequence with the action."""
        tokens, nodes = self._nodes(view)
        engine, tokenizer = self._player.engine, self._player.tokenizer
        own = {a: tokenizer.token(a) for a in view.legal}
        if self._action_values:
            return {a: float(engine.action_values(nodes)[0, t]) for a, t in own.items()}
        found = {}
        for action, token in own.items():
            longer = np.append(tokens[0], token)
            features = tokenizer.tracker(longer).features()[None]
            behind = engine.extend(nodes, np.array([token], np.int32), None, features)
            found[action] = float(engine.values(behind)[0, 0])
            engine.release(behind)
        return found


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("hearts", "steps=2,root=uct"),
        ("hearts", "steps=1,leaf_action_values=false,threshold=0.1"),
        ("hearts", "runs=40,steps=0"),
        ("skat", "root=uct"),
        ("skat", ""),
        ("crew", "c=0.5,root=uct"),
        ("crew", "runs=25"),
        ("crew", "steps=0,action_values=false"),
        ("hanabi", "steps=3"),
        ("hanabi", "steps=1,root=uct"),
    ],
)
def test_it_is_its_twin(name, options, tiny_features_checkpoint_of):
    game, compared, deep = games.load(name), 0, 0
    checkpoint = tiny_features_checkpoint_of(name)
    options = f"runs=9,{options}" if "runs" not in options else options
    spec = f"gomcts:checkpoint={checkpoint},imagine=worlds,playing=model,wave=1,{options}".rstrip(",")
    player = players.make(spec, game)
    rng = np.random.default_rng(5)
    for number, (state, view) in enumerate(decisions(game, 4, 1)):
        if number % 7 == 2 and len(view.legal) > 1:
            (found,) = player.act([view], [decision_rng(1, 0, 0, number)], [{}])
            seed = int(decision_rng(1, 0, 0, number).integers(1 << 63))
            belief = weighted_belief(game) if has_weighted_belief(game) else sampler(game)
            belief.reset(view)
            runs = player.options.runs
            drawn = belief.sample(runs, np.random.default_rng(seed))
            worlds = [drawn.state(i) for i in range(runs) if drawn.feasible[i]]
            judge = Judge(players.make(f"argmax:checkpoint={checkpoint}", game), player.options.action_values)
            twin = Twin(game, judge, player.options, view, worlds, seed)
            best, children = twin.run() if len(found.visits) > 1 else (found.action, twin.children(view))
            assert found.visits == {a: n for a, (_, n) in children.items()}, number
            assert found.values == pytest.approx({a: v / n for a, (v, n) in children.items()}, abs=1e-5), number
            assert (found.action, found.value) == (best, found.values[best]), number
            assert found.illegal == runs - len(worlds)
            compared += 1
            deep += len(getattr(twin, "tree", ())) > 3
        state.apply_action(int(rng.choice(view.legal)))
    assert compared > 1 and deep


def played_out(game, state, viewer) -> float:
    """v(o) of a seat if all go on by the game's scripted player."""
    script = players.make(game.baseline, game)
    while not state.is_terminal():
        (decision,) = script.act([game.view(state, state.current_player())], [np.random.default_rng(0)], [{}])
        state.apply_action(decision.action)
    return game.outcomes.values[game.outcomes.of(game.scores(state), viewer), 0]


@pytest.mark.parametrize("name", ["crew(mission=9)", "hanabi", "hearts", "skat"])
def test_scripted_games_are_those_of_its_worlds(name, tiny_features_checkpoint_of, monkeypatch):
    """Each action's results are those of so many worlds, the same for all, played on by the scripted player; by it
    alone, where the core can end games by a solver (tests/players/test_skat_players.py)."""
    monkeypatch.setattr(_skat_script, "OPEN", 0)
    game, compared = games.load(name), 0
    checkpoint = tiny_features_checkpoint_of(game.name)
    spec = f"gomcts:checkpoint={checkpoint},imagine=worlds,playing=script,runs=14,threshold=0.001"
    player = players.make(f"{spec},weighted=false" if name == "skat" else spec, game)
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
            judge = Judge(players.make(f"argmax:checkpoint={checkpoint}", game), player.options.action_values)
            worth = judge.worth(view)
            for action, values in results.items():
                mean = (worth[action] + sum(values)) / (1 + len(values))
                assert found.values[action] == pytest.approx(mean, abs=1e-5), (number, action)
            assert sum(len(values) for values in results.values()) <= 14
            compared += len(found.visits) > 1
        state.apply_action(int(rng.choice(view.legal)))
    assert compared > 2


@pytest.mark.parametrize("playing", ["model", "script"])
def test_the_tree_is_told_where_it_is_asked_for(playing, tiny_features_checkpoint_of):
    """Its root is all runs, and a node's are those of its children, and those that ended there."""
    game, tiny = games.load("crew(mission=4)"), tiny_features_checkpoint_of("crew")
    player = players.make(f"gomcts:checkpoint={tiny},imagine=worlds,playing={playing},runs=30", game)
    told = 0
    for number, (state, view) in enumerate(decisions(game, 2, 0)):
        (decision,) = player.act([view], [decision_rng(0, 0, 0, number)], [{"explain": True}])
        (quiet,) = player.act([view], [decision_rng(0, 0, 0, number)], [{}])
        assert (decision.visits, decision.values) == (quiet.visits, quiet.values)
        assert quiet.thought is None
        if decision.visits is not None and len(decision.visits) > 1:
            nodes = decision.thought.imagined
            assert (nodes[0].parent, nodes[0].token) == (-1, -1)
            assert nodes[0].runs == sum(decision.visits.values()) - len(decision.visits) > 20
            children = [0] * len(nodes)
            for i, node in enumerate(nodes[1:], 1):
                assert 0 <= node.parent < i
                children[node.parent] += node.runs
            assert all(n <= node.runs for n, node in zip(children, nodes)), number
            first = {n.token: n for n in nodes if n.parent == 0}
            for action, visits in decision.visits.items():
                runs = first[player.tokenizer.token(action)].runs if visits > 1 else 0
                assert visits == runs + 1, (number, action)
            told += 1
        state.apply_action(decision.action)
    assert told > 3


@pytest.mark.parametrize(
    ("name", "runs", "threshold", "margin"),
    [("skat", 400, 0.01, 1.0), ("crew", 400, 0.01, 1.0), ("hanabi", 400, 0.0, 3.0)],
)
def test_games_say_how_they_are_searched(name, runs, threshold, margin, tiny_features_checkpoint_of):
    player = players.make(f"gomcts:checkpoint={tiny_features_checkpoint_of(name)}", games.load(name))
    options = player.options
    assert (options.imagine, options.playing, options.root) == ("worlds", "script", "halving")
    assert (options.runs, options.threshold, options.margin) == (runs, threshold, margin)


@pytest.mark.parametrize(("name", "deals"), [("skat", 1), ("hanabi", 3)])
@pytest.mark.parametrize("playing", ["model", "script"])
def test_hidden_cards_change_nothing(playing, name, deals, tiny_features_checkpoint_of):
    game, compared, tiny = games.load(name), 0, tiny_features_checkpoint_of(name)
    player = players.make(f"gomcts:checkpoint={tiny},imagine=worlds,playing={playing},runs=8", game)
    rng = np.random.default_rng(4)
    for number, (state, view) in enumerate(chain(*(decisions(game, 8, 1 + deal) for deal in range(deals)))):
        twin = game.exchange(state, view, rng)
        if twin is not None and len(view.legal) > 1:
            one, other = (
                player.act([game.view(s, view.viewer)], [decision_rng(1, 0, 0, number)], [{}]) for s in (state, twin)
            )
            assert one == other, number
            compared += 1
        state.apply_action(int(rng.choice(view.legal)))
    assert compared > 5


def test_it_improves_on_its_model(tiny_features_checkpoint_of):
    """On one that has learned nothing, by far: what the games bring is true."""
    game = games.load("hearts")
    tiny = tiny_features_checkpoint_of("hearts")
    pair = [players.make(s, game) for s in (f"gomcts:checkpoint={tiny},imagine=worlds", f"argmax:checkpoint={tiny}")]
    hands = [Hand(deal, seating) for deal in range(4) for seating in ((0, 1, 1, 1), (1, 1, 0, 1))]
    own, others = [], []
    for record in play(game, pair, hands, 11):
        for seat, who in enumerate(record.seating):
            (others if who else own).append(record.scores[seat])
    assert np.mean(own) < np.mean(others) - 3, (own, others)


@pytest.mark.parametrize(
    ("options", "name", "said"),
    [
        ("imagine=worlds,weighted=true", "hearts", "no weights"),
        ("imagine=model,weighted=true", "skat", "imagine=worlds"),
        ("root=halving", "hearts", "imagine=worlds"),
        ("playing=script", "hearts", "imagine=worlds"),
        ("imagine=model,playing=script", "crew", "imagine=worlds"),
        ("root=uct", "crew", "playing=model"),
        ("margin=2", "hearts", "margin=2.0 is for root=halving"),
        ("mu=0.1", "crew", "mu=0.1 is for imagine=model"),
        ("imagine=worlds,playing=model,early=true", "hearts", "early=true is for imagine=model"),
        ("steps=2", "crew", "steps=2 is for playing=model"),
        ("imagine=games", "hearts", "imagine=games"),
    ],
)
def test_refusals_are_one_line(options, name, said, tiny_features_checkpoint_of):
    with pytest.raises(TrickformerError, match=said) as refusal:
        players.make(f"gomcts:checkpoint={tiny_features_checkpoint_of(name)},{options}", games.load(name))
    assert "\n" not in str(refusal.value)
