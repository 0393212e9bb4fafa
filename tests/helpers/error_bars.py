"""Computes the error bars of a run a second time, from its results and the definition in ipf-results(5) alone, and compares them with
those of the JSON report.

usage: error_bars.py RESULTS REPORT    (plain; one measured stage, --itl gap) Prints a line for each differing figure, then "N
figures, M differ".
"""
import json
import sys

CLOCK = 1000
LEAST = 100_000


def percentile(values, p):
    values = sorted(values)
    rank = p / 100 * (len(values) - 1)
    low = int(rank)
    return values[low] + (rank - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def longest_delays(samples):
    """By second: a sample counts for the seconds since the one before it, and the one before that."""
    seconds, last = {}, 0
    for s in samples:
        delay, loop = s.get("delay_ns", {}).get("max", 0), s.get("loop_lag_ns", {}).get("max", 0)
        longest = max(delay, loop) if delay else 2 * loop
        if not longest:
            continue
        for second in range(last // 10**9 - 1, s["t_ns"] // 10**9 + 1):
            seconds[second] = max(seconds.get(second, 0), longest)
        last = s["t_ns"]
    return {second: max(ns, LEAST) for second, ns in seconds.items()}, max([LEAST, *seconds.values()])


def bars_of_row(r, seconds, longest):
    """For a request: the least and the most of each latency, in ns; with _due those from due."""
    delay = lambda t: seconds.get(t // 10**9, longest)
    sending, early, found = r["sending_ns"], {"ttft": r["first_early_ns"], "e2e": r["last_early_ns"]}, {}
    if "setup_ns" in r:
        sending += min(r["setup_ns"], r["send_waits"] * delay(r["start_ns"]))
    for metric in early:
        if early[metric] and f"{metric}_ns" in r:
            early[metric] = min(early[metric], delay(r["start_ns"] + r[f"{metric}_ns"]))
    for metric in early:
        if f"{metric}_ns" not in r:
            continue
        low, high = r[f"{metric}_ns"] - sending - early[metric] - CLOCK, r[f"{metric}_ns"] + CLOCK
        found[metric] = (max(0, low), high)
        if "lag_ns" in r:
            found[f"{metric}_due"] = (max(0, low + r["lag_ns"] - r["client_lag_ns"]), high + r["lag_ns"])
    if "tpot_ns" in r:
        parts = r["output_tokens"] - 1
        found["tpot"] = (max(0, r["tpot_ns"] - (early["e2e"] + CLOCK) / parts), r["tpot_ns"] + (early["ttft"] + CLOCK) / parts)
    return found


def bars(lines, stage):
    names = {"ttft": "ttft_ms/from_start", "ttft_due": "ttft_ms/from_due", "e2e": "e2e_ms/from_start", "e2e_due": "e2e_ms/from_due", "tpot": "tpot_ms"}
    seconds, longest = longest_delays([line for line in lines if line.get("sample") == "client"])
    found = {path: ([], []) for path in names.values()}
    for row in lines:
        if "n" not in row or not row["ok"] or row["stage"] != stage:
            continue
        for name, ends in bars_of_row(row, seconds, longest).items():
            for values, end in zip(found[names[name]], ends):
                values.append(end)
    return found


def main():
    lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    report = json.load(open(sys.argv[2], encoding="utf-8"))
    stage = next(i for i, s in enumerate(report["stages"]) if s["measured"])
    count = differ = 0
    for name, ends in bars(lines, stage).items():
        for which, values in zip(("low", "high"), ends):
            theirs = report["total"]["accuracy"]
            for part in [*name.split("/"), which]:
                theirs = theirs.get(part, {})
            ours = {"n": len(values)} if values else {}
            if values:
                ours |= {"mean": sum(values) / len(values) / 1e6, "min": min(values) / 1e6, "max": max(values) / 1e6}
                ours |= {p: percentile(values, float(p[1:])) / 1e6 for p in theirs if p[0] == "p" and p[1].isdigit()}
            for figure in sorted(ours.keys() | theirs.keys()):
                count += 1
                if abs(ours.get(figure, -1) - theirs.get(figure, -1)) > 2e-6:
                    differ += 1
                    print(f"{name} {which} {figure}: {theirs.get(figure)}, here {ours.get(figure)}")
    # the gaps of a request only know of their ends
    itl, bar = report["total"]["latency"].get("itl_ms"), report["total"]["accuracy"].get("itl_ms")
    for figure in itl or {}:
        if figure in ("std", "n"):
            continue
        count += 1
        if not bar["low"][figure] <= itl[figure] <= bar["high"][figure]:
            differ += 1
            print(f"itl_ms {figure}: {itl[figure]} is not within {bar['low'][figure]} … {bar['high'][figure]}")
    print(f"{count} figures, {differ} differ")


if __name__ == "__main__":
    main()
