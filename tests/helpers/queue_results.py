"""Results of a made-up server: queue_results.py OPTION… STAGE… >run.results

It serves --servers requests at a time, first come first served, --service seconds each (or with --spread, that long on average, exponentially), so its capacity is
servers / service. A STAGE is RATE:SECONDS, FROM-TO:SECONDS for a ramp, rest:SECONDS, BASE^PEAK:SECONDS for a spike in the last third, or closed=USERS:SECONDS;
arrivals are a Poisson process. --refuse N: with N requests in the queue, the next one fails. --fail SHARE: of all, at random. --slower F: with a queue, each request
takes F times as long as without. --replicas T=N,…: from T seconds on, N times the servers; with samples of replicas_ready each second. --t0 NS: the begin of the run,
since the epoch."""

import argparse
import hashlib
import heapq
import json
import random
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--servers", type=int, default=10)
parser.add_argument("--service", type=float, default=0.1)
parser.add_argument("--spread", action="store_true")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--refuse", type=int, default=0)
parser.add_argument("--t0", type=int, default=1795156140123000000)
parser.add_argument("--fail", type=float, default=0)
parser.add_argument("--slower", type=float, default=1)
parser.add_argument("--replicas", default="")
parser.add_argument("stages", nargs="+")
options = parser.parse_args()
rng = random.Random(options.seed)
NS = 1000000000
replicas = [(float(t), int(n)) for t, n in (item.split("=") for item in options.replicas.split(",") if item)] or [(0.0, 1)]


def rate_of(kind, t, length):
    """The rate at a time of a stage."""
    if "-" in kind:
        low, high = map(float, kind.split("-"))
        return low + (high - low) * t / length
    if "^" in kind:
        base, peak = map(float, kind.split("^"))
        return peak if t >= 2 * length / 3 else base
    return float(kind)


stages, arrivals, begin = [], [], 0.0
for number, spec in enumerate(options.stages):
    kind, length = spec.split(":")
    length = float(length)
    measured = kind != "rest"
    count = 0
    if kind.startswith("closed="):
        users = int(kind[7:])
        arrivals += [(begin, number)] * users
        stages.append({"name": "closed-%d" % number, "kind": "closed", "spec": spec, "begin_ns": round(begin * NS), "closed": True, "slots": users,
                       "cycle": True, "end_ns": round((begin + length) * NS), "arrivals": users, "first_n": 0, "measured": True})
        begin += length
        continue
    if measured:
        most = max(rate_of(kind, length * i / 300, length) for i in range(301))
        t = rng.expovariate(most)
        while t < length:
            if rng.random() * most < rate_of(kind, t, length):
                arrivals.append((begin + t, number))
                count += 1
            t += rng.expovariate(most)
    name = "rest" if not measured else "ramp" if "-" in kind else "spike" if "^" in kind else "poisson"
    stages.append({"name": "%s-%d" % (name, number), "kind": name, "spec": {"ramp": "ramp:from=%s,to=%s,for=%ss", "spike": "spike:base=%s,peak=%s,every=%ss,width=%ss"}.get(name, spec)
                   % tuple(kind.replace("^", "-").split("-") + [length, length / 3] if name == "spike" else kind.split("-") + [length]
                           if name == "ramp" else []), "begin_ns": round(begin * NS),
                   "end_ns": round((begin + length) * NS), "arrivals": count, "first_n": len(arrivals) - count, "measured": measured,
                   **({"rate": float(kind) if name == "poisson" else count / length} if measured else {})})
    begin += length

# the time at which each server is free; more of them from the given times on
free = [0.0] * options.servers * replicas[0][1]
for before, after in zip(replicas, replicas[1:]):
    free += [after[0]] * options.servers * (after[1] - before[1])
heapq.heapify(free)
rows, starts, n = [], [], -1
heapq.heapify(arrivals)
while arrivals:
    due, stage = heapq.heappop(arrivals)
    n += 1
    closed = stages[stage].get("closed", False)
    waiting = sum(1 for s in starts[-options.refuse:] if s > due) if options.refuse else 0
    row = {"n": n, "req": n, "stage": stage, "model": "m", "due_ns": round(due * NS), "ready_ns": round(due * NS), "start_ns": round(due * NS),
           "lag_ns": 0, "client_lag_ns": 0, "input_tokens": 100, "asked_output_tokens": 10}
    if (options.refuse and waiting >= options.refuse) or rng.random() < options.fail:
        rows.append({**row, "ok": False, "error": {"kind": "http-status", "status": 429, "text": "too many"},
                     "end_ns": round((due + 0.001) * NS)})
        continue
    begin_s = max(due, heapq.heappop(free))
    service = options.service * (rng.expovariate(1) if options.spread else 1) * (options.slower if begin_s > due else 1)
    heapq.heappush(free, begin_s + service)
    starts.append(begin_s)
    first, last = begin_s + service / 10, begin_s + service
    if closed:
        row = {key: row[key] for key in row if key not in ("due_ns", "lag_ns")}
        if last < stages[stage]["end_ns"] / NS:
            heapq.heappush(arrivals, (last, stage))
    rows.append({**row, "ok": True, "end_ns": round(last * NS), "ttfb_ns": round((first - due) * NS), "ttft_ns": round((first - due) * NS),
                 "ttfa_ns": round((first - due) * NS), "e2e_ns": round((last - due) * NS), "stream_ns": round((last - due) * NS),
                 "tpot_ns": round((last - first) * NS / 9), "itl_mean_ns": round((last - first) * NS / 9), "events": 10, "output_tokens": 10,
                 "tokens_source": "usage", "finish": "length"})
rows.sort(key=lambda row: row["end_ns"])

header = {"ipf": "results", "version": 1, "tool": "ipf-collect 0.1.0", "from": [{"ipf": "records", "version": 1, "tool": "ipf-fire 0.1.0", "from": [
    {"ipf": "schedule", "version": 1, "tool": "ipf-sched 0.1.0", "stages": stages}], "target": "http://127.0.0.1:8000", "t0_unix_ns": options.t0}],
    "api": "openai-chat", "itl": "gap", "stages": stages}
body = [json.dumps(row) for row in rows]
if options.replicas:
    for second in range(int(begin) + 1):
        now = [n for t, n in replicas if t <= second][-1]
        body.append(json.dumps({"sample": "server", "t_ns": second * NS, "target": "kube", "server": "kube",
                                "gauges": {"replicas_ready": now, "replicas_wanted": now}}))
text = "".join(line + "\n" for line in body)
sys.stdout.write(json.dumps(header) + "\n" + text)
print(json.dumps({"end": {"lines": len(body), "sha256": hashlib.sha256(text.encode()).hexdigest()}}))
