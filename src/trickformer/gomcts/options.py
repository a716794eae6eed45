"""The options of GO-MCTS, each declared once: type, default, bounds and help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, TypeAlias, get_type_hints

from pydantic import Field

from trickformer.base import Game, SearchSettings, TrickformerError

Preset: TypeAlias = Literal["paper"]


def _option(default: Any, description: str, **bounds: Any) -> Any:
    return field(default=default, metadata=bounds | {"description": description})


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """All settings of a search.

    A search that is built directly has the values below, the paper's settings for Hearts (section 9.3). The command
    line and players have the defaults that `default_options` computes, which the descriptions name.
    """

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
        "Search only actions with more than this share of the legal policy (default: the game's).",
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
    legal: bool = _option(False, "Imagine only observations that some deal allows (default: true if trained so).")
    action_values: bool = _option(
        False, "Start an action at the model's Q(s, a) (default: if it has Q, but not in Skat and The Crew)."
    )
    leaf_action_values: bool = _option(
        False, "End a simulation with the best Q(s, a), not V(s) (default: the default of action_values)."
    )
    rollout_action_values: bool = _option(
        False, "Own moves after leaving the tree: the best Q(s, a) above threshold, not a sample (default: false)."
    )
    temperature: float = _option(
        1.0, "Temperature of the policy that imagined tokens are sampled from (default: 1).", gt=0, le=100
    )

    @property
    def needs_action_values(self) -> bool:
        """Return whether the search needs a model with action values."""
        return self.action_values or self.leaf_action_values or self.rollout_action_values


def optional_fields() -> dict[str, Any]:
    """Return the options as fields of a pydantic model for `pydantic.create_model`; None means not set."""
    types = get_type_hints(SearchOptions)
    return {f.name: (types[f.name] | None, Field(None, **f.metadata)) for f in fields(SearchOptions)}


def paper_settings(game: Game) -> SearchSettings:
    """Return the settings of the GO-MCTS paper for a game, from section 9.3.

    Args:
        game: The game.

    Raises:
        TrickformerError: The paper has no settings for this game.
    """
    if game.paper_search is None:
        raise TrickformerError(f"preset=paper: the GO-MCTS paper has no settings for {game.name}; leave out preset")
    return game.paper_search


def default_options(
    game: Game, *, masked: bool, action_values: bool, overrides: Mapping[str, Any], preset: Preset | None = None
) -> SearchOptions:
    """Return the options of a search: overrides first, then the settings of the game or of the preset.

    No game sets `mu`, so without an override it has the default of `SearchOptions`.

    Args:
        game: The game.
        masked: Whether the model's policy was trained with impossible tokens masked.
        action_values: Whether the model has action values.
        overrides: Values by name of option; None counts as not set.
        preset: "paper" replaces the defaults of the game by Algorithm 3 with the paper's settings for the game. A
            masked policy keeps its mask, because its probabilities of impossible tokens were never trained.

    Raises:
        TrickformerError: The preset has no settings for this game.
    """
    # If Q(s, a) was trained on open-card playouts instead of results of games, a search must not mix it with results.
    use_q = preset is None and action_values and game.labels_are_results
    own = (use_q and game.valued_search) or game.search
    settings = asdict(paper_settings(game) if preset == "paper" else own)
    settings |= {"legal": masked, "action_values": use_q, "leaf_action_values": use_q}
    settings |= {name: value for name, value in overrides.items() if value is not None}
    return SearchOptions(**{f.name: settings[f.name] for f in fields(SearchOptions) if f.name in settings})


def paper_games() -> list[Game]:
    """Load the games that the GO-MCTS paper has settings for."""
    from trickformer import games

    return [game for game in map(games.load, games.NAMES) if game.paper_search is not None]


def preset_values() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the values that each preset sets, by preset and game. `legal` is left out, because the model sets it."""

    def values(game: Game) -> dict[str, Any]:
        options = default_options(game, masked=False, action_values=False, overrides={}, preset="paper")
        return {key: value for key, value in asdict(options).items() if key != "legal"}

    return {"paper": {game.name: values(game) for game in paper_games()}}
