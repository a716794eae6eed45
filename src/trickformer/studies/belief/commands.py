"""`trickformer belief train|evaluate`. Commands import what they need when they run."""

from __future__ import annotations

from typing import Any

import typer

from trickformer.belief.hanabi.config import BeliefTraining, Evaluation
from trickformer.plumbing import config as configs

app = typer.Typer(help="Train and compare beliefs of Hanabi, and train belief heads of Hearts, Skat and The Crew.")


@configs.command(app, BeliefTraining, example="trickformer belief train --form hmm --out out/belief-hmm")
def train(*, config: configs.File = None, resume: configs.Resume = False, **options: Any) -> None:
    """Train a belief network of Hanabi, an LSTM or a transformer, on a stream of fresh games of given policies."""
    settings = configs.load(BeliefTraining, config, options, resume)
    from trickformer.studies.belief import training
    from trickformer.studies.belief.system import resolve_paths

    print(training.command(resolve_paths(settings), resume))


@configs.command(app, Evaluation, example="trickformer belief evaluate --form hmm --estimators v0 v1 exact --games 20")
def evaluate(
    *, config: configs.File = None, resume: configs.Resume = False, as_json: configs.Json = False, **options: Any
) -> None:
    """Compare belief estimators of Hanabi by cross entropy per card on the same games, with calibration.

    v0, counting: counts of unseen cards, for each slot by itself and for the whole hand.\n
    v1: v0 made consistent between the slots of the hand.\n
    bb, v2: Bayesian belief of the Bayesian action decoder (BAD), and its mixture with a share of v1.\n
    particles, rejection: sampled worlds, filtered by the moves.\n
    seq2seq, transformer: networks of `trickformer belief train`, LSTM and GPT-2.\n
    bft: belief fine-tuning, the LSTM tuned at each position.\n
    exact: all possible hands with their probabilities, if they are few.
    """
    settings = configs.load(Evaluation, config, options, resume)
    from trickformer.studies.belief import evaluation, report
    from trickformer.studies.belief.system import resolve_paths

    settings = resolve_paths(settings)
    result = report.result(settings, evaluation.command(settings, resume))
    report.make_report(result).publish(as_json, settings.out, report.SUMMARY)
