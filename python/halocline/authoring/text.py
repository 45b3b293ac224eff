"""From nodes to the text of a spec, in the layout of `haloc fmt`, with the place in Python of each part of it.

An expression may be thousands of operations deep, as a sum that a loop builds, so nothing here is recursive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from .errors import StencilError
from .node import Node, Piece
from .places import Place

_INDENT = 4
_WIDTH = 100  # lines that are longer go on in the next one, where they can
_MAX_ALIGNED = 60  # brackets further right do not align the lines in them
_BREAKS = (" + ", " - ", " and ", " or ", " else ")


@dataclass(frozen=True)
class Mark:
    """The begin of what a place made; with None the end of what the last one that is open made."""

    place: Place | None


Token = Union[str, Mark]


def flatten(pieces, owner: object | None = None, noises: set | None = None) -> list[Token]:
    """The text of pieces. Names have to be of `owner`; noise that is in `noises` has been written before."""
    tokens: list[Token] = []
    todo: list[Piece | Mark] = list(reversed(pieces))
    while todo:
        piece = todo.pop()
        if isinstance(piece, (str, Mark)):
            tokens.append(piece)
            continue
        node, level = piece
        _check(node, owner, noises)
        inner: list[Piece | Mark] = list(node._pieces)
        if node._place is not None:
            inner = [Mark(node._place), *inner, Mark(None)]
        if node._level < level:
            inner = ["(", *inner, ")"]
        todo.extend(reversed(inner))
    return tokens


def text_of(node: Node) -> str:
    return "".join(token for token in flatten(node._pieces) if isinstance(token, str))


def _check(node: Node, owner: object | None, noises: set | None) -> None:
    theirs = getattr(type(node), "_owner", None) and node._owner
    if owner is not None and theirs is not None and theirs is not owner:
        raise StencilError(f"`{node._name}` belongs to the stencil `{theirs.name}`, and this is `{owner.name}`")
    if noises is not None and getattr(type(node), "_is_noise", False):
        if node in noises:
            raise StencilError(
                "this noise is used twice, and would be other numbers in either place: name it,"
                " n = hl.let(hl.normal()), or call hl.normal() twice"
            )
        noises.add(node)


@dataclass(frozen=True)
class Span:
    """Bytes of a text, and the place in Python that they are from."""

    begin: int
    end: int
    place: Place


class SpecText:
    """A text, and where its parts are from."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._bytes = 0
        self._open: list[tuple[int, Place]] = []
        self.spans: list[Span] = []

    def __str__(self) -> str:
        return "".join(self._parts)

    def add(self, text: str) -> None:
        self._parts.append(text)
        self._bytes += len(text.encode())

    def add_line(self, tokens: list[Token], place: Place, indent: int) -> None:
        """A line, which `place` has made, without its end."""
        self.add(" " * indent)
        self._begin(place)
        for token in _broken(tokens, indent):
            if isinstance(token, str):
                self.add(token)
            elif token.place is not None:
                self._begin(token.place)
            else:
                self._end()
        self._end()

    def place_of(self, begin: int, end: int) -> Place | None:
        """Of the smallest part that has all of these bytes."""
        holding = [span for span in self.spans if span.begin <= begin and end <= span.end]
        return min(holding, key=lambda span: span.end - span.begin).place if holding else None

    def _begin(self, place: Place) -> None:
        self._open.append((self._bytes, place))

    def _end(self) -> None:
        begin, place = self._open.pop()
        self.spans.append(Span(begin, self._bytes, place))


def _broken(tokens: list[Token], indent: int) -> list[Token]:
    """The tokens of a line. Where it is too long it is broken before operators and behind commas, outside of all
    brackets or else within one; lines in a bracket begin at its column, as the formatter has it."""
    if indent + sum(len(token) for token in tokens if isinstance(token, str)) <= _WIDTH:
        return tokens
    result = list(tokens)
    column = indent
    brackets: list[int] = []  # the columns behind those that are open
    last: tuple[int, list[int]] | None = None  # where the line can be broken, and the brackets there
    at = 0
    while at < len(tokens):
        token = tokens[at]
        text = token if isinstance(token, str) else ""
        can_break = text in _BREAKS or text == ", " and bool(brackets)
        if can_break and len(brackets) <= min(1, len(last[1]) if last else 1):
            last = (at, list(brackets))
        for character in text:
            column += 1
            if character in "([":
                brackets.append(column)
            elif character in ")]":
                brackets.pop()
        at += 1
        if column <= _WIDTH or last is None:
            continue
        broken, brackets = last
        column = indent + _INDENT if not brackets or brackets[0] > _MAX_ALIGNED else brackets[0]
        text = result[broken]
        result[broken] = ("," if text == ", " else "") + "\n" + " " * column + ("" if text == ", " else text.lstrip())
        column += len(text.lstrip()) if text != ", " else 0
        at, last = broken + 1, None
    return result
