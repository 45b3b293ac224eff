"""Programs as operators of torch.

    import halocline.torch

    step = halocline.torch.op(heat)          # heat: a Program, or of @hl.stencil
    u1 = step(u, steps=100, dt=0.1)          # a new tensor; u stays as it is

They are custom operators (torch.library) without side effects, on the CPU and on GPUs, in torch's current stream there;
torch.compile and torch.export see one call. They have no gradient.
"""

from __future__ import annotations

import re
from typing import Any

from . import _functional
from ._arrays import Checked
from ._devices import Device, shared_device
from ._errors import ArgumentError, ArrayError
from ._functional import Functional, Level
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

    name: ``'halocline::heat_…'``, as ``torch.ops`` and torch.library.opcheck() know it.
    operator: what torch.library made.
    """

    def __init__(self, program: Program, name: str, key: str) -> None:
        super().__init__(program, "torch")
        self.name, self._key = name, key
        self.operator = torch.library.custom_op(
            name, self._run, mutates_args=(), schema="(Tensor[] fields, float[] params, int steps) -> Tensor[]"
        )
        self.operator.register_fake(self._fake)

    def __call__(self, *arrays: Any, steps: int = 1, **named: Any) -> Any:
        """Raises ArgumentError for arguments that are missing or given twice, UnknownNameError for names that are not
        there, ArrayError for tensors of another shape, type or device."""
        tensors, params = self.arranged(arrays, named)
        for each, tensor in zip(self.inputs, tensors):
            self._check(each, tensor, tensors[0])
        self.check_shapes([tuple(tensor.shape) for tensor in tensors])
        try:
            numbers = [float(value) for value in params.values()]
        except (TypeError, ValueError):
            raise ArgumentError(f"parameters of '{self._name}' are numbers: {params}") from None
        return self.packed(self.operator(tensors, numbers, _functional.counted(steps)))

    def _check(self, each: Level, tensor: Any, first: Any) -> None:
        if not isinstance(tensor, torch.Tensor):
            raise ArrayError(f"'{each.argument}' is a tensor, and this is {type(tensor).__name__}: torch.as_tensor(…)")
        if tensor.dtype != _TYPES[each.type]:
            raise ArrayError(f"'{each.argument}' has elements of {_TYPES[each.type]}, and the tensor of {tensor.dtype}: give tensor.to({_TYPES[each.type]})")
        if tensor.device != first.device:
            raise ArrayError(f"'{each.argument}' is on {tensor.device}, and '{self.inputs[0].argument}' on {first.device}: give tensor.to('{first.device}')")
        if tensor.device.type not in ("cpu", "cuda"):
            raise ArrayError(f"'{each.argument}' is on {tensor.device}; programs run on the CPU and on NVIDIA's GPUs")

    def _fake(self, fields: list[Any], params: list[float], steps: int) -> list[Any]:
        """What comes out, without its values."""
        return [fields[0].new_empty(fields[0].shape, dtype=_TYPES[each.type]) for each in self.outputs]

    def _run(self, fields: list[Any], params: list[float], steps: int) -> list[Any]:
        given = dict(zip(self.params, params))
        with self.simulation(fields[0].shape, given, device=_device_of(fields[0])) as simulation:
            for each, tensor in zip(self.inputs, fields):
                self._write(simulation, each, tensor.detach().contiguous())
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
