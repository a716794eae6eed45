"""Pages of the documentation, and the Python in them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def python_blocks(path: Path) -> list[str]:
    """The fenced blocks of Python on a page, in order."""
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
