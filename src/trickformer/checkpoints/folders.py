"""Folders of checkpoints by name: shipped models, folders on disk, and the models in the run folder of a training.

A run folder has two text files, `best` and `latest`. Each contains one line with the name of a model folder, such as
`model-3`. So `checkpoint=out/run` is the best model and `checkpoint=out/run/latest` the last one. The files are not
symbolic links, because a downloaded run folder could link to any place; the line is checked to name a model inside.
"""

from __future__ import annotations

import re
from pathlib import Path

from trickformer.base import TrickformerError, UnknownNameError
from trickformer.plumbing import paths
from trickformer.plumbing.files import replace

CONFIG = "config.json"  # a folder with this file is a checkpoint
BEST, LATEST = "best", "latest"  # text files in a run folder
_ROOT = Path(__file__).parent  # folder of the shipped checkpoints
_MODEL_LINE = re.compile(r"model-\d+\n?", re.ASCII)


def names() -> tuple[str, ...]:
    """List the shipped checkpoints."""
    return tuple(sorted(p.parent.name for p in _ROOT.glob(f"*/{CONFIG}")))


def find(name: str) -> Path:
    """Find the folder of a checkpoint.

    Args:
        name: Name of a shipped checkpoint, or path of a checkpoint's folder, of a run folder, or of its file `best` or
            `latest`.

    Returns:
        A folder with config.json.

    Raises:
        UnknownNameError: There is no checkpoint of this name.
        TrickformerError: The run folder has no model yet, names none as best, or names a model that it does not have.
    """
    path = locate(name)
    if (path / CONFIG).is_file():
        return path
    if _holds_run(path) and any(path.glob(f"model-*/{CONFIG}")):
        raise TrickformerError(f"{path} has no file `best`; `trickformer report {path}` writes it")
    if _holds_run(path):
        raise TrickformerError(f"{path} holds no model; if it is a training, continue it with --resume")
    raise UnknownNameError("checkpoint", name, (*names(), f"a folder with {CONFIG} and model.safetensors"))


def absolute(name: str) -> str:
    """Make the path of a checkpoint absolute, so that it means the same in any folder.

    Args:
        name: As in `find`. The name of a shipped checkpoint stays as it is.
    """
    return name if name in names() else paths.absolute(name)


def locate(name: str) -> Path:
    """Return the folder that a name refers to, like `find`, but return a path that is no checkpoint unchanged.

    Args:
        name: As in `find`.

    Raises:
        TrickformerError: The run folder names a model that it does not have.
    """
    if name in names():
        return _ROOT / name
    path = Path(name)
    if _holds_run(path) and not (path / CONFIG).exists() and (path / BEST).is_file():
        return _read_pointer(path / BEST)
    if path.name in (BEST, LATEST) and path.is_file() and _holds_run(path.parent):
        return _read_pointer(path)
    return path


def _holds_run(path: Path) -> bool:
    return (path / "config.toml").is_file()


def write_pointer(file: Path, iteration: int) -> None:
    """Write the file `best` or `latest` of a run folder, unless it already names this model.

    Args:
        file: Path of the file.
        iteration: Iteration of the model that the file shall name.

    Raises:
        TrickformerError: The file cannot be written.
    """
    line = f"model-{iteration}\n"
    if not file.is_file() or file.read_bytes() != line.encode():
        replace(file, line)


def _read_pointer(file: Path) -> Path:
    try:
        with file.open("rb") as stream:
            line = stream.read(64).decode("ascii", "replace")
    except OSError as e:
        raise TrickformerError(f"cannot read {file}: {e.strerror}") from None
    if not _MODEL_LINE.fullmatch(line) or not (file.parent / line.strip() / CONFIG).is_file():
        raise TrickformerError(f"{file} names no model of {file.parent}; write one such as model-3 into it")
    return file.parent / line.strip()
