"""Figures of a run of batches, computed from its rows alone, compared with the JSON report: batches.py RESULTS REPORT prints the
differences. The stage begins at 0."""

import json
import math
import sys


def percentile(values, p):
    values = sorted(values)
    at = (len(values) - 1) * p / 100
    low = math.floor(at)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (at - low)


def bin_of(size, many):
    return size if not many or size <= 2 else 1 << (size - 1).bit_length()


def groups_of(rows):
    """For each size, or power of two if there are more than 16 sizes: its name, requests and latencies in ms."""
    many = len({row["inputs"] for row in rows}) > 16
    for size in sorted({bin_of(row["inputs"], many) for row in rows}):
        mine = [row for row in rows if bin_of(row["inputs"], many) == size]
        sizes, good = [row["inputs"] for row in mine], [row for row in mine if row["ok"]]
        yield (str(min(sizes)) if min(sizes) == max(sizes) else "%d-%d" % (min(sizes), max(sizes)), len(good), len(mine) - len(good),
               {(key, p): percentile([row[key] for row in good], p) / 1e6 for key in ("e2e_ns", "per_input_ns") for p in (50, 99) if good})


def main(results, report):
    rows = [row for row in map(json.loads, open(results)) if "n" in row]
    total = json.load(open(report))["total"]
    ok = [row for row in rows if row["ok"]]
    inside = [row for row in ok if 0 <= row["end_ns"] < total["window_s"] * 1e9]

    def same(what, got, expected):
        if got is None or not math.isclose(got, expected, rel_tol=1e-9, abs_tol=1e-6):
            print("%s: the report says %s, the rows %s" % (what, got, expected))

    same("inputs/s", total["throughput"].get("inputs_per_s"), sum(row["inputs"] for row in inside) / total["window_s"])
    same("input tokens/s", total["throughput"].get("input_tokens_per_s"), sum(row["input_tokens"] for row in inside) / total["window_s"])
    same("mean", total["inputs"]["mean"], sum(row["inputs"] for row in ok) / len(ok))
    same("max", total["inputs"]["max"], max(row["inputs"] for row in ok))
    groups = list(groups_of(rows))
    if [group[0] for group in groups] != list(total["by_inputs"]):
        print("sizes: the report has %s, the rows %s" % (list(total["by_inputs"]), [group[0] for group in groups]))
        return
    for name, good, bad, latencies in groups:
        block = total["by_inputs"][name]
        same(name + " ok", block["requests"]["ok"], good)
        same(name + " failed", block["requests"]["failed"], bad)
        for (key, p), value in latencies.items():
            of = block["latency"]["e2e_ms"]["from_start"] if key == "e2e_ns" else block["latency"]["per_input_ms"]
            same("%s %s p%d" % (name, key, p), of["p%d" % p], value)


main(*sys.argv[1:])
