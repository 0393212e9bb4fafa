"""Uses a page as a reader does, in Chromium: html_drive.py PAGE RESULTS. Prints a line for each fault.

The pointer goes to places read from the drawn lines, so the page's scales are compared with gnuplot's. Expected values are computed here
from the rows and windows of the results. With IPF_AXE=axe.min.js (npm axe-core), the page is checked with it while it is in use."""
import chromium, decimal, json, math, os, re, sys

page, results = sys.argv[1:3]
lines = [json.loads(line) for line in open(results, encoding="utf-8")]
header = lines[0]
rows = [line for line in lines[1:] if "n" in line]
windows = [line for line in lines[1:] if "window" in line]
stages = [stage["name"] for stage in header["stages"]]


def wrong(*words):
    print(" ".join(str(w) for w in words))


def number(value, digits=3):
    value = float(f"{value:.6g}")  # as in the page's data
    if value == int(value) or abs(value) >= 1000: return f"{math.floor(value + 0.5):,}"
    exact = decimal.Decimal(value)
    return f"{exact.quantize(decimal.Decimal(1).scaleb(exact.adjusted() - digits + 1), decimal.ROUND_HALF_UP):f}"


def ms(value):
    return number(value * 1000) + " µs" if value < 1 else number(value) + " ms" if value < 1000 else number(value / 1000) + " s"


def seconds(value):
    return f"{value:.3f}".rstrip("0").rstrip(".")


# ---- the page -------------------------------------------------------------------------------------------------------

def figure(plot):
    return f"document.getElementById('{plot}-title').closest('figure')"


def words(plot):
    """The words beside the plot; "": there are none."""
    return browser.evaluate(f"(w => w.hidden ? '' : [...w.children].map(p => p.textContent).join('\\n').replace(/\\u00a0/g, ' '))({figure(plot)}.querySelector('.words'))")


def spot(plot, x, y):
    """The place in the window of one in the picture, which is scrolled there."""
    return browser.evaluate(f"""(() => {{
      const svg = {figure(plot)}.querySelector('svg'), view = svg.viewBox.baseVal;
      scrollBy(0, svg.getBoundingClientRect().top + {y} / view.height * svg.getBoundingClientRect().height - innerHeight / 2);
      const box = svg.getBoundingClientRect();
      return [box.left + {x} / view.width * box.width, box.top + {y} / view.height * box.height]; }})()""")


def hover(plot, x, y):
    browser.mouse("Moved", *spot(plot, x, y))
    return words(plot)


def drawn(plot, element):
    """The points of a line of gnuplot's."""
    path = browser.evaluate(f"document.querySelector('#{plot}-gnuplot_plot_{element} path').getAttribute('d')")
    return [tuple(map(float, p.split(","))) for p in re.findall(r"[\d.]+,[\d.]+", path)]


def focus(selector):
    browser.evaluate(f"{selector}.focus({{focusVisible: true}})")


def expect(text, part, where):
    if part not in text: wrong(where, "- expected:", part, "- shown:", repr(text))


# ---- values --------------------------------------------------------------------------------------------------------

def request_part(row):
    due = f"request {row['n']} ({stages[row['stage']]}): due {seconds(row['due_ns'] / 1e9)} s, {row['input_tokens']} input"
    return due + (f" and {row['output_tokens']} output tokens" if row["ok"] else "")


def check_distribution():
    """The right end of each line is the slowest request, which is listed."""
    measured = [i for i, stage in enumerate(header["stages"]) if stage["measured"]]
    for at, stage in enumerate(measured):
        slowest = max((r for r in rows if r["stage"] == stage and r["ok"]), key=lambda r: r["end_ns"] - r["due_ns"])
        latencies = sorted((r["e2e_ns"] + r["start_ns"] - r["due_ns"]) / 1e6 for r in rows if r["stage"] == stage and r["ok"])
        value, points, last = latencies[-1], drawn("cdf-e2e", 2 * at + 1), len(latencies) - 1
        for k in (last // 4, last // 2) if len(points) == len(latencies) else ():
            share = f"{float(f'{k / last:.6g}') * 100:.2f}".rstrip("0").rstrip(".")
            expect(hover("cdf-e2e", *points[k]), f"{stages[stage]}: E2E {ms(latencies[k])}, share of requests {share} %", "the pointer at a point of a line")
        shown = hover("cdf-e2e", *points[-1])
        expect(shown, f"{stages[stage]}: E2E {ms(value)}, share of requests 100 %", "the pointer at the end of a line")
        expect(shown, request_part(slowest), "the request behind the end of a line")


def window_sum(member, begin_ns, end_ns):
    return sum(w.get(member, 0) for w in windows if begin_ns <= w["t_ns"] < end_ns)


def check_time_line(begin, every, count):
    """Requests in flight in a step, by the pointer and by keys; and the request that failed in another."""
    at = count // 2
    x, y = drawn("timeline", "1b")[at]
    value = window_sum("in_flight_ns", begin + at * every, begin + (at + 1) * every) / every
    head = f"in flight, time {seconds((begin + at * every) / 1e9)} s to {seconds((begin + (at + 1) * every) / 1e9)} s"
    expect(hover("timeline", x, y), f"{head}\n{number(value)}", "the pointer at a step")
    started = window_sum("started", begin + at * every, begin + (at + 1) * every) / every * 1e9
    expect(hover("timeline", x, 110), f"achieved {number(started)}\n", "the pointer at a step of the first panel")
    browser.mouse("Moved", 5, 5)
    if words("timeline"): wrong("the words stay when the pointer has left")
    focus(figure("timeline") + ".querySelector('.probe')")
    for key in ["ArrowDown", "Home"] + ["ArrowRight"] * at: browser.key(key)
    expect(words("timeline"), f"{head}\n{number(value)}", "the keys at a step")
    expect(browser.evaluate("document.activeElement.getAttribute('aria-valuetext').replace(/\\u00a0/g, ' ')"), f"{head}; {number(value)}", "the text of the slider")
    failed = min((r for r in rows if not r["ok"] and "end_ns" in r), key=lambda r: ((r["end_ns"] - begin) // every, r["n"]))
    for _ in range(20):
        if words("timeline").startswith("failed/s"): break
        browser.key("ArrowDown")
    browser.key("Home")
    for _ in range((failed["end_ns"] - begin) // every): browser.key("ArrowRight")
    expect(words("timeline"), f"{request_part(failed)} tokens, failed: {failed['error']['kind']}", "a step with a failure")
    browser.key("Escape")
    if words("timeline"): wrong("the words stay after Escape")


def check_requests():
    """A point of the scattered requests is a request."""
    x, y = map(float, re.search(r"\(([\d.]+),([\d.]+)\)", browser.evaluate(
        "[...document.querySelectorAll('#ttft-input-gnuplot_plot_1 use')].map(u => u.getAttribute('transform'))")[0]).groups())
    shown = hover("ttft-input", x, y)
    n = int(re.search(r"\nrequest (\d+)", shown).group(1))
    row = next(r for r in rows if r["n"] == n)
    expect(shown, f"input tokens {row['input_tokens']}, TTFT {ms(row['ttft_ns'] / 1e6)}", "the pointer at a request")
    cells = browser.evaluate("document.querySelectorAll('#heat-e2e-gnuplot_plot_1 path, #heat-e2e-gnuplot_plot_1 polygon').length")
    total = 0
    focus(figure("heat-e2e") + ".querySelector('.probe')")
    browser.key("Home")
    for _ in range(int(browser.evaluate("document.activeElement.getAttribute('aria-valuemax')")) + 1):
        total += int(re.search(r": ([\d,]+) requests?\b", words("heat-e2e")).group(1).replace(",", ""))
        browser.key("ArrowRight")
    if total != sum(r["ok"] for r in rows): wrong("the cells have", total, "requests of", sum(r["ok"] for r in rows), "in", cells, "shapes")
    focus(figure("lanes") + ".querySelector('.probe')")
    browser.key("End")
    shown = words("lanes")
    row = next(r for r in rows if r["n"] == int(re.search(r"^request (\d+)", shown).group(1)))
    expect(shown, f"due {seconds(row['due_ns'] / 1e9)} s, start {seconds(row['start_ns'] / 1e9)} s", "a lane")


# ---- series and stages ----------------------------------------------------------------------------------------------

def visible(plot, element):
    return browser.evaluate(f"getComputedStyle(document.getElementById('{plot}-gnuplot_plot_{element}')).display !== 'none'")


def button(where, name):
    return f"[...{where}.querySelectorAll('button')].find(b => b.textContent === {json.dumps(name)})"


def check_series():
    focus(button(figure("timeline"), "completed"))
    browser.key(" ")
    if visible("timeline", "3a") or not visible("timeline", "2a"): wrong("a button does not hide its series, or hides another")
    if browser.evaluate("document.activeElement.getAttribute('aria-pressed')") != "false": wrong("the button of a hidden series is pressed")
    if "completed" in hover("timeline", *drawn("timeline", "1b")[1][:1], 110): wrong("a hidden series is shown in words")
    browser.look(1200, media="print")
    if not visible("timeline", "3a"): wrong("a hidden series is not printed")
    browser.look(1200)
    focus(button(figure("timeline"), "completed"))
    browser.key("Enter")
    if not visible("timeline", "3a"): wrong("a series does not come back")
    measured = [stage["name"] for stage in header["stages"] if stage["measured"]]
    focus(button("document.querySelector('.of-all')", measured[0]))
    browser.key(" ")
    for plot in ("cdf-e2e", "cdf-ttft"):
        if visible(plot, 1) or visible(plot, 2) or not visible(plot, 3): wrong("a stage is not hidden in", plot)
        if browser.evaluate(button(figure(plot), measured[0]) + ".getAttribute('aria-pressed')") != "false": wrong("its button in", plot)
    browser.key(" ")


# ---- a range --------------------------------------------------------------------------------------------------------

TOTALS = {"requests scheduled": "scheduled", "requests started": "started", "requests completed": "ok", "input tokens": "input_tokens"}


def range_table():
    return {cells[0]: cells[1:] for cells in browser.evaluate(
        "[...document.querySelectorAll('#range-table tbody tr')].map(r => [...r.cells].map(c => c.textContent))")}


def check_table(begin, end, where):
    shown, length = range_table(), (end - begin) / 1e9
    caption = browser.evaluate("document.querySelector('#range-table caption').textContent")
    expect(caption, f"From {seconds(begin / 1e9)} s to {seconds(end / 1e9)} s", where)
    for name, member in TOTALS.items():
        total = window_sum(member, begin, end)
        if shown[name][:2] != [f"{total:,}", number(total / length)]: wrong(where, name, shown[name], "of", total)
    tokens = window_sum("output_tokens", begin, end) + window_sum("failed_output_tokens", begin, end)
    if shown["output tokens"][0] != f"{tokens:,}": wrong(where, "output tokens", shown["output tokens"], "of", tokens)
    mean = window_sum("in_flight_ns", begin, end) / (end - begin)
    if abs(float(shown["requests in flight"][2].replace(",", "")) - mean) > 0.006 * mean: wrong(where, shown["requests in flight"], mean)


def check_range(begin, every, count):
    hidden = "document.getElementById('range-table').closest('.box').hidden"
    if not browser.evaluate(hidden): wrong("a range is chosen from the start")
    points = drawn("timeline", "1b")
    first, last = 2, count - 3
    for kind, at, pressed in (("Pressed", first, True), ("Moved", (first + last) // 2, True), ("Moved", last, True), ("Released", last, False)):
        browser.mouse(kind, *spot("timeline", *points[at]), pressed)
    check_table(begin + first * every, begin + (last + 1) * every, "a dragged range:")
    field = "document.querySelectorAll('.range input')"
    for at, value in ((0, begin + 4 * every), (1, begin + 5 * every)):
        focus(f"{field}[{at}]")
        browser.evaluate(f"{field}[{at}].select()")
        browser.type(seconds(value / 1e9))
        browser.key("Tab")
    check_table(begin + 4 * every, begin + 5 * every, "a typed range:")
    focus(button("document.querySelector('.range')", "Whole run"))
    browser.key("Enter")
    if not browser.evaluate(hidden): wrong("the range stays")


# ---- tables, keys, rules --------------------------------------------------------------------------------------------

def check_filter():
    rows_shown = """[...document.querySelectorAll('#latency-table tbody tr')].filter(r => getComputedStyle(r).display !== 'none').map(r => r.textContent.toLowerCase())"""
    everything = browser.evaluate(rows_shown)
    field = "document.getElementById('latency-table-filter')"
    focus(field)
    browser.type("due tt")
    expected = [r for r in everything if "due" in r and "tt" in r]
    if browser.evaluate(rows_shown) != expected or not expected: wrong("the filter shows", browser.evaluate(rows_shown))
    expect(browser.evaluate(field + ".parentNode.textContent"), f"{len(expected)} of {len(everything)} rows", "the filter")
    browser.look(1200, media="print")
    if browser.evaluate(rows_shown) != everything: wrong("a filtered row is not printed")
    browser.look(1200)
    browser.evaluate(f"{field}.value = ''; {field}.dispatchEvent(new Event('input'))")
    if browser.evaluate(rows_shown) != everything: wrong("rows do not come back")


def check_keys():
    """Tab reaches the controls one after another."""
    browser.evaluate("document.activeElement.blur(); scrollTo(0, 0); getSelection().removeAllRanges(); document.querySelector('h1').tabIndex = -1; document.querySelector('h1').focus()")
    wanted, reached = {"probe", "toggle", "number", "search"}, set()
    for _ in range(400):
        browser.key("Tab")
        reached |= set(browser.evaluate("[document.activeElement.className, document.activeElement.type || '']"))
        if wanted <= reached: return
    wrong("Tab does not reach", wanted - reached)


def check_axe(script):
    browser.evaluate(script + ";0")
    said = browser.ask("Runtime.evaluate", awaitPromise=True, returnByValue=True, expression="""
      axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})
        .then(r => r.violations.map(v => v.id + ': ' + v.help + ': ' + v.nodes.map(n => n.html.slice(0, 120)).join(' | ')))""")
    for line in said["result"]["value"]: wrong("axe:", line)


def check_looks():
    """With words, a range and a hidden series: in light and dark, wide and narrow."""
    axe = os.environ.get("IPF_AXE")
    script = open(axe, encoding="utf-8").read() if axe else None
    browser.evaluate(button(figure("timeline"), "p99") + ".click()")
    browser.evaluate("{ const f = document.querySelectorAll('.range input')[0]; f.value = 0.5; f.dispatchEvent(new Event('change')); }")
    for width, dark in ((1200, False), (1200, True), (400, False)):
        browser.look(width, dark)
        for plot in ("timeline", "cdf-e2e"):
            focus(figure(plot) + ".querySelector('.probe')")
            browser.key("Home"), browser.key("PageDown")
            wide = browser.evaluate("document.documentElement.scrollWidth")
            if wide > width: wrong(plot, "needs", wide, "pixels of", width)
            if not words(plot): wrong(plot, "has no words at", width)
        if script: check_axe(script)
    browser.look(1200, media="print")
    for thing in (".words", ".probe", ".series", ".range", ".filter", ".plots-note", ".marks", ".selected"):
        if browser.evaluate(f"[...document.querySelectorAll('{thing}')].some(e => e.getClientRects().length)"): wrong(thing, "is printed")


with chromium.opened() as browser:
    browser.open(page)
    begin, every = min(w["t_ns"] for w in windows), windows[0]["length_ns"]
    count = (max(w["t_ns"] for w in windows) - begin) // every + 1
    check_distribution()
    check_time_line(begin, every, count)
    check_requests()
    check_series()
    check_range(begin, every, count)
    check_filter()
    check_keys()
    check_looks()
    for line in browser.told(): wrong(line)
