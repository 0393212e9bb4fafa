"""Do ipf-report --as TOOL and -f TOOL say the same of one run?

usage: as_exports.py REPORT.json FOLDER      (the report of --as all -f json; FOLDER has the export NAME.out of each tool)
Prints a line for each differing figure, then "N figures, M differ".
"""
import json
import re
import sys

NAMES = {"n": None, "mean": "mean", "std": "std", "p50": "median", "p90": "p90", "p99": "p99"}


def first(text):
    return json.loads(text.splitlines()[0])


def flat(d, figures):
    return {f: {s: d.get(f"{n}_{name}_ms") for s, n in NAMES.items() if n} for f, name in figures.items()}


def vllm(text):
    d = first(text)
    return {**flat(d, {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2e": "e2el"}),
            "throughput": {"requests_per_s": d["request_throughput"], "output_tokens_per_s": d["output_throughput"], "seconds": d["duration"]},
            "output_tokens": {"total": d["total_output_tokens"]}, "failures": {"ok": d["completed"], "failed": d["failed"]}}


def sglang(text):
    d = first(text)
    return {**flat(d, {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2e": "e2e_latency"}),
            "throughput": {"requests_per_s": d["request_throughput"], "output_tokens_per_s": d["output_throughput"], "seconds": d["duration"]},
            "output_tokens": {"total": d["total_output_tokens"]}, "failures": {"ok": d["completed"]}}


def guidellm(text):
    m = json.loads(text)["benchmarks"][0]["metrics"]

    def of(name, unit=1):
        d = m[name]["successful"]
        return {"mean": d["mean"] * unit, "std": d["std_dev"] * unit, **{p: d["percentiles"][p] * unit for p in ("p50", "p90", "p99")}}
    return {"ttft": of("time_to_first_token_ms"), "itl": of("inter_token_latency_ms"), "tpot": of("time_per_output_token_ms"),
            "e2e": of("request_latency", 1e3), "output_tokens": {"total": m["output_token_count"]["successful"]["total_sum"]},
            "failures": {"ok": m["request_totals"]["successful"], "failed": m["request_totals"]["errored"]}}


def tagged(text):
    d = json.loads(text)

    def of(name):
        return {s: d[name][{"mean": "avg"}.get(s, s)] for s in ("mean", "std", "p50", "p90", "p99")}
    got = {"ttft": of("time_to_first_token"), "itl": of("inter_token_latency"), "e2e": of("request_latency"),
           "throughput": {"requests_per_s": d["request_throughput"]["avg"], "output_tokens_per_s": d["output_token_throughput"]["avg"]},
           "failures": {"ok": d["request_count"]["avg"]}}
    if "error_request_count" in d:  # AIPerf
        got["failures"]["failed"] = d["error_request_count"]["avg"]
        got["throughput"]["seconds"] = d["benchmark_duration"]["avg"]
        got["output_tokens"] = {"total": d["total_osl"]["avg"]}
    return got


def inference_perf(text):
    d = json.loads(text)
    ok = d["successes"]

    def of(name):
        v = ok["latency"][name]
        return {"mean": v["mean"] * 1e3, "p50": v["median"] * 1e3, "p90": v["p90"] * 1e3, "p99": v["p99"] * 1e3}
    return {"ttft": of("time_to_first_token"), "itl": of("inter_token_latency"), "tpot": of("time_per_output_token"), "e2e": of("request_latency"),
            "throughput": {"requests_per_s": ok["throughput"]["requests_per_sec"], "output_tokens_per_s": ok["throughput"]["output_tokens_per_sec"],
                           "seconds": d["benchmark_time_seconds"]},
            "output_tokens": {"total": ok["output_tokens"]["total"]}, "failures": {"ok": ok["count"], "failed": d["failures"]["count"]}}


def lpg(text):
    d = json.loads(text)["metrics"]

    def of(name):
        return {s: d[f"{n}_{name}"] for s, n in (("mean", "avg"), ("std", "sd"), ("p50", "median"), ("p90", "p90"), ("p99", "p99"))}
    return {"ttft": of("TTFT_ms"), "itl": of("ITL_ms"), "tpot": of("normalized_time_per_output_token_ms"), "e2e": of("latency_ms"),
            "throughput": {"requests_per_s": d["throughput_rps"], "output_tokens_per_s": d["throughput"], "seconds": d["benchmark_time"]},
            "output_tokens": {"total": d["total_output_token"]},
            "failures": {"ok": d["num_prompts_succeeded"], "failed": d["num_prompts_attempted"] - d["num_prompts_succeeded"]}}


def mlperf(text):
    def of(mean, percentile):
        got = {"mean": float(re.search(rf"^Mean {mean} \(ns\) *: (\d+)", text, re.M).group(1)) / 1e6}
        for p in 50, 90, 99:
            got[f"p{p}"] = float(re.search(rf"^{p}.00 percentile {percentile} \(ns\) *: (\d+)", text, re.M).group(1)) / 1e6
        return got
    return {"ttft": of("First Token latency", "first token latency"), "tpot": of("Time per Output Token", "time to output token"),
            "e2e": of("latency", "latency"),
            "throughput": {"requests_per_s": float(re.search(r"^Completed samples per second +: ([\d.]+)", text, re.M).group(1)),
                           "output_tokens_per_s": float(re.search(r"^Completed tokens per second +: ([\d.]+)", text, re.M).group(1))}}


READERS = {"vllm": vllm, "sglang": sglang, "guidellm": guidellm, "aiperf": tagged, "genai-perf": tagged, "inference-perf": inference_perf, "lpg": lpg,
           "mlperf": mlperf}


def main():
    compared = differ = 0
    for tool in json.load(open(sys.argv[1]))["as"]["tools"]:
        name = tool["tool"]["name"]
        if name not in READERS:
            continue # it writes the format of another client of its makers
        text = open(f"{sys.argv[2]}/{name}.out", encoding="utf-8").read()
        for figure, members in READERS[name](text).items():
            said = tool["figures"].get(figure + "_ms") or tool["figures"].get(figure) or {}
            for member, value in members.items():
                compared += 1
                # values are rounded where they are written: reports to 1 ns, LoadGen's rates to two decimals
                loose = 0.006 if name == "mlperf" and figure == "throughput" else 2e-6
                if said.get(member) is None or value is None or abs(said[member] - value) > 1e-6 * abs(value) + loose:
                    differ += 1
                    print(f"{name} {figure} {member}: --as {said.get(member)}, -f {value}")
    print(f"{compared} figures, {differ} differ")


main()
