"""Known truth for twins: servers of drawn parameters, a twin fitted to a ramp of each, five loads that were not fitted.

    twin_truth.py BIN twin|sim|search FIRST COUNT [SCALE]

With `twin` the server is a twin itself, in virtual time, and the answer is the same everywhere; with `sim` it is ipf-sim, in real time, two
minutes for each. Loads take 6 or 8 s times SCALE (twin: 4, sim: 1): in 8 s there are so few requests that the medians of two runs differ by 10 %
where drafts are accepted by chance. Prints a line for each server and for each figure that is off, then a summary as JSON. It has how many
parameters were wrong (5 % off), how many figures of how many loads were within the limits (throughput 3 %, p50 5 %, p99 12 %), how many
intervals of parameters hold the truth; "quiet" is how many figures of a second run of the server itself were within the limits. With `search`,
in virtual time, a search for the highest rate within objectives is made at the server and at its twin: "found" is how often both rates are as
near as the search is precise; "quiet" is how often a second search at the server is so.
"""
import json
import os
import random
import re
import signal
import subprocess
import sys

BIN, KIND, FIRST, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
SCALE = int(sys.argv[5]) if len(sys.argv) > 5 else 1 if KIND == "sim" else 4
LIMITS = {"p50": 0.05, "p99": 0.12}
PRECISION = 0.1  # a search's
WORTH = 0.0003  # seconds: less than this between two latencies is the noise of a clock


def run(*arguments, **more):
    return subprocess.run([str(a) for a in arguments], check=True, capture_output=True, **more).stdout


def ipf(name, *arguments):
    return run(os.path.join(BIN, name), *arguments)


def draw(seed):
    r = random.Random(seed)
    server = {
        "step_base_ns": round(r.uniform(4e6, 25e6)),
        "step_per_sequence_ns": round(r.uniform(2e4, 6e5)),
        "prefill_tokens_per_s": round(r.uniform(5e3, 4e4)),
        "step_tokens": r.choice([300, 512, 1024, 2048]),
        "most_sequences": r.randint(8, 32),
        "kv_blocks": r.choice([400, 1000, 4000]),
        "prefix_cache": r.choice([0, 1]),
        "step_jitter": r.choice([0, 0.03, 0.08]),
        "draft_tokens": r.choice([0, 0, 3]),
        "draft_accepted": 0,
        "overhead_ns": 300000,
    }
    if server["draft_tokens"]:
        server["draft_accepted"] = 0.6
    return server


class Sim:
    """ipf-sim with these parameters; stopped by its pid."""

    def __init__(self, s, seed=1):
        options = ["--seed", seed, "--port", "0", "--step-base", f"{s['step_base_ns']}ns", "--step-per-seq", f"{s['step_per_sequence_ns']}ns",
                   "--prefill-rate", s["prefill_tokens_per_s"], "--step-tokens", s["step_tokens"], "--max-batch", s["most_sequences"],
                   "--kv-blocks", s["kv_blocks"], "--jitter", s["step_jitter"]]
        if not s["prefix_cache"]:
            options.append("--no-prefix-cache")
        if s["draft_tokens"]:
            options += ["--spec", f"tokens={s['draft_tokens']},accept={s['draft_accepted']}"]
        self.process = subprocess.Popen([os.path.join(BIN, "ipf-sim")] + [str(o) for o in options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.command = ["ipf-fire", "-u", re.search(r"http://[0-9.:]+", self.process.stdout.readline()).group(0)]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Twin:
    """The same as a twin's file."""

    def __init__(self, s):
        with open("truth.json", "w") as f:
            json.dump({"ipf": "twin", "version": 1, "parameters": {k: {"value": v} for k, v in s.items()}}, f)
        self.command = ["ipf-twin", "predict", "truth.json", "--seed", "1"]

    def stop(self):
        pass


def measure(command, name, trace, stages):
    """The JSON report of these stages."""
    ipf("ipf-sched", "-q", *stages, "-t", trace, "--seed", "3", "-o", f"{name}.schedule")
    ipf(*command, "-q", "--force", "-m", "sim", "-t", trace, "-o", f"{name}.records.zst", f"{name}.schedule")
    ipf("ipf-collect", "-q", "--events", "-o", f"{name}.results.zst", f"{name}.records.zst")
    return json.loads(ipf("ipf-report", "-q", "-f", "json", f"{name}.results.zst"))["total"]


def traces(s, number):
    """For the ramp and for the loads: other prompts of the same kind, so the server's cache knows none of them."""
    for name, salt in (("ramp", "a"), ("load", "b"), ("long", "c")):
        longest = 1200 if name == "long" else 700
        if s["prefix_cache"]:
            kind = ["prefix", "--hit-rate", "0.4", "--groups", "8", "--input-tokens", f"uniform:100-{longest}"]
        else:
            kind = ["synthetic", "--input-tokens", f"uniform:20-{longest}"]
        ipf("ipf-prep", *kind, "-q", "-n", "3000", "--output-tokens", "uniform:10-70", "--salt", f"{salt}{number}", "--seed", number, "-o", f"{name}.trace")


def saturation(s):
    """About the rate at which the server is saturated, in requests per second."""
    tokens = 1 + sum(s["draft_accepted"] ** k for k in range(1, s["draft_tokens"] + 1))
    batch = min(s["most_sequences"], s["kv_blocks"] * 16 / 420)
    prompt = 400 * (0.6 if s["prefix_cache"] else 1) / s["prefill_tokens_per_s"]
    return 1 / (prompt + 40 / tokens * (s["step_base_ns"] / batch + s["step_per_sequence_ns"]) / 1e9)


def latency(total, metric, percentile):
    of = total["latency"][metric]
    return of.get("from_start", of)[percentile] / 1e3


def compare(truth, predicted):
    """(figure, how far it is off, whether that is within its limit)"""
    out = []
    for metric in ("ttft_ms", "tpot_ms", "e2e_ms"):
        for percentile, most in LIMITS.items():
            a, b = latency(truth, metric, percentile), latency(predicted, metric, percentile)
            out.append((f"{metric} {percentile}", b / a - 1, abs(b / a - 1) <= most or abs(b - a) < WORTH))
    off = predicted["throughput"]["output_tokens_per_s"] / truth["throughput"]["output_tokens_per_s"] - 1
    out.append(("throughput", off, abs(off) <= 0.03))
    return out


def check_parameters(s, twin, sums):
    for name, right in s.items():
        found = twin["parameters"][name]
        if "value" not in found or name in ("overhead_ns", "draft_accepted"):
            continue
        # the time of a step of 8 sequences, and a jitter of next to nothing, are not told by a share of the value
        most = {"step_per_sequence_ns": max(0.05 * right, 0.02 * s["step_base_ns"] / 8), "step_jitter": max(0.05 * right, 0.012)}.get(name, 0.05 * right)
        sums["parameters"] += 1
        held = found["low"] <= right <= found["high"]
        if name in ("step_base_ns", "step_per_sequence_ns", "prefill_tokens_per_s", "step_tokens", "kv_blocks"):
            sums["intervals"] += 1
            sums["hold"] += held
        if abs(found["value"] - right) > most:
            sums["wrong"] += 1
            print(f"  {name}: {right}, found {found['value']} ({found['low']} to {found['high']})")


def fit(s, server, number):
    """A twin from a ramp, as a file and as an object; returns also about where the server is saturated."""
    top = saturation(s)
    traces(s, number)
    measure(server.command, "ramp", "ramp.trace", [f"poisson:rate={top * share:.3f},for={6 * SCALE}s" for share in (0.08, 0.3, 0.6, 0.9, 1.3)])
    twin = json.loads(ipf("ipf-twin", "fit", "-q", *(["--trace", "ramp.trace"] if s["prefix_cache"] else []), "ramp.results.zst"))
    with open("twin.json", "w") as f:
        json.dump(twin, f)
    return twin, top


def search(twin, seed, noise, low, high, objective):
    """The highest rate meeting the objective, by ipf-sched's search with this seed; `noise`: the variation of the server's own
    steps."""
    results = []
    stage = f"search:slo=p90:ttft={objective:.0f}ms,low={low:.3f},high={high:.3f},for=60s,precision={PRECISION * 100:.0f}%"
    while True:
        p = subprocess.run([os.path.join(BIN, "ipf-sched"), "-q", stage, "-t", "load.trace", "--seed", str(seed), "-o", "search.schedule"] +
                           [a for r in results for a in ("-r", r)], capture_output=True, text=True, check=False)
        if p.returncode == 10:
            return float(p.stdout.split("/s")[0])
        p.check_returncode()
        ipf("ipf-twin", "predict", twin, "-q", "--force", "-m", "sim", "--seed", noise + 100 * len(results), "-t", "load.trace", "-o", "search.records.zst", "search.schedule")
        results.append(f"search-{len(results)}.results.zst")
        ipf("ipf-collect", "-q", "-o", results[-1], "search.records.zst")


def try_search(number, sums):
    s = draw(number)
    _, top = fit(s, Twin(s), number)
    idle = s["step_base_ns"] / 1e6 + 700e3 / s["prefill_tokens_per_s"]
    rates = [search(name, number, noise, top * 0.05, top * 3, 4 * idle) for noise, name in enumerate(("truth.json", "twin.json", "truth.json"))]
    sums["searches"] += 1
    sums["found"] += abs(rates[1] / rates[0] - 1) <= PRECISION
    sums["quiet"] += abs(rates[2] / rates[0] - 1) <= PRECISION
    print(f"server {number}: {rates[0]}/s, its twin {rates[1]}/s, the server once more {rates[2]}/s")


def measure_new(s, seed, name, trace, stage):
    """At a server whose cache knows nothing."""
    if KIND == "twin":
        return measure(["ipf-twin", "predict", "truth.json", "--seed", seed], name, trace, [stage])
    server = Sim(s, seed)
    try:
        return measure(server.command, name, trace, [stage])
    finally:
        server.stop()


def try_server(number, sums):
    s = draw(number)
    server = (Sim if KIND == "sim" else Twin)(s)
    try:
        twin, top = fit(s, server, number)
        print(f"server {number}: {json.dumps(s)}, saturated at about {top:.1f}/s")
        check_parameters(s, twin, sums)
        for name, trace, stage in (
            ("constant", "load.trace", f"constant:rate={top * 0.5:.3f},for={8 * SCALE}s"),
            ("bursts", "load.trace", f"gamma:rate={top * 0.6:.3f},cv=3,for={8 * SCALE}s"),
            ("beyond", "load.trace", f"poisson:rate={top * 1.5:.3f},for={6 * SCALE}s"),
            ("users", "load.trace", f"closed:users={max(s['most_sequences'] // 2, 2)},for={8 * SCALE}s"),
            ("long", "long.trace", f"poisson:rate={top * 0.4:.3f},for={8 * SCALE}s"),
        ):
            # two runs of the same load at the same server, whose steps vary: nothing can predict better
            truth, again = (measure_new(s, seed, name, trace, stage) for seed, name in ((1, "truth"), (2, "again")))
            predicted = measure(["ipf-twin", "predict", "twin.json", "--seed", "2"], "predicted", trace, [stage])
            for (figure, off, good), (_, noise, quiet) in zip(compare(truth, predicted), compare(truth, again)):
                sums["figures"] += 1
                sums["good"] += good
                sums["quiet"] += quiet
                if not good:
                    print(f"  {name}: {figure} {off:+.1%} (the server itself {noise:+.1%})")
    finally:
        server.stop()


def main():
    sums = dict.fromkeys(("parameters", "wrong", "intervals", "hold", "figures", "good", "quiet", "searches", "found"), 0)
    for number in range(FIRST, FIRST + COUNT):
        (try_search if KIND == "search" else try_server)(number, sums)
        sys.stdout.flush()
    print(json.dumps(sums))


try:
    main()
except subprocess.CalledProcessError as e:
    sys.exit(f"{' '.join(e.cmd)}: {e.stderr.decode()}")
