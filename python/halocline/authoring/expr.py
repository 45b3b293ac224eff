"""Expressions: Python's operators on them, accesses to neighbours and levels, and assignments to them."""

from __future__ import annotations

import operator
from fractions import Fraction

from .._errors import UnknownNameError
from .axes import Axis, Cells, Face, Iteration, Offset, Time, t
from .builder import building
from .errors import StencilError
from .levels import Level
from .node import Node, Piece, joined
from .numbers import is_number, number_text
from .places import here

_NO_TRUTH = (
    "an expression of a stencil is neither true nor false while the stencil is built: hl.where(condition, a, b) chooses"
    " a value, `with hl.where(condition):` is for some cells alone, & | ~ stand for and, or, not, and comparisons are"
    " not chained"
)
_NO_NUMBER = "an expression of a stencil has no value while the stencil is built; functions of it are hl.sin, hl.exp, …"

# What other libraries call what a field has.
FOREIGN = {
    "forward": "u.next",
    "backward": "u.prev",
    "laplace": "hl.laplacian(u)",
    "dx": "hl.d(u, x)",
    "dy": "hl.d(u, y)",
    "dz": "hl.d(u, z)",
    "dx2": "hl.d2(u, x)",
    "dy2": "hl.d2(u, y)",
    "dz2": "hl.d2(u, z)",
    "center": "u",
    "real": "u.re",
    "imag": "u.im",
    "T": "u: fields have axes, and no order of them",
    "shape": "hl.len(x), the number of cells along an axis",
}


class Expr(Node):
    """A value at each cell. Operators make expressions of it, and so do hl.sqrt and the other functions."""

    __slots__ = ()

    # ---- arithmetic

    def __add__(self, other):
        return _binary(self, " + ", other, Level.SUM)

    def __radd__(self, other):
        if type(other) is int and other == 0:
            return self  # Python's sum() begins with it
        return _binary(other, " + ", self, Level.SUM)

    def __sub__(self, other):
        return _binary(self, " - ", other, Level.SUM)

    def __rsub__(self, other):
        return _binary(other, " - ", self, Level.SUM)

    def __mul__(self, other):
        return _binary(self, " * ", other, Level.PRODUCT)

    def __rmul__(self, other):
        if type(other) is int and other == 1:
            return self  # math.prod() begins with it
        return _binary(other, " * ", self, Level.PRODUCT)

    def __truediv__(self, other):
        return _binary(self, " / ", other, Level.PRODUCT)

    def __rtruediv__(self, other):
        return _binary(other, " / ", self, Level.PRODUCT)

    def __floordiv__(self, other):
        return _function("div", self, other)

    def __rfloordiv__(self, other):
        return _function("div", other, self)

    def __mod__(self, other):
        return _function("mod", self, other)

    def __rmod__(self, other):
        return _function("mod", other, self)

    def __pow__(self, exponent, modulus=None):
        if modulus is not None:
            return NotImplemented
        return _power(self, exponent)

    def __rpow__(self, base):
        return _power(base, self)

    def __neg__(self):
        return Expr(Level.SIGN, "-", (self, Level.POWER))

    def __pos__(self):
        return self

    def __abs__(self):
        return call("abs", self)

    def __round__(self, digits=None):
        if digits is not None:
            raise StencilError("hl.round takes the nearest whole number: round(100 * u) / 100 keeps two digits")
        return call("round", self)

    def __floor__(self):
        return call("floor", self)

    def __ceil__(self):
        return call("ceil", self)

    def __trunc__(self):
        return call("trunc", self)

    # ---- conditions

    def __lt__(self, other):
        return _compare(self, " < ", other)

    def __le__(self, other):
        return _compare(self, " <= ", other)

    def __gt__(self, other):
        return _compare(self, " > ", other)

    def __ge__(self, other):
        return _compare(self, " >= ", other)

    def __eq__(self, other):
        return _compare(self, " == ", other)

    def __ne__(self, other):
        return _compare(self, " != ", other)

    __hash__ = object.__hash__

    def __and__(self, other):
        return _logical(self, " and ", other, Level.AND)

    def __rand__(self, other):
        return _logical(other, " and ", self, Level.AND)

    def __or__(self, other):
        return _logical(self, " or ", other, Level.OR)

    def __ror__(self, other):
        return _logical(other, " or ", self, Level.OR)

    def __xor__(self, other):
        return _compare(self, " != ", other)

    __rxor__ = __xor__

    def __invert__(self):
        return Expr(Level.NOT, "not ", (self, Level.COMPARISON))

    # ---- neighbours, levels and components

    @property
    def next(self) -> Expr:
        """The new value, at t+1. Assign it to say what a step does."""
        return access(self, t + 1)

    @property
    def prev(self) -> Expr:
        """The value one step before, at t-1; u[t-2] is older."""
        return access(self, t - 1)

    def __getitem__(self, key) -> Expr:
        return access(self, key)

    def __setitem__(self, key, value) -> None:
        assign(access(self, key), value)

    def __getattr__(self, name: str) -> Expr:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._component(name)

    def __setattr__(self, name: str, value) -> None:
        if name.startswith("_"):
            raise UnknownNameError(f"{name!r} is no component: v.x = … assigns the component x, u.next = … the new value")
        assign(getattr(self, name), value)

    def _component(self, name: str) -> Expr:
        if name in FOREIGN:
            raise foreign_attribute(name)
        if not name.isidentifier() or not name.isascii():
            raise StencilError(f"{name!r} is no name of a component")
        return Expr(Level.POSTFIX, (self, Level.POSTFIX), f".{name}")

    def _check_number(self, number: int) -> None:
        """A field knows its components; of what is computed the compiler does."""

    # ---- what an expression is not

    def __bool__(self):
        raise StencilError(_NO_TRUTH)

    def __iter__(self):
        raise StencilError("an expression cannot be iterated over; v[0], v[1] are components that have numbers")

    def __len__(self):
        raise StencilError("an expression has no length; hl.len(x) is the number of cells along x")

    def __contains__(self, _):
        raise StencilError("an expression holds nothing that could be looked for in it")

    def __float__(self):
        raise StencilError(_NO_NUMBER)

    __int__ = __complex__ = __index__ = __float__

    def __repr__(self) -> str:
        from .text import text_of

        return text_of(self)

    # ---- numpy and sympy

    __array_priority__ = 1000
    _op_priority = 1000  # lets sympy leave `symbol - u` to __rsub__

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        from .arrays import apply_ufunc

        return apply_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function, _types, arguments, options):
        from .arrays import apply_function

        return apply_function(function, arguments, options)


def foreign_attribute(name: str) -> UnknownNameError:
    return UnknownNameError(f"`.{name}` is written {FOREIGN[name]} here")


# ---- making expressions -------------------------------------------------------------------------


def expression(value, what: str = "this") -> Expr:
    """What a Python value means as an expression."""
    found = _operand(value)
    if found is NotImplemented:
        raise StencilError(f"{what} is {value!r}, of type {type(value).__name__}, and no expression of a stencil")
    return found


def _operand(value):
    """The expression that a value means; NotImplemented where it means none."""
    if isinstance(value, Expr):
        return value
    if is_number(value):
        text, level = number_text(value)
        return Expr(level, text)
    if isinstance(value, (list, tuple)):
        return Expr(Level.PRIMARY, "[", *joined(expression(element, "an element") for element in value), "]")
    if isinstance(value, (Axis, Iteration, Time)):
        value._has_no_value()
    if isinstance(value, Offset):
        raise StencilError(
            f"`{value!r}` is an offset: u[{value!r}] is a neighbour, hl.pos({value._axis._name}) a value"
        )
    hint = getattr(type(value), "_halocline_hint", None)
    if hint is not None:
        raise StencilError(hint)
    if type(value).__module__.partition(".")[0] == "sympy":
        from .symbolic import from_sympy

        return from_sympy(value)
    if hasattr(value, "__array__") and getattr(value, "ndim", 0) == 1:
        return _operand(value.tolist())  # a vector
    return NotImplemented


def call(name: str, *arguments, **keywords) -> Expr:
    """NAME(a, b, order=4). Axes may be arguments, too."""
    pieces: list[Piece] = joined(
        each if isinstance(each, Axis) else expression(each, f"an argument of {name}") for each in arguments
    )
    for key, value in keywords.items():
        if value is None:
            continue
        is_word = isinstance(value, str) and value.isidentifier()
        word = Expr(Level.PRIMARY, value) if is_word else expression(value, f"{key}=")
        pieces += [f"{', ' if pieces else ''}{key}=", (word, Level.CONDITIONAL)]
    return Expr(Level.PRIMARY, f"{name}(", *pieces, ")")


def _function(name: str, *arguments):
    operands = [_operand(each) for each in arguments]
    return NotImplemented if NotImplemented in [type(each) for each in operands] else call(name, *operands)


def _binary(left, sign: str, right, level: Level):
    """A sum or a product: from left to right, so that the right operand binds more tightly."""
    first, second = _operand(left), _operand(right)
    if first is NotImplemented or second is NotImplemented:
        return NotImplemented
    return Expr(level, (first, level), sign, (second, Level(level + 1)))


def _power(base, exponent):
    first, second = _operand(base), _operand(exponent)
    if first is NotImplemented or second is NotImplemented:
        return NotImplemented
    return Expr(Level.POWER, (first, Level.POSTFIX), "^", (second, Level.SIGN))


def _compare(left, sign: str, right):
    first, second = _operand(left), _operand(right)
    if first is NotImplemented or second is NotImplemented:
        raise StencilError(f"{right!r} is nothing that an expression can be compared with")
    return Expr(Level.COMPARISON, (first, Level.SUM), sign, (second, Level.SUM))


def _logical(left, sign: str, right, level: Level):
    for operand in (left, right):
        if is_number(operand) and not isinstance(operand, bool):
            raise StencilError(f"put comparisons into parentheses: `(a > 0) & (b > 0)`; & is of {operand!r} here")
    first, second = _operand(left), _operand(right)
    if first is NotImplemented or second is NotImplemented:
        return NotImplemented
    return Expr(level, (first, level), sign, (second, Level(level + 1)))


# ---- reads and assignments ----------------------------------------------------------------------


def access(base: Expr, key) -> Expr:
    """base[x+1, t-1], a component base[3] or base["x"], or base[:], which is base itself."""
    keys = key if isinstance(key, tuple) else (key,)
    offsets: list[Node] = []
    for each in keys:
        if isinstance(each, slice) and each == slice(None) or each is Ellipsis:
            continue
        if isinstance(each, Offset):
            if each._distance != 0 or isinstance(each._axis, Iteration):
                offsets.append(each)
        elif isinstance(each, Iteration):
            offsets.append(each)
        elif isinstance(each, (Axis, Time)):
            continue  # u[x, y+1]: at the cell itself along x
        elif isinstance(each, str):
            base = base._component(each)
        else:
            base = _numbered(base, each)
    return Expr(Level.POSTFIX, (base, Level.POSTFIX), "[", *joined(offsets), "]") if offsets else base


def _numbered(base: Expr, key) -> Expr:
    if isinstance(key, (Face, Cells)):
        raise StencilError(f"for some cells alone write `with hl.on({key!r}):` around the assignment")
    if isinstance(key, slice):
        raise StencilError("u[:] is all cells; `with hl.on(x[1:-1]):` is for some cells alone")
    if isinstance(key, Fraction) or not hasattr(type(key), "__index__") or isinstance(key, Expr):
        raise StencilError(f"an offset names its axis: u[x+1] is a neighbour; this is {key!r}")
    number = operator.index(key)
    if number < 0:
        raise StencilError(f"components have numbers from 0; an offset names its axis: u[x{number}]")
    base._check_number(number)
    return Expr(Level.POSTFIX, (base, Level.POSTFIX), f".{number}")


def assign(target: Expr, value) -> None:
    builder = building("an assignment to a field")
    result = expression(value, "what is assigned")
    place = here()
    moved = Expr(target._level, *target._pieces, place=place)
    builder.add("step", (moved, Level.CONDITIONAL), " = ", (result, Level.CONDITIONAL))
