"""What the tests of stencils from Python compare with: the command's formatter and the compiler's own view of a spec."""

from __future__ import annotations

import os
import subprocess
import textwrap

import halocline as hl
import pytest

HALOC = os.environ.get("HALOC", "")


def formatted(text: str) -> str:
    """What `haloc fmt` makes of a text."""
    if not HALOC:
        pytest.skip("HALOC names no command haloc, whose formatter this compares with")
    done = subprocess.run([HALOC, "fmt", "/dev/stdin"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def meaning(text: str) -> str:
    """The program that a text means, as the compiler prints it."""
    return hl.compile(text).emit(target="stencil")


def assert_same(stencil: hl.Stencil, text: str) -> None:
    """The stencil means what a text means that is written by hand, and is laid out as the formatter does it."""
    assert meaning(stencil.text) == meaning(textwrap.dedent(text))
    assert formatted(stencil.text) == stencil.text


def body(stencil: hl.Stencil) -> list[str]:
    """The lines of a stencil without its first and last, blank ones left out."""
    return [line.strip() for line in stencil.text.splitlines()[1:-1] if line.strip()]
