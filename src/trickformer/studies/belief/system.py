"""The Markov system of a training or an evaluation, whose players are scripts or networks of `trickformer obl`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from trickformer import _core, games, players
from trickformer.base import Game, TrickformerError
from trickformer.belief.hanabi.config import SCRIPTED, VARIANTS, BeliefTraining, Evaluation
from trickformer.belief.hanabi.policies import NetworkPolicy
from trickformer.belief.hanabi.process import Form, HanabiProcess
from trickformer.games.hanabi import RULES
from trickformer.players.obl import make_without_memory

Config = TypeVar("Config", BeliefTraining, Evaluation)


def process_of(config: BeliefTraining | Evaluation) -> HanabiProcess:
    """Return the Markov system whose hidden state is estimated.

    Args:
        config: Config of a training or an evaluation.

    Raises:
        TrickformerError: The number of players does not fit the rules, or a network does not fit or is missing.
    """
    rules = _core.hanabi.Rules(**VARIANTS[config.variant])
    if len(config.players) != rules.players:
        raise TrickformerError(f"players takes {rules.players} names, one for each seat, not {len(config.players)}")
    policies = {spec: _load_policy(spec, _game_of(config)) for spec in _networks_of(config)}
    return HanabiProcess(rules, Form(config.form), [policies.get(p, p) for p in config.players], config.seat)


def resolve_paths(config: Config) -> Config:
    """Return a config whose paths are absolute, those in specs of players too, so that its run continues anywhere.

    Args:
        config: Config of a training or an evaluation.

    Raises:
        TrickformerError: A spec is bad.
    """
    resolved = {spec: players.resolve(spec, _game_of(config)) for spec in _networks_of(config)}
    update: dict[str, Any] = {"players": [resolved.get(p, p) for p in config.players]}
    if isinstance(config, Evaluation):
        for name in ("checkpoint", "transformer", "games_from"):
            path: Path | None = getattr(config, name)
            update[name] = path and path.absolute()
    return config.model_copy(update=update)


def digests_of_players(config: BeliefTraining | Evaluation) -> dict[str, str]:
    """Return the SHA-256 digests of the files of the players' networks, by name.

    Args:
        config: Config of a training or an evaluation.

    Raises:
        TrickformerError: A spec is bad.
    """
    specs = _networks_of(config)
    return players.digests(_game_of(config), specs) if specs else {}


def _networks_of(config: BeliefTraining | Evaluation) -> list[str]:
    """List the specs of the players that are networks, each once."""
    return [player for player in dict.fromkeys(config.players) if player not in SCRIPTED]


def _game_of(config: BeliefTraining | Evaluation) -> Game:
    rules = _core.hanabi.Rules(**VARIANTS[config.variant])
    return games.load(f"hanabi({','.join(f'{name}={getattr(rules, field)}' for name, field in RULES.items())})")


def _load_policy(spec: str, game: Game) -> NetworkPolicy:
    """Load the policy of a player `obl`. Raises TrickformerError if the network does not fit or is missing."""
    player = make_without_memory(spec, game)
    return NetworkPolicy(player.trained, player.temperature)
