"""What this machine has, and schedules that are measured on it: what can be tested without a GPU."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import halocline as hl

NO_GPU = bool(hl.why_no_gpu())


def test_doctor_as_text_and_as_data():
    found = hl.doctor()
    assert [each.name for each in found.findings] == ["cuda_driver", "cuda_device", "nvrtc", "cpu", "hdf5", "segy", "movies", "cache"]
    assert all(each.detail for each in found.findings)
    assert found["cpu"].found and found["cuda_device"].found == (not NO_GPU)
    assert found.best_device in ("cuda", "cpu") and "schedules are chosen by figures" in found.figures
    text = str(found)
    assert repr(found) == text
    for each in found.findings:
        assert each.title in text and each.detail.split("\n")[0] in text
    data = json.loads(json.dumps(found.as_dict()))
    assert data["nvrtc"]["found"] == found["nvrtc"].found and data["version"] == hl.__version__
    with pytest.raises(KeyError, match="cuda_driver"):
        found["gpu"]
    assert found[0] is found.findings


@pytest.mark.skipif("HALOC" not in os.environ, reason="HALOC names no command to compare with")
def test_doctor_tells_what_the_command_tells():
    command = json.loads(subprocess.check_output([os.environ["HALOC"], "doctor", "--json"], text=True))
    for each in hl.doctor().findings:
        # The wheel of NVRTC is known to Python alone.
        if each.name != "nvrtc":
            assert command[each.name] == {"found": each.found, "detail": each.detail}


def test_the_cache_that_is_named(tmp_path):
    code = "import halocline as hl; print(hl.doctor()['cache'].detail)"
    out = subprocess.check_output([sys.executable, "-c", code], env=os.environ | {"HALOCLINE_CACHE": str(tmp_path / "c")}, text=True)
    assert str(tmp_path / "c") in out


@pytest.mark.skipif(not NO_GPU, reason="there is a GPU")
def test_nothing_is_tuned_without_a_gpu(heat):
    for device in (None, "cuda", "cuda:1"):
        with pytest.raises(hl.NoDeviceError) as caught:
            heat.tune((512, 512), budget=1, device=device)
        assert len(str(caught.value)) > 20
    with pytest.raises(hl.NoDeviceError, match="nothing to tune without a GPU"):
        heat.tune((512, 512))
    assert heat.simulate((8, 8), device="cpu").run(2).steps_done == 2


def test_tuning_that_cannot_be(heat):
    with pytest.raises(hl.ArgumentError, match="only a GPU runs by schedules"):
        heat.tune((64, 64), device="cpu")
    with pytest.raises(hl.ArgumentError, match="budget"):
        heat.tune((64, 64), budget="long", device="cpu")
    with pytest.raises(hl.ArgumentError, match="grid"):
        heat.tune((64, 6.5), device="cpu")
    with pytest.raises(hl.ArgumentError, match="jobs"):
        heat.tune((64, 64), device="cpu", jobs=-1)
    with pytest.raises(hl.UnknownNameError, match="is 'dt' meant"):
        heat.tune((64, 64), device="cpu", dtt=1)


def test_how_a_tuning_is_told():
    stage = hl.TunedStage("stage 1", "tuned", "direct threads=32x8", "tile", 1e-5, 2e-5, 12, [])
    told = hl.Tuning((stage,), "stage 1: direct threads=32x8\n", "/tmp/store.json")
    assert str(told) == repr(told) == "stage 1: direct threads=32x8\nkept in /tmp/store.json"


FAKE = os.environ.get("HALO_FAKE_LIBCUDA", "")
on_a_stand_in = pytest.mark.skipif(
    not os.path.exists(FAKE) or not hl.doctor()["nvrtc"].found,
    reason="HALO_FAKE_LIBCUDA names no driver that loads any code, or NVRTC is not there",
)


def on_fake(folder, code, **options):
    """Runs code where there is a GPU of host memory that loads any code and has none of its kernels."""
    (folder / "heat.halo").write_text("stencil heat(x, y) {\n field u: f32 { boundary clamp }\n u[t+1] = u + 0.1 * laplacian(u)\n}\n")
    code = "import halocline as hl\nheat = hl.compile('heat.halo')\n" + code
    environment = os.environ | {"HALOCLINE_LIBCUDA": FAKE, "HALOCLINE_CACHE": str(folder / "cache")}
    return subprocess.Popen([sys.executable, "-c", code], cwd=folder, env=environment, text=True, **options)


def on_fake_told(folder, code):
    done = on_fake(folder, code, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = done.communicate()
    assert done.returncode == 0, err
    return out


@on_a_stand_in
def test_tuning_where_no_schedule_is_right(tmp_path):
    out = on_fake_told(tmp_path, "try: heat.tune((512, 512), budget=1, jobs=1)\nexcept hl.UnsupportedError as error: print(error)")
    assert "no schedule of a stage could be built, run and found right" in out and "stage 1: none of" in out
    assert "not in the compiled code" in out


@on_a_stand_in
def test_what_was_measured_is_known(tmp_path):
    on_fake_told(tmp_path, "try: heat.tune((512, 512), budget=1, jobs=1)\nexcept hl.UnsupportedError: pass")
    file = tmp_path / "cache" / "tuned.json"
    store = json.loads(file.read_text())
    (stage,) = store["stages"].values()
    schedule = "direct threads=64x2 cells=4x2 min_blocks=3"
    stage |= {"schedule": schedule, "seconds": 2e-5, "finished": True, "trials": [{"schedule": schedule, "outcome": "measured", "seconds": 2e-5}]}
    file.write_text(json.dumps(store))
    out = on_fake_told(tmp_path, "told = heat.tune((512, 512), budget=0.5)\nprint(told.stages[0].result, told.stages[0].seconds, told)\nprint(heat.explain((512, 512)))")
    assert out.startswith("known 2e-05 stage 1: " + schedule) and f"kept in {file}" in out and schedule + " (tuned)" in out
    assert "several steps at once: none of" in out


@on_a_stand_in
def test_ctrl_c_ends_a_search_and_keeps_what_it_found(tmp_path):
    code = (
        "import signal\nprint('ready', flush=True)\ntry: heat.tune((512, 512), budget=300, jobs=1, progress=True)\n"
        "except KeyboardInterrupt as stop: print(stop)\nprint(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    )
    process = on_fake(tmp_path, code, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    file = tmp_path / "cache" / "tuned.json"
    until = time.monotonic() + 60
    while not file.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and out.startswith(f"tuning was interrupted; what was measured is kept in {file}"), out + err
    assert out.endswith("True\n") and list(json.loads(file.read_text())["stages"].values())[0]["trials"]
