"""Every protocol and value that the parts of trickformer share.

Dependencies point one way: base <- plumbing <- openspiel <- games <- tokenizers <- models <- gomcts, belief <- search
<- players <- tournaments <- selfplay, records <- web <- cli. This package imports neither OpenSpiel nor torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trickformer.base.decisions import checked
from trickformer.base.errors import TrickformerError, UnknownNameError
from trickformer.base.games import (
    Game,
    LogOdds,
    Outcomes,
    RolloutSettings,
    SearchSettings,
    deal_seed,
    game_name,
    replay,
)
from trickformer.base.players import (
    MANY,
    Belief,
    Decision,
    Imagined,
    Memo,
    Player,
    Policy,
    Thought,
    World,
    Worlds,
)
from trickformer.base.positions import PlayableWorlds, RolloutPositions
from trickformer.base.randomness import decision_rng
from trickformer.base.tokens import Ability, Tables, Tokenizer, Tracker
from trickformer.base.views import CHANCE, PUBLIC, Event, View, acted

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
    "Imagined",
    "LogOdds",
    "Memo",
    "Outcomes",
    "PlayableWorlds",
    "Player",
    "Policy",
    "RolloutPositions",
    "RolloutSettings",
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
    "acted",
    "checked",
    "deal_seed",
    "decision_rng",
    "game_name",
    "replay",
]
