"""Mistakes in stencils from Python: what the compiler finds is shown at the Python line, and what Python cannot say is
refused while the stencil is built."""

from __future__ import annotations

import inspect
import math
import subprocess
import sys
import warnings

import halocline as hl
import numpy as np
import pytest


def mistake(function) -> list:
    """The diagnostics of a stencil that has mistakes."""
    with pytest.raises(hl.SpecError) as raised:
        hl.stencil(function)
    for each in raised.value.diagnostics:
        assert str(each) in str(raised.value) or not each.is_error
    return raised.value.diagnostics


def marked(function, diagnostic) -> str:
    """The Python text under the carets. The line is that of the function with the comment `# here`."""
    lines, first = inspect.getsourcelines(function)
    here = [first + at for at, line in enumerate(lines) if "# here" in line]
    assert here == [diagnostic.line]
    assert diagnostic.file == __file__
    rendered = str(diagnostic).splitlines()
    assert rendered[0] == f"{__file__}:{diagnostic.line}:{diagnostic.column}: error: {diagnostic.message}"
    assert rendered[1].endswith(lines[here[0] - first].rstrip())
    begin = rendered[2].index("^")
    return rendered[1][begin : begin + rendered[2].count("^") + rendered[2].count("~")]


def test_unknown_type():
    def wrong(x):
        u = hl.field("float32")  # here
        u.next = u

    (found,) = mistake(wrong)
    assert found.kind == "unknown-type"
    assert "`float32`" in found.message
    assert marked(wrong, found) == "float32"
    assert found.help == "did you mean `f32`?" and found.mend == "f32"


def test_read_past_a_halo():
    def wrong(x):
        u = hl.field("f32", halo=1, boundary=hl.periodic)
        u.next = u[x - 1] + 2 * u[x + 2]  # here

    found = mistake(wrong)[0]
    assert found.kind == "past-halo"
    assert marked(wrong, found) == "u[x + 2]"
    (label,) = found.labels
    assert label.location.text.strip().startswith("u = hl.field(")


def test_one_face_alone_is_periodic():
    def wrong(x, y):
        u = hl.field("f32", boundary={x.low: hl.periodic, y: hl.clamp})  # here
        u.next = u[x - 1] + u[x + 1]

    found = mistake(wrong)[0]
    assert "periodic" in found.message
    assert marked(wrong, found).startswith("hl.field(")


def test_value_of_a_boundary_reads_a_field():
    def wrong(x):
        v = hl.field("f32")
        u = hl.field(
            "f32",
            boundary=hl.fixed(2 * v),  # here
        )
        u.next = u[x - 1]

    found = mistake(wrong)[0]
    assert found.kind == "misused-name"
    assert marked(wrong, found) == "v"


def test_type_mismatch():
    def wrong(x):
        alive = hl.field("bool")
        u = hl.field("f32")
        u.next = u + 3 * (alive + 1)  # here

    found = mistake(wrong)[0]
    assert found.kind == "type-mismatch"
    assert marked(wrong, found) in ("alive", "alive + 1")


def test_new_level_is_read_before_it_is_written():
    def wrong(x):
        u, v = hl.fields("f32")
        u.next = u + v.next  # here
        v.next = v

    (found,) = mistake(wrong)
    assert found.kind == "read-before-written"
    assert marked(wrong, found) == "v.next"
    assert "printed as `u[t+1] = u + v[t+1]`" in str(found)


def test_level_of_a_field_that_nothing_assigns():
    def wrong(x):
        u, source = hl.fields("f32")
        u.next = u + 0.5 * source.prev  # here

    (found,) = mistake(wrong)
    assert found.kind == "time-level"
    assert marked(wrong, found) == "source.prev"


def test_a_name_is_declared_twice():
    def wrong(x):
        u = hl.field("f32")
        u.next = u
        u = hl.param(1)  # here

    (found,) = mistake(wrong)
    assert found.kind == "duplicate-name"
    assert marked(wrong, found) == "hl.param(1)"


def test_a_reserved_name():
    def wrong(x):
        pi = hl.param(3)  # here
        u = hl.field("f32")
        u.next = u * pi

    (found,) = mistake(wrong)
    assert found.kind == "reserved-name"
    assert marked(wrong, found) == "hl.param(3)"


def test_components_that_are_not_there():
    def wrong(x):
        u = hl.field("f32", boundary=hl.periodic)
        slope = hl.let(hl.grad(u))
        u.next = u + slope.y  # here

    (found,) = mistake(wrong)
    assert marked(wrong, found) == "slope.y"


def test_columns_count_characters_and_lines_after_the_first_are_left_out():
    def wrong(x):
        u = hl.field("f32", boundary=hl.periodic)
        u.next = {"é": u[x + 0.5] + u}["é"]  # here

    found = mistake(wrong)[0]
    assert found.kind == "no-point-here"
    assert marked(wrong, found) == "u[x + 0.5]"

    def long(x):
        u = hl.field("f32", boundary=hl.periodic)
        u.next = u[  # here
            x + 0.5
        ]

    assert marked(long, mistake(long)[0]) == "u[  # here"


def test_mistakes_of_functions_are_shown_in_them():
    def average(a, axis):
        return (a[axis - 1] + a[axis + 600]) / 2

    def wrong(x):
        u = hl.field("f32", boundary=hl.periodic)
        u.next = average(u, x)

    found = mistake(wrong)[0]
    lines, first = inspect.getsourcelines(average)
    assert found.line == first + 1
    assert "^" in str(found)


def test_warnings_are_pythons():
    with pytest.warns(hl.SpecWarning, match="halo is wider than needed") as caught:

        @hl.stencil
        def wide(x):
            u = hl.field("f32", halo=3, boundary=hl.periodic)
            u.next = u[x - 1] + u[x + 1]

    (warned,) = [each for each in caught if each.category is hl.SpecWarning]
    assert warned.filename == __file__
    lines, first = inspect.getsourcelines(test_warnings_are_pythons)
    assert "halo=3" in lines[warned.lineno - first]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [each.is_error for each in wide.check()] == [False]


def test_params_that_nothing_reads():
    def unused(x):
        dt, speed = hl.param(0.1), hl.param(1)  # here
        u = hl.field("f32")
        u.next = u * dt

    with pytest.warns(hl.SpecWarning, match="`speed` is not used"):
        (found,) = hl.stencil(unused).check()
    lines, first = inspect.getsourcelines(unused)
    assert lines[found.line - first].rstrip().endswith("# here")
    assert found.column == lines[1].index("hl.param(1)") + 1


def test_code_without_a_source_is_shown_by_its_line():
    scope = {"hl": hl}
    exec("def wrong(x):\n    u = hl.field('f33')\n    u.next = u\n", scope)
    (found,) = mistake(scope["wrong"])
    assert (found.file, found.line) == ("<string>", 2)
    assert "^" not in str(found)


def test_without_columns_a_mistake_is_shown_by_its_line(tmp_path):
    file = tmp_path / "wrong.py"
    file.write_text(
        "import halocline as hl\n@hl.stencil\ndef wrong(x):\n    u = hl.field('f32')\n    u.next = u + u[x + 0.5]\n"
    )
    done = subprocess.run([sys.executable, "-X", "no_debug_ranges", file], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{file}:5:5: error: `u` has no points between the cells" in done.stderr
    assert "    5 |     u.next = u + u[x + 0.5]\n      |     ^~~~~~~~~~~~~~~~~~~~~~~\n" in done.stderr


# ---- what is refused while the stencil is built -------------------------------------------------


def refused(build, *axes) -> str:
    """The message that a stencil with this statement is refused with."""

    def statement(x, y):
        u = hl.field("f32", boundary=hl.periodic)
        v = hl.field({"x": "f32", "y": "f32"}, boundary=hl.periodic)
        f = hl.field("f32[3]")
        build(u, v, f, x, y)

    with pytest.raises(hl.StencilError) as raised:
        hl.stencil(statement)
    assert isinstance(raised.value, hl.Error) and isinstance(raised.value, TypeError)
    return str(raised.value)


@pytest.mark.parametrize(
    "build, words",
    [
        (lambda u, v, f, x, y: u > 0 and u < 1, "& | ~"),
        (lambda u, v, f, x, y: 0 < u < 1, "not chained"),
        (lambda u, v, f, x, y: 1 if u > 0 else 2, "hl.where(condition, a, b)"),
        (lambda u, v, f, x, y: max(u, u[x + 1]), "hl.where"),
        (lambda u, v, f, x, y: (u > 0) & 1, "parentheses"),
        (lambda u, v, f, x, y: math.sin(u), "hl.sin"),
        (lambda u, v, f, x, y: float(u), "hl.sin"),
        (lambda u, v, f, x, y: list(u), "iterated"),
        (lambda u, v, f, x, y: list(range(u)), "no value"),
        (lambda u, v, f, x, y: len(u), "hl.len"),
        (lambda u, v, f, x, y: len(x), "hl.len(x)"),
        (lambda u, v, f, x, y: u in [u + 1], "neither true nor false"),
        (lambda u, v, f, x, y: u * x, "hl.pos(x)"),
        (lambda u, v, f, x, y: x * u, "hl.idx(x)"),
        (lambda u, v, f, x, y: u + (x + 1), "hl.pos(x)"),
        (lambda u, v, f, x, y: u[1], "u[x+1]"),
        (lambda u, v, f, x, y: f[3], "0, 1, 2"),
        (lambda u, v, f, x, y: u[x + 0.3], "half"),
        (lambda u, v, f, x, y: u[x + u], "whole number"),
        (lambda u, v, f, x, y: u[1:3], "hl.on"),
        (lambda u, v, f, x, y: u[x.low], "hl.on"),
        (lambda u, v, f, x, y: hl.on(x[::2]), "hl.idx(x) % 2"),
        (lambda u, v, f, x, y: hl.on(x[3:0]), "no cells"),
        (lambda u, v, f, x, y: hl.on(3), "faces"),
        (lambda u, v, f, x, y: hl.let(None, name="m"), "no expression"),
        (lambda u, v, f, x, y: hl.let("u + 1", name="m"), "no expression"),
        (lambda u, v, f, x, y: u / hl.max(u), "hl.reduce"),
        (lambda u, v, f, x, y: hl.reduce(most=u), "hl.sum"),
        (lambda u, v, f, x, y: hl.max([u, 1]), "one by one"),
        (lambda u, v, f, x, y: hl.sum([u, 1]), "Python's sum"),
        (lambda u, v, f, x, y: setattr(u, "next", hl.where(u > 0)), "with"),
        (lambda u, v, f, x, y: hl.where(u > 0, 1), "two values"),
        (lambda u, v, f, x, y: hl.pos(u), "axis"),
        (lambda u, v, f, x, y: hl.d(u, "x"), "axis"),
        (lambda u, v, f, x, y: hl.d(u, x, side="left"), '"low" or "high"'),
        (lambda u, v, f, x, y: hl.d(u, x, order="2) + d(u, y"), "order="),
        (lambda u, v, f, x, y: hl.field("f32; field w", name="w"), "no type"),
        (lambda u, v, f, x, y: hl.field(float, name="w"), "how many bits"),
        (lambda u, v, f, x, y: hl.field("f32", name="a b"), "cannot be a name"),
        (lambda u, v, f, x, y: hl.field("f32", name="w", at=0.5), "place in the cells"),
        (lambda u, v, f, x, y: hl.field("f32", name="w", boundary=0), "hl.fixed(0)"),
        (lambda u, v, f, x, y: hl.field("f32", name="w", boundary=hl.fixed), "has a value"),
        (lambda u, v, f, x, y: hl.field("f32", name="w", boundary={0.5: hl.clamp}), "axis (x)"),
        (lambda u, v, f, x, y: hl.coef([], name="c"), "list of weights"),
        (lambda u, v, f, x, y: hl.use('a"b'), "name of a .halo file"),
        (lambda u, v, f, x, y: hl.schedule("direct } field"), "settings"),
        (lambda u, v, f, x, y: hl.repeat(3, name="a b"), "what the iteration is called"),
        (lambda u, v, f, x, y: hl.repeat(), "a number of iterations, or until="),
        (lambda u, v, f, x, y: hl.repeat(until=u > 0), "at_most="),
        (lambda u, v, f, x, y: hl.repeat(3, until=u > 0, at_most=4), "a number of iterations, or until="),
        (lambda u, v, f, x, y: hl.sweep("x"), "goes along an axis"),
        (lambda u, v, f, x, y: hl.sweep(x, "left"), '"up" or "down"'),
        (lambda u, v, f, x, y: np.gradient(u), "hl.grad"),
        (lambda u, v, f, x, y: np.sinc(u), "not known"),
        (lambda u, v, f, x, y: np.add.reduce(u), "not known"),
        (lambda u, v, f, x, y: round(u, 2), "100 * u"),
    ],
)
def test_what_python_cannot_say(build, words):
    assert words in refused(build)


def test_values_that_are_no_numbers():
    with pytest.raises(hl.ArgumentError, match="finite"):

        @hl.stencil
        def wrong(x):
            u = hl.field("f32")
            u.next = u + float("nan")


@pytest.mark.parametrize("name, mend", [("forward", "u.next"), ("dx2", "hl.d2"), ("real", "u.re"), ("nxt", "u.next")])
def test_attributes_of_other_libraries(name, mend):
    def wrong(x):
        u = hl.field("f32")
        getattr(u, name)

    with pytest.raises(hl.UnknownNameError, match=mend):
        hl.stencil(wrong)

    def assigned(x):
        u = hl.field("f32")
        setattr(u, name, 1)

    with pytest.raises(hl.UnknownNameError, match=mend):
        hl.stencil(assigned)


def test_blocks_without_statements():
    with pytest.raises(hl.StencilError, match="no statement"):

        @hl.stencil
        def empty(x):
            u = hl.field("f32")
            with hl.where(u > 0):
                pass


def test_blocks_without_with():
    def wrong(x):
        u = hl.field("f32")
        hl.on(x.low)
        u.next = 1

    with pytest.raises(hl.StencilError, match=r"test_stencil_mistakes.py:\d+: this is for `with`.*hl.on\(x.low\)"):
        hl.stencil(wrong)


def test_mistakes_in_blocks_leave_nothing_open():
    with pytest.raises(ZeroDivisionError):

        @hl.stencil
        def broken(x):
            u = hl.field("f32")
            with hl.where(u > 0):
                u.next = 1 / 0

    with pytest.raises(hl.StencilError, match="no stencil is being built"):
        hl.param(1, name="a")


def test_noise_stands_in_one_place():
    with pytest.raises(hl.StencilError, match="hl.let"):

        @hl.stencil
        def shaken(x):
            u = hl.field("f32", boundary=hl.periodic)
            noise = hl.random()
            u.next = u + noise * noise


def test_fields_of_another_stencil():
    kept = []

    @hl.stencil
    def first(x):
        u = hl.field("f32")
        u.next = u
        kept.append(u)

    with pytest.raises(hl.StencilError, match="belongs to the stencil `first`"):

        @hl.stencil
        def second(x):
            v = hl.field("f32")
            v.next = v + kept[0]


def test_declarations_belong_into_a_stencil():
    with pytest.raises(hl.StencilError, match="@hl.stencil"):
        u = hl.field("f32")  # noqa: F841


def test_parameters_are_axes():
    with pytest.raises(hl.StencilError, match="axes"):
        hl.stencil(lambda x, n=3: None)
    with pytest.raises(hl.StencilError, match="axes"):
        hl.stencil(lambda *axes: None)
    with pytest.raises(hl.StencilError, match="an axis at least"):
        hl.stencil(lambda t: None)
    with pytest.raises(hl.StencilError, match="function"):
        hl.stencil("heat.halo")
    with pytest.raises(hl.StencilError, match="returns a value"):
        hl.stencil(lambda x: 1, name="heat")


def test_expressions_that_explode():
    with pytest.raises(hl.StencilError, match="hl.let"):

        @hl.stencil
        def doubled(x):
            u = hl.field("f32")
            value = u + 1
            for _ in range(40):
                value = value * value
            u.next = value
