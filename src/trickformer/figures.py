"""Pictures of reports, drawn without a display."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

from trickformer.base import TrickformerError

matplotlib.use("Agg")
from matplotlib import pyplot as plt

__all__ = ["plt", "save"]


def save(figure: Any, path: Path) -> None:
    """Writes a figure as PNG, whole or not at all, and closes it. Raises TrickformerError where the disk refuses."""
    draft = path.with_name(f".{path.name}.part")
    try:
        figure.savefig(draft, dpi=150, format="png", metadata={"Software": None})
        draft.replace(path)
    except OSError as e:
        draft.unlink(missing_ok=True)
        raise TrickformerError(f"cannot write {path}: {e.strerror}") from None
    finally:
        plt.close(figure)
