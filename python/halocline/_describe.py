"""Programs, simulations and what was found, as notebooks show them."""

from __future__ import annotations

from json import loads
from typing import TYPE_CHECKING, Any

from ._errors import Error
from ._html import block, code, details, table

if TYPE_CHECKING:
    from ._machine import Doctor, Tuning
    from ._program import Program
    from ._simulation import Simulation

__all__ = ["of_doctor", "of_program", "of_simulation", "of_tuning"]


def _statements(program: "Program") -> str:
    """The checked program as the compiler prints it: what was written, with functions written out."""
    try:
        return code(program.emit(target="stencil").strip())
    except Error:  # of a bundle, which holds code alone
        return ""


def _level(name: str, time: int) -> str:
    return name if time == 0 else f"{name}[t{time:+d}]"


def _stages(program: "Program") -> str:
    """The kernels of a step on a GPU, by the launch plan: nothing is compiled for it."""
    try:
        plan = loads(program.emit(target="plan"))
    except Error:
        return ""
    rows = []
    for kernel in plan["kernels"]:
        fields = [_level(plan["fields"][each["field"]]["name"], each["time"]) for each in kernel["arguments"] if each["kind"] == "field"]
        blocks = [" x ".join(map(str, kernel[key][: plan["rank"]])) for key in ("threads", "tile")]
        rows.append((kernel["name"], ", ".join(fields), *blocks))
    return table(("kernel", "reads and writes", "threads of a block", "its cells"), rows)


def _fields(program: "Program") -> str:
    rows = [(each.name, each.type, each.role, each.past or "") for each in program.fields.values()]
    return table(("field", "type", "role", "past levels"), rows)


def _params(program: "Program") -> str:
    return table(("param", "default"), [(name, "none" if value is None else f"{value:g}") for name, value in program.params.items()])


def of_program(program: "Program") -> str:
    reductions = table(("reduction",), [(name,) for name in program.reductions])
    return block(
        f"{program.name}({', '.join(program.axes)})",
        "halocline.Program",
        details("statements", _statements(program), is_open=True),
        details("fields and params", _fields(program) + _params(program) + reductions, is_open=True),
        details("kernels on a GPU", _stages(program)),
    )


def _param_rows(simulation: "Simulation") -> list[tuple[str, Any]]:
    return [(name, value if value is not None else "no value yet") for name, value in simulation.params._known()]


def of_simulation(simulation: "Simulation") -> str:
    grid = " x ".join(map(str, simulation.grid))
    title = f"{simulation.program.name}: {grid} cells"
    if simulation.closed:
        return block(title, "halocline.Simulation, closed")
    where = " + ".join(device.description for device in simulation.devices)
    state = f"after {simulation.steps_done} steps on {where}"
    return block(title, state, _fields(simulation.program), table(("param", "value"), _param_rows(simulation)))


def of_doctor(doctor: "Doctor") -> str:
    rows = [("found" if each.found else "missing", each.title, each.detail) for each in doctor.findings]
    return block("halocline", f"programs run on: {doctor.best_device}", table(("", "what", "where, or the mend"), rows), code(doctor.figures))


def of_tuning(tuning: "Tuning") -> str:
    rows = [
        (each.name, each.result, each.schedule, f"{each.seconds * 1e6:.4g} µs" if each.seconds else "", each.trials)
        for each in tuning.stages
    ]
    return block("tuned", f"kept in {tuning.store}", table(("", "result", "schedule", "a step", "tried"), rows), code(tuning.text))
