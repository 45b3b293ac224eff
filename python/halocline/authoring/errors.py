"""What is raised while a stencil is built, before the compiler has seen its text, and the warnings of the compiler."""

from __future__ import annotations

from .._errors import Error


class StencilError(Error, TypeError):
    """Python that cannot be a stencil: a condition in an ``if``, a field without a name, a value of a wrong kind. The
    traceback ends at the line that it is about. Mistakes that the compiler finds are a SpecError instead."""


class SpecWarning(UserWarning):
    """What the compiler warns of: a stencil that is right, and likely not what is meant."""
