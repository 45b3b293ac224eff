"""The notebooks of docs/notebooks run as they stand, on the CPU where there is no GPU, and hold no outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
if not FOLDER.exists():
    pytest.skip("the documents are not beside these tests", allow_module_level=True)
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 10
    listed = (FOLDER / "README.md").read_text()
    assert [path.name for path in NOTEBOOKS if f"({path.name})" not in listed] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_without_outputs(path):
    text = path.read_text()
    book = json.loads(text)
    assert text == json.dumps(book, indent=1, ensure_ascii=False) + "\n" and len(text) < 20_000
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
    code = "".join("".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code")
    assert "assert " in code, "what it claims is checked in it"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: notebooks are not run")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: notebooks are not run")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed: notebooks are not run")
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert shown and not [output for output in shown if output.output_type == "error"]
    assert list(tmp_path.iterdir()) == []
