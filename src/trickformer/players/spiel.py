"""a bot of OpenSpiel, shown a sampled world that its seat cannot tell from the true one

Both ways: `make` sits a `pyspiel.Bot` at our tables, `as_bot` gives one of our players to OpenSpiel's tools.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyspiel
from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Belief, Decision, Game, Memo, Player, TrickformerError, UnknownNameError, View
from trickformer.players import decision_rng

if TYPE_CHECKING:
    from trickformer.base import State

MakeBot = Callable[[int, int], Any]  # (seat, seed) -> pyspiel.Bot


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    bot: str = Field("uniform_random", description="name under which OpenSpiel has registered the bot")
    state: bool = Field(False, description="show the bot the true state, hidden cards included")


class Spiel:
    """A `pyspiel.Bot` at our tables.

    Every decision sits a fresh bot down, seeded from the decision's generator, and tells it the whole
    history of a world: nothing that it learned elsewhere can leak, and a bot that uses its `seed`
    parameter is reproducible. OpenSpiel's own bots fall back to the clock without one."""

    def __init__(self, make_bot: MakeBot, belief: Belief | None):
        self.make_bot = make_bot
        self.belief = belief
        self.needs_state = belief is None  # the table then puts the true state into memo["state"]

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """The bot's action for each view. Raises TrickformerError where the bot fails, KeyError where it
        is to see the true state and that is not in memo."""
        return [self._act(*args) for args in zip(views, rng, memo)]

    def _act(self, view: View, rng: np.random.Generator, memo: Memo) -> Decision:
        seed = int(rng.integers(2**31 - 1))
        if self.belief is None:
            world = memo["state"]
        else:
            self.belief.reset(view)
            world = self.belief.sample(1, rng).state(0)
        bot = self.make_bot(view.viewer, seed)
        try:
            follow(bot, world, view.viewer)
            return Decision(int(bot.step(world)))
        except pyspiel.SpielError as e:
            raise TrickformerError(f"a bot of OpenSpiel gave up: {str(e).splitlines()[0]}") from e


def follow(bot: Any, world: State, seat: int) -> None:
    """Restart a `pyspiel.Bot` of `seat` and tell it all that happened up to `world`, chance included.

    Its own actions are forced where the bot can be, and else told like the others'."""
    bot.restart()
    state = world.get_game().new_initial_state()
    force = bot.provides_force_action()
    for step in world.full_history():
        if step.player == seat and force:
            bot.force_action(state, step.action)
        else:
            bot.inform_action(state, step.player, step.action)
        state.apply_action(step.action)


def make(options: Options, game: Game, belief: Belief | None = None) -> Spiel:
    """The player of a registered bot; `belief` replaces the game's own deal sampler.

    Raises UnknownNameError for a name that OpenSpiel has not registered, TrickformerError for a bot that
    cannot play `game`."""
    if not pyspiel.is_bot_registered(options.bot):
        raise UnknownNameError("bot of OpenSpiel", options.bot, pyspiel.registered_bots())
    able = pyspiel.bots_that_can_play_game(game.spiel)
    if options.bot not in able:
        raise TrickformerError(
            f"OpenSpiel's bot {options.bot!r} cannot play {game.name}; these can: {', '.join(sorted(able))}"
        )

    def make_bot(seat: int, seed: int) -> Any:
        return pyspiel.load_bot(options.bot, game.spiel, seat, {"seed": seed})

    if options.state:
        return Spiel(make_bot, None)
    if belief is None:
        from trickformer.belief import sampler

        belief = sampler(game)
    return Spiel(make_bot, belief)


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
        if getattr(self.player, "needs_state", False):
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
