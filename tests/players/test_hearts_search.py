"""PIMC, UCT, `rules`, and `ismcts`: held to exact values on endings, and to the view alone."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from support.hearts_oracle import assignments
from support.play import RULE_OPTIONS
from support.worlds import seat_view

from trickformer import _core, games, players
from trickformer.base import TrickformerError
from trickformer.belief import sampler


def ending(game, seed: int, plays: int):
    """A random hand after `plays` cards."""
    rnd = random.Random(seed)
    state = game.deal(seed, rnd.randrange(4))
    first = 65 if state.history()[0] else 53
    while len(state.history()) < first + plays:
        state.apply_action(rnd.choice(state.legal_actions()))
    return state


def value(game, state, seat: int) -> float:
    """v(o) of equation 4 for one seat of a terminal state."""
    scores = np.array(game.scores(state), dtype=float)
    return (np.delete(scores, seat).mean() - scores[seat]) / 26


def expectation(game, state, seat: int) -> float:
    """Exact value of uniformly random play to the end."""
    if state.is_terminal():
        return value(game, state, seat)
    return float(np.mean([expectation(game, state.child(a), seat) for a in state.legal_actions()]))


def solution(game, state) -> np.ndarray:
    """max^n values of all seats, float64 [4]; nan where a choice between equals would matter to somebody."""
    if state.is_terminal():
        return np.array([value(game, state, p) for p in range(4)])
    seat = state.current_player()
    found = [solution(game, state.child(a)) for a in state.legal_actions()]
    best = max(v[seat] for v in found)
    ties = [v for v in found if not v[seat] < best - 1e-9]
    return ties[0] if all(np.allclose(v, ties[0]) for v in ties) else np.full(4, np.nan)


def search(game, state, *, worlds=50, runs=2000, c=0.4, uct=True, light=True, seed=0):
    deals = _core.hearts.DealSampler(seat_view(game, game.view(state, state.current_player())))
    return _core.hearts.pimc(deals, worlds, runs, c, uct, light, seed)


@pytest.mark.slow
@pytest.mark.parametrize("rules", ("", "(jd_bonus=True,avoid_all_tricks_bonus=True)"))
def test_rollouts_have_the_value_of_random_play(rules: str) -> None:
    """Means over worlds and playouts against the mean over all assignments of exact expectations."""
    game, compared = games.load("hearts" + rules), 0
    for seed in range(30):
        state = ending(game, seed, 44)
        viewer = state.current_player()
        if len(state.legal_actions()) < 2:
            continue
        if len(assignments(game, state, viewer)) > 30:
            continue
        belief = sampler(game)
        belief.reset(game.view(state, viewer))
        worlds = belief.sample(300, np.random.default_rng(seed))
        exact: dict[tuple[int, ...], dict[int, float]] = {}
        means = {a: [] for a in state.legal_actions()}
        for i in range(300):
            world = worlds.state(i)
            key = tuple(world.legal_actions()), *worlds.history(i)[:53], *sorted(map(tuple, held(world)))
            if key not in exact:
                exact[key] = {a: expectation(game, world.child(a), viewer) for a in means}
            for a in means:
                means[a].append(exact[key][a])
        found = search(game, state, worlds=2000, runs=20, uct=False, light=False, seed=seed)
        for a, values in means.items():
            error = 5 * np.std(values) / 300**0.5 + 0.02
            assert abs(found[a][0] - np.mean(values)) < error, (seed, a)
        compared += 1
        if compared == 4:
            return
    pytest.fail("no ending to compare")


def held(state) -> list[list[int]]:
    return [[step.action for step in state.full_history() if step.player == p] for p in range(4)]


@pytest.mark.slow
def test_uct_finds_the_max_n_move_of_a_known_deal() -> None:
    """Endings in which the viewer knows every card, and no seat's tie changes what another gets."""
    game, compared = games.load("hearts"), 0
    for seed in range(4000):
        state = ending(game, seed, 43 + seed % 2)
        legal = state.legal_actions()
        viewer = state.current_player()
        if len(legal) < 2:
            continue
        belief = sampler(game)
        belief.reset(game.view(state, viewer))
        if belief.count() // (6 * 1716**2 if state.history()[0] else 1) != 1:
            continue
        values = {a: solution(game, state.child(a))[viewer] for a in legal}
        if np.isnan(list(values.values())).any() or max(values.values()) - min(values.values()) < 0.01:
            continue
        found = search(game, state, worlds=1, runs=20_000, c=0.7, seed=seed)
        chosen = max(found, key=lambda a: found[a][0])
        assert values[chosen] == pytest.approx(max(values.values())), (seed, values, found)
        compared += 1
    assert compared >= 5


def test_every_simulation_is_counted_and_every_card_tried() -> None:
    game = games.load("hearts")
    for seed in range(12):
        state = ending(game, seed, 4 * seed % 40)
        legal = state.legal_actions()
        if len(legal) < 2:
            continue
        found = search(game, state, worlds=7, runs=100, seed=seed)
        assert sorted(found) == legal
        assert sum(n for _, n in found.values()) == 700
        flat = search(game, state, worlds=7, runs=100, uct=False, seed=seed)
        assert {n for _, n in flat.values()} == {7 * (100 // len(legal))}
        assert all(-1 <= v <= 1 for v, _ in [*found.values(), *flat.values()])


def test_a_seat_without_a_choice_gets_the_value_of_its_one_card() -> None:
    game, seen = games.load("hearts"), 0
    for seed in range(60):
        state = ending(game, seed, 20 + seed % 24)
        legal = state.legal_actions()
        if len(legal) > 1:
            continue
        for uct in (True, False):
            found = search(game, state, worlds=3, runs=20, uct=uct, seed=seed)
            assert list(found) == legal
            assert found[legal[0]][1] == 60
        seen += 1
    assert seen >= 5


def test_a_hand_without_points_left_is_not_searched() -> None:
    game, seen = games.load("hearts"), 0
    for seed in range(3000):
        state = ending(game, seed, 40)
        left = set(range(52)) - set(state.history()[65 if state.history()[0] else 53 :])
        if any(c % 4 == 2 or c == 43 for c in left) or len(state.legal_actions()) < 2:
            continue
        found = search(game, state, worlds=2, runs=10, seed=seed)
        assert sorted(found) == state.legal_actions()
        assert len({v for v, _ in found.values()}) == 1
        seen += 1
        if seen == 3:
            return
    pytest.fail("no such ending")


GOLDEN = {
    7: ("-0x1.73f73f73f73f7p-2", 8),
    15: ("-0x1.23bce679123bdp-2", 11),
    43: ("0x1.b18d7d866d97dp-3", 581),
}  # by card: the mean value over worlds, and simulations


def test_results_do_not_depend_on_the_machine() -> None:
    """A search to the last bit: it does integer and correctly rounded operations only, on any instruction set."""
    game = games.load("hearts")
    state = game.spiel.new_initial_state()
    for action in (2, *random.Random(5).sample(range(52), 52)):
        state.apply_action(action)
    for _ in range(12 + 14):
        state.apply_action(state.legal_actions()[-1])
    found = search(game, state, worlds=3, runs=200, seed=11)
    assert {a: (v.hex(), n) for a, (v, n) in found.items()} == GOLDEN


def test_pimc_sees_the_view_only_and_follows_its_generator() -> None:
    game = games.load("hearts")
    player = players.make("pimc:worlds=6,runs=60", game)
    for seed in range(6):
        state = ending(game, seed, [0, 1, 7, 12, 20, 31][seed])
        viewer = state.current_player()
        view = game.view(state, viewer)
        belief = sampler(game)
        belief.reset(view)
        twin = game.view(belief.sample(1, np.random.default_rng(seed)).state(0), viewer)
        decide = [player.act([v], [np.random.default_rng(s)], [{}])[0] for v, s in ((view, 1), (twin, 1), (view, 2))]
        assert decide[0] == decide[1]
        if len(view.legal) > 1:
            assert decide[0].visits != decide[2].visits


def test_pimc_passes_the_queen_and_not_low_spades() -> None:
    """With Q A K of spades and nothing below them, the three go."""
    game = games.load("hearts")
    mine = [43, 47, 51, *(r * 4 + s for r in range(4) for s in (0, 1)), 2, 6]
    rest = iter(c for c in range(52) if c not in mine)
    state = game.spiel.new_initial_state()
    state.apply_action(1)
    own = iter(mine)
    for i in range(52):
        state.apply_action(next(own) if i % 4 == 0 else next(rest))
    for spec in ("rules", "pimc:worlds=20,runs=600"):
        now, passed, player = state.clone(), [], players.make(spec, game)
        while now.current_player() == 0:
            passed.append(player.act([game.view(now, 0)], [np.random.default_rng(3)], [{}])[0].action)
            now.apply_action(passed[-1])
        assert sorted(passed) == [43, 47, 51], spec


@pytest.mark.parametrize("number", range(0, 256, 15))
def test_rules_is_legal_and_a_function_of_the_view_under_every_option(number: int) -> None:
    chosen = ",".join(f"{name}={bool(number >> i & 1)}" for i, name in enumerate(RULE_OPTIONS))
    game = games.load(f"hearts({chosen})")
    player, belief = players.make("rules", game), sampler(game)
    rng = np.random.default_rng(number)
    state = game.deal(number, number)
    while not state.is_terminal():
        view = game.view(state, state.current_player())
        decision = player.act([view], [rng], [{}])[0]
        assert decision.action in view.legal
        if rng.random() < 0.2:
            belief.reset(view)
            twin = game.view(belief.sample(1, rng).state(0), view.viewer)
            assert player.act([twin], [rng], [{}])[0] == decision
        state.apply_action(decision.action if rng.random() < 0.5 else int(rng.choice(view.legal)))


def test_searches_refuse_what_they_cannot_value() -> None:
    state = ending(games.load("hearts"), 0, 8)
    with pytest.raises(ValueError, match="at least 1"):
        search(games.load("hearts"), state, worlds=0)
    with pytest.raises(ValueError, match="at least 1"):
        search(games.load("hearts"), state, runs=0)


def test_ismcts_plays_where_one_move_is_plainly_best() -> None:
    """Last to a trick with the queen in it, it does not take it when it need not."""
    game = games.load("hearts")
    player = players.make("ismcts:runs=150", game)
    checked = 0
    for seed in range(4000):
        state = ending(game, seed, 4 * (3 + seed % 6) + 3)
        trick = state.history()[-3:]
        if 43 not in trick or trick[0] % 4 != 3:
            continue
        legal = state.legal_actions()
        over = [c for c in legal if c % 4 == 3 and c > max(t for t in trick if t % 4 == 3)]
        if not over or len(over) == len(legal):
            continue
        decision = player.act([game.view(state, state.current_player())], [np.random.default_rng(seed)], [{}])[0]
        assert decision.action not in over, seed
        checked += 1
        if checked == 3:
            return
    pytest.fail("no such trick")


def test_rules_of_hearts_refuses_other_games() -> None:
    class Other:
        name = "kuhn_poker"

    with pytest.raises(TrickformerError, match="plays hearts"):
        players.make("rules", Other())  # type: ignore[arg-type]


def test_rules_refuses_a_view_that_no_deal_explains():
    game = games.load("hearts")
    state = game.deal(1, 0)
    while len(state.history()) < 53 + 6:
        state.apply_action(state.legal_actions()[0])
    view = game.view(state, state.current_player())
    first = next(i for i, e in enumerate(view.events) if e.action is not None and i > 1)
    ace_led = replace(view.events[first], action=48)  # the two of clubs must lead
    broken = replace(view, events=(*view.events[:first], ace_led, *view.events[first + 1 :]))
    with pytest.raises(ValueError, match="play number 0"):
        players.make("rules", game).act([broken], [np.random.default_rng(0)], [{}])
