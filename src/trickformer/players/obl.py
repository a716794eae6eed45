"""network of off-belief learning or self-play

The network was trained on Hanabi by off-belief learning, by self-play or by imitation of recorded games.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from trickformer import checkpoints
from trickformer.base import Decision, Game, Memo, Player, TrickformerError, View
from trickformer.plumbing.options import NamesFile

if TYPE_CHECKING:
    import torch

    from trickformer.games.hanabi import Hanabi
    from trickformer.models.hanabi_values import HanabiCheckpoint


GAMES = ("hanabi",)


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    checkpoint: Annotated[str | None, NamesFile(checkpoints.names)] = Field(
        None, description="Required: hanabi-obl, hanabi-obl-1 or -2, or a run folder of `trickformer obl train`."
    )
    temperature: float | None = Field(
        None,
        ge=0,
        le=100,
        allow_inf_nan=False,
        description="Temperature of the softmax over actions, 0 for the best action (default: as trained).",
    )


class _Evaluation(NamedTuple):
    """Output of the network for one view."""

    q: torch.Tensor  # [1, actions]
    legal: torch.Tensor  # bool [1, actions]
    score: int  # score so far


class ActionValuePlayer(Player):
    """Player that samples actions by the action values of one network."""

    batch = 1  # the last digits of torch's sums depend on the batch size

    def __init__(self, game: Hanabi, trained: HanabiCheckpoint, temperature: float):
        from trickformer.belief.samplers.hanabi import HanabiBelief

        self._game, self.trained = game, trained
        self._belief = HanabiBelief(game)
        self.temperature = temperature  # in points, without a unit if the network was trained by imitation

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [Decision(v.legal[0]) if len(v.legal) == 1 else self._decide(v, r) for v, r in zip(views, rng)]

    def _decide(self, view: View, rng: np.random.Generator) -> Decision:
        from trickformer.models.hanabi_values import sample_actions

        result = self._evaluate(view)
        action = int(sample_actions(result.q, result.legal, self.temperature, rng))
        if self.trained.is_imitation:
            return Decision(action)
        return Decision(action, value=(result.score + float(result.q[0, action])) / self._game.rules.kinds)

    def values(self, view: View) -> np.ndarray:
        """Compute the action values of the seat on turn: the points that are still to be scored.

        Args:
            view: View of the seat on turn.

        Returns:
            float64 [actions]; entries of illegal actions have no meaning. For a network trained by imitation the values
            are logarithms of probabilities plus a constant.

        Raises:
            ValueError: No deal explains the view.
        """
        return self._evaluate(view).q[0].double().numpy()

    def _evaluate(self, view: View) -> _Evaluation:
        import torch

        model, viewer = self.trained.model, np.full(1, view.viewer, dtype=np.int8)
        self._belief.reset(view)
        tables = self._belief.tables()
        needed = tables if model.sizes.recurrent else tables[-1:]  # only a recurrent network reads the past
        # v0: observations hold probabilities of every card in a hand by counting (V0 beliefs), not its possible kinds
        observations = [torch.from_numpy(table.observe(viewer, self.trained.v0)) for table in needed]
        legal = torch.zeros(1, self._game.rules.actions, dtype=torch.bool)
        legal[0, list(view.legal)] = True
        with torch.no_grad():
            contexts, _ = model.contexts(torch.stack(observations), model.memory(1))
            q, _ = model(observations[-1], contexts[-1], legal)
        return _Evaluation(q, legal, int(tables[-1].scores()[0]))


def make(options: Options, game: Game) -> ActionValuePlayer:
    """Make the player of a network.

    Args:
        options: Options of the player.
        game: The game.

    Raises:
        TrickformerError: The checkpoint is missing or of other rules.
    """
    from trickformer.games.hanabi import Hanabi

    assert isinstance(game, Hanabi)
    trained = load_checkpoint("obl", options.checkpoint, game)
    return ActionValuePlayer(game, trained, trained.temperature if options.temperature is None else options.temperature)


def make_without_memory(spec: str, game: Game) -> ActionValuePlayer:
    """Make the player of a network without an LSTM, whose policy depends on the present observation only.

    Args:
        spec: Spec of a player `obl`.
        game: The game.

    Raises:
        TrickformerError: The spec or the network does not fit, or the network has an LSTM.
    """
    from trickformer.players import specs

    player = specs.make(spec, game)
    assert isinstance(player, ActionValuePlayer)
    if player.trained.model.sizes.recurrent:
        raise TrickformerError(
            f"player {spec}: the network has an LSTM, so its moves depend on more than the table; "
            "give a network without a memory (--model mlp)"
        )
    return player


def load_checkpoint(player: str, checkpoint: str | None, game: Hanabi) -> HanabiCheckpoint:
    """Load the network of a player.

    Args:
        player: Name of the player, for the error.
        checkpoint: Checkpoint, by name or folder.
        game: The game.

    Raises:
        TrickformerError: There is no checkpoint, or it is of other rules.
    """
    if checkpoint is None:
        raise TrickformerError(
            f"player {player!r} needs checkpoint=hanabi-obl, or checkpoint=DIR with a run folder of "
            "`trickformer obl train`"
        )
    from trickformer.models.hanabi_values import load  # imports torch, which takes seconds

    return load(checkpoints.find(checkpoint)).require_rules(game.rules, checkpoint)
