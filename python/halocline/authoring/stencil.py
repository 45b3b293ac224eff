"""@hl.stencil: a function over the axes becomes a program."""

from __future__ import annotations

import inspect
import os
import warnings

from . import frontend
from .axes import Axis, Time, t
from .builder import Builder, activate
from .diagnose import Diagnostic, diagnostics_of
from .errors import StencilError
from .places import Place


class Stencil:
    """A program that was built from Python. print() shows its text; all that a compiled program has, this has, too."""

    def __init__(self, name: str, text, place: Place):
        self.name = name
        self._text = text
        self._place = place
        self._programs: dict = {}

    @property
    def text(self) -> str:
        """The program as a .halo file has it."""
        return str(self._text)

    def __str__(self) -> str:
        return self.text.rstrip("\n")

    def __repr__(self) -> str:
        return f"<halocline stencil {self.name}>"

    def check(self) -> list[Diagnostic]:
        """All messages of the compiler, at the lines of Python that they are about."""
        file = f"{self.name}.halo"
        folder = os.path.dirname(self._place.code.co_filename)
        found = frontend.check(self.text, file, [folder] if folder else [])
        return diagnostics_of(found, self._text, file, self._place)


def stencil(function=None, *, name: str | None = None):
    """Builds a program from a function whose parameters are the axes, fastest first:

        @hl.stencil
        def heat(x, y):
            lam, dt = hl.param(1), hl.param(0.2)
            u = hl.field("f32", boundary=hl.fixed(10))
            u.next = u + lam * dt * hl.laplacian(u)

    The function is called once, here. Its docstring becomes the text's comment. A parameter `t` is the time, for
    u[t-1]. Raises SpecError with the mistakes that the compiler finds."""
    if function is None:
        return lambda decorated: stencil(decorated, name=name)
    if not inspect.isfunction(function):
        raise StencilError(f"@hl.stencil decorates a function whose parameters are the axes; this is {function!r}")
    code = function.__code__
    place = Place(code, -1)
    axes = _axes(function)
    comment = inspect.getdoc(function)
    builder = Builder(
        name or function.__name__, [each for each in axes if each != "t"], comment.splitlines() if comment else [], place
    )
    with activate(builder):
        result = function(*(t if each == "t" else Axis(each, builder) for each in axes))
    if result is not None:
        raise StencilError(f"{function.__name__} returns a value: results are fields, u.next = … or out[:] = …")
    built = Stencil(builder.name, builder.print(), place)
    _complain(built.check())
    return built


def _axes(function) -> list[str]:
    axes = []
    for parameter in inspect.signature(function).parameters.values():
        is_plain = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        if not is_plain or parameter.default is not parameter.empty:
            raise StencilError(
                f"the parameters of a stencil are its axes, `def {function.__name__}(x, y):`; `{parameter}` is none. For"
                " stencils that differ by a number decorate within a function that takes it"
            )
        if not parameter.name.isascii():
            raise StencilError(f"the axis {parameter.name!r} is no name of ASCII letters, digits and _")
        axes.append(parameter.name)
    if not set(axes) - {"t"}:
        raise StencilError(f"a stencil has an axis at least: def {function.__name__}(x):")
    return axes


def _complain(found: list[Diagnostic]) -> None:
    for each in found:
        if each.severity == "warning":
            warnings.warn_explicit(str(each), frontend.SpecWarning, each.location.file, each.location.line)
    errors = [each for each in found if each.severity == "error"]
    if errors:
        raise frontend.SpecError("\n\n".join(str(each) for each in errors), found)
