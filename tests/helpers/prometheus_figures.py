"""Compares figures in a Prometheus with the rows of results: counts and tokens exactly, quantiles within a bucket.

    prometheus_figures.py [--wait SECONDS] URL SELECTOR classic|native RESULTS

Prints nothing and ends with 0 if all agree, else a line for each that does not. SELECTOR is put into each selector:
'job="live"'. With --wait, tries again until all agree or the time is over.
"""
import collections, json, math, sys, time, urllib.parse, urllib.request

BOUNDS = [round(m * 10.0 ** e, 12) for e in range(-4, 3) for m in (1, 1.5, 2.5, 4, 6)] + [1000.0]
LATENCIES = {"ipf_time_to_first_token_seconds": "ttft_ns", "ipf_e2e_request_latency_seconds": "e2e_ns",
             "ipf_start_lag_seconds": "lag_ns"}


def query(url, promql):
    with urllib.request.urlopen(url + "/api/v1/query?" + urllib.parse.urlencode({"query": promql}), timeout=120) as r:
        return json.load(r)["data"]["result"]


def rows_of(path):
    with open(path) as f:
        header, *rows = [json.loads(line) for line in f]
    names = [s["name"] for s in header["stages"]]
    return [dict(r, stage=names[r["stage"]]) for r in rows if "n" in r]


def bucket(value, native):
    """(low, high]: the bucket holding the value, in seconds."""
    if native:
        i = math.ceil(math.log2(value) * 32 - 1e-9)
        return 2 ** ((i - 1) / 32), 2 ** (i / 32)
    high = next(b for b in BOUNDS + [math.inf] if value <= b)
    i = BOUNDS.index(high)
    return BOUNDS[i - 1] if i else 0, high


def differences(url, selector, native, rows):
    def value(promql):
        got = query(url, promql)
        return float(got[0]["value"][1]) if got else None

    def same(what, promql, expected):
        got = value(promql)
        if got != expected:
            yield f"{what}: {promql}: got {got}, expected {expected}"

    outcomes = collections.Counter((r["stage"], r["error"]["kind"] if "error" in r else "ok") for r in rows)
    for (stage, outcome), n in outcomes.items():
        yield from same("requests", f'ipf_requests_total{{{selector},stage="{stage}",outcome="{outcome}"}}', n)
    yield from same("requests", f"sum(ipf_requests_total{{{selector}}})", len(rows))
    for name, key, ok in (("ipf_output_tokens", "output_tokens", True), ("ipf_failed_output_tokens", "output_tokens", False),
                          ("ipf_input_tokens", "input_tokens", None), ("ipf_content_events", "events", None),
                          ("ipf_coalesced_events", "coalesced", None)):
        total = sum(r.get(key, 0) for r in rows if ok is None or r["ok"] == ok)
        yield from same(key, f"sum({name}_total{{{selector}}})", total)
    for name, key in LATENCIES.items():
        values = sorted(r[key] / 1e9 for r in rows if key in r and (r["ok"] or key == "lag_ns"))
        count = f"sum(histogram_count({name}{{{selector}}}))" if native else f"sum({name}_count{{{selector}}})"
        yield from same(name, count, len(values))
        for q in (0.1, 0.5, 0.9):
            expected = values[math.ceil(q * len(values)) - 1]
            inside = f"sum({name}{{{selector}}})" if native else f"sum by (le) ({name}_bucket{{{selector}}})"
            got, (low, high) = value(f"histogram_quantile({q}, {inside})"), bucket(expected, native)
            if got is None or not low - 1e-12 <= got <= high + 1e-12:
                yield f"{name}: quantile {q}: got {got}, expected {expected}, in ({low}, {high}]"


def main():
    arguments = sys.argv[1:]
    until = time.monotonic() + (float(arguments[1]) if arguments[0] == "--wait" else 0)
    url, selector, form, results = arguments[-4:]
    rows = rows_of(results)
    while True:
        try:
            found = list(differences(url, selector, form == "native", rows))
        except OSError as e:
            found = [str(e)]
        if not found or time.monotonic() > until:
            break
        time.sleep(0.2)
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))


main()
