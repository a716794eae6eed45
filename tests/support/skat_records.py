"""Shared parts of the tests of Skat records: fixture games, damaged texts, and random games."""

import random
from pathlib import Path

import numpy as np

from trickformer import _core
from trickformer.games.skat import ACTIONS, CARDS
from trickformer.records import files
from trickformer.records.skat.record import SkatRecord, contract

GAMES = Path(__file__).parents[1] / "fixtures" / "skat" / "games.sgf"


TOKENS = ["w", "0", "2", "3", "18", "264", "19", "y", "p", "s", "??", "RE", "SC", "LE.1", "TI.9", "CJ", "D7", "GHZ"]
TOKENS += ["N", "C.D7.D8", "NOS", "1 CJ", "1 resigns", '"', "[", "]", "{}", "null", "-1", "²", "\\", "é", "\x85", ""]


def damaged(text, seed):
    """The text with one to three words or characters changed, left out, doubled or exchanged."""
    rng = random.Random(seed)
    for _ in range(rng.randint(1, 3)):
        words = text.split(" ") if rng.random() < 0.7 else list(text)
        joint = " " if len(words) < len(text) else ""
        at, other = rng.randrange(len(words)), rng.randrange(len(words))
        kind = rng.randrange(5)
        if kind == 0:
            words[at] = rng.choice(TOKENS)
        elif kind == 1:
            del words[at]
        elif kind == 2:
            words.insert(at, words[other])
        elif kind == 3:
            words[at], words[other] = words[other], words[at]
        else:
            words = words[: at + 1]
        text = joint.join(words) or "x"
    return text


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
        record = SkatRecord(
            source="iss",
            names=("a", "b", "c"),
            deck=tuple(CARDS[card] for card in deck),
            moves=tuple(moves),
            contract=contract(moves),
            tags={"GM": "Skat", "ID": str(number)},
        )
        yield record, score
