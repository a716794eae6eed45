"""Hanabi: one seat tunes a network of action values to each decision, in worlds that explain what was seen

RL search for a single agent (Fickinger, Hu, Amos, Russell & Brown, "Scalable Online Planning via Reinforcement Learning
Fine-Tuning", 2021): the values of a network of `trickformer obl train` are fine-tuned by Q-learning in worlds of the
exact belief, for some moves of the own seat, after which all play a scripted blueprint. The other seats play it
throughout. The best action by the tuned values is taken where playing by them promises more than the blueprint by more
than a threshold, in worlds that they were not tuned in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, Field

from trickformer.base import Decision, Game, Memo, TrickformerError, View
from trickformer.players._searching import Believing

if TYPE_CHECKING:
    from trickformer.games.hanabi import Hanabi
    from trickformer.models.hanabi_values import ActionValues
    from trickformer.players._hanabi_rl import Tables, Tuning


class _Search(BaseModel):
    checkpoint: str | None = Field(None, description="folder of a run of `trickformer obl train --model mlp`")
    blueprint: str = Field("partner:style=smart", description="what all seats play, a scripted player of Hanabi")
    seat: int = Field(0, ge=0, le=4, description="which seat searches; the others play the blueprint")
    worlds: int = Field(1_000, ge=1, le=1_000_000, description="worlds in which the tuned values are judged")
    horizon: int = Field(2, ge=1, le=100, description="own moves by the network, before the blueprint goes on")
    steps: int = Field(100, ge=0, le=1_000_000, description="gradient steps at each decision")
    batch: int = Field(128, ge=1, le=1_000_000, description="worlds of a gradient step")
    exploration: float = Field(0.2, ge=0, le=1, description="share of random own moves while values are tuned")
    learning_rate: float = Field(1e-3, gt=0, allow_inf_nan=False, description="of Adam")


class Options(Believing, _Search):
    pass


class RLSearch:
    """The searching seat of a team, and its others; at any number of tables, one decision after the other."""

    batch = 1

    def __init__(self, options: Options, game: Hanabi, style: str, model: ActionValues, tuning: Tuning):
        from trickformer import _core, tokenizers
        from trickformer.belief.hanabi.explained import ExplainedBelief
        from trickformer.belief.samplers.hanabi import HanabiBelief

        self._options, self._game, self._model, self._tuning, self._core = options, game, model, tuning, _core.hanabi
        self._tokenizer, self._uniform = tokenizers.make(game), HanabiBelief(game)
        self._belief = ExplainedBelief(game, style, options.listed, options.tries)

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view. Raises ValueError on a view that no deal explains."""
        return [self._decide(view, r) for view, r in zip(views, rng)]

    def _decide(self, view: View, rng: np.random.Generator) -> Decision:
        from trickformer.belief.hanabi.explained import Unexplained

        tokens = self._tokenizer.encode(view)
        decision = self._core.Decision(self._tokenizer.codec, tokens, self._tuning.bot)
        blueprint = decision.blueprint(int(rng.integers(2**63)))
        if view.viewer != self._options.seat or len(view.legal) == 1:
            return Decision(blueprint)
        try:
            return self._searched(view, blueprint, rng)
        except Unexplained:  # the others did what the blueprint does not do: nothing is known of what they will do
            return Decision(blueprint)

    def _searched(self, view: View, blueprint: int, rng: np.random.Generator) -> Decision:
        n = self._options.worlds
        self._belief.reset(view)
        self._uniform.reset(view)
        table, hands = self._uniform.tables()[-1], self._belief.sample(n, rng).hidden
        tuned = self._tuning.tune(
            self._model, lambda k: self._worlds(table, hands[rng.integers(len(hands), size=k)], rng), rng
        )
        judged, seed = self._worlds(table, self._belief.sample(n, rng).hidden, rng), int(rng.integers(2**62))
        action = self._tuning.action(tuned, judged)
        own, others = (float(self._tuning.scores(m, judged, seed).mean()) for m in (tuned, None))
        better = action != blueprint and own - others > self._options.threshold
        return Decision(
            action if better else blueprint,
            value=(own if better else others) / self._game.rules.kinds,
            gain=own - others if better else 0.0,
        )

    def _worlds(self, table: Tables, hands: np.ndarray, rng: np.random.Generator) -> Tables:
        """These own hands, int16 [n, hand], at tables of their own, with the deck shuffled."""
        dealt = np.full((len(hands), table.rules.players, hands.shape[1]), -1, dtype=np.int8)
        dealt[:, self._options.seat] = hands
        x = table.take(np.zeros(len(hands), dtype=np.int64))
        x.redeal(dealt, int(rng.integers(2**62)))  # which the belief has made sure is possible
        return x


def make(options: Options, game: Game) -> RLSearch:
    """Raises TrickformerError for a game that is not Hanabi, a seat that it has not, a blueprint that is no scripted
    player, and a checkpoint that is missing, of other rules, or of a network with a memory."""
    from trickformer import _core
    from trickformer.games.hanabi import Hanabi
    from trickformer.models.torch_engine import usable
    from trickformer.players._hanabi import style_of
    from trickformer.players._hanabi_rl import Tuning
    from trickformer.players.obl import trained_for

    if not isinstance(game, Hanabi):
        raise TrickformerError(f"player 'rl_search' plays hanabi only, not {game.name}")
    if options.seat >= game.players:
        raise TrickformerError(f"player 'rl_search': there is no seat {options.seat} among {game.players}")
    style = style_of("player 'rl_search': its blueprint", options.blueprint)
    trained = trained_for("rl_search", options.checkpoint, game)
    if trained.imitates:
        raise TrickformerError(f"player 'rl_search' tunes values of actions; {options.checkpoint} has learned none")
    if trained.model.shape.recurrent:
        raise TrickformerError(
            f"player 'rl_search' tunes networks without a memory (--model mlp), not {options.checkpoint}"
        )
    tuning = Tuning(
        seat=options.seat,
        bot=_core.hanabi.BOTS.index(style),
        v0=trained.v0,
        **options.model_dump(include={"horizon", "steps", "batch", "exploration", "learning_rate", "threads"}),
    )
    return RLSearch(options, game, style, trained.model.to(usable(options.device)), tuning)
