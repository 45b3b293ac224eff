"""The stencil that is being built: its statements so far, in order."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from .errors import StencilError
from .node import Piece
from .places import Place, here
from .text import SpecText, Token, flatten


@dataclass
class Statement:
    """A line of the text, or with a body a block. Blank lines part statements of different groups."""

    group: str
    line: list[Token]
    place: Place
    body: list[Statement] | None = None
    tail: list[Token] = field(default_factory=list)  # after the block


class Builder:
    """Takes the statements of one stencil and prints them."""

    def __init__(self, name: str, axes: list[str], comment: list[str], place: Place):
        self.name = name
        self.symbols: dict = {}  # fields, params and lets by name
        self.unopened: dict[object, Place] = {}  # hl.where(…) and hl.on(…) that no `with` has opened
        self._axes = axes
        self._comment = comment
        self._place = place
        self._uses: list[Statement] = []
        self._statements: list[Statement] = []
        self._blocks = [self._statements]  # those that are open, the innermost last
        self._noises: set = set()

    def use(self, module: str) -> None:
        self._uses.append(Statement("use", [f'use "{module}"'], here()))

    def add(self, group: str, *pieces: Piece, lines: list[list[Piece]] | None = None, tail: list[Piece] = ()) -> None:
        """A line; with `lines` a block of these, `tail` behind it."""
        body = None if lines is None else [Statement("", self._flatten(line), here()) for line in lines]
        self._blocks[-1].append(Statement(group, self._flatten(pieces), here(), body, self._flatten(tail)))

    @contextmanager
    def block(self, *pieces: Piece):
        """What is added within it stands between the block's braces."""
        statement = Statement("step", self._flatten(pieces), here(), [])
        self._blocks.append(statement.body)
        try:
            yield
        finally:
            self._blocks.pop()
        if not statement.body:
            raise StencilError("there is no statement in this block")
        self._blocks[-1].append(statement)

    def print(self) -> SpecText:
        if self.unopened:
            where = next(iter(self.unopened.values())).location()
            raise StencilError(
                f"{where.file}:{where.line}: this is for `with`, whose block has the statements: {where.text.strip()}"
            )
        text = SpecText()
        for line in self._comment:
            text.add(f"# {line}".rstrip() + "\n")
        for statement in self._uses:
            text.add_line(statement.line, statement.place, 0)
            text.add("\n")
        if self._uses:
            text.add("\n")
        text.add_line([f"stencil {self.name}({', '.join(self._axes)})"], self._place, 0)
        if self._statements:
            text.add(" {\n")
            _print(self._statements, text, 4)
            text.add("}\n")
        else:
            text.add(" {}\n")
        return text

    def _flatten(self, pieces) -> list[Token]:
        return flatten(pieces, self, self._noises)


def _print(statements: list[Statement], text: SpecText, indent: int) -> None:
    """Blocks nest no deeper than Python's `with` does."""
    last = statements[0].group
    for statement in statements:
        if statement.group != last:
            text.add("\n")
        last = statement.group
        text.add_line(statement.line, statement.place, indent)
        if statement.body is not None:
            text.add(" {\n")
            _print(statement.body, text, indent + 4)
            text.add_line(["}", *statement.tail], statement.place, indent)
        text.add("\n")


_current: ContextVar[Builder | None] = ContextVar("halocline_builder", default=None)


def building(what: str) -> Builder:
    """The stencil that is being built; `what` asks for it."""
    builder = _current.get()
    if builder is None:
        raise StencilError(f"{what} belongs into a function that @hl.stencil decorates: no stencil is being built")
    return builder


@contextmanager
def activate(builder: Builder):
    token = _current.set(builder)
    try:
        yield builder
    finally:
        _current.reset(token)
