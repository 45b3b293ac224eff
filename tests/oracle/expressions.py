"""The value of an expression in each cell, after docs/language.md."""
import itertools
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import derivatives
from grid import Reader, missing, too_small
from stretched import StretchedAxis, mentions
from syntax import Unsupported
from values import Arithmetic, DTYPE, EPS, TINY, Value, exact, uniform, worst


@dataclass
class Closure:
    """An argument of a def: what was written, and what names meant there."""
    tree: tuple
    names: dict


@dataclass
class Vector:
    items: list
    names: list  # None: by position

    def map(self, f):
        return Vector([f(a) for a in self.items], self.names)


@dataclass
class Let:
    tree: tuple
    names: dict
    stored: object  # Stored, a list of them with names, or None: reads no field


class Expressions:
    """Needs: axes, consts, params, coefs, defs, fields, extents and, in a step, lets, reductions and levels."""

    def __init__(self, strict, compute, excused):
        self.arithmetic = Arithmetic(strict, compute, excused)
        self.coords, self.in_init, self.step, self.reads = None, False, 0, []
        self.met_coordinates = False  # since somebody last asked
        self.along = {}  # by axis: those whose cells are not equally far apart

    @contextmanager
    def meaning(self, **changed):
        """For a time: other coordinates, another compute type, another step."""
        before = {k: getattr(self, k) for k in changed}
        for k, v in changed.items():
            setattr(self, k, v)
        try:
            yield
        finally:
            for k, v in before.items():
                setattr(self, k, v)

    def constant(self, tree, names=None):
        """A number that is known when the spec is compiled."""
        value = self.eval(tree, names or {}, (0,) * len(self.axes))
        if not isinstance(value, Value) or value.kind != 'exact':
            raise Unsupported('a number that is known at compile time')
        return value.v

    def integer(self, tree, names=None):
        q = self.constant(tree, names)
        if q.denominator != 1:
            raise Unsupported('a whole number')
        return int(q)

    def turns(self, indices, names):
        """The names of each turn of a loop over ranges; the last index runs fastest."""
        ranges = [range(self.integer(low, names), self.integer(high, names) + 1) for _, low, high in indices]
        for combination in itertools.product(*ranges):
            yield {**names, **{index[0]: exact(k) for index, k in zip(indices, combination)}}

    def eval(self, tree, names, shift):
        kind = tree[0]
        if kind == 'num':
            return exact(tree[1])
        if kind == 'name':
            return self.name(tree[1], names, shift)
        if kind == 'bin':
            a, b = self.eval(tree[2], names, shift), self.eval(tree[3], names, shift)
            return self.power(a, b) if tree[1] == '^' else self.binary(tree[1], a, b)
        if kind == 'neg':
            a = self.eval(tree[1], names, shift)
            return a.map(self.arithmetic.negative) if isinstance(a, Vector) else self.arithmetic.negative(a)
        if kind == 'not':
            a = self.eval(tree[1], names, shift)
            if isinstance(a, Vector) or a.kind != 'bool':
                raise Unsupported('a number is no condition')
            return Value('bool', ~np.asarray(a.v), a.error, missing=a.missing, whole=a.whole)
        if kind == 'if':
            c, a, b = (self.eval(t, names, shift) for t in tree[1:])
            if isinstance(a, Vector) or isinstance(b, Vector):
                return self.both(a, b, lambda x, y: self.arithmetic.select(c, x, y))
            return self.arithmetic.select(c, a, b)
        if kind == 'at':
            return self.at(tree, names, shift)
        if kind == 'member':
            return self.member(tree, names, shift)
        if kind == 'vec':
            return Vector([self.eval(t, names, shift) for t in tree[1]], None)
        if kind == 'each':
            return Vector([self.eval(tree[1], turn, shift) for turn in self.turns(tree[2], names)], None)
        if kind == 'range':
            return self.over_range(tree, names, shift)
        return self.call(tree[1], tree[2], tree[3], names, shift)

    def both(self, a, b, f):
        if not isinstance(a, Vector) or not isinstance(b, Vector) or len(a.items) != len(b.items) \
                or a.names and b.names and a.names != b.names:
            raise Unsupported('vectors of different components')
        return Vector([f(x, y) for x, y in zip(a.items, b.items)], a.names or b.names)

    def binary(self, op, a, b):
        if isinstance(a, Vector) and isinstance(b, Vector) and op in '+-':
            return self.both(a, b, lambda x, y: self.arithmetic.binary(op, x, y))
        if isinstance(a, Vector) and isinstance(b, Value) and op in '*/':
            return a.map(lambda x: self.arithmetic.binary(op, x, b))
        if isinstance(b, Vector) and isinstance(a, Value) and op == '*':
            return b.map(lambda x: self.arithmetic.binary(op, a, x))
        if isinstance(a, Vector) or isinstance(b, Vector):
            raise Unsupported('a vector where a number is needed')
        return self.arithmetic.binary(op, a, b)

    def power(self, a, b):
        if isinstance(a, Vector) or isinstance(b, Vector):
            raise Unsupported('a vector where a number is needed')
        return self.arithmetic.power(a, b)

    def over_range(self, tree, names, shift):
        op, result = {'sum': '+', 'prod': '*'}.get(tree[1], tree[1]), None
        for turn in self.turns(tree[2], names):
            term = self.eval(tree[3], turn, shift)
            if result is None:
                result = term
            elif op in '+*':
                result = self.binary(op, result, term)
            else:
                result = self.arithmetic.call(op, [result, term])
        if result is None:
            if op not in '+*':
                raise Unsupported('the least of nothing')
            return exact(0 if op == '+' else 1)
        return result

    # Names and reads.
    def name(self, name, names, shift, level=None):
        if name in names:
            bound = names[name]
            if isinstance(bound, Closure):
                if level is not None:
                    if bound.tree[0] != 'name':
                        raise Unsupported('a time level of an expression')
                    return self.name(bound.tree[1], bound.names, shift, level)
                return self.eval(bound.tree, bound.names, shift)
            return bound
        if name in self.lets:
            return self.let(self.lets[name], shift)
        if name in self.fields:
            parts = self.fields[name].parts
            items = [self.read(self.level(name, part, level), shift) for part in parts]
            return items[0] if parts == [None] else Vector(items, list(parts))
        if level is not None:
            raise Unsupported('a time level of something that has none')
        if name in self.reductions:
            return self.reductions[name]
        if name in self.params:
            return self.params[name]
        if name in self.consts:
            return exact(self.constant(self.consts[name]))
        if name in self.axes and self.in_init:
            return self.position(self.axes.index(name), shift)
        if name == 'step':
            return uniform(self.step)
        if name == 'time':
            return uniform(np.float64(self.step) * self.arithmetic.to(self.name('dt', {}, shift), 'f64').v)
        if name == 'pi':
            return uniform(np.pi)
        raise Unsupported(f'the name {name}')

    def let(self, let, shift):
        if let.stored is None:
            return self.eval(let.tree, let.names, shift)
        if isinstance(let.stored, Vector):
            return let.stored.map(lambda stored: self.read(stored, shift))
        return self.read(let.stored, shift)

    def read(self, stored, shift):
        self.reads.append(stored)
        if self.coords is not None:
            raise Unsupported('a boundary that reads a field')
        if not any(shift):
            return stored.value
        if 'component-grids' in self.arithmetic.excused and too_small(stored, shift, self.extents):
            raise Unsupported('a small grid, which is known to go wrong')
        shape = stored.value.v.shape
        places = np.indices(shape)[::-1]
        moved = [(p + s).ravel() for p, s in zip(places, shift)]
        flat = Reader(stored, self.at_places, self.spacings(), self.arithmetic).read(moved)
        again = lambda a: np.asarray(a).reshape(shape)
        return Value(flat.kind, again(flat.v), again(flat.error), again(flat.size), missing(stored, shift))

    def at_places(self, tree, places, stored):
        """A number of a boundary, at the time of the level that is read: in f64, and where coordinates are met, in the
        compute type."""
        if not isinstance(tree, tuple):
            return tree
        compute = self.arithmetic.compute
        self.met_coordinates = False
        value = self.number_at(tree, places, stored, 'f64')
        return self.number_at(tree, places, stored, compute) if self.met_coordinates else value

    def number_at(self, tree, places, stored, compute):
        arithmetic = Arithmetic(self.arithmetic.strict, compute)
        with self.meaning(coords=places, arithmetic=arithmetic, step=self.step + stored.level):
            value = self.eval(tree, {}, (0,) * len(self.axes))
            return value if value.kind == 'bool' else arithmetic.to(value, 'f64')

    def spacings(self):
        return [1.0 if self.stretched(i) else float(self.arithmetic.to(self.spacing(i), 'f64').v) for i in range(len(self.axes))]

    def stretched(self, axis):
        """The axis where its cells are not equally far apart, or None."""
        tree = self.geometry.get(('spacing', self.axes[axis]))
        if tree is None or not mentions(tree, 'idx'):
            return None
        if axis not in self.along:
            n = self.extents[axis]
            cells = [np.arange(n) * (i == axis) for i in range(len(self.axes))]
            with self.meaning(coords=cells, arithmetic=Arithmetic(True, 'f64')):
                distances = self.arithmetic.to(self.eval(tree, {}, (0,) * len(self.axes)), 'f64').v
            faces = [edge.kind for f in self.fields.values() if f.over[axis] for e in f.edges for edge in e[axis]]
            around = {kind == 'periodic' for kind in faces if kind != 'free'}
            if len(around) > 1:
                raise Unsupported('periodic and other faces along an axis whose spacing differs')
            self.along[axis] = StretchedAxis(np.broadcast_to(distances, n), True in around)
        return self.along[axis]

    def weights_of_cells(self, axis, derivative, offsets, shift):
        """By offset: the weight at each cell along the axis."""
        cells = [self.stretched(axis).weights(derivative, offsets, i + shift) for i in range(self.extents[axis])]
        return np.array(cells).T

    def table(self, numbers, axis, kind):
        """A number for each cell along an axis, which the language computes in f64 and rounds once."""
        if kind not in EPS:
            raise Unsupported('a derivative of integers')
        shape = [1] * len(self.axes)
        shape[len(self.axes) - 1 - axis] = -1
        v = np.broadcast_to(np.asarray(numbers).reshape(shape), self.extents[::-1])
        return Value(kind, v.astype(DTYPE[kind]), 1e3 * EPS['f64'] * np.abs(v) + EPS[kind] * np.abs(v))

    def index(self, axis, shift):
        self.met_coordinates = True
        if self.coords is not None:
            v = np.asarray(self.coords[axis])
        else:
            v = np.indices(self.extents[::-1])[len(self.axes) - 1 - axis]
        return Value(self.arithmetic.compute, (v + shift[axis]).astype(DTYPE[self.arithmetic.compute]), whole=True)

    def position(self, axis, shift):
        kind, to = self.arithmetic.compute, self.arithmetic.to
        if self.stretched(axis):
            if self.coords is not None:
                raise Unsupported('a position in a boundary')
            self.met_coordinates = True
            places = [float(self.stretched(axis).place(i + shift[axis])) for i in range(self.extents[axis])]
            return self.table(np.array(places) + float(to(self.origin(axis), 'f64').v), axis, kind)
        scaled = self.arithmetic.binary('*', to(self.index(axis, shift), kind), to(self.spacing(axis), kind))
        return self.arithmetic.binary('+', scaled, to(self.origin(axis), kind))

    def linear(self, tree, names):
        """(axis or 't' or None, number) of an offset."""
        if tree[0] == 'name':
            bound = names.get(tree[1])
            if isinstance(bound, Closure) and bound.tree[0] == 'name':
                return self.linear(bound.tree, bound.names)
            if tree[1] == 't' or bound is None and tree[1] in self.axes or tree[1] in self.iterations:
                return tree[1], Fraction(0)
        if tree[0] == 'bin' and tree[1] in '+-':
            (a, p), (b, q) = self.linear(tree[2], names), self.linear(tree[3], names)
            if b is None:
                return a, p + q if tree[1] == '+' else p - q
            if a is None and tree[1] == '+':
                return b, p + q
            raise Unsupported('an offset of two axes')
        return None, self.constant(tree, names)

    def offsets(self, indices, names):
        level, shift = None, [0] * len(self.axes)
        for tree in indices:
            axis, number = self.linear(tree, names)
            if axis is None or number.denominator != 1:
                raise Unsupported('an offset that names no axis, or is no whole number')
            if axis in self.iterations:
                level = ('now', 'next')[int(number)]
            elif axis == 't' and 't' not in self.axes:
                level = int(number)
            else:
                shift[self.axes.index(axis)] += int(number)
        return level, tuple(shift)

    def at(self, tree, names, shift):
        base = tree[1]
        if base[0] == 'name' and base[1] in self.coefs and base[1] not in names:
            table = self.coefs[base[1]]
            return table[tuple(self.integer(i, names) for i in tree[2])]
        if base[0] == 'name' and base[1] in self.series and base[1] not in names:
            return self.of_series(base[1], tree[2], names, shift)
        level, moved = self.offsets(tree[2], names)
        return self.moved(base, names, tuple(a + b for a, b in zip(shift, moved)), level)

    def of_series(self, name, indices, names, shift):
        """Linear between the values at whole numbers; the first and the last past the ends."""
        at = self.eval(indices[0], names, shift)
        if len(indices) != 1 or self.series[name] is None or isinstance(at, Vector) or at.kind not in ('exact', 'uniform'):
            raise Unsupported('a series at such a place')
        place = self.arithmetic.to(at, 'f64')
        values, errors = self.series[name]
        steepest = np.max(np.abs(np.diff(values)), initial=0.0)
        with np.errstate(invalid='ignore'):
            moved = place.error * steepest if np.any(place.error) else 0.0
        error = float(worst(np.max(errors) + moved))
        if np.isnan(place.v):
            return uniform(np.nan, error=error)
        last = len(values) - 1
        if place.v <= 0 or place.v >= last:
            return uniform(values[0 if place.v <= 0 else last], error=error)
        below = int(np.floor(place.v))
        if place.v == below:
            return uniform(values[below], error=error)
        part = np.float64(place.v - below)
        return uniform(values[below] + part * (values[below + 1] - values[below]), error=error)

    def moved(self, base, names, shift, level):
        if level is None:
            return self.eval(base, names, shift)
        if base[0] == 'name':
            return self.name(base[1], names, shift, level)
        if base[0] == 'member':
            return self.component(self.moved(base[1], names, shift, level), base[2], names)
        if base[0] == 'at':
            again, more = self.offsets(base[2], names)
            if again is None:
                return self.moved(base[1], names, tuple(a + b for a, b in zip(shift, more)), level)
        raise Unsupported('a time level of an expression')

    def member(self, tree, names, shift):
        return self.component(self.eval(tree[1], names, shift), tree[2], names)

    def component(self, vector, which, names):
        if not isinstance(vector, Vector):
            raise Unsupported('a component of a number')
        return vector.items[self.part_place(vector, which, names)]

    def part_place(self, vector, which, names):
        known = vector.names or (self.axes if len(vector.items) == len(self.axes) else [])
        if isinstance(which, str) and which in known:
            return known.index(which)
        if isinstance(which, str) and which in names:
            which = ('name', which)
        number = int(which) if isinstance(which, str) and which.isdigit() else self.integer(
            ('name', which) if isinstance(which, str) else which, names)
        if vector.names and str(number) in vector.names:
            return vector.names.index(str(number))
        if vector.names is None and 0 <= number < len(vector.items):
            return number
        raise Unsupported('no such component')

    # Calls.
    def call(self, name, args, named, names, shift):
        if name in self.defs:
            parameters, body = self.defs[name]
            if len(parameters) != len(args) or named:
                raise Unsupported('another number of arguments')
            return self.eval(body, {p: Closure(a, names) for p, a in zip(parameters, args)}, shift)
        if name in ('idx', 'pos', 'len'):
            axis = self.axis(args[0], names)
            if name == 'len':
                return uniform(self.extents[axis], whole=True)
            return self.index(axis, shift) if name == 'idx' else self.position(axis, shift)
        if name in ('d', 'd2', 'laplacian', 'biharmonic', 'grad', 'curl') or name == 'div' and len(args) == 1:
            return self.derivative(name, args, named, names, shift)
        values = [self.eval(a, names, shift) for a in args]
        if name == 'dot' or name == 'norm':
            products = self.both(values[0], values[-1], lambda a, b: self.arithmetic.binary('*', a, b)).items
            total = products[0]
            for product in products[1:]:
                total = self.arithmetic.binary('+', total, product)
            return total if name == 'dot' else self.arithmetic.call('sqrt', [total])
        if named or any(isinstance(v, Vector) for v in values):
            raise Unsupported(f'{name} of these')
        if name in ('f32', 'f64') and len(values) == 1:
            return self.arithmetic.nearest_of(values[0], name)
        return self.arithmetic.call(name, values)

    def axis(self, tree, names):
        axis, number = self.linear(tree, names)
        if axis is None or number != 0:
            raise Unsupported('an axis')
        return self.axes.index(axis)

    def derivative(self, name, args, named, names, shift):
        order = self.integer(named['order'], names) if 'order' in named else self.accuracy
        side = named['side'][1] if 'side' in named else None
        if set(named) - {'order', 'side'}:
            raise Unsupported('such an argument')
        along = [self.axis(a, names) for a in args[1:]]
        every = range(len(self.axes))
        part = lambda axes, which=None: self.difference(args[0], names, shift, axes, order, side, which)
        if name == 'd' and along:
            return part(along)
        if name == 'd2' and len(along) == 1:
            return part([along[0]] * 2)
        if name == 'laplacian':
            return self.added([part([i, i]) for i in every])
        if name == 'biharmonic':
            return self.added([part([i] * 4) for i in every]
                              + [part([i, i, j, j]) for i in every for j in every if i != j])
        if name == 'grad':
            return Vector([part([i]) for i in every], list(self.axes))
        if name == 'div':
            vector = self.eval(args[0], names, shift)
            if not isinstance(vector, Vector) or len(vector.items) != len(self.axes):
                raise Unsupported('div of these')
            named_so = vector.names and set(vector.names) == set(self.axes)
            return self.added([part([i], vector.names.index(self.axes[i]) if named_so else i) for i in every])
        raise Unsupported(name)

    def added(self, values):
        total = values[0]
        for value in values[1:]:
            total = self.binary('+', total, value)
        return self.inexact(total, 16)

    def inexact(self, value, roundings):
        """A bound for what the language leaves open: the order of a derivative's terms."""
        if isinstance(value, Vector):
            return value.map(lambda a: self.inexact(a, roundings))
        if value.kind not in EPS:
            raise Unsupported('a derivative of integers')
        value.error = worst(value.error + roundings * EPS[value.kind] * value.size + 4 * TINY[value.kind])
        return value

    def difference(self, tree, names, shift, along, order, side, which):
        """The derivative along axes (each as often as it is derived), divided by the spacing."""
        terms, numbers = {(0,) * len(self.axes): (Fraction(1), {})}, {}
        scale = np.float64(1)
        for axis in sorted(set(along)):
            n = along.count(axis)
            offsets = derivatives.offsets(n, order, side)
            if self.stretched(axis):
                numbers[axis] = self.weights_of_cells(axis, n, offsets, shift[axis])
                weights = [(k, Fraction(1)) for k in offsets]
            else:
                weights = derivatives.weights(n, offsets)
                scale = scale * np.float64(self.spacings()[axis]) ** n
            terms = {tuple(o + k * (i == axis) for i, o in enumerate(at)): (w * v, {**own, axis: offsets.index(k)})
                     for at, (w, own) in terms.items() for k, v in weights}
        total = None
        for offset, (weight, own) in terms.items():
            value = self.eval(tree, names, tuple(a + b for a, b in zip(shift, offset)))
            value = value if which is None else value.items[which]
            factor = uniform(float(weight) / scale, error=4 * EPS['f64'] * abs(float(weight) / scale))
            term = self.binary('*', value, factor)
            for axis in numbers:
                term = self.binary('*', term, self.table(numbers[axis][own[axis]], axis, value.kind))
            total = term if total is None else self.binary('+', total, term)
        return self.inexact(total, 4 * len(terms) + 8)
