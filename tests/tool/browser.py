"""Chromium without a window, spoken to over its DevTools pipe.

Messages are JSON, each ended by a zero byte: https://chromedevtools.github.io/devtools-protocol/.
"""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    """Returns the path of a browser, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self, program, width=1400, height=1000):
        self.folder = tempfile.TemporaryDirectory()
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def place():
            os.dup2(to_browser, 3)
            os.dup2(from_browser, 4)

        # The descriptors that the child needs are moved to 3 and 4 after the fork.
        high = [os.dup(fd) for fd in (to_browser, from_browser)]
        os.close(to_browser)
        os.close(from_browser)
        to_browser, from_browser = high
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--no-first-run", "--disable-background-networking", "--disable-extensions",
             "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}",
             f"--window-size={width},{height}", "about:blank"],
            close_fds=False, preexec_fn=place, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number = 0
        self.buffer = b""
        self.events = []
        target = next(t for t in self.send("Target.getTargets")["targetInfos"]
                      if t["type"] == "page")
        self.session = None
        self.session = self.send("Target.attachToTarget", targetId=target["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        self.folder.cleanup()

    def receive(self, limit):
        end = time.monotonic() + limit
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.into, 1 << 20)
            if not part:
                raise EOFError("the browser has ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, limit=60, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive(limit)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url, limit=60):
        """Opens a page and waits until it has loaded. Returns the seconds that took."""
        self.events.clear()
        begin = time.monotonic()
        self.send("Page.navigate", url=url)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.receive(limit))
        return time.monotonic() - begin

    def run(self, expression, limit=60):
        """Evaluates an expression, waits for its promise, and returns the value."""
        result = self.send("Runtime.evaluate", limit=limit, expression=expression,
                           awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def key(self, key, code=None, shift=False):
        text = key if len(key) == 1 else ""
        common = {"key": key, "code": code or key, "modifiers": 8 if shift else 0}
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def click(self, selector):
        """Clicks the middle of an element, once nothing moves it any more."""
        self.settle()
        x, y = self.run(f"(async () => {{ const e = document.querySelector({json.dumps(selector)});"
                        "e.scrollIntoView({block: 'center'});"
                        "for (let i = 0; i < 3; ++i) await new Promise(requestAnimationFrame);"
                        "const b = e.getBoundingClientRect();"
                        "return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        self.click_at(x, y)

    def click_at(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def settle(self):
        """Waits for two frames and for what the page delays."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame("
                 "() => setTimeout(done, 250))))")

    def faults(self):
        """Returns exceptions and errors of the page so far."""
        kinds = ("Runtime.exceptionThrown",)
        found = [e["params"] for e in self.events if e.get("method") in kinds]
        found += [e["params"]["entry"] for e in self.events
                  if e.get("method") == "Log.entryAdded"
                  and e["params"]["entry"]["level"] == "error"]
        return found

    def requests(self):
        """Returns the addresses that the page has asked for."""
        return [e["params"]["request"]["url"] for e in self.events
                if e.get("method") == "Network.requestWillBeSent"]

    def picture(self, path):
        import base64
        data = self.send("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
