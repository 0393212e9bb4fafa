"""ipf-collect's samples of a faked accelerator against the log of the fake library, whenever it was asked: gpu_truth.py LOG GPUS INDEX ZERO_NS

LOG has a line for each time the library was asked for energy: device, CLOCK_MONOTONIC in s, joules. GPUS is the trailer's "accelerators", ZERO_NS the
start of the run on that clock. Prints the broken rules.

The time ipf-collect gives the reading k is not known, but it is after the library was asked for reading k - 1 and before it was asked for k + 1. From this
follow bounds of the energy, and how far apart two readings can be.
"""
import bisect
import json
import sys

log, gpus, index, zero = sys.argv[1:]
rows = [line.split() for line in open(log)]
times = [float(row[1]) for row in rows if row[0] == index]
joules = [float(row[2]) for row in rows if row[0] == index]
found = json.load(open(gpus))[int(index)]
begin, end = ((int(zero) + found[name]) / 1e9 for name in ("from_ns", "to_ns"))
span = end - begin
reasons = found["reasons"]


def holds(condition, text):
    if not condition:
        print(text, json.dumps(found))


def energy(time, shift):
    """The counter that many readings from the last one before TIME; the ends of the log where there are not so many."""
    return joules[max(0, min(len(joules) - 1, bisect.bisect(times, time) - 1 + shift))]


holds(times[0] < begin and end < times[-1], "the readings do not begin before the span and end after it")
lowest, highest = energy(end, -2) - energy(begin, 2), energy(end, 2) - energy(begin, -2)
holds(lowest <= found["energy_counter_j"] <= highest, f"the counter's energy is not within {lowest} to {highest}")
holds(found["energy_j"] == found["energy_counter_j"], "energy is not that of the counter")
holds(found["valid"] == (not reasons), "valid energy has reasons against it, or the other has none")
holds(("coverage" in reasons) == (found["coverage"] < .99), "coverage")
holds(("too_few_samples" in reasons) == (found["samples"] < 10), "too few samples")
holds("gap" not in reasons or found["largest_gap_ns"] > .05 * span * 1e9, "a gap that is none")
differs = abs(found["energy_counter_j"] - found["energy_integral_j"]) > .1 * found["energy_integral_j"]
holds(("counter_mismatch" in reasons) == differs, "counter and integral")
holds(set(reasons) <= {"coverage", "too_few_samples", "gap", "counter_mismatch"}, "a reason that cannot be")
steps = [times[min(k + 2, len(times) - 1)] - times[max(k - 1, 0)] for k in range(len(times) - 1)
         if times[min(k + 2, len(times) - 1)] >= begin and times[max(k - 1, 0)] <= end]
dense = max(steps) <= .05 * span
holds(not dense or not reasons, "energy is not valid, though the library was asked often enough")
print(f"dense: {dense}, {max(steps):.3f} s of {span:.3f} s", file=sys.stderr)
