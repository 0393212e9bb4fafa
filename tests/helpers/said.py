"""Other tools' figures of a run, computed a second time: for each tool, the loop reading an answer is written here as its source
has it (versions in lib/other_tools/tool_rules.c), and runs over the answers in the records.

usage: said.py RECORDS REPORT.json      (plain records, openai-chat, streamed; the report of --as all -f json) Prints a line for
each differing figure, then "N figures, M differ".
"""
import json
import math
import sys

import second_opinion


def events_of(record):
    """(time, data) of each event, times in ns from the start; the data of a stream that broke within an event are none."""
    body = record.get("body", "").encode()
    reads, arrived = [], 0
    for t_ns, size, _ in record.get("reads", []):
        arrived += size
        reads.append((arrived, t_ns))
    for name, data, end, _ in second_opinion.events_of(body):
        if not data and name is not None:
            continue
        yield next(t for upto, t in reads if upto >= end) - record["start_ns"], data


class Failed(Exception):
    pass


def delta_of(data):
    choices = data.get("choices") or []
    return (choices[0].get("delta") or {}) if choices else {}


def tools_of(delta):
    return "".join((call["function"].get("name") or "") + (call["function"].get("arguments") or "") for call in delta.get("tool_calls") or [])


def vllm(record):
    times, tokens = [], None
    for t, chunk in events_of(record):
        if chunk == b"[DONE]":
            continue
        data = json.loads(chunk)
        delta, counts = delta_of(data), False
        if data.get("choices"):
            counts = bool(delta.get("content") or delta.get("reasoning") or delta.get("tool_calls")) or (
                delta.get("content") == "" and "role" not in delta)
        if counts:
            times.append(t)
        elif data.get("usage"):
            tokens = data["usage"].get("completion_tokens")
    if not times:
        raise Failed
    tokens = tokens or len(times)  # its tokenizer is not there
    return {"ttft": times[0], "gaps": times, "tpot": (times[-1] - times[0]) / (tokens - 1) if tokens > 1 else None, "e2e": times[-1],
            "tokens": tokens, "last": times[-1]}


def vllm_rs(record):
    times, tokens = [], None
    for t, chunk in events_of(record):
        if chunk == b"[DONE]":
            continue
        try:
            data = json.loads(chunk)
        except ValueError:
            continue # it stops here; results do not say where that was
        if data.get("choices"):
            times.append(t)
        tokens = (data.get("usage") or {}).get("completion_tokens", tokens)
    tokens = tokens or max(1, len(times))
    times = times or [0]
    return {"ttft": times[0], "gaps": times, "tpot": (times[-1] - times[0]) / (tokens - 1) if tokens > 1 else None, "e2e": times[-1],
            "tokens": tokens, "last": times[-1]}


def sglang(record):
    times, tokens, latency = [], record["asked_output_tokens"], 0
    for t, chunk in events_of(record):
        latency = t
        if chunk == b"[DONE]":
            continue
        data = json.loads(chunk)
        tokens = (data.get("usage") or {}).get("completion_tokens", tokens)
        delta = delta_of(data)
        if delta.get("reasoning_content") or delta.get("reasoning") or delta.get("content"):
            times.append(t)
    first = times[0] if times else 0
    return {"ttft": first, "gaps": times, "tpot": (latency - first) / (tokens - 1) if tokens > 1 else None, "e2e": latency,
            "tokens": tokens, "last": times[-1] if times else 0}


def guidellm(record):
    times, usage, end = [], {}, 0
    for t, chunk in events_of(record):
        end = t
        if chunk == b"[DONE]":
            break
        data = json.loads(chunk)
        if data.get("error"):
            raise Failed
        delta = delta_of(data)
        if delta.get("reasoning") or delta.get("reasoning_content") or delta.get("content") or delta.get("tool_calls"):
            times.append(t)
        usage = data.get("usage") or usage
    tokens = usage.get("completion_tokens") or len(times)
    if not times and not tokens:
        raise Failed
    one = {"ttft": times[0] if times else None, "e2e": end, "tokens": tokens, "last": end}
    if times and tokens:
        one["weighted tpot"] = times[-1] / tokens, tokens
        if tokens > 1:
            one["weighted itl"] = (times[-1] - times[0]) / (tokens - 1), tokens - 1
    return one


def contents(record, strict):
    times, usage, failed = [], {}, False
    for t, chunk in events_of(record):
        if chunk == b"[DONE]":
            continue
        try:
            data = json.loads(chunk)
        except ValueError:
            failed = True
            continue
        delta = delta_of(data)
        failed |= "error" in data
        if delta.get("reasoning") or delta.get("reasoning_content") or delta.get("content") or tools_of(delta):
            times.append(t)
        usage = data.get("usage") or usage
    if not times or (strict and failed):
        raise Failed
    return times, usage.get("completion_tokens")


def aiperf(record, strict=False):
    times, tokens = contents(record, strict)
    tokens = tokens or len(times)
    return {"ttft": times[0], "itl": (times[-1] - times[0]) / (tokens - 1) if tokens > 1 else None, "e2e": times[-1],
            "tokens": tokens, "last": times[-1]}


def genai_perf(record):
    one = aiperf(record, strict=True)
    if len(contents(record, True)[0]) < 2:
        one["itl"] = None
    if one["itl"] is not None:
        one["itl"] = round(one["itl"])
    return one


def inference_perf(record):
    times, usage = [], {}
    for t, chunk in events_of(record):
        if chunk == b"[DONE]":
            break
        try:
            data = json.loads(chunk)
        except ValueError:
            continue
        if delta_of(data).get("content"):
            times.append(t)
        usage = data.get("usage") or usage
    tokens = usage.get("completion_tokens", len(times))
    streamed = len(times) > 1
    return {"ttft": times[0] if streamed else None, "tpot": (times[-1] - times[0]) / (tokens - 1) if streamed and tokens > 1 else None,
            "e2e": record["end_ns"] - record["start_ns"], "tokens": tokens, "last": 0}


TOOLS = {"vllm": vllm, "vllm-rs": vllm_rs, "sglang": sglang, "guidellm": guidellm, "aiperf": aiperf, "genai-perf": genai_perf, "inference-perf": inference_perf}


def percentile(values, p):
    values = sorted(values)
    at = (len(values) - 1) * p / 100
    low = math.floor(at)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (at - low)


def least(pairs, p):
    """By sums of shares as they are in floating point, like the tool's: at half of an even number they may miss 0.5."""
    total, below, weights = sum(w for _, w in pairs), 0, {}
    for value, weight in pairs:
        weights[value] = weights.get(value, 0) + weight
    for value in sorted(weights):
        below += weights[value] / total
        if below >= p / 100:
            return value
    return max(weights)


def summary(values):
    mean = sum(values) / len(values)
    return {"n": len(values), "mean": mean, "std": math.sqrt(sum((v - mean) ** 2 for v in values) / len(values)), "p50": percentile(values, 50),
            "p90": percentile(values, 90), "p99": percentile(values, 99)}


def weighted(pairs):
    total = sum(w for _, w in pairs)
    mean = sum(v * w for v, w in pairs) / total
    return {"mean": mean, "std": math.sqrt(sum((v - mean) ** 2 * w for v, w in pairs) / total), "p50": least(pairs, 50), "p90": least(pairs, 90),
            "p99": least(pairs, 99)}


def figures(name, records):
    """The figures of a tool, by their place in the report."""
    good, failed, ends = [], 0, []
    for record in records:
        try:
            if record.get("error") or record.get("status") != 200:
                raise Failed
            one = TOOLS[name](record)
            good.append(one)
            ends.append(record["start_ns"] + one["last"])
        except (Failed, ValueError):
            failed += 1
    start, window_end = min(r["start_ns"] for r in records), max(r["end_ns"] for r in records)
    if name in ("aiperf", "genai-perf"):
        window_end = max(ends)
    seconds, tokens = (window_end - start) / 1e9, sum(one["tokens"] for one in good)
    statistics = summary if name != "inference-perf" else lambda values: {k: v for k, v in summary(values).items() if k != "std"}
    got = {("throughput", "requests_per_s"): len(good) / seconds, ("throughput", "output_tokens_per_s"): tokens / seconds,
           ("throughput", "seconds"): seconds, ("output_tokens", "total"): tokens, ("failures", "ok"): len(good), ("failures", "failed"): failed}
    for key in ("ttft", "itl", "tpot", "e2e"):
        values = [one[key] / 1e6 for one in good if one.get(key) is not None]
        pairs = [(one["weighted " + key][0] / 1e6, one["weighted " + key][1]) for one in good if "weighted " + key in one]
        if key == "itl" and any("gaps" in one for one in good):
            values = [(b - a) / 1e6 for one in good for a, b in zip(one["gaps"], one["gaps"][1:])]
        if name == "guidellm" and values:
            pairs, values = [(v, 1) for v in values], []
        if values or pairs:
            for member, value in (weighted(pairs) if pairs else statistics(values)).items():
                got[key + "_ms", member] = value
    return got


def main():
    lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    records = [line for line in lines if "n" in line and "start_ns" in line]
    report = {tool["tool"]["name"]: tool for tool in json.load(open(sys.argv[2]))["as"]["tools"]}
    compared = differ = 0
    for name in TOOLS:
        for (figure, member), value in figures(name, records).items():
            said = report[name]["figures"].get(figure, {}).get(member)
            compared += 1
            # gaps come from a histogram, to within 0.1 %
            if said is None or abs(said - value) > (2e-3 if figure == "itl_ms" else 1e-6) * abs(value) + 1e-5:
                differ += 1
                print(f"{name} {figure} {member}: {said}, expected {value}")
    print(f"{compared} figures, {differ} differ")


main()
