"""Pictures of reports, drawn without a display."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

from trickformer.plumbing.files import whole

matplotlib.use("Agg")
from matplotlib import pyplot as plt

matplotlib.rcdefaults()  # a matplotlibrc in the current folder may be a stranger's
matplotlib.rcParams["text.parse_math"] = False  # names and paths may hold dollar signs

__all__ = ["plt", "save"]


def save(figure: Any, path: Path) -> None:
    """Writes a figure as PNG, whole or not at all, and closes it. Raises TrickformerError where the disk refuses."""
    try:
        with whole(path) as draft:
            figure.savefig(draft, dpi=150, format="png", metadata={"Software": None})
    finally:
        plt.close(figure)
