#!/usr/bin/env python3
"""Files of other tools ipf-report has read, compared with their sources.

    imports.py agree NAME RUN IMPORTED    RUN is the JSON report of a run, IMPORTED that of its export in the format NAME
    imports.py states NAME FILE IMPORTED  IMPORTED has the figures that FILE states, unchanged
    imports.py same NAME STATED IMPORTED  both are JSON reports of one run: of the tool's figures, and of its requests
    imports.py own NAME FILE IMPORTED     FILE has requests, and beside them the tool's own figures: those of IMPORTED

Values the format carries must agree; others must be absent. Both print the fault and end with 1.
"""
import json
import math
import sys

STATISTICS = ("n", "mean", "std", "min", "max", "p50", "p90", "p99")
wrong = []


def compare(what, got, expected, loose=1e-6):
    if got is None or expected is None:
        same = got is expected
    elif isinstance(expected, (int, float)) and isinstance(got, (int, float)):
        same = math.isclose(got, expected, rel_tol=loose, abs_tol=2e-6)
    else:
        same = got == expected
    if not same:
        wrong.append(f"{what}: got {got!r}, expected {expected!r}")


def at(value, path):
    for key in path.split("/"):
        value = value.get(key) if isinstance(value, dict) else None
    return value


# The figures agreeing in each format, and how well: figures of a stage as paths into the JSON report.
COUNTS = ("requests/ok", "requests/failed")
TIMES = {"latency/ttft_ms/from_start": 1e-6, "latency/e2e_ms/from_start": 1e-6, "latency/tpot_ms": 1e-5, "latency/itl_ms": 1e-3,
         "latency/ntpot_ms": 1e-5}
AGREE = {
    # Seconds since the epoch have 0.2 us in a double.
    "guidellm": {"latency/ttft_ms/from_start": 1e-6, "latency/e2e_ms/from_start": 2e-5, "latency/tpot_ms": 1e-5, "latency/stream_ms/from_start": 1e-6,
                 "latency/ttfa_ms/from_start": 1e-6, "tokens/input": 0, "tokens/output": 0},
    "inference-perf-requests": {"latency/stream_ms/from_start": 1e-6, "latency/e2e_ms/from_start": 1e-6, "latency/ntpot_ms": 1e-5, "latency/tpot_ms": 1e-5,
                                "latency/itl_ms": 1e-3, "tokens/input": 0, "tokens/output": 0},
    "sglang-detailed": {**TIMES, "tokens/input": 0, "tokens/output": 0},
    "aiperf-jsonl": {**TIMES, "latency/ttft_ms/from_due": 1e-6, "latency/e2e_ms/from_due": 1e-6, "lag_ms": 1e-6, "latency/ttfa_ms/from_start": 1e-6,
                     "latency/itl_mean_ms": 1e-6, "latency/itl_max_ms": 1e-6, "tokens/input": 0, "tokens/output": 0, "tokens/reasoning": 0},
    "vllm-detailed": {"latency/ttft_ms/from_start": 1e-6, "latency/e2e_ms/from_start": 1e-6, "latency/tpot_ms": 1e-5,
                      "latency/itl_ms": 1e-3, "latency/ntpot_ms": 1e-5, "tokens/input": 0, "tokens/output": 0},
}
# Values the format cannot hold.
ABSENT = {
    "guidellm": ("latency/ttfb_ms", "latency/itl_ms", "client_lag_ms", "tokens/source"),
    "inference-perf-requests": ("latency/ttft_ms/from_due", "latency/ttfa_ms", "lag_ms", "slot_wait_ms"),
    "sglang-detailed": ("latency/ttft_ms/from_due", "latency/ttfb_ms", "latency/stream_ms", "lag_ms", "rate/achieved", "in_flight/little"),
    "aiperf-jsonl": ("latency/ttfb_ms", "client_lag_ms", "slot_wait_ms", "rate/offered", "tokens/source"),
    "vllm-detailed": ("latency/ttft_ms/from_due", "latency/ttfb_ms", "latency/ttfa_ms", "latency/stream_ms", "lag_ms", "client_lag_ms",
                      "rate/offered", "tokens/source", "tokens/reasoning"),
}


# Formats that join all measured stages.
JOINED = {"inference-perf-requests": "run 1", "aiperf-jsonl": "profiling"}


def agree(name, run, imported):
    expected = [s for s in run["stages"] if s["measured"]]
    if name in JOINED:
        expected = [dict(run["total"], name=JOINED[name])]
    stages = imported["stages"]
    compare("stages", [s["name"] for s in stages], [s["name"] for s in expected])
    for e, s in zip(expected, stages):
        for path in COUNTS:
            compare(f"{e['name']}: {path}", at(s, path), at(e, path))
        for path, loose in AGREE[name].items():
            for statistic in STATISTICS[path == "lag_ms":]:  # those we disconnected from on purpose have one, too
                compare(f"{e['name']}: {path}/{statistic}", at(s, f"{path}/{statistic}"), at(e, f"{path}/{statistic}"), loose)
        for path in ABSENT[name]:
            compare(f"{e['name']}: {path}", at(s, path), None)


# ---- figures as stated ------------------------------------------------------------------------------------------------

def flat(document, names):
    """Reads mean_ttft_ms and the like: path of the summary -> {statistic: value}."""
    found = {}
    for key, value in document.items():
        for name, path in names.items():
            if key.endswith(f"_{name}_ms") and value is not None:
                statistic = key[:-len(name) - 4]
                found.setdefault(path, {})["p50" if statistic == "median" else statistic] = value
    return found


def vllm(text):
    for line in text.splitlines():
        d = json.loads(line)
        figures = flat(d, {"ttft": "latency/ttft_ms/from_start", "tpot": "latency/tpot_ms", "itl": "latency/itl_ms",
                           "e2el": "latency/e2e_ms/from_start", "client_queue_time": "slot_wait_ms"})
        rate = d["request_rate"]
        yield d["label"], figures, {"requests/ok": d["completed"], "requests/failed": d["failed"], "window_s": d["duration"],
                                    "throughput/requests_per_s": d["request_throughput"],
                                    "throughput/output_tokens_per_s": d["output_throughput"],
                                    "throughput/total_tokens_per_s": d["total_token_throughput"],
                                    "rate/offered": None if rate == "inf" else rate, "rate/achieved": None}


def sglang(text):
    for line in text.splitlines():
        d = json.loads(line)
        figures = flat(d, {"ttft": "latency/ttft_ms/from_start", "tpot": "latency/tpot_ms", "itl": "latency/itl_ms",
                           "e2e_latency": "latency/e2e_ms/from_start"})
        yield d["tag"], figures, {"requests/ok": d["completed"], "requests/failed": None, "requests/started": None, "window_s": d["duration"],
                                  "throughput/requests_per_s": d["request_throughput"], "in_flight/mean": d["concurrency"],
                                  "throughput/input_tokens_per_s": d["input_throughput"],
                                  "throughput/output_tokens_per_s": d["output_throughput"],
                                  "throughput/total_tokens_per_s": d["total_throughput"], "rate/offered": d.get("request_rate")}


def tagged(d, names):
    """Reads objects with avg, p50 and the like."""
    figures = {}
    for tag, path in names.items():
        if tag in d:
            figures[path] = {{"avg": "mean", "count": "n"}.get(k, k): v for k, v in d[tag].items() if k not in ("unit", "sum")}
    return figures


def value(d, tag, default=None):
    return d[tag]["avg"] if tag in d else default


TAGS = {"time_to_first_token": "latency/ttft_ms/from_start", "time_to_second_token": "latency/ttst_ms",
        "request_latency": "latency/e2e_ms/from_start", "inter_token_latency": "latency/tpot_ms", "input_sequence_length": "tokens/input",
        "output_sequence_length": "tokens/output"}


def aiperf(text):
    d = json.loads(text)
    yield None, tagged(d, {**TAGS, "effective_latency": "latency/e2e_ms/from_due", "credit_to_start_latency": "lag_ms",
                           "inter_chunk_latency": "latency/itl_ms", "time_to_first_output_token": "latency/ttfa_ms/from_start"}), {
        "requests/ok": value(d, "request_count"), "requests/failed": value(d, "error_request_count", 0), "window_s": value(d, "benchmark_duration"),
        "throughput/requests_per_s": value(d, "request_throughput"),
        "throughput/output_tokens_per_s": value(d, "output_token_throughput"), "rate/offered": None}


def genai_perf(text):
    d = json.loads(text)
    yield None, tagged(d, TAGS), {"requests/ok": value(d, "request_count"), "requests/failed": None, "rate/offered": None,
                                  "throughput/requests_per_s": value(d, "request_throughput"),
                                  "throughput/output_tokens_per_s": value(d, "output_token_throughput")}


def inference_perf(text):
    d = json.loads(text)
    ok, figures = d["successes"], {}
    for source, name, path, unit in (
            (ok["latency"], "request_latency", "latency/e2e_ms/from_start", 1e3),
            (ok["latency"], "normalized_time_per_output_token", "latency/ntpot_ms", 1e3),
            (ok["latency"], "time_per_output_token", "latency/tpot_ms", 1e3),
            (ok["latency"], "time_to_first_token", "latency/ttft_ms/from_start", 1e3),
            (ok["latency"], "inter_token_latency", "latency/itl_ms", 1e3), (ok, "prompt_tokens", "tokens/input", 1),
            (ok, "output_tokens", "tokens/output", 1), (d["load_summary"], "schedule_delay", "lag_ms", 1e3)):
        figures[path] = {"p50" if k == "median" else k: v * unit for k, v in source[name].items() if k not in ("total", "cached", "uncached")}
    rates = ok["throughput"]
    yield None, figures, {"requests/ok": ok["count"], "requests/failed": d["failures"]["count"], "window_s": d["benchmark_time_seconds"],
                          "throughput/requests_per_s": rates["requests_per_sec"],
                          "throughput/input_tokens_per_s": rates["input_tokens_per_sec"],
                          "throughput/output_tokens_per_s": rates["output_tokens_per_sec"],
                          "throughput/total_tokens_per_s": rates["total_tokens_per_sec"]}


def guidellm(text):
    for b in json.loads(text)["benchmarks"]:
        m, figures = b["metrics"], {}
        for name, path, unit in (("request_latency", "latency/e2e_ms/from_start", 1e3), ("time_to_first_token_ms", "latency/ttft_ms/from_start", 1),
                                 ("time_to_first_output_token_ms", "latency/ttfa_ms/from_start", 1),
                                 ("inter_token_latency_ms", "latency/tpot_ms", 1), ("time_per_output_token_ms", "latency/ntpot_ms", 1),
                                 ("prompt_token_count", "tokens/input", 1), ("output_token_count", "tokens/output", 1)):
            d = m[name]["successful"]
            figures[path] = {"mean": d["mean"] * unit, "std": d["std_dev"] * unit, "min": d["min"] * unit, "max": d["max"] * unit, "n": d["count"]}
            for key, v in d["percentiles"].items():
                figures[path][{"p001": "p0.1", "p01": "p1", "p05": "p5", "p999": "p99.9"}.get(key, key)] = v * unit
        yield b["config"]["name"], figures, {"requests/ok": m["request_totals"]["successful"], "requests/failed": m["request_totals"]["errored"],
                                             "throughput/requests_per_s": m["requests_per_second"]["successful"]["mean"],
                                             "in_flight/mean": m["request_concurrency"]["successful"]["mean"]}


STATED = {"inference-perf": inference_perf, "genai-perf": genai_perf, "guidellm-figures": guidellm, "vllm": vllm, "sglang": sglang, "aiperf": aiperf}


def states(name, path, imported):
    with open(path, encoding="utf-8") as file:
        runs = list(STATED[name](file.read()))
    compare("stages", len(imported["stages"]), len(runs))
    for (label, figures, scalars), stage in zip(runs, imported["stages"]):
        if label is not None:
            compare("name", stage["name"], label)
        for path, value in scalars.items():
            compare(f"{label}: {path}", at(stage, path), value)
        for path, summary in figures.items():
            got = at(stage, path) or {}
            compare(f"{label}: statistics of {path}", sorted(k for k in got if k != "n"), sorted(k for k in summary if k != "n"))
            for statistic, value in summary.items():
                compare(f"{label}: {path}/{statistic}", got.get(statistic), value)
        shown = set()
        for m, d in stage["latency"].items():
            shown |= {f"latency/{m}/{origin}" for origin in ("from_start", "from_due") if origin in d} or {f"latency/{m}"}
        compare(f"{label}: latencies", sorted(shown), sorted(p for p in figures if p.startswith("latency/")))
    compare("verdict", imported["verdict"]["status"], "UNKNOWN")
    compare("verdicts", {c["status"] for c in imported["verdict"]["checks"]}, {"UNKNOWN"})
    compare("has", imported["run"]["imported"]["has"], "figures")


# The meaning of figures of a file of requests, where that is another figure (None: they do not say it).
MEANS = {"inference-perf": {"e2e_ms": "stream_ms", "ntpot_ms": None}, "genai-perf": {"tpot_ms": None, "tokens": None, "requests/failed": None}}


def same(name, stated, imported):
    """The figures a tool computed are those we compute from its requests."""
    means = MEANS.get(name, {})
    for metric, d in stated["total"]["latency"].items():
        if means.get(metric, metric) is None:
            continue
        for path in (f"latency/{metric}", f"latency/{metric}/from_start", f"latency/{metric}/from_due"):
            for statistic in ("n", "mean", "min", "max", "p1", "p50", "p90", "p99"):
                value = at(stated["total"], f"{path}/{statistic}")
                if value is not None:
                    loose = 1e-3 if metric == "itl_ms" else 1e-5 if "due" in path else 1e-6  # AIPerf: to the end of the response
                    ours = path.replace(metric, means.get(metric, metric))
                    compare(f"{name}: {path}/{statistic}", at(imported["total"], f"{ours}/{statistic}"), value, loose)
    for path in ("requests/ok", "requests/failed", "tokens/input/mean", "tokens/output/mean", "tokens/output/p99"):
        if path in means or path.split("/")[0] in means:
            continue
        compare(f"{name}: {path}", at(imported["total"], path), at(stated["total"], path))
    if not stated["total"]["latency"]:
        wrong.append(f"{name}: no latencies")


# ---- files with both ------------------------------------------------------------------------------------------------

def own_vllm(d):
    ok = [i for i, error in enumerate(d["errors"]) if not error]
    figures = flat(d, {"ttft": "latency/ttft_ms/from_start", "itl": "latency/itl_ms", "tpot": "latency/tpot_ms", "e2el": "latency/e2e_ms/from_start"})
    figures["tokens/output"] = {"mean": d["total_output_tokens"] / len(ok)}
    figures["tokens/input"] = {"mean": d["total_input_tokens"] / len(ok)}
    return figures, {"requests/ok": d["completed"], "requests/failed": len(d["errors"]) - len(ok), "window_s": d["duration"],
                     "throughput/requests_per_s": d["request_throughput"], "throughput/output_tokens_per_s": d["output_throughput"]}


def own_vllm_rs(d):
    return own_vllm(d)


def own_sglang(d):
    ok = [i for i, error in enumerate(d["errors"]) if not error]
    return flat(d, {"ttft": "latency/ttft_ms/from_start", "itl": "latency/itl_ms"}), {
        "requests/ok": d["completed"], "requests/failed": len(d["errors"]) - len(ok), "window_s": d["duration"],
        "throughput/requests_per_s": d["request_throughput"], "throughput/output_tokens_per_s": d["output_throughput"]}


def own_guidellm(d):
    """Its percentiles are of another kind; ttft and latency have no weights. Throughputs there are distributions over moments."""
    (b,) = d["benchmarks"]
    figures = {}
    for name, path, unit in (("request_latency", "latency/stream_ms", 1e3), ("time_to_first_token_ms", "latency/ttft_ms/from_start", 1),
                             ("time_to_first_output_token_ms", "latency/ttfa_ms/from_start", 1), ("prompt_token_count", "tokens/input", 1),
                             ("output_token_count", "tokens/output", 1)):
        m = b["metrics"][name]["successful"]
        figures[path] = {"n": m["count"], "mean": m["mean"] * unit, "std": m["std_dev"] * unit, "min": m["min"] * unit, "max": m["max"] * unit}
    figures["latency/stream_ms/from_start"] = figures.pop("latency/stream_ms")
    totals = b["metrics"]["request_totals"]
    return figures, {"requests/ok": totals["successful"], "requests/failed": totals["errored"]}


OWN = {"vllm": own_vllm, "vllm-rs": own_vllm_rs, "sglang": own_sglang, "guidellm": own_guidellm}


def own(name, path, imported):
    with open(path, encoding="utf-8") as file:
        figures, scalars = OWN[name](json.loads(file.read()))
    compare("has", imported["run"]["imported"]["has"], "requests")
    for path, value in scalars.items():  # vLLM's time begins before the first request does
        compare(f"{name}: {path}", at(imported["total"], path), value, 1e-2 if name.startswith("vllm") and not path.startswith("requests") else 1e-5)
    for path, summary in figures.items():
        for statistic, value in summary.items():  # gaps are in a histogram
            compare(f"{name}: {path}/{statistic}", at(imported["total"], f"{path}/{statistic}"), value,
                    5e-3 if "itl" in path and statistic == "std" else 1e-3 if "itl" in path else 1e-5)


def main():
    command, name, first, second = sys.argv[1:]
    with open(second, encoding="utf-8") as file:
        imported = json.load(file)
    if command == "agree":
        with open(first, encoding="utf-8") as file:
            agree(name, json.load(file), imported)
    elif command == "same":
        with open(first, encoding="utf-8") as file:
            same(name, json.load(file), imported)
    elif command == "own":
        own(name, first, imported)
    else:
        states(name, first, imported)
    for line in wrong[:20]:
        print(line)
    return 1 if wrong else 0


sys.exit(main())
