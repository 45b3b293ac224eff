"""A browser without a window, driven over the DevTools protocol through a pair of pipes: the standard library is enough."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


def find_browser():
    """The path of a browser that knows the protocol; None where there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return None


class Browser:
    def __init__(self, path):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def take_pipes():  # the protocol wants them as 3 and 4
            ends = [os.dup(to_browser), os.dup(from_browser)]
            high = [os.dup2(end, 50 + i) for i, end in enumerate(ends)]
            for number, end in enumerate(high):
                os.dup2(end, 3 + number, inheritable=True)

        self.process = subprocess.Popen(
            [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--hide-scrollbars", "--disable-extensions", "--disable-background-networking", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            preexec_fn=take_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number = 0
        self.text = b""

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        self.profile.cleanup()

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") != self.number:
                continue  # an event
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            return answer["result"]

    def _next(self):
        while b"\0" not in self.text:
            some = os.read(self.read_end, 1 << 16)
            if not some:
                raise RuntimeError("the browser has ended")
            self.text += some
        message, self.text = self.text.split(b"\0", 1)
        return json.loads(message)

    def open(self, url, width=1100, height=900, dark=False):
        return Page(self, url, width, height, dark)


class Page:
    def __init__(self, browser, url, width, height, dark):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=url)
        self.wait_for(f"location.href === {json.dumps(url)} && document.readyState === 'complete'")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def value(self, script):
        """What an expression of JavaScript gives in the page."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def wait_for(self, script, seconds=30):
        """Until the expression is true; what it gives."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := self.value(script):
                return found
            time.sleep(0.02)
        raise AssertionError(f"this did not become true: {script}; the page says: {self.value('document.body?.innerText')}")

    def press(self, key):
        code = {" ": "Space", ".": "Period"}[key]
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, text=key if kind == "keyDown" else "")

    def click(self, selector, across=0.5, down=0.5):
        """With the mouse, at a part of the element's width and height."""
        box = self.value(f"(e => {{ e.scrollIntoView({{block: 'nearest'}}); const b = e.getBoundingClientRect();"
                         f" return [b.x, b.y, b.width, b.height]; }})(document.querySelector('{selector}'))")
        at = {"x": box[0] + across * box[2], "y": box[1] + down * box[3], "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, **at)

    def screenshot(self):
        """The bytes of a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
