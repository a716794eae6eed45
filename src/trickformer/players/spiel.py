"""bot of OpenSpiel on a sampled world

The bot is registered in OpenSpiel, or comes from a Python module. It sees a sampled world that is consistent with the
view of its seat, not the true state.

The module converts in both directions: `make` wraps a `pyspiel.Bot` as a player, and `as_bot` wraps a player as a
`pyspiel.Bot` for OpenSpiel's tools.
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
        description="Bot's name in OpenSpiel, or MODULE:FACTORY with factory(game, player_id, seed) -> Bot.",
    )
    state: bool = Field(False, description="Show the bot the true state, hidden cards included (default: false).")
    worlds: Literal["uniform", "weighted"] | None = Field(
        None, description="Worlds: uniform, or in Skat and Hanabi weighted by the others' moves (default: uniform)."
    )

    @property
    def starts_program(self) -> bool:
        """True if `bot` names a module to import, which only the user may choose."""
        return ":" in self.bot

    @property
    def files(self) -> dict[str, Path]:
        """File of the bot's module, if it has one."""
        return foreign.module_file(self.bot) if self.starts_program else {}


class Spiel(Player):
    """Player by a `pyspiel.Bot`. There is one bot for each hand and seat, seeded at its first decision.

    The bot receives the actions of a sampled world that is consistent with the view of its seat. While that world stays
    consistent, the bot is informed of the others' new actions, as in `pyspiel.evaluate_bots`. If the world becomes
    inconsistent, or the action played was not the bot's choice, the bot is restarted and informed of all actions of
    the present world. So its choices depend only on its seed and the hand, if it draws all randomness from the seed.
    """

    batch = 1

    def __init__(self, game: Game, make_bot: MakeBot, belief: Belief | None, name: str):
        """Store the settings.

        Args:
            game: The game.
            make_bot: Makes a bot from a seat and a seed.
            belief: Samples the worlds that the bot sees; None: the bot sees the true state.
            name: Name of the bot, for messages.
        """
        self.make_bot = make_bot
        self.needs_state = belief is None  # the table then puts the true state into memo["state"]
        self._game, self._belief = game, belief
        self._name = name

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """Return the bot's action for each view.

        Args:
            views: n views.
            rng: Generator of each decision.
            memo: Memo of each view. memo["state"] is the true state if the bot sees it.

        Raises:
            TrickformerError: The bot fails.
            KeyError: The bot sees the true state, and a memo lacks it.
        """
        return [self._act(*args) for args in zip(views, rng, memo)]

    def _act(self, view: View, rng: np.random.Generator, memo: Memo) -> Decision:
        must_restart = "bot" not in memo
        if must_restart:
            with foreign.wrap_errors(f"bot {self._name!r}"):
                memo["bot"] = self.make_bot(view.viewer, int(rng.integers(2**31 - 1)))
        if self._belief is None:
            world = memo["state"]
        else:
            world, must_restart = update_world(self._game, self._belief, view, rng, memo)
        own_actions = [step.action for step in world.full_history() if step.player == view.viewer]
        if memo.get("chose") != own_actions:
            must_restart = True
        with foreign.wrap_errors(f"bot {self._name!r}"):
            if must_restart:
                memo["bot"].restart()
                memo["bot_state"] = world.get_game().new_initial_state()
            _inform(memo["bot"], memo["bot_state"], world, view.viewer, must_restart)
            action = operator.index(memo["bot"].step(memo["bot_state"]))
        memo["chose"] = [*own_actions, action]
        return Decision(action)


def _inform(bot: Any, state: State, world: State, seat: int, was_restarted: bool) -> None:
    """Inform the bot of a seat of all actions in `world` since `state`, and apply them to `state`.

    A restarted bot must also learn its own earlier actions. They are forced if the bot supports that. Otherwise the bot
    is informed of them.
    """
    for step in world.full_history()[len(state.full_history()) :]:
        if step.player != seat:
            bot.inform_action(state, step.player, step.action)
        elif was_restarted and bot.provides_force_action():
            bot.force_action(state, step.action)
        elif was_restarted:
            bot.inform_action(state, step.player, step.action)
        state.apply_action(step.action)


def make(options: Options, game: Game, belief: Belief | None = None) -> Spiel:
    """Make the player of a bot.

    Args:
        options: Options of the player.
        game: The game.
        belief: Belief that worlds are sampled from; None: the game's own, by the option `worlds`.

    Raises:
        UnknownNameError: OpenSpiel has no bot of this name.
        TrickformerError: The bot cannot play the game or cannot be made, or the game has no weighted belief.
    """
    if options.state and options.worlds:
        raise TrickformerError("player 'spiel': state=true shows the true world; leave out worlds")
    make_bot = _import_bot_factory(options.bot, game) if ":" in options.bot else _find_bot_factory(options.bot, game)
    if belief is None and not options.state:
        from trickformer.belief import sampler, weighted_belief

        belief = weighted_belief(game) if options.worlds == "weighted" else sampler(game)
    return Spiel(game, make_bot, None if options.state else belief, options.bot)


def _find_bot_factory(name: str, game: Game) -> MakeBot:
    """Return a factory for a bot that is registered in OpenSpiel."""
    if not pyspiel.is_bot_registered(name):
        raise UnknownNameError("bot of OpenSpiel", name, pyspiel.registered_bots())
    suitable = pyspiel.bots_that_can_play_game(game.spiel)
    if name not in suitable:
        raise TrickformerError(
            f"OpenSpiel's bot {name!r} cannot play {game.name}; these can: {', '.join(sorted(suitable))}"
        )
    return lambda seat, seed: pyspiel.load_bot(name, game.spiel, seat, {"seed": seed})


def _import_bot_factory(name: str, game: Game) -> MakeBot:
    """Import the factory `package.module:factory`, and make one bot to detect faults early."""
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
    """Bot that decides by a player; see `as_bot`."""

    def __init__(self, player: Player, game: Game, seat: int, seed: int):
        super().__init__()
        self.player, self.game = player, game
        self.seat, self.seed = seat, seed
        self.memo: Memo = {}
        self.hand = -1  # number of the present hand
        self.last = -1  # number of the last own decision in this hand; -1: none

    def restart(self) -> None:
        self.memo, self.last = {}, -1

    def restart_at(self, state: State) -> None:
        self.restart()

    def inform_action(self, state: State, player: int, action: int) -> None:
        pass  # `step` reads everything from the state

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
    """Convert a player to a bot for OpenSpiel's tools.

    The bot reads only `game.view(state, seat)` from a state, or the whole state if the player needs it. OpenSpiel sends
    no signal when a hand begins. The bot assumes a new hand if its seat has not made more decisions than at the bot's
    last decision. Hands are numbered, so that each has random numbers of its own.

    Args:
        player: The player.
        game: The game.
        seat: Seat of the player.
        seed: Seed of the decisions.
    """
    return _Bot(player, game, seat, seed)
