"""Points off the grid, series, and tables of rows that a stencil sums over."""

from __future__ import annotations

import inspect

from .._errors import UnknownNameError
from .axes import Time
from .builder import Builder, building
from .declare import Symbol, declared_name, declared_names, simple_type
from .errors import StencilError
from .expr import Expr, expression
from .levels import Level
from .node import Piece


class Points(Symbol):
    """A set of points, which lie where the run says. shots.wavelet[t] is a trace of it, shots.gain a number."""

    __slots__ = ()

    def _component(self, name: str) -> Expr:
        return Trace(Level.POSTFIX, (self, Level.POSTFIX), f".{name}")


class Trace(Expr):
    """What a set of points has by the name: a number each, or with [t] a number for each step."""

    __slots__ = ()

    def __getitem__(self, key) -> Expr:
        if not isinstance(key, Time):
            raise StencilError("a trace is read at this step: shots.wavelet[hl.t]")
        return Expr(Level.POSTFIX, (self, Level.POSTFIX), "[t]")


def points(weights: str | None = None, *, name: str | None = None):
    """Declares a set of points, or several: shots, phones = hl.points("sinc 4"). weights: "linear" or "sinc N"."""
    builder = building("hl.points")
    names = declared_names("hl.points", name, True)
    words = weights.split() if isinstance(weights, str) else []
    is_known = weights is None or words and words[0].isidentifier() and all(word.isdigit() for word in words[1:])
    if not is_known or len(words) > 2:
        raise StencilError(f'points have "linear" weights or "sinc 4"; this is {weights!r}')
    builder.add("field", f"points {', '.join(names)}" + (f": {' '.join(words)}" if words else ""))
    found = tuple(Points(each, builder) for each in names)
    return found[0] if found[1:] == () else found


def inject(target: Expr, at: Points, value) -> None:
    """Adds weight * value to the cells around each point: hl.inject(p.next, shots, shots.wavelet[t])."""
    builder = building("hl.inject")
    if not isinstance(target, Expr):
        raise StencilError(f"hl.inject adds to a level of a field, hl.inject(p.next, …); this is {target!r}")
    pieces: list[Piece] = ["inject ", (target, Level.POSTFIX), " at ", (_points(at), Level.PRIMARY), " += "]
    builder.add("step", *pieces, (expression(value), Level.CONDITIONAL))


def sample(value, at: Points, into: Trace) -> None:
    """Stores the sum of weight * value around each point, at this step: hl.sample(p, phones, into=phones.trace)."""
    builder = building("hl.sample")
    if not isinstance(into, Trace):
        raise StencilError(f"hl.sample stores a trace of points, into=phones.trace; this is {into!r}")
    pieces: list[Piece] = ["sample ", (expression(value), Level.CONDITIONAL), " at ", (_points(at), Level.PRIMARY)]
    builder.add("step", *pieces, " into ", (into, Level.POSTFIX), "[t]")


def _points(at) -> Points:
    if not isinstance(at, Points):
        raise StencilError(f"this takes a set of points, shots = hl.points(); it is {at!r}")
    return at


# ---- series ----------------------------------------------------------------------------------------


class Series(Symbol):
    """A number that changes with the step. wind[hl.step] is its value there; between whole numbers it is linear."""

    __slots__ = ()

    def __getitem__(self, at) -> Expr:
        if isinstance(at, Time):
            raise StencilError("a series is read at a number, as that of the step: wind[hl.step]")
        return Expr(Level.POSTFIX, (self, Level.POSTFIX), "[", *_without_spaces(expression(at)), "]")


def _without_spaces(node: Expr) -> list[Piece]:
    """What stands in an index, as `haloc fmt` has it: wind[step+1]."""
    pieces: list[Piece] = []
    todo: list[Piece] = [(node, Level.CONDITIONAL)]
    while todo:
        piece = todo.pop()
        if isinstance(piece, str):
            pieces.append(piece.strip() if piece in (" + ", " - ", " * ", " / ") else piece)
        elif piece[0]._level < piece[1] or piece[0]._level >= Level.POSTFIX:
            pieces.append(piece)
        else:
            todo.extend(reversed(piece[0]._pieces))
    return pieces


def series(*, name: str | None = None):
    """Declares a series, or several: wind, tide = hl.series(). The run gives their values."""
    builder = building("hl.series")
    names = declared_names("hl.series", name, True)
    builder.add("field", f"series {', '.join(names)}")
    found = tuple(Series(each, builder) for each in names)
    return found[0] if found[1:] == () else found


# ---- tables -------------------------------------------------------------------------------------


class Table(Symbol):
    """Rows of numbers, as many as the run gives. hl.rows(atoms, lambda a: a.q) is the sum over them."""

    __slots__ = ()


class _Columns:
    """The columns of the row for which another one is computed."""

    def __init__(self, names: set[str]):
        self._names = names

    def __getattr__(self, name: str) -> Expr:
        if name not in self._names:
            raise UnknownNameError(f"the table has no column {name!r} before this one")
        return Expr(Level.PRIMARY, name)


def table(*, name: str | None = None, **columns) -> Table:
    """Declares a table with these columns: atoms = hl.table(x="f32", q="f32", weight=lambda row: row.q**2), where a
    function computes a column from those before it."""
    builder = building("hl.table")
    named = declared_name("hl.table", name)
    if not columns:
        raise StencilError('a table has columns: hl.table(x="f32", q="f32")')
    lines: list[list[Piece]] = []
    before: set[str] = set()
    for column, given in columns.items():
        if callable(given) and not isinstance(given, type):
            value = expression(given(_Columns(set(before))), f"the column `{column}`")
            lines.append([f"{column} = ", (value, Level.CONDITIONAL)])
        else:
            lines.append([f"{column}: {simple_type(given)}"])
        before.add(column)
    builder.add("field", f"table {named}", lines=lines)
    return Table(named, builder)


def rows(table: Table, term) -> Expr:
    """The sum over all rows of a table: hl.rows(atoms, lambda a: a.q * hl.exp(-a.x))."""
    if not isinstance(table, Table) or not inspect.isfunction(term):
        raise StencilError("hl.rows takes a table and a function of its row: hl.rows(atoms, lambda a: a.q)")
    parameters = list(inspect.signature(term).parameters)
    if len(parameters) != 1:
        raise StencilError(f"the function of a row has one parameter, and this has {len(parameters)}")
    row = _Row(parameters[0], table._owner)
    value = expression(term(row), "the term of the sum")
    # What follows a sum belongs to its term, so it stands in parentheses wherever something may follow.
    return Expr(Level.CONDITIONAL, f"sum({parameters[0]} in ", (table, Level.PRIMARY), ") ", (value, Level.PRODUCT))


class _Row(Symbol):
    __slots__ = ()

    def __init__(self, name: str, owner: Builder):
        super().__init__(name, None)
        object.__setattr__(self, "_owner", owner)
