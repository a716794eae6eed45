"""`trickformer skat ...`. Commands import what they need when they run."""

from __future__ import annotations

from typing import Any

import typer

from trickformer.plumbing import config as configs
from trickformer.studies.skat.config import Calibration, Inference, Learning

app = typer.Typer(help="Skat: train and measure the evaluation by which kermit bids and weights worlds.")


@configs.command(app, Learning, example="trickformer skat learn --out out/skat-evaluation")
def learn(*, config: configs.File = None, resume: configs.Resume = False, **options: Any) -> None:
    """Learn an evaluation of hands for bidding suit, grand and null games, from deals solved with open cards."""
    settings = configs.load(Learning, config, options, resume)
    from trickformer.studies.skat import evaluation as skat_evaluation

    skat_evaluation.command(settings, resume).print()


@configs.command(
    app, Calibration, example="trickformer skat calibrate --learned out/skat-evaluation --out out/calibrated"
)
def calibrate(*, config: configs.File = None, resume: configs.Resume = False, **options: Any) -> None:
    """Calibrate a learned evaluation to the results of played games, and write the evaluation for kermit."""
    settings = configs.load(Calibration, config, options, resume)
    from trickformer.studies.skat import calibration as skat_calibration

    skat_calibration.command(settings, resume).print()


@configs.command(app, Inference, example="trickformer skat inference --players rules kermit:worlds=4")
def inference(*, config: configs.File = None, **options: Any) -> None:
    """Measure how much information the auction gives about the hidden cards, in nats."""
    settings = configs.load(Inference, config, options)
    from trickformer.studies.skat import inference as skat_inference

    skat_inference.command(settings)
