"""Closing, threads, forks and signals."""

import gc
import multiprocessing
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import HEAT, heat_by_numpy

import halocline as hl


def test_use_after_close(heat, start):
    with heat.simulate((24, 16), device="cpu") as sim:
        sim.u = start
        kept = sim.u
    assert sim.closed and "closed" in repr(sim)
    assert np.array_equal(kept, start)
    for use in (
        lambda: sim.run(1),
        lambda: sim.until("change < 1"),
        lambda: sim.u,
        lambda: setattr(sim, "u", 0),
        lambda: sim.dt,
        lambda: setattr(sim, "dt", 1),
        lambda: sim.reductions["change"],
        lambda: sim.params["dt"],
        lambda: sim["u"],
        lambda: sim.read("u"),
        lambda: sim.steps_done,
        lambda: sim.wait(),
        lambda: sim.save("u.npy"),
        lambda: sim.pieces,
        lambda: sim.__enter__(),
    ):
        with pytest.raises(hl.ClosedError, match="was closed"):
            use()
    sim.close()


def test_threads_have_simulations_of_their_own(heat, start):
    results = {}

    def work(i):
        device = hl.Device("cpu", threads=1) if i % 2 else "cpu"
        sim = heat.simulate((24, 16), device=device, dt=0.05 * (1 + i % 4))
        sim.u = start
        for _ in range(10):
            sim.run(10)
        results[i] = sim.read("u")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for i in range(8):
        assert np.allclose(results[i], heat_by_numpy(start, 100, 0.05 * (1 + i % 4)), rtol=1e-4)
        assert np.array_equal(results[i], results[i % 4])


def test_a_simulation_that_is_used_by_several_threads(heat, start):
    sim = heat.simulate((24, 16), device="cpu")
    sim.u = start
    shown, stop, mistakes = [], threading.Event(), []

    def look():
        try:
            while not stop.is_set():
                array = np.asarray(sim.u)
                copy = array.copy()
                time.sleep(0.001)
                if not np.array_equal(array, copy):  # it keeps its values, whatever is done meanwhile
                    mistakes.append("changed")
                shown.append(array)
                sim.reductions if sim.steps_done else None
        except Exception as error:
            mistakes.append(error)

    threads = [threading.Thread(target=look) for _ in range(3)]
    [thread.start() for thread in threads]
    for _ in range(50):
        sim.run(4)
    stop.set()
    [thread.join() for thread in threads]
    assert not mistakes and shown and sim.steps_done == 200
    alone = heat.simulate((24, 16), device="cpu")
    alone.u = start
    assert np.array_equal(alone.run(200).read("u"), sim.read("u"))


def test_the_gil_is_free_while_steps_are_done(heat):
    sim = heat.simulate((1500, 1500), device=hl.Device("cpu", threads=1))
    sim.run(1)
    counted = [0]
    done = threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    sim.run(100)
    done.set()
    thread.join()
    assert counted[0] > 5


def test_compiling_in_threads():
    programs = []
    threads = [threading.Thread(target=lambda: programs.append(hl.compile(HEAT))) for _ in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert [program.name for program in programs] == ["heat"] * 6


def in_child(queue, sim, program):
    said = []
    for use in (lambda: sim.run(1), lambda: sim.u, lambda: sim.read("u"), lambda: program.simulate((8, 8), device="cpu")):
        try:
            use()
            said.append("nothing")
        except hl.ForkError as error:
            said.append(str(error))
    fresh = hl.compile(HEAT).simulate((8, 8), device="cpu")
    fresh.u = 3
    said.append(fresh.run(2).steps_done)
    del sim, program, fresh
    gc.collect()
    queue.put(said)


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_fork(heat, start):
    sim = heat.simulate((24, 16), device="cpu")
    sim.u = start
    sim.run(1)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_child, args=(queue, sim, heat))
    child.start()
    said = queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0
    assert [("before the process forked" in each and "spawn" in each) for each in said[:4]] == [True] * 4
    assert said[4] == 2
    sim.run(1)
    assert sim.steps_done == 2


INTERRUPTED = """
import signal, sys, threading, os, time
import halocline as hl
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may start what is in its background without
sim = hl.compile({spec!r}).simulate((700, 700), device="cpu")
sim.run(1)
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begin = time.monotonic()
try:
    {call}
except KeyboardInterrupt:
    done = sim.steps_done
    print("interrupted", done > 1 and time.monotonic() - begin < 10, sim.run(2).steps_done == done + 2)
"""


@pytest.mark.parametrize("call", ["sim.run(10**9)", "sim.until('change < 0')", "sim.run(10**9, progress=True)"])
def test_ctrl_c_ends_a_run(call):
    code = INTERRUPTED.format(spec=HEAT, call=call)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "interrupted True True\n", done.stderr


def test_one_calm_line_where_there_is_no_gpu():
    if len(hl.devices()) > 1:
        pytest.skip("there is a GPU")
    code = f"import halocline as hl\np = hl.compile({HEAT!r})\nfor i in range(3): p.simulate((8, 8)).run(1)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    lines = done.stderr.splitlines()
    assert done.returncode == 0 and len(lines) == 1 and lines[0].startswith("no GPU is used:"), done.stderr


def test_nothing_is_left_at_the_end():
    """nanobind tells of what leaked when the interpreter ends."""
    code = f"import halocline as hl, numpy as np\nsim = hl.compile({HEAT!r}).simulate((8, 8), device='cpu')\n"
    code += "a = np.asarray(sim.u); b = np.from_dlpack(sim.u); c = sim.u.__dlpack__(); sim.run(3); sim.close()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_memory_comes_back(heat):
    """A thousand views and detached copies do not add up."""
    sim = heat.simulate((512, 512), device="cpu")  # 1 MiB a level

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    for _ in range(20):
        kept = np.asarray(sim.u)
        sim.run(1)
    before = resident()
    for _ in range(300):
        kept = np.asarray(sim.u)
        sim.run(1)
    assert resident() - before < 64 << 20
    del kept

