"""What is said of searches that go on in other threads: how far they have got, and nothing once they have ended."""

from __future__ import annotations

import gc
import random
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from trickformer import _core, games, players, tokenizers
from trickformer.base import CHANCE

# Of each game a search that takes a second or so, what it counts, and how many actions of people come before it.
SEARCHES = {
    "gomcts": ("hearts", "gomcts:checkpoint=hearts-small,runs=600", 600, 20),
    "hearts": ("hearts", "pimc:worlds=300", 300, 20),
    "skat": ("skat", "pimc:worlds=1000,weighted=false", None, 17),
    "crew": ("crew(mission=12)", "pimc:worlds=1000,nodes=20000", 1000, 12),
}


def _turn(game, before):
    """A view in the middle of a hand of scripted players, with several legal actions."""
    draw, rules, n = random.Random(5), players.make("rules", game), 0
    state = game.spiel.new_initial_state()
    while True:
        if (seat := state.current_player()) == CHANCE:
            cards, chances = zip(*state.chance_outcomes())
            state.apply_action(draw.choices(cards, chances)[0])
            continue
        view = game.view(state, seat)
        if n >= before and len(view.legal) > 2:
            return view
        state.apply_action(rules.act([view], [np.random.default_rng(n)], [{}])[0].action)
        n += 1


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHES)
def test_how_far_searches_have_got(name):
    spec, who, of, before = SEARCHES[name]
    game = games.load(spec)
    view = _turn(game, before)

    def search(seed):
        return players.make(who, game).act([view], [np.random.default_rng(seed)], [{}])

    gc.collect()
    idle = _core.under_way()  # (0, 0), but for searches that other tests have begun and not let go of
    with ThreadPoolExecutor(2) as pool:
        seen, going = [], [pool.submit(search, seed) for seed in range(2)]
        while not all(one.done() for one in going):
            seen.append(_core.under_way())
            time.sleep(0.001)
        for one in going:
            one.result()
    assert _core.under_way() == idle
    seen = [(done - idle[0], total - idle[1]) for done, total in seen]
    assert all(0 <= done <= total for done, total in seen), seen
    assert any(done > 0 for done, _ in seen), seen
    if of is not None:
        assert {total for _, total in seen} <= {0, of, 2 * of}


def test_a_search_that_has_ended_is_counted_no_more():
    """Though somebody still holds it; and what is added to it then is counted from its own beginning."""
    gc.collect()
    idle = _core.under_way()
    tokenizer = tokenizers.make(game := games.load("hearts"))
    view = _turn(game, 20)
    batch = _core.gomcts.SearchBatch(game.outcomes.values.astype(np.float32))
    options = {"steps": 1, "c": 0.4, "threshold": 0.0, "mu": 0.0, "wave": 4, "legal": True}
    for runs in (20, 50):
        batch.add(tokenizer.tracker(tokenizer.encode(view)), 1, 0, runs=runs, **options)
        seen = set()
        while batch.advance():
            seen.add(_core.under_way())
            batch.give_nodes(np.arange(len(batch.branches()[1]), dtype=np.int32))
            policy = np.zeros((len(batch.policy_nodes()), len(tokenizer.vocab)), np.float32)
            batch.answer(policy, np.zeros((len(batch.value_nodes()), game.players), np.float32))
        assert {total - idle[1] for _, total in seen} == {runs}
        assert max(done - idle[0] for done, _ in seen) <= runs
        assert min(done - idle[0] for done, _ in seen) == 4
        assert _core.under_way() == idle
