"""The page of a training: its report, its curves, and the hands of its matches."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trickformer.plumbing.tables import format_difference, format_interval
from trickformer.selfplay import report
from trickformer.selfplay.charts import charts
from trickformer.selfplay.log import LOG
from trickformer.selfplay.results import TrainingResults
from trickformer.tournaments.deals import RECORDS
from trickformer.web import messages
from trickformer.web.config import ViewSettings
from trickformer.web.overview import describe_chart, describe_report
from trickformer.web.pages import Pages, WorkerPages
from trickformer.web.reading import Reading
from trickformer.web.worker import Worker

_MATCH_ROOM = re.compile(r"match-([0-9]{1,6}-(?:previous|baseline))")


def match_folder(folder: Path, name: str) -> Path | None:
    """Find the folder of a match of a training.

    Args:
        folder: Run folder of the training.
        name: Iteration and opponent, such as 3-baseline.

    Returns:
        The folder; None if it holds no records, or is a link to another place.
    """
    path = folder / "matches" / name
    is_there = (path / RECORDS).is_file() and not any(each.is_symlink() for each in (path.parent, path))
    return path if is_there else None


class TrainingDesk:
    """Results of a training, read in a worker process."""

    def __init__(self, folder: Path):
        """Name the run folder."""
        self._folder = folder

    def describe(self, known: int | None) -> dict[str, Any]:
        """Describe the training.

        Args:
            known: Length in bytes of the log that the page has a description of; None if it has none.

        Returns:
            `changed` and, if the log has changed, the report, the charts and the matches.

        Raises:
            TrickformerError: The folder holds no training, or a broken one.
        """
        log = self._folder / LOG
        length = log.stat().st_size if log.exists() else 0
        if length == known:
            return {"changed": False}
        results = TrainingResults.load(self._folder)
        described = describe_report(report.make_report(results))
        return described | {
            "changed": True,
            "name": self._folder.resolve().name,
            "known": length,
            "over": results.is_finished,
            "charts": [describe_chart(chart) for chart in charts(results)],
            "matches": [self._describe_match(results, entry) for entry in results.matches],
        }

    def _describe_match(self, results: TrainingResults, entry: dict[str, Any]) -> dict[str, Any]:
        iteration, opponent = entry["iteration"], entry["opponent"]
        name = f"{iteration}-{opponent}"
        return {
            "model": f"model {iteration}",
            "opponent": results.config.baseline if opponent == "baseline" else f"model {iteration - 1}",
            "difference": format_difference(entry["difference"]),
            "interval": format_interval(entry["low"], entry["high"]),
            "deals": f"{entry['deals']:,}",
            # Name of the match in the address of its page; None if its records are gone.
            "hands": name if _MATCH_ROOM.fullmatch(f"match-{name}") and match_folder(self._folder, name) else None,
        }


class TrainingPages(WorkerPages):
    """Pages of a training."""

    def __init__(self, folder: Path):
        super().__init__()
        self._folder = folder

    def _make_worker(self) -> Worker:
        return Worker(TrainingDesk, self._folder)

    async def receive(self, page: object, text: str) -> None:
        message = messages.TRAINING.validate_json(text)
        is_busy = page in self._jobs and not self._jobs[page].done()
        if page in self._workers and not is_busy:
            self._jobs[page] = asyncio.create_task(self._answer(page, "training", "describe", message.known))


class TrainingRooms(Mapping[str, Pages]):
    """Rooms of a training by the names of their sockets: `training`, and `match-3-baseline` for the hands of a match.

    The room of a match is made at its first use, because a running training adds matches.
    """

    def __init__(self, settings: ViewSettings):
        """Make the room of the training.

        Args:
            settings: Settings of the command; `run` is the run folder.
        """
        self._settings = settings
        self._rooms: dict[str, Pages] = {"training": TrainingPages(settings.run)}

    def __getitem__(self, name: str) -> Pages:
        if name not in self._rooms:
            matched = _MATCH_ROOM.fullmatch(name)
            folder = match_folder(self._settings.run, matched[1]) if matched else None
            if folder is None:
                raise KeyError(name)
            self._rooms[name] = Reading(self._settings.model_copy(update={"run": folder}))
        return self._rooms[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rooms)

    def __len__(self) -> int:
        return len(self._rooms)
