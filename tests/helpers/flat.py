#!/usr/bin/env python3
"""Are the needs of a long run the same at its end as near its beginning? flat.py RESULTS WARM-UP-SECONDS STAGES

Prints a line for each figure, "ok" or "not ok", FIGURE of PROGRAM: median of the first third, of the last third. Figures are memory and open files of each
scraped process (process_metrics.py) and p99 of the client's lag in each second. Memory may grow by a tenth and 4 MB, which allocators keep; files by a tenth
and 10, since connections come and go; the lag by half and 1 ms, since other processes of the machine do. ipf-collect keeps figures of each
of the STAGES, 0.2 MB each. WARM-UP-SECONDS at the beginning do not count.
"""
import json
import statistics
import sys

# allowed: factor, addition; shown: divisor, unit
FIGURES = {
    "process_resident_memory_bytes": ("memory", 1.1, 4e6, 1e6, "MB"),
    "process_open_fds": ("files", 1.1, 10, 1, ""),
    "lag": ("p99 of lag", 1.5, 1e6, 1e6, "ms"),
}


def series_of(path, warm_up_ns):
    """{(figure, program): [value, …]} in the order of time."""
    series = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith('{"sample":'):
                continue
            sample = json.loads(line)
            if sample["t_ns"] < warm_up_ns:
                continue
            if sample["sample"] == "client" and "p99" in sample.get("client_lag_ns", {}):
                series.setdefault(("lag", "ipf-fire"), []).append(sample["client_lag_ns"]["p99"])
            for name, value in sample.get("gauges", {}).items():
                if name in FIGURES:
                    series.setdefault((name, sample["target"]), []).append(value)
    return series


def main():
    series = series_of(sys.argv[1], float(sys.argv[2]) * 1e9)
    for (name, program), values in sorted(series.items()):
        what, factor, addition, divisor, unit = FIGURES[name]
        third = len(values) // 3
        if third < 3:
            continue
        if what == "memory" and program == "ipf-collect":
            addition += 0.2e6 * float(sys.argv[3]) * 2 / 3  # from the middle of the first third to the last's
        first, last = statistics.median(values[:third]), statistics.median(values[-third:])
        print("%s %s of %s: %.4g, at the end %.4g %s" % ("ok" if last <= first * factor + addition else "not ok", what, program,
                                                        first / divisor, last / divisor, unit))
    print("%d figures" % len(series))


main()
