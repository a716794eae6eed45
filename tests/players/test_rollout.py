"""`rollout`: in The Crew it is SPARTA's search by another way; games played on as states of OpenSpiel; chance, hidden
cards and refusals."""

from dataclasses import replace

import numpy as np
import pytest
from support.play import count_blind_decisions, decisions
from support.records import comparable

from trickformer import games, players
from trickformer.base import Decision, Player, RolloutSettings, TrickformerError, decision_rng
from trickformer.belief import sampler
from trickformer.search.prior import PriorRollouts
from trickformer.search.sparta import BlueprintSearchPlayer, Comparison
from trickformer.search.states import StatePositions
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play


@pytest.mark.slow
def test_it_is_sparta_where_all_seats_search_and_play_on_with_rules():
    """In missions in which chance does nothing after the deal. The core plays on there, on the same worlds."""
    game, searched = games.load("crew(mission=9)"), 0
    here = players.make("rollout:worlds=10,min_gain=0.11", game)  # more than one world of 10
    core = players.make("sparta:worlds=10,threshold=0.11,multi=true", game)
    for index in range(2):
        for number, (state, view) in enumerate(decisions(game, 6, index)):
            (mine,), (theirs,) = (p.act([view], [decision_rng(6, index, 0, number)], [{}]) for p in (here, core))
            assert replace(mine, searched=0) == theirs, (index, number)
            searched += mine.values is not None
            state.apply_action(mine.action)
    assert searched > 20


def played_on_slowly(game, policy, world, action, seat):
    """The result of one game by itself, by a policy that draws nothing, without chance."""
    state, memos = world.child(action), [{} for _ in range(game.players)]
    while not state.is_terminal():
        player = state.current_player()
        (decision,) = policy.act([game.view(state, player)], [np.random.default_rng(0)], [memos[player]])
        state.apply_action(decision.action)
    return game.outcomes.values[game.outcomes.of(game.scores(state), seat), 0] * game.worth[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hearts", "skat", "crew(mission=9)"])
def test_games_played_on_are_those_of_the_policy(name, tiny_features_checkpoint_of):
    game = games.load(name)
    policy = players.make(f"argmax:checkpoint={tiny_features_checkpoint_of(game.name)}", game)
    positions, rng, found = StatePositions(game, policy, sampler(game)), np.random.default_rng(2), set[float]()
    for number, (state, view) in enumerate(decisions(game, 3, 0)):
        if number % 7 == 3 and len(view.legal) > 1:
            drawn, worlds = (
                positions.position(view, rng, {}).sample_worlds(3, np.random.default_rng(number)),
                sampler(game),
            )
            worlds.reset(view)
            same = worlds.sample(3, np.random.default_rng(number))
            scores = drawn.play(slice(1, 3), view.legal, 0)
            for row, i in enumerate((1, 2)):
                for column, action in enumerate(view.legal):
                    slow = played_on_slowly(game, policy, same.state(i), action, view.viewer)
                    assert scores[row, column] == pytest.approx(slow), (number, i, action)
                    found.add(slow)
        state.apply_action(int(rng.choice(view.legal)))
    assert len(found) > 1


def test_what_was_seen_before_the_action_is_fed_once(tiny_features_checkpoint_of):
    """A policy that cannot look, and is told all of each game, plays on the same."""

    class Blind(Player):
        def __init__(self, player):
            self.player = player

        def act(self, views, rng, memo):
            return self.player.act(views, rng, memo)

    game, compared = games.load("crew"), 0
    policy = players.make(f"argmax:checkpoint={tiny_features_checkpoint_of('crew')}", game)
    rng = np.random.default_rng(3)
    for number, (state, view) in enumerate(decisions(game, 5, 0)):
        if number % 6 == 1 and len(view.legal) > 1:
            found = []
            for player in (policy, Blind(policy)):
                position = StatePositions(game, player, sampler(game)).position(view, np.random.default_rng(0), {})
                drawn = position.sample_worlds(5, np.random.default_rng(number))
                found.append([drawn.play(slice(2, 5), view.legal, 1), drawn.play(slice(0, 4), view.legal[:2], 1)])
            assert all(np.array_equal(looked, blind) for looked, blind in zip(*found, strict=True)), number
            compared += 1
        state.apply_action(int(rng.choice(view.legal)))
    assert compared > 3


def test_chance_is_alike_after_every_action():
    """Hanabi, where a card is drawn after most moves: what is drawn in a world depends on how many were, not on
    what the moves were."""
    game = games.load("hanabi(colors=2,ranks=3,hand_size=2)")
    state = game.deal(1, 0)
    view = game.view(state, 0)
    positions = StatePositions(game, players.make("partner:style=smart", game), sampler(game))
    drawn = positions.position(view, np.random.default_rng(0), {}).sample_worlds(40, np.random.default_rng(1))
    alike = drawn.play(slice(0, 40), [view.legal[0]] * 2, 5)
    assert (alike[:, 0] == alike[:, 1]).all()
    assert len(np.unique(alike)) > 1
    assert (drawn.play(slice(0, 40), [view.legal[0]], 6)[:, 0] != alike[:, 0]).any()


@pytest.mark.slow
def test_it_improves_on_its_policy():
    """On random play, by far."""
    game = games.load("hearts")
    pair = [players.make("rollout:policy=random,worlds=6", game), players.make("random", game)]
    hands = [Hand(deal, seating) for deal in range(2) for seating in ((0, 1, 1, 1), (1, 1, 0, 1))]
    own, others = [], []
    for record in play(game, pair, hands, 11):
        for seat, who in enumerate(record.seating):
            (others if who else own).append(record.scores[seat])
    assert np.mean(own) < np.mean(others) - 3, (own, others)


@pytest.mark.slow
def test_hidden_cards_change_nothing():
    game = games.load("skat")
    player = players.make("rollout:policy=rules,worlds=4,belief=weighted", game)
    assert count_blind_decisions(player, game, decisions(game, 8, 1), np.random.default_rng(4)) > 5


@pytest.mark.slow
def test_a_killed_match_goes_on_the_same(tiny_features_checkpoint_of):
    """Nothing is carried from one hand to the next."""
    game = games.load("skat")
    spec = f"rollout:policy=argmax:checkpoint={tiny_features_checkpoint_of('skat')},worlds=2"
    hands = [Hand(deal, (0, 1, 1)) for deal in range(3)]
    whole = list(play(game, [players.make(spec, game), players.make("rules", game)], hands, 2))
    later = list(play(game, [players.make(spec, game), players.make("rules", game)], hands[2:], 2))
    assert comparable(whole[2:]) == comparable(later)


@pytest.mark.parametrize(
    ("spec", "name", "said"),
    [
        ("rollout:policy=spiel:state=true", "hearts", "hidden cards"),
        ("rollout:policy=kermit", "hearts", "kermit"),
        ("rollout:policy=nobody", "hearts", "nobody"),
        ("rollout:belief=weighted", "hearts", "hearts has no weighted worlds"),
        ("rollout:belief=policy", "hearts", "needs a policy with action probabilities"),
        ("rollout:policy=gomcts,belief=policy", "hearts", "needs a policy with action probabilities"),
        ("rollout:worlds=0", "hearts", "worlds=0"),
        ("rollout:slip=0.2", "hearts", "slip=0.2 is for belief=policy"),
    ],
)
def test_refusals_are_one_line(spec, name, said):
    with pytest.raises(TrickformerError, match=said) as refusal:
        players.make(spec, games.load(name))
    assert "\n" not in str(refusal.value)


def test_a_policy_that_breaks_the_rules_is_named(tmp_path, monkeypatch):
    (tmp_path / "cheat.py").write_text(
        "from trickformer.base import Decision, Player\n\n\n"
        "class Cheat(Player):\n"
        "    def act(self, views, rng, memo):\n"
        "        return [Decision(99) for view in views]\n\n\n"
        "def make(game):\n"
        "    return Cheat()\n"
    )
    monkeypatch.chdir(tmp_path)
    game = games.load("hearts")
    player = players.make("rollout:policy=native:cheat:make", game)
    with pytest.raises(TrickformerError, match="chose the illegal action 99; legal: "):
        list(play(game, [player], [Hand(0, (0, 0, 0, 0))], 1))


class Part(Player):
    """Notes what a part of a rollout is told."""

    batch = 1
    caveats = ("a part",)

    def __init__(self):
        self.clocks, self.ends = set(), []

    def act(self, views, rng, memo):
        self.clocks |= {m["clock"] for m in memo if "clock" in m}
        return [Decision(view.legal[0], faults=("crash",)) for view in views]

    def end(self, views, scores, memo):
        self.ends.append((tuple(view.viewer for view in views), scores))


@pytest.mark.parametrize("is_prior", [False, True])
def test_a_part_hears_what_a_player_hears(is_prior):
    """The clock and the end of a hand; and the report has its caveats and faults."""
    game, part = games.load("hearts(pass_cards=False)"), Part()
    positions = StatePositions(game, players.make("rules", game) if is_prior else part, sampler(game))
    if is_prior:
        player = PriorRollouts(part, positions, RolloutSettings(runs=4), False)
    else:
        player = BlueprintSearchPlayer(Comparison(2, threshold=0, ucb=False, assess=0), positions, part)
    assert player.caveats == ("a part",)
    (record,) = play(game, [player, players.make("random", game)], [Hand(0, (0, 1, 1, 1))], 1, clock=9.0)
    assert part.clocks == {9.0} and part.ends == [((0,), record.scores)]
    assert record.faults[0] == {"crash": record.decisions[0]}


def test_what_the_policy_reads_and_starts_is_known():
    files = players.files("rollout:policy=argmax:checkpoint=hearts-small")
    assert files == players.files("argmax:checkpoint=hearts-small") != {}
    assert players.starts_program('rollout:policy="engine:cmd=./bot"')
    assert not players.starts_program("rollout:policy=rules")
    assert not players.starts_program("rollout")
