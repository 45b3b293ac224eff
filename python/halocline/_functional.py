"""Programs as functions of arrays: fields and parameters in, fields after some steps out. What torch and JAX share."""

from __future__ import annotations

import hashlib
from collections import namedtuple
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple

from . import _core
from ._errors import ArgumentError, ArrayError, UnsupportedError, refuse_name

if TYPE_CHECKING:
    from ._program import Program
    from ._simulation import Simulation

__all__ = ["Functional", "Level"]


class Level(NamedTuple):
    """A level of a field, as an argument or a result."""

    argument: str
    """``p``; ``p_past1`` for the level before; ``v_x`` for a component."""
    field: str
    level: int
    type: str
    """As specs name it: ``'f32'``."""

    @property
    def is_real(self) -> bool:
        return self.type in ("f16", "bf16", "f32", "f64")


def _levels(program: "Program", roles: Iterable[str]) -> list[Level]:
    found = []
    for role in roles:
        for info in program.fields.values():
            for past in range(info.past + 1) if info.role == role else ():
                name = info.name.replace(".", "_") + (f"_past{past}" if past else "")
                found.append(Level(name, info.name, -past, info.type))
    return found


def program_of(value: Any, what: str) -> "Program":
    """A Program, or that of @hl.stencil. Raises ArgumentError for anything else."""
    from ._program import Program
    from .authoring import Stencil

    if isinstance(value, Stencil):
        return value.program
    if not isinstance(value, Program):
        raise ArgumentError(f"{what} takes a program, of halocline.compile() or @hl.stencil, and this is {type(value).__name__}")
    return value


def key_of(program: "Program") -> str:
    """A name and a hash of the code: the same in every process that has the same program."""
    try:
        # The program as well: what unequal spacing is computed with is not in the code.
        code = program.emit(target="cpu") + program.emit(target="cuda") + program.emit(target="stencil")
    except ArgumentError as error:
        raise UnsupportedError(f"functions are made of programs of halocline.compile(): {error}") from None
    return f"{program.name}_{hashlib.sha256(code.encode()).hexdigest()[:16]}"


class Functional:
    """The signature of a program as a function, and the steps behind it. ``library`` names whose arrays it takes."""

    def __init__(self, program: "Program", library: str) -> None:
        info = program._info
        for kind in ("tables", "points"):
            if getattr(info, kind):
                names = ", ".join(each.name for each in getattr(info, kind))
                raise UnsupportedError(
                    f"'{program.name}' has {kind} ({names}), which are no arguments of a function for {library}; run it by "
                    "simulate(), whose arrays are shared by DLPack"
                )
        self.program = program
        self._name, self._axes = program.name, program.axes  # torch.compile looks through plain values alone
        self.inputs = _levels(program, ("state", "input"))
        self.outputs = _levels(program, ("state", "output"))
        self.params = program.params
        taken = [each.argument for each in self.inputs] + list(self.params) + ["steps"]
        for name in taken:
            if taken.count(name) > 1:
                raise UnsupportedError(f"'{program.name}' would have two arguments called '{name}'; rename one in the spec")
        self._result = namedtuple(f"{program.name}_result", [each.argument for each in self.outputs])

    def __repr__(self) -> str:
        arguments = [each.argument for each in self.inputs] + ["*", "steps=1"]
        arguments += [name if value is None else f"{name}={value:g}" for name, value in self.params.items()]
        results = ", ".join(each.argument for each in self.outputs)
        return f"<{type(self).__module__}.{type(self).__name__} {self.program.name}({', '.join(arguments)}) -> {results}>"

    def arranged(self, arrays: tuple, named: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Arrays in the order of ``inputs``, and parameters with their defaults."""
        name, names = self._name, [each.argument for each in self.inputs]
        if len(arrays) > len(names):
            raise ArgumentError(f"'{name}' takes {len(names)} arrays, {', '.join(names)}, and {len(arrays)} were given")
        given = dict(zip(names, arrays))
        params = dict(self.params)
        for key, value in named.items():
            if key in given:
                raise ArgumentError(f"'{name}' was given '{key}' twice")
            if key in params:
                params[key] = value
            elif key in names:
                given[key] = value
            else:
                refuse_name(name, "argument", key, [*names, *params, "steps"])
        missing = [each for each in names if each not in given] + [each for each, value in params.items() if value is None]
        if missing:
            raise ArgumentError(f"'{name}' needs {', '.join(missing)} as well")
        return [given[each] for each in names], params

    def check_shapes(self, shapes: list[tuple[int, ...]]) -> None:
        """All alike, with as many axes as the program has."""
        axes = self._axes
        for each, shape in zip(self.inputs, shapes):
            if len(shape) != len(axes):
                raise ArrayError(
                    f"'{each.argument}' has the axes ({', '.join(reversed(axes))}), and the array the shape {tuple(shape)}"
                )
            if tuple(shape) != tuple(shapes[0]):
                raise ArrayError(f"'{each.argument}' has the shape {tuple(shape)}, and '{self.inputs[0].argument}' {tuple(shapes[0])}")
        if not shapes:
            raise UnsupportedError(f"'{self._name}' has no field that is read, so nothing says how large its grid is")

    def packed(self, values: list[Any]) -> Any:
        """One result as it is, several by name."""
        return values[0] if len(values) == 1 else self._result(*values)

    def simulation(self, shape: tuple[int, ...], params: dict[str, float], **where: Any) -> "Simulation":
        """A new one, so that steps are counted from 0 and calls do not know of each other."""
        simulation = self.program.simulate(tuple(shape)[::-1], **where)
        for name, value in params.items():
            simulation.params[name] = value
        return simulation

    def names(self, of: Iterable[int], with_: Iterable[int]) -> tuple[list[str], list[str]]:
        """The fields that results belong to, and those and the parameters that arguments do, by their places: parameters
        come after ``inputs``."""
        arguments = [each.field for each in self.inputs] + list(self.params)
        return list(dict.fromkeys(self.outputs[i].field for i in of)), list(dict.fromkeys(arguments[i] for i in with_))


class Pullback:
    """The vector-Jacobian product of the steps of a simulation: the derivatives of the sum of some results, each cell times
    a weight, by what the steps began with. Raises UnsupportedError where the program has no adjoint.

    weights, levels: of a result and of an argument, (field, level), the adjoint's field and its type. What is not there
    has no influence: the derivative is 0.
    """

    def __init__(self, simulation: "Simulation", of: list[str], with_: list[str]) -> None:
        self.core = _core.Gradient.of_fields(simulation._core, of, with_)
        self.weights, self.levels = (
            {(field, level): (name, type) for field, level, name, type in each} for each in (self.core.weights, self.core.levels)
        )

    def compute(self, steps: int, given: Iterable[tuple[str, int, int, int]], shape: tuple[int, ...] | None = None) -> None:
        """given: field, level, address and bytes of weights, dense and in the adjoint's type: in the host's memory, or where
        the shape is said, where the simulation is."""
        pitch = shape[-1] if shape else 0
        slice = pitch * (shape[-2] if shape and len(shape) > 2 else 0)
        self.core.compute_fields(steps, [(*each, pitch, slice) for each in given])

    def number(self, param: str) -> float:
        return self.core.number(param) if param in self.core.numbers else 0.0


def counted(steps: Any) -> int:
    if type(steps) is int and steps >= 0:  # all that torch.compile of torch 2.4 can look through
        return steps
    if isinstance(steps, bool) or not hasattr(steps, "__index__") or steps.__index__() < 0:
        raise ArgumentError(f"steps={steps!r}: a whole number, 0 or more")
    return int(steps.__index__())
