"""Every protocol and value that the parts of trickformer share.

Dependencies point one way: base <- games <- tokenizers <- models <- gomcts, belief <- players <- tournaments
<- selfplay, records <- web <- cli. This package imports neither OpenSpiel nor torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trickformer.base.errors import TrickformerError, UnknownNameError
from trickformer.base.games import Game, LogOdds, Outcomes, SearchSettings, deal_seed, game_name, replay
from trickformer.base.players import (
    MANY,
    Belief,
    Decision,
    Memo,
    Player,
    Policy,
    SearchNode,
    Thought,
    World,
    Worlds,
)
from trickformer.base.tokens import Ability, Tables, Tokenizer, Tracker
from trickformer.base.views import CHANCE, PUBLIC, Event, View, action_event

if TYPE_CHECKING:
    from trickformer.base.views import State as State

__all__ = [
    "CHANCE",
    "MANY",
    "PUBLIC",
    "Ability",
    "Belief",
    "Decision",
    "Event",
    "Game",
    "LogOdds",
    "Memo",
    "Outcomes",
    "Player",
    "Policy",
    "SearchNode",
    "SearchSettings",
    "Tables",
    "Thought",
    "Tokenizer",
    "Tracker",
    "TrickformerError",
    "UnknownNameError",
    "View",
    "World",
    "Worlds",
    "action_event",
    "deal_seed",
    "game_name",
    "replay",
]
