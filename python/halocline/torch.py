"""Programs as operators of torch.

    import halocline.torch

    step = halocline.torch.op(heat)          # heat: a Program, or of @hl.stencil
    u1 = step(u, steps=100, dt=0.1)          # a new tensor; u stays as it is

They are custom operators (torch.library) without side effects, on the CPU and on GPUs, in torch's current stream there;
torch.compile and torch.export see one call. backward() goes back by the program's adjoint.
"""

from __future__ import annotations

import math
import re
from typing import Any

from . import _functional
from ._arrays import Array, Checked
from ._devices import Device, shared_device
from ._errors import ArgumentError, ArrayError, UnsupportedError
from ._functional import Functional, Level, Pullback
from ._optional import needed
from ._program import Program

torch = needed("torch", "halocline.torch", "torch")
if not hasattr(torch.library, "custom_op"):
    raise ImportError(f"halocline.torch needs torch 2.4 or later, and {torch.__version__} is installed", name="torch")

__all__ = ["Op", "op"]

_TYPES = {
    "f32": torch.float32,
    "f64": torch.float64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "u8": torch.uint8,
    "i32": torch.int32,
    "i64": torch.int64,
    "bool": torch.bool,
}
_known: dict[str, "Op"] = {}  # by the operator's name: torch registers each once in a process


def _device_of(tensor: Any) -> Device:
    """Where a program runs in order with what torch does with the tensor: it is opened by the first call."""
    if tensor.device.type != "cuda":
        return shared_device("cpu")
    index = torch.cuda.current_device() if tensor.device.index is None else tensor.device.index
    return shared_device(f"cuda:{index}", torch.cuda.current_stream(tensor.device).cuda_stream)


class Op(Functional):
    """A program as an operator: ``op(*arrays, steps=1, **params)``.

    arrays: the states, each with its past levels, then the inputs: tensors of shape (z, y, x) in the fields' types, all on
    one device; by position or by name (``p``, ``p_past1`` for the level before, ``v_x`` for the component v.x).
    Gives the states with their past levels, and the outputs: new tensors, contiguous; one alone, several as a named tuple.

    Tensors that require a gradient get one, also parameters that are given as tensors of one number. What the program makes
    of integers has none, and there is no second derivative.

    name: ``'halocline::heat_…'``, as ``torch.ops`` and torch.library.opcheck() know it.
    operator: what torch.library made; pullback: likewise, of its vector-Jacobian product.
    """

    def __init__(self, program: Program, name: str, key: str) -> None:
        super().__init__(program, "torch")
        self.name, self._key = name, key
        # A parameter that is NaN is the next one of `numbers`, tensors of one number each.
        signature = "Tensor[] fields, float[] params, int steps, Tensor[] numbers"
        self.operator = torch.library.custom_op(name, self._run, mutates_args=(), schema=f"({signature}) -> Tensor[]")
        self.operator.register_fake(self._fake)
        self.operator.register_autograd(self._go_back, setup_context=_keep)
        # Weights of the results at the places `of` go in, and derivatives by the arguments at the places `with_` come out.
        self.pullback = torch.library.custom_op(
            f"{name}_pullback", self._pull_back, mutates_args=(),
            schema=f"(Tensor[] weights, int[] of, int[] with_, {signature}) -> Tensor[]",
        )  # fmt: skip
        self.pullback.register_fake(self._fake_pullback)
        self.pullback.register_autograd(self._refuse_second)

    def __call__(self, *arrays: Any, steps: int = 1, **named: Any) -> Any:
        """Raises ArgumentError for arguments that are missing or given twice, UnknownNameError for names that are not
        there, ArrayError for tensors of another shape, type or device."""
        tensors, params = self.arranged(arrays, named)
        for each, tensor in zip(self.inputs, tensors):
            self._check(each, tensor, tensors[0])
        self.check_shapes([tuple(tensor.shape) for tensor in tensors])
        self._refuse_tangents([*tensors, *params.values()])
        numbers = [self._number(name, value) for name, value in params.items() if isinstance(value, torch.Tensor)]
        try:
            given = {name: math.nan if isinstance(value, torch.Tensor) else float(value) for name, value in params.items()}
        except (TypeError, ValueError):
            raise ArgumentError(f"parameters of '{self._name}' are numbers: {params}") from None
        for name, value in given.items():
            if not math.isfinite(value) and not isinstance(params[name], torch.Tensor):
                raise ArgumentError(f"parameter '{name}' is a finite number, and this is {value}")
        return self.packed(self.operator(tensors, list(given.values()), _functional.counted(steps), numbers))

    def _refuse_tangents(self, given: list[Any]) -> None:
        """torch would leave the tangents out without a word."""
        if torch.compiler.is_compiling():
            return
        for value in given:
            if isinstance(value, torch.Tensor) and torch.autograd.forward_ad.unpack_dual(value).tangent is not None:
                raise UnsupportedError(f"'{self._name}' is not differentiated in forward mode; backward() and torch.autograd.grad() are there")

    def _number(self, name: str, value: Any) -> Any:
        if value.numel() != 1 or value.is_complex():
            raise ArgumentError(f"parameter '{name}' is a number, and this is a tensor of {value.dtype} and shape {tuple(value.shape)}")
        return value

    def _check(self, each: Level, tensor: Any, first: Any) -> None:
        if not isinstance(tensor, torch.Tensor):
            raise ArrayError(f"'{each.argument}' is a tensor, and this is {type(tensor).__name__}: torch.as_tensor(…)")
        if tensor.dtype != _TYPES[each.type]:
            raise ArrayError(f"'{each.argument}' has elements of {_TYPES[each.type]}, and the tensor of {tensor.dtype}: give tensor.to({_TYPES[each.type]})")
        if tensor.device != first.device:
            raise ArrayError(f"'{each.argument}' is on {tensor.device}, and '{self.inputs[0].argument}' on {first.device}: give tensor.to('{first.device}')")
        if tensor.device.type not in ("cpu", "cuda"):
            raise ArrayError(f"'{each.argument}' is on {tensor.device}; programs run on the CPU and on NVIDIA's GPUs")

    def _fake(self, fields: list[Any], params: list[float], steps: int, numbers: list[Any]) -> list[Any]:
        """What comes out, without its values."""
        return [fields[0].new_empty(fields[0].shape, dtype=_TYPES[each.type]) for each in self.outputs]

    def _begun(self, fields: list[Any], params: list[float], numbers: list[Any]) -> Any:
        """A simulation that is to do the steps."""
        tensors = iter(numbers)
        given = {name: next(tensors).item() if math.isnan(value) else value for name, value in zip(self.params, params)}
        simulation = self.simulation(fields[0].shape, given, device=_device_of(fields[0]))
        for each, tensor in zip(self.inputs, fields):
            self._write(simulation, each, tensor.detach().contiguous())
        return simulation

    def _run(self, fields: list[Any], params: list[float], steps: int, numbers: list[Any]) -> list[Any]:
        with self._begun(fields, params, numbers) as simulation:
            simulation.run(steps)
            return [self._read(simulation, each, fields[0]) for each in self.outputs]

    def _write(self, simulation: Any, each: Level, tensor: Any) -> None:
        size = tensor.numel() * tensor.element_size()
        if tensor.device.type == "cpu":
            simulation._core.write_elements(each.field, tensor.data_ptr(), size, each.level)
            return
        pitch = tensor.shape[-1]
        checked = Checked(tensor, tensor.data_ptr(), size, pitch, pitch * (tensor.shape[-2] if tensor.ndim > 2 else 0))
        checked.stream = torch.cuda.current_stream(tensor.device).cuda_stream
        simulation._write_on_gpu(each.field, checked, each.level)

    def _read(self, simulation: Any, each: Level, like: Any) -> Any:
        if like.device.type == "cpu":
            tensor = torch.empty(like.shape, dtype=_TYPES[each.type])
            simulation._core.read_elements(each.field, tensor.data_ptr(), tensor.numel() * tensor.element_size(), each.level)
            return tensor
        return torch.from_dlpack(simulation.array(each.field, each.level)).clone(memory_format=torch.contiguous_format)

    # ---- backwards

    def _go_back(self, context: Any, weights: list[Any]) -> tuple:
        """What autograd calls. Weights of results that nothing came of are None."""
        of = [i for i, each in enumerate(weights) if each is not None]
        fields, numbers = context.saved_tensors[: len(self.inputs)], context.saved_tensors[len(self.inputs) :]
        needed = [*context.needs_input_grad[0], *context.needs_input_grad[3]]
        with_ = [i for i, each in enumerate(needed) if each]
        given = [weights[i] for i in of]
        found: list[Any] = [None] * len(needed)
        if of:
            back = self.pullback(given, of, with_, list(fields), context.params, context.steps, list(numbers))
            for i, each in zip(with_, back):
                found[i] = each
        # No parameters are an empty list, and torch takes that for one of tensors.
        return found[: len(fields)], None if context.params else [], None, found[len(fields) :]

    def _fake_pullback(self, weights: Any, of: Any, with_: list[int], fields: Any, params: Any, steps: int, numbers: Any) -> list[Any]:
        arguments = [*fields, *numbers]
        return [torch.empty_like(arguments[i], memory_format=torch.contiguous_format) for i in with_]

    def _pull_back(
        self, weights: list[Any], of: list[int], with_: list[int],
        fields: list[Any], params: list[float], steps: int, numbers: list[Any],
    ) -> list[Any]:  # fmt: skip
        results = {(self.outputs[i].field, self.outputs[i].level): each for i, each in zip(of, weights)}
        traced = [i for i, value in enumerate(params) if math.isnan(value)]
        places = [i if i < len(fields) else len(fields) + traced[i - len(fields)] for i in with_]
        like = [[*fields, *numbers][i] for i in with_]
        if steps == 0:  # results are arguments
            found = [results.get((self.inputs[i].field, self.inputs[i].level)) if i < len(fields) else None for i in places]
            return [_like(tensor, None if each is None else each.clone()) for tensor, each in zip(like, found)]
        with self._begun(fields, params, numbers) as simulation:
            back = Pullback(simulation, *self.names(of, places))
            given = []  # as the adjoint takes them
            for level, each in results.items():
                if level in back.weights:
                    given.append((*level, each.detach().to(_TYPES[back.weights[level][1]]).contiguous()))
            places_in_memory = [(*level, each.data_ptr(), each.numel() * each.element_size()) for *level, each in given]
            back.compute(steps, places_in_memory, tuple(fields[0].shape))
            return [_like(tensor, self._derivative(back, i, fields[0])) for tensor, i in zip(like, places)]

    def _derivative(self, back: Pullback, place: int, like: Any) -> Any:
        if place >= len(self.inputs):
            return torch.tensor(back.number(list(self.params)[place - len(self.inputs)]), dtype=torch.float64)
        found = back.levels.get((self.inputs[place].field, self.inputs[place].level))
        if found is None:
            return None
        name, type = found
        if like.device.type == "cuda":
            return torch.from_dlpack(Array(back.core.adjoint, name, 0, True)).clone(memory_format=torch.contiguous_format)
        tensor = torch.empty(like.shape, dtype=_TYPES[type])
        back.core.adjoint.read_elements(name, tensor.data_ptr(), tensor.numel() * tensor.element_size(), 0)
        return tensor

    def _refuse_second(self, context: Any, weights: list[Any]) -> Any:
        raise UnsupportedError(f"'{self._name}' has no second derivatives: its gradient was differentiated again")


def _keep(ctx: Any, inputs: tuple, output: Any) -> None:
    fields, ctx.params, ctx.steps, numbers = inputs
    ctx.save_for_backward(*fields, *numbers)
    ctx.set_materialize_grads(False)


def _like(tensor: Any, derivative: Any) -> Any:
    """In the tensor's shape and type, and where it is."""
    if derivative is None:
        return torch.zeros_like(tensor, memory_format=torch.contiguous_format)
    return derivative.to(dtype=tensor.dtype, device=tensor.device).reshape(tensor.shape)


def op(program: Program, name: str | None = None) -> Op:
    """The operator of a program, for the states after ``steps`` steps as a function of fields and parameters. The same
    program gives the same operator.

    name: in the namespace halocline of ``torch.ops``; the program's name and a hash of its code without it.

    Raises UnsupportedError for programs with tables or points, and of bundles; ArgumentError for a name that is taken.
    """
    program = _functional.program_of(program, "halocline.torch.op()")
    key = _functional.key_of(program)
    if name is not None and not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
        raise ArgumentError(f"name={name!r}: letters, digits and _, such as 'heat'")
    full = f"halocline::{name or key}"
    known = _known.get(full)
    if known is None:
        known = _known[full] = Op(program, full, key)
    elif known._key != key:
        raise ArgumentError(f"'{full}' is the operator of another program; give another name")
    return known
