"""What a page can ask a run for, by HTTP alone."""

import json
import os
import socket
import sys
import threading
import unittest

import shown_run
from shown_run import Folder, Refused, ShownRun, cells_of_picture, read_png

# Each step multiplies by a param, so that values tell which it was.
GROWTH = """stencil growth(x, y) {
    param factor = 2
    param dt = 0.5
    param shift: i32 = 0
    field u: f64
    u[t+1] = u * factor + shift
    reduce largest = max(u[t+1])
}

run growth {
    grid 6, 4
    init u = idx(x) + 10*idx(y) + 1
    plot u to "u.png" range 0..100
}
"""

WAVE = """stencil wave(x, y) {
    field u: f32 { boundary clamp }
    u[t+1] = 2*u - u[t-1] + 0.25 * laplacian(u)
}

run wave {
    grid 40, 24
    steps 12
    init u = exp(-((x - 12)^2 + (y - 9)^2) / 8)
    plot u to "u.png"
    save u to "u.npy" every 5
}
"""

KINDS = """stencil kinds(x, y, z) {
    field wind: f32 over z { boundary clamp }
    field floor: f64 over x, y
    field psi: c64 { boundary periodic }
    field age: u8
    field alive: bool
    psi[t+1] = psi * 1i
    age[t+1] = age + 1
    alive[t+1] = not alive
    field mixed: f32 { boundary clamp }
    mixed[t+1] = mixed + wind + floor
}

run kinds {
    grid 5, 4, 3
    steps 3
    init psi = 1 + 2i
    init wind = idx(z)
    init floor = idx(x) + 5*idx(y)
    init mixed = idx(x) + 10*idx(y) + 100*idx(z)
}
"""


def by_step(curve):
    return dict(zip(curve["steps"], curve["values"]))


class Shown(unittest.TestCase):
    def refused(self, status, words, ask):
        with self.assertRaises(Refused) as caught:
            ask()
        self.assertEqual(caught.exception.status, status, caught.exception.text)
        self.assertIn(words, caught.exception.text)

    def test_pictures_are_those_that_a_run_writes(self):
        with Folder(wave=WAVE) as folder, ShownRun(folder, "view", "wave.halo", "--paused") as run:
            frame = run.steps(7, "field=u")
            done = folder.haloc("run", "wave.halo", "--steps", "7", "--device", "interpreter")
            self.assertEqual(done.returncode, 0, done.stderr)
            written = (folder.path / "u.png").read_bytes()
            self.assertEqual(run.ask("picture.png?field=u"), written)
            self.assertEqual(frame["pixels"], cells_of_picture(read_png(written), 40, 24))
            self.assertEqual(frame["shown"][1], {"axis": "y", "label": "y", "cells": 24, "first": 0, "last": 23, "flipped": False})

    def test_a_view_awaits_its_page_and_the_end_awaits_ctrl_c(self):
        with Folder(wave=WAVE) as folder, ShownRun(folder, "view", "wave.halo") as run:
            self.assertEqual(run.json("curves"), {"reductions": {}, "probes": []})  # no picture was asked for yet
            self.assertEqual(run.frame("field=u")["step"], 0)
            frame = run.wait_for(lambda each: each["state"] == "finished", "field=u")
            self.assertEqual((frame["step"], frame["how"]), (12, "finished"))
            self.refused(400, "the run has ended", lambda: run.ask("param", {"name": "none", "value": "1"}))
            self.assertEqual(run.json("resume", {})["state"], "finished")
            code, out, _ = run.interrupt()
            self.assertEqual(code, 130)
            self.assertIn("12 steps in", out)
            self.assertEqual(sorted(os.listdir(folder.path)), ["wave.halo"])  # a view writes nothing

    def test_a_view_without_steps_has_no_end(self):
        with Folder(growth=GROWTH.replace("u * factor", "u")) as folder, ShownRun(folder, "view", "growth.halo") as run:
            self.assertIn("6 × 4 cells, no end, on interpreter", run.words.replace(" x ", " × "))
            self.assertNotIn("steps", run.json("facts"))
            run.wait_for(lambda each: each["step"] > 1000, "field=u")
            code, _, words = run.interrupt()
            self.assertEqual(code, 130)
            self.assertRegex(words, r"interrupted after step \d+\n")
        with Folder(growth=GROWTH[:GROWTH.index("run growth")]) as folder:
            refused = folder.haloc("view", "growth.halo")
            self.assertEqual(refused.returncode, 2)
            self.assertIn("how large is the grid?", refused.stderr)
            with ShownRun(folder, "view", "growth.halo", "--grid", "5,5", "--until", "largest > 0", "--init", "u=1") as run:
                frame = run.wait_for(lambda each: each["state"] == "finished", "field=u")
                self.assertEqual((frame["step"], frame["how"]), (1, "stopped by until largest > 0"))

    def test_steps_and_params_by_hand(self):
        with Folder(growth=GROWTH) as folder, ShownRun(folder, "view", "growth.halo", "--paused", "--set", "factor=3") as run:
            run.json("probe", {"field": "u", "cell": {"x": 2, "y": 1}})
            run.steps(2, "field=u")
            run.json("param", {"name": "factor", "value": "1/2"})
            run.json("param", {"name": "shift", "value": "7"})
            frame = run.steps(1, "field=u")
            curves = run.json("curves")
            seen = by_step(curves["probes"][0])  # at other steps, too: pieces of work end there
            self.assertEqual((seen[0], seen[2], seen[3]), (13, 117, 65.5))
            largest = by_step(curves["reductions"]["largest"])
            self.assertEqual((largest[2], largest[3]), (324, 169))
            self.assertEqual(frame["params"], {"factor": 0.5, "dt": 0.5, "shift": 7})
            self.assertEqual((frame["changes"], frame["time"], frame["state"]), (2, 1.5, "paused"))
            self.assertEqual(frame["reductions"], {"largest": 36 * 9 / 2 + 7})
            run.json("param", {"name": "dt", "value": "2"})
            self.assertEqual(run.frame("field=u")["time"], 6)

            self.refused(400, "shift: 1/2 is no whole number", lambda: run.ask("param", {"name": "shift", "value": "1/2"}))
            self.refused(400, "no param `factr`", lambda: run.ask("param", {"name": "factr", "value": "1"}))
            self.refused(400, "factor", lambda: run.ask("param", {"name": "factor", "value": "fast"}))
            self.refused(400, "1 or more", lambda: run.ask("step", {"steps": 0}))
            self.refused(400, "steps", lambda: run.ask("step", {}))
            self.refused(400, "numbered from 0 to 5", lambda: run.ask("probe", {"field": "u", "cell": {"x": 6, "y": 0}}))
            self.refused(400, "no field `v`", lambda: run.ask("frame?field=v"))
            self.refused(400, "", lambda: run.ask("step", "no JSON {"))
            for _ in range(7):  # and that from before
                run.json("probe", {"field": "u", "cell": {"x": 0, "y": 0}})
            self.refused(400, "8 probes already", lambda: run.ask("probe", {"field": "u", "cell": {"x": 0, "y": 0}}))
            run.json("forget", {"probe": 1})
            self.assertEqual([probe["probe"] for probe in run.json("curves")["probes"]], [2, 3, 4, 5, 6, 7, 8])
            _, out, _ = run.interrupt()
            self.assertIn("changed by hand: factor = 0.5 after step 2\n", out)
            self.assertIn("changed by hand: dt = 2 after step 3\n", out)

    def test_a_param_that_is_too_large_is_remarked_on(self):
        spec = WAVE.replace("{ boundary clamp }", "{ boundary clamp }\n    param dt = 0.5").replace("0.25", "dt^2")
        with Folder(wave=spec) as folder, ShownRun(folder, "view", "wave.halo", "--paused") as run:
            self.assertEqual(run.frame("field=u")["remark"], "")
            self.assertIn("dt = 0.9 is above 0.7071", run.json("param", {"name": "dt", "value": "0.9"})["remark"])
            self.assertEqual(run.json("param", {"name": "dt", "value": "0.4"})["remark"], "")

    def test_fields_of_all_kinds(self):
        with Folder(kinds=KINDS) as folder, ShownRun(folder, "view", "kinds.halo", "--paused") as run:
            fields = {field["name"]: field for field in run.json("facts")["fields"]}
            self.assertEqual(fields["wind"]["axes"], ["z"])
            self.assertEqual(fields["mixed"]["cut"], {"axis": "z", "index": 1})
            complex_parts = [name for name in fields if name.startswith("psi")]
            self.assertEqual(len(complex_parts), 2)
            wind = run.frame("field=wind")
            self.assertEqual((wind["kind"], wind["least"]), ("line", [0, 1, 2]))
            floor = run.frame("field=floor")
            self.assertEqual((floor["width"], floor["height"], floor["high"]), (5, 4, 19))
            for axis, size, low in (("x", (4, 3), 2), ("y", (5, 3), 20), ("z", (5, 4), 200)):
                frame = run.frame(f"field=mixed&axis={axis}&index=2")
                self.assertEqual(((frame["width"], frame["height"]), frame["low"]), (size, low))
            self.refused(400, "numbered from 0 to 2", lambda: run.ask("frame?field=mixed&axis=z&index=3"))
            self.refused(400, "shows all of it, not a slice", lambda: run.ask("frame?field=floor&axis=x&index=0"))
            age = run.frame("field=age")
            self.assertEqual((age["low"], age["high"], age["pixels"][0][0]), (0, 255, (0, 0, 0)))
            self.assertEqual(run.frame("field=alive")["high"], 1)
            for name in complex_parts:
                self.assertEqual(run.frame(f"field={name}")["width"], 5)
            run.json("probe", {"field": "wind", "cell": {"z": 2}})
            self.assertEqual(run.json("curves")["probes"][0]["cell"], {"z": 2})

    def test_a_run_that_leaves_the_finite_can_be_looked_at(self):
        spec = GROWTH.replace("u * factor", "u * 1e200")
        with Folder(growth=spec) as folder, ShownRun(folder, "view", "growth.halo") as run:
            frame = run.wait_for(lambda each: each["state"] == "finished", "field=u")
            self.assertIn("stopped: ", frame["how"])
            self.assertIn("infinite", frame["how"])
            self.assertGreater(frame["not_finite"], 0)
            self.assertEqual(frame["pixels"][0][0], (255, 0, 200))
            code, _, words = run.interrupt()
            self.assertEqual(code, 3)
            self.assertIn("the numbers have left the finite", words)

    def test_only_who_knows_the_address_is_answered(self):
        with Folder(wave=WAVE) as folder, ShownRun(folder, "view", "wave.halo", "--paused") as run:
            self.assertIn(b"<!doctype html>", run.ask(""))
            wrong = "/" + "0" * 32 + "/"
            self.refused(403, "not the address of the page", lambda: run.ask("", base=wrong))
            self.refused(403, "not the address of the page", lambda: run.ask("step", {"steps": 1}, base=wrong))
            self.refused(403, "127.0.0.1 and localhost alone", lambda: run.ask("facts", headers={"Host": "rebound.example"}))
            self.refused(403, "another origin", lambda: run.ask("step", {"steps": 1}, headers={"Origin": "http://a.example"}))
            self.refused(404, "nothing", lambda: run.ask("../../etc/passwd"))
            self.refused(404, "nothing", lambda: run.ask("step"))  # GET changes nothing
            self.refused(405, "only GET and POST", lambda: run.ask("facts", method="DELETE"))
            self.assertEqual(run.frame("field=u")["step"], 0)
            for address in ("::1", socket.gethostbyname(socket.gethostname())):
                if not address.startswith("127."):
                    with self.assertRaises(OSError):  # it listens at 127.0.0.1 alone
                        socket.create_connection((address, run.port), timeout=5)
            in_use = folder.haloc("view", "wave.halo", "--port", str(run.port))
            self.assertEqual(in_use.returncode, 2)
            self.assertIn(f"port {run.port} of 127.0.0.1 is in use", in_use.stderr)

    def test_pages_do_not_hinder_each_other(self):
        with Folder(kinds=KINDS) as folder, ShownRun(folder, "view", "kinds.halo", "--steps", "100000") as run:
            seen, troubles = {}, []

            def follow(field):
                try:
                    for _ in range(20):
                        seen[field] = run.frame("field=" + field)["field"]
                except Exception as trouble:
                    troubles.append(trouble)

            pages = [threading.Thread(target=follow, args=(field,)) for field in ("mixed", "age", "wind")]
            for page in pages:
                page.start()
            with socket.create_connection(("127.0.0.1", run.port)) as dying:
                dying.send(f"GET {run.base}frame?field=mixed HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            with socket.create_connection(("127.0.0.1", run.port)) as silent:
                silent.send(b"GET /")
                for page in pages:
                    page.join()
            self.assertEqual(troubles, [])
            self.assertEqual(seen, {"mixed": "mixed", "age": "age", "wind": "wind"})
            run.json("pause", {})
            step = run.frame("field=age")["step"]
            self.assertEqual(run.frame("field=age")["step"], step)
            self.assertEqual(run.interrupt()[0], 130)

    def test_a_live_run_writes_what_the_run_writes_and_ends(self):
        with Folder(wave=WAVE) as alone, Folder(wave=WAVE) as shown:
            self.assertEqual(alone.haloc("run", "wave.halo", "--device", "interpreter").returncode, 0)
            with ShownRun(shown, "run", "wave.halo", "--live", "--paused", "--json") as run:
                run.json("pace", {"steps": 1})
                run.json("resume", {})
                frame = run.wait_for(lambda each: each["state"] == "finished", "field=u")
                self.assertEqual(frame["step"], 12)
                code, out, _ = run.end()
            self.assertEqual(code, 0)
            self.assertEqual(json.loads(out)["stopped"], "steps")
            self.assertNotIn("changed_by_hand", out)
            for path in alone.path.iterdir():
                self.assertEqual(path.read_bytes(), (shown.path / path.name).read_bytes(), path.name)
            with ShownRun(shown, "run", "wave.halo", "--live") as run:
                self.assertEqual(run.end()[0], 0)  # nobody looks: it waits for nobody

    def test_files_say_that_a_run_was_changed_by_hand(self):
        with Folder(growth=GROWTH) as folder:
            if not json.loads(folder.haloc("doctor", "--json").stdout)["hdf5"]["found"]:
                self.skipTest("there is no HDF5 here")
            with ShownRun(folder, "run", "growth.halo", "--steps", "9", "--save", "u=u.h5", "--live", "--paused", "--json") as run:
                run.steps(4, "field=u")
                run.json("param", {"name": "factor", "value": "1/4"})
                run.json("resume", {})
                code, out, _ = run.end()
            self.assertEqual(code, 0)
            self.assertEqual(json.loads(out)["changed_by_hand"], [{"param": "factor", "value": 0.25, "after_step": 4}])
            again = folder.haloc("rerun", "u.h5")
            self.assertEqual(again.returncode, 4)
            self.assertIn("u.h5 cannot be repeated: its run was changed by hand (factor = 0.25 after step 4)", again.stderr)
            self.assertIn("by hand    factor = 0.25 after step 4\n", folder.haloc("info", "u.h5").stdout)

    def test_runs_that_would_say_something_untrue_keep_their_params(self):
        with Folder(growth=GROWTH) as folder:
            with ShownRun(folder, "run", "growth.halo", "--steps", "9", "--checkpoint", "ck", "--live", "--paused") as run:
                self.assertIn("checkpoints", run.json("facts")["params_are_fixed"])
                self.refused(400, "checkpoints", lambda: run.ask("param", {"name": "factor", "value": "1"}))

    def test_what_has_no_page_is_refused(self):
        with Folder(wave=WAVE) as folder:
            for arguments, words in ((["run", "wave.halo", "--port", "8000"], "--live"),
                                     (["run", "wave.halo", "--live", "--quiet"], "--quiet would hide the address"),
                                     (["view", "wave.halo", "--port", "0"], "--port"),
                                     (["view", "wave.halo", "--save", "u=u.npy"], "--save")):
                refused = folder.haloc(*arguments)
                self.assertEqual(refused.returncode, 2, arguments)
                self.assertIn(words, refused.stderr)


if __name__ == "__main__":
    shown_run.main(sys.modules[__name__])
