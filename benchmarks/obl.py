"""Off-belief learning of full Hanabi for two on one core: how fast the actors play and the learner learns.

- actors: moves played a second, targets included.
- learner: games that take part in a gradient step, a second.
- training: gradient steps a second, with the new games that they need.

Options are as in runs/obl-full.sh. The weights are from `hanabi-obl-1`, so that games last as long as in a training.
The baseline is the same code with the network of version 0.2. It computes in float32, multiplies by the LSTM's factors
even if there is no LSTM, and divides once for each kind of each card in the probabilities that are an input. Ours
computes the layers that read the observation in bfloat16, if the CPU has it. Before the timing, both networks must
compute the same values in float32. All figures are CPU time of the process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import Row, arguments, emit

os.environ.setdefault("OMP_NUM_THREADS", "1")
import torch

from trickformer import checkpoints
from trickformer.models import hanabi_values
from trickformer.models.hanabi_observation import Layout
from trickformer.models.hanabi_values import ActionValues
from trickformer.studies.obl.hanabi.config import OffBeliefTraining
from trickformer.studies.obl.hanabi.training import TrainingProgress, rules_of

REPEATS = 3


def plain_probabilities(layout: Layout, observations: torch.Tensor) -> torch.Tensor:
    """Compute `card_probabilities` as version 0.2 does: normalize the weights of the kinds of each card, then add."""
    players, slots = layout.players, layout.slots
    colors, ranks = layout.colors, layout.ranks
    n, kinds = len(observations), colors * ranks
    deck = colors * sum(layout.copies)
    hands = observations[:, : (players - 1) * slots * kinds].view(n, (players - 1) * slots, kinds)
    tops = observations[:, layout.fireworks : layout.fireworks + kinds].view(n, colors, ranks)
    played = tops.flip(2).cumsum(2).flip(2).flatten(1)
    playable = torch.cat([1 - tops.sum(2, keepdim=True), tops[:, :, :-1]], 2).flatten(1)
    traits = torch.stack([playable, played], 2)
    copies = torch.eye(kinds).repeat_interleave(torch.tensor(layout.copies * colors), 0)
    discarded = observations[:, layout.discards : layout.discards + deck] @ copies
    hidden = copies.sum(0) - discarded - played - hands.sum(1)
    size = kinds + colors + ranks
    begin = layout.last.stop
    knowledge = observations[:, begin : begin + players * slots * size].view(n, players * slots, size)[:, :, :kinds]
    own = (knowledge[:, :slots] > 0) * hidden[:, None].clamp(min=0)
    beliefs = [x / x.sum(2, keepdim=True).clamp(min=1e-6) for x in (own, knowledge[:, slots:])]
    return torch.cat([(x @ traits).flatten(1) for x in (*beliefs, hands)], 1)


class PlainValues(ActionValues):
    """Network of version 0.2."""

    def units(self, observations: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        inputs = torch.cat([observations, plain_probabilities(self.sizes.layout, observations)], 1)
        return self.private(inputs) * context


def begin_training(folder: Path, plain: bool) -> TrainingProgress:
    """Begin a training with the weights of the shipped checkpoint, and fill its replay buffer."""
    config = OffBeliefTraining(hidden=256, odds=True, worlds=2, burn_in=300, bf16=not plain, out=folder)
    training = TrainingProgress.begin(config, rules_of(config.game))
    weights = hanabi_values.load(checkpoints.find("hanabi-obl-1")).model.state_dict()
    for network in (training.online, training.target, training.mean):
        network.load_state_dict(weights)
        if plain:
            network.__class__ = PlainValues
    training.learn()
    return training


def check_values(ours: TrainingProgress, plain: TrainingProgress) -> None:
    """Raise AssertionError if the two networks compute different values in float32 at positions of the actors."""
    tables = plain.actors.tables
    seen = torch.from_numpy(tables.observe(None, plain.config.v0))
    ones, legal = torch.ones(len(seen), 1), torch.from_numpy(tables.legal())
    rounded, ours.mean.rounded = ours.mean.rounded, False
    with torch.no_grad():
        ours.mean.load_state_dict(plain.mean.state_dict())
        torch.testing.assert_close(ours.mean(seen, ones, legal), plain.mean(seen, ones, legal), rtol=1e-4, atol=1e-3)
    ours.mean.rounded = rounded


def rate(work: Callable[[], object], seconds: float) -> float:
    """Call `work` repeatedly for `seconds` of CPU time, and return the calls a second."""
    calls, begin = 0, time.process_time()
    while (spent := time.process_time() - begin) < seconds:
        work()
        calls += 1
    return calls / spent


def rates(training: TrainingProgress, seconds: float) -> dict[str, float]:
    """Measure the rows of one network."""
    config, actors = training.config, training.actors
    assert actors is not None
    moves = config.tables * rate(lambda: actors.step(config, training.online, training.target), seconds)
    training.actors, step = None, training.step  # without actors, a step plays no new games
    games = config.batch * rate(training.learn, seconds)
    training.actors, training.step = actors, step
    return {"actors": moves, "learner": games, "training": rate(training.learn, 2 * seconds)}


def main() -> None:
    options = arguments(__doc__ or "")
    units = {"actors": "moves/s", "learner": "games/s", "training": "steps/s"}
    results: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    with TemporaryDirectory() as folder:
        trainings = {plain: begin_training(Path(folder), plain) for plain in results}
        check_values(trainings[False], trainings[True])
        for _ in range(1 + REPEATS):  # the two take turns, so that other load on the machine affects both
            for plain, training in trainings.items():
                results[plain].append(rates(training, 1 if options.quick else 5))
    rows = []
    for name, unit in units.items():
        ours, baseline = (sorted(r[name] for r in results[plain][1:]) for plain in (False, True))
        median = ours[REPEATS // 2]
        rows.append(Row(name, median, baseline[REPEATS // 2], unit, (ours[-1] - ours[0]) / median))
    emit(rows, options.json)


if __name__ == "__main__":
    main()
