"""Sweeps along an axis or two, of the Evaluator."""
import itertools
from dataclasses import replace

import numpy as np

from syntax import Unsupported
from values import Layers, Value


class Sweeps:
    def sweep(self, s, names, where):
        """One plane across the axis after the other, or one line across two axes; what its cells read is what is there by then.

        Which layers an output has no value in holds for all planes, and follows from statements that may stand behind:
        the planes are done again until it is what was taken for granted.
        """
        orders = [(self.axes.index(s[1][0]), s[1][1] == 'up')]
        if s[2][0][0] == 'sweep':  # which is then all that stands in it
            s = s[2][0]
            orders.append((self.axes.index(s[1][0]), s[1][1] == 'up'))
        self.begin_sweep(s)
        new, current, written = dict(self.new), dict(self.current), set(self.written)
        turns, taken = 0, {}
        while True:
            self.planes(s, names, where, orders)
            found = {key: self.current[key][0].missing for key in current if self.current[key] is not current[key]}
            for key, layers in found.items():
                none = ((0, 0),) * len(self.axes)
                sides, before = list(layers or none), current[key][0].missing or none
                axis, upwards = orders[0]
                (low, high) = sides[axis]
                sides[axis] = (before[axis][0], high) if upwards else (low, before[axis][1])  # what it begins with stays
                for inner, _ in orders[1:]:  # of the line before it reads both ways
                    sides[inner] = before[inner]
                found[key] = Layers(sides) if any(map(any, sides)) else Layers()
            if all(found[key] == taken.get(key, current[key][0].missing) for key in found):
                return
            if (turns := turns + 1) > 20:
                raise Unsupported('a sweep whose layers without a value grow')
            taken = found
            self.new, self.written = dict(new), set(written)
            self.current = {**current, **{key: [replace(current[key][0], missing=found[key])] for key in found}}

    def planes(self, s, names, where, orders):
        before = dict(self.lets)
        indices = np.indices(self.extents[::-1])
        at = [indices[len(self.axes) - 1 - axis] for axis, _ in orders]
        self.swept = True
        for place in itertools.product(*(range(self.extents[axis])[:: 1 if upwards else -1] for axis, upwards in orders)):
            is_there = np.all([own == n for own, n in zip(at, place)], axis=0)
            plane = self.arithmetic.binary('and', where[0], Value('bool', is_there))
            for inner_statement in s[2]:
                self.execute(inner_statement, names, (plane, where[1]))
            self.lets = dict(before)
        self.swept = False

    def begin_sweep(self, s):
        """A state's new level begins as the old one."""
        for inner_statement in s[2]:
            if inner_statement[0] == 'assign':
                name = self.target(inner_statement[1])[0]
                for part in self.fields[name].parts if name in self.states else []:
                    self.new.setdefault((name, part), self.current[name, part][0])
            elif inner_statement[0] in ('on', 'where', 'sweep'):
                self.begin_sweep(inner_statement)
