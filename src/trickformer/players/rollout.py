"""compares actions by games from sampled worlds

This is the rollout algorithm (Tesauro & Galperin, "On-line Policy Improvement using Monte-Carlo Search", 1996) for
games with hidden information. A policy finishes games from sampled worlds. It decides by each seat's view of the world,
so the simulated players have no more information than real ones, unlike in PIMC. Each seat searches as if the others
played the policy.

Without `prior`, every action is tried in the same worlds, and the policy's own action is played unless another gains
more than `min_gain`. With `prior`, another player proposes candidates: `argmax`, `imitation` and `gomcts` the likely
actions of their model, any other player all legal ones. Sequential halving divides the games among them, and the
prior's own action is played unless another is better by `margin`.

The player `sparta` runs the same search on more accurate beliefs in Hanabi and The Crew. It is much faster, because the
core plays its scripted blueprint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Game, Player, RolloutSettings, TrickformerError
from trickformer.players import specs
from trickformer.plumbing.options import Applies, PerGame, refuse_unread

if TYPE_CHECKING:
    from trickformer.base import Belief

SCRIPT = "script"  # value of `policy` that selects the game's scripted player

_RACE = Applies("a rollout without prior", lambda options, _: options.prior is None, ("prior", None))
_PRIOR = Applies("a rollout with prior", lambda options, _: options.prior is not None, ("prior", "argmax"))
_MODEL_PRIOR = Applies("a prior with a model", lambda options, _: _has_model(options.prior), ("prior", "argmax"))
_POLICY = Applies("belief=policy", lambda options, _: options.belief == "policy", ("belief", "policy"))


def _of_game(name: str) -> PerGame:
    return PerGame(lambda _, game: getattr(game.rollouts, name))


def _has_model(spec: str | None) -> bool:
    from trickformer.models.player import ModelOptions

    return spec is not None and isinstance(specs.parse(spec)[1], ModelOptions)


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    policy: str = Field(
        SCRIPT, description="Spec of the player that finishes games, or script, the game's script (default: script)."
    )
    prior: str | None = Field(
        None, description="Player that proposes actions: argmax likely ones, rules all (default: none)."
    )
    belief: Annotated[
        Literal["uniform", "weighted", "policy"] | None, PerGame(lambda options, game: _belief(options, game))
    ] = Field(None, description="Worlds: uniform (default), weighted (default in Skat, Hanabi with prior) or policy.")
    slip: Annotated[float, _POLICY] = Field(
        0.5, ge=0, le=1, description="belief=policy: share of the others' moves assumed random (default: 0.5)."
    )
    worlds: Annotated[int, _RACE] = Field(
        12, ge=1, le=1_000_000, description="Without prior: worlds in which every action is tried (default: 12)."
    )
    min_gain: Annotated[float, _RACE] = Field(
        0.0, ge=0, le=1_000, description="Without prior: points by which an action must beat the policy's (default: 0)."
    )
    ucb: Annotated[bool, _RACE] = Field(
        True, description="Without prior: stop trying actions that are clearly worse (default: true)."
    )
    assess: Annotated[int, _RACE] = Field(
        0,
        ge=0,
        le=1_000_000,
        description="Without prior: extra worlds to estimate the lead again, for the report (default: 0).",
    )
    runs: Annotated[int | None, _PRIOR, _of_game("runs")] = Field(
        None, ge=1, le=1_000_000, description="With prior: games per decision (default: the game's)."
    )
    threshold: Annotated[float | None, _MODEL_PRIOR, _of_game("threshold")] = Field(
        None, ge=0, le=1, description="With prior: least probability of a candidate in its model (default: the game's)."
    )
    margin: Annotated[float | None, _PRIOR, _of_game("margin")] = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="With prior: standard errors by which to beat the prior's choice (default: the game's).",
    )

    @property
    def parts(self) -> dict[str, str]:
        """Specs of the search's players, by option."""
        specs_by_option = {"policy": self.policy, "prior": self.prior}
        return {option: spec for option, spec in specs_by_option.items() if spec not in (None, SCRIPT)}

    @property
    def starts_program(self) -> bool:
        return any(map(specs.starts_program, self.parts.values()))


def _belief(options: Options, game: Game) -> str:
    """Return the name of the belief; the default is weighted if there is a prior and the game supports it."""
    from trickformer.belief import has_weighted_belief

    return options.belief or ("weighted" if options.prior is not None and has_weighted_belief(game) else "uniform")


def make(options: Options, game: Game) -> Player:
    """Make a rollout search.

    Args:
        options: Options of the player.
        game: The game.

    Raises:
        TrickformerError: An option is not read; the policy or prior cannot play the game or reads hidden cards; the
            policy lacks likelihoods that the belief needs; or the game has no worlds or no weights.
    """
    from trickformer.search.sparta import BlueprintSearchPlayer, Comparison
    from trickformer.search.states import StatePositions

    refuse_unread("rollout", options, game)
    spec = game.baseline if options.policy == SCRIPT else options.policy
    policy = specs.make(spec, game)
    if policy.needs_state:
        raise _open_cards_error("policy", spec)
    belief = _make_belief(options, game, policy, spec)
    state_positions = StatePositions(game, policy, belief)
    if options.prior is None:
        comparison = Comparison(options.worlds, threshold=options.min_gain, ucb=options.ucb, assess=options.assess)
        return BlueprintSearchPlayer(comparison, state_positions, policy)
    from trickformer.models.player import ModelPlayer
    from trickformer.search import scripted_positions
    from trickformer.search.prior import PriorRollouts

    prior = specs.make(options.prior, game)
    if prior.needs_state:
        raise _open_cards_error("prior", options.prior)
    positions = (scripted_positions(game, belief) if options.policy == SCRIPT else None) or state_positions
    defaults = game.rollouts
    settings = RolloutSettings(
        runs=defaults.runs if options.runs is None else options.runs,
        threshold=defaults.threshold if options.threshold is None else options.threshold,
        margin=defaults.margin if options.margin is None else options.margin,
    )
    # The prior's option action_values=false also holds for the values of the candidates.
    use_q = isinstance(prior, ModelPlayer) and prior.uses_action_values and game.labels_are_results
    return PriorRollouts(prior, positions, settings, use_q, policy.caveats)


def _open_cards_error(part: str, spec: str) -> TrickformerError:
    return TrickformerError(f"player 'rollout': its {part} {spec!r} reads hidden cards; use another {part}")


def _make_belief(options: Options, game: Game, policy: Player, spec: str) -> Belief:
    from trickformer.belief import sampler, weighted_belief
    from trickformer.belief.policy import PolicyBelief

    belief = _belief(options, game)
    if belief == "weighted":
        return weighted_belief(game)
    if belief == "uniform":
        return sampler(game)
    if not policy.has_likelihood:
        raise TrickformerError(
            f"player 'rollout': belief=policy needs a policy with action probabilities, such as policy=imitation, not "
            f"{spec!r}; use another policy or belief"
        )
    return PolicyBelief(game, sampler(game), policy, options.slip)
