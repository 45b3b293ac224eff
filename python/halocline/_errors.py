"""What halocline raises. Every exception has the mend in its text."""

from __future__ import annotations

import difflib
from typing import Iterable, NamedTuple, NoReturn

__all__ = [
    "Error",
    "SpecError",
    "ArgumentError",
    "ArrayError",
    "UnknownNameError",
    "UnsupportedError",
    "NoDeviceError",
    "DriverError",
    "DeviceMemoryError",
    "FileError",
    "CompileError",
    "LaunchError",
    "InternalError",
    "ClosedError",
    "ForkError",
    "MissingLibraryError",
    "Diagnostic",
]


class Diagnostic(NamedTuple):
    """One message about a spec."""

    is_error: bool
    """Else a warning."""
    kind: str
    """``'unknown-name'``, as ``haloc check --json`` has it."""
    message: str
    file: str
    line: int
    """From 1."""
    column: int
    """From 1, in characters."""
    mend: str
    """What to put there instead; empty where it is not known."""


class Error(Exception):
    """What halocline raises is an Error, and often also one of Python's own exceptions."""


class SpecError(Error, ValueError):
    """A spec or a condition has mistakes. ``str()`` shows each with its place and the line that it is about."""

    def __init__(self, message: str, diagnostics: Iterable[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics: list[Diagnostic] = list(diagnostics)
        """Each message with its place, kind and mend."""


class ArgumentError(Error, ValueError):
    """A name, size or value that cannot be. Nothing was done."""


class ArrayError(Error, TypeError, ValueError):
    """An array that does not fit: of another type, shape, layout or device."""


class UnknownNameError(Error, AttributeError, KeyError):
    """A field, parameter or reduction that the program does not have."""

    def __str__(self) -> str:  # KeyError would show the text in quotes
        return str(self.args[0]) if self.args else ""


class UnsupportedError(Error):
    """A schedule, or a grid for it, that cannot be built."""


class NoDeviceError(Error):
    """No driver, device or compiler, or no code for this one."""


class DriverError(Error):
    """The driver cannot load what was compiled."""


class DeviceMemoryError(Error, MemoryError):
    """A device, or the host, has too little memory."""


class FileError(Error, OSError):
    """A file or folder."""


class CompileError(Error):
    """Generated code was refused: a defect of Halocline."""


class LaunchError(Error):
    """A kernel could not start, or stopped with an error."""


class InternalError(Error):
    """A defect of Halocline, or of a driver."""


class ClosedError(Error):
    """A simulation is used after it was closed."""


class ForkError(Error):
    """What was made before a fork is used in the child."""


class MissingLibraryError(Error, ImportError):
    """An optional library that a method needs is not installed."""


# By halocline::ErrorCode; `spec` is made below.
_CLASSES = {
    2: ArgumentError,
    3: UnsupportedError,
    4: NoDeviceError,
    5: DriverError,
    6: DeviceMemoryError,
    7: FileError,
    8: CompileError,
    9: LaunchError,
    10: InternalError,
}


def _made(code: int, message: str, diagnostics: list[tuple]) -> Error:
    """The exception for one of the C++ interface; called by it."""
    if code == 1:
        return SpecError(message.rstrip("\n"), [Diagnostic(*each) for each in diagnostics])
    return _CLASSES.get(code, InternalError)(message)


def refuse_name(
    program: str, kind: str, name: str, known: Iterable[str], otherwise: str = "", also: Iterable[str] = ()
) -> NoReturn:
    """Raises UnknownNameError with the nearest name, of `also` too, else with all that there are."""
    known = list(known)
    near = difflib.get_close_matches(name, [*known, *also], 1)
    text = f"'{program}' has no {kind} '{name}'"
    if near:
        text += f"; is '{near[0]}' meant?"
    elif known:
        text += "; it has " + ", ".join(f"'{each}'" for each in known)
    raise UnknownNameError(text + otherwise) from None
