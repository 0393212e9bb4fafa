#!/usr/bin/env python3
"""How often are ipf-report's claims about its own certainty true? Runs of known laws, again and again, and the intervals and findings of each.

    coverage.py [--repetitions N] [--jobs N] [--seed N] REPORT [CASE…]      REPORT: ipf-report; a table on stdout, a line per figure and case

The status is 1 if a line ends in "WRONG": the interval of a figure judged in most runs holds the truth less often than 93 %, equal sides differ more
often than 5 %, or sides with slower= less often than 80 %, by more than chance (2.5 standard errors).

A case names how the requests depend on each other, and how much of them there is:

    one:LAW:SECONDS                 one run: does the 95 % interval of a figure contain the true value?
    two:LAW:SECONDS[:OPTIONS]       two sides of the same law: does the interval of the change contain 0, and is a difference found?
                                    runs=3, spread=0.3 (of a factor that each run has), seeds (each run has its own schedule), long=150 (seconds of
                                    the other side), slower=1.1 (of the other side: power)

Laws: iid, few (40 requests), related (neighbours), heavy (tails), burst (2 or 18 requests a second, 20 s each), busy80, busy95 (a queue of ten
servers at that load), rare (1 % of the requests fail), never (none fails)."""

import argparse
import concurrent.futures
import hashlib
import heapq
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

NS = 10 ** 9
FIGURES = ("ttft.mean", "ttft.p50", "ttft.p90", "ttft.p99", "tpot.mean", "e2e.mean", "failures")
RATE = {"iid": 10, "few": 4, "related": 10, "heavy": 10, "burst": 10, "busy80": 8, "busy95": 9.5, "rare": 10, "never": 10}


# ---- laws ----

def arrivals(law, rng, seconds):
    """The times at which requests are due."""
    times, t = [], 0.0
    if law != "burst":
        t = rng.expovariate(RATE[law])
        while t < seconds:
            times.append(t)
            t += rng.expovariate(RATE[law])
        return times
    high = rng.random() < 0.5
    while t < seconds:
        end = t + rng.expovariate(1 / 20)
        t += rng.expovariate(18 if high else 2)
        while t < min(end, seconds):
            times.append(t)
            t += rng.expovariate(18 if high else 2)
        t, high = min(end, seconds), not high
    return times


def work_of(law, rng, times):
    """Each request's own amount of work, the same in every run of a schedule."""
    return [rng.expovariate(1) for _ in times]


def serve(law, rng, times, work, factor):
    """(ttft, tpot, ok) of each request, in seconds. `factor`: how much slower all is."""
    answers = []
    if law in ("burst", "busy80", "busy95"):
        servers = 10 if law != "burst" else 12
        free = [0.0] * servers
        for due, units in zip(times, work):
            begin = max(due, heapq.heappop(free))
            service = units * factor
            heapq.heappush(free, begin + service)
            answers.append((begin - due + 0.1 * service, 0.02 * factor * math.exp(0.1 * rng.gauss(0, 1)), True))
        return answers
    state, sigma = rng.gauss(0, 1), 1.5 if law == "heavy" else 0.5
    for units in work:
        state = 0.9 * state + math.sqrt(1 - 0.81) * rng.gauss(0, 1)
        noise = state if law == "related" else rng.gauss(0, 1)
        ok = not (law == "rare" and rng.random() < 0.01)
        answers.append((0.1 * factor * math.exp(sigma * noise), 0.02 * factor * math.exp(0.3 * rng.gauss(0, 1)), ok))
    return answers


# ---- results ----

def results(path, seconds, times, answers, schedule, hour):
    """A results stream of one stage. `hour`: when it was."""
    stage = {"name": "poisson", "kind": "poisson", "spec": "poisson:rate=10,for=%gs" % seconds, "begin_ns": 0, "end_ns": round(seconds * NS),
             "arrivals": len(times), "first_n": 0, "measured": True, "rate": len(times) / seconds}
    trace = {"sha256": "%064x" % 7, "requests": 10 ** 6}
    header = {"ipf": "results", "version": 1, "tool": "coverage", "api": "openai-chat", "itl": "gap", "stages": [stage], "trace": trace,
              "from": [{"ipf": "records", "version": 1, "tool": "coverage", "target": "http://127.0.0.1:1", "t0_unix_ns": (1795156140 + 3600 * hour) * NS, "from": [
                  {"ipf": "schedule", "version": 1, "tool": "coverage", "seed": schedule, "stages": [stage], "trace": trace}]}]}
    rows = []
    for n, (due, (ttft, tpot, ok)) in enumerate(zip(times, answers)):
        at, first, last = round(due * NS), round(ttft * NS), round((ttft + 9 * tpot) * NS)
        head = '{"n":%d,"req":%d,"stage":0,"due_ns":%d,"ready_ns":%d,"start_ns":%d,"lag_ns":0,"client_lag_ns":0,' % (n, n, at, at, at)
        if not ok:
            rows.append((at + 10 ** 6, head + '"ok":false,"error":{"kind":"timeout","text":"late"},"end_ns":%d}' % (at + 10 ** 6)))
            continue
        rows.append((at + last, head + '"ok":true,"end_ns":%d,"ttfb_ns":%d,"ttft_ns":%d,"ttfa_ns":%d,"e2e_ns":%d,"stream_ns":%d,"tpot_ns":%d,'
                     '"itl_mean_ns":%d,"events":10,"output_tokens":10,"tokens_source":"usage","finish":"length"}'
                     % (at + last, first, first, first, last, last, round(tpot * NS), round(tpot * NS))))
    text = "".join(row + "\n" for _, row in sorted(rows))
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(header) + "\n" + text)
        file.write('{"end":{"lines":%d,"sha256":"%s"}}\n' % (len(rows), hashlib.sha256(text.encode()).hexdigest()))


def run_of(path, law, seconds, schedule, server, factor, hour=0):
    """Makes a run of this schedule on a server with its own luck."""
    plan = random.Random("schedule %d" % schedule)
    times = arrivals(law, plan, seconds)
    if law == "few":
        times = [plan.uniform(0, seconds) for _ in range(40)]
        times.sort()
    work = work_of(law, plan, times)
    results(path, seconds, times, serve(law, random.Random("server %d" % server), times, work, factor), schedule, hour)


# ---- truth ----

def truth_of(law):
    """The true figures: of a run that is long enough."""
    rng = random.Random(99)
    times = arrivals(law, rng, 300000 / RATE[law])
    answers = serve(law, rng, times, work_of(law, rng, times), 1)
    ttft = sorted(ttft for ttft, _, _ in answers)
    return {"ttft.mean": statistics.fmean(ttft), "tpot.mean": statistics.fmean(tpot for _, tpot, _ in answers),
            "e2e.mean": statistics.fmean(ttft + 9 * tpot for ttft, tpot, _ in answers),
            **{"ttft.p%d" % p: ttft[int(len(ttft) * p / 100)] for p in (50, 90, 99)},
            "failures": 0.01 if law == "rare" else 0}


# ---- the report's claims ----

def say(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    try:
        return json.loads(done.stdout), done.returncode
    except ValueError:
        sys.exit("%s: status %d: %s" % (" ".join(command), done.returncode, done.stderr.decode()[:500]))


def try_one(report, folder, law, seconds, repetition):
    """Intervals of one run: {figure: [low, high] or None: not judged}."""
    path = os.path.join(folder, "run")
    run_of(path, law, seconds, repetition, repetition, 1)
    said, _ = say(report, "-q", "-f", "json", path)
    found = {}
    for metric, of in (("ttft", said["total"]["latency"]["ttft_ms"]["from_due"]), ("tpot", said["total"]["latency"]["tpot_ms"]),
                       ("e2e", said["total"]["latency"]["e2e_ms"]["from_due"])):
        intervals = {"mean": of.get("ci95"), **of.get("percentiles_ci95", {})}
        for name in ("mean", "p50", "p90", "p99"):
            low_high = intervals.get(name)
            found["%s.%s" % (metric, name)] = None if not low_high else [low_high[0] / 1000,
                                                                          math.inf if low_high[1] == "inf" else low_high[1] / 1000]
    return {name: found[name] for name in FIGURES if name in found}


def try_two(report, folder, law, seconds, options, repetition):
    """Intervals of changes, and the findings."""
    rng = random.Random("factors %d" % repetition)
    sides = []
    for side in (0, 1):
        paths = []
        for run in range(int(options.get("runs", 1))):
            number = repetition * 100 + run
            schedule = number * 2 + side if "seeds" in options or "long" in options else repetition if "runs" not in options else number
            factor = math.exp(float(options.get("spread", 0)) * rng.gauss(0, 1)) * (float(options.get("slower", 1)) if side else 1)
            paths.append(os.path.join(folder, "%d-%d" % (side, run)))
            run_of(paths[-1], law, float(options.get("long", seconds)) if side else seconds, schedule, number * 2 + side, factor, 2 * run + side)
        sides.append(paths)
    said, status = say(report, "compare", "-q", "-f", "json", "--fail-if", "ttft.p99 > +5%", "--undecided", "pass", *sides[0], "--", *sides[1])
    found = {"outcome": said["outcome"], "gate": status == 4}
    for figure in said["figures"]:
        found[figure["name"]] = [figure.get("low", -math.inf), figure.get("high", math.inf)] if "p" in figure else None
    return found


def attempt(job):
    report, case, repetition = job
    kind, law, seconds, *rest = case.split(":")
    options = dict(item.split("=") if "=" in item else (item, "") for item in rest[0].split(",")) if rest else {}
    with tempfile.TemporaryDirectory() as folder:
        if kind == "one":
            return try_one(report, folder, law, float(seconds), repetition)
        return try_two(report, folder, law, float(seconds), options, repetition)


# ---- the table ----

def share(count, of):
    return "%.3f" % (count / of) if of else "-"


class Table:
    """Lines, and whether one is wrong."""

    def __init__(self):
        self.wrong = False

    def line(self, case, name, text, wrong):
        self.wrong |= wrong
        print("%-42s %-11s %s%s" % (case, name, text, "  WRONG" if wrong else ""), flush=True)

    def intervals(self, case, name, intervals, truth, of):
        covered = sum(low <= truth <= high for low, high in intervals)
        spread = 2.5 * math.sqrt(0.05 * 0.95 / len(intervals)) if intervals else 1
        self.line(case, name, "judged %s  covers %s" % (share(len(intervals), of), share(covered, len(intervals))),
                  2 * len(intervals) > of and covered < (0.93 - spread) * len(intervals))

    def one(self, case, tries):
        truth = truth_of(case.split(":")[1])
        for name in FIGURES:
            if any(name in found for found in tries):
                self.intervals(case, name, [found[name] for found in tries if found.get(name)], truth[name], len(tries))

    def two(self, case, tries):
        differs, gate = (sum(kind(found) for found in tries) for kind in (lambda found: found["outcome"] in ("slower", "faster", "mixed"),
                                                                         lambda found: found["gate"]))
        unjudged, n, spread = sum(found["outcome"] == "not judged" for found in tries), len(tries), 2.5 * math.sqrt(0.05 * 0.95 / len(tries))
        slower = "slower=" in case
        self.line(case, "outcome", "differs %s  not judged %s  gate %s" % (share(differs, n), share(unjudged, n), share(gate, n)),
                  differs < 0.8 * n if slower else max(differs, gate) > (0.05 + spread) * n)
        names = {name for found in tries for name in found} & set(FIGURES + ("requests", "output_tokens"))
        for name in sorted(names if not slower else []):
            self.intervals(case, name, [found[name] for found in tries if found.get(name)], 0, n)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("report")
    parser.add_argument("cases", nargs="*", default=[])
    options = parser.parse_args()
    table = Table()
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for case in options.cases:
            tries = list(pool.map(attempt, [(options.report, case, options.seed * 10 ** 6 + i) for i in range(options.repetitions)], chunksize=4))
            (table.one if case.startswith("one:") else table.two)(case, tries)
    sys.exit(table.wrong)


if __name__ == "__main__":
    main()
