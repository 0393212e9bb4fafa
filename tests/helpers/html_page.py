"""Reads a page of ipf-report -f html: html_page.py PAGE [REPORT.json]. Prints a line for each fault: parts that are not
well-formed, not accessible, refer to something outside of the page, or differ from the JSON report."""
import base64, hashlib, json, math, re, sys
from html.parser import HTMLParser
from metric_rows import LABELS

VOID = {"meta", "br", "link", "input", "img", "hr"}
SVG_EMPTY = {"path", "circle", "rect", "use", "polygon", "line", "ellipse", "polyline"}
ELEMENTS = set("html head meta title style body a header nav main section footer h1 h2 h3 p ul li dl dt dd div span strong code pre "
               "table caption thead tbody tfoot tr th td figure details summary script svg desc g defs text tspan pattern".split()) | SVG_EMPTY
problems = []


def wrong(*words):
    problems.append(" ".join(str(w) for w in words))


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.ids, self.references, self.labels, self.headings = [], set(), [], [], []
        self.tables, self.tiles, self.texts, self.raw, self.csp = {}, [], [], {}, None
        self.table = self.row = self.cell = None
        self.is_data = False

    def handle_decl(self, decl):
        if decl.lower() != "doctype html": wrong("declaration", decl)

    def handle_starttag(self, tag, attributes, closed=False):
        a = dict(attributes)
        if len(a) != len(attributes): wrong("an attribute twice in", tag, attributes)
        if tag not in ELEMENTS: wrong("element", tag)
        for name, value in attributes:
            if name.startswith("on") or name in ("style", "src", "srcset", "srcdoc", "action", "formaction"): wrong("attribute", name, "of", tag)
            if name in ("href", "xlink:href"):
                if not (value or "").startswith("#"): wrong("refers to", value)
                self.references.append((value or "")[1:])
            if name in ("aria-labelledby", "aria-describedby"): self.references += value.split()
        if "id" in a:
            if a["id"] in self.ids: wrong("id twice", a["id"])
            self.ids.add(a["id"])
        if tag == "script": self.is_data = a.get("type") == "application/json"
        if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy": self.csp = a["content"]
        if tag == "html" and a.get("lang") != "en": wrong("no lang")
        if tag == "svg" and (a.get("role") != "img" or "aria-labelledby" not in a): wrong("a plot without a name")
        if re.fullmatch("h[1-6]", tag): self.headings.append(int(tag[1]))
        if tag == "table":
            self.table = {"rows": [], "heads": [], "caption": "", "foot": []}
            self.tables[a.get("id")] = self.table
        if tag == "th" and a.get("scope") not in ("row", "col", "colgroup"): wrong("th without scope")
        if tag == "tr": self.row = []
        if tag in ("td", "th"):
            self.cell = {"text": "", "v": a.get("data-v"), "head": tag == "th" and a.get("scope") != "row"}
        if tag == "span" and a.get("class") == "value": self.tiles.append(a["data-v"])
        if tag not in VOID and not closed: self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        if tag not in SVG_EMPTY | {"g"}: wrong("closed at once:", tag)
        self.handle_starttag(tag, attributes, True)

    def handle_endtag(self, tag):
        if not self.stack or self.stack[-1] != tag:
            wrong("</%s> in" % tag, self.stack[-4:], "line", self.getpos()[0])
            if tag not in self.stack: return
            while self.stack[-1] != tag: self.stack.pop()
        self.stack.pop()
        if tag in ("td", "th") and self.cell is not None:
            self.row.append(self.cell)
            self.cell = None
        if tag == "tr":
            where = "heads" if "thead" in self.stack else "foot" if "tfoot" in self.stack else "rows"
            self.table[where].append(self.row)
        if tag == "table" and not self.table["caption"]: wrong("a table without a caption")

    def handle_data(self, data):
        if self.stack and self.stack[-1] in ("script", "style"):
            self.raw.setdefault("data" if self.is_data else self.stack[-1], []).append(data)
            return
        self.texts.append(data)
        if self.cell is not None: self.cell["text"] += data
        if "caption" in self.stack: self.table["caption"] += data

    def handle_comment(self, data): wrong("comment", data)
    def handle_pi(self, data): wrong("instruction", data)
    def unknown_decl(self, data): wrong("declaration", data)


def bad(c):
    return ord(c) < 32 or 0x7f <= ord(c) < 0xa0 or 0x200b <= ord(c) <= 0x200f or 0x2028 <= ord(c) <= 0x202e or 0x2066 <= ord(c) <= 0x2069


def visible(text):
    """As safe_text.h shows it."""
    return "".join("\\n" if c == "\n" else "\\x%02x" % ord(c) if ord(c) < 128 and bad(c) else "\\u%04x" % ord(c) if bad(c) else c for c in text)


def check_form(page):
    if page.stack: wrong("not closed:", page.stack)
    for reference in page.references:
        if reference not in page.ids: wrong("refers to nothing:", reference)
    if page.headings.count(1) != 1 or page.headings[0] != 1: wrong("headings", page.headings)
    if any(b > a + 1 for a, b in zip(page.headings, page.headings[1:])): wrong("a level of headings is left out", page.headings)
    for kind in ("style", "script"):
        whole = page.raw.get(kind, [])
        digest = base64.b64encode(hashlib.sha256("".join(whole).encode()).digest()).decode()
        if f"{kind}-src 'sha256-{digest}'" not in (page.csp or ""): wrong("the policy does not allow the page's own", kind)
        if re.search(r"url\(|@import|https?:|expression", "".join(whole)): wrong(kind, "refers to something")
    if not (page.csp or "").startswith("default-src 'none'; ") or "unsafe" in page.csp: wrong("policy", page.csp)
    check_data(page)
    for text in page.texts:
        if any(bad(c) for c in text.replace("\n", "")): wrong("control characters in", ascii(text))


def texts_of(value):
    if isinstance(value, str): yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else (): yield from texts_of(part)


def check_data(page):
    """The data of the plots: no element could begin in it, its texts are safe, and what it names is in the page."""
    if not page.raw.get("data"): return
    text = "".join(page.raw["data"])
    if "<" in text or not text.isascii(): wrong("the data of the plots have a character that is not safe")
    data = json.loads(text)
    for name in texts_of(data):
        if any(bad(c) for c in name): wrong("control characters in the data of the plots", ascii(name))
    if not data["plots"]: wrong("data without plots")
    for name, plot in data["plots"].items():
        if name + "-title" not in page.ids: wrong("data of a plot that is not in the page:", name)
        lengths = [len(column) for column in plot["columns"]]
        for series in (s for panel in plot["panels"] for s in panel["series"]):
            if lengths[series["x"]] != lengths[series["y"]] or not lengths[series["x"]]: wrong("a series of", name, "has columns of other lengths")
        for panel in plot["panels"]:
            left, top, right, bottom = panel["area"]
            if not (0 <= left < right and 0 <= top < bottom): wrong("the area of", name, panel["area"])
    keys = data["outliers"]["keys"]
    if any(len(row) != len(keys) for row in data["outliers"]["rows"]): wrong("requests with other members")


def at(json_value, path):
    for key in path.split("/"):
        json_value = json_value.get(key) if isinstance(json_value, dict) else None
    return json_value


def compare(where, cell, value):
    shown = None if cell["v"] is None else float(cell["v"])
    value = math.inf if value == "inf" else value
    if shown != (None if value is None else float(value)): wrong(where, "is", shown, "and in JSON", value)
    if (value is None) != (cell["text"] == "–"): wrong(where, "is shown as", cell["text"])


LOAD = ("rate/offered rate/achieved rate/completed in_flight/mean in_flight/max requests/ok requests/failed throughput/input_tokens_per_s "
        "throughput/output_tokens_per_s goodput/requests_per_s goodput/share").split()


def is_no_load(stage):
    return not stage["measured"] and (stage["kind"] == "rest" or stage["name"].endswith(" primer"))


def check_load(page, report):
    table = page.tables["stages-table"]
    alone = sum(stage["measured"] for stage in report["stages"]) == 1
    blocks = [s for s in report["stages"] if not is_no_load(s)] + ([] if alone else [report["total"]])
    rows = table["rows"] + table["foot"]
    if len(rows) != len(blocks): wrong("stages:", len(rows), "rows of", len(blocks))
    for row, block in zip(rows, blocks):
        if not row[0]["text"].startswith(visible(block["name"])): wrong("stage", row[0]["text"], block["name"])
        for cell, path in zip(row[1:], LOAD): compare(block["name"] + " " + path, cell, at(block, path))


def check_summary(where, cells, summary, percentiles):
    interval = summary.get("ci95", [None, None])
    values = [summary.get(k) for k in ["n", "mean", "std", "min"] + percentiles + ["max"]] + interval
    if len(cells) != len(values): wrong(where, len(cells), "columns of", len(values))
    for cell, value in zip(cells, values): compare(where, cell, value)


LATENCY = {**LABELS, "itl": ("ITL", "per gap")}


def check_latency(page, report):
    table = page.tables.get("latency-table")
    total = report["total"]
    wanted = {}
    for key, value in list(total["latency"].items()) + [(k, total[k]) for k in ("lag_ms", "client_lag_ms", "slot_wait_ms") if k in total]:
        if key.startswith("server_"): continue
        name, remark = LATENCY[key[:-3]]
        for version, d in [(remark, value)] if "max" in value else [(v.replace("_", " "), d) for v, d in value.items()]:
            wanted[f"{name} {version}".strip()] = d
    for key, value in total.get("latency_with_failures", {}).items(): wanted[LATENCY[key[:-3]][0] + " with failures"] = value
    if not wanted: return
    percentiles = [c["text"] for c in table["heads"][-1][5:-3]]
    found = {row[0]["text"].replace("per token", "per gap").replace("per request", "per gap"): row for row in table["rows"]}
    if found.keys() != wanted.keys(): wrong("latency:", sorted(found), "of", sorted(wanted))
    for name in found.keys() & wanted.keys(): check_summary("latency " + name, found[name][1:], wanted[name], percentiles)
    tokens = [total["tokens"][k] for k in ("input", "output", "asked_input", "asked_output", "reasoning") if k in total["tokens"]]
    if "tokens-table" in page.tables:
        for row, summary in zip(page.tables["tokens-table"]["rows"], tokens): check_summary("tokens " + row[0]["text"], row[1:], summary, percentiles)
    each = page.tables.get("latency-by-stage-table")
    stages = [s for s in report["stages"] if s["measured"] and s["requests"]["ok"] > 0]
    for row, stage in zip(each["rows"] if each else [], stages):
        values = [at(stage, f"latency/{m}") for m in ("ttft_ms", "itl_ms", "tpot_ms", "e2e_ms")]
        names = [c["text"] for c in each["heads"][-1][1:]]
        count = len(names) // 4
        for i, cell in enumerate(row[1:]):
            summary = values[i // count] or {}
            summary = summary.get("from_due", summary.get("from_start", summary))
            compare(stage["name"] + " " + names[i], cell, summary.get(names[i]))


def check_rest(page, report):
    text = "".join(page.texts)
    for check in report["verdict"]["checks"]:
        if visible(check["detail"]) not in text: wrong("the check is missing:", check["detail"])
    if report["verdict"]["status"] not in text: wrong("the verdict is missing")
    for reason, row in zip(report.get("errors", []), page.tables.get("reasons-table", {"rows": []})["rows"]):
        compare(reason["kind"], row[2], reason["count"])
        if visible(reason.get("text", "")) != row[3]["text"]: wrong("reason", row[3]["text"], reason.get("text"))
    for device, row in zip(report.get("accelerators", []), page.tables.get("devices-table", {"rows": []})["rows"]):
        compare("utilization", row[1], at(device, "utilization/mean"))
        compare("power", row[4], at(device, "power_w/mean"))
    server = report.get("server", {})
    gauges = [server[k] for k in ("running", "waiting", "kv_cache_usage", "replicas_ready") if k in server]
    for gauge, row in zip(gauges, page.tables.get("gauges-table", {"rows": []})["rows"]):
        for cell, key in zip(row[1:], ("mean", "p50", "p90", "max")): compare("gauge " + key, cell, gauge[key])
    points = at(report, "saturation/points") or []
    if len(points) != len(page.tables.get("points-table", {"rows": []})["rows"]): wrong("points of the curve")
    for point, row in zip(points, page.tables.get("points-table", {"rows": []})["rows"]):
        compare("point", row[2], point.get("users"))
        compare("point", row[3], point.get("offered"))
        compare("point", row[4], point.get("completed"))
    loads, rows = at(report, "objectives/loads") or [], page.tables.get("objectives-table", {"rows": []})["rows"]
    if len(loads) != len(rows): wrong("loads:", len(rows), "rows of", len(loads))
    for load, row in zip(loads, rows):
        compare("load", row[1], load[report["objectives"]["by"]])
        for cell, objective in zip(row[2:], load.get("objectives", [])): compare(objective["objective"], cell, objective.get("value_ms"))
    check_analyses(page, report)
    ok = str(report["total"]["requests"]["ok"])
    if page.tiles[:1] != [ok]: wrong("summary:", page.tiles, ok)


EVENT_LOAD = "begin_s rate_before rate_peak requests".split()
REPLICAS = "replicas_before replicas_most added_after_s replicas_enough".split()
MISSED = "missed_after_s met_after_s recovery_s missed_requests missed_output_tokens".split()


def check_analyses(page, report):
    events, rows = at(report, "autoscaling/events") or [], page.tables.get("events-table", {"rows": []})["rows"]
    if len(events) != len(rows): wrong("events:", len(rows), "rows of", len(events))
    replicas = any("replicas_before" in event or "replicas_most" in event for event in events)
    columns = EVENT_LOAD + (REPLICAS if replicas else []) + (MISSED if events and "missed_before" in events[0] else [])
    for event, row in zip(events, rows):
        if len(row) != 1 + len(columns): wrong("events:", len(row), "cells of", columns)
        for cell, key in zip(row[1:], columns): compare("event " + key, cell, event.get(key))
    sessions = report.get("sessions", {})
    wanted = [sessions[f"{name}_s"] for name in ["time", *sessions.get("share", {})] if f"{name}_s" in sessions]
    wanted += [sessions["requests_each"]] if "requests_each" in sessions else []
    table = page.tables.get("sessions-table", {"rows": [], "heads": [[]]})
    if len(wanted) != len(table["rows"]): wrong("sessions:", len(table["rows"]), "rows of", len(wanted))
    percentiles = [c["text"] for c in table["heads"][-1][5:-3]]
    for summary, row in zip(wanted, table["rows"]): check_summary("sessions", row[1:], summary, percentiles)
    cost = report.get("cost", {})
    if bool("per_hour" in cost or "no_price" in cost or (cost and "no_energy" not in cost)) != ("cost" in page.ids): wrong("cost")


def main():
    page = Page()
    page.feed(open(sys.argv[1], encoding="utf-8").read())
    page.close()
    check_form(page)
    if len(sys.argv) > 2:
        report = json.load(open(sys.argv[2], encoding="utf-8"))
        check_load(page, report)
        check_latency(page, report)
        check_rest(page, report)
    for problem in problems: print(problem)


main()
