"""Players. Each has a module of its own, whose file name is the player's name.

A player module exports `make(options, game) -> Player` and `Options`, a pydantic model with extra="forbid" whose fields
all have a default and a one-line description. The first line of the module's docstring describes the player. A module
lists its games in `GAMES` if it does not play every game, and `make` gets no other. A function `presets() -> {preset:
{game: {option: value}}}` lists what the option `preset` sets. Heavy imports belong inside functions, so that a list of
players loads fast.

`Options` may have further members: `parts` (specs of players that this player uses, by option), `files` (paths that it
reads, by name) and `starts_program` (True if it runs code that only the user may choose). Fields may have the
annotations of plumbing/options.py: `Applies` (the games or settings that read the option), `PerGame` (a default by
game) and `NamesFile` (the value is a path).

Other packages add players by entry points in the group `trickformer.players` (docs/add-a-player.md).
"""

from trickformer.base import decide_in_batches, decision_rng, validate_decisions
from trickformer.players.registry import NAMES, describe, games_of, module, names, options_of, presets_of, summarize
from trickformer.players.specs import (
    check_game,
    digests,
    files,
    make,
    parse,
    possible_options,
    relocate,
    resolve,
    resolve_options,
    short,
    starts_program,
    text,
    to_type,
    translate,
    user_only,
    validate_specs,
    validate_specs_of,
)

__all__ = [
    "NAMES",
    "check_game",
    "decide_in_batches",
    "decision_rng",
    "describe",
    "digests",
    "files",
    "games_of",
    "make",
    "module",
    "names",
    "options_of",
    "parse",
    "possible_options",
    "presets_of",
    "relocate",
    "resolve",
    "resolve_options",
    "short",
    "starts_program",
    "summarize",
    "text",
    "to_type",
    "translate",
    "user_only",
    "validate_decisions",
    "validate_specs",
    "validate_specs_of",
]
