"""Exceptions for bad input."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


class TrickformerError(Exception):
    """Bad input. The message is one line that names the fault and the fix; the command line exits with 2."""


class UnknownNameError(TrickformerError):
    """A game, player, checkpoint or option that does not exist; the message lists those that do.

    Attributes:
        kind: What the name stands for, such as "game".
    """

    def __init__(self, kind: str, name: str, known: Sequence[str], hint: str = ""):
        self.kind = kind
        choice = f"choose from: {', '.join(sorted(known))}" if known else "there are none"
        by_lower_case = {word.lower(): word for word in known}
        close = difflib.get_close_matches(name.lower(), by_lower_case, n=1, cutoff=0.75)
        more = [f"did you mean {by_lower_case[word]}?" for word in close] + ([hint] if hint else [])
        super().__init__("; ".join([f"unknown {kind} {name!r}", choice, *more]))
