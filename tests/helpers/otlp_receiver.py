"""A receiver of OTLP/HTTP traces, decoded by Google's library with the messages described here anew.

    otlp_receiver.py serve FOLDER           listens on a free port, which it prints; FOLDER/N.pb and N.json are a request each
    otlp_receiver.py spans FILE.pb…         the same as N.json, from files; with the published messages of OpenTelemetry if
                                            the package opentelemetry-proto is installed (77 if it is not)
    otlp_receiver.py compare RECORDS RESULTS FILE.json…
                                            prints each difference between the spans of these requests and the rows

The path says how it answers, in its first part:

    /ok /400 /500 …     that status; a message that repeats the Authorization header, as google.rpc.Status
    /busy               503 with Retry-After: 1 twice, then 200
    /502                502 for ever
    /partial            rejects two spans of each request
    /hang               never
    /endless            an answer without end
    /garbage            200 with bytes that are no message
    /slow               after 50 ms

JSON, which a collector can send on, is taken as well. Ends with 77 where the library is not installed.
"""
import collections, http.server, json, os, sys, threading, time

from protobuf_messages import message_of

TRACES = {  # opentelemetry.proto of OTLP 1.9, proto3
    "ArrayValue": "values=1 *AnyValue",
    "AnyValue": "string_value=1 string, bool_value=2 bool, int_value=3 int64, double_value=4 double, array_value=5 ArrayValue",
    "KeyValue": "key=1 string, value=2 AnyValue",
    "InstrumentationScope": "name=1 string, version=2 string",
    "Resource": "attributes=1 *KeyValue",
    "Status": "message=2 string, code=3 int32",
    "Event": "time_unix_nano=1 fixed64, name=2 string",
    "Span": "trace_id=1 bytes, span_id=2 bytes, parent_span_id=4 bytes, name=5 string, kind=6 int32, start_time_unix_nano=7 fixed64, "
            "end_time_unix_nano=8 fixed64, attributes=9 *KeyValue, events=11 *Event, status=15 Status",
    "ScopeSpans": "scope=1 InstrumentationScope, spans=2 *Span, schema_url=3 string",
    "ResourceSpans": "resource=1 Resource, scope_spans=2 *ScopeSpans, schema_url=3 string",
    "ExportTraceServiceRequest": "resource_spans=1 *ResourceSpans",
}
ANSWERS = {"ExportTracePartialSuccess": "rejected_spans=1 int64, error_message=2 string",
           "ExportTraceServiceResponse": "partial_success=1 ExportTracePartialSuccess"}
RPC = {"Status": "code=1 int32, message=2 string"}
seen = collections.Counter()
lock = threading.Lock()


def value_of(value):
    kind = [f for f, _ in value.ListFields()]
    assert len(kind) == 1, value
    name, got = kind[0].name, getattr(value, kind[0].name)
    return [value_of(v) for v in got.values] if name == "array_value" else got


def attributes_of(pairs):
    found = {p.key: value_of(p.value) for p in pairs}
    assert len(found) == len(pairs), "an attribute twice"
    return found


def span_of(s):
    return {"trace": s.trace_id.hex(), "span": s.span_id.hex(), "parent": s.parent_span_id.hex(), "name": s.name, "kind": s.kind,
            "start": s.start_time_unix_nano, "end": s.end_time_unix_nano, "attributes": attributes_of(s.attributes),
            "events": [[e.name, e.time_unix_nano] for e in s.events], "status": [s.status.code, s.status.message]}


def request_of(data, request_class):
    request = request_class.FromString(data)
    unknown = request.SerializeToString(deterministic=True)
    assert len(unknown) == len(data), "not written as the library writes it"
    return [{"resource": attributes_of(r.resource.attributes), "scope": [s.scope.name, s.scope.version],
             "spans": [span_of(x) for x in s.spans]} for r in request.resource_spans for s in r.scope_spans]


def json_value(value):
    (kind, got), = value.items()
    return {"intValue": int, "arrayValue": lambda a: [json_value(v) for v in a["values"]]}.get(kind, lambda v: v)(got)


def json_attributes(pairs):
    return {p["key"]: json_value(p["value"]) for p in pairs}


def json_request(data):
    def span(s):
        status = s.get("status", {})
        return {"trace": s["traceId"], "span": s["spanId"], "parent": s.get("parentSpanId", ""), "name": s["name"], "kind": s["kind"],
                "start": int(s["startTimeUnixNano"]), "end": int(s["endTimeUnixNano"]), "attributes": json_attributes(s["attributes"]),
                "events": [[e["name"], int(e["timeUnixNano"])] for e in s.get("events", [])],
                "status": [status.get("code", 0), status.get("message", "")]}
    return [{"resource": json_attributes(r["resource"]["attributes"]), "scope": [s["scope"]["name"], s["scope"]["version"]],
             "spans": [span(x) for x in s["spans"]]} for r in json.loads(data)["resourceSpans"] for s in r["scopeSpans"]]


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        is_json = self.headers["Content-Type"] == "application/json"
        parts = json_request(body) if is_json else request_of(body, self.server.request_class)
        way = self.path.split("/")[1]
        with lock:
            seen[way] += 1
            number, count = sum(seen.values()), seen[way]
        status = int(way) if way.isdigit() else 503 if way == "busy" and count <= 2 else 200
        name = f"{self.server.folder}/{number:04}"
        open(name + ".pb", "wb").write(body)
        with open(name + ".tmp", "w") as out:
            json.dump({"path": self.path, "status": status, "headers": {k.lower(): v for k, v in self.headers.items()}, "parts": parts}, out)
        os.rename(name + ".tmp", name + ".json")
        if way == "hang":
            time.sleep(1000)
        if way == "slow":
            time.sleep(0.05)
        answer = b""
        if way == "partial":
            answer = self.server.answer_class(partial_success={"rejected_spans": 2, "error_message": "two are too many"}).SerializeToString()
        if way == "garbage":
            answer = b"\xff\x0a\x05hello"
        if status != 200:
            answer = self.server.status_class(code=3, message=f"not for {self.headers.get('Authorization')}").SerializeToString()
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if is_json else "application/x-protobuf")
        if status == 503:
            self.send_header("Retry-After", "1")
        if way == "endless":
            self.end_headers()
            while True:
                self.wfile.write(b"x" * 65536)
        answer = b"{}" if is_json else answer
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.daemon_threads, server.folder = True, folder
    server.request_class = message_of("traces", TRACES)
    server.answer_class = message_of("answers", ANSWERS)
    server.status_class = message_of("rpc", RPC)
    print(server.server_address[1], flush=True)
    server.serve_forever()


def spans(paths):
    try:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest as request_class
    except ImportError:
        sys.exit(77)
    for path in paths:
        print(json.dumps(request_of(open(path, "rb").read(), request_class)))


def expected_events(row, record):
    found = {}
    if "first_byte_ns" in record:
        found["ipf.first_byte"] = record["first_byte_ns"]
    if "ttft_ns" in row:
        found["ipf.first_token"] = row["start_ns"] + row["ttft_ns"]
        found["ipf.last_token"] = row["start_ns"] + row["e2e_ns"]
    return found


def check_span(span, row, record, header):
    """The rules of ipf-metrics(5), applied once more."""
    t0, a = header["t0_unix_ns"], dict(span["attributes"])
    error = row.get("error", {}).get("kind")
    failed = error and error != "hung-up"
    expected = {f"ipf.{k}": row[k] for k in row if isinstance(row[k], int) and f"ipf.{k}" in a}
    for key in "n req turn due_ns lag_ns slot_wait_ns ttfb_ns ttft_ns e2e_ns tpot_ns itl_mean_ns stalls events asked_output_tokens".split():
        if key in row:
            expected["ipf." + key] = row[key]
    stages = header["stages"] if "stages" in header else header["from"][0]["stages"]
    host, port = header["target"].split("/")[2].split(":")
    expected |= {"ipf.outcome": error or "ok", "ipf.stage": stages[row["stage"]]["name"], "gen_ai.operation.name": "chat",
                 "gen_ai.provider.name": "openai", "server.address": host, "server.port": int(port)}
    for key, name in {"id": "ipf.id", "tokens_source": "ipf.tokens_source", "model": "gen_ai.request.model", "session": "gen_ai.conversation.id",
                      "output_tokens": "gen_ai.usage.output_tokens", "reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
                      "cached_tokens": "gen_ai.usage.cache_read.input_tokens"}.items():
        if key in row:
            expected[name] = row[key]
    if "status" in record:
        expected["http.response.status_code"] = record["status"]
    if record.get("streamed"):
        expected["gen_ai.request.stream"] = True
    if row["ok"]:
        expected["gen_ai.usage.input_tokens"] = row["input_tokens"]
    if "response_id" in row:
        expected["gen_ai.response.id"] = row["response_id"]
    if "finish" in row:
        expected["gen_ai.response.finish_reasons"] = [row["finish"]]
    if failed:
        expected["error.type"] = error
    chunk = a.pop("gen_ai.response.time_to_first_chunk", None)
    if row["ok"] and record.get("streamed"):
        assert abs(chunk * 1e9 - (record["reads"][0][0] - row["start_ns"])) < 2, chunk
    assert a == expected, {k: (a.get(k), expected.get(k)) for k in a.keys() | expected.keys() if a.get(k) != expected.get(k)}
    assert (span["start"], span["end"]) == (t0 + row["start_ns"], t0 + row["end_ns"])
    assert span["kind"] == 3 and span["name"] == "chat " + row["model"] and span["parent"] == ""
    assert span["status"][0] == (2 if failed else 0)
    assert span["status"][1] == (record["error"].get("text", "") if failed and "error" in record else ""), span["status"]
    if row["ok"]:
        assert dict(span["events"]) == {k: t0 + v for k, v in expected_events(row, record).items()}


def compare(records_path, results_path, paths):
    records = [json.loads(line) for line in open(records_path)]
    rows = {row["n"]: row for row in map(json.loads, open(results_path)) if "n" in row}
    by_n = {record["n"]: record for record in records if "n" in record}
    parts = [part for path in paths for part in json.load(open(path))["parts"]]
    found = [span for part in parts for span in part["spans"]]
    sessions, traces = {}, collections.defaultdict(set)
    if len(found) != len(rows) or len({s["span"] for s in found}) != len(rows):
        print(f"{len(found)} spans, {len(rows)} rows")
    for part in parts:
        resource = part["resource"]
        if resource.get("service.name") != "ipf" or resource.get("ipf.run") != records[0]["name"] or part["scope"][0] != "ipf-collect":
            print("resource", part["resource"], part["scope"])
    for span in found:
        n = span["attributes"]["ipf.n"]
        try:
            check_span(span, rows[n], by_n[n], records[0])
        except (AssertionError, KeyError) as e:
            print(f"request {n}:", repr(e))
        session = rows[n].get("session", ("alone", n))
        sessions.setdefault(session, span["trace"])
        traces[span["trace"]].add(session)
        if sessions[session] != span["trace"] or len(traces[span["trace"]]) > 1 or len(span["trace"]) != 32 or len(span["span"]) != 16:
            print(f"request {n}: trace", span["trace"], session)


if __name__ == "__main__":
    {"serve": lambda: serve(sys.argv[2]), "spans": lambda: spans(sys.argv[2:]),
     "compare": lambda: compare(sys.argv[2], sys.argv[3], sys.argv[4:])}[sys.argv[1]]()
