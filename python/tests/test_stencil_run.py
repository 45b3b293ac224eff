"""Stencils from Python, run: they have all that a program has, and compute what numpy does."""

from __future__ import annotations

import halocline as hl
import numpy as np
import pytest
from spec_tools import meaning


@hl.stencil
def heat(x, y):
    lam, dt = hl.param(1), hl.param(0.2)
    u = hl.field("f64", boundary={x: hl.fixed(10), y: hl.periodic})
    u.next = u + lam * dt * hl.laplacian(u)
    change = hl.reduce(hl.max(abs(u.next - u)))


def heat_step(u: np.ndarray, dt: float) -> np.ndarray:
    wide = np.pad(np.pad(u, ((1, 1), (0, 0)), "wrap"), ((0, 0), (1, 1)), constant_values=10)
    return u + dt * (wide[1:-1, :-2] + wide[1:-1, 2:] + wide[:-2, 1:-1] + wide[2:, 1:-1] - 4 * u)


def test_steps_are_those_of_numpy():
    wanted = np.random.default_rng(1).uniform(0, 20, (6, 9))
    with heat.simulate(grid=(9, 6), device="cpu", dt=0.1) as sim:
        sim.u = wanted
        sim.run(5)
        for _ in range(5):
            before, wanted = wanted, heat_step(wanted, 0.1)
        np.testing.assert_allclose(np.asarray(sim.u), wanted, rtol=1e-13)
        assert sim.reductions["change"] == pytest.approx(np.abs(wanted - before).max(), rel=1e-10)


def test_levels_of_the_past_and_outputs():
    @hl.stencil
    def wave(x):
        dt = hl.param(0.5)
        u = hl.field("f64", boundary=hl.periodic)
        speed = hl.field("f64")
        u.next = 2 * u - u.prev + dt**2 * hl.d2(u, x)
        speed[:] = (u.next - u.prev) / (2 * dt)

    now = np.sin(2 * np.pi * np.arange(16) / 16)
    before = now
    with wave.simulate(16, device="cpu") as sim:
        sim.u = now
        sim["u", -1] = now
        sim.run(7)
        for _ in range(7):
            new = 2 * now - before + 0.25 * (np.roll(now, 1) + np.roll(now, -1) - 2 * now)
            speed = new - before
            before, now = now, new
        np.testing.assert_allclose(np.asarray(sim.u), now, atol=1e-12)
        np.testing.assert_allclose(np.asarray(sim.speed), speed, atol=1e-12)


def test_what_a_program_has_a_stencil_has():
    assert heat.name == "heat"
    assert heat.axes == ("x", "y")
    assert heat.params == {"lam": 1, "dt": 0.2}
    assert list(heat.fields) == ["u"]
    assert heat.program is heat.program
    assert "heat_step" in heat.emit()
    assert {"simulate", "emit", "explain", "text"} <= set(dir(heat))
    with pytest.raises(AttributeError, match="'unknown'"):
        heat.unknown  # noqa: B018


def test_options_of_a_program():
    pinned = heat.compile(schedule="direct threads=32x8 cells=1x1", strict_fp=True)
    assert "blocks of 32x8 threads" in pinned.emit()
    with pytest.raises(hl.ArgumentError):
        heat.compile(schedule="sideways")


def test_a_text_that_is_saved_is_the_same_program(tmp_path):
    file = tmp_path / "heat.halo"
    file.write_text(heat.text)
    assert hl.compile(file).emit(target="stencil") == heat.emit(target="stencil") == meaning(str(heat))


def test_modules_lie_beside_the_python_file(tmp_path):
    (tmp_path / "mine.halo").write_text("def twice(a) = 2 * a\n")
    program = tmp_path / "program.py"
    program.write_text(
        "import halocline as hl\n"
        "@hl.stencil\n"
        "def doubled(x):\n"
        "    mine = hl.use('mine.halo')\n"
        "    u = hl.field('f64')\n"
        "    u.next = mine.twice(u)\n"
    )
    scope: dict = {}
    exec(compile(program.read_text(), str(program), "exec"), scope)
    with scope["doubled"].simulate(3, device="cpu") as sim:
        sim.u = np.ones(3)
        sim.run(3)
        assert np.asarray(sim.u).tolist() == [8, 8, 8]
