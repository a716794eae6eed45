"""scripted player: simple, holmes, smart and others

The styles are simple, holmes, smart, iggi, piers and flawed.

Each is a function of what everybody saw and of the others' hands (cpp/hanabi/players.hpp says where they come from).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Decision, Game, Memo, Player, Policy, TrickformerError, View
from trickformer.players.specs import parse

GAMES = ("hanabi",)


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    style: Literal["simple", "holmes", "smart", "iggi", "piers", "flawed"] = Field(
        "smart", description="smart understands hints by a convention, and is the strongest"
    )


class ScriptedPartner(Player):
    """A scripted player at any number of tables."""

    batch = 1  # one view after the other

    def __init__(self, policy: Policy):
        self._policy = policy

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view, drawn from the policy. Raises ValueError on a view that no deal explains."""
        probs = self._policy.probs(views).astype(np.float64)
        return [Decision(int(r.choice(len(p), p=p / p.sum()))) for r, p in zip(rng, probs)]


def style_of(who: str, spec: str) -> str:
    """The style of the scripted player that a spec names. Raises what `parse` raises, and TrickformerError for any
    other player, with what `who` says of whom it was given for."""
    name, options = parse(spec)
    if not isinstance(options, Options):
        raise TrickformerError(f"{who} is a scripted player, partner:style=..., not {name!r}")
    return options.style


def make(options: Options, game: Game) -> ScriptedPartner:
    """Raises TrickformerError for a game that is not Hanabi."""
    from trickformer.games.hanabi import Hanabi
    from trickformer.search.hanabi.scripted import ScriptedPolicy

    if not isinstance(game, Hanabi):
        raise TrickformerError(f"player 'partner' plays hanabi only, not {game.name}")
    return ScriptedPartner(ScriptedPolicy(game, options.style))
