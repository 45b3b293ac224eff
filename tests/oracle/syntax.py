"""Reads Halocline's language into plain tuples, after the grammar of docs/language.md and nothing else.

Expressions: ('num', Fraction), ('name', n), ('bin', op, a, b), ('neg', a), ('not', a), ('if', c, a, b),
('call', f, args, named), ('at', base, indices), ('member', base, name or expression), ('vec', items),
('each', item, indices), ('range', op, indices, body); an index is (name, low, high).
"""
import re
from fractions import Fraction


class Unsupported(Exception):
    """What this evaluator leaves out, or a spec that it takes for wrong: no statement about the spec is made."""


TOKEN = re.compile(r'''(?P<space>[ \t\r]+|\#[^\n]*)|(?P<line>\n)|(?P<string>"[^"\n]*")
    |(?P<number>(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?P<imaginary>i\b)?
    |(?P<name>(?!schedule\{)(?:[A-Za-z_]|\{[A-Za-z_]\w*\}(?=\w|\{[A-Za-z_]\w*\}))\w*(?:\{[A-Za-z_]\w*\}\w*)*|schedule)|(?P<op>\.\.|<=|>=|==|!=|\+=|[-+*/^<>=,:;.(){}\[\]])''', re.X)
OPERATORS = {'+', '-', '*', '/', '^', '<', '<=', '>', '>=', '==', '!=', 'and', 'or', 'not', '..'}
GOES_ON_AFTER = OPERATORS | {'=', ',', ':', 'then', 'else', '+='}
GOES_ON_BEFORE = OPERATORS | {'then', 'else'}
LEFT_OUT = {'accuracy', 'table', 'fast', 'points', 'inject', 'sample', 'use'}


def tokens(text):
    """(kind, text) pairs; kind 'end' ends a statement. Inside ( ) and [ ] a line end means nothing."""
    raw, at = [], 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise Unsupported(f'no token at {text[at:at + 20]!r}')
        at = found.end()
        kind = found.lastgroup
        if kind == 'imaginary':
            raise Unsupported('complex numbers')
        if kind != 'space':
            raw.append((kind, found.group()))
    raw.append(('line', '\n'))
    result, nesting = [], []
    for place, (kind, word) in enumerate(raw):
        if kind == 'line':
            following = next((w for k, w in raw[place:] if k != 'line'), '')
            before = result[-1][1] if result else '{'
            if (nesting and nesting[-1] != '{') or before in GOES_ON_AFTER or following in GOES_ON_BEFORE:
                continue
            result.append(('end', ''))
        elif word == ';':
            result.append(('end', ''))
        else:
            if word in ('(', '[', '{'):
                nesting.append(word)
            elif word in (')', ']', '}') and nesting:
                nesting.pop()
                if word == '}':
                    result.append(('end', ''))
            result.append((kind, word))
    return result + [('file', '')]


class Parser:
    def __init__(self, text):
        self.tokens, self.at = tokens(text), 0
        self.axes, self.chosen = [], {}  # what indices of loops over names stand for

    def word(self, ahead=0):
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][1]

    def kind(self, ahead=0):
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][0]

    def take(self, *words):
        if self.word() in words and self.kind() not in ('end', 'file', 'string'):
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None

    def need(self, *words):
        found = self.take(*words)
        if found is None:
            raise Unsupported(f'{words} expected, not {self.word()!r}')
        return found

    def name(self):
        if self.kind() != 'name':
            raise Unsupported(f'a name expected, not {self.word()!r}')
        self.at += 1
        return self.stands_for(self.tokens[self.at - 1][1])

    def stands_for(self, word):
        """psi_x of psi_{a} where a is x; a name that is made may be an index itself."""
        made = re.sub(r'\{(\w+)\}', lambda index: self.chosen.get(index.group(1), '?'), word)
        return self.chosen.get(made, made)

    # Loops over names.
    def lists_names(self, ahead):
        """Whether names follow, as in `a in axes`, `a in x, y` or `a, b in (x, y), (y, x)`."""
        while self.word(ahead + 1) == ',':
            ahead += 2
        if self.kind(ahead) != 'name' or self.word(ahead + 1) != 'in':
            return False
        if self.word(ahead + 2) == '(':
            return self.word(ahead + 4) == ','
        alone = self.word(ahead + 3) in ('{', ')', ']', ',') and self.word(ahead + 2) == 'axes'
        return alone or (self.kind(ahead + 2) == 'name' and self.word(ahead + 3) == ',' and self.word(ahead + 5) != 'in')

    def choices(self):
        """A dictionary for each iteration, the last list's names changing fastest."""
        choices = [{}]
        while True:
            indices, rows = [self.name()], []
            while self.take(','):
                indices.append(self.name())
            self.need('in')
            if self.word() == 'axes':
                self.at += 1
                rows = [[axis] for axis in self.axes]
            else:
                rows.append(self.row(len(indices)))
                while self.word() == ',' and not self.lists_names(1):
                    self.need(',')
                    rows.append(self.row(len(indices)))
            choices = [{**choice, **dict(zip(indices, row))} for choice in choices for row in rows]
            if not self.take(','):
                return choices

    def row(self, count):
        if count == 1:
            return [self.name()]
        self.need('(')
        names = self.list(self.name)
        self.need(')')
        return names

    def for_names(self, choices, item):
        """What item() reads from the same place for each choice."""
        begin, outer, items = self.at, self.chosen, []
        for choice in choices:
            self.at, self.chosen = begin, {**outer, **choice}
            items.append(item())
        self.chosen = outer
        return items

    def name_loop(self, item):
        choices = self.choices()
        return [statement for block in self.for_names(choices, lambda: self.block(item)) for statement in block]

    def string(self):
        if self.kind() != 'string':
            raise Unsupported('a text in quotes expected')
        self.at += 1
        return self.tokens[self.at - 1][1][1:-1]

    def list(self, item):
        items = [item()]
        while self.take(','):
            items.append(item())
        return items

    def block(self, item):
        """The statements between braces."""
        items = []
        self.need('{')
        while True:
            while self.kind() == 'end':
                self.at += 1
            if self.take('}'):
                return items
            made = item()
            items += made if isinstance(made, list) else [made]  # a loop over names makes several
            if self.kind() != 'end' and self.word() != '}':
                raise Unsupported(f'the end of a statement expected, not {self.word()!r}')

    # Expressions, from loosest to tightest.
    def expression(self):
        left = self.conjunction()
        while self.take('or'):
            left = ('bin', 'or', left, self.conjunction())
        return left

    def conjunction(self):
        left = self.comparison()
        while self.take('and'):
            left = ('bin', 'and', left, self.comparison())
        return left

    def comparison(self):
        left = self.sum()
        op = self.take('<', '<=', '>', '>=', '==', '!=')
        return ('bin', op, left, self.sum()) if op else left

    def sum(self):
        left = self.product()
        while op := self.take('+', '-'):
            left = ('bin', op, left, self.product())
        return left

    def product(self):
        left = self.prefix()
        while op := self.take('*', '/'):
            left = ('bin', op, left, self.prefix())
        return left

    def prefix(self):
        if self.take('-'):
            return ('neg', self.prefix())
        if self.take('+'):
            return self.prefix()
        if self.take('not'):
            return ('not', self.comparison())
        return self.power()

    def power(self):
        base = self.postfix()
        if not self.take('^'):
            return base
        if self.word() in ('-', '+'):
            return ('bin', '^', base, self.prefix())
        return ('bin', '^', base, self.power())

    def postfix(self):
        base = self.primary()
        while True:
            if self.take('['):
                base = ('at', base, self.list(self.expression))
                self.need(']')
            elif self.word() == '.' and self.kind() == 'op':
                self.at += 1
                base = ('member', base, self.member())
            elif self.kind() == 'number' and re.fullmatch(r'\.\d+', self.word()):
                base = ('member', base, self.word()[1:])  # f.0
                self.at += 1
            else:
                return base

    def member(self):
        if self.take('('):
            index = self.expression()
            self.need(')')
            return index
        self.at += 1
        return self.stands_for(self.tokens[self.at - 1][1])

    def primary(self):
        if self.kind() == 'number':
            self.at += 1
            return ('num', Fraction(self.tokens[self.at - 1][1]))
        if self.take('('):
            inner = self.expression()
            self.need(')')
            return inner
        if self.take('['):
            items = self.list(self.expression)
            if self.take('for'):
                items = ('each', items[0], self.list(self.index))
                self.need(']')
                return items
            self.need(']')
            return ('vec', items)
        if self.take('if'):
            condition = self.expression()
            self.need('then')
            yes = self.expression()
            self.need('else')
            return ('if', condition, yes, self.expression())
        name = self.name()
        if name in ('sum', 'prod', 'min', 'max') and self.word() == '(' and self.lists_names(1):
            self.need('(')
            choices = self.choices()
            self.need(')')
            terms = self.for_names(choices, self.product)
            if name in ('min', 'max') and len(terms) > 1:
                return ('call', name, terms, {})
            result = terms[0]
            for term in terms[1:]:
                result = ('bin', '*' if name == 'prod' else '+', result, term)
            return result
        if name in ('sum', 'prod', 'min', 'max') and self.word() == '(' and self.word(2) == 'in':
            self.need('(')
            if self.kind(2) == 'name' and self.word(3) == ')':
                raise Unsupported('sums over tables')
            indices = self.list(self.index)
            self.need(')')
            return ('range', name, indices, self.product())
        if self.take('('):
            args, named = [], {}
            while not self.take(')'):
                if self.kind() == 'name' and self.word(1) == '=':
                    key = self.name()
                    self.need('=')
                    named[key] = self.expression()
                else:
                    args.append(self.expression())
                if self.word() != ')':
                    self.need(',')
            return ('call', name, args, named)
        return ('name', name)

    def index(self):
        name = self.name()
        self.need('in')
        return (name,) + self.range()

    def range(self):
        low = self.sum()
        self.need('..')
        return (low, self.sum())

    # Statements.
    def face(self):
        """x or x.low, as ('x', None) or ('x', 'low')."""
        axis, side = self.name(), None
        if self.word() == '.' and self.word(1) in ('low', 'high'):
            self.need('.')
            side = self.name()
        return axis, side

    def edge(self, components, axes):
        """(component or None, axis or None, side or None, kind, values)."""
        component = axis = side = None
        if self.kind() == 'name' and self.word(1) == '.' and self.word(2) not in ('low', 'high'):
            self.at += 2
            component = self.member()
        elif self.kind(1) == 'number' and re.fullmatch(r'\.\d+', self.word(1)) and self.kind() == 'name' \
                and self.word() not in axes and self.word() != 'fixed':
            component = self.word(1)[1:]
            self.at += 2
        if self.stands_for(self.word()) in axes and self.word(1) != '(':
            axis, side = self.face()
        kind = self.name()
        count = {'fixed': 1, 'gradient': 1, 'extrapolate': 1, 'robin': 3}.get(kind, 0)
        values = []
        for place in range(count):
            if place:
                self.need(',')
            values.append(self.expression())
        return component, axis, side, kind, values

    def properties(self, axes):
        found = {'boundary': []}
        if self.word() != '{':
            return found

        def item():
            word = self.need('halo', 'boundary', 'layout')
            if word == 'boundary':
                found['boundary'] += self.list(lambda: self.edge(None, axes))
            elif word == 'halo':
                self.list(lambda: (self.face() if self.stands_for(self.word()) in axes else None, self.expression()))
            else:
                self.name()
        self.block(item)
        return found

    def type(self):
        """A list of (component or None, type, storage): one for a number."""
        if self.take('('):
            def component():
                name = self.name()
                self.need(':')
                return (name, self.type()[0][1])
            parts = self.list(component)
            self.need(')')
            return parts
        name, count = self.name(), None
        if self.take('['):
            count = self.expression()
            self.need(']')
        if self.take('as'):
            name += ' as ' + self.name()
        if self.word() == 'at':
            raise Unsupported('staggered fields')
        return [(None, name)] if count is None else [(count, name)]

    def definitions(self):
        def one():
            name, kind, value = self.name(), None, None
            if self.take(':'):
                kind = self.name()
            if self.take('='):
                value = self.expression()
            return name, kind, value
        return self.list(one)

    def cells(self):
        def some():
            axis, side = self.face()
            if side:
                return axis, side, None
            self.need('in')
            return (axis,) + self.range()
        return self.list(some)

    def statement(self, axes):
        word, following = self.word(), self.word(1)
        if self.kind() != 'name' or following in ('=', '[', '.') and word != 'on' \
                or re.fullmatch(r'\.\d+', following):
            return self.assignment()
        if word in LEFT_OUT:
            raise Unsupported(word)
        self.at += 1
        if word in ('const', 'param') and self.word() != 'coef':
            return (word, self.definitions())
        if word in ('spacing', 'origin'):
            return (word, self.definitions())
        if word == 'coef' or word == 'param':
            self.take('coef')
            name = self.name()
            self.need('[')
            ranges = self.list(self.range)
            self.need(']')
            self.need('=')
            return ('coef', name, ranges, self.expression(), word == 'param')
        if word == 'field':
            names = self.list(self.name)
            self.need(':')
            kind = self.type()
            over = self.list(self.name) if self.take('over') else None
            if self.word() == 'at':
                raise Unsupported('staggered fields')
            return ('field', names, kind, self.properties(axes)['boundary'], over)
        if word == 'series':
            return ('series', self.list(self.name))
        if word == 'def':
            name, parameters = self.name(), []
            self.need('(')
            while not self.take(')'):
                parameters.append(self.name())
                self.take(',')
            self.need('=')
            return ('def', name, parameters, self.expression())
        if word == 'let':
            written, name = self.word(), self.name()
            if self.word() == 'at':
                raise Unsupported('staggered lets')
            boundary = self.properties(axes)['boundary']
            self.need('=')
            value = self.expression()
            if self.chosen and written == name:  # of this iteration alone
                self.chosen[name] = name = name + '?'.join(['', *self.chosen.values()])
            return ('let', name, boundary, value)
        if word == 'reduce':
            name = self.name()
            self.need('=')
            op = self.name()
            self.need('(')
            body = self.expression()
            self.need(')')
            start = self.expression() if self.take('start') else None
            cells = self.cells() if self.take('on') else []
            condition = self.expression() if self.take('where') else None
            return ('reduce', name, op, body, start, cells, condition)
        if word == 'sweep':
            axis, way = self.name(), self.name()
            return ('sweep', (axis, way), self.block(lambda: self.statement(axes)))
        if word == 'repeat':
            level = self.name() if self.word(1) in ('to', 'until') else None
            until = self.expression() if self.take('until') else None
            if until is not None:
                for word in (',', 'at', 'most'):
                    self.need(word)
            elif level is not None:
                self.need('to')
            return ('repeat', (level, self.expression(), until), self.block(lambda: self.statement(axes)))
        if word in ('on', 'where'):
            selector = self.cells() if word == 'on' else self.expression()
            return (word, selector, self.block(lambda: self.statement(axes)))
        if word == 'schedule':
            depth = 0
            while True:
                depth += {'{': 1, '}': -1}.get(self.word(), 0)
                self.at += 1
                if depth == 0:
                    return ('schedule',)
        if word == 'for' and self.lists_names(0):
            return self.name_loop(lambda: self.statement(axes))
        if word == 'for':
            return ('for', self.list(self.index), self.block(lambda: self.statement(axes)))
        raise Unsupported(f'statement {word!r}')

    def assignment(self):
        target = self.postfix()
        self.need('=')
        return ('assign', target, self.expression())

    def action(self):
        word = self.word()
        if self.word(1) == '=':
            return ('set', self.name(), self.need('=') and self.expression())
        if word not in ('grid', 'steps', 'rows', 'init', 'load', 'save', 'plot', 'movie', 'for'):
            raise Unsupported(f'run: {word!r}')
        self.at += 1
        if word == 'grid':
            return ('grid', self.list(self.expression))
        if word == 'rows':
            name = self.name()
            self.need('=')
            return ('rows', name, self.expression())
        if word == 'steps':
            return ('steps', self.expression(), self.expression() if self.take('until') else None)
        if word == 'for' and self.lists_names(0):
            return self.name_loop(self.action)
        if word == 'for':
            return ('for', self.list(self.index), self.block(self.action))
        part = self.postfix()
        if word == 'init':
            self.need('=')
            return ('init', part, self.expression())
        if word == 'load':
            self.need('from')
            return ('load', part, self.string())
        while self.kind() not in ('end', 'file') and self.word() != '}':
            self.at += 1
        return (word, part)

    def file(self):
        """({stencil name: (axes, statements)}, {stencil name: actions}, shared statements)."""
        stencils, runs, shared = {}, {}, []
        while self.kind() != 'file':
            if self.kind() == 'end':
                self.at += 1
            elif self.take('stencil'):
                name = self.name()
                self.need('(')
                axes = self.list(self.name)
                self.need(')')
                self.axes = axes
                stencils[name] = (axes, self.block(lambda: self.statement(axes)))
            elif self.take('run'):
                name = self.name()
                self.axes = stencils.get(name, ([],))[0]
                runs[name] = self.block(self.action)
            else:
                shared.append(self.statement([]))
        return stencils, runs, shared
