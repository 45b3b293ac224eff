"""Gradients: how the number that steps end with changes with what they begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping

import numpy as np

from . import _arrays, _core
from ._errors import ArgumentError, ArrayError, refuse_name
from ._exports import about
from ._given import numbers

if TYPE_CHECKING:
    from ._simulation import Simulation

__all__ = ["Gradient"]


class Gradient(Mapping[str, Any]):
    """What ``Simulation.gradient()`` gives. ``gradient["q"]`` is the derivative with respect to q in each cell, an Array
    that lies where the simulation's do, or of several devices a copy; that with respect to a parameter is a float, that
    with respect to an injected trace a numpy array (steps, points). They keep their values, whatever is computed next."""

    __slots__ = ("value", "seen", "steps", "steps_done_again", "snapshots", "snapshots_on_host", "snapshot_bytes", "seconds", "_of")

    value: float
    """The objective itself."""
    seen: np.ndarray | None
    """Of a trace: what was sampled, (steps, points)."""
    steps_done_again: int
    """Steps forward that were done more than once, as not all states were kept."""
    snapshots: int
    """States that were kept, each of ``snapshot_bytes``; ``snapshots_on_host`` of them in the host's memory while the
    simulation is on a GPU."""

    def __init__(self, simulation: "Simulation", core: _core.Gradient, report: Any, of_trace: bool) -> None:
        self.value = report.objective
        for name in ("steps", "steps_done_again", "snapshots", "snapshots_on_host", "snapshot_bytes", "seconds"):
            setattr(self, name, getattr(report, name))

        def rows(values: list[float]) -> np.ndarray:
            return np.asarray(values, np.float64).reshape(self.steps, -1)

        self.seen = rows(core.seen()) if of_trace else None
        self._of: dict[str, Any] = {name: core.number(name) for name in core.numbers}
        self._of.update((name, rows(core.trace(name))) for name in core.traces)
        for name in core.fields:
            self._of[name] = _field(simulation, core, name)

    def __getitem__(self, name: str) -> Any:
        if name not in self._of:
            raise KeyError(f"the gradient is with respect to {', '.join(self._of)}, and not to {name!r}")
        return self._of[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)

    def __repr__(self) -> str:
        return f"<halocline.Gradient of {self.value:.9g} with respect to {', '.join(self._of)}>"


def _field(simulation: "Simulation", core: _core.Gradient, name: str) -> Any:
    if len(simulation._devices) == 1:
        array = _arrays.Array(core.adjoint, core.field_name(name), 0, True)
        array._about = about(simulation, name)
        return array
    info = simulation._field(name)
    values = np.empty(simulation._shape_of(info), np.float64)
    core.adjoint.read_doubles(core.field_name(name), values.ctypes.data, values.size, 0)
    values = values.astype(_arrays.NUMPY_TYPES.get(info.type, np.float32), copy=False)
    values.flags.writeable = False
    return values


def _rows(values: Any, what: str, steps: int) -> np.ndarray:
    array = numbers(values, what)
    if array.ndim != 2 or array.shape[0] != steps:
        raise ArrayError(f"{what} are an array (steps, points) of {steps} steps, and not {array.shape}")
    return array


def gradient(
    simulation: "Simulation",
    of: str,
    with_: str | Iterable[str],
    steps: int,
    every_step: bool,
    measured: Any,
    weights: Any,
    snapshots: int | None,
) -> Gradient:
    names = [with_] if isinstance(with_, str) else list(with_)
    if not names:
        raise ArgumentError("with_=[]: name what the derivative is with respect to")
    info = simulation.program._info
    traces = [f"{points.name}.{name}" for points in info.points for name in points.sampled]
    if of not in [*info.reductions, *traces]:
        refuse_name(info.name, "reduction or sampled trace", of, [*info.reductions, *traces])
    key = (of, tuple(names), bool(every_step), snapshots)
    if simulation._gradient is None or simulation._gradient[0] != key:
        object.__setattr__(simulation, "_gradient", None)  # its memory is needed
        core = _core.Gradient.make(simulation._core, of, names, bool(every_step), snapshots)
        object.__setattr__(simulation, "_gradient", (key, core))
    core = simulation._gradient[1]
    given = {"measured": measured, "weights": weights}
    arrays = {name: None if values is None else _rows(values, name, steps) for name, values in given.items()}
    size = max((array.size for array in arrays.values() if array is not None), default=0)
    places = {name: 0 if array is None else array.ctypes.data for name, array in arrays.items()}
    report = core.compute(steps, places["weights"], places["measured"], size)
    return Gradient(simulation, core, report, of in traces)
