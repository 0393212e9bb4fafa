#!/bin/bash
# OpenTelemetry: the same calls wherever instrumentations put their contents give the same requests, and hostile records.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
prep=$BIN/ipf-prep
files() { # WHERE [ENCODING]: the files spans and logs
	python3 "$TESTS/helpers/otel_files.py" "$@"
}
requests() { # TRACE: in one form, since arguments of tools may have spaces
	body "$1" | jq -cS '(.messages[] | select(.tool_calls) | .tool_calls[].function.arguments) |= fromjson'
}

# ---- where the contents are ----
files attributes
run "$prep" auto spans -o attributes.trace
status_is 0 "contents in attributes, as JSON in texts"
requests attributes.trace >expected
is "$(jq -r '.tags | [.model, .provider, .cached_tokens, .ttft_s] | @csv' expected | tail -1)" '"m-1","openai",2,0.25' "calls have tags"
is "$(jq -c '.tools[0].function | keys' expected | uniq)" '["name","parameters"]' "tools, without what is null"
is "$(jq -c .response_format expected | tail -1)" '{"type":"json_object"}' "the response format"
is "$(jq -c '.messages[2].tool_calls[0].function.arguments' expected | tail -2 | head -1)" '{"city":"Oslo","days":1,"exact":true}' "arguments of calls are read"
is "$(jq -c '.messages[3]' expected | tail -2 | head -1)" '{"content":"rain, 7°","role":"tool","tool_call_id":"c1"}' "results of calls are read"
is "$(jq .output_tokens expected | tail -1)" 4 "the length of an answer without usage is counted"
for where in structured events content message-events logs message-logs; do
	files $where
	cat logs spans >before.jsonl
	run "$prep" auto before.jsonl -o out.trace
	status_is 0 "$where: status 0"
	is "$(requests out.trace)" "$(cat expected)" "$where: the same requests"
done
for where in logs message-logs; do
	files $where
	run "$prep" otel spans logs -o out.trace
	is "$(requests out.trace)" "$(cat expected)" "$where: log records in a later file"
	tac logs >reversed
	run "$prep" otel reversed spans -o out.trace
	is "$(requests out.trace)" "$(cat expected)" "$where: log records in an earlier file, in another order"
done
files logs
run "$prep" auto logs -o out.trace
status_is 0 "details without spans"
is "$(body out.trace | jq -c '[.at_ns, .session, .messages[-1].role]' | tr '\n' ' ')" \
	'[0,"c-9","user"] [2000000000,"c-9","tool"] [4000000000,"c-9","user"] ' "log records without spans are calls at their times"
files message-logs
{ cat spans; echo '{"resourceMetrics":[]}'; } | jq -c 'del(.resourceSpans[]?.scopeSpans[].spans[1])' >one-less
run "$prep" otel one-less logs -v -o out.trace
status_is 0 "messages of a span that is missing"
stderr_contains "(a message of a call missing from the files)" "ipf-prep names the messages of a missing call"
is "$(body out.trace | wc -l)" 2 "other calls are read, and metrics ignored"
jq -c '(.resourceLogs[].scopeLogs[].logRecords[].body) = {}' logs >without
run "$prep" otel spans without -o out.trace
status_is 0 "log records without contents"
is "$(body out.trace | jq -c '[.input_tokens, (.messages | length)]' | tr '\n' ' ')" '[20,1] [40,1] [12,1] ' "give prompts of the recorded length"

# ---- values of every kind, and hostile ones ----
files structured
head -1 spans >first
changed() { # JQ: the first file, with its first span (as $s) changed
	jq -c "(.resourceSpans[0].scopeSpans[0].spans[0]) |= ($1)" first >changed
	run "$prep" otel changed -o out.trace
}
set_attribute() { # KEY VALUE: by jq
	printf '(.attributes[] | select(.key == "%s") | .value) = %s' "$1" "$2"
}
refused() { # JQ MESSAGE
	changed "$1"
	status_is 3 "$2: status 3"
	stderr_contains "changed:1: $2" "ipf-prep says: $2"
}
taken() { # JQ JQ-OF-REQUEST EXPECTED TEXT
	changed "$1"
	status_is 0 "$4: status 0"
	is "$(body out.trace | head -1 | jq -c "$2")" "$3" "the first request has the value: $4"
}
refused 'del(.startTimeUnixNano)' 'startTimeUnixNano: missing'
refused '.startTimeUnixNano = "soon"' 'startTimeUnixNano: expected a number or a time'
refused "$(set_attribute gen_ai.input.messages '{stringValue: "[{"}')" 'gen_ai.input.messages: '
refused "$(set_attribute gen_ai.input.messages '{kvlistValue: {}}')" 'gen_ai.input.messages: expected a list'
refused "$(set_attribute gen_ai.conversation.id '{stringValue: "c\u0019"}')" 'session: expected a name without control characters, got "c\x19"'
refused "$(set_attribute gen_ai.request.model '{stringValue: "m\u001b[1m"}')" 'tags: expected names and values without control characters'
refused "$(set_attribute gen_ai.usage.input_tokens '{intValue: "9000000000000000000"}')" 'length of the prompt: expected '
jq -c '(.resourceSpans[0].scopeSpans[0].spans[0].attributes[] | select(.key == "gen_ai.conversation.id") | .value.stringValue) = "c\u0019"' first >bad-session
cat bad-session spans >both
run "$prep" otel both -o out.trace
is "$status $(body out.trace | wc -l)" "3 3" "other records are read beside one whose session is no name"
taken "$(set_attribute gen_ai.tool.definitions '{arrayValue: {values: [{intValue: "1e3"}, {intValue: "007"}, {bytesValue: "AA=="}, {}, 5]}}')" \
	.tools null "values that are no tools"
taken "$(set_attribute gen_ai.tool.definitions '{kvlistValue: {values: [{key: 5, value: {}}, 7, {value: {boolValue: true}}]}}')" \
	.tools null "keys that are no texts"
taken "$(set_attribute gen_ai.usage.input_tokens '{intValue: "-5"}')" .messages[1].role '"user"' "a negative length is unknown"
taken "$(set_attribute gen_ai.response.time_to_first_chunk '{doubleValue: "NaN"}')" .tags.ttft_s null "a time that is no number"
taken "$(set_attribute gen_ai.response.finish_reasons '{arrayValue: {values: [{stringValue: "error"}]}}')" .tags.failed true \
	"a call that ended with an error"
taken '.attributes = 5 | .events = [7, {name: 5}]' .session '"c-9"' "a span without attributes is no call"
deep=$(python3 -c 'print("{\"arrayValue\":{\"values\":[" * 70 + "{}" + "]}}" * 70)')
taken "$(set_attribute gen_ai.tool.definitions "$deep")" .tools null "lists that are nested 70 deep"

# ---- protocol buffers: one message, or the collector's files of messages after their lengths ----
for encoding in proto framed framed-zstd framed-json-zstd; do
	case $encoding in *zstd) command -v zstd >/dev/null || {
		skip "$encoding: status 0" "zstd is not installed"
		continue
	} ;; esac
	files message-logs $encoding
	run "$prep" auto logs spans -o out.trace
	status_is 0 "$encoding: status 0"
	is "$(requests out.trace)" "$(cat expected)" "$encoding: the requests are those of JSON"
done
files structured framed
gzip -c spans >spans.gz
run "$prep" auto spans.gz -o out.trace
is "$(requests out.trace)" "$(cat expected)" "a whole file that is compressed"
"$prep" auto - -o out.trace <spans
is "$(requests out.trace)" "$(cat expected)" "standard input"
run "$prep" otel -n 1 spans -o out.trace
is "$(tail -1 out.trace | jq -r '.end.from[0].sha256')" "$(sha256sum <spans | cut -d ' ' -f 1)" "the digest is that of the file"
printf '\n\n\n' | cat - first >blank.json
run "$prep" auto blank.json
status_is 0 "JSON after empty lines is no message"

# The SDK for Python, an implementation by others, encodes them.
if "${IPF_OTEL_PYTHON:-python3}" "$TESTS/helpers/otel_sdk.py" >said 2>&1; then
	"$prep" auto logs.json spans.json -o json.trace
	run "$prep" auto logs.pb spans.pb -o out.trace
	status_is 0 "messages of OpenTelemetry's SDK"
	is "$(body out.trace)" "$(body json.trace)" "messages of the SDK give the requests of JSON"
	is "$(body out.trace | jq -r '.messages[].content' | tr '\n' ' ')" "Question 0? Question 1? Question 2? " "messages of the SDK have their contents"
else
	skip "messages of OpenTelemetry's SDK" "$(tail -1 said); IPF_OTEL_PYTHON names a Python that has it"
fi

# ---- hostile messages: each is refused by its number, and the next one is read ----
files structured framed
cp spans good
hostile() { # HEX: a message between the good ones
	python3 - "$1" <<-'PY'
		import struct, sys
		good, bad = open("good", "rb").read(), bytes.fromhex(sys.argv[1])
		first = 4 + struct.unpack(">I", good[:4])[0]
		open("mixed", "wb").write(good[:first] + struct.pack(">I", len(bad)) + bad + good[first:])
	PY
	run "$prep" otel mixed -o out.trace
}
bad_message() { # HEX TEXT [MESSAGE]
	hostile "$1"
	status_is 3 "$2: status 3"
	stderr_contains "mixed:2: ${3:-expected a message of OTLP, found malformed bytes}" "$2: it is named"
	is "$(body out.trace | wc -l)" 3 "$2: the others are read"
}
span_with() { # HEX-OF-ATTRIBUTES: a request with a span with them
	python3 - "$1" <<-'PY'
		import sys
		def field(number, data):
		    length, out = len(data), bytes([number << 3 | 2])
		    while length > 127:
		        out, length = out + bytes([length & 127 | 128]), length >> 7
		    return out + bytes([length]) + data
		span = bytes([7 << 3 | 1]) + bytes(8) + bytes.fromhex(sys.argv[1])
		print(field(1, field(2, field(2, span))).hex())
	PY
}
bad_message 0a05 "a field that is longer than its message"
bad_message 0affffffffffffffffffff01 "a varint of more than 64 bits"
bad_message 0affffffff0f1200 "a field of 4 GiB"
bad_message 0b0c "a group"
bad_message 28b52ffd00 "zstd that is cut" "cannot decompress the message: "
bad_message 7b22 "JSON that is cut" "not JSON"
bad_message "$(span_with 4a0509)" "an attribute that is cut"
bad_message "$(span_with 4801)" "attributes that are a number"
deep=$(python3 -c '
data = b""
for _ in range(1000):
    tag, length, head = b"\x0a", len(data), b""
    while length > 127:
        head, length = head + bytes([length & 127 | 128]), length >> 7
    array = tag + head + bytes([length]) + data
    length, head = len(array), b""
    while length > 127:
        head, length = head + bytes([length & 127 | 128]), length >> 7
    data = b"\x2a" + head + bytes([length]) + array
value, out = b"\x12", b""
length = len(data)
while length > 127:
    out, length = out + bytes([length & 127 | 128]), length >> 7
attribute = value + out + bytes([length]) + data
length, out = len(attribute), b""
while length > 127:
    out, length = out + bytes([length & 127 | 128]), length >> 7
print((b"\x4a" + out + bytes([length]) + attribute).hex())')
bad_message "$(span_with "$deep")" "lists that are nested 1000 deep"
hostile "$(span_with "4a0a0a0061626364")"
status_is 3 "bytes after a key that are no fields: status 3"
hostile 0a021200
status_is 0 "a request without spans: status 0"
hostile "0a0c120a12080a01ff1203756e69"
status_is 0 "a metric with invalid UTF-8 is ignored"
files structured framed
python3 -c 'd = bytearray(open("spans", "rb").read()); d[d.index(b"Weather")] = 0xff; open("utf8", "wb").write(d)'
run "$prep" auto utf8 -o out.trace
status_is 0 "invalid UTF-8 in a text: status 0"
is "$(body out.trace | head -1 | jq -r '.messages[1].content' | head -1)" "�eather in Oslo?" "invalid UTF-8 becomes U+FFFD"
head -c 3000 good >shortened
run "$prep" auto shortened -o out.trace
status_is 3 "a file that is cut: status 3"
stderr_contains "the file ends within a message" "ipf-prep says that the file ends within a message"
{ cat good; printf '\377\377\377\377'; } >long
run "$prep" auto long -o out.trace
status_is 3 "a message of 4 GiB: status 3"
stderr_contains "long:3: a message of 4294967295 bytes: more than 512 MiB; --max-line allows longer ones" "ipf-prep says how long the message is"
is "$(body out.trace | wc -l)" 3 "messages before a message of 4 GiB are read"

# ---- calls overlapping the first one of their session ----
printf '{"session_id":"o","spans":[%s,%s]}\n' '{"span_id":"a","start_time":1,"end_time":9,"attributes":{"gen_ai.usage.input_tokens":9,"gen_ai.usage.output_tokens":3}}' \
	'{"span_id":"b","start_time":2,"end_time":4,"attributes":{"gen_ai.usage.input_tokens":9,"gen_ai.usage.output_tokens":3}}' >overlap.json
run "$prep" otel overlap.json --prompt none -o overlap.trace
stderr_contains '1 request: it began while the first one was running, and waits for its end instead' "a call that overlaps the first one waits for it, which is reported"
is "$(body overlap.trace | jq -c '[.id, .wait_ns, .parents]' | tr '\n' ' ')" '["o/a",null,null] ["o/b",0,["o/a"]] ' "an overlapping call has its parent and wait"
run "$BIN/ipf-sched" replay -t overlap.trace -o overlap.sched
status_is 0 "a session with an overlapping call has one first request and can be scheduled"

# ---- recorded latencies ----
span() { # ATTRIBUTES: of a call from 1 s to 3 s
	printf '{"spans":[{"span_id":"1","start_time":"2026-05-01T10:00:01Z","end_time":"2026-05-01T10:00:03Z","attributes":{"gen_ai.operation.name":"chat",
"gen_ai.prompt":"Hi","gen_ai.usage.output_tokens":7%s}}]}' "$1" | tr '\n' ' ' >span.json
	"$BIN/ipf-prep" otel span.json -q | sed -n 2p | jq -c '[.recorded_ttft_ns, .recorded_e2e_ns]'
}
is "$(span '')" '[null,2000000000]' "the recorded latency is that of the span"
is "$(span ',"gen_ai.response.time_to_first_chunk":0.25')" '[250000000,2000000000]' "the time to the first token is an attribute"
is "$(span ',"gen_ai.latency.time_to_first_token":0.25,"gen_ai.latency.e2e":1.75')" '[250000000,1750000000]' "vLLM records both latencies"
is "$(span ',"gen_ai.server.time_to_first_token":0.25')" '[250000000,2000000000]' "OpenLIT records the time to the first token"
is "$(span ',"gen_ai.server.time_to_first_token":0.25,"gen_ai.request.is_stream":false')" '[null,2000000000]' "a call that was not streamed has no first token"
is "$(span ',"gen_ai.response.time_to_first_chunk":-1')" '[null,2000000000]' "a negative time to the first token is left out"
is "$(span ',"gen_ai.response.time_to_first_chunk":"soon"')" '[null,2000000000]' "a text is no time to the first token"
is "$(span ',"gen_ai.response.time_to_first_chunk":2.5')" '[null,2000000000]' "a first token after the end is left out"
is "$(span ',"error.type":"timeout","gen_ai.response.time_to_first_chunk":0.25')" '[null,null]' "a failed call has no latencies"
