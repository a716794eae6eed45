"""Shipped models, and functions that find checkpoints and check that they fit a game.

Each model is a folder with config.json, model.safetensors and a model card. Transformers are stored in bfloat16,
networks of `trickformer obl train` in float32, as they were trained.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from trickformer import tokenizers
from trickformer.base import Game, Tokenizer, TrickformerError
from trickformer.checkpoints.folders import absolute, find, locate, names
from trickformer.models.kinds import HANABI_VALUES
from trickformer.models.legacy import rename_legacy_keys
from trickformer.plumbing.text import json_object, read_text, short_unit

__all__ = [
    "abilities",
    "absolute",
    "check",
    "find",
    "locate",
    "names",
    "of_game",
    "outcome_names",
    "require_transformer",
    "stamp",
]

# Entry of config.json that does not fit a game -> our message about it.
_DIFFERENCES = {"vocab": "vocabulary differs", "outcomes": "outcomes differ"}


def default_name(game: Game) -> str | None:
    """Return the name of the checkpoint that is shipped for a game; None if there is none.

    Args:
        game: The game.
    """
    name = f"{game.name}-small"
    return name if name in names() else None


def of_game(game: Game) -> str:
    """Return the name of the checkpoint that is shipped for a game.

    Args:
        game: The game.

    Raises:
        TrickformerError: No checkpoint is shipped for the game.
    """
    if name := default_name(game):
        return name
    if tokenizers.find(game) is None:
        raise TrickformerError(f"no model plays {game.name}; choose a player without a checkpoint")
    raise TrickformerError(f"no checkpoint is shipped for {game.name}; {_remedy(game)}")


def _remedy(game: Game, unfit: str = "") -> str:
    """Describe how to get a model for a game; `unfit` is a checkpoint that does not fit."""
    if (name := default_name(game)) and name != unfit and _fits(name, game):
        return f"use checkpoint={name}"
    spec = str(game.spiel).removeprefix("trickformer_").removesuffix("()")
    return f"train one by `trickformer train {shlex.quote(spec)}` and name its folder by checkpoint=DIR"


def _fits(name: str, game: Game) -> bool:
    try:
        check(find(name), game, tokenizers.make(game))
    except TrickformerError:
        return False
    return True


def abilities(name: str) -> tuple[bool, bool]:
    """Return whether a checkpoint's policy was trained with impossible tokens masked, and whether it has action values.

    Args:
        name: The checkpoint, as in `find`.

    Raises:
        UnknownNameError: There is no such checkpoint.
        TrickformerError: Its configuration is damaged.
    """
    config = _read_config(find(name))
    return bool(config.get("masked")), bool(config.get("action_values"))


def _read_config(path: Path) -> dict[str, Any]:
    """Read config.json of a checkpoint. Raises TrickformerError if it is damaged."""
    try:
        return rename_legacy_keys(json_object(read_text(path / "config.json")))
    except (OSError, ValueError, AttributeError):
        raise TrickformerError(f"{path / 'config.json'} is damaged; restore it from a copy") from None


def require_transformer(path: Path, game: Game | None = None) -> dict[str, Any]:
    """Read config.json of a checkpoint, and refuse a network of `trickformer obl`.

    Args:
        path: Folder of the checkpoint.
        game: Game for which another checkpoint is suggested.

    Returns:
        The entries of config.json by their current names.

    Raises:
        TrickformerError: The checkpoint is damaged or no transformer.
    """
    config = _read_config(path)
    if config.get("kind") == HANABI_VALUES:
        remedy = f"; {_remedy(game, path.name)}" if game else ""
        raise TrickformerError(f"checkpoint {path.name} is a network of player obl, not a transformer{remedy}")
    return config


def stamp(game: Game, tokenizer: Tokenizer, features: bool = False) -> dict[str, object]:
    """Describe the game that a checkpoint is trained on, for the entry `trickformer` of config.json.

    Args:
        game: The game.
        tokenizer: Its tokenizer.
        features: Whether the model reads the tokenizer's features.
    """
    outcomes = len(game.outcomes.labels)
    entry: dict[str, object] = {"game": str(game.spiel), "vocab": list(tokenizer.vocab), "outcomes": outcomes}
    if features:
        entry["features"] = tokenizer.features_version
    return entry


def outcome_names(game: Game, n: int) -> list[str]:
    """Name each output of a value head, for `id2label` of config.json.

    Args:
        game: The game.
        n: Number of outputs: one for each outcome, or one for each class of outcomes with equal own value.

    Returns:
        For an outcome its scores, own score first, or a single score if all seats share it. For a class its own value.

    Raises:
        ValueError: The game has neither n outcomes nor n classes.
    """
    outcomes = game.outcomes
    _, values = outcomes.head_outputs(n)
    if n != len(outcomes.labels):
        scale, unit = game.worth
        return [f"{round(float(value) * scale, 2):+g} {short_unit(unit)}" for value in values[:, 0]]
    shared = all(len(set(label)) == 1 for label in outcomes.labels)
    return [f"score {label[0]}" if shared else "scores " + " ".join(map(str, label)) for label in outcomes.labels]


def check(path: Path, game: Game, tokenizer: Tokenizer) -> None:
    """Check that a checkpoint has the vocabulary, number of outcomes and features of a game.

    Rule options that change none of these are allowed, so that a model can be tested under other rules.

    Args:
        path: Folder of the checkpoint.
        game: The game.
        tokenizer: Its tokenizer.

    Raises:
        TrickformerError: The checkpoint is damaged or does not fit.
    """
    config = require_transformer(path, game)
    entry, features = config.get("trickformer"), config.get("n_features", 0)
    if not isinstance(entry, dict):
        raise TrickformerError(
            f"{path} does not name the game that it was trained on; it is no checkpoint of `trickformer train`"
        )
    expected = stamp(game, tokenizer)
    for key in ("vocab", "outcomes"):
        if entry.get(key) != expected[key]:
            raise TrickformerError(
                f"checkpoint {path.name} was trained on {entry.get('game')}, not on {game.spiel}: "
                f"its {_DIFFERENCES[key]}; {_remedy(game, path.name)}"
            )
    version = entry.get("features")
    if (features or version) and (version, features) != (tokenizer.features_version, tokenizer.n_features):
        raise TrickformerError(
            f"checkpoint {path.name} takes {features} features of version {version or 'unknown'}, but {game.name} has "
            f"{tokenizer.n_features} of version {tokenizer.features_version}; train it again"
        )
    unused, n_features = config.get("unused_features", []), tokenizer.n_features if features else 0
    if not isinstance(unused, list) or any(type(i) is not int or not 0 <= i < n_features for i in unused):
        raise TrickformerError(
            f"{path / 'config.json'}: unused_features are not indices below {n_features}; restore it from a copy"
        )
