"""The compiler, as stencils of Python need it."""

from __future__ import annotations

import json

from .. import _core


def check(text: str, name: str, include: list[str]) -> list[dict]:
    """All messages about a text, as `haloc check --json` prints them. include: folders of modules."""
    return json.loads(_core.check_json(text, name, include))
