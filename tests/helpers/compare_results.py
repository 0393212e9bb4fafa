"""Results of a made-up model server that batches: compare_results.py OPTION… >run.results

Requests arrive as a Poisson process (--schedule seed), --requests of them, --rate per second. The server takes up to 32 into a step, whose
time has jitter, a slow drift and pauses (--seed). --slower F: each step takes F times as long. --fail SHARE: of the requests, at random.
--output F: answers are F times as long. --target, --http, --tokenizer, --definition: the headers' members. --sessions N: each N successive
requests are turns of a session."""

import argparse
import hashlib
import json
import math
import random

parser = argparse.ArgumentParser()
parser.add_argument("--requests", type=int, default=400)
parser.add_argument("--rate", type=float, default=12)
parser.add_argument("--schedule", type=int, default=1)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--slower", type=float, default=1)
parser.add_argument("--fail", type=float, default=0)
parser.add_argument("--output", type=float, default=1)
parser.add_argument("--sessions", type=int, default=0)
parser.add_argument("--target", default="http://localhost:8000/v1/chat/completions")
parser.add_argument("--http", default="1.1")
parser.add_argument("--tokenizer", default="approx")
parser.add_argument("--definition", default="")
options = parser.parse_args()
NS = 1000000000
plan = random.Random("schedule %d" % options.schedule)
rng = random.Random("server %d %d" % (options.schedule, options.seed))

t, requests = 0.0, []
for n in range(options.requests):
    t += plan.expovariate(options.rate)
    requests.append({"n": n, "at": t, "output": round(plan.randint(4, 20) * options.output), "input": 100 + int(plan.expovariate(1 / 300))})
length = math.ceil(t + 1)

now, drift, running, waiting = 0.0, 0.0, [], list(requests)
while running or waiting:
    if not running and waiting[0]["at"] > now:
        now = waiting[0]["at"]
    prefill, fresh = 0.0, []
    while waiting and len(running) + len(fresh) < 32 and prefill < 0.04 and waiting[0]["at"] <= now:
        fresh.append(waiting.pop(0))
        fresh[-1]["left"] = fresh[-1]["output"]
        prefill += fresh[-1]["input"] / 40000
    step = (0.012 + 0.0004 * (len(running) + len(fresh)) + prefill) * options.slower * math.exp(rng.gauss(0, 0.08) + drift)
    keep = math.exp(-step / 2)
    drift = keep * drift + 0.02 * math.sqrt(1 - keep * keep) * rng.gauss(0, 1)
    if rng.random() < 0.1 * step:
        step += 0.02 + rng.expovariate(20)
    now += step
    for q in fresh:
        q["first"] = q["last"] = now
        q["gaps"] = []
    running += fresh
    for q in running:
        q["left"] -= 1
        if now > q["last"]:
            q["gaps"].append(round((now - q["last"]) * NS))
            q["last"] = now
        if q["left"] == 0:
            q["end"] = now
    running = [q for q in running if q["left"] > 0]

spec = "poisson:rate=%g,n=%d" % (options.rate, options.requests)
stages = [{"name": "poisson", "kind": "poisson", "spec": spec, "begin_ns": 0, "end_ns": length * NS, "arrivals": options.requests, "first_n": 0, "measured": True}]
trace = {"sha256": hashlib.sha256(b"%d" % options.schedule).hexdigest(), "requests": options.requests}
header = {
    "ipf": "results", "version": 1, "tool": "ipf-collect 0.1.0", "stages": stages, "trace": trace,
    "tokenizer": {"name": options.tokenizer},
    "from": [{
        "ipf": "records", "version": 1, "tool": "ipf-fire 0.1.0", "created": "2026-11-23T02:00:%02dZ" % (options.seed % 60), "target": options.target, "http": options.http,
        "t0_unix_ns": 1795400000 * NS + options.seed * 1000 * NS,
        "from": [{"ipf": "schedule", "version": 1, "tool": "ipf-sched 0.1.0", "seed": options.schedule, "stages": stages, "trace": trace}],
    }],
}
if options.definition:
    header["definition"] = {"tool": options.definition, "version": "1.0", "rules": {}}


def bucket(ns):
    """Its index in a histogram of ipf-results(5)."""
    if ns < 512:
        return ns
    octave = ns.bit_length() - 9
    return octave * 512 + (ns >> (octave - 1)) - 512


body, pooled = [], []
for q in requests:
    due, first, end = (round(x * NS) for x in (q["at"], q["first"], q["end"]))
    row = {"n": q["n"], "req": q["n"], "stage": 0, "ok": True, "due_ns": due, "ready_ns": due, "start_ns": due, "end_ns": end, "lag_ns": 0, "client_lag_ns": 0}
    if options.sessions:
        row["session"] = "s%d" % (q["n"] // options.sessions)
    if rng.random() < options.fail:
        row.update(ok=False, error={"kind": "http-status", "text": "status 500", "status": 500})
    else:
        row.update(ttft_ns=first - due, e2e_ns=end - due, tpot_ns=(end - first) // (q["output"] - 1), input_tokens=q["input"], output_tokens=q["output"], tokens_source="usage")
        if q["gaps"]:
            row.update(events=q["output"], itl_mean_ns=round(sum(q["gaps"]) / len(q["gaps"])), itl_max_ns=max(q["gaps"]))
            pooled += q["gaps"]
    body.append(json.dumps(row, separators=(",", ":")))
counts = {}
for gap in pooled:
    counts[bucket(gap)] = counts.get(bucket(gap), 0) + 1
body.append(json.dumps({"histogram": "itl_ns", "stage": 0, "count": len(pooled), "min": min(pooled), "max": max(pooled), "sum": sum(pooled), "buckets": sorted(counts.items())}, separators=(",", ":")))
text = "".join(line + "\n" for line in body)
print(json.dumps(header, separators=(",", ":")))
print(text, end="")
print(json.dumps({"end": {"lines": len(body), "sha256": hashlib.sha256(text.encode()).hexdigest()}}, separators=(",", ":")))
