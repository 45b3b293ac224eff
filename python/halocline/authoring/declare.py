"""Declarations: fields, params, consts, coefs, lets, and what holds for a whole stencil."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from os import PathLike, fspath

from .._errors import UnknownNameError
from .axes import Axis, Offset
from .boundaries import Boundaries, boundary_pieces
from .builder import Builder, building
from .errors import StencilError
from .expr import FOREIGN, Expr, call, expression, foreign_attribute
from .levels import Level
from .node import Piece, joined
from .places import assigned_names

_LATIN = dict(
    zip(
        "αβγδεζηθκλμνξπρστφχψωΔΩ",
        "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega Delta"
        " Omega".split(),
    )
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_TYPE = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(\[[0-9]+\])?( as [A-Za-z_][A-Za-z_0-9]*)?")
_NUMPY_TYPES = {
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "bool": "bool",
    "complex64": "c64",
    "complex128": "c128",
}


class Symbol(Expr):
    """A name of a stencil."""

    __slots__ = ("_name", "_owner")
    _has_place = False

    def __init__(self, name: str, owner: Builder | None):
        super().__init__(Level.PRIMARY, name)
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_owner", owner)
        if owner is not None:
            owner.symbols.setdefault(name, self)


class Field(Symbol):
    """An array over the grid. u.next = … makes it a state, u[:] = … an output; without either it is an input."""

    __slots__ = ("_components",)

    def __init__(self, name: str, owner: Builder, components: tuple[str, ...]):
        super().__init__(name, owner)
        object.__setattr__(self, "_components", components)

    def _component(self, name: str) -> Expr:
        if name in self._components:
            return Expr(Level.POSTFIX, (self, Level.POSTFIX), f".{name}")
        if self._components:
            raise UnknownNameError(f"`{self._name}` has the components {', '.join(self._components)} and no `{name}`")
        if name in FOREIGN:
            raise foreign_attribute(name)
        raise UnknownNameError(
            f"`{self._name}` has no `{name}`: u.next and u.prev are levels, u[x+1] a neighbour, u[:] = … an output"
        )

    def _check_number(self, number: int) -> None:
        if not self._components:
            raise StencilError(f"`{self._name}` has no components; an offset names its axis: {self._name}[x+{number}]")
        if str(number) not in self._components:
            raise StencilError(f"`{self._name}` has the components {', '.join(self._components)} and no {number}")

    def __len__(self) -> int:
        return len(self._components) if self._components else super().__len__()

    def __iter__(self):
        return iter([self[name] for name in self._components]) if self._components else super().__iter__()


class Coef(Symbol):
    """A table of weights: c[1], w[-1, 0]."""

    __slots__ = ()

    def __getitem__(self, key) -> Expr:
        indices = key if isinstance(key, tuple) else (key,)
        try:
            text = ", ".join(str(operator.index(index)) for index in indices)
        except TypeError:
            raise StencilError(f"an index of a coef is a whole number; this is {key!r}") from None
        return Expr(Level.POSTFIX, (self, Level.POSTFIX), f"[{text}]")


# ---- names --------------------------------------------------------------------------------------


def declared_names(what: str, given: str | None, several: bool = False) -> list[str]:
    """The names of what is declared: those that are given, or else of the variables that it is assigned to."""
    if given is not None:
        names = given.split() if several and isinstance(given, str) else [given]
        return [spelled(name) for name in names]
    names = assigned_names()
    if names is None or not several and len(names) != 1:
        example = 'name="u v"' if several else 'name="u"'
        raise StencilError(f"{what} needs a name: assign it to a variable at once (u = {what}(…)), or say {example}")
    return [spelled(name) for name in names]


def declared_name(what: str, given: str | None) -> str:
    return declared_names(what, given)[0]


def spelled(name) -> str:
    """Names of the language are ASCII; Greek letters are spelled out."""
    latin = "".join(_LATIN.get(letter, letter) for letter in name) if isinstance(name, str) else ""
    if not _NAME.fullmatch(latin):
        raise StencilError(f"{name!r} cannot be a name: names are ASCII letters, digits and _; say another with name=")
    return latin


# ---- fields and lets ----------------------------------------------------------------------------


def field(
    dtype,
    *,
    boundary: Boundaries | None = None,
    at=None,
    halo=None,
    layout: str | None = None,
    name: str | None = None,
) -> Field:
    """Declares an array over the grid.

    dtype: "f32", "f64", "f16", "bf16", "i32", "i64", "u8", "bool", "c64", "c128" or numpy's; "f32 as f64" for storage
    and arithmetic; "f32[9]" for components that have numbers, {"x": "f32", "y": "f32"} for names. boundary: of all
    faces, or {x.low: hl.fixed(1), y: hl.periodic, ...: hl.clamp}. at: x + 1/2 for points between the cells, of
    several axes (x + 1/2, y + 1/2), of components {"x": y + 1/2, "y": x + 1/2}. halo: a width, or {x.low: 2}; found
    from the accesses where it is not given. layout: "soa" or "aos". name: the variable's, where it is not given."""
    return _fields([declared_name("hl.field", name)], dtype, boundary, at, halo, layout)[0]


def fields(
    dtype,
    *,
    boundary: Boundaries | None = None,
    at=None,
    halo=None,
    layout: str | None = None,
    name: str | None = None,
) -> tuple[Field, ...]:
    """Several fields of one kind: p, v = hl.fields("f32"), or name="p v"."""
    return tuple(_fields(declared_names("hl.fields", name, True), dtype, boundary, at, halo, layout))


def _fields(names: list[str], dtype, boundary, at, halo, layout) -> list[Field]:
    builder = building("hl.field")
    text, components = _type(dtype, at if isinstance(at, Mapping) else {})
    position = [] if isinstance(at, Mapping) else _position(at)
    properties = _properties(names[0], boundary, halo)
    if layout is not None:
        properties.append([f"layout {_word(layout, 'layout')}"])
    _declare("field", [f"field {', '.join(names)}: ", *text, *position], properties, [])
    return [Field(name, builder, components) for name in names]


def let(value, *, boundary: Boundaries | None = None, at=None, halo=None, name: str | None = None) -> Symbol:
    """Names a value at each cell, to be read at neighbours: what reads it there waits until it is complete."""
    builder = building("hl.let")
    named = declared_name("hl.let", name)
    properties = _properties(named, boundary, halo)
    result = expression(value, "what hl.let names")
    _declare("step", [f"let {named}", *_position(at)], properties, [" = ", (result, Level.CONDITIONAL)])
    return Symbol(named, builder)


def _declare(group: str, head: list[Piece], properties: list[list[Piece]], tail: list[Piece]) -> None:
    """A line; with one property in braces in that line, with several in a block."""
    builder = building("a declaration")
    if len(properties) == 1:
        head = [*head, " { ", *properties[0], " }"]
    if len(properties) < 2:
        builder.add(group, *head, *tail)
        return
    builder.add(group, *head, lines=properties, tail=tail)


def _properties(name: str, boundary: Boundaries | None, halo) -> list[list[Piece]]:
    lines: list[list[Piece]] = []
    if halo is not None:
        widths = halo if isinstance(halo, Mapping) else {...: halo}
        entries: list[Piece] = []
        for key, width in widths.items():
            face: list[Piece] = [] if key is Ellipsis else [(key, Level.POSTFIX), " "]
            entries += [", "] if entries else []
            entries += [*face, str(operator.index(width))]
        lines.append(["halo ", *entries])
    if boundary is not None:
        lines.append(["boundary ", *boundary_pieces(name, boundary)])
    return lines


def _position(at) -> list[Piece]:
    if at is None:
        return []
    places = at if isinstance(at, (tuple, list)) else (at,)
    if not all(isinstance(place, (Axis, Offset)) for place in places):
        raise StencilError(f"at= is a place in the cells, such as x + 1/2, or several in a tuple; this is {at!r}")
    return [" at ", *joined(places)]


def _type(dtype, places: Mapping) -> tuple[list[Piece], tuple[str, ...]]:
    """The text of a type, and the names of its components."""
    if not isinstance(dtype, Mapping):
        text = simple_type(dtype)
        count = re.search(r"\[([0-9]+)\]", text)
        if count:
            return [text], tuple(str(number) for number in range(int(count[1])))
        return [text], ("re", "im") if text in ("c64", "c128") else ()
    pieces: list[Piece] = []
    for name, component in dtype.items():
        pieces.append(", " if pieces else "(")
        pieces += [f"{spelled(name)}: {simple_type(component)}", *_position(places.get(name))]
    unknown = [name for name in places if name not in dtype]
    if unknown or not pieces:
        raise StencilError(
            f"at= names the component {unknown[0]!r}, which is not there" if unknown else "no components"
        )
    return [*pieces, ")"], tuple(dtype)


def simple_type(dtype) -> str:
    if isinstance(dtype, str):
        if not _TYPE.fullmatch(dtype):
            raise StencilError(f'{dtype!r} is no type of a field, such as "f32", "f32 as f64" or "f32[9]"')
        return dtype
    if dtype is float or dtype is complex or dtype is int:
        raise StencilError(f'say how many bits: "f32" or "f64", "c64" or "c128", "i32" or "i64"; not {dtype.__name__}')
    name = getattr(dtype, "name", getattr(dtype, "__name__", ""))
    found = _NUMPY_TYPES.get(str(name).rstrip("_"))
    if found is None:
        raise StencilError(
            f'{dtype!r} is no type of a field, such as "f32", numpy.float32 or {{"x": "f32", "y": "f32"}}'
        )
    return found


def _word(value, what: str) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise StencilError(f"{what}= is a word; this is {value!r}")
    return value


# ---- numbers ------------------------------------------------------------------------------------


def param(default=None, *, type: str | None = None, name: str | None = None) -> Symbol:
    """A number that is given at launch, with or without a default: changing it recompiles nothing."""
    return _definition("param", "hl.param", default, type, name)


def const(value, *, name: str | None = None) -> Symbol:
    """A number that is computed exactly when the stencil is compiled. Python's numbers do as well."""
    if value is None:
        raise StencilError("hl.const has a value")
    return _definition("const", "hl.const", value, None, name)


def _definition(word: str, what: str, value, dtype: str | None, name: str | None) -> Symbol:
    builder = building(what)
    named = declared_name(what, name)
    pieces: list[Piece] = [f"{word} {named}" + (f": {simple_type(dtype)}" if dtype is not None else "")]
    if value is not None:
        pieces += [" = ", (expression(value, f"the value of `{named}`"), Level.CONDITIONAL)]
    builder.add("setting", *pieces)
    return Symbol(named, builder)


def coef(values, *, low=0, param: bool = False, name: str | None = None) -> Coef:
    """A table of weights, nested lists or an array; low: the first index, one for each dimension. With param=True it
    is given at launch, the values being the default."""
    builder = building("hl.coef")
    named = declared_name("hl.coef", name)
    nested = values.tolist() if hasattr(values, "tolist") else values
    extents: list[int] = []
    inner = nested
    while isinstance(inner, (list, tuple)):
        extents.append(len(inner))
        inner = inner[0] if inner else None
    lows = low if isinstance(low, tuple) else (low,) * len(extents)
    if not extents or 0 in extents or len(lows) != len(extents):
        raise StencilError("hl.coef takes a list of weights, nested for several dimensions, and low= for each of these")
    ranges = ", ".join(f"{first}..{first + extent - 1}" for first, extent in zip(map(operator.index, lows), extents))
    word = "param coef" if param else "coef"
    builder.add("setting", f"{word} {named}[{ranges}] = ", (expression(nested), Level.CONDITIONAL))
    return Coef(named, builder)


# ---- of a whole stencil -------------------------------------------------------------------------


def spacing(**axes) -> None:
    """The distance of neighbouring cells along each axis: hl.spacing(x=0.1, y=h)."""
    _by_axis("spacing", axes)


def origin(**axes) -> None:
    """The coordinate of cell 0 along each axis."""
    _by_axis("origin", axes)


def _by_axis(word: str, axes: dict) -> None:
    builder = building(f"hl.{word}")
    pieces: list[Piece] = []
    for axis, value in axes.items():
        pieces += [f"{', ' if pieces else ''}{spelled(axis)} = ", (expression(value), Level.CONDITIONAL)]
    if not pieces:
        raise StencilError(f"hl.{word} takes a value for an axis: hl.{word}(x=0.1)")
    builder.add("setting", f"{word} ", *pieces)


def accuracy(order: int) -> None:
    """The order of accuracy of all derivatives that do not say theirs."""
    building("hl.accuracy").add("setting", "accuracy ", (expression(order), Level.CONDITIONAL))


def fast(*functions: str) -> None:
    """Approximations of these functions will do on a GPU: hl.fast("sin", "exp")."""
    building("hl.fast").add("setting", "fast " + ", ".join(_word(each, "a function") for each in functions))


def schedule(text: str) -> None:
    """Pins what the compiler would choose, as `--schedule` does: hl.schedule("stream tile=64x4")."""
    if not isinstance(text, str) or not re.fullmatch(r"[a-z_]+( [a-z_]+=[0-9x]+)*", text):
        raise StencilError(f"a schedule is a strategy and settings, such as 'stream tile=64x4'; this is {text!r}")
    building("hl.schedule").add("schedule", f"schedule {{ {text} }}")


class Module:
    """What a module of the language defines: operators.sponge(x, 30, 0.1)."""

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *arguments: call(name, *arguments)


def use(module: str) -> Module:
    """Takes the definitions of a module, as `use "operators.halo"` does."""
    builder = building("hl.use")
    name = fspath(module) if isinstance(module, (str, PathLike)) else None
    if not isinstance(name, str) or not re.fullmatch(r'[^"\\\x00-\x1f]+', name):
        raise StencilError(f"hl.use takes the name of a .halo file; this is {module!r}")
    builder.use(name)
    return Module()
