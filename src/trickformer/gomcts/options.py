"""The options of GO-MCTS, each declared once: type, default, bounds and help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, get_type_hints

from pydantic import Field

from trickformer.base import Game


def _option(default: Any, description: str, **bounds: Any) -> Any:
    return field(default=default, metadata=bounds | {"description": description})


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """All settings of a search. The defaults are the paper's settings for Hearts (section 9.3)."""

    runs: int = _option(100, "Simulations per decision (default: the game's).", ge=1, le=1_000_000)
    steps: int = _option(
        2, "Own turns that a simulation plays after leaving the tree (default: the game's).", ge=0, le=1_000
    )
    c: float = _option(
        0.4,
        "Exploration constant of UCT, in units of the model's values (default: the game's).",
        ge=0,
        allow_inf_nan=False,
    )
    threshold: float = _option(
        0.05,
        "Search actions whose policy probability among legal ones is above this (default: the game's).",
        ge=0,
        le=1,
    )
    mu: float = _option(
        0.01,
        "Penalty of the actions on the path of an impossible imagined sequence (default: 0.01).",
        ge=0,
        allow_inf_nan=False,
    )
    wave: int = _option(1, "Simulations run in parallel, spread by virtual loss (default: the game's).", ge=1, le=4_096)
    legal: bool = _option(
        False, "Imagine only observations that some deal allows (default: if the model was trained so)."
    )
    action_values: bool = _option(
        False, "Start an action at the model's Q(s, a) (default: if the model learned game results)."
    )
    leaf_action_values: bool = _option(
        False, "End a simulation with the best Q(s, a), not V(s) (default: if the model learned game results)."
    )


def optional_fields() -> dict[str, Any]:
    """Return the options as fields of a pydantic model for `pydantic.create_model`; None means not set."""
    types = get_type_hints(SearchOptions)
    return {f.name: (types[f.name] | None, Field(None, **f.metadata)) for f in fields(SearchOptions)}


def usual(game: Game, *, masked: bool, action_values: bool, overrides: Mapping[str, Any]) -> SearchOptions:
    """Return the options of a search: overrides first, then the defaults of the game, then the paper's settings.

    Args:
        game: The game.
        masked: Whether the model's policy was trained with impossible tokens masked.
        action_values: Whether the model has action values.
        overrides: Values by name of option; None counts as not set.
    """
    use_q = action_values and game.labels_are_results  # else Q(s, a) cannot be compared with results of games
    settings = asdict((use_q and game.valued_search) or game.search)
    settings |= {"legal": masked, "action_values": use_q, "leaf_action_values": use_q}
    settings |= {name: value for name, value in overrides.items() if value is not None}
    return SearchOptions(**{f.name: settings[f.name] for f in fields(SearchOptions) if f.name in settings})
