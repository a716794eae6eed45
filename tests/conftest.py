"""Fixtures of all tests."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from trickformer import games

# A slow disk or a busy machine is no failure of an example.
settings.register_profile("trickformer", deadline=None)
settings.load_profile("trickformer")

# A shell lets jobs in the background ignore interrupts. The processes that tests interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def command(monkeypatch, capsys):
    """Runs the command line; gives exit code, standard output, standard error."""

    from trickformer import cli

    def call(*arguments):
        capsys.readouterr()  # what a fixture printed is not the command's
        monkeypatch.setattr(sys, "argv", ["trickformer", *map(str, arguments)])
        handler = signal.getsignal(signal.SIGTERM)
        try:
            with pytest.raises(SystemExit) as end:
                cli.main()
        finally:
            signal.signal(signal.SIGTERM, handler)  # the program's own would turn `kill` into a failed test
        out, err = capsys.readouterr()
        return end.value.code, out, err

    return call


@pytest.fixture(scope="session")
def example_package(tmp_path_factory):
    """A folder in which examples/oh_hell is installed, beside the environment."""
    folder = tmp_path_factory.mktemp("installed")
    source = shutil.copytree(Path(__file__).parents[1] / "examples" / "oh_hell", folder / "source")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    where = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(folder / "site")]
    subprocess.run([*pip, *where, str(source)], check=True)
    return folder / "site"


@pytest.fixture(scope="module")
def installed(example_package):
    """Lets a module's tests, and the processes that they start, find the example package; the others must not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(example_package)
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(example_package), os.environ.get("PYTHONPATH")])))
        yield example_package


@pytest.fixture(scope="session")
def hearts():
    return games.load("hearts")


def _tiny_model(game, folder: Path, features: bool, action_values: bool):
    """Saves a model of random, not too flat weights as a checkpoint of the game."""
    import torch

    from trickformer import checkpoints, tokenizers
    from trickformer.models import presets
    from trickformer.models.gpt2 import GPT2PolicyValueModel

    tokenizer = tokenizers.make(game)
    results = len(game.outcomes.class_values if features else game.outcomes.labels)
    beyond = {"n_features": tokenizer.n_features, "masked": True, "action_values": action_values} if features else {}
    torch.manual_seed(0)
    model = GPT2PolicyValueModel(
        presets.config("tiny", len(tokenizer.vocab), tokenizer.n_positions, results, tokenizer.eos, **beyond)
    )
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(8)
    model.config.trickformer = checkpoints.stamp(game, tokenizer, features)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_checkpoint_of(tmp_path_factory):
    """Gives a folder with a model of random, not too flat weights, as a checkpoint of the game of that name."""
    return functools.cache(lambda name: _tiny_model(games.load(name), tmp_path_factory.mktemp("tiny"), False, False))


@pytest.fixture(scope="session")
def tiny_features_checkpoint_of(tmp_path_factory):
    """The same for a model with features, a masked policy and value classes; with action values, or without."""

    @functools.cache
    def folder_of(name: str, action_values: bool = True):
        return _tiny_model(games.load(name), tmp_path_factory.mktemp("features"), True, action_values)

    return folder_of


@pytest.fixture(scope="session")
def tiny_checkpoint(tiny_checkpoint_of):
    return tiny_checkpoint_of("hearts")


@pytest.fixture(scope="session")
def crew_checkpoint(tiny_checkpoint_of):
    return tiny_checkpoint_of("crew")
