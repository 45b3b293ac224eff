"""Runs a spec as docs/language.md says, with numpy: evaluate(text, …) -> Result. Shares nothing with the compiler."""
from dataclasses import dataclass, field as of

import numpy as np

from expressions import Expressions, Let, Vector
from grid import Edge, Field, Stored, edges_of, full, inner, merge
from sweeps import Sweeps
from syntax import Parser, Unsupported
from values import COMPUTED, EPS, Layers, Value, exact, uniform, worst


@dataclass
class Result:
    fields: dict = of(default_factory=dict)  # name: (numbers, bound), of the shape that a .npy file has
    reductions: dict = of(default_factory=dict)
    steps: int = 0


class Evaluator(Sweeps, Expressions):
    def __init__(self, text, strict, data, run=None, excused=()):
        self.excused = excused
        stencils, runs, shared = Parser(text).file()
        if run is None and len(runs) != 1 or run is not None and run not in runs:
            raise Unsupported('a file of one run')
        name = run or next(iter(runs))
        self.axes, statements = stencils[name]
        self.actions, self.data = runs[name], data
        statements = [s for s in shared if not any(self.same(s, t) for t in statements)] + statements
        self.fields, self.consts, self.params, self.coefs, self.defs = {}, {}, {}, {}, {}
        self.lets, self.reductions, self.series = {}, {}, {}
        self.accuracy, self.geometry = 2, {}
        super().__init__(strict, 'f64', excused)
        self.statements = [s for s in statements if not self.declaration(s)]
        self.states, self.outputs, self.iterated = set(), set(), set()
        self.iterations = []  # of the repeats that are done, outermost first: the names of their levels
        self.next, self.ends = {}, {}  # what iterations give their next levels
        for s in self.statements:
            self.find_states(s)
        self.states |= self.iterated - self.outputs
        self.set_up(statements)

    @staticmethod
    def same(a, b):
        return a[0] == b[0] and a[0] in ('def', 'coef') and a[1] == b[1]

    def declaration(self, s):
        if s[0] == 'const':
            self.consts.update({n: v for n, _, v in s[1]})
        elif s[0] == 'def':
            self.defs[s[1]] = (s[2], s[3])
        elif s[0] in ('spacing', 'origin'):
            self.geometry.update({(s[0], n): v for n, _, v in s[1]})
        elif s[0] == 'series':
            self.series.update(dict.fromkeys(s[1]))
        return s[0] in ('const', 'def', 'series', 'spacing', 'origin', 'param', 'coef', 'field', 'schedule')

    def find_states(self, s):
        if s[0] == 'assign':
            name, level = self.target(s[1])[0], self.target(s[1])[2]
            {1: self.states, 'next': self.iterated}.get(level, self.outputs).add(name)
        elif s[0] in ('on', 'where', 'for', 'sweep', 'repeat'):
            levels = [s[1][0]] if s[0] == 'repeat' else []
            self.iterations += levels
            for inner in s[2]:
                self.find_states(inner)
            del self.iterations[len(self.iterations) - len(levels):]

    def target(self, tree):
        """(field, part or None, level)."""
        part, level = None, 0
        while tree[0] != 'name':
            if tree[0] == 'member':
                part = tree[2]
            elif tree[0] == 'at' and tree[2] == [('bin', '+', ('name', 't'), ('num', 1))]:
                level = 1
            elif tree[0] == 'at' and tree[2] in [[('bin', '+', ('name', level), ('num', 1))] for level in self.iterations]:
                level = 'next'
            else:
                raise Unsupported('such a target')
            tree = tree[1]
        return tree[1], part, level

    def set_up(self, statements):
        sets = {a[1]: a[2] for a in self.actions if a[0] == 'set'}
        grid = [a for a in self.actions if a[0] == 'grid']
        if not grid:
            raise Unsupported('no grid')
        for s in statements:
            if s[0] == 'param':
                for n, kind, value in s[1]:
                    tree = sets.get(n, value)
                    if tree is None:
                        raise Unsupported('a param without a value')
                    number = self.arithmetic.to(self.eval(tree, {}, (0,) * len(self.axes)), 'f64')
                    if kind is not None and abs(number.v) > 1e6:
                        raise Unsupported('an integer param that might wrap around')
                    self.params[n] = uniform(number.v, kind is not None)
            elif s[0] == 'coef':
                self.declare_coef(s, sets.get(s[1]))
        self.extents = tuple(self.integer(e) for e in grid[0][1])
        if min(self.extents) < 1 or np.prod(self.extents, dtype=float) > 1e5:
            raise Unsupported('a large grid')
        if len(self.extents) != len(self.axes):
            raise Unsupported('a grid of other axes')
        for s in statements:
            if s[0] == 'field':
                for n in s[1]:
                    self.declare_field(n, s[2], s[3], s[4])
        kinds = [COMPUTED[k] for f in self.fields.values() for k in f.storage]
        real = [k for k in kinds if k in ('f32', 'f64')]
        compute = max(real) if real else 'f64' if {'i32', 'i64'} & {k for f in self.fields.values() for k in f.storage} else 'f32'
        self.current = {}
        self.fill()
        self.arithmetic.compute = compute

    def declare_coef(self, s, other):
        _, name, ranges, tree, param = s
        tree, table = other or tree, {}
        bounds = [(self.integer(low), self.integer(high)) for low, high in ranges]

        def add(t, at):
            if len(at) < len(bounds):
                low, high = bounds[len(at)]
                if t[0] != 'vec' or len(t[1]) != high - low + 1:
                    raise Unsupported('a coef of another length')
                for k, item in enumerate(t[1]):
                    add(item, at + (low + k,))
            else:
                value = self.eval(t, {}, (0,) * len(self.axes))
                table[at] = uniform(self.arithmetic.to(value, 'f64').v) if param else value
        add(tree, ())
        self.coefs[name] = table

    def declare_field(self, name, kind, boundary, over):
        parts, storage = [n for n, _ in kind], [k for _, k in kind]
        if len(kind) == 1 and isinstance(parts[0], tuple):
            count = self.integer(parts[0])
            parts, storage = [str(i) for i in range(count)], storage * count
        if any(k not in COMPUTED for k in storage):
            raise Unsupported(f'type {storage}')
        edges = [edges_of(boundary, self.axes, p) for p in parts]
        for place, sides in enumerate(edges):  # fixed [1, 0]: a value for each component
            for low, high in sides:
                for edge in (low, high):
                    edge.values = tuple(v[1][place] if v[0] == 'vec' else v for v in edge.values)
        has = tuple(over is None or a in over for a in self.axes)
        # Kept as an array over all axes, whose values repeat along those that the field has not.
        repeats = (Edge('periodic', (), False),) * 2
        edges = [[sides if own else repeats for sides, own in zip(of_part, has)] for of_part in edges]
        self.fields[name] = Field(parts, storage, edges, has)

    def spacing(self, axis):
        tree = self.geometry.get(('spacing', self.axes[axis]))
        return exact(1) if tree is None else self.eval(tree, {}, (0,) * len(self.axes))

    def origin(self, axis):
        tree = self.geometry.get(('origin', self.axes[axis]))
        return exact(0) if tree is None else self.eval(tree, {}, (0,) * len(self.axes))

    # Time levels: current[name, part] is a list, now and before; new[name, part] what this step has written.
    def stored(self, name, part, value, level):
        f = self.fields[name]
        place = f.parts.index(part)
        return Stored(value, f.storage[place], f.edges[place], level)

    def level(self, name, part, level):
        key = (name, part)
        if level == 'next':
            return self.stored(name, part, self.next[key], int(name in self.states))
        if level == 'now':
            level = 1 if name in self.states else None
        if level == 1:
            if key not in self.new:
                raise Unsupported('a new value before it is there')
            return self.stored(name, part, self.new[key], 1)
        past = self.current[key]
        if level is not None and name not in self.states or level is not None and level > 1:
            raise Unsupported('a level of something that has none')
        return self.stored(name, part, past[min(-(level or 0), len(past) - 1)], level or 0)

    def fill(self):
        shape = self.extents[::-1]
        for name, f in self.fields.items():
            for part, storage in zip(f.parts, f.storage):
                zero = Value('bool', np.bool_(False)) if storage == 'bool' else exact(0)
                self.current[name, part] = [full(self.arithmetic.store(zero, storage), shape)]
                if 'free-outputs' in self.excused and name in self.outputs:
                    self.current[name, part][0].error += np.inf
        for name in self.series:
            self.fill_series(name)
        for action in self.actions:
            self.initial(action, {}, shape)

    def fill_series(self, name):
        """Of its `rows` and `init`: (numbers, bound)."""
        count = [self.integer(a[2]) for a in self.actions if a[0] == 'rows' and a[1] == name]
        trees = [a[2] for a in self.actions if a[0] == 'init' and a[1] == ('name', name)]
        if len(count) != 1 or len(trees) != 1 or not 1 <= count[0] <= 10000:
            raise Unsupported('a series that is given otherwise')
        row = Value('f64', np.arange(count[0], dtype=np.float64), whole=True)
        value = self.arithmetic.to(self.eval(trees[0], {'row': row}, (0,) * len(self.axes)), 'f64')
        self.series[name] = [np.broadcast_to(a, (count[0],)) for a in (value.v, value.error)]

    def initial(self, action, names, shape):
        if action[0] == 'for':
            for turn in self.turns(action[1], names):
                for inner in action[2]:
                    self.initial(inner, turn, shape)
        elif action[0] == 'load':
            name = action[1][1]
            if name in self.series:
                raise Unsupported('a series from a file')
            array = np.asarray(self.data[action[2]])
            f = self.fields[name]
            for place, (part, storage) in enumerate(zip(f.parts, f.storage)):
                v = array if part is None else array[..., place]
                v = v.reshape(tuple(n if own else 1 for n, own in zip(self.extents, f.over))[::-1])
                kind = {'float32': 'f32', 'float64': 'f64', 'int32': 'i32', 'int64': 'i64', 'bool': 'bool'}[v.dtype.name]
                self.current[name, part] = [full(self.arithmetic.store(Value(kind, v), storage), shape)]
        elif action[0] == 'init' and action[1] not in [('name', n) for n in self.series]:
            name, part, _ = self.target(action[1])
            f = self.fields[name]
            with self.meaning(in_init=True):
                value = self.eval(action[2], names, (0,) * len(self.axes))
            for place, p in self.chosen(name, part, names):
                item = value.items[place] if isinstance(value, Vector) and part is None else value
                self.current[name, p] = [full(self.arithmetic.store(item, f.storage[place]), shape)]

    def chosen(self, name, part, names):
        parts = self.fields[name].parts
        if part is None:
            return list(enumerate(parts))
        place = self.part_place(Vector(parts, parts), part, names)
        return [(place, parts[place])]

    # Steps.
    def run(self):
        plan = [a for a in self.actions if a[0] == 'steps']
        if not plan:
            raise Unsupported('no steps')
        count = self.integer(plan[0][1])
        if count > 1000:
            raise Unsupported('a long run')
        for self.step in range(count):
            self.one_step()
            if plan[0][2] is not None:
                with self.meaning(step=self.step + 1):
                    done = self.eval(plan[0][2], {}, (0,) * len(self.axes))
                if np.any(done.error):
                    raise Unsupported('an end that rounding decides')
                if done.v:
                    return self.result(self.step + 1)
        return self.result(count)

    def one_step(self):
        self.new, self.lets, self.written, self.swept = {}, {}, set(), False
        starts = {s[1]: s[4] for s in self.statements if s[0] == 'reduce'}
        for name, tree in starts.items():
            if name not in self.reductions and tree is not None:
                self.reductions[name] = self.arithmetic.to(self.eval(tree, {}, (0,) * len(self.axes)), 'f64')
                self.reductions[name].kind = 'uniform'
        everywhere = Value('bool', np.ones(self.extents[::-1], bool))
        for s in self.statements:
            self.execute(s, {}, (everywhere, False))
        for (name, part), value in self.new.items():
            past = self.current[name, part]
            self.current[name, part] = [value] + past[:8]

    def execute(self, s, names, where):
        """where: (in which cells, whether that leaves cells out)."""
        zero = (0,) * len(self.axes)
        if s[0] == 'assign':
            self.assign(s[1], self.eval(s[2], names, zero), names, where)
        elif s[0] == 'let' and self.swept:  # written out where it is used
            self.lets[s[1]] = Let(s[3], names, None)
        elif s[0] == 'let':
            self.define(s, names)
        elif s[0] == 'for':
            for turn in self.turns(s[1], names):
                before = dict(self.lets)
                for inner_statement in s[2]:
                    self.execute(inner_statement, turn, where)
                self.lets = before
        elif s[0] in ('on', 'where'):
            some = self.in_cells(s[1]) if s[0] == 'on' else self.eval(s[1], names, zero)
            for inner_statement in s[2]:
                self.execute(inner_statement, names, (self.arithmetic.binary('and', where[0], some), True))
        elif s[0] == 'sweep':
            self.sweep(s, names, where)
        elif s[0] == 'repeat':
            self.repeat(s, names, where)
        elif s[0] == 'reduce':
            self.reduce(s, names, where)
        else:
            raise Unsupported(s[0])

    def repeat(self, s, names, where):
        """What an iteration gives its level k+1 is there for the next one when all of its statements are done."""
        (level, count, until), before = s[1], dict(self.lets)
        self.begin_repeat(s, False)
        self.iterations.append(level)
        outer = self.next, self.ends
        for _ in range(self.integer(count, names)):
            self.next, self.ends = dict(outer[0]), {}
            for inner_statement in s[2]:
                self.execute(inner_statement, names, where)
            for (name, part), value in self.ends.items():
                if name in self.states:
                    self.new[name, part] = value
                else:
                    self.current[name, part] = [value]
            self.lets = dict(before)
            if until is not None:
                end = self.eval(until, names, (0,) * len(self.axes))
                if np.any(end.error > 0):
                    raise Unsupported('an end of iterations that rounding decides')
                if np.all(end.v):
                    break
        self.next, self.ends = outer
        self.iterations.pop()

    def begin_repeat(self, s, chooses):
        levels = [s[1][0]] if s[0] == 'repeat' else []
        self.iterations += levels
        for inner_statement in s[2]:
            if inner_statement[0] == 'assign':
                name, _, level = self.target(inner_statement[1])
                for part in self.fields[name].parts if name in self.states and (chooses or level == 'next') else []:
                    self.new.setdefault((name, part), self.current[name, part][0])
            elif inner_statement[0] in ('on', 'where', 'repeat'):
                self.begin_repeat(inner_statement, inner_statement[0] != 'repeat')
        del self.iterations[len(self.iterations) - len(levels):]

    def in_cells(self, cells):
        mask = np.ones(self.extents[::-1], bool)
        for axis, low, high in cells:
            axis = self.axes.index(axis)
            n, at = self.extents[axis], np.indices(self.extents[::-1])[len(self.axes) - 1 - axis]
            if high is None:
                mask &= at == (0 if low == 'low' else n - 1)
            else:
                low, high = self.integer(low), self.integer(high)
                mask &= (at >= low + n * (low < 0)) & (at <= high + n * (high < 0))
        return Value('bool', mask)

    def assign(self, target, value, names, where):
        where, chooses = where
        name, part, level = self.target(target)
        if level != 'next' and (level == 1) != (name in self.states):
            raise Unsupported('both u and u[t+1]')
        f = self.fields[name]
        places = self.chosen(name, part, names)
        shape = self.extents[::-1]
        items = [value.items[place] if isinstance(value, Vector) and part is None else value for place, _ in places]
        for (place, p), item in zip(places, items):
            new = full(self.arithmetic.store(item, f.storage[place]), shape)
            written = full(where, shape)
            layers = new.missing & written.missing
            mask = written.v & inner(layers, self.extents)
            old = self.new.get((name, p), self.current[name, p][0])
            merged = merge(mask, new, old)
            unsure = (written.error > 0) & inner(layers, self.extents)
            if unsure.any():
                apart = np.inf if new.kind == 'bool' else np.abs(new.v * 1.0 - old.v * 1.0)
                merged.error = np.where(unsure, worst(apart + new.error + old.error), merged.error)
            if level == 'next':
                if name not in self.states:
                    merged.missing = old.missing
                self.ends[name, p] = merged
                self.next[name, p] = merge(written.v, new, old)  # past a free face it has no value
                self.next[name, p].error = merged.error
                self.next[name, p].missing = layers
                continue
            if name not in self.states:
                merged.missing = self.still_missing((name, p), old.missing, layers, chooses)
            if name in self.states:
                self.new[name, p] = merged
            else:
                self.current[name, p] = [merged]

    def still_missing(self, key, before, layers, chooses):
        """Of an output: what chooses its cells leaves the others what they held, and that is their value."""
        again = key in self.written
        self.written.add(key)
        if not again:
            return Layers() if chooses else layers
        return before if chooses else before.fewer(layers)

    def define(self, s, names):
        _, name, boundary, tree = s
        with self.meaning(reads=[]):
            value = self.eval(tree, names, (0,) * len(self.axes))
            reads = self.reads
        stored = None
        if reads:
            keep = lambda v, part: Stored(
                full(v, self.extents[::-1]), v.kind, self.let_edges(boundary, reads, part))
            if isinstance(value, Vector):
                parts = value.names or list(self.axes) if len(value.items) == len(self.axes) else [None] * len(value.items)
                stored = Vector([keep(v, p) for v, p in zip(value.items, parts)], value.names)
            elif value.kind not in ('exact', 'uniform'):
                stored = keep(value, None)
        self.lets[name] = Let(tree, names, stored)

    def let_edges(self, boundary, reads, part):
        edges = edges_of(boundary, self.axes, part, 'inherited')
        for axis, sides in enumerate(edges):
            for side, edge in enumerate(sides):
                if edge.kind == 'inherited':
                    kinds = {stored.edges[axis][side].kind for stored in reads if stored.edges[axis][side].own}
                    if reads and not kinds:
                        kinds = {'periodic'}
                    # 'unknown' is refused once it is read past the face.
                    edge.kind = kinds.pop() if kinds in ({'periodic'}, {'free'}) else 'unknown'
        return edges

    def reduce(self, s, names, where):
        _, name, op, tree, _, cells, condition = s
        zero, where = (0,) * len(self.axes), where[0]
        for some in ([self.in_cells(cells)] if cells else []) + ([self.eval(condition, names, zero)] if condition else []):
            where = self.arithmetic.binary('and', where, some)
        value = self.eval(tree, names, zero)
        if isinstance(value, Vector) or value.kind == 'bool':
            raise Unsupported('a reduction of conditions or vectors')
        if value.kind in ('exact', 'uniform'):  # it meets no field: the type that it is rounded to is not said
            value = self.arithmetic.to(value, 'f64')
            value.error = value.error + 2 * EPS[self.arithmetic.compute] * np.abs(value.v)
        value, where = full(value, self.extents[::-1]), full(where, self.extents[::-1])
        layers = where.missing & value.missing
        mask = where.v & inner(layers, self.extents)
        v, error = np.asarray(value.v, np.float64)[mask], value.error[mask]
        unsure = np.any(where.error[inner(layers, self.extents)] > 0)
        with np.errstate(all='ignore'):
            if op in ('min', 'max'):
                nothing = v.size == 0
                total = np.float64('nan') if nothing else (v.min() if op == 'min' else v.max())
                bound = np.inf if nothing else error.max()
            elif op in ('sum', 'mean', 'norm1', 'norm2'):
                squared = op == 'norm2'
                terms = v * v if squared else np.abs(v) if op == 'norm1' else v
                error = error * (2 * np.abs(v) + error) if squared else error
                total, bound = terms.sum(), error.sum() + 4 * (v.size + 2) * 2.0**-53 * np.abs(terms).sum()
                if squared:
                    root = np.sqrt(total)
                    total, bound = root, np.sqrt(total + bound) - root + 1e-14 * root if total > 0 else np.sqrt(bound)
                if op == 'mean':
                    if condition:
                        raise Unsupported('a mean of cells that a condition chooses')
                    cells = max(v.size, 1)
                    total, bound = total / cells, bound / cells + 4 * 2.0**-53 * np.abs(terms).sum() / cells
                if not np.isfinite(total):
                    bound = np.inf
            else:
                raise Unsupported(f'reduction {op}')
        self.reductions[name] = uniform(total, error=float('inf') if unsure or np.isnan(bound) else float(bound))

    def result(self, steps):
        result = Result(steps=steps)
        for name, f in self.fields.items():
            values = [self.current[name, p][0] for p in f.parts]
            own = tuple(slice(None) if has else 0 for has in f.over[::-1])
            v, error = np.stack([a.v[own] for a in values], -1), np.stack([a.error[own] for a in values], -1)
            result.fields[name] = (v[..., 0], error[..., 0]) if len(f.parts) == 1 else (v, error)
        reduced = [s[1] for s in self.statements_of('reduce')]
        result.reductions = {n: (float(self.reductions[n].v), float(self.reductions[n].error)) for n in reduced if n in self.reductions}
        return result

    def statements_of(self, kind, within=None):
        for s in self.statements if within is None else within:
            if s[0] == kind:
                yield s
            elif s[0] in ('on', 'where', 'for', 'sweep', 'repeat'):
                yield from self.statements_of(kind, s[2])


def evaluate(text, strict=True, data=None, run=None, excused=()):
    try:
        with np.errstate(all='ignore'):
            return Evaluator(text, strict, data or {}, run, excused).run()
    except (IndexError, KeyError, AttributeError, TypeError, ValueError, ZeroDivisionError, RecursionError) as error:
        raise Unsupported(f'by mistake: {error!r}') from error
