"""network of a run of `trickformer obl train`

Off-belief learning, self-play or a clone of recorded games, in Hanabi.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

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
        None, description="Shipped checkpoint, or the folder of a run of `trickformer obl train`."
    )
    temperature: float | None = Field(
        None,
        ge=0,
        le=100,
        allow_inf_nan=False,
        description="Temperature of the softmax in points, 0 for the best action (default: as trained).",
    )


class ActionValuePlayer(Player):
    """The player of one network, at any number of tables."""

    batch = 1  # each view by itself, so that no answer depends on the others' sizes

    def __init__(self, game: Hanabi, trained: HanabiCheckpoint, temperature: float):
        from trickformer.belief.samplers.hanabi import HanabiBelief

        self._game, self._trained, self._belief = game, trained, HanabiBelief(game)
        self.temperature = temperature  # of its policy, in points

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view. Raises ValueError on a view that no deal explains."""
        return [Decision(v.legal[0]) if len(v.legal) == 1 else self._decide(v, r) for v, r in zip(views, rng)]

    def _decide(self, view: View, rng: np.random.Generator) -> Decision:
        from trickformer.models.hanabi_values import sample_actions

        q, legal, score = self._evaluate(view)
        action = int(sample_actions(q, legal, self.temperature, rng))
        if self._trained.is_imitation:
            return Decision(action)
        return Decision(action, value=(score + float(q[0, action])) / self._game.rules.kinds)

    def values(self, view: View) -> np.ndarray:
        """float64 [actions]: what each action is worth from here on, in points, to the seat on turn; of the legal ones.
        A clone bot's are the logarithms of its odds, but for a constant. Raises ValueError on a view that no deal
        explains."""
        return self._evaluate(view)[0][0].double().numpy()

    def _evaluate(self, view: View) -> tuple[torch.Tensor, torch.Tensor, int]:
        """Values and what is legal, [1, actions] both, and the score so far."""
        import torch

        model, viewer = self._trained.model, np.full(1, view.viewer, dtype=np.int8)
        self._belief.reset(view)
        tables = self._belief.tables()
        read = tables if model.shape.recurrent else tables[-1:]  # what came before is in the memory, if there is one
        seen = [torch.from_numpy(table.observe(viewer, self._trained.v0)) for table in read]
        legal = torch.zeros(1, self._game.rules.actions, dtype=torch.bool)
        legal[0, list(view.legal)] = True
        with torch.no_grad():
            contexts, _ = model.contexts(torch.stack(seen), model.memory(1))
            q, _ = model(seen[-1], contexts[-1], legal)
        return q, legal, int(tables[-1].scores()[0])


def make(options: Options, game: Game) -> ActionValuePlayer:
    """Raises TrickformerError for a game that is not Hanabi, a checkpoint that is missing, and one of other rules."""
    from trickformer.games.hanabi import Hanabi

    if not isinstance(game, Hanabi):
        raise TrickformerError(f"player 'obl' plays hanabi only, not {game.name}")
    trained = trained_for("obl", options.checkpoint, game)
    return ActionValuePlayer(game, trained, trained.temperature if options.temperature is None else options.temperature)


def trained_for(player: str, checkpoint: str | None, game: Hanabi) -> HanabiCheckpoint:
    """The network of a player of this game. Raises TrickformerError for none, and for one of other rules."""
    from trickformer import checkpoints
    from trickformer.models.hanabi_values import load

    if checkpoint is None:
        raise TrickformerError(f"player {player!r} needs checkpoint=FOLDER, which `trickformer obl train` writes")
    return load(checkpoints.find(checkpoint)).of(game.rules, checkpoint)
