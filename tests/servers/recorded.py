"""Requests for a recorded run, and the differences of a proxy's recording from that run.

    recorded.py make >requests.jsonl             # sessions with tools and response formats, as `ipf-prep openai-log` reads them
    recorded.py differ TRACE RESULTS RECORDED    # JSON: differences, and by how many ms starts differ

TRACE and RESULTS (NDJSON) are those of the run, RECORDED is the trace of its recording.
"""

import json
import sys


def made():
    tools = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}}}]
    schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object", "properties": {"a": {"type": "string"}}}}}
    for session in range(8):
        begin = f"You are assistant {session % 2}. " + " ".join(f"Rule {n}: be brief, \"polite\" and zuvorkommend – {n % 7}." for n in range(60))
        messages = [{"role": "system", "content": begin}]
        for turn in range(3):
            messages.append({"role": "user", "content": f"Question {turn} of session {session}:\n\twhat then? \u00e9\U0001f600"})
            body = {"model": "sim", "messages": messages, "max_tokens": 4 + session + turn}
            body.update({"tools": tools} if session % 2 else {}, **({"response_format": schema} if session % 3 == 2 else {}))
            yield {"time": 1767607200 + session * 0.13 + turn * 0.5, "session_id": f"s{session}", "request": body}
            messages = messages + [{"role": "assistant", "content": f"Answer {turn}."}]


def lines(name, member):
    return [line for line in map(json.loads, open(name, encoding="utf-8")) if member in line]


def differ(trace, results, recorded):
    starts = {row["id"]: row for row in lines(results, "n") if "start_ns" in row}
    run = {json.dumps(line["messages"]): line for line in lines(trace, "id")}
    wrong, offsets = [], []
    for line in lines(recorded, "id"):
        first = run.pop(json.dumps(line["messages"]), None)
        if not first:
            wrong.append(f"{line['id']}: a prompt that was not sent")
            continue
        row = starts[first["id"]]
        offsets.append((line["at_ns"] - row["start_ns"]) / 1e6)
        for name in ("tools", "response_format", "session", "turn", "model"):
            if line.get(name) != first.get(name):
                wrong.append(f"{line['id']}: {name}: {line.get(name)}, not {first.get(name)}")
        if line["output_tokens"] != row["output_tokens"]:
            wrong.append(f"{line['id']}: output_tokens: {line['output_tokens']}, not {row['output_tokens']}")
    wrong += [f"{line['id']}: not recorded" for line in run.values()]
    middle = sorted(offsets)[len(offsets) // 2] if offsets else 0
    off = sorted(abs(offset - middle) for offset in offsets)
    print(json.dumps({"differences": wrong, "median_ms": round(off[len(off) // 2], 3), "max_ms": round(off[-1], 3)}))


if sys.argv[1] == "make":
    for record in made():
        print(json.dumps(record, ensure_ascii=False))
else:
    differ(*sys.argv[2:])
