"""Programs from Python expressions: what `import halocline as hl` has for them is listed in __all__."""

from __future__ import annotations

from . import functions
from .axes import Axis, t
from .boundaries import (
    Boundary,
    antimirror,
    antisymmetric,
    clamp,
    extrapolate,
    fixed,
    free,
    gradient,
    mirror,
    periodic,
    robin,
    symmetric,
)
from .declare import accuracy, coef, const, fast, field, fields, let, origin, param, schedule, spacing, use
from .diagnose import PlacedDiagnostic
from .errors import SpecWarning, StencilError
from .expr import Expr
from .functions import *  # noqa: F403 (the functions that it lists)
from .samples import inject, points, rows, sample, series, table
from .stencil import Stencil, stencil
from .symbolic import from_sympy

__all__ = [
    *functions.__all__,
    *("Axis", "Boundary", "Expr", "PlacedDiagnostic", "SpecWarning", "Stencil", "StencilError"),
    *("antimirror", "antisymmetric", "clamp", "extrapolate", "fixed", "free", "gradient", "mirror", "periodic"),
    *("robin", "symmetric", "accuracy", "coef", "const", "fast", "field", "fields", "let", "origin", "param"),
    *("schedule", "spacing", "use", "points", "inject", "sample", "table", "rows", "series", "from_sympy", "stencil", "t"),
]
