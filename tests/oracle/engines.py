"""Runs `haloc` on a spec, by several engines and options, and says what disagrees with the evaluator or each other."""
import json
import os
import re
import subprocess
from dataclasses import dataclass, field as of
from pathlib import Path

import numpy as np

from evaluate import evaluate
from syntax import Unsupported

INTERPRETER, CPU = ('--device', 'interpreter'), ('--device', 'cpu')
# name: (arguments, environment, arithmetic as written)
WAYS = {
    'cpu strict': (CPU + ('--strict-fp',), {'HALO_NUM_THREADS': '2'}, True),
    'interpreter strict': (INTERPRETER + ('--strict-fp',), {}, True),
    'interpreter': (INTERPRETER, {}, False),
    'cpu': (CPU, {'HALO_NUM_THREADS': '1'}, False),
    'cpu, 3 threads': (CPU, {'HALO_NUM_THREADS': '3'}, False),
    'cpu, 2 pieces': (CPU + ('--devices', '2'), {}, False),
}
# What the words "never silently wrong" leave: done, a mistake in the spec or the command, trouble at run time, files.
TOLD = (1, 2, 3, 4)
FUNCTIONS = re.compile(r'\b(exp|log|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|cbrt|pow|random|normal|rsqrt)\b|\^')


@dataclass
class Outcome:
    code: int
    words: str
    fields: dict = of(default_factory=dict)
    reductions: dict = of(default_factory=dict)
    steps: int = 0


class Engines:
    def __init__(self, haloc, folder, without_cpu=False, timeout=60):
        self.haloc, self.folder, self.timeout = haloc, Path(folder), timeout
        self.ways = [w for w in WAYS if not (without_cpu and w.startswith('cpu'))]
        self.runs = 0
        self.spec = self.folder / 'spec.halo'
        self.environment = dict(os.environ, HALOCLINE_CACHE=str(self.folder / 'cache'))

    def command(self, *arguments, environment=None):
        """(exit code, standard output, standard error); a signal is a negative code, as is -1000 for no end."""
        self.runs += 1
        try:
            done = subprocess.run([self.haloc, *arguments], cwd=self.folder, capture_output=True, timeout=self.timeout,
                                  env={**self.environment, **(environment or {})}, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return -1000, '', f'no end in {self.timeout} s'
        return done.returncode, done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace')

    def write(self, text):
        self.spec.write_text(text)

    def check(self):
        return self.command('check', '-q', str(self.spec))

    def run(self, way, fields, more=()):
        arguments, environment, _ = WAYS[way]
        for f in fields:
            (self.folder / f'{f}.npy').unlink(missing_ok=True)
            more = (*more, '--save', f'{f}={f}.npy')
        code, out, err = self.command('run', '-q', '--json', '--no-watch', *arguments, *more, str(self.spec), environment=environment)
        outcome = Outcome(code, err.strip())
        if code == 0:
            told = json.loads(out)
            outcome.steps, outcome.reductions = told['steps'], {k: number(v) for k, v in told['reductions'].items()}
            outcome.fields = {f: np.load(self.folder / f'{f}.npy') for f in fields}
        return outcome


def loaded(text, folder):
    """The arrays that a spec loads by the names data-0.npy …, written to a folder: {name: array}."""
    grid = re.search(r'^\s*grid ([\d, ]+)', text, re.M)
    arrays = {}
    for name, seed in re.findall(r'from "(data-(\d+)\.npy)"', text) if grid else ():
        random = np.random.default_rng(int(seed))
        shape = [int(n) for n in grid.group(1).split(',')][::-1]
        array = np.round(random.normal(0, 40, shape), 1).astype(random.choice((np.float32, np.float64)))
        special = (-0.0, 0.5, 1.5, -2.5, 1e-41, 70000.0, 3e9, np.inf, np.nan)[:9 if int(seed) % 3 == 0 else 5]
        array.flat[random.integers(0, array.size, array.size // 6)] = random.choice(special)
        arrays[name] = array
        np.save(folder / name, array)
    return arrays


def number(text):
    return float('nan') if text is None else float(text)


def wrong_end(outcome):
    """What is wrong with how a command ended, or None: done, or refused in words."""
    if outcome.code == 0:
        return None
    if outcome.code not in TOLD:
        return f'exit {outcome.code}: {outcome.words[-300:]}'
    if not outcome.words:
        return f'exit {outcome.code} without a word'
    if re.search(r'damaged|internal|not finite|mistake in haloc', outcome.words):
        return f'exit {outcome.code}: {outcome.words[-300:]}'
    return None


def same_bits(a, b):
    if a.dtype.kind == 'c':
        return same_bits(a.real, b.real) & same_bits(a.imag, b.imag)
    if a.dtype.kind == 'f' or b.dtype.kind == 'f':
        a, b = a.astype(np.float64), b.astype(np.float64)
        return (a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)
    return a == b


def off(found, expected, error):
    """Where a number is not what it must be."""
    exactly = same_bits(found, expected)
    with np.errstate(invalid='ignore'):
        near = np.abs(found.astype(np.float64) - expected.astype(np.float64)) <= error
    return ~exactly & ~(near & (error > 0)) & ~np.isinf(error)


def first(mask, found, expected, error=None):
    at = tuple(int(i) for i in np.argwhere(mask)[0])
    text = f'{int(mask.sum())} cells, first {at[::-1]}: {found[at]!r}, not {expected[at]!r}'
    return text + (f' ± {error[at]:.3g}' if error is not None and error[at] else '')


def against_evaluator(way, outcome, expected):
    if outcome.steps != expected.steps:
        yield f'{way}: {outcome.steps} steps, not {expected.steps}'
        return
    for name, (v, error) in expected.fields.items():
        if name not in outcome.fields:
            continue
        found = outcome.fields[name]
        if found.shape != v.shape:
            yield f'{way}: {name} has the shape {found.shape}, not {v.shape}'
            continue
        wrong = off(found, v, error)
        if wrong.any():
            yield f'{way}: {name}: {first(wrong, found, v, error)}'
    for name, (v, error) in expected.reductions.items():
        found = np.array(outcome.reductions.get(name, np.nan))
        wrong = off(found, np.array(v), np.array(error)) & (found != v)  # of zeros either
        if np.isfinite(v) and wrong.any():
            yield f'{way}: {name} = {found}, not {v} ± {error:.3g}'


def against_each_other(one, a, other, b, unknown):
    for name, found in b.fields.items():
        wrong = ~same_bits(found, a.fields[name]) & ~unknown.get(name, False)
        if wrong.any():
            yield f'{other} against {one}: {name}: {first(wrong, found, a.fields[name])}'


def concerned(found):
    """The ways that these differences name: what a shrinker needs to run."""
    heads = [f.split(':')[0] for f in found]
    return [w for w in WAYS if any(w in (h, *h.split(' against '), *h.split(', ')) for h in heads)] or list(WAYS)


def differences(engines, text, ways=None, fields=None, excused=()):
    """(what happened, [differences]); what happened: 'same', 'refused', 'left out: …' or 'different'."""
    engines.write(text)
    code, out, err = engines.check()
    checked = Outcome(code, err.strip() or out.strip())
    if code != 0:
        wrong = wrong_end(checked) or (None if code == 1 else f'check: exit {code}')
        return ('different', [f'check: {wrong}']) if wrong else ('refused', [checked.words])
    left_out, expected, data = '', {}, loaded(text, engines.folder)
    for strict in (False, True):
        try:
            expected[strict] = evaluate(text, strict=strict, data=data, excused=excused)
            fields, left_out = list(expected[strict].fields), ''
        except Unsupported as reason:
            left_out = f'left out: {reason}'
    if fields is None:
        fields = re.findall(r'^\s*field ([\w, ]+):', text, re.M)
        fields = list(dict.fromkeys(f.strip() for names in fields for f in names.split(',')))  # those of a chain once
    found, outcomes = [], {}
    for way in ways or engines.ways:
        outcome = outcomes[way] = engines.run(way, fields)
        wrong = wrong_end(outcome)
        if 'component-grids' in excused and outcome.code and 'the boundary of' in outcome.words:
            return 'refused', [outcome.words]
        if wrong:
            found.append(f'{way}: {wrong}')
        elif outcome.code == 0 and WAYS[way][2] in expected:
            found += against_evaluator(way, outcome, expected[WAYS[way][2]])
    ran = {w: o for w, o in outcomes.items() if o.code == 0}
    whole = [w for w in outcomes if 'pieces' not in w]
    if ran and not all(w in ran for w in whole):
        refused = [w for w in whole if w not in ran]
        found.append(f'{", ".join(refused)}: refused alone: {outcomes[refused[0]].words[-300:]}')
    sums = re.findall(r'reduce\s+(\w+)\s*=\s*(?:sum|mean|norm1|norm2)', text)
    exact_engines = not FUNCTIONS.search(text) and not any(len(re.findall(rf'\b{r}\b', text)) > 1 for r in sums)
    exact_engines = exact_engines and not re.search(r'\busing\s+(cg|multigrid|bicgstab)\b', text)  # what they do follows from sums
    unknown = {}
    if 'free-outputs' in excused:
        exact_engines = exact_engines and True in expected
    if excused and True in expected:
        unknown = {n: np.isinf(e) for n, (_, e) in expected[True].fields.items()}
    pairs = [('cpu', 'cpu, 3 threads'), ('cpu', 'cpu, 2 pieces')]
    pairs += [('interpreter', 'cpu'), ('interpreter strict', 'cpu strict')] if exact_engines else []
    for one, other in pairs:
        if one in ran and other in ran:
            found += against_each_other(one, ran[one], other, ran[other], unknown)
    if found:
        return 'different', found
    if not ran:
        return 'refused', [next(iter(outcomes.values())).words]
    return left_out or 'same', []
