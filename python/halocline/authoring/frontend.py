"""The compiler, as the stencils of Python need it."""

from __future__ import annotations


class SpecError(ValueError):
    def __init__(self, message, diagnostics):
        super().__init__(message)
        self.diagnostics = diagnostics


class SpecWarning(UserWarning):
    pass


def check(text: str, name: str, include: list[str]) -> list[dict]:
    raise NotImplementedError
