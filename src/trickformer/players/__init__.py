"""Players, one module for each, found by its file name.

A player module exports `Options`, a pydantic model with extra="forbid" whose fields all have a default and a one-line
description, and `make(options, game) -> Player`. The first line of its docstring describes the player.
`Options` may also have these members: `parts` (specs of the player's own players, by option), `files` (paths that it
reads, by name) and `starts_program` (True if it runs code that only the user may choose). Fields may have the marks
of plumbing/options.py: `Applies` (the games or settings that read the option), `PerGame` (a default by game) and
`NamesFile` (a path). `GAMES` is optional, and names the games that the player is for. Heavy imports stand inside
`make`, so that listing the players loads none of them.

Other packages add players by entry points in the group `trickformer.players` (docs/add-a-player.md).
"""

from trickformer.base import decision_rng, validate_decisions
from trickformer.players.registry import NAMES, describe, games_of, module, names, options_of, summarize_all
from trickformer.players.specs import (
    digests,
    files,
    make,
    parse,
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
    "relocate",
    "resolve",
    "resolve_options",
    "short",
    "starts_program",
    "summarize_all",
    "text",
    "to_type",
    "translate",
    "user_only",
    "validate_decisions",
    "validate_specs",
    "validate_specs_of",
]
