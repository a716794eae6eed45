"""Calls of players: how many views they get at once, and the checks of what they return."""

import re

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


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"value": float("inf")}, "the value inf; values must be finite numbers"),
        ({"gain": float("nan")}, "the value nan; values must be finite numbers"),
        ({"exact_gain": "x"}, "the value 'x'; values must be finite numbers"),
        ({"searched": 1.5}, "the count 1.5; counts must be 0 or more"),
        ({"illegal": -1}, "the count -1; counts must be 0 or more"),
        ({"faults": ("slow",)}, "the fault 'slow'; see trickformer.base.FaultKind"),
    ],
)
def test_what_a_decision_tells_is_checked(given, says):
    player = Three()
    player.act = lambda views, rng, memo: [Decision(1, **given)]
    with pytest.raises(TrickformerError, match=f"Three gave {re.escape(says)}"):
        decide_in_batches(player, [View(0, (), (1,))], [None], [{}])


def test_every_call_is_checked():
    views = [View(0, (), (action,)) for action in (1, 1, 1, 2)]
    player = Three()
    player.act = lambda views, rng, memo: [Decision(1)] * len(views)
    with pytest.raises(TrickformerError, match="chose the illegal action 1; legal: \\[2\\]"):
        decide_in_batches(player, views, [None] * 4, [{} for _ in views])
