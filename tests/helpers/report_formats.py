"""Reads the formats of ipf-report back and compares every number with the JSON report.

    report_formats.py FOLDER RESULTS    FOLDER has json, csv, md, requests-csv, requests-jsonl, junit, prometheus, openmetrics of RESULTS
    report_formats.py md FOLDER         FOLDER has json and md

Prints the differences.
"""
import csv
import html
import json
import math
import re
import sys
import xml.etree.ElementTree as ET

from metric_rows import LABELS

SHOWN = {"\n": "\\n", "\t": "\\t", "\x1b": "\\x1b", "\0": "\\x00", "\u202e": "\\u202e"}


def shown(text):
    """As safe_text.h shows it."""
    return "".join(SHOWN.get(c, c) for c in text)


def neutral(text):
    """As a spreadsheet must get it."""
    return ("'" if text.lstrip(" ")[:1] in set("=+-@") and text.strip(" ") else "") + shown(text)


def number(text):
    return None if text == "" else float(text)


def compare(what, found, expected):
    if found != expected and not (isinstance(found, float) and isinstance(expected, (int, float)) and math.isclose(found, expected, rel_tol=1e-12)):
        print(f"{what}: {found!r}, expected {expected!r}")


# ---- csv ----

CSV_NAMES = {"requests_scheduled": "requests.scheduled", "requests_started": "requests.started", "requests_ok": "requests.ok",
             "requests_failed": "requests.failed", "requests_cut": "requests.cut", "rate_offered": "rate.offered", "rate_achieved": "rate.achieved",
             "rate_completed": "rate.completed", "input_tokens_per_s": "throughput.input_tokens_per_s", "window_s": "window_s",
             "output_tokens_per_s": "throughput.output_tokens_per_s", "total_tokens_per_s": "throughput.total_tokens_per_s",
             "in_flight_mean": "in_flight.mean", "in_flight_max": "in_flight.max", "in_flight_little": "in_flight.little",
             "goodput_requests_per_s": "goodput.requests_per_s", "goodput_share": "goodput.share", "cached_share": "tokens.cached_share", "output_valid_share": "output_check.share", "requests_refused": "refusals.requests",
             "attempts": "refusals.attempts", "retry_wait_share": "refusals.waited_share",
             "coalesced_share": "events.coalesced_share", "stalls": "events.stalls", "stale_resets": "requests.stale_resets"}
STATISTIC = r"(n|mean|std|min|p[0-9.]+|max)"


def at(block, path):
    for key in path.split("."):
        block = block.get(key) if isinstance(block, dict) else None
    return block


def csv_figure(block, column):
    """The figure of the JSON report a column of the CSV has; KeyError: it is no figure."""
    if column in CSV_NAMES:
        return at(block, CSV_NAMES[column])
    if column.startswith("errors_"):
        kind = column[7:].replace("_", "-")
        return block["requests"].get("hung_up") if kind == "hung-up" else block["requests"]["errors"].get(kind)
    if column.startswith("slo_"):
        for o in block.get("goodput", {}).get("objectives", []):
            for end, key in (("_share", "share"), ("_value_ms", "value_ms")):
                if column == "slo_" + o["objective"] + end:
                    return o.get(key)
        return None
    m = re.fullmatch(r"(\w+?)(?:_(from_start|from_due))?_" + STATISTIC, column)
    if not m:
        raise KeyError(column)
    name, version, statistic = m.groups()
    if name.endswith("_tokens"):
        d = at(block, "tokens." + {"asked_output_tokens": "asked_output"}.get(name, name[:-7]))
    else:
        d = at(block, name) or at(block, "latency." + name)
        d = d.get(version) if d and version else d
    return (d or {}).get(statistic)


def check_csv(text, report):
    rows = list(csv.DictReader(text.splitlines()))
    blocks = report["stages"] + [report["total"]]
    compared = 0
    if len(rows) != len(blocks):
        print(f"csv: {len(rows)} lines")
    for row, block in zip(rows, blocks):
        compare("csv: stage", row["stage"], neutral(block["name"]))
        for column, cell in row.items():
            try:
                expected = csv_figure(block, column)
            except KeyError:
                continue
            found = number(cell) or None if re.match("errors_|stale_resets|.*_n$", column) else number(cell)
            compare(f"csv: {block['name']}: {column}", found, (expected or None) if found is None else float(expected) if expected is not None else None)
            compared += cell != ""
    if compared < 20:
        print(f"csv: only {compared} figures compared")
    for key, value in report["run"].get("meta", {}).items():
        compare("csv: meta", rows[0]["meta_" + key], neutral(value))


# ---- requests-csv ----

def check_requests(text, rows, report):
    lines = list(csv.DictReader(text.splitlines()))
    if len(lines) != len(rows):
        print(f"requests-csv: {len(lines)} lines, expected {len(rows)}")
    for line, row in zip(lines, rows):
        row = {k: v for k, v in row.items() if k not in ("event_ns", "event_tokens", "slo", "text", "reasoning", "target") and v is not None}
        error = row.pop("error", None)
        if error:
            row.update({"error_kind": error["kind"], "status": error.get("status"), "stale": error.get("stale", False), "error_text": error.get("text")})
        row.update({"stage_name": report["stages"][row["stage"]]["name"]})
        row.update({"meta_" + k: v for k, v in report["run"].get("meta", {}).items()})
        expected = {k: str(v).lower() if isinstance(v, bool) else neutral(v) if isinstance(v, str) else str(v) for k, v in row.items() if v is not None}
        found = {k: v for k, v in line.items() if v != "" and k not in ("part", "target", "good")}
        expected = {k: v for k, v in expected.items() if v != ""}
        if found != expected:
            print(f"requests-csv: {found}, expected {expected}")


# ---- requests-jsonl ----

def check_rows(text, rows):
    found = [json.loads(line) for line in text.split("\n")[:-1]]
    if found != rows:
        print(f"requests-jsonl: {len(found)} rows, expected {len(rows)}, or others")


# ---- md ----

def unmarked(cell):
    """The text of a cell: as it is read once references and code are shown."""
    return html.unescape(re.sub(r"`([^`]*)`", r"\1", re.sub(r"^ | $", "", cell).replace("**", "")))


def figure(value):
    """Three significant digits, as people read them."""
    if value is None:
        return "–"
    if value == "inf":
        return "inf"
    size = abs(value)
    return "0" if value == 0 else f"{value:,.{0 if size >= 99.95 else 1 if size >= 9.995 else 2 if size >= 0.9995 else 3}f}"


def count(value):
    return f"{round(value):,}" if isinstance(value, (int, float)) and abs(value - round(value)) < 1e-9 else figure(value)


def percent(value):
    return "–" if value is None else f"{100 * value:.{3 if 0 < abs(100 * value) < 0.095 else 1}f} %"


LOAD = {"requests/s offered": ("rate.offered", figure), "requests/s achieved": ("rate.achieved", figure), "requests/s completed": ("rate.completed", figure),
        "in flight mean": ("in_flight.mean", figure), "in flight max": ("in_flight.max", count), "requests ok": ("requests.ok", count),
        "requests failed": ("requests.failed", count), "tokens/s input": ("throughput.input_tokens_per_s", figure),
        "tokens/s output": ("throughput.output_tokens_per_s", figure), "goodput per s": ("goodput.requests_per_s", figure), "goodput share": ("goodput.share", percent)}
LATENCY = {"ITL, per gap": "itl", **{label + (", " + remark if remark else ""): name for name, (label, remark) in LABELS.items() if not name.startswith("server_")}}
GROUPS = {"Models": "model", "Targets": "target", "Replicas": "replica", "Sessions": "session", "By time": "time", "By input tokens": "input_tokens", "By tag": "tag"}


def tables_of(text):
    """The tables by the line above them, the section's title or their caption."""
    tables, title, table = {}, "", []
    for line in text.splitlines() + [""]:
        if line.startswith("|"):
            table.append([unmarked(cell) for cell in line.strip("|").split("|")])
            continue
        if table:
            if len({len(row) for row in table}) != 1:
                print(f"md: a table with rows of different lengths: {table}")
            tables[title] = table
            table = []
        m = re.fullmatch(r"### (.*)|\*\*(.*)\*\*|<details><summary>(.*)</summary>", line)
        title = html.unescape(next(t for t in m.groups() if t is not None)) if m else title
    return tables


def check_md(text, report):
    tables, plain = tables_of(text), html.unescape(re.sub(r"`([@#])`", r"\1", text))
    for c in report["verdict"]["checks"]:
        if f"- {c['name'].replace('_', ' ')} **{c['status']}**: {shown(c['detail'])}\n" not in plain:
            print(f"md: the check is missing: {c}")

    def check_blocks(title, blocks):
        table = tables.get(title, [[]])
        compare(f"md: {title}", len(table) - 2, len(blocks))
        for row, (name, block) in zip(table[2:], blocks):
            compare("md: name", row[0], shown(name) + ("" if block["measured"] else ", not measured"))
            compare(f"md: {name}", row[1:], [show(at(block, path)) for path, show in (LOAD[head] for head in table[0][1:])])
    stages = [(s["name"], s) for s in report["stages"]]
    alone = sum(stage["measured"] for stage in report["stages"]) == 1
    check_blocks("Stages", stages + ([] if alone else [("total", report["total"])]))
    for title, by in GROUPS.items():
        if "by_" + by not in report["total"]:
            continue
        names = [n for n in report["total"]["by_" + by] if n is not None]
        table = tables.get(title, [[]])
        blocks = list(report["total"]["by_" + by].values())[:40]
        compare(f"md: {title}", len(table) - 2, len(blocks))
        for row, block in zip(table[2:], blocks):
            compare(f"md: {title}", row[1:], [show(at(block, path)) for path, show in (LOAD[head] for head in table[0][1:])])
    for e in report.get("errors", []):
        what = e.get("status", e["kind"])
        if f"- {what} ×{e['count']:,}" not in plain or shown(e.get("text", "")) not in plain or e.get("hint", "") not in plain:
            print(f"md: error: {e}")
    table, total, seen = tables.get("Latency, ms", [[]]), report["total"], 0
    for row in table[2:]:
        name, _, version = re.fullmatch(r"(.*?)(, (from start|from due|with failures))?", row[0]).groups()
        name = LATENCY[name] + "_ms"
        d = total.get("latency_with_failures", {}).get(name) if version == "with failures" else total["latency"].get(name, total.get(name))
        d = d["from_" + version[5:]] if version and version.startswith("from") else d
        compare(f"md: {row[0]}", [c.rstrip("~") for c in row[1:]], [figure(d.get(k)) for k in table[0][1:]])
        seen += 1
    latencies = [v for k, v in total["latency"].items() if not k.startswith("server_")]
    wanted = sum(1 if "max" in d else len(d) for d in latencies) + len(total.get("latency_with_failures", {})) + \
        sum(k in total for k in ("lag_ms", "client_lag_ms", "slot_wait_ms"))
    compare("md: latencies", seen, wanted)


# ---- junit ----

ATTRIBUTES = {"testsuites": {"name", "tests", "failures", "errors", "time"}, "properties": set(), "property": {"name", "value"},
              "testsuite": {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname"},
              "testcase": {"name", "classname", "time"}, "failure": {"type", "message"}, "skipped": {"message"}, "system-out": set()}


def check_junit(text, report):
    root = ET.fromstring(text)
    for element in root.iter():
        if set(element.attrib) - ATTRIBUTES[element.tag]:
            print(f"junit: {element.tag} has {element.attrib}")
    suite = root.find("testsuite")
    cases = suite.findall("testcase")
    for e in (root, suite):
        compare("junit: tests", int(e.get("tests")), len(cases))
        compare("junit: failures", int(e.get("failures")), len(suite.findall("testcase/failure")))
    compare("junit: skipped", int(suite.get("skipped")), len(suite.findall("testcase/skipped")))
    compare("junit: time", float(suite.get("time")), round(report["run"]["duration_s"], 3))
    failed = {(c.get("classname"), c.get("name")): c.find("failure") is not None for c in cases}
    texts = {(c.get("classname"), c.get("name")): "".join(c.itertext()).strip() for c in cases}
    for check in report["verdict"]["checks"]:
        compare("junit: check", failed.get(("ipf.verdict", check["name"])), check["status"] == "INVALID")
    measured = [s for s in report["stages"] if s["measured"]]
    blocks = ([] if report["run"].get("several_loads") else [("ipf.objectives.total", report["total"])]) + ([("ipf.objectives.stage." + shown(s["name"]), s) for s in measured] if len(measured) > 1 else [])
    for group, block in blocks:
        for o in block.get("goodput", {}).get("objectives", []):
            compare("junit: objective", failed.get((group, o["objective"])), o.get("met") is False)
            text = texts.get((group, o["objective"]), "")
            if isinstance(o.get("value_ms", o.get("share")), float) and ("met" in o or "share" in o):
                compare("junit: value", float(text.split()[0]), o.get("value_ms", o.get("share")))
    properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
    for key, value in report["run"].get("meta", {}).items():
        compare("junit: meta", properties.get("meta." + key), shown(value))


# ---- prometheus, openmetrics ----

def samples(text):
    found = {}
    for line in text.splitlines():
        if line.startswith("#") or not line:
            continue
        name, labels, value = re.fullmatch(r'(\w+)(?:\{(.*)\})? (\S+)', line).groups()
        labels = {k: v.replace('\\"', '"').replace("\\\\", "\\") for k, v in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")}
        key = (name, tuple(sorted(labels.items())))
        if key in found:
            print(f"{key} occurs twice")
        found[key] = float(value)
    return found


def stage_labels(report):
    """A label of its own for each stage, and the total."""
    labels = []
    for i, block in enumerate(report["stages"]):
        name = shown(block["name"])
        labels.append(name + f" ({i})" if name == "total" or name in labels else name)
    return labels + ["total"]


def expected_samples(report):
    def put(name, value, **labels):
        if value is not None:
            result[(name, tuple(sorted((k.rstrip("_"), v) for k, v in labels.items())))] = float(value)

    def distribution(name, d, seconds, **labels):
        if not d or "n" not in d:
            return
        scale = 1e-3 if seconds else 1
        for key, value in d.items():
            q = {"min": 0.0, "max": 1.0}.get(key, float(key[1:]) / 100 if re.fullmatch(r"p[0-9.]+", key) else None)
            if q is not None:
                put(name, float(value) * scale, quantile=repr(round(q, 8)), **labels)
        put(name + "_count", d["n"], **labels)

    result = {}
    put("ipf_run_time_seconds", report["run"]["duration_s"])
    put("ipf_run_finished", "incomplete" not in report["run"])
    for c in report["verdict"]["checks"]:
        put("ipf_verdict_status", ["OK", "DOUBTFUL", "INVALID"].index(c["status"]), question=c["name"])
    for stage, block in zip(stage_labels(report), report["stages"] + [report["total"]]):
        total = block is report["total"]
        if not total:
            put("ipf_requests_total", block["requests"]["ok"], stage=stage, outcome="ok")
            for kind, n in block["requests"]["errors"].items():
                put("ipf_requests_total", n, stage=stage, outcome=kind)
            put("ipf_requests_scheduled", block["requests"].get("scheduled"), stage=stage)
        for name, path in (("window_seconds", "window_s"), ("offered_requests_per_second", "rate.offered"), ("achieved_requests_per_second", "rate.achieved"),
                           ("completed_requests_per_second", "rate.completed"), ("input_tokens_per_second", "throughput.input_tokens_per_s"),
                           ("output_tokens_per_second", "throughput.output_tokens_per_s"), ("requests_in_flight_mean", "in_flight.mean"),
                           ("requests_in_flight_max", "in_flight.max"), ("cached_input_tokens_ratio", "tokens.cached_share"),
                           ("goodput_requests_per_second", "goodput.requests_per_s"), ("goodput_ratio", "goodput.share"), ("output_valid_ratio", "output_check.share"), ("attempts", "refusals.attempts")):
            put("ipf_" + name, at(block, path), stage=stage)
        for key, d in list(block["latency"].items()) + [(k, block.get(k)) for k in ("lag_ms", "client_lag_ms", "slot_wait_ms")]:
            for version in ("from_start", "from_due"):
                if d and version in d:
                    distribution(f"ipf_{key[:-3]}_seconds", d[version], True, stage=stage, from_=version[5:])
            distribution(f"ipf_{key[:-3]}_seconds", d, True, stage=stage)
        for key in ("input", "output"):
            distribution(f"ipf_request_{key}_tokens", block["tokens"].get(key), False, stage=stage)
        for o in block.get("goodput", {}).get("objectives", []):
            put("ipf_objective_met", o.get("met"), stage=stage, objective=o["objective"])
            put("ipf_objective_value_seconds", None if "value_ms" not in o else float(o["value_ms"]) / 1e3, stage=stage, objective=o["objective"])
            put("ipf_objective_ratio", o.get("share"), stage=stage, objective=o["objective"])
    return result


def check_exposition(name, text, report):
    found, expected = samples(text), expected_samples(report)
    for key, value in expected.items():
        if key not in found or not (found[key] == value or math.isclose(found[key], value, rel_tol=1e-9, abs_tol=1e-12)):
            print(f"{name}: {key}: {found.get(key)}, expected {value}")
    for key in found.keys() - expected.keys():
        if not (re.search("_info$|_sum$|_start_time_seconds$", key[0]) or (key[0] == "ipf_requests_total" and found[key] == 0)):
            print(f"{name}: {key}: {found[key]}, expected nothing")
    for (metric, labels), value in found.items():
        mean = None
        if metric.endswith("_sum"):
            count = found[(metric[:-4] + "_count", labels)]
            mean = value / count if count else None
            labels = dict(labels)
            block = dict(zip(stage_labels(report), report["stages"] + [report["total"]]))[labels["stage"]]
            base = metric[4:-4]
            d = at(block, "tokens." + base.split("_")[1]) if base.startswith("request_") else at(block, "latency." + base[:-8] + "_ms") or at(block, base[:-8] + "_ms")
            d = d["from_" + labels["from"]] if "from" in labels else d
            if "mean" in d and isinstance(d["mean"], float) and not math.isclose(mean, d["mean"] * (1 if base.startswith("request_") else 1e-3), rel_tol=1e-9):
                print(f"{name}: {metric} {labels}: mean {mean}, expected {d['mean']}")


def main():
    only_md = sys.argv[1] == "md"
    folder, results = sys.argv[:0:-1] if only_md else sys.argv[1:3]

    def read(name):
        with open(f"{folder}/{name}", encoding="utf-8", newline="") as file:
            return file.read()

    report = json.loads(read("json"))
    if only_md:
        return check_md(read("md"), report)
    rows = []
    with open(results, encoding="utf-8") as file:
        for line in file:
            line = json.loads(line)
            if "n" in line and "ok" in line:
                rows.append(line)
    rows.sort(key=lambda row: (row["stage"], row.get("start_ns", float("-inf")), row["n"]))
    check_csv(read("csv"), report)
    check_requests(read("requests-csv"), rows, report)
    check_rows(read("requests-jsonl"), rows)
    check_md(read("md"), report)
    check_junit(read("junit"), report)
    for name in ("prometheus", "openmetrics"):
        check_exposition(name, read(name), report)


main()
