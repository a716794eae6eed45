"""Training of a network on Hanabi: off-belief learning, self-play, k-level reasoning or imitation of recorded games.

The method is R2D2 as "Off-Belief Learning" uses it (section 6, Appendix B, Table 2), in one process. Playing and
learning alternate, so a run depends only on its config.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from trickformer import _core, games
from trickformer.base import TrickformerError
from trickformer.belief.hanabi.native import NATIVES
from trickformer.belief.learner import LOG, open_log
from trickformer.games.hanabi import Hanabi
from trickformer.models.hanabi_values import ANSWERS, ActionValues, HanabiCheckpoint, NetworkSizes, save
from trickformer.models.torch_backend import usable
from trickformer.plumbing.folder import RunFolder, resumable
from trickformer.plumbing.lines import read_lines
from trickformer.plumbing.progress import progress
from trickformer.plumbing.report import draw_figure
from trickformer.plumbing.snapshot import Snapshots
from trickformer.plumbing.training import mixed_precision, prepare_training
from trickformer.studies.obl.hanabi import auxiliary, below, clone, colours, learning
from trickformer.studies.obl.hanabi.actors import Actors, Trajectories
from trickformer.studies.obl.hanabi.beliefs import CountingTableBelief, ExactTableBelief, LearnedTableBelief
from trickformer.studies.obl.hanabi.config import OffBeliefTraining
from trickformer.studies.obl.hanabi.learning import Frames
from trickformer.studies.obl.hanabi.partner import LowerLevel, learners
from trickformer.studies.obl.hanabi.play import scores
from trickformer.studies.obl.hanabi.replay import ReplayBuffer

STATE = "state.npz"  # file in a run's folder that a resumed run continues from
_SNAPSHOTS = Snapshots(
    (Actors, ReplayBuffer, CountingTableBelief, ExactTableBelief, LearnedTableBelief, LowerLevel),
    NATIVES,
    former_names={  # classes by their names in states that version 0.2 saved
        "Replay": ReplayBuffer,
        "Counting": CountingTableBelief,
        "Listed": ExactTableBelief,
        "Written": LearnedTableBelief,
        "Partner": LowerLevel,
    },
)
# At step s the decay of the moving average is at most s / (s + 9), so that early averages forget the initial weights.
_BEGINNING = 9
_EVALUATION = 1 << 62  # added to the seed, so that evaluations play another series


def rules_of(spec: str) -> _core.hanabi.Rules:
    """Return the rules of a game string.

    Args:
        spec: Game string, such as "hanabi(colors=2)".

    Raises:
        TrickformerError: If the game is not Hanabi.
    """
    game = games.load(spec)
    if not isinstance(game, Hanabi):
        raise TrickformerError(f"`trickformer obl train` plays hanabi only, not {game.name}")
    return game.rules


@dataclass
class TrainingProgress:
    """State of a training."""

    config: OffBeliefTraining
    rules: _core.hanabi.Rules
    online: ActionValues
    target: ActionValues
    mean: ActionValues  # moving average of the weights; it is evaluated and saved
    adam: torch.optim.Adam
    actors: Actors | None  # None if the games are recorded
    replay: ReplayBuffer
    shared: dict[str, object]  # objects that saved states only name: the level below and the belief network
    step: int = 0  # gradient steps so far

    @classmethod
    def begin(cls, config: OffBeliefTraining, rules: _core.hanabi.Rules) -> TrainingProgress:
        """Start a training. Above level 1 this trains the belief network in the run's folder.

        Args:
            config: Options of the training.
            rules: Rules of the game.

        Returns:
            State before the first gradient step.

        Raises:
            TrickformerError: If the level below cannot be used; see `below.load_level`.
        """
        level = below.load_level(config, rules)
        belief = below.belief_of(level, config, rules)
        prepare_training(config.threads)
        torch.manual_seed(config.seed)
        device = usable(config.device)
        sizes = NetworkSizes.for_rules(
            rules, config.hidden, config.layers, config.model == "lstm", config.odds, config.last, config.auxiliary > 0
        )
        online = ActionValues(sizes).to(device)
        target, mean = (ActionValues(sizes).to(device).requires_grad_(False) for _ in range(2))
        online.rounded = target.rounded = mixed_precision(config.bf16, cpu=device.type == "cpu") == "bf16"
        if level is not None and config.warm:
            online.load_state_dict(level.model.state_dict())
        for network in (target, mean):
            network.load_state_dict(online.state_dict())
        adam = torch.optim.Adam(online.parameters(), lr=config.learning_rate, eps=config.adam_epsilon, fused=True)
        replay = ReplayBuffer(config.buffer, rules.longest, rules.players)
        optional: dict[str, object] = {"below": level, "network": getattr(belief, "network", None)}
        shared = {name: part for name, part in optional.items() if part is not None}
        if (style := clone.style(config.games_of)) is not None:
            replay.add(clone.play_scripted_games(rules, style, config.seed, config.buffer))
            actors = None
        else:
            partner = LowerLevel(rules, config.tables, level, config.slip) if config.method == "klevel" else None
            actors = Actors(config, rules, belief, partner)
        return cls(config, rules, online, target, mean, adam, actors, replay, shared)

    def learn(self) -> float:
        """Play the games that the next gradient step needs, make the step, and return the loss."""
        config = self.config
        # New games come at the rate at which a game is drawn `reuse` times on average.
        games_needed = config.burn_in + self.step * config.batch / config.reuse
        while self.actors is not None and self.replay.total < games_needed:
            self.replay.add(self.actors.step(config, self.online, self.target))
        rng = np.random.default_rng([config.seed, 3, self.step])
        sample = self.replay.draw(config.batch, config.priority_exponent, config.priority_weight, rng)
        frames = self.make_frames(sample.games, rng)
        units = learning.units(self.online, frames)
        q, waiting = learning.values(self.online, frames, units)
        weights = torch.from_numpy(sample.weights).to(q.device)
        if config.method == "clone":
            errors = clone.surprise(frames, q)
            loss = (errors * weights[frames.games]).mean()
        else:
            errors = self._errors(sample.games, frames, q, waiting)
            loss = learning.loss(errors, frames, weights)
        if config.auxiliary:
            layout = self.online.sizes.layout
            logits = self.online.cards(units).view(*frames.own.shape, layout.slots, ANSWERS)
            loss = loss + config.auxiliary * auxiliary.loss(logits, frames, layout, weights)
        self.adam.param_groups[0]["lr"] = config.learning_rate * self._rate()
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.online.parameters(), config.clip)
        self.adam.step()
        if config.method != "clone":  # a clone bot draws its games uniformly
            absolute = errors.detach().abs()
            move_errors = absolute if absolute.dim() == 1 else absolute.amax(1)  # the largest of the seats
            self.replay.update_priorities(sample.rows, move_errors.cpu().numpy(), frames.lengths)
        self.step += 1
        decay = min(config.averaging, self.step / (self.step + _BEGINNING))
        with torch.no_grad():
            for mean, weight in zip(self.mean.parameters(), self.online.parameters()):
                mean.lerp_(weight, 1 - decay)
        if self.step % config.target_every == 0:
            self.target.load_state_dict(self.online.state_dict())
        return float(loss.detach())

    def make_frames(self, games: Trajectories, rng: np.random.Generator) -> Frames:
        """Make frames of the moves of games, as this step learns from them.

        Args:
            games: Games of the replay buffer.
            rng: Generator of the permutations of colours, if they are shuffled at every step.

        Returns:
            One frame for each move, with colours renamed and rewards shaped if the config demands it.
        """
        config, rules = self.config, self.rules
        device = self.online.worth.weight.device
        frames = learning.frames(rules, config.seed, games, config.v0, device, config.sad)
        if config.colour_bonus and 2 * self.step < config.steps:
            frames = learning.shape_rewards(frames, colours.colour_hint_mask(rules, device), config.colour_bonus)
        if not config.other_play and not config.shuffle_colours:
            return frames
        names = colours.renaming(rules, device)
        if config.other_play:
            orders = colours.orders(rules, config.seed, games.games)
        else:
            orders = rng.integers(len(names.actions), size=(len(games.games), rules.players))
        return learning.rename_colours(frames, names, torch.from_numpy(orders).to(device))

    def _errors(self, games: Trajectories, frames: Frames, q: torch.Tensor, waiting: torch.Tensor) -> torch.Tensor:
        """Compute targets minus values, for the values that `learning.values` returns, in points.

        float32 [m, P] by move and seat, or [m, P + 1] with imagined actions; [m] in vdn, of the team, and in klevel, of
        the seat that learns.
        """
        config = self.config
        if config.method == "obl":
            estimates, targets = learning.off_belief(frames, q, waiting, games, config.tries)
        else:
            estimates = learning.select_values(frames, q, waiting)
            targets = learning.bootstrap_targets(
                q.detach(), self.target, frames, config.moves, config.discount, config.temperature
            )
        errors = targets - estimates
        if config.method == "vdn":  # their sum is P times the score, so each seat's value is in points
            return errors.sum(1)
        if config.method == "klevel":
            seats = torch.from_numpy(learners(games.games, frames.own.shape[1])).to(errors.device)[frames.games]
            return errors.gather(1, seats[:, None])[:, 0]
        return errors

    def _rate(self) -> float:
        """Return this step's learning rate as a share of the initial one; it falls to `fall` along a cosine."""
        fall = self.config.fall
        return fall + (1 - fall) * (1 + np.cos(np.pi * self.step / self.config.steps)) / 2

    def make_checkpoint(self) -> HanabiCheckpoint:
        """Return the averaged network with the options and the step of the training."""
        about = self.config.model_dump(mode="json", exclude={"out", "below", "device", "threads", "save_every"})
        config = self.config
        return HanabiCheckpoint(self.mean, self.rules, config.v0, config.temperature, about | {"step": self.step})

    def evaluate(self) -> tuple[float, float]:
        """Return the mean score of games with the network in every seat, and its standard error."""
        team = [self.make_checkpoint()] * self.rules.players
        points = scores(team, self.config.seed + _EVALUATION, 0, self.config.games).astype(np.float64)
        return float(points.mean()), float(points.std(ddof=1) / np.sqrt(len(points)))

    def keep(self) -> None:
        """Write the state to the run's folder."""
        modules = {"online": self.online, "target": self.target, "mean": self.mean, "adam": self.adam}
        states = {name: dict(module.state_dict()) for name, module in modules.items()}
        rest = {"actors": self.actors, "replay": self.replay, "step": self.step}
        _SNAPSHOTS.save(self.config.out / STATE, states | rest, self.shared)

    def resume(self) -> None:
        """Load the state in the run's folder, if there is one. Raises TrickformerError if it is broken."""
        file = self.config.out / STATE
        if not file.exists():
            return
        try:
            saved = _SNAPSHOTS.load(file, self.shared, self.online.worth.weight.device)
            for name in ("online", "target", "mean", "adam"):
                getattr(self, name).load_state_dict(saved[name])
            self.actors, self.replay = saved["actors"], saved["replay"]
            self.step = saved["step"]
        except (ValueError, KeyError, TypeError, RuntimeError):
            raise TrickformerError(f"{file} is broken; restore it from a copy, or choose another --out") from None


def run(training: TrainingProgress) -> Iterator[dict[str, Any]]:
    """Train in the folder of the config, which must exist, and write the checkpoint there at the end.

    A stopped run continues from its last saved state and reaches the same weights.

    Args:
        training: State of the training.

    Yields:
        {"step", "games", "loss"} after every gradient step, before the state is saved. Evaluations add "score" and
        "error", its standard error, in points.
    """
    config = training.config
    while training.step < config.steps:
        record: dict[str, Any] = {"loss": training.learn()}
        last = training.step == config.steps
        if training.step % config.evaluate_every == 0 or last:
            record["score"], record["error"] = training.evaluate()
        yield {"step": training.step, "games": training.replay.total} | record
        if training.step % config.save_every == 0 or last:
            training.keep()
    save(training.make_checkpoint(), config.out)


def command(config: OffBeliefTraining, resume: bool) -> Path:
    """Train with progress in the folder config.out, which becomes a checkpoint.

    Args:
        config: Options of the training.
        resume: Whether to continue the run in the folder.

    Returns:
        The folder.

    Raises:
        TrickformerError: If the input is bad; nothing is written then.
        Interruption: On Ctrl-C.
    """
    config = below.resolve_paths(config)
    rules = rules_of(config.game)
    usable(config.device)
    below.load_level(config, rules)
    clone.style(config.games_of)
    opened = RunFolder(config.out).open(
        config,
        resume=resume,
        free=("out", "save_every"),
        files=below.digests(config),
        resolve=below.resolve_paths,
    )
    with resumable("obl train", config), opened:
        training = TrainingProgress.begin(config, rules)
        training.resume()
        with (
            open_log(config.out, training.step) as log,
            progress("obl train", "steps", training.step, config.steps) as advance,
            closing(_Board(config.out, log.stored)) as board,
        ):
            score = ""
            for record in run(training):
                log.append(record)
                board.show(record)
                if "score" in record:
                    score = f"score {record['score']:.2f} ± {record['error']:.2f}"
                advance(where=score)
        _curve(config.out)
    return config.out


class _Board:
    """TensorBoard curves. A resumed run rewrites them from the log, so that no step appears twice."""

    def __init__(self, out: Path, records: list[dict[str, Any]]):
        from torch.utils.tensorboard.writer import SummaryWriter

        shutil.rmtree(out / "tensorboard", ignore_errors=True)
        self._writer = SummaryWriter(str(out / "tensorboard"))
        for record in records:
            self.show(record)

    def show(self, record: dict[str, Any]) -> None:
        """Add the numbers of a gradient step."""
        for key in ("loss", "games", "score"):
            if record.get(key) is not None:  # a loss that is no number is null in the log
                self._writer.add_scalar(key, record[key], record["step"])

    def close(self) -> None:
        self._writer.close()


def _curve(out: Path) -> None:
    """Draw score.png, the scores of a training's evaluations. An error while drawing is only a warning."""
    draw_figure(partial(_draw_curve, out), out / "score.png")


def _draw_curve(out: Path, file: Path) -> None:
    from trickformer.plumbing.figures import drawing, save

    records = [r for r in read_lines(out / LOG)[0] if "score" in r]
    with drawing(figsize=(6, 3.6)) as (figure, axes):
        steps, means = [r["step"] for r in records], [r["score"] for r in records]
        axes.errorbar(steps, means, [2 * r["error"] for r in records], color="#2b6cb0", linewidth=1.2, capsize=2)
        axes.set(xlabel="gradient steps", ylabel="points, two standard errors")
        save(figure, file)
