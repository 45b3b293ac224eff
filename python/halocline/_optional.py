"""Libraries that are used where they are there. numpy alone is asked for."""

from __future__ import annotations

import importlib
from types import ModuleType

from ._errors import MissingLibraryError

__all__ = ["needed"]


def needed(module: str, what: str, extra: str) -> ModuleType:
    """The module. Raises MissingLibraryError that says what to install; what: `array.to_xarray()`."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != module.partition(".")[0]:
            raise  # the library is there, and one that it needs is not
        raise MissingLibraryError(
            f"{what} needs {module}, which is not installed: pip install halocline[{extra}], or pip install {module}",
            name=module,
        ) from error
