#!/usr/bin/env python3
"""Random requests to the simulated server, and a comparison of the runs that sent them over different transports.

    random_transports.py make SEED >trace      the model of a request is the mode of ipf-sim that answers it
    random_transports.py options SEED          the path of an API, and arguments of ipf-fire
    random_transports.py compare TRACE WAY…    WAY.records and WAY.results; the first WAY is what all are compared with

A WAY is (sim|nginx)-(h1|h2)-(clear|tls)-ANYTHING. Values determined by trace, schedule and server must be the same in all of them, and times must be
in order. nginx passes on the server's bytes, but ends a broken answer in one way for HTTP/1.1 and in another for HTTP/2, and answers 502 itself if the
connection is reset before the head.
"""
import base64
import hashlib
import json
import random
import re
import sys

LEAVING = ["never", "stall;after=2;pause=1h"]  # until the client disconnects: long before there is an answer, or in the middle of one
MODES = LEAVING * 3 + [
    "fields", "multi;tokens=1", "multi;tokens=3", "coalesce;events=4", "split;pieces=4;pause=1ms", "split-utf8", "escapes", "crlf", "cr", "no-space",
    "multi-line", "ping", "ping;alone=1", "bom", "pad;bytes=30000", "no-usage", "usage-each", "usage-in-last", "no-done", "unterminated", "finish-in-last",
    "reasoning;tokens=2", "tools;after=2", "close", "keep-alive;max=3", "http10", "short;tokens=2", "role-late;delay=5ms", "slow-headers;delay=20ms",
    "late-end;pause=20ms", "whole", "stall;after=2;pause=30ms", "html200", "nothing",
    # these fail
    "429;retry=2s", "500", "status;code=404", "status;code=302", "empty", "error-inband;after=2", "error-inband;form=event", "malformed;after=1",
    "bad-utf8;after=2", "cut;after=2", "cut;after=1;bytes=9", "cut;after=2;finish=1", "cut;after=3;terminator=1,close", "reset", "reset;after=2", "garbage",
    "content-length-short"]
NO_HEAD = "reset"  # nginx answers 502
# Which time is at least so many milliseconds after the start, for more than two tokens
LEAST_MS = {"slow-headers;delay=20ms": ("first_byte_ns", 20), "stall;after=2;pause=30ms": ("end_ns", 30)}
# Those whose answers have no times of the server
APIS = ["openai-chat", "openai-chat", "anthropic-messages", "openai-responses", "caikit-http", "jetstream-http", "vllm-generate"]
ORDER = ["due_ns", "ready_ns", "slot_ns", "pool_ns", "start_ns", "connect_ns", "tls_ns", "connected_ns", "sent_ns", "first_byte_ns"]
# Members of a record that are the answer, and members of a row measured though they are no times
ANSWER = ["status", "error", "reads", "body", "body_base64", "connection"]
MEASURED = ["edge_tokens", "stalls", "coalesced", "send_waits", "reads", *(f"reads_{n}" for n in range(2, 9)), "gap_one_ns", "gap_several_ns"]


def words(rng, count):
    return " ".join(rng.choice(["a", "river", "caf\u00e9", "\U0001f600", "\"quoted\"", "\\", "over\nline", "long" * 9]) for _ in range(count))


def request(rng, name, mode):
    line = {"id": name, "model": mode, "input_tokens": rng.randrange(1, 99), "output_tokens": rng.choice([1, 2, 5, rng.randrange(6, 40)])}
    line["messages"] = [{"role": "user", "content": name + " " + words(rng, rng.choice([0, 1, 20, 20, 300, rng.randrange(9000)]))}]
    if mode in LEAVING:
        line.update(output_tokens=9, hang_up_ns=rng.randrange(50, 400) * 10 ** 6)
    if rng.random() < 0.2:
        line["tags"] = {"group": rng.randrange(3)}
    return line


def make(seed):
    rng, lines, sessions = random.Random(seed), [], 0
    modes = rng.sample(MODES, len(MODES))
    while modes:
        turns = min(rng.choice([1, 1, 1, 2, 4]), len(modes))
        for turn in range(turns):
            line = request(rng, f"{seed}.{len(lines)}", modes.pop())
            if turns > 1:
                line.update(session=f"s{sessions}", turn=turn, context="session", wait_ns=rng.randrange(3) * 10 ** 6, answer=words(rng, 5))
            lines.append(line)
        sessions += turns > 1
    body = "".join(json.dumps(line) + "\n" for line in lines)
    print('{"ipf":"trace","version":1,"tool":"by hand"}')
    print(body, end="")
    print(json.dumps({"end": {"lines": len(lines), "sha256": hashlib.sha256(body.encode()).hexdigest()}}))


def options(seed):
    rng = random.Random(f"options {seed}")
    api = rng.choice(APIS) if seed > 1 else "openai-chat"
    streamed = [] if seed == 1 or rng.random() < 0.7 else ["--no-stream"]
    print("/" if api == "openai-chat" else "/" + api, "--api", api, *streamed, "--history", rng.choice(["live", "recorded"]))


# ---- comparison ----


def lines_of(path):
    with open(path, encoding="utf-8") as lines:
        return {line["n"]: line for line in map(json.loads, lines) if "n" in line}


def without_ids(text):
    """Without the numbers the server gives its answers in the order in which they come."""
    return re.sub(rb"\b(chatcmpl-|cmpl-|call_)[0-9a-f]+", rb"\1N", text)


def body_of(record):
    return without_ids(base64.b64decode(record["body_base64"]) if "body_base64" in record else record.get("body", "").encode())


def determined(line, left_out):
    """Its members, but for those and for times."""
    return {key: without_ids(json.dumps(value).encode()) for key, value in line.items() if not key.endswith("_ns") and key not in left_out}


def kind_of(line):
    return line.get("error", {}).get("kind")


def expected_kind(way, first):
    """The kind of error where the first way, without nginx, has that one."""
    kind, (server, http, _) = kind_of(first), way.split("-")[:3]
    if kind in ("cut", "reset") and server == "nginx":
        return {"h1": "cut", "h2": "reset"}[http]
    return kind


class Comparison:
    """Counts comparisons, and keeps a line for each difference."""

    def __init__(self, trace):
        with open(trace, encoding="utf-8") as lines:
            self.requests = [json.loads(line) for line in lines][1:-1]
        self.compared, self.differences = 0, []

    def check(self, where, what, condition, detail=""):
        self.compared += 1
        if not condition:
            self.differences.append(f"{where}: {what} {detail}")

    def equal(self, where, what, ours, others):
        self.check(where, what, ours == others, f"{ours!r:.400} and {others!r:.400}")

    def members_equal(self, where, ours, others):
        for name in ours.keys() | others.keys():
            self.equal(where, name, ours.get(name), others.get(name))

    # Each of the following has the line of one way, and perhaps that of the first.

    def answer(self, where, way, record, first):
        request = self.requests[record["req"]]
        if request["model"] == NO_HEAD and way.startswith("nginx"):
            self.equal(where, "status for an answer without a head", (record.get("status"), kind_of(record)), (502, None))
        elif "hang_up_ns" in request:
            bodies = sorted([body_of(record), body_of(first)], key=len)
            self.equal(where, "error kind", kind_of(record), "hung-up")
            self.check(where, "beginning of the body", bodies[1].startswith(bodies[0]), bodies)
        else:
            self.equal(where, "error kind", kind_of(record), expected_kind(way, first))
            self.equal(where, "status", record.get("status"), first.get("status"))
            self.equal(where, "body", body_of(record), body_of(first))

    def times(self, where, record):
        at = [record[name] for name in ORDER if name in record]
        reads = record.get("reads", [])
        at += [t for t, _, _ in reads] + [record["end_ns"]]
        self.check(where, "order of times", at == sorted(at), at)
        self.check(where, "own clock after arrival", all(t <= own for t, _, own in reads), reads)
        request = self.requests[record["req"]]
        after, least = LEAST_MS.get(request["model"], ("end_ns", 0))
        least = request.get("hang_up_ns", least * 10 ** 6 * (request["output_tokens"] > 2))
        self.check(where, "duration", least <= record[after] - record["start_ns"] < 20 * 10 ** 9, (least, record["start_ns"], record[after]))

    def planned(self, where, record, first, records):
        """In an open loop, as the schedule says, or the recorded wait after the end of the previous turn."""
        request = self.requests[record["req"]]
        if "due_ns" not in record or not request.get("turn"):
            self.equal(where, "due_ns", record.get("due_ns"), first.get("due_ns"))
        else:
            self.equal(where, "due_ns after the previous turn", record["due_ns"], records[record["n"] - 1]["end_ns"] + request["wait_ns"])

    def connection(self, where, way, record):
        if "connection" not in record or "status" not in record:
            return
        _, http, layer = way.split("-")[:3]
        self.equal(where, "protocol", record["connection"].get("http"), 2 if http == "h2" else None)
        new = "connect_ns" in record
        self.check(where, "time of a new connection", new != record["connection"]["reused"] or (http == "h2" and not new))  # another request opened it
        self.equal(where, "time of TLS", "tls_ns" in record, new and layer == "tls")

    def way(self, way, first_records, first_rows):
        records, rows = lines_of(way + ".records"), lines_of(way + ".results")
        self.equal(way, "requests", sorted(records), sorted(first_records))
        self.equal(way, "rows", sorted(rows), sorted(first_records))
        for n in records.keys() & first_records.keys() & rows.keys():
            record, first, row, where = records[n], first_records[n], rows[n], f"{way} {n} ({records[n]['model']})"
            self.members_equal(where, determined(record, ANSWER), determined(first, ANSWER))
            self.planned(where, record, first, records)
            self.answer(where, way, record, first)
            self.times(where, record)
            self.connection(where, way, record)
            if kind_of(record) != "hung-up" and not (record["model"] == NO_HEAD and way.startswith("nginx")):
                left_out = MEASURED + ["error"] * (kind_of(record) is not None)  # the transport's: its kind is compared above
                self.members_equal(where, determined(row, left_out), determined(first_rows[n], left_out))


def compare(trace, first, *ways):
    comparison = Comparison(trace)
    records, rows = lines_of(first + ".records"), lines_of(first + ".results")
    for way in (first, *ways):
        comparison.way(way, records, rows)
    for difference in comparison.differences[:40]:
        print(difference[:1500])
    print(f"{len(records)} requests, {comparison.compared} compared, {len(comparison.differences)} differ")


command, *arguments = sys.argv[1:]
{"make": lambda seed: make(int(seed)), "options": lambda seed: options(int(seed)), "compare": compare}[command](*arguments)
