#!/usr/bin/env python3
"""Mutated specs, end to end: what `haloc check` accepts runs on every engine with one answer, or is refused in words.

  mutate.py --haloc build/release/bin/haloc --seed 1 --seconds 20
Takes the examples and generated specs, changes tokens and lines, makes grids small, and runs check, emit and run. Wrong are:
a signal, exit 5, no end, a refusal without words, an engine that refuses alone, engines that disagree, and, where the
evaluator knows the language, another answer than its. Exit: 0 nothing found, 1 found, 77 skipped (no numpy).
"""
import argparse
import random
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

try:
    import numpy  # noqa: F401
except ImportError:
    print('skipped: python3 has no numpy here (scripts/setup installs python3-numpy)')
    sys.exit(77)

from engines import Engines, Outcome, concerned, differences, wrong_end
from generate import OPEN, Generator
from shrink import TOKEN, shrunk

EXAMPLES = Path(__file__).resolve().parent.parent.parent / 'dsl_examples'
SWAPS = ['periodic', 'clamp', 'mirror', 'antimirror', 'symmetric', 'free', 'f32', 'f64', 'f16', 'i32', 'i64', 'u8', 'bool', '+', '-',
         '*', '/', '^', '<', '==', '0', '1', '2', '-1', '1e30', '1/3', 'x', 'y', 't', 'u', 'if', 'then', 'else', '(', ')', '[', ']', '{',
         '}', ',', ':', '..', '.low', '.high', 'sum', 'max', 'min', 'abs', 'idx(x)', 'pos(x)', 'len(x)', 'and', 'not', 'param', 'let',
         'field', 'where', 'on', 'reduce', 'fixed', 'laplacian', '[t+1]', '[t-1]', '[x+1]', '[x-2]', 'time', 'step', 'pi']
ALIKE = (('periodic', 'clamp', 'mirror', 'antimirror', 'symmetric', 'antisymmetric', 'free', 'fixed 1', 'extrapolate 1', 'gradient 1'),
         ('f32', 'f64', 'f16', 'bf16', 'i32', 'i64', 'u8', 'bool'), ('+', '-', '*', '/'), ('<', '<=', '==', '!=', '>', '>='),
         ('x', 'y', 'z'), ('and', 'or'), ('min', 'max', 'sum', 'mean', 'norm1', 'norm2'), ('low', 'high'), ('sqrt', 'abs', 'floor', 'exp', 'sin'),
         ('laplacian', 'abs'), ('on', 'where'), ('idx', 'pos', 'len'), ('t', 'x'))
EMITTED = ((), ('--target', 'cpu'), ('--schedule', 'direct'), ('--schedule', 'tile'), ('--schedule', 'stream'),
           ('--schedule', 'temporal'), ('--strict-fp',), ('--target', 'plan'))


def seeds_of_text(rng):
    """A text to begin with: an example with its run block, or a generated spec."""
    if rng.random() < 0.6:
        return Generator(rng.randrange(10**6)).spec()
    text = rng.choice(sorted(EXAMPLES.glob('*.halo'))).read_text()
    return text if 'run ' in text else Generator(rng.randrange(10**6)).spec()


def mutated(text, rng):
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5))):
        lines = text.splitlines(keepends=True)
        tokens = TOKEN.findall(text)
        what = rng.choice(('line out', 'line twice', 'lines swapped', 'token out', 'token twice', 'token swapped', 'token other')
                          + 4 * ('number', 'offset', 'alike', 'alike', 'name'))
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        k, m = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        if what == 'line out':
            lines.pop(i)
        elif what == 'line twice':
            lines.insert(j, lines[i])
        elif what == 'lines swapped':
            lines[i], lines[j] = lines[j], lines[i]
        elif what == 'token out':
            tokens.pop(k)
        elif what == 'token twice':
            tokens.insert(m, tokens[k])
        elif what == 'token swapped':
            tokens[k], tokens[m] = tokens[m], tokens[k]
        elif what == 'token other':
            tokens[k] = rng.choice(SWAPS)
        elif what == 'number':
            numbers = [n for n, t in enumerate(tokens) if re.fullmatch(r'\d+(\.\d+)?', t)]
            if numbers:
                tokens[rng.choice(numbers)] = rng.choice(('0', '1', '2', '3', '0.5', '7', '100', '1e9', '-1', '1/3'))
        elif what == 'alike':
            some = [(n, kind) for n, t in enumerate(tokens) for kind in ALIKE if t in kind]
            if some:
                n, kind = rng.choice(some)
                tokens[n] = rng.choice(kind)
        elif what == 'name':  # of the spec's own, for another
            own = re.findall(r'^\s*(?:field|let|param|const|reduce)\s+(\w+)', text, re.M)
            places = [n for n, t in enumerate(tokens) if t in own]
            if places:
                tokens[rng.choice(places)] = rng.choice(own)
        else:
            reads = [n for n, t in enumerate(tokens) if t == ']']
            if reads:
                tokens[rng.choice(reads)] = rng.choice(('+1]', '-1]', ', x+1]', ', x-2]', ', t-1]'))
        text = ''.join(lines) if what.startswith('line') else ''.join(tokens)
    return text


def small(text):
    """The spec with a run that takes no time and writes no files."""
    text = re.sub(r'^(\s*)(save|plot|movie)\b.*$', '', text, flags=re.M)
    text = re.sub(r'\bsteps\s+(?!\d\b)[\w.]+', 'steps 3', text)

    def shrink(found):
        sizes = re.findall(r'[^,]+', found.group(1))
        return 'grid ' + ', '.join(str(9 - 2 * i) for i in range(len(sizes)))
    return re.sub(r'\bgrid\s+([^\n;}]*)', shrink, text)


def examined(engines, text, excused, ways=None):
    """(what happened, [what is wrong])."""
    what, found = differences(engines, text, ways, excused=excused)
    if what == 'refused':
        return what, found
    for arguments in EMITTED:
        code, out, err = engines.command('emit', '-q', *arguments, str(engines.spec))
        wrong = wrong_end(Outcome(code, err.strip()))
        if wrong:
            found = found + [f'emit {" ".join(arguments)}: {wrong}']
    return ('different', found) if found else (what, [])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('--haloc', required=True)
    options.add_argument('--seed', type=int, default=1)
    options.add_argument('--seconds', type=float, default=20)
    options.add_argument('--specs', type=int, default=10**9)
    options.add_argument('--open', nargs='*', default=[], choices=OPEN, help='count what is known to go wrong, too')
    options.add_argument('--without-cpu', action='store_true', help='of a build without LLVM')
    options.add_argument('--no-shrink', action='store_true')
    options.add_argument('--reports', help='a folder for what is found')
    given = options.parse_args()
    excused = set(OPEN) - set(given.open)
    began, happened, failed, seed = time.monotonic(), Counter(), 0, given.seed
    with tempfile.TemporaryDirectory() as folder:
        engines = Engines(str(Path(given.haloc).resolve()), folder, given.without_cpu)
        while time.monotonic() - began < given.seconds and seed < given.seed + given.specs:
            rng = random.Random(seed)
            text = small(mutated(small(seeds_of_text(rng)), rng))
            what, found = examined(engines, text, excused)
            happened[what.split(':')[0]] += 1
            if what == 'different':
                failed += 1
                if not given.no_shrink:
                    ways = concerned(found)
                    text, found = shrunk(text, found, lambda t: examined(engines, t, excused, ways))
                report = f'# seed {seed}\n' + ''.join(f'# {line}\n' for f in found for line in f.splitlines()) + text
                print(report, flush=True)
                if given.reports:
                    Path(given.reports, f'mutated-{seed}.halo').write_text(report)
            seed += 1
        print(f'{seed - given.seed} mutated specs from seed {given.seed}, {engines.runs} runs of haloc, {failed} found')
        for what, count in happened.most_common():
            print(f'  {count:6} {what}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
