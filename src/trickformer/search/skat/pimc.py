"""Search of the searching players of Skat: the learned evaluation, bidding by it, card play on solved worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from trickformer import _core
from trickformer.base import Belief, Decision, Game, Memo, Player, Thought, View
from trickformer.belief.samplers import weighted_belief
from trickformer.belief.samplers.skat import SkatBelief
from trickformer.games.skat import evaluation

PASSING = -15.0  # value of a pass; a defender loses about as much on average
OVERSAMPLE = 32  # worlds drawn for each one that is solved, if they are weighted


DEFAULTS = {"worlds": 50, "bidding": "rules"}


class SkatSearch(Player):
    """Player that bids like `bidding` and plays cards by PIMC, at any number of tables, one decision after the other.

    If a single action is legal, the player takes it without a search.
    """

    batch = 1  # one view after the other

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
            worlds: Worlds solved for a card.
            weighted: Whether worlds are weighted by bids and declarations.
            bidding: Player that bids, discards and declares.
            passing: Value of a pass for the own side: own score minus the mean of the others' scores.
        """
        self._game, self._belief = game, belief
        self._seeger = bool(getattr(game, "seeger", True))
        self._worlds = worlds
        self._oversample = OVERSAMPLE if weighted else 0
        self._bidding = bidding
        self._passing = passing
        self._evaluation = evaluation()
        self._model = _core.skat_search.BidModel()
        self._solver = _core.skat_search.Solver()

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [self._decide(v, r, m) for v, r, m in zip(views, rng, memo)]

    def _thought(self, view: View, rng: np.random.Generator) -> Thought:
        from trickformer.search.skat import worlds as _skat_worlds

        n = min(self._worlds, _skat_worlds.WORLDS)
        belief = weighted_belief(self._game) if self._oversample and self._belief.is_uniform else self._belief
        belief.reset(view)
        worlds = _skat_worlds.evaluate_worlds(belief.sample(n, rng), n, view.legal, self._seeger)
        return Thought(worlds=worlds)

    def _decide(self, view: View, rng: np.random.Generator, memo: Memo) -> Decision:
        if len(view.legal) == 1:
            return Decision(view.legal[0])
        seen = self._belief.seat_view(view)
        if _core.skat_search.at_play(seen):
            result = _core.skat_search.pimc(
                self._belief.deals_of(view),
                self._evaluation,
                self._worlds,
                self._oversample,
                self._model,
                self._seeger,
                int(rng.integers(2**63)),
                self._solver,
            )
            values = {card: result.values[card] / 100 for card in view.legal}
            thought = self._thought(view, rng) if memo.get("explain") else None
            visits = dict.fromkeys(values, result.worlds)
            return Decision(result.card, value=result.value / 100, visits=visits, values=values, thought=thought)
        if self._bidding == "rules":
            return Decision(_core.skat.rules_player([seen])[0])
        if "prospects" not in memo:  # the expectimax over skats is the same at every turn of the auction
            memo["prospects"] = _core.skat_search.prospects(self._evaluation, seen, self._seeger)
        action, value = _core.skat_search.say(self._evaluation, memo["prospects"], seen, self._seeger, self._passing)
        return Decision(action, value=value / 100)


def make(game: Game, belief: Belief, settings: Mapping[str, Any]) -> SkatSearch:
    """Make the search of Skat.

    Args:
        game: The game.
        belief: Samples the worlds.
        settings: Values by name, see `DEFAULTS`.
    """
    assert isinstance(belief, SkatBelief)
    return SkatSearch(game, belief, **settings, passing=PASSING)
