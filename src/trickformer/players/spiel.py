"""bot of OpenSpiel on a sampled world

A bot registered in OpenSpiel, or any other in Python. Its seat cannot tell the world from the true one.

Both ways: `make` sits a `pyspiel.Bot` at our tables, `as_bot` gives one of our players to OpenSpiel's tools.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyspiel
from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import (
    Belief,
    Decision,
    Game,
    Memo,
    Player,
    TrickformerError,
    UnknownNameError,
    View,
    decision_rng,
)
from trickformer.belief.world import update_world
from trickformer.plumbing import foreign

if TYPE_CHECKING:
    from trickformer.base import State

MakeBot = Callable[[int, int], Any]  # (seat, seed) -> pyspiel.Bot


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    bot: str = Field(
        "uniform_random",
        description="name under which OpenSpiel has registered the bot, or package.module:factory of one in Python; "
        "factory(game, player_id, seed) returns a pyspiel.Bot",
    )
    state: bool = Field(False, description="show the bot the true state, hidden cards included")
    worlds: Literal["uniform", "weighted"] | None = Field(
        None,
        description="how the worlds that it is shown are drawn: uniform, or, in Skat and Hanabi, weighted by what the "
        "others have said; uniform if not given",
    )

    @property
    def starts_program(self) -> bool:
        """Whether it names a module to import, which nobody but the user may decide."""
        return ":" in self.bot

    @property
    def files(self) -> dict[str, Path]:
        """The file of the module that it names, if it has one."""
        return foreign.module_file(self.bot) if self.starts_program else {}


class Spiel(Player):
    """A `pyspiel.Bot` at our tables, one for each hand and seat, seeded from the generator of its first decision.

    It is told all actions of a world that explains what its seat has seen, and nothing of the true one. As long as that
    world explains what happens, the bot is told what the others do in it, as `pyspiel.evaluate_bots` would; where it
    does not any more, or another action was taken than the one it chose, the bot is restarted and told all from the
    beginning. So what a bot does follows from its seed and the hand, if it draws all randomness from the seed.
    OpenSpiel's own fall back to the clock without one."""

    batch = 1  # one view after the other

    def __init__(self, game: Game, make_bot: MakeBot, belief: Belief | None, name: str):
        """belief: by which worlds are drawn; None: it is shown the true one. name: of the bot, for messages."""
        self.make_bot = make_bot
        self.needs_state = belief is None  # the table then puts the true state into memo["state"]
        self._game, self._belief, self._name = game, belief, name

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """The bot's action for each view. Raises TrickformerError where the bot fails, KeyError where it
        is to see the true state and that is not in memo."""
        return [self._act(*args) for args in zip(views, rng, memo)]

    def _act(self, view: View, rng: np.random.Generator, memo: Memo) -> Decision:
        anew = "bot" not in memo
        if anew:
            with foreign.wrap_errors(f"bot {self._name!r}"):
                memo["bot"] = self.make_bot(view.viewer, int(rng.integers(2**31 - 1)))
        if self._belief is None:
            world = memo["state"]
        else:
            world, anew = update_world(self._game, self._belief, view, rng, memo)
        if memo.get("chose") != (own := [step.action for step in world.full_history() if step.player == view.viewer]):
            anew = True
        with foreign.wrap_errors(f"bot {self._name!r}"):
            if anew:
                memo["bot"].restart()
                memo["told"] = world.get_game().new_initial_state()
            tell(memo["bot"], memo["told"], world, view.viewer, anew)
            action = operator.index(memo["bot"].step(memo["told"]))
        memo["chose"] = [*own, action]
        return Decision(action)


def tell(bot: Any, told: State, world: State, seat: int, anew: bool) -> None:
    """Tells a `pyspiel.Bot` of `seat` what has happened in `world` since `told`, chance included, and takes `told`
    there.

    Where it has just been restarted (`anew`) its own actions are forced if it can be, and else told like the others';
    later ones it has chosen itself."""
    for step in world.full_history()[len(told.full_history()) :]:
        if step.player != seat:
            bot.inform_action(told, step.player, step.action)
        elif anew and bot.provides_force_action():
            bot.force_action(told, step.action)
        elif anew:
            bot.inform_action(told, step.player, step.action)
        told.apply_action(step.action)


def make(options: Options, game: Game, belief: Belief | None = None) -> Spiel:
    """The player of a bot; `belief` replaces the game's own deal sampler.

    Raises UnknownNameError for a name that OpenSpiel has not registered, TrickformerError for a bot that cannot play
    `game` or cannot be made, and where its worlds are to be weighted and the game knows no weights."""
    if options.state and options.worlds:
        raise TrickformerError("player 'spiel': state=true shows the true world; leave out worlds")
    make_bot = _of_module(options.bot, game) if ":" in options.bot else _find_bot_factory(options.bot, game)
    if belief is None and not options.state:
        from trickformer.belief import sampler, weighted_belief

        belief = weighted_belief(game) if options.worlds == "weighted" else sampler(game)
    return Spiel(game, make_bot, None if options.state else belief, options.bot)


def _find_bot_factory(name: str, game: Game) -> MakeBot:
    """Makes bots that OpenSpiel knows by name."""
    if not pyspiel.is_bot_registered(name):
        raise UnknownNameError("bot of OpenSpiel", name, pyspiel.registered_bots())
    able = pyspiel.bots_that_can_play_game(game.spiel)
    if name not in able:
        raise TrickformerError(
            f"OpenSpiel's bot {name!r} cannot play {game.name}; these can: {', '.join(sorted(able))}"
        )
    return lambda seat, seed: pyspiel.load_bot(name, game.spiel, seat, {"seed": seed})


def _of_module(name: str, game: Game) -> MakeBot:
    """Makes bots by the factory that `package.module:factory` names. One is made at once, to see whether it can be."""
    factory = foreign.function(f"bot {name!r}", name)

    def make_bot(seat: int, seed: int) -> Any:
        bot = factory(game.spiel, seat, seed)
        if not isinstance(bot, pyspiel.Bot):
            raise TrickformerError(f"bot {name!r}: its factory returned {type(bot).__name__}, not a pyspiel.Bot")
        return bot

    with foreign.wrap_errors(f"bot {name!r}"):
        make_bot(0, 0)
    return make_bot


class _Bot(pyspiel.Bot):
    def __init__(self, player: Player, game: Game, seat: int, seed: int):
        super().__init__()
        self.player, self.game, self.seat, self.seed = player, game, seat, seed
        self.memo: Memo = {}
        self.hand = -1
        self.last = -1  # own decisions seen so far in this hand

    def restart(self) -> None:
        self.memo, self.last = {}, -1

    def restart_at(self, state: State) -> None:
        self.restart()

    def inform_action(self, state: State, player: int, action: int) -> None:
        pass  # the view holds everything

    def step(self, state: State) -> int:
        number = sum(step.player == self.seat for step in state.full_history())
        if self.last == -1 or number <= self.last:
            self.memo, self.hand = {}, self.hand + 1
        self.last = number
        if self.player.needs_state:
            self.memo["state"] = state.clone()
        rng = decision_rng(self.seed, self.hand, self.seat, number)
        view = self.game.view(state, self.seat)
        return self.player.act([view], [rng], [self.memo])[0].action


def as_bot(player: Player, game: Game, seat: int, seed: int) -> pyspiel.Bot:
    """`player` at `seat` as a bot for OpenSpiel's tools, reproducible from `seed`.

    It reads of a state only `game.view(state, seat)`. Hands are numbered in the order of their first
    decision, so that each gets randomness of its own; a decision that does not come later in the hand
    than the last one begins a new hand."""
    return _Bot(player, game, seat, seed)
