"""What a read past an edge of the grid means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Union

from .axes import Axis, Face
from .errors import StencilError
from .expr import expression
from .levels import Level
from .node import Node, Piece, joined


class Boundary(Node):
    """One kind of boundary, with its values."""

    __slots__ = ("_has_place", "_kind")

    def __init__(self, kind: str, *values):
        pieces: list[Piece] = joined(expression(value, f"a value of {kind}") for value in values)
        object.__setattr__(self, "_has_place", bool(values))  # hl.clamp is made once for all
        super().__init__(Level.CONDITIONAL, kind + (" " if pieces else ""), *pieces)
        object.__setattr__(self, "_kind", kind)

    def __repr__(self) -> str:
        return f"hl.{self._kind}"


periodic = Boundary("periodic")
clamp = Boundary("clamp")
mirror = Boundary("mirror")
antimirror = Boundary("antimirror")
symmetric = Boundary("symmetric")
antisymmetric = Boundary("antisymmetric")
free = Boundary("free")


def fixed(value) -> Boundary:
    """The value past the edge: made of numbers, params, hl.pos, hl.len and the time; a list for components."""
    return Boundary("fixed", value)


def extrapolate(degree: int) -> Boundary:
    """The polynomial of this degree through the cells at the edge."""
    return Boundary("extrapolate", degree)


def gradient(value) -> Boundary:
    """The derivative out of the domain."""
    return Boundary("gradient", value)


def robin(a, b, c) -> Boundary:
    """a*u + b*du/dn = c at the edge cell, n pointing out."""
    return Boundary("robin", a, b, c)


# Of all faces, or by what it is for: an axis, a face, ... (Ellipsis) for all others, a component "x" or 3, or one of
# these with an axis or a face: ("x", y.low).
Boundaries = Union[Boundary, str, Mapping]


def boundary_pieces(name: str, boundary: Boundaries) -> list[Piece]:
    """`x.low fixed 1, y periodic` for the field or let of this name."""
    if not isinstance(boundary, Mapping):
        return [(_boundary(boundary), Level.CONDITIONAL)]
    pieces: list[Piece] = []
    for key, value in boundary.items():
        pieces += [", "] if pieces else []
        pieces += [*_where(name, key), (_boundary(value), Level.CONDITIONAL)]
    if not pieces:
        raise StencilError("boundary={} says nothing; leave it out, or write hl.free")
    return pieces


def _boundary(value) -> Boundary:
    if isinstance(value, Boundary):
        return value
    if isinstance(value, str) and value.isidentifier() and value.isascii():
        return Boundary(value)  # the compiler knows the kinds
    if callable(value) and value in (fixed, extrapolate, gradient, robin):
        raise StencilError(f"hl.{value.__name__} has a value: hl.{value.__name__}(…)")
    raise StencilError(f"{value!r} is no boundary; hl.fixed({value!r}) is a value past the edge")


def _where(name: str, key) -> list[Piece]:
    if key is Ellipsis:
        return []
    if isinstance(key, (Axis, Face)):
        return [(key, Level.POSTFIX), " "]
    if isinstance(key, str) and key.isidentifier() or type(key) is int and key >= 0:
        return [f"{name}.{key} "]
    if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], (str, int)) and isinstance(key[1], (Axis, Face)):
        return [*_where(name, key[0]), *_where(name, key[1])]
    raise StencilError(
        f'a boundary is given for an axis (x), a face (x.low), all others (...), a component ("x") or one of these at'
        f' a face (("x", y.low)); this is {key!r}'
    )
