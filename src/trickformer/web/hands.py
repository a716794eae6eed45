"""What the own cards of Hanabi may be, by several estimators of trickformer.belief.hanabi."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import Game, View
from trickformer.belief.samplers.hanabi import HanabiBelief, replay
from trickformer.games.hanabi import Hanabi, card_name
from trickformer.tokenizers.hanabi import HanabiTokenizer

LISTED, TRIES = 20_000, 20_000  # hands that are listed, or else draws that are tried, under `smart`


def hanabi_hands(game: Game, view: View, worlds: int, rng: np.random.Generator) -> dict[str, Any]:
    """Shares by kind of card and slot: `v0` counts card by card, `v1` is its fixed point, `counting` draws worlds with
    all cards together, `smart` takes the others for that scripted player, whose moves then tell of the hand."""
    from trickformer.belief.hanabi.estimators import V0, V1
    from trickformer.belief.hanabi.process import Form, HanabiProcess

    assert isinstance(game, Hanabi)
    rules, own = game.rules, view.viewer
    belief = HanabiBelief(game)
    belief.reset(view)
    drawn = belief.sample(worlds, rng)
    held = int((drawn.hidden[0] >= 0).sum())
    table = replay(game, drawn.history(0))  # whatever the hidden cards: the estimators see what the seat sees
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
        hands, weights, _ = decision.consistent_hands(LISTED, worlds, TRIES, int(rng.integers(2**63)))
        if len(weights):
            kinds["smart"] = _shares(hands, weights, rules.kinds)
    return {
        "places": [f"card {i}" for i in range(held)],
        "cards": [card_name(rules, kind) for kind in range(rules.kinds)],
        "kinds": {name: np.asarray(shares)[:held].T.tolist() for name, shares in kinds.items()},
        "worlds": worlds,
    }


def _shares(hands: np.ndarray, weights: np.ndarray, kinds: int) -> np.ndarray:
    """float64 [hand, kinds]: hands int16 [n, hand], weights float64 [n]."""
    shares = [np.bincount(slot[slot >= 0], weights[slot >= 0], minlength=kinds) for slot in hands.T]
    return np.stack(shares) / weights.sum()
