"""scripted player: simple, holmes, smart and others

The styles are simple, holmes, smart, iggi, piers and flawed.

Each style is a function of the public events and the others' hands (cpp/hanabi/players.hpp names the sources).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Decision, Game, Memo, Player, Policy, TrickformerError, UnknownNameError, View
from trickformer.players.specs import parse

GAMES = ("hanabi",)


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    style: Literal["simple", "holmes", "smart", "iggi", "piers", "flawed"] = Field(
        "smart", description="Script: simple, holmes, smart, iggi, piers or flawed (default: smart, the strongest)."
    )


class ScriptedPartner(Player):
    """Player that samples from the policy of a scripted player."""

    batch = 1

    def __init__(self, policy: Policy):
        self._policy = policy

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        probs = self._policy.probs(views).astype(np.float64)
        return [Decision(int(r.choice(len(p), p=p / p.sum()))) for r, p in zip(rng, probs)]


def style_of(who: str, spec: str, others: str = "") -> str:
    """Return the style of the scripted player that a spec names.

    Args:
        who: Subject of the error message, such as "player 'sparta': its blueprint".
        spec: The spec.
        others: Other players that the spec may name, for the message.

    Raises:
        TrickformerError: The spec is bad, or names another player.
    """
    try:
        name, options = parse(spec)
    except UnknownNameError:
        if spec in get_args(Options.model_fields["style"].annotation):
            raise TrickformerError(f"{who} is a player's spec, not a style; write partner:style={spec}") from None
        raise
    if not isinstance(options, Options):
        raise TrickformerError(f"{who} is a scripted player, partner:style=...{others}, not {name!r}")
    return options.style


def make(options: Options, game: Game) -> ScriptedPartner:
    """Make a scripted player.

    Args:
        options: Options of the player.
        game: The game.
    """
    from trickformer.games.hanabi import Hanabi
    from trickformer.search.hanabi.scripted import ScriptedPolicy

    assert isinstance(game, Hanabi)
    return ScriptedPartner(ScriptedPolicy(game, options.style))
