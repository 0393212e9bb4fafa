"""Tools' reports of a run beside those of ipf-report --as: a table in Markdown on standard error, and for each tool a row of the table of
benchmarks.

usage: said_table.py SERVER FOLDER      has TOOL.said, the report of --as all -f json, and the file of each tool

A tool's latencies from the start of a request include the tool's own time before its request is at the server, which no definition knows:
that is taken to be the difference of the mean e2e, one figure for each tool, and is subtracted from all of its ttft and e2e.
"""
import json
import os
import sys


def statistics(prefix, names):
    return lambda d: {s: d.get(name % prefix) for s, name in names.items()}


VLLM = {"mean": "mean_%s_ms", "p50": "median_%s_ms", "p99": "p99_%s_ms"}


def of_vllm(d):
    return {**{f: statistics(n, VLLM)(d) for f, n in (("ttft_ms", "ttft"), ("itl_ms", "itl"), ("tpot_ms", "tpot"), ("e2e_ms", "e2el"))},
            "throughput": {"requests_per_s": d["request_throughput"], "output_tokens_per_s": d["output_throughput"]},
            "output_tokens": {"total": d["total_output_tokens"]}, "failures": {"ok": d["completed"]}}


def of_sglang(d):
    return {**of_vllm(d), "e2e_ms": statistics("e2e_latency", VLLM)(d)}


def of_guidellm(d):
    m = d["benchmarks"][0]["metrics"]

    def one(name, per=1):
        s = m[name]["successful"]
        return {"mean": s["mean"] * per, "p50": s["percentiles"]["p50"] * per, "p99": s["percentiles"]["p99"] * per}
    return {"ttft_ms": one("time_to_first_token_ms"), "itl_ms": one("inter_token_latency_ms"), "tpot_ms": one("time_per_output_token_ms"),
            "e2e_ms": one("request_latency", 1000), "throughput": {"requests_per_s": m["requests_per_second"]["successful"]["mean"],
            "output_tokens_per_s": m["output_tokens_per_second"]["successful"]["mean"]},
            "output_tokens": {"total": m["output_token_count"]["successful"]["total_sum"]}, "failures": {"ok": m["request_totals"]["successful"]}}


def of_aiperf(d):
    def one(name):
        return {"mean": d[name]["avg"], "p50": d[name]["p50"], "p99": d[name]["p99"]}
    return {"ttft_ms": one("time_to_first_token"), "itl_ms": one("inter_token_latency"), "e2e_ms": one("request_latency"),
            "throughput": {"requests_per_s": d["request_throughput"]["avg"], "output_tokens_per_s": d["output_token_throughput"]["avg"]},
            "output_tokens": {"total": d["total_osl"]["avg"]}, "failures": {"ok": d["request_count"]["avg"]}}


def of_inference_perf(d):
    s = d["successes"]

    def one(name):
        v = s["latency"][name]
        return {"mean": v["mean"] * 1e3, "p50": v["median"] * 1e3, "p99": v["p99"] * 1e3}
    return {"ttft_ms": one("time_to_first_token"), "itl_ms": one("inter_token_latency"), "tpot_ms": one("time_per_output_token"),
            "e2e_ms": one("request_latency"), "throughput": {"requests_per_s": s["throughput"]["requests_per_sec"],
            "output_tokens_per_s": s["throughput"]["output_tokens_per_sec"]},
            "output_tokens": {"total": s["output_len"]["mean"] * s["count"]}, "failures": {"ok": s["count"]}}


FILES = {"vllm": ("vllm.json", of_vllm), "vllm-rs": ("vllm-rs.json", of_vllm), "sglang": ("sglang.json", of_sglang), "guidellm": ("guidellm.json", of_guidellm),
         "aiperf": ("aiperf.files/profile_export_aiperf.json", of_aiperf), "inference-perf": ("inference-perf.json.files/summary_lifecycle_metrics.json", of_inference_perf)}


def main():
    server, folder, rows, own = sys.argv[1], sys.argv[2], [], {}
    for tool, (name, read) in FILES.items():
        if not os.path.exists(f"{folder}/{name}") or not os.path.exists(f"{folder}/{tool}.said"):
            continue
        tools = json.load(open(f"{folder}/{tool}.said"))["as"]["tools"]
        said = next(t for t in tools if t["tool"]["name"] == tool)["figures"]
        theirs = read(json.load(open(f"{folder}/{name}")))
        own[tool] = theirs["e2e_ms"]["mean"] - said["e2e_ms"]["mean"]
        for figure, members in theirs.items():
            for member, value in members.items():
                ours = said.get(figure, {}).get(member)
                if value is None or ours is None:
                    continue
                less = value - (own[tool] if figure in ("ttft_ms", "e2e_ms") else 0)
                good = abs(less - ours) <= max(0.02 * abs(value), 0.5 if figure.endswith("_ms") else 0)
                rows.append((tool, f"{figure} {member}", value, ours, good))
    print(f"{server}:\n| tool | figure | it said | `--as` | |\n| --- | --- | ---: | ---: | --- |", file=sys.stderr)
    for tool, figure, value, ours, good in rows:
        print(f"| {tool} | {figure} | {value:.4f} | {ours:.4f} | {'' if good else f'{100 * (value - ours) / ours:+.1f} %'} |", file=sys.stderr)
    for tool, before in own.items():
        all_ = [row for row in rows if row[0] == tool]
        good = sum(row[4] for row in all_)
        print(f"{server}, --as {tool}: figures within 2 % or 0.5 ms, ttft and e2e less {before:.2f} ms\t{good}\t{len(all_)} of the tool\t{good / len(all_):.2f}\t-\t-")


main()
