#!/usr/bin/env python3
"""Random runs and comparisons, and whether a figure standing twice is the same twice: in text, page, Markdown, CSV and JSON.

    figures_twice.py FIRST COUNT PROGRAMS DESCRIPTOR     seeds FIRST to FIRST + COUNT - 1; PROGRAMS: a folder; DESCRIPTOR: lib/api/apis/openai-chat.json
    figures_twice.py meddle FIRST PROGRAMS DESCRIPTOR    changes a digit of a figure in each format in turn: each must be found

Each table is read back by its captions and heads: a cell is (table, row, column), and each of them has its place in JSON, written down here a second time.
The text of the cell must be the value of JSON as people are shown it. The tiles of the page agree as well, and the numbers of the sentences about
capacity, objectives and conditions; and the members of JSON that repeat others. Prints a line for each difference, and at the end how many figures were
read back where."""
import collections
import csv
import html
import json
import math
import pathlib
import random
import re
import subprocess
import sys
from html.parser import HTMLParser

HELPERS = pathlib.Path(__file__).parent
sys.path.insert(0, str(HELPERS))
argv = sys.argv


# ---- numbers as people are shown them ----

def thousands(text):
    return re.sub(r"\d+", lambda m: f"{int(m[0]):,}", text, count=1) if re.match(r"[+-]?\d{4,}", text) else text


def number(value):
    if value is None: return "-"
    if value in ("inf", math.inf): return "inf"
    size = abs(value)
    decimals = 0 if size >= 99.95 or size == 0 else 1 if size >= 9.995 else 2 if size >= 0.9995 else 3
    return thousands("%.*f" % (decimals, value))


def whole(value):
    return "-" if value is None else thousands("%d" % round(value)) if value == round(value) else number(value)


def percent(share):
    if share is None: return "-"
    p = 100 * share
    return "%.*f %%" % (3 if 0 < abs(p) < 0.095 else 1, p)


def plain(cell):
    """Dashes and marks of weak percentiles are of the format."""
    cell = " ".join(cell.split()).rstrip("~")
    return "-" if cell in ("–", "", "∞?") else cell


def at(value, path):
    for key in path.split("/"):
        if isinstance(value, list): value = value[int(key)] if int(key) < len(value) else None
        else: value = value.get(key) if isinstance(value, dict) else None
    return value


# ---- tables of each format: {caption: [(row, {column: cell})]} ----

class Page(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tables, self.facts, self.tiles, self.values, self.text = collections.OrderedDict(), [], [], [], ""
        self.table = self.row = self.cell = self.into = self.tile = None
        self.head, self.list = False, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if tag == "table": self.table = {"caption": "", "heads": [], "rows": []}
        elif tag == "thead": self.head = True
        elif tag == "tr" and self.table: self.row = []
        elif tag in ("td", "th") and self.table: self.cell = ["", int(a.get("colspan", 1)), a.get("data-v"), int(a.get("rowspan", 1)), tag == "th" and a.get("scope") != "row"]
        elif tag == "caption": self.into = "caption"
        elif tag == "dl": self.list, self.tile = a.get("class"), a.get("class") == "summary"
        elif tag == "dt": self.into, self.facts = "dt", self.facts + [["", "", self.list]]
        elif tag == "dd": self.into = "dd"
        elif tag == "span" and self.tile and a.get("class") in ("value", "unit", "more"):
            if a["class"] == "value": self.tiles.append({"label": self.facts[-1][0], "v": a["data-v"], "value": "", "unit": "", "more": ""})
            self.into = a["class"]

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self.cell:
            self.row.append(self.cell)
            self.values.append((self.cell[2], self.cell[0]))
            self.cell = None
        elif tag == "tr" and self.table:
            self.table["heads" if self.head else "rows"].append(self.row)
        elif tag == "thead": self.head = False
        elif tag == "table":
            self.tables.setdefault(" ".join(self.table["caption"].split()), []).extend(self.named(self.table))
            self.table = None
        elif tag in ("caption", "dt", "dd"): self.into = None
        elif tag == "span" and self.into in ("value", "unit", "more"): self.into = "dd" if not self.tile else None
        elif tag == "dl": self.tile = None

    def handle_data(self, data):
        self.text += data
        if self.cell: self.cell[0] += data
        elif self.into == "caption": self.table["caption"] += data
        elif self.into == "dt": self.facts[-1][0] += data
        elif self.into == "dd": self.facts[-1][1] += data
        elif self.into in ("value", "unit", "more"): self.tiles[-1][self.into] += data

    @staticmethod
    def named(table):
        """Heads of two rows are group and name."""
        columns = [head[0] for head in table["heads"][-1]] if table["heads"] else []
        if len(table["heads"]) == 2:
            groups = [head[0] for head in table["heads"][0] for _ in range(head[1])]
            columns = [(group + " " + name).strip() for group, name in zip(groups, columns)]
        return [(" ".join(row[0][0].split()), {" ".join(c.split()): cell[0] for c, cell in zip(columns[1:], row[1:])}) for row in table["rows"] if row]


def markdown_tables(text):
    tables, caption, heads = collections.OrderedDict(), None, None
    clean = lambda cell: html.unescape(re.sub(r"`([^`]*)`", r"\1", cell.strip())).replace("**", "").replace("\\", "")
    for line in text.split("\n"):
        if line.startswith("|"):
            cells = [clean(c) for c in line.strip("|").split("|")]
            if heads is None: heads = cells
            elif not re.fullmatch(r"[|: -]+", line): tables.setdefault(caption, []).append((cells[0], dict(zip(heads[1:], cells[1:]))))
            continue
        heads = None
        heading = re.fullmatch(r"\*\*(.+)\*\*|### (.+)|<details><summary>(.+)</summary>", line)
        if heading: caption = clean(next(g for g in heading.groups() if g))
    return tables


def text_tables(text):
    """A table begins with its caption at the left edge, beside or above its heads; a row is indented. Cells end where their heads do. Parts of a wide
    table follow after an empty line, with more heads and the same rows."""
    tables, caption, lines, i = collections.OrderedDict(), None, text.split("\n"), 0
    while i < len(lines):
        line = lines[i]
        begins = re.match(r"(\S(?:\S| (?! ))*)(\s{2,}\S.*)?$", line) if line[:1].strip() else None
        more = caption and not lines[i - 1] and line.startswith("      ")
        if not begins and not more:
            if line[:1].strip() or not line: caption = caption if not line else None
            i += 1
            continue
        if begins: caption = begins[1]
        heads = [" " * len(caption) + line[len(caption):] if begins else line]
        while i + 1 < len(lines) and len(heads) < 3 and re.match(r" {8,}\S", lines[i + 1]): heads, i = heads + [lines[i + 1]], i + 1
        i += 1
        columns = columns_of(heads)
        rows, name = [], ""
        while i < len(lines) and lines[i].startswith("  ") and columns:
            row = row_of(lines[i], columns, name)
            if row is None: break
            name = row[2]
            rows.append(row[:2])
            i += 1
        if rows: tables.setdefault(caption, []).extend(rows)
        elif not begins: caption = None
    return tables


def columns_of(heads):
    """[(name with its group, where the cells end)]"""
    groups = r"(?:TTFT|E2E) from (?:due|start)|in flight|runs needed|\S+"
    shown = [head for head in heads if head.strip()]
    tokens = [[(m[0], m.end()) for m in re.finditer(r"\S+(?: \S+)*" if head is shown[-1] else groups, head)] for head in shown]
    if not tokens: return []
    names = tokens[-1]
    groups = tokens[-2] if len(tokens) > 1 else []
    ends = [(name, end, next((g for g, stop in groups if stop >= end and (g != "runs needed" or name.startswith("for"))), "")) for name, end in names]
    return [((group + " " + name).strip(), end) for name, end, group in ends]


def row_of(line, columns, before):
    """(name, {column: cell}, the row a name below beginning later continues); None: not a row."""
    past = lambda end: end + (line[end:end + 1] == "~")  # a mark is beside the column
    start = past(columns[0][1])
    first = re.split(r"\s{2,}", line[:start].rstrip())
    cells = [first[-1]]
    for _, end in columns[1:]:
        cells.append(line[start:past(end)].strip())
        start = past(end)
    if line[start:].strip() or len(first) < 2 or not first[0] and len(first) < 3 or not all(re.fullmatch(r"[-+~.,%0-9 ]+|inf|<0.001|many|met|missed|too few|left out|none|slower|faster|more|fewer|no difference|not enough runs|not judged|"
                                                                             r"((below|above) )?[-+~.,%0-9 ]+( to [-+.,0-9]+)?( %| pp)", c) for c in cells): return None
    names = [n for n in first[:-1] if n]
    indent = len(line) - len(line.lstrip())
    label = before if indent > 4 and before else names[0] if names else ""
    name = " ".join(([before] if indent > 4 and before else []) + names)
    return name, {c: cell for (c, _), cell in zip(columns, cells)}, label


# ---- where a cell is in JSON ----

LOAD = {"requests/s offered": "rate/offered", "requests/s achieved": "rate/achieved", "requests/s completed": "rate/completed", "in flight mean": "in_flight/mean",
        "in flight max": "in_flight/max", "requests ok": "requests/ok", "requests failed": "requests/failed", "tokens/s input": "throughput/input_tokens_per_s",
        "tokens/s output": "throughput/output_tokens_per_s", "goodput per s": "goodput/requests_per_s", "goodput share": "goodput/share"}
LATENCIES = {"TTFT": "ttft_ms", "TTFA": "ttfa_ms", "TPOT": "tpot_ms", "E2E": "e2e_ms", "TTFB": "ttfb_ms", "ITL": "itl_ms", "stream": "stream_ms"}
STATISTICS = ("n", "mean", "std", "min", "max")


def expect_load(report, row, column):
    block = report["total"] if row == "total" else next((s for s in report["stages"] if s["name"] == re.sub(",? not measured$", "", row.strip("()"))), None)
    value = block and at(block, LOAD[column])
    return percent(value) if column == "goodput share" else whole(value) if column.split()[-1] in ("max", "ok", "failed") else number(value)


def statistic(distribution, name):
    return whole(distribution.get(name)) if name == "n" else number(distribution.get(name))


def expect_latency(report, row, column):
    words = row.split()
    distribution = at(report["total"], "latency/" + LATENCIES.get(words[0], "?"))
    rest = " ".join(words[1:])
    if rest in ("from start", "from due"): distribution = (distribution or {}).get(rest.replace(" ", "_"))
    elif rest or not distribution: return None
    if not distribution or (column not in STATISTICS and not re.fullmatch(r"p[0-9.]+", column)): return None
    return statistic(distribution, column)


def expect_by_stage(report, row, column):
    stage = next((s for s in report["stages"] if s["name"] == row), None)
    name, figure = column.split()[0], column.split()[-1]
    distribution = stage and at(stage, "latency/" + LATENCIES[name])
    if distribution: distribution = distribution.get("from_due", distribution.get("from_start", distribution))
    return statistic(distribution or {}, figure)


def expect_load_objectives(report, row, column):
    objectives = report["objectives"]
    load = next((l for l in objectives["loads"] if l["stage"] == row and "begin_s" not in l), None)
    if not load: return None
    if column.split()[-1] == objectives["by"]: return (whole if objectives["by"] == "users" else number)(load.get(objectives["by"]))
    if column == "requests good": return percent(load.get("good_share"))
    if column == "objectives": return {"met": "met", "missed": "missed", "too few requests": "too few"}.get(load.get("state"), "left out" if "left_out" in load else "none")
    return number(next((o.get("value_ms") for o in load.get("objectives", []) if column == o["objective"] + " ms"), None))


def expect_point(report, row, column):
    points = [p for p in report["saturation"]["points"] if p["stage"] == row]
    name = {"offered": "offered", "completed": "completed", "users": "users"}.get(column.split()[0])
    return (whole if name == "users" else number)(points[0].get(name)) if len(points) == 1 and name else None


TABLES = {"Points of the curve": expect_point, "Stages": expect_load, "Latency, ms": expect_latency, "By stage, ms": expect_by_stage, "By load": expect_load_objectives}


def expect_tile(report, tile):
    """(value, the text required in the line below it)"""
    stage = next((s for s in report["stages"] if ("; " + tile["more"]).endswith("; " + s["name"])), None)
    if report["run"].get("several_loads") and not stage and tile["label"] not in ("successful requests", "objectives met up to", "capacity"):
        return "a stage of several loads", []
    block = stage or report["total"]
    label, of = tile["label"], lambda path: at(block, path)
    fixed = {"successful requests": (whole(at(report, "total/requests/ok")), []), "completed": (number(of("rate/completed")), [number(of("rate/offered")) + " offered"] if of("rate/offered") is not None else []),
             "output": (number(of("throughput/output_tokens_per_s")), [number(of("throughput/input_tokens_per_s")) + " input tokens/s"]),
             "in flight, mean": (number(of("in_flight/mean")), ["at most " + whole(of("in_flight/max"))]),
             "goodput": (number(of("goodput/requests_per_s")), [percent(of("goodput/share"))]), "capacity": (number(at(report, "saturation/requests_per_s")), [])}
    if label in fixed: return fixed[label]
    if label == "objectives met up to":
        met = at(report, "objectives/met")
        by = report["objectives"]["by"]
        return ((whole if met.get("users") else number)(met[by]) if met else "none"), [line_of_objectives(report)]
    m = re.fullmatch(r"(\w+)(?: from (due|start))?, (p[0-9.]+)", label)
    distribution = of("latency/" + LATENCIES[m[1]])
    if m[2]: distribution = distribution["from_" + m[2]]
    more = ["mean " + number(distribution.get("mean"))]
    percentile = re.match(r"(p[0-9.]+) ", tile["more"])
    if percentile: more.append(percentile[1] + " " + number(distribution[percentile[1]]))
    return number(distribution[m[3]]), more


# ---- sentences ----

def load_words(load):
    return whole(load["users"]) + " user" + ("s" if load["users"] != 1 else "") if "users" in load else number(load.get("offered", load.get("achieved", load.get("completed")))) + "/s"


def place(load):
    if "users" in load:
        return load_words(load) + (f", {number(load['completed'])}/s" if "completed" in load else "") + f" in {load['stage']}" + (f" of {load['run']}" if "run" in load else "")
    return load_words(load) + f" in {load['stage']}" + (f", {number(load['begin_s'])} s after its beginning" if "begin_s" in load else "")


def line_of_objectives(report):
    o = report["objectives"]
    users, loads, value = o["by"] == "users", o["loads"], lambda load: load.get(o["by"])
    skipped = [load for load in loads if load.get("state") not in ("met", "missed")]
    parts = []
    if "met" in o:
        most = "" if "missed" in o or value(o["met"]) < (value(loads[-1]) or 0) else ", the most users" if users else ", the highest rate"
        parts.append("met up to " + place(o["met"]) + most + (f", {percent(o['headroom'])} below the capacity" if o.get("headroom", -1) >= 0 else ""))
    if "missed" in o:
        missed = place(o["missed"])
        if "met" in o: parts.append("first missed at " + missed)
        elif value(o["missed"]) > value(loads[0]): parts.append("first missed at " + missed + ", the lowest judged one")
        else: parts.append(("missed at the lowest number of users, " if users else "missed at the lowest rate, ") + missed)
        if "met" in o and "between" in o: parts.append("on a straight line between them until " + number(o["between"]) + (" users" if users else "/s"))
    if "met_above" in o: parts.append("met again at " + place(o["met_above"]))
    if skipped:
        first, n = skipped[0], len(skipped)
        why = first.get("left_out") or (f"{whole(first['requests'])} request{'s' if first['requests'] != 1 else ''}, and p{whole(first['percentile'])} needs {whole(first['needed'])}"
                                        if "needed" in first else "no request to compare")
        parts.append(f"{n} {'number' if users else 'rate'}{'s' if n != 1 else ''} not judged ({first['stage']}: {why})")
    return "; ".join(parts)


def sentence_of_capacity(report):
    s = report.get("saturation", {})
    if "requests_per_s" not in s: return None
    interval = f"{number(s['requests_per_s'])} requests/s ({number(s['ci95'][0])} to {number(s['ci95'][1])})"
    if "users" in s["points"][0]: return interval
    below = s["points_below"]
    return interval + f", from {below} rate{'s' if below != 1 else ''} below and {s['points_above']} above"


# ---- one report ----

class Checks:
    def __init__(self):
        self.read, self.problems = collections.Counter(), []

    def figure(self, form, what, got, wanted):
        if wanted is None: return
        self.read[form] += 1
        if plain(got) != plain(wanted): self.problems.append(f"{form}: {what}: {plain(got)}, JSON has {plain(wanted)}")

    def tables(self, form, tables, report):
        for caption, expect in TABLES.items():
            for row, cells in tables.get(caption, []):
                for column, cell in cells.items():
                    try: wanted = expect(report, row, column)
                    except (KeyError, StopIteration): wanted = f"nothing of the name {column}"
                    self.figure(form, f"{caption} {row} {column}", cell, wanted)

    def sentences(self, form, text, report):
        flat = " ".join(text.split())
        for wanted in (sentence_of_capacity(report), line_of_objectives(report) if "objectives" in report else None):
            if wanted is None: continue
            self.read[form] += 1
            if wanted not in flat: self.problems.append(f"{form}: not said: {wanted}")

    def page(self, page, report):
        self.tables("page", page.tables, report)
        self.sentences("page", page.text, report)
        for label, text, kind in page.facts:
            if label == "objectives" and kind == "facts" and "objectives" in report: self.figure("page", label, text, line_of_objectives(report))
        for tile in page.tiles:
            value, more = expect_tile(report, tile)
            self.figure("page", "tile " + tile["label"], tile["value"], value)
            for words in more:
                self.read["page"] += 1
                if words not in tile["more"].replace("~", ""): self.problems.append(f"page: tile {tile['label']}: {tile['more']}, JSON has {words}")
        for value, text in page.values:
            if value in (None, "inf"): continue
            self.read["page"] += 1
            v, shown = float(value), plain(text)
            if shown not in (number(v), whole(v), percent(v), plain(text) if re.search("[a-z<]| pp", shown) else "") and not shown.endswith(" %") and "." not in shown and "," not in shown:
                self.problems.append(f"page: {text} is shown of {value}")

    def csv(self, text, report):
        """Rows are stages, groups of them, and the total: a figure of a stage is in the column of its name."""
        names = {"rate_" + k: "rate/" + k for k in ("offered", "achieved", "completed")}
        names.update(in_flight_mean="in_flight/mean", in_flight_max="in_flight/max", requests_ok="requests/ok", requests_failed="requests/failed",
                     output_tokens_per_s="throughput/output_tokens_per_s", goodput_requests_per_s="goodput/requests_per_s", goodput_share="goodput/share")
        for row in csv.DictReader(text.splitlines()):
            if row.get("model") or row.get("group"): continue
            block = report["total"] if row["stage"] == "total" else next((s for s in report["stages"] if s["name"] == row["stage"]), None)
            for column, path in names.items():
                if block is None or column not in row: continue
                value = at(block, path)
                self.read["csv"] += 1
                if row[column] != "" if value is None else row[column] == "" or not math.isclose(float(row[column]), value, rel_tol=1e-9, abs_tol=1e-6):
                    self.problems.append(f"csv: {row['stage']} {column}: {row[column]}, JSON has {value}")

    def json(self, report):
        """Members that repeat others."""
        def same(what, a, b):
            self.read["json"] += 1
            if a != b: self.problems.append(f"json: {what}: {a} and {b}")
        o = report.get("objectives")
        for load in o["loads"] if o else []:
            stage = report["stages"][load["index"]]
            same("name of a load", load["stage"], stage["name"])
            if "begin_s" in load or "run" in load: continue
            if o["by"] in ("offered", "achieved"): same("load " + load["stage"], load.get(o["by"]), at(stage, "rate/" + o["by"]))
            same("completed in " + load["stage"], load.get("completed"), at(stage, "rate/completed"))
            if at(stage, "goodput/of"): same("good in " + load["stage"], load.get("good_share"), at(stage, "goodput/share"))
            judged = [x for x in at(stage, "goodput/objectives") or [] if "value_ms" in x or "not_judged" in x]
            for x, y in zip(load.get("objectives", []), judged):
                same(f"{x['objective']} in {load['stage']}", x.get("value_ms"), y.get("value_ms"))
                if "left_out" not in load: same(f"{x['objective']} in {load['stage']} is met", {"met": True, "missed": False}.get(x.get("state")), y.get("met"))
        for name in ("met", "missed", "met_above"):
            if o and name in o: same("objectives/" + name, o[name] in o["loads"], True)
        if report["run"].get("several_loads"):
            same("verdicts over several loads", [x for x in at(report, "total/goodput/objectives") or [] if "met" in x], [])
        s = report.get("saturation", {})
        for name in ("highest", "exceeded_by"):
            if name in s: same("saturation/" + name, s[name] in s["points"], True)
        if "highest" in s and "highest_offered" in s: same("highest offered", s["highest"].get("offered"), s["highest_offered"])
        for block in report["stages"] + [report["total"]]:
            same("failures of " + block["name"], at(block, "requests/failed"), sum(at(block, "requests/errors").values()))
            goodput = block.get("goodput", {})
            if "share" in goodput and goodput.get("of"): same("share of " + block["name"], round(goodput["good"] / goodput["of"], 6), round(goodput["share"], 6))
        measured = [s for s in report["stages"] if s["measured"]]
        same("requests of all stages", sum(s["requests"]["ok"] for s in measured), report["total"]["requests"]["ok"])


# ---- comparisons ----

def change_text(f):
    value, share = (f.get("difference"), True) if f["unit"] == "share" else (f.get("change"), False)
    if value is None: return "-"
    return thousands_signed(value, share) + (" pp" if share else " %")


def thousands_signed(value, share):
    text = "%+.*f" % (2 if share else 1 if abs(value) < 0.0995 else 0, 100 * value)
    return text[0] + thousands(text[1:])


def interval_text(f):
    """Interval as it is shown; None: bounds that JSON leaves out."""
    if f.get("interval_of") is None: return "-"
    share, low, high = f["unit"] == "share", f.get("low"), f.get("high")
    no_low, no_high = low is None or low <= -1, high is None or high >= (1 if share else 99)
    unit = " pp" if share else " %"
    if no_low and no_high: return "-"
    if no_low: return "below " + thousands_signed(high, share) + unit
    if no_high: return "above " + thousands_signed(low, share) + unit
    return thousands_signed(low, share) + " to " + thousands_signed(high, share) + unit


def p_text(p):
    return "-" if p is None else "<0.001" if p < 0.001 else "%.*f" % (3 if p < 0.1 else 2, p)


def compared_value(f, name):
    value = f.get(name)
    return number(value) if f["unit"] != "share" else "-" if value is None else "%.2f %%" % (100 * value)


def expect_compared(f, column):
    return {"base": compared_value(f, "base"), "new": compared_value(f, "new"), "change": change_text(f), "95 % interval": interval_text(f), "p": p_text(f.get("p")),
            "new is": f["finding"]}.get(column.split(" ")[0] if column in ("base", "new") else column,
                                        (whole(f["runs_needed"]) if "runs_needed" in f else "many" if "p" in f else "-") if column.startswith("runs needed") else None)


class Compared(Checks):
    def compare(self, form, tables, truth):
        labels = {f["label"] + ("" if f["unit"] == "share" else ", " + f["unit"]): f for f in truth["figures"]}
        seen = set()
        for caption, rows in tables.items():
            for row, cells in rows:
                f = labels.get(row)
                if not f: continue
                seen.add(row)
                for column, cell in cells.items():
                    self.figure(form, f"{row} {column}", cell, expect_compared(f, column))
        if seen != set(labels): self.problems.append(f"{form}: figures that are not read back: {sorted(set(labels) - seen)}")

    def conditions(self, form, text, truth):
        flat = re.sub(r"[*\\]", "", html.unescape(" ".join(text.split())))
        for condition in truth.get("fail_if", []):
            self.read[form] += 1
            if condition["detail"] not in flat: self.problems.append(f"{form}: {condition['condition']}: not said: {condition['detail']}")

    def details(self, truth):
        for condition in truth.get("fail_if", []):
            f = next((f for f in truth["figures"] if f["name"] == condition["condition"].split()[0]), None)
            if f is None or "new is" in condition["detail"]: continue
            wanted = [change_text(f)]
            if "p" in f and interval_text(f) != "-": wanted.append("95 % interval " + interval_text(f))
            if ", p " in condition["detail"]: wanted.append("p " + ("< 0.001" if f["p"] < 0.001 else "= " + p_text(f["p"])))
            for words in wanted: self.figure("json", condition["condition"], words if words in condition["detail"] else condition["detail"], words)

    def junit(self, text, truth):
        for f in truth["figures"]:
            case = re.search(r'classname="ipf.comparison" name="%s"[^>]*>\s*<[^>]*?(?:message="([^"]*)"/?>|>([^<]*)<)' % re.escape(f["name"]), text)
            detail = html.unescape((case[1] or case[2] or "") if case else "")
            wanted = f"{f['finding']}: {compared_value(f, 'base')} to {compared_value(f, 'new')} {f['unit'] if f['unit'] != 'share' else ''}, {change_text(f)}, 95 % interval {interval_text(f)}"
            self.figure("junit", f["name"], detail, wanted)


# ---- random inputs ----

def call(programs, *arguments):
    done = subprocess.run([f"{programs}/{arguments[0]}", *arguments[1:]], capture_output=True, text=True)
    if not done.stdout and done.returncode not in (0, 4): raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout


def made(helper, name, *arguments):
    with open(name, "w", encoding="utf-8") as out: subprocess.run([sys.executable, str(HELPERS / helper), *arguments], stdout=out, check=True)
    return name


def random_run(rng, seed, programs, descriptor):
    kind = rng.choice(["records", "sweep", "sweep", "loops", "ramp", "one"])
    if kind == "records":
        import random_runs
        run = random_runs.Run(seed)
        run.write(descriptor)
        files = [f"client{k}.records" for k in range(run.clients)]
        subprocess.run([f"{programs}/ipf-collect", "-q", "-o", "run.results", *files], capture_output=True)
        return ["run.results"], rng.choice([[], ["--slo", "ttft=500ms,p50:e2e=2s"]])
    options = ["--seed", str(seed)] + rng.choice([[], ["--spread"], ["--fail", "0.02"], ["--refuse", "20"], ["--slower", "1.4"]])
    rates = sorted(rng.sample(range(8, 150), rng.randrange(3, 7)), key=lambda rate: rng.random() if rng.random() < 0.2 else rate)
    stages = {"sweep": [x for rate in rates for x in ([f"{rate}:{rng.choice([3, 6, 12])}"] + rng.choice([[], ["rest:1"]]))],
              "loops": [f"closed={users}:{rng.choice([5, 15])}" for users in sorted(rng.sample(range(1, 40), 4))],
              "ramp": [f"{rng.choice([5, 20])}-{rng.choice([80, 150])}:{rng.choice([20, 60])}"], "one": [f"{rng.choice([5, 40, 90])}:{rng.choice([1, 10])}"]}[kind]
    made("queue_results.py", "run.results", *options, *stages)
    limit = rng.choice([15, 60, 150, 400, 5000])
    slo = rng.choice([[], ["--slo", f"p99:ttft={limit}ms"], ["--slo", f"p90:ttft={limit}ms,e2e={limit + 100}ms"], ["--slo", f"ttft={limit}ms"],
                      ["--slo", f"p50:e2e={limit + 90}ms,p99:ttft={limit}ms"]])
    return ["run.results"], slo + rng.choice([[], ["--errors-as-inf"], ["--window", "drain"]])


def formats_of(programs, files, options):
    full = {form: call(programs, "ipf-report", "-q", "-f", form, *options, *files) for form in ("json", "html", "md", "csv")}
    full["text"] = call(programs, "ipf-report", "-q", "--full", *options, *files)
    full["brief"] = call(programs, "ipf-report", "-q", *options, *files)
    return full


def check_run(formats):
    checks, report = Checks(), json.loads(formats["json"])
    checks.json(report)
    for form in ("text", "brief"):
        checks.tables(form, text_tables(formats[form]), report)
        checks.sentences(form, formats[form], report)
    checks.tables("md", markdown_tables(formats["md"]), report)
    checks.sentences("md", html.unescape(formats["md"]), report)
    checks.page(Page(formats["html"]), report)
    checks.csv(formats["csv"], report)
    return checks


def random_comparison(rng, seed):
    sides = []
    for side in range(2):
        names, options = [], ["--requests", rng.choice(["40", "200", "400"])]
        if side: options += rng.choice([[], ["--slower", "1.1"], ["--slower", "1.6"], ["--slower", "0.7"], ["--output", "0.7"], ["--schedule", "2"], ["--fail", "0.03"]])
        for k in range(rng.choice([1, 1, 2, 3])):
            names.append(made("compare_results.py", f"side{side}-{k}.results", "--seed", str(seed * 10 + side * 4 + k), *options))
        sides.append(names)
    figures = ["ttft.p99 > +5%", "ttft.mean > +3%", "e2e.p90 > +20ms", "tpot.p50 > +2% certain", "requests < -2%", "failures > +1%", "failures > +1% possible", "output_tokens < -5%",
               "e2e.mean > 2s", "itl.mean > +1%"]
    conditions = [x for condition in rng.sample(figures, rng.randrange(0, 4)) for x in ("--fail-if", condition)]
    return conditions + rng.choice([[], ["--min-effect", "5%"], ["--undecided", "pass"]]) + sides[0] + ["--"] + sides[1]


def compared_formats(programs, arguments):
    return {form: call(programs, "ipf-report", "compare", "-q", "-f", form, *arguments) for form in ("json", "text", "html", "md", "junit")}


def check_comparison(formats):
    checks, truth = Compared(), json.loads(formats["json"])
    page = Page(formats["html"])
    for form, tables in (("text", text_tables(formats["text"])), ("md", markdown_tables(formats["md"])), ("page", page.tables)): checks.compare(form, tables, truth)
    for form, text in (("text", formats["text"]), ("md", formats["md"]), ("page", page.text), ("junit", formats["junit"])): checks.conditions(form, text, truth)
    checks.details(truth)
    if truth["figures"]: checks.junit(formats["junit"], truth)
    return checks


def main():
    first, count, programs, descriptor = int(argv[1]), int(argv[2]), argv[3], json.load(open(argv[4]))
    read = collections.Counter()
    for seed in range(first, first + count):
        rng = random.Random(seed)
        files, options = random_run(rng, seed, programs, descriptor)
        checks = [("report", check_run(formats_of(programs, files, options)), options)]
        if seed % 3 == 0:
            arguments = random_comparison(rng, seed)
            checks.append(("comparison", check_comparison(compared_formats(programs, arguments)), arguments))
        for what, found, how in checks:
            for form, n in found.read.items(): read[f"{what} {form}"] += n
            for problem in found.problems[:8]: print(f"seed {seed} ({' '.join(how)}): {what}: {problem}")
    print(", ".join(f"{what} {n}" for what, n in sorted(read.items())), file=sys.stderr)
    print(f"{count} runs")


def change_digit(text, figure, rng):
    """The text with another digit at the beginning of one of the figures."""
    at_digit = rng.choice(list(re.finditer(figure, text))).start(1)
    return text[:at_digit] + str((int(text[at_digit]) + 5) % 10) + text[at_digit + 1:]


def meddle():
    """Each format with a differing figure."""
    programs, rng = argv[3], random.Random(int(argv[2]))
    made("queue_results.py", "run.results", "--spread", "20:25", "40:12", "80:10", "120:10")
    formats = formats_of(programs, ["run.results"], ["--slo", "p99:ttft=300ms"])
    arguments = [made("compare_results.py", "a.results", "--seed", "1"), "--", made("compare_results.py", "b.results", "--seed", "2", "--slower", "1.2")]
    compared = compared_formats(programs, ["--fail-if", "ttft.mean > +3%"] + arguments)
    if check_run(formats).problems or check_comparison(compared).problems: raise SystemExit("they differ already")
    wrong = [("text", r"(?m)^  poisson-\d +(\d+)"), ("brief", r"(?m)^  poisson-\d +(\d+)"), ("md", r"(?m)^\| poisson-\d \| (\d+)"),
             ("html", r"data-v=\"[0-9.]+\">([0-9.,]*\d)</td>"), ("csv", r"(?m)^poisson-\d,(?:,)?poisson,true,[^,]*,\d+,\d+,(\d+),"), ("json", r'"completed": (\d+\.\d+)'), ("text", r"met up to (\d+)"),
             ("html", r"met up to (\d+)"), ("html", r'class="value" data-v="[0-9.]+">([0-9.,]+)<')]
    for form, figure in wrong:
        print(form, bool(check_run({**formats, form: change_digit(formats[form], figure, rng)}).problems))
    for form, figure in [("text", r"(?m)^  TPOT p50, ms +(\d+)"), ("md", r"(?m)^\| TPOT p50, ms \| (\d+)"), ("html", r'TPOT p50, ms</th><td[^>]*>(\d+)'), ("junit", r"slower: (\d+)"),
                         ("json", r'"p": (0\.[1-9]\d+|0\.0[1-9]\d+|1\.0),'), ("text", r"interval \+(\d+)")]:
        print("comparison", form, bool(check_comparison({**compared, form: change_digit(compared[form], figure, rng)}).problems))


(meddle if argv[1] == "meddle" else main)()
