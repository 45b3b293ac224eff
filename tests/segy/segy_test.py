#!/usr/bin/env python3
"""That segyio reads the traces which a run writes, and a run the models which segyio writes.

    segy_test.py HALOC

Skipped (77) where Python cannot import numpy and segyio.
"""

import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import segyio
    from segyio import TraceField as T
except ImportError as missing:
    print(f"left out: {missing}")
    sys.exit(77)

SHOT = """stencil wave(x, z) {
    param dt = 0.001 unit "s"
    spacing x = 10, z = 10
    field p: f32 { boundary fixed 0 }
    points shot, phones
    p[t+1] = 2*p - p[t-1] + (dt * 1500)^2 * laplacian(p)
    inject p[t+1] at shot += shot.wavelet[t]
    sample p at phones into phones.trace[t]
}
run wave {
    grid 30, 20
    steps 50
    shot at [105.5, 20]
    init shot.wavelet = exp(-((step - 10) / 8)^2)
    phones at [50 + 25.25 * i, 12.5] for i in 0..5
    save phones.trace to "shot.sgy"
    save phones.trace to "shot.npy"
}
"""
MODEL = """stencil model(x, y, z) {
    field c: f32
    field d: f64
    d = c
}
run model {
    grid 5, 3, 4
    load c from "m.segy"
    save d to "d.npy"
}
"""
SECTION = """stencil section(x, z) {
    field c: f32
    field d: f64
    d = c
}
run section {
    grid 15, 4
    load c from "m.segy"
    save d to "d.npy"
}
"""
HALOC = os.path.abspath(sys.argv[1])


def run(spec, *options, code=0, **environment):
    with open("spec.halo", "w") as file:
        file.write(spec)
    command = [HALOC, "run", "spec.halo", "-q", "--device", "interpreter", *options]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == code, (options, done.returncode, done.stderr)
    return done.stderr


def refused(words, *arguments, code=4, **environment):
    said = run(*arguments, code=code, **environment)
    assert words in said, said


def write_model(number, lines, samples=4):
    spec = segyio.spec()
    spec.format, spec.sorting, spec.samples = number, 2, np.arange(samples) * 4.0
    spec.tracecount = len(lines)
    with segyio.create("m.segy", spec) as file:
        for i, (line, cross) in enumerate(lines):
            file.header[i] = {T.INLINE_3D: line, T.CROSSLINE_3D: cross}
            file.trace[i] = np.float32([line * 1000 + cross * 10 + k for k in range(samples)])


def check_shot():
    run(SHOT)
    wanted = np.load("shot.npy").astype("f4")
    assert abs(wanted).max() > 0
    with segyio.open("shot.sgy", ignore_geometry=True) as file:
        assert file.tracecount == 6 and list(file.samples[:3]) == [0, 1, 2] and int(file.format) == 5
        assert segyio.tools.dt(file) == 1000
        assert np.array_equal(file.trace.raw[:].T, wanted)
        for i, header in enumerate(file.header):
            # 75.25 and 12.5 need two digits.
            assert header[T.SourceGroupScalar] == header[T.ElevationScalar] == -100
            assert (header[T.GroupX], header[T.GroupY]) == (5000 + 2525 * i, 0)
            assert header[T.ReceiverGroupElevation] == -1250
            assert (header[T.SourceX], header[T.SourceDepth]) == (10550, 2000)
            assert header[T.TRACE_SAMPLE_INTERVAL] == 1000 and header[T.TRACE_SAMPLE_COUNT] == 50
        assert bytes(file.text[0]).startswith(b"C 1 phones.trace of wave, written by Halocline")


def check_model():
    lines = [(line, cross) for line in (10, 12, 14) for cross in (1, 2, 3, 4, 5)]
    k, j, i = np.mgrid[0:4, 0:3, 0:5]
    for number in 1, 5:  # floats of IBM and IEEE
        for order in lines, sorted(lines, key=lambda each: each[::-1]), lines[::-1]:
            write_model(number, order)
            run(MODEL)
            assert np.array_equal(np.load("d.npy"), (10 + 2 * j) * 1000 + (i + 1) * 10 + k)
        run(SECTION)  # of two axes: the traces as they come
        assert np.array_equal(np.load("d.npy")[:, 0], 14000 + 50 + np.arange(4))
    refused("its shape is (4, 3, 5), and field c needs (3, 4, 5)", MODEL, "--grid", "5,4,3")
    refused("libsegyio is not found (apt-get install libsegyio1", MODEL, HALOCLINE_SEGYIO="/none")
    write_model(5, lines[:-1] + [(14, 4)])
    refused("its 15 traces are no regular grid: their headers have 3 numbers of inlines", MODEL)
    write_model(3, lines)
    refused("its samples have format 3", MODEL)
    write_model(5, lines)
    whole = open("m.segy", "rb").read()
    for size in 0, 100, 3599, 3600, len(whole) - 1:
        with open("m.segy", "wb") as file:
            file.write(whole[:size])
        refused("it is no SEG-Y file", MODEL)
    os.remove("m.segy")
    refused("No such file", MODEL)


def check_refusals():
    usage = {"code": 2}
    refused("from 1 to 32767 between two samples, and dt is 123.45", SHOT, "--set", "dt=0.00012345", **usage)
    refused("a trace of SEG-Y has 65535 samples at most", SHOT, "--steps", "65536", **usage)
    refused("libsegyio is not found", SHOT, HALOCLINE_SEGYIO="/none")
    refused("must end in .npy", SHOT, "--save", "p=p.sgy", **usage)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_shot()
    check_model()
    check_refusals()
    os.chdir("/")
print("segyio reads and writes them")
