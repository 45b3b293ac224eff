"""The examples of docs/python-stencils.md run as they stand, and print what the page shows."""

from __future__ import annotations

import builtins
import contextlib
import io
import re
import runpy
from pathlib import Path

import halocline as hl
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


def test_what_the_page_names_is_there():
    named = set(re.findall(r"\bhl\.(\w+)", TEXT))
    assert len(named) >= 60
    assert [name for name in sorted(named) if not hasattr(hl, name)] == []
    left_out = set(hl.authoring.__all__) - named
    assert left_out <= set(hl.authoring.functions.__all__) | {
        "Axis",
        "Boundary",
        "Expr",
        "PlacedDiagnostic",
        "Stencil",
    } | {
        "antimirror",
        "antisymmetric",
        "mirror",
        "symmetric",
        "free",
    }


def test_importing_all_leaves_pythons_functions_alone():
    assert set(hl.__all__) & set(dir(builtins)) <= {"compile"}
