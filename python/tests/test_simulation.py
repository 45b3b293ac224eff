"""Steps, parameters, reductions, conditions, points and files."""

import os
import subprocess

import numpy as np
import pytest
from conftest import HEAT, heat_by_numpy

import halocline as hl


def test_five_lines(start):
    heat = hl.compile(HEAT)
    sim = heat.simulate(grid=(24, 16), dt=0.1)
    sim.u = start
    sim.run(20)
    assert np.allclose(sim.u, heat_by_numpy(start, 20, dt=0.1), rtol=1e-5)
    assert sim.reductions["change"] > 0


def test_what_a_simulation_is(sim, heat):
    assert sim.program is heat and sim.grid == (24, 16) and sim.shape == (16, 24) and sim.steps_done == 0
    assert sim.device.kind == "cpu" and len(sim.devices) == 1 and sim.pieces == [((0, 0), (24, 16))]
    assert sim.run(3) is sim and sim.steps_done == 3
    assert "24 x 16 cells on cpu, after 3 steps" in repr(sim)
    assert {"u", "dt", "lambda", "run", "until"} <= set(dir(sim))


def test_batches_make_no_difference(heat, start):
    one, many = (heat.simulate((24, 16), device="cpu") for _ in range(2))
    one.u = many.u = start
    one.run(500)
    for steps in (1, 7, 92, 300, 100):
        many.run(steps)
    assert np.array_equal(one.read("u"), many.read("u"))


def test_params(sim, start, heat):
    assert dict(sim.params) == {"lambda": 1.0, "dt": 0.2} and len(sim.params) == 2
    sim.dt = 0.1
    assert sim.dt == sim.params["dt"] == 0.1
    sim.params["lambda"] = np.float32(2)
    assert sim.params == {"lambda": 2.0, "dt": 0.1} and repr(sim.params) == "{'lambda': 2.0, 'dt': 0.1}"
    sim.u = start
    sim.run(4)
    plain = heat.simulate((24, 16), device="cpu")
    plain.u = start
    assert np.array_equal(sim.read("u"), plain.run(4).read("u"))
    for value in (float("nan"), float("inf")):
        with pytest.raises(hl.ArgumentError, match="dt"):
            sim.dt = value
    for value in ("0.1", None, [1, 2]):
        if value == "0.1":
            continue
        with pytest.raises(hl.ArgumentError, match="is a number"):
            sim.dt = value
    with pytest.raises(hl.ArgumentError, match="cannot be taken away"):
        del sim.params["dt"]


def test_a_param_without_a_default():
    program = hl.compile("stencil s(x) {\n param a\n field u: f32\n u[t+1] = u + a\n}")
    sim = program.simulate(4, device="cpu")
    assert program.params == {"a": None} and repr(sim.params) == "{'a': None}"
    with pytest.raises(hl.ArgumentError, match="'a'|`a`"):
        sim.run(1)
    with pytest.raises(hl.ArgumentError, match="no default"):
        sim.a
    sim.a = 2
    assert sim.run(3).u[:].tolist() == [6, 6, 6, 6]


def test_names_that_there_are_not(sim):
    for use in (
        lambda: sim.v,
        lambda: setattr(sim, "v", 1),
        lambda: sim["v"],
        lambda: sim.params["v"],
        lambda: sim.params.__setitem__("v", 1),
        lambda: sim.reductions["v"],
        lambda: sim.array("v"),
        lambda: sim.read("v"),
        lambda: sim.write("v", 1),
        lambda: sim.program.simulate((8, 8), v=1),
    ):
        with pytest.raises(hl.UnknownNameError, match="'v'") as caught:
            use()
        assert isinstance(caught.value, AttributeError) and isinstance(caught.value, KeyError)
    with pytest.raises(AttributeError, match="is 'lambda' meant"):
        sim.lamda
    with pytest.raises(AttributeError, match="is 'change' meant"):
        sim.reductions["chance"]
    with pytest.raises(AttributeError, match="is 'until' meant"):
        sim.untill
    assert not hasattr(sim, "nothing") and getattr(sim, "nothing", 5) == 5


def test_what_is_set_exists(sim):
    for name in ("run", "grid", "reductions", "steps_done", "program"):
        with pytest.raises(AttributeError, match="part of every simulation"):
            setattr(sim, name, 1)
    with pytest.raises(AttributeError):
        sim.dtt = 0.1
    with pytest.raises(AttributeError):
        del sim.u


def test_fields_that_are_called_like_methods():
    program = hl.compile("stencil s(x) {\n param grid = 1\n field wait: f32\n wait[t+1] = wait + grid\n}")
    sim = program.simulate(3, device="cpu")
    sim["wait"] = 4
    sim.params["grid"] = 3
    sim.run(2)
    assert sim["wait"][:].tolist() == [10, 10, 10]


@pytest.mark.parametrize(
    "grid, words", [((8,), "2 numbers"), ((8, 8, 8), "2 numbers"), ((0, 8), "1 cell"), ((8.5, 8), "whole numbers"),
                    ((2**40, 2), "2147483647"), (8, "2 numbers")]
)
def test_grids(heat, grid, words):
    with pytest.raises(hl.ArgumentError, match=words):
        heat.simulate(grid, device="cpu")
    assert heat.simulate(np.array([8, 4]), device="cpu").shape == (4, 8)


@pytest.mark.parametrize("steps", [-1, 1.5, "3", None, True])
def test_steps_are_counted(sim, steps):
    with pytest.raises(hl.ArgumentError, match="steps="):
        sim.run(steps)
    assert sim.run(0).steps_done == 0 and sim.run(np.int32(2)).steps_done == 2


def test_reductions(sim, start):
    with pytest.raises(hl.Error):
        sim.reductions["change"]
    sim.u = start
    sim.run(5)
    before = sim.read("u")
    sim.run(1)
    assert sim.reductions["change"] == np.max(np.abs(sim.read("u") - before))
    assert list(sim.reductions) == ["change"] and "change" in sim.reductions and len(sim.reductions) == 1
    assert dict(sim.reductions) == {"change": sim.reductions["change"]} and "change" in repr(sim.reductions)


def test_until(sim, start, heat):
    sim.u = start
    done = sim.until("change < 1e-2", at_most=5000)
    assert done.holds and done.steps == sim.steps_done and sim.reductions["change"] < 1e-2
    again = heat.simulate((24, 16), device="cpu")
    again.u = start
    again.run(done.steps - 1)
    assert again.reductions["change"] >= 1e-2
    assert np.array_equal(again.run(1).read("u"), sim.read("u"))
    assert sim.until("change < 1e-9", at_most=10) == (10, False)
    assert sim.until("step >= 400 or change < 0", every=7, at_most=1000)[1]
    assert sim.until("change < 1", at_most=0) == (0, False)


def test_until_is_looked_at_every_so_many_steps(heat, start):
    steps = {}
    for every in (1, 10, 64):
        sim = heat.simulate((24, 16), device="cpu")
        sim.u = start
        steps[every] = sim.until("change < lambda * 1e-2", every=every).steps
    assert steps[10] == -(-steps[1] // 10) * 10 and steps[64] == -(-steps[1] // 64) * 64


@pytest.mark.parametrize(
    "condition, words",
    [
        ("chnge < 1", "did you mean `change`"),
        ("change <", "until:1:9"),
        ("change", "condition|true"),
        ("u < 1", "until:1:1"),
        ("change < 1 }", "until:1:12"),
        ("", "until:1:1"),
        ("__import__('os')", "until:1"),
    ],
)
def test_conditions_with_mistakes(sim, condition, words):
    with pytest.raises(hl.SpecError, match=words) as caught:
        sim.until(condition, at_most=1)
    assert caught.value.diagnostics[0].file == "until" and sim.steps_done == 0


def test_conditions_may_use_what_the_spec_defines():
    spec = "const limit = 3\n" + HEAT + "\nrun heat {\n grid 4, 4\n steps 9 until change < 7\n}\n"
    sim = hl.compile(spec).simulate((4, 4), device="cpu")
    assert sim.until("change < limit", at_most=100).holds and sim.reductions["change"] < 3
    with pytest.raises(hl.ArgumentError, match="every"):
        sim.until("change < 1", every=0)


def test_pieces(heat, start):
    whole = heat.simulate((24, 16), device="cpu")
    parts = heat.simulate((24, 16), device="cpu", devices=2)
    assert len(parts.pieces) == 2 and parts.pieces[0][0] == (0, 0) and parts.pieces[1][1] == (24, 16)
    whole.u = parts.u = start
    whole.run(9), parts.run(9)
    assert isinstance(parts.u, np.ndarray) and not parts.u.flags.writeable
    assert np.array_equal(parts.u, whole.u) and parts.reductions["change"] == whole.reductions["change"]
    assert parts.until("change < 1e-2", at_most=999) == whole.until("change < 1e-2", at_most=999)
    assert np.array_equal(parts.u, whole.u)
    parts.u = np.zeros((20, 30), np.float32)[2:18, 3:27]
    assert not np.any(parts.u)
    mine = heat.simulate((24, 16), devices=[hl.Device("cpu", threads=1), "cpu"], exchange_every=2)
    assert mine.run(1).steps_done == 1


@pytest.mark.parametrize(
    "options, words",
    [
        ({"device": "tpu"}, "no device 'tpu'"),
        ({"device": "cuda:"}, "no device"),
        ({"device": "cpu", "stream": 0}, "streams are of GPUs"),
        ({"device": "cpu", "devices": 0}, "one device or more"),
        ({"device": "cpu", "devices": ["cpu"]}, "one of them"),
        ({"device": "cpu", "devices": 2, "stream": 1}, "one device"),
        ({"devices": []}, "needs a device"),
        ({"device": "cpu", "devices": 99}, "pieces|planes|cut"),
        ({"device": "cpu", "devices": 2, "exchange_every": 0}, "exchange_every"),
    ],
)
def test_devices_that_cannot_be(heat, options, words):
    with pytest.raises(hl.ArgumentError, match=words):
        heat.simulate((24, 16), **options)


def test_no_gpu_is_said_calmly(heat, caplog):
    if len(hl.devices()) > 1:
        pytest.skip("there is a GPU")
    with pytest.raises(hl.NoDeviceError):
        heat.simulate((8, 8), device="cuda")
    assert heat.simulate((8, 8)).device.kind == "cpu"


def test_devices_are_shared_or_ones_own(heat):
    one, other = heat.simulate((8, 8), device="cpu"), heat.simulate((8, 8), device="cpu")
    assert one.device is other.device
    mine = hl.Device("cpu", threads=1)
    assert heat.simulate((8, 8), device=mine).device is mine and "1 thread" in repr(mine)
    assert mine.arch == mine.kind == "cpu" and mine.stream == 0
    mine.wait()
    with pytest.raises(hl.ArgumentError, match="stream already"):
        heat.simulate((8, 8), device=mine, stream=3)
    with pytest.raises(hl.ArgumentError, match="threads"):
        hl.Device("cpu", threads=-1)


ROPE = """stencil rope(x) {
    param dt = 0.5
    field u: f64 { boundary fixed 0 }
    points pluckers, ears: sinc 3
    u[t+1] = 2*u - u[t-1] + dt^2 * d2(u, x)
    inject u[t+1] at pluckers += dt^2 * pluckers.gain * pluckers.force[t]
    sample u at ears into ears.heard[t]
}
"""


def test_points_and_traces():
    sim = hl.compile(ROPE).simulate(40, device="cpu")
    sim.set_points("pluckers", [[20.0]])
    sim.set_points("ears", [[20.0], [25.0], [30.5]])
    sim.set_point_values("pluckers", "gain", [2.0])
    sim.set_point_values("pluckers", "force", [[1.0], [0.5]])
    assert sim.trace("ears", "heard").size == 0
    sim.run(12)
    heard = sim.trace("ears", "heard")
    assert heard.shape == (12, 3) and heard[0, 0] == 0 and heard[1, 0] == pytest.approx(0.5)
    for use, kind, words in [
        (lambda: sim.set_points("ear", [[1.0]]), hl.UnknownNameError, "is 'ears' meant"),
        (lambda: sim.set_points("ears", [1.0, 2.0]), hl.ArrayError, r"\(points, 1\)"),
        (lambda: sim.set_point_values("pluckers", "gain", [[1.0]]), hl.ArrayError, r"\(points\)"),
        (lambda: sim.set_point_values("pluckers", "force", [1.0]), hl.ArrayError, r"\(steps, points\)"),
        (lambda: sim.set_point_values("pluckers", "grain", [1.0]), hl.UnknownNameError, "is 'gain' meant"),
        (lambda: sim.trace("ears", "herd"), hl.UnknownNameError, "is 'heard' meant"),
        (lambda: sim.set_points("ears", "here"), hl.ArrayError, "array of numbers"),
    ]:
        with pytest.raises(kind, match=words):
            use()


def test_tables():
    spec = "stencil s(x) {\n table atoms { q, r: f64 }\n field v: f64\n v = sum(a in atoms) a.q * (pos(x) + a.r)\n}"
    sim = hl.compile(spec).simulate(3, device="cpu")
    sim.set_table("atoms", [[2.0, 1.0], [3.0, 0.0]])
    sim.run(1)
    assert sim.v[:].tolist() == [2.0, 7.0, 12.0]
    with pytest.raises(hl.ArrayError, match=r"q, r.*\(rows, 2\)"):
        sim.set_table("atoms", [1.0, 2.0])
    with pytest.raises(hl.UnknownNameError, match="is 'atoms' meant"):
        sim.set_table("atom", [[1.0, 2.0]])


def test_series():
    spec = "stencil s(x) {\n series wind\n table atoms { q: f64 }\n field v: f64\n v = wind[step/2] + sum(a in atoms) a.q\n}"
    sim = hl.compile(spec).simulate(2, device="cpu")
    sim.set_table("atoms", [[0.5]])
    with pytest.raises(hl.ArgumentError, match="'wind' of 's' was given no values"):
        sim.run(1)
    sim.set_series("wind", [1.0, 3.0])
    assert [sim.run(1).v[:].tolist() for _ in range(4)] == [[1.5, 1.5], [2.5, 2.5], [3.5, 3.5], [3.5, 3.5]]
    sim.set_series("wind", np.arange(5))
    assert sim.run(1).v[:].tolist() == [2.5, 2.5]
    for use, kind, words in [
        (lambda: sim.set_series("wind", [[1.0]]), hl.ArrayError, "one axis"),
        (lambda: sim.set_series("wind", []), hl.ArgumentError, "one value at least"),
        (lambda: sim.set_series("atoms", [1.0]), hl.ArgumentError, "'atoms' of 's' is a table"),
        (lambda: sim.set_table("wind", [[1.0]]), hl.ArgumentError, "set_series"),
        (lambda: sim.set_series("wint", [1.0]), hl.UnknownNameError, "is 'wind' meant"),
    ]:
        with pytest.raises(kind, match=words):
            use()


def test_weights():
    spec = "stencil s(x) {\n param coef w[-1..1] = [0, 1, 0]\n field f: f64 { boundary periodic }\n field g: f64\n g = sum(r in -1..1) w[r] * f[x+r]\n}"
    sim = hl.compile(spec).simulate(4, device="cpu")
    sim.f = np.arange(4.0)
    assert sim.run(1).g[:].tolist() == [0, 1, 2, 3]
    sim.set_weights("w", [1, 0, 2])
    assert sim.run(1).g[:].tolist() == [5, 4, 7, 2]
    with pytest.raises(hl.ArrayError, match=r"\(3,\)"):
        sim.set_weights("w", [1, 2])
    with pytest.raises(hl.UnknownNameError):
        sim.set_weights("v", [1, 2, 3])


def test_save(sim, start, tmp_path, wave):
    sim.u = start
    sim.save(tmp_path / "u.npy")
    assert np.array_equal(np.load(tmp_path / "u.npy"), start) and os.listdir(tmp_path) == ["u.npy"]
    with pytest.raises(hl.ArgumentError, match=".npy"):
        sim.save(tmp_path / "u.txt")
    with pytest.raises(hl.FileError, match="nowhere"):
        sim.save(tmp_path / "nowhere" / "u.npy")
    with pytest.raises(hl.UnknownNameError):
        sim.save(tmp_path / "u.npy", "v")
    other = wave.simulate((4, 4, 4), device="cpu")
    other.save(tmp_path / "p.npy")
    other.save(tmp_path / "c.npy", "c")
    assert np.load(tmp_path / "p.npy").shape == (4, 4, 4)


def test_progress(sim, capsys):
    calls = []
    sim.run(50, progress=lambda done, count: calls.append((done, count)))
    assert calls[-1] == (50, 50) and calls == sorted(calls)
    sim.run(20, progress=True)
    assert capsys.readouterr().err.startswith("20 of 20 steps")
    with pytest.raises(ZeroDivisionError):
        sim.run(20, progress=lambda done, count: 1 / 0)
    assert sim.steps_done > 70 - 1 and sim.run(1).steps_done > 70


@pytest.mark.skipif("HALOC" not in os.environ, reason="HALOC names no command to compare with")
def test_the_bits_are_those_of_the_command(tmp_path, heat, start):
    np.save(tmp_path / "start.npy", start)
    (tmp_path / "heat.halo").write_text(HEAT + 'run heat {\n grid 24, 16\n steps 1\n load u from "start.npy"\n}\n')
    subprocess.run(
        [os.environ["HALOC"], "run", "heat.halo", "--device", "cpu", "--steps", "123", "--set", "dt=0.15",
         "--save", "u=end.npy", "-q"],
        cwd=tmp_path, check=True,
    )
    sim = heat.simulate((24, 16), device="cpu", dt=0.15)
    sim.u = start
    sim.run(123)
    assert np.array_equal(np.load(tmp_path / "end.npy"), sim.read("u"))


def test_iterations_that_a_condition_ends_are_counted():
    program = hl.compile(
        "stencil s(x) {\n    param tol = 0\n    field u: f64 { boundary fixed 0 }\n"
        "    repeat k until change < tol, at most 4 {\n        u[k+1] = u[k, x-1] / 2\n"
        "        reduce change = max(abs(u[k+1] - u[k]))\n    }\n}\n"
    )
    sim = program.simulate(grid=8, device="cpu")
    sim.u = 8
    sim.run(2)
    assert sim.iterations == (hl.Iterations("change < tol", at_most=4, total=8, most_in_step=4, steps_without_it=2),)
    sim.tol = 100
    sim.run(1)
    assert sim.iterations[0][2:] == (9, 4, 2)
    assert hl.compile("stencil s(x) { field u: f64; u[t+1] = u }").simulate(grid=8, device="cpu").iterations == ()


def test_fields_over_fewer_axes_have_arrays_of_their_own_axes(tmp_path):
    spec = """stencil s(x, y, z) {
        field wind: f32 over z { boundary clamp }
        field ground: f64 over x, y
        field u: f64
        u[t+1] = u + wind[z+1] + ground
    }"""
    program = hl.compile(spec)
    assert program.fields["wind"].over == [False, False, True]
    for devices in (1, 2):
        sim = program.simulate((6, 5, 4), devices=["cpu"] * devices)
        wind = np.arange(4, dtype=np.float32)
        ground = np.arange(30.0).reshape(5, 6)
        sim["wind"] = wind
        sim["ground"] = ground
        sim.run(1)
        above = np.append(wind[1:], wind[-1])
        np.testing.assert_array_equal(sim["u"], above[:, None, None] + ground[None])
        np.testing.assert_array_equal(sim["wind"], wind)
        assert sim.read("ground").shape == (5, 6)
        sim["wind"] = 3
        assert np.array_equal(sim.read("wind"), np.full(4, 3, np.float32))
        with pytest.raises(hl.ArrayError):
            sim["wind"] = np.zeros((5, 6), np.float32)
        sim.save(tmp_path / "ground.npy", "ground")
        np.testing.assert_array_equal(np.load(tmp_path / "ground.npy"), ground)


STRETCHED = """stencil stretched(x, z) {
    param h = 0.25, dt = 1e-3
    spacing x = dx, z = h * 1.1^idx(z)
    origin z = h
    field dx: f64 over x
    field u: f64 { boundary mirror }
    u[t+1] = u + dt * (laplacian(u) + d(u, x)) / pos(z)
}
run stretched {
    grid 6, 9
    steps 3
    init u = idx(x)^2 + 3 * idx(z)
    init dx = 1 + idx(x) / 4
    save u to "u.npy"
}
"""


@pytest.mark.skipif("HALOC" not in os.environ, reason="HALOC names no command to compare with")
def test_unequal_spacing_follows_from_params_and_fields(tmp_path):
    (tmp_path / "stretched.halo").write_text(STRETCHED)

    def by_command(*arguments):
        command = [os.environ["HALOC"], "run", "-q", "stretched.halo", "--device", "cpu", *arguments]
        subprocess.run(command, cwd=tmp_path, check=True)
        return np.load(tmp_path / "u.npy")

    program = hl.compile(STRETCHED)
    assert list(program.fields) == ["dx", "u"]
    sim = program.simulate((6, 9), device="cpu")
    assert not any(".." in name for name in dir(sim))
    start = np.add.outer(3.0 * np.arange(9), np.arange(6.0) ** 2)
    dx = 1 + np.arange(6) / 4
    with pytest.raises(hl.ArgumentError, match="the spacing of `x` must be greater than 0, and is 0 in the cell x = 0"):
        sim.run(1)
    sim.u, sim["dx"] = start, dx
    assert np.array_equal(sim.run(3).read("u"), by_command())
    sim.u, sim.h = start, 0.5
    assert np.array_equal(sim.run(3).read("u"), by_command("--set", "h=0.5"))
    sim["dx"] = 2 * dx
    assert not np.array_equal(sim.run(1).read("u"), by_command("--set", "h=0.5"))
    sim.u, sim["dx"] = start, dx
    assert np.array_equal(sim.run(3).read("u"), by_command("--set", "h=0.5"))
    sim.h = -1
    with pytest.raises(hl.ArgumentError, match="the spacing of `z` must be greater than 0, and is -1 in the cell z = 0"):
        sim.run(1)


FOUR = """
stencil four(x, y, z, w) {
    field u: f64 { boundary periodic }
    u[t+1] = (u[x-1] + u[y+1] + 2*u[z-1] + 4*u[w+1]) / 8
}
"""


def test_four_axes():
    start = np.random.default_rng(4).random((4, 5, 6, 7))
    expected = start
    for _ in range(3):
        rolled = [np.roll(expected, by, axis) for by, axis in ((1, 3), (-1, 2), (1, 1), (-1, 0))]
        expected = (rolled[0] + rolled[1] + 2 * rolled[2] + 4 * rolled[3]) / 8
    sim = hl.compile(FOUR).simulate(grid=(7, 6, 5, 4), device="cpu")
    assert sim.shape == (4, 5, 6, 7)
    sim.u = start
    sim.run(3)
    assert np.allclose(sim.u, expected, rtol=1e-14)
    assert np.array_equal(np.asarray(sim.u), sim.read("u"))  # where it lies, and a copy
    assert "svg" in sim.u._repr_html_()
    apart = np.zeros((4, 7, 6, 7))
    apart[:, :5] = start
    sim.u = apart[:, :5]
    assert np.array_equal(sim.u, start)
