#!/usr/bin/env python3
"""Exports of ipf-report in the formats of other tools, checked against the rows of the results.

    exports.py make RESULTS             writes results whose names are as bad as names can be
    exports.py check NAME RESULTS FILE  FILE is in the format NAME and has the figures that the rows give

The form of each format is in tests/data/exports/NAME.json, written from that tool's source: the members it can have,
and the type of each. A member beginning with "?" may be missing; no other member may exist. Types are "number",
"integer", "text", "bool", "null", alternatives as in "number|null", a list with the type of its elements, an object,
{"*": TYPE} for an object whose members have any name, {"|": [TYPE…]} for alternatives, and the name of a type the file
defines ("$stat"); "$document" is the whole's.

The figures are computed here a second time, by the definitions of the tool; NumPy is used if there is one.
"""
import csv
import hashlib
import io
import json
import math
import random
import sys

try:
    import numpy
except ImportError:
    numpy = None

HOSTILE = "m\"o'd,el\n=cmd|' /C calc'!A0\t<script>\u001b[31m\u202e{{x}}%s`id`$(id)"
STAGES = [("=warm,\"up\"", "constant", False), ("po'is\"son</script>", "poisson", True), ("=closed", "closed", True)]


# ---- statistics, as NumPy has them ------------------------------------------------------------------------------------

def percentile(values, p):
    """By linear interpolation between order statistics."""
    if numpy:
        return float(numpy.percentile(values, p))
    ordered = sorted(values)
    at = (len(ordered) - 1) * p / 100
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def mean(values):
    return math.fsum(values) / len(values)


def std(values, sample=0):
    middle = mean(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - sample))


# ---- results ----------------------------------------------------------------------------------------------------------

def fine_bucket(value):
    """512 in each octave: the histogram of gaps."""
    octave = value.bit_length() - 1
    return value if value < 512 else 512 * (octave - 8) + ((value - 2 ** octave) * 512 >> octave)


def make_row(chance, n, stage, start):
    tokens = 1 if n % 17 == 3 else chance.randint(2, 12)
    row = {"n": n, "req": n, "stage": stage, "id": f"r{n}", "session": f"{HOSTILE} {n // 2}", "turn": n % 2, "model": HOSTILE,
           "ok": True, "start_ns": start, "end_ns": start, "input_tokens": chance.randint(1, 4000),
           "asked_output_tokens": tokens, "asked_input_tokens": 1000}
    if stage != 2:
        row["due_ns"] = start - 250000
        row["ready_ns"] = row["due_ns"]
        row["lag_ns"] = row["client_lag_ns"] = 250000
    elif n % 3 == 0:
        row["slot_wait_ns"] = chance.randint(1000, 9000000)
    if n % 9 == 5:
        row["ok"] = False
        row["end_ns"] = start + chance.randint(1, 50000000)
        row["error"] = [{"kind": "http-status", "text": HOSTILE, "status": 429}, {"kind": "timeout"},
                        {"kind": "in-band", "text": "no \"memory\"", "status": 200}, {"kind": "hung-up"}][n // 9 % 4]
        return row
    first = start + chance.randint(5000000, 90000000)
    events = [first]
    for _ in range(tokens - 1):
        events.append(events[-1] + int(chance.lognormvariate(16, 0.5)))
    gaps = [b - a for a, b in zip(events, events[1:])]
    row.update(ttfb_ns=first - start - 1000, ttft_ns=first - start, ttfa_ns=first - start, e2e_ns=events[-1] - start,
               end_ns=events[-1] + 400000, stream_ns=events[-1] - start + 400000, events=tokens, coalesced=0, stalls=0,
               output_tokens=tokens, output_tokens_usage=tokens, output_tokens_tokenizer=tokens + 1,
               input_tokens_usage=row["input_tokens"], cached_tokens=row["input_tokens"] // 3, tokens_source="usage",
               finish="length", event_ns=events, text=HOSTILE)
    if n % 5 == 0:
        row["reasoning_tokens"] = tokens // 2
    if gaps:
        row.update(ttst_ns=gaps[0], itl_mean_ns=round(mean(gaps)), itl_max_ns=max(gaps),
                   tpot_ns=round((events[-1] - first) / (tokens - 1)))
    row["ntpot_ns"] = round(row["e2e_ns"] / tokens)
    return row


def make(path):
    chance = random.Random(7)
    rows, n = [], 0
    for stage, count in enumerate([4, 40, 31]):
        start = stage * 10 ** 10
        for _ in range(count):
            start += chance.randint(1000000, 200000000)
            rows.append(make_row(chance, n, stage, start))
            n += 1
    chance.shuffle(rows)
    lines = list(rows)
    for stage in range(3):
        gaps = [g for row in rows if row["stage"] == stage and row["ok"] for g in gaps_of(row)]
        buckets = [fine_bucket(gap) for gap in gaps]
        lines.append({"histogram": "itl_ns", "stage": stage, "count": len(gaps), "min": min(gaps), "max": max(gaps),
                      "sum": sum(gaps), "buckets": [[i, buckets.count(i)] for i in sorted(set(buckets))]})
    stages = [{"name": name, "kind": kind, "spec": kind, "begin_ns": i * 10 ** 10, "end_ns": (i + 1) * 10 ** 10,
               "arrivals": [4, 40, 31][i], "first_n": [0, 4, 44][i], "measured": measured}
              for i, (name, kind, measured) in enumerate(STAGES)]
    stages[1]["rate"] = 4.25
    stages[2].update(closed=True, slots=6)
    t0 = 1795156140123456789
    trace = {"ipf": "trace", "version": 1, "tool": "ipf-prep 0.1.0", "source": "sharegpt", "argv": ["sharegpt"]}
    header = {"ipf": "results", "version": 1, "tool": "ipf-collect 0.1.0", "argv": ["--events", "--text"], "api": "openai-chat",
              "itl": "gap", "stages": stages, "tokenizer": {"name": HOSTILE},
              "from": [{"ipf": "records", "version": 1, "tool": "ipf-fire 0.1.0", "target": "http://h:8000/v1/x?a='\"&b=</script>",
                        "model": HOSTILE, "t0": "2026-11-20T06:29:00.123Z", "t0_unix_ns": t0,
                        "host": {"name": "=host,\"1\""},
                        "from": [{"ipf": "schedule", "version": 1, "tool": "ipf-sched 0.1.0", "seed": 1, "stages": stages,
                                  "from": [trace], "trace": {"sha256": "0" * 64, "requests": 75}}, trace]}]}
    body = "".join(json.dumps(line) + "\n" for line in lines)
    with open(path, "w") as out:
        out.write(json.dumps(header) + "\n" + body)
        end = {"lines": len(lines), "sha256": hashlib.sha256(body.encode()).hexdigest()}
        out.write(json.dumps({"end": end}) + "\n")


def gaps_of(row):
    return [b - a for a, b in zip(row.get("event_ns", []), row.get("event_ns", [])[1:])]


class Load:
    """The requests of a stage, or of all measured stages, as the tools count them: started, and not disconnected on purpose."""

    def __init__(self, header, rows, stages):
        self.header = header
        self.stages = stages
        self.stage = header["stages"][stages[0]] if len(stages) == 1 else None
        self.sent = sorted((row for row in rows if row["stage"] in stages and "start_ns" in row
                            and row.get("error", {}).get("kind") != "hung-up"), key=lambda row: (row["stage"], row["start_ns"], row["n"]))
        self.ok = [row for row in self.sent if row["ok"]]
        self.failed = [row for row in self.sent if not row["ok"]]
        self.begin = min((row["start_ns"] for row in self.sent), default=None)
        self.end = max((row.get("end_ns", row["start_ns"]) for row in self.sent), default=None)
        self.seconds = (self.end - self.begin) / 1e9 if self.sent else None
        self.t0 = header["from"][0]["t0_unix_ns"]
        self.inputs = sum(row.get("input_tokens", 0) for row in self.ok)
        self.outputs = sum(row.get("output_tokens", 0) for row in self.ok)

    def values(self, function, rows=None):
        """Only the rows for which there is a value."""
        found = [function(row) for row in (self.ok if rows is None else rows)]
        return [value for value in found if value is not None]

    def gaps(self):
        return [gap for row in self.ok for gap in gaps_of(row)]


def read_results(path):
    with open(path) as lines:
        lines = [json.loads(line) for line in lines]
    rows = [line for line in lines[1:-1] if "n" in line]
    return lines[0], rows


def loads_of(path, tokenizes):
    """One for each measured stage, and one of all of them; of a tool counting tokens itself with its tokenizer's counts."""
    header, rows = read_results(path)
    for row in rows:
        if tokenizes and "output_tokens" in row:
            row["output_tokens"] = row["output_tokens_tokenizer"]
    measured = [i for i, stage in enumerate(header["stages"]) if stage["measured"]]
    return [Load(header, rows, [i]) for i in measured], Load(header, rows, measured)


def ms(name):
    return lambda row: row[name] / 1e6 if name in row else None


def tpot_to(end):
    """Milliseconds per token after the first, to e2e_ns or stream_ns."""
    return lambda row: (row[end] - row["ttft_ns"]) / (row["output_tokens"] - 1) / 1e6 \
        if row.get("output_tokens", 0) > 1 and "ttft_ns" in row else None


# ---- the form of a document ---------------------------------------------------------------------------------------------

def type_is(value, name):
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return {"text": isinstance(value, str), "bool": isinstance(value, bool), "null": value is None}[name]


def check_form(value, form, at, wrong):
    form = ROOT.get(form, form) if isinstance(form, str) else form
    if isinstance(form, dict) and "|" in form:
        tries = []
        for one in form["|"]:
            tries.append([])
            check_form(value, one, at, tries[-1])
        wrong.extend(min(tries, key=len))
    elif isinstance(form, str):
        if not any(type_is(value, name) for name in form.split("|")):
            wrong.append(f"{at}: expected {form}, got {value!r}"[:300])
    elif isinstance(form, list):
        if not isinstance(value, list):
            wrong.append(f"{at}: expected a list, got {value!r}"[:300])
        else:
            for i, one in enumerate(value):
                check_form(one, form[0], f"{at}[{i}]", wrong)
    elif not isinstance(value, dict):
        wrong.append(f"{at}: expected an object, got {value!r}"[:300])
    else:
        known = {key.lstrip("?"): inner for key, inner in form.items()}
        for key in form:
            if not key.startswith(("?", "*", "$")) and key not in value:
                wrong.append(f"{at}: {key} is missing")
        for key, inner in value.items():
            if key in known or "*" in known:
                check_form(inner, known.get(key, known.get("*")), f"{at}.{key}", wrong)
            else:
                wrong.append(f"{at}: {key} is unknown to the tool")


ROOT = {}  # the types the file defines


def flat(value, at=""):
    """The leaves of a document, by path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{at}.{key}" if at else key)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from flat(inner, f"{at}[{i}]")
    else:
        yield at, value


def near(a, b, loose):
    if isinstance(a, bool) or isinstance(b, bool) or not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
        return a == b
    return abs(a - b) <= (2e-3 if loose else 1e-9) * max(abs(a), abs(b)) + 1e-9


def compare(document, expected, loose, wrong):
    """Every expected figure is there and as expected; `loose` says of which paths the histogram is the source."""
    found = dict(flat(document))
    for path, value in flat(expected):
        if path not in found:
            wrong.append(f"{path}: missing, expected {value!r}"[:300])
        elif not near(found[path], value, any(part in path for part in loose)):
            wrong.append(f"{path}: {found[path]!r}, expected {value!r}"[:300])


# ---- the formats ----------------------------------------------------------------------------------------------------------

def of_metric(values, name, percentiles, suffix="_ms"):
    if not values:
        return {}
    return {f"mean_{name}{suffix}": mean(values), f"median_{name}{suffix}": percentile(values, 50),
            f"std_{name}{suffix}": std(values), **{f"p{p}_{name}{suffix}": percentile(values, p) for p in percentiles}}


def peak(rows, end):
    """The most requests in flight; an end makes room for a start."""
    steps = sorted([(row["start_ns"], 1) for row in rows] + [(row["start_ns"] + row[end], -1) for row in rows])
    now = most = 0
    for _, step in steps:
        now += step
        most = max(most, now)
    return most


def busiest_second(rows, end):
    """The most requests in flight at any time in a second."""
    seconds, begin = {}, min(row["start_ns"] for row in rows)
    for row in rows:
        for second in range((row["start_ns"] - begin) // 10 ** 9, (row["start_ns"] + row[end] - begin) // 10 ** 9 + 1):
            seconds[second] = seconds.get(second, 0) + 1
    return max(seconds.values())


def peak_events(load):
    seconds, begin = {}, min(row["start_ns"] for row in load.ok)
    for row in load.ok:
        for event in row["event_ns"]:
            second = (event - begin) // 10 ** 9
            seconds[second] = seconds.get(second, 0) + 1
    return max(seconds.values())


def vllm(load, detailed):
    def wait(row):
        return row.get("slot_wait_ns", 0) / 1e6
    s = load.seconds
    expected = {"backend": "openai-chat", "endpoint_type": "openai-chat", "label": load.stage["name"], "model_id": HOSTILE,
                "tokenizer_id": HOSTILE, "num_prompts": len(load.sent), "request_rate": load.stage.get("rate", "inf"),
                "max_concurrency": load.stage.get("slots"), "duration": s, "completed": len(load.ok), "failed": len(load.failed),
                "total_input_tokens": load.inputs, "total_output_tokens": load.outputs, "request_throughput": len(load.ok) / s,
                "output_throughput": load.outputs / s, "total_token_throughput": (load.inputs + load.outputs) / s,
                "request_goodput": sum(row["ttft_ns"] <= 60e6 and (tpot_to("e2e_ns")(row) or 0) <= 12 for row in load.ok) / s,
                "latencies": [row.get("e2e_ns", 0) / 1e9 for row in load.sent],
                "queue_times": [wait(row) / 1e3 if row["ok"] else 0 for row in load.sent],
                "max_concurrent_requests": busiest_second(load.ok, "e2e_ns"),
                **of_metric(load.values(ms("ttft_ns")), "ttft", [99]), **of_metric(load.values(tpot_to("e2e_ns")), "tpot", [99]),
                **of_metric([gap / 1e6 for gap in load.gaps()], "itl", [99]), **of_metric(load.values(ms("e2e_ns")), "e2el", [99])}
    if "slots" in load.stage:
        expected.update(of_metric(load.values(wait), "client_queue_time", [99]))
    if detailed:
        expected.update(details(load), start_times=[row["start_ns"] / 1e9 for row in load.sent], max_output_tokens_per_s=peak_events(load))
    return expected


def details(load):
    return {"input_lens": [row["input_tokens"] for row in load.sent], "output_lens": [row.get("output_tokens", 0) for row in load.sent],
            "ttfts": [row.get("ttft_ns", 0) / 1e9 for row in load.sent],
            "itls": [[gap / 1e9 for gap in gaps_of(row)] for row in load.sent],
            "generated_texts": [row.get("text", "") for row in load.sent],
            "errors": [row["error"].get("text", row["error"]["kind"]) if "error" in row else "" for row in load.sent]}


def sglang(load, detailed):
    s = load.seconds
    latencies = load.values(ms("stream_ns"))
    cached = sum(row["cached_tokens"] for row in load.ok)
    expected = {"tag": load.stage["name"], "backend": "sglang-oai-chat", "dataset_name": "sharegpt",
                "max_concurrency": load.stage.get("slots"), "duration": s, "completed": len(load.ok),
                "total_input_tokens": load.inputs, "total_output_tokens": load.outputs,
                "total_output_tokens_retokenized": sum(row["output_tokens_tokenizer"] for row in load.ok),
                "request_throughput": len(load.ok) / s, "input_throughput": load.inputs / s, "output_throughput": load.outputs / s,
                "total_throughput": (load.inputs + load.outputs) / s, "concurrency": sum(latencies) / 1e3 / s,
                "max_concurrent_requests": busiest_second(load.ok, "stream_ns"),
                "cache_report": {"total_prompt_tokens": load.inputs, "total_cached_tokens": cached,
                                 "cache_hit_rate_pct": round(100 * cached / load.inputs, 2)}}
    for name, values in [("e2e_latency", latencies), ("ttft", load.values(ms("ttft_ns"))), ("tpot", load.values(tpot_to("stream_ns"))),
                         ("itl", [gap / 1e6 for gap in load.gaps()])]:
        expected.update(of_metric(values, name, [90, 95, 99]))
    if "rate" in load.stage:
        expected["request_rate"] = load.stage["rate"]
    if detailed:
        expected.update(details(load), max_output_tokens_per_s=peak_events(load),
                        cached_tokens=[row.get("cached_tokens", 0) for row in load.sent])
    return expected


PERCENTILES = [1, 5, 10, 25, 50, 75, 90, 95, 99]


def distribution(values, unit, sums=False):
    """avg, min, … as AIPerf and genai-perf have it."""
    found = {"unit": unit, "avg": mean(values), "min": min(values), "max": max(values), "std": std(values),
             **{f"p{p}": percentile(values, p) for p in PERCENTILES}}
    if sums:
        found.update(count=len(values), sum=sum(values))
    return found


def content_seconds(load):
    return (max(row["start_ns"] + row["e2e_ns"] for row in load.ok) - min(row["start_ns"] for row in load.ok)) / 1e9


def good_with_values(load, itl):
    """One token has no time between tokens, and is not good then."""
    return sum(row["ttft_ns"] <= 60e6 and itl(row) is not None and itl(row) <= 12 for row in load.ok)


def tokens(name):
    return lambda row: row.get(name)


def answer_tokens(row):
    return row["output_tokens"] - row.get("reasoning_tokens", 0)


def aiperf_metrics(load):
    """Figures of requests, then of the run: unit and values, or value."""
    tpot, user = tpot_to("e2e_ns"), "tokens/sec/user"
    s = content_seconds(load)
    return {
        "e2e_output_token_throughput": (user, lambda row: row["output_tokens"] / (row["e2e_ns"] / 1e9)),
        "input_sequence_length": ("tokens", tokens("input_tokens")), "inter_token_latency": ("ms", tpot),
        "output_sequence_length": ("tokens", tokens("output_tokens")), "output_token_count": ("tokens", answer_tokens),
        "output_token_throughput_per_user": (user, lambda row: 1e3 / tpot(row) if tpot(row) else None),
        "prefill_throughput_per_user": (user, lambda row: row["input_tokens"] / (row["ttft_ns"] / 1e9)),
        "reasoning_token_count": ("tokens", tokens("reasoning_tokens")), "request_latency": ("ms", ms("e2e_ns")),
        "time_to_first_output_token": ("ms", ms("ttfa_ns")), "time_to_first_token": ("ms", ms("ttft_ns")),
        "time_to_second_token": ("ms", ms("ttst_ns")), "usage_prompt_cache_read_tokens": ("tokens", tokens("cached_tokens")),
    }, {
        "benchmark_duration": ("sec", s), "error_request_count": ("requests", len(load.failed)),
        "good_request_count": ("requests", good_with_values(load, tpot)), "goodput": ("requests/sec", good_with_values(load, tpot) / s),
        "output_token_throughput": ("tokens/sec", load.outputs / s), "request_count": ("requests", len(load.ok)),
        "request_error_rate": ("%", 100 * len(load.failed) / len(load.sent)), "request_throughput": ("requests/sec", len(load.ok) / s),
        "total_error_isl": ("tokens", sum(row["input_tokens"] for row in load.failed)), "total_isl": ("tokens", load.inputs),
        "total_osl": ("tokens", load.outputs), "total_output_tokens": ("tokens", sum(map(answer_tokens, load.ok))),
        "total_reasoning_tokens": ("tokens", sum(row.get("reasoning_tokens", 0) for row in load.ok)),
        "total_token_throughput": ("tokens/sec", (load.inputs + load.outputs) / s),
    }


def aiperf(stages, load):
    each, one = aiperf_metrics(load)
    expected = {tag: distribution(load.values(function), unit, True) for tag, (unit, function) in each.items()}
    expected["error_isl"] = distribution([row["input_tokens"] for row in load.failed], "tokens", True)
    expected["inter_chunk_latency"] = distribution([gap / 1e6 for gap in load.gaps()], "ms", True)
    expected.update({tag: {"unit": unit, "avg": value} for tag, (unit, value) in one.items()})
    expected["run_info"] = {"random_seed": 1}
    expected["schema_version"] = "1.4"
    return expected


def aiperf_lines(stages, load):
    each, _ = aiperf_metrics(load)
    lines = []
    for row in load.sent:
        metrics = {tag: {"unit": unit, "value": function(row)} for tag, (unit, function) in each.items()
                   if row["ok"] and function(row) is not None}
        if not row["ok"]:
            metrics["error_isl"] = {"unit": "tokens", "value": row["input_tokens"]}
        elif gaps_of(row):
            metrics["inter_chunk_latency"] = {"unit": "ms", "value": [gap / 1e6 for gap in gaps_of(row)]}
        error = row.get("error")
        lines.append({"metadata": {"session_num": row["n"], "x_request_id": row["id"], "conversation_id": row["session"],
                                   "turn_index": row["turn"], "request_start_ns": load.t0 + row["start_ns"],
                                   "request_end_ns": load.t0 + row["end_ns"], "benchmark_phase": "profiling", "was_cancelled": False},
                      "metrics": metrics,
                      "error": error and {"type": error["kind"], "message": error.get("text", error["kind"])}})
    return lines


def csv_tables(text):
    """[{row: {column: value}}] of each table; numbers as they are written, with commas removed."""
    tables, head = [], None
    for row in csv.reader(io.StringIO(text, newline="")):
        if not row:
            head = None
        elif head is None:
            head = row
            tables.append({})
        else:
            tables[-1][row[0]] = {name: float(value.replace(",", "")) for name, value in zip(head[1:], row[1:]) if value not in ("", "N/A")}
    return tables


def rounded(table):
    return {name: {column: float(f"{value:.2f}") for column, value in row.items() if column != "unit"} for name, row in table.items()}


def titled(tag, unit, plain):
    small = {"To": "to", "Isl": "Input Sequence Length", "Osl": "Output Sequence Length", "E2E": "E2E", "E2e": "E2E"}
    title = " ".join(small.get(word, word) for word in tag.replace("_", " ").title().split())
    return title if unit in plain else f"{title} ({unit})"


def aiperf_csv(stages, load):
    each, one = aiperf_metrics(load)
    first = {titled(tag, unit, ["requests"]): distribution(load.values(function), unit, True) for tag, (unit, function) in each.items()}
    for row in first.values():
        del row["count"]
    second = {titled(tag, unit, ["requests"]): {"Value": value} for tag, (unit, value) in one.items()}
    return [rounded(first), rounded(second)]


def genai_perf_metrics(load):
    def itl(row):
        return round((row["e2e_ns"] - row["ttft_ns"]) / (row["output_tokens"] - 1)) / 1e6 if row["output_tokens"] > 1 and row["events"] > 1 else None
    s = content_seconds(load)
    return {
        "time_to_first_token": ("ms", ms("ttft_ns")), "time_to_second_token": ("ms", ms("ttst_ns")), "request_latency": ("ms", ms("e2e_ns")),
        "inter_token_latency": ("ms", itl),
        "output_token_throughput_per_user": ("tokens/sec/user", lambda row: 1e3 / itl(row) if itl(row) else None),
        "output_sequence_length": ("tokens", tokens("output_tokens")), "input_sequence_length": ("tokens", tokens("input_tokens")),
    }, {"output_token_throughput": ("tokens/sec", load.outputs / s), "request_throughput": ("requests/sec", len(load.ok) / s),
        "request_goodput": ("requests/sec", good_with_values(load, itl) / s), "request_count": ("count", len(load.ok))}


def genai_perf(stages, load):
    each, one = genai_perf_metrics(load)
    return {**{tag: distribution(load.values(function), unit) for tag, (unit, function) in each.items()},
            **{tag: {"unit": unit, "avg": value} for tag, (unit, value) in one.items()}}


def genai_perf_csv(stages, load):
    each, one = genai_perf_metrics(load)
    first = {f"{tag.replace('_', ' ').title()} ({unit})": distribution(load.values(function), unit) for tag, (unit, function) in each.items()}
    for row in first.values():
        del row["std"]
    second = {f"{tag.replace('_', ' ').title()} ({unit.replace('requests/sec', 'per sec')})": {"Value": value}
              for tag, (unit, value) in one.items()}
    return [rounded(first), rounded(second)]


def seconds(name):
    return lambda row: row[name] / 1e9 if name in row else None


def summary(values):
    """inference-perf's."""
    if not values:
        return None
    return {"mean": mean(values), "min": min(values), "max": max(values), "median": percentile(values, 50),
            **{f"p{p:g}": percentile(values, p) for p in (0.1, 1, 5, 10, 25, 75, 90, 95, 99, 99.9)}}


def prompt_tokens(rows):
    values, cached = [row["input_tokens"] for row in rows], sum(row.get("cached_tokens", 0) for row in rows)
    return {"total": sum(values), "cached": cached, "uncached": sum(values) - cached, **summary(values)}


def inference_perf(stages, load):
    def streamed(function):
        return lambda row: function(row) if row.get("events", 0) > 1 else None

    def good(row):
        return row["events"] > 1 and row["ttft_ns"] <= 60e6 and tpot_to("e2e_ns")(row) <= 12
    s, outputs = load.seconds, [row["output_tokens"] for row in load.ok]
    good_rows = [row for row in load.ok if good(row)]
    labels = {"429 - Rate Limit": lambda row: row["error"].get("status") == 429, "Timeout": lambda row: row["error"]["kind"] == "timeout",
              "in-band": lambda row: row["error"]["kind"] == "in-band"}
    return {
        "benchmark_time_seconds": s,
        "load_summary": {"count": len(load.sent), "schedule_delay": summary(load.values(seconds("lag_ns"), load.sent))},
        "successes": {
            "count": len(load.ok),
            "latency": {"request_latency": summary(load.values(seconds("stream_ns"))),
                        "normalized_time_per_output_token": summary([row["stream_ns"] / 1e9 / row["output_tokens"] for row in load.ok]),
                        "time_per_output_token": summary([value / 1e3 for value in load.values(streamed(tpot_to("e2e_ns")))]),
                        "time_to_first_token": summary(load.values(streamed(seconds("ttft_ns")))),
                        "inter_token_latency": summary([gap / 1e9 for gap in load.gaps()])},
            "throughput": {"input_tokens_per_sec": load.inputs / s, "output_tokens_per_sec": load.outputs / s,
                           "total_tokens_per_sec": (load.inputs + load.outputs) / s, "requests_per_sec": len(load.ok) / s},
            "prompt_tokens": prompt_tokens(load.ok), "output_len": summary([row["output_tokens_tokenizer"] for row in load.ok]),
            "output_tokens": {"total": sum(outputs), **summary(outputs)},
            "goodput_metrics": {"goodput_percentage": 100 * len(good_rows) / len(load.ok), "request_goodput": len(good_rows) / s,
                                "token_goodput": sum(row["input_tokens"] + row["output_tokens"] for row in good_rows) / s,
                                "good_requests": len(good_rows), "total_requests": len(load.ok)}},
        "failures": {"count": len(load.failed), "request_latency": summary([(row["end_ns"] - row["start_ns"]) / 1e9 for row in load.failed]),
                     "prompt_tokens": prompt_tokens(load.failed),
                     "by_label": {label: {"count": sum(map(is_it, load.failed))} for label, is_it in labels.items()}},
    }


def inference_perf_requests(stages, load):
    return [{"start_time": row["start_ns"] / 1e9, "end_time": row["end_ns"] / 1e9,
             "info": {"request_metrics": {"text": {"input_tokens": row["input_tokens"]}},
                      **({"response_metrics": {"output_tokens": row["output_tokens"], "chunk_times": [t / 1e9 for t in row["event_ns"]]}}
                         if row["ok"] else {})},
             "error": {"error_type": row["error"]["kind"]} if "error" in row else None} for row in load.sent]


def lpg(stages, load):
    def moments(values, name=None):
        found = {"avg" if name else "mean": mean(values), "median": percentile(values, 50), "sd": std(values), "min": min(values),
                 "max": max(values), "p90": percentile(values, 90), "p99": percentile(values, 99)}
        return {f"{key}_{name}" if name else key: value for key, value in found.items()}
    s = load.seconds
    values = {"per_token_latency_ms": [row["stream_ns"] / 1e6 / (row["input_tokens"] + row["output_tokens"]) for row in load.ok],
              "TTFT_ms": load.values(ms("ttft_ns")), "ITL_ms": [gap / 1e6 for gap in load.gaps()], "latency_ms": load.values(ms("stream_ns")),
              "normalized_time_per_output_token_ms": [row["stream_ns"] / 1e6 / row["output_tokens"] for row in load.ok],
              "input_len": load.values(tokens("input_tokens")), "output_len": load.values(tokens("output_tokens"))}
    metrics = {"num_prompts_attempted": len(load.sent), "num_prompts_succeeded": len(load.ok), "benchmark_time": s,
               "queries_per_second": len(load.sent) / ((max(row["start_ns"] for row in load.sent) - load.begin) / 1e9),
               "throughput_rps": len(load.sent) / s, "throughput": load.outputs / s, "total_output_token": load.outputs,
               "total_input_tokens": load.inputs, "input_tokens_per_sec": load.inputs / s, "total_tokens": load.inputs + load.outputs,
               "tokens_per_sec": (load.inputs + load.outputs) / s, "ClientConnectorError": 0,
               "TimeoutError": sum(row["error"]["kind"] == "timeout" for row in load.failed),
               "unknown_error": sum(row["error"]["kind"] != "timeout" for row in load.failed)}
    for name, list_ in values.items():
        metrics.update(moments(list_, name))
    begin = load.t0 + load.begin
    return {"metrics": metrics, "dimensions": {"date": "20261120-062910", "backend": "openai-chat", "model_id": HOSTILE},
            "config": {"model": HOSTILE, "num_models": 1, "start_time": {"seconds": begin // 10 ** 9, "nanos": begin % 10 ** 9}},
            "summary_stats": {"stats": [{"request_latency": moments(values["latency_ms"]), "throughput": {"mean": load.outputs / s},
                                         "input_length": moments(values["input_len"]), "output_length": moments(values["output_len"]),
                                         "tpot": moments(values["normalized_time_per_output_token_ms"])}]}}


def inference_benchmarker(stages, load):
    def whole(value):
        return math.floor(value * 1e3 + 1e-7) / 1e3

    def quantiles(values):
        return {**{f"p{p}": whole(percentile(values, p)) for p in (50, 60, 70, 80, 90, 95, 99)}, "avg": whole(mean(values))}

    def itl(row):
        return 0 if row["events"] == 1 else tpot_to("e2e_ns")(row)
    results = []
    for one in stages:
        s, rate = one.seconds, one.stage.get("rate")
        results.append({
            "id": f"constant@{rate:.2f}req/s" if rate else "throughput", "executor_type": "ConstantArrivalRate" if rate else "ConstantVUs",
            "config": {"duration_secs": 10, "rate": rate, **({"max_vus": 6} if not rate else {})}, "total_requests": len(one.sent),
            "total_tokens": one.outputs, "token_throughput_secs": one.outputs / s, "duration_ms": int(s * 1e3),
            "time_to_first_token_ms": quantiles(one.values(ms("ttft_ns"))), "inter_token_latency_ms": quantiles(one.values(itl)),
            "failed_requests": len(one.failed), "successful_requests": len(one.ok), "request_rate": len(one.ok) / s,
            "total_tokens_sent": one.inputs, "e2e_latency_ms": quantiles(one.values(ms("stream_ns")))})
    return {"config": {"benchmark_kind": "Sweep", "rates": [4.25], "model_name": HOSTILE}, "results": results,
            "start_time": "2026-11-20T06:29:10.278Z", "system": {"hostname": "=host,\"1\""}}


def genai_bench(stages, load):
    def latency(row):
        return (row["stream_ns"] - row["ttft_ns"]) / 1e9

    def tpot(row):
        return latency(row) / (row["output_tokens"] - 1) if row["output_tokens"] > 1 and latency(row) >= 0.001 else None
    figures = {"ttft": seconds("ttft_ns"), "tpot": tpot, "e2e_latency": seconds("stream_ns"), "output_latency": latency,
               "output_inference_speed": lambda row: 1 / tpot(row) if tpot(row) else None,
               "num_input_tokens": tokens("input_tokens"), "num_output_tokens": tokens("output_tokens"),
               "num_reasoning_tokens": lambda row: row.get("reasoning_tokens", 0),
               "total_tokens": lambda row: row["input_tokens"] + row["output_tokens"],
               "input_throughput": lambda row: row["input_tokens"] / (row["ttft_ns"] / 1e9),
               "output_throughput": lambda row: (row["output_tokens"] - 1) / latency(row) if row["output_tokens"] > 1 else None}
    codes = {"http-status": 429, "timeout": 408, "in-band": 500}
    s, stats, frequency = load.seconds, {}, {}
    for name, function in figures.items():
        values = load.values(function)
        stats[name] = {"min": min(values), "max": max(values), "mean": mean(values), "stddev": std(values), "sum": sum(values),
                       **{f"p{p}": percentile(values, p) for p in (25, 50, 75, 90, 95, 99)}}
    for row in load.failed:
        code = codes[row["error"]["kind"]]
        frequency[str(code)] = frequency.get(str(code), 0) + 1
    return {"aggregated_metrics": {
        "scenario": "sharegpt", "iteration_type": "num_concurrency", "num_concurrency": peak(load.ok, "stream_ns"), "run_duration": s,
        "mean_output_throughput_tokens_per_s": load.outputs / s, "mean_input_throughput_tokens_per_s": load.inputs / s,
        "mean_total_tokens_throughput_tokens_per_s": (load.inputs + load.outputs) / s, "requests_per_second": len(load.ok) / s,
        "error_codes_frequency": frequency, "error_rate": len(load.failed) / len(load.sent), "num_error_requests": len(load.failed),
        "num_completed_requests": len(load.ok), "num_requests": len(load.sent), "stats": stats},
        "individual_request_metrics": [
            {**{name: function(row) if row["ok"] else None for name, function in figures.items()},
             "error_code": None if row["ok"] else codes[row["error"]["kind"]],
             "error_message": None if row["ok"] else row["error"].get("text", row["error"]["kind"])} for row in load.sent]}


def benchmark_report(version):
    def statistics(units, values):
        return {"units": units, "mean": mean(values), "stddev": std(values), "min": min(values), "max": max(values),
                **{f"p{p:g}".replace(".", "p"): percentile(values, p) for p in (0.1, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9)}}

    def expect(stages, load):
        s = load.seconds
        return {"version": version, "scenario": {"load": {"standardized": {"tool": "ipf", "source": "sampled"}}},
                "results": {"request_performance": {"aggregate": {
                    "requests": {"total": len(load.sent), "failures": len(load.failed),
                                 "input_length": statistics("count", load.values(tokens("input_tokens"))),
                                 "output_length": statistics("count", load.values(tokens("output_tokens")))},
                    "latency": {"time_to_first_token": statistics("s", load.values(seconds("ttft_ns"))),
                                "normalized_time_per_output_token":
                                    statistics("s/token", [row["e2e_ns"] / 1e9 / row["output_tokens"] for row in load.ok]),
                                "time_per_output_token": statistics("s/token", [v / 1e3 for v in load.values(tpot_to("e2e_ns"))]),
                                "inter_token_latency": statistics("s/token", [gap / 1e9 for gap in load.gaps()]),
                                "request_latency": statistics("s", load.values(seconds("e2e_ns")))},
                    "throughput": {"input_token_rate": {"units": "tokens/s", "mean": load.inputs / s},
                                   "output_token_rate": {"units": "tokens/s", "mean": load.outputs / s},
                                   "total_token_rate": {"units": "tokens/s", "mean": (load.inputs + load.outputs) / s},
                                   "request_rate": {"units": "queries/s", "mean": len(load.ok) / s}}}}}}
    return expect


def inferencex(stages, load):
    expected = {"model": HOSTILE, "isl": 1000}
    lists = {"ttft": load.values(seconds("ttft_ns")), "tpot": [v / 1e3 for v in load.values(tpot_to("e2e_ns"))],
             "itl": [gap / 1e9 for gap in load.gaps()], "e2el": load.values(seconds("e2e_ns"))}
    for name, values in lists.items():
        expected.update(of_metric(values, name, [90, 99, 99.9], ""))
    expected.update({name.replace("tpot", "intvty"): 1 / value for name, value in expected.items() if name.endswith("_tpot")})
    return expected


def weighted(pairs, count=None):
    """GuideLLM's summary of values with weights: a percentile is the first value that reaches it."""
    pairs = sorted((value, weight) for value, weight in pairs if weight > 0)
    total, below, joined = sum(weight for _, weight in pairs), 0, {}
    count = round(total) if count is None else count
    shares = {"p001": 0.001, "p01": 0.01, "p05": 0.05, "p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95,
              "p99": 0.99, "p999": 0.999}
    found = dict.fromkeys(shares, 0)
    if not pairs:
        return {"mean": 0, "count": count, "percentiles": found}
    for value, weight in pairs:
        joined[value] = joined.get(value, 0) + weight
    joined = {value: weight / total for value, weight in joined.items()}
    for value, share in joined.items():
        for name, at in shares.items():
            if below < at:
                found[name] = value
        below += share
    middle = math.fsum(value * share for value, share in joined.items())
    variance = math.fsum((value - middle) ** 2 * share for value, share in joined.items())
    return {"mean": middle, "median": found["p50"], "variance": variance, "std_dev": math.sqrt(variance), "min": pairs[0][0],
            "max": pairs[-1][0], "count": count, "total_sum": middle * count, "percentiles": found}


def moments(changes):
    """Those within 0.1 ms of the first of them are one: [seconds, amount]."""
    found = []
    for ns, amount in sorted(changes, key=lambda change: change[0]):
        if found and ns <= found[-1][0] + 1e5:
            found[-1][1] += amount
        else:
            found.append([ns, amount])
    return [(ns / 1e9, amount) for ns, amount in found]


def rates(changes):
    at = moments(changes)
    borders = [at[0][0]] + [(a + b) / 2 for (a, _), (b, _) in zip(at, at[1:])] + [max(at[-1][0], (at[-1][0] + at[-2][0]) / 2 + 1e-6)]
    lengths = [b - a for a, b in zip(borders, borders[1:])]
    if len(at) == 2:
        return {"max": max(amount / length for (_, amount), length in zip(at, lengths))}  # equal weights: rounding decides the median
    return weighted([(amount / length, length) for (_, amount), length in zip(at, lengths)], round(sum(amount for _, amount in changes)))


def levels(intervals):
    at, level, found = moments([(a, amount) for a, _, amount in intervals] + [(b, -amount) for _, b, amount in intervals]), 0, []
    for (begin, amount), (end, _) in zip(at, at[1:]):
        level += amount
        found.append((level, end - begin))
    return weighted(found, len(intervals))


def output_pulses(row):
    """Evenly from the first event to the last; the first one is a token."""
    if "ttft_ns" not in row:
        return [(row["end_ns"], 0)]
    first, last, events, count = row["start_ns"] + row["ttft_ns"], row["start_ns"] + row["e2e_ns"], row["events"], row["output_tokens"]
    if events == 1:
        return [(last, count)]
    return [(first, 1)] + [(first + (last - first) * i / (events - 1), (count - 1) / (events - 1)) for i in range(1, events)]


def guidellm_metrics(load, rows):
    """Covers successes, or failures, whose tokens are not known: missing values of these are empty."""
    good = [row for row in rows if row["ok"]]
    edges = [(load.begin, 0), (load.end, 0)]
    each = {"request_latency": [(row["end_ns"] - row["start_ns"]) / 1e9 for row in rows],
            "prompt_token_count": [row["input_tokens"] for row in rows], "output_token_count": [row["output_tokens"] for row in good],
            "total_token_count": [row["input_tokens"] + row.get("output_tokens", 0) for row in rows],
            "time_to_first_token_ms": [row["ttft_ns"] / 1e6 for row in good],
            "time_to_first_output_token_ms": [row["ttfa_ns"] / 1e6 for row in good]}
    if not load.stage.get("closed"):
        each["request_dispatch_delay"] = [(row["start_ns"] - row["due_ns"]) / 1e9 for row in rows]
        each["request_scheduled_latency"] = [(row["end_ns"] - row["due_ns"]) / 1e9 for row in rows]
    found = {name: weighted([(value, 1) for value in values]) for name, values in each.items()}
    found["time_per_output_token_ms"] = weighted([(row["e2e_ns"] / 1e6 / row["output_tokens"], row["output_tokens"]) for row in good])
    found["inter_token_latency_ms"] = weighted([(tpot_to("e2e_ns")(row), row["output_tokens"] - 1) for row in good if row["output_tokens"] > 1])
    found["requests_per_second"] = rates(edges + [(row["end_ns"], 1) for row in rows])
    found["request_concurrency"] = levels([(row["start_ns"], row["end_ns"], 1) for row in rows])
    prompts = [(row["start_ns"] + row["ttft_ns"] if row["ok"] else row["end_ns"], row["input_tokens"]) for row in rows]
    outputs = [pulse for row in rows for pulse in output_pulses(row)]
    found.update(prompt_tokens_per_second=rates(edges + prompts), output_tokens_per_second=rates(edges + outputs),
                 tokens_per_second=rates(edges + prompts + outputs))
    iterations = [row["output_tokens"] if row["events"] == 1 else 1 for row in good]
    found["iter_tokens_per_iteration"] = weighted([(1, row["events"] - 1) for row in good])
    found["output_tokens_per_iteration"] = weighted([(value, 1) for value in iterations] + [(1, row["events"] - 1) for row in good])
    return found


def guidellm_text(rows):
    good = [row for row in rows if row["ok"]]
    ends = {"input": [(row["end_ns"], row["input_tokens"]) for row in rows],
            "output": [(row["end_ns"], row.get("output_tokens", 0)) for row in rows]}
    values = {"input": [row["input_tokens"] for row in rows], "output": [row["output_tokens"] for row in good]}
    spans = {name: [(row["start_ns"], end, amount) for row, (end, amount) in zip(rows, list_)] for name, list_ in ends.items()}
    for lists in ends, values, spans:
        lists["total"] = lists["input"] + lists["output"]
    return {**{name: weighted([(value, 1) for value in values[name]]) for name in values},
            **{f"{name}_per_second": rates(ends[name]) for name in ends}, **{f"{name}_concurrency": levels(spans[name]) for name in spans}}


def guidellm(stages, total):
    """Objectives count for those with a value; failures do not meet them."""
    benchmarks = []
    for index, load in enumerate(stages):
        parts = {"successful": load.ok, "errored": load.failed, "total": load.sent}
        metrics, text = {}, {}
        for part, rows in parts.items():
            for name, value in guidellm_metrics(load, rows).items():
                metrics.setdefault(name, {})[part] = value
            for name, value in guidellm_text(rows).items():
                text.setdefault(name, {})[part] = value
        judged = [row for row in load.ok if row["output_tokens"] > 1]
        good = [row for row in judged if row["ttft_ns"] <= 60e6 and tpot_to("e2e_ns")(row) <= 12]
        metrics["request_goodput"] = {"successful": rates([(load.begin, 0), (load.end, 0)] + [(row["end_ns"], 1) for row in good])}
        metrics.update(slo_attainment=len(good) / (len(judged) + len(load.failed)), slo_determined_requests=len(judged) + len(load.failed),
                       text={"tokens": text}, request_totals={"successful": len(load.ok), "incomplete": 0, "errored": len(load.failed),
                                                              "total": len(load.sent)})
        requests = [{"request_id": row["id"], "request_latency": (row["end_ns"] - row["start_ns"]) / 1e9, "prompt_tokens": row["input_tokens"],
                     "time_to_first_token_ms": row["ttft_ns"] / 1e6, "time_per_output_token_ms": row["e2e_ns"] / 1e6 / row["output_tokens"],
                     "info": {"conversation_id": row["session"], "turn_index": row["turn"], "status": "completed",
                              "timings": {"request_start": (load.t0 + row["start_ns"]) / 1e9, "resolve_end": (load.t0 + row["end_ns"]) / 1e9}}}
                    for row in load.ok]
        closed = load.stage.get("closed")
        benchmarks.append({
            "config": {"run_index": index, "strategy": {"type_": "concurrent", "streams": 6} if closed else {"type_": "poisson", "rate": 4.25},
                       "slo": {"ttft_ms": 60, "tpot_ms": 12}},
            "scheduler_metrics": {"measure_start_time": (load.t0 + load.begin) / 1e9, "queued_time_avg": -1,
                                  "request_targeted_start_delay_avg": -1 if closed else 0.00025},
            "metrics": metrics, "duration": load.seconds,
            "requests": {"successful": requests, "errored": [{"info": {"error": row["error"].get("text", row["error"]["kind"])}} for row in load.failed]}})
    return {"config": {"metadata": {"labels": {}}, "spec": {"profile": {"kind": "replay"}, "backend": {"model": HOSTILE}}}, "benchmarks": benchmarks}


def loadgen_lines(text):
    """{label: value}: numbers as such; values after a result of early stopping, line by line."""
    found, last = {}, None
    for line in text.splitlines():
        label, colon, value = line.partition(":")
        label, value = label.strip(), value.strip()
        if line.startswith(" ") and not line.startswith("  ") and last is not None:
            found[last] += line.strip() + "\n"
        elif colon:
            last = label if not value else None
            assert found.get(label, "") in ("", value), f"{label}: twice"
            found[label] = value
        elif "encountered" in line:
            found[" ".join(line.split()[1:])] = line.split()[0]
    return {label: float(value) if value.replace(".", "", 1).isdigit() else value for label, value in found.items()}


def chance_of_most(n, above, p):
    """P[Binomial(n, 1 - p) <= above]"""
    return math.fsum(math.comb(n, k) * (1 - p) ** k * p ** (n - k) for k in range(above + 1))


def early_stopping(values, load, limit):
    above, n = sum(value > limit for value in values) + len(load.failed), len(load.sent)
    needed = n
    while chance_of_most(needed, above, 0.99) >= 0.01:
        needed += 1
    return "* Run successful.\n" if needed == n else \
        f"* Run unsuccessful.\n* Processed {n} queries.\n* Would need to run at least {needed - n} more queries,\n" \
        "with the run being successful if every additional\nquery were under latency.\n"


def mlperf(stages, load):
    """LoadGen's summary; a scheduled query waits from then on, and no percentile is interpolated."""
    def waited(row):
        return row["start_ns"] - row.get("due_ns", row["start_ns"])
    first = min(row["start_ns"] - waited(row) for row in load.sent)
    last = load.sent[-1]
    done, scheduled = (last["end_ns"] - first) / 1e9, (last["start_ns"] - waited(last) - first) / 1e9
    lists = {"latency": sorted(row["stream_ns"] + waited(row) for row in load.ok),
             "First Token latency": sorted(row["ttft_ns"] + waited(row) for row in load.ok),
             "Time per Output Token": sorted((row["stream_ns"] - row["ttft_ns"]) // (row["output_tokens"] - 1)
                                             for row in load.ok if row["output_tokens"] > 1)}
    expected = {"SUT name": HOSTILE.replace("\n", "\\n").replace("\t", "\\t").replace("\u001b", "\\x1b").replace("\u202e", "\\u202e"),
                "Scenario": "Server", "Mode": "PerformanceOnly", "Result is": "INVALID", "Performance constraints satisfied": "NO",
                "Min duration satisfied": "NO", "Min queries satisfied": "NO", "Early stopping satisfied": "NO",
                "Completed samples per second": rounded_2((len(load.ok) - 1) / done), "Completed tokens per second": rounded_2(load.outputs / done),
                "Scheduled samples per second": rounded_2((len(load.ok) - 1) / scheduled),
                "TTFT Early Stopping Result": early_stopping(lists["First Token latency"], load, 60e6),
                "TPOT Early Stopping Result": early_stopping(lists["Time per Output Token"], load, 12e6),
                "ttft_latency (ns)": 60e6, "tpot_latency (ns)": 12e6, "min_duration (ms)": 600000,
                "ERRORS encountered. See detailed log.": len(load.failed)}
    for name, values in lists.items():
        expected.update({f"Min {name} (ns)": values[0], f"Max {name} (ns)": values[-1], f"Mean {name} (ns)": sum(values) // len(values)})
        label = name.lower().replace("per output", "to output")
        expected.update({f"{p:.2f} percentile {label} (ns)": values[int(len(values) * (p / 100))] for p in (50, 90, 95, 97, 99, 99.9)})
    return expected


def rounded_2(value):
    return float(f"{value:.2f}")


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def each_stage(expect, *more):
    return lambda stages, total: [expect(load, *more) for load in stages]


# Name: how it is read, the right value, and the members coming from the histogram of gaps.
FORMATS = {
    "vllm": (json_lines, each_stage(vllm, False), ["itl_ms"]),
    "vllm-detailed": (json_lines, each_stage(vllm, True), ["itl_ms"]),
    "sglang": (json_lines, each_stage(sglang, False), ["itl_ms"]),
    "sglang-detailed": (json_lines, each_stage(sglang, True), ["itl_ms"]),
    "aiperf": (json.loads, aiperf, ["inter_chunk_latency"]),
    "aiperf-jsonl": (json_lines, aiperf_lines, []),
    "aiperf-csv": (csv_tables, aiperf_csv, []),
    "genai-perf": (json.loads, genai_perf, []),
    "inference-perf": (json.loads, inference_perf, ["inter_token_latency"]),
    "inference-perf-requests": (json.loads, inference_perf_requests, []),
    "lpg": (json.loads, lpg, ["_ITL_ms"]),
    "inference-benchmarker": (json.loads, inference_benchmarker, []),
    "genai-bench": (json.loads, genai_bench, []),
    "benchmark-report": (json.loads, benchmark_report("0.2.1"), ["inter_token_latency"]),
    "benchmark-report-0.2": (json.loads, benchmark_report("0.2"), ["inter_token_latency"]),
    "inferencex": (json.loads, inferencex, ["_itl"]),
    "guidellm": (json.loads, guidellm, ["_per_second", "_concurrency", "request_goodput", "_time", "timings", ".duration"]),
    "mlperf": (loadgen_lines, mlperf, []),
    "genai-perf-csv": (csv_tables, genai_perf_csv, []),
}


def check(name, forms, results, path):
    read, expect, loose = FORMATS[name]
    with open(path, newline="") as text:
        document = read(text.read())
    with open(f"{forms}/{name.removesuffix('-detailed').removesuffix('-0.2')}.json") as form:
        form = json.load(form)
    global ROOT
    ROOT = form
    wrong = []
    check_form(document, "$document", name, wrong)
    tokenizes = name.startswith(("aiperf", "genai-perf", "inference-perf", "lpg"))
    compare(document, expect(*loads_of(results, tokenizes)), loose, wrong)
    for line in wrong[:20]:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        sys.exit(check(*sys.argv[2:]))
