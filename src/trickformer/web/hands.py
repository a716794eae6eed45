"""Beliefs over the viewer's own cards in Hanabi, by several estimators of trickformer.belief.hanabi."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import Game, View
from trickformer.belief.samplers.hanabi import HanabiBelief, replay
from trickformer.games.hanabi import Hanabi, card_name
from trickformer.tokenizers.hanabi import HanabiTokenizer

LISTED = 20_000  # largest number of hands that `smart` lists exactly
TRIES = 20_000  # draws that it tries if there are more


def hanabi_hands(game: Game, view: View, worlds: int, rng: np.random.Generator) -> dict[str, Any]:
    """Estimate the probability of each kind of card in each slot of the viewer's hand.

    `v0` counts card by card, and `v1` is its fixed point. `counting` draws worlds with all cards together. `smart`
    assumes that the others play as this scripted player, so that their moves carry information.

    Args:
        game: Game of Hanabi.
        view: View of the seat.
        worlds: Number of worlds to draw.
        rng: Generator for the draws.

    Returns:
        `places` (slots), `cards` (kinds), `kinds` (estimator -> [kind][slot] probabilities) and `worlds`, for JSON.
    """
    from trickformer.belief.hanabi.estimators import V0, V1
    from trickformer.belief.hanabi.process import Form, HanabiProcess

    assert isinstance(game, Hanabi)
    rules, own = game.rules, view.viewer
    belief = HanabiBelief(game)
    belief.reset(view)
    drawn = belief.sample(worlds, rng)
    held = int((drawn.hidden[0] >= 0).sum())
    table = replay(game, drawn.history(0))  # any world will do: the estimators see only what the seat sees
    process = HanabiProcess(rules, Form.POMDP, ["smart"] * game.players, own)
    kinds: dict[str, np.ndarray] = {}
    for name, estimator in (("v0", V0(process)), ("v1", V1(process))):
        estimator.begin(table)
        kinds[name] = estimator.belief()[0].numpy()
    kinds["counting"] = _shares(drawn.hidden, np.ones(worlds), rules.kinds)
    if view.legal:
        tokenizer = HanabiTokenizer(game)
        bot = _core.hanabi.BOTS.index("smart")
        decision = _core.hanabi.Decision(tokenizer.codec, tokenizer.encode(view), bot)
        hands_and_weights = decision.consistent_hands(LISTED, worlds, TRIES, int(rng.integers(2**63)))[:2]
        if len(hands_and_weights[1]):
            kinds["smart"] = _shares(*hands_and_weights, rules.kinds)
    return {
        "places": [f"card {i}" for i in range(held)],
        "cards": [card_name(rules, kind) for kind in range(rules.kinds)],
        "kinds": {name: np.asarray(shares)[:held].T.tolist() for name, shares in kinds.items()},
        "worlds": worlds,
    }


def _shares(hands: np.ndarray, weights: np.ndarray, kinds: int) -> np.ndarray:
    """Compute shares, float64 [hand, kinds], of hands, int16 [n, hand], with weights, float64 [n]."""
    shares = [np.bincount(slot[slot >= 0], weights[slot >= 0], minlength=kinds) for slot in hands.T]
    return np.stack(shares) / weights.sum()
