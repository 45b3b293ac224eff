"""What is raised while a stencil is built, before the compiler has seen its text."""

from __future__ import annotations


class StencilError(TypeError):
    """Python that cannot be a stencil: a condition in an `if`, a field without a name, a value of a wrong kind. The
    traceback ends at the line that it is about. Mistakes that the compiler finds are a SpecError instead."""
