"""Calls of players: how many views they get at once, and the checks of what they return."""

import pytest

from trickformer.base import Decision, Player, TrickformerError, View, decide_in_batches


class Three(Player):
    """Plays its lowest legal action and remembers how many views a call had."""

    batch = 3

    def __init__(self):
        self.calls = []

    def act(self, views, rng, memo):
        assert len(views) == len(rng) == len(memo)
        self.calls.append(len(views))
        return [Decision(view.legal[0]) for view in views]


@pytest.mark.parametrize(("batch", "calls"), [(3, [3, 3, 1]), (1, [1] * 7), (None, [7])])
def test_a_call_has_no_more_views_than_the_player_takes(batch, calls):
    player, views = Three(), [View(0, (), (action, 60)) for action in range(7)]
    player.batch = batch
    decisions = decide_in_batches(player, views, [None] * 7, [{} for _ in views])
    assert [decision.action for decision in decisions] == list(range(7)) and player.calls == calls


def test_every_call_is_checked():
    views = [View(0, (), (action,)) for action in (1, 1, 1, 2)]
    player = Three()
    player.act = lambda views, rng, memo: [Decision(1)] * len(views)
    with pytest.raises(TrickformerError, match="chose the illegal action 1; legal: \\[2\\]"):
        decide_in_batches(player, views, [None] * 4, [{} for _ in views])
