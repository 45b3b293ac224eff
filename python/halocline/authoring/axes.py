"""Axes, the time, and what is written with them: offsets, faces, ranges of cells."""

from __future__ import annotations

import operator
from fractions import Fraction

from .errors import StencilError
from .levels import Level
from .node import Node


class _Coordinate(Node):
    """An axis or the time: a name to which a distance can be added, and nothing else."""

    __slots__ = ("_name", "_owner")
    _has_place = False

    def __init__(self, name: str, owner: object | None):
        super().__init__(Level.PRIMARY, name)
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_owner", owner)

    def __repr__(self) -> str:
        return self._name

    def __add__(self, distance):
        return Offset(self, _distance(self, distance))

    __radd__ = __add__

    def __sub__(self, distance):
        return Offset(self, -_distance(self, distance))

    def _has_no_value(self, *_):
        raise StencilError(self._value_hint())

    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __mod__ = __pow__ = __rpow__ = _has_no_value
    __rsub__ = __neg__ = __pos__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = __float__ = __int__ = _has_no_value

    def _value_hint(self) -> str:
        return "the time is a value as hl.time, the number of the step as hl.step"


class Axis(_Coordinate):
    """An axis of the grid, a parameter of the stencil's function."""

    __slots__ = ()

    def _value_hint(self) -> str:
        name = self._name
        return f"the axis `{name}` has no value by itself: hl.pos({name}) is the coordinate, hl.idx({name}) the index"

    @property
    def low(self) -> Face:
        """The face at the first cell."""
        return Face(self, "low")

    @property
    def high(self) -> Face:
        """The face at the last cell."""
        return Face(self, "high")

    def __getitem__(self, cells) -> Cells:
        """Cells along the axis as Python counts them: y[10:-10] leaves ten out at either end, y[0] is the first."""
        return Cells(self, *_range(self, cells))

    def __len__(self):
        raise StencilError(f"the number of cells is known at run time: hl.len({self._name}) is its value in a stencil")

    __iter__ = None


class Time(_Coordinate):
    """The time step, in u[t-1] and the like."""

    __slots__ = ()


t = Time("t", None)


class Iteration(_Coordinate):
    """The iteration of a `with hl.repeat(20) as k:`, in p[k] and p[k + 1]."""

    __slots__ = ()

    def _value_hint(self) -> str:
        return f"the iteration `{self._name}` is no value: p[{self._name}] and p[{self._name} + 1] are levels of a field"


class Offset(Node):
    """A distance from the cell, along one axis or in time: x+1, y-1/2, t-1."""

    __slots__ = ("_axis", "_distance")

    def __init__(self, axis: _Coordinate, distance: Fraction | int):
        sign = "+" if distance >= 0 else "-"
        text = f"{sign}{abs(distance)}" if distance != 0 else ""
        super().__init__(Level.SUM, (axis, Level.PRIMARY), text)
        object.__setattr__(self, "_axis", axis)
        object.__setattr__(self, "_distance", distance)

    def __repr__(self) -> str:
        return self._axis._name + self._pieces[1]

    def __add__(self, distance):
        return Offset(self._axis, self._distance + _distance(self._axis, distance))

    __radd__ = __add__

    def __sub__(self, distance):
        return Offset(self._axis, self._distance - _distance(self._axis, distance))


class Face(Node):
    """One end of the grid along an axis."""

    __slots__ = ("_axis", "_side")

    def __init__(self, axis: Axis, side: str):
        super().__init__(Level.POSTFIX, (axis, Level.PRIMARY), f".{side}")
        object.__setattr__(self, "_axis", axis)
        object.__setattr__(self, "_side", side)

    def __eq__(self, other):
        return isinstance(other, Face) and self._axis is other._axis and self._side == other._side

    def __hash__(self):
        return hash((self._axis, self._side))


class Cells(Node):
    """A range of cells along an axis."""

    __slots__ = ()

    def __init__(self, axis: Axis, first: int, last: int):
        super().__init__(Level.COMPARISON, (axis, Level.PRIMARY), f" in {first}..{last}")


def _distance(axis: _Coordinate, value) -> Fraction | int:
    if isinstance(value, int):
        return int(value)
    try:
        distance = Fraction(operator.index(value) if hasattr(type(value), "__index__") else value)
    except (TypeError, ValueError, OverflowError):
        raise StencilError(
            f"an offset along `{axis._name}` is a whole number, or a half between cells; this is {value!r}"
        ) from None
    if (2 * distance).denominator != 1:
        raise StencilError(f"`{axis._name}` has points at whole and half cells; an offset of {value} has none")
    return distance


def _range(axis: Axis, cells) -> tuple[int, int]:
    name = axis._name
    try:
        if not isinstance(cells, slice):
            cell = operator.index(cells)
            return cell, cell
        step = 1 if cells.step is None else operator.index(cells.step)
        first = 0 if cells.start is None else operator.index(cells.start)
        last = -1 if cells.stop is None else operator.index(cells.stop) - 1
    except TypeError:
        raise StencilError(f"cells are chosen by whole numbers: {name}[10:-10], {name}[0]") from None
    if step != 1:
        raise StencilError(f"for every {step}th cell write `with hl.where(hl.idx({name}) % {step} == 0):`")
    if cells.stop == 0:
        raise StencilError(f"{name}[{first}:0] has no cells")
    return first, last
