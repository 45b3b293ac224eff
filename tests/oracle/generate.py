"""Random specs, each with a run block: Generator(seed).spec() -> text. The same seed gives the same text.

A spec may be one that `haloc check` refuses; most are not. OPEN names constructs that are known to go wrong: they are
left out unless asked for.
"""
import random
import re

OPEN = {}  # name: what goes wrong
REAL_TYPES = ('f32', 'f64', 'f32 as f64', 'f16', 'bf16')
INTEGER_TYPES = ('i32', 'i64', 'u8')
NUMBERS = ('0.5', '0.25', '1/3', '2', '3', '-1', '0.1', '1.5', '4/5', '0.7', '1e-3', '10')


class Generator:
    def __init__(self, seed, allowed=(), axes=None):
        self.random, self.other_random = random.Random(seed), random.Random(-1 - seed)
        self.allowed = set(allowed)
        self.fresh = 0
        self.count = axes  # of axes; None: drawn

    def chance(self, p):
        return self.random.random() < p

    def pick(self, items):
        return self.random.choice(list(items))

    def name(self, prefix):
        self.fresh += 1
        return f'{prefix}{self.fresh}'

    def spec(self):
        r = self.random
        drawn = self.pick((1, 1, 2, 2, 2, 3))
        self.axes = ['x', 'y', 'z', 'w'][:self.count or drawn]
        n = len(self.axes)
        most = {1: 24, 2: 11, 3: 7, 4: 5}[n]
        self.extents = [r.randint(1 if self.chance(0.1) else 3, most) for _ in self.axes]
        self.flavour = self.pick(('f32', 'f32', 'f64', 'f64', 'mixed', 'narrow', 'integers', 'all'))
        self.functions, self.derivatives = self.chance(0.25), self.chance(0.3)
        self.lines, self.params, self.coefs, self.consts, self.defs = [], [], [], [], []
        self.reals, self.integers, self.conditions, self.vectors = [], [], [], []  # readable: (text of the name, offsets?)
        self.reach, self.uniforms, self.reduced = self.pick((1, 1, 2, 3)), [], []
        self.declarations()
        self.profile = self.field_over_fewer_axes()
        self.body()
        self.stretch()
        return f'stencil s({", ".join(self.axes)}) {{\n' + ''.join(f'    {l}\n' for l in self.lines) + '}\n\n' + self.run_block()

    # Declarations.
    def declarations(self):
        for _ in range(self.random.randint(0, 3)):
            name = self.name('p')
            self.lines.append(f'param {name} = {self.pick(NUMBERS)}')
            self.params.append(name)
        if self.chance(0.2):
            self.lines.append(f'param dt = {self.pick(("0.1", "0.25", "1/7"))}')
            self.params += ['dt', 'time']
        # Drawn apart, so that specs without one are those of before there were any.
        self.series = 's0' if self.other_random.random() < 0.2 else None
        if self.series:
            self.lines.append(f'series {self.series}')
            at = ('step', 'step + 1', '0.5 * step', '3 - step', '7', *(p for p in self.params if p != 'dt'))
            self.params += [f'{self.series}[{place}]' for place in self.other_random.choices(at, k=2)]
        if self.chance(0.25):
            name = self.name('n')
            self.lines.append(f'param {name}: {self.pick(("i32", "i64"))} = {self.integer_param()}')
            self.uniforms.append(name)
        if self.chance(0.3):
            self.lines.append(f'const c = {self.pick(NUMBERS)}')
            self.consts.append('c')
        for axis in self.axes:
            if self.chance(0.2):
                self.lines.append(f'spacing {axis} = {self.pick(("0.5", "2", "0.1", "1/3"))}')
            if self.chance(0.15):
                self.lines.append(f'origin {axis} = {self.pick(("1", "-2", "0.3"))}')
        if self.chance(0.3):
            name, low = self.name('w'), self.random.randint(-2, 1)
            high = low + self.random.randint(0, 2)
            weights = ', '.join(self.pick(NUMBERS) for _ in range(low, high + 1))
            self.lines.append(f'{self.pick(("", "param "))}coef {name}[{low}..{high}] = [{weights}]')
            self.coefs.append((name, low, high))
        if self.chance(0.25):
            name = self.name('f')
            self.lines.append(f'def {name}(a, b) = {self.pick(("a - b", "0.5 * (a + b)", "a * b", "max(a, 0.5 * b)", "if a > b then a else 2 * b - a"))}')
            self.defs.append(name)
        self.fields = []
        for _ in range(self.random.randint(1, 4)):
            self.fields.append(self.field())

    def stretch(self):
        """A spacing for each cell along an axis of some specs. Those with what it cannot have are refused."""
        axis, r = self.other_random.choice(self.axes), self.other_random
        if r.random() < 0.15 and not any(line.startswith(f'spacing {axis} ') for line in self.lines):
            if r.random() < 0.7:  # faces of one sort
                self.lines = [re.sub(r'\bperiodic\b', 'mirror', line) for line in self.lines]
            self.lines.insert(0, f'spacing {axis} = {r.choice(("0.5", "1", "1/3"))} + {r.choice(("1", "0.5"))} / (1 + idx({axis}))')

    def field_over_fewer_axes(self):
        """(name, its axes) of an input in some specs, or None; drawn apart, as a series is."""
        r = self.other_random
        if len(self.axes) < 2 or self.flavour not in ('f32', 'f64', 'mixed') or r.random() > 0.4:
            return None
        own = sorted(r.sample(self.axes, r.randint(1, len(self.axes) - 1)))
        edges = ', '.join(f'{a} {r.choice(("clamp", "mirror", "periodic", "fixed 0.5"))}' for a in own)
        self.lines.append(f'field d0: {"f64" if self.flavour == "f64" else "f32"} over {", ".join(own)} {{ boundary {edges} }}')
        return 'd0', own

    def read_profile(self):
        name, own = self.profile
        offsets = [(a, self.other_random.randint(-self.reach, self.reach)) for a in own if self.other_random.random() < 0.5]
        inside = ', '.join(f'{a}{k:+d}' for a, k in offsets if k)
        return f'{name}[{inside}]' if inside else name

    def integer_param(self):
        if self.chance(0.2):
            return self.pick((2**31 - 1, -2**31, 2**30))
        return self.random.randint(-4, 9)

    def field_type(self):
        kinds = {'f32': ('f32',), 'f64': ('f64',), 'mixed': ('f32', 'f64', 'f32 as f64'), 'narrow': ('f16', 'bf16', 'f32'),
                 'integers': INTEGER_TYPES, 'all': REAL_TYPES + INTEGER_TYPES + ('bool',)}[self.flavour]
        if self.flavour == 'integers' and self.chance(0.2):
            return 'bool'
        return self.pick(kinds)

    def field(self):
        name, kind, parts = self.name('u'), self.field_type(), None
        text = kind
        if kind != 'bool' and self.chance(0.2):
            count = self.random.randint(1, 3)
            if self.chance(0.5) and kind in ('f32', 'f64'):
                parts = [['x', 'y', 'z'][i] for i in range(count)] if self.chance(0.6) else ['a', 'b', 'e'][:count]
                text = '(' + ', '.join(f'{p}: {kind}' for p in parts) + ')'
            elif kind in ('f32', 'f64', 'i32'):
                parts, text = [str(i) for i in range(count)], f'{kind}[{count}]'
        boundary = self.boundary(kind, parts, name)
        self.lines.append(f'field {name}: {text}' + (f' {{ boundary {boundary} }}' if boundary else ''))
        return {'name': name, 'kind': kind, 'parts': parts, 'bounded': bool(boundary), 'role': None}

    def edge(self, kind):
        simple = ['clamp', 'mirror', 'symmetric', 'fixed']
        if kind not in INTEGER_TYPES + ('bool',):
            simple += ['antimirror', 'antisymmetric', 'extrapolate', 'gradient', 'robin', 'fixed', 'clamp']
        word = self.pick(simple)
        if word == 'fixed':
            if kind == 'bool':
                return f'fixed {self.pick(("1 > 2", "idx(x) > 2"))}' if self.chance(0.5) else 'clamp'
            if kind in INTEGER_TYPES:
                return f'fixed {self.random.randint(0, 9)}'
            return 'fixed ' + self.pick(['0', '1', '1/3', '-2', f'pos({self.pick(self.axes)})', f'0.1 * idx({self.pick(self.axes)})']
                                        + self.params[:3] + [f'{p} * 0.5 + 1' for p in self.params[:2]])
        if word == 'extrapolate':
            return f'extrapolate {self.random.randint(0, 2)}'
        if word == 'gradient':
            return 'gradient ' + self.pick(['0', '0.1', '-1'] + self.params[:1])
        if word == 'robin':
            return 'robin 1, 2, 0.5'
        return word

    def boundary(self, kind, parts, name):
        if self.chance(0.12):
            return ''
        if self.chance(0.35):
            return 'periodic'
        if self.chance(0.35):
            return self.edge(kind)
        text = []
        for axis in self.axes:
            if self.chance(0.3):
                text.append(f'{axis} periodic')
            elif self.chance(0.5):
                text.append(f'{axis} {self.edge(kind)}')
            else:
                text.append(f'{axis}.low {self.edge(kind)}')
                if self.chance(0.85):
                    text.append(f'{axis}.high {self.edge(kind)}')
        if parts and self.chance(0.5):
            text.append(f'{name}.{self.pick(parts)} {self.edge(kind)}')
        return ', '.join(text)

    # Expressions.
    def offset(self):
        some = [a for a in self.axes if self.chance(0.7)] or [self.pick(self.axes)]
        offsets = [(a, self.random.randint(-self.reach, self.reach)) for a in some]
        return ', '.join(f'{a}{k:+d}' for a, k in offsets if k) or f'{some[0]}+1'

    def read(self, source):
        name, where = source  # where: 'anywhere', 'here' (no offset)
        if where == 'here' or self.chance(0.35):
            return name
        if name.endswith('[t+1]'):
            return f'{name[:-5]}[t+1, {self.offset()}]'
        if ']' in name:
            base, rest = name.split('[', 1)
            level, part = rest.split(']', 1)
            return f'{base}[{level}, {self.offset()}]{part}'
        return f'{name}[{self.offset()}]'

    def leaf(self):
        if self.profile and self.other_random.random() < 0.12:
            return self.read_profile()
        options = []
        if self.reals:
            options += ['read'] * 6
        options += ['number'] * 2 + (['param'] * 2 if self.params else []) + (['const'] if self.consts else [])
        if self.flavour not in ('mixed', 'all'):
            options += ['idx', 'pos']
        if self.uniforms:
            options += ['uniform']
        if self.reduced and self.chance(0.1):  # a number of this step, rounded once
            return self.pick(self.reduced)
        what = self.pick(options)
        if what == 'read':
            return self.read(self.pick(self.reals))
        if what == 'number':
            return self.pick(NUMBERS).replace('-1', '(-1)')
        if what == 'param':
            return self.pick(self.params)
        if what == 'const':
            return self.pick(self.consts)
        if what == 'uniform':
            return self.pick(self.uniforms)
        return f'{what}({self.pick(self.axes)})'

    def real(self, depth):
        if depth <= 0 or self.chance(0.12):
            return self.leaf()
        kind = self.pick(('+', '+', '+', '-', '-', '*', '*', '*', '/', 'call', 'if', 'neg', 'power', 'sum', 'names', 'def', 'derivative', 'minmax', 'vector'))
        a = lambda: self.real(depth - 1)
        if kind in '+-*':
            return f'({a()} {kind} {a()})'
        if kind == '/':
            return f'({a()} / {self.pick(("2", "3", "(1 + abs(" + a() + "))", "(" + a() + " + 2.5)") + tuple(self.params[:1]))})'
        if kind == 'if':
            return f'(if {self.condition(depth - 1)} then {a()} else {a()})' if self.reals else a()
        if kind == 'neg':
            return f'(-{a()})'
        if kind == 'power':
            return f'{self.leaf()}^{self.pick(("2", "3", "2", "4", "-1", "5"))}'
        if kind == 'minmax':
            return f'{self.pick(("min", "max"))}({a()}, {a()})'
        if kind == 'def' and self.defs:
            return f'{self.pick(self.defs)}({a()}, {a()})'
        if kind == 'sum':
            return self.over_range(depth)
        if kind == 'names':
            return self.over_names()
        if kind == 'derivative' and self.derivatives and self.reals:
            return self.derivative()
        if kind == 'vector' and self.vectors:
            return self.pick((f'dot({self.vector(0)}, {self.pick(self.vectors)[0]})', f'norm({self.pick(self.vectors)[0]})'))
        if kind == 'call':
            exact = ['sqrt(abs({}))', 'abs({})', 'floor({})', 'ceil({})', 'round({})', 'trunc({})', 'mod({}, 3)', 'div({}, 2)',
                     'f32({})', 'f64({})']
            more = ['exp(-abs({}))', 'sin({})', 'cos({})', 'tanh({})', 'log(1 + abs({}))', 'cbrt({})']
            return self.pick(exact + (more if self.functions else [])).format(a())
        return f'({a()} + {a()})'

    def over_range(self, depth):
        sources = [s for s, where in self.reals if where == 'anywhere' and '[' not in s and '.' not in s]
        if self.coefs and sources:
            name, low, high = self.pick(self.coefs)
            return f'(sum(i in {low}..{high}) {name}[i] * {self.pick(sources)}[{self.pick(self.axes)}+i])'
        if sources:
            return f'({self.pick(("sum", "sum", "max", "min"))}(i in -1..1) {self.pick(sources)}[{self.pick(self.axes)}+i])'
        return self.leaf()

    def over_names(self):
        sources = [s for s, where in self.reals if where == 'anywhere' and '[' not in s and '.' not in s]
        if not sources:
            return self.leaf()
        operation, offset = self.pick(('sum', 'sum', 'max', 'prod')), self.pick(('-1', '+1'))
        if self.chance(0.6) or len(set(sources)) < 2:
            return f'({operation}(b in axes) {self.pick(sources)}[b{offset}])'
        names = ', '.join(self.random.sample(sorted(set(sources)), 2))
        return f'({operation}(c in {names}) c[{self.pick(self.axes)}{offset}])'

    # A let for each axis, some of them made of one that is of the iteration alone.
    def name_loop(self):
        sources = [s for s, where in self.reals if where == 'anywhere' and '[' not in s and '.' not in s]
        if not sources:
            return
        name, source = self.name('g'), self.pick(sources)
        boundary = self.pick(('periodic', 'clamp', 'mirror', 'fixed 0.5', 'a clamp'))
        value = self.pick((f'0.5 * {source}[a+1] - idx(a)', f'{source}[a-1] * {self.leaf()}', f'{source}[a+1] + {source}[a-1] - pos(a)'))
        let = f'let {name}_{{a}} {{ boundary {boundary} }} = '
        if self.chance(0.5):
            self.lines.append(f'for a in axes {{ {let}{value} }}')
        else:
            self.lines.append(f'for a, b in {", ".join(f"({p}, {q})" for p, q in zip(self.axes, self.axes[1:] + self.axes[:1]))} {{')
            self.lines.append(f'    let own{name} = {value}')
            self.lines.append(f'    {let}own{name} - 0.25 * {source}[b-1]')
            self.lines.append('}')
        for axis in self.axes:
            self.reals.append((f'{name}_{axis}', 'here' if boundary == 'a clamp' else 'anywhere'))

    def derivative(self):
        sources = [s for s, where in self.reals if where == 'anywhere' and '[' not in s]
        if not sources:
            return self.leaf()
        u, axis = self.pick(sources), self.pick(self.axes)
        return self.pick((f'laplacian({u})', f'd({u}, {axis})', f'd2({u}, {axis})', f'd({u}, {axis}, side=low)',
                          f'd({u}, {axis}, order=4)', f'd({u}^2 / 2, {axis})'))

    def condition(self, depth):
        if self.conditions and self.chance(0.3):
            return self.read(self.pick(self.conditions))
        if depth > 0 and self.chance(0.3):
            return f'({self.condition(depth - 1)} {self.pick(("and", "or"))} {self.condition(depth - 1)})'
        if self.chance(0.15):
            return f'not ({self.condition(0)})'
        if self.integers and self.chance(0.4):
            return f'({self.integer(1)} {self.pick(("<", "<=", "==", "!=", ">"))} {self.integer(1)})'
        if self.chance(0.3):
            return f'(idx({self.pick(self.axes)}) {self.pick(("<", ">=", "=="))} {self.random.randint(0, 4)})'
        return f'({self.real(max(0, depth - 1))} {self.pick(("<", "<=", ">", ">="))} {self.real(0)})'

    def integer(self, depth):
        if depth <= 0 or self.chance(0.15):
            options = [str(self.random.randint(-3, 9)).replace('-3', '(-3)').replace('-2', '(-2)').replace('-1', '(-1)')]
            options += [f'idx({self.pick(self.axes)})', f'len({self.pick(self.axes)})'] + self.uniforms
            options += [self.read(self.pick(self.integers)) for _ in range(4) if self.integers]
            return self.pick(options)
        a = lambda: self.integer(depth - 1)
        return self.pick((f'({a()} + {a()})', f'({a()} - {a()})', f'({a()} * {a()})', f'div({a()}, {a()})', f'mod({a()}, {a()})',
                          f'min({a()}, {a()})', f'max({a()}, {a()})', f'abs({a()})', f'(-{a()})',
                          f'(if {self.condition(0)} then {a()} else {a()})'))

    def vector(self, depth):
        text, _ = self.pick(self.vectors)
        if depth > 0 and self.chance(0.6):
            return self.pick((f'({text} + {text}[{self.offset()}])', f'({self.leaf()} * {text})', f'({text} - 0.5 * {text})'))
        return text

    # Statements.
    def body(self):
        for f in self.fields:
            self.readable(f, f['name'])
        stateful = [f for f in self.fields if self.chance(0.75)]
        if not stateful:
            stateful = [self.fields[0]]
        for f in self.fields:
            outputs = f not in stateful and self.chance(0.5)
            f['role'] = 'state' if f in stateful else 'output' if outputs else 'input'
            if f['role'] == 'output':
                self.forget(f)
        for f in self.fields:
            if f['role'] == 'state' and self.chance(0.15) and f['parts'] is None:
                self.readable(f, f['name'] + '[t-1]')
        for f in self.fields:
            while self.chance(0.3):
                self.let()
            if self.chance(0.15):
                self.name_loop()
            if self.chance(0.1):
                self.reduction()
            if self.chance(0.12):
                self.sweep()
            if self.chance(0.12):
                self.repeat()
            if f['role'] != 'input':
                self.write(f)
        while self.chance(0.5):
            self.reduction()

    def readable(self, f, text, where='anywhere'):
        if f['parts'] is None:
            lists = self.conditions if f['kind'] == 'bool' else self.integers if f['kind'] in INTEGER_TYPES else self.reals
            lists.append((text, where))
            if lists is self.integers:
                self.reals.append((text, where))
            return
        if f['kind'] not in INTEGER_TYPES:
            self.vectors.append((text, len(f['parts'])))
        for p in f['parts']:
            (self.integers if f['kind'] in INTEGER_TYPES else self.reals).append((f'{text}.{p}', where))

    def forget(self, f):
        own = lambda text: text == f['name'] or text.startswith((f['name'] + '.', f['name'] + '['))
        for listed in ('reals', 'integers', 'conditions', 'vectors'):
            setattr(self, listed, [s for s in getattr(self, listed) if not own(s[0])])

    def value(self, f, depth=3):
        if f['kind'] == 'bool':
            return self.condition(depth)
        if f['kind'] in INTEGER_TYPES:
            return self.integer(depth) if self.chance(0.8) or not self.reals else self.real(depth)
        return self.real(depth)

    def let(self):
        name, real = self.name('m'), self.chance(0.8)
        boundary = ''
        if self.chance(0.6):
            boundary = f' {{ boundary {self.pick(("periodic", "clamp", "mirror", "fixed 0.5", "symmetric"))} }}'
        if real:
            value = self.real(2)
            if not re.search(r'\bu\d', value):
                boundary = ''  # what reads no field has none
            self.lines.append(f'let {name}{boundary} = {value}')
            self.reals.append((name, 'anywhere' if boundary else 'here'))
        else:
            self.lines.append(f'let {name} = {self.condition(2)}')
            self.conditions.append((name, 'here'))

    def cells(self):
        text = []
        for axis, n in zip(self.axes, self.extents):
            if not self.chance(0.6):
                continue
            low = self.random.randint(0, 3)
            text.append(self.pick((f'{axis}.low', f'{axis}.high', f'{axis} in {low}..{low + self.random.randint(0, 4)}',
                                   f'{axis} in {low}..-{self.random.randint(1, 3)}', f'{axis} in -3..-{self.random.randint(1, 3)}')
                                  + (f'{axis} in -{low + 1}..{self.random.randint(0, 5)}',)))
        return ', '.join(text) or f'{self.axes[0]}.low'

    def write(self, f):
        level = '[t+1]' if f['role'] == 'state' else ''
        target = f['name'] + level
        if f['parts'] is not None:
            same = [v for v, n in self.vectors if n == len(f['parts'])]
            if f['kind'] in INTEGER_TYPES or not same or self.chance(0.5):
                if self.chance(0.4):
                    self.lines.append(f'{target} = [' + ', '.join(self.value(f, 2) for _ in f['parts']) + ']')
                else:
                    for p in f['parts']:
                        self.lines.append(f'{f["name"]}{level}.{p} = {self.value(f, 2)}')
            else:
                kept, self.vectors = self.vectors, [(v, n) for v, n in self.vectors if n == len(f['parts'])]
                self.lines.append(f'{target} = {self.vector(1)}')
                self.vectors = kept
        elif self.chance(0.2):
            selector = f'where {self.condition(2)}' if self.chance(0.5) else f'on {self.cells()}'
            self.lines.append(f'{selector} {{ {target} = {self.value(f)} }}')
        else:
            self.lines.append(f'{target} = {self.value(f)}')
        while f['parts'] is None and self.chance(0.2):
            selector = f'where {self.condition(2)}' if self.chance(0.4) else f'on {self.cells()}'
            if self.chance(0.2):
                colour, name = self.random.randint(0, 1), f['name']
                selector = f'where mod({" + ".join(f"idx({a})" for a in self.axes)}, 2) == {colour}'
                if f['role'] == 'state' and f['kind'] in REAL_TYPES:
                    around = f'({name}[t+1, x-1] + {name}[t+1, x+1]) / 2'
                    self.lines.append(f'{selector} {{ {target} = {around} }}')
                    continue
            self.lines.append(f'{selector} {{ {target} = {self.value(f, 2)} }}')
        if self.chance(0.6):
            self.readable(f, target)

    def sweep(self):
        """One to three outputs that read each other's cells before, tamed so that they do not grow along a line."""
        along = self.random.sample(self.axes, 2 if len(self.axes) > 1 and self.chance(0.35) else 1)
        orders = [(a, self.chance(0.5)) for a in along]
        names = [self.name('s') for _ in range(self.random.randint(1, 3))]
        kind = self.pick(('f32', 'f64')) if self.flavour != 'f64' else 'f64'
        low, high = self.pick(('0', '1', '0.25')), self.pick(('0', '1', '-0.5'))
        others = ''.join(f', {a} {self.pick(("clamp", "periodic", "mirror"))}' for a in self.axes if a not in along)
        ends = ', '.join(f'{a}.low fixed {low}, {a}.high fixed {high}' for a in along)
        self.lines.append(f'field {", ".join(names)}: {kind} {{ boundary {ends}{others} }}')

        def before():
            steps = [self.pick((0, 1, 1, 2)), self.pick((-2, -1, 0, 1, 1, 2))] if len(along) == 2 else [self.pick((1, 1, 2))]
            if steps[0] == 0:
                steps[1] = self.pick((1, 1, 2))
            return ', '.join(f'{a}{"-" if (n > 0) == up else "+"}{abs(n)}' for (a, up), n in zip(orders, steps) if n)

        inside, done = [], []
        if self.chance(0.3):
            inside.append(f'let k{names[0]} = {self.pick(names)}[{before()}] / 3')
            done.append(f'k{names[0]}')
        for name in names:
            terms = [f'{self.pick(names)}[{before()}] / 2', self.real(1)]
            if done and self.chance(0.6):
                terms.append(f'{self.pick(done)} / 4')
            statement = f'{name} = ' + ' + '.join(terms)
            inside.append(f'where {self.condition(1)} {{ {statement} }}' if self.chance(0.15) else statement)
            done.append(name)
        block = '; '.join(inside)
        for axis, up in orders[::-1]:
            block = f'sweep {axis} {"up" if up else "down"} {{ {block} }}'
        self.lines.append(f'on {self.cells()} {{ {block} }}' if self.chance(0.15) else block)
        self.reals += [(name, 'anywhere') for name in names]

    def repeat(self):
        """One or two fields that are iterated from each other, tamed so that they do not grow, and one that is changed in place."""
        names = [self.name('i') for _ in range(self.random.randint(1, 2))]
        kind = self.pick(('f32', 'f64')) if self.flavour != 'f64' else 'f64'
        around = lambda: f'{self.pick(self.axes)}{self.pick("+-")}{self.pick((1, 1, 2))}'
        for name in names:
            faces = ', '.join(f'{a} {self.pick(("clamp", "periodic", "mirror", "fixed 0.5"))}' for a in self.axes)
            self.lines.append(f'field {name}: {kind} {{ boundary {faces} }}')
        given = [name for name in names if self.chance(0.3)]
        self.lines += [f'{name} = {self.real(1)}' for name in given]
        inside, done = [], []
        if self.chance(0.4):
            inside.append(f'let l{names[0]} {{ boundary clamp }} = {self.pick(names)}[it, {around()}] / 3')
            done.append(f'l{names[0]}')
        for name in names:
            terms = [f'{self.pick(names)}[it, {around()}] / 2', self.real(1)]
            if done and self.chance(0.6):
                terms.append(f'{self.pick(done)} / 4')
            if self.chance(0.3):
                terms.append(f'{name}[it] / 8')
            statement = f'{name}[it+1] = ' + ' + '.join(terms)
            selector = f'where {self.condition(1)}' if self.chance(0.5) else f'on {self.cells()}'
            inside.append(f'{selector} {{ {statement} }}' if self.chance(0.25) else statement)
            done.append(f'{name}[it+1]')
        if self.chance(0.4):
            other = self.name('g')
            self.lines.append(f'field {other}: {kind} {{ boundary clamp }}')
            colour = f'mod({" + ".join(f"idx({a})" for a in self.axes)}, 2)'
            for each in (0, 1):
                near = f'({other}[t+1, x-1] + {other}[t+1, x+1]) / 2 + {self.pick(done)} / 4'
                inside.append(f'where {colour} == {each} {{ {other}[t+1] = {near} }}')
        order = f'repeat it to {self.random.randint(1, 4)}'
        if self.chance(0.4):
            reduced = self.name('r')
            inside.append(f'reduce {reduced} = {self.pick(("max", "sum", "mean"))}(abs({names[0]}[it+1] - {names[0]}[it]))')
            self.reduced.append(reduced)
            if self.chance(0.6):
                bound = self.pick(('0.01', '0.1', '1', '10'))
                order = f'repeat it until {reduced} < {bound}, at most {self.random.randint(1, 6)}'
        block = f'{order} {{ ' + '; '.join(inside) + ' }'
        found = [name if name in given else f'{name}[t+1]' for name in names]
        self.lines.append(self.around(block, found[0], kind) if self.chance(0.4) else block)
        self.reals += [(name, 'anywhere') for name in found]

    def around(self, block, found, kind):
        """A repeat around one, by itself or with a field that each of its iterations makes of what that one found."""
        if self.chance(0.4):
            return f'repeat {self.random.randint(1, 3)} {{ {block} }}'
        name, axis = self.name('o'), self.pick(self.axes)
        self.lines.append(f'field {name}: {kind} {{ boundary clamp }}')
        step = f'{name}[ot+1] = {name}[ot, {axis}{self.pick("+-")}1] / 2 + {found} / 4 + {self.real(1)}'
        order = f'repeat ot to {self.random.randint(1, 3)}'
        if self.chance(0.4):
            reduced = self.name('r')
            step += f'; reduce {reduced} = max(abs({name}[ot+1] - {name}[ot]))'
            self.reduced.append(reduced)
            if self.chance(0.6):
                order = f'repeat ot until {reduced} < {self.pick(("0.01", "0.1", "1", "10"))}, at most {self.random.randint(1, 4)}'
        self.reals.append((f'{name}[t+1]', 'anywhere'))
        return f'{order} {{ {block}; {step} }}'

    def reduction(self):
        name = self.name('r')
        text = f'reduce {name} = {self.pick(("sum", "max", "min", "mean", "norm1", "norm2"))}({self.real(2)})'
        if self.chance(0.2):
            text += f' on {self.cells()}'
        if 'mean(' not in text and self.chance(0.2):
            text += f' where {self.condition(1)}'
        self.lines.append(text)
        self.reduced.append(name)

    # The run.
    def start(self, f):
        a, b = self.random.randint(2, 13), self.random.choice((7, 11, 16))
        mixed = ' + '.join(f'{a + 5 * i} * idx({axis})' for i, axis in enumerate(self.axes))
        whole = f'mod({mixed} + {self.random.randint(1, 9)}, {b})'
        if f['kind'] == 'bool':
            return f'{whole} > {b // 2}'
        if f['kind'] in INTEGER_TYPES:
            return f'{whole} - 4' if f['kind'] != 'u8' else whole
        return self.pick((f'{whole} / 4 - 1', f'0.3 * {whole} - 1', f'{whole}', f'({whole} - 5) * 1e3',
                          f'{whole} / 7' if not self.functions else f'sin({mixed})'))

    def run_block(self):
        lines = [f'grid {", ".join(str(e) for e in self.extents)}', f'steps {self.random.randint(1, 4)}']
        if self.reduced and self.chance(0.3):
            lines[-1] += f' until {self.pick(self.reduced)} {self.pick(("<", ">"))} {self.pick(("0", "1", "10", "100"))}'
        if self.series:
            values = self.other_random.choice(('row - 2', '0.3 * row - 1', '1 / (1 + row)', '0.5 * mod(row, 2)'))
            lines += [f'rows {self.series} = {self.other_random.randint(1, 6)}', f'init {self.series} = {values}']
        for f in self.fields:
            if f['role'] == 'output' or self.chance(0.05):
                continue
            if f['parts'] is None and f['kind'] != 'bool' and self.chance(0.15):
                lines.append(f'load {f["name"]} from "data-{self.random.randint(0, 99)}.npy"')
                continue
            for part in f['parts'] or ['']:
                dot = f'.{part}' if part else ''
                lines.append(f'init {f["name"]}{dot} = {self.start(f)}')
        if self.profile:
            name, own = self.profile
            lines.append(f'init {name} = {" + ".join(f"{k} * idx({a})" for a, k in zip(own, ("0.25", "0.5")))} - 1')
        for name in self.params[:1]:
            if name not in ('dt', 'time') and '[' not in name and self.chance(0.3):
                lines.append(f'{name} = {self.pick(NUMBERS)}')
        return 'run s {\n' + ''.join(f'    {l}\n' for l in lines) + '}\n'


if __name__ == '__main__':
    import sys
    print(Generator(int(sys.argv[1])).spec())
