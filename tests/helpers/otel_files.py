"""The same three model calls as OpenTelemetry's instrumentations record them, in OTLP: otel_files.py WHERE [ENCODING].

WHERE the contents are: attributes, structured, events, logs, content, message-logs, message-events.
ENCODING: json (default, a request a line), proto (one message), framed, framed-zstd, framed-json-zstd (as the collector's
file exporter writes them). Spans and log records go to the files spans and logs. Standard library, and zstd(1), only.
"""
import json
import struct
import subprocess
import sys

START = 1760428258000000000
TOOL = {"type": "function", "name": "get_weather", "description": None,
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
USER = {"role": "user", "parts": [{"type": "text", "content": "Weather in Oslo?\nToday."}]}
CALL = {"role": "assistant", "parts": [
    {"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": {"city": "Oslo", "days": 1, "exact": True}}]}
RESULT = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "rain, 7°"}]}
ANSWER = {"role": "assistant", "parts": [{"type": "text", "content": "It rains in Oslo today."}], "finish_reason": "stop"}
LAST = {"role": "user", "parts": [{"type": "text", "content": "As JSON: It rains in Oslo today."}]}
JSON = {"role": "assistant", "parts": [{"type": "text", "content": '{"rain":true}'}], "finish_reason": "stop"}
CALLS = [([USER], CALL, 20, 9), ([USER, CALL, RESULT], ANSWER, 40, 8), ([LAST], JSON, 12, None)]


def any_value(value):
    """A value of Python as OTLP's AnyValue in JSON."""
    if value is None:
        return {}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(v) for v in value]}}
    return {"kvlistValue": {"values": attributes(value)}}


def attributes(values):
    return [{"key": k, "value": any_value(v)} for k, v in values.items()]


def text_of(message):
    return "\n".join(p["content"] for p in message["parts"] if p["type"] == "text")


def as_event(message):
    """The name and body of the event of conventions up to v1.36."""
    calls = [{"id": p["id"], "type": "function", "function": {"name": p["name"], "arguments": p["arguments"]}}
             for p in message["parts"] if p["type"] == "tool_call"]
    for part in message["parts"]:
        if part["type"] == "tool_call_response":
            return "gen_ai.tool.message", {"id": part["id"], "content": part["response"]}
    body = {"tool_calls": calls} if calls else {"content": text_of(message)}
    return "gen_ai.%s.message" % message["role"], body


def as_chat(message):
    """The message in the form of the chat API."""
    body = as_event(message)[1]
    if message["role"] == "tool":
        return {"role": "tool", "tool_call_id": body["id"], "content": body["content"]}
    for call in body.get("tool_calls", []):
        call["function"]["arguments"] = json.dumps(call["function"]["arguments"], separators=(",", ":"))
    return {"role": message["role"], "content": "", **body}


def contents(prompt, answer):
    return {"gen_ai.system_instructions": [{"type": "text", "content": "Be brief."}], "gen_ai.input.messages": prompt,
            "gen_ai.output.messages": [answer]}


def old_events(prompt, answer):
    events = [("gen_ai.system.message", {"content": "Be brief."})] + [as_event(m) for m in prompt]
    name, body = as_event(answer)
    message = {"role": "assistant", **body}
    return events + [("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": message}),
                     ("gen_ai.choice", {"index": 1, "finish_reason": "stop", "message": {"content": "Another choice."}})]


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def one_call(where, n):
    prompt, answer, used_in, used_out = CALLS[n]
    begin, end = START + n * 2000000000, START + n * 2000000000 + 1500000000
    facts = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m-1",
             "gen_ai.request.max_tokens": 64, "gen_ai.request.temperature": 0.5, "gen_ai.usage.input_tokens": used_in,
             "gen_ai.usage.cache_read.input_tokens": n, "gen_ai.response.time_to_first_chunk": 0.25,
             "gen_ai.response.finish_reasons": ["stop"], "gen_ai.conversation.id": "c-9",
             "gen_ai.output.type": "json" if n == 2 else "text"}
    if used_out is not None:
        facts["gen_ai.usage.output_tokens"] = used_out
    events, logs, said = [], [], contents(prompt, answer)
    if where in ("structured", "events", "logs"):
        said["gen_ai.tool.definitions"] = [TOOL]
    else:
        facts["gen_ai.tool.definitions"] = compact([TOOL])
    details = {"gen_ai.operation.name": "chat", **said}
    if where == "attributes":
        facts.update({k: json.dumps(v, indent=1) for k, v in said.items()})
    elif where == "structured":
        facts.update(said)
    elif where == "events":
        events = [("gen_ai.client.inference.operation.details", details)]
    elif where == "logs":
        del facts["gen_ai.conversation.id"]
        logs = [("gen_ai.client.inference.operation.details", {**details, "gen_ai.conversation.id": "c-9"}, None)]
    elif where == "content":
        chat = [{"role": "system", "content": "Be brief."}] + [as_chat(m) for m in prompt]
        events = [("gen_ai.content.prompt", {"gen_ai.prompt": compact(chat)}),
                  ("gen_ai.content.completion", {"gen_ai.completion": compact([as_chat(answer)])})]
    elif where == "message-logs":
        logs = [(name, {"gen_ai.system": "openai"}, body) for name, body in old_events(prompt, answer)]
    elif where == "message-events":
        events = [(name, {"gen_ai.event.content": compact(body)}) if n else
                  (name, {k: v if isinstance(v, (str, int)) else compact(v) for k, v in body.items()})
                  for name, body in old_events(prompt, answer)]
    ids = {"traceId": "5b8efff798038103d269b633813fc60%d" % n, "spanId": "eee19b7ec3c1b17%d" % n}
    span = {**ids, "name": "chat m-1", "kind": 3, "startTimeUnixNano": str(begin), "endTimeUnixNano": str(end),
            "attributes": attributes(facts), "status": {},
            "events": [{"timeUnixNano": str(begin + i), "name": name, "attributes": attributes(a)}
                       for i, (name, a) in enumerate(events)]}
    records = [{"timeUnixNano": str(begin + i), "observedTimeUnixNano": str(end), "severityNumber": 9, **ids,
                "body": any_value(body), "attributes": attributes(a), "eventName": name}
               for i, (name, a, body) in enumerate(logs)]
    if where == "message-logs" and n == 1:  # before OTLP had a member for the name
        for record in records:
            record["attributes"] += attributes({"event.name": record.pop("eventName")})
            record["timeUnixNano"] = "0"
    return span, records


# ---- protocol buffers: number and type of each field ----

MESSAGES = {
    "Traces": {"resourceSpans": (1, "*ResourceSpans")},
    "ResourceSpans": {"resource": (1, "Resource"), "scopeSpans": (2, "*ScopeSpans"), "schemaUrl": (3, "string")},
    "ScopeSpans": {"scope": (1, "Scope"), "spans": (2, "*Span")},
    "Logs": {"resourceLogs": (1, "*ResourceLogs")},
    "ResourceLogs": {"resource": (1, "Resource"), "scopeLogs": (2, "*ScopeLogs")},
    "ScopeLogs": {"scope": (1, "Scope"), "logRecords": (2, "*LogRecord")},
    "Resource": {"attributes": (1, "*KeyValue")},
    "Scope": {"name": (1, "string")},
    "Span": {"traceId": (1, "hex"), "spanId": (2, "hex"), "name": (5, "string"), "kind": (6, "varint"),
             "startTimeUnixNano": (7, "fixed64"), "endTimeUnixNano": (8, "fixed64"), "attributes": (9, "*KeyValue"),
             "events": (11, "*Event"), "status": (15, "Status")},
    "Event": {"timeUnixNano": (1, "fixed64"), "name": (2, "string"), "attributes": (3, "*KeyValue")},
    "Status": {"message": (2, "string"), "code": (3, "varint")},
    "LogRecord": {"timeUnixNano": (1, "fixed64"), "severityNumber": (2, "varint"), "body": (5, "AnyValue"),
                  "attributes": (6, "*KeyValue"), "traceId": (9, "hex"), "spanId": (10, "hex"),
                  "observedTimeUnixNano": (11, "fixed64"), "eventName": (12, "string")},
    "KeyValue": {"key": (1, "string"), "value": (2, "AnyValue")},
    "AnyValue": {"stringValue": (1, "string"), "boolValue": (2, "varint"), "intValue": (3, "varint"),
                 "doubleValue": (4, "double"), "arrayValue": (5, "ArrayValue"), "kvlistValue": (6, "KeyValueList")},
    "ArrayValue": {"values": (1, "*AnyValue")},
    "KeyValueList": {"values": (1, "*KeyValue")},
}


def varint(value):
    out = b""
    value &= (1 << 64) - 1
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, kind, value):
    if kind == "varint":
        return varint(number << 3) + varint(int(value))
    if kind in ("fixed64", "double"):
        return varint(number << 3 | 1) + struct.pack("<Q" if kind == "fixed64" else "<d", float(value)
                                                     if kind == "double" else int(value))
    if kind in ("string", "hex"):
        data = bytes.fromhex(value) if kind == "hex" else value.encode()
    else:
        data = encode(kind, value)
    return varint(number << 3 | 2) + varint(len(data)) + data


def encode(message, values):
    out = b""
    for name, value in values.items():
        number, kind = MESSAGES[message][name]
        for one in value if kind[0] == "*" else [value]:
            out += field(number, kind.lstrip("*"), one)
    return out


def write(path, message, requests, encoding):
    zstd = encoding.endswith("zstd")
    with open(path, "wb") as file:
        for request in requests:
            data = compact(request).encode() if "json" in encoding else encode(message, request)
            if zstd:
                data = subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE, check=True).stdout
            framed = encoding.startswith("framed")
            file.write((struct.pack(">I", len(data)) if framed else b"") + data + (b"\n" if encoding == "json" else b""))


def main(where, encoding="json"):
    calls = [one_call(where, n) for n in range(3)]
    resource = {"attributes": attributes({"service.name": "shop"})}

    def of_spans(spans):
        return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "i"}, "spans": spans}]}]}

    def of_logs(records):
        return {"resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": {"name": "i"}, "logRecords": records}]}]}

    spans = [[calls[0][0], calls[1][0]], [calls[2][0]]]
    logs = [calls[2][1], calls[0][1] + calls[1][1]]
    if encoding == "proto":
        spans, logs = [sum(spans, [])], [sum(logs, [])]
    write("spans", "Traces", [of_spans(s) for s in spans], encoding)
    write("logs", "Logs", [of_logs(r) for r in logs] if calls[0][1] else [], encoding)


if __name__ == "__main__":
    main(*sys.argv[1:])
