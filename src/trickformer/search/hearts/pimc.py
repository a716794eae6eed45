"""PIMC in Hearts: each decision is one call of the core (cpp/hearts/pimc_isa.cpp).

In each world, multi-player UCT (Sturtevant 2008) or plain playouts give a value to each card. A card's value is the
mean over worlds. The three cards to pass are chosen one after the other, by one search each. In these searches the
other seats pass like the scripted player `rules`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import Belief, Decision, Game, Memo, Player, Thought, View, World
from trickformer.belief.samplers.hearts import HeartsBelief
from trickformer.games.hearts import PLAYERS

DEFAULTS = {"worlds": 50, "runs": 2000, "c": 0.4, "eval": "uct", "playout": "light"}


class HeartsSearch(Player):
    """PIMC player of Hearts.

    Ties go to the lowest card. If only one card is legal, there is no search.
    """

    batch = 1

    def __init__(self, belief: HeartsBelief, *, worlds: int, runs: int, c: float, uct: bool, light: bool):
        """Set up a search.

        Args:
            belief: Samples the worlds.
            worlds: Number of worlds per decision.
            runs: Number of simulations in each world.
            c: Exploration constant of UCT, in units of v(o).
            uct: True: UCT evaluates the actions. False: plain playouts do.
            light: True: playouts follow a fast script. False: they are uniformly random.
        """
        self._belief = belief
        self._settings: dict[str, Any] = {"worlds": worlds, "runs": runs, "c": c, "uct": uct, "light": light}

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [self._decide(v, r, bool(m.get("explain"))) for v, r, m in zip(views, rng, memo)]

    def _decide(self, view: View, rng: np.random.Generator, explain: bool) -> Decision:
        if len(view.legal) == 1:
            return Decision(view.legal[0])
        sampler, seed = self._belief.sampler_of(view), int(rng.integers(2**63))
        thought = None
        if explain:
            # After the result: values of the cards, float32 [worlds, 52], and their holders, int8 [worlds, 52].
            result, *by_world = _core.hearts.pimc_worlds(sampler, **self._settings, seed=seed)
            thought = Thought(worlds=tuple(_world(v, h, list(result)) for v, h in zip(*by_world)))
        else:
            result = _core.hearts.pimc(sampler, **self._settings, seed=seed)  # card -> (value, visits)
        best = max(result, key=lambda card: result[card][0])
        values = {card: value for card, (value, _) in result.items()}
        visits = {card: n for card, (_, n) in result.items()}
        return Decision(best, value=values[best], visits=visits, values=values, thought=thought)


def _world(values: np.ndarray, holders: np.ndarray, candidates: list[int]) -> World:
    """Make a World from the cards' values, float32 [52], NaN if not tried, and the seats that hold them, int8 [52]."""
    cards = tuple(tuple(np.nonzero(holders == seat)[0].tolist()) for seat in range(PLAYERS))
    return World(cards, {card: float(values[card]) for card in candidates if not np.isnan(values[card])})


def make(game: Game, belief: Belief, settings: Mapping[str, Any]) -> HeartsSearch:
    """Make the search of Hearts.

    Args:
        game: The game.
        belief: Samples the worlds.
        settings: A value for each name in `DEFAULTS`; only UCT needs `c`.
    """
    assert isinstance(belief, HeartsBelief)
    settings = {**DEFAULTS, **settings}
    uct, light = settings["eval"] == "uct", settings["playout"] == "light"
    return HeartsSearch(belief, worlds=settings["worlds"], runs=settings["runs"], c=settings["c"], uct=uct, light=light)
