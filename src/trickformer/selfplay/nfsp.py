"""Population neural fictitious self-play (GO-MCTS paper, sections 5.2 and 6.1): trains one game's model from scratch.

Model 0 learns from hands of the bootstrap players. They play at random in the presets of the paper; in `small` and
`tiny` most of them are the game's baseline. Model i learns from the hands of iteration i, and with `window` above 1
also from those of earlier iterations. In iteration 1 every seat plays ArgmaxVal* of model 0. From iteration 2 on one
seat (or, as an option, every seat) plays ArgmaxVal* of the newest model. Each other seat samples the policy of one of
the last `pool` models, drawn for each seat and hand, or is a guest (`guests`). Training data are the sequences of
ArgmaxVal* seats and of the bootstrap players, who also play a share of each later iteration (`anchor`). The training of
each model starts from the weights of the model before it.

Beyond the paper, decisions may have labels (`label_share`): values of their actions, which the model learns to predict.
The labels are results of playouts. In Hearts a rollout network, trained on the labels of earlier iterations, may play
the playouts (`rollout_network`). Bootstrap players that search may give the values of their search as labels
(`expert_iteration`). From `search_from` on GO-MCTS makes some of ArgmaxVal*'s decisions, and the values of its search
are their labels (`search_share`). Both are forms of expert iteration (Anthony et al. 2017).

A run folder holds everything that a stopped run needs to continue:

    config.toml run.json   the resolved config; the versions that built it, and digests of the players' files
    data/I/                the hands of iteration I
    state/I/STEP/          state of the training
    quick/I.safetensors    the rollout network that was trained with model I
    model-I/               a checkpoint with its model card
    best latest            files with the names of two models (checkpoints/folders.py)
    matches/I-OPPONENT/    run folder of a tournament
    log.jsonl tensorboard/ curve.csv curve.png
    report.md result.json training.png   at the end, or by `trickformer report`
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator, InitProcessGroupKwargs
from transformers.utils import logging as transformers_logging

from trickformer import checkpoints, games, players, tokenizers
from trickformer.base import Game, Tokenizer, TrickformerError, with_path
from trickformer.checkpoints.folders import BEST, LATEST, write_pointer
from trickformer.models import embeddings, presets
from trickformer.models.backend import load_backend
from trickformer.models.configuration import TrickformerConfig
from trickformer.models.gpt2 import GPT2PolicyValueModel, save
from trickformer.models.weights import read_weights
from trickformer.plumbing import config as configs
from trickformer.plumbing import digests, parallel, paths
from trickformer.plumbing.files import make_folder
from trickformer.plumbing.folder import RunFolder, TimeLimit, resumable
from trickformer.plumbing.isa import instruction_set
from trickformer.plumbing.training import mixed_precision, prepare_training
from trickformer.selfplay import data as stored
from trickformer.selfplay import evaluate, metrics, report, rollout_network
from trickformer.selfplay.config import FREE, SelfPlay, check_names
from trickformer.selfplay.log import LOG, Log
from trickformer.selfplay.model_cards import model_card
from trickformer.selfplay.progress import RunProgress, format_duration
from trickformer.selfplay.results import TrainingResults, describe_match, find_best
from trickformer.selfplay.schedule import (
    Job,
    Piece,
    describe_players,
    first_rollout_network,
    fit_options,
    hands_of,
    learned_from,
    play_pieces,
    rollout_network_file,
    rounded_instruction_set,
    sequences_of,
    series,
)
from trickformer.selfplay.train import Objective, fit, saved_step

_ILLEGAL_SAMPLE = 200  # number of held-out sequences that a model continues, to measure the share of illegal histories
_SMOOTHING = 0.05  # weight of the newest step in the moving average of the loss that progress shows
_SEARCHED_WITHIN = 1_000  # expert iteration fails if none of this many first hands has search values


def run(config: SelfPlay, resume: bool = False) -> Path:
    """Train the iterations that the run's folder lacks.

    Args:
        config: Config of the run.
        resume: Whether to continue a run, from its last saved step.

    Returns:
        The folder of the last model.

    Raises:
        TrickformerError: The input is bad, which is noticed before anything is written. Or no bootstrap player reports
            search values, or a file cannot be written; the folder then remains.
        Interruption: Ctrl-C.
        TimeLimit: `config.stop_after` is over.
    """
    check_names(config)
    game, config = games.load(config.game), with_absolute_paths(config)
    if config.start:
        _start(config, game)
    tokenizer = tokenizers.make(game)
    fast_game = tokenizers.bulk(game)
    # A probe of one hand: the result is None if a bootstrap player does not run in C++.
    played_by_core = fast_game.core_hands(config.bootstrap, 0, 0, 1) is not None
    is_generic = isinstance(fast_game, tokenizers.StateGame)  # then random playouts give the labels, for any players
    if config.label_share and not config.expert_iteration and not played_by_core and not is_generic:
        raise TrickformerError(
            f"--label-share needs --bootstrap players that run in C++, not {', '.join(config.bootstrap)}; change one"
        )
    parallel.slots(config.workers, config.ray)  # raises if there is no cluster
    out = config.folder
    if "," in str(out.absolute()):
        raise TrickformerError(
            f"run folder {out.absolute()}: it has a comma, which training cannot use; choose another --out"
        )
    files = players.digests(game, [*config.bootstrap, *config.guests, config.baseline])
    uses_cpu = config.ray is not None or not torch.cuda.is_available()
    details = {"self_play_isa": rounded_instruction_set(config) or instruction_set()} if uses_cpu else {}
    precision = mixed_precision(config.bf16, cpu=not torch.cuda.is_available())
    folder = RunFolder(out, details | {"training_precision": precision})
    arguments: dict[str, Any] = {"resume": resume, "free": FREE, "files": files, "resolve": with_absolute_paths}
    folder.check(config, **arguments)  # all processes check before the first of them writes
    newest = max((int(p.name) for p in (out / "data").glob("*") if p.name.isdigit()), default=0)
    if newest > config.iterations:
        raise TrickformerError(f"{out} has reached iteration {newest}; give --iterations {newest} or more")
    prepare_training(config.threads)
    transformers_logging.disable_progress_bar()  # to save a checkpoint takes a moment, and the bar would disturb ours
    timeout = InitProcessGroupKwargs(timeout=timedelta(days=7))  # the other processes wait while one plays
    accelerator = Accelerator(
        cpu=not torch.cuda.is_available(),
        mixed_precision=precision,
        kwargs_handlers=[timeout],
    )
    for i in range(config.iterations + 1):
        if (out / f"model-{i}").exists():
            digests.check(out / f"model-{i}")
            checkpoints.check(out / f"model-{i}", game, tokenizer)
            read_weights(out / f"model-{i}")  # raises if it is damaged, before anything is written
        stored.verify(out / "data" / str(i), game, tokenizer)
    training = _Run(config, game, out, accelerator)
    stored_config = config.model_copy(update={"stop_after": None})  # a limit of this process, not of the run
    opened = folder.open(stored_config, **arguments) if accelerator.is_main_process else nullcontext()
    with resumable("train", config.model_copy(update={"out": out}), players.to_type(config)), opened:
        training.train()
    return out / f"model-{config.iterations}"


def with_absolute_paths(config: SelfPlay) -> SelfPlay:
    """Copy a config with absolute paths, so that it means the same in any folder and on any worker.

    Args:
        config: Config of the run.
    """

    def absolute(specs: list[str]) -> list[str]:
        return [players.relocate(spec, paths.absolute) for spec in specs]

    update: dict[str, Any] = {
        "game": with_path(config.game, paths.absolute),
        "baseline": absolute([config.baseline])[0],
        "bootstrap": absolute(config.bootstrap),
        "guests": absolute(config.guests),
    }
    if config.start:
        update["start"] = checkpoints.absolute(config.start)
    return config.model_copy(update=update)


class _Run:
    """A run of self-play in one of the processes. Only the main process plays hands and matches, logs and saves."""

    def __init__(self, config: SelfPlay, game: Game, out: Path, accelerator: Accelerator):
        self.config, self.game = config, game
        self.out, self.accelerator = out, accelerator
        self.tokenizer = tokenizers.make(game)
        self.main = accelerator.is_main_process
        self.began = time.monotonic()

    def train(self) -> None:
        """Train all missing models, play all missing matches, and write the report."""
        config, out = self.config, self.out
        if self.main:
            steps_before = [0]  # number of training steps before each iteration
            for i in range(config.iterations):
                sequences = sum(sequences_of(config, j) for j in learned_from(config, i))
                steps_before.append(steps_before[-1] + fit_options(config, i).steps(sequences))
            self.log = Log(out, steps_before)
            self.progress = RunProgress(config, self.log.entries)
            self.name_models()
        try:
            for iteration in range(config.iterations + 1):
                if not (out / f"model-{iteration}").exists():
                    self._do_in_main(self.play, iteration)
                    self.learn(iteration)
                elif self.main:
                    self.progress.remaining.drop_training(iteration)
                self._do_in_main(self.compare, iteration)
        finally:
            if self.main:
                self.log.close()
        if self.main:
            self.finish()

    def _do_in_main(self, stage: Callable[[int], None], iteration: int) -> None:
        """Do a stage in the main process while the others wait. If the time is up there, it is up in all of them."""
        is_up = False
        if self.main:
            try:
                stage(iteration)
            except TimeLimit:
                is_up = True
        if self._is_in_any(is_up):
            raise TimeLimit("time is up")

    def _is_in_any(self, holds: bool) -> bool:
        """Return whether something holds in any process. All of them wait for the answer."""
        if self.accelerator.num_processes == 1:
            return holds
        count = self.accelerator.reduce(torch.tensor(float(holds), device=self.accelerator.device), "sum")
        assert isinstance(count, torch.Tensor)
        return count.item() > 0

    def _is_time_up(self) -> bool:
        limit = self.config.stop_after  # minutes
        return limit is not None and time.monotonic() - self.began > 60 * limit

    def _check_time(self) -> None:
        if self._is_time_up():
            raise TimeLimit("time is up")

    def _must_stop(self) -> bool:
        """Return whether the time is up in any process, so that all of them stop training at the same step."""
        return self.config.stop_after is not None and self._is_in_any(self._is_time_up())

    def play(self, iteration: int) -> None:
        """Play the missing hands of an iteration and write them."""
        config, folder = self.config, self.out / "data" / str(iteration)
        hands = hands_of(config, iteration)
        about = {"seed": config.seed, "iteration": iteration, "series": series(config, iteration)}
        who = describe_players(config, iteration)
        with stored.DataWriter(folder, self.game, self.tokenizer, about, who=who) as writer:
            if writer.complete:
                return
            self.log.rewind(iteration, "play", writer.hands)
            firsts = range(writer.hands, hands, config.tables)
            slots = parallel.slots(config.workers, config.ray)
            # Several processes play on the CPU: a cluster's tasks have no GPU, and local ones would compete for it.
            device = "cpu" if config.ray or config.workers > 1 else str(self.accelerator.device)
            jobs = [Job(config, iteration, self.out.absolute(), device, firsts[i::slots], hands) for i in range(slots)]
            jobs = [job for job in jobs if job.firsts]
            waiting: dict[int, Piece] = {}  # pieces that were finished before an earlier one
            began, hands_before = time.perf_counter(), writer.hands
            with self.progress.stage(iteration, "play", writer.hands, hands) as update:
                for played in parallel.stream(play_pieces, jobs, config.workers, config.ray):
                    waiting[played.first] = played
                    while (piece := waiting.pop(writer.hands, None)) is not None:
                        hands_done = writer.hands + piece.hands
                        speed = (hands_done - hands_before) / (time.perf_counter() - began)
                        has_no_labels = iteration == 0 and not writer.labels + len(piece.data.labels)
                        if config.expert_iteration and has_no_labels and hands_done >= min(hands, _SEARCHED_WITHIN):
                            raise TrickformerError(
                                f"none of {', '.join(dict.fromkeys(config.bootstrap))} reports visit counts and action "
                                "values; leave out --expert-iteration, and choose another --out"
                            )
                        entry = {"at": hands_done, "hands": hands_done, "speed": speed, **piece.points}
                        # The log is written first. If the process is killed between the two writes, a resumed run drops
                        # the surplus line of the log, but it could not restore a missing line.
                        self.log.note(iteration=iteration, stage="play", **entry)
                        writer.append(piece.data, piece.hands)
                        update(writer.hands)
                    self._check_time()
            writer.finish()

    def _make_model(self) -> GPT2PolicyValueModel:
        """Make model 0 before its training, with random weights or those of `config.start`."""
        config = self.config
        tokenizer, game = self.tokenizer, self.game
        if config.start:
            folder = _start(config, game)
            dropout = {"embd_pdrop": config.dropout, "resid_pdrop": config.dropout}
            return GPT2PolicyValueModel.from_pretrained(folder, **dropout)
        torch.manual_seed(config.seed)
        n_outcomes = len(game.outcomes.class_values if config.value_classes else game.outcomes.labels)
        model_config = presets.config(
            config.preset,
            vocab_size=len(tokenizer.vocab),
            n_positions=tokenizer.n_positions,
            n_outcomes=n_outcomes,
            eos=tokenizer.eos,
            n_features=tokenizer.n_features if config.features else 0,
            action_values=config.action_weight > 0,
            masked=config.masked,
            unused_features=_unused_features(config, tokenizer),
        )
        model_config.embd_pdrop = model_config.resid_pdrop = config.dropout
        model = GPT2PolicyValueModel(model_config)
        if config.structured:
            embeddings.initialize(model, *tokenizer.initial_embeddings())
        model.config.trickformer = checkpoints.stamp(game, tokenizer, config.features)
        return model

    def learn(self, iteration: int) -> None:
        """Train the model and the rollout network, measure and save both, and delete the training's state."""
        config, out = self.config, self.out
        state = out / "state" / str(iteration)
        training = self._sequences(learned_from(config, iteration))
        held_out = stored.load(out / "data" / str(iteration), self.game, self.tokenizer)[-config.held_out :]
        previous = out / f"model-{iteration - 1}"
        model = self._make_model() if iteration == 0 else GPT2PolicyValueModel.from_pretrained(previous)
        options = fit_options(config, iteration)
        if self.main:
            self.log.rewind(iteration, "learn", saved_step(state))
        batch_size, steps = config.batch_size, options.steps(len(training))
        mean_loss: torch.Tensor | None = None  # exponential moving average

        def log_losses(entry: dict[str, float]) -> None:
            if not self.main:
                return
            if config.peak_tflops:
                entry["utilization"] = entry["tflops"] / self.accelerator.num_processes / config.peak_tflops
            self.log.note(iteration=iteration, stage="learn", at=int(entry.pop("step")), **entry)

        first, begun = saved_step(state), time.perf_counter()
        stage = self.progress.stage(iteration, "learn", first * batch_size, steps * batch_size) if self.main else None
        with stage or nullcontext() as update:

            def show_step(step: int, loss: torch.Tensor, rate: float) -> None:
                nonlocal mean_loss
                if update is None:
                    return
                mean_loss = loss if mean_loss is None else torch.lerp(mean_loss, loss, _SMOOTHING)
                shown_loss = mean_loss  # reading it waits for the device, so only `details` does

                def details() -> str:
                    speed = (step - first) * batch_size / (time.perf_counter() - begun)
                    return f"weighted loss {shown_loss.item():.3f}, learning rate {rate:.2g}, {speed:,.0f} sequences/s"

                update(step * batch_size, details)

            objective, seed = Objective(model, options), config.seed + iteration
            classes, _ = self.game.outcomes.head_outputs(model.num_labels)
            if len(training):
                finished = fit(
                    objective,
                    training,
                    self.tokenizer,
                    classes,
                    seed,
                    self.accelerator,
                    state,
                    report=log_losses,
                    stop=self._must_stop,
                    watch=show_step,
                )
                if not finished:
                    raise TimeLimit("time is up")
        if self.main:
            self.log.rewind(iteration, "learn", steps)
            if iteration >= first_rollout_network(config) and not config.searches(iteration):
                with self.progress.stage(iteration, "rollout_network", 0, 1) as update:
                    self.learn_rollout_network(iteration)
                    update(1)
            with self.progress.stage(iteration, "measure", 0, 1) as update:
                measured = metrics.measure(model, self.game, self.tokenizer, held_out)
                backend = load_backend(model.float(), self.game.outcomes, device=str(self.accelerator.device))
                sample = held_out[:_ILLEGAL_SAMPLE]
                measured["illegal_rate"] = metrics.illegal_rate(backend, self.tokenizer, sample, config.seed)
                update(1)
            self.log.note(iteration=iteration, stage="measure", at=len(held_out), **measured)
            model.config.id2label = dict(enumerate(checkpoints.outcome_names(self.game, model.num_labels)))
            model.config.label2id = {name: i for i, name in model.config.id2label.items()}
            self.log.sync()
            card = model_card(config, iteration, len(training), measured)
            save(model, out / f"model-{iteration}", torch.float32, card)
            shutil.rmtree(out / "state", ignore_errors=True)
            self.name_models()
        self.accelerator.wait_for_everyone()

    def _sequences(self, iterations: Sequence[int]) -> stored.Sequences:
        """Load the training data of these iterations: all but the held-out sequences."""
        parts: list[stored.Sequences] = []
        for i in iterations:
            sequences = stored.load(self.out / "data" / str(i), self.game, self.tokenizer)
            parts.append(sequences[: sequences_of(self.config, i)])
        return parts[0] if len(parts) == 1 else stored.join(*parts)  # a single part is not read into memory

    def learn_rollout_network(self, iteration: int) -> None:
        """Train the rollout network further, on the labels of the newest iterations, and save it."""
        config, out = self.config, self.out
        file = rollout_network_file(out, iteration)
        window = range(max(0, iteration + 1 - config.rollout_network_window), iteration + 1)
        # In iteration 0 a scripted player plays the playouts. Its labels favour actions that are good against this
        # script, so later networks do not learn from them.
        rows = self._sequences([i for i in window if i or not iteration])
        if iteration > first_rollout_network(config):
            model = rollout_network.read(rollout_network_file(out, iteration - 1))
            epochs, rate = 2, 1e-3
        else:
            torch.manual_seed(config.seed)
            model = rollout_network.RolloutNetwork(self.tokenizer.n_features, len(self.tokenizer.vocab))
            epochs, rate = 8, 2e-3
        loss = rollout_network.fit(model, rows, self.tokenizer, config.seed + iteration, epochs, rate=rate)
        make_folder(file.parent)
        rollout_network.save(model, file)
        self.log.note(iteration=iteration, stage="rollout_network", at=len(rows), loss=loss)

    def compare(self, iteration: int) -> None:
        """Play the iteration's missing matches, draw the curve, and look for signs of collapse."""
        config, log = self.config, self.log
        if log.stage_entries("judge", iteration):
            self.progress.remaining.drop_matches(iteration)
            return
        measurements = log.stage_entries("measure", iteration)
        if not measurements:  # they are on the disk before the model is
            raise TrickformerError(
                f"{self.out / LOG} lacks the measurements of model {iteration}; restore the file, or train anew with "
                "another --out"
            )
        finished = {e["opponent"] for e in log.stage_entries("match", iteration)}
        for opponent in evaluate.OPPONENTS if config.match_deals else ():
            if opponent in finished or (iteration == 0 and opponent == "previous"):
                self.progress.remaining.drop(iteration, opponent)
                continue
            self._check_time()
            result = evaluate.match(config, self.out, iteration, opponent, self.progress.show(iteration, opponent))
            log.note(iteration=iteration, stage="match", at=result["deals"], opponent=opponent, **result)
            self.progress.line(describe_match(log.entries[-1], config.baseline, self.game))
        matches = {o: [e for e in log.stage_entries("match") if e["opponent"] == o] for o in evaluate.OPPONENTS}
        if matches["baseline"]:
            evaluate.curve(self.game, config, matches, self.out)
        rows = stored.load(self.out / "data" / str(iteration), self.game, self.tokenizer)
        warnings = evaluate.warnings(self.game, rows, measurements[-1], matches)
        for text in warnings:
            self.progress.line(f"warning: iteration {iteration}: {text}")
        log.note(iteration=iteration, stage="judge", at=len(warnings), warnings=warnings)
        self.name_models()

    def name_models(self) -> None:
        """Write the names of the best and the latest model, if there are any."""
        models = [i for i in range(self.config.iterations + 1) if (self.out / f"model-{i}").exists()]
        best = find_best(self.log.stage_entries("match"), models, self.game.higher_is_better)
        if best is not None:
            write_pointer(self.out / BEST, best)
            write_pointer(self.out / LATEST, models[-1])

    def finish(self) -> None:
        """Write the report of the finished run, and print the path of the best model."""
        results = TrainingResults.load(self.out)
        minutes = format_duration(time.monotonic() - self.began)
        self.progress.line(f"finished after {minutes}: {len(results.models)} models in {self.out}")
        try:
            report.write(results)
        except TrickformerError as e:  # no failure of the run, because all models are saved
            self.progress.line(f"warning: no report: {e}")
        self.progress.line(report.describe_best(results))
        self.progress.line(f"checkpoint={self.out} plays it; trickformer report {self.out} shows the run")


def _unused_features(config: SelfPlay, tokenizer: Tokenizer) -> list[int]:
    """List the features that a model of this run does not read although it reads others."""
    return list(tokenizer.script_features) if config.features and not config.script_features else []


def _start(config: SelfPlay, game: Game) -> Path:
    """Return the folder of the checkpoint that model 0 starts from.

    Raises:
        TrickformerError: It is no checkpoint of this game, or the config demands other inputs or heads of the model.
    """
    assert config.start is not None
    folder, tokenizer = checkpoints.find(config.start), tokenizers.make(game)
    checkpoints.check(folder, game, tokenizer)
    sizes = read_weights(folder).sizes
    n_outcomes = len(game.outcomes.class_values if config.value_classes else game.outcomes.labels)
    unused = TrickformerConfig.from_pretrained(folder).unused_features
    abilities = {
        "features": (sizes["n_features"] > 0, config.features),
        "script_features": (unused == [], _unused_features(config, tokenizer) == []),
        "masked": (sizes["masked"] > 0, config.masked),
        "action_weight": (sizes["n_actions"] > 0, config.action_weight > 0),
        "value_classes": (sizes["n_outcomes"] == n_outcomes, True),
    }
    if wrong := [name for name, (present, required) in abilities.items() if present != required]:
        options = ", ".join(map(configs.option, wrong))
        raise TrickformerError(f"checkpoint {config.start} does not fit these options: {options}; change them")
    return folder
