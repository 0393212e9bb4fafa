"""Arrivals of a Poisson process with NumPy: sched_numpy.py numbers|text RATE COUNT [FILE]. A million at a time, so that memory stays bounded."""
import sys

import numpy as np

BLOCK = 1_000_000


def blocks(rate, count):
    rng = np.random.default_rng(1)
    clock = 0.0
    for first in range(0, count, BLOCK):
        at = clock + np.cumsum(rng.exponential(1e9 / rate, min(BLOCK, count - first)))
        clock = at[-1]
        yield first, np.rint(at).astype(np.int64)


what, rate, count = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
if what == "numbers":
    total = 0
    for _, at in blocks(rate, count):
        total += int(at[-1])
    print(total)
else:
    line = '{"n":%d,"at_ns":%d,"req":%d,"stage":0}'.__mod__
    with open(sys.argv[4], "w", encoding="ascii") as out:
        for first, at in blocks(rate, count):
            number = range(first, first + len(at))
            out.write("\n".join(map(line, zip(number, at.tolist(), number))) + "\n")
