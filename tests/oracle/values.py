"""Numbers as docs/language.md and docs/floating-point.md define them, each with a bound of what may be different.

A Value is exact (a Fraction), uniform (one f64 for the whole grid) or has a number in each cell, of type i32, i64, f32,
f64 or bool. `error` bounds how far a right implementation may be from `v`; 0 means: bit by bit. `size` is the sum of the
absolute terms, which bounds what regrouping may change; `missing` are the layers of cells at each face that have no value.
Strict arithmetic rounds where the formula does. Otherwise terms may be regrouped and products fused.
"""
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from syntax import Unsupported

REAL, INTEGER, FLAT = ('f32', 'f64'), ('i32', 'i64'), ('exact', 'uniform')
DTYPE = {'f32': np.float32, 'f64': np.float64, 'i32': np.int32, 'i64': np.int64, 'bool': np.bool_}
EPS = {'f32': 2.0**-24, 'f64': 2.0**-53, 'f16': 2.0**-11, 'bf16': 2.0**-8}
TINY = {'f32': 2.0**-149, 'f64': 5e-324}
HUGE = {'f32': 1e37, 'f64': 1e300}
# field type: what is computed with, and how it is stored
COMPUTED = {'f32': 'f32', 'f64': 'f64', 'f32 as f64': 'f64', 'f16': 'f32', 'f16 as f32': 'f32', 'bf16': 'f32',
            'bf16 as f32': 'f32', 'i32': 'i32', 'i64': 'i64', 'u8': 'i32', 'u8 as i32': 'i32', 'bool': 'bool'}
ULPS_OF_FUNCTIONS = 16


class Layers(tuple):
    """((low, high) of each axis): how many layers of cells at each face have no value, because of free faces. () is none."""

    def __and__(self, other):
        if not self or not other:
            return self or other
        return Layers((max(a, c), max(b, d)) for (a, b), (c, d) in zip(self, other))

    def fewer(self, other):
        return Layers((min(a, c), min(b, d)) for (a, b), (c, d) in zip(self, other)) if self and other else Layers()


@dataclass
class Value:
    kind: str
    v: Any
    error: Any = 0.0
    size: Any = None
    missing: Any = None
    whole: bool = False  # of uniform numbers, idx and what is made of them: they are integers beside integers;
    # of a condition: it is known when the spec is compiled

    def __post_init__(self):
        self.missing = self.missing or Layers()
        if self.kind == 'exact':
            self.whole, self.size = self.v.denominator == 1, abs(float(self.v))
        elif self.size is None:
            self.size = 0.0 if self.kind == 'bool' else np.abs(np.asarray(self.v, np.float64))


def exact(number):
    return Value('exact', Fraction(number))


def uniform(number, whole=False, error=0.0):
    return Value('uniform', np.float64(number), error, whole=whole)


def worst(error):
    """No bound where the bound itself is no number."""
    return np.where(np.isnan(error), np.inf, error)


def nearest(q, dtype):
    """A rational, rounded once."""
    guess = dtype(float(q))
    if not np.isfinite(guess) or dtype is np.float64:
        return guess
    near = [guess, np.nextafter(guess, dtype(-np.inf)), np.nextafter(guess, dtype(np.inf))]
    # Of two that are as near the even one: its last bit is 0.
    return min(near, key=lambda f: (abs(Fraction(float(f)) - q), int(f.view(np.uint32)) & 1))


def to_bf16(v):
    bits = np.array(v, np.float32, ndmin=1).view(np.uint32).astype(np.int64)
    rounded = ((bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)
    return np.where(np.isnan(v), np.float32(np.nan), rounded.reshape(np.shape(v)))


def saturate(v, low, high, dtype):
    """A real to an integer: nearest, ties to even, stops at the ends; NaN is 0."""
    r = np.nan_to_num(np.rint(np.asarray(v, np.float64)), nan=0.0, posinf=np.inf, neginf=-np.inf)
    largest = float(high) if high < 2**53 else np.nextafter(float(high), 0)  # that an int64 takes
    inner = np.clip(r, float(low), largest).astype(np.int64)
    return np.where(r >= float(high), high, np.where(r <= float(low), low, inner)).astype(dtype)


class Arithmetic:
    def __init__(self, strict, compute, excused=()):
        self.strict, self.compute, self.excused = strict, compute, excused

    def to(self, a, kind):
        """a as a number of each cell, of that kind."""
        if a.kind == kind:
            return a
        if kind == 'bool' or a.kind == 'bool':
            raise Unsupported('a condition is no number')
        dtype = DTYPE[kind]
        if a.kind == 'exact':
            if kind in INTEGER:
                if not a.whole or not np.iinfo(dtype).min <= a.v <= np.iinfo(dtype).max:
                    raise Unsupported('a number that no such integer is')
                v = dtype(int(a.v))
            else:
                v = nearest(a.v, dtype)
        elif kind in INTEGER and a.kind in ('uniform',) + REAL:
            if np.any(np.abs(a.v) > 2.0**31 - 2):
                raise Unsupported('whole numbers past the ends')
            v = np.asarray(a.v).astype(dtype)
        else:
            v = np.asarray(a.v).astype(dtype)
        error = a.error
        if kind in REAL and (a.kind != 'f32' or kind != 'f64'):
            error = self.rounded(error, a.error, a.size, np.asarray(v, np.float64), kind)
        return Value(kind, v, error, a.size, a.missing)

    def nearest_of(self, a, kind):
        """f32(a), f64(a): numbers stay exact, and what has one value for the grid stays so."""
        if a.kind == 'exact':
            return exact(Fraction(float(nearest(a.v, DTYPE[kind]))))
        v = self.to(a, kind)
        return Value('uniform', np.float64(v.v), v.error, v.size, v.missing) if a.kind == 'uniform' else v

    def rounded(self, carried, inputs, size, v, kind):
        """The bound after one rounding more. Strictly, what came from exact bits has exact bits."""
        lost = EPS[kind] * (2 * size + np.abs(v)) + 2 * TINY[kind]
        off = ~(np.isfinite(v) & (size < HUGE[kind]))
        if self.strict:
            return np.where(np.asarray(inputs) == 0, 0.0, worst(np.where(off, np.inf, carried + lost)))
        return worst(np.where(off, np.inf, carried + lost))

    def join(self, values, integers):
        """The kind in which an operation on these is done."""
        kinds = {a.kind for a in values}
        if 'bool' in kinds:
            raise Unsupported('a condition is no number')
        if kinds == {'exact'}:
            return 'exact'
        if kinds <= set(FLAT):
            return 'uniform'
        if any(a.kind in REAL and not a.whole for a in values) or not kinds & set(INTEGER):
            return 'f64' if 'f64' in kinds else 'f32'
        if not integers or any(a.kind in FLAT and not a.whole for a in values):
            return self.compute
        return 'i64' if 'i64' in kinds else 'i32'

    def binary(self, op, a, b):
        missing = a.missing & b.missing
        if op in ('and', 'or'):
            if a.kind != 'bool' or b.kind != 'bool':
                raise Unsupported('and, or are for conditions')
            for known, other in ((a, b), (b, a)):  # what is known decides, or leaves the other
                if known.whole:
                    return known if bool(known.v) == (op == 'or') else other
            decided = (~a.v if op == 'and' else a.v) & (a.error == 0) | (~b.v if op == 'and' else b.v) & (b.error == 0)
            error = np.where(decided, 0.0, np.maximum(a.error, b.error))
            return Value('bool', a.v & b.v if op == 'and' else a.v | b.v, error, missing=missing)
        if op in ('<', '<=', '>', '>=', '==', '!='):
            return self.compare(op, a, b, missing)
        kind = self.join((a, b), op != '/')
        if kind == 'exact':
            if op == '/' and b.v == 0:
                raise Unsupported('a division by 0')
            return exact({'+': lambda: a.v + b.v, '-': lambda: a.v - b.v, '*': lambda: a.v * b.v, '/': lambda: a.v / b.v}[op]())
        if kind == 'uniform':
            whole = a.whole and b.whole and op != '/'
            result = self.real(op, self.to(a, 'f64'), self.to(b, 'f64'), 'f64', True)
            return Value('uniform', np.float64(result.v), result.error, result.size, whole=whole)
        x, y = self.to(a, kind), self.to(b, kind)
        if kind in INTEGER:
            with np.errstate(over='ignore'):
                v = {'+': np.add, '-': np.subtract, '*': np.multiply}[op](x.v, y.v)
            error = 0.0
            if np.any(x.error) or np.any(y.error):
                error = x.error * np.maximum(1, abs(y.v * 1.0)) + y.error * np.maximum(1, abs(x.v * 1.0)) + x.error * y.error
                error = np.where(np.abs(v * 1.0) + error > 2.0**31, np.inf, error)
            return Value(kind, v, error, missing=missing)
        result = self.real(op, x, y, kind, missing)
        result.whole = a.whole and b.whole and op != '/'
        return result

    def real(self, op, x, y, kind, missing):
        with np.errstate(all='ignore'):
            v = {'+': np.add, '-': np.subtract, '*': np.multiply, '/': np.divide}[op](x.v, y.v)
            w = np.asarray(v, np.float64)
            if op in '+-':
                size, carried = x.size + y.size, x.error + y.error
            elif op == '*':
                size = x.size * y.size
                carried = x.error * y.size + y.error * x.size + x.error * y.error
            else:
                least = np.abs(np.asarray(y.v, np.float64)) - y.error
                size = np.where(least > 0, x.size / np.where(least > 0, least, 1), np.inf)
                carried = np.where(least > 0, (x.error + np.abs(w) * y.error) / np.where(least > 0, least, 1), np.inf)
            # What is divided by a power of two, or multiplied by one, keeps its error relative to its size.
            return Value(kind, v, self.rounded(worst(carried), np.maximum(x.error, y.error), size, w, kind), size, missing)

    def compare(self, op, a, b, missing):
        if a.kind == 'bool' and b.kind == 'bool' and op in ('==', '!='):
            return Value('bool', (a.v == b.v) == (op == '=='), np.maximum(a.error, b.error), missing=missing)
        kind = self.join((a, b), True)
        if kind == 'exact':
            x, y, error = a.v, b.v, 0.0
        else:
            x, y = (self.to(c, 'f64' if kind == 'uniform' else kind) for c in (a, b))
            apart = np.abs(np.asarray(x.v, np.float64) - np.asarray(y.v, np.float64))
            near = np.asarray(x.error + y.error)
            error = np.where((near > 0) & ~(apart > near), np.inf, 0.0)
            x, y = x.v, y.v
        v = {'<': lambda: x < y, '<=': lambda: x <= y, '>': lambda: x > y, '>=': lambda: x >= y, '==': lambda: x == y,
             '!=': lambda: x != y}[op]()
        return Value('bool', np.asarray(v, bool), error, missing=missing, whole=kind == 'exact')

    def select(self, condition, a, b):
        if condition.kind != 'bool':
            raise Unsupported('a number is no condition')
        missing = condition.missing & a.missing & b.missing
        if condition.whole:
            missing = a.missing if condition.v else b.missing
        if a.kind == 'bool' and b.kind == 'bool':
            kind = 'bool'
        else:
            kind = self.join((a, b), True)
            if kind in FLAT and np.ndim(condition.v):
                kind = self.compute
            elif kind == 'exact':
                if np.any(condition.error):
                    raise Unsupported('a condition that rounding decides')
                return a if condition.v else b
        x, y = (a, b) if kind == 'bool' else (self.to(c, 'f64' if kind == 'uniform' else kind) for c in (a, b))
        v = np.where(condition.v, x.v, y.v)
        error = np.where(condition.v, x.error, y.error)
        if np.any(condition.error):
            apart = np.inf if kind == 'bool' else np.abs(np.asarray(x.v, np.float64) - np.asarray(y.v, np.float64))
            error = np.where(condition.error == 0, error, worst(apart + x.error + y.error))
        return Value(kind, v if kind != 'uniform' else np.float64(v), error, np.where(condition.v, x.size, y.size), missing,
                     a.whole and b.whole)

    def negative(self, a):
        if a.kind == 'bool':
            raise Unsupported('a condition is no number')
        with np.errstate(over='ignore'):
            return exact(-a.v) if a.kind == 'exact' else Value(a.kind, -a.v, a.error, a.size, a.missing, a.whole)

    def power(self, a, b):
        if b.kind == 'exact' and b.v == Fraction(1, 2):
            return self.call('sqrt', [a])
        if b.kind != 'exact' or b.v.denominator != 1 or abs(b.v) > 16:
            return self.call('pow', [a, b])
        n = int(b.v)
        if a.kind == 'exact':
            if a.v == 0 and n < 1:
                raise Unsupported('0 to no power')
            return exact(a.v ** n)
        if n == 0:
            return exact(1)
        result = a
        if abs(n) in (2, 3, 4):
            result = self.binary('*', a, a)
            if abs(n) > 2:
                result = self.binary('*', result, a if abs(n) == 3 else result)
        elif abs(n) > 4:  # which products are taken is not written
            for _ in range(abs(n) - 1):
                result = self.binary('*', result, a)
            result.error = result.error + (0 if result.kind in INTEGER else 2 * n * n * EPS[self.real_kind(a)] * result.size)
        return self.binary('/', exact(1), result) if n < 0 else result

    def real_kind(self, a):
        return a.kind if a.kind in REAL else self.compute

    def call(self, name, args):
        a = args[0]
        if name in ('min', 'max'):
            result = a
            for b in args[1:]:
                result = self.extreme(name, result, b)
            return result
        if name in ('div', 'mod'):
            return self.quotient(name, *args)
        if name == 'abs' and a.kind in FLAT + INTEGER:
            with np.errstate(over='ignore'):
                return exact(abs(a.v)) if a.kind == 'exact' else Value(a.kind, np.abs(a.v), a.error, a.size, a.missing, a.whole)
        if a.kind == 'exact' and name in WHOLE:
            return exact(WHOLE[name](a.v))
        if name == 'rsqrt':
            return self.binary('/', exact(1), self.call('sqrt', args))
        flat = self.join(args, False) in FLAT
        kind = 'f64' if flat else self.join(args, False)
        if kind in INTEGER:
            kind = self.compute
        xs = [self.to(b, kind) for b in args]
        f = FUNCTIONS.get(name)
        if f is None:
            raise Unsupported(f'function {name}')
        with np.errstate(all='ignore'):
            wide = [np.asarray(x.v, np.float64) for x in xs]
            v = f(*(x.v for x in xs)) if name in EXACT else np.asarray(f(*wide)).astype(DTYPE[kind])
            w = np.asarray(v, np.float64)
            inputs = xs[0].error if len(xs) == 1 else np.maximum(xs[0].error, xs[1].error)
            if len(xs) == 1:
                ends = [np.abs(np.asarray(f(wide[0] + s * inputs), np.float64) - w) for s in (1, -1)]
                carried = np.where(inputs == 0, 0, 2 * np.maximum(*ends) + (2 * inputs if name in ('sin', 'cos') else 0))
            else:
                carried = np.where(inputs == 0, 0, np.inf)
            size = np.abs(w)
            if name in EXACT:
                error = np.where(np.asarray(inputs) == 0, 0.0, worst(carried + EPS[kind] * size + TINY[kind]))
            else:
                error = worst(carried + ULPS_OF_FUNCTIONS * EPS[kind] * size + 4 * TINY[kind])
        missing = xs[0].missing if len(xs) == 1 else xs[0].missing & xs[1].missing
        if flat:
            return Value('uniform', np.float64(v), float(error), size)
        return Value(kind, v, error, size, missing, name == 'abs' and a.whole)

    def extreme(self, name, a, b):
        kind = self.join((a, b), True)
        if kind == 'exact':
            return exact(min(a.v, b.v) if name == 'min' else max(a.v, b.v))
        x, y = (self.to(c, 'f64' if kind == 'uniform' else kind) for c in (a, b))
        v = np.where(x.v < y.v if name == 'min' else x.v > y.v, x.v, y.v)
        error = np.where((x.error == 0) & (y.error == 0), 0.0, np.maximum(x.error, y.error))
        return Value(kind, v if kind != 'uniform' else np.float64(v), error, np.maximum(x.size, y.size),
                     x.missing & y.missing, a.whole and b.whole)

    def quotient(self, name, a, b):
        kind = self.join((a, b), True)
        if kind == 'exact':
            if b.v == 0:
                raise Unsupported('a division by 0')
            return exact(a.v // b.v if name == 'div' else a.v % b.v)
        if kind in INTEGER:
            x, y = self.to(a, kind), self.to(b, kind)
            zero = np.asarray(y.v) == 0
            by = np.where(zero, 1, y.v).astype(DTYPE[kind])
            with np.errstate(all='ignore'):
                v = np.where(zero, 0, np.floor_divide(x.v, by) if name == 'div' else np.mod(x.v, by)).astype(DTYPE[kind])
            error = np.where((np.asarray(x.error) == 0) & (np.asarray(y.error) == 0), 0.0, np.inf)
            return Value(kind, v, error, missing=x.missing & y.missing)
        if a.whole and b.whole and kind != 'uniform':
            return self.quotient(name, self.to(a, 'i32'), self.to(b, 'i32'))
        if a.whole and b.whole and np.any(np.asarray(b.v) == 0):
            raise Unsupported('a quotient of len by 0')  # of integers it is 0, of reals it is not
        whole = self.call('floor', [self.binary('/', a, b)])
        whole.whole = a.whole and b.whole
        return whole if name == 'div' else self.binary('-', a, self.binary('*', b, whole))

    def store(self, a, kind):
        """What a field of that type holds once a is assigned to it, as a value to compute with."""
        computed = COMPUTED[kind]
        if kind == 'bool' or a.kind == 'bool':
            if kind != 'bool' or a.kind != 'bool':
                raise Unsupported('a condition is no number')
            return a
        if computed in INTEGER:
            low, high = (0, 255) if kind.startswith('u8') else (np.iinfo(DTYPE[kind]).min, np.iinfo(DTYPE[kind]).max)
            dtype = DTYPE[computed]
            if a.kind in INTEGER:
                return Value(computed, np.clip(a.v, low, high).astype(dtype), a.error, missing=a.missing)
            a = a if a.kind != 'exact' else self.to(a, 'f64')
            v = saturate(a.v, low, high, dtype)
            ends = [np.abs(saturate(a.v + s * np.asarray(a.error), low, high, dtype) - v * 1.0) for s in (1, -1)]
            return Value(computed, v, np.where(np.asarray(a.error) == 0, 0.0, np.maximum(*ends)), missing=a.missing)
        if kind == 'f32 as f64' or a.kind == 'f64' and kind not in ('f64',):
            a = self.to(a, 'f64')
            a = self.to(Value('f64', a.v, a.error, a.size, a.missing), 'f32')
        a = self.to(a, 'f32' if kind == 'f32 as f64' else computed)
        with np.errstate(over='ignore', invalid='ignore'):
            if kind.startswith('f16'):
                a = self.narrowed(a, np.asarray(a.v).astype(np.float16).astype(np.float32), 'f16', 6e-8, 6e4)
            elif kind.startswith('bf16'):
                a = self.narrowed(a, to_bf16(a.v), 'bf16', 1e-40, 1e37)
        return self.to(a, computed)

    def narrowed(self, a, v, kind, tiny, huge):
        size = np.abs(np.asarray(v, np.float64))
        error = np.where(np.asarray(a.error) == 0, 0.0, worst(a.error + EPS[kind] * (size + a.error) * 2 + tiny))
        return Value('f32', v, np.where((error > 0) & ~(size + error < huge), np.inf, error), a.size, a.missing)


WHOLE = {'floor': math.floor, 'ceil': math.ceil, 'round': round, 'trunc': math.trunc}  # of rationals, exactly
EXACT = ('sqrt', 'abs', 'floor', 'ceil', 'round', 'trunc')
FUNCTIONS = {'sqrt': np.sqrt, 'abs': np.abs, 'floor': np.floor, 'ceil': np.ceil, 'round': np.rint, 'trunc': np.trunc,
             'exp': np.exp, 'log': np.log, 'sin': np.sin, 'cos': np.cos, 'tan': np.tan, 'asin': np.arcsin,
             'acos': np.arccos, 'atan': np.arctan, 'sinh': np.sinh, 'cosh': np.cosh, 'tanh': np.tanh, 'cbrt': np.cbrt,
             'pow': np.power, 'atan2': np.arctan2}
