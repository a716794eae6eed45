"""Run folders: the config of a run, the builds that took part in it, its records, and how to continue it."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import BaseModel

import trickformer
from trickformer.base import TrickformerError
from trickformer.plumbing import config as configs
from trickformer.plumbing import digests, paths
from trickformer.plumbing.files import make_folder, refuse_links, remove_drafts, replace
from trickformer.plumbing.isa import ISA_VARIABLE, instruction_set, rounding
from trickformer.plumbing.lines import JsonLines, Parse, lock
from trickformer.plumbing.parallel import LostWorkersError
from trickformer.plumbing.text import json_object, read_text, to_json

# Files of a run folder.
CONFIG = configs.FILE
ABOUT = "run.json"
RESULT = "result.json"
# Files without records, and folders, that commands overwrite in a run folder.
_OUTPUTS = (
    "report.md",
    RESULT,
    "summary.json",
    "log.jsonl",
    "curve.csv",
    "curve.png",
    "training.png",
    "plot.png",
    "gains.png",
    "missions.png",
    "crossplay.png",
    "calibration.png",
    "loss.png",
    "score.png",
    "toy.png",
    "p.png",
    "model.safetensors",
    "belief.safetensors",
    "weights.npz",
    "skat_evaluation.npz",
    "state.npz",
    "stack.npz",
    "state",
    "tensorboard",
)
_PACKAGES = ("open_spiel", "numpy", "scipy", "torch", "transformers")


class Interruption(TrickformerError):
    """Ctrl-C or SIGTERM. The message explains how to continue.

    Attributes:
        end: Why it stopped, without the explanation.
    """

    def __init__(self, text: str, end: str | None = None):
        super().__init__(text)
        self.end = end or text


class TimeLimit(Interruption):
    """The end of `--stop-after`. The run has stopped as the user wanted, so the exit code is 0."""


def how_to_resume(command: str, config: Any, typed: Sequence[str] = ()) -> str:
    """Describe how to continue an interrupted run.

    Args:
        command: Command line of the run, without the program and its options.
        config: Config of the run, with a field `out` and possibly `ray`.
        typed: Further words of the command line that the run folder does not keep.
    """
    if config.out is None:
        return "nothing is kept without --out"
    out, ray = config.out, getattr(config, "ray", None)
    words = ["trickformer", *command.split(), "--out", str(out), "--resume", *typed]
    return "continue with: " + shlex.join(words + (["--ray", ray] if ray else []))


@contextmanager
def resumable(
    command: str,
    config: Any,
    typed: Sequence[str] = (),
    *,
    progress: Callable[[], str] = lambda: "",
    remedy: str | None = None,
) -> Generator[None]:
    """Add instructions for continuing the run to the messages of interrupts and `LostWorkersError` in a block.

    Args:
        command: As in `how_to_resume`.
        config: As in `how_to_resume`.
        typed: As in `how_to_resume`.
        progress: Function that describes the progress so far, such as "after 3 of 10 games".
        remedy: How to continue, if not by `how_to_resume`.

    Raises:
        Interruption: The block was interrupted.
        LostWorkersError: The block raised it.
    """

    def describe(end: str, first: str = "") -> str:
        own_remedy = remedy if config.out is not None else None
        steps = [" ".join([end, progress()]).rstrip(), first, own_remedy or how_to_resume(command, config, typed)]
        return "; ".join(filter(None, steps))

    try:
        yield
    except KeyboardInterrupt:
        raise Interruption(describe("interrupted"), "interrupted") from None
    except Interruption as e:  # perhaps of a run within this one, whose explanation is not that of the whole
        raise type(e)(describe(e.end), e.end) from None
    except LostWorkersError as e:
        raise LostWorkersError(describe(str(e), e.remedy)) from None


def build() -> dict[str, Any]:
    """Describe the software and the CPU that play a run.

    Returns:
        The versions of the package and its dependencies; `commit`, the git commit of a checkout, with `-dirty` at the
        end if tracked files differ from it; `isa`, the instruction set of the core; `cpu`, the model of the CPU, which
        determines PyTorch's instruction set.
    """
    versions: dict[str, Any] = {"trickformer": trickformer.__version__, "commit": _commit()}
    versions["python"] = platform.python_version()
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    return versions | {"isa": instruction_set(), "cpu": _cpu()}


def _cpu() -> str | None:
    """Return the model of the CPU; None if the system does not name it."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or None


class RunFolder:
    """Folder of one run, with its config.toml, its run.json and its files of records."""

    def __init__(self, path: Path, details: Mapping[str, Any] | None = None):
        """Name a folder, which need not exist.

        Args:
            path: The folder.
            details: Entries that `builds` adds to the description of this software.
        """
        self.path, self._details = path, dict(details or {})

    @classmethod
    def optional(cls, out: Path | None, resume: bool) -> RunFolder | None:
        """Make the run folder of a command.

        Args:
            out: Path of the folder; None if the command has none.
            resume: Whether a run is continued.

        Returns:
            The folder; None without a path.

        Raises:
            TrickformerError: A run is to be continued, but there is no path.
        """
        if out is None and resume:
            raise TrickformerError("--resume needs the --out of the run to continue")
        return None if out is None else cls(out)

    @property
    def has_run(self) -> bool:
        """True if the folder holds a run."""
        return (self.path / CONFIG).exists()

    def about(self) -> dict[str, Any]:
        """Read run.json; empty if there is none. Raises TrickformerError if it is broken."""
        file = self.path / ABOUT
        try:
            about = json_object(read_text(file)) if file.exists() else {}
            if not isinstance(about.get("files", {}), dict):
                raise ValueError("files is no object")
        except (OSError, ValueError):
            raise TrickformerError(f"{file} is broken; restore it from a copy, or choose another --out") from None
        return about

    def builds(self) -> list[dict[str, Any]]:
        """List the builds that took part in the run, this one included.

        Raises:
            TrickformerError: run.json is broken.
        """
        this, earlier = build() | self._details, self._earlier_builds()
        return earlier if this in earlier else [*earlier, this]

    def _earlier_builds(self) -> list[dict[str, Any]]:
        if not (about := self.about()):
            return []
        try:
            return [dict(b) for b in about["builds"]]
        except (ValueError, KeyError, TypeError):
            raise TrickformerError(
                f"{self.path / ABOUT} is broken; restore it from a copy, or choose another --out"
            ) from None

    def _check_rounding(self) -> None:
        """Refuse to continue a run on an instruction set that rounds in another way, which would change its results.

        Runs of earlier versions do not name their instruction set and may continue.

        Raises:
            TrickformerError: The instruction set rounds in another way, or run.json is broken.
        """
        new = instruction_set()
        for earlier in self._earlier_builds():
            old = earlier.get("isa")
            if isinstance(old, str) and rounding(old) != rounding(new):
                raise TrickformerError(
                    f"{self.path} was begun on the instruction set {old}, which rounds in another way than {new}; "
                    f"set the environment variable {ISA_VARIABLE}={old}, or choose another --out"
                )

    def check(
        self,
        config: BaseModel,
        *,
        resume: bool,
        free: Collection[str],
        files: Mapping[str, str] | None = None,
        resolve: Callable[[Any], Any] = lambda old_config: old_config,
    ) -> None:
        """Check that the run of a config may start or continue in this folder.

        Args:
            config: Resolved config of the run.
            resume: Whether a run in the folder may be continued.
            free: Fields in which a continued run may differ from the folder's config.
            files: Digests of the files that the run reads, by name; None if they are not compared.
            resolve: Function that brings both configs into one form before they are compared. An earlier version may
                have stored fewer options, and a path may be relative.

        Raises:
            TrickformerError: The folder holds a run and `resume` is false, or the run has another config, has read
                other files or was played on an instruction set that rounds in another way.
        """
        if not self.has_run:
            self.refuse_foreign_files()
            return
        refuse_links(self.path)
        if not resume:
            try:
                configs.read(type(config), self.path / CONFIG)
            except configs.ForeignRunError:
                raise TrickformerError(
                    f"{self.path} already holds a run of another command; choose another --out"
                ) from None
            except TrickformerError:
                pass  # a broken config; --resume describes the fault
            raise TrickformerError(
                f"{self.path} already holds a run; continue it with --resume, or choose another --out"
            )
        old_config, config = resolve(configs.read(type(config), self.path / CONFIG)), resolve(config)
        for name in type(config).model_fields:
            if name in free or name in configs.COMMAND_LINE_ONLY:
                continue
            old, new = getattr(old_config, name), getattr(config, name)
            if old != new:
                raise configs.different_option_error(self.path, name, old, new)
        self._check_rounding()
        if files is not None:
            about = self.about()
            relocate = configs.relocation(self.path, about) or paths.absolute
            digests.must_be_same(self.path, about.get("files", {}), files, relocate)

    def refuse_foreign_files(self) -> None:
        """Refuse a folder without a run if a run would overwrite one of its files, or if its folders hold other runs.

        A folder with run.json or config.toml belongs to a run, which may overwrite its own files.

        Raises:
            TrickformerError: The folder holds a file with the name of a run's output, or a run folder.
        """
        if self.has_run or (self.path / ABOUT).exists():
            return
        for name in _OUTPUTS:
            if (self.path / name).exists():
                raise TrickformerError(
                    f"{self.path} holds {name}, but no {ABOUT} of a run that wrote it; choose another --out"
                )
        for inner in self.path.glob(f"*/{CONFIG}"):
            if inner.with_name(ABOUT).exists():
                raise TrickformerError(
                    f"{self.path} holds other runs, such as {inner.parent.name}; choose another --out, such as a new "
                    "folder in it"
                )

    @contextmanager
    def lock(self) -> Generator[None]:
        """Make the folder and lock it for a block.

        Raises:
            TrickformerError: The folder cannot be made, contains a link, or is locked by another process.
        """
        try:
            make_folder(self.path)
        except OSError as e:
            raise TrickformerError(f"cannot make the folder {self.path}: {e.strerror}") from None
        refuse_links(self.path)
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            lock(descriptor, self.path)
            remove_drafts(self.path)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def open(
        self,
        config: BaseModel,
        *,
        resume: bool,
        free: Collection[str],
        files: Mapping[str, str] | None = None,
        resolve: Callable[[Any], Any] = lambda old_config: old_config,
    ) -> Generator[None]:
        """Start the run of a config, or continue it, and lock the folder for a block.

        Writes config.toml without the fields of `config.COMMAND_LINE_ONLY`, and run.json with every build that took
        part.

        Args:
            config: As in `check`.
            resume: As in `check`.
            free: As in `check`.
            files: As in `check`; kept in run.json.
            resolve: As in `check`.

        Raises:
            TrickformerError: `check` or `lock` raises it, or run.json is broken. Then nothing is written.
        """
        with self._checked_lock(config, resume=resume, free=free, files=files, resolve=resolve) as builds:
            self._describe(config, {"files": files} if files else {}, builds)
            yield

    @contextmanager
    def records(
        self,
        name: str,
        config: BaseModel,
        *,
        resume: bool,
        free: Collection[str],
        parse: Parse = lambda _, line: json_object(line),
        about: Mapping[str, Any] | None = None,
        resolve: Callable[[Any], Any] = lambda old_config: old_config,
    ) -> Generator[JsonLines]:
        """Start or continue a run with a file of records, which is read before anything is written.

        Args:
            name: Name of the file of records.
            config: As in `check`.
            resume: As in `check`.
            free: As in `check`.
            parse: Parser of a record, as in `read_lines`.
            about: Contents of run.json besides the builds; `files` is compared as in `check`.
            resolve: As in `check`.

        Raises:
            TrickformerError: `open` or `JsonLines` raises it, or the folder holds records without a config.
        """
        file = self.path / name
        if not self.has_run and file.exists() and file.stat().st_size:
            raise TrickformerError(f"{self.path} holds {name}, but no {CONFIG}; choose another --out")
        about = about or {}
        files = about.get("files", {})
        checked = self._checked_lock(config, resume=resume, free=free, files=files, resolve=resolve)
        with checked as builds, JsonLines(file, parse) as lines:
            self._describe(config, about, builds)
            yield lines

    @contextmanager
    def _checked_lock(
        self,
        config: BaseModel,
        *,
        resume: bool,
        free: Collection[str],
        files: Mapping[str, str] | None,
        resolve: Callable[[Any], Any],
    ) -> Generator[list[dict[str, Any]]]:
        """Check a config before and after locking the folder, because another run may have begun in between.

        The arguments are those of `check`.

        Yields:
            The builds that took part in the run, this one included.
        """
        check = partial(self.check, config, resume=resume, free=free, files=files, resolve=resolve)
        check()
        with self.lock():
            check()
            yield self.builds()

    def describe(self, about: Mapping[str, Any], builds: list[dict[str, Any]]) -> None:
        """Write run.json.

        Args:
            about: Contents of the file. The folder, the version of the specs and the builds are added.
            builds: Builds that took part in the run.

        Raises:
            TrickformerError: The file cannot be written.
        """
        own = {"folder": str(self.path.absolute()), "specs": configs.SPECS_VERSION, "builds": builds}
        replace(self.path / ABOUT, to_json({**about, **own}, indent=2) + "\n")

    def _describe(self, config: BaseModel, about: Mapping[str, Any], builds: list[dict[str, Any]]) -> None:
        self.describe(about, builds)
        replace(self.path / CONFIG, configs.dump(config))


def _commit() -> str | None:
    """Return the git commit of the running code, with `-dirty` if tracked files differ; None outside a checkout."""
    # Never ask git about another folder, because git obeys the configuration of a checkout.
    folder = Path(__file__).parent
    git = ["git", "-c", "core.fsmonitor=false", "-C", str(folder)]
    try:
        root = subprocess.run([*git, "rev-parse", "--show-toplevel", "HEAD"], capture_output=True, text=True)
        if root.returncode:
            return None
        top, commit = root.stdout.split("\n")[:2]
        if folder != Path(top) / "src/trickformer/plumbing":  # installed inside the checkout of another project
            return None
        status = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True)
        return commit + ("-dirty" if status.stdout.strip() else "")
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
