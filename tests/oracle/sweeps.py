"""Sweeps along an axis, of the Evaluator."""
from dataclasses import replace

import numpy as np

from syntax import Unsupported
from values import Layers, Value


class Sweeps:
    def sweep(self, s, names, where):
        """One plane across the axis after the other; what a plane's cells read is what is there by then.

        Which layers an output has no value in holds for all planes, and follows from statements that may stand behind:
        the planes are done again until it is what was taken for granted.
        """
        axis, upwards = self.axes.index(s[1][0]), s[1][1] == 'up'
        self.begin_sweep(s)
        new, current, written = dict(self.new), dict(self.current), set(self.written)
        turns, taken = 0, {}
        while True:
            self.planes(s, names, where, axis, upwards)
            found = {key: self.current[key][0].missing for key in current if self.current[key] is not current[key]}
            for key, layers in found.items():
                none = ((0, 0),) * len(self.axes)
                sides = list(layers or none)
                (low, high), before = sides[axis], (current[key][0].missing or none)[axis]
                sides[axis] = (before[0], high) if upwards else (low, before[1])  # what it begins with stays
                found[key] = Layers(sides) if any(map(any, sides)) else Layers()
            if all(found[key] == taken.get(key, current[key][0].missing) for key in found):
                return
            if (turns := turns + 1) > 20:
                raise Unsupported('a sweep whose layers without a value grow')
            taken = found
            self.new, self.written = dict(new), set(written)
            self.current = {**current, **{key: [replace(current[key][0], missing=found[key])] for key in found}}

    def planes(self, s, names, where, axis, upwards):
        before, shape = dict(self.lets), self.extents[::-1]
        at = np.indices(shape)[len(self.axes) - 1 - axis]
        self.swept = True
        for place in range(self.extents[axis])[:: 1 if upwards else -1]:
            plane = self.arithmetic.binary('and', where[0], Value('bool', at == place))
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
            elif inner_statement[0] in ('on', 'where'):
                self.begin_sweep(inner_statement)
