"""Runs of haloc that are shown, and what their pages are sent."""

import http.client
import json
import re
import signal
import struct
import subprocess
import tempfile
import time
import zlib
from pathlib import Path

HALOC = None  # the command, set by main()


class Folder:
    """A folder for a test, with the specs in it."""

    def __init__(self, **specs):
        self._folder = tempfile.TemporaryDirectory()
        self.path = Path(self._folder.name)
        for name, text in specs.items():
            (self.path / f"{name}.halo").write_text(text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def haloc(self, *arguments):
        """Of a run to its end."""
        return subprocess.run([HALOC, *arguments], cwd=self.path, capture_output=True, text=True, timeout=120)


class Refused(Exception):
    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status, self.text = status, text


class ShownRun:
    """haloc view, or another command with a page, while it runs. Without LLVM, too: in the interpreter."""

    def __init__(self, folder, *arguments):
        self.process = subprocess.Popen([HALOC, *arguments, "--device", "interpreter"], cwd=folder.path, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.words = ""
        for line in self.process.stderr:
            self.words += line
            if found := re.search(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)", line):
                self.url, self.port, self.base = found[0], int(found[1]), found[2]
                return
        raise AssertionError("no page: " + self.words)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def ask(self, path, body=None, method=None, headers=None, base=None):
        """The bytes of an answer; Refused where it is none of success."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            method = method or ("GET" if body is None else "POST")
            if body is not None and not isinstance(body, str):
                body = json.dumps(body)
            connection.request(method, (self.base if base is None else base) + path, body, headers or {})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise Refused(answer.status, content.decode())
        return content

    def json(self, path, body=None):
        return json.loads(self.ask(path, body))

    def frame(self, query):
        content = self.ask("frame?" + query)
        (length,) = struct.unpack_from("<I", content)
        frame = json.loads(content[4:4 + length])
        if frame["kind"] == "plane":
            colours = content[4 + length + 768:]
            width = frame["width"]
            assert len(colours) == 3 * width * frame["height"]
            rows = [colours[i:i + 3 * width] for i in range(0, len(colours), 3 * width)]
            frame["pixels"] = [[tuple(row[i:i + 3]) for i in range(0, 3 * width, 3)] for row in rows]
        return frame

    def wait_for(self, holds, query):
        """The first frame of which it holds."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            frame = self.frame(query)
            if holds(frame):
                return frame
        raise AssertionError(f"this did not come: {frame['step']} {frame['state']}")

    def steps(self, count, query):
        """Does so many steps; the frame after them."""
        before = self.frame(query)["step"]
        self.json("step", {"steps": count})
        return self.wait_for(lambda frame: frame["step"] == before + count, query)

    def interrupt(self):
        """Ctrl-C: the exit code, what it wrote, and its last words."""
        self.process.send_signal(signal.SIGINT)
        return self.end()

    def end(self):
        out, words = self.process.communicate(timeout=60)
        return self.process.returncode, out, words


def read_png(content):
    """The pixels of a PNG of 8-bit RGB without interlacing, a list of rows."""
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    at, data = 8, b""
    while at < len(content):
        (length,) = struct.unpack_from(">I", content, at)
        kind = content[at + 4:at + 8]
        chunk = content[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", chunk)
            assert (depth, interlace) == (8, 0) and colour in (2, 6)
            channels = 3 if colour == 2 else 4
        elif kind == b"IDAT":
            data += chunk
        at += 12 + length
    data = zlib.decompress(data)
    size = channels * width
    rows, above = [], bytearray(size)
    for y in range(height):
        kind = data[y * (size + 1)]
        row = bytearray(data[y * (size + 1) + 1:(y + 1) * (size + 1)])
        for i in range(size):
            left = row[i - channels] if i >= channels else 0
            corner = above[i - channels] if i >= channels else 0
            if kind == 1:
                row[i] = (row[i] + left) & 255
            elif kind == 2:
                row[i] = (row[i] + above[i]) & 255
            elif kind == 3:
                row[i] = (row[i] + (left + above[i]) // 2) & 255
            elif kind == 4:
                guess = left + above[i] - corner
                near = min((abs(guess - left), 0, left), (abs(guess - above[i]), 1, above[i]), (abs(guess - corner), 2, corner))
                row[i] = (row[i] + near[2]) & 255
        rows.append([tuple(row[i:i + 3]) for i in range(0, size, channels)])
        above = row
    return rows


def cells_of_picture(rows, width, height):
    """The colours of the cells of a picture that a run wrote: each is a square of pixels, and all have a frame of ink."""
    ink = (40, 40, 48)
    for y, row in enumerate(rows):
        x = next((x for x in range(len(row) - 100) if all(pixel == ink for pixel in row[x:x + 100])), None)
        if x is not None:
            break
    across = next(i for i, pixel in enumerate(row[x:]) if pixel != ink) - 2
    scale = across // width
    assert scale * width == across, (across, width)
    return [[rows[y + 1 + j * scale][x + 1 + i * scale] for i in range(width)] for j in range(height)]


def main(module):
    import argparse
    import unittest
    global HALOC
    parser = argparse.ArgumentParser()
    parser.add_argument("--haloc", required=True)
    parser.add_argument("tests", nargs="*")
    arguments = parser.parse_args()
    HALOC = str(Path(arguments.haloc).resolve())
    unittest.main(module=module, argv=[module.__file__ if hasattr(module, "__file__") else "live", *arguments.tests])
