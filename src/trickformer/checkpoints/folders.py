"""Folders of checkpoints by name: shipped ones, any folder on disk, and the models of a training's run folder.

A run folder names two of its models in text files of one line, such as `model-3`: `best` and `latest`. So
`checkpoint=out/run` is the best model and `checkpoint=out/run/latest` the last one. The files are not links, because a
run folder may come from a stranger: the line is checked, and it cannot name anything outside the run folder.
"""

from __future__ import annotations

import re
from pathlib import Path

from trickformer.base import TrickformerError, UnknownNameError
from trickformer.plumbing.files import replace

CONFIG = "config.json"  # file of a checkpoint
BEST, LATEST = "best", "latest"  # files of a run folder
_ROOT = Path(__file__).parent
_MODEL = re.compile(r"model-\d+\n?", re.ASCII)


def names() -> tuple[str, ...]:
    """List the shipped checkpoints."""
    return tuple(sorted(p.parent.name for p in _ROOT.glob(f"*/{CONFIG}")))


def find(name: str) -> Path:
    """Find the folder of a checkpoint.

    Args:
        name: Shipped checkpoint, folder with one, run folder of a training, or its file `best` or `latest`.

    Returns:
        A folder with config.json.

    Raises:
        UnknownNameError: There is no checkpoint of this name.
        TrickformerError: The run folder names a model that it does not have.
    """
    path = locate(name)
    if (path / CONFIG).is_file():
        return path
    if _holds_run(path) and any(path.glob(f"model-*/{CONFIG}")):
        raise TrickformerError(f"{path} names no best model; `trickformer report {path}` does that")
    raise UnknownNameError("checkpoint", name, (*names(), f"a folder with {CONFIG} and model.safetensors"))


def locate(name: str) -> Path:
    """Return the folder that a name stands for, as `find` does; a path that is no checkpoint is returned unchanged.

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


def point(file: Path, iteration: int) -> None:
    """Write `best` or `latest` of a run folder, unless it names the iteration's model already.

    Args:
        file: The file.
        iteration: Iteration of the model.

    Raises:
        TrickformerError: The disk refuses.
    """
    line = f"model-{iteration}\n"
    if not file.is_file() or file.read_bytes() != line.encode():
        replace(file, line)


def _read_pointer(file: Path) -> Path:
    try:
        with file.open("rb") as opened:
            line = opened.read(64).decode("ascii", "replace")
    except OSError as e:
        raise TrickformerError(f"cannot read {file}: {e.strerror}") from None
    if not _MODEL.fullmatch(line) or not (file.parent / line.strip() / CONFIG).is_file():
        raise TrickformerError(f"{file} names no model of {file.parent}; write one such as model-3 into it")
    return file.parent / line.strip()
