"""Functions of expressions, derivatives, reductions, and statements for some cells alone."""

from __future__ import annotations

from .axes import Axis, Cells, Face, Iteration
from .builder import building
from .declare import Symbol, declared_name
from .errors import StencilError
from .expr import Expr, call, expression
from .levels import Level
from .node import Piece, joined
from .places import here

__all__ = (  # what `halocline` has of these
    "sqrt rsqrt cbrt exp log sin cos tan asin acos atan sinh cosh tanh floor ceil round trunc abs re im arg conj pow"
    " atan2 mod div min max sum mean norm1 norm2 where on sweep repeat d d2 laplacian biharmonic grad curl upwind interpolate dot cross norm"
    " pos idx len random normal reduce reduction pi step time"
).split()


def _of_one(name: str, text: str):
    def function(value) -> Expr:
        return call(name, value)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


sqrt = _of_one("sqrt", "The square root.")
rsqrt = _of_one("rsqrt", "One over the square root.")
cbrt = _of_one("cbrt", "The cube root.")
exp = _of_one("exp", "The exponential function, also of complex numbers.")
log = _of_one("log", "The natural logarithm.")
sin = _of_one("sin", "The sine.")
cos = _of_one("cos", "The cosine.")
tan = _of_one("tan", "The tangent.")
asin = _of_one("asin", "The inverse sine.")
acos = _of_one("acos", "The inverse cosine.")
atan = _of_one("atan", "The inverse tangent.")
sinh = _of_one("sinh", "The hyperbolic sine.")
cosh = _of_one("cosh", "The hyperbolic cosine.")
tanh = _of_one("tanh", "The hyperbolic tangent.")
floor = _of_one("floor", "The whole number at or below.")
ceil = _of_one("ceil", "The whole number at or above.")
round = _of_one("round", "The nearest whole number, of two the even one.")
trunc = _of_one("trunc", "The whole number towards 0.")
abs = _of_one("abs", "The absolute value, also of complex numbers. Python's abs does the same.")
re = _of_one("re", "The real part.")
im = _of_one("im", "The imaginary part.")
arg = _of_one("arg", "The argument of a complex number.")
conj = _of_one("conj", "The complex conjugate.")
norm = _of_one("norm", "The length of a vector.")


pi = Symbol("pi", None)
step = Symbol("step", None)  # steps done before this one
time = Symbol("time", None)  # step * dt


def pow(base, exponent) -> Expr:
    """base to the power of exponent, as a function; base**exponent is multiplications where it can be."""
    return call("pow", base, exponent)


def atan2(y, x) -> Expr:
    """The angle of the point (x, y)."""
    return call("atan2", y, x)


def mod(a, b) -> Expr:
    """a - b*div(a, b), of the sign of b; a % b is the same."""
    return call("mod", a, b)


def div(a, b=None, *, order=None) -> Expr:
    """The divergence of a vector; of two numbers the quotient rounded down, as a // b."""
    return call("div", a, order=order) if b is None else call("div", a, b)


def dot(a, b) -> Expr:
    """The scalar product of two vectors."""
    return call("dot", a, b)


def cross(a, b) -> Expr:
    """The vector product; in two dimensions a number."""
    return call("cross", a, b)


# ---- coordinates --------------------------------------------------------------------------------


def pos(axis: Axis) -> Expr:
    """The coordinate of the cell along an axis."""
    return call("pos", _axis("pos", axis))


def idx(axis: Axis) -> Expr:
    """The index of the cell along an axis, from 0."""
    return call("idx", _axis("idx", axis))


def len(axis: Axis) -> Expr:
    """The number of cells along an axis."""
    return call("len", _axis("len", axis))


def _axis(what: str, axis) -> Axis:
    if not isinstance(axis, Axis):
        raise StencilError(f"hl.{what} takes an axis; this is {axis!r}")
    return axis


# ---- derivatives --------------------------------------------------------------------------------


def d(value, *axes: Axis, order=None, side: str | None = None) -> Expr:
    """The first derivative along an axis, or a mixed one along several; order: of accuracy; side: "low" or "high"."""
    return call("d", value, *(_axis("d", axis) for axis in axes), side=_side(side), order=order)


def d2(value, axis: Axis, *, order=None) -> Expr:
    """The second derivative along an axis."""
    return call("d2", value, _axis("d2", axis), order=order)


def laplacian(value, *, order=None) -> Expr:
    """The sum of the second derivatives along all axes."""
    return call("laplacian", value, order=order)


def biharmonic(value, *, order=None) -> Expr:
    """The sum of the fourth derivatives: the Laplacian of the Laplacian."""
    return call("biharmonic", value, order=order)


def grad(value, *, order=None) -> Expr:
    """The vector of the first derivatives, with the axes' names."""
    return call("grad", value, order=order)


def curl(value, *, order=None) -> Expr:
    """The curl of a vector; in two dimensions a number, and of a number a vector."""
    return call("curl", value, order=order)


def upwind(value, axis: Axis, speed, *, order=None) -> Expr:
    """speed times the first derivative, taken on the side that speed comes from; order: 1, 2, 3 or 5."""
    return call("upwind", value, _axis("upwind", axis), speed, order=order)


def interpolate(value, *axes: Axis, order=None) -> Expr:
    """The value half a cell away along these axes."""
    return call("interpolate", value, *(_axis("interpolate", axis) for axis in axes), order=order)


def _side(side: str | None) -> str | None:
    if side not in (None, "low", "high"):
        raise StencilError(f'side= is "low" or "high"; this is {side!r}')
    return side


# ---- noise --------------------------------------------------------------------------------------


class Noise(Expr):
    """A call of random() or normal(). Each place where it is written is noise of its own, so it stands in one alone."""

    __slots__ = ()
    _is_noise = True


def random() -> Expr:
    """A random number in each cell and step, uniform in [0, 1)."""
    return Noise(Level.PRIMARY, "random()")


def normal() -> Expr:
    """A random number in each cell and step, of mean 0 and variance 1."""
    return Noise(Level.PRIMARY, "normal()")


# ---- conditions, and some cells alone -----------------------------------------------------------


class _Block:
    """`with hl.where(…):`, `with hl.on(…):`, `with hl.sweep(…):` and `with hl.repeat(…):`"""

    _halocline_hint = "hl.where(condition) alone is for `with`; hl.where(condition, a, b) is a value"

    def __init__(self, *pieces: Piece):
        self._pieces = pieces
        self._open = None
        self._builder = building("`with` for some cells")
        self._builder.unopened[self] = here()

    def __enter__(self) -> None:
        self._builder.unopened.pop(self, None)
        self._open = self._builder.block(*self._pieces)
        self._open.__enter__()

    def __exit__(self, *raised):
        return self._open.__exit__(*raised)


def where(condition, value=None, otherwise=None):
    """hl.where(c, a, b) is a where c holds and b elsewhere; `with hl.where(c):` is for the cells where it holds."""
    if value is None and otherwise is None:
        return _Block("where ", (expression(condition, "the condition"), Level.CONDITIONAL))
    if value is None or otherwise is None:
        raise StencilError("hl.where(condition, a, b) takes two values, and `with hl.where(condition):` none")
    if isinstance(condition, bool):
        return expression(value if condition else otherwise)
    return Expr(
        Level.CONDITIONAL,
        *("if ", (expression(condition, "the condition"), Level.OR)),
        *(" then ", (expression(value), Level.OR)),
        *(" else ", (expression(otherwise), Level.CONDITIONAL)),
    )


def on(*cells) -> _Block:
    """`with hl.on(x.low, y[10:-10]):` is for the cells that lie in all of these faces and ranges."""
    return _Block("on ", *_cells(cells))


def sweep(axis, way="up", in_parts=False) -> _Block:
    """`with hl.sweep(y, "down"):` goes along an axis cell after cell, from the low face "up" or from the high one "down".
    One within another goes along both axes. With `in_parts` a GPU may cut lines into parts, whose results agree to rounding."""
    if not isinstance(axis, Axis):
        raise StencilError(f"hl.sweep goes along an axis, a parameter of the stencil's function; this is {axis!r}")
    if way not in ("up", "down"):
        raise StencilError(f'a sweep goes "up" or "down"; this is {way!r}')
    return _Block("sweep ", (axis, Level.PRIMARY), f" {way} in parts" if in_parts else f" {way}")


class _Repeat(_Block):
    def __init__(self, name: str, *pieces: Piece):
        super().__init__(*pieces)
        self._level = Iteration(name, None)

    def __enter__(self) -> Iteration:
        super().__enter__()
        return self._level


def repeat(count=None, name="k", *, until=None, at_most=None) -> _Block:
    """`with hl.repeat(20) as k:` does its statements 20 times in a step; p[k + 1] = F(p[k]) are levels of the iteration.

    With until= it ends after the first iteration for which a condition on reductions of the block holds, and
    after at_most= iterations anyway: m = hl.reduction(); with hl.repeat(until=m < 1e-6, at_most=500) as k: …
    """
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        raise StencilError(f"name= is what the iteration is called in the spec; this is {name!r}")
    if (until is None) != (at_most is None) or (count is None) == (until is None):
        raise StencilError("hl.repeat takes a number of iterations, or until= a condition and at_most= a number")
    number = (expression(count if until is None else at_most, "the number of iterations"), Level.CONDITIONAL)
    if until is None:
        return _Repeat(name, f"repeat {name} to ", number)
    condition = (expression(until, "the condition"), Level.CONDITIONAL)
    return _Repeat(name, f"repeat {name} until ", condition, ", at most ", number)


def _cells(cells) -> list[Piece]:
    if not cells or not all(isinstance(each, (Face, Cells)) for each in cells):
        raise StencilError(f"hl.on takes faces (x.low) and ranges of cells (y[10:-10]); this is {cells!r}")
    return joined(cells)


# ---- reductions ---------------------------------------------------------------------------------


class Reduced:
    """max(u) of all cells: what hl.reduce gives a name."""

    _halocline_hint = (
        "hl.sum, min, max, mean, norm1 and norm2 of one argument are of all cells: name them by hl.reduce, m = hl.reduce(hl.max(u))"
    )

    def __init__(self, operation: str, value):
        self.operation = operation
        self.value = expression(value, f"what hl.{operation} is of")
        self.place = here()

    def _refuse(self, *_):
        raise StencilError(self._halocline_hint)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __pow__ = __rpow__ = __abs__ = _refuse


def max(*values):
    """The largest of two values or more; of one value the largest of all cells, for hl.reduce."""
    return _largest("max", values)


def min(*values):
    """The smallest of two values or more; of one value the smallest of all cells, for hl.reduce."""
    return _largest("min", values)


def _largest(name: str, values: tuple):
    if not values or any(isinstance(value, (list, tuple)) for value in values):
        raise StencilError(f"hl.{name} takes its values one by one: hl.{name}(a, b), hl.{name}(*values)")
    return Reduced(name, values[0]) if values[1:] == () else call(name, *values)


def sum(value) -> Reduced:
    """The sum over all cells, for hl.reduce. Python's own sum adds up a list of expressions."""
    if not isinstance(value, Expr) and hasattr(value, "__iter__"):
        raise StencilError("hl.sum is of all cells, for hl.reduce; Python's sum(…) adds up expressions")
    return Reduced("sum", value)


def mean(value) -> Reduced:
    """The mean over all cells that have a value, for hl.reduce."""
    return Reduced("mean", value)


def norm1(value) -> Reduced:
    """The sum of absolute values over all cells, for hl.reduce."""
    return Reduced("norm1", value)


def norm2(value) -> Reduced:
    """The square root of the sum of squares over all cells, for hl.reduce."""
    return Reduced("norm2", value)


def reduce(reduced: Reduced | None = None, *, start=None, on=None, where=None, name: str | None = None, **named):
    """Makes one number of all cells: change = hl.reduce(hl.max(abs(u.next - u))), or hl.reduce(change=hl.max(…)).

    start: its value before the first step, for statements before this one; where: a condition, on: faces and ranges
    of cells, for some cells alone. Returns the number (of several a tuple), known from here on."""
    builder = building("hl.reduce")
    if reduced is not None:
        named = {declared_name("hl.reduce", name): reduced, **named}
    if not named:
        raise StencilError("hl.reduce takes a reduction: hl.reduce(change=hl.max(abs(u.next - u)))")
    found = tuple(_reduce(builder, key, each, start, on, where) for key, each in named.items())
    return found[0] if found[1:] == () else found


def _reduce(builder, name: str, reduced, start, on, where) -> Symbol:
    if not isinstance(reduced, Reduced):
        raise StencilError(f"`{name}` is to be hl.sum, hl.min, hl.max, hl.mean, hl.norm1 or hl.norm2 of an expression; it is {reduced!r}")
    pieces: list[Piece] = [f"reduce {declared_name('hl.reduce', name)} = "]
    pieces += [f"{reduced.operation}(", (reduced.value, Level.CONDITIONAL), ")"]
    if start is not None:
        pieces += [" start ", (expression(start), Level.CONDITIONAL)]
    if on is not None:
        pieces += [" on ", *_cells(on if isinstance(on, tuple) else (on,))]
    if where is not None:
        pieces += [" where ", (expression(where), Level.CONDITIONAL)]
    builder.add("reduction", *pieces)
    return Symbol(name, builder)


def reduction(*, name: str | None = None) -> Symbol:
    """A reduction that a later hl.reduce of this name defines: before it, its value is that of the last step."""
    return Symbol(declared_name("hl.reduction", name), building("hl.reduction"))
