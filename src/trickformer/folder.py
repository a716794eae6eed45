"""What every run folder has in common: small files written whole, and a note of what made it."""

from __future__ import annotations

import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import trickformer
from trickformer.base import TrickformerError

_PACKAGES = ("open_spiel", "numpy", "scipy", "torch", "transformers")


class Interrupted(TrickformerError):
    """Ctrl-C. The message says how to go on."""

    exit_code = 130


def replace(path: Path, text: str) -> None:
    """Writes a small file whole or not at all. Raises TrickformerError where the disk does not take it."""
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as e:
        draft.unlink(missing_ok=True)
        raise TrickformerError(f"cannot write {path}: {e.strerror}") from None


def build() -> dict[str, Any]:
    """The versions of what plays, and the git commit where the package stands in a checkout (or is run
    from one), with `-dirty` where tracked files differ from it."""
    found: dict[str, Any] = {"trickformer": trickformer.__version__, "commit": _commit()}
    found["python"] = platform.python_version()
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def _commit() -> str | None:
    for folder in (Path(__file__).parent, Path.cwd()):
        git = ["git", "-C", str(folder)]
        try:
            root = subprocess.run([*git, "rev-parse", "--show-toplevel", "HEAD"], capture_output=True, text=True)
            if root.returncode:
                continue
            top, commit = root.stdout.split("\n")[:2]
            if not (Path(top) / "src/trickformer/base.py").exists():
                continue
            status = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True)
            return commit + ("-dirty" if status.stdout.strip() else "")
        except (OSError, ValueError, subprocess.SubprocessError):
            continue
    return None
