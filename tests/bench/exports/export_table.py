"""The files of two runs of each tool beside our export in its format: every number common to all three.

usage: export_table.py FOLDER      has NAME.1, NAME.2 and NAME.ours for each tool

A figure agrees if it differs from the mean of the two by at most 2 %, 0.5 ms, or three times their difference. Prints a table in
Markdown and differing figures on standard error, and for each tool a row of the table of benchmarks.
"""
import glob
import json
import os
import re
import sys

# No figures: values lpg fails to count, and its rate, which a replay does not know; times of day, numbers of this run, ids; and lists of
# requests, whose order is not another run's.
NO_FIGURE = re.compile(r"date|queries_per_second|metrics.request_rate|start|end_time|\bseed|session_num|id$|\[|version|timings|scheduler|config|\.mode$")
# As they are in the table: path and unit in ms.
SHOWN = {
    "vllm": {"ttft": ("mean_ttft_ms", 1), "itl": ("mean_itl_ms", 1), "tpot": ("mean_tpot_ms", 1), "e2e": ("mean_e2el_ms", 1),
             "requests/s": ("request_throughput", 1), "tokens/s": ("output_throughput", 1)},
    "sglang": {"ttft": ("mean_ttft_ms", 1), "itl": ("mean_itl_ms", 1), "tpot": ("mean_tpot_ms", 1), "e2e": ("mean_e2e_latency_ms", 1),
               "requests/s": ("request_throughput", 1), "tokens/s": ("output_throughput", 1)},
    "guidellm": {"ttft": ("time_to_first_token_ms.mean", 1), "itl": ("inter_token_latency_ms.mean", 1),
                 "tpot": ("time_per_output_token_ms.mean", 1), "e2e": ("request_latency.mean", 1e3),
                 "requests/s": ("requests_per_second.mean", 1), "tokens/s": ("output_tokens_per_second.mean", 1)},
    "aiperf": {"ttft": ("time_to_first_token.avg", 1), "itl": ("inter_token_latency.avg", 1), "e2e": ("request_latency.avg", 1),
               "requests/s": ("request_throughput.avg", 1), "tokens/s": ("output_token_throughput.avg", 1)},
    "inference-perf": {"ttft": ("successes.latency.time_to_first_token.mean", 1e3), "itl": ("successes.latency.inter_token_latency.mean", 1e3),
                       "tpot": ("successes.latency.time_per_output_token.mean", 1e3), "e2e": ("successes.latency.request_latency.mean", 1e3),
                       "requests/s": ("successes.throughput.requests_per_sec", 1),
                       "tokens/s": ("successes.throughput.output_tokens_per_sec", 1)},
}
SHOWN["genai-perf"] = SHOWN["aiperf"]
SHOWN["lpg"] = {"ttft": ("metrics.avg_TTFT_ms", 1), "itl": ("metrics.avg_ITL_ms", 1), "e2e": ("metrics.avg_latency_ms", 1),
                "requests/s": ("metrics.throughput_rps", 1), "tokens/s": ("metrics.throughput", 1)}
SHOWN["mlperf"] = {"ttft": ("Mean First Token latency (ns)", 1e-6), "tpot": ("Mean Time per Output Token (ns)", 1e-6),
                   "e2e": ("Mean latency (ns)", 1e-6), "requests/s": ("QPS w/ loadgen overhead", 1), "tokens/s": ("TPS w/ loadgen overhead", 1)}


def flat(value, at=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{at}.{key}" if at else key)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield at, value


def loadgen(path):
    """LoadGen's results: the numbers of its summary, which end where its parameters begin."""
    with open(path, encoding="utf-8") as file:
        text = file.read().split("Test Parameters Used")[0]
    return {name.strip(): float(value) for name, value in re.findall(r"^([^:*\n]+):\s*([0-9.]+)$", text, re.MULTILINE)}


def figures(name, path):
    if name == "mlperf":
        return loadgen(path)
    with open(path, encoding="utf-8") as file:
        document = json.loads(file.readline() if name in ("vllm", "sglang") else file.read())
    if name == "guidellm":
        document = {key: value["successful"] for key, value in document["benchmarks"][0]["metrics"].items() if "successful" in (value or {})}
        document = {key: value for key, value in document.items() if "iterations_count" not in key and "round_trip" not in key}  # not known
    return {path: value for path, value in flat(document) if not NO_FIGURE.search(path)}


def half_ms(path, value):
    """0.5 ms in the unit of the figure, if it is a time."""
    if path.endswith("(ns)"):
        return 0.5e6
    if re.search(r"_ms\b|latenc|time_to|time_per|inter_", path):
        return 0.5e-3 if abs(value) < 5 and "_ms" not in path and re.search(r"^successes|^request_latency\.", path) else 0.5
    return 0


def compare(name, folder):
    one, two, ours = (figures(name, f"{folder}/{name}.{who}") for who in ("1", "2", "ours"))
    rows = []
    for path in one:
        if path not in two or path not in ours:
            continue
        a, b, c = one[path], two[path], ours[path]
        limit = max(0.02 * abs(a + b) / 2, half_ms(path, (a + b) / 2), 3 * abs(a - b))
        rows.append((path, a, b, c, abs(c - (a + b) / 2) <= limit + 1e-9))
    return one, two, ours, rows


def main():
    folder, bench = sys.argv[1], []
    print("| tool | figures | agree | figure | tool | again | `-f` |\n| --- | ---: | ---: | --- | ---: | ---: | ---: |", file=sys.stderr)
    wrong = []
    for path in sorted(glob.glob(f"{folder}/*.ours")):
        name = os.path.basename(path)[:-5]
        if not all(os.path.exists(f"{folder}/{name}.{run}") and os.path.getsize(f"{folder}/{name}.{run}") for run in ("1", "2", "ours")):
            continue
        one, two, ours, rows = compare(name, folder)
        good = sum(row[-1] for row in rows)
        head = f"| {name} | {len(rows)} | {good} |"
        for label, (at, unit) in SHOWN[name].items():
            print(f"{head} {label} | {one[at] * unit:.2f} | {two[at] * unit:.2f} | {ours[at] * unit:.2f} |", file=sys.stderr)
            head = "| | | |"
        wrong += [(name, *row) for row in rows if not row[-1]]
        bench.append(f"-f {name}: figures as in the tool's own file\t{good}\t{len(rows)} in both\t{good / len(rows):.2f}\t-\t-")
    for name, path, a, b, c, _ in wrong:
        print(f"{name}: {path}: the tool {a:.6g} and {b:.6g}, -f {c:.6g}", file=sys.stderr)
    print("\n".join(bench))


main()
