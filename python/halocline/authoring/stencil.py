"""@hl.stencil: a function over the axes becomes a program."""

from __future__ import annotations

import inspect
import os
import warnings
from functools import cached_property

from .. import _program
from .._errors import SpecError, UnknownNameError
from . import frontend
from .axes import Axis, t
from .builder import Builder, activate
from .declare import spelled
from .diagnose import PlacedDiagnostic, diagnostics_of
from .errors import SpecWarning, StencilError
from .places import Place
from .text import SpecText


class Stencil:
    """A program that was built from Python. print() shows its text; all that a compiled program has, this has, too."""

    def __init__(self, name: str, text: SpecText, place: Place):
        self.name = name
        self._text = text
        self._place = place

    @property
    def text(self) -> str:
        """The program as a .halo file has it."""
        return str(self._text)

    def __str__(self) -> str:
        return self.text.rstrip("\n")

    def __repr__(self) -> str:
        return f"<halocline.Stencil {self.name}>"

    def _repr_html_(self) -> str:
        return self.program._repr_html_()

    def check(self) -> list[PlacedDiagnostic]:
        """All messages of the compiler, at the lines of Python that they are about."""
        found = frontend.check(self.text, self._file, self._include())
        return diagnostics_of(found, self._text, self._file, self._place)

    def compile(self, **options) -> _program.Program:
        """The program with options of halocline.compile: schedule, strict_fp and others."""
        include = [*self._include(), *_program._list(options.pop("include", None))]
        return _program.compile(self.text, name=self._file, include=include, **options)

    @cached_property
    def program(self) -> _program.Program:
        """The program without options: what simulate() and the other methods of a Program are of."""
        return self.compile()

    def __getattr__(self, name: str):
        if name.startswith("_") or not hasattr(_program.Program, name):
            raise UnknownNameError(f"a stencil has no {name!r}, and neither has a halocline.Program")
        return getattr(self.program, name)

    def __dir__(self):
        return [*super().__dir__(), *(name for name in dir(_program.Program) if not name.startswith("_"))]

    @property
    def _file(self) -> str:
        return f"{self.name}.halo"

    def _include(self) -> list[str]:
        """Modules are looked for beside the Python file, as beside a .halo file."""
        folder = os.path.dirname(os.path.abspath(self._place.code.co_filename))
        return [folder] if os.path.isdir(folder) else []


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
        spelled(name or function.__name__),
        [each for each in axes if each != "t"],
        comment.splitlines() if comment else [],
        place,
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
                f"the parameters of a stencil are its axes, `def {function.__name__}(x, y):`; `{parameter}` is none."
                " For stencils that differ by a number decorate within a function that takes it"
            )
        if not parameter.name.isascii():
            raise StencilError(f"the axis {parameter.name!r} is no name of ASCII letters, digits and _")
        axes.append(parameter.name)
    if not set(axes) - {"t"}:
        raise StencilError(f"a stencil has an axis at least: def {function.__name__}(x):")
    return axes


def _complain(found: list[PlacedDiagnostic]) -> None:
    for each in found:
        if not each.is_error:
            warnings.warn_explicit(str(each), SpecWarning, each.file, each.line)
    if any(each.is_error for each in found):
        raise SpecError("\n\n".join(str(each) for each in found if each.is_error), found)
