"""The examples of docs/python-stencils.md run as they stand, and print what the page shows."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest
from spec_tools import formatted

PAGE = Path(__file__).parents[2] / "docs" / "python-stencils.md"
if not PAGE.exists():
    pytest.skip("the documents are not beside these tests", allow_module_level=True)
TEXT = PAGE.read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples(number, tmp_path):
    if "import sympy" in EXAMPLES[number]:
        pytest.importorskip("sympy", reason="sympy is not installed: its example is not run")
    file = tmp_path / "example.py"
    file.write_text(EXAMPLES[number])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(file))
    assert formatted(printed.getvalue()) == printed.getvalue()
    if number == 0:
        (shown,) = re.findall(r"^```halo\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
        assert printed.getvalue() == shown


def test_there_are_examples():
    assert len(EXAMPLES) == 3
