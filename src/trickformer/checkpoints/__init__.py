"""The shipped weights: one folder each with config.json, model.safetensors and a model card. Transformers in bfloat16,
and networks of `trickformer obl train` as they were trained, in float32."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from trickformer.base import Game, Tokenizer, TrickformerError, UnknownNameError
from trickformer.models.legacy import rename_legacy_keys
from trickformer.plumbing.text import json_object


def names() -> tuple[str, ...]:
    """The shipped checkpoints."""
    root = Path(str(resources.files(__name__)))
    return tuple(sorted(p.parent.name for p in root.glob("*/config.json")))


def find(name: str) -> Path:
    """The folder of a shipped checkpoint, or of one on disk. Raises UnknownNameError where there is neither."""
    if name in names():
        return Path(str(resources.files(__name__))) / name
    path = Path(name)
    if (path / "config.json").is_file():
        return path
    raise UnknownNameError("checkpoint", name, (*names(), "a folder with config.json and model.safetensors"))


def stamp(game: Game, tokenizer: Tokenizer, features: bool = False) -> dict[str, object]:
    """What a checkpoint says of the game that it was trained on; kept in config.json under `trickformer`.

    features: whether it takes the tokenizer's features."""
    outcomes = len(game.outcomes.labels)
    about: dict[str, object] = {"game": str(game.spiel), "vocab": list(tokenizer.vocab), "outcomes": outcomes}
    if features:
        about["features"] = tokenizer.features_version
    return about


def check(path: Path, game: Game, tokenizer: Tokenizer) -> None:
    """Raises TrickformerError where the checkpoint's vocabulary, number of outcomes or features are not the game's.

    Rule options that change neither are allowed: how a model of other rules plays is worth asking."""
    try:
        config = rename_legacy_keys(json_object((path / "config.json").read_text(encoding="utf-8")))
        given, features = config.get("trickformer"), config.get("n_features", 0)
    except (OSError, ValueError, AttributeError):
        raise TrickformerError(f"{path / 'config.json'} is damaged; copy the checkpoint again") from None
    if not isinstance(given, dict):
        raise TrickformerError(
            f"{path} does not say which game it was trained on; it is no checkpoint of `trickformer train`"
        )
    wanted = stamp(game, tokenizer)
    for key in ("vocab", "outcomes"):
        if given.get(key) != wanted[key]:
            raise TrickformerError(
                f"checkpoint {path.name} was trained on {given.get('game')}, not {game.spiel}: its {key} differ; "
                "name another checkpoint"
            )
    version = given.get("features")
    if (features or version) and (version, features) != (tokenizer.features_version, tokenizer.n_features):
        raise TrickformerError(
            f"checkpoint {path.name} takes {features} features of version {version or 'unknown'}, but {game.name} has "
            f"{tokenizer.n_features} of version {tokenizer.features_version}; train it again"
        )
