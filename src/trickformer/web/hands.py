"""Beliefs over the viewer's own cards in Hanabi, by several estimators of trickformer.belief.hanabi."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import Game, View
from trickformer.belief.samplers.hanabi import HanabiBelief, replay
from trickformer.games.hanabi import Hanabi, card_name
from trickformer.tokenizers.hanabi import HanabiTokenizer
from trickformer.web.scenes.hanabi import place_words

MAX_LISTED = 20_000  # `smart` lists all consistent hands if there are at most this many
MAX_TRIES = 20_000  # hands that `smart` draws otherwise; it keeps the consistent ones


def hanabi_hands(game: Game, view: View, worlds: int, rng: np.random.Generator) -> dict[str, Any]:
    """Estimate the probability of each kind of card in each slot of the viewer's hand.

    `v0` counts the unseen cards that fit each slot. `v1` is the fixed point at which the slots' probabilities also take
    each other into account. `counting` samples worlds, in which each copy of a card has one place. `smart` also infers
    from the moves of the others, as if they were the scripted player of this name.

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
    rules, viewer = game.rules, view.viewer
    belief = HanabiBelief(game)
    belief.reset(view)
    drawn = belief.sample(worlds, rng)
    n_slots = int((drawn.hidden[0] >= 0).sum())
    table = replay(game, drawn.history(0))  # any world: the estimators read only what the viewer sees
    process = HanabiProcess(rules, Form.POMDP, ["smart"] * game.players, viewer)
    kinds: dict[str, np.ndarray] = {}
    for name, estimator in (("v0", V0(process)), ("v1", V1(process))):
        estimator.begin(table)
        kinds[name] = estimator.belief()[0].numpy()
    kinds["counting"] = _shares(drawn.hidden, np.ones(worlds), rules.kinds)
    if view.legal:
        tokenizer = HanabiTokenizer(game)
        bot = _core.hanabi.BOTS.index("smart")
        decision = _core.hanabi.Decision(tokenizer.codec, tokenizer.encode(view), bot)
        hands_and_weights = decision.consistent_hands(MAX_LISTED, worlds, MAX_TRIES, int(rng.integers(2**63)))[:2]
        if len(hands_and_weights[1]):
            kinds["smart"] = _shares(*hands_and_weights, rules.kinds)
    return {
        "places": [place_words(i, n_slots) for i in range(n_slots)],
        "cards": [card_name(rules, kind) for kind in range(rules.kinds)],
        "kinds": {name: np.asarray(shares)[:n_slots].T.tolist() for name, shares in kinds.items()},
        "worlds": worlds,
    }


def _shares(hands: np.ndarray, weights: np.ndarray, kinds: int) -> np.ndarray:
    """Return the weighted share of each kind in each slot, float64 [slots, kinds].

    Args:
        hands: Kind of the card in each slot, int16 [n, slots]; negative in an empty slot.
        weights: Weight of each hand, float64 [n].
        kinds: Number of kinds.
    """
    shares = [np.bincount(slot[slot >= 0], weights[slot >= 0], minlength=kinds) for slot in hands.T]
    return np.stack(shares) / weights.sum()
