"""Fit the temperature of a shipped model to recorded hands: `python runs/temperature.py GAME RECORDS [HANDS [EVERY]]`.

The script reads every EVERYth record of a tournament's records.jsonl. For each temperature it prints the mean negative
log-likelihood, in nats, of the tokens with a choice: first of the own actions, then of all other tokens (other seats'
actions and chance). The policy is restricted to tokens that some deal allows.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.special import log_softmax

from trickformer import checkpoints, games, tokenizers
from trickformer.base import replay
from trickformer.checkpoints.folders import find
from trickformer.models.backend import load_backend
from trickformer.selfplay.metrics import own_turns

TEMPERATURES = np.array([0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5])


def fit(name: str, records: Path, hands: int, every: int) -> None:
    """Print the losses by temperature on `hands` hands of a file of records."""
    game = games.load(name)
    tokenizer = tokenizers.make(game)
    backend = load_backend(find(checkpoints.of_game(game)), game.outcomes, "float32")
    losses: dict[str, list[np.ndarray]] = {"own": [], "others": []}
    for line in records.read_text().splitlines()[: hands * every : every]:
        state = replay(game.spiel, json.loads(line)["history"])
        for seat in range(game.players):
            tokens = tokenizer.encode(game.view(state, seat))
            features, possible = (rows[0] for rows in tokenizers.follow(tokenizer, tokens[None], possible=True))
            root, lengths = np.array([-1], np.int32), np.array([len(tokens)], np.int32)
            nodes = backend.extend(root, tokens, lengths, features)
            logits = np.where(possible, backend.policy(nodes).astype(np.float64), -np.inf)
            backend.release(nodes)
            own = set(own_turns(tokenizer, tokens[None])[1][1].tolist())
            for at, token in enumerate(tokens[1:]):
                if possible[at].sum() > 1:
                    log_probs = log_softmax(logits[at] / TEMPERATURES[:, None], axis=1)
                    losses["own" if at in own else "others"].append(-log_probs[:, token])
    print("temperature", *TEMPERATURES)
    for whose, rows in losses.items():
        print(f"{whose}, {len(rows)} tokens:", *np.mean(rows, axis=0).round(3))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", help="game of the model")
    parser.add_argument("records", type=Path, help="records.jsonl of a tournament")
    parser.add_argument("hands", type=int, nargs="?", default=40, help="number of hands (default: %(default)s)")
    parser.add_argument("every", type=int, nargs="?", default=6, help="step between records (default: %(default)s)")
    options = parser.parse_args()
    fit(options.game, options.records, options.hands, options.every)
