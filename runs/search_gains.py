"""Estimate the gains of a recorded RL search in the hands that were dealt: runs/search_gains.py RUN.

RUN is the folder of a tournament of `rl_search:multi=true`, played by the same code on a CPU of the same instruction
set. The searches that preferred their network to the blueprint run again, and must come to the same gain. Network and
blueprint then play on many times from the hands that were really held, each time with another order of the later cards.
So the estimate depends neither on the belief of the search nor on the luck of the draw pile, and it varies less than
the difference in play. Summed over a hand, both have the same expected value with `follow`, the default. The output is
a table in Markdown; each deal is one sample.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from trickformer import players
from trickformer.base import TrickformerError
from trickformer.belief.samplers.hanabi import positions
from trickformer.games.hanabi import Hanabi, split_history
from trickformer.models.hanabi_values import ActionValues
from trickformer.plumbing.tables import mean_and_error, plus_minus
from trickformer.search.hanabi.public import PolicySearchResult
from trickformer.search.hanabi.rl import Tables
from trickformer.search.hanabi.rl_multi import BothSeats, Team, TunedGame
from trickformer.tournaments import run
from trickformer.tournaments.store import HandRecord


class Gain(NamedTuple):
    """Estimates of what a network gains over the blueprint, in points."""

    own: float  # in the worlds of the search's belief
    exact: float  # in worlds of the exact belief
    dealt: float  # with the hands that were dealt


class RecordedGame(TunedGame):
    """A recorded game, in which only the searches that preferred their network run again."""

    def __init__(self, team: Team, x: Tables, gains: Mapping[int, float]):
        """Start at the first position.

        Args:
            team: The team.
            x: One table.
            gains: Recorded gain of each such search, by the number of moves before it.
        """
        super().__init__(team, x)
        self._gains, self.moves = gains, 0

    def advance(self, action: int, after: Tables) -> None:
        super().advance(action, after)
        self.moves += 1

    def _run_search(self) -> PolicySearchResult[ActionValues | None]:
        if self._moves_left:
            return super()._run_search()
        recorded = self._gains.get(self.moves)
        if recorded is None:
            return PolicySearchResult(None)
        result = super()._run_search()
        if result.gain is None or abs(result.gain - recorded) > 1e-6:
            raise TrickformerError(
                f"move {self.moves}: the search gains {result.gain}, and {recorded} in the record; "
                "use the code, the weights and the instruction set of the run"
            )
        return result


def estimate_gains(team: Team, game: Hanabi, record: HandRecord, shuffles: int, seed: int) -> list[Gain]:
    """Estimate the gain of each network that was preferred to the blueprint.

    Args:
        team: The team that played the hand.
        game: The game.
        record: Record of the hand.
        shuffles: Number of orders of the later cards.
        seed: Seed of these orders.
    """
    recorded = {move: (own, exact) for seat in record.gains or () for move, own, exact in seat if own}
    tables = [table.take(np.zeros(1, dtype=np.int64)) for table in positions(game, record.history)]
    _, actions = split_history(game.rules, record.history)
    followed, gains = RecordedGame(team, tables[0], {move: own for move, (own, _) in recorded.items()}), list[Gain]()
    for move, action in enumerate(actions):
        network = followed.search_next_move().policy
        if move in recorded and network is not None:
            held = team.process.hidden_cards(tables[move]).repeat(shuffles, 0)
            score, blueprint_score = team.tuning.compare_scores(
                network, team.process.possible(tables[move], held, seed + move), seed
            )
            own, exact = recorded[move]
            gains.append(Gain(own, np.nan if exact is None else exact, score - blueprint_score))
        followed.advance(action, tables[move + 1])
    return gains


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="folder of a tournament of rl_search:multi=true")
    parser.add_argument("--shuffles", type=int, default=400, help="orders of the later cards (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of these orders (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.shuffles < 1 or options.seed < 0:
        parser.exit(2, "error: --shuffles or --seed is too small; use --shuffles 1 or more and --seed 0 or more\n")
    try:
        played = run.load(options.run)
        game = played.game
        roster = enumerate(players.make(spec, game) for spec in played.config.specs)
        teams = [(place, player.team) for place, player in roster if isinstance(player, BothSeats)]
        if len(teams) != 1 or not isinstance(game, Hanabi):
            raise TrickformerError(f"{options.run} is no tournament of one rl_search:multi=true")
        ((place, team),) = teams
        hands = [record for record in played.records if set(record.seating) == {place}]
        by_hand = list[list[Gain]]()
        for record in hands:
            by_hand.append(estimate_gains(team, game, record, options.shuffles, options.seed))
            print(f"{len(by_hand)} of {len(hands)} hands", file=sys.stderr)
    except TrickformerError as error:
        parser.exit(2, f"error: {error}\n")
    sums = np.array([np.sum([Gain(0, 0, 0), *gains], axis=0) for gains in by_hand])
    print("| deals | preferred networks | own estimate, a hand | exact | with the hands dealt | dealt - exact |")
    print("|---:|---:|---:|---:|---:|---:|")
    columns = (plus_minus(mean_and_error(column), signed=True) for column in (*sums.T, sums[:, 2] - sums[:, 1]))
    print(f"| {len(hands)} | {sum(map(len, by_hand))} | {' | '.join(columns)} |")


if __name__ == "__main__":
    main()
