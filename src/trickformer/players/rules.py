"""scripted players of Hearts (ducks, guards against the moon), of Skat (bids, declares, plays) and of The Crew

Their choices are functions of the view alone (cpp/hearts/rules_player.cpp, cpp/skat/rules_player.cpp,
cpp/crew/rules_player.cpp): they draw no randomness."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict

from trickformer.base import Decision, Game, Memo, TrickformerError, View


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _hearts(game: Game, views: Sequence[View]) -> list[int]:
    from trickformer import _core
    from trickformer.belief.samplers.hearts import seat_view

    return _core.hearts.rules_player([seat_view(game, v) for v in views])


def _skat(game: Game, views: Sequence[View]) -> list[int]:
    from trickformer import _core
    from trickformer.belief.samplers.skat import seat_view

    return _core.skat.rules_player([seat_view(game, v) for v in views])


def _crew(game: Game, views: Sequence[View]) -> list[int]:
    from trickformer import _core
    from trickformer.belief.samplers.crew import seat_view

    return _core.crew.rules_player([seat_view(game, v) for v in views])


_GAMES: dict[str, Callable[[Game, Sequence[View]], list[int]]] = {"hearts": _hearts, "skat": _skat, "crew": _crew}


class Rules:
    """The scripted player of a game, at any number of tables."""

    def __init__(self, game: Game):
        self._game = game
        self._choose = _GAMES[game.name]

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view. Raises ValueError on a view that no deal explains."""
        return [Decision(action) for action in self._choose(self._game, views)]


def make(options: Options, game: Game) -> Rules:
    """Raises TrickformerError for a game that nothing is scripted for."""
    if game.name not in _GAMES:
        raise TrickformerError(f"player 'rules' plays {', '.join(_GAMES)} only, not {game.name}")
    return Rules(game)
