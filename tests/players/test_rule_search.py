"""Search on the public belief: both seats find the same rule, its values are those of all worlds, hidden cards change
nothing."""

from __future__ import annotations

import numpy as np
import pytest
from support.play import decisions
from support.records import comparable

from trickformer import _core, games, players
from trickformer.base import TrickformerError
from trickformer.belief.hanabi import networks as files
from trickformer.belief.hanabi.config import BeliefTraining
from trickformer.belief.hanabi.exact import HandListBelief
from trickformer.belief.hanabi.process import prefer
from trickformer.search.hanabi.public import Games, RuleSearchGame
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play

pytestmark = pytest.mark.slow

TINY = games.load("hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=2,max_life_tokens=2)")
SMALL = games.load("hanabi(colors=3,ranks=2,hand_size=2,max_information_tokens=3,max_life_tokens=2)")
SMART = _core.hanabi.BOTS.index("smart")


def game_by(search, deal, seed=3):
    """A game that the search plays on TINY: every position with the view of who is on turn."""
    for state, view in decisions(TINY, seed, deal):
        (decision,) = search.act([view], [np.random.default_rng(deal)], [{}])
        yield state.clone(), view, decision
        state.apply_action(decision.action)


def test_both_seats_find_the_same_rule():
    """Each by itself, from nothing but its own view; and true hands are always among what is believed."""
    shared, checked = players.make("rule_search:worlds=60,threshold=0", TINY), 0
    for deal in range(4):
        exact = before = None
        for state, view, decision in game_by(shared, deal):
            alone = players.make("rule_search:worlds=60,threshold=0", TINY)
            found = [p.games.follow(view)[0] for p in (shared, alone)]
            other = players.make("rule_search:worlds=60,threshold=0", TINY)
            twin, table = other.games.follow(TINY.view(state, 1 - view.viewer))
            assert found[0].search_next_move() == found[1].search_next_move() == twin.search_next_move(), deal
            assert alone.act([view], [np.random.default_rng(deal)], [{}])[0] == decision
            threaded = players.make("rule_search:worlds=60,threshold=0,threads=3", TINY)
            assert threaded.act([view], [np.random.default_rng(deal)], [{}])[0] == decision
            if exact is None:
                exact = HandListBelief(shared.search.process)
                exact.begin(table)
            else:
                exact.observe(before[0], np.array([before[1]]), before[2], table)
            hands, log_p = exact.distribution()
            hidden = [TINY.hand(state, p) for p in (0, 1)]
            true = [card for hand in hidden for card in hand + [-1] * (2 - len(hand))]
            assert np.isfinite(log_p[(hands == true).all(axis=1)]).any(), deal
            before, checked = (table, twin.search_next_move().policy, decision.action), checked + 1
    assert checked > 15


def test_values_are_those_of_all_worlds():
    """Against both hands listed with their probabilities, many decks each."""
    search, looked = players.make("rule_search:worlds=3000,threshold=0,ucb=false,assess=3000", TINY), 0
    for deal in range(3):
        exact = before = None
        for number, (_, view, decision) in enumerate(game_by(search, deal)):
            followed, x = search.games.follow(view)
            found, process = followed.search_next_move(), search.search.process
            if exact is None:
                exact = HandListBelief(process)
                exact.begin(x)
            else:
                exact.observe(before[0], np.array([before[1]]), before[2], x)
            before = (x, found.policy, decision.action)
            hands, log_p = exact.distribution()
            if number % 2 == 0:
                continue
            many = np.repeat(hands, 30, axis=0)
            tables, feasible = process.worlds(x, np.zeros(len(many), np.int64), many, 1)
            assert feasible.all()
            p = np.exp(log_p)

            def worth(rule, tables=tables, p=p, process=process):
                actions = process.choose(tables, np.full(len(tables), rule), 0)
                return p @ tables.play_out(actions, SMART, 0).reshape(len(p), -1).mean(axis=1)

            rules = [*range(6), *(prefer(a, SMART) for a in range(TINY.rules.actions))]
            assert found.value == pytest.approx(worth(found.policy), abs=0.12), (deal, number)
            assert worth(found.policy) >= max(map(worth, rules)) - 0.15, (deal, number)
            gain = worth(found.policy) - worth(SMART)
            assert found.gain == pytest.approx(gain, abs=0.15) and found.exact_gain == pytest.approx(gain, abs=0.15)
            looked += 1
    assert looked > 5


def test_search_is_not_below_the_blueprint():
    deals = 60
    hands = [Hand(d, (0, 0)) for d in range(deals)]

    def scores(spec):
        records = play(SMALL, [players.make(spec, SMALL)], hands, 4, 1)
        return np.array([r.scores[0] for r in sorted(records, key=lambda r: r.deal)])

    gain = scores("rule_search:worlds=100") - scores("partner:style=smart")
    assert gain.mean() > 2 * gain.std() / deals**0.5, gain.mean()


def test_hands_under_way_share_nothing_that_matters():
    """Games with the same beginning, and more of them than are followed, are those that are played one by one."""
    hands, spec = [Hand(d % 5, (0, 0)) for d in range(10)], "rule_search:worlds=30,threshold=0"
    crowded = players.make(spec, TINY)
    crowded.games = Games(TINY, lambda x: RuleSearchGame(crowded.search, x), kept=2)
    together = list(play(TINY, [crowded], hands, 6, 4))
    alone = [next(play(TINY, [players.make(spec, TINY)], [hand], 6)) for hand in hands]
    assert comparable(together) == comparable(alone)


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("networks"), {}
    for name, given in {"hmm": {}, "pomdp": {"form": "pomdp"}, "holmes": {"players": ["holmes", "holmes"]}}.items():
        config, made[name] = BeliefTraining(hidden=8).model_copy(update=given), folder / f"{name}.safetensors"
        files.save(files.network_of(config), config, config.players, made[name])
    return made


@pytest.mark.parametrize("belief", ["exact", "seq2seq", "bft"])
def test_hidden_cards_change_nothing(belief, networks):
    """Neither the rule nor what the viewer does by it, where cards are exchanged that it does not see."""
    game, exchanged, state = games.load("hanabi"), 0, games.load("hanabi").deal(8, 0)
    given = ",listed=500,tries=1000" if belief == "exact" else f',checkpoint="{networks["hmm"]}"'
    given += ",steps=2,batch=8" if belief == "bft" else ""
    spec = f"rule_search:worlds=20,belief={belief}{given}"
    shared = players.make(spec, game)
    for number in range(6):
        while state.is_chance_node():
            state.apply_action(game.chance(state, 8, 0))
        view, rng = game.view(state, state.current_player()), np.random.default_rng(number)
        decisions = shared.act([view], [rng], [{}])
        if number in (2, 5) and (twin := game.exchange(state, view, rng)) is not None:
            seen, rng = game.view(twin, view.viewer), np.random.default_rng(number)
            assert players.make(spec, game).act([seen], [rng], [{}]) == decisions, number
            assert decisions[0].gain is not None
            exchanged += 1
        state.apply_action(decisions[0].action)
    assert exchanged == 2


@pytest.mark.parametrize(
    ("game", "spec", "says"),
    [
        ("hearts", "", "plays hanabi only, not hearts"),
        ("hanabi(players=3)", "", "for two players, not 3"),
        ("hanabi", "blueprint=random", "its blueprint is a scripted player"),
        ("hanabi", "belief=bft", "need checkpoint=DIR"),
        ("hanabi", "batch=64", "batch=64 is for belief=bft"),
        ("hanabi", "checkpoint={hmm}", "is for belief=seq2seq and belief=bft"),
        ("hanabi", "belief=bft,checkpoint={pomdp}", "trained for pomdp on 5-card-8-hint, not for fosg"),
        ("hanabi", "belief=bft,checkpoint={holmes}", "trained on holmes and holmes, not on the blueprint smart"),
    ],
)
def test_what_does_not_fit_is_refused(game, spec, says, networks):
    spec = "rule_search:" + spec.format(**{name: f'"{path}"' for name, path in networks.items()})
    with pytest.raises(TrickformerError, match=says) as caught:
        players.make(spec.rstrip(":"), games.load(game))
    assert "\n" not in str(caught.value)
