"""What this machine has, and schedules that are measured on it: what can be tested without a GPU."""

import json
import os
import subprocess

import pytest

import halocline as hl

NO_GPU = bool(hl.why_no_gpu())


def test_doctor_as_text_and_as_data():
    found = hl.doctor()
    assert [each.name for each in found.findings] == ["cuda_driver", "cuda_device", "nvrtc", "cpu", "hdf5", "cache"]
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
    import sys

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
