"""What the tests of records share: the fixture games, games of the data beside the checkout, random games."""

from pathlib import Path

import numpy as np

from trickformer import _core
from trickformer.games.skat import ACTIONS, CARDS
from trickformer.records import files
from trickformer.records.record import Record, contract

GAMES = Path(__file__).parents[1] / "fixtures" / "skat" / "games.sgf"


def fixture_games():
    return list(files.read(GAMES))


def random_records(seed, n):
    """Uniformly random games of the core as records, each with the core's scores."""
    histories, scores = _core.skat.random_games(seeger=True, seed=seed, first=0, n=n)
    for number, (history, score) in enumerate(zip(histories.tolist(), scores.tolist())):
        deck, actions = history[:32], [action for action in history[32:] if action != 255]
        state = _core.skat.State(np.array(deck, dtype=np.uint8))
        moves = []
        for action in actions:
            moves.append(f"{state.current_player()} {ACTIONS[action]}")
            state.apply_action(action)
        assert state.is_terminal()
        record = Record(
            source="iss",
            names=("a", "b", "c"),
            deck=tuple(CARDS[card] for card in deck),
            moves=tuple(moves),
            contract=contract(moves),
            tags={"GM": "Skat", "ID": str(number)},
        )
        yield record, score
