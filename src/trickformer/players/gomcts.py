"""Generative Observation MCTS: plans over sequences that the model imagines, never over hidden states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from pydantic import Field

from trickformer.base import Decision, Game, TrickformerError
from trickformer.players._model import ModelOptions, ModelPlayer, Turns

if TYPE_CHECKING:
    from trickformer.gomcts.search import SearchOptions
    from trickformer.models.engine import Engine


class Options(ModelOptions):
    runs: int | None = Field(
        None, ge=1, le=1_000_000, description="simulations a decision; default: as the game has it"
    )
    steps: int | None = Field(
        None, ge=0, le=1_000, description="own turns that a rollout lasts; default: as the game has it"
    )
    c: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="exploration constant of UCT; default: as the game has it"
    )
    threshold: float | None = Field(
        None, ge=0, le=1, description="actions likelier than this get a child; default: as the game has it"
    )
    mu: float = Field(
        0.01, ge=0, allow_inf_nan=False, description="what an illegal history costs each action on its path"
    )
    wave: int = Field(1, ge=1, le=4_096, description="simulations under way at once, spread by virtual loss")
    legal: bool | None = Field(
        None, description="sample only observations that some deal allows; default: where the model was trained so"
    )
    early: bool = Field(False, description="end a simulation where its history becomes illegal")
    action_values: bool | None = Field(
        None, description="children begin with the model's Q(s, a); default: where it has them as results of games"
    )
    leaf_action_values: bool | None = Field(
        None, description="simulations that stop at an own turn count the best Q(s, a); default: likewise"
    )


def usual(game: Game, engine: Engine, given: Mapping[str, Any]) -> SearchOptions:
    """The settings of a game, and of what goes beyond the paper, all that model and game allow. What is `given`, by
    name, goes before; None is not."""
    from trickformer.gomcts.search import SearchOptions

    comparable = engine.has_action_values and game.labels_are_results
    settings = asdict(game.search) | {
        "legal": engine.masked,
        "action_values": comparable,
        "leaf_action_values": comparable,
    }
    return SearchOptions(**settings | {k: v for k, v in given.items() if v is not None})


class GomctsPlayer(ModelPlayer):
    """Algorithms 1 and 3 of the paper, a fresh tree each move."""

    def __init__(self, options: Options, game: Game):
        from trickformer.gomcts.search import SearchOptions

        super().__init__(options, game)
        # The core's engine is as quick with the tokens of sixteen searches as with more; a GPU takes any number.
        self.batch = 16 if options.device == "cpu" else None
        engine = self.engine
        self.options = usual(game, engine, {f.name: getattr(options, f.name) for f in fields(SearchOptions)})
        if not engine.has_action_values and (self.options.action_values or self.options.leaf_action_values):
            raise TrickformerError(f"{options.checkpoint} has no action values; leave out action_values")

    def decide(self, turns: Turns) -> list[Decision]:
        from trickformer.gomcts.search import search

        trackers = [self.tokenizer.tracker(t) for t in turns.tokens]
        seeds = [int(g.integers(1 << 63)) for g in turns.rng]
        results = search(self.engine, self.outcome_values, trackers, turns.nodes, seeds, self.options, turns.explain)
        thoughts = self.told(turns, [r.imagined for r in results])
        return [
            Decision(
                action=by_token[r.token],
                value=r.value,
                visits={by_token[int(t)]: int(v) for t, v in zip(r.tokens, r.visits)},
                illegal=r.illegal,
                searched=self.options.runs,
                values={by_token[int(t)]: float(v) for t, v in zip(r.tokens, r.values / r.visits)},
                thought=thought,
            )
            for by_token, r, thought in zip(turns.actions, results, thoughts, strict=True)
        ]


def make(options: Options, game: Game) -> GomctsPlayer:
    return GomctsPlayer(options, game)
