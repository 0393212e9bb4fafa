"""Opens pages in Chromium: html_browser.py PAGE…. Prints, a line each, the console's messages, which requests a page makes, which
width needs more room than the window, which text has too little contrast, and the errors of the buttons of its tables."""
import json, os, signal, subprocess, sys, tempfile

CHECKS = """(() => {
  const wrong = [];
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) wrong.push('needs ' + wide + ' pixels of ' + innerWidth);
  for (const svg of document.querySelectorAll('svg')) if (svg.getBoundingClientRect().right > innerWidth) wrong.push('a plot is too wide');
  const light = c => { const v = c.match(/[\\d.]+/g).map(Number).slice(0, 3).map(x => (x /= 255) <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
  const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
  const seen = new Set();
  for (const e of document.querySelectorAll('body *')) {
    if (e.closest('svg, script') || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const fore = getComputedStyle(e).color, back = behind(e), key = fore + back;
    if (seen.has(key)) continue;
    seen.add(key);
    const [a, b] = [light(fore), light(back)].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) wrong.push('contrast of ' + e.tagName + ' ' + e.className + ': ' + ((a + 0.05) / (b + 0.05)).toFixed(2));
  }
  return wrong;
})()"""

SORTING = """(() => {
  const wrong = [], table = document.querySelector('table.sortable');
  if (!table) return wrong;
  const body = table.tBodies[0];
  if (body.rows.length < 2) return table.querySelector('button') ? ['a table of one row has buttons'] : [];
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const full = c => c > 0 && [...body.rows].every(r => 'v' in r.cells[c].dataset);
  const column = heads.findIndex((_, c) => full(c)); // closed loops have no offered rate
  if (column < 0) return wrong;
  const head = heads[column], button = head.querySelector('button');
  if (!button) return ['there are no buttons'];
  const values = () => [...body.rows].map(r => Number(r.cells[column].dataset.v));
  const rising = v => v.every((x, i) => i === 0 || v[i - 1] <= x);
  button.focus();
  if (document.activeElement !== button) wrong.push('the keyboard cannot reach a button');
  button.click();
  if (!rising(values()) || head.getAttribute('aria-sort') !== 'ascending') wrong.push('the first click: ' + values());
  button.click();
  if (!rising(values().reverse()) || head.getAttribute('aria-sort') !== 'descending') wrong.push('the second click: ' + values());
  if (table.querySelectorAll('[aria-sort]').length !== 1) wrong.push('aria-sort is set ' + table.querySelectorAll('[aria-sort]').length + ' times');
  return wrong;
})()"""


# Texts squeezed into columns of a few characters.
SQUEEZED = """[...document.querySelectorAll('dd, td')].filter(e => e.textContent.length > 80 && e.getClientRects().length && e.clientWidth < 80)
  .map(e => 'squeezed: ' + e.textContent.slice(0, 30))"""


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
        self.number, self.rest, self.events, self.session = 0, b"", [], None

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
        return result["result"]["value"]


def look_at(browser, page):
    url = "file://" + os.path.abspath(page)
    browser.events = []
    for width, dark in ((1200, False), (400, False), (1200, True)):
        browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        if width == 1200 and not dark:
            browser.ask("Page.navigate", url=url)
            browser.wait_for("Page.loadEventFired")
        for line in browser.evaluate(CHECKS): print(f"{page}: {width} pixels{', dark' if dark else ''}: {line}")
    for line in browser.evaluate(SORTING) + browser.evaluate(SQUEEZED): print(f"{page}: {line}")
    browser.ask("Emulation.setDeviceMetricsOverride", width=700, height=1000, deviceScaleFactor=1, mobile=False)
    browser.ask("Emulation.setEmulatedMedia", media="print")
    for line in browser.evaluate(SQUEEZED): print(f"{page}: on paper: {line}")
    browser.ask("Emulation.setEmulatedMedia", media="")
    for event in browser.events:
        p = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent" and p["request"]["url"] != url: print(f"{page}: requests {p['request']['url']}")
        if event.get("method") == "Log.entryAdded": print(f"{page}: {p['entry']['text']}")
        if event.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"): print(f"{page}: {p}")


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    browser = Browser(profile)
    try:
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        browser.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"): browser.ask(domain + ".enable")
        for page in sys.argv[1:]: look_at(browser, page)
    finally:
        os.killpg(browser.process.pid, signal.SIGKILL)
        browser.process.wait()
