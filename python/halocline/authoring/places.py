"""Where in the user's Python an expression or a declaration was made, and which variable it is assigned to."""

from __future__ import annotations

import ast
import builtins
import dis
import linecache
import sys
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FrameType

_PACKAGE = __name__.partition(".")[0]


@dataclass(frozen=True)
class Location:
    """A range of one line of a Python file. Lines count from 1, columns from 0 in characters."""

    file: str
    line: int
    column: int
    end_column: int

    @property
    def text(self) -> str:
        """The line, without its end; empty where the source cannot be read."""
        return linecache.getline(self.file, self.line).rstrip("\r\n")


class Place:
    """The instruction of the user's code that was running. Its line and columns are looked up when they are needed."""

    __slots__ = ("code", "last")

    def __init__(self, code: CodeType, last: int):
        self.code = code
        self.last = last

    def location(self) -> Location:
        line, end_line, begin, end = _positions(self.code, self.last)
        file = self.code.co_filename
        text = linecache.getline(file, line).rstrip("\r\n")
        if begin is None or end is None:  # as with -X no_debug_ranges: the whole line
            indent = len(text) - len(text.lstrip())
            return Location(file, line, indent, max(len(text), indent + 1))
        first = _characters(text, begin)
        last = _characters(text, end) if end_line == line else len(text)
        return Location(file, line, first, max(last, first + 1))


def here() -> Place:
    """The place of the innermost frame outside of this package."""
    frame = user_frame()
    return Place(frame.f_code, frame.f_lasti)


def user_frame() -> FrameType:
    frame = sys._getframe(1)
    while _is_ours(frame) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def assigned_names(frame: FrameType | None = None) -> list[str] | None:
    """The variables that the value of the call which `frame` executes is assigned to: one, or those of a tuple that
    it is unpacked into. None where it is not assigned to variables, or nothing says so."""
    frame = user_frame() if frame is None else frame
    calls = _calls(frame.f_code.co_filename, _source(frame))
    _, end_line, _, end = _positions(frame.f_code, frame.f_lasti)
    if calls is None or end is None:
        return _names_from_bytecode(frame)
    found = calls.get((end_line, end))
    if found is None or not _names_are_known(frame.f_code, found.names):
        return None
    if found.builtin is not None and _is_builtin(frame, found.builtin):
        return None  # list(map(hl.field, …)): the list is assigned, not the field
    if found.is_returned:
        return _names_at_caller(frame)
    return found.names


def _is_ours(frame: FrameType) -> bool:
    module = frame.f_globals.get("__name__") or ""
    # Blocks are opened by contextlib, on behalf of the user's `with`.
    return module in (_PACKAGE, "contextlib") or module.startswith(_PACKAGE + ".")


def _characters(text: str, column: int) -> int:
    """Columns of code objects count bytes of UTF-8."""
    return len(text.encode()[:column].decode(errors="ignore"))


def _positions(code: CodeType, last: int) -> tuple[int, int, int | None, int | None]:
    for at, (line, end_line, begin, end) in enumerate(code.co_positions()):
        if at == last // 2 and line is not None:
            return line, end_line if end_line is not None else line, begin, end
    return code.co_firstlineno, code.co_firstlineno, None, None


# ---- names from the source ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Call:
    names: list[str] | None
    is_returned: bool  # `return hl.field(…)`: the caller's assignment counts
    builtin: str | None  # the name that is called, where it may be a builtin's


def _source(frame: FrameType) -> str:
    return "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))


@lru_cache(maxsize=32)
def _calls(file: str, source: str) -> dict[tuple[int, int], _Call] | None:
    """All calls of a file by the line and column (in bytes) where they end: no two end at one place."""
    if not source:
        return None
    try:
        tree = ast.parse(source, file)
    except SyntaxError:
        return None
    found: dict[tuple[int, int], _Call] = {}
    names: dict[ast.AST, list[str] | None] = {}  # what a value is assigned to
    returned: set[ast.AST] = set()
    for node in ast.walk(tree):  # a node before those in it
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            names.update(_pair(node.targets[0], node.value))
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            names.update(_pair(node.target, node.value))
        elif isinstance(node, ast.Return) and node.value is not None:
            returned.add(node.value)
        elif isinstance(node, ast.IfExp):
            names.update({node.body: names.get(node), node.orelse: names.get(node)})
            returned.update({node.body, node.orelse} if node in returned else ())
        elif isinstance(node, ast.Call):
            callee = node.func.id if isinstance(node.func, ast.Name) else None
            found[(node.end_lineno, node.end_col_offset)] = _Call(names.get(node), node in returned, callee)
    return found


def _pair(target: ast.expr, value: ast.expr) -> dict[ast.AST, list[str] | None]:
    if isinstance(target, (ast.Tuple, ast.List)):
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            pairs: dict[ast.AST, list[str] | None] = {}
            for inner, element in zip(target.elts, value.elts):
                pairs.update(_pair(inner, element))
            return pairs
        names = [_target_name(element) for element in target.elts]
        return {value: None if None in names else names}
    name = _target_name(target)
    return {value: None if name is None else [name]}


def _target_name(target: ast.expr) -> str | None:
    if isinstance(target, ast.Name):
        return target.id
    return target.attr if isinstance(target, ast.Attribute) else None


def _names_are_known(code: CodeType, names: list[str] | None) -> bool:
    """Whether the code uses these names at all: a file that was edited since it was imported may say others."""
    known = {*code.co_varnames, *code.co_names, *code.co_cellvars, *code.co_freevars}
    return names is None or known.issuperset(names)


def _is_builtin(frame: FrameType, name: str) -> bool:
    return hasattr(builtins, name) and name not in frame.f_locals and name not in frame.f_globals


def _names_at_caller(frame: FrameType) -> list[str] | None:
    """What the caller assigns the value of `frame` to, if it is a call of that function that it executes."""
    caller = frame.f_back
    if caller is None or _is_ours(caller):
        return None
    calls = _calls(caller.f_code.co_filename, _source(caller))
    _, end_line, _, end = _positions(caller.f_code, caller.f_lasti)
    call = None if calls is None else calls.get((end_line, end))
    if call is None or (call.builtin is not None and _is_builtin(caller, call.builtin)):
        return None
    return assigned_names(caller)


# ---- names from the bytecode, where there is no source ------------------------------------------


def _names_from_bytecode(frame: FrameType) -> list[str] | None:
    """What the instructions after a call store its value in. Only stores that follow at once are understood."""
    after = [
        instruction
        for instruction in dis.get_instructions(frame.f_code)
        if instruction.offset > frame.f_lasti and instruction.opname not in ("CACHE", "EXTENDED_ARG", "NOP")
    ]
    wanted = 1
    if after and after[0].opname == "UNPACK_SEQUENCE":
        wanted = after[0].arg or 0
        after = after[1:]
    names: list[str] = []
    for instruction in after:
        if len(names) >= wanted or not instruction.opname.startswith("STORE_"):
            break
        if instruction.opname == "STORE_FAST_STORE_FAST":
            names.extend(instruction.argval)
        elif instruction.opname == "STORE_FAST_LOAD_FAST":
            names.append(instruction.argval[0])
        elif instruction.opname in ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR"):
            names.append(instruction.argval)
        else:
            return None
    return names[:wanted] if len(names) >= wanted else None
