"""How much what the others have said tells of their cards: `trickformer skat inference`.

At the first card of a game, the deal that was dealt against worlds drawn uniformly from those that explain what a
seat has seen: the logarithm of its weight over the mean of theirs, in nats. A model that knows nothing is worth 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from trickformer import _core, games, players
from trickformer.base import decision_rng
from trickformer.belief.samplers.skat import SkatBelief
from trickformer.games.skat import PLAYERS, PLAYING, Skat, evaluation
from trickformer.plumbing.progress import progress
from trickformer.plumbing.report import Report
from trickformer.studies.skat.config import Inference
from trickformer.tournaments.intervals import interval

if TYPE_CHECKING:
    from trickformer.base import State


def command(config: Inference) -> None:
    """Prints a table, a line for each bidder. Raises UnknownNameError and OptionsError on a spec that is none."""
    game = games.load("skat")
    assert isinstance(game, Skat)
    model = _core.skat_search.BidModel(**config.model_dump(include={"bid", "choice", "floor"}, exclude_none=True))
    rows = []
    for spec in config.players:
        found = np.array(list(measure_information(game, spec, model, config)))
        cells = [spec]
        for gains in found.T:
            ci95 = interval(gains)
            cells.append(f"{gains.mean():+.2f}" + ("" if ci95 is None else f" [{ci95[0]:+.2f}, {ci95[1]:+.2f}]"))
        rows.append(cells)
    heading = f"{config.deals} deals of seed {config.seed}, {config.worlds} worlds each; nats, 95% intervals"
    Report(rows, heading, [("", (("bidder", "defenders", "soloist"), rows))]).print()


def measure_information(
    game: Skat, spec: str, model: _core.skat_search.BidModel, config: Inference
) -> Iterator[tuple[float, float]]:
    """Of each deal that `spec` bids in every seat and that is not passed in: the mean of the two defenders' nats, and
    the soloist's."""
    belief = SkatBelief(game)
    with progress(spec, "deals", 0, config.deals) as advance:
        for number, state in enumerate(bid(game, spec, config)):
            soloist = state.core.soloist
            gains: list[float] = []
            for seat in ((soloist + k) % PLAYERS for k in range(PLAYERS)):
                view = game.view(state, seat)
                belief.reset(view)
                worlds = belief.sample(config.worlds, np.random.default_rng([config.seed, number, seat]))
                hidden = np.concatenate([belief.truth(state).hidden, worlds.hidden])
                weight = _core.skat_search.log_weight(belief.deals_of(view), evaluation(), model, game.seeger, hidden)
                gains.append(float(weight[0] - np.logaddexp.reduce(weight[1:]) + np.log(config.worlds)))
            yield (gains[1] + gains[2]) / 2, gains[0]
            advance(1)


def bid(game: Skat, spec: str, config: Inference) -> Iterator[State]:
    """The first `deals` deals of the series in which somebody plays, at the first card."""
    player, index, found = players.make(spec, game), 0, 0
    while found < config.deals:
        state, memo, number = game.deal(config.seed, index), [{}, {}, {}], 0
        while not state.is_terminal() and state.core.phase != PLAYING:
            seat = state.current_player()
            rng = decision_rng(config.seed, index, seat, number)
            state.apply_action(player.act([game.view(state, seat)], [rng], [memo[seat]])[0].action)
            number += 1
        index += 1
        if not state.is_terminal():
            found += 1
            yield state
