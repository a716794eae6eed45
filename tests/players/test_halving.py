"""Sequential halving: budgets, what stays, and that it finds the best."""

import numpy as np
import pytest

from trickformer.search.halving import halving


class Games:
    """Every action's result in each world, and how many games it had."""

    def __init__(self, results):
        self.results, self.had = results, [0] * len(results)

    def play(self, actions, games):
        found = []
        for action in actions:
            found.append(self.results[action][self.had[action] : self.had[action] + games].tolist())
            self.had[action] += games
        return found


@pytest.mark.parametrize("seed", range(5))
def test_no_more_games_than_given_and_the_same_for_all_that_are_left(seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        actions, runs = int(rng.integers(1, 20)), int(rng.integers(0, 60))
        games = Games(rng.random((actions, 60)))
        anchor = int(rng.integers(actions)) if rng.random() < 0.5 else None
        best = halving(rng.random(actions), anchor, runs, games.play, 1.0)
        assert sum(games.had) <= runs, (seed, actions, runs)
        assert games.had[best] == max(games.had) or best == anchor
        if sum(games.had):
            # Those that were left out at first, then those that fell in each round: no more kinds than rounds and none.
            assert len(set(games.had)) <= 1 + np.ceil(np.log2(actions)), (seed, games.had)
            assert anchor is None or games.had[anchor] == max(games.had), (seed, games.had)


def test_it_finds_the_best_of_many():
    rng, found = np.random.default_rng(7), 0
    for _ in range(100):
        means = rng.permutation(np.linspace(0, 1, 8))
        games = Games(means[:, None] + rng.normal(0, 0.3, (8, 400)))
        found += halving(np.zeros(8), None, 400, games.play, 1.0) == means.argmax()
    assert found > 90  # by 50 games each, a difference of 1/7 is 2.4 standard errors; halving has some 130 at the end


def test_the_anchor_stays_unless_another_is_better_by_the_margin():
    worlds = np.zeros((2, 100))
    worlds[1, :20] = 1  # in a fifth of the worlds: 0.2, of which the standard error at 50 games each is small
    assert halving([0, 0], 0, 200, Games(worlds).play, 1.0) == 1
    assert halving([0, 0], 0, 200, Games(worlds).play, 6.0) == 0
    assert halving([0, 0], 1, 200, Games(worlds).play, 1.0) == 1
    same = np.ones((2, 100))
    assert halving([0, 9], 0, 200, Games(same).play, 0.0) == 0  # not by nothing


def test_without_games_the_first_guess_is_played():
    def never(actions, games):
        raise AssertionError

    assert halving([0.1, 0.7, 0.4], None, 0, never, 1.0) == 1
    assert halving([0.1, 0.7, 0.4], 2, 0, never, 1.0) == 2
    assert halving([0.3], None, 10, never, 1.0) == 0
