"""Results of a training so far: models, losses and matches, read from a run folder that may still grow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trickformer import games
from trickformer.base import Game, TrickformerError
from trickformer.plumbing import config as configs
from trickformer.plumbing.files import refuse_links
from trickformer.plumbing.folder import ABOUT, CONFIG, RunFolder
from trickformer.plumbing.tables import format_difference, format_interval
from trickformer.plumbing.text import count_noun, from_toml, read_text
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.log import read_log

OPPONENTS = ("previous", "baseline")
_LOSSES = ("policy_loss", "value_loss", "action_loss")
_SKIPPED = {"time", "iteration", "stage", "at"}  # fields of a log entry that are no measurements


def holds_training(folder: Path) -> bool:
    """Return whether a folder is the run folder of a training, whose config has a key that no other command has.

    Args:
        folder: The folder.
    """
    try:
        return "bootstrap_hands" in from_toml(read_text(folder / CONFIG))
    except (OSError, ValueError):
        return False


def find_best(matches: Iterable[Mapping[str, Any]], models: Sequence[int], higher_is_better: bool) -> int | None:
    """Choose the best model of a run: the one with the best mean in its match against the baseline.

    Args:
        matches: Entries of the log for matches, of any opponent.
        models: Iterations whose models exist.
        higher_is_better: Whether high scores are good.

    Returns:
        The iteration of the best model; the later one if two are equal. Without a match against the baseline it is the
        last model. None if there is no model.
    """
    sign = 1 if higher_is_better else -1
    scores = {e["iteration"]: sign * e["difference"] for e in matches if e["opponent"] == "baseline"}
    return max(models, key=lambda i: (i in scores, scores.get(i, 0.0), i), default=None)


def describe_match(entry: Mapping[str, Any], baseline: str, game: Game) -> str:
    """Describe the result of a match in one line.

    Args:
        entry: Entry of the log.
        baseline: Spec of the baseline.
        game: The game.
    """
    other = baseline if entry["opponent"] == "baseline" else f"argmax of iteration {entry['iteration'] - 1}"
    interval = "" if entry["low"] is None else f", 95% interval {format_interval(entry['low'], entry['high'])},"
    deals = count_noun(entry["deals"], "deal")
    return (
        f"iteration {entry['iteration']}: argmax - {other}: {format_difference(entry['difference'])} {game.score_unit}"
        f"{interval} over {deals}, {'higher' if game.higher_is_better else 'lower'} is better"
    )


def _numbers(entry: Mapping[str, Any], keys: Collection[str]) -> dict[str, float]:
    """Select the fields `keys` of an entry that are numbers. Other types may occur in logs from untrusted sources."""
    return {key: value for key, value in entry.items() if key in keys and type(value) in (int, float)}


@dataclass(frozen=True)
class TrainingResults:
    """State of a training.

    Attributes:
        folder: Run folder.
        config: Config of the run, as it is now.
        game: The game.
        models: Iterations whose models exist, in order.
        entries: Entries of the log.
        builds: Versions of the package that have worked on the run.
    """

    folder: Path
    config: SelfPlay
    game: Game
    models: list[int]
    entries: list[dict[str, Any]]
    builds: list[dict[str, Any]]

    @classmethod
    def load(cls, folder: Path) -> TrainingResults:
        """Read a run folder.

        Args:
            folder: The run folder.

        Raises:
            TrickformerError: The folder holds no training, or a broken one.
        """
        if not holds_training(folder):
            raise TrickformerError(f"{folder} holds no training: its {CONFIG} is missing or of another command")
        refuse_links(folder)  # reports are written there
        config = configs.read(SelfPlay, folder / CONFIG, {"out": folder})
        builds = RunFolder(folder).about().get("builds", [])
        if not isinstance(builds, list) or not all(isinstance(build, dict) for build in builds):
            raise TrickformerError(f"{folder / ABOUT} is broken; restore it from a copy")
        models = [i for i in range(config.iterations + 1) if (folder / f"model-{i}" / "config.json").is_file()]
        entries = read_log(folder, config.iterations + 1)
        return cls(folder, config, games.load(config.game), models, entries, builds)

    def stage_entries(self, stage: str, iteration: int) -> list[dict[str, Any]]:
        """Return the entries of a stage of an iteration, in order.

        Args:
            stage: Name of the stage.
            iteration: The iteration.
        """
        return [e for e in self.entries if e.get("stage") == stage and e["iteration"] == iteration]

    @property
    def matches(self) -> list[dict[str, Any]]:
        """Entries of all matches."""
        return [e for e in self.entries if e.get("stage") == "match"]

    @property
    def best(self) -> int | None:
        """Iteration of the best model, see `find_best`; None without a model."""
        return find_best(self.matches, self.models, self.game.higher_is_better)

    @property
    def is_finished(self) -> bool:
        """True if every iteration has a model and its last stage, judge, is finished."""
        is_judged = bool(self.stage_entries("judge", self.config.iterations))
        return is_judged and len(self.models) == self.config.iterations + 1

    def result(self) -> dict[str, Any]:
        """Return the JSON object that `trickformer report --json` prints.

        Losses are means over the last logged steps, in nats. `action_loss` is in squares of v(o). Differences are model
        - opponent, in `Game.score_unit`. `under_way` is the last entry of the log of a run that is not finished.
        """
        iterations = [self._iteration(i) for i in range(self.config.iterations + 1)]
        best = self.best
        return {
            "game": self.config.game,
            "preset": self.config.preset,
            "seed": self.config.seed,
            "iterations": self.config.iterations,
            "baseline": self.config.baseline,
            "higher_is_better": self.game.higher_is_better,
            "finished": self.is_finished,
            "models": [i for i in iterations if len(i) > 1],
            "best": None if best is None else {"iteration": best, "model": str(self.folder / f"model-{best}")},
            "latest": None if not self.models else str(self.folder / f"model-{self.models[-1]}"),
            "under_way": None if self.is_finished else self._last_entry(),
            "versions": self.builds,
        }

    def _iteration(self, i: int) -> dict[str, Any]:
        """Return the results of an iteration; the iteration's number alone if there are none."""
        results: dict[str, Any] = {"iteration": i}
        if i in self.models:
            results["model"] = str(self.folder / f"model-{i}")
        if played := self.stage_entries("play", i):
            results["hands"] = played[-1]["at"]
        if learned := self.stage_entries("learn", i):
            results |= {"steps": learned[-1]["at"], **_numbers(learned[-1], _LOSSES)}
        if measured := self.stage_entries("measure", i):
            results["held_out"] = _numbers(measured[-1], measured[-1].keys() - _SKIPPED)
        if matches := self.stage_entries("match", i):
            keys = ("difference", "low", "high", "deals")
            results["matches"] = {e["opponent"]: {key: e[key] for key in keys} for e in matches}
        if judged := self.stage_entries("judge", i):
            results["warnings"] = list(map(str, judged[-1].get("warnings", ())))
        return results

    def _last_entry(self) -> dict[str, Any] | None:
        entry = next((e for e in reversed(self.entries) if "stage" in e), None)
        return None if entry is None else {key: entry[key] for key in ("iteration", "stage", "at", "time")}
