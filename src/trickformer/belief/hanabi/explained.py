"""The exact belief of one seat in Hanabi whose partners all play one scripted player: the hands that explain what they
did, by filtering all that there are, or, where these are too many, by drawing (Lerer et al. 2020, section 4.1)."""

from __future__ import annotations

import numpy as np

from trickformer import _core, tokenizers
from trickformer.base import View, Worlds
from trickformer.belief.hanabi.resampling import resample
from trickformer.belief.samplers.hanabi import HanabiBelief, HanabiWorlds
from trickformer.games.hanabi import Hanabi


class Unexplained(ValueError):
    """No hand, or none that was drawn, explains what the others did."""


class ExplainedBelief:
    """A hand is as likely as the deal has it, times what the others, who saw it, would have done as they did.

    style: what they play, a name of `_core.hanabi.BOTS`. listed: hands that the rules allow up to which each is looked
    at; of more, uniform draws are kept or dropped by the others' moves, at most `tries` for a sample."""

    consistent = True

    def __init__(self, game: Hanabi, style: str, listed: int = 20_000, tries: int = 50_000):
        self._game, self._bot, self._listed, self._tries = game, _core.hanabi.BOTS.index(style), listed, tries
        self._codec, self._uniform = tokenizers.make(game), HanabiBelief(game)
        self._view: View | None = None

    def reset(self, view: View) -> None:
        """Condition on a view that ends at an own turn. Raises ValueError where no deal explains it, and Unexplained
        where the others' moves rule out every hand."""
        self._view = None
        self._decision = _core.hanabi.Decision(self._codec.codec, self._codec.encode(view), self._bot)
        self._hands, self._weights, self._all = self._decision.explained(self._listed, 0, 0, 0)
        if self._all and not len(self._weights):
            raise Unexplained("no hand explains what the others did")
        self._view = view

    def sample(self, n: int, rng: np.random.Generator) -> HanabiWorlds:
        """n worlds, alike in weight: by systematic resampling, in random order, so that listed hands come as often as
        they should. Raises ValueError before any view, Unexplained where no draw explains the others' moves."""
        view, seed = self._conditioned(), int(rng.integers(2**63))
        hands, weights = self._hands, self._weights
        if not self._all:
            hands, weights, _ = self._decision.explained(0, n, self._tries, seed)
            if not len(weights):
                raise Unexplained(f"none of {self._tries:,} hands explains what the others did")
        hidden = hands[rng.permutation(resample(np.log(weights), n, rng))]
        return HanabiWorlds(hidden, np.zeros(n), np.ones(n, dtype=bool), view, self._game)

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        """float64 [n]: the logarithm of the probability of a hand, up to a constant of the view where hands are not
        listed; -inf for what does not explain it. Raises ValueError before any view."""
        view = self._conditioned()
        self._uniform.reset(view)
        found = self._uniform.log_prob(worlds)
        good = np.isfinite(found)
        with np.errstate(divide="ignore"):
            found[good] += np.log(self._decision.chances(worlds.hidden[good]))
        total = self._weights.sum() / self._uniform.count() if self._all else 1.0
        return found - np.log(total)

    def _conditioned(self) -> View:
        if self._view is None:
            raise ValueError("a belief needs a view first; call reset")
        return self._view
