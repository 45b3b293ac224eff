"""Gradients: against differences of two runs, and what is kept and refused."""

import numpy as np
import pytest

import halocline as hl

CONTROL = """stencil control(x, y) {
    param kappa = 0.2, dt = 1
    field T: f64 { boundary x.low fixed 0, x.high clamp, y mirror }
    field q, wanted: f64
    T[t+1] = T + dt * (kappa * (1 + 0.1 * T^2) * laplacian(T) + q)
    reduce misfit = sum((T[t+1] - wanted)^2)
}
"""

SHOT = """stencil shot(x, y) {
    param dt = 0.5
    field v: f64
    field p: f64 { boundary fixed 0 }
    points shots, phones: linear
    p[t+1] = 2*p - p[t-1] + (v * dt)^2 * laplacian(p)
    inject p[t+1] at shots += (v * dt)^2 * shots.wavelet[t]
    sample p at phones into phones.seen[t]
}
"""

STEPS = 20


@pytest.fixture
def plate():
    with hl.compile(CONTROL).simulate((12, 9), device="cpu") as simulation:
        random = np.random.default_rng(3)
        simulation.q = 0.02 * random.random((9, 12))
        simulation.T = random.random((9, 12))
        simulation.wanted = random.random((9, 12))
        yield simulation


@pytest.fixture
def wave():
    with hl.compile(SHOT).simulate((20, 16), device="cpu") as simulation:
        simulation.v = 0.7
        simulation.set_points("shots", [[6.25, 5.0]])
        simulation.set_point_values("shots", "wavelet", np.sin(np.arange(STEPS))[:, None])
        simulation.set_points("phones", [[12.5, 8.0], [4.0, 11.5]])
        yield simulation


def misfit_of(plate, q, kappa=0.2):
    with plate.program.simulate(plate.grid, device="cpu", kappa=kappa) as other:
        other.q, other.T, other.wanted = q, plate.read("T"), plate.read("wanted")
        return other.run(STEPS).reductions["misfit"]


def test_a_gradient_is_what_two_runs_differ_by(plate):
    start = plate.read("T")
    found = plate.gradient("misfit", ["q", "T", "kappa"], STEPS)
    q = plate.read("q")
    assert found.value == pytest.approx(misfit_of(plate, q), rel=1e-13)
    assert set(found) == {"q", "T", "kappa"} and len(found) == 3
    assert (found.snapshots, found.snapshots_on_host, found.steps_done_again) == (STEPS, 0, 0)
    slope = (misfit_of(plate, q, 0.2 + 1e-6) - misfit_of(plate, q, 0.2 - 1e-6)) / 2e-6
    assert found["kappa"] == pytest.approx(slope, rel=1e-6)
    along = np.random.default_rng(4).standard_normal(q.shape)
    slope = (misfit_of(plate, q + 1e-6 * along) - misfit_of(plate, q - 1e-6 * along)) / 2e-6
    assert np.sum(np.asarray(found["q"]) * along) == pytest.approx(slope, rel=1e-6)
    assert plate.steps_done == 0 and np.array_equal(plate.T, start)
    assert "misfit" not in repr(found) and "q, T" in repr(found)


def test_gradients_keep_their_values_and_the_simulation_goes_on(plate):
    state = plate.T  # shares the memory that the steps of the gradient write to
    shown = np.asarray(state)
    before = shown.copy()
    first = plate.gradient("misfit", "q", STEPS, every_step=True)
    kept = np.asarray(first["q"])
    values = kept.copy()
    assert not kept.flags.writeable and first["q"].__dlpack_device__() == (1, 0)
    fewer = plate.gradient("misfit", "q", STEPS, every_step=True, snapshots=3)
    assert fewer.steps_done_again > 0 and np.array_equal(fewer["q"], values) and fewer.value == first.value
    plate.q = 0.1
    other = plate.gradient("misfit", "q", STEPS, every_step=True)
    assert not np.array_equal(other["q"], values) and np.array_equal(kept, values)
    assert np.array_equal(shown, before) and np.array_equal(plate.T, before)
    again = plate.program.simulate(plate.grid, device="cpu")
    again.q, again.T, again.wanted = 0.1, before, plate.read("wanted")
    assert np.array_equal(plate.run(STEPS).T, again.run(STEPS).T)


def test_the_misfit_of_a_trace_with_what_was_measured(wave):
    measured = 0.01 * np.cos(np.arange(2 * STEPS)).reshape(STEPS, 2)
    found = wave.gradient("phones.seen", ["v", "shots.wavelet"], STEPS, measured=measured)
    residual = found.seen - measured
    assert found.value == pytest.approx(0.5 * np.sum(residual**2), rel=1e-13)
    assert found["shots.wavelet"].shape == (STEPS, 1)
    weighted = wave.gradient("phones.seen", ["v", "shots.wavelet"], STEPS, weights=residual)
    assert np.array_equal(weighted["v"], found["v"])

    def value(by):
        wave.v = 0.7 + by * along
        return wave.gradient("phones.seen", "v", STEPS, measured=measured).value

    along = np.random.default_rng(5).standard_normal((16, 20))
    slope = (value(1e-6) - value(-1e-6)) / 2e-6
    assert np.sum(np.asarray(found["v"]) * along) == pytest.approx(slope, rel=1e-6)


def test_what_is_refused_says_what_to_do(plate, wave):
    with pytest.raises(hl.UnknownNameError, match="misfit"):
        plate.gradient("misft", "q", STEPS)
    with pytest.raises(hl.ArgumentError, match="no input, state or param `w`"):
        plate.gradient("misfit", "w", STEPS)
    with pytest.raises(hl.ArgumentError, match="name what"):
        plate.gradient("misfit", [], STEPS)
    with pytest.raises(hl.ArgumentError, match="one step or more"):
        plate.gradient("misfit", "q", 0)
    with pytest.raises(hl.ArgumentError, match="are of a trace"):
        plate.gradient("misfit", "q", STEPS, weights=np.ones((STEPS, 2)))
    with pytest.raises(hl.ArgumentError, match="either what was measured"):
        wave.gradient("phones.seen", "v", STEPS)
    with pytest.raises(hl.ArrayError, match="of 20 steps"):
        wave.gradient("phones.seen", "v", STEPS, measured=np.ones((STEPS - 1, 2)))
    plate.run(1)
    with pytest.raises(hl.ArgumentError, match="has done 1"):
        plate.gradient("misfit", "q", STEPS)
    noisy = hl.compile("stencil n(x) {\n    field u: f64 { boundary clamp }\n    u[t+1] = u + random()\n    reduce R = sum(u)\n}")
    with pytest.raises(hl.UnsupportedError, match="3:18"):
        noisy.simulate(8, device="cpu").gradient("R", "u", 2)


def test_a_gradient_in_pieces_is_that_of_one_device(plate):
    expected = plate.gradient("misfit", ["q", "T", "kappa"], steps=STEPS)
    with hl.compile(CONTROL).simulate((12, 9), device="cpu", devices=3) as cut:
        for name in ("q", "T", "wanted"):
            cut[name] = plate.read(name)
        for snapshots in (None, 3):
            found = cut.gradient("misfit", ["q", "T", "kappa"], steps=STEPS, snapshots=snapshots)
            assert found.value == expected.value and found["kappa"] == expected["kappa"]
            for name in ("q", "T"):
                assert np.array_equal(np.asarray(found[name]), np.asarray(expected[name]))
        assert np.array_equal(cut.read("T"), plate.read("T"))
