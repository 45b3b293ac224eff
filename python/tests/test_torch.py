"""Programs as operators of torch."""

import sys

import numpy as np
import pytest
from conftest import HEAT, WAVE

import halocline as hl

torch = pytest.importorskip("torch", minversion="2.4", reason="torch 2.4 or later is not installed")
import halocline.torch as ht  # noqa: E402


def by_simulation(program, steps, params=None, **fields):
    sim = program.simulate(next(iter(fields.values())).shape[::-1], device="cpu", **(params or {}))
    for name, values in fields.items():
        field, _, past = name.partition("_past")
        sim[field, -int(past or 0)] = values.numpy()
    return sim.run(steps)


@pytest.fixture
def u():
    return torch.rand(16, 24, generator=torch.Generator().manual_seed(1))


def test_a_state_after_some_steps(heat, u):
    step = ht.op(heat)
    before = u.clone()
    result = step(u, steps=20, dt=0.1)
    assert np.array_equal(result, by_simulation(heat, 20, {"dt": 0.1}, u=u).u)
    assert torch.equal(u, before) and result.is_contiguous() and result.shape == u.shape
    assert torch.equal(step(u=u, steps=20, dt=0.1), result) and torch.equal(step(u, steps=0), u)
    assert torch.equal(step(step(u, steps=5), steps=7), step(u, steps=12))
    assert "heat(u, *, steps=1, lambda=1, dt=0.2) -> u" in repr(step)


def test_past_levels_inputs_and_outputs(wave):
    step = ht.op(wave)
    p, past, c = (torch.rand(4, 5, 6, dtype=torch.float64) for _ in range(3))
    result = step(p, past, c, steps=3)
    sim = by_simulation(wave, 3, p=p, p_past1=past, c=c)
    assert result._fields == ("p", "p_past1", "energy")
    for got, want in zip(result, (sim.p, sim["p", -1], sim.energy)):
        assert np.array_equal(got, want)
    again = step(p=result.p, p_past1=result.p_past1, c=c, steps=2)
    assert np.array_equal(again.p, sim.run(2).p)


def test_opcheck(heat, wave, u):
    for made, arrays, params in ((ht.op(heat), [u], [1.0, 0.2]),
                                 (ht.op(wave), [torch.rand(4, 5, 6, dtype=torch.float64) for _ in range(3)], [0.1])):  # fmt: skip
        for steps in (0, 3):
            found = torch.library.opcheck(made.operator, (arrays, params, steps, []))
            assert set(found.values()) == {"SUCCESS"}, found


def test_torch_sees_one_call(heat, u):
    step = ht.op(heat)

    def twice(u):
        return step(u * 2, steps=3, dt=0.1) + 1

    exported = torch.export.export(_Module(twice), (u,))
    calls = [node for node in exported.graph.nodes if "halocline" in str(node.target)]
    assert len(calls) == 1 and torch.equal(exported.module()(u), twice(u))
    compiled = torch.compile(twice, backend="eager", fullgraph=True)
    assert torch.equal(compiled(u), twice(u))


class _Module(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, u):
        return self.function(u)


def test_any_layout_and_all_types(heat, u):
    turned = torch.rand(24, 16).T
    assert torch.equal(ht.op(heat)(turned, steps=2), ht.op(heat)(turned.contiguous(), steps=2))
    for type, dtype in (("f64", torch.float64), ("f16", torch.float16), ("bf16 as f32", torch.bfloat16), ("i32", torch.int32)):
        keep = ht.op(hl.compile(f"stencil keep(x, y) {{\n field a: {type}\n a[t+1] = a\n}}"))
        a = torch.arange(12).reshape(3, 4).to(dtype)
        assert torch.equal(keep(a, steps=2), a)


def test_the_same_program_has_one_operator(heat):
    assert ht.op(heat) is ht.op(hl.compile(HEAT)) and ht.op(heat).name.startswith("halocline::heat_")
    assert ht.op(heat) is not ht.op(hl.compile(HEAT, strict_fp=True))
    mine = ht.op(heat, "mine")
    assert mine.name == "halocline::mine" and hasattr(torch.ops.halocline, "mine")
    with pytest.raises(hl.ArgumentError, match="another program"):
        ht.op(hl.compile(WAVE), "mine")
    with pytest.raises(hl.ArgumentError, match="name="):
        ht.op(heat, "my heat")
    assert hl.torch is ht


def test_a_stencil_of_python_and_components(u):
    @hl.stencil
    def turn(x, y):
        v = hl.field("f32[2]")
        v.next = 2 * v

    first, second = ht.op(turn)(u, u + 1, steps=2)
    assert torch.equal(first, 4 * u) and torch.equal(second, 4 * (u + 1))
    assert [each.argument for each in ht.op(turn).inputs] == ["v_0", "v_1"]


def test_steps_are_counted_from_0_in_each_call():
    count = ht.op(hl.compile("stencil count(x) {\n field a: f32\n a[t+1] = a + step\n}"))
    zero = torch.zeros(4)
    assert count(zero, steps=4)[0] == count(zero, steps=4)[0] == 6


@pytest.mark.parametrize(
    "use, kind, words",
    [
        (lambda step, u: step(), hl.ArgumentError, "needs u"),
        (lambda step, u: step(u, u), hl.ArgumentError, "takes 1 arrays"),
        (lambda step, u: step(u, u=u), hl.ArgumentError, "twice"),
        (lambda step, u: step(u, dtt=1), hl.UnknownNameError, "is 'dt' meant"),
        (lambda step, u: step(u, steps=-1), hl.ArgumentError, "steps"),
        (lambda step, u: step(u, steps=1.5), hl.ArgumentError, "steps"),
        (lambda step, u: step(u, dt="fast"), hl.ArgumentError, "numbers"),
        (lambda step, u: step(u, dt=float("nan")), hl.ArgumentError, "dt"),
        (lambda step, u: step(u.double()), hl.ArrayError, r"tensor.to\(torch.float32\)"),
        (lambda step, u: step(u[0]), hl.ArrayError, r"axes \(y, x\)"),
        (lambda step, u: step(u.numpy()), hl.ArrayError, "as_tensor"),
        (lambda step, u: step(u.to("meta")), hl.ArrayError, "on meta"),
    ],
)
def test_arguments_that_cannot_be(heat, u, use, kind, words):
    with pytest.raises(kind, match=words):
        use(ht.op(heat), u)


def test_programs_that_cannot_be():
    with pytest.raises(hl.ArgumentError, match="takes a program"):
        ht.op(HEAT)
    points = "stencil s(x) {\n field u: f32\n points ears\n u[t+1] = u\n sample u at ears into ears.heard[t]\n}"
    with pytest.raises(hl.UnsupportedError, match="ears"):
        ht.op(hl.compile(points))
    with pytest.raises(hl.UnsupportedError, match="two arguments called 'steps'"):
        ht.op(hl.compile("stencil s(x) {\n param steps = 1\n field u: f32\n u[t+1] = u + steps\n}"))
    shapes = ht.op(hl.compile("stencil s(x) {\n field u: f32\n field c: f32\n u[t+1] = u + c\n}"))
    with pytest.raises(hl.ArrayError, match="'c' has the shape"):
        shapes(torch.zeros(4), torch.zeros(5))


def test_a_tensor_that_needs_a_gradient_is_refused(heat, u):
    sim = heat.simulate((24, 16), device="cpu")
    with pytest.raises(hl.ArrayError, match="detach"):
        sim.u = u.requires_grad_()


def test_torch_that_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "halocline.torch")
    monkeypatch.delattr(hl, "torch")
    with pytest.raises(hl.MissingLibraryError, match=r"halocline\[torch\]"):
        hl.torch
