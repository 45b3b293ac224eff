"""``%%halo``: a cell of a notebook that is a spec. ``%load_ext halocline`` brings it."""

from __future__ import annotations

import shlex
from typing import Any

from ._errors import ArgumentError, SpecError
from ._program import Program, compile

__all__ = ["load"]

_OPTIONS = """%%halo [NAME] [--stencil S] [--schedule TEXT]… [--include FOLDER]… [--strict-fp]"""


def _parsed(line: str) -> tuple[str | None, dict[str, Any]]:
    name, options = None, {"stencil": "", "schedule": [], "include": [], "strict_fp": False}
    words = iter(shlex.split(line))
    for word in words:
        option = word.removeprefix("--").replace("-", "_")
        if word == "--strict-fp":
            options["strict_fp"] = True
        elif word.startswith("--") and option in ("stencil", "schedule", "include"):
            value = next(words, None)
            if value is None:
                raise ArgumentError(f"{word} needs a value: {_OPTIONS}")
            options[option] = value if option == "stencil" else [*options[option], value]
        elif not word.startswith("-") and name is None and word.isidentifier():
            name = word
        else:
            raise ArgumentError(f"%%halo does not know '{word}': {_OPTIONS}")
    return name, options


def _shown_as_text(error: Exception) -> Exception:
    """A notebook shows the message alone, with its lines and carets: the traceback is of this package."""
    error._render_traceback_ = lambda: str(error).splitlines()  # type: ignore[attr-defined]
    return error


def load(ipython: Any) -> None:
    """Registers the magic; called by ``%load_ext halocline``."""

    def halo(line: str, cell: str) -> Program:
        """A spec in a cell. It becomes a program, which is shown, and a variable: NAME, or the stencil's own name.

        %%halo [NAME] [--stencil S] [--schedule TEXT]… [--include FOLDER]… [--strict-fp]
        """
        try:
            name, options = _parsed(line)
            program = compile(cell + "\n", name=f"{name or 'cell'}.halo", **options)
        except (SpecError, ArgumentError) as error:
            raise _shown_as_text(error) from None
        ipython.push({name or program.name: program})
        return program

    ipython.register_magic_function(halo, "cell", "halo")
