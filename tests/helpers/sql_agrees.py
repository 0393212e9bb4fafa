"""Reads the tables of `ipf-report -f sql` back.

    sql_agrees.py report DATABASE JSON RESULTS   every number of the JSON report and of the rows is there, and no others
    sql_agrees.py same DATABASE FOLDER           FOLDER/TABLE.csv, from PostgreSQL, has the same rows as SQLite's DATABASE

Prints the differences.
"""
import csv
import json
import re
import sqlite3
import sys

STATISTIC = re.compile(r"n|mean|std|min|max|n_eff|p[0-9.]+")
TABLES = ["runs", "meta", "checks", "stages", "metrics", "objectives", "errors", "windows", "sources", "source_metrics", "requests"]


def figures(value, path=()):
    """(name, statistic, number) of everything in a block."""
    for key, inner in value.items():
        if isinstance(inner, dict):
            if not key.startswith("by_"):
                yield from figures(inner, path + (key,))
        elif isinstance(inner, list):
            if key == "ci95":
                yield ".".join(path), "ci95_low", inner[0]
                yield ".".join(path), "ci95_high", inner[1]
            elif STATISTIC.fullmatch(key):
                for end, number in zip(("", "_low", "_high"), inner):
                    yield ".".join(path), key + end, number
        elif isinstance(inner, (int, float)):
            if path and STATISTIC.fullmatch(key):
                yield ".".join(path), key, float(inner)
            else:
                yield ".".join(path + (key,)), "value", float(inner)


def compare(what, found, expected):
    if not expected:
        print(f"{what}: nothing to compare")
    for key in sorted(found.keys() | expected.keys(), key=repr):
        if found.get(key) != expected.get(key):
            print(f"{what}: {key}: {found.get(key)!r}, expected {expected.get(key)!r}")


def blocks(report):
    for i, stage in enumerate(report["stages"] + [report["total"]]):
        yield i, "", "", stage
        for by in [key for key in stage if key.startswith("by_")]:
            for name, block in stage[by].items():
                yield i, by[3:], name, block


def check_report(database, report, rows):
    run = report["run"]["digest"]

    def table(name, key, where="run = ?"):
        result = {}
        for row in database.execute(f"SELECT * FROM {name} WHERE {where}", (run,)):
            row = dict(row)
            result[tuple(row[k] for k in key)] = row
        return result

    metrics = table("metrics", ("stage", "grouped_by", "group_name", "name", "statistic"))
    compare("metrics", {key: row["value"] for key, row in metrics.items()},
            {(i, by, group, name, statistic): number for i, by, group, block in blocks(report)
             for name, statistic, number in figures(block)})
    stages = [(row["name"], row["total"]) for row in table("stages", ("stage",)).values()]
    if stages != [(s["name"], 0) for s in report["stages"]] + [("total", 1)]:
        print(f"stages: {stages}")
    objectives = table("objectives", ("stage", "grouped_by", "group_name", "objective"))
    columns = ("limit_ms", "share", "value_ms", "met", "unmeasured")
    expected = {(i, by, group, o["objective"]): tuple(o.get(c) for c in columns) for i, by, group, block in blocks(report)
                for o in block.get("goodput", {}).get("objectives", [])}
    if objectives or expected:
        compare("objectives", {key: tuple(row[c] for c in columns) for key, row in objectives.items()}, expected)
    errors = [(row["kind"], row["status"], row["requests"], row["message"], row["hint"]) for row in table("errors", ("number",)).values()]
    if errors != [tuple(e.get(c) for c in ("kind", "status", "count", "text", "hint")) for e in report.get("errors", [])]:
        print(f"errors: {errors}")
    checks = {row["name"]: row["status"] for row in table("checks", ("name",)).values()}
    compare("checks", checks, {c["name"]: c["status"] for c in report["verdict"]["checks"]})
    row = table("runs", ("run",))[(run,)]
    for column, value in (("verdict", report["verdict"]["status"]), ("duration_s", report["run"]["duration_s"]), ("started", report["run"].get("started")),
                          ("model", report["run"].get("model")), ("incomplete", "; ".join(report["run"].get("incomplete", [])) or None)):
        if row[column] != value:
            print(f"runs: {column}: {row[column]!r}, expected {value!r}")
    check_windows(table("windows", ("t_s",)), report.get("series", {}))
    check_sources(table("sources", ("source",)), table("source_metrics", ("source", "name", "statistic")), report)
    requests = table("requests", ("number",))
    for i, expected in enumerate(rows):
        check_request(requests.get((i,), {}), expected, report)
    if len(requests) != len(rows):
        print(f"requests: {len(requests)}, expected {len(rows)}")


def check_windows(found, series):
    expected = {}
    for window in series.get("windows", []):
        flat = {"every_s": series["every_s"]}
        for key, value in window.items():
            flat.update({f"{key}_{k}": v for k, v in value.items()} if isinstance(value, dict) else {key: value})
        expected[(window["t_s"],)] = flat
    for key, row in found.items():
        flat = {k: v for k, v in row.items() if v is not None and k not in ("run", "at")}
        if flat != expected.pop(key, None):
            print(f"windows: {key}: {flat}")
    if expected:
        print(f"windows: missing: {list(expected)}")


def check_sources(sources, metrics, report):
    server = report.get("server", {})
    objects = ([("servers", None, server)] if server else []) + [("server", t["target"], t) for t in server.get("targets", [])]
    objects += [("accelerator", a["device"], a) for a in report.get("accelerators", [])]
    if [(row["kind"], row["name"]) for row in sources.values()] != [o[:2] for o in objects]:
        print(f"sources: {sources}")
    expected = {(i, name, statistic): number for i, o in enumerate(objects) for name, statistic, number in figures(o[2])}
    if metrics or expected:
        compare("source_metrics", {key: row["value"] for key, row in metrics.items()}, expected)


def check_request(found, row, report):
    row = {key: value for key, value in row.items() if key not in ("event_ns", "event_tokens", "slo", "text", "reasoning", "target")}
    if "tags" in row:
        row["tags"] = json.dumps(row["tags"], separators=(",", ":"))
    error = row.pop("error", None)
    if error:
        row.update({"error_kind": error["kind"], "status": error.get("status"), "stale": error.get("stale", False), "error_text": error.get("text")})
    row["stage_name"] = report["stages"][row["stage"]]["name"]
    got = {key: value for key, value in found.items() if value is not None and key not in ("run", "number", "part", "target", "good")}
    row = {key: value for key, value in row.items() if value is not None}
    if got != row:
        print(f"requests: {got}, expected {row}")


def plain(text):
    """A cell of either database."""
    if text in ("t", "f"):
        return float(text == "t")
    if re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00", text):
        text = text.replace(" ", "T")[:-3]
        text = text if "." in text else text + "."
        return text.ljust(23, "0") + "Z"
    try:
        return float(text)
    except ValueError:
        return text


def check_same(database, folder):
    for table in TABLES:
        with open(f"{folder}/{table}.csv", newline="", encoding="utf-8") as file:
            theirs = [tuple(plain(cell) for cell in row) for row in csv.reader(file)][1:]
        ours = [tuple("" if cell is None else plain(str(cell)) for cell in row) for row in database.execute(f"SELECT * FROM {table}")]
        if sorted(ours, key=repr) != sorted(theirs, key=repr):
            wrong = [pair for pair in zip(sorted(ours, key=repr), sorted(theirs, key=repr)) if pair[0] != pair[1]]
            print(f"{table}: {len(ours)} and {len(theirs)} rows: {wrong[:1]}")
        if not ours:
            print(f"{table}: nothing to compare")


def main():
    database = sqlite3.connect(sys.argv[2])
    database.row_factory = sqlite3.Row
    if sys.argv[1] == "same":
        check_same(database, sys.argv[3])
        return
    with open(sys.argv[3], encoding="utf-8") as file:
        report = json.load(file)
    rows = []
    with open(sys.argv[4], encoding="utf-8") as file:
        for line in file:
            line = json.loads(line)
            if "n" in line and "ok" in line:
                rows.append(line)
    rows.sort(key=lambda row: (row["stage"], row.get("start_ns", float("-inf")), row["n"]))
    check_report(database, report, rows)


main()
