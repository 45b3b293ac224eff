"""numpy's functions of expressions: np.sin(u) is hl.sin(u), np.where(c, a, b) is hl.where(c, a, b)."""

from __future__ import annotations

import operator

from . import functions as hl
from .errors import StencilError
from .expr import Expr, call, expression

_UFUNCS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "true_divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "mod": operator.mod,
    "power": operator.pow,
    "float_power": operator.pow,
    "negative": operator.neg,
    "positive": operator.pos,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "logical_and": operator.and_,
    "logical_or": operator.or_,
    "logical_not": operator.invert,
    "logical_xor": operator.ne,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "invert": operator.invert,
    "absolute": hl.abs,
    "fabs": hl.abs,
    "square": lambda a: a**2,
    "reciprocal": lambda a: 1 / a,
    "conjugate": hl.conj,
    "rint": hl.round,
    "arcsin": hl.asin,
    "arccos": hl.acos,
    "arctan": hl.atan,
    "arctan2": hl.atan2,
    "maximum": lambda a, b: call("max", a, b),
    "minimum": lambda a, b: call("min", a, b),
    **{name: getattr(hl, name) for name in "sqrt cbrt exp log sin cos tan sinh cosh tanh floor ceil trunc".split()},
}


def _clip(a, low, high):
    return call("min", call("max", a, low), high)


_FUNCTIONS = {
    "where": hl.where,
    "clip": _clip,
    "real": hl.re,
    "imag": hl.im,
    "angle": hl.arg,
    "round": hl.round,
    "around": hl.round,
    "dot": hl.dot,
    "cross": hl.cross,
}
_HINTS = {
    "sum": "hl.reduce(hl.sum(u)) is the sum over all cells",
    "amax": "hl.reduce(hl.max(u)) is the largest of all cells",
    "max": "hl.reduce(hl.max(u)) is the largest of all cells",
    "amin": "hl.reduce(hl.min(u)) is the smallest of all cells",
    "min": "hl.reduce(hl.min(u)) is the smallest of all cells",
    "roll": "u[x-1], u[x+1] are neighbours, with boundary=hl.periodic past the edges",
    "gradient": "hl.d(u, x) is a derivative, hl.grad(u) the vector of all",
    "diff": "u[x+1] - u is a difference, hl.d(u, x) a derivative",
}


def apply_ufunc(ufunc, method: str, inputs: tuple, options: dict) -> Expr:
    function = _UFUNCS.get(ufunc.__name__)
    if method != "__call__" or options or function is None:
        raise StencilError(f"numpy.{ufunc.__name__} of an expression is not known{_hint(ufunc.__name__)}")
    return function(*(expression(each, "an operand") for each in inputs))


def apply_function(function, arguments: tuple, options: dict) -> Expr:
    name = function.__name__
    known = _FUNCTIONS.get(name)
    if known is None or options:
        raise StencilError(f"numpy.{name} of an expression is not known{_hint(name)}")
    return known(*arguments)


def _hint(name: str) -> str:
    return f": {_HINTS[name]}" if name in _HINTS else ""
