"""Programs as functions for JAX.

    import halocline.jax

    step = halocline.jax.call(heat)          # heat: a Program, or of @hl.stencil
    u1 = jax.jit(lambda u: step(u, steps=100, dt=0.1))(u)

Each is a call of XLA's foreign function interface (``jax.ffi``), without Python: on the CPU, and on NVIDIA's GPUs, where arrays
stay in the GPU's memory and all is done in XLA's stream. jax.grad goes back by the program's adjoint, likewise.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _core, _functional
from ._arrays import NUMPY_TYPES
from ._devices import chosen_devices, shared_device
from ._errors import ArgumentError, ArrayError, MissingLibraryError, UnsupportedError
from ._functional import Functional, Level, Pullback
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
_PULLBACK = "halocline_pullback"
_ffi.register_ffi_target(_PULLBACK, _core.xla_handler_pullback_cpu(), platform="cpu")
_ffi.register_ffi_target(_PULLBACK, _core.xla_handler_pullback_gpu(), platform="CUDA")

_SymbolicZero = jax.custom_derivatives.SymbolicZero

__all__ = ["Call", "call"]


def _type(each: Level) -> Any:
    return NUMPY_TYPES[each.type]


class Call(Functional):
    """A program as a function: ``call(*arrays, steps=1, **params)``.

    arrays: the states, each with its past levels, then the inputs: arrays of shape (z, y, x) in the fields' types, by
    position or by name (``p``, ``p_past1`` for the level before, ``v_x`` for the component v.x). Parameters may be traced;
    steps may not. Gives the states with their past levels, and the outputs; one alone, several as a named tuple.

    ``grad``, ``value_and_grad``, ``vjp`` and all else that goes backwards works, by arrays and traced parameters; ``jvp`` and
    second derivatives do not.
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
        self._steps = jax.custom_vjp(self._by_platform, nondiff_argnums=(2, 3))
        self._steps.defvjp(self._keep, self._go_back, symbolic_zeros=True)
        self._compiled = jax.jit(self._steps, static_argnums=(2, 3))
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

    # ---- backwards

    def _keep(self, fields: Any, traced: Any, fixed: tuple, count: int) -> Any:
        """The call, and what is needed to go back. () stands for an argument that has a derivative, None for another:
        what is kept are arrays, so that is said by its structure."""
        values = [each.value for each in fields], {name: each.value for name, each in traced.items()}
        asked = [() if each.perturbed else None for each in fields], {name: () if each.perturbed else None for name, each in traced.items()}
        return self._steps(*values, fixed, count), (*values, *asked)

    def _go_back(self, fixed: tuple, count: int, kept: Any, weights: list[Any]) -> Any:
        fields, traced, asked_fields, asked_traced = kept
        of = [i for i, each in enumerate(self.outputs) if each.is_real and not isinstance(weights[i], _SymbolicZero)]
        given = [weights[i] for i in of]
        places = [i for i, each in enumerate(self.inputs) if asked_fields[i] is not None and each.is_real]
        places += [len(fields) + i for i, name in enumerate(self.params) if asked_traced.get(name) is not None]
        if not of or not places:
            found = []
        elif count == 0:  # results are arguments
            results = {(self.outputs[i].field, self.outputs[i].level): each for i, each in zip(of, given)}
            found = [results.get((self.inputs[i].field, self.inputs[i].level)) if i < len(fields) else None for i in places]
        else:
            _core.check_gradient_of_fields(self.program._core, *self.names(of, places))

            def back(given: list[Any], fields: list[Any], traced: dict[str, Any]) -> list[Any]:
                return self._back_by_platform(given, tuple(of), tuple(places), fields, traced, fixed, count)

            found = _once_differentiable(back, self._name)(given, fields, traced)
        derivatives = dict(zip(places, found))
        by_name = {name: derivatives.get(len(fields) + i) for i, name in enumerate(self.params) if name in traced}
        return [derivatives.get(i) for i in range(len(fields))], by_name

    def _back_by_platform(
        self, weights: list[Any], of: tuple, places: tuple, fields: list[Any], traced: dict[str, Any], fixed: tuple, count: int
    ) -> list[Any]:
        known = dict(fixed)
        like = [fields[i] if i < len(fields) else traced[list(self.params)[i - len(fields)]] for i in places]
        wanted = [jax.ShapeDtypeStruct(each.shape, _wide(each.dtype)) for each in like]
        weights = [each.astype(_wide(each.dtype)) for each in weights]

        def run(weights: list[Any], fields: list[Any], traced: dict[str, Any]) -> list[np.ndarray]:
            arrays, values = ([np.asarray(each) for each in some] for some in (fields, weights))
            params = known | {name: float(each) for name, each in traced.items()}
            return self._pull_back(values, of, places, arrays, params, count, wanted)

        def call_back(*operands: Any) -> Any:
            return jax.pure_callback(run, wanted, *operands, vmap_method="sequential")

        def call_native(weights: list[Any], fields: list[Any], traced: dict[str, Any]) -> list[Any]:
            numbers = np.array([known.get(name, math.nan) for name in self.params], np.float64)
            call = _ffi.ffi_call(_PULLBACK, wanted, vmap_method="sequential")
            return call(*fields, *(traced[name] for name in self.params if name in traced), *weights, program=self._key,
                        steps=np.int64(count), params=numbers, of=np.array(of, np.int64), by=np.array(places, np.int64))  # fmt: skip

        native = {platform: call_native for platform in self._native}
        found = jax.lax.platform_dependent(weights, fields, traced, **native, default=call_back)
        return [derivative.astype(each.dtype) for derivative, each in zip(found, like)]

    def _pull_back(
        self, weights: list[np.ndarray], of: tuple, places: tuple, fields: list[np.ndarray], params: dict[str, float], steps: int,
        wanted: list[Any],
    ) -> list[np.ndarray]:  # fmt: skip
        with self.simulation(fields[0].shape, params, device=self._device) as simulation:
            for each, array in zip(self.inputs, fields):
                simulation.write(each.field, np.ascontiguousarray(array), level=each.level)
            back = Pullback(simulation, *self.names(of, places))
            given = []
            for i, values in zip(of, weights):
                level = (self.outputs[i].field, self.outputs[i].level)
                if level in back.weights:
                    given.append((*level, np.ascontiguousarray(values, NUMPY_TYPES[back.weights[level][1]])))
            back.compute(steps, [(*level, each.ctypes.data, each.nbytes) for *level, each in given])
            return [self._derivative(back, i, each) for i, each in zip(places, wanted)]

    def _derivative(self, back: Pullback, place: int, like: Any) -> np.ndarray:
        if place >= len(self.inputs):
            return np.asarray(back.number(list(self.params)[place - len(self.inputs)]), like.dtype)
        name, type = back.levels.get((self.inputs[place].field, self.inputs[place].level), (None, "f32"))
        values = np.zeros(like.shape, NUMPY_TYPES[type])
        if name is not None:
            back.core.adjoint.read_elements(name, values.ctypes.data, values.nbytes, 0)
        return values.astype(like.dtype)

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


def _wide(dtype: Any) -> Any:
    """The type that derivatives are computed in."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def _once_differentiable(function: Any, name: str) -> Any:
    wrapped = jax.custom_jvp(function)

    @wrapped.defjvp
    def refuse(primals: Any, tangents: Any) -> Any:
        raise UnsupportedError(f"'{name}' has no second derivatives: its gradient was differentiated again")

    return wrapped


def call(program: Program, *, device: Any = None) -> Call:
    """A program as a function for JAX: the states after ``steps`` steps as a function of fields and parameters. It works in
    ``jit``, ``vmap`` (one after the other) and ``scan``.

    device: where steps are done: left out, where XLA has the arrays; ``'cpu'``, ``'cuda'``, or a Device. Where that is
        another than XLA's, arrays come and go by the host's memory (``jax.pure_callback``).

    Raises UnsupportedError for programs with tables or points, with fields of bf16, and of bundles.
    """
    return Call(_functional.program_of(program, "halocline.jax.call()"), device)
