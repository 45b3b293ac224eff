"""Expressions of sympy as expressions of a stencil. sympy is not needed for anything else."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from . import functions as hl
from .errors import StencilError
from .expr import Expr, call, expression

_FUNCTIONS = {
    "Abs": hl.abs,
    "re": hl.re,
    "im": hl.im,
    "arg": hl.arg,
    "conjugate": hl.conj,
    "ceiling": hl.ceil,
    "Max": lambda *values: call("max", *values),
    "Min": lambda *values: call("min", *values),
    "Mod": hl.mod,
    "And": lambda *values: _chain(values, lambda a, b: a & b),
    "Or": lambda *values: _chain(values, lambda a, b: a | b),
    "Not": lambda value: ~value,
    "StrictLessThan": lambda a, b: a < b,
    "LessThan": lambda a, b: a <= b,
    "StrictGreaterThan": lambda a, b: a > b,
    "GreaterThan": lambda a, b: a >= b,
    "Equality": lambda a, b: a == b,
    "Unequality": lambda a, b: a != b,
    **{name: getattr(hl, name) for name in "exp log sin cos tan asin acos atan atan2 sinh cosh tanh floor".split()},
}


def from_sympy(value, symbols: Mapping | None = None) -> Expr:
    """What a sympy expression means. symbols: what its symbols stand for, {c: u, k: 0.5}, by symbol or by name; a
    symbol that is not there is the field, param or let of the stencil with its name. Numbers stay exact; terms and
    factors come in sympy's own order."""
    import sympy

    by_name = {str(key): each for key, each in (symbols or {}).items()}
    return _Reader(sympy, by_name).read(sympy.sympify(value))


def _chain(values, join):
    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    return result


class _Reader:
    def __init__(self, sympy, symbols: dict):
        self.sympy = sympy
        self.symbols = symbols

    def read(self, value) -> Expr:
        sympy = self.sympy
        if value.is_Symbol:
            return self.symbol(value)
        if value is sympy.true or value is sympy.false:
            return expression(bool(value))
        if value.is_Rational:
            return expression(Fraction(int(value.p), int(value.q)))
        if value.is_Float:
            return expression(float(value))
        if value is sympy.pi:
            return hl.pi
        if value is sympy.E:
            return hl.exp(1)
        if value is sympy.I:
            return expression(1j)
        if value.is_Add:
            return self.sum(value.as_ordered_terms())
        if value.is_Mul:
            return self.product(value)
        if value.is_Pow:
            return self.power(*value.as_base_exp())
        if isinstance(value, sympy.Piecewise):
            return self.cases(value.args)
        known = _FUNCTIONS.get(type(value).__name__)
        if known is None:
            raise StencilError(f"sympy's {type(value).__name__} has no counterpart in a stencil: {value}")
        return known(*(self.read(argument) for argument in value.args))

    def symbol(self, symbol) -> Expr:
        from .builder import building

        if symbol.name in self.symbols:
            return expression(self.symbols[symbol.name])
        found = building("an expression of sympy").symbols.get(symbol.name)
        if found is None:
            raise StencilError(
                f"the sympy symbol `{symbol.name}` is no field, param or let of this stencil; say what it stands for:"
                f" hl.from_sympy(…, {{{symbol.name}: u}})"
            )
        return found

    def sum(self, terms) -> Expr:
        result = self.read(terms[0])
        for term in terms[1:]:
            is_negative = term.could_extract_minus_sign() and term.as_coeff_Mul()[0].is_negative
            result = result - self.read(-term) if is_negative else result + self.read(term)
        return result

    def product(self, value) -> Expr:
        """Powers below 0 are divided by, and a factor of -1 is a sign."""
        coefficient, rest = value.as_coeff_Mul()
        if coefficient == -1:
            return -self.read(rest)
        above, below = [], []
        for factor in value.as_ordered_factors():
            base, exponent = factor.as_base_exp()
            is_below = exponent.is_Rational and exponent.is_negative and not factor.is_Rational
            (below if is_below else above).append(base**-exponent if is_below else factor)
        result = _chain([self.read(factor) for factor in above] or [expression(1)], lambda a, b: a * b)
        return result / self.read(self.sympy.Mul(*below)) if below else result

    def power(self, base, exponent) -> Expr:
        if base is self.sympy.E:
            return hl.exp(self.read(exponent))
        if exponent.is_Rational and exponent.is_negative:
            return 1 / self.power(base, -exponent)
        if exponent == 1:
            return self.read(base)
        if exponent == self.sympy.Rational(1, 2):
            return hl.sqrt(self.read(base))
        return self.read(base) ** self.read(exponent)

    def cases(self, cases) -> Expr:
        last, condition = cases[-1]
        if condition != self.sympy.true:
            raise StencilError("a Piecewise ends with a value for all other cases: (value, True)")
        result = self.read(last)
        for value, condition in reversed(cases[:-1]):
            result = hl.where(self.read(condition), self.read(value), result)
        return result
