"""What notebooks show: programs, simulations, arrays, explanations, progress, pictures while steps are done, and %%halo."""

import base64
import os
import re
import struct
import subprocess
import sys
import types
import zlib
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import HEAT, WAVE

import halocline as hl
from halocline import _html, _picture

# `<` and `&` are in statements, and must not be in the HTML.
COMPARING = """stencil comparing(x) {
    field u: f32
    field hot: f32
    u[t+1] = u + 1
    hot = if u < 3 and u > -1 then 1 else 0
}
"""


class Balanced(HTMLParser):
    """Checks that all that is opened is closed, and collects tags and text."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(html)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def svg_in(html):
    return ElementTree.fromstring(re.search(r"<svg.*?</svg>", html, re.S).group())


def pictures_in(html):
    """The pixels of each PNG, (rows, columns, 3)."""
    result = []
    for data in re.findall(r"base64,([A-Za-z0-9+/=]+)", html):
        png = base64.b64decode(data)
        assert png[:8] == b"\x89PNG\r\n\x1a\n"
        columns, rows = struct.unpack(">II", png[16:24])
        at, packed = 8, b""
        while at < len(png):
            (size,) = struct.unpack(">I", png[at : at + 4])
            kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
            assert struct.unpack(">I", png[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + body)
            packed += body if kind == b"IDAT" else b""
            at += 12 + size
        lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(rows, 1 + 3 * columns)
        assert not lines[:, 0].any()
        result.append(lines[:, 1:].reshape(rows, columns, 3))
    return result


def test_programs_show_statements_fields_params_and_stages(heat):
    shown = Balanced(heat._repr_html_())
    for words in ("heat(x, y)", "reduce change", "lambda", "0.2", "f32", "state", "heat_step", "u[t+1]", "128 x 2"):
        assert words in shown.text
    assert shown.tags.count("table") == 4 and shown.tags.count("details") == 3


def test_html_is_escaped():
    html = hl.compile(COMPARING)._repr_html_()
    assert "u &lt; 3" in html and "u < 3" in Balanced(html).text
    nasty = "<script>alert('&')</script>\""
    for made in (_html.code(nasty), _html.table((nasty,), [(nasty,)]), _html.block(nasty, nasty), _html.details(nasty, "x"),
                 _picture.figure(np.zeros((2, 2)), nasty), _picture.figure(np.zeros((2, 2)), axes=(nasty, nasty))):  # fmt: skip
        assert "<script" not in made and "&lt;script&gt;" in made
        assert nasty in Balanced(made).text
    stage = hl.TunedStage(nasty, nasty, nasty, nasty, 1.0, None, 1, [])
    assert "<script" not in hl.Tuning((stage,), nasty, nasty)._repr_html_()
    doctor = hl.Doctor((hl.Finding(nasty, nasty, True, nasty),), "cpu", nasty)
    assert "<script" not in doctor._repr_html_() and nasty in Balanced(doctor._repr_html_()).text


def test_stencils_of_python_are_shown_as_programs():
    @hl.stencil
    def drift(x):
        u = hl.field("f32")
        u.next = u[x - 1]

    assert "drift(x)" in Balanced(drift._repr_html_()).text


def test_simulations(sim):
    sim.run(3)
    text = Balanced(sim._repr_html_()).text
    assert "heat: 24 x 16 cells" in text and "after 3 steps" in text and "lambda" in text
    sim.close()
    assert "closed" in Balanced(sim._repr_html_()).text
    unset = hl.compile("stencil s(x) {\n param a\n field u: f32\n u[t+1] = u + a\n}").simulate(4, device="cpu")
    assert "no value yet" in unset._repr_html_() and "none" in unset.program._repr_html_()


def test_doctor_as_html():
    text = Balanced(hl.doctor()._repr_html_()).text
    assert "CPU back end" in text and "schedules are chosen" in text


def test_an_explanation_is_a_text_with_data_and_a_picture(heat):
    told = heat.explain((512, 512), arch="sm_90")
    assert isinstance(told, str) and told.startswith("heat(x, y) for sm_90")
    assert told.data == heat.explain((512, 512), arch="sm_90", json=True)
    svg = ElementTree.fromstring(told.roofline)
    names = "".join(svg.itertext())
    assert "device memory: 4.29 TB/s" in names and "flops a byte" in names
    circles = svg.findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == 2  # single steps, and several in one pass
    for circle in circles:
        assert 62 <= float(circle.get("cx")) <= 522 and 24 <= float(circle.get("cy")) <= 304
    shown = Balanced(told._repr_html_())
    assert "svg" in shown.tags and "several steps at once" in shown.text
    several = hl.compile("stencil s(x, y) {\n field u: f32\n field v: f32\n u[t+1] = u + v[x+1]\n v[t+1] = u[t+1] + u[t+1, x-1]\n}")
    assert "bound of stage 2" in several.explain().roofline
    still = hl.compile("stencil s(x) {\n field u: f32\n u[t+1] = u[x+1]\n}").explain()
    assert "<circle" not in still.roofline and "device memory" in still.roofline


def test_arrays_are_pictures_with_a_colour_bar(sim):
    values = np.linspace(0, 1, 16 * 24, dtype=np.float32).reshape(16, 24)
    sim.u = values
    html = sim.u._repr_html_()
    cells, bar = pictures_in(html)
    assert cells.shape == (16, 24, 3) and bar.shape == (128, 1, 3)
    dark, bright = cells[15, 0], cells[0, 23]  # the first row is below
    assert dark.sum() < 120 and bright.sum() > 500
    assert np.array_equal(bar[0, 0], bright) and np.array_equal(bar[-1, 0], dark)
    svg = svg_in(html)
    labels = [each.text for each in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert {"0", "0.5", "1", "x →", "y →"} <= set(labels)
    Balanced(html)


def test_pictures_of_other_arrays():
    signed = np.array([[-1.0, 0.0], [0.5, 1.0]])
    (cells, _), shown = pictures_in(_picture.figure(signed)), _picture.range_of(signed)
    assert shown == (-1, 1) and shown.diverging and cells[1, 1].min() >= 244
    assert cells[1, 0, 2] > cells[1, 0, 0] and cells[0, 1, 0] > cells[0, 1, 2]  # blue below zero, red above
    assert not _picture.range_of(np.array([-0.01, 5.0])).diverging
    broken = np.array([[np.nan, 1.0], [2.0, np.inf]])
    html = _picture.figure(broken)
    assert "2 of 4 cells are not finite" in html
    assert pictures_in(html)[0][1, 0].tolist() == [255, 0, 255]
    assert _picture.range_of(np.full((2, 2), np.nan)) == (0, 1)
    constant = pictures_in(_picture.figure(np.full((3, 3), 7)))[0]
    assert (constant == constant[0, 0]).all()
    large = _picture.figure(np.zeros((600, 2000), bool))
    assert pictures_in(large)[0].shape == (300, 500, 3) and "every 4 x 2th cell" in large
    assert "plane 2 of 4" in _picture.figure(np.zeros((4, 5, 6)))
    line = _picture.figure(np.array([0.0, 1.0, np.nan, 3.0]))
    assert len(svg_in(line).findall("{http://www.w3.org/2000/svg}polyline")) == 2
    for shape in ((0, 3), (2, 2, 2, 2, 2), ()):
        with pytest.raises(ValueError, match="no picture"):
            _picture.figure(np.zeros(shape))


def test_pictures_of_ones_own(sim):
    shown = hl.picture(np.zeros((50, 3)), "traces", axes=("phone", "step"), range=(-1, 1), square=False)
    assert repr(shown) == "<halocline.Picture traces>" and "phone →" in shown._repr_html_() and ">-1<" in shown.html
    assert 'width="420"' in shown.html and 'width="420"' not in hl.picture(np.zeros((50, 3))).html
    assert hl.picture(sim.u).html
    for values in (np.zeros((2, 2, 2, 2, 2)), "text", np.zeros(0), 1j * np.ones(3), 5):
        with pytest.raises(hl.ArrayError, match="one to four axes"):
            hl.picture(values)
    with pytest.raises(hl.ArgumentError, match="range"):
        hl.picture(np.zeros(3), range=(1, 1))


def test_arrays_of_types_without_a_picture_are_shown_as_text():
    spec = "stencil s(x) {\n field b: bf16 as f32\n field k: i32\n b[t+1] = b\n k[t+1] = k + 1\n}"
    sim = hl.compile(spec).simulate(4, device="cpu")
    assert sim.b._repr_html_() is None and "<svg" in sim.k._repr_html_()


class Kernel:
    """Stands in for IPython in the kernel of a notebook."""

    def __init__(self, monkeypatch, kernel=True):
        self.shown, self.updates = [], []
        ipython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        shell = types.SimpleNamespace(kernel=object()) if kernel else types.SimpleNamespace()
        ipython.get_ipython, ipython.display, display.display = lambda: shell, display, self.display
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", display)

    def display(self, what, display_id=False):
        assert display_id
        self.shown.append(what)
        return types.SimpleNamespace(update=self.updates.append)


@pytest.fixture
def kernel(monkeypatch):
    return Kernel(monkeypatch)


def test_progress_in_a_notebook(sim, kernel, capsys):
    sim.run(20, progress=True)
    assert "<progress" in kernel.shown[0]._repr_html_() and repr(kernel.shown[0]).startswith("20 of 20 steps")
    assert capsys.readouterr().err == ""


def test_progress_in_a_terminal_of_ipython(sim, monkeypatch, capsys):
    kernel = Kernel(monkeypatch, kernel=False)
    sim.run(20, progress=True)
    assert not kernel.shown and capsys.readouterr().err.startswith("20 of 20 steps")


def test_a_watched_field_in_a_notebook(sim, start, kernel, monkeypatch):
    sim.u = start
    monkeypatch.setattr("halocline._notebook._AT_LEAST", 0)
    with sim.watch("u", every=10) as watch:
        assert repr(kernel.shown[0]) == "u after 0 steps" and "<svg" in kernel.shown[0]._repr_html_()
        sim.run(35)
        assert [repr(each) for each in kernel.updates] == [f"u after {n} steps" for n in (10, 20, 30, 35)]
        assert len(kernel.shown) == 1 and "every 10 steps>" in repr(watch)
    sim.run(20)
    assert len(kernel.updates) == 4 and "stopped" in repr(watch)
    watch.stop()


def test_pictures_come_ten_times_a_second_at_most(sim, kernel):
    sim.watch("u", every=1)
    sim.run(2000)
    assert 1 <= len(kernel.updates) < 200 and repr(kernel.updates[-1]) == "u after 2000 steps"


@pytest.mark.parametrize("devices", [None, 2])
def test_watching_changes_nothing(heat, start, devices):
    plain, watched = (heat.simulate((24, 16), device="cpu", devices=devices) for _ in range(2))
    plain.u = watched.u = start
    seen = []
    watched.watch("u", every=7, show=lambda values, done: seen.append((done, values)))
    watched.run(30)
    plain.run(14)
    assert [done for done, _ in seen] == [7, 14, 21, 28] and np.array_equal(seen[1][1], plain.read("u"))
    assert np.array_equal(watched.read("u"), plain.run(16).read("u"))
    for every in (1, 4, 10):
        assert watched.until("change < 1e-2", every=every, at_most=60) == plain.until("change < 1e-2", every=every, at_most=60)
        assert watched.steps_done == plain.steps_done and np.array_equal(watched.read("u"), plain.read("u"))
    calls = []
    watched.run(20, progress=lambda done, count: calls.append((done, count)))
    assert calls == sorted(calls) and calls[-1] == (20, 20)
    count = len(seen)
    watched.run(0)
    assert len(seen) == count


def test_what_cannot_be_watched(sim):
    def fail(values, done):
        raise ZeroDivisionError

    with pytest.raises(hl.ArgumentError, match="give show="):
        sim.watch("u")
    with pytest.raises(hl.UnknownNameError):
        sim.watch("v", show=fail)
    for every in (0, -1, 1.5):
        with pytest.raises(hl.ArgumentError, match="every"):
            sim.watch("u", every, show=fail)
    for limits in (3, (1, 0), ("a", "b"), (1, 2, 3)):
        with pytest.raises(hl.ArgumentError, match="range"):
            sim.watch("u", range=limits, show=fail)
    with sim.watch("u", every=5, show=fail), pytest.raises(ZeroDivisionError):
        sim.run(20)
    assert sim.steps_done == 5 and sim.run(20).steps_done == 25


class Shell:
    def __init__(self):
        self.variables, self.magics = {}, {}

    def push(self, variables):
        self.variables |= variables

    def register_magic_function(self, function, kind, name):
        self.magics[kind, name] = function


@pytest.fixture
def halo():
    shell = Shell()
    hl.load_ipython_extension(shell)
    run = shell.magics["cell", "halo"]
    run.__dict__["shell"] = shell
    return run


def test_a_cell_becomes_a_program(halo):
    program = halo("", HEAT)
    assert halo.shell.variables == {"heat": program} and isinstance(program, hl.Program)
    other = halo("mine --strict-fp --stencil wave --schedule 'direct threads=32x8 cells=1x1'", HEAT + WAVE)
    assert halo.shell.variables["mine"] is other and other.name == "wave"
    assert "(pinned)" in other.explain()


def test_mistakes_in_a_cell(halo):
    with pytest.raises(hl.SpecError, match="mine.halo:4:14") as caught:
        halo("mine", HEAT.replace("u + lambda", "v + lambda"))
    assert caught.value._render_traceback_() == str(caught.value).splitlines() and "^" in str(caught.value)
    assert not halo.shell.variables
    for line in ("--schedule", "--fast", "a b", "1a", "-x"):
        with pytest.raises(hl.ArgumentError, match="%%halo"):
            halo(line, HEAT)


def test_nothing_but_numpy_is_imported():
    code = "import sys, halocline; print([m for m in ('IPython', 'xarray', 'torch', 'jax', 'zarr', 'pyvista', 'matplotlib', 'PIL') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_in_ipython_itself(tmp_path):
    pytest.importorskip("IPython", reason="IPython is not there")
    code = (
        "%load_ext halocline\n"
        "get_ipython().run_cell_magic('halo', 'warm', " + repr(HEAT) + ")\n"
        "sim = warm.simulate((8, 8), device='cpu')\n"
        "html = get_ipython().display_formatter.formatters['text/html']\n"
        "html.enabled = True\n"
        "print(all('<' in html(each) for each in (warm, warm.explain(), sim, sim.u)), sim.run(3).steps_done)\n"
        "get_ipython().run_cell_magic('halo', '', 'stencil s(x) { }')\n"
    )
    (tmp_path / "try.ipy").write_text(code)
    run = [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", str(tmp_path / "try.ipy")]
    done = subprocess.run(run, capture_output=True, text=True, env=os.environ | {"IPYTHONDIR": str(tmp_path / "ipython")})
    assert "True 3" in done.stdout, done.stdout + done.stderr
    assert "cell.halo:1" in done.stdout + done.stderr and "_core.compile" not in done.stdout + done.stderr
