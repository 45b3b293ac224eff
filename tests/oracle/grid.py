"""Arrays over the grid, and what a read past their edges means, after "Boundaries" of docs/language.md."""
from dataclasses import dataclass, field as of
from fractions import Fraction
from typing import Any

import numpy as np

from syntax import Unsupported
from values import COMPUTED, EPS, INTEGER, Layers, Value, worst


@dataclass
class Edge:
    kind: str = 'free'
    values: tuple = ()
    own: bool = True  # False: of an axis that the field has not, along which all cells have one value


@dataclass
class Field:
    parts: list  # of names; [None] of a number
    storage: list
    edges: list
    over: tuple  # of each axis: whether the field has it


@dataclass
class Stored:
    """The value of a field's component, or of a let, in each cell; arrays are of the shape (z, y, x)."""
    value: Value
    storage: str
    edges: list  # of each axis: (low, high)
    level: int = 0  # which time it has, for `time` in its boundaries


def edges_of(boundary, axes, component, default='free'):
    """[(low, high)] of each axis; what is said of a component, a face, an axis counts before what is said of more."""
    result = []
    for axis in axes:
        sides = []
        for side in ('low', 'high'):
            best, rank = Edge(default), (-1, -1)
            for named, on, at, kind, values in boundary:
                if named not in (None, component) or on not in (None, axis) or at not in (None, side):
                    continue
                found = (named is not None, (on is not None) + (at is not None))
                if found >= rank:
                    best, rank = Edge(kind, tuple(values)), found
            sides.append(best)
        result.append(tuple(sides))
    return result


def missing(stored, offset):
    """The layers at each face in which a read at that offset has no value."""
    result = []
    for axis, edges in enumerate(stored.edges):
        layers = [0, 0]
        for side in (0, 1):
            past = offset[axis] if side else -offset[axis]  # how far the read goes past the face
            at = stored.value.missing[axis] if stored.value.missing else (0, 0)
            layers[side] = max(0, at[side] + past) if at[side] else 0
            if past > 0 and (edges[side].kind == 'free' or edges[side].kind == 'periodic' and at[1 - side]):
                layers[side] = max(layers[side], past)
        result.append(tuple(layers))
    return Layers(result)


def too_small(stored, offset, extents):
    """Whether a boundary shows cells of the layers at the opposite face, which have no value."""
    for axis, edges in enumerate(stored.edges):
        for side in (0, 1):
            past = offset[axis] if side else -offset[axis]
            opposite = stored.value.missing[axis][1 - side] if stored.value.missing else 0
            if past > 0 and opposite and edges[side].kind not in ('free', 'periodic', 'fixed'):
                if extents[axis] < 1 + past + opposite:
                    return True
    return False


def inner(layers, extents):
    """Where a cell is in none of these layers."""
    mask = np.ones(extents[::-1], bool)
    for axis, (low, high) in enumerate(layers):
        at = np.indices(extents[::-1])[len(extents) - 1 - axis]
        mask &= (at >= low) & (at < extents[axis] - high)
    return mask


def full(value, shape):
    """With a number in each cell of the grid."""
    spread = lambda a: np.array(np.broadcast_to(np.asarray(a), shape))
    return Value(value.kind, spread(value.v), spread(np.asarray(value.error, np.float64)), spread(value.size), value.missing)


def merge(mask, a, b):
    return Value(a.kind, np.where(mask, a.v, b.v), np.where(mask, a.error, b.error), np.where(mask, a.size, b.size))


def lagrange(degree, at):
    """The weights of cells 0 to degree in the polynomial's value at a place."""
    weights = []
    for i in range(degree + 1):
        w = Fraction(1)
        for j in range(degree + 1):
            if j != i:
                w *= Fraction(at - j, i - j)
        weights.append(w)
    return weights


class Reader:
    """Reads of one array; `at_cells(edge value, places)` gives the numbers of a boundary in f64 at places."""

    def __init__(self, stored, at_cells, spacing, arithmetic):
        self.stored, self.at_cells, self.spacing, self.arithmetic = stored, at_cells, spacing, arithmetic
        self.extents = stored.value.v.shape[::-1]
        self.kind = COMPUTED.get(stored.storage, stored.storage)

    def read(self, places):
        """The values at places, a list of one index array of each axis, all of one length."""
        places = [np.array(p) for p in places]
        free = np.zeros(places[0].shape, bool)
        for axis, (low, high) in enumerate(self.stored.edges):
            n = self.extents[axis]
            if low.kind == 'periodic':
                places[axis] = places[axis] % n
            free |= (places[axis] < 0) & (low.kind == 'free') | (places[axis] >= n) & (high.kind == 'free')
        for axis, n in enumerate(self.extents):
            places[axis] = np.where(free, 0, places[axis])
        return self.look_up(places, 0)

    def look_up(self, places, depth):
        if depth > 200:
            raise Unsupported('a read of many repetitions')
        value = self.stored.value
        inside = [np.clip(p, 0, n - 1) for p, n in zip(places, self.extents)]
        at = tuple(inside[::-1])
        result = Value(value.kind, value.v[at], value.error[at], value.size[at])
        undecided = np.ones(places[0].shape, bool)
        for axis, n in enumerate(self.extents):
            for side in (0, 1):
                past = undecided & ((places[axis] < 0) if side == 0 else (places[axis] >= n))
                if past.any():
                    some = [p[past] for p in places]
                    shown = self.past_face(axis, side, some, depth)
                    for name in ('v', 'error', 'size'):
                        part = np.array(getattr(result, name))
                        part[past] = getattr(shown, name)
                        setattr(result, name, part)
                undecided &= ~past
        return result

    def past_face(self, axis, side, places, depth):
        edge, n = self.stored.edges[axis][side], self.extents[axis]
        beyond = -places[axis] if side == 0 else places[axis] - (n - 1)  # k of u[-k]
        cell = lambda k: k if side == 0 else n - 1 - k  # the k-th cell from the face

        def at(where):
            moved = list(places)
            moved[axis] = np.broadcast_to(where, places[axis].shape)
            return self.look_up(moved, depth + 1)

        if edge.kind == 'fixed':
            return self.fixed(edge, places)
        if edge.kind == 'clamp' or edge.kind == 'extrapolate' and self.degree(edge, places) == 0:
            return at(cell(0))
        if edge.kind in ('mirror', 'antimirror') and n == 1 and self.stored.edges[axis][1 - side].kind == edge.kind == 'mirror':
            return at(0)
        if edge.kind in ('mirror', 'antimirror', 'symmetric', 'antisymmetric'):
            shown = at(cell(beyond - (0 if edge.kind.endswith('mirror') else 1)))
            return self.arithmetic.negative(shown) if edge.kind.startswith('anti') else shown
        if self.kind in INTEGER + ('bool',):
            raise Unsupported('a computed boundary of integers')
        if edge.kind == 'extrapolate':
            return self.extrapolated(self.degree(edge, places), beyond, at, cell)
        edge_cells = list(places)
        edge_cells[axis] = np.broadcast_to(cell(0), places[axis].shape)
        numbers = [self.at_cells(v, edge_cells, self.stored) for v in edge.values]
        h = self.spacing[axis]
        if edge.kind == 'gradient':
            return self.combined([(1.0, at(cell(beyond)))], 2 * beyond * h * numbers[0].v, numbers)
        if edge.kind == 'robin':
            a, b, c = (x.v for x in numbers)
            scale = 2 * beyond * h / b
            return self.combined([(1.0, at(cell(beyond))), (-scale * a, at(cell(0)))], scale * c, numbers)
        raise Unsupported(f'boundary {edge.kind}')

    def degree(self, edge, places):
        return int(self.at_cells(edge.values[0], places, self.stored).v)

    def fixed(self, edge, places):
        value = self.at_cells(edge.values[0], places, self.stored)
        value = self.arithmetic.store(value, self.stored.storage)
        return full(value, places[0].shape)

    def extrapolated(self, degree, beyond, at, cell):
        total = None
        for i in range(degree + 1):
            weights = np.array([float(lagrange(degree, -int(k))[i]) for k in beyond])
            part = (weights, at(cell(i)))
            total = (total or []) + [part]
        return self.combined(total, 0.0, [])

    def combined(self, parts, added, numbers):
        """A sum of weighted values, in an order that the language does not say."""
        v, size, error = added, np.abs(added), sum(np.asarray(n.error) for n in numbers) * 1e3 if numbers else 0.0
        for weight, value in parts:
            v = v + weight * np.asarray(value.v, np.float64)
            size = size + np.abs(weight) * (value.size + np.abs(value.v))
            error = error + np.abs(weight) * value.error
        eps = EPS.get(self.stored.storage.split()[0], EPS['f32'])
        error = worst(error + 8 * (len(parts) + 1) * max(eps, EPS[self.kind]) * size + 1e-37 * (self.kind == 'f32'))
        v = np.asarray(v).astype(np.float32 if self.kind == 'f32' else np.float64)
        return Value(self.kind, v, np.where(np.isfinite(v), error, np.inf), size)
