#!/usr/bin/env python3
"""Random specs, run by every engine and by an evaluator that shares nothing with the compiler; what differs is shrunk.
The specs in found/ come first: what was found so, and mended.

  oracle.py --haloc build/release/bin/haloc --seed 1 --seconds 40
  oracle.py --haloc … --spec FILE          # one spec, of the kinds that generate.py writes
Exit: 0 no difference, 1 differences (or most specs were refused or left out), 77 skipped (no numpy).
"""
import argparse
import itertools
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

from engines import Engines, concerned, differences
from generate import OPEN, Generator
from shrink import shrunk


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('--haloc', required=True)
    options.add_argument('--seed', type=int, default=1, help='of the first spec; the others follow')
    options.add_argument('--specs', type=int, default=10**9)
    options.add_argument('--seconds', type=float, default=10**9)
    options.add_argument('--axes', type=int, choices=(1, 2, 3, 4), help='of all specs; drawn, where it is not given')
    options.add_argument('--spec', help='a file, in the place of random specs')
    options.add_argument('--open', nargs='*', default=[], choices=OPEN, help='generate what is known to go wrong, too')
    options.add_argument('--without-cpu', action='store_true', help='of a build without LLVM')
    options.add_argument('--no-shrink', action='store_true')
    options.add_argument('--reports', help='a folder for what differs')
    given = options.parse_args()
    excused = set(OPEN) - set(given.open)
    began, happened, failed = time.monotonic(), Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        engines = Engines(str(Path(given.haloc).resolve()), folder, given.without_cpu)
        found_before = [] if given.axes else sorted((Path(__file__).parent / 'found').glob('*.halo'))
        files = [Path(given.spec)] if given.spec else found_before
        seeds = [] if given.spec else range(given.seed, given.seed + given.specs)
        for seed in itertools.chain(files, seeds):
            if time.monotonic() - began > given.seconds:
                break
            text = seed.read_text() if isinstance(seed, Path) else Generator(seed, given.open, given.axes).spec()
            what, found = differences(engines, text, excused=excused)
            happened[what] += 1
            if what != 'different':
                continue
            failed += 1
            if not given.no_shrink:
                ways = concerned(found)
                text, found = shrunk(text, found, lambda t: differences(engines, t, ways, excused=excused))
                engines.write(text)
                engines.command('fmt', '-w', str(engines.spec))
                text = engines.spec.read_text()
            report = f'# seed {seed}\n' + ''.join(f'# {line}\n' for f in found for line in f.splitlines()) + text
            print(report, flush=True)
            if given.reports:
                Path(given.reports, f'seed-{Path(str(seed)).stem}.halo').write_text(report)
        print(f'{sum(happened.values())} specs from seed {given.seed}, {engines.runs} runs of haloc, {failed} differences')
        for what, count in happened.most_common():
            print(f'  {count:6} {what}')
    if sum(happened.values()) >= 20 and happened['same'] < 0.5 * sum(happened.values()):
        print('the greater part of the specs was not compared: the generator or the evaluator has fallen behind the language')
        return 1
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
