"""Generative Observation MCTS: plans over sequences of observations, imagined by the model or seen in sampled worlds"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from trickformer.base import Decision, Game, TrickformerError
from trickformer.models.player import ModelOptions, ModelPlayer, Turns

if TYPE_CHECKING:
    from trickformer.base import Belief
    from trickformer.gomcts.search import SearchOptions
    from trickformer.models.backend import Backend
    from trickformer.search.script import ScriptSearch
    from trickformer.search.sparta import WorldSimulator
    from trickformer.search.trees import WorldsSearch


_ALL = 1_000  # steps: more own turns than any game has
_WAVE = {"uct": 16, "halving": 64}  # games in worlds at once: as many as quicken the core's engine; a whole round
_SCRIPTED = 400  # runs: games by script of the core are a hundred times as quick as those by a model


class Options(ModelOptions):
    runs: int | None = Field(
        None, ge=1, le=1_000_000, description="simulations a decision; default: as the game has it"
    )
    steps: int | None = Field(
        None, ge=0, le=1_000, description="own turns that a rollout lasts; default: as the game has it, in worlds all"
    )
    c: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="exploration constant of UCT; default: as the game has it"
    )
    threshold: float | None = Field(
        None,
        ge=0,
        le=1,
        description="actions likelier than this get a child; default: as the game has it, in worlds 0.01, in Hanabi 0",
    )
    imagine: Literal["model", "worlds"] | None = Field(
        None,
        description="what follows an action: what the model imagines to be seen, as in the paper; or what is seen in "
        "worlds that explain the history, where copies of the model play on; default: as the game has it",
    )
    playing: Literal["model", "script"] | None = Field(
        None,
        description="who plays on in worlds: copies of the model; or the game's scripted player, in no tree but from "
        "the actions of the root; default: as the game has it, by script but for Hearts, with 400 runs",
    )
    weighted: bool | None = Field(
        None,
        description="imagine=worlds: weight worlds by what the others have said; default: in Skat and Hanabi",
    )
    mu: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="imagine=model: what an illegal history costs each action on its path; default: 0.01",
    )
    wave: int | None = Field(
        None,
        ge=1,
        le=4_096,
        description="simulations under way at once, spread by virtual loss; default: as the game has it, in worlds 64, "
        "by uct 16",
    )
    root: Literal["uct", "halving"] | None = Field(
        None,
        description="how simulations are shared among the actions: uct as in the paper; or halving, in rounds that the "
        "better half survives, and what ArgmaxVal* plays unless another is better by a margin; default: uct, in worlds "
        "halving",
    )
    margin: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="root=halving: the margin, in standard errors of the difference in the same worlds; default: 1, in "
        "Hanabi 3",
    )
    legal: bool | None = Field(
        None,
        description="imagine=model: sample only observations that some deal allows; default: where the model was "
        "trained so",
    )
    early: bool | None = Field(
        None, description="imagine=model: end a simulation where its history becomes illegal; default: false"
    )
    action_values: bool | None = Field(
        None, description="children begin with the model's Q(s, a); default: where it has them as results of games"
    )
    leaf_action_values: bool | None = Field(
        None, description="simulations that stop at an own turn count the best Q(s, a); default: likewise"
    )


def usual(game: Game, engine: Backend, given: Mapping[str, Any]) -> SearchOptions:
    """The settings of a game, and of what goes beyond the paper, all that model and game allow. What is `given`, by
    name, goes before; None is not."""
    from trickformer.gomcts.search import SearchOptions

    told = {k: v for k, v in given.items() if v is not None}
    comparable = engine.has_action_values and game.labels_are_results
    in_worlds = told.get("imagine", game.search.imagine) == "worlds"
    valued = game.valued_search if comparable and not in_worlds else None
    settings: dict[str, Any] = asdict(valued or game.search) | {
        "legal": engine.masked,
        "action_values": comparable,
        "leaf_action_values": comparable,
    }
    if in_worlds:
        root = told.get("root", "halving")
        settings |= {"steps": _ALL, "threshold": game.search.worlds_threshold, "root": root, "wave": _WAVE[root]}
        if told.get("playing", game.search.playing) == "script":
            settings["runs"] = _SCRIPTED
    return SearchOptions(**settings | told)


def _must_be_read(options: Options, settings: SearchOptions) -> None:
    """Raises TrickformerError where an option is given that a search by these settings does not read."""
    from trickformer.players import text

    given = {name for name in Options.model_fields if getattr(options, name) is not None}
    in_worlds = settings.imagine == "worlds"
    unread: dict[str, set[str]] = {"root=halving": {"margin"} if settings.root == "uct" else set()}
    if in_worlds:
        unread["imagine=model"] = {"mu", "legal", "early"}
        if settings.playing == "script":
            unread["playing=model"] = {"steps", "c", "wave", "leaf_action_values"}
    else:
        alone = {"weighted": None, "root": "halving", "playing": "script"}  # None: whatever it is
        unread["imagine=worlds"] = {name for name, value in alone.items() if value in (None, getattr(options, name))}
    for wanted_for, names in unread.items():
        for name in sorted(given & names):
            value = text(getattr(options, name))
            raise TrickformerError(f"player 'gomcts': {name}={value} is for {wanted_for}")


class GomctsPlayer(ModelPlayer):
    """Algorithms 1 and 3 of the paper, a fresh tree each move; or the same tree over games in worlds."""

    def __init__(self, options: Options, game: Game):
        from trickformer.gomcts.search import SearchOptions

        super().__init__(options, game)
        # The core's engine is as quick with the tokens of sixteen searches as with more; a GPU takes any number.
        self.batch = 16 if options.device == "cpu" else None
        engine = self.engine
        self.options = usual(
            game,
            engine,
            {f.name: getattr(options, f.name) for f in fields(SearchOptions) if f.name in Options.model_fields},
        )
        if not engine.has_action_values and (self.options.action_values or self.options.leaf_action_values):
            raise TrickformerError(f"{options.checkpoint} has no action values; leave out action_values")
        _must_be_read(options, self.options)
        self._worlds = None
        if self.options.imagine == "worlds":
            if self.options.playing == "script" and self.options.root == "uct":
                raise TrickformerError("player 'gomcts': root=uct is for playing=model")
            self._worlds = _worlds(options, game, engine, self.options)
            self.batch = 1  # its runs are the batch

    def decide(self, turns: Turns) -> list[Decision]:
        from trickformer.gomcts.search import search

        seeds = [int(g.integers(1 << 63)) for g in turns.rng]
        if self._worlds is not None:
            results = [
                self._worlds.search(view, {"prefix": memo["prefix"]}, seed, turns.explain)
                for view, memo, seed in zip(turns.views, turns.memos, seeds, strict=True)
            ]
        else:
            trackers = [self.tokenizer.tracker(t) for t in turns.tokens]
            results = search(
                self.engine, self.outcome_values, trackers, turns.nodes, seeds, self.options, turns.explain
            )
        thoughts = self.thoughts(turns, [r.imagined for r in results])
        return [
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


def _worlds(options: Options, game: Game, engine: Backend, settings: SearchOptions) -> WorldsSearch | ScriptSearch:
    from trickformer.belief import has_weighted_belief, sampler, weighted_belief
    from trickformer.players import argmax
    from trickformer.search.script import ScriptSearch
    from trickformer.search.trees import WorldsSearch

    # Those who play on are ArgmaxVal* with the game's own threshold.
    same = options.model_dump(include=set(ModelOptions.model_fields))
    copies = argmax.ArgmaxPlayer(argmax.Options(**same), game, engine)
    said = has_weighted_belief(game) if options.weighted is None else options.weighted
    belief = weighted_belief(game) if said else sampler(game)
    if settings.playing == "model":
        return WorldsSearch(game, copies, belief, settings)
    return ScriptSearch(copies, _make_simulator(game, belief, said), settings)


def _make_simulator(game: Game, belief: Belief, weighted: bool) -> WorldSimulator:
    """By the core where it can."""
    from trickformer import players
    from trickformer.belief.samplers.crew import CrewBelief
    from trickformer.belief.samplers.skat import SkatBelief
    from trickformer.games.hanabi import Hanabi
    from trickformer.search.crew.positions import CrewPositions
    from trickformer.search.hanabi.positions import HanabiScript
    from trickformer.search.skat.positions import SkatPositions
    from trickformer.search.states import StatePositions

    if isinstance(belief, CrewBelief):
        return CrewPositions(belief, seat=None, tries=None, assessed=None, threads=1)
    if isinstance(belief, SkatBelief):
        return SkatPositions(belief, weighted, bool(getattr(game, "seeger", True)))
    if isinstance(game, Hanabi):
        return HanabiScript(game, belief)
    return StatePositions(game, players.make(game.baseline, game), belief)


def make(options: Options, game: Game) -> GomctsPlayer:
    return GomctsPlayer(options, game)
