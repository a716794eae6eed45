"""The notebooks run from top to bottom, and their saved outputs are whole and name no place of the machine."""

import asyncio
import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="the extra notebooks is not installed")
nbclient = pytest.importorskip("nbclient", reason="the extra notebooks is not installed")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
# A shorter training and shorter matches than the notebooks' own; the rest of a cell stays.
SHORTER = {
    r"\biterations=1,": "iterations=1, bootstrap_hands=300, sequences=300, held_out=60, tables=100, match_deals=2,",
    r"\bdeals=\d+": "deals=4",
}
FOLDER = re.compile(r"(?<![\w.])/(?:home|tmp|work|root|Users|usr)/")


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 3


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path):
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        for own, shorter in SHORTER.items():
            cell.source = re.sub(own, shorter, cell.source)
    shortened = sum(shorter in cell.source for cell in notebook.cells for shorter in SHORTER.values())
    assert shortened == {"one-decision": 0, "train-and-play": 2, "write-a-player": 4}.get(path.stem)
    client = nbclient.NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    asyncio.run(client.async_execute())
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_saved_outputs_are_those_of_one_run(path: Path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not FOLDER.search(str(outputs))
    assert any(output.get("data", {}).get("image/png") for output in outputs)
