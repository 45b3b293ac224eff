"""What a simulation is given besides parameters and fields."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import ArgumentError, ArrayError, refuse_name

__all__ = ["Given"]


def numbers(values: Any, what: str) -> np.ndarray:
    try:
        return np.ascontiguousarray(values, np.float64)
    except (TypeError, ValueError):
        raise ArrayError(f"{what} are an array of numbers, and this is {type(values).__name__}") from None


class Given:
    """Weights, tables and points of a Simulation."""

    __slots__ = ()

    def _of(self, kind: str, name: str) -> Any:
        known = {each.name: each for each in getattr(self.program._info, kind)}
        if name not in known:
            refuse_name(self.program.name, {"weights": "weights"}.get(kind, kind), name, known)
        return known[name]

    def set_weights(self, name: str, values: Any) -> None:
        """The weights of a ``param coef``: an array with an axis for each of its ranges."""
        sizes = tuple(self._open()._of("weights", name).sizes)
        array = numbers(values, f"the weights of '{name}'")
        if array.shape != sizes:
            raise ArrayError(f"the weights of '{name}' have the shape {sizes}, and the array {array.shape}")
        self._core.set_weights(name, array.ctypes.data, array.size)

    def set_table(self, name: str, rows: Any) -> None:
        """The rows of a table: an array (rows, columns) of the columns that are given, in the spec's order."""
        table = self._open()._of("tables", name)
        if table.is_series:
            raise ArgumentError(f"'{name}' is a series: set_series() gives its values")
        columns = table.columns
        array = numbers(rows, f"the rows of '{name}'")
        if array.ndim != 2 or array.shape[1] != len(columns):
            raise ArrayError(
                f"table '{name}' has the columns {', '.join(columns)}: its rows are an array (rows, {len(columns)}), "
                f"and not {array.shape}"
            )
        self._core.set_table(name, array.ctypes.data, array.size)

    def set_series(self, name: str, values: Any) -> None:
        """The values of a series at 0, 1, …: an array of one axis, with one value at least."""
        self._open()._of("tables", name)
        array = numbers(values, f"the values of '{name}'")
        if array.ndim != 1:
            raise ArrayError(f"the values of series '{name}' are an array of one axis, and not {array.shape}")
        self._core.set_series(name, array.ctypes.data, array.size)

    def set_points(self, name: str, positions: Any) -> None:
        """Where points lie: an array (points, axes) of coordinates, x first, as in the spec."""
        self._open()._of("points", name)
        array = numbers(positions, f"the positions of '{name}'")
        axes = self.program.axes
        if array.ndim != 2 or array.shape[1] != len(axes):
            raise ArrayError(
                f"points '{name}' have the coordinates {', '.join(axes)}: their positions are an array (points, "
                f"{len(axes)}), and not {array.shape}"
            )
        self._core.set_points(name, array.ctypes.data, array.size)

    def set_point_values(self, points: str, name: str, values: Any) -> None:
        """A column: a number for each point. Or an injected trace: an array (steps, points); past its last step the
        values are 0."""
        info = self._open()._of("points", points)
        if name not in [*info.columns, *info.injected]:
            refuse_name(points, "column or injected trace", name, [*info.columns, *info.injected])
        array = numbers(values, f"'{points}.{name}'")
        wanted, words = (1, "(points)") if name in info.columns else (2, "(steps, points)")
        if array.ndim != wanted:
            raise ArrayError(f"'{points}.{name}' is an array {words}, and not {array.shape}")
        self._core.set_point_values(points, name, array.ctypes.data, array.size)

    def trace(self, points: str, name: str) -> np.ndarray:
        """A sampled trace of all steps done: an array (steps, points). Waits."""
        info = self._open()._of("points", points)
        if name not in info.sampled:
            refuse_name(points, "sampled trace", name, info.sampled)
        values = np.asarray(self._core.trace(points, name), np.float64)
        return values.reshape(self.steps_done, -1) if self.steps_done else values.reshape(0, 0)
