"""Files of simulations: fields as .npy and HDF5, and checkpoints that Python and the command read of each other."""

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import HEAT, WAVE

import halocline as hl

HALOC = os.environ.get("HALOC")
needs_haloc = pytest.mark.skipif(HALOC is None, reason="HALOC names no command to compare with")
needs_hdf5 = pytest.mark.skipif(not hl.doctor()["hdf5"].found, reason="libhdf5 is not there")

# All that a simulation can be given, and all that it carries from step to step.
ALL = """stencil all(x, y) {
    param k = 0.2, dt = 0.1
    param coef w[-1..1] = [0, 1, 0]
    table atoms { q, r: f32 }
    field u: f32 { boundary periodic }
    field p: f64 { boundary periodic }
    field drift: f32
    field hot: f32
    points shots, phones
    u[t+1] = u + k * (sum(r in -1..1) w[r] * u[x+r] - u) + drift * sum(a in atoms) a.q * a.r + 0.1 * random()
    p[t+1] = 1.5 * p - 0.5 * p[t-1] + u / (100 + total) + 0.001 * time
    inject u[t+1] at shots += shots.gain * shots.force[t]
    reduce total = sum(u[t+1]) start 0
    hot = u * 2
    sample p at phones into phones.heard[t]
}
"""


def started(device="cpu", **options):
    sim = hl.compile(ALL).simulate((12, 10), device=device, **options)
    random = np.random.default_rng(3)
    sim.u, sim.p, sim["p", -1] = (random.random((10, 12)).astype(t) for t in ("f4", "f8", "f8"))
    sim.drift = random.random((10, 12), np.float32)
    sim.k = 0.15
    sim.set_weights("w", [0.5, 0, 0.5])
    sim.set_table("atoms", [[0.1, 0.2], [0.3, 0.1]])
    sim.set_points("shots", [[5.0, 4.0]])
    sim.set_point_values("shots", "gain", [0.5])
    sim.set_point_values("shots", "force", np.sin(np.arange(9.0))[:, None])
    sim.set_points("phones", [[2.0, 3.0], [7.0, 8.0]])
    return sim


def state_of(sim):
    fields = {name: sim.read(name).tobytes() for name in ("u", "p", "drift", "hot")}
    return fields | {"past": sim.read("p", level=-1).tobytes(), "steps": sim.steps_done, "params": dict(sim.params),
                     "reductions": dict(sim.reductions), "trace": sim.trace("phones", "heard").tolist()}  # fmt: skip


@pytest.mark.parametrize("devices", [None, 2])
def test_a_checkpoint_goes_on_as_if_nothing_had_happened(tmp_path, devices):
    sim = started().run(5)
    where = sim.checkpoint(tmp_path / "ck")
    assert where == str(tmp_path / "ck" / "step-5") and os.listdir(tmp_path / "ck") == ["step-5"]
    went_on = sim.program.restore(tmp_path / "ck", device="cpu", devices=devices)
    assert state_of(went_on) == state_of(sim) and went_on.grid == (12, 10)
    assert state_of(went_on.run(7)) == state_of(sim.run(7))
    went_on.k = 0.3
    assert went_on.checkpoint(tmp_path / "ck").endswith("step-12") and os.listdir(tmp_path / "ck") == ["step-12"]
    again = went_on.program.restore(tmp_path / "ck" / "step-12", device="cpu")
    assert again.k == 0.3 and state_of(again.run(2)) == state_of(went_on.run(2))


TYPES = """stencil types(x, y, z) {
    field v: f32[3] { boundary periodic
        layout aos }
    field h: f16
    field b: bf16 as f32
    field k: i64
    field flag: bool
    field psi: c64 { boundary periodic }
    v[t+1] = 0.5 * (v[x+1] + v[z-1])
    h[t+1] = h + 1
    b[t+1] = b * 2
    k[t+1] = k + 1
    flag[t+1] = not flag
    psi[t+1] = 1i * psi[y+1]
}
"""


@pytest.mark.parametrize("devices", [None, 2])
def test_fields_of_all_types_go_on(tmp_path, devices):
    types = hl.compile(TYPES)
    sim = types.simulate((7, 6, 5), device="cpu", devices=devices)
    random = np.random.default_rng(0)
    for name, info in types.fields.items():
        values = random.integers(0, 2**60, (5, 6, 7)) if info.type == "i64" else random.random((5, 6, 7)) - 0.5
        sim.write(name, values > 0 if info.type == "bool" else values, copy=info.type != "bf16")

    def cells(simulation):
        return [simulation.read(name, "f4" if info.type == "bf16" else None).tobytes() for name, info in types.fields.items()]

    sim.run(3).checkpoint(tmp_path)
    restored = types.restore(tmp_path, device="cpu")
    assert cells(restored) == cells(sim)
    assert cells(restored.run(4)) == cells(sim.run(4))


def test_a_simulation_writes_as_many_checkpoints_as_it_likes(sim, start, tmp_path):
    sim.u = start
    for _ in range(3):
        sim.run(4).checkpoint(tmp_path / "a")
        sim.checkpoint(tmp_path / "b")
    assert os.listdir(tmp_path / "a") == os.listdir(tmp_path / "b") == ["step-12"]
    before = np.asarray(sim.u)
    sim.checkpoint(tmp_path / "a")
    assert np.array_equal(before, sim.program.restore(tmp_path / "a", device="cpu").u)


def test_only_what_has_done_no_step_is_restored(sim, tmp_path):
    sim.checkpoint(tmp_path)
    with pytest.raises(hl.ArgumentError, match="has done no step, and this one has done 1"):
        sim.program.restore(tmp_path, device="cpu", prepare=lambda s: s.run(1))


def test_what_was_written_to_an_array_is_in_the_checkpoint(sim, tmp_path):
    sim.run(1)
    sim.u[3, 5] = 77
    sim.checkpoint(tmp_path)
    assert sim.program.restore(tmp_path, device="cpu").u[3, 5] == 77


def test_a_checkpoint_before_the_first_step(sim, start, tmp_path):
    sim.u = start
    assert sim.checkpoint(tmp_path).endswith("step-0")
    restored = sim.program.restore(tmp_path, device="cpu")
    assert restored.steps_done == 0 and np.array_equal(restored.run(3).u, sim.run(3).u)
    with pytest.raises(hl.Error):
        sim.program.restore(tmp_path, device="cpu").reductions["change"]


def test_checkpoints_of_others_are_refused(sim, wave, tmp_path):
    sim.run(2).checkpoint(tmp_path / "ck")
    other = sim.program.simulate((24, 16), device="cpu")
    with pytest.raises(hl.ArgumentError, match="another run, after step 2; go on from it by restoring it") as caught:
        other.checkpoint(tmp_path / "ck")
    assert "--" not in str(caught.value) and os.listdir(tmp_path / "ck") == ["step-2"]
    with pytest.raises(hl.ArgumentError, match="a checkpoint of 'heat', and this program is 'wave'"):
        wave.restore(tmp_path / "ck", device="cpu")
    with pytest.raises(hl.ArgumentError, match="another heat"):
        hl.compile(HEAT.replace("laplacian(u)", "(u[x+1] - u)")).restore(tmp_path / "ck", device="cpu")
    with pytest.raises(hl.ArgumentError, match="another heat"):
        hl.compile(HEAT, strict_fp=True).restore(tmp_path / "ck", device="cpu")
    with pytest.raises(hl.FileError, match="no checkpoint"):
        sim.program.restore(tmp_path / "none")
    with pytest.raises(hl.FileError, match="no complete checkpoint"):
        sim.program.restore(tmp_path)
    for folder in ("", 3, None):
        with pytest.raises((hl.ArgumentError, TypeError)):
            sim.checkpoint(folder)
    (tmp_path / "file").write_text("")
    with pytest.raises(hl.FileError):
        sim.checkpoint(tmp_path / "file")
    with pytest.raises(hl.ArgumentError, match="a"):
        hl.compile("stencil s(x) {\n param a\n field u: f32\n u[t+1] = u + a\n}").simulate(4, device="cpu").checkpoint(
            tmp_path / "no value"
        )
    sim.close()
    with pytest.raises(hl.ClosedError):
        sim.checkpoint(tmp_path)


def test_damaged_checkpoints_are_refused(sim, start, tmp_path):
    sim.u = start
    sim.run(2).checkpoint(tmp_path)
    file = tmp_path / "step-2" / "u.npy"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(hl.FileError, match="u.npy is not what was written"):
        sim.program.restore(tmp_path, device="cpu")
    file.unlink()
    with pytest.raises(hl.FileError, match="u.npy is missing"):
        sim.program.restore(tmp_path, device="cpu")


def test_prepare_sets_what_a_checkpoint_does_not_hold(tmp_path):
    sim = started().run(2)
    sim.checkpoint(tmp_path)
    seen = []
    sim.program.restore(tmp_path, device="cpu", prepare=seen.append)
    assert len(seen) == 1 and seen[0].steps_done == 2

    def fail(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sim.program.restore(tmp_path, device="cpu", prepare=fail)


def haloc(folder, *arguments):
    done = subprocess.run([HALOC, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@needs_haloc
def test_the_command_goes_on_from_a_checkpoint_of_python(tmp_path, heat, start):
    (tmp_path / "heat.halo").write_text(HEAT)
    sim = heat.simulate((24, 16), device="cpu", dt=0.1)
    sim.u = start
    sim.run(30).checkpoint(tmp_path / "ck")
    sim.run(20)
    haloc(tmp_path, "run", "heat.halo", "--device", "cpu", "--grid", "24,16", "--set", "dt=0.1", "--restart", "ck",
          "--steps", "50", "--save", "u=end.npy", "--checkpoint", "ck")  # fmt: skip
    assert np.array_equal(np.load(tmp_path / "end.npy"), sim.read("u"))
    # And back: what Python gave is still in it.
    assert np.array_equal(heat.restore(tmp_path / "ck", device="cpu").run(5).u, sim.run(5).u)


@needs_haloc
def test_the_command_takes_inputs_tables_and_points_from_a_checkpoint_of_python(tmp_path):
    (tmp_path / "all.halo").write_text(ALL + """run all {
    grid 12, 10
    steps 12
    init drift = 99
    rows atoms = 1
    init atoms.q = 1
    init atoms.r = 1
    shots at [1, 1]
    init shots.gain = 1
    init shots.force = 1
    phones at [1, 1]
}
""")
    sim = started().run(5)
    sim.checkpoint(tmp_path / "ck")
    haloc(tmp_path, "run", "all.halo", "--device", "cpu", "--set", "k=0.15", "--restart", "ck", "--steps", "8",
          "--checkpoint", "later")  # fmt: skip
    haloc(tmp_path, "run", "all.halo", "--device", "cpu", "--set", "k=0.15", "--restart", "later",
          "--save", "p=p.npy", "--save", "phones.heard=heard.npy")  # fmt: skip
    sim.run(7)
    assert np.array_equal(np.load(tmp_path / "p.npy"), sim.read("p"))
    assert np.array_equal(np.load(tmp_path / "heard.npy"), sim.trace("phones", "heard"))
    assert state_of(sim.program.restore(tmp_path / "later", device="cpu").run(4)) == state_of(sim)


@needs_haloc
def test_python_goes_on_from_a_checkpoint_of_the_command(tmp_path):
    (tmp_path / "wave.halo").write_text(WAVE + "run wave {\n grid 8, 6, 5\n steps 6\n init c = 0.5\n init p = sin(idx(x))\n}\n")
    haloc(tmp_path, "run", "wave.halo", "--device", "cpu", "--checkpoint", "ck")
    haloc(tmp_path, "run", "wave.halo", "--device", "cpu", "--steps", "10", "--save", "p=p.npy")
    wave = hl.compile(tmp_path / "wave.halo")
    with pytest.raises(hl.ArgumentError, match="do not hold c: give prepare="):
        wave.restore(tmp_path / "ck", device="cpu")
    sim = wave.restore(tmp_path / "ck", device="cpu", prepare=lambda s: s.write("c", 0.5))
    assert sim.steps_done == 6 and np.array_equal(sim.run(4).p, np.load(tmp_path / "p.npy"))


@needs_hdf5
def test_hdf5(tmp_path, wave):
    sim = wave.simulate((6, 5, 4), device="cpu")
    sim.c = 0.5
    sim.p = np.random.default_rng(0).random((4, 5, 6))
    sim.run(3)
    sim.save(tmp_path / "all.h5")
    sim.save(tmp_path / "one.hdf5", "p")
    h5py = pytest.importorskip("h5py", reason="h5py reads the files")
    with h5py.File(tmp_path / "all.h5") as file:
        assert sorted(file) == ["energy", "p"] and np.array_equal(file["p"], sim.read("p"))
        assert file["p"].attrs["step"] == 3
    with h5py.File(tmp_path / "one.hdf5") as file:
        assert list(file) == ["p"]


@needs_hdf5
@needs_haloc
def test_hdf5_as_the_command_writes_and_reads_it(tmp_path, start):
    (tmp_path / "heat.halo").write_text(HEAT)
    sim = hl.compile(HEAT).simulate((24, 16), device="cpu")
    sim.u = start
    sim.save(tmp_path / "start.h5")
    haloc(tmp_path, "run", "heat.halo", "--device", "cpu", "--grid", "24,16", "--steps", "9", "--load", "u=start.h5",
          "--save", "u=u.npy", "--save", "u=u.h5")  # fmt: skip
    assert np.array_equal(np.load(tmp_path / "u.npy"), sim.run(9).u)
    sim.save(tmp_path / "mine.h5")
    h5py = pytest.importorskip("h5py", reason="h5py reads the files")
    with h5py.File(tmp_path / "mine.h5") as mine, h5py.File(tmp_path / "u.h5") as its:
        assert sorted(mine) == sorted(its) and np.array_equal(mine["u"], its["u"]) and mine["u"].dtype == its["u"].dtype
        attributes = [{name: np.asarray(value).tolist() for name, value in file["u"].attrs.items()} for file in (mine, its)]
        assert attributes[0] == attributes[1]
        assert "provenance" in its.attrs  # the command says which run it was


VECTOR = "stencil s(x, y) {\n field v: f32[2]\n field c: f32\n v[t+1] = c * v\n}"


def test_fields_with_components_are_saved_together(tmp_path):
    sim = hl.compile(VECTOR).simulate((3, 2), device="cpu")
    sim["v.0"], sim["v.1"] = 1, 2
    sim.save(tmp_path / "v.npy")
    sim.save(tmp_path / "x.npy", "v.0")
    assert np.load(tmp_path / "v.npy").tolist() == [[[1, 2]] * 3] * 2
    assert np.load(tmp_path / "x.npy").tolist() == [[1] * 3] * 2
    assert sorted(os.listdir(tmp_path)) == ["v.npy", "x.npy"]


@pytest.mark.parametrize(
    "path, fields, kind, words",
    [
        ("u.txt", "u", hl.ArgumentError, "files are written as .npy"),
        ("u.npy", ["u", "u"], hl.ArgumentError, "holds one field"),
        ("u.npy", [], hl.ArgumentError, "leave fields= out"),
        ("u.h5", "v", hl.UnknownNameError, "'v'"),
        ("u.h5", 3, TypeError, "iterable"),
        ("", None, hl.ArgumentError, "names no file"),
        ("nowhere/u.npy", None, hl.FileError, "nowhere"),
    ],
)
def test_files_that_cannot_be(sim, tmp_path, monkeypatch, path, fields, kind, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=words):
        sim.save(path, fields)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="/dev/full is as the system has it")
def test_a_disk_that_is_full(sim, tmp_path):
    import resource
    import signal

    sim.checkpoint(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (900, before[1]))
    try:
        with pytest.raises(hl.FileError):
            sim.run(1).checkpoint(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert os.listdir(tmp_path) == ["step-0"] and sim.program.restore(tmp_path, device="cpu").steps_done == 0
