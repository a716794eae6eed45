"""RL search: Q-learning at each decision

One seat, or both of two, tunes action values in worlds that explain its view.

This is RL search for a single agent (Fickinger, Hu, Amos, Russell & Brown, "Scalable Online Planning via Reinforcement
Learning Fine-Tuning", 2021). It fine-tunes a network of `trickformer obl train` by Q-learning in games that start in
worlds of a belief. In these games the network makes `horizon` moves of the own seat, then all seats play the blueprint;
the other seats play it throughout. If the blueprint is a network, a game may end with its value instead. Fresh worlds
then compare the tuned network with the blueprint. If the network scores more by a threshold, it makes the next
`horizon` moves of the own seat without another search (`follow`). Otherwise the blueprint makes the move.

The blueprint is a scripted player, or a network of `trickformer obl train` without an LSTM, in games of two. The exact
belief then evaluates the network for every hand that the partner may have seen.

With `multi` both seats of a two-player game tune the same network, in worlds of the public belief, so both can compute
whether the network or the blueprint made a move (search/hanabi/rl_multi.py).

The belief is exact or learned, as in Tables 4 and 5 of "A Fine-Tuning Approach to Belief State Modeling". With `multi`
a learned belief is about both hands (the form fosg of belief/hanabi/process.py). `belief=bft` fine-tunes it after each
move: the policy that made the move, tuned network or blueprint, moves in sampled worlds, which become training data.

`preset=paper` has the settings of the authors' code (facebookresearch/off-belief-learning, pyhanabi/rl_search.py, at
commit 902cdc3), which differs in these points:

- Their blueprint is the network itself, which is recurrent and has a Huber loss and an auxiliary loss. Here the
  blueprint is scripted or a network without an LSTM, and the loss is the squared error.
- Their games of the tuning stop at the horizon and use the blueprint's value there, discounted. Here they do so only if
  the blueprint is a network (`bootstrap`), without a discount. A script has no values and plays the games to the end.
- Their actors, whose weights are at most ten updates old, fill a replay buffer of up to 1,000,000 games. Updates begin
  once it has 5,000 games, and sample it by priority (exponent 0.9, weight 0.6). Here each update plays new games with
  the current weights.
- They skip the tuning if even a perfect score would gain less than the threshold. Here every decision is tuned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, Field, create_model

from trickformer import checkpoints
from trickformer.base import Belief, Decision, Game, Memo, Player, TrickformerError, View
from trickformer.belief.hanabi.config import FineTuningOptions
from trickformer.players import specs
from trickformer.plumbing.options import Applies, NamesFile, PerGame, refuse_unread
from trickformer.search.options import BeliefOptions

if TYPE_CHECKING:
    from trickformer.games.hanabi import Hanabi
    from trickformer.models.hanabi_values import ActionValues
    from trickformer.search.hanabi.beliefs import Maker
    from trickformer.search.hanabi.blueprint import Blueprint
    from trickformer.search.hanabi.rl import FollowedNetwork, Tables, ValueTuning
    from trickformer.search.hanabi.rl_multi import BothSeats


# Defaults of options by preset. `small` is for one CPU core; the docstring of the module explains `paper`.
PRESETS: dict[str, dict[str, Any]] = {
    "small": {
        "worlds": 1_000,
        "horizon": 2,
        "steps": 100,
        "batch": 128,
        "learning_rate": 1e-3,
        "adam_epsilon": 1e-8,
        "clip": math.inf,
        "discount": 1.0,
        "target_every": 1,
        "exploration": 0.2,
        "explorations": 1,
        "exploration_power": 0.0,
    },
    "paper": {
        "worlds": 5_000,
        "horizon": 1,
        "steps": 5_000,
        "batch": 128,
        "learning_rate": 6.25e-5,
        "adam_epsilon": 1.5e-4,
        "clip": 50.0,
        "discount": 0.999,
        "target_every": 2_500,
        "exploration": 0.1,
        "explorations": 80,
        "exploration_power": 7.0,
    },
}


GAMES = ("hanabi",)


_LEARNED = Applies("belief=seq2seq and belief=bft", lambda options, _: options.belief != "exact", ("belief", "bft"))


_VALUES_NEXT_MOVES = Applies(
    "horizon > 1 (with multi=true: > 2)", lambda options, _: options.settings()["horizon"] > 1 + options.multi
)


def _of_preset(name: str) -> PerGame:
    """Return an annotation for an option whose default depends on the preset."""
    return PerGame(lambda options, _: options.settings()[name])


class _Search(BaseModel):
    checkpoint: Annotated[str | None, NamesFile(checkpoints.names)] = Field(
        None, description="Required: hanabi-obl, hanabi-obl-1 or a run folder of `trickformer obl train --model mlp`."
    )
    blueprint: str = Field(
        "partner:style=smart",
        description="Script or network (obl:checkpoint=NAME) of all seats (default: partner:style=smart).",
    )
    seat: Annotated[int, Applies("multi=false", lambda options, _: not options.multi)] = Field(
        0, ge=0, le=4, description="Seat that searches, while the others play the blueprint (default: 0)."
    )
    multi: bool = Field(
        False, description="Whether both seats search, in games of two, on public information (default: false)."
    )
    seed: Annotated[int, Applies("multi=true", lambda options, _: options.multi)] = Field(
        0, ge=0, lt=2**63, description="multi=true: seed of the worlds, which both seats draw alike (default: 0)."
    )
    belief: Literal["exact", "seq2seq", "bft"] = Field(
        "exact", description="Belief that worlds come from: exact, or a network's: seq2seq or bft (default: exact)."
    )
    belief_checkpoint: Annotated[Path | None, _LEARNED] = Field(
        None, description="Needed by seq2seq and bft: run folder of `trickformer belief train`, or its weights."
    )
    preset: Literal["small", "paper"] = Field(
        "small", description="Defaults of the options below: small, for one core, or paper (default: small)."
    )
    worlds: Annotated[int | None, _of_preset("worlds")] = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Worlds to tune in, and fresh worlds to compare in (default: small 1,000, paper 5,000).",
    )
    horizon: Annotated[int | None, _of_preset("horizon")] = Field(
        None,
        ge=1,
        le=100,
        description="Moves of the tuned network in a game (default: 2, or 1 if preset=paper, multi=false).",
    )
    steps: Annotated[int | None, _of_preset("steps")] = Field(
        None, ge=0, le=1_000_000, description="Gradient steps per decision (default: small 100, paper 5,000)."
    )
    batch: Annotated[int | None, _of_preset("batch")] = Field(
        None, ge=1, le=1_000_000, description="Games in a gradient step (default: 128)."
    )
    learning_rate: Annotated[float | None, _of_preset("learning_rate")] = Field(
        None, gt=0, le=1_000, description="Learning rate of Adam (default: small 0.001, paper 0.0000625)."
    )
    adam_epsilon: Annotated[float | None, _of_preset("adam_epsilon")] = Field(
        None, gt=0, allow_inf_nan=False, description="Epsilon of Adam (default: small 0.00000001, paper 0.00015)."
    )
    clip: Annotated[float | None, _of_preset("clip")] = Field(
        None, gt=0, description="Largest norm of a gradient (default: small none, paper 50)."
    )
    discount: Annotated[float | None, _VALUES_NEXT_MOVES, _of_preset("discount")] = Field(
        None, ge=0, le=1, description="Discount of a move in the network's values (default: small 1, paper 0.999)."
    )
    target_every: Annotated[int | None, _VALUES_NEXT_MOVES, _of_preset("target_every")] = Field(
        None, ge=1, le=1_000_000, description="Gradient steps per target update (default: small 1, paper 2,500)."
    )
    exploration: Annotated[float | None, _of_preset("exploration")] = Field(
        None,
        ge=0,
        le=1,
        description="Largest share of random moves in the tuning of values (default: small 0.2, paper 0.1).",
    )
    explorations: Annotated[int | None, _of_preset("explorations")] = Field(
        None, ge=1, le=10_000, description="Number of different shares of random moves (default: small 1, paper 80)."
    )
    exploration_power: Annotated[
        float | None,
        Applies("explorations > 1", lambda options, _: options.settings()["explorations"] > 1),
        _of_preset("exploration_power"),
    ] = Field(
        None,
        ge=0,
        le=100,
        allow_inf_nan=False,
        description="The smallest share is the largest to the power 1 + this (default: small 0, paper 7).",
    )
    follow: Annotated[bool, Applies("horizon > 1", lambda options, _: options.settings()["horizon"] > 1)] = Field(
        True, description="Whether a network that beat the blueprint makes all its `horizon` moves (default: true)."
    )
    bootstrap: Annotated[
        bool | None,
        Applies("blueprint=obl:checkpoint=NAME", lambda options, _: bool(options.parts)),
        PerGame(lambda options, _: options.bootstraps),
    ] = Field(None, description="Network as blueprint: end tuning games at the horizon with its value (default: true).")
    device: str = Field("cpu", description="Torch device of the network (default: cpu).")


class _FineTuning(FineTuningOptions):
    @property
    def fine_tunes(self) -> bool:
        return True


class _BaseOptions(BeliefOptions, _Search):
    threads: Annotated[int, Applies("a script as blueprint", lambda options, _: not options.parts)] = Field(
        1, ge=1, le=1_024, description="Threads that play a script's games. Results do not depend on it (default: 1)."
    )

    @property
    def parts(self) -> dict[str, str]:
        """Spec of the blueprint if it is a network."""
        return {"blueprint": self.blueprint} if self.blueprint.partition(":")[0] == "obl" else {}

    @property
    def bootstraps(self) -> bool:
        """True if the games of the tuning end with values of the blueprint, a network."""
        return bool(self.parts) and self.bootstrap is not False

    @property
    def fine_tunes(self) -> bool:
        """True if the belief bft is in use, the only one that is fine-tuned."""
        return self.belief == "bft"

    def fine_tuning(self) -> FineTuningOptions:
        """Return the settings of the belief bft."""
        return _FineTuning(**{name: getattr(self, f"belief_{name}") for name in FineTuningOptions.model_fields})

    def settings(self) -> dict[str, Any]:
        """Return the preset's settings by name, overridden by the options that are set."""
        preset = PRESETS[self.preset] | ({"horizon": 2} if self.multi else {})
        return preset | self.model_dump(include=set(preset), exclude_none=True)


# The network of action values has options of the same names, so those of the belief have a prefix.
_BELIEF_FIELDS: Any = {f"belief_{name}": (f.annotation, f) for name, f in FineTuningOptions.model_fields.items()}
Options = create_model("Options", __base__=_BaseOptions, **_BELIEF_FIELDS)


class RLSearch(Player):
    """Player of a team: one seat searches, and its partners play the blueprint.

    Attributes:
        model: Network that each search starts from.
        tuning: Tuner of the network.
    """

    batch = 1

    def __init__(
        self,
        options: _BaseOptions,
        game: Hanabi,
        model: ActionValues,
        tuning: ValueTuning,
        exact: Callable[[], Belief],
        learned: Maker | None = None,
    ):
        """Make the player.

        Args:
            options: Options of the player.
            game: The game.
            model: Network that each search starts from.
            tuning: Tuner of the network.
            exact: Makes the exact belief of a game.
            learned: Makes the learned belief of a game; None: the belief is exact.
        """
        from trickformer.belief.samplers.hanabi import HanabiBelief

        self._options, self._game = options, game
        self.model, self.tuning = model, tuning
        self._uniform = HanabiBelief(game)
        self._exact, self._learned = exact, learned

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [self._decide(view, r, m) for view, r, m in zip(views, rng, memo)]

    def _decide(self, view: View, rng: np.random.Generator, memo: Memo) -> Decision:
        from trickformer.belief.samplers.hanabi import NoConsistentHandError

        blueprint = self.tuning.blueprint.act(view, int(rng.integers(2**63)))
        if view.viewer != self._options.seat:
            return Decision(blueprint)
        followed: FollowedNetwork | None = memo.get("followed")
        if followed is not None and followed.continues(view):
            self._uniform.reset(view)
            (action,) = self.tuning.actions(followed.network, self._uniform.tables()[-1]).tolist()
            memo["followed"] = followed.after(action)
            return Decision(action)
        if len(view.legal) == 1:
            return Decision(blueprint)
        if "exact" not in memo:
            memo["exact"] = self._exact()
            memo["belief"] = memo["exact"] if self._learned is None else self._learned(rng)
        try:
            return self._search_view(view, memo, blueprint, rng)
        except NoConsistentHandError:  # the others deviated from the blueprint, so there is no belief to search on
            return Decision(blueprint)

    def _search_view(self, view: View, memo: Memo, blueprint: int, rng: np.random.Generator) -> Decision:
        from trickformer.search.hanabi.rl import FollowedNetwork

        n = self.tuning.worlds
        belief: Belief = memo["belief"]
        belief.reset(view)
        self._uniform.reset(view)
        table, hands = self._uniform.tables()[-1], _consistent_hands(belief, n, rng)
        if not len(hands):
            return Decision(blueprint, illegal=n, searched=n)
        tuned = self.tuning.tune(
            self.model, lambda k: self._worlds(table, hands[rng.integers(len(hands), size=k)], rng), rng
        )
        test_hands = _consistent_hands(belief, n, rng)
        searched = 0 if belief.consistent else 2 * n
        illegal = max(0, searched - len(hands) - len(test_hands))
        if not len(test_hands):
            return Decision(blueprint, illegal=illegal, searched=searched)
        test_worlds, seed = self._worlds(table, test_hands, rng), int(rng.integers(2**62))
        (action,) = self.tuning.actions(tuned, table).tolist()
        score, blueprint_score = self.tuning.compare_scores(tuned, test_worlds, seed)
        follow = self._options.follow
        is_better = score - blueprint_score > self._options.threshold and (follow or action != blueprint)
        if is_better and follow:
            memo["followed"] = FollowedNetwork(tuned, self.tuning.horizon - 1, (*view.own_actions, action))
        return Decision(
            action if is_better else blueprint,
            value=(score if is_better else blueprint_score) / self._game.rules.kinds,
            gain=score - blueprint_score if is_better else 0.0,
            exact_gain=self._exact_gain(memo["exact"], view, table, tuned if is_better else None, rng),
            illegal=illegal,
            searched=searched,
        )

    def _exact_gain(
        self, exact: Belief, view: View, table: Tables, tuned: ActionValues | None, rng: np.random.Generator
    ) -> float | None:
        """Estimate the gain in worlds of the exact belief, 0.0 if the blueprint acts.

        Args:
            exact: The exact belief.
            view: View of the own seat.
            table: Table of the view, in some world.
            tuned: Network that was tuned and acts; None if the blueprint acts.
            rng: Source of all randomness.

        Returns:
            The gain; None if `assess` is 0, or if no hand explains the others' moves.
        """
        from trickformer.belief.samplers.hanabi import NoConsistentHandError

        if not self._options.assess or tuned is None:
            return 0.0 if self._options.assess else None
        try:
            exact.reset(view)
            hands = exact.sample(self._options.assess, rng).hidden
        except NoConsistentHandError:
            return None
        worlds = self._worlds(table, hands, rng)
        score, blueprint_score = self.tuning.compare_scores(tuned, worlds, int(rng.integers(2**62)))
        return score - blueprint_score

    def _worlds(self, table: Tables, hands: np.ndarray, rng: np.random.Generator) -> Tables:
        """Return copies of a table with these own hands, int16 [n, hand], and shuffled decks."""
        from trickformer.belief.hanabi.process import at_seat

        worlds = table.take(np.zeros(len(hands), dtype=np.int64))
        dealt = at_seat(hands, self._options.seat, table.rules.players)
        worlds.redeal(dealt, int(rng.integers(2**62)))  # never fails, because the hands are consistent with the view
        return worlds


def _consistent_hands(belief: Belief, n: int, rng: np.random.Generator) -> np.ndarray:
    """Sample n worlds and return the consistent own hands, int16 [k, hand]."""
    worlds = belief.sample(n, rng)
    return worlds.hidden if belief.consistent else worlds.hidden[worlds.feasible]


def make(options: _BaseOptions, game: Game) -> RLSearch | BothSeats:
    """Make an RL search.

    Args:
        options: Options of the player.
        game: The game.

    Raises:
        TrickformerError: The game has no such seat, or more than two seats for `multi` or a network as blueprint;
            `multi` is on another device than the CPU; the blueprint is another player, has a memory or, for
            `bootstrap`, no values; the checkpoint is missing, of other rules, an imitation, or a network with a memory;
            or the network of the belief does not fit.
    """
    from trickformer.games.hanabi import Hanabi

    assert isinstance(game, Hanabi)
    from trickformer.players.obl import load_checkpoint

    refuse_unread("rl_search", options, game)
    if options.seat >= game.players:
        raise TrickformerError(
            f"player 'rl_search': there is no seat {options.seat}: seats are 0 to {game.players - 1}"
        )
    if options.multi and game.players != 2:
        raise TrickformerError(f"player 'rl_search': multi=true needs two players, not {game.players}; leave it out")
    if options.multi and options.device != "cpu":
        raise TrickformerError(
            f"player 'rl_search': multi=true needs device=cpu, where both seats compute the same network, not "
            f"{options.device}; leave out device"
        )
    blueprint = _make_blueprint(options.blueprint, game)
    trained = load_checkpoint("rl_search", options.checkpoint, game)
    if trained.is_imitation:
        raise TrickformerError(f"player 'rl_search' tunes action values; {options.checkpoint} has none")
    if trained.model.sizes.recurrent:
        raise TrickformerError(
            f"player 'rl_search' tunes networks without a memory (--model mlp), not {options.checkpoint}"
        )
    # These import PyTorch, which takes seconds. A page makes each player just to learn whether it plays the game.
    from trickformer.models.torch_backend import usable
    from trickformer.plumbing.training import prepare_training
    from trickformer.search.hanabi.rl import ValueTuning

    tuning = ValueTuning(
        blueprint=blueprint,
        bootstrap=_bootstrap(blueprint) if options.bootstraps else None,
        others=0 if options.multi else game.players - 1,
        v0=trained.v0,
        threads=options.threads,
        **options.settings(),
    )
    prepare_training(threads=1)  # the sums of tuning depend on the number of threads
    model = trained.model.to(usable(options.device))
    if not options.multi:
        from trickformer.search.hanabi.beliefs import make_exact_belief, make_network_belief

        learned = None
        if options.belief != "exact":
            learned = make_network_belief(
                options.belief,
                game,
                blueprint,
                options.seat,
                options.fine_tuning(),
                options.belief_checkpoint,
                options.device,
                "belief_checkpoint",
            )
        make_exact = partial(make_exact_belief, game, blueprint, options.listed, options.tries)
        return RLSearch(options, game, model, tuning, make_exact, learned)
    from trickformer.belief.hanabi.public import PublicWorlds
    from trickformer.search.hanabi.beliefs import make_public_belief
    from trickformer.search.hanabi.rl_multi import BothSeats, NetworkProcess, Team

    process = NetworkProcess(game.rules, tuning)
    exact = partial(PublicWorlds, process, options.listed, options.tries)
    belief = make_public_belief(
        options.belief,
        game,
        process,
        blueprint,
        options.fine_tuning(),
        options.belief_checkpoint,
        options.device,
        exact,
        "belief_checkpoint",
    )
    team = Team(process, model, tuning, belief, exact, options.threshold, options.follow, options.assess, options.seed)
    return BothSeats(team, game)


def _bootstrap(blueprint: Blueprint) -> Callable[[Tables], np.ndarray]:
    """Return the function that computes the values of a network as blueprint.

    Raises:
        TrickformerError: The network is an imitation, which has no values.
    """
    from trickformer.search.hanabi.blueprint import NetworkBlueprint

    assert isinstance(blueprint, NetworkBlueprint)
    if blueprint.is_imitation:
        raise TrickformerError(
            f"player 'rl_search': blueprint {blueprint.name} is an imitation and has no values; give bootstrap=false"
        )
    return blueprint.values


def _make_blueprint(spec: str, game: Hanabi) -> Blueprint:
    """Make the blueprint that a spec names, a scripted player or a network without an LSTM."""
    from trickformer.players.obl import make_without_memory
    from trickformer.players.partner import style_of
    from trickformer.search.hanabi.blueprint import NetworkBlueprint, ScriptedBlueprint

    if spec.partition(":")[0] != "obl":
        others = " or a network, obl:checkpoint=..."
        return ScriptedBlueprint(game, style_of("player 'rl_search': its blueprint", spec, others))
    if game.players != 2:
        raise TrickformerError(f"player 'rl_search': a network as blueprint needs two players, not {game.players}")
    player = make_without_memory(spec, game)
    return NetworkBlueprint(game, specs.resolve(spec, game), player.trained, player.temperature)
