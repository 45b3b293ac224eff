"""What expressions are made of: text and other nodes, with the place in the user's Python that made them."""

from __future__ import annotations

from typing import Union

from .errors import StencilError
from .levels import Level
from .places import Place, here

# A stencil, written out, has at most this many operations (docs/language.md, Limits).
MAX_OPERATIONS = 200_000

# Text, or a node and how tightly it has to bind where it stands: one that binds less is put into parentheses.
Piece = Union[str, tuple["Node", Level]]


class Node:
    """A piece of a spec. It is text already, but for the parentheses around its operands. Names have no place of
    their own: what is said of one is said of the expression in which it stands."""

    __slots__ = ("_level", "_pieces", "_place", "_size")

    _has_place = True

    def __init__(self, level: Level, *pieces: Piece, place: Place | None = None):
        size = 1 + sum(piece[0]._size for piece in pieces if not isinstance(piece, str))
        if size > MAX_OPERATIONS:
            raise StencilError(
                f"written out, this expression has more than {MAX_OPERATIONS} operations: give a part of it that is"
                " used several times a name with hl.let"
            )
        object.__setattr__(self, "_level", level)
        object.__setattr__(self, "_pieces", pieces)
        object.__setattr__(self, "_place", here() if place is None and self._has_place else place)
        object.__setattr__(self, "_size", size)


def joined(nodes, separator: str = ", ") -> list[Piece]:
    """Pieces for a list of nodes, none of which needs parentheses."""
    pieces: list[Piece] = []
    for node in nodes:
        if pieces:
            pieces.append(separator)
        pieces.append((node, Level.CONDITIONAL))
    return pieces
