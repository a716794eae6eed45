"""information-set MCTS (Cowling et al. 2012): OpenSpiel's Python bot on the game's own deal sampler

OpenSpiel's C++ bot draws its worlds from a clock-seeded generator of the game and cannot be given another; the
worlds of Hearts' own `resample_from_infostate` contain revokes."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Belief, Game
from trickformer.players.spiel import Spiel


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    runs: int = Field(
        default=1000, ge=1, le=1_000_000, description="simulations a decision, each in a world of its own"
    )
    c: float = Field(
        default=8.0,
        ge=0,
        allow_inf_nan=False,
        description="exploration constant of UCT, in units of the game's returns",
    )
    rollouts: int = Field(default=1, ge=1, le=1_000_000, description="uniformly random playouts at each new node")


def make_bot(game: Game, belief: Belief, options: Options, seed: int) -> Any:
    """An `ISMCTSBot` whose search, playouts and worlds all follow from `seed`.

    It reads of the state that it is shown only the view of the seat on turn."""
    from open_spiel.python.algorithms import ismcts, mcts

    random_state = np.random.RandomState(seed)
    evaluator = mcts.RandomRolloutEvaluator(options.rollouts, random_state)
    bot = ismcts.ISMCTSBot(
        game.spiel,
        evaluator,
        options.c,
        options.runs,
        random_state=random_state,
        # Hanabi gives no information states: its observations are the nodes there.
        use_observation_string=not game.spiel.get_type().provides_information_state_string,
    )
    rng = np.random.default_rng(seed)
    drawn: list[Any] = []

    def resample(state: Any, player: int) -> Any:
        if not drawn:  # a bot makes one decision
            belief.reset(game.view(state, player))
            worlds = belief.sample(options.runs, rng)
            drawn.extend(worlds.state(i) for i in reversed(range(options.runs)))
        return drawn.pop()

    bot.set_resampler(resample)
    return bot


def make(options: Options, game: Game) -> Spiel:
    """Raises UnknownNameError for a game without a deal sampler."""
    from trickformer.belief import sampler

    belief = sampler(game)
    return Spiel(lambda seat, seed: make_bot(game, belief, options, seed), belief)
