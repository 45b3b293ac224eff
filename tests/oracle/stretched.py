"""Cells that are not equally far apart: docs/language.md, "Unequal spacing"."""
from fractions import Fraction

import derivatives


def mentions(tree, word):
    """Whether a name is written anywhere in an expression."""
    return tree == word or isinstance(tree, (tuple, list)) and any(mentions(part, word) for part in tree)


class StretchedAxis:
    def __init__(self, distances, periodic):
        self.distances, self.periodic = [Fraction(float(d)) for d in distances], periodic
        self.known = {}

    def place(self, cell):
        """Of a cell inside or past the faces, from cell 0."""
        n = len(self.distances)
        if self.periodic:
            rounds, cell = divmod(cell, n)
            return rounds * sum(self.distances) + sum(self.distances[:cell])
        if n == 1:
            return cell * self.distances[0]
        # There and back: each time it goes on from the edge cell as it came.
        rounds, cell = divmod(cell, 2 * (n - 1))
        whole = sum(self.distances[:n - 1])
        inside = sum(self.distances[:cell]) if cell < n else 2 * whole - sum(self.distances[:2 * (n - 1) - cell])
        return 2 * rounds * whole + inside

    def weights(self, derivative, offsets, cell):
        """Those of the cells at the offsets, for the derivative at a cell."""
        key = derivative, offsets, cell
        if key not in self.known:
            here = self.place(cell)
            places = tuple(self.place(cell + o) - here for o in offsets)
            found = dict(derivatives.weights(derivative, places))
            self.known[key] = [float(found.get(p, 0)) for p in places]
        return self.known[key]
