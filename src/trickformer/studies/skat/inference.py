"""Information in the auction about the hidden cards: `trickformer skat inference`.

A model of bids weights each deal by how likely the auction is with these hidden cards. The measure is log(weight of the
real deal / mean weight of worlds), in nats, before the first card is played. The worlds are drawn uniformly from those
consistent with a seat's view. A model without information scores 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from trickformer import _core, games, players
from trickformer.base import Player, TrickformerError, decide_in_batches, decision_rng
from trickformer.belief.samplers.skat import SkatBelief
from trickformer.games.skat import PLAYERS, PLAYING, Skat, evaluation
from trickformer.plumbing.progress import progress
from trickformer.plumbing.report import Report
from trickformer.studies.skat.config import Inference
from trickformer.tournaments.intervals import interval

if TYPE_CHECKING:
    from trickformer.base import State

MOST_PASSED_IN = 1_000  # deals that may be passed in for each deal that is played

_KEY = (
    "bidder: player that bids and declares in all seats. defenders, soloist: log of the true deal's weight over the "
    "mean weight of random worlds, at the first card, as these seats see it; 0 is no information, higher is better."
)


def command(config: Inference) -> None:
    """Print a table with a line for each bidder.

    Args:
        config: Bidders, deals and worlds.

    Raises:
        UnknownNameError: If a spec names no player.
        OptionsError: If a spec has a bad option.
        TrickformerError: If a bidder needs hidden cards, makes an illegal action or hardly ever bids.
    """
    game = games.load("skat")
    assert isinstance(game, Skat)
    model = _core.skat_search.BidModel(**config.model_dump(include={"bid", "choice", "floor"}, exclude_none=True))
    for spec in config.players:
        _make_bidder(spec, game)  # a bad spec is refused before the first deal is played
    rows = []
    for spec in config.players:
        information = np.array(list(measure_information(game, spec, model, config)))
        cells = [spec]
        for nats in information.T:
            ci95 = interval(nats)
            cells.append(f"{nats.mean():+.2f}" + ("" if ci95 is None else f" [{ci95[0]:+.2f}, {ci95[1]:+.2f}]"))
        rows.append(cells)
    heading = (
        f"Information in the auction of Skat: {config.deals} deals, seed {config.seed}, {config.worlds} worlds a deal; "
        "mean nats [95% interval]"
    )
    Report(rows, heading, [("", (("bidder", "defenders", "soloist"), rows))], keys=[_KEY]).print()


def measure_information(
    game: Skat, spec: str, model: _core.skat_search.BidModel, config: Inference
) -> Iterator[tuple[float, float]]:
    """Yield the information of each deal that is not passed in, in nats.

    Args:
        game: Skat.
        spec: Player that bids in every seat.
        model: Model of bids that weights the worlds.
        config: Number of deals and worlds, and the seed.

    Yields:
        Mean of the two defenders' information, and the soloist's information.
    """
    belief = SkatBelief(game)
    with progress(spec, "deals", 0, config.deals) as advance:
        for number, state in enumerate(_bid(game, spec, config)):
            soloist = state.core.soloist
            nats: list[float] = []  # the soloist's first
            for seat in ((soloist + k) % PLAYERS for k in range(PLAYERS)):
                view = game.view(state, seat)
                belief.reset(view)
                worlds = belief.sample(config.worlds, np.random.default_rng([config.seed, number, seat]))
                hidden = np.concatenate([belief.truth(state).hidden, worlds.hidden])
                logs = _core.skat_search.log_weight(belief.sampler_of(view), evaluation(), model, game.seeger, hidden)
                nats.append(float(logs[0] - np.logaddexp.reduce(logs[1:]) + np.log(config.worlds)))
            yield (nats[1] + nats[2]) / 2, nats[0]
            advance(1)


def _make_bidder(spec: str, game: Skat) -> Player:
    player = players.make(spec, game)
    if player.needs_state:
        raise TrickformerError(f"player {spec!r} needs hidden cards; its bids say more than its own cards do")
    return player


def _bid(game: Skat, spec: str, config: Inference) -> Iterator[State]:
    """Bid the deals of the series; yield the first `deals` that are not passed in, before the first card."""
    player = _make_bidder(spec, game)
    index, played = 0, 0
    while played < config.deals:
        if index >= (played + 1) * MOST_PASSED_IN:
            raise TrickformerError(f"{spec} passed in {index - played:,} of {index:,} deals; choose one that bids more")
        state = game.deal(config.seed, index)
        memo: list[dict[str, Any]] = [{}, {}, {}]
        number = 0
        while not state.is_terminal() and state.core.phase != PLAYING:
            seat = state.current_player()
            rng = decision_rng(config.seed, index, seat, number)
            (decision,) = decide_in_batches(player, [game.view(state, seat)], [rng], [memo[seat]])
            state.apply_action(decision.action)
            number += 1
        index += 1
        if not state.is_terminal():
            played += 1
            yield state
