"""search on the public belief: compares partner styles and actions for each move

This is search on the public belief, the distribution over all hands given what everybody saw (section 4.2 of Sokota et
al., "A Fine-Tuning Approach to Belief State Modeling", 2022, with a simpler search than the paper's). A rule is a
policy for one move: a scripted player, or "this action if it is legal, else the blueprint". The search compares rules
by games from worlds of the public belief. A game starts with one move by the rule and ends with the blueprint. The seat
on turn applies the best rule to its view. All seats draw the same worlds and so choose the same rule. Each seat can
then update the public belief, because it has computed which rule made the move (the control in
belief/hanabi/process.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import BaseModel, Field

from trickformer.base import Decision, Game, Memo, Player, TrickformerError, View
from trickformer.plumbing.options import refuse_unread
from trickformer.search.options import NetworkBeliefOptions, RaceOptions

if TYPE_CHECKING:
    from trickformer.games.hanabi import Hanabi
    from trickformer.search.hanabi.public import Search


GAMES = ("hanabi",)


class _Search(BaseModel):
    blueprint: str = Field(
        "partner:style=smart",
        description="Script of all later moves, partner:style=STYLE (default: partner:style=smart).",
    )
    worlds: int = Field(
        1_000,
        ge=1,
        le=1_000_000,
        description="Worlds in which each partner style and each action is tried for a move (default: 1,000).",
    )
    belief: Literal["exact", "seq2seq", "bft"] = Field(
        "exact", description="Belief over both hands: exact, or a network's: seq2seq or bft (default: exact)."
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the worlds, which all seats draw alike (default: 0).")


class Options(NetworkBeliefOptions, RaceOptions, _Search):
    pass


class RuleSearch(Player):
    """Player whose seats all search."""

    batch = 1

    def __init__(self, search: Search, game: Hanabi):
        from trickformer.search.hanabi.public import Games, RuleSearchGame

        self.search, self._kinds = search, game.rules.kinds
        self.games = Games(game, lambda x: RuleSearchGame(search, x))

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [self._decide(view, r) for view, r in zip(views, rng)]

    def _decide(self, view: View, rng: np.random.Generator) -> Decision:
        followed, table = self.games.follow(view)
        result = followed.search_next_move()
        (action,) = self.search.process.choose(table, np.array([result.policy]), int(rng.integers(2**62))).tolist()
        return result.decision(action, self._kinds)


def make(options: Options, game: Game) -> RuleSearch:
    """Make a rule search.

    Args:
        options: Options of the player.
        game: The game.

    Raises:
        TrickformerError: The game is not for two, the blueprint is no scripted player, or the network does not fit.
    """
    from trickformer.games.hanabi import Hanabi

    assert isinstance(game, Hanabi)
    if game.players != 2:
        raise TrickformerError(f"player 'rule_search' is for two players, not {game.players}")
    refuse_unread("rule_search", options, game)
    from trickformer import _core
    from trickformer.belief.hanabi.process import Form, HanabiProcess
    from trickformer.belief.hanabi.public import PublicWorlds
    from trickformer.players.partner import style_of
    from trickformer.search.hanabi.beliefs import make_public_belief
    from trickformer.search.hanabi.blueprint import ScriptedBlueprint
    from trickformer.search.hanabi.public import Search

    style = style_of("player 'rule_search': its blueprint", options.blueprint)
    process = HanabiProcess(game.rules, Form.FOSG, [style, style])
    exact = partial(PublicWorlds, process, options.listed, options.tries)
    search = Search(
        process,
        bot=_core.hanabi.BOTS.index(style),
        belief=make_public_belief(
            options.belief,
            game,
            process,
            ScriptedBlueprint(game, style),
            options,
            options.checkpoint,
            options.device,
            exact,
        ),
        exact=exact,
        worlds=options.worlds,
        threshold=options.threshold,
        ucb=options.ucb,
        assess=options.assess,
        seed=options.seed,
        threads=options.threads,
    )
    return RuleSearch(search, game)
