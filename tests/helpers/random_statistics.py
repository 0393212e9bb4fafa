#!/usr/bin/env python3
"""ipf-report's figures of random rows, computed a second time with exact fractions, and with NumPy where it is installed.

    random_statistics.py rows SEED >rows                     body lines of results: requests and histograms of gaps
    random_statistics.py check SEED ROWS REPORT              the same SEED's percentiles, REPORT by -f json --percentiles LIST
    random_statistics.py percentiles SEED                    LIST
    random_statistics.py compare BASE_ROWS NEW_ROWS COMPARISON   by ipf-report compare -f json

Prints each differing figure, and how many were compared.
"""
import json
import math
import random
import statistics
import sys
from fractions import Fraction

try:
    import numpy
except ImportError:
    numpy = None

LATENCIES = ["ttfb", "ttft", "ttfa", "e2e", "stream"]  # from start, and from due
FIGURES = ["ttst", "tpot", "ntpot", "itl_max", "itl_mean"]
TOKENS = {"input": "input_tokens", "output": "output_tokens"}
FINE = 9  # 2^9 buckets an octave


def draw(rng, shape):
    """A duration in nanoseconds."""
    if shape == "same":
        return 12345678
    if shape == "ties":
        return rng.choice([0, 1, 1000000, 1000001])
    if shape == "heavy":
        return int(1e6 * rng.paretovariate(1.1)) % 10 ** 15
    if shape == "two":
        return int(rng.gauss(rng.choice([2e7, 9e8]), 1e5))
    return int(rng.uniform(0, 1e9)) if shape == "even" else int(1e8 * rng.lognormvariate(0, 1))


def bucket(value):
    octave = value.bit_length() - 1
    return value if value < 2 ** FINE else ((octave - FINE + 1) << FINE) + ((value - 2 ** octave) << FINE >> octave)


def middle(index):
    """A bucket's values."""
    if index < 2 ** FINE:
        return Fraction(index)
    octave, part = (index >> FINE) + FINE - 1, index & (2 ** FINE - 1)
    low = ((2 ** FINE + part) << octave) >> FINE
    return Fraction(2 * low + (1 << (octave - FINE)) - 1, 2)


def rows(seed):
    rng = random.Random(seed)
    shape = rng.choice(["same", "ties", "heavy", "two", "even", "normal"])
    count = rng.choice([1, 2, 3, 10, 11, 100, 101, rng.randrange(1, 400)])
    for n in range(count):
        due = n * 10 ** 7
        row = {"n": n, "stage": 0, "ok": rng.random() < 0.95, "due_ns": due, "ready_ns": due, "lag_ns": draw(rng, shape) // 1000}
        row["start_ns"] = due + row["lag_ns"]
        row["client_lag_ns"] = row["lag_ns"]
        for name in LATENCIES + FIGURES:
            if rng.random() < 0.9:
                row[name + "_ns"] = draw(rng, shape)
        row["end_ns"] = row["start_ns"] + row.get("stream_ns", 0)
        for name in TOKENS.values():
            row[name] = rng.randrange(1, 1000)
        if not row["ok"]:
            row["error"] = {"kind": "cut"}
        print(json.dumps(row))
    gaps = [draw(rng, shape) for _ in range(rng.choice([1, 2, 3, rng.randrange(1, 3000)]))]
    found = [bucket(gap) for gap in gaps]
    print(json.dumps({"histogram": "itl_ns", "stage": 0, "count": len(gaps), "min": min(gaps), "max": max(gaps), "sum": sum(gaps),
                      "buckets": [[i, found.count(i)] for i in sorted(set(found))]}))


def percentiles(seed):
    rng = random.Random(seed + 1)
    return sorted({rng.choice([50, 90, 95, 99, 99.9, 99.99]), rng.choice([1, 25, 75]), round(rng.uniform(1, 99), 1), 50, 99})


def percentile(values, p):
    """By linear interpolation between order statistics."""
    rank = (len(values) - 1) * Fraction(str(p)) / 100
    below = math.floor(rank)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (rank - below)


class Check:
    def __init__(self):
        self.compared = self.differ = 0

    def close(self, name, got, expected, scale=0):
        """Times have six decimals, so one counts for the nanosecond."""
        self.compared += 1
        expected = float(expected)
        if got is None or abs(got - expected) > 0.51e-6 + 1e-9 * max(abs(expected), float(scale)):
            self.differ += 1
            print("%s: %s, here %r" % (name, got, expected))

    def distribution(self, name, got, values, list_):
        """Over fractions. A standard deviation can be no more exact than its values."""
        if not values:
            self.compared += 1
            if got:
                self.differ += 1
                print("%s: %s, here nothing" % (name, got))
            return
        values = sorted(values)
        expected = {"n": len(values), "mean": sum(values) / len(values), "min": values[0], "max": values[-1],
                    **{"p%g" % p: percentile(values, p) for p in list_}}
        for key, value in expected.items():
            self.close(name + "." + key, got.get(key), value)
        self.close(name + ".std", got.get("std"), statistics.pstdev(values), values[-1])
        if numpy is not None:
            array = numpy.array([float(value) for value in values])
            for p, value in zip(list_, numpy.percentile(array, list_)):
                self.close(name + ".p%g by NumPy" % p, got["p%g" % p], value)
            self.close(name + ".std by NumPy", got["std"], array.std(), values[-1])
            self.close(name + ".mean by NumPy", got["mean"], array.mean())

    def histogram(self, name, got, line, list_):
        """A bucket's values are its middle, but no less than the minimum and no more than the maximum, which are exact, like the sum."""
        low, high = line["min"], line["max"]
        values = [min(max(middle(i), low), high) for i, count in line["buckets"] for _ in range(count)]
        mean = Fraction(line["sum"], line["count"])
        std = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values)) / 1e6
        values[0], values[-1] = Fraction(low), Fraction(high)
        for key, value in {"n": len(values), "mean": mean / 10 ** 6, "min": Fraction(low, 10 ** 6), "max": Fraction(high, 10 ** 6),
                           **{"p%g" % p: percentile(values, p) / 10 ** 6 for p in list_}}.items():
            self.close(name + "." + key, got.get(key), value)
        self.close(name + ".std", got.get("std"), std, high / 1e6)

    def end(self):
        print("%d compared%s, %d differ" % (self.compared, ", also with NumPy" if numpy is not None else "", self.differ))


def ms(values):
    return [Fraction(value, 10 ** 6) for value in values]


def check(seed, rows_path, report_path):
    with open(rows_path, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    with open(report_path, encoding="utf-8") as f:
        total = json.load(f)["total"]
    done, list_ = Check(), percentiles(seed)
    ok = [line for line in lines if line.get("ok")]
    latency = total.get("latency", {})
    for name in LATENCIES:
        of = [row for row in ok if name + "_ns" in row]
        got = latency.get(name + "_ms", {})
        done.distribution(name, got.get("from_start"), ms(row[name + "_ns"] for row in of), list_)
        done.distribution(name + " from due", got.get("from_due"), ms(row[name + "_ns"] + row["lag_ns"] for row in of), list_)
    for name in FIGURES:
        done.distribution(name, latency.get(name + "_ms"), ms(row[name + "_ns"] for row in ok if name + "_ns" in row), list_)
    for name, member in TOKENS.items():
        done.distribution(name, total.get("tokens", {}).get(name), [Fraction(row[member]) for row in ok], list_)
    done.distribution("lag", total.get("lag_ms"), ms(line["lag_ns"] for line in lines if "n" in line), list_)
    done.histogram("itl", latency.get("itl_ms", {}), lines[-1], list_)
    done.end()


def holm(p_values):
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, least = [0] * len(order), 0
    for rank, i in enumerate(order):
        least = max(least, min(1, (len(order) - rank) * p_values[i]))
        adjusted[i] = least
    return adjusted


def compare(paths, comparison_path):
    """Figures of both sides, their differences, and the p values adjusted by Holm's method."""
    done, sides = Check(), []
    for path in paths:
        with open(path, encoding="utf-8") as f:
            sides.append([row for row in map(json.loads, f) if row.get("ok")])
    with open(comparison_path, encoding="utf-8") as f:
        figures = json.load(f)["figures"]
    for figure in figures:
        name, _, of = figure["name"].partition(".")
        if name + "_ms" in ("ttft_ms", "e2e_ms", "tpot_ms", "ntpot_ms"):
            for side, rows_ in zip(("base", "new"), sides):
                values = sorted(ms(row[name + "_ns"] for row in rows_ if name + "_ns" in row))
                if values and (of == "mean" or of[:1] == "p"):
                    done.close(figure["name"] + " of " + side, figure.get(side), sum(values) / len(values) if of == "mean" else percentile(values, of[1:]))
        if figure.get("base") is not None and figure.get("new") is not None and "difference" in figure:
            done.close(figure["name"] + ".difference", figure["difference"], figure["new"] - figure["base"], figure["base"])
            if figure.get("interval_of") == "change" and figure["base"]:
                done.close(figure["name"] + ".change", figure["change"], figure["new"] / figure["base"] - 1, 1)
        if "low" in figure and None not in (figure["low"], figure["high"]):
            middle_ = figure["change" if figure.get("interval_of") == "change" else "difference"]
            done.close(figure["name"] + " is in its interval", 0, not figure["low"] <= middle_ <= figure["high"], 1)
            if abs(figure["p"] - 0.05) > 1e-6:
                done.close(figure["name"] + " is significant if its interval says so", figure["p"] < 0.05, not figure["low"] <= 0 <= figure["high"], 1)
    tested = [figure for figure in figures if "p_adjusted" in figure]
    for figure, adjusted in zip(tested, holm([figure["p"] for figure in tested])):
        done.close(figure["name"] + ".p_adjusted", figure["p_adjusted"], adjusted)
    done.end()


if __name__ == "__main__":
    if sys.argv[1] == "rows":
        rows(int(sys.argv[2]))
    elif sys.argv[1] == "percentiles":
        print(",".join("%g" % p for p in percentiles(int(sys.argv[2]))))
    elif sys.argv[1] == "check":
        check(int(sys.argv[2]), sys.argv[3], sys.argv[4])
    else:
        compare(sys.argv[2:4], sys.argv[4])
