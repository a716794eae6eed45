"""`pimc` at The Crew: legal, a function of the view and its generator, right where it must be, better than `rules`."""

import copy

import numpy as np
import pytest
from support.records import comparable
from support.worlds import seat_view

from trickformer import _core, games, players
from trickformer.base import TrickformerError
from trickformer.belief import sampler
from trickformer.games.crew import ACTIONS, CARDS, OVER, PLAY, RADIO, RADIO_CARD, TILE_FROM, TILE_TO
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play

CORE = _core.crew
QUICK = "pimc:worlds=6,nodes=300"


@pytest.mark.parametrize("spec", ["crew", "crew(distress=left)", "crew(mission=12)"])
def test_contract_at_a_crew_table(spec):
    """Legal, reproducible, and independent of who shares the call: `play` itself checks legality."""
    game = games.load(spec)
    hands = [Hand(d, (d % 2,) * 4) for d in range(12)]
    casts = [[players.make(QUICK, game), players.make("random", game)] for _ in range(2)]
    together = list(play(game, casts[0], hands, 5, 12))
    alone = list(play(game, casts[1], hands, 5, 1))
    assert comparable(together) == comparable(alone)


def test_a_decision_is_a_function_of_the_view_and_its_generator():
    game, rng = games.load("crew"), np.random.default_rng(1)
    player, scripted, belief = players.make(QUICK, game), players.make("rules", game), sampler(game)
    seeds_matter, searched = 0, 0
    for index in range(12):
        state, number = game.deal(9, index), 0
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(game.chance(state, index, 0))
                continue
            view = game.view(state, state.current_player())
            decision = player.act([view], [np.random.default_rng(number)], [{}])[0]
            assert decision.action in view.legal
            if len(view.legal) == 1 or state.core.phase in (RADIO, RADIO_CARD):
                assert decision == scripted.act([view], [], [])[0]
            if rng.random() < 0.2:
                belief.reset(view)
                twin = game.view(belief.sample(1, rng).state(0), view.viewer)
                assert player.act([twin], [np.random.default_rng(number)], [{}])[0] == decision
                other = player.act([view], [np.random.default_rng(number + 1000)], [{}])[0]
                seeds_matter += other.value != decision.value
                searched += decision.value is not None
            state.apply_action(decision.action)
            number += 1
    assert searched > 20
    assert seeds_matter


def test_every_phase_of_every_mission_is_played():
    """One mission of each kind to its end, one of them with the distress pass. A commander that may move a token never
    does; had one begun to, it would be asked where to."""
    phases = set()
    for number in (5, 11, 12, 20, 23, 24, 36, 37, 40, 41, 46, 48, 50):
        game = games.load(f"crew(mission={number}{',distress=left' if number == 48 else ''})")
        pimc = players.make("pimc:worlds=2,nodes=50", game)
        (record,) = play(game, [pimc], [Hand(0, (0, 0, 0, 0))], 3, 1)
        assert record.scores[0] in (0, 1)
        state = game.spiel.new_initial_state()
        for action in record.history:
            if state.core is not None:
                phases.add(state.core.phase)
                if state.core.phase == TILE_FROM:
                    begun = state.child(min(state.legal_actions()))
                    assert begun.core.phase == TILE_TO
                    asked = game.view(begun, begun.current_player())
                    assert pimc.act([asked], [np.random.default_rng(1)], [{}])[0].action in asked.legal
            state.apply_action(action)
        phases.add(state.core.phase)
    assert phases == set(range(OVER + 1)) - {TILE_TO}


def quiet(state):
    """Nobody communicates."""
    while ACTIONS.index("silent") in state.legal_actions():
        state.apply_action(ACTIONS.index("silent"))


def at(number, hands, plays):
    """A mission without messages: hands of seats 0 to 3; the task, who takes it, all cards played so far."""
    game = games.load(f"crew(mission={number})")
    state = game.spiel.new_initial_state()
    for action in (number, *(CARDS.index(c) for hand in hands for c in hand.split())):
        state.apply_action(action)
    for word in plays.split():
        quiet(state)
        state.apply_action(ACTIONS.index(word))
    quiet(state)
    return game, state


def test_it_plays_what_must_succeed():
    """The task P1 lies with the left neighbour as the only pink card; the owner leads the only card that captures it.

    All other cards of the owner lose the lead; with two tricks to go every world agrees."""
    hands = (
        "P9 Y1 B9 B8 B7 B6 G9 G8 G7 R4",
        "P1 Y9 B5 B4 B3 B2 G6 G5 G4 R3",
        "P8 P7 P6 P5 P4 P3 P2 Y2 Y3 R2",
        "Y4 Y5 Y6 Y7 Y8 B1 G3 G2 G1 R1",
    )
    tricks = "R4 R3 R2 R1 B9 B5 Y2 B1 B8 B4 Y3 Y4 B7 B3 P2 Y5 B6 B2 P3 Y6 G9 G6 P4 G3 G8 G5 P5 G2 G7 G4 P6 G1"
    game, state = at(1, hands, f"P1 P1 {tricks}")
    view = game.view(state, 0)
    assert [CARDS[a] for a in view.legal] == ["P9", "Y1"]
    for seed in range(5):
        decision = players.make("pimc", game).act([view], [np.random.default_rng(seed)], [{}])[0]
        assert CARDS[decision.action] == "P9"


def test_it_takes_the_action_that_most_worlds_allow():
    """Late in the game, where all worlds of a view can be solved: against the share of each action."""
    game, solver, compared, told = games.load("crew(mission=10)"), CORE.Solver(), 0, 0
    for index in range(12):
        state = game.deal(3, index)
        player = players.make("rules", game)
        while not state.is_terminal():
            view = game.view(state, state.current_player())
            seen = seat_view(game, view)
            if len(state.core.plays) >= 24 and len(view.legal) > 1 and state.core.phase == PLAY:
                deals = CORE.DealSampler(seen)
                if deals.count <= 60:
                    worlds = deals.states(np.unique(deals.sample(1, 3000), axis=0))
                    assert len(worlds) == deals.count
                    shares = {a: np.mean([after(w, a, solver) for w in worlds]) for a in view.legal}
                    action, value, _ = CORE.pimc([seen], np.array([7], np.uint64), 2000, 10**6)[0]
                    assert shares[action] > max(shares.values()) - 0.05, f"deal {index}"
                    assert value == pytest.approx(shares[action], abs=0.07), f"deal {index}"
                    compared += 1
                    told += min(shares.values()) < max(shares.values())
            state.apply_action(player.act([view], [], [])[0].action)
    assert compared > 5
    assert told > 1


def after(world, action, solver):
    """Whether a world can succeed after an action."""
    world = copy.copy(world)
    world.apply_action(action)
    return world.result > 0 if world.is_terminal() else solver.can_succeed(world, 10**7)


@pytest.mark.slow
@pytest.mark.parametrize("number", [26, 41])
def test_it_succeeds_more_often_than_rules(number):
    game = games.load(f"crew(mission={number})")
    cast = [players.make("rules", game), players.make("pimc", game)]
    hands = [Hand(deal, (kind,) * 4) for deal in range(30) for kind in (0, 1)]
    won = [0, 0]
    for record in play(game, cast, hands, 1, 60):
        won[record.seating[0]] += record.scores[0]
    assert won[1] >= won[0] + 5, won


@pytest.mark.parametrize(
    ("spec", "game", "says"),
    [
        ("pimc:weighted=true", "crew", "weighted=true is for skat"),
        ("pimc:runs=3", "crew", "runs=3 is for hearts and games"),
        ("pimc:nodes=3", "skat", "nodes=3 is for crew"),
    ],
)
def test_options_of_another_game_are_refused(spec, game, says):
    with pytest.raises(TrickformerError, match=says) as caught:
        players.make(spec, games.load(game))
    assert "\n" not in str(caught.value)


def test_what_cannot_be_asked_is_refused():
    game = games.load("crew(mission=1)")
    state = game.deal(0, 0)
    seat = state.current_player()
    seen = seat_view(game, game.view(state, seat))
    with pytest.raises(ValueError, match="not on turn"):
        CORE.pimc([seat_view(game, game.view(state, (seat + 1) % 4))], np.zeros(1, np.uint64), 3, 9)
    with pytest.raises(ValueError, match="one seed"):
        CORE.pimc([seen], np.zeros(2, np.uint64), 3, 9)
    with pytest.raises(ValueError, match="at least 1"):
        CORE.pimc([seen], np.zeros(1, np.uint64), 0, 9)
