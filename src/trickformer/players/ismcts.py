"""information-set MCTS (Cowling et al. 2012)

This is OpenSpiel's Python bot, with worlds from trickformer's beliefs. OpenSpiel's C++ bot cannot be used, because its
worlds come from a generator that is seeded by the clock. OpenSpiel's own sampler for Hearts is not used either, because
some of its worlds contain revokes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Belief, Decision, Game, Memo, Player, TrickformerError, View
from trickformer.plumbing.foreign import wrap_errors


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    runs: int = Field(
        default=1000, ge=1, le=1_000_000, description="Simulations a decision, each in its own world (default: 1,000)."
    )
    c: float = Field(
        default=8.0,
        ge=0,
        allow_inf_nan=False,
        description="Exploration constant of UCT, in units of the game's returns (default: 8).",
    )
    rollouts: int = Field(
        default=1, ge=1, le=1_000_000, description="Uniformly random playouts at each new node (default: 1)."
    )


def _make_bot(game: Game, belief: Belief, options: Options, seed: int) -> Any:
    """Make an `ISMCTSBot` for one decision. `seed` determines its search, playouts and worlds.

    The bot reads only the view of the seat on turn from the state that it receives.
    """
    from open_spiel.python.algorithms import ismcts, mcts

    random_state = np.random.RandomState(seed)
    evaluator = mcts.RandomRolloutEvaluator(options.rollouts, random_state)
    bot = ismcts.ISMCTSBot(
        game.spiel,
        evaluator,
        options.c,
        options.runs,
        random_state=random_state,
        # OpenSpiel's Hanabi has no information state strings, so observations identify the nodes.
        use_observation_string=not game.spiel.get_type().provides_information_state_string,
    )
    rng = np.random.default_rng(seed)
    drawn: list[Iterator[Any]] = []

    def resample(state: Any, player: int) -> Any:
        if not drawn:  # all worlds are sampled at the first call, and become states one by one
            belief.reset(game.view(state, player))
            drawn.append(map(belief.sample(options.runs, rng).state, range(options.runs)))
        return next(drawn[0])

    bot.set_resampler(resample)
    return bot


class Ismcts(Player):
    """Player that makes a new bot for each decision and shows it a sampled world instead of the true state."""

    batch = 1

    def __init__(self, game: Game, belief: Belief, options: Options):
        self._game, self._belief = game, belief
        self._options = options

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [self._act(view, generator) for view, generator in zip(views, rng)]

    def _act(self, view: View, rng: np.random.Generator) -> Decision:
        seed = int(rng.integers(2**31 - 1))
        self._belief.reset(view)
        world = self._belief.sample(1, rng).state(0)
        with wrap_errors("bot 'ismcts'"):
            return Decision(int(_make_bot(self._game, self._belief, self._options, seed).step(world)))


def make(options: Options, game: Game) -> Ismcts:
    """Make the player.

    Args:
        options: Options of the player.
        game: The game.

    Raises:
        TrickformerError: The game hides nothing, or has no sampler of worlds.
    """
    import pyspiel

    from trickformer.belief import sampler

    if game.spiel.get_type().information != pyspiel.GameType.Information.IMPERFECT_INFORMATION:
        raise TrickformerError(f"player 'ismcts' is for games with hidden information; {game.name} has none")
    return Ismcts(game, sampler(game), options)
