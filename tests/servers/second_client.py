#!/usr/bin/env python3
"""second_client.py URL MODEL TRACE RECORDS REPORT NEAR_MS: asks an OpenAI chat API the prompts of a trace, one after another, with nothing
but the standard library, and says where ipf's records and report of the same prompts differ: texts, usage, the median time to the first
content and to the end. SAME_TEXT=no: the server draws its answers."""
import http.client, json, os, statistics, subprocess, sys, time, urllib.parse

url, model, trace, records, report, near = sys.argv[1:]
to = urllib.parse.urlsplit(url)
key = {"Authorization": "Bearer " + os.environ["KEY"]} if os.environ.get("KEY") else {}
lines = lambda path: (json.loads(line) for line in subprocess.run(["zstd", "-qdcf", path], capture_output=True, text=True).stdout.splitlines())


def ask(prompt, tokens):
    connection = http.client.HTTPConnection(to.hostname, to.port, timeout=120)
    body = {"model": model, "messages": prompt, "stream": True, "stream_options": {"include_usage": True}, "max_tokens": tokens,
            "temperature": 0}
    connection.connect()
    begin, first, text, usage = time.monotonic(), None, "", None
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"} | key)
    for line in connection.getresponse():
        now = time.monotonic()
        if not line.startswith(b"data:") or line.strip() == b"data: [DONE]": continue
        event = json.loads(line[5:])
        usage = event.get("usage") or usage
        for choice in event.get("choices", []):
            part = (choice.get("delta") or {}).get("content") or ""
            first = first or (now if part else None)
            text += part
    end = time.monotonic()
    connection.close()
    return text, usage, ((first or end) - begin) * 1e3, (end - begin) * 1e3


def content(body):
    text = ""
    for line in body.splitlines():
        if line.startswith("data:") and line[5:].strip() != "[DONE]":
            text += "".join((c.get("delta") or {}).get("content") or "" for c in json.loads(line[5:]).get("choices", []))
    return text


ours = {r["req"]: r for r in lines(records) if "body" in r}
seen, differ, counted = [], 0, 0
for number, request in enumerate(r for r in lines(trace) if "ipf" not in r and "end" not in r):
    prompt = request.get("messages") or [{"role": "user", "content": request["prompt"]}]
    text, usage, ttft, total = ask(prompt, request["output_tokens"])
    seen.append((ttft, total))
    differ += os.environ.get("SAME_TEXT") != "no" and text != content(ours[number]["body"])
    counted += (usage or {}).get("completion_tokens", 0)
if differ: print(f"{differ} of {len(seen)} answers have another text")
figures = json.load(open(report))["total"]
if counted and os.environ.get("SAME_TEXT") != "no":
    tokens = figures["tokens"]["output"]["mean"] * figures["tokens"]["output"]["n"]
    if abs(tokens - counted) > 0.5: print(f"usage: {counted} output tokens, ipf {tokens:g}")
for name, at, key in (("TTFT", 0, "ttft_ms"), ("end", 1, "stream_ms")):
    theirs, mine = statistics.median(s[at] for s in seen), figures["latency"][key]["from_start"]["p50"]
    if abs(theirs - mine) > max(float(near), 0.1 * theirs): print(f"{name}: {theirs:.1f} ms at the median, ipf {mine:.1f} ms")
