"""Arrivals with NumPy: sched_numpy.py numbers|text poisson|gamma|weibull|uniform CV RATE COUNT [FILE]. A million at a time, so memory stays
bounded. CV is the variation of the gaps, of gamma and Weibull."""
import math
import sys

import numpy as np

BLOCK = 1_000_000


def weibull_shape(cv):
    low, high = 0.1, 100.0
    for _ in range(100):
        k = (low + high) / 2
        wide = math.gamma(1 + 2 / k) / math.gamma(1 + 1 / k) ** 2 - 1 > cv * cv
        low, high = (k, high) if wide else (low, k)
    return low


def gaps_of(process, cv):
    """A function drawing so many gaps of this mean."""
    rng = np.random.default_rng(1)
    if process == "gamma":
        shape = 1 / cv**2
        return lambda mean, n: rng.gamma(shape, mean / shape, n)
    if process == "weibull":
        shape = weibull_shape(cv)
        scale = 1 / math.gamma(1 + 1 / shape)
        return lambda mean, n: rng.weibull(shape, n) * (mean * scale)
    if process == "uniform":
        return lambda mean, n: rng.uniform(0, 2 * mean, n)
    return rng.exponential


def blocks(gaps, rate, count):
    clock = 0.0
    for first in range(0, count, BLOCK):
        at = clock + np.cumsum(gaps(1e9 / rate, min(BLOCK, count - first)))
        clock = at[-1]
        yield first, np.rint(at).astype(np.int64)


what, gaps, rate, count = sys.argv[1], gaps_of(sys.argv[2], float(sys.argv[3])), float(sys.argv[4]), int(sys.argv[5])
if what == "numbers":
    total = 0
    for _, at in blocks(gaps, rate, count):
        total += int(at[-1])
    print(total)
else:
    line = '{"n":%d,"at_ns":%d,"req":%d,"stage":0}'.__mod__
    with open(sys.argv[6], "w", encoding="ascii") as out:
        for first, at in blocks(gaps, rate, count):
            number = range(first, first + len(at))
            out.write("\n".join(map(line, zip(number, at.tolist(), number))) + "\n")
