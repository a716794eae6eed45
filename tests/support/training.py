"""A run folder of a training, as if it had been played."""

from __future__ import annotations

import json
import math

STEPS = 1_200  # of an iteration; one entry of the log for each


def training_entries(iterations):
    """Entries of the log of a training, in order."""
    for i in range(iterations):
        yield {"iteration": i, "stage": "play", "at": 10, "greedy_points": 6.0 - i}
        yield {"iteration": i, "stage": "play", "at": 20, "greedy_points": 5.0 - i, "other_points": 7.0}
        for at in range(1, STEPS + 1):
            loss = math.nan if i == 1 and at > STEPS - 5 else 3.0 / at + i
            yield {"iteration": i, "stage": "learn", "at": at, "steps": STEPS, "policy_loss": loss, "value_loss": 2.0}
        yield {"iteration": i, "stage": "measure", "at": 3, "legal_share": 0.5 + 0.1 * i, "regret": "<b>"}
        for opponent in ("previous", "baseline") if i else ("baseline",):
            ends = {"low": None, "high": None} if i == 0 else {"low": -1.5 - i, "high": 0.5 - i}
            yield {
                "iteration": i,
                "stage": "match",
                "at": 2,
                "opponent": opponent,
                "difference": -0.5 - i,
                "deals": 2,
            } | ends
        yield {"iteration": i, "stage": "judge", "at": 0, "warnings": ["<img src=x>\u202e"]}


def write_training(folder, iterations):
    """A run folder of Hearts with a log of some iterations, whose last losses of the second one are not finite."""
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text('game = "hearts"\npreset = "tiny"\nbootstrap_hands = 64\niterations = 1\n')
    (folder / "run.json").write_text('{"builds": []}')
    for i in range(iterations):
        (folder / f"model-{i}").mkdir(exist_ok=True)
        (folder / f"model-{i}" / "config.json").write_text("{}")
    lines = (json.dumps({"time": 1_795_000_000} | entry) for entry in training_entries(iterations))
    (folder / "log.jsonl").write_text("".join(line + "\n" for line in lines))
    return folder
