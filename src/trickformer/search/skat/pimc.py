"""PIMC in Skat, which the players `pimc` and `kermit` use: card play on worlds that are solved with open cards.

Bids, discards and declarations come from the scripted player `rules`, or from a learned evaluation of hands (`kermit`).
The core counts in tournament points, and one unit of v(o) is 100 points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from trickformer import _core
from trickformer.base import Belief, Decision, Game, Memo, Player, Thought, View
from trickformer.belief.samplers.skat import SkatBelief, SkatWorlds
from trickformer.search.skat.worlds import WORLDS, WorldWeights, evaluate_worlds

PASSING = -15.0  # value of a pass, in points: own score minus the others' mean; roughly a defender's average
DEFAULTS = {"worlds": 50, "bidding": "rules"}


class SkatSearch(Player):
    """PIMC player of Skat. If only one action is legal, there is no search."""

    batch = 1

    def __init__(
        self,
        game: Game,
        belief: SkatBelief,
        *,
        worlds: int,
        weighted: bool,
        bidding: Literal["rules", "kermit"],
        passing: float,
    ):
        """Set up a search.

        Args:
            game: The game.
            belief: Samples the worlds.
            worlds: Number of worlds solved per card play.
            weighted: Whether worlds are weighted by the others' bids and declarations.
            bidding: Player that bids, discards and declares.
            passing: Value of a pass in points: own score minus the mean of the others' scores.
        """
        self._game, self._belief = game, belief
        self._seeger = bool(getattr(game, "seeger", True))  # scores are tournament points (extended Seeger-Fabian)
        self._worlds = worlds
        self._bidding = bidding
        self._passing = passing
        self._weights = WorldWeights(weighted, self._seeger)
        self._solver = _core.skat_search.Solver()

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [self._decide(v, r, m) for v, r, m in zip(views, rng, memo)]

    def _explain(self, view: View, rng: np.random.Generator) -> Thought:
        """Sample new worlds like those of the search, and solve them after each legal card."""
        n = min(self._worlds, WORLDS)
        sampler = self._belief.sampler_of(view)
        # One world of each draw, so that worlds are independent, as their standard errors assume.
        hidden = np.concatenate([self._weights.draw(sampler, 1, rng) for _ in range(n)])
        worlds = SkatWorlds(hidden, np.zeros(n), np.ones(n, dtype=bool), view, self._game)
        return Thought(worlds=evaluate_worlds(worlds, n, view.legal, self._seeger))

    def _decide(self, view: View, rng: np.random.Generator, memo: Memo) -> Decision:
        if len(view.legal) == 1:
            return Decision(view.legal[0])
        seat_view = self._belief.seat_view(view)
        if _core.skat_search.at_play(seat_view):
            result = _core.skat_search.pimc(
                self._belief.sampler_of(view),
                self._weights.evaluation,
                self._worlds,
                self._weights.oversample,
                self._weights.model,
                self._seeger,
                int(rng.integers(2**63)),
                self._solver,
            )
            values = {card: result.values[card] / 100 for card in view.legal}
            thought = self._explain(view, rng) if memo.get("explain") else None
            visits = dict.fromkeys(values, result.worlds)
            return Decision(result.card, value=result.value / 100, visits=visits, values=values, thought=thought)
        if self._bidding == "rules":
            return Decision(_core.skat.rules_player([seat_view])[0])
        if "prospects" not in memo:  # the expectimax over skats is the same at every turn of the auction
            memo["prospects"] = _core.skat_search.prospects(self._weights.evaluation, seat_view, self._seeger)
        prospects = memo["prospects"]
        action, value = _core.skat_search.say(
            self._weights.evaluation, prospects, seat_view, self._seeger, self._passing
        )
        return Decision(action, value=value / 100)


def make(game: Game, belief: Belief, settings: Mapping[str, Any]) -> SkatSearch:
    """Make the search of Skat.

    Args:
        game: The game.
        belief: Samples the worlds.
        settings: Values of `worlds`, `weighted` and `bidding`.
    """
    assert isinstance(belief, SkatBelief)
    return SkatSearch(game, belief, **settings, passing=PASSING)
