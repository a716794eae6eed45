"""Fit the temperature of a shipped model to recorded hands: `runs/temperature.py GAME RECORDS [HANDS [EVERY]]`.

Takes every EVERYth record of a tournament's records.jsonl and prints the mean negative log-likelihood in nats of the
tokens with a choice, by temperature: of the own actions, and of all others (other seats' actions and chance). The
policy is restricted to tokens that some deal allows.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from trickformer import checkpoints, games, tokenizers
from trickformer.base import replay
from trickformer.models.backend import load_backend

TEMPERATURES = np.array([0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5])


def main(name: str, records: str, hands: int = 40, every: int = 6) -> None:
    game = games.load(name)
    tokenizer = tokenizers.make(game)
    folder = Path(checkpoints.__file__).parent / checkpoints.of_game(game)
    backend = load_backend(folder, game.outcomes, "float32")
    losses: dict[str, list[np.ndarray]] = {"own": [], "others": []}
    for line in Path(records).read_text().splitlines()[: hands * every : every]:
        state = replay(game.spiel, json.loads(line)["history"])
        for seat in range(game.players):
            tokens = tokenizer.encode(game.view(state, seat))
            tracker = tokenizer.tracker(np.array([], np.int32))
            features, possible, is_own = [], [], []  # possible and is_own: of the token after each
            for token in tokens.tolist():
                tracker.push(token)
                features.append(tracker.features())
                possible.append(tracker.possible())
                is_own.append(tracker.my_turn())
            root, lengths = np.array([-1], np.int32), np.array([len(tokens)], np.int32)
            nodes = backend.extend(root, tokens, lengths, np.array(features))
            logits = backend.policy(nodes).astype(np.float64)
            backend.release(nodes)
            for at, token in enumerate(tokens[1:]):
                if possible[at].sum() > 1:
                    scaled = logits[at][possible[at]] / TEMPERATURES[:, None]
                    top = scaled.max(axis=1)
                    log_sum = top + np.log(np.exp(scaled - top[:, None]).sum(axis=1))
                    losses["own" if is_own[at] else "others"].append(log_sum - logits[at][token] / TEMPERATURES)
    print("temperature", *TEMPERATURES)
    for whose, rows in losses.items():
        print(f"{whose}, {len(rows)} tokens:", *np.mean(rows, axis=0).round(3))


if __name__ == "__main__":
    name, records, *sizes = sys.argv[1:]
    main(name, records, *(int(size) for size in sizes))
