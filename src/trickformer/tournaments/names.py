"""Short names of players, made from their specs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_OPTION = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^",])+')  # text up to a comma that is not within double quotes


def short_names(specs: Sequence[str]) -> list[str]:
    """Shorten the spec of each player, so that the names still differ.

    A name is the part of the spec before the colon. If several players share it, the options in which they differ
    follow. Equal specs are numbered.

    Args:
        specs: Specs of all players of a tournament.
    """
    heads = [spec.partition(":")[0].strip() for spec in specs]
    options = [_OPTION.findall(spec.partition(":")[2]) for spec in specs]
    names = list(heads)
    for head, count in Counter(heads).items():
        if count > 1:
            same_head = [i for i, other in enumerate(heads) if other == head]
            shared = set.intersection(*(set(options[i]) for i in same_head))
            for i in same_head:
                different = [option.strip() for option in options[i] if option not in shared]
                names[i] = head + (":" + ",".join(different) if different else "")
    return _number(_shorten_paths(names))


def _shorten_paths(names: list[str]) -> list[str]:
    """Cut the folders off values that are paths, if the names stay different."""
    short = [re.sub(r"=[^\s,\"=]*/([^\s,\"/=]+)(?=,|$)", r"=\1", name) for name in names]
    return short if len(set(short)) == len(set(names)) else names


def _number(names: list[str]) -> list[str]:
    counts, seen = Counter(names), Counter[str]()
    numbered: list[str] = []
    for name in names:
        seen[name] += 1
        numbered.append(f"{name} ({seen[name]})" if counts[name] > 1 else name)
    return numbered
