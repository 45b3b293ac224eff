"""Names of fields and params are those of the variables that they are assigned to, where these can be found soundly."""

from __future__ import annotations

import functools

import halocline as hl
import pytest
from spec_tools import body

pytestmark = pytest.mark.filterwarnings("ignore::halocline.SpecWarning")  # much is declared here alone


def names(build) -> list[str]:
    """The names that a stencil declares."""

    def declaring(x):
        build()
        out = hl.field("f64", name="out")
        out[:] = 1

    lines = body(hl.stencil(declaring))
    return [line.split()[1].rstrip(":") for line in lines if line.startswith("param ")]


def test_assignments():
    def build():
        a = hl.param(1)
        b, c = hl.param(2), hl.param(3)
        (d, (e, f)) = hl.param(4), (hl.param(5), hl.param(6))
        g: hl.Expr = hl.param(7)
        if (h := hl.param(8)) is not None:
            k = hl.param(9) if a is b else hl.param(10)

    assert names(build) == list("abcdefghk")


def test_calls_over_several_lines():
    def build():
        wide = hl.param(
            1,
        )

    assert names(build) == ["wide"]


def test_several_fields_at_once():
    @hl.stencil
    def pairs(x):
        p, v = hl.fields("f32", boundary=hl.clamp)
        [q, w] = hl.fields("f64", name="a b")
        p.next = p + v
        q.next = q + w

    assert body(pairs)[:2] == ["field p, v: f32 { boundary clamp }", "field a, b: f64"]


def test_names_that_are_given():
    def build():
        lam = hl.param(1, name="lambda")
        for i in range(3):
            hl.param(i, name=f"c{i}")

    assert names(build) == ["lambda", "c0", "c1", "c2"]


def test_greek_letters_are_spelled_out():
    def build():
        λ = hl.param(1)
        Δt, β2 = hl.param(2), hl.param(3)

    assert names(build) == ["lambda", "Deltat", "beta2"]


def test_attributes():
    class Medium:
        def __init__(self):
            self.rho = hl.param(1)

    assert names(Medium) == ["rho"]


def test_functions_that_return_a_declaration():
    def made(value):
        return hl.param(value) if value else hl.param(1)

    def build():
        first, second = made(0), made(2)

    assert names(build) == ["first", "second"]


def test_partial_functions():
    half = functools.partial(hl.param, 0.5)

    def build():
        a = half()

    assert names(build) == ["a"]


def test_code_without_a_source():
    scope = {"hl": hl}
    exec(
        "def build():\n"
        "    a = hl.param(1)\n"
        "    global b\n"
        "    b = hl.param(2)\n"
        "    c = hl.param(3); d = c\n"
        "    def inner():\n"
        "        return e\n"
        "    e = hl.param(4)\n",
        scope,
    )
    assert names(scope["build"]) == ["a", "b", "c", "e"]
    exec("def pair():\n    p, q = hl.fields('f32')\n    q.next = p\n", scope)

    @hl.stencil
    def unpacked(x):
        scope["pair"]()

    assert body(unpacked)[0] == "field p, q: f32"


def _in_a_list():
    return [hl.param(1)]


def _in_a_call():
    kept = dict(a=hl.param(1))


def _in_a_comprehension():
    weights = [hl.param(i) for i in range(2)]


def _by_map():
    weights = list(map(hl.param, [1, 2]))


def _in_an_expression():
    doubled = 2 * hl.param(1)


def _alone():
    hl.param(1)


def _at_a_key():
    kept = {}
    kept["a"] = hl.param(1)


def _twice():
    a = b = hl.param(1)


def _unpacked_as_one():
    a, b = hl.param(1)


@pytest.mark.parametrize(
    "build",
    [
        _in_a_list,
        _in_a_call,
        _in_a_comprehension,
        _by_map,
        _in_an_expression,
        _alone,
        _at_a_key,
        _twice,
        _unpacked_as_one,
    ],
)
def test_where_no_variable_is_assigned_a_name_is_asked_for(build):
    with pytest.raises(hl.StencilError, match='hl.param needs a name.*name="u"'):
        names(build)


def test_names_of_other_letters_are_refused():
    def build():
        größe = hl.param(1)

    with pytest.raises(hl.StencilError, match="ASCII"):
        names(build)
