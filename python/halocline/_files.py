"""Files of simulations: fields, and checkpoints to go on from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Iterable

from . import _core
from ._errors import ArgumentError, refuse_name

if TYPE_CHECKING:
    from ._program import Program
    from ._simulation import Simulation

__all__ = ["checkpoint", "restore", "save"]

_HDF5 = (".h5", ".hdf5")


def _path(path: str | os.PathLike, what: str) -> str:
    text = os.fspath(path)
    if not isinstance(text, str) or not text:
        raise ArgumentError(f"{what}={path!r} names no file")
    return text


def whole_names(fields: Iterable[str]) -> set[str]:
    """Of fields, and of those whose components they are: ``v.x`` is of ``v``."""
    names = set(fields)
    return names | {name.partition(".")[0] for name in names}


def save(simulation: "Simulation", path: str | os.PathLike, fields: str | Iterable[str] | None) -> None:
    where = _path(path, "path")
    known = simulation.program.fields
    if fields is None:
        names = []
        if where.endswith(".npy"):
            names = sorted({name.partition(".")[0] for name, info in known.items() if info.role == "state"})
            if len(names) != 1:
                raise ArgumentError(f"save() of '{simulation.program.name}': which field? One of " + ", ".join(known))
    else:
        names = [fields] if isinstance(fields, str) else list(fields)
        if not names:
            raise ArgumentError("fields=[]: name the fields to save, or leave fields= out")
    for name in names:
        if name not in whole_names(known):
            refuse_name(simulation.program.name, "field", str(name), whole_names(known))
    _core.save_fields(simulation._core, where, names)


def checkpoint(simulation: "Simulation", folder: str | os.PathLike) -> str:
    return _core.save_checkpoint(simulation._core, _path(folder, "folder"))


def _needs_data(program: "Program") -> list[str]:
    """What a run is given besides parameters and states."""
    info = program._info
    names = [field.name for field in info.fields if field.role == "input"]
    return names + [each.name for kind in (info.weights, info.tables, info.points) for each in kind]


def restore(
    program: "Program",
    folder: str | os.PathLike,
    make: Callable[[tuple[int, ...]], "Simulation"],
    prepare: Callable[["Simulation"], Any] | None,
) -> "Simulation":
    """make: a new simulation on a grid."""
    found = _core.Checkpoint.find(_path(folder, "folder"))
    if found.program != program.name:
        raise ArgumentError(f"{found.path} is a checkpoint of '{found.program}', and this program is '{program.name}'")
    needed = _needs_data(program)
    if prepare is None and needed and not found.holds_data:
        raise ArgumentError(
            f"{found.path} was written by `haloc run`, and such checkpoints do not hold {', '.join(needed)}: give "
            f"prepare=, a function of the simulation that sets what is used of them, such as "
            f"lambda sim: sim.write('{needed[0]}', values)"
        )
    simulation = make(tuple(found.grid))
    try:
        if prepare is not None:
            prepare(simulation)
        found.restore(simulation._core)
        simulation._places.clear()  # as parameters may have changed
    except BaseException:
        simulation.close()
        raise
    return simulation
