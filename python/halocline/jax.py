"""Programs as functions for JAX.

    import halocline.jax

    step = halocline.jax.call(heat)          # heat: a Program, or of @hl.stencil
    u1 = jax.jit(lambda u: step(u, steps=100, dt=0.1))(u)

Each is a call of XLA's foreign function interface (``jax.ffi``), without Python: on the CPU, and on NVIDIA's GPUs, where arrays
stay in the GPU's memory and all is done in XLA's stream. They have no gradient.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _core, _functional
from ._arrays import NUMPY_TYPES
from ._devices import chosen_devices, shared_device
from ._errors import ArgumentError, ArrayError, MissingLibraryError, UnsupportedError
from ._functional import Functional, Level
from ._optional import needed
from ._program import Program

jax = needed("jax", "halocline.jax", "jax")
needed("jax.numpy", "halocline.jax", "jax")
try:
    _ffi = needed("jax.ffi", "halocline.jax", "jax")
except ImportError:
    raise MissingLibraryError(f"halocline.jax needs jax 0.5 or later, and {jax.__version__} is installed", name="jax") from None

_TARGET = "halocline_steps"
_ffi.register_ffi_target(_TARGET, _core.xla_handler_cpu(), platform="cpu")
_ffi.register_ffi_target(_TARGET, _core.xla_handler_gpu(), platform="CUDA")

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
        chosen = None if device is None else chosen_devices(device, None, None)[0]
        is_cpu = chosen is not None and chosen.kind == "cpu"
        self._native = {"cpu"} if is_cpu else {"cpu", "cuda"} if chosen is None else {"cuda"}  # XLA's platforms
        self._device = chosen or shared_device("cpu")  # for the others
        gpu = "" if chosen is None or is_cpu else chosen.kind
        self._key = _functional.key_of(program) + (f"@{gpu}" if gpu else "")
        inputs, outputs = ([(each.field, each.level) for each in levels] for levels in (self.inputs, self.outputs))
        cpu = chosen if is_cpu else shared_device("cpu")
        # Compiled, a call knows where its arrays are; as it is, platform_dependent() takes JAX's default platform.
        self._compiled = jax.jit(self._by_platform, static_argnums=(2, 3))
        _core.register_call(self._key, program._core, cpu._core, gpu, inputs, outputs, list(self.params))

    def __call__(self, *arrays: Any, steps: int = 1, **named: Any) -> Any:
        """Raises ArgumentError for arguments that are missing or given twice, UnknownNameError for names that are not
        there, ArrayError for arrays of another shape or type."""
        given, params = self.arranged(arrays, named)
        fields = [self._checked(each, array) for each, array in zip(self.inputs, given)]
        self.check_shapes([each.shape for each in fields])
        count = _functional.counted(steps)
        traced = {name: self._number(name, value) for name, value in params.items() if isinstance(value, jax.Array)}
        try:
            fixed = {name: float(value) for name, value in params.items() if name not in traced}
        except (TypeError, ValueError):
            raise ArgumentError(f"parameters of '{self._name}' are numbers: {params}") from None
        for name, value in fixed.items():
            if not math.isfinite(value):
                raise ArgumentError(f"parameter '{name}' is a finite number, and this is {value}")
        return self.packed(self._compiled(fields, traced, tuple(fixed.items()), count))

    def _by_platform(self, fields: list[Any], traced: dict[str, Any], fixed: tuple, count: int) -> list[Any]:
        """The call as XLA compiles it for the platform that has the arrays."""
        wanted = [jax.ShapeDtypeStruct(fields[0].shape, _type(each)) for each in self.outputs]
        known = dict(fixed)

        def run(fields: list[Any], traced: dict[str, Any]) -> list[np.ndarray]:
            return self._run([np.asarray(each) for each in fields], known | {name: float(each) for name, each in traced.items()}, count)

        def call_back(fields: list[Any], traced: dict[str, Any]) -> list[Any]:
            return jax.pure_callback(run, wanted, fields, traced, vmap_method="sequential")

        def call_native(fields: list[Any], traced: dict[str, Any]) -> list[Any]:
            numbers = np.array([known.get(name, math.nan) for name in self.params], np.float64)  # NaN: a traced one
            call = _ffi.ffi_call(_TARGET, wanted, vmap_method="sequential")
            return call(*fields, *(traced[name] for name in self.params if name in traced),
                        program=self._key, steps=np.int64(count), params=numbers)  # fmt: skip

        native = {platform: call_native for platform in self._native}
        return list(jax.lax.platform_dependent(fields, traced, **native, default=call_back))

    def _number(self, name: str, value: Any) -> Any:
        """A traced parameter, as float32 or float64."""
        if value.shape != ():
            raise ArgumentError(f"parameter '{name}' is a number, and this is an array of shape {value.shape}")
        return value if value.dtype in (np.float32, np.float64) else value.astype(np.float32)

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


def call(program: Program, *, device: Any = None) -> Call:
    """A program as a function for JAX: the states after ``steps`` steps as a function of fields and parameters. It works in
    ``jit``, ``vmap`` (one after the other) and ``scan``.

    device: where steps are done: left out, where XLA has the arrays; ``'cpu'``, ``'cuda'``, or a Device. Where that is
        another than XLA's, arrays come and go by the host's memory (``jax.pure_callback``).

    Raises UnsupportedError for programs with tables or points, with fields of bf16, and of bundles.
    """
    return Call(_functional.program_of(program, "halocline.jax.call()"), device)
