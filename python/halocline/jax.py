"""Programs as functions for JAX.

    import halocline.jax

    step = halocline.jax.call(heat)          # heat: a Program, or of @hl.stencil
    u1 = jax.jit(lambda u: step(u, steps=100, dt=0.1))(u)

Each is a ``jax.pure_callback``: XLA calls back to Python on the host, so arrays of a GPU are copied to the host and back,
and the GIL is taken at the start and end of each call. Steps are done on the CPU, or on the device that ``device=`` names.
They have no gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _functional
from ._arrays import NUMPY_TYPES
from ._errors import ArgumentError, ArrayError, UnsupportedError
from ._functional import Functional, Level
from ._optional import needed
from ._program import Program

jax = needed("jax", "halocline.jax", "jax")

__all__ = ["Call", "call"]


def _type(each: Level) -> Any:
    return NUMPY_TYPES[each.type]


class Call(Functional):
    """A program as a function: ``call(*arrays, steps=1, **params)``.

    arrays: the states, each with its past levels, then the inputs: arrays of shape (z, y, x) in the fields' types, by
    position or by name (``p``, ``p_past1`` for the level before, ``v_x`` for the component v.x). Parameters may be traced;
    steps may not. Gives the states with their past levels, and the outputs; one alone, several as a named tuple.
    """

    def __init__(self, program: Program, device: Any) -> None:
        super().__init__(program, "JAX")
        for each in (*self.inputs, *self.outputs):
            if each.type not in NUMPY_TYPES:
                raise UnsupportedError(f"field '{each.field}' is of {each.type}, which numpy has not, and JAX calls back by numpy")
        self._device = device

    def __call__(self, *arrays: Any, steps: int = 1, **named: Any) -> Any:
        """Raises ArgumentError for arguments that are missing or given twice, UnknownNameError for names that are not
        there, ArrayError for arrays of another shape or type."""
        given, params = self.arranged(arrays, named)
        fields = [self._checked(each, array) for each, array in zip(self.inputs, given)]
        self.check_shapes([each.shape for each in fields])
        count = _functional.counted(steps)
        shape = fields[0].shape
        traced = {name: value for name, value in params.items() if isinstance(value, jax.Array)}
        try:
            fixed = {name: float(value) for name, value in params.items() if name not in traced}
        except (TypeError, ValueError):
            raise ArgumentError(f"parameters of '{self._name}' are numbers: {params}") from None
        for name, value in traced.items():
            if value.shape != ():
                raise ArgumentError(f"parameter '{name}' is a number, and this is an array of shape {value.shape}")

        def run(fields: list[Any], traced: dict[str, Any]) -> list[np.ndarray]:
            return self._run([np.asarray(each) for each in fields], fixed | {name: float(each) for name, each in traced.items()}, count)

        wanted = [jax.ShapeDtypeStruct(shape, _type(each)) for each in self.outputs]
        return self.packed(list(jax.pure_callback(run, wanted, fields, traced, vmap_method="sequential")))

    def _checked(self, each: Level, array: Any) -> Any:
        if isinstance(array, (bool, int, float)) or not hasattr(array, "dtype"):
            raise ArrayError(f"'{each.argument}' is an array, and this is {type(array).__name__}: jax.numpy.asarray(…)")
        if np.dtype(array.dtype) != _type(each):
            mend = f"give array.astype('{_type(each)}')"
            if _type(each).itemsize == 8 and not jax.config.jax_enable_x64:
                mend = "first jax.config.update('jax_enable_x64', True)"
            raise ArrayError(f"'{each.argument}' has elements of {_type(each)}, and the array of {array.dtype}: {mend}")
        if _type(each).itemsize == 8 and not jax.config.jax_enable_x64:
            raise ArrayError(f"'{each.argument}' has elements of {_type(each)}: first jax.config.update('jax_enable_x64', True)")
        return array

    def _run(self, fields: list[np.ndarray], params: dict[str, float], steps: int) -> list[np.ndarray]:
        with self.simulation(fields[0].shape, params, device=self._device) as simulation:
            for each, array in zip(self.inputs, fields):
                simulation.write(each.field, np.ascontiguousarray(array), level=each.level)
            simulation.run(steps)
            return [simulation.read(each.field, level=each.level) for each in self.outputs]


def call(program: Program, *, device: Any = "cpu") -> Call:
    """A program as a function for JAX: the states after ``steps`` steps as a function of fields and parameters. It works in
    ``jit``, ``vmap`` (one after the other) and ``scan``.

    device: where steps are done: ``'cpu'``, ``'cuda'``, or a Device. Arrays come and go by the host's memory in any case.

    Raises UnsupportedError for programs with tables or points, or fields of bf16.
    """
    return Call(_functional.program_of(program, "halocline.jax.call()"), device)
