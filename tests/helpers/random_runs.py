#!/usr/bin/env python3
"""Random runs of one or several clients, and whether reports conserve their contents: requests, tokens, time in flight and windows.

    random_runs.py FIRST COUNT PROGRAMS DESCRIPTOR     seeds FIRST to FIRST + COUNT - 1; PROGRAMS: a folder; DESCRIPTOR: lib/api/apis/openai-chat.json

Stages are open or closed, with warm-up, rest and drain, bursts without an end, and last for several clients until their own requests have ended; answers
are shorter than a stage or longer than several; some fail, are retried, hung up or cancelled, and some runs are cut. The records are collected together,
each alone, or in groups, in any order. The expected values come from the times at which requests and tokens were drawn. Prints a line for each thing
that does not add up, and the number of runs at the end."""
import hashlib
import json
import random
import subprocess
import sys

NS = 10 ** 9
T0 = 1790000000 * NS


class Request:
    """One request: start, end, the times of its tokens, and its outcome."""

    def __init__(self, rng, stage, start, due):
        self.stage, self.start, self.due = stage, start, due
        length = round(rng.choice([0.02, 0.3, 2, 7]) * rng.uniform(0.5, 1.5) * NS)
        self.outcome = rng.choice(["ok"] * 12 + ["status", "reset", "hung-up", "cancelled"])
        self.retried = rng.random() < 0.1
        self.begin = start + (rng.randrange(NS // 5) if self.retried else 0)
        first = self.begin + 1 + rng.randrange(length // 2 + 1)
        count = 0 if self.outcome == "status" else rng.choice([1, 2, 9, 40])
        self.tokens = sorted([first] + [rng.randrange(first, self.begin + length + 2) for _ in range(count - 1)]) if count else []
        self.end = max(self.tokens[-1] if count else first, self.begin + length) + rng.choice([0, 1, 1000])

    counts = property(lambda self: self.outcome in ("ok", "cancelled"))  # whose tokens throughput counts

    def record(self, n):
        record = {"n": n, "req": 0, "stage": self.stage, "ready_ns": self.start, "start_ns": self.start, "end_ns": self.end, "request_bytes": 100,
                  "connection": {"id": 0, "reused": False}}
        if self.due:
            record["due_ns"] = self.start
        if self.retried:
            record.update(attempts=[{"status": 429, "start_ns": self.start, "end_ns": self.begin - 1}] if self.begin > self.start else [], attempt_ns=self.begin)
            if not record["attempts"]:
                del record["attempts"], record["attempt_ns"]
        if self.outcome == "status":
            return {**record, "sent_ns": self.begin, "first_byte_ns": self.end, "status": 500, "reads": []}
        parts = ['data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n' for _ in self.tokens]
        times = list(self.tokens)
        if self.outcome == "ok":
            parts.append('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":%d}}\n\n'
                         "data: [DONE]\n\n" % len(parts))
            times.append(self.end)
        record.update(sent_ns=self.begin, first_byte_ns=times[0], status=200, streamed=True, body="".join(parts),
                      reads=[[t, len(part)] for t, part in zip(times, parts)])
        if self.outcome != "ok":
            record["error"] = {"kind": self.outcome, "text": self.outcome}
        return record


class Run:
    """A schedule of stages and each client's run of it."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.clients = rng.choice([1, 1, 2, 3])
        self.cut = self.clients == 1 and rng.random() < 0.1
        self.stages, at = [], 0
        for i in range(rng.randrange(1, 6)):
            kind = rng.choice(["open", "open", "closed", "burst", "rest"])
            stage = {"name": "s%d" % i, "kind": kind, "spec": kind, "begin_ns": at, "arrivals": 0, "first_n": 0,
                     "measured": kind != "rest" and rng.random() < 0.8}
            if kind == "closed":
                stage.update(closed=True, cycle=True, slots=4)
            if kind != "burst":
                at = stage["end_ns"] = at + rng.choice([NS // 2, 2 * NS, 5 * NS + rng.randrange(NS)])
                if rng.random() < 0.2:
                    stage["drain"] = True
            self.stages.append(stage)
        self.stages[0]["measured"] = True
        self.requests, self.begins = [], []
        for _ in range(self.clients):
            self.client()

    def client(self):
        rng, requests, begins, shift = self.rng, [], [], 0
        for i, stage in enumerate(self.stages):
            begin = stage["begin_ns"] + shift
            begins.append(begin)
            length = stage.get("end_ns", stage["begin_ns"]) - stage["begin_ns"]
            count = 0 if stage["kind"] == "rest" else rng.choice([1, 3, 25])
            of = [Request(rng, i, begin + (rng.randrange(length) if length else 0), stage["kind"] != "closed") for _ in range(count)]
            requests += of
            if "end_ns" not in stage or stage.get("drain"):
                planned = stage.get("end_ns", stage["begin_ns"])
                shift = max([shift] + [request.end - planned for request in of])
        self.requests.append(requests)
        self.begins.append(begins)

    def write(self, descriptor):
        """The records of each client."""
        for client, requests in enumerate(self.requests):
            shard = {"shard": {"index": client + 1, "of": self.clients}} if self.clients > 1 else {}
            header = {"ipf": "records", "version": 1, "tool": "random", "t0_unix_ns": T0, **shard, "api": descriptor, "stages": self.stages,
                      "streamed": True, "retry": {"most": 5, "on": [429], "first_ns": 1, "cap_ns": 1}}
            lines = [json.dumps(request.record(client + i * self.clients))
                     for i, request in enumerate(sorted(requests, key=lambda request: request.end))]
            body = "".join(line + "\n" for line in lines)
            end = {"lines": len(lines), "sha256": hashlib.sha256(body.encode()).hexdigest(), "stages": [{"begin_ns": t} for t in self.begins[client]]}
            with open("client%d.records" % client, "w") as out:
                out.write(json.dumps(header) + "\n" + body + ("" if self.cut else json.dumps({"end": end}) + "\n"))

    def windows(self, drain):
        """For each stage over all clients, up to before the end; a window lasting until a request has ended includes that
        moment."""
        result = []
        for i, stage in enumerate(self.stages):
            own = [request for requests in self.requests for request in requests if request.stage == i]
            begins = [begins[i] for begins in self.begins]
            last = max([request.end for request in own], default=0)
            if "end_ns" in stage:
                begin, end = min(begins), max(begins) + stage["end_ns"] - stage["begin_ns"]
                result.append((begin, max(end, last) + 1 if drain else end, max(end, last) if drain else end))
            else:
                result.append((min(begins), max(begins + [last]) + 1, max(begins + [last])))
        return result


def union(spans):
    joined = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(end, joined[-1][1])
        else:
            joined.append([begin, end])
    return joined


def expected(run, spans, ranges, stage):
    """The contents of some spans of time: seconds, time in flight, and requests that ended or arrived in the ranges."""
    everything = [request for requests in run.requests for request in requests]
    within = lambda t: any(begin <= t < end for begin, end in ranges)
    return {"seconds": sum(end - begin for begin, end in spans) / NS,
            "flight": sum(max(0, min(request.end, end) - max(request.start, begin)) for request in everything for begin, end in spans) / NS,
            "ok": sum(request.outcome == "ok" and within(request.end) for request in everything),
            "tokens": sum(within(t) for request in everything if request.counts for t in request.tokens),
            "backlog": sum(request.start < begin <= request.end for request in everything for begin, _ in ranges),
            "offered": sum(within(request.start) for request in everything),
            "rows": sum(stage is None or request.stage == stage for request in everything if run.stages[request.stage]["measured"] or stage is not None)}


def near(a, b):
    return abs(a - b) <= 1e-4 * max(1, abs(a), abs(b))  # rates have six decimals


def compare(run, block, want, exact):
    """The differences of a block of the report."""
    rate, flow, seconds = block["rate"], block["throughput"], block.get("window_s", 0)
    requests = block["requests"]
    if not near(seconds, want["seconds"]):
        yield "window_s", seconds, want["seconds"]
        return
    rows = requests["ok"] + requests["failed"] + requests.get("hung_up", 0)
    if rows != want["rows"]:
        yield "requests", rows, want["rows"]
    counted = rate.get("completed_counted", rate.get("completed", 0)) * seconds
    if "completed" in rate and not near(counted, want["ok"]):
        yield "completed", counted, want["ok"]
    if rate.get("completed", 0) * seconds > (want["offered"] + want["backlog"]) * 1.0001 + 0.001:
        yield "completed above what there was", rate["completed"] * seconds, want["offered"] + want["backlog"]
    if seconds and not near(block["in_flight"]["mean"] * seconds, want["flight"]):
        yield "in flight", block["in_flight"]["mean"] * seconds, want["flight"]
    tokens = flow.get("output_tokens_per_s", 0) * seconds
    if (abs(tokens - want["tokens"]) > 0.001 + 1e-5 * tokens) if exact else (abs(tokens - want["tokens"]) > 3 + 0.25 * want["tokens"]):
        yield "tokens", tokens, want["tokens"]


def same(a, b):
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return near(a, b) if isinstance(a, (int, float)) and isinstance(b, (int, float)) else a == b


class Programs:
    def __init__(self, folder):
        self.folder = folder

    def run(self, name, *arguments):
        done = subprocess.run([f"{self.folder}/{name}", "-q", *arguments], capture_output=True, text=True)
        return done.stdout, done.stderr

    def report(self, files, *options):
        out, error = self.run("ipf-report", "-f", "json", *options, *files)
        if not out:
            raise SystemExit(f"no report of {files}: {error}")
        report = json.loads(out)
        keep = ("window_s", "requests", "rate", "throughput", "in_flight")
        return [{key: block[key] for key in keep if key in block} for block in [*report["stages"], report["total"]]]

    def arrangements(self, run):
        """Results of all clients together, of each alone, and of some together."""
        clients = list(range(run.clients))
        groups = [[clients], [[k] for k in clients]] + ([[clients[:2], clients[2:]]] if run.clients > 2 else [])
        for number, parts in enumerate(groups):
            files = []
            for k, part in enumerate(parts):
                part = run.rng.sample(part, len(part))
                files.append(f"results{number}.{k}")
                self.run("ipf-collect", "-o", files[-1], *[f"client{client}.records" for client in part])
            yield run.rng.sample(files, len(files))


def check(seed, programs, descriptor):
    run = Run(seed)
    run.write(descriptor)
    arrangements = list(programs.arrangements(run))
    for drain in (False, True):
        blocks = [programs.report(files, "--window", "drain" if drain else "stage") for files in arrangements]
        for files, other in zip(arrangements, blocks):
            if not same(blocks[0], other):
                yield f"{files} differ from {arrangements[0]}"
        windows, measured = run.windows(drain), [i for i, stage in enumerate(run.stages) if stage["measured"]]
        if run.cut:
            yield from total_of_stages(blocks[0], measured)
            continue
        exact = run.clients == 1 and not drain
        ranges = []
        for i, (begin, before, end) in enumerate(windows):
            taken = any(k != i and other[1] == begin + 1 for k, other in enumerate(windows))  # a moment that another window has
            ranges.append((begin + taken, before))
            want = expected(run, [(begin, end)], ranges[i:], i)
            for what, got, wanted in compare(run, blocks[0][i], want, exact):
                yield f"{'drain' if drain else 'stage'} {i}: {what}: {got}, expected {wanted}"
        spans = union([(windows[i][0], windows[i][2]) for i in measured])
        want = expected(run, spans, union([ranges[i] for i in measured]), None)
        whole = drain and len(measured) == len(run.stages)
        for what, got, wanted in compare(run, blocks[0][-1], want, exact or whole):
            yield f"{'drain' if drain else 'stage'} total: {what}: {got}, expected {wanted}"


def total_of_stages(blocks, measured):
    """If stages follow one another, the total has the sums."""
    of = lambda block, group, name: block[group].get(name, 0) * block.get("window_s", 0)
    seconds = sum(blocks[i].get("window_s", 0) for i in measured)
    if not near(seconds, blocks[-1].get("window_s", 0)):
        return
    for group, name in (("rate", "completed"), ("throughput", "output_tokens_per_s")):
        if not near(sum(of(blocks[i], group, name) for i in measured), of(blocks[-1], group, name)):
            yield f"{name} of the total: {of(blocks[-1], group, name)}, of the stages {[of(blocks[i], group, name) for i in measured]}"


def main():
    first, count, programs = int(sys.argv[1]), int(sys.argv[2]), Programs(sys.argv[3])
    descriptor = json.load(open(sys.argv[4]))
    for seed in range(first, first + count):
        for line in check(seed, programs, descriptor):
            print(f"seed {seed}: {line}")
    print(f"{count} runs")


if __name__ == "__main__": main()
