"""Hanabi: one seat searches, by games that a scripted player plays on from hands that explain what was seen

SPARTA, single-agent search (Lerer, Hu, Foerster & Brown, "Improving Policies via Search in Cooperative Partially
Observable Games", 2020). All other seats must play the blueprint. So does the searching one, where no action promises
more than the blueprint's own by more than a threshold. Its belief of its hand follows from what the others did:
exactly, or by a network, fine-tuned or not (Sokota et al., "A Fine-Tuning Approach to Belief State Modeling", 2022).
With worlds enough of an exact belief a search is never worse than the blueprint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import BaseModel, Field

from trickformer.base import Belief, Decision, Game, Memo, TrickformerError, View
from trickformer.belief.hanabi.config import Tuned
from trickformer.players._race import Raced, race
from trickformer.players._searching import Searching

if TYPE_CHECKING:
    from trickformer import _core
    from trickformer.games.hanabi import Hanabi
    from trickformer.players._hanabi_beliefs import Maker


class _Search(BaseModel):
    blueprint: str = Field("partner:style=smart", description="what all seats play, a scripted player of Hanabi")
    seat: int = Field(0, ge=0, le=4, description="which seat searches; the others play the blueprint")
    worlds: int = Field(1_000, ge=1, le=1_000_000, description="hands and decks that actions are tried in")
    belief: Literal["exact", "counting", "seq2seq", "bft"] = Field(
        "exact",
        description="hands as likely as what the others did makes them, as the deal alone does, as a network says, or "
        "as one says that is fine-tuned at each step",
    )
    checkpoint: Path | None = Field(
        None, description="for seq2seq and bft: a network of `trickformer belief train --form pomdp`"
    )


class Options(Tuned, Searching, _Search):
    pass


class Sparta:
    """The searching seat of a team, and its other seats; at any number of tables, one decision after the other."""

    batch = 1

    def __init__(self, options: Options, game: Hanabi, style: str, belief: Maker, exact: Belief):
        from trickformer import _core, tokenizers

        self._options, self._most = options, game.rules.kinds
        self._tokenizer, self._bot = tokenizers.make(game), _core.hanabi.BOTS.index(style)
        self._core, self._belief, self._exact = _core, belief, exact

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view. Raises ValueError on a view that no deal explains."""
        return [self._decide(view, r, m) for view, r, m in zip(views, rng, memo)]

    def _decide(self, view: View, rng: np.random.Generator, memo: Memo) -> Decision:
        tokens = self._tokenizer.encode(view)
        decision = self._core.hanabi.Decision(self._tokenizer.codec, tokens, self._bot)
        blueprint = decision.blueprint(int(rng.integers(2**63)))
        if view.viewer != self._options.seat or len(view.legal) == 1:
            return Decision(blueprint)
        if "belief" not in memo:
            memo["belief"] = self._belief(rng)
        hands = _hands(memo["belief"], view, self._options.worlds, rng)
        searched = 0 if memo["belief"].consistent else self._options.worlds
        illegal = max(0, searched - len(hands))
        if not len(hands):  # the others did what the blueprint does not do: nothing is known of what they will do
            return Decision(blueprint, illegal=illegal, searched=searched)
        best = self._best(decision, hands, view, blueprint, rng)
        exact = self._assessed(decision, view, best.choice, blueprint, rng) if self._options.assess else None
        return Decision(
            best.choice,
            value=best.value / self._most,
            visits=best.tried,
            illegal=illegal,
            searched=searched,
            values={action: points / self._most for action, points in best.means.items()},
            gain=best.gain,
            exact_gain=exact,
        )

    def _assessed(
        self, decision: _core.hanabi.Decision, view: View, action: int, blueprint: int, rng: np.random.Generator
    ) -> float | None:
        """By how many points the action is better than the blueprint's in worlds of the exact belief that it was not
        chosen by; None where none is found."""
        if action == blueprint:
            return 0.0
        hands = _hands(self._exact, view, self._options.assess, rng)
        if not len(hands):
            return None
        decks, seed = decision.decks(hands, int(rng.integers(2**63))), int(rng.integers(2**63))
        scores = decision.play(hands, decks, np.array([blueprint, action]), seed).astype(np.float64)
        return float((scores[:, 1] - scores[:, 0]).mean())

    def _best(
        self, decision: _core.hanabi.Decision, hands: np.ndarray, view: View, blueprint: int, rng: np.random.Generator
    ) -> Raced:
        """The action whose games, played on from these hands, end best."""
        decks, seed = decision.decks(hands, int(rng.integers(2**63))), int(rng.integers(2**63))
        actions = [blueprint, *(action for action in view.legal if action != blueprint)]

        def play(rows: slice, racing: list[int]) -> np.ndarray:
            return decision.play(hands[rows], decks[rows], np.array(racing), seed + rows.start)

        return race(len(hands), actions, play, self._options.threshold, self._options.ucb)


def _hands(belief: Belief, view: View, n: int, rng: np.random.Generator) -> np.ndarray:
    """int16 [k, hand]: those of n worlds that explain the view; none where nothing explains what the others did."""
    from trickformer.belief.hanabi.explained import Unexplained

    try:
        belief.reset(view)
        worlds = belief.sample(n, rng)
    except Unexplained:
        return np.empty((0, 0), dtype=np.int16)
    return worlds.hidden[worlds.feasible]


def make(options: Options, game: Game) -> Sparta:
    """Raises TrickformerError for a game that is not Hanabi, a seat that it has not, a blueprint that is no scripted
    player, and a network that does not fit."""
    from trickformer.games.hanabi import Hanabi

    if not isinstance(game, Hanabi):
        raise TrickformerError(f"player 'sparta' plays hanabi only, not {game.name}")
    if options.seat >= game.players:
        raise TrickformerError(f"player 'sparta': there is no seat {options.seat} among {game.players}")
    from trickformer.belief.hanabi.explained import ExplainedBelief
    from trickformer.players._hanabi import style_of

    style = style_of("sparta", options.blueprint)
    exact = partial(ExplainedBelief, game, style, options.listed, options.tries)
    return Sparta(options, game, style, _beliefs(options, game, style, exact), exact())


def _beliefs(options: Options, game: Hanabi, style: str, exact: Callable[[], Belief]) -> Maker:
    file = options.checkpoint
    if options.belief in ("seq2seq", "bft"):
        from trickformer.players._hanabi_beliefs import learned  # which loads torch

        return learned(options.belief, game, style, options.seat, options, file, options.device)
    if file is not None:
        raise TrickformerError(f"player 'sparta': checkpoint is for belief=seq2seq and bft, not {options.belief}")
    from trickformer.belief import sampler

    return lambda _: exact() if options.belief == "exact" else sampler(game)
