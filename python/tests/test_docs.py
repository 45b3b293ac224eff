"""The examples of docs/python.md for users of Devito and pystencils run as they stand, and say what the page says."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import halocline as hl
from halocline._errors import __all__ as errors_there_are

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
if not PAGE.exists():
    pytest.skip("the documents are not beside these tests", allow_module_level=True)
TEXT = PAGE.read_text()


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S).group(1)


@pytest.fixture
def examples(tmp_path):
    results = []
    for index, code in enumerate(re.findall(r"^```python\n(.*?)^```$", section("From Devito and pystencils"), re.M | re.S)):
        file = tmp_path / f"example{index}.py"
        file.write_text(code)
        results.append(runpy.run_path(str(file)))
    return results


def by_numpy(inner, edges, steps, step):
    wide = np.pad(inner.astype(float), 1)
    for edge in edges:
        wide[edge] = 1
    for _ in range(steps):
        wide[1:-1, 1:-1] = step(wide[1:-1, 1:-1], wide[1:-1, :-2] + wide[1:-1, 2:] + wide[:-2, 1:-1] + wide[2:, 1:-1])
    return wide[1:-1, 1:-1]


def test_the_first_examples_of_devito_and_pystencils(examples):
    diffusion, jacobi = (example["sim"] for example in examples)
    start = np.ones((79, 79))
    start[20:40, 20:40] = 2
    edges = [np.s_[:, 0], np.s_[:, -1], np.s_[0], np.s_[-1]]
    weight = 0.00025 * 0.5 / 0.025**2
    assert np.allclose(diffusion.u, by_numpy(start, edges, 500, lambda u, around: u + weight * (around - 4 * u)), atol=1e-5)
    assert np.allclose(jacobi.u, by_numpy(np.zeros((30, 20)), [np.s_[0]], 100, lambda u, around: around / 4), atol=1e-14)


@pytest.mark.parametrize("library, values", [("torch", [0.3, 14]), ("jax", [4, 6])])
def test_what_the_examples_of_gradients_find(tmp_path, monkeypatch, library, values):
    pytest.importorskip(library)
    if library == "jax":
        pytest.importorskip("scipy")
    monkeypatch.chdir(PAGE.parents[1])
    codes = re.findall(r"^```python\n(.*?)^```$", section("torch and JAX"), re.M | re.S)
    (code,) = (code for code in codes if code.startswith(f"import {library}\n"))
    file = tmp_path / "example.py"
    file.write_text(code)
    found = runpy.run_path(str(file))["found"]
    assert np.allclose(found.detach() if library == "torch" else found, values, rtol=1e-3)


def test_the_contents_have_all_headings():
    listed = re.findall(r"^- \[(.*?)\]\(#", TEXT, re.M)
    assert listed == re.findall(r"^## (.*)$", TEXT, re.M)


def test_what_the_page_names_is_there():
    for name in set(re.findall(r"\bhl\.(\w+)", TEXT)) - {"torch", "jax"}:
        assert hasattr(hl, name), name
    for name in set(re.findall(r"\bsim\.(\w+)\(", TEXT)):
        assert hasattr(hl.Simulation, name), name
    for name in set(re.findall(r"\bheat\.(\w+)\(", TEXT)):
        assert hasattr(hl.Program, name), name


def test_the_table_of_errors_is_whole():
    errors = section("Errors")
    assert [name for name in errors_there_are if name not in ("Error", "Diagnostic") and f"`{name}`" not in errors] == []
