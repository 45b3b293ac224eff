"""The weights of finite differences, exactly: docs/language.md, "Derivatives"."""
from fractions import Fraction
from functools import lru_cache


@lru_cache(None)
def weights(derivative, offsets):
    """Of the values at whole offsets, for the derivative at 0: exact for polynomials of degree < len(offsets)."""
    n = len(offsets)
    rows = [[Fraction(o) ** k for o in offsets] + [Fraction(0)] for k in range(n)]
    factorial = 1
    for k in range(1, derivative + 1):
        factorial *= k
    rows[derivative][n] = Fraction(factorial)
    for i in range(n):
        pivot = next(r for r in range(i, n) if rows[r][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [a / rows[i][i] for a in rows[i]]
        for r in range(n):
            if r != i and rows[r][i] != 0:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i])]
    return [(o, rows[k][n]) for k, o in enumerate(offsets) if rows[k][n] != 0]


def offsets(derivative, order, side):
    """Of the cells whose values it takes."""
    if side:
        far = derivative + order
        return tuple(range(1 - far, 1)) if side == 'low' else tuple(range(far))
    half = (derivative + 1) // 2 - 1 + (order + 1) // 2
    return tuple(range(-half, half + 1))
