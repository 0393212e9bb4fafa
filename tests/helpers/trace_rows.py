#!/usr/bin/env python3
"""Traces of any size in the formats ipf-prep reads, and an independent reading of each.

    trace_rows.py make FORMAT REQUESTS SEED > FILE
    trace_rows.py read FORMAT < FILE          the figures that `ipf-prep stat -f json` has, as JSON
    trace_rows.py compare PREP FORMAT FILE    whether both are equal; CPU and memory of both
    trace_rows.py duckdb PREP FORMAT FILE     the same beside DuckDB with one thread: sums, and CPU (medians of five)

The readers follow the formats as their origins describe them, not ipf-prep.
"""
import csv
import datetime
import json
import math
import random
import resource
import subprocess
import sys
import tempfile


def mean_length(r, mean):
    return 1 + int(r.expovariate(1 / mean))


# ---- CSV and flat rows -------------------------------------------------------------------------------------------------


def make_azure(r, n):
    print("TIMESTAMP,ContextTokens,GeneratedTokens")
    at = datetime.datetime(2023, 11, 16, 18, 15, 46)
    for _ in range(n):
        at += datetime.timedelta(microseconds=r.randrange(400000))
        print(f"{at:%Y-%m-%d %H:%M:%S.%f}0,{mean_length(r, 900)},{mean_length(r, 90)}")


def read_azure(file):
    for row in csv.DictReader(file):
        at = datetime.datetime.strptime(row["TIMESTAMP"][:26], "%Y-%m-%d %H:%M:%S.%f")
        yield int(row["ContextTokens"]), int(row["GeneratedTokens"]), at.timestamp()


def make_burstgpt(r, n):
    print("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type")
    at = 5
    for _ in range(n):
        at += r.randrange(3)
        a, b = mean_length(r, 600), mean_length(r, 200)
        print(f"{at},{r.choice(['ChatGPT', 'GPT-4'])},{a},{b},{a + b},{r.choice(['Conversation log', 'API log'])}")


def read_burstgpt(file):
    for row in csv.DictReader(file):
        yield int(row["Request tokens"]), int(row["Response tokens"]), float(row["Timestamp"])


def blocks(r, length, size):
    return [r.randrange(1 << 64) if r.random() < 0.3 else r.randrange(2000) for _ in range(-(-length // size))]


def make_mooncake(r, n):
    at = 0
    for _ in range(n):
        at += r.randrange(30)
        length = mean_length(r, 6000)
        ids = blocks(r, length, 512)
        ids = ["%016x" % i for i in ids] if r.random() < 0.5 else ids
        print(json.dumps({"timestamp": at, "input_length": length, "output_length": mean_length(r, 300), "hash_ids": ids}))


def read_mooncake(file):
    for row in map(json.loads, file):
        yield row["input_length"], row["output_length"], row["timestamp"] / 1e3


def make_qwen_bailian(r, n):
    at, last = 0.0, []
    for i in range(n):
        at += r.randrange(2000) / 1e3
        length = mean_length(r, 2000)
        parent = r.choice(last) if last and r.random() < 0.3 else None
        row = {"chat_id": i, "parent_chat_id": parent[0] if parent else -1, "timestamp": round(at, 3), "input_length": length,
               "output_length": mean_length(r, 300), "type": "text", "turn": parent[1] + 1 if parent else 1, "hash_ids": blocks(r, length, 16)[:40]}
        row["input_length"] = min(length, 16 * len(row["hash_ids"]))
        last = (last if parent is None else [c for c in last if c is not parent])[-20:] + [(i, row["turn"])]
        print(json.dumps(row))


def read_qwen_bailian(file):
    for row in map(json.loads, file):
        yield row["input_length"], row["output_length"], row["timestamp"]


def make_baseten(r, n):
    at = 1790000000000
    for i in range(n):
        at += r.randrange(300)
        print(json.dumps({"timestamp_start_unix_ms": at, "input_tokens": mean_length(r, 3000), "output_tokens": mean_length(r, 400),
                          "poor_man_session_id": r.randrange(1 << 64), "model_name": "m", "duration_ttft_ms": r.randrange(900), "cached_tokens_reference": 0}))


def read_baseten(file):
    for row in map(json.loads, file):
        yield row["input_tokens"], row["output_tokens"], row["timestamp_start_unix_ms"] / 1e3


def make_jsonl(r, n):
    for _ in range(n):
        print(json.dumps({"prompt": "word" * mean_length(r, 60), "output_tokens": mean_length(r, 90)}))


def read_jsonl(file):
    for row in map(json.loads, file):
        yield len(row["prompt"]) // 4, row["output_tokens"], None


# ---- agents: several requests in a row, or rows waiting for each other -------------------------------------------------


def make_agentic_mooncake(r, n):
    made, at = 0, 0.0
    while made < n:
        at += r.randrange(4000)
        done = []
        for turn in range(min(r.randrange(1, 9), n - made)):
            length = 64 * (turn + 1)
            row = {"request_id": f"r{made}", "session_id": f"s{made - turn}", "input_length": length, "output_length": mean_length(r, 100),
                   "hash_ids": [made - turn + k for k in range(turn + 1)], "prefix_reset": turn == 0, "timestamp": at + 9000 * turn}
            if done:
                row |= {"wait_for": done, "delay": r.randrange(900), "tool_wait_ms": r.randrange(5)}
            print(json.dumps(row))
            done = [row["request_id"]]
            made += 1


def read_agentic_mooncake(file):
    for row in map(json.loads, file):
        yield row["input_length"], row["output_length"], row["timestamp"] / 1e3


def make_agentic_mooncake_2(r, n):
    print(json.dumps({"schema": "dynamo.agentic_mooncake", "version": 2, "block_size": 64, "hash_id_scope": "local",
                      "source": {"format": "weka", "digest": "d"}}))
    made = 0
    while made < n:
        first = made
        for turn in range(min(r.randrange(1, 9), n - made)):
            row = {"request_id": f"p{first}:{turn}", "play_id": f"p{first}", "session_id": "root", "model": "m", "input_length": 64 * (turn + 1),
                   "output_length": mean_length(r, 100), "hash_ids": list(range(turn + 1)), "not_before_ms": 10 * first if turn == 0 else 0,
                   "recorded_api_time_ms": r.randrange(1, 5000), "dependencies": []}
            if turn:
                row["dependencies"] = [{"request_id": f"p{first}:{turn - 1}", "relation": "sequence", "trigger": "completion",
                                        "delay_ms": r.randrange(900)}]
            print(json.dumps(row))
            made += 1


def read_agentic_mooncake_2(file):
    next(file)
    for row in map(json.loads, file):
        yield row["input_length"], row["output_length"], None


def make_weka(r, n):
    def requests(count, at, last):
        for _ in range(count):
            api, length = r.randrange(1, 5000) / 1e3, 4 * r.randrange(last, last + 5) + r.randrange(1, 5)
            last = length // 4
            yield {"t": round(at, 3), "type": "s", "model": "m", "in": length, "out": mean_length(r, 60), "hash_ids": list(range(-(-length // 4))),
                   "api_time": api, "think_time": 0.25}
            at += api + 0.25

    made = 0
    while made < n:
        count = min(r.randrange(1, 12), n - made)
        agent = r.randrange(count) if count > 3 and r.random() < 0.5 else 0
        row = list(requests(count - agent, 0.0, 2))
        if agent:
            at = row[0]["t"] + row[0]["api_time"]
            inner = list(requests(agent, round(at, 3), 2))
            took = inner[-1]["t"] + inner[-1]["api_time"] - inner[0]["t"]
            row.insert(1, {"t": inner[0]["t"], "type": "subagent", "agent_id": "a", "subagent_type": "Explore", "duration_ms": took * 1e3,
                           "status": "completed", "models": ["m"], "requests": inner})
        print(json.dumps({"id": f"c{made}", "models": ["m"], "block_size": 4, "hash_id_scope": "local", "tool_tokens": 0, "system_tokens": 0,
                          "requests": row}))
        made += count


def read_weka(file):
    def walk(entries):
        for entry in entries:
            if entry["type"] == "subagent":
                yield from walk(entry["requests"])
            else:
                yield entry["in"], entry["out"], None

    for row in map(json.loads, file):
        yield from walk(row["requests"])


def make_aiperf_dag(r, n):
    made = 0
    while made < n:
        count = min(r.randrange(1, 9), n - made)
        turns = [{"messages": [{"role": "user", "content": "word" * mean_length(r, 30)}], "max_tokens": mean_length(r, 90)} for _ in range(count)]
        print(json.dumps({"session_id": f"s{made}", "turns": turns}))
        made += count


def read_aiperf_dag(file):
    for row in map(json.loads, file):
        context = 0
        for turn in row["turns"]:
            context += len(turn["messages"][0]["content"]) // 4
            yield context, turn["max_tokens"], None


def make_scaffolding(r, n):
    made = 0
    while made < n:
        count, prompt, events = min(r.randrange(1, 9), n - made), mean_length(r, 100), []
        for _ in range(count):
            out = mean_length(r, 40)
            events.append({"event_type": "message", "branch_path": [], "conversation_id": 0, "role": "assistant", "prompt_tokens": prompt,
                           "completion_tokens": out})
            events.append({"event_type": "tool_call", "branch_path": [], "tool_name": "t", "tool_call_id": "x", "duration_ms": r.randrange(900)})
            prompt += out + r.randrange(60)
        print(json.dumps({"trace_id": f"t{made}", "events": events}))
        made += count


def read_scaffolding(file):
    for row in map(json.loads, file):
        for event in row["events"]:
            if event.get("role") == "assistant":
                yield event["prompt_tokens"], event["completion_tokens"], None


def make_rl_rollout(r, n):
    made = 0
    while made < n:
        count = min(r.randrange(1, 9), n - made)
        print(json.dumps({"group": made // 40, "stream": made, "prompt_len": 40 + made // 40 % 100, "turns": count, "reward": r.random(),
                          "out_lens": [mean_length(r, 60) for _ in range(count)], "obs_lens": [mean_length(r, 30) for _ in range(count - 1)]}))
        made += count


def read_rl_rollout(file):
    for row in map(json.loads, file):
        context = row["prompt_len"]
        for turn, out in enumerate(row["out_lens"]):
            yield context, out, None
            context += out + (row["obs_lens"][turn] if turn < len(row["obs_lens"]) else 0)


def make_openai_log(r, n):
    at = 1790000000.0
    for i in range(n):
        at += r.random()
        body = {"model": "m", "messages": [{"role": "user", "content": "word" * mean_length(r, 60)}], "max_tokens": 4000}
        response = {"choices": [{"message": {"role": "assistant", "content": "x"}}],
                    "usage": {"prompt_tokens": mean_length(r, 300), "completion_tokens": mean_length(r, 90)}}
        print(json.dumps({"timestamp": round(at, 3), "request": json.dumps(body) if i % 2 else body, "response": response, "status": 200}))


def read_openai_log(file):
    for row in map(json.loads, file):
        yield row["response"]["usage"]["prompt_tokens"], row["response"]["usage"]["completion_tokens"], row["timestamp"]


def make_otel(r, n):
    made, at = 0, datetime.datetime(2026, 3, 1)
    while made < n:
        at += datetime.timedelta(seconds=1)
        count, spans, begin = min(r.randrange(1, 9), n - made), [], at
        for turn in range(count):
            end = begin + datetime.timedelta(milliseconds=r.randrange(1, 5000))
            spans.append({"type": "llm_call", "span_id": f"s{made + turn}", "parent_span_id": None, "name": "chat m", "start_time": begin.isoformat(timespec="microseconds"),
                          "end_time": end.isoformat(timespec="microseconds"), "status": {"code": 1},
                          "attributes": {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": mean_length(r, 900),
                                         "gen_ai.usage.output_tokens": mean_length(r, 90)}})
            begin = end + datetime.timedelta(milliseconds=r.randrange(900))
        print(json.dumps({"harness": "tool_calling", "session_id": f"x{made}", "models": ["m"], "benchmark": "b", "spans": spans}))
        made += count


def read_otel(file):
    for row in map(json.loads, file):
        for span in row["spans"]:
            yield (span["attributes"]["gen_ai.usage.input_tokens"], span["attributes"]["gen_ai.usage.output_tokens"],
                   datetime.datetime.fromisoformat(span["start_time"]).timestamp())


# ---- figures -----------------------------------------------------------------------------------------------------------


def distribution(values):
    values.sort()
    n = len(values)
    ranks = {f"p{p}": values[max(math.ceil(n * p / 100), 1) - 1] for p in (50, 90, 95, 99)}
    return {"n": n, "mean": sum(values) / n, "min": values[0], "max": values[-1]} | ranks


def figures(name, file):
    inputs, outputs, times = [], [], []
    for tokens, output, at in globals()["read_" + name.replace("-", "_")](file):
        inputs.append(tokens)
        outputs.append(output)
        if at is not None:
            times.append(at)
    result = {"requests": len(inputs), "input_tokens": distribution(inputs), "output_tokens": distribution(outputs)}
    if times:
        result["span_s"] = max(times) - min(times)
    return result


def differences(ours, theirs, path=""):
    for key, value in theirs.items():
        if isinstance(value, dict):
            yield from differences(ours.get(key, {}), value, f"{path}{key}.")
        elif not isinstance(ours.get(key), (int, float)) or abs(ours[key] - value) > 1e-9 * abs(value) + 1e-6:
            yield f"{path}{key}: {ours.get(key)}, not {value}"


def compare(prep, name, path):
    source = name.removesuffix("-2")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.NamedTemporaryFile(suffix=".trace") as trace:
        subprocess.run([prep, source, path, "--prompt", "none", "-q", "-o", trace.name], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        ours = json.loads(subprocess.run([prep, "stat", "-f", "json", trace.name], check=True, capture_output=True).stdout)
    ours["span_s"] = ours.get("arrivals", {}).get("span_s")
    with open(path, encoding="utf-8", newline="") as file:
        theirs = figures(name, file)
    own = resource.getrusage(resource.RUSAGE_SELF)
    wrong = list(differences(ours, theirs))
    print(f"{name}: {theirs['requests']} requests, {'equal' if not wrong else 'different: ' + '; '.join(wrong)}; CPU "
          f"{used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime:.1f} s, Python {own.ru_utime:.1f} s; "
          f"{used.ru_maxrss / 1024:.0f} MB")
    return 1 if wrong else 0


def duckdb(prep, name, path):
    import duckdb as database

    table, columns = {"burstgpt": (f"read_csv('{path}', header=true)", ("Request tokens", "Response tokens")),
                      "mooncake": (f"read_json('{path}', format='newline_delimited')", ("input_length", "output_length"))}[name]
    ours, theirs, sums = [], [], None
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_SELF)
        connection = database.connect(config={"threads": 1})
        with tempfile.NamedTemporaryFile(suffix=".json") as copied:  # the same work: all columns, to lines of JSON
            connection.execute(f"copy (select * from {table}) to '{copied.name}' (format json)")
        after = resource.getrusage(resource.RUSAGE_SELF)
        sums = connection.execute(f'select count(*), sum("{columns[0]}"), sum("{columns[1]}") from {table}').fetchone()
        connection.close()
        theirs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.NamedTemporaryFile(suffix=".trace") as trace:
            subprocess.run([prep, name, path, "--prompt", "none", "-q", "-o", trace.name], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            stat = json.loads(subprocess.run([prep, "stat", "-f", "json", trace.name], check=True, capture_output=True).stdout)
        ours.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    told = tuple(round(stat[key]["mean"] * stat["requests"]) for key in ("input_tokens", "output_tokens"))
    ours, theirs = sorted(ours)[2], sorted(theirs)[2]
    print(f"{name}: {sums} {'equal' if sums[1:] == told else told}; CPU {ours:.2f} s to a trace, DuckDB {theirs:.2f} s to lines of JSON, "
          f"DuckDB / ours {theirs / ours:.2f}")
    return 0 if sums[1:] == told else 1


def main():
    command, rest = sys.argv[1], sys.argv[2:]
    if command == "make":
        globals()["make_" + rest[0].replace("-", "_")](random.Random(int(rest[2])), int(rest[1]))
    elif command == "read":
        print(json.dumps(figures(rest[0], sys.stdin)))
    else:
        sys.exit({"compare": compare, "duckdb": duckdb}[command](*rest))


if __name__ == "__main__":
    main()
