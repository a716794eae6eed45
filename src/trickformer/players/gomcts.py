"""GO-MCTS: search in sequences imagined by a model

`preset=paper` is Algorithm 3 of the GO-MCTS paper with the settings of its section 9.3 for Hearts, Skat and The Crew.
Children begin with the value head's V after the action, simulations end with V or with the result, and one simulation
runs at a time. The model imagines freely, and mu is taken from the actions on the path of an illegal history. If the
model's policy was trained with impossible tokens masked, the mask stays (`legal`), and a report says so. Other options
override the preset, as in `gomcts:preset=paper,runs=50`.

With `anchor_margin`, which the paper does not have, ArgmaxVal* acts unless the search's best action has a mean that is
higher by that many standard errors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, create_model

from trickformer.base import Decision, Game, TrickformerError
from trickformer.gomcts.options import Preset, default_options, optional_fields, preset_values
from trickformer.models.player import ModelOptions, ModelPlayer, Turns
from trickformer.players import argmax
from trickformer.plumbing.options import Applies, PerGame, refuse_unread

if TYPE_CHECKING:
    from trickformer.gomcts.search import SearchOptions


class _PresetOptions(ModelOptions):
    preset: Preset | None = Field(
        None, description="paper: Algorithm 3 with the GO-MCTS paper's settings (default: none, the game's settings)."
    )
    anchor_margin: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="Play ArgmaxVal*'s action unless search leads by this many standard errors (default: none).",
    )


def _search_options(options: _PresetOptions, game: Game) -> SearchOptions:
    """Return all settings of a search, with defaults for the game and the checkpoint."""
    from trickformer.checkpoints import abilities

    masked, action_values = abilities(options.checkpoint_of(game))
    return _complete(options, game, masked, action_values)


def _complete(options: _PresetOptions, game: Game, masked: bool, action_values: bool) -> SearchOptions:
    overrides = options.model_dump(include=set(_FIELDS))
    return default_options(game, masked=masked, action_values=action_values, overrides=overrides, preset=options.preset)


def _value(name: str, options: _PresetOptions, game: Game | None) -> Any:
    """Return the value of an option, or None if it is not set and no game gives a default."""
    return getattr(options, name) if game is None else getattr(_search_options(options, game), name)


def _default_of(name: str) -> PerGame:
    return PerGame(lambda options, game: _value(name, options, game))


_FIELDS = optional_fields()
_CONDITIONS = {
    "mu": [Applies("legal=false", lambda options, game: not _value("legal", options, game), ("legal", False))],
    "rollout_action_values": [Applies("steps > 0", lambda options, game: _value("steps", options, game) != 0)],
}
_ANNOTATED: Any = {
    name: (Annotated[kind, _default_of(name), *_CONDITIONS.get(name, ())], field)
    for name, (kind, field) in _FIELDS.items()
}
Options = create_model("Options", __base__=_PresetOptions, **_ANNOTATED)


_MASKED = "preset=paper: the model's policy was masked in training, so imagination is not free (legal=true)"
_UNMASKED = "preset=paper: the model's policy was masked in training, so it never learned to avoid impossible tokens"


class GomctsPlayer(ModelPlayer):
    """Player by algorithms 1 and 3 of the GO-MCTS paper. Each decision starts with an empty tree."""

    has_likelihood = False  # the model's probabilities are not those of the search

    def __init__(self, options: _PresetOptions, game: Game):
        super().__init__(options, game)
        # On a CPU, more than 16 searches in lockstep are no faster.
        self.batch = 16 if options.device == "cpu" else None
        backend = self.backend
        self.options = _complete(options, game, backend.has_masked_policy, backend.has_action_values)
        if options.preset == "paper" and backend.has_masked_policy:
            self.caveats = (_MASKED if self.options.legal else _UNMASKED,)
        if not backend.has_action_values and self.options.needs_action_values:
            raise TrickformerError(
                f"{options.checkpoint_of(game)} has no action values; leave out action_values, leaf_action_values and"
                " rollout_action_values"
            )

        shared = options.model_dump(include={*ModelOptions.model_fields, "preset"})
        has_anchor = options.anchor_margin is not None
        self.anchor = argmax.make(argmax.Options(**shared), game, backend) if has_anchor else None
        self.anchor_margin = options.anchor_margin or 0.0

    @property
    def uses_action_values(self) -> bool:
        return self.options.action_values

    def decide(self, turns: Turns) -> list[Decision]:
        from trickformer.gomcts.search import search

        seeds = [int(g.integers(1 << 63)) for g in turns.rng]
        trackers = [memo["prefix"].tracker() for memo in turns.memos]
        results = search(self.backend, self.outcome_values, trackers, turns.nodes, seeds, self.options, turns.explain)
        thoughts = self.thoughts(turns, [r.imagined for r in results])
        decisions = [
            Decision(
                action=by_token[r.token],
                value=r.value,
                visits={by_token[int(t)]: int(v) for t, v in zip(r.tokens, r.visits)},
                illegal=r.illegal,
                searched=r.searched,
                values={by_token[int(t)]: float(v) for t, v in zip(r.tokens, r.values / r.visits)},
                thought=thought,
            )
            for by_token, r, thought in zip(turns.actions, results, thoughts, strict=True)
        ]
        if self.anchor is None:
            return decisions
        return [
            decision
            if result.beats(self.tokenizer.token(anchor.action), self.anchor_margin)
            else replace(decision, action=anchor.action, value=(decision.values or {}).get(anchor.action, anchor.value))
            for decision, result, anchor in zip(decisions, results, self.anchor.decide(turns), strict=True)
        ]


presets = preset_values


def make(options: Any, game: Game) -> GomctsPlayer:
    refuse_unread("gomcts", options, game)
    return GomctsPlayer(options, game)
