"""Chromium, driven by the DevTools protocol over a pipe: no port, no other program.

    with opened() as browser:
        browser.open("report.html", width=1200)
        browser.evaluate("document.title")
        browser.key("ArrowRight")
        browser.told()                    # what the console said, and which requests the page made
"""
import base64, contextlib, json, os, signal, subprocess, sys, tempfile

# The codes of keys that a page hears.
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
        "ArrowRight": 39, "ArrowDown": 40}


class Browser:
    """Chromium behind a pipe: messages of the DevTools protocol, each ended by a NUL."""

    def __init__(self, profile):
        read, self.out = os.pipe()
        self.into, write = os.pipe()

        def connect():
            os.dup2(read, 3)
            os.dup2(write, 4)

        os.set_inheritable(read, True), os.set_inheritable(write, True)
        # The protocol's descriptors are 3 and 4; the first pipe has the lowest numbers, so neither call closes a needed one.
        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--disable-background-networking", "--user-data-dir=" + profile, "about:blank"],
            preexec_fn=connect, close_fds=False, start_new_session=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(read), os.close(write)
        self.number, self.rest, self.events, self.session, self.url = 0, b"", [], None, None

    def receive(self):
        while b"\0" not in self.rest:
            part = os.read(self.into, 65536)
            if not part: sys.exit("chromium has ended")
            self.rest += part
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session: message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer: sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(e.get("method") == method for e in self.events): self.events.append(self.receive())

    def evaluate(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result: return [str(result["exceptionDetails"])]
        return result["result"].get("value")

    def open(self, page, width=1200, dark=False):
        self.events, self.url = [], "file://" + os.path.abspath(page)
        self.look(width, dark)
        self.ask("Page.navigate", url=self.url)
        self.wait_for("Page.loadEventFired")

    def look(self, width, dark=False, media="", height=900):
        """The window's width, the reader's preference, and paper or screen."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def key(self, key, shift=False):
        about = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS.get(key, 0), "modifiers": 8 if shift else 0}
        if key in ("Enter", " "): about["text"] = "\r" if key == "Enter" else " "
        self.ask("Input.dispatchKeyEvent", type="keyDown", **about)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **{k: v for k, v in about.items() if k != "text"})

    def type(self, text):
        for character in text: self.ask("Input.dispatchKeyEvent", type="char", text=character)

    def mouse(self, kind, x, y, pressed=False):
        self.ask("Input.dispatchMouseEvent", type="mouse" + kind, x=x, y=y, button="left" if pressed or kind != "Moved" else "none",
                 buttons=1 if pressed else 0, clickCount=1)

    def picture(self, path, whole=True):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("Page.captureScreenshot", captureBeyondViewport=whole)["data"]))

    def paper(self, path):
        with open(path, "wb") as file: file.write(base64.b64decode(self.ask("Page.printToPDF", preferCSSPageSize=True)["data"]))

    def told(self):
        """Lines for requests to anything but the page, and what the console got."""
        for event in self.events:
            p = event.get("params", {})
            if event.get("method") == "Network.requestWillBeSent" and p["request"]["url"] != self.url: yield f"requests {p['request']['url']}"
            if event.get("method") == "Log.entryAdded": yield p["entry"]["text"]
            if event.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"): yield str(p)


@contextlib.contextmanager
def opened():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
            browser.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Network", "Log", "Runtime"): browser.ask(domain + ".enable")
            yield browser
        finally:
            os.killpg(browser.process.pid, signal.SIGKILL)
            browser.process.wait()
