import pickle

import pytest
from conftest import HEAT

import halocline as hl


def test_what_a_program_is(heat, wave):
    assert heat.name == "heat" and heat.axes == ("x", "y")
    assert heat.params == {"lambda": 1.0, "dt": 0.2}
    assert heat.reductions == ("change",)
    assert repr(heat) == "<halocline.Program heat(x, y): u: f32>"
    fields = {name: (info.type, info.role, info.past) for name, info in wave.fields.items()}
    assert fields == {"c": ("f64", "input", 0), "p": ("f64", "state", 1), "energy": ("f64", "output", 0)}
    assert "compiled when it is needed" in heat.targets[0]


def test_a_file_and_its_modules(tmp_path):
    (tmp_path / "rules.halo").write_text("def twice(a) = 2 * a\n")
    spec = tmp_path / "s.halo"
    spec.write_text('use "rules.halo"\nstencil s(x) {\n    field u: f32\n    u[t+1] = twice(u)\n}\n')
    for path in (spec, str(spec)):
        assert hl.compile(path).name == "s"
    assert hl.compile(spec.read_text(), name=str(spec)).name == "s"
    assert hl.compile(spec.read_text(), include=tmp_path).name == "s"
    with pytest.raises(hl.SpecError, match="no module"):
        hl.compile(spec.read_text())


def test_mistakes_have_carets_and_places():
    with pytest.raises(hl.SpecError) as caught:
        hl.compile("stencil heat(x) {\n    field heat: f32\n    heat[t+1] = haet\n}", name="mine.halo")
    assert str(caught.value).splitlines() == [
        "mine.halo:3:17: error: there is nothing called `haet`",
        "    3 |     heat[t+1] = haet",
        "      |                 ^~~~",
        "  help: did you mean `heat`?",
    ]
    assert caught.value.diagnostics == [
        hl.Diagnostic(True, "unknown-name", "there is nothing called `haet`", "mine.halo", 3, 17, "heat")
    ]
    assert isinstance(caught.value, hl.Error) and isinstance(caught.value, ValueError)


def test_mistakes_may_be_told_elsewhere():
    def remap(error):
        return hl.SpecError("line 7 of mine.py", [each._replace(file="mine.py") for each in error.diagnostics])

    with pytest.raises(hl.SpecError, match="line 7 of mine.py") as caught:
        hl.compile("stencil a(x) {\n}", remap=remap)
    assert caught.value.diagnostics[0].file == "mine.py"
    program = hl.compile(HEAT, remap=remap)
    with pytest.raises(hl.SpecError, match="line 7"):
        program.simulate((8, 8), device="cpu").until("nothing < 1", at_most=1)


@pytest.mark.parametrize(
    "arguments, kind, words",
    [
        (("",), hl.ArgumentError, "is empty"),
        (("no/such.halo",), hl.FileError, "no/such.halo"),
        (("a.halo", {"name": "b"}), hl.ArgumentError, "name="),
        ((HEAT, {"stencil": "wave"}), hl.ArgumentError, "no stencil `wave`"),
        ((HEAT, {"schedule": "sideways"}), hl.ArgumentError, "sideways"),
    ],
)
def test_what_compile_refuses(arguments, kind, words):
    spec, *options = arguments
    with pytest.raises(kind, match=words):
        hl.compile(spec, **(options[0] if options else {}))


def test_emit(heat, tmp_path):
    text = heat.emit(schedule="direct threads=32x8 cells=1x1")
    assert "__launch_bounds__(256" in text and "heat_step" in text
    assert heat.emit(target="plan").startswith("{")
    assert heat.emit(target="stencil") != heat.emit(target="kernel") != heat.emit(target="cpu")
    paths = heat.emit(tmp_path / "heat.cu", arch=["sm_80", "sm_90"])
    assert paths == [str(tmp_path / "heat.cu"), str(tmp_path / "heat.h")]
    assert "heat_solver" in (tmp_path / "heat.h").read_text()
    assert heat.emit(grid=(64, 64), fixed_grid=True) != heat.emit(grid=(64, 64))


@pytest.mark.parametrize(
    "options, words",
    [
        ({"target": "fortran"}, "'fortran' is not known"),
        ({"arch": "sm_12"}, "no architecture `sm_12`"),
        ({"grid": (8,)}, "2 numbers"),
        ({"schedule": "sideways"}, "sideways"),
        ({"fixed_grid": True}, "no grid is given"),
        ({"path": ""}, "names no file"),
    ],
)
def test_what_emit_refuses(heat, options, words):
    with pytest.raises(hl.ArgumentError, match=words):
        heat.emit(**options)


def test_a_file_that_cannot_be_written(heat, tmp_path):
    with pytest.raises(hl.FileError, match="nowhere"):
        heat.emit(tmp_path / "nowhere" / "heat.cu")


def test_explain(heat):
    text = heat.explain((512, 512), arch="sm_80")
    assert "heat(x, y) for sm_80 on a grid of 512 x 512 cells" in text
    assert max(map(len, heat.explain(width=60).splitlines())) < max(map(len, heat.explain(width=180).splitlines()))
    told = heat.explain(json=True, schedule="direct threads=32x8 cells=1x1")
    assert told["stencil"] == "heat" and told["stages"][0]["schedule"].startswith("direct threads=32x8")
    with pytest.raises(hl.ArgumentError, match="sm_12"):
        heat.explain(arch="sm_12")


def test_bundles(heat, tmp_path):
    with pytest.raises(hl.ArgumentError, match="one architecture or more"):
        heat.write_bundle(tmp_path / "heat.halobundle", [])
    (tmp_path / "no.halobundle").write_text("nothing")
    with pytest.raises(hl.ArgumentError, match="no.halobundle"):
        hl.load(tmp_path / "no.halobundle")
    with pytest.raises(hl.FileError):
        hl.load(tmp_path / "missing.halobundle")


def test_programs_are_not_pickled(heat):
    with pytest.raises(TypeError):
        pickle.dumps(heat)


def test_devices():
    found = hl.devices()
    assert found[-1].kind == "cpu" and found[-1].arch == "cpu" and found[-1].memory == 0
    assert bool(hl.why_no_gpu()) == (len(found) == 1)
    assert "halocline" in hl.__name__ and hl.__version__.count(".") == 2
