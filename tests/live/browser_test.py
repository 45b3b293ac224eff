"""The page in a real browser: what it shows, and what it does to the run. Ends with 77, skipped, where there is no browser."""

import sys
import unittest

import devtools
import shown_run
from http_test import GROWTH, KINDS, WAVE
from shown_run import Folder, ShownRun, cells_of_picture, read_png

# The colours of the canvas, a list of numbers from the top left pixel on.
CANVAS = """(() => {
    const canvas = document.getElementById('cells');
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    return [canvas.width, canvas.height, Array.from(data)];
})()"""
STEP = "Number(document.body.dataset.step)"
STATE = "document.body.dataset.state"


def canvas_rows(page):
    width, height, data = page.value(CANVAS)
    pixels = [tuple(data[i:i + 3]) for i in range(0, len(data), 4)]
    return [pixels[i:i + width] for i in range(0, width * height, width)]


def choose(page, element, value):
    page.value(f"(e => {{ e.value = '{value}'; e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change')); }})"
               f"(document.getElementById('{element}'))")


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = devtools.Browser(devtools.find_browser())

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def test_the_page_shows_what_a_run_draws(self):
        with Folder(wave=WAVE) as folder, ShownRun(folder, "view", "wave.halo") as run:
            page = self.browser.open(run.url)
            page.wait_for(f"{STEP} > 0")  # the first page begins the run
            page.wait_for(f"{STATE} === 'finished'")
            self.assertEqual(page.value(STEP), 12)
            done = folder.haloc("run", "wave.halo", "--device", "interpreter")
            self.assertEqual(done.returncode, 0, done.stderr)
            picture = cells_of_picture(read_png((folder.path / "u.png").read_bytes()), 40, 24)
            self.assertGreater(len(set(sum(picture, []))), 50)
            self.assertEqual(canvas_rows(page), picture)
            self.assertIn("step 12 of 12", page.value("document.querySelector('header').innerText"))
            self.assertEqual(page.value("document.getElementById('trouble').textContent"), "")
            run.interrupt()
            page.wait_for("document.body.dataset.gone === 'true'")
            self.assertIn("The command has ended", page.value("document.getElementById('trouble').textContent"))
            page.close()

    def test_pause_steps_and_params(self):
        still = GROWTH.replace("init u = idx(x) + 10*idx(y) + 1", "init u = 1 + idx(x)")
        with Folder(growth=still) as folder, ShownRun(folder, "view", "growth.halo", "--set", "factor=1") as run:
            page = self.browser.open(run.url)
            page.wait_for(f"{STEP} > 0")
            page.click("#pause")
            page.wait_for(f"{STATE} === 'paused'")
            paused = page.value(STEP)
            page.click("#one")
            page.wait_for(f"{STEP} === {paused + 1} && {STATE} === 'paused'")
            page.press(".")
            page.wait_for(f"{STEP} === {paused + 2} && {STATE} === 'paused'")
            choose(page, "count", 5)
            page.click("#many")
            page.wait_for(f"{STEP} === {paused + 7} && {STATE} === 'paused'")
            page.wait_for("last.step === Number(document.body.dataset.step)")

            page.click("#cells", 2.5 / 6, 0.5)  # the third column
            page.wait_for("document.querySelector('#curves h2')?.innerText.startsWith('u at x = 2, y = ')")
            before = canvas_rows(page)
            choose(page, "param_factor", "4")
            page.click("#one")
            page.wait_for(f"last.step === {paused + 8}")
            self.assertNotEqual(canvas_rows(page), before)
            self.assertEqual(run.frame("field=u")["reductions"], {"largest": 24})
            page.wait_for("document.querySelector('#curves h2').innerText.includes(': 12')")
            self.assertEqual(page.value("document.getElementById('params_title').innerText"), "Params (changed by hand)")
            choose(page, "param_factor", "quick")
            page.wait_for("document.getElementById('trouble').textContent.includes('factor')")
            self.assertEqual(page.value("document.getElementById('param_factor').value"), "4")

            choose(page, "map", "grey")
            choose(page, "low", "0")
            choose(page, "high", "24")
            page.wait_for("last.low === 0 && last.high === 24")
            self.assertEqual(canvas_rows(page)[0][-1], (255, 255, 255))
            choose(page, "param_factor", "1")  # before it leaves the finite
            page.wait_for("last.params.factor === 1")
            page.press(" ")
            page.wait_for(f"{STATE} === 'running'")
            page.close()
            other = self.browser.open(run.url)  # a page that was closed can be opened again
            other.wait_for(f"{STEP} > {paused + 8}")
            other.close()

    def test_planes_and_lines(self):
        with Folder(kinds=KINDS) as folder, ShownRun(folder, "view", "kinds.halo", "--paused") as run:
            page = self.browser.open(run.url, dark=True)
            page.wait_for(f"{STATE} === 'paused'")
            choose(page, "field", "mixed")
            page.wait_for("last.field === 'mixed' && last.low === 100")
            choose(page, "axis", "y")
            choose(page, "index", 3)
            page.wait_for("last.shown[1].axis === 'z' && last.low === 30")
            self.assertEqual(canvas_rows(page), run.frame("field=mixed&axis=y&index=3")["pixels"])
            choose(page, "field", "wind")
            page.wait_for("last.kind === 'line' && document.getElementById('line').getTotalLength() > 100")
            self.assertTrue(page.value("document.getElementById('cells').hidden"))
            self.assertEqual(page.value("getComputedStyle(document.body).backgroundColor"), "rgb(21, 23, 28)")
            page.close()


if __name__ == "__main__":
    if devtools.find_browser() is None:
        print("skipped: there is no browser (apt-get install chromium)", file=sys.stderr)
        sys.exit(77)
    shown_run.main(sys.modules[__name__])
