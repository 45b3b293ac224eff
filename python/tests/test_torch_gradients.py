"""Gradients of programs as operators of torch: against differences (gradcheck), and what is refused."""

import pytest
from gradient_specs import SPECS

import halocline as hl

torch = pytest.importorskip("torch", minversion="2.4", reason="torch 2.4 or later is not installed")
import halocline.torch as ht  # noqa: E402

WAVE = SPECS["a wave with a past"][0]


def doubles(*shape, count=1):
    made = torch.rand(count, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(count))
    return [each.requires_grad_() for each in made]


@pytest.fixture
def wave():
    return ht.op(hl.compile(WAVE))


@pytest.mark.parametrize("steps", [0, 1, 5])
@pytest.mark.parametrize("name", SPECS)
def test_gradcheck(name, steps):
    spec, params = SPECS[name]
    op = ht.op(hl.compile(spec))
    shape = (4, 5)[: len(op.program.axes)]
    fields = doubles(*shape, count=len(op.inputs))
    numbers = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in params.values()]

    def function(*given):
        result = op(*given[: len(fields)], steps=steps, **dict(zip(params, given[len(fields) :])))
        return tuple(result) if isinstance(result, tuple) else result

    assert torch.autograd.gradcheck(function, (*fields, *numbers))


def test_each_result_and_each_argument_alone(wave):
    p, past, v = doubles(4, 5, count=3)
    together = torch.autograd.grad(wave(p, past, v, steps=3).energy.sum(), (p, past, v))
    for i, each in enumerate((p, past, v)):
        given = [tensor if tensor is each else tensor.detach() for tensor in (p, past, v)]
        (alone,) = torch.autograd.grad(wave(*given, steps=3).energy.sum(), given[i])
        assert torch.allclose(alone, together[i], rtol=1e-13, atol=0)
    # The level before the last one is what one step fewer gives.
    (found,) = torch.autograd.grad(wave(p, past, v, steps=3).p_past1.sum(), v)
    (expected,) = torch.autograd.grad(wave(p, past, v, steps=2).p.sum(), v)
    assert torch.allclose(found, expected, rtol=1e-13, atol=0)


def test_what_nothing_depends_on_has_the_gradient_0():
    apart = ht.op(hl.compile("stencil apart(x) {\n param k = 1\n field c, a, b: f64\n a[t+1] = c * a\n b[t+1] = k * b\n}"))
    c, a, b = doubles(4, count=3)
    k = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    found = torch.autograd.grad(apart(a, b, c, k=k, steps=2).b.sum(), (a, b, c, k))
    assert not found[0].any() and not found[2].any() and torch.allclose(found[1], torch.full_like(b, 0.25))
    assert torch.allclose(found[3], 2 * 0.5 * b.sum())
    (alone,) = torch.autograd.grad(apart(a, b, c, k=k, steps=2).b.sum(), c)
    assert not alone.any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_dot_product_of_a_linear_program(dtype):
    """<w, J p> is <J' w, p>: each side is a sum of terms that about 10 operations a step round."""
    wave = ht.op(hl.compile(WAVE if dtype == torch.float64 else WAVE.replace("f64", "f32")))
    p, past, v, w = (each.detach().to(dtype) for each in doubles(30, 40, count=4))
    steps = 20
    ahead = wave(p, past, v, steps=steps).p
    p.requires_grad_(), past.requires_grad_()
    back = torch.autograd.grad(wave(p, past, v, steps=steps).p, (p, past), w)
    assert all(each.dtype == dtype for each in back)
    one = (w.double() * ahead.double()).sum()
    other = sum((g.double() * each.double()).sum() for g, each in zip(back, (p.detach(), past.detach())))
    terms = (w.double() * ahead.double()).abs().sum()
    assert abs(one - other) < 10 * steps * torch.finfo(dtype).eps * terms


def test_narrow_types_have_gradients_of_their_own_type():
    for type, dtype, close in (("f16", torch.float16, 1e-3), ("bf16 as f32", torch.bfloat16, 1e-2), ("f32 as f64", torch.float32, 1e-6)):
        square = ht.op(hl.compile(f"stencil square(x) {{\n field a: {type}\n a[t+1] = a * a\n}}"))
        a = torch.tensor([0.5, 1.0, 1.5], dtype=dtype, requires_grad=True)
        (found,) = torch.autograd.grad(square(a, steps=2).sum(), a)
        assert found.dtype == dtype and torch.allclose(found, 4 * a**3, rtol=close)


def test_any_layout_of_arguments_and_weights(wave):
    p, past, v = (each.detach().T.requires_grad_() for each in doubles(5, 4, count=3))
    weights = torch.rand(5, 4, dtype=torch.float64).T
    found = torch.autograd.grad(wave(p, past, v, steps=3).p, (p, past, v), weights)
    dense = [each.detach().contiguous().requires_grad_() for each in (p, past, v)]
    expected = torch.autograd.grad(wave(*dense, steps=3).p, dense, weights.contiguous())
    assert all(torch.equal(one, other) for one, other in zip(found, expected))
    (spread,) = torch.autograd.grad(wave(*dense, steps=3).p.sum(), dense[0])  # weights of one number for all cells
    (given,) = torch.autograd.grad(wave(*dense, steps=3).p, dense[0], torch.ones(4, 5, dtype=torch.float64))
    assert torch.equal(spread, given)


def test_without_a_gradient_nothing_is_kept(wave):
    p, past, v = doubles(4, 5, count=3)
    with torch.no_grad():
        assert not wave(p, past, v).p.requires_grad
    assert not wave(p.detach(), past.detach(), v.detach()).p.requires_grad


def test_calls_in_a_row_and_among_other_operations(wave):
    p, past, v = doubles(4, 5, count=3)

    def halves(p, past, v):
        middle = wave(p.sin(), past, v, steps=3)
        return wave(middle.p, middle.p_past1, v, steps=4).p.exp().sum()

    one = torch.autograd.grad(halves(p, past, v), (p, past, v))
    other = torch.autograd.grad(wave(p.sin(), past, v, steps=7).p.exp().sum(), (p, past, v))
    assert all(torch.allclose(first, second, rtol=1e-12) for first, second in zip(one, other))


def test_torch_compile_and_opcheck_see_both_ways(wave):
    p, past, v = doubles(4, 5, count=3)
    dt = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)

    def misfit(v, dt):
        return (wave(p, past, v, steps=2, dt=dt).p ** 2).sum()

    compiled = torch.compile(misfit, backend="aot_eager", fullgraph=True)
    for one, other in zip(torch.autograd.grad(compiled(v, dt), (v, dt)), torch.autograd.grad(misfit(v, dt), (v, dt))):
        assert torch.allclose(one, other, rtol=1e-13)
    call = ([p, past, v], [float("nan")], 3, [dt])
    for operator, arguments in ((wave.operator, call), (wave.pullback, ([torch.ones_like(p)], [0], [2, 3], *_detached(call)))):
        found = torch.library.opcheck(operator, arguments)
        assert set(found.values()) == {"SUCCESS"}, found


def _detached(call):
    return [[each.detach() if isinstance(each, torch.Tensor) else each for each in part] if isinstance(part, list) else part for part in call]


def test_second_derivatives_are_refused(wave):
    p, past, v = doubles(4, 5, count=3)
    (first,) = torch.autograd.grad(wave(p, past, v, steps=2).p.sum(), v, create_graph=True)
    with pytest.raises(hl.UnsupportedError, match="'wave' has no second derivatives"):
        first.sum().backward()


def test_forward_mode_is_refused(wave):
    p, past, v = (each.detach() for each in doubles(4, 5, count=3))
    refused = pytest.raises(hl.UnsupportedError, match="'wave' is not differentiated in forward mode")
    with refused:
        torch.func.jvp(lambda v: wave(p, past, v).p, (v,), (v,))
    with torch.autograd.forward_ad.dual_level(), refused:
        wave(p, past, v, dt=torch.autograd.forward_ad.make_dual(torch.tensor(0.1), torch.tensor(1.0)))


def test_a_program_without_an_adjoint_is_refused_when_it_is_asked_for():
    noisy = ht.op(hl.compile("stencil noisy(x) {\n    field u: f64\n    u[t+1] = u + random()\n}"))
    (u,) = doubles(8)
    result = noisy(u, steps=2)
    with pytest.raises(hl.UnsupportedError, match=r"3:18: .*noise is not differentiated yet"):
        result.sum().backward()


def test_integers_have_no_gradient():
    masked = ht.op(hl.compile("stencil masked(x) {\n field mask: u8\n field n: i32\n field u: f64\n u[t+1] = if mask != 0 then 2 * u else u\n n[t+1] = n + 1\n}"))
    (u,) = doubles(4)
    mask, n = torch.tensor([0, 1, 0, 1], dtype=torch.uint8), torch.zeros(4, dtype=torch.int32)
    result = masked(u=u, mask=mask, n=n, steps=2)
    assert not result.n.requires_grad
    (found,) = torch.autograd.grad(result.u.sum(), u)
    assert found.tolist() == [1, 4, 1, 4]


def test_parameters_that_are_tensors(wave):
    p, past, v = (each.detach() for each in doubles(4, 5, count=3))
    expected = wave(p, past, v, steps=2, dt=0.25).p
    for dt in (torch.tensor(0.25), torch.tensor([0.25]), torch.tensor(0.25, requires_grad=True)):
        assert torch.equal(wave(p, past, v, steps=2, dt=dt).p, expected)
    dt = torch.tensor([0.25], requires_grad=True)
    (found,) = torch.autograd.grad(wave(p, past, v, steps=2, dt=dt).p.sum(), dt)
    assert found.shape == (1,) and found.dtype == torch.float32
    with pytest.raises(hl.ArgumentError, match="'dt' is a number, and this is a tensor"):
        wave(p, past, v, dt=p)
    with pytest.raises(hl.ArgumentError, match="dt"):
        wave(p, past, v, dt=torch.tensor(float("nan")))
    edge = ht.op(hl.compile("stencil edge(x) {\n param wall = 1\n field u: f64 { boundary fixed wall }\n u[t+1] = u[x-1]\n}"))
    wall = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    with pytest.raises(hl.UnsupportedError, match="`wall` is in the boundary of `u`"):
        edge(p[0], wall=wall).sum().backward()
