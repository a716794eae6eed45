"""Interfaces and value types that all packages of trickformer share.

This package imports no other package of trickformer, and neither OpenSpiel nor torch. ARCHITECTURE.md has the order in
which packages may import each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trickformer.base.decisions import decide_in_batches, validate_decisions
from trickformer.base.errors import TrickformerError, UnknownNameError
from trickformer.base.fast import BulkHands, FastGame, Tables
from trickformer.base.games import (
    Game,
    LogOdds,
    MeanOfGames,
    Outcomes,
    RolloutSettings,
    SearchSettings,
    Summary,
    deal_seed,
    game_name,
    replay,
    with_path,
)
from trickformer.base.players import (
    MANY,
    UNSEEDED,
    Belief,
    Decision,
    FaultKind,
    Memo,
    Player,
    Policy,
    SearchNode,
    Thought,
    World,
    Worlds,
)
from trickformer.base.positions import SampledWorlds, WorldSimulator
from trickformer.base.randomness import decision_rng
from trickformer.base.tokens import Tokenizer, Tracker, position_waves
from trickformer.base.views import CHANCE, PUBLIC, Event, View, action_event

if TYPE_CHECKING:
    from trickformer.base.views import State as State

__all__ = [
    "CHANCE",
    "MANY",
    "PUBLIC",
    "UNSEEDED",
    "Belief",
    "BulkHands",
    "Decision",
    "Event",
    "FastGame",
    "FaultKind",
    "Game",
    "LogOdds",
    "MeanOfGames",
    "Memo",
    "Outcomes",
    "Player",
    "Policy",
    "RolloutSettings",
    "SampledWorlds",
    "SearchNode",
    "SearchSettings",
    "Summary",
    "Tables",
    "Thought",
    "Tokenizer",
    "Tracker",
    "TrickformerError",
    "UnknownNameError",
    "View",
    "World",
    "WorldSimulator",
    "Worlds",
    "action_event",
    "deal_seed",
    "decide_in_batches",
    "decision_rng",
    "game_name",
    "position_waves",
    "replay",
    "validate_decisions",
    "with_path",
]
