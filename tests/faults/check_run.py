#!/usr/bin/env python3
"""Rules for every run, whatever its faults: computed from its streams, without a line of ipf's own.

    check_run.py RECORDS RESULTS REPORT.json [yes]

Prints a line for the outcomes of the requests, "COUNT KIND STATUS BYTES, …" (BYTES: of the answers' bodies, as recorded), then one for
each fault. With "yes" records and results may lack their ends.
"""
import base64
import collections
import hashlib
import json
import sys

ORDER = ["OK", "DOUBTFUL", "INVALID"]


def lines_of(path, may_be_cut):
    """The lines between header and trailer, which is checked."""
    with open(path, "rb") as stream:
        lines = stream.read().split(b"\n")
    rest = lines.pop()
    trailer = json.loads(lines[-1]).get("end") if lines else None
    if trailer is None:
        if not may_be_cut:
            yield "%s has no trailer" % path
        return lines[1:], {}
    if rest:
        yield "%s goes on after its trailer" % path
    body = lines[1:-1]
    digest = hashlib.sha256(b"".join(line + b"\n" for line in body)).hexdigest()
    if trailer["lines"] != len(body) or trailer["sha256"] != digest:
        yield ("the trailer of %s counts %d lines of %d, or has another digest" % (path, trailer["lines"], len(body)))
    return body, trailer


def body_of(record):
    if "body_base64" in record:
        return base64.b64decode(record["body_base64"], validate=True)
    return record.get("body", "").encode()


def check_records(records):
    """No byte is lost or invented, and times go forward."""
    numbers = collections.Counter(record["n"] for record in records)
    for n, count in numbers.items():
        if count > 1:
            yield "request %d is recorded %d times" % (n, count)
    for record in records:
        n, body, reads = record["n"], body_of(record), record.get("reads", [])
        if sum(read[1] for read in reads) != len(body):
            yield "request %d has reads of %d bytes and a body of %d" % (n, sum(read[1] for read in reads), len(body))
        if not record.get("error") and "status" not in record:
            yield "request %d has neither an error nor a status" % n
        times = [record[name] for name in ("start_ns", "connect_ns", "tls_ns", "connected_ns", "sent_ns") if record.get(name) is not None]
        if times != sorted(times) or record["end_ns"] < times[-1]:
            yield "the times of request %d go back: %s, end %d" % (n, times, record["end_ns"])
        arrived = [read[0] for read in reads]
        if arrived != sorted(arrived) or arrived and (arrived[0] < record["start_ns"] or arrived[-1] > record["end_ns"]):
            yield "the reads of request %d are not between its start and end, in order" % n


def check_counts(records, rows, report, may_be_cut):
    total = report["total"]["requests"]
    count = {"ok": 0, "failed": 0, "hung_up": 0, "cancelled": 0}
    for row in rows:
        kind = (row.get("error") or {}).get("kind")
        count["ok" if row["ok"] else "hung_up" if kind == "hung-up" else "failed"] += 1
    recorded, measured = {record["n"] for record in records}, {row["n"] for row in rows}
    if recorded != measured and not (may_be_cut and recorded > measured):
        yield "the results have other requests than the records"
    for name in ("ok", "failed", "hung_up"):
        if total.get(name, 0) != count[name]:
            yield "the report counts %d %s, the results %d" % (total.get(name, 0), name, count[name])
    ended = total["ok"] + total["failed"] + total.get("hung_up", 0)
    if ended != len(rows) or total["started"] > total["scheduled"] or total["started"] > ended:
        yield "scheduled %(scheduled)d, started %(started)d" % total + ", ended %d, rows %d" % (ended, len(rows))
    if sum(total.get("errors", {}).values()) != total["failed"]:
        yield "%d failed, of which the kinds of errors explain %s" % (total["failed"], total.get("errors"))
    if total["started"] < total["scheduled"] and not report["run"].get("incomplete"):
        yield "%(started)d of %(scheduled)d requests started, and the report does not say why" % total


def check_verdict(rows, report):
    """Is it as bad as the limits of verdict_limits.h make it?"""
    checks = {check["name"]: check["status"] for check in report["verdict"]["checks"]}
    kinds = [(row.get("error") or {}) for row in rows]
    failed = sum(1 for error in kinds if error and error["kind"] not in ("hung-up", "cancelled") and not error.get("stale"))
    counted = sum(1 for error in kinds if error.get("kind") not in ("hung-up", "cancelled"))
    share = failed / counted if counted else 0
    least = "INVALID" if share > 0.05 else "DOUBTFUL" if share > 0.01 else "OK"
    answers = checks.get("server_answers", "OK")
    if ORDER.index(answers) < ORDER.index(least):
        yield "%d of %d failed, and the verdict on answers is %s" % (failed, counted, answers)
    worst = max(checks.values(), key=ORDER.index)
    if report["verdict"]["status"] != worst:
        yield "the verdict is %s, its worst check %s" % (report["verdict"]["status"], worst)
    total = report["total"]["requests"]
    if total["started"] < 0.95 * total["scheduled"] and checks.get("load_delivered") == "OK":
        yield "%(started)d of %(scheduled)d requests started, and the verdict on load is OK" % total


def summary(records, rows):
    bodies = {record["n"]: len(body_of(record)) for record in records}
    kinds = collections.Counter()
    for row in rows:
        error = row.get("error") or {}
        kind = "ok" if row["ok"] else error["kind"] + ("-stale" if error.get("stale") else "")
        kinds["%s %s %d" % (kind, error.get("status", 200 if row["ok"] else "-"), bodies[row["n"]])] += 1
    return ", ".join("%d %s" % (count, kind) for kind, count in sorted(kinds.items()))


def main(records_path, results_path, report_path, may_be_cut=None):
    problems = []

    def collect(generator):
        while True:
            try:
                problems.append(next(generator))
            except StopIteration as end:
                return end.value

    lines, _ = collect(lines_of(records_path, may_be_cut))
    records = [line for line in map(json.loads, lines) if "n" in line]
    lines, _ = collect(lines_of(results_path, may_be_cut))
    rows = [line for line in map(json.loads, lines) if "n" in line]
    with open(report_path, encoding="utf-8") as file:
        text = file.read()
    report = json.loads(text, parse_constant=lambda name: problems.append("the report has the number %s" % name))
    collect(check_records(records))
    collect(check_counts(records, rows, report, may_be_cut))
    collect(check_verdict(rows, report))
    print(summary(records, rows))
    for problem in problems:
        print(problem)


main(*sys.argv[1:])
