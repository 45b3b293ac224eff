"""Random expressions: what a stencil from Python computes, against numpy, which evaluates the same tree by itself.

Trees are made of plain tuples. One reader makes Python expressions of a stencil of them, with Python's operators; the
other computes them with numpy arrays. So a sign, an association or a precedence that is printed wrongly shows."""

from __future__ import annotations

import contextlib
import operator

import halocline as hl
import numpy as np
import pytest

GRID = (7, 5)
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "!=": operator.ne}
NUMBERS = [0.5, 2, -3, 0.1, -1.25, 1e-3, 7, 1 / 3]


def tree(random, depth: int):
    """A random expression of reals."""
    if depth == 0 or random.random() < 0.08:
        if random.random() < 0.3:
            return ("number", NUMBERS[random.integers(len(NUMBERS))])
        return ("read", "uv"[random.integers(2)], int(random.integers(-2, 3)), int(random.integers(-2, 3)))
    kind = random.integers(9)
    if kind < 5:
        return ("+-*/"[random.integers(4)], tree(random, depth - 1), tree(random, depth - 1))
    if kind == 5:
        return ("negative", tree(random, depth - 1))
    if kind == 6:
        return ("power", tree(random, depth - 1), int(random.integers(0, 5)))
    if kind == 7:
        name = ["abs", "sqrt_abs", "min", "max", "floor_div", "mod", "shift"][random.integers(7)]
        # A whole quotient of what was rounded before may be another one: it is taken of numbers and cells alone.
        below = 0 if name in ("floor_div", "mod") else depth - 1
        return (name, tree(random, below), tree(random, below))
    return ("where", condition(random, depth - 1), tree(random, depth - 1), tree(random, depth - 1))


def condition(random, depth: int):
    if depth <= 0 or random.random() < 0.5:
        return ("compare", list(COMPARISONS)[random.integers(5)], tree(random, max(depth - 1, 0)), tree(random, 0))
    kind = random.integers(4)
    if kind == 3:
        return ("not", condition(random, depth - 1))
    return (["and", "or", "xor"][kind], condition(random, depth - 1), condition(random, depth - 1))


class Stencil:
    """Reads a tree as an expression of a stencil."""

    def __init__(self, x, y, **fields):
        self.x, self.y, self.fields = x, y, fields

    def __call__(self, node):
        kind, *parts = node
        if kind == "number":
            return parts[0]
        if kind == "read":
            return self.fields[parts[0]][self.x + parts[1], self.y + parts[2]]
        if kind == "power":
            return self(parts[0]) ** parts[1]
        if kind == "compare":
            return COMPARISONS[parts[0]](self(parts[1]), self(parts[2]))
        a, *rest = map(self, parts)
        b = rest[0] if rest else None
        if kind in OPERATORS:
            return OPERATORS[kind](a, b)
        return {
            "negative": lambda: -a,
            "abs": lambda: abs(a),
            "sqrt_abs": lambda: hl.sqrt(abs(a)),
            "min": lambda: hl.min(a, b),
            "max": lambda: hl.max(a, b),
            "floor_div": lambda: a // b,
            "mod": lambda: a % b,
            "shift": lambda: a[self.x + 1] if isinstance(a, hl.Expr) else a,
            "where": lambda: hl.where(a, rest[0], rest[1]),
            "not": lambda: ~a if isinstance(a, hl.Expr) else not a,
            "and": lambda: a & b,
            "or": lambda: a | b,
            "xor": lambda: a ^ b,
        }[kind]()


class Numpy:
    """Computes a tree on arrays of shape (y, x), periodic in both."""

    def __init__(self, **fields):
        self.fields = fields

    def __call__(self, node, along_x: int = 0):
        kind, *parts = node
        if kind == "number":
            return parts[0]
        if kind == "read":
            return np.roll(self.fields[parts[0]], (-parts[2], -parts[1] - along_x), (0, 1))
        if kind == "power":
            value = self(parts[0], along_x)
            return value ** parts[1] if np.ndim(value) == 0 else _product(value, parts[1])
        if kind == "compare":
            return COMPARISONS[parts[0]](self(parts[1], along_x), self(parts[2], along_x))
        if kind == "shift":
            return self(parts[0], along_x + 1)
        a, *rest = (self(part, along_x) for part in parts)
        b = rest[0] if rest else None
        if kind in ("/", "floor_div", "mod") and np.ndim(b) == 0 and b == 0:
            raise ZeroDivisionError  # which the compiler refuses
        if kind in ("floor_div", "mod") and np.ndim(a) == np.ndim(b) == 0:
            return a // b if kind == "floor_div" else a % b  # Python has computed it before
        if kind in OPERATORS:
            return OPERATORS[kind](a, b)
        return {
            "negative": lambda: -a,
            "abs": lambda: np.abs(a),
            "sqrt_abs": lambda: np.sqrt(np.abs(a)),
            "min": lambda: np.minimum(a, b),
            "max": lambda: np.maximum(a, b),
            "floor_div": lambda: np.floor(a / b),
            "mod": lambda: a - b * np.floor(a / b),
            "where": lambda: np.where(a, rest[0], rest[1]),
            "not": lambda: np.logical_not(a),
            "and": lambda: np.logical_and(a, b),
            "or": lambda: np.logical_or(a, b),
            "xor": lambda: np.logical_xor(a, b),
        }[kind]()


def _product(value, power: int):
    result = np.ones_like(value)
    for _ in range(power):
        result = result * value
    return result


@pytest.mark.parametrize("seed", range(12))
def test_random_expressions(seed):
    """Eight expressions a stencil: compiling each by itself would take most of the time."""
    random = np.random.default_rng(seed)
    u, v = random.uniform(0.5, 2, GRID[::-1]), random.uniform(-2, 2, GRID[::-1])
    trees, expected = [], []
    while len(trees) < 8:
        made = tree(random, 2 + len(trees) % 4)
        with np.errstate(all="ignore"), contextlib.suppress(ZeroDivisionError, OverflowError):  # of numbers alone
            expected.append(np.broadcast_to(Numpy(u=u, v=v)(made), GRID[::-1]))
            trees.append(made)

    @hl.stencil
    def computed(x, y):
        u, v = hl.fields("f64", boundary=hl.periodic)
        read = Stencil(x, y, u=u, v=v)
        for count, each in enumerate(trees):
            out = hl.field("f64", name=f"out{count}")
            out[:] = read(each)

    sim = computed.compile(strict_fp=True).simulate(GRID, device="cpu")
    sim.u, sim.v = u, v
    sim.run(1)
    compared = 0
    for count, wanted in enumerate(expected):
        found = np.asarray(getattr(sim, f"out{count}"))
        sound = np.isfinite(wanted) & (np.abs(wanted) < 1e12)
        compared += int(sound.sum())
        np.testing.assert_allclose(found[sound], wanted[sound], rtol=1e-9, atol=1e-9, err_msg=computed.text)
    assert compared > 4 * GRID[0] * GRID[1]
