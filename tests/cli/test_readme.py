"""The README shows Python that runs."""

import re
from pathlib import Path


def test_the_python_of_the_readme_runs():
    text = (Path(__file__).parents[2] / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
